"""Section 8 of "Privacy risk of releasing data and models": theorem 3, and its correction beside it."""

import math

import numpy as np
import pytest

from engine.privacy.at_risk import discrete_laplace, laplace, published

PRINTED = {
    1: (0.286764, 0.521546, 0.713769, 0.871149),
    2: (0.221777, 0.436467, 0.639351, 0.827656),
    3: (0.210084, 0.417431, 0.619541, 0.814293),
}


@pytest.mark.parametrize("dimensions", PRINTED)
def test_theorem_3_at_epsilon0_1(dimensions):
    found = [published.confidence(e, epsilon0=1, dimensions=dimensions) for e in (0.2, 0.4, 0.6, 0.8)]
    assert found == pytest.approx(PRINTED[dimensions], abs=5e-7)


def test_fifty_outputs():
    assert published.confidence(0.6, epsilon0=1, dimensions=50) == pytest.approx(0.6006595104, abs=5e-11)


def test_design_finds_the_level_of_the_mechanism():
    assert published.epsilon0(0.4, confidence=0.6) == pytest.approx(0.797323, abs=5e-7)


def test_overlap_lemma():
    # The overlap ∫ min(f, g) of Lap(1/1) and Lap(1/0.6) about the same answer.
    x = np.linspace(-200, 200, 2_000_001)
    wide, narrow = 0.3 * np.exp(-0.6 * np.abs(x)), 0.5 * np.exp(-np.abs(x))
    assert np.trapezoid(np.minimum(wide, narrow), x) == pytest.approx(0.8141, abs=5e-5)


def test_exact_and_certified_beside_it():
    assert laplace.confidence(0.6, epsilon0=1) == pytest.approx(0.409365, abs=5e-7)
    assert laplace.confidence_two_sided(0.6, epsilon0=1) == pytest.approx(0.184701, abs=5e-7)
    assert laplace.certified_delta(0.6, epsilon0=1) == pytest.approx(0.181269, abs=5e-7)
    assert discrete_laplace.confidence(0.6, epsilon0=1) == pytest.approx(0.268941, abs=5e-7)
    assert discrete_laplace.confidence_two_sided(0.6, epsilon0=1) == 0


def test_theorem_3_is_not_the_realised_loss():
    # Two million draws: the published .7138 is far from what the noise does.
    noise = np.random.default_rng(8).laplace(scale=1.0, size=2_000_000)
    loss = np.abs(noise - 1) - np.abs(noise)
    share, both = np.mean(loss <= 0.6), np.mean(np.abs(loss) <= 0.6)
    # Five standard errors of a share near .4 are .0017.
    assert share == pytest.approx(laplace.confidence(0.6, epsilon0=1), abs=0.0018)
    assert both == pytest.approx(laplace.confidence_two_sided(0.6, epsilon0=1), abs=0.0018)
    assert published.confidence(0.6, epsilon0=1) - share > 0.3


def test_theorem_3_as_delta_holds_up_to_ln_3_and_fails_above():
    grid = np.linspace(1e-3, 1 - 1e-6, 4000)

    def overstates(epsilon0):
        claimed = 1 - published.confidences(grid * epsilon0, epsilon0=epsilon0)
        true = np.array([laplace.certified_delta(e, epsilon0=epsilon0) for e in grid * epsilon0])
        return bool((claimed < true - 1e-12).any())

    assert not overstates(math.log(3)) and not overstates(0.5)
    assert overstates(math.log(3) + 0.01) and overstates(2)
    assert 1 - published.confidence(1, epsilon0=2) == pytest.approx(0.2689, abs=5e-5)
    assert laplace.certified_delta(1, epsilon0=2) == pytest.approx(0.3935, abs=5e-5)


def test_unreachable_confidences_are_marked_at_the_atom():
    assert laplace.epsilon(0.6, epsilon0=1).at_the_atom and laplace.epsilon(0.6, epsilon0=1).value == 1
    assert not laplace.epsilon(0.45, epsilon0=1).at_the_atom
    found = laplace.epsilon0(0.4, confidence=0.6)
    assert found.at_the_atom and found.value == 0.4
