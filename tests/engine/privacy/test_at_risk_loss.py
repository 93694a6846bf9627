"""The privacy loss of every mechanism against its own probabilities."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from engine.errors import InputRefused
from engine.privacy.at_risk import mechanisms
from engine.privacy.at_risk.composition import compose
from engine.privacy.at_risk.mechanisms import (
    discrete_gaussian,
    discrete_laplace,
    exponential,
    gaussian,
    laplace,
    loss_of,
    permute_and_flip,
    randomised_response,
    randomised_response_at,
)
from engine.texts import explain
from tests.engine.flip import flip_probabilities

ALL = {
    "laplace": laplace(epsilon0=1.3),
    "discrete laplace": discrete_laplace(epsilon0=1.3),
    "discrete laplace, seven steps": discrete_laplace(epsilon0=1.3, sensitivity=7),
    "discrete laplace, many steps": discrete_laplace(epsilon0=1.3, sensitivity=50_000),
    "gaussian": gaussian(scale=1.7),
    "discrete gaussian": discrete_gaussian(scale=Fraction(17, 10)),
    "discrete gaussian, many steps": discrete_gaussian(scale=1700, sensitivity=1000),
    "response": randomised_response(truth=0.7),
    "response, five answers": randomised_response_at(epsilon0=1.3, answers=5),
    "exponential": exponential(epsilon0=1.3),
    "flip": permute_and_flip(epsilon0=1.3),
}


@pytest.mark.parametrize("name", ALL)
def test_both_distributions_have_mass_one(name):
    loss = ALL[name]
    end = np.array([1e6])
    assert loss.below(end)[0] == pytest.approx(1, abs=1e-12)
    assert loss.below_other(end)[0] == pytest.approx(1, abs=1e-7)
    # E[e^{−loss}] = 1 says that the loss really is a ratio of two distributions.
    assert loss.expectation(lambda x: np.exp(-x)) == pytest.approx(1, abs=2e-6)


@pytest.mark.parametrize("name", ALL)
def test_delta_is_consistent_with_the_distribution(name):
    loss = ALL[name]
    grid = np.linspace(-1.2, 1.2, 97)
    deltas = loss.deltas(grid)
    assert (np.diff(deltas) <= 1e-12).all() and (deltas >= np.maximum(0, 1 - np.exp(grid)) - 1e-7).all()
    for epsilon in (0.1, 0.65, 1.1):
        by_hand = loss.expectation(lambda x, e=epsilon: np.where(x > e, -np.expm1(np.minimum(0, e - x)), 0.0))
        assert loss.delta(epsilon) == pytest.approx(by_hand, abs=2e-5)
    found = loss.epsilon_for_delta(0.05)
    assert loss.delta(found) == pytest.approx(0.05, abs=1e-6)


def test_gaussian_against_scipy():
    loss, mean = gaussian(scale=2, sensitivity=3), 9 / 8
    normal = stats.norm(mean, math.sqrt(2 * mean))
    for epsilon in (0.2, 1.0, 3.0):
        assert loss.confidence(epsilon) == pytest.approx(normal.cdf(epsilon), rel=1e-12)
        two = normal.cdf(epsilon) - normal.cdf(-epsilon)
        assert loss.confidence_two_sided(epsilon) == pytest.approx(two, rel=1e-12)


def test_discrete_gaussian_by_enumeration():
    z = np.arange(-300, 301)
    weights = np.exp(-(z**2) / (2 * 2.5**2))
    p = weights / weights.sum()
    for size in (1, 4):
        found = discrete_gaussian(scale=2.5, sensitivity=size)
        for epsilon in (0.1, 0.5, 1.7):
            losses = (size**2 + 2 * size * z) / (2 * 2.5**2)
            assert found.confidence(epsilon) == pytest.approx(p[losses <= epsilon + 1e-12].sum(), abs=1e-14)
            other = np.exp(-((z + size) ** 2) / (2 * 2.5**2)) / weights.sum()
            delta = np.maximum(0, p - math.exp(epsilon) * other).sum()
            assert found.delta(epsilon) == pytest.approx(delta, abs=1e-14)
            closest = min(
                p[np.abs(s**2 + 2 * s * z) / (2 * 2.5**2) <= epsilon + 1e-12].sum()
                for s in range(1, size + 1)
            )
            assert found.confidence_two_sided(epsilon) == pytest.approx(closest, abs=1e-14)


def test_large_discrete_gaussian_continues_the_listed_one():
    listed, cut = discrete_gaussian(scale=799, sensitivity=40), discrete_gaussian(scale=801, sensitivity=40)
    assert listed.body is None and cut.body is not None
    assert listed.delta(0.05) == pytest.approx(cut.delta(0.05), rel=0.03)
    z = np.arange(-12_000, 12_001)
    p = np.exp(-(z**2) / (2 * 801.0**2))
    losses = (1600 + 80 * z) / (2 * 801.0**2)
    assert cut.confidence(0.05) == pytest.approx((p / p.sum())[losses <= 0.05].sum(), abs=1e-7)


def test_response_by_hand():
    loss = randomised_response_at(epsilon0=1, answers=4)
    truth = math.e / (math.e + 3)
    assert loss.confidence(0.5) == pytest.approx(1 - truth)
    assert loss.confidence_two_sided(0.5) == pytest.approx(2 / (math.e + 3))
    assert loss.delta(0.5) == pytest.approx((math.e - math.exp(0.5)) / (math.e + 3))


def test_exponential_mechanism_against_explicit_choices():
    """No choice by score among two groups of candidates may beat the stated worst case."""
    full = 1.0
    loss = exponential(epsilon0=full)
    worst_one, worst_two, worst_delta = 1.0, 1.0, 0.0
    for t in np.linspace(1e-4, full - 1e-4, 4001):
        a = (math.exp(full) - math.exp(t)) / math.expm1(full)
        values, masses = np.array([t - full, t]), np.array([1 - a, a])
        assert masses @ np.exp(-values) == pytest.approx(1)
        worst_one = min(worst_one, masses[values <= 0.6].sum())
        worst_two = min(worst_two, masses[np.abs(values) <= 0.3].sum())
        worst_delta = max(worst_delta, masses @ np.maximum(0, -np.expm1(0.6 - values)))
    assert loss.confidence(0.6) == pytest.approx(worst_one, abs=1e-3) and loss.confidence(0.6) <= worst_one
    assert loss.confidence_two_sided(0.3) == worst_two == 0
    assert loss.delta(0.6) == pytest.approx(worst_delta, abs=1e-6) and loss.delta(0.6) >= worst_delta - 1e-15


@pytest.mark.slow
def test_permute_and_flip_against_explicit_choices():
    """No pair of scores of up to four candidates may beat what is stated; composed with itself neither."""
    full = 1.0
    loss, twice = permute_and_flip(epsilon0=full), compose([(permute_and_flip(epsilon0=full), 2)])
    for first in itertools.product((0.0, -0.5, -1.0, -3.0), repeat=3):
        for moved in itertools.product((0.0, 0.5, 1.0), repeat=4):
            one = np.array([0.0, *first])
            p, q = (flip_probabilities(scores, full) for scores in (one, one + moved))
            losses = np.log(p / q)
            assert np.abs(losses).max() <= full + 1e-9
            for at in (0.3, 0.7):
                assert p[losses <= at].sum() >= loss.confidence(at) - 1e-9
                assert p[np.abs(losses) <= at].sum() >= loss.confidence_two_sided(at) - 1e-9
                assert p @ np.maximum(0, -np.expm1(at - losses)) <= loss.delta(at) + 1e-9
                pair = losses[:, None] + losses[None, :]
                assert (np.outer(p, p)[pair <= at]).sum() >= twice.confidence(at) - 1e-9


@pytest.mark.parametrize("name", ALL)
def test_inverse_in_epsilon_is_the_smallest(name):
    loss = ALL[name]
    for share in (0.3, 0.6, 0.97):
        found = loss.epsilon_for_confidence(share)
        if found.at_the_atom:
            assert found.value == loss.largest and loss.confidence(loss.largest * (1 - 1e-9)) < share
        elif found.value:
            assert loss.confidence(found.value * (1 + 1e-9)) >= share
            assert loss.confidence(found.value * (1 - 1e-6)) < share


def test_words_of_the_accountant():
    assert loss_of("laplace", scale=2, sensitivity=1).largest == 0.5
    assert loss_of("discrete_laplace", scale=4, sensitivity=2).largest == 0.5
    assert loss_of("exponential", scale=4, sensitivity=1).largest == 0.5
    assert loss_of("exponential", scale=4, sensitivity=1, monotone=True).largest == 0.25
    assert loss_of("randomised_response", scale=0.75, sensitivity=2).largest == pytest.approx(math.log(3))
    assert math.isinf(loss_of("gaussian", scale=1, sensitivity=1).largest)
    assert set(mechanisms.MECHANISMS) == {
        "laplace",
        "discrete_laplace",
        "gaussian",
        "discrete_gaussian",
        "randomised_response",
        "exponential",
        "permute_and_flip",
    }


@pytest.mark.parametrize(
    "call",
    [
        lambda: loss_of("telepathy", scale=1, sensitivity=1),
        lambda: loss_of("laplace", scale=0, sensitivity=1),
        lambda: loss_of("discrete_gaussian", scale=1, sensitivity=1.5),
        lambda: randomised_response(truth=0.5),
        lambda: randomised_response(truth=0.9, answers=1),
        lambda: gaussian(scale="nan"),
    ],
)
def test_refusals_have_sentences(call):
    with pytest.raises(InputRefused) as refused:
        call()
    assert all(explain(refused.value))
