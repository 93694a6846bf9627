"""Combining rules: by hand, and their coverage where the truth is known."""

from fractions import Fraction

import numpy as np
import pytest

from engine.methods.datasets.synthesis.chain import fit
from engine.methods.datasets.synthesis.combined import Rule, combined
from engine.methods.datasets.synthesis.variables import Amounts, Levels


def test_the_variances_are_those_of_the_sources():
    q, u = np.array([1.0, 2.0, 3.0]), np.array([0.3, 0.3, 0.3])  # b = 1
    assert combined(q, u, rule=Rule.PARTIAL, rows=10).variance == pytest.approx(0.3 + 1 / 3)
    assert combined(q, u, rule=Rule.FULL, rows=10).variance == pytest.approx(0.3 * (1 + 1 / 3))
    assert combined(q, u, rule=Rule.FULL, rows=10, released_rows=20).variance == pytest.approx(
        0.3 * (2 + 1 / 3)
    )
    assert combined(q, u, rule=Rule.POSTERIOR, rows=10).variance == pytest.approx(4 / 3 - 0.3)
    assert combined(q[:1], u[:1], rule=Rule.FULL, rows=10).variance == pytest.approx(0.6)


def test_a_negative_variance_has_no_interval_and_its_positive_form_has_one():
    q, u = np.array([1.0, 1.0]), np.array([0.5, 0.5])
    assert np.isnan(combined(q, u, rule=Rule.POSTERIOR, rows=10).low)
    assert combined(q, u, rule=Rule.POSTERIOR_POSITIVE, rows=10).variance == 0.5


def _covered(runs, *, mask, seed):
    """Share of runs in which the 95 % interval of a mean holds the truth, 0."""
    chance = np.random.default_rng(seed)
    hits = 0
    for _ in range(runs):
        n = 400
        group = chance.integers(0, 4, n)
        y = np.array([-1.0, -0.5, 0.5, 1.0])[group] + chance.normal(size=n)
        variables = {"group": Levels(group, ("a", "b", "c", "d")), "y": Amounts(y, Fraction(1, 1000))}
        inside = y > 0.8 if mask else np.ones(n, dtype=bool)
        if mask:
            chain = fit(variables, ("y",), smallest=10, given=("group",), inside={"y": inside})
        else:
            chain = fit(variables, ("group", "y"), smallest=10)
        means, spreads = [], []
        for _ in range(5):
            made = chain.draw(n, chance, known={"group": group.astype(float)} if mask else None)["y"]
            made = np.where(inside, made, y)
            means.append(made.mean())
            spreads.append(made.var(ddof=1) / n)
        rule = Rule.PARTIAL if mask else Rule.FULL
        found = combined(np.array(means), np.array(spreads), rule=rule, rows=n)
        hits += found.low <= 0 <= found.high
    return hits / runs


@pytest.mark.parametrize("mask", [False, True], ids=["full", "partial"])
def test_intervals_cover_in_a_hundred_tables(mask):
    """95 of 100, ± 3 standard errors; the mask reads the very column that it replaces."""
    assert _covered(150, mask=mask, seed=11) >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 150)


@pytest.mark.slow
@pytest.mark.parametrize("mask", [False, True], ids=["full", "partial"])
def test_intervals_cover_in_a_thousand_tables(mask):
    assert 0.925 <= _covered(1000, mask=mask, seed=12) <= 0.985
