"""Estimates and errors of several tables against generic least squares and simulation."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import binom

from engine.methods.statistics.margins import Strategy, best_strategy, parts_of

TWO = ((0, 1), (0,), (1,), ())
PAIRS = tuple(combinations(range(4), 2))
MOST_PAIRS = tuple(combinations(range(6), 2))


def totals(columns):
    """The table of so many columns with its totals."""
    return (tuple(range(columns)), *((place,) for place in range(columns)), ())


def matrix(shape, table):
    """The sums that make a table from the cells of the table over all columns."""
    cells = list(product(*map(range, shape)))
    rows = list(product(*(range(shape[place]) for place in table)))
    return np.array(
        [[all(cell[p] == v for p, v in zip(table, row, strict=True)) for cell in cells] for row in rows],
        float,
    )


@pytest.mark.parametrize(
    "shares",
    [
        {(0, 1, 2): "1"},
        {(0, 1): "1/4", (2,): "1/4", (): "1/2"},
        {(0, 1, 2): "1/5", (0, 2): "1/2", (1,): "3/10"},
    ],
)
def test_estimates_and_errors_are_those_of_generic_least_squares(shares):
    """Least squares by the pseudo-inverse, the rows divided by their scales."""
    shape = (2, 3, 4)
    strategy = Strategy(shape, tuple((table, Fraction(share)) for table, share in shares.items()))
    draw = np.random.default_rng(1)
    measured = {table: draw.normal(50, 20, [shape[p] for p in table]) for table in shares}
    stacked = np.vstack([matrix(shape, table) * float(Fraction(share)) for table, share in shares.items()])
    noisy = np.concatenate(
        [measured[table].ravel() * float(Fraction(share)) for table, share in shares.items()]
    )
    inverse = np.linalg.pinv(stacked)
    for table in {part for one in shares for part in parts_of(one)}:
        ours = strategy.estimate(measured, table).ravel()
        assert ours == pytest.approx(matrix(shape, table) @ inverse @ noisy, abs=1e-9)
        variance = ((matrix(shape, table) @ inverse) ** 2).sum(axis=1)
        terms = [
            (coefficient, times, float(share))
            for one, share in strategy.shares
            for coefficient, times in strategy._coefficients(one, table)
        ]
        assert sum(c**2 * n / s**2 for c, n, s in terms) == pytest.approx(variance[0], rel=1e-9)
        assert variance == pytest.approx(variance[0], rel=1e-9)


def noisy_tables(strategy, exact, scale, draw):
    found = {}
    for table, share in strategy.shares:
        others = tuple(axis for axis in range(exact.ndim) if axis not in table)
        sums = exact.sum(axis=others)
        stay = 1 - np.exp(-float(share) / scale)
        found[table] = sums + draw.geometric(stay, sums.shape) - draw.geometric(stay, sums.shape)
    return found


@pytest.mark.parametrize(
    ("shape", "asked"),
    [((10, 10), TWO), ((30, 25), TWO), ((6, 6, 6, 6), PAIRS), ((9, 8, 7), ((0,), (1,), (2,), ()))],
)
def test_the_stated_margin_covers_95_in_100(shape, asked):
    """Between 94.5 and 96 in 100 of the cells, allowed 1e-5; a first cell of each release is independent."""
    strategy, draw, runs = best_strategy(shape, asked, most_cells=10**5), np.random.default_rng(3), 2000
    exact = draw.poisson(5, shape)
    held = dict.fromkeys(asked, 0)
    limits = {table: strategy.accuracy(table, scale=Fraction(5)).limit for table in asked}
    for _ in range(runs):
        measured = noisy_tables(strategy, exact, 5.0, draw)
        for table in asked:
            others = tuple(axis for axis in range(exact.ndim) if axis not in table)
            error = np.rint(strategy.estimate(measured, table)) - exact.sum(axis=others)
            held[table] += abs(error.flat[0]) <= limits[table]
    for count in held.values():
        assert binom.ppf(1e-5, runs, 0.945) <= count <= binom.ppf(1 - 1e-5, runs, 0.965)


def variance(strategy, asked):
    return sum(
        c**2 * n / float(share) ** 2
        for table, share in strategy.shares
        for c, n in strategy._coefficients(table, asked)
    )


@pytest.mark.parametrize(
    ("shape", "asked"),
    [
        ((10, 10), TWO),
        ((40, 50), TWO),
        ((10,) * 4, PAIRS),
        ((3, 4, 5, 2), PAIRS),
        ((2, 2), TWO),
        # as many tables as there can be: each starts with less than the search moves at first
        *(((2,) * columns, totals(columns)) for columns in (3, 4, 5, 6)),
        ((2,) * 6, MOST_PAIRS),
        ((2,) * 6, totals(6)[1:]),
    ],
)
def test_the_choice_beats_the_whole_table_and_equal_shares(shape, asked):
    """In the mean logarithm of the variances, which is what it is chosen for."""
    best = best_strategy(shape, asked, most_cells=10**5)
    assert sum(share for _, share in best.shares) == 1
    whole = Strategy(shape, ((tuple(range(len(shape))), Fraction(1)),))
    equal = Strategy(shape, tuple((table, Fraction(1, len(asked))) for table in asked))
    ours, *others = (np.log([variance(one, table) for table in asked]).mean() for one in (best, whole, equal))
    assert ours <= min(others) + 1e-9


def test_pairs_of_four_columns_are_far_better_than_the_table_of_all_of_them():
    best = best_strategy((10,) * 4, PAIRS, most_cells=10**5)
    whole = Strategy((10,) * 4, (((0, 1, 2, 3), Fraction(1)),))
    assert all(variance(best, pair) < 0.35 * variance(whole, pair) for pair in PAIRS)


def test_tables_agree_on_what_they_share():
    strategy = best_strategy((4, 5, 3), ((0, 1), (1, 2), (0, 2)), most_cells=10**5)
    draw = np.random.default_rng(5)
    measured = noisy_tables(strategy, draw.poisson(20, (4, 5, 3)), 3.0, draw)
    first, second, third = (strategy.estimate(measured, pair) for pair in ((0, 1), (1, 2), (0, 2)))
    assert first.sum(axis=0) == pytest.approx(second.sum(axis=1))
    assert first.sum(axis=1) == pytest.approx(third.sum(axis=1))
