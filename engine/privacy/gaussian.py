"""How wide Gaussian noise must be for (epsilon, delta): exact where that is known, rounded against us.

The continuous Gaussian has a closed form. The discrete one is what the program runs; for it this module uses
the exact loss where the shift of the answer is made of at most three single steps, and the concentrated
bound, which holds in any dimension, elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np

from engine.privacy.accuracy import gaussian_probabilities

MOST_STEPS = 3  # squared L2 sensitivity up to which every shift is made of single steps
_LARGEST_TABLE = 10_000.0  # standard deviation beyond which the concentrated bound does
_SUMS_CLOSE = 10.0
_SLACK = 1e-9  # relative; far above the rounding of the sums below


def continuous_delta(*, scale: float, epsilon: float, sensitivity: float) -> float:
    """Return the delta of continuous Gaussian noise at a given epsilon.

    Parameters
    ----------
    scale
        Standard deviation σ > 0.
    epsilon
        At least 0.
    sensitivity
        L2, in the units of the scale.

    Notes
    -----
    δ = Φ(Δ/2σ − εσ/Δ) − e^ε Φ(−Δ/2σ − εσ/Δ): necessary and sufficient, in any dimension.

    Source: Balle and Wang (2018), theorem 8.

    Examples
    --------
    >>> round(continuous_delta(scale=4.2247, epsilon=1.0, sensitivity=1.0), 8)
    1e-06
    """
    from scipy.special import log_ndtr

    ratio = sensitivity / scale
    upper, lower = log_ndtr(np.array([ratio / 2 - epsilon / ratio, -ratio / 2 - epsilon / ratio]))
    return max(0.0, float(np.exp(upper) - np.exp(epsilon + lower)))


def discrete_delta(*, scale: float, epsilon: float, squared_sensitivity: int) -> float:
    """Return a delta that discrete Gaussian noise on an integer vector has at a given epsilon.

    Parameters
    ----------
    scale
        σ > 0, in steps.
    epsilon
        At least 0.
    squared_sensitivity
        Largest squared L2 distance S between answers of neighbouring data sets; the answers are integers.

    Notes
    -----
    An integer shift of squared length S ≤ 3 changes at most S coordinates by one each, and the worst one
    changes S. Its loss is (2T + S)/2σ², T the sum of S draws, so δ = E[(1 − e^(ε − loss))₊] exactly. Longer
    shifts use ½S/σ²-concentrated privacy, which is not exact but holds.

    Source: Canonne, Kamath and Steinke (2020), theorem 7 (S = 1), theorem 14 and corollary 13 (longer);
    Kairouz, Liu and Steinke (2021), theorem 1 (sums of discrete Gaussians are close to one).
    """
    if squared_sensitivity > MOST_STEPS or scale > _LARGEST_TABLE:
        return concentrated_delta(rho=squared_sensitivity / (2 * scale * scale), epsilon=epsilon)
    if scale >= _SUMS_CLOSE:  # the sum of S draws is one draw of variance S σ², to a factor 1 ± 1e-400
        half = gaussian_probabilities(squared_sensitivity * Fraction(scale) ** 2)
        shares, reach = np.concatenate([half[:0:-1], half]), len(half) - 1
    else:
        half = gaussian_probabilities(Fraction(scale) ** 2)
        one = shares = np.concatenate([half[:0:-1], half])
        reach = (len(half) - 1) * squared_sensitivity
        for _ in range(squared_sensitivity - 1):
            shares = np.convolve(shares, one)
    total = np.arange(len(shares)) - reach
    loss = (2.0 * total + squared_sensitivity) / (2 * scale * scale)
    over = loss > epsilon
    return float(np.sum(shares[over] * -np.expm1(epsilon - loss[over]))) + 1e-25


def concentrated_delta(*, rho: float, epsilon: float) -> float:
    """Return the delta that ρ-concentrated differential privacy gives at epsilon.

    Notes
    -----
    δ = min over α > 1 of exp((α−1)(αρ−ε)) / (α−1) · (1−1/α)^α. Every α gives a valid bound.

    Source: Canonne, Kamath and Steinke (2020), corollary 13.
    """
    orders = 1 + np.geomspace(1e-6, 1e9, 6000)
    exponent = (orders - 1) * (orders * rho - epsilon) - np.log(orders - 1) + orders * np.log1p(-1 / orders)
    return min(1.0, math.exp(min(0.0, float(exponent.min()))))


def concentrated_epsilon(*, rho: float, delta: float) -> float:
    """Return the epsilon that ρ-concentrated privacy gives at delta, see `concentrated_delta`."""
    orders = 1 + np.geomspace(1e-6, 1e9, 6000)
    bounds = orders * rho - (math.log(delta) + np.log(orders - 1) - orders * np.log1p(-1 / orders)) / (
        orders - 1
    )
    return max(0.0, float(bounds.min()))


@lru_cache(maxsize=512)
def continuous_scale(*, epsilon: Fraction, delta: Fraction, sensitivity: Fraction) -> Fraction:
    """Return the smallest standard deviation of continuous Gaussian noise, rounded up.

    Examples
    --------
    >>> scale = continuous_scale(epsilon=Fraction(1), delta=Fraction(1, 10**6), sensitivity=Fraction(1))
    >>> round(float(scale), 4)
    4.2247
    """
    reach = float(sensitivity)
    return _smallest(
        lambda scale: continuous_delta(scale=scale, epsilon=float(epsilon), sensitivity=reach),
        float(delta),
        start=reach / max(float(epsilon), 1e-12),
    )


@lru_cache(maxsize=512)
def discrete_scale(*, epsilon: Fraction, delta: Fraction, squared_sensitivity: int) -> Fraction:
    """Return a standard deviation of discrete Gaussian noise that gives (epsilon, delta), rounded up.

    Examples
    --------
    >>> float(discrete_scale(epsilon=Fraction(1), delta=Fraction(1, 10**6), squared_sensitivity=1))
    4.23077886233
    """
    return _smallest(
        lambda scale: discrete_delta(
            scale=scale, epsilon=float(epsilon), squared_sensitivity=squared_sensitivity
        ),
        float(delta),
        start=math.sqrt(squared_sensitivity) / max(float(epsilon), 1e-12),
    )


def _smallest(delta_of: Callable[[float], float], delta: float, *, start: float) -> Fraction:
    """Bisect for the scale, then go up until the bound holds with slack."""
    low, high = start / 64, start
    while delta_of(high) > delta:
        low, high = high, high * 2
    while high / low > 1 + 1e-9:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if delta_of(middle) <= delta else (middle, high)
    while delta_of(high) > delta * (1 - _SLACK):
        high *= 1 + 1e-8
    # Twelve significant digits, rounded up: more noise than needed, never less.
    digits = 11 - math.floor(math.log10(high))
    unit = Fraction(10) ** digits
    found = Fraction(math.ceil(Fraction(high) * unit)) / unit
    while delta_of(float(found)) > delta * (1 - _SLACK / 2):  # the discrete bound is not quite monotone
        found += Fraction(1, unit) * 1000
    return found
