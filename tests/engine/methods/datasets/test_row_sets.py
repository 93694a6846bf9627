"""People compared by the set of all their rows: the search and the groups against every combination."""

from collections import Counter
from fractions import Fraction
from functools import partial
from math import log2

import numpy as np
import pandas as pd
import pytest

from engine.errors import InputRefused
from engine.evaluation.protocol import Private
from engine.evaluation.risk_after import RiskAfter
from engine.methods.catalogue import method
from engine.methods.datasets import recoding, row_sets
from engine.methods.datasets.ascending import make_ascending_groups
from engine.methods.datasets.attacks import given_away
from engine.methods.datasets.conditions import Condition, distinct
from engine.methods.datasets.full_domain import Lattice, search
from engine.methods.datasets.losses import Loss
from engine.methods.datasets.recoding import Members
from engine.methods.datasets.row_sets import one_entry_each
from engine.risk.encoding import encode, encode_column
from engine.risk.groups import group_rows
from engine.table.table import Table
from tests.engine.methods.datasets.test_conditions import (
    CASES,
    EVERY,
    PLAIN,
    assert_the_best_is_found,
    illnesses,
    shares,
)
from tests.engine.methods.datasets.test_k_anonymity import SCHEMA, made
from tests.engine.methods.datasets.test_k_anonymity import table as people
from tests.engine.methods.datasets.test_recoding import FORMS, VALUES, prepared, wanted


