"""Likeness of columns and of correlations: by hand and against another library."""

import numpy as np
import pytest
from scipy import stats

from engine.utility.similarity import SMOOTHING, apart, correlations, divergence, similarity


def test_divergence_agrees_with_scipy():
    chance = np.random.default_rng(1)
    one, other = chance.integers(0, 5, 100), chance.integers(0, 7, 60)
    p, q = (np.bincount(codes, minlength=7) + SMOOTHING for codes in (one, other))
    assert divergence(one, other) == pytest.approx(stats.entropy(p, q))


def test_a_value_that_is_lost_is_not_endlessly_far():
    found = similarity({"a": np.zeros(10, dtype=int)}, {"a": np.ones(10, dtype=int)})
    assert 0 < found["a"] < 0.2


def test_correlations_leave_out_rows_without_both_and_columns_that_do_not_vary():
    chance = np.random.default_rng(2)
    x, y = chance.normal(size=(2, 50))
    y[:5] = np.nan
    found = correlations({"x": x, "y": y, "same": np.ones(50)})
    assert list(found) == [("x", "y")]
    assert found["x", "y"] == pytest.approx(stats.pearsonr(x[5:], y[5:])[0])
    assert apart(found, {("x", "y"): 0.0}) == [abs(found["x", "y"])]


@pytest.mark.parametrize("times", [1e-200, 1.0, 1e307])
def test_correlations_do_not_depend_on_the_unit(times):
    x = np.random.default_rng(6).normal(size=(500, 2)).clip(-5, 5)
    x[:, 1] += x[:, 0]
    (found,) = correlations({"a": x[:, 0] * times, "b": x[:, 1]}).values()
    assert found == pytest.approx(np.corrcoef(x.T)[0, 1])
