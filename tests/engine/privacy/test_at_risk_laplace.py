"""The realised loss of the continuous Laplace mechanism against its closed forms, and those by hand."""

import math

import numpy as np
import pytest

from engine.privacy.at_risk.laplace import epsilon0 as largest_level
from engine.privacy.at_risk.laplace import floor
from engine.privacy.at_risk.mechanisms import laplace
from engine.privacy.at_risk.statement import state
from tests.closed_forms import laplace as oracle

LEVELS = [(0.01, 0.02), (0.6, 1.0), (0.3, 2.5), (5.0, 8.0), (1.0, 2000.0)]
CHANCE = np.random.Generator(np.random.PCG64(7))
DRAWN = [
    (float(level * share), float(level))
    for level, share in CHANCE.uniform((0.01, 0.05), (60, 0.99), (400, 2))
]


@pytest.mark.parametrize(("epsilon", "epsilon0"), LEVELS)
def test_formulas_by_hand(epsilon, epsilon0):
    # Output z beyond both answers gives ±ε0; between them the loss runs linearly from ε0 to −ε0.
    below, loss = 0.5 * math.exp(-(epsilon0 - epsilon) / 2), laplace(epsilon0=epsilon0)
    assert loss.confidence(epsilon) == pytest.approx(below, rel=1e-14)
    two = 0.5 * (math.exp(-(epsilon0 - epsilon) / 2) - math.exp(-(epsilon0 + epsilon) / 2))
    assert loss.confidence_two_sided(epsilon) == pytest.approx(two, rel=1e-12)
    assert loss.delta(epsilon) == pytest.approx(1 - 2 * below, rel=1e-12)


def test_from_epsilon0_on_everything_is_certain():
    loss = laplace(epsilon0=1)
    for epsilon in (1, 1.5):
        assert loss.confidence(epsilon) == loss.confidence_two_sided(epsilon) == 1
        assert loss.delta(epsilon) == 0 and floor(epsilon, epsilon0=1) == 1


def test_against_the_closed_forms():
    for epsilon, epsilon0 in DRAWN:
        loss = laplace(epsilon0=epsilon0)
        for two_sided in (False, True):
            form = oracle.confidence_two_sided if two_sided else oracle.confidence
            share = form(epsilon, epsilon0=epsilon0)
            found = loss.confidence_two_sided(epsilon) if two_sided else loss.confidence(epsilon)
            assert found == pytest.approx(share, rel=1e-12)
            by_form = oracle.epsilon(share, epsilon0=epsilon0, two_sided=two_sided)
            inverse = loss.epsilon_for_confidence(share, two_sided=two_sided)
            assert inverse.value == pytest.approx(by_form.value, rel=1e-9, abs=1e-8)
            assert inverse.at_the_atom == by_form.at_the_atom
        delta = oracle.certified_delta(epsilon, epsilon0=epsilon0)
        assert loss.delta(epsilon) == pytest.approx(delta, rel=1e-12)
        if delta < 0.9999:  # nearer to 1 the float of δ holds too few digits of ε
            assert loss.epsilon_for_delta(delta) == pytest.approx(epsilon, rel=1e-9)


@pytest.mark.parametrize(("epsilon", "epsilon0"), LEVELS[:4])
@pytest.mark.parametrize("two_sided", [False, True])
def test_the_largest_level_for_a_confidence(epsilon, epsilon0, two_sided):
    loss = laplace(epsilon0=epsilon0)
    share = loss.confidence_two_sided(epsilon) if two_sided else loss.confidence(epsilon)
    own = largest_level(epsilon, confidence=share, two_sided=two_sided)
    assert own.value == pytest.approx(epsilon0, rel=1e-9) and not own.at_the_atom
    found = state(epsilon=epsilon, confidence=share)
    name = "two_sided" if two_sided else "one_sided"
    assert getattr(found.exact, name) == pytest.approx(epsilon0, rel=1e-9)
    by_form = oracle.certified_epsilon0(epsilon, delta=1 - share)
    assert found.certified == pytest.approx(by_form, rel=1e-9)


def test_smallest_epsilon_is_zero_when_the_confidence_is_there_from_the_start():
    assert laplace(epsilon0=1).epsilon_for_confidence(0.2).value == 0


def test_no_overflow_at_large_levels():
    found = laplace(epsilon0=4000).epsilon_for_confidence(1e-300, two_sided=True)
    assert found.value == pytest.approx(4000 + 2 * math.log(2e-300), rel=1e-12)
    assert floor(1, epsilon0=5000) == 0


@pytest.mark.parametrize(("epsilon", "epsilon0"), LEVELS)
def test_every_mechanism_stays_above_the_floor(epsilon, epsilon0):
    assert laplace(epsilon0=epsilon0).confidence(epsilon) >= floor(epsilon, epsilon0=epsilon0)
