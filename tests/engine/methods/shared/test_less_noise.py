"""A covariance with less noise: nothing is lost without noise, and noise that cannot be covariance goes."""

import numpy as np
import pytest

from engine.methods.shared.less_noise import less_noisy

WIDTHS = (0, 30, 0, 12)
SIZE = 44


def rows(seed=0, n=4000):
    """Two numbers that go together, a column with many rare values, and one that follows the first number."""
    chance = np.random.default_rng(seed)
    first = chance.normal(scale=0.4, size=n)
    second = 0.7 * first + chance.normal(scale=0.2, size=n)
    rare = np.minimum(chance.geometric(0.4, n), 30) - 1
    follows = np.digitize(first + chance.normal(scale=0.2, size=n), np.linspace(-1, 1, 11))
    return np.c_[first, np.eye(30)[rare], second, np.eye(12)[follows]]


def noisy(covariance, deviation, seed):
    drawn = np.triu(np.random.default_rng(seed).normal(scale=deviation, size=covariance.shape))
    return covariance + drawn + np.triu(drawn, 1).T


def test_without_noise_nothing_changes():
    exact = np.cov(rows(), rowvar=False)
    assert less_noisy(exact, WIDTHS, noise=0.0) == pytest.approx(exact, abs=1e-12)


def kept(covariance, of, count):
    directions = np.linalg.eigh(of)[1][:, -count:]
    return np.trace(directions.T @ covariance @ directions) / np.linalg.eigvalsh(covariance)[-count:].sum()


@pytest.mark.parametrize("count", [2, 5])
@pytest.mark.parametrize("deviation", [0.01, 0.03])
def test_components_keep_more(count, deviation):
    """Fixed seeds: medians over 15 draws of the noise."""
    exact = np.cov(rows(), rowvar=False)
    before, after = [], []
    for seed in range(15):
        drawn = noisy(exact, deviation, seed)
        before.append(kept(exact, drawn, count))
        after.append(kept(exact, less_noisy(drawn, WIDTHS, noise=deviation), count))
    assert np.median(after) > np.median(before)


@pytest.mark.parametrize("given", [np.zeros((SIZE, SIZE)), -np.eye(SIZE), np.full((SIZE, SIZE), 1e12)])
def test_any_matrix_gives_a_finite_symmetric_one(given):
    found = less_noisy(given, WIDTHS, noise=3.0)
    assert np.isfinite(found).all() and (found == found.T).all() and (np.diag(found) >= 0).all()
