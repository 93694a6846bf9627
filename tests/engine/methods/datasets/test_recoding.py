"""The exact search against every combination, on small tables drawn at random."""

from itertools import product

import numpy as np
import pytest

from engine.methods.datasets.recoding import Ladder, Members, combinations, search
from engine.table.hierarchies import Hierarchy

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


def prepared(table, person):
    ladders, codes = [], []
    for column, hierarchy in zip(table, FORMS, strict=True):
        values, places = np.unique(column, return_inverse=True)
        ladders.append(Ladder.of([str(value) for value in values], hierarchy))
        codes.append(places)
    distinct, number = np.unique(np.column_stack(codes), axis=0, return_inverse=True)
    pairs = np.unique(np.column_stack([number.reshape(-1), person]), axis=0)
    return distinct, Members(pairs[:, 0], pairs[:, 1]), ladders, number.reshape(-1)


def by_hand(table, person, k, most):
    """Try every combination on the rows themselves, slowly; return the least loss."""
    best = None
    entries = sorted({(*row, who) for *row, who in zip(*table, person, strict=True)})
    present = [sorted(set(column)) for column in table]
    for steps in product(*(range(hierarchy.height + 1) for hierarchy in FORMS)):
        reads = [
            dict(zip(values, hierarchy.at(values, step), strict=True))
            for values, hierarchy, step in zip(present, FORMS, steps, strict=True)
        ]
        groups = {}
        for *row, who in entries:
            group = tuple(read[value] for read, value in zip(reads, row, strict=True))
            groups.setdefault(group, set()).add(who)
        lost, stays = 0.0, set()
        for *row, who in entries:
            group = tuple(read[value] for read, value in zip(reads, row, strict=True))
            if len(groups[group]) < k:
                lost += 1
                continue
            stays.add(who)
            alike = [
                sum(read[other] == read[value] for other in values) - 1
                for read, value, values in zip(reads, row, present, strict=True)
            ]
            lost += sum(
                count / max(1, len(values) - 1) for count, values in zip(alike, present, strict=True)
            ) / len(FORMS)
        left_out = len(set(person)) - len(stays)
        loss = lost / len(entries)
        if stays and left_out <= most and (best is None or loss < best - 1e-12):
            best = loss
    return best


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("k", "most"), [(2, 0), (3, 2), (5, 1)])
def test_the_search_is_exact(seed, k, most):
    table, person = drawn(seed)
    distinct, members, ladders, _ = prepared(table, person)
    found = search(distinct, members, ladders, k=k, most_left_out=most)
    best = by_hand(table, person, k, most)
    assert (found is None) == (best is None)
    if found is not None:
        assert found.loss == pytest.approx(best, abs=1e-9)
        assert found.left_out <= most and found.tried <= combinations(ladders) == found.possible


def test_people_are_counted_and_not_rows():
    # One person with three rows is no group of three.
    members = Members(np.array([0, 1, 2]), np.array([0, 0, 0]))
    ladder = Ladder.of(["1", "2", "3"], Hierarchy())
    assert search(np.array([[0], [1], [2]]), members, [ladder], k=2) is None
    assert members.sizes(np.array([0, 0, 0])).tolist() == [1]


def test_nothing_is_changed_where_everybody_agrees():
    ladder = Ladder.of(["x"], Hierarchy())
    found = search(np.array([[0]]), Members(np.zeros(9, int), np.arange(9)), [ladder], k=9)
    assert found.steps == (0,) and found.loss == 0 and found.tried == 1
