"""The mechanisms: exact scales, Gaussian calibration against brute force, and the battery."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from engine.privacy import gaussian
from engine.privacy.mechanisms import Exponential, FlipChoice, GaussianCounts, LaplaceCounts, root_above
from tests.engine.battery.checks import failing
from tests.engine.battery.distributions import gaussian_law, laplace_law
from tests.engine.battery.neighbours import coded_rows
from tests.engine.battery.subject import Subject
from tests.engine.flip import flip_probabilities
from tests.noise_source import seeded_noise


def test_the_scale_is_exact():
    mechanism = LaplaceCounts(6, Fraction(1, 3), Fraction(1, 4))
    assert mechanism.scale == 18
    assert mechanism.event.scale == 18
    assert mechanism.event.sensitivity == 6
    assert mechanism.event.grid == Fraction(1, 4)
    assert mechanism.event.word == "discrete_laplace"


def test_roots_are_rounded_up():
    for square in range(1, 200):
        assert root_above(square) ** 2 >= square
        assert float(root_above(square)) == pytest.approx(math.sqrt(square), rel=1e-11)


def hockey_stick(shift, sigma, epsilon, reach=60):
    """δ of discrete Gaussian noise on a vector moved by ``shift``, by listing every outcome."""
    x = np.arange(-reach, reach + 1)
    pmf = np.exp(-(x**2) / (2 * sigma**2))
    pmf /= pmf.sum()
    moved = [np.interp(x - step, x, pmf, left=0, right=0) for step in shift]
    first, second = np.array([1.0]), np.array([1.0])
    for there in moved:
        first = np.multiply.outer(first, pmf).ravel()
        second = np.multiply.outer(second, there).ravel()
    return float(np.maximum(0, second - math.exp(epsilon) * first).sum())


@pytest.mark.parametrize("shift", [(1,), (1, 1), (1, -1), (1, 1, 1)])
@pytest.mark.parametrize("epsilon", [0.1, 0.7, 2.0])
def test_the_discrete_gaussian_is_exact_for_single_steps(shift, epsilon):
    sigma, reach = (2.5, 60) if len(shift) < 3 else (2.5, 30)
    found = gaussian.discrete_delta(scale=sigma, epsilon=epsilon, squared_sensitivity=len(shift))
    assert found == pytest.approx(hockey_stick(shift, sigma, epsilon, reach), rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 0.7, 2.0])
def test_no_shift_of_the_same_length_loses_more(epsilon):
    for square in (1, 2, 3, 4, 5):
        found = gaussian.discrete_delta(scale=2.5, epsilon=epsilon, squared_sensitivity=square)
        for shift in itertools.product((0, 1, 2), repeat=2):
            if 0 < sum(step * step for step in shift) <= square:
                assert hockey_stick(shift, 2.5, epsilon) <= found * (1 + 1e-9)


def test_calibration_is_on_the_safe_side_and_close():
    delta = Fraction(1, 10**6)
    for epsilon in (Fraction(1, 100), Fraction(1), Fraction(8)):
        for square in (1, 2, 3):
            scale = gaussian.discrete_scale(epsilon=epsilon, delta=delta, squared_sensitivity=square)
            assert gaussian.discrete_delta(
                scale=float(scale), epsilon=float(epsilon), squared_sensitivity=square
            ) <= float(delta)
            smaller = gaussian.discrete_delta(
                scale=float(scale) * 0.98, epsilon=float(epsilon), squared_sensitivity=square
            )
            assert smaller > float(delta)


def test_a_budget_halved_doubles_the_noise():
    assert LaplaceCounts(3, Fraction(1, 2)).scale == 2 * LaplaceCounts(3, Fraction(1)).scale


def test_sums_beyond_64_bits_neither_wrap_nor_refuse():
    mechanism = LaplaceCounts(1, Fraction(1))
    exact = np.array([2**62, 2**70, -(2**70), 5], dtype=object)
    noisy = mechanism.release(exact, seeded_noise(1))
    assert noisy.dtype == np.int64
    assert abs(int(noisy[0]) - 2**62) < 100 and abs(int(noisy[3]) - 5) < 100
    assert noisy[1:3].tolist() == [2**63 - 1, -(2**63 - 1)]
    wide = LaplaceCounts(2**60, Fraction(1, 2**12)).release(np.array([1, 2]), seeded_noise(1))
    assert wide.dtype == np.int64 and set(np.abs(wide)) == {2**63 - 1}


LAPLACE, GAUSSIAN = LaplaceCounts(1, Fraction(1)), GaussianCounts(1, Fraction(1), Fraction(1, 10**5))


def counts(data):
    return np.bincount(data, minlength=3)


def subject(mechanism, *, epsilon, law):
    return Subject(
        release=lambda data, noise: mechanism.release(counts(data), noise),
        epsilon=epsilon,
        pair=(np.array([0, 1, 2, 2]), np.array([0, 1, 2])),
        query=counts,
        sensitivity=1,
        step=Fraction(1),
        neighbours=coded_rows(3),
        law=law,
        statistic=lambda released: released[2],
        audit_runs=8_000,
    )


def test_battery():
    assert failing(subject(LAPLACE, epsilon=Fraction(1), law=laplace_law(LAPLACE.scale))) == {}
    assert failing(subject(GAUSSIAN, epsilon=None, law=gaussian_law(GAUSSIAN.scale**2))) == {}


def test_battery_kills_half_the_noise():
    half = LaplaceCounts(1, Fraction(2))
    found = failing(subject(half, epsilon=Fraction(1), law=laplace_law(Fraction(1))))
    assert {"noise", "audit"} <= set(found)


@pytest.mark.parametrize("square", [2, 3])
def test_wide_sums_are_taken_as_one_draw(square, monkeypatch):
    close = gaussian.discrete_delta(scale=12, epsilon=0.3, squared_sensitivity=square)
    monkeypatch.setattr(gaussian, "_LISTED_SCALE", 100)
    listed = gaussian.discrete_delta(scale=12, epsilon=0.3, squared_sensitivity=square)
    assert close == pytest.approx(listed, rel=1e-10)


@pytest.mark.parametrize("sensitivity", [1, 3])
def test_a_choice_by_lots_tells_what_it_claims_and_nearly_all_of_it(sensitivity):
    """Chances of every candidate on all data sets that one person can make of two."""
    choice, told = FlipChoice(sensitivity, Fraction(3, 2)), []
    for scores in ((-40, 0, 0), (0, 1, 5)):
        before = np.log(flip_probabilities(np.array(scores) * sensitivity, float(choice.rate)))
        for moved in itertools.product((-1, 0, 1), repeat=3):
            after = np.array(scores) * sensitivity + np.array(moved) * sensitivity
            told.append(np.abs(before - np.log(flip_probabilities(after, float(choice.rate)))).max())
    assert 0.99 * float(choice.epsilon) < max(told) <= float(choice.epsilon) * (1 + 1e-9)


def test_choices_are_as_concentrated_as_an_eighth_of_their_level_squared():
    """Rényi divergence of exponential choices between neighbours, all of them, against α ε²/8."""
    chance = np.random.default_rng(7)
    for _ in range(200):
        scores = chance.integers(-5, 6, 6)
        moved = scores + chance.integers(-1, 2, 6)
        event = Exponential(Fraction(3, 2), Fraction(1))
        p, q = (np.exp(one / 1.5) / np.exp(one / 1.5).sum() for one in (scores, moved))
        for alpha in (1.01, 2, 8, 64):
            divergence = np.log((p**alpha * q ** (1 - alpha)).sum()) / (alpha - 1)
            assert divergence <= alpha * float(event.concentrated()) + 1e-12
    assert Exponential(Fraction(3, 2), Fraction(1), count=5).concentrated() == 5 * event.concentrated()
