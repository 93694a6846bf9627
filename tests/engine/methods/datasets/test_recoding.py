"""The exact search and the groups against every combination, on small tables drawn at random."""

from collections import Counter
from itertools import product
from math import log2

import numpy as np
import pandas as pd
import pytest

from engine.methods.datasets import recoding, rollup
from engine.methods.datasets.ascending import make_ascending_groups
from engine.methods.datasets.conditions import Condition
from engine.methods.datasets.full_domain import Lattice, search
from engine.methods.datasets.losses import Loss
from engine.methods.datasets.recoding import Ladder, Members, combinations
from engine.risk.encoding import encode_column
from engine.table.hierarchies import Hierarchy
from engine.table.schema import Column, Kind

TREE = Hierarchy.from_json(
    {"tree": {"a": ["ab", "x"], "b": ["ab", "x"], "c": ["c", "x"], "d": ["d", "y"]}}, column="t"
)
FORMS = (TREE, Hierarchy(bands=(2, 4)), Hierarchy())
VALUES = (["a", "b", "c", "d"], [str(value) for value in range(7)], ["f", "m"])


def drawn(seed):
    """Return rows (columns × rows of text) and the person of each row."""
    chance = np.random.default_rng(seed)
    rows = int(chance.integers(6, 40))
    table = [[values[place] for place in chance.integers(0, len(values), rows)] for values in VALUES]
    person = (
        np.arange(rows) if seed % 2 else np.unique(chance.integers(0, rows, rows), return_inverse=True)[1]
    )
    return table, person


def wanted(seed, rows):
    """Return a column that the groups are to foretell, as it is and encoded."""
    values = [
        ("no", "perhaps", "yes")[one] for one in np.random.default_rng(2000 + seed).integers(0, 3, rows)
    ]
    return values, encode_column(pd.Series(values), Column("wanted", kind=Kind.CATEGORY))


def prepared(table, person):
    ladders, codes = [], []
    for column, hierarchy in zip(table, FORMS, strict=True):
        ladders.append(Ladder.of(sorted(set(column)), hierarchy))
        codes.append(ladders[-1].place(column))
    distinct, number = np.unique(np.column_stack(codes), axis=0, return_inverse=True)
    pairs = np.unique(np.column_stack([number.reshape(-1), person]), axis=0)
    return distinct, Members(pairs[:, 0], pairs[:, 1]), ladders, number.reshape(-1)


class ByHand:
    """One combination of steps on the rows themselves, slowly, as the definitions say."""

    def __init__(self, table, person, wanted=None):
        self.rows_of_table = list(zip(*table, strict=True))
        self.wanted = wanted if wanted is not None else ["same"] * len(person)
        self.entries = sorted({(*row, who) for *row, who in zip(*table, person, strict=True)})
        self.everybody = set(person)
        self.columns = [[row[place] for row in self.entries] for place in range(len(FORMS))]

    def groups(self, steps):
        reads = [form.at(column, step) for form, column, step in zip(FORMS, self.columns, steps, strict=True)]
        groups = {}
        for text, entry in zip(zip(*reads, strict=True), self.entries, strict=True):
            groups.setdefault(text, []).append(entry)
        return groups, reads

    def kept(self, steps, k):
        """Return what the groups read that hold."""
        return {text for text, rows in self.groups(steps)[0].items() if len({row[-1] for row in rows}) >= k}

    def too_risky(self, steps, kept):
        return False

    def losses(self, steps, k, most):
        """Return every loss by name, None where too many are left out."""
        groups, reads = self.groups(steps)
        kept = self.kept(steps, k)
        stays = {row[-1] for text in kept for row in groups[text]}
        if not kept or len(self.everybody) - len(stays) > most or self.too_risky(steps, kept):
            return None
        rows = len(self.entries)
        left = rows - sum(len(groups[text]) for text in kept)
        penalty = bits = 0.0
        for form, column, read, step in zip(FORMS, self.columns, reads, steps, strict=True):
            listed = sorted({*column, *(form.tree or ())})
            alike, wide, narrow = Counter(form.at(listed, step)), Counter(read), Counter(column)
            for number, (value, group) in enumerate(zip(column, read, strict=True)):
                stay = tuple(one[number] for one in reads) in kept
                penalty += (alike[group] - 1) / max(1, len(listed) - 1) if stay else 1
                bits += -log2(narrow[value] / (wide[group] if stay else rows))
        own = {}
        for row, want in zip(self.rows_of_table, self.wanted, strict=True):
            text = tuple(
                form.at([value], step)[0] for form, value, step in zip(FORMS, row, steps, strict=True)
            )
            own.setdefault(text, []).append(want)
        told = sum(max(Counter(own[text]).values()) for text in kept)
        return {
            Loss.TARGET: 1 - told / len(self.wanted),
            Loss.CERTAINTY: penalty / rows / len(FORMS),
            Loss.ENTROPY: bits,
            Loss.DISCERNIBILITY: sum(len(groups[text]) ** 2 for text in kept) + rows * left,
            Loss.GROUP_SIZE: rows / (len(kept) + (left > 0)),
        }

    def best(self, loss, k, most):
        every = product(*(range(form.height + 1) for form in FORMS))
        found = [self.losses(steps, k, most) for steps in every]
        return min((one[loss] for one in found if one is not None), default=None)


