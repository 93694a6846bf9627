"""Combining rules: by hand, and their coverage where the truth is known."""

import numpy as np
import pytest

from engine.methods.datasets.synthesis.combined import Rule, combine_estimates
from tests.published.coverage import KINDS, TRUE, rule_for, shares, told_by_copies


def test_the_variances_are_those_of_the_sources():
    q, u = np.array([1.0, 2.0, 3.0]), np.array([0.3, 0.3, 0.3])  # b = 1
    assert combine_estimates(q, u, rule=Rule.PARTIAL, rows=10).variance == pytest.approx(0.3 + 1 / 3)
    assert combine_estimates(q, u, rule=Rule.FULL, rows=10).variance == pytest.approx(0.3 * (1 + 1 / 3))
    assert combine_estimates(q, u, rule=Rule.FULL, rows=10, released_rows=20).variance == pytest.approx(
        0.3 * (2 + 1 / 3)
    )
    assert combine_estimates(q, u, rule=Rule.POSTERIOR, rows=10).variance == pytest.approx(4 / 3 - 0.3)
    assert combine_estimates(q, u, rule=Rule.FULL_REDRAWN, rows=10).variance == pytest.approx(
        0.3 * (1 + 2 / 3)
    )
    assert combine_estimates(q[:1], u[:1], rule=Rule.FULL, rows=10).variance == pytest.approx(0.6)


def test_a_negative_variance_has_no_interval_and_its_positive_form_has_one():
    q, u = np.array([1.0, 1.0]), np.array([0.5, 0.5])
    assert np.isnan(combine_estimates(q, u, rule=Rule.POSTERIOR, rows=10).low)
    assert combine_estimates(q, u, rule=Rule.POSTERIOR_POSITIVE, rows=10).variance == 0.5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("partial", [False, True], ids=["full", "partial"])
def test_intervals_cover_in_a_hundred_tables(kind, partial):
    """95 of 100, less 3 standard errors."""
    found, _ = shares(100, kind=kind, partial=partial, seed=11, rules=[rule_for(kind, partial)])
    assert min(found.values()) >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 100)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("partial", [False, True], ids=["full", "partial"])
def test_intervals_cover_in_a_thousand_tables(kind, partial):
    found, _ = shares(1000, kind=kind, partial=partial, seed=12, rules=[rule_for(kind, partial)])
    assert min(found.values()) >= 0.925 and max(found.values()) <= 0.975


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("training", "unbiased"), [("inside", True), ("outside", False), ("all", False)])
def test_a_mask_on_its_own_column_is_unbiased_only_where_its_rows_are_learnt_from(kind, training, unbiased):
    chance = np.random.default_rng(13)
    means = np.array(
        [told_by_copies(400, chance, kind=kind, training=training)[0][:, 0].mean() for _ in range(60)]
    )
    error = means.std(ddof=1) / np.sqrt(len(means))
    assert bool(abs(means.mean() - TRUE["mean"]) < 3 * error) is unbiased
