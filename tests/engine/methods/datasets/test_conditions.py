"""Conditions on sensitive values against every combination of steps, by their definitions."""

from collections import Counter
from fractions import Fraction
from functools import partial
from itertools import product
from math import exp, inf, log

import numpy as np
import pandas as pd
import pytest

from engine.methods.datasets.ascending import make_ascending_groups
from engine.methods.datasets.conditions import Condition, alike, close, distinct, entropy, recursive
from engine.methods.datasets.full_domain import Lattice, search
from engine.methods.datasets.losses import Loss
from engine.methods.datasets.recoding import Ladder, Members
from engine.risk.encoding import encode_column
from engine.table.hierarchies import Hierarchy
from engine.table.schema import Column, Domain, Kind, Role
from tests.engine.methods.datasets.test_recoding import FORMS, ByHand, drawn, prepared, wanted
from tests.examples import few_on_a_commit

ILL = {"flu": ("lungs",), "cold": ("lungs",), "ulcer": ("gut",), "colic": ("gut",), "gout": ("joints",)}
ORDER = ("cold", "colic", "flu", "gout", "ulcer")
PLAIN = Column("ill", Role.SENSITIVE, Kind.CATEGORY)
ORDERED = Column("ill", Role.SENSITIVE, Kind.ORDINAL, domain=Domain(values=ORDER))
IN_A_TREE = Column("ill", Role.SENSITIVE, Kind.CATEGORY, hierarchy=Hierarchy(tree=ILL))


def illnesses(seed, rows):
    """Few illnesses are frequent, so that groups differ much in how diverse they are."""
    chance = np.random.default_rng(1000 + seed)
    return [sorted(ILL)[place] for place in np.minimum(chance.geometric(0.45, rows) - 1, 4)]


def shares(values):
    return {one: count / len(values) for one, count in Counter(values).items()}


def equal(own, everybody):
    return sum(abs(own.get(one, 0) - p) for one, p in everybody.items()) / 2


def ordered(own, everybody):
    moved, total = 0.0, 0.0
    known = [one for one in ORDER if one in everybody]
    for one in known:
        moved += own.get(one, 0) - everybody[one]
        total += abs(moved)
    return total / (len(known) - 1)


def along_the_tree(own, everybody):
    """Every edge carries what is too much below it; leaves below one group are h / 2 apart."""
    extra = {one: own.get(one, 0) - p for one, p in everybody.items()}
    middle = Counter()
    for one, much in extra.items():
        middle[ILL[one][0]] += much
    return (sum(map(abs, extra.values())) + sum(map(abs, middle.values()))) / 4


def ratio(values, at):
    falling = sorted(Counter(values).values(), reverse=True)
    return falling[0] / sum(falling[at - 1 :]) if len(falling) >= at else inf


CASES = {
    "distinct": (PLAIN, lambda column: distinct(2), lambda own, everybody: len(set(own)) >= 2),
    "distinct of one value": (PLAIN, lambda column: distinct(1), lambda own, everybody: True),
    "entropy": (
        PLAIN,
        lambda column: entropy(1.8),
        lambda own, everybody: exp(-sum(q * log(q) for q in shares(own).values())) >= 1.8,
    ),
    "recursive": (PLAIN, lambda column: recursive(2.5, 2), lambda own, everybody: ratio(own, 2) < 2.5),
    "recursive of three": (PLAIN, lambda column: recursive(4, 3), lambda own, everybody: ratio(own, 3) < 4),
    "alike": (
        PLAIN,
        lambda column: alike(column, 0.9),
        lambda own, everybody: all(q / everybody[one] - 1 <= 0.9 + 1e-9 for one, q in shares(own).items()),
    ),
    "equal": (
        PLAIN,
        lambda column: close(column, 0.3),
        lambda own, everybody: equal(shares(own), everybody) <= 0.3 + 1e-9,
    ),
    "equal though ordered": (
        ORDERED,
        lambda column: close(column, 0.25, equal=True),
        lambda own, everybody: equal(shares(own), everybody) <= 0.25 + 1e-9,
    ),
    "ordered": (
        ORDERED,
        lambda column: close(column, 0.15),
        lambda own, everybody: ordered(shares(own), everybody) <= 0.15 + 1e-9,
    ),
    "hierarchical": (
        IN_A_TREE,
        lambda column: close(column, 0.25),
        lambda own, everybody: along_the_tree(shares(own), everybody) <= 0.25 + 1e-9,
    ),
}


class Slowly(ByHand):
    """With a condition: every group of rows must hold in itself."""

    def __init__(self, table, person, ill, holds=lambda own, everybody: True, risk=1, wanted=None):
        super().__init__(table, person, wanted)
        self.rows, self.ill, self.everybody_ill = list(zip(*table, strict=True)), ill, shares(ill)
        self.condition, self.risk = holds, risk

    def reads(self, row, steps):
        return tuple(form.at([value], step)[0] for form, value, step in zip(FORMS, row, steps, strict=True))

    def kept(self, steps, k):
        groups, _ = self.groups(steps)
        own = {}
        for row, ill in zip(self.rows, self.ill, strict=True):
            own.setdefault(self.reads(row, steps), []).append(ill)
        return {
            text
            for text, rows in groups.items()
            if len({row[-1] for row in rows}) >= k and self.condition(own[text], self.everybody_ill)
        }

    def too_risky(self, steps, kept):
        groups, _ = self.groups(steps)
        people = sum(len({row[-1] for row in groups[text]}) for text in kept)
        return len(kept) > self.risk * people