@pytest.mark.parametrize("loss", Loss)
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("k", "most"), [(2, 0), (3, 2), (5, 1)])
def test_the_search_is_exact(seed, k, most, loss):
    table, person = drawn(seed)
    distinct, members, ladders, number = prepared(table, person)
    want, column = wanted(seed, len(person))
    found = search(
        Lattice(
            distinct,
            members,
            ladders,
            k=k,
            most_left_out=most,
            loss=loss,
            target=Condition.of(number, column, ()) if loss is Loss.TARGET else None,
        )
    )
    best = ByHand(table, person, want).best(loss, k, most)
    assert (found is None) == (best is None)
    if found is not None:
        assert found.loss == pytest.approx(best, abs=1e-9) == found.least
        assert found.left_out <= most and found.tried <= combinations(ladders) == found.possible


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("held", [0, rollup._MOST_HELD])
@pytest.mark.parametrize("bits", [0, rollup._BITS])
def test_groups_are_those_of_the_rows(seed, held, bits, monkeypatch):
    """With a store for everything or for nothing, with short numbers or back to the rows each time."""
    monkeypatch.setattr(rollup, "_MOST_HELD", held)
    monkeypatch.setattr(rollup, "_BITS", bits)
    table, person = drawn(seed)
    distinct, members, ladders, _ = prepared(table, person)
    lattice, hand = Lattice(distinct, members, ladders, k=2), ByHand(table, person)
    every = list(product(*(range(form.height + 1) for form in FORMS)))
    np.random.default_rng(seed).shuffle(every)
    for steps in map(tuple, every):
        groups = hand.groups(steps)[0].values()
        assert sorted(lattice.rows.sizes(steps)) == sorted(map(len, groups))
        assert sorted(lattice.people.sizes(steps)) == sorted(
            len({row[-1] for row in rows}) for rows in groups
        )
        cells = lattice.people.cells(steps)
        assert cells.sizes().tolist() == lattice.people.sizes(steps).tolist()
        assert len({tuple(column) for column in cells.digits.T.tolist()}) == len(groups)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("k", [2, 4])
def test_every_group_is_large_and_nobody_is_left_out(seed, k):
    table, person = drawn(seed)
    distinct, members, ladders, number = prepared(table, person)
    found = make_ascending_groups(distinct, members, ladders, k=k)
    if members.people < k:
        assert found is None
        return
    group = found.group[number]
    assert (group >= 0).all()
    assert min(len(set(person[group == one])) for one in set(group)) >= k
    for place, (form, column) in enumerate(zip(FORMS, table, strict=True)):
        for one in set(group):
            rows = [value for value, own in zip(column, group, strict=True) if own == one]
            step = found.steps[place, one]
            assert len(set(form.at(rows, step))) == 1
            assert step == 0 or len(set(form.at(rows, step - 1))) > 1, "coarser than it needs to be"


def test_people_are_counted_and_not_rows():
    # One person with three rows is no group of three.
    members = Members(np.array([0, 1, 2]), np.array([0, 0, 0]))
    ladder = Ladder.of(["1", "2", "3"], Hierarchy())
    codes = np.array([[0], [1], [2]])
    assert search(Lattice(codes, members, [ladder], k=2)) is None
    assert make_ascending_groups(codes, members, [ladder], k=2) is None
    assert members.sizes(np.array([0, 0, 0])).tolist() == [1]


def test_nothing_is_changed_where_everybody_agrees():
    ladder = Ladder.of(["x"], Hierarchy())
    members = Members(np.zeros(9, int), np.arange(9))
    found = search(Lattice(np.array([[0]]), members, [ladder], k=9))
    assert found.steps == (0,) and found.loss == 0
    assert make_ascending_groups(np.array([[0]]), members, [ladder], k=9).steps.tolist() == [[0]]


def test_a_search_that_runs_out_of_time_says_what_is_proven():
    table, person = drawn(3)
    distinct, members, ladders, _ = prepared(table, person)
    found = search(Lattice(distinct, members, ladders, k=2), seconds=0)
    best = ByHand(table, person).best(Loss.CERTAINTY, 2, 0)
    assert found.least <= best <= found.loss


@pytest.mark.parametrize("seed", range(5))
def test_distinct_combinations_in_one_number_and_column_by_column(seed, monkeypatch):
    table, person = drawn(seed)
    codes, _, ladders, number = prepared(table, person)
    for widest in (recoding._WIDEST, 0):
        monkeypatch.setattr(recoding, "_WIDEST", widest)
        found, own = recoding.combine_places(codes[number], ladders)
        assert found.tolist() == codes.tolist() and own.tolist() == number.tolist()


def test_a_column_is_told_by_one_value_through_all_its_steps():
    """However unlike the groups are in size, each step says what the value of the step before becomes."""
    tree = {"aaaaaa": ["other", "*"], "bbbbbb": ["bbbbbb", "*"], "cccccc": ["other", "*"]}
    tree |= {"dddddd": ["dddddd", "*"], "eeeeee": ["other", "*"]}
    steps = Hierarchy.from_json({"tree": tree}, column="t")
    told = Ladder.of(list(tree), steps).reads
    assert all(steps.at([told[0]], step)[0] == told[step] for step in range(steps.height))
