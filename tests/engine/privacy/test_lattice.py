"""Discrete Laplace noise of any sensitivity: every reading against exact lists of its losses."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from engine.analyses.catalogue import analysis, ask
from engine.pricing.cost import Cost
from engine.pricing.reading import cheapest_reading, exact_curve
from engine.pricing.statement import privacy_statement
from engine.pricing.window import window
from engine.privacy.at_risk.composition import compose
from engine.privacy.at_risk.mechanisms import discrete_gaussian, discrete_laplace
from engine.privacy.at_risk.statement import state
from engine.privacy.mechanisms import DiscreteLaplace
from engine.privacy.promise import Loss, Neighbours, Promise, Unit
from tests.examples import few_on_a_commit

CHANCE = random.Random(20261)
CASES = [
    (size, epsilon0)
    for size in range(1, 41)
    for epsilon0 in (Fraction(1), Fraction(CHANCE.randint(1, 400), CHANCE.randint(30, 200)))
]
COST = Cost(people=100, compensation=Fraction(5500), c=Fraction(3, 4), minimum=Fraction(20))


def brute_force(size, epsilon0):
    """Return the exact levels 0 … below ε0 with the least one- and two-sided confidence over all changes."""
    step = epsilon0 / size
    q = math.exp(-float(step))
    levels = [step * m for m in range(size)]
    one, two = [], []
    masses = {}
    for change in range(1, size + 1):
        middle = [q**j * (1 - q) / (1 + q) for j in range(1, change)]
        shares = [1 / (1 + q), *middle, q**change / (1 + q)]
        masses[change] = [((change - 2 * j) * step, share) for j, share in enumerate(shares)]
    for level in levels:
        one.append(min(math.fsum(p for loss, p in pair if loss <= level) for pair in masses.values()))
        two.append(min(math.fsum(p for loss, p in pair if abs(loss) <= level) for pair in masses.values()))
    delta = [
        math.fsum(p * -math.expm1(float(level - loss)) for loss, p in masses[size] if loss > level)
        for level in levels
    ]
    return levels, one, two, delta


def window_by_hand(levels, shares, epsilon0, budget):
    """Return the least and the largest level whose price is within the budget, piece by piece."""
    full = COST.at(float(epsilon0))
    found = []
    for level, share, end in zip(levels, shares, [*levels[1:], epsilon0], strict=True):
        if share * COST.at(float(level)) + (1 - share) * full > budget:
            continue
        low, high = float(level), float(end)
        for _ in range(200):
            middle = (low + high) / 2
            within = share * COST.at(middle) + (1 - share) * full <= budget
            low, high = (middle, high) if within else (low, middle)
        found += [float(level), low]
    return (min(found), max(found)) if found else None


@pytest.mark.parametrize(("size", "epsilon0"), few_on_a_commit(CASES, 24))
def test_price_and_window(size, epsilon0):
    levels, one, two, _ = brute_force(size, epsilon0)
    loss = discrete_laplace(epsilon0=epsilon0, sensitivity=size)
    full = COST.at(float(epsilon0))
    for two_sided, shares in ((False, one), (True, two)):
        curve = exact_curve(loss, two_sided=two_sided)
        reading = cheapest_reading(COST, curve)
        paid = [s * COST.at(float(x)) + (1 - s) * full for x, s in zip(levels, shares, strict=True)]
        least = min(paid)
        assert reading.budget == pytest.approx(min(least, full), rel=1e-12)
        if reading.saving > full * 1e-9:
            at = levels.index(min(levels, key=lambda x, at=reading.epsilon: abs(float(x) - at)))
            assert reading.epsilon == float(levels[at]) and paid[at] == pytest.approx(least, rel=1e-12)
            assert reading.confidence == pytest.approx(shares[at], rel=1e-12)
        for budget in (1.0001 * least, (least + full) / 2, 0.9999 * full, 0.9999 * least):
            by_hand = window_by_hand(levels, shares, epsilon0, budget)
            answer = window(COST, curve, budget=budget)
            if by_hand is None:
                assert answer.reason == "budget"
            else:
                assert (answer.lower, answer.upper) == pytest.approx(by_hand, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("size", "epsilon0"), few_on_a_commit(CASES, 24))
def test_at_risk_at_every_step(size, epsilon0):
    levels, one, two, delta = brute_force(size, epsilon0)
    loss = discrete_laplace(epsilon0=epsilon0, sensitivity=size)
    typed = [float(level) for level in levels[1:]]
    curves = loss.confidences(np.array(typed)), loss.confidences(np.array(typed), two_sided=True)
    for index in range(1, size):
        for given in (levels[index], typed[index - 1], repr(typed[index - 1])):
            assert loss.confidence(given) == pytest.approx(one[index], rel=1e-12)
            assert loss.confidence_two_sided(given) == pytest.approx(two[index], rel=1e-12)
        between = levels[index] * Fraction(999_999, 1_000_000)
        assert loss.confidence(between) == pytest.approx(one[index - 1], rel=1e-12)
        assert loss.delta(typed[index - 1]) == pytest.approx(delta[index], rel=1e-9, abs=1e-13)
        assert curves[0][index - 1] == pytest.approx(one[index], rel=1e-12)
        assert curves[1][index - 1] == pytest.approx(two[index], rel=1e-12)
    assert loss.confidence(epsilon0) == loss.confidence_two_sided(float(epsilon0)) == 1


@pytest.mark.parametrize(("size", "epsilon0"), few_on_a_commit(CASES, 24))
def test_inverses_come_back_to_their_confidence(size, epsilon0):
    levels, one, two, _ = brute_force(size, epsilon0)
    for name, shares in (("one_sided", one), ("two_sided", two)):
        for wanted in (0.07, 0.21, 0.41, 0.49):
            found = getattr(
                state(
                    mechanism="discrete-laplace", epsilon0=epsilon0, confidence=wanted, sensitivity=size
                ).exact,
                name,
            )
            reached = [level for level, share in zip(levels, shares, strict=True) if share >= wanted]
            assert found == float(min(reached, default=epsilon0))
            if not 0 < found < float(epsilon0):
                continue
            # What is printed, typed back, has the confidence, and so has the ε0 that is found for it.
            back = state(
                mechanism="discrete-laplace", epsilon0=epsilon0, epsilon=repr(found), sensitivity=size
            )
            assert getattr(back.exact, name) >= wanted
            own = state(mechanism="discrete-laplace", epsilon=found, confidence=wanted, sensitivity=size)
            again = state(
                mechanism="discrete-laplace",
                epsilon0=repr(getattr(own.exact, name)),
                epsilon=found,
                sensitivity=size,
            )
            assert getattr(again.exact, name) >= wanted * (1 - 1e-12)
            assert getattr(own.exact, name) >= float(epsilon0) * (1 - 1e-12)


@pytest.mark.parametrize(("size", "epsilon0"), CASES[::3])
def test_the_statement_of_a_release_reads_the_same(size, epsilon0):
    levels, one, two, delta = brute_force(size, epsilon0)
    event = DiscreteLaplace(size / epsilon0, Fraction(size))
    promise = Promise("pure_dp", Loss(epsilon0, Fraction(0), Neighbours.ADD_REMOVE, event), Unit.ROW, 1)
    for index in range(1, size):
        found = privacy_statement(promise, read_at=levels[index])["at_risk"]
        assert found["exact"]["confidence"] == pytest.approx(one[index], rel=1e-12)
        assert found["exact"]["confidence_two_sided"] == pytest.approx(two[index], rel=1e-12)
        assert found["certified"]["delta"] == pytest.approx(delta[index], rel=1e-9, abs=1e-13)


def test_a_third_by_hand():
    """D = 3 at ε0 = 1: the bound is cheapest at one third, whose float lies below it."""
    asked = {"people": 100, "compensation": 5500, "mechanism": "discrete_laplace", "epsilon0": 1}
    found = ask(analysis("price"), asked | {"sensitivity": 3}).figures
    assert found["exact"]["at_risk"]["epsilon"] == 1 / 3
    assert found["exact"]["at_risk"]["budget"] == pytest.approx(129_304.01, abs=0.01)
    # The farthest neighbours have .203114 within ±1/3, those two steps apart only the atom at 0.
    q = math.exp(-1 / 3)
    assert found["exact_two_sided"]["at_risk"]["confidence"] == pytest.approx(
        q * (1 - q) / (1 + q), rel=1e-12
    )
    answer = state(mechanism="discrete-laplace", epsilon0=1, epsilon=1 / 3, sensitivity=3)
    assert answer.exact.one_sided == pytest.approx(0.417430, abs=1e-6)


def test_a_common_lattice_of_several_releases():
    loss = discrete_laplace(epsilon0=Fraction(1, 7))
    curve = exact_curve(compose([(loss, 3)]))
    assert curve.stairs is not None and curve.stairs.step == Fraction(1, 7)
    # Three fair steps of one seventh: the sum is ±3/7 or ±1/7.
    p = 1 / (1 + math.exp(-1 / 7))
    assert curve.stairs.shares == pytest.approx([1 - p**3 - 3 * p**2 * (1 - p), *[1 - p**3] * 2], rel=1e-12)
    assert cheapest_reading(COST, curve).epsilon in (0.0, 1 / 7)


@pytest.mark.parametrize("scale", [Fraction(7, 3), Fraction(799), Fraction(801), Fraction(5000, 3)])
@pytest.mark.parametrize("size", [1, 3, 40])
def test_no_atom_of_a_discrete_gaussian_is_lost(scale, size):
    """Two-sided, at exactly an atom: both ends belong to the interval, also where the noise is wide."""
    loss = discrete_gaussian(scale=scale, sensitivity=size)
    reach = math.ceil(9 * scale)
    z = np.arange(-reach, reach + 1)
    p = np.exp(-(z**2) / (2 * float(scale) ** 2))
    p /= p.sum()
    for noise in (0, 1, int(scale), -int(scale)):
        # Whole numbers: 2σ² times the loss.
        atom = abs(size**2 + 2 * size * noise)
        if not atom:
            continue
        by_hand = min(p[np.abs(s**2 + 2 * s * z) <= atom].sum() for s in range(1, size + 1))
        level = Fraction(atom) / (2 * scale**2)
        for given in (level, float(level)):
            assert loss.confidence_two_sided(given) == pytest.approx(by_hand, abs=2e-7)
            one = p[size**2 + 2 * size * z <= atom].sum()
            assert loss.confidence(given) == pytest.approx(one, abs=2e-7)