EVERY = list(product(*(range(form.height + 1) for form in FORMS)))
"""Every combination of steps."""


def assert_the_best_is_found(hand, lattice, target, *, k, most):
    """Compare the search with all combinations by hand, by every loss."""
    by_hand = [found for steps in EVERY if (found := hand.losses(steps, k, most)) is not None]
    for loss in Loss:
        asked = target if loss is Loss.TARGET else None
        found = search(lattice(k=k, most_left_out=most, loss=loss, target=asked))
        best = min((one[loss] for one in by_hand), default=None)
        assert (found is None) == (best is None), (k, most, loss)
        if found is not None:
            assert found.loss == pytest.approx(best, abs=1e-9) == found.least, (k, most, loss)


@pytest.mark.parametrize("seed", few_on_a_commit(range(10), 3))
@pytest.mark.parametrize("name", [*CASES, "average risk"])
def test_the_search_with_a_condition_is_exact(name, seed):
    """Ten tables, in half of which people have several rows; every loss; nobody, one or some left out."""
    table, person = drawn(seed)
    ill = illnesses(seed, len(person))
    codes, members, ladders, number = prepared(table, person)
    want, foretold = wanted(seed, len(person))
    if name == "average risk":
        hand, conditions, risk = (
            Slowly(table, person, ill, risk=Fraction(1, 6), wanted=want),
            [],
            Fraction(1, 6),
        )
    else:
        column, demand, holds = CASES[name]
        encoded = encode_column(pd.Series(ill), column)
        conditions, risk = [Condition.of(number, encoded, [demand(encoded)])], Fraction(1)
        hand = Slowly(table, person, ill, holds, wanted=want)
    for k, most in ((2, 0), (2, 1), (3, len(set(person)) // 5)):
        lattice = partial(Lattice, codes, members, ladders, conditions=conditions, most_average_risk=risk)
        assert_the_best_is_found(hand, lattice, Condition.of(number, foretold, ()), k=k, most=most)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", CASES)
def test_groups_fulfil_a_condition_and_nobody_is_left_out(name, seed):
    table, person = drawn(seed)
    ill = illnesses(seed, len(person))
    codes, members, ladders, number = prepared(table, person)
    column, demand, holds = CASES[name]
    encoded = encode_column(pd.Series(ill), column)
    found = make_ascending_groups(
        codes, members, ladders, k=2, conditions=[Condition.of(number, encoded, [demand(encoded)])]
    )
    everybody = shares(ill)
    if found is None:
        assert len(set(person)) < 2 or not holds(ill, everybody)
        return
    group = found.group[number]
    assert (group >= 0).all() and set(group) == set(range(found.steps.shape[1]))
    for one in set(group):
        own = [value for value, place in zip(ill, group, strict=True) if place == one]
        assert len(set(person[group == one])) >= 2 and holds(own, everybody)
        for place, (form, values) in enumerate(zip(FORMS, table, strict=True)):
            reads = form.at(
                [v for v, g in zip(values, group, strict=True) if g == one], found.steps[place, one]
            )
            assert len(set(reads)) == 1


@pytest.mark.parametrize(("person", "most", "left_out"), [(range(8), 4, 4), ([0, 1, 2, 3, 0, 1, 2, 3], 0, 0)])
def test_two_groups_that_were_to_be_merged_fail_together(person, most, left_out):
    """Entropy with somebody left out: the finer table holds, the coarser does not.

    Where people have several rows, nobody need be left out for rows to go.
    """
    groups = Hierarchy(tree={"a": ("ab",), "b": ("ab",)})
    ill = ["x", "y", "x", "y", "x", "x", "x", "x"]
    town = ["a"] * 4 + ["b"] * 4
    ladder = Ladder.of(["a", "b"], groups)
    number = ladder.place(town)
    encoded = encode_column(pd.Series(ill), PLAIN)
    asked = [Condition.of(number, encoded, [entropy(2)])]
    lattice = Lattice(
        np.array([[0], [1]]),
        Members(number, np.array(person)),
        [ladder],
        k=2,
        most_left_out=most,
        conditions=asked,
    )
    assert not lattice.inferred
    assert not lattice.look((1,)).holds and not lattice.look((1,)).closes_finer
    assert search(lattice).steps == (0,) and search(lattice).left_out == left_out


@pytest.mark.parametrize(("weights", "kept"), [((5, 1), (0, 1)), ((1, 5), (1, 0))])
@pytest.mark.parametrize("loss", [Loss.CERTAINTY, Loss.ENTROPY])
def test_the_column_that_counts_more_keeps_its_detail(weights, kept, loss):
    """Four people, two columns, each combination once: one of the columns must go."""
    ladders = [Ladder.of(["0", "1"], Hierarchy(), weight=weight) for weight in weights]
    codes = np.array(list(product((0, 1), (0, 1))))
    found = search(Lattice(codes, Members(np.arange(4), np.arange(4)), ladders, k=2, loss=loss))
    assert found.steps == kept
    if loss is Loss.CERTAINTY:
        assert found.loss == pytest.approx(1 / 6)
        assert make_ascending_groups(
            codes, Members(np.arange(4), np.arange(4)), ladders, k=2
        ).loss == pytest.approx(1 / 6)
