"""Sums: which tell of one contributor, and what the second largest can reckon of the largest."""

from fractions import Fraction

import numpy as np
import pytest

from engine.methods.shared.suppression.additive import Additive
from engine.methods.shared.suppression.contributions import count_contributions, sum_contributions
from engine.methods.shared.suppression.exact import suppress
from engine.methods.shared.suppression.sums import SumRules, distances, sum_task
from tests.engine.methods.shared.test_suppression import published


def one_cell(*amounts):
    """Return what these people contribute to one cell, each with one row."""
    rows = np.arange(len(amounts))
    return sum_contributions(Additive((1,)), 0 * rows, rows, np.array(amounts), most=3)


def needed(rules, *amounts):
    return float(distances(one_cell(*amounts), rules)[0])


def test_by_hand():
    p = lambda percent: SumRules(2, p_percent=Fraction(percent))  # noqa: E731
    assert needed(p(20), 50, 30, 10) == 0  # 90 − 50 − 30 = 10 is 20 % of 50
    assert needed(p(25), 50, 30, 10) == 2.5
    assert needed(p(10), 50, 30) == 5  # two contributors know each other but for p %
    nk = lambda n, k: SumRules(2, dominance=(n, Fraction(k)))  # noqa: E731
    assert needed(nk(1, 60), 50, 30, 10) == 0 and needed(nk(1, 50), 50, 30, 10) == 10  # 100/50 · 50 − 90
    assert needed(nk(2, 80), 50, 30, 10) == 10  # 100/80 · 80 − 90
    assert needed(SumRules(4), 50, 30, 10) == 9 and needed(SumRules(3), 50, 30, 10) == 0
    assert needed(SumRules(2)) == 0  # nobody is in the cell


@pytest.mark.parametrize("zeros", [0, 1, 9])
def test_who_adds_nothing_hides_nobody(zeros):
    """Eleven people of whom one gave anything: their sum is what that one gave."""
    assert needed(SumRules(2), 50, *[0] * zeros) == 5
    assert needed(SumRules(3), 50, 30, *[0] * zeros) == 8 and needed(SumRules(2), 50, 30, *[0] * zeros) == 0
    assert needed(SumRules(11), *[0] * 10) == 1 and needed(SumRules(10), *[0] * 10) == 0


def test_the_rows_of_one_person_are_one_contribution():
    found = sum_contributions(
        Additive((2, 2)),
        np.array([0, 0, 1, 3, 3, -1]),
        np.array([7, 7, 7, 8, 9, 9]),
        np.array([5, 6, 2, 1, 4, 100]),
        most=2,
    )
    cells = found.values.reshape(3, 3)
    assert cells.tolist() == [[11, 2, 13], [0, 5, 5], [11, 7, 18]]
    assert found.people.reshape(3, 3).tolist() == [[1, 1, 1], [0, 2, 2], [1, 3, 3]]
    assert found.owners.reshape(3, 3).tolist() == [[7, 7, 7], [-1, -1, -1], [7, -1, -1]]
    assert found.largest[[2, 5, 8]].tolist() == [[13, 0], [4, 1], [13, 4]]


def test_counting_people_is_the_same_as_adding_up_ones():
    chance = np.random.default_rng(1)
    additive = Additive((3, 4))
    codes = chance.integers(-1, 12, 40)
    inner = np.bincount(codes[codes >= 0], minlength=12)
    slow = sum_contributions(additive, codes, np.arange(40), np.ones(40, dtype=int), most=1)
    fast = count_contributions(additive, inner)
    assert (slow.values == fast.values).all() and (slow.people == fast.people).all()
    assert ((slow.owners >= 0) == (fast.owners >= 0)).all()
    assert (slow.largest[:, 0] == fast.largest[:, 0]).all()


def random_sums(seed, rules):
    """Return a table of skewed amounts, what people contribute, and its task."""
    chance = np.random.default_rng(seed)
    additive = Additive((4, 3) if seed % 2 else (3, 3, 2))
    rows = 60 + seed
    codes = chance.integers(0, int(np.prod(additive.levels)), rows)
    person = chance.integers(0, rows // 2, rows)
    amounts = chance.lognormal(5, 1.5, rows).astype(np.int64)
    found = sum_contributions(additive, codes, person, amounts, most=rules.most)
    task, _ = sum_task(additive, found, np.ones(additive.size, dtype=bool), rules)
    return additive, found, task


RULES = [
    SumRules(3, p_percent=Fraction(15), alone=False),
    SumRules(2, dominance=(1, Fraction(60)), alone=False),
    SumRules(3, p_percent=Fraction(15), alone=True, by_people=False),
]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rules", RULES)
def test_the_second_largest_never_comes_within_p_per_cent(rules, seed):
    """From the published table alone: the most that x₁ can be, for who knows x₂, is p % above it or more."""
    additive, found, task = random_sums(seed, rules)
    hidden = suppress(task, seconds=1).hidden
    shown = type(task)(**{**task.__dict__, "values": found.values.astype(float)})
    ends = published(shown, additive.levels, hidden, 0).intervals()
    wanted = distances(found, rules)
    first, second = found.largest[:, 0], found.largest[:, 1]
    assert hidden[wanted > 0].all() and (wanted > 0).any()
    for cell in np.flatnonzero(wanted > 0):
        assert ends.high[cell] >= found.values[cell] + wanted[cell] - 1e-3
        assert ends.low[cell] <= max(0, found.values[cell] - wanted[cell]) + 1e-3
        if rules.p_percent is not None and found.people[cell] >= 3:
            assert ends.high[cell] - second[cell] >= (1 + float(rules.p_percent) / 100) * first[cell] - 1e-3
        if rules.dominance is not None:
            assert 100 * first[cell] <= float(rules.dominance[1]) * ends.high[cell] + 1e-3
    open_cells = (wanted == 0) & ~hidden
    assert open_cells.any()


def test_large_amounts_are_scaled_and_held():
    """Ten to the twelve in a cell: the same pattern as in small numbers."""
    rules = SumRules(3, p_percent=Fraction(10), alone=False)
    chance = np.random.default_rng(3)
    rows = np.arange(80)
    codes, amounts = chance.integers(0, 12, 80), chance.lognormal(4, 1, 80).astype(np.int64)
    patterns = []
    for factor in (1, 10**10):
        found = sum_contributions(Additive((4, 3)), codes, rows, amounts * factor, most=2)
        task, _ = sum_task(Additive((4, 3)), found, np.ones(20, dtype=bool), rules)
        patterns.append(suppress(task, seconds=2))
    assert patterns[0].cost == pytest.approx(patterns[1].cost) and patterns[0].gap == patterns[1].gap == 0