def drawn(seed):
    """Return rows of few people, many with several rows, values of a person often alike."""
    chance = np.random.default_rng(seed)
    rows = int(chance.integers(8, 45))
    person = np.unique(chance.integers(0, max(3, rows // 2), rows), return_inverse=True)[1]
    own = [chance.integers(0, len(values), person.max() + 1) for values in VALUES]
    table = []
    for values, usual in zip(VALUES, own, strict=True):
        place = np.where(chance.random(rows) < 0.6, usual[person], chance.integers(0, len(values), rows))
        table.append([values[one] for one in place])
    return table, person


def by_sets(table, person):
    codes, _, ladders, number = prepared(table, person)
    combination, number, members = one_entry_each(number, person)
    return codes[combination], members, ladders, number


class ByHand:
    """One combination of steps on the rows themselves, slowly, as the definitions say."""

    def __init__(self, table, person, ill, wanted, holds=lambda own, everybody: True, risk=1):
        self.rows, self.person = list(zip(*table, strict=True)), person.tolist()
        self.ill, self.wanted, self.holds, self.risk = ill, wanted, holds, risk

    def cells(self, steps):
        """Return set of reads → what is read → rows; and the people of each set."""
        reads = [
            tuple(form.at([value], step)[0] for form, value, step in zip(FORMS, row, steps, strict=True))
            for row in self.rows
        ]
        own = {}
        for who, read in zip(self.person, reads, strict=True):
            own.setdefault(who, set()).add(read)
        sets, people = {}, {}
        for place, (who, read) in enumerate(zip(self.person, reads, strict=True)):
            kind = frozenset(own[who])
            sets.setdefault(kind, {}).setdefault(read, []).append(place)
            people.setdefault(kind, set()).add(who)
        return sets, people

    def kept(self, steps, k):
        sets, people = self.cells(steps)
        return {
            kind
            for kind, cells in sets.items()
            if len(people[kind]) >= k
            and all(
                self.holds([self.ill[one] for one in places], shares(self.ill)) for places in cells.values()
            )
        }

    def losses(self, steps, k, most):
        sets, people = self.cells(steps)
        kept = self.kept(steps, k)
        stay = sum(len(people[kind]) for kind in kept)
        if not kept or len(set(self.person)) - stay > most or len(kept) > self.risk * stay:
            return None
        entries = sorted({(row, who) for row, who in zip(self.rows, self.person, strict=True)})
        distinct_in = lambda places: len({(self.rows[one], self.person[one]) for one in places})  # noqa: E731
        sizes = [distinct_in(places) for kind in kept for places in sets[kind].values()]
        owners = set().union(*(people[kind] for kind in kept))
        penalty = bits = 0.0
        for place, (form, step) in enumerate(zip(FORMS, steps, strict=True)):
            column = [row[place] for row, _ in entries]
            read, listed = form.at(column, step), sorted({*column, *(form.tree or ())})
            alike, wide, narrow = Counter(form.at(listed, step)), Counter(read), Counter(column)
            for (_, who), value, group in zip(entries, column, read, strict=True):
                stays = who in owners
                penalty += (alike[group] - 1) / max(1, len(listed) - 1) if stays else 1
                bits += -log2(narrow[value] / (wide[group] if stays else len(entries)))
        told = sum(
            max(Counter(self.wanted[one] for one in places).values())
            for kind in kept
            for places in sets[kind].values()
        )
        left = len(entries) - sum(sizes)
        return {
            Loss.TARGET: 1 - told / len(self.wanted),
            Loss.CERTAINTY: penalty / len(entries) / len(FORMS),
            Loss.ENTROPY: bits,
            Loss.DISCERNIBILITY: sum(size**2 for size in sizes) + len(entries) * left,
            Loss.GROUP_SIZE: len(entries) / (len(sizes) + (left > 0)),
        }


def demanded(name, ill, number):
    """Return conditions, what they mean, and the largest average chance."""
    if name == "size":
        return [], lambda own, everybody: True, Fraction(1)
    if name == "average risk":
        return [], lambda own, everybody: True, Fraction(1, 3)
    column, demand, holds = CASES[name]
    encoded = encode_column(pd.Series(ill), column)
    return [Condition.of(number, encoded, [demand(encoded)])], holds, Fraction(1)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", ["size", "average risk", "distinct", "entropy", "equal"])
def test_the_search_is_exact(name, seed):
    """Ten tables; every loss; nobody, one or some left out: the best of all combinations is found."""
    table, person = drawn(seed)
    ill = illnesses(seed, len(person))
    codes, members, ladders, number = by_sets(table, person)
    want, foretold = wanted(seed, len(person))
    asked, holds, risk = demanded(name, ill, number)
    hand = ByHand(table, person, ill, want, holds, risk)
    for k, most in ((2, 0), (2, 1), (3, len(set(person)) // 4)):
        lattice = partial(Lattice, codes, members, ladders, conditions=asked, most_average_risk=risk)
        assert_the_best_is_found(hand, lattice, Condition.of(number, foretold, ()), k=k, most=most)


@pytest.mark.parametrize("seed", range(6))
def test_who_leaves_leaves_with_all_rows(seed):
    table, person = drawn(seed)
    ill = illnesses(seed, len(person))
    codes, members, ladders, number = by_sets(table, person)
    asked, holds, _ = demanded("distinct", ill, number)
    hand = ByHand(table, person, ill, ill, holds)
    lattice = Lattice(codes, members, ladders, k=2, most_left_out=members.people, conditions=asked)
    for steps in EVERY:
        group = lattice.groups(steps)[number]
        stays = {who: set((group[person == who] >= 0).tolist()) for who in set(person.tolist())}
        assert all(len(one) == 1 for one in stays.values())
        _, people = hand.cells(steps)
        owners = set().union(*(people[kind] for kind in hand.kept(steps, 2)))
        assert {who for who, one in stays.items() if one == {True}} == owners
        looked = lattice.look(steps)
        assert looked.left_out == len(stays) - len(owners)
        assert lattice.alone(steps) == sum(len(one) == 1 for one in people.values())


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", ["size", "distinct", "entropy", "equal"])
def test_groups_leave_nobody_out_and_everybody_shares_all_their_rows(name, seed):
    table, person = drawn(seed)
    ill = illnesses(seed, len(person))
    codes, members, ladders, number = by_sets(table, person)
    asked, holds, _ = demanded(name, ill, number)
    found = make_ascending_groups(codes, members, ladders, k=3, conditions=asked)
    if found is None:
        assert len(set(person)) < 3 or not holds(ill, shares(ill))
        return
    group = found.group[number]
    reads = [
        tuple(
            form.at([value], found.steps[place, own])[0]
            for place, (form, value) in enumerate(zip(FORMS, row, strict=True))
        )
        for row, own in zip(zip(*table, strict=True), group.tolist(), strict=True)
    ]
    sets = {
        who: frozenset(read for read, own in zip(reads, person, strict=True) if own == who) for who in person
    }
    assert min(Counter(sets.values()).values()) >= 3
    for one in set(zip((sets[who] for who in person), reads, strict=True)):
        own = [value for value, who, read in zip(ill, person, reads, strict=True) if (sets[who], read) == one]
        assert holds(own, shares(ill))


def test_a_set_can_be_told_apart_where_every_row_has_enough_people():
    """a: 1 and 2, b: 1, c: 2. Each row is two people's, and a is the only one who has both."""
    table = [["a", "b", "a", "b"], ["1"] * 4, ["f"] * 4]
    person = np.array([0, 0, 1, 2])
    once, _, _, _ = prepared(table, person)
    codes, members, ladders, _ = prepared(table, person)
    assert search(Lattice(codes, members, ladders, k=2)).steps == (0, 0, 0)
    codes, members, ladders, _ = by_sets(table, person)
    found = search(Lattice(codes, members, ladders, k=2))
    assert found.steps == (1, 0, 0) and len(codes) == len(once) + 2
    lattice = Lattice(codes, members, ladders, k=2)
    assert (lattice.alone((0, 0, 0)), lattice.alone((1, 0, 0))) == (3, 0)


def test_people_are_given_away_once_each():
    """Two people with two rows each, of whom one value failed one step finer: neither can stay there."""
    table = [["a", "c", "a", "c"], ["1"] * 4, ["f"] * 4]
    person, ill = np.array([0, 0, 1, 1]), ["flu", "flu", "flu", "cold"]
    codes, members, ladders, number = by_sets(table, person)
    encoded = encode_column(pd.Series(ill), PLAIN)
    asked = [Condition.of(number, encoded, [distinct(2)])]
    lattice = Lattice(codes, members, ladders, k=2, conditions=asked)
    found = search(lattice)
    assert found.steps == (2, 0, 0) and given_away(lattice, found.steps) == 2
    codes, members, ladders, _ = prepared(table, person)
    once = Lattice(codes, members, ladders, k=2)
    assert once.people_in((0, 0, 0), np.array([True, True])) == 2


@pytest.mark.parametrize("seed", range(3))
def test_very_many_values_are_grouped_alike(seed, monkeypatch):
    table, person = drawn(seed)
    codes, members, ladders, _ = by_sets(table, person)
    fits = [Lattice(codes, members, ladders, k=2).people.sizes(steps).sum() for steps in EVERY]
    monkeypatch.setattr(recoding, "_WIDEST", 0)
    assert fits == [Lattice(codes, members, ladders, k=2).people.sizes(steps).sum() for steps in EVERY]


def test_each_person_and_combination_is_one_entry():
    combination, number, members = one_entry_each(np.array([0, 1, 0, 0]), np.array([0, 0, 1, 1]))
    assert combination.tolist() == [0, 0, 1] and number.tolist() == [0, 2, 1, 1]
    assert members.person.tolist() == [0, 1, 0] and members.sets and isinstance(members, Members)


GIVEN = {"columns": ["age", "town", "seen", "result"], "k": 4}


@pytest.mark.parametrize("recoding", ["whole_columns", "groups"])
def test_a_released_table_is_what_the_measures_find(recoding, tmp_path):
    """Whose each released row is: groups of people who have the same rows, as `engine.risk` counts them."""
    smallest = {}
    for several in ("once", "as_a_set"):
        release, request = made({**GIVEN, "recoding": recoding, "several_rows": several}, tmp_path=tmp_path)
        rows = release.artefacts[0]
        frame = rows.frame.assign(pid=people().rows()["pid"].to_numpy()[rows.origins])
        encoded = encode(Table(frame), SCHEMA, columns=["age", "town", "seen"])
        smallest[several] = group_rows(encoded, ["age", "town", "seen"]).smallest
        assert frame.groupby(["age", "town", "seen"])["pid"].nunique().min() >= 4
        subject = method("datasets.k_anonymity")(request)
        told = RiskAfter().evaluate(Private(subject, people(), SCHEMA, people(), release)).figures["released"]
        assert told["smallest_set"] == smallest[several]
        assert ("set_k" in release.promise.terms) == (several == "as_a_set")
    assert smallest["once"] < 4 <= smallest["as_a_set"] == release.inside.figures["smallest_group"]


def test_sets_are_counted_again_as_they_read(tmp_path, monkeypatch):
    """Whatever made the groups: here a search that takes every row for a set of its own."""
    monkeypatch.setattr(
        row_sets,
        "group_entries",
        lambda reads, person: row_sets.Parted(reads, np.arange(reads.max() + 1), np.bincount(reads)),
    )
    with pytest.raises(InputRefused) as caught:
        made({**GIVEN, "several_rows": "as_a_set"}, tmp_path=tmp_path)
    assert caught.value.code == "run.promise_differs"


def test_nobody_is_compared_by_sets_where_everybody_has_one_row(tmp_path):
    one_each = Table(people().rows().drop_duplicates("pid"))
    given = {"columns": ["age", "town"], "k": 3}
    once, _ = made(given, one_each, tmp_path)
    sets, _ = made({**given, "several_rows": "as_a_set"}, one_each, tmp_path)
    assert once.inside.figures == sets.inside.figures


def test_the_map_of_combinations_counts_sets_too():
    found = method("datasets.k_anonymity")
    request = found.make_request(
        {"people": SCHEMA}, {**GIVEN, "several_rows": "as_a_set", "most_left_out": 0.2}
    )
    (shown,) = found(request).tried({"people": people()}, chance=np.random.default_rng(1))
    each = people().rows()["pid"].nunique()
    assert shown.people == each and shown.alone > 0.9 * each  # nearly everybody has other visits
    assert shown.candidates[shown.best].holds
