"""Noisy counts of pairs of cells by their sensitivity, and the axes that are made of them."""

from fractions import Fraction

import numpy as np
import pytest

from engine.methods.datasets.latent_model.moments import Moments, count_pairs
from tests.engine.methods.datasets.latent_model.test_projection import SIZES, likelihood
from tests.noise_source import seeded_noise


def test_one_row_adds_as_many_ones_as_is_claimed():
    chance = np.random.default_rng(0)
    codes = np.array([chance.integers(0, size, 30) for size in SIZES])
    moments = Moments(SIZES, Fraction(1), Fraction(1, 10**6), 2, 30)
    more, fewer = count_pairs(codes, SIZES), count_pairs(codes[:, :-1], SIZES)
    moved = np.concatenate([(more[place] - fewer[place]).ravel() for place in more])
    assert set(moved) == {0, 1} and moved.sum() == moments.squared == 6
    assert float(moments.event.concentrated()) == pytest.approx(6 / (2 * float(moments.scale) ** 2))


def test_with_little_noise_the_axes_are_those_of_the_rows():
    chance = np.random.default_rng(1)
    first = chance.integers(0, 2, 5000)
    codes = np.array([first, np.where(chance.random(5000) < 0.9, 2 * first, 1), first])
    noise = seeded_noise(1)
    moments = Moments(SIZES, Fraction(50), Fraction(1, 10**6), 1, 5000)
    found = moments.learnt(codes, noise)
    assert noise.counted == moments.event.drawn()
    x = np.concatenate([np.eye(size)[one] for size, one in zip(SIZES, codes, strict=True)], axis=1)
    assert found.mean == pytest.approx(x.mean(axis=0), abs=0.01)
    exact = np.linalg.eigh(np.cov(x.T))[1][:, -1]
    assert abs(float(exact @ found.axes[:, 0])) == pytest.approx(1, abs=0.01)
    # a row is read back as what belongs to it
    assert likelihood(found, np.array([1, 2, 1]), np.array([1, 2, 1])) > 0.5
