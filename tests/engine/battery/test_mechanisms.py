"""The mechanisms of the engine go through the battery, and half their noise does not."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from engine.privacy.mechanisms import GaussianCounts, LaplaceCounts
from tests.engine.battery.checks import applicable, failing
from tests.engine.battery.distributions import gaussian_law, laplace_law
from tests.engine.battery.honest import (
    COUNT,
    EPSILON,
    MEDIAN,
    REACH,
    STEP,
    SUM,
    bounded_sum,
    choosing,
    median_scores,
    one_count,
)

GAUSSIAN = GaussianCounts(1, Fraction(1, 2), Fraction(1, 10**5))


def whole(mechanism, query):
    """Return the release of whole numbers and the same many times over."""
    return {
        "release": lambda data, noise: mechanism.release(query(data), noise),
        "release_often": lambda data, noise, runs: mechanism.release(np.repeat(query(data), runs), noise),
    }


def in_steps(mechanism):
    """Return the release of sums, divided last."""
    return {
        "release": lambda data, noise: mechanism.release(bounded_sum(data), noise) * float(STEP),
        "release_often": lambda data, noise, runs: (
            mechanism.release(np.repeat(bounded_sum(data), runs), noise) * float(STEP)
        ),
    }


SUBJECTS = {
    "Laplace, count": replace(COUNT, **whole(LaplaceCounts(1, EPSILON), one_count), law=laplace_law(1)),
    "Laplace, sum": replace(SUM, **in_steps(LaplaceCounts(REACH, EPSILON)), law=laplace_law(REACH)),
    "Gaussian, count": replace(
        COUNT, **whole(GAUSSIAN, one_count), epsilon=None, law=gaussian_law(GAUSSIAN.scale**2)
    ),
    "exponential": replace(MEDIAN, release=choosing(median_scores, EPSILON / 2)),
}
HALVED = {
    "Laplace, count": whole(LaplaceCounts(1, 2 * EPSILON), one_count),
    "Laplace, sum": in_steps(LaplaceCounts(REACH // 2, EPSILON)),
    "Gaussian, count": whole(GaussianCounts(1, 2 * GAUSSIAN.epsilon, GAUSSIAN.delta), one_count),
    "exponential": {"release": choosing(median_scores, 3 * EPSILON)},
}


@pytest.mark.parametrize("name", SUBJECTS)
def test_passes(name):
    assert failing(SUBJECTS[name]) == {}


@pytest.mark.parametrize("name", HALVED)
def test_less_noise_is_found(name):
    mutant = replace(SUBJECTS[name], **HALVED[name])
    expected = {"noise", "audit"} & set(applicable(mutant))
    assert expected and set(failing(mutant, only=expected)) == expected
