"""δ of integer Gaussian noise on long shifts, against the listed law of the loss, shift by shift."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.signal import fftconvolve

from engine.privacy import gaussian
from engine.privacy.accounting import certified_delta
from engine.privacy.mechanisms import GaussianCounts

DELTA = Fraction(1, 10**6)


def listed(shift, sigma, epsilon):
    """Return δ for one shift: T = s·z by convolution, then E[(1 − e^(ε − loss))₊]."""
    shift = np.array(shift)
    g = int(np.gcd.reduce(shift))
    z = np.arange(-math.ceil(11 * sigma), math.ceil(11 * sigma) + 1)
    pmf = np.exp(-(z**2) / (2 * sigma**2))
    pmf /= pmf.sum()
    shares = np.ones(1)
    for step in shift // g:
        spread = np.zeros((len(pmf) - 1) * step + 1)
        spread[::step] = pmf
        shares = fftconvolve(shares, spread)
    total = g * (np.arange(len(shares)) - (len(shares) - 1) // 2)
    loss = (2.0 * total + float(shift @ shift)) / (2 * sigma**2)
    over = loss > epsilon
    return float(shares[over] @ -np.expm1(epsilon - loss[over]))


SHIFTS = {
    4: [(2,), (1,) * 4],
    9: [(3,), (2, 2, 1), (2, 1, 1, 1, 1, 1), (1,) * 9],
    25: [(5,), (4, 3), (4, 2, 2, 1), (3, 2, 2, 2, 2), (1,) * 25],
    50: [(7, 1), (5, 5), (5, 4, 3), (6, 3, 2, 1), (4, 4, 4, 1, 1), (2,) * 12 + (1, 1), (1,) * 50],
    400: [(20,), (12, 16), (10, 10, 10, 10), (18, 8, 2, 2, 2), (2,) * 100],
    10_000: [(100,), (60, 80), (50,) * 4],
    1_000_000: [(1000,), (600, 800), (500,) * 4],
}


@pytest.mark.slow
@pytest.mark.parametrize("square", SHIFTS)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(5)])
def test_delta_is_that_of_the_worst_shift(square, epsilon):
    scale = float(gaussian.discrete_scale(epsilon=epsilon, delta=DELTA, squared_sensitivity=square))
    stated = gaussian.discrete_delta(scale=scale, epsilon=float(epsilon), squared_sensitivity=square)
    assert stated <= float(DELTA)
    found = [listed(shift, scale, float(epsilon)) for shift in SHIFTS[square]]
    assert max(found) <= stated * (1 + 1e-7)
    assert max(found) >= 0.99 * stated


@pytest.mark.parametrize("square", [1, 2, 5, 9, 16, 17, 25, 50])
@pytest.mark.parametrize("sigma", [0.7, 2.0, 4.0, 12.0])
def test_narrow_and_wide_noise(square, sigma):
    """Whatever branch answers: never below any shift, exact where all of them are listed."""
    shifts = SHIFTS.get(square, [(1,) * square])
    for epsilon in (0.05, 0.8, 3.0):
        stated = gaussian.discrete_delta(scale=sigma, epsilon=epsilon, squared_sensitivity=square)
        found = max(listed(shift, sigma, epsilon) for shift in shifts)
        assert found <= stated * (1 + 1e-9) + 1e-15
        if square in (4, 9):
            assert found == pytest.approx(stated, rel=1e-9, abs=1e-15)


def test_the_branches_agree_where_they_meet():
    for square in (2, 3, 7, 16):
        for sigma in (2.0 * math.sqrt(square), 9.9):
            if sigma > 10:
                continue
            by_list = gaussian.discrete_delta(scale=sigma, epsilon=0.6, squared_sensitivity=square)
            by_sums = gaussian._of_sums(scale=sigma, epsilon=0.6, squared_sensitivity=square)
            assert by_sums == pytest.approx(by_list, rel=1e-8)


def test_continuous_noise_bounds_the_discrete_one_with_a_little_less_scale():
    for square, sigma in ((9, 3.0), (50, 12.0), (10_000, 60.0)):
        narrower = gaussian.continuous_stand_in(scale=sigma, squared_sensitivity=square)
        assert 0.8 * sigma < narrower < sigma
        for epsilon in (0.3, 2.0, 6.0):
            bound = gaussian.continuous_delta(
                scale=narrower, epsilon=epsilon - gaussian.SMOOTHING, sensitivity=math.sqrt(square)
            )
            for shift in SHIFTS[square]:
                assert listed(shift, sigma, epsilon) <= bound * (1 + 2 * gaussian.SMOOTHING) + 1e-15
    assert gaussian.continuous_stand_in(scale=1.0, squared_sensitivity=4) is None


def test_less_noise_than_concentrated_privacy_asks_for():
    for square in (4, 100, 10**6):
        scale = float(gaussian.discrete_scale(epsilon=Fraction(1), delta=DELTA, squared_sensitivity=square))
        other = gaussian.concentrated_delta(rho=square / (2 * scale * scale), epsilon=1.0)
        assert other > 4 * float(DELTA)
        assert scale / math.sqrt(square) < 4.2308


def test_the_certified_delta_of_a_release_with_long_shifts():
    for square in (8, 50):
        event = GaussianCounts(square, Fraction(1), DELTA).event
        assert certified_delta([event], 1.0) == pytest.approx(1e-6, rel=1e-3)
        twice = certified_delta([event, event], 1.6)
        exact = gaussian.continuous_delta(
            scale=float(event.scale), epsilon=1.6, sensitivity=math.sqrt(2 * square)
        )
        assert exact * 0.9 <= twice <= exact * 1.6
