"""What quantiles lose, exactly: the probability of every answer on neighbouring values, by search."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from engine.methods.shared.rank_choices import (
    choices,
    choose_quantiles,
    cut,
    cut_scores,
    loss_when_added,
    parts_for,
    rank_scores,
)
from tests.engine.flip import flip_probabilities
from tests.engine.methods.statistics.ranks_by_hand import ranks_off
from tests.noise_source import seeded_noise

QUARTER, THIRD, HALF = Fraction(1, 4), Fraction(1, 3), Fraction(1, 2)
QUARTILES = (QUARTER, HALF, 3 * QUARTER)


def one_way(step, first, second, parts):
    """The largest log ratio of the probabilities of any answer, its cuts included."""
    if step is None or (first == second).all():
        return 0.0
    inner = bool(step.next)
    scores = [
        cut_scores(counts, wanted=step.target, parts=parts)
        if inner
        else rank_scores(counts, wanted=step.target)
        for counts in (first, second)
    ]
    unit = step.target.denominator * (2 * parts if inner else 1)
    logs = [np.log(flip_probabilities(each, float(step.rate) / unit)) for each in scores]
    ratios = logs[0] - logs[1]
    if not inner:
        return ratios.max()
    worst = -np.inf
    for answer, ratio in enumerate(ratios):
        place, part = divmod(answer, parts)
        sides = [cut(counts, place=place, part=part, parts=parts) for counts in (first, second)]
        after = one_way(step.left, sides[0][0], sides[1][0], parts)
        after += one_way(step.right, sides[0][1], sides[1][1], parts)
        worst = max(worst, ratio + after)
    return worst


def loss(roots, first, second, *, parts=1):
    """Separate choices are independent: their losses add up."""
    return max(
        sum(one_way(root, one, other, parts) for root in roots)
        for one, other in ((first, second), (second, first))
    )


def tally(places, size):
    return np.bincount([place for place in places if place is not None], minlength=size)


@pytest.mark.parametrize("wanted", [(HALF,), (THIRD,), (QUARTER, Fraction(9, 10)), QUARTILES])
@pytest.mark.parametrize(("rows", "replace_one"), [(1, False), (2, False), (1, True), (2, True)])
def test_no_neighbours_lose_more_than_epsilon(wanted, rows, replace_one):
    """All values of up to three others on three steps, cut in three parts; own rows anywhere or missing."""
    roots = choices(wanted, Fraction(2), rows=rows, groups=1, replace_one=replace_one)
    own = list(itertools.combinations_with_replacement((None, 0, 1, 2), rows))
    for size in range(4):
        for others in itertools.combinations_with_replacement(range(3), size):
            reached = [tally((*others, *mine), 3) for mine in own]
            pairs = (
                itertools.combinations(reached, 2)
                if replace_one
                else ((tally(others, 3), each) for each in reached)
            )
            assert all(loss(roots, *pair, parts=3) <= 2 + 1e-9 for pair in pairs)


@pytest.mark.parametrize("wanted", [(THIRD, 2 * THIRD), (QUARTER, 3 * QUARTER), (Fraction(2, 5), HALF)])
@pytest.mark.parametrize("replace_one", [False, True])
def test_separate_choices_of_many_values_lose_no_more_together(wanted, replace_one):
    """Where the row lies is the same for all of them: random values, every place of the own row."""
    draw = np.random.default_rng(4)
    roots = choices(wanted, Fraction(2), rows=1, groups=1, replace_one=replace_one)
    assert len(roots) == 2
    for _ in range(150):
        counts = draw.multinomial(draw.integers(0, 14), draw.dirichlet(np.full(5, 0.5)))
        reached = [counts + np.eye(5, dtype=np.int64)[place] for place in range(5)]
        pairs = (
            itertools.combinations([counts, *reached], 2)
            if replace_one
            else ((counts, one) for one in reached)
        )
        assert all(loss(roots, *pair) <= 2 + 1e-9 for pair in pairs)


REACHED = [
    ((HALF,), 60, {1: 1}, None, 59),
    ((HALF,), 60, {1: 1}, 0, 59),
    ((QUARTER,), 60, {58: 1, 59: 2}, None, 0),
    ((QUARTER, 3 * QUARTER), 100, {98: 1, 99: 2}, None, 1),
    ((THIRD, 2 * THIRD), 100, {98: 1, 99: 1}, None, 1),
    (QUARTILES, 40, {38: 1, 39: 1}, None, 0),
]


@pytest.mark.parametrize(("wanted", "size", "others", "removed", "added"), REACHED)
def test_epsilon_is_reached(wanted, size, others, removed, added):
    """At least nine tenths of it: the sensitivity is no larger than it has to be."""
    counts = np.zeros(size, dtype=np.int64)
    counts[list(others)] = list(others.values())
    pair = [counts.copy(), counts.copy()]
    pair[1][added] += 1
    if removed is not None:
        pair[0][removed] += 1
    roots = choices(wanted, Fraction(1), rows=1, groups=1, replace_one=removed is not None)
    assert 0.97 <= loss(roots, *pair) <= 1 + 1e-9


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 9, 19])
@pytest.mark.parametrize(("rows", "groups", "replace_one"), [(1, 1, False), (3, 5, False), (2, 5, True)])
def test_the_whole_loss_is_epsilon(count, rows, groups, replace_one):
    wanted = tuple(Fraction(place, count + 1) for place in range(1, count + 1))
    for epsilon in (Fraction(1, 10), Fraction(10**6)):
        roots = choices(wanted, epsilon, rows=rows, groups=groups, replace_one=replace_one)
        assert rows * (2 if replace_one else 1) * loss_when_added(roots) == epsilon
        assert sorted(step.place for root in roots for step in root.steps()) == list(range(count))


def test_many_quantiles_halve_the_values_and_few_or_exact_ones_do_not():
    nineteen = tuple(Fraction(place, 20) for place in range(1, 20))
    halved = choices(nineteen, Fraction(1), rows=1, groups=1, replace_one=False)
    assert len(halved) == 1 and halved[0].depth == 4 and halved[0].place == 9
    assert len(choices((THIRD, 2 * THIRD), Fraction(1), rows=1, groups=1, replace_one=False)) == 2
    assert len(choices(nineteen, Fraction(10**12), rows=1, groups=1, replace_one=False)) == 19


def test_odd_denominators_stay_usable():
    wanted = (
        Fraction(1, 1000),
        Fraction(1, 999),
        Fraction(500, 997),
        Fraction(998, 999),
        Fraction(999, 1000),
    )
    (root,) = choices(wanted, Fraction(1), rows=1, groups=1, replace_one=False)
    assert all(0 < step.target < 1 and step.target.denominator <= 10_000 for step in root.steps())
    assert loss_when_added((root,)) == 1
    found = choose_quantiles((root,), np.full(50, 10**6), parts=64, noise=seeded_noise(1))
    assert found.tolist() == [0, 0, 25, 49, 49]


def test_cutting_by_hand():
    counts = np.array([2, 5, 1])
    left, right = cut(counts, place=1, part=1, parts=2)
    assert (left.tolist(), right.tolist()) == ([2, 3], [2, 1])
    scores = cut_scores(counts, wanted=HALF, parts=2).reshape(3, 2)
    # left of the cuts: 0.5, 1.5 | 3.25, 5.75 | 7.25, 7.75 of 8 values; four quarters of a rank are 8
    assert scores.tolist() == [[-28, -20], [-6, -14], [-26, -30]]


@pytest.mark.parametrize("parts", [1, 3, 1024])
def test_a_value_more_is_on_exactly_one_side(parts):
    counts = np.array([4, 0, 9, 2])
    for added, place, part in itertools.product(range(4), range(4), {0, parts // 2, parts - 1}):
        more = counts.copy()
        more[added] += 1
        before, after = (cut(each, place=place, part=part, parts=parts) for each in (counts, more))
        assert sorted((a - b).sum() for a, b in zip(after, before, strict=True)) == [0, 1]


def test_quantiles_of_many_equal_values_keep_their_ranks():
    """Where seven in ten values are the same, halves without them would look for ranks that are not there."""
    counts = np.r_[70_000, np.full(300, 100)]
    wanted = tuple(Fraction(place, 20) for place in range(1, 20))
    roots = choices(wanted, Fraction(1), rows=1, groups=1, replace_one=False)
    parts = parts_for(roots, candidates=301, groups=1, most=2_000_000)
    found = choose_quantiles(roots, counts, parts=parts, noise=seeded_noise(2))
    off = [ranks_off(counts, wanted=each)[at] for each, at in zip(wanted, found, strict=True)]
    assert max(off) < 150  # of 100,000 people; half a step of the cuts is 105
