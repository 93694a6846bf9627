"""The discrete Laplace mechanism against enumeration of every integer neighbour, in several outputs."""

import math
import random
from collections import defaultdict
from fractions import Fraction

import pytest

from engine.privacy.at_risk.discrete_laplace import epsilon0 as largest_level
from engine.privacy.at_risk.mechanisms import discrete_laplace, laplace
from engine.privacy.at_risk.statement import state
from tests.closed_forms import discrete_laplace as oracle


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
    loss = discrete_laplace(epsilon0=epsilon0, sensitivity=size)
    for halves in range(1, 2 * size + 1):
        epsilon = epsilon0 * halves / (2 * size)
        one, two, delta = worst(size, epsilon0, epsilon)
        assert loss.confidence(epsilon) == pytest.approx(one, abs=1e-12)
        assert loss.confidence_two_sided(epsilon) == pytest.approx(two, abs=1e-12)
        assert loss.delta(epsilon) == pytest.approx(delta, abs=1e-12)


def test_typed_decimals_fall_on_their_atoms():
    # ε = .7 of ε0 = 1 with D = 10 is the atom 7 itself, however the floats round.
    assert discrete_laplace(epsilon0=1, sensitivity=10).confidence(0.7) == pytest.approx(
        math.exp(-0.2) / (1 + math.exp(-0.1)), rel=1e-14
    )


def test_fine_grids_approach_the_continuous_mechanism():
    fine, continuous = discrete_laplace(epsilon0=1, sensitivity=10**9), laplace(epsilon0=1)
    for epsilon in (0.2, 0.6, 0.9):
        assert fine.confidence(epsilon) == pytest.approx(continuous.confidence(epsilon), abs=1e-8)
        assert fine.delta(epsilon) == pytest.approx(continuous.delta(epsilon), abs=1e-8)


def test_against_the_closed_forms():
    chance = random.Random(11)
    for _ in range(400):
        size, full = chance.choice((1, 2, 3, 7, 40, 300)), Fraction(chance.randint(1, 500), 100)
        epsilon = full * Fraction(chance.randint(1, 99), 100)
        loss, at = discrete_laplace(epsilon0=full, sensitivity=size), {"epsilon0": full, "sensitivity": size}
        assert loss.confidence(epsilon) == pytest.approx(oracle.confidence(epsilon, **at), rel=1e-12)
        two = oracle.confidence_two_sided(epsilon, **at)
        assert loss.confidence_two_sided(epsilon) == pytest.approx(two, rel=1e-12)
        delta = oracle.certified_delta(epsilon, **at)
        assert loss.delta(epsilon) == pytest.approx(delta, rel=1e-9, abs=1e-14)
        assert loss.epsilon_for_delta(delta) == pytest.approx(float(epsilon), rel=1e-8)
        for two_sided in (False, True):
            share = chance.uniform(0.01, 0.6)
            found = loss.epsilon_for_confidence(share, two_sided=two_sided)
            by_form = oracle.epsilon(share, two_sided=two_sided, **at)
            assert found.value == pytest.approx(by_form.value, rel=1e-14)
            assert found.at_the_atom == by_form.at_the_atom


@pytest.mark.parametrize("size", [1, 2, 3, 7, 12])
@pytest.mark.parametrize("two_sided", [False, True])
@pytest.mark.parametrize("share", [0.05, 0.15, 0.26, 0.4, 0.5, 0.7])
def test_inverses_are_the_smallest_and_the_largest(size, two_sided, share):
    def good(epsilon, epsilon0):
        loss = discrete_laplace(epsilon0=epsilon0, sensitivity=size)
        return (loss.confidence_two_sided(epsilon) if two_sided else loss.confidence(epsilon)) >= share

    found = discrete_laplace(epsilon0=2, sensitivity=size).epsilon_for_confidence(share, two_sided=two_sided)
    atoms = [Fraction(2 * m, size) for m in range(1, size + 1)]
    by_hand = next((a for a in atoms if good(a, 2)), Fraction(2))
    if found.value == 0:
        assert good(Fraction(1, 10**9), 2)
    else:
        assert found.value == pytest.approx(float(by_hand), rel=1e-14)
    assert found.at_the_atom == (found.value == 2)

    own = largest_level(1, confidence=share, sensitivity=size, two_sided=two_sided)
    scan = [1 + Fraction(i, 400) for i in range(1, 8000)]
    largest = max((float(e) for e in scan if good(1, e)), default=1.0)
    assert own.value >= largest - 1e-9
    assert own.value <= largest + 1 / 400 + 1e-9
    assert own.at_the_atom == (own.value == 1)


def test_the_certified_level():
    for size in (1, 2, 9):
        delta = discrete_laplace(epsilon0=1, sensitivity=size).delta(0.55)
        found = state(mechanism="discrete-laplace", epsilon=0.55, confidence=1 - delta, sensitivity=size)
        assert found.certified == pytest.approx(1)
