"""The realised loss of the continuous Laplace mechanism, by hand and by its own inverses."""

import math

import pytest

from engine.privacy.at_risk import laplace

LEVELS = [(0.01, 0.02), (0.6, 1.0), (0.3, 2.5), (5.0, 8.0), (1.0, 2000.0)]


@pytest.mark.parametrize(("epsilon", "epsilon0"), LEVELS)
def test_formulas_by_hand(epsilon, epsilon0):
    # Output z beyond both answers gives ±ε0; between them the loss runs linearly from ε0 to −ε0.
    below = 0.5 * math.exp(-(epsilon0 - epsilon) / 2)
    assert laplace.confidence(epsilon, epsilon0=epsilon0) == pytest.approx(below, rel=1e-14)
    two = 0.5 * (math.exp(-(epsilon0 - epsilon) / 2) - math.exp(-(epsilon0 + epsilon) / 2))
    assert laplace.confidence_two_sided(epsilon, epsilon0=epsilon0) == pytest.approx(two, rel=1e-12)
    assert laplace.certified_delta(epsilon, epsilon0=epsilon0) == pytest.approx(1 - 2 * below, rel=1e-12)


def test_from_epsilon0_on_everything_is_certain():
    for epsilon in (1, 1.5):
        assert laplace.confidence(epsilon, epsilon0=1) == 1
        assert laplace.confidence_two_sided(epsilon, epsilon0=1) == 1
        assert laplace.certified_delta(epsilon, epsilon0=1) == 0
        assert laplace.floor(epsilon, epsilon0=1) == 1


@pytest.mark.parametrize(("epsilon", "epsilon0"), LEVELS[:4])
@pytest.mark.parametrize("two_sided", [False, True])
def test_inverses_return_what_was_put_in(epsilon, epsilon0, two_sided):
    reached = laplace.confidence_two_sided if two_sided else laplace.confidence
    share = reached(epsilon, epsilon0=epsilon0)
    found = laplace.epsilon(share, epsilon0=epsilon0, two_sided=two_sided)
    assert found.value == pytest.approx(epsilon, rel=1e-9) and not found.at_the_atom
    own = laplace.epsilon0(epsilon, confidence=share, two_sided=two_sided)
    assert own.value == pytest.approx(epsilon0, rel=1e-9) and not own.at_the_atom


def test_smallest_epsilon_is_zero_when_the_confidence_is_there_from_the_start():
    assert laplace.epsilon(0.2, epsilon0=1).value == 0


def test_no_overflow_at_large_levels():
    assert laplace.epsilon(1e-300, epsilon0=4000, two_sided=True).value == pytest.approx(
        4000 + 2 * math.log(2e-300), rel=1e-12
    )
    assert laplace.floor(1, epsilon0=5000) == 0


def test_certified_inverses():
    delta = laplace.certified_delta(0.6, epsilon0=1)
    assert laplace.certified_epsilon(delta, epsilon0=1) == pytest.approx(0.6)
    assert laplace.certified_epsilon0(0.6, delta=delta) == pytest.approx(1)


@pytest.mark.parametrize(("epsilon", "epsilon0"), LEVELS)
def test_every_mechanism_stays_above_the_floor(epsilon, epsilon0):
    assert laplace.confidence(epsilon, epsilon0=epsilon0) >= laplace.floor(epsilon, epsilon0=epsilon0)
