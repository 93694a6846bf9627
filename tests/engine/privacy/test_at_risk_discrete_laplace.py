"""The discrete Laplace mechanism against enumeration of every integer neighbour, in several outputs."""

import math
from collections import defaultdict
from fractions import Fraction

import pytest

from engine.privacy.at_risk import discrete_laplace, laplace


def one_output(change, step):
    """Return the loss in steps → probability for answers ``change`` apart, summed over the noise itself."""
    q = math.exp(-step)
    found = defaultdict(float)
    for z in range(-400, 401):
        found[abs(z - change) - abs(z)] += (1 - q) / (1 + q) * q ** abs(z)
    return found


def several_outputs(changes, step):
    total = {0: 1.0}
    for change in changes:
        added = defaultdict(float)
        for a, p in total.items():
            for b, r in one_output(change, step).items():
                added[a + b] += p * r
        total = added
    return total


def splits(size, largest=None):
    largest = largest or size
    if size == 0:
        yield ()
        return
    for part in range(min(size, largest), 0, -1):
        for rest in splits(size - part, part):
            yield (part, *rest)


def worst(size, epsilon0, epsilon):
    """Return the least confidences and the largest δ over all neighbours at most ``size`` apart."""
    step, limit = float(epsilon0) / size, float(epsilon)
    one, two, delta = 1.0, 1.0, 0.0
    for total in range(1, size + 1):
        for changes in splits(total):
            losses = several_outputs(changes, step)
            one = min(one, sum(p for k, p in losses.items() if Fraction(k) * epsilon0 / size <= epsilon))
            two = min(two, sum(p for k, p in losses.items() if abs(k) * epsilon0 / size <= epsilon))
            above = ((k * step, p) for k, p in losses.items() if k * epsilon0 / size > epsilon)
            delta = max(delta, sum(p * -math.expm1(limit - loss) for loss, p in above))
    return one, two, delta


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("epsilon0", [Fraction(1), Fraction(5, 2)])
def test_worst_case_over_all_neighbours(size, epsilon0):
    for halves in range(1, 2 * size + 1):
        epsilon = epsilon0 * halves / (2 * size)
        one, two, delta = worst(size, epsilon0, epsilon)
        at = {"epsilon0": epsilon0, "sensitivity": size}
        assert discrete_laplace.confidence(epsilon, **at) == pytest.approx(one, abs=1e-12)
        assert discrete_laplace.confidence_two_sided(epsilon, **at) == pytest.approx(two, abs=1e-12)
        assert discrete_laplace.certified_delta(epsilon, **at) == pytest.approx(delta, abs=1e-12)


def test_typed_decimals_fall_on_their_atoms():
    # ε = .7 of ε0 = 1 with D = 10 is the atom 7 itself, however the floats round.
    assert discrete_laplace.confidence(0.7, epsilon0=1, sensitivity=10) == pytest.approx(
        math.exp(-0.2) / (1 + math.exp(-0.1)), rel=1e-14
    )


def test_fine_grids_approach_the_continuous_mechanism():
    for epsilon in (0.2, 0.6, 0.9):
        fine = {"epsilon0": 1, "sensitivity": 10**9}
        assert discrete_laplace.confidence(epsilon, **fine) == pytest.approx(
            laplace.confidence(epsilon, epsilon0=1), abs=1e-8
        )
        assert discrete_laplace.certified_delta(epsilon, **fine) == pytest.approx(
            laplace.certified_delta(epsilon, epsilon0=1), abs=1e-8
        )


@pytest.mark.parametrize("size", [1, 2, 3, 7, 12])
@pytest.mark.parametrize("two_sided", [False, True])
@pytest.mark.parametrize("share", [0.05, 0.15, 0.26, 0.4, 0.5, 0.7])
def test_inverses_are_the_smallest_and_the_largest(size, two_sided, share):
    reached = discrete_laplace.confidence_two_sided if two_sided else discrete_laplace.confidence

    def good(epsilon, epsilon0):
        return reached(epsilon, epsilon0=epsilon0, sensitivity=size) >= share

    found = discrete_laplace.epsilon(share, epsilon0=2, sensitivity=size, two_sided=two_sided)
    atoms = [Fraction(2 * m, size) for m in range(1, size + 1)]
    by_hand = next((a for a in atoms if good(a, 2)), Fraction(2))
    if found.value == 0:
        assert good(Fraction(1, 10**9), 2)
    else:
        assert found.value == pytest.approx(float(by_hand), rel=1e-14)
    assert found.at_the_atom == (found.value == 2)

    own = discrete_laplace.epsilon0(1, confidence=share, sensitivity=size, two_sided=two_sided)
    scan = [1 + Fraction(i, 400) for i in range(1, 8000)]
    largest = max((float(e) for e in scan if good(1, e)), default=1.0)
    assert own.value >= largest - 1e-9
    assert own.value <= largest + 1 / 400 + 1e-9
    assert own.at_the_atom == (own.value == 1)


def test_certified_inverses():
    for size in (1, 2, 9):
        delta = discrete_laplace.certified_delta(0.55, epsilon0=1, sensitivity=size)
        assert discrete_laplace.certified_epsilon(delta, epsilon0=1, sensitivity=size) == pytest.approx(0.55)
        assert discrete_laplace.certified_epsilon0(0.55, delta=delta, sensitivity=size) == pytest.approx(1)
    assert discrete_laplace.certified_epsilon(0.9, epsilon0=1) == 0
