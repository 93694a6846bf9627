"""How wide Gaussian noise must be for (epsilon, delta): exact where that is known, rounded against us.

The continuous Gaussian has a closed form. The discrete one is what the program runs. Neighbouring answers are
integer vectors that lie s apart, of which only |s|² ≤ S is known, and the loss is (|s|² + 2 s·z)/2σ²: what
counts is the law of s·z for the worst such s. It is listed for narrow noise and short shifts, and elsewhere
so close to a discrete Gaussian on the multiples of gcd(s) that the difference is bounded and added.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

from engine.privacy.accuracy import Floats, gaussian_probabilities

MOST_STEPS = 3  # squared L2 sensitivity up to which every shift is made of single steps
SMOOTHING = 1e-10  # what `continuous_stand_in` adds to ε, and relatively to δ, for each run
_LISTED_SHIFT, _LISTED_SCALE = 16, 10.0
_LARGEST_SUM = 2**53  # squared sensitivity beyond which whole numbers are no longer exact
_MANY_DIVISORS = 2**28  # squared sensitivity beyond which listing every possible gcd takes too long
_NARROW = 64.0  # standard deviation up to which tails are summed term by term
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
    Up to S = 16 and σ = 10 the largest over all shifts, listed. Else the smallest of three upper bounds:
    that of sums (see `_of_sums`: exact but for a stated factor, which is nothing from σ = 1.5 √S on; only up
    to S = 2^28, because it lists), that of continuous noise (`continuous_stand_in`: close wherever σ is above
    some steps) and that of concentrated privacy, which always holds.

    Source: Canonne, Kamath and Steinke (2020), theorem 7 (one output), theorem 14 and corollary 13; sums of
    discrete Gaussians as in Kairouz, Liu and Steinke (2021), theorem 1, with the bound worked out here.

    Examples
    --------
    >>> round(discrete_delta(scale=40, epsilon=0.5, squared_sensitivity=100), 9)
    0.002708871
    """
    if squared_sensitivity <= _LISTED_SHIFT and scale <= _LISTED_SCALE:
        return max(_of_shift(shift, scale=scale, epsilon=epsilon) for shift in _squares(squared_sensitivity))
    found = concentrated_delta(rho=squared_sensitivity / (2 * scale * scale), epsilon=epsilon)
    if squared_sensitivity > _LARGEST_SUM or scale > _LARGEST_SUM:
        return found
    if squared_sensitivity <= _MANY_DIVISORS:
        found = min(found, _of_sums(scale=scale, epsilon=epsilon, squared_sensitivity=squared_sensitivity))
    stand_in = continuous_stand_in(scale=scale, squared_sensitivity=squared_sensitivity)
    if stand_in is None:
        return found
    continuous = continuous_delta(
        scale=stand_in, epsilon=epsilon - SMOOTHING, sensitivity=math.sqrt(squared_sensitivity)
    )
    return min(found, continuous * (1 + SMOOTHING))


def continuous_stand_in(*, scale: float, squared_sensitivity: int) -> float | None:
    """Return the scale of continuous Gaussian noise that discrete noise is a post-processing of.

    Parameters
    ----------
    scale
        σ of the discrete noise, in steps.
    squared_sensitivity
        S: at most so many coordinates of an integer vector change.

    Returns
    -------
    float or None
        σ' a little below σ: with `SMOOTHING` added to ε, and relatively to δ, for each run, every guarantee
        of the continuous noise on the same vector is one of the discrete noise. None for σ of about a step.

    Notes
    -----
    Rounding N(0, σ² − r²) to a discrete Gaussian of variance r² about it gives the discrete Gaussian of
    variance σ² up to a factor 1 ± 2η on each coordinate, η = 2 e^{−2π²r²} (Poisson's formula for the
    normaliser), and it commutes with integer shifts. So r² follows from 8 S η ≤ 10⁻¹⁰.
    """
    rounding = math.log(16.01 * squared_sensitivity / SMOOTHING) / (2 * math.pi**2)
    left = scale * scale - rounding
    return math.sqrt(left) * (1 - 1e-15) if left > 0 else None


def _of_sums(*, scale: float, epsilon: float, squared_sensitivity: int) -> float:
    """Bound δ by that of discrete Gaussians on the multiples of every possible g = gcd(s).

    For |s|² = V and T = s·z, P(T = t) is proportional to e^{−t²/2Vσ²} on gℤ up to a factor 1 ± η (Poisson's
    formula for the integer vectors orthogonal to s). Other vectors stay at least 1/√V away from the line
    through s, so η ≤ √(2πσ²V) · 1.02 · e^{−(2π²σ² − ln S − 5)/V}. For one g the longest shift loses most,
    because v copies of g are part of v + 1 copies. Three such exchanges cost 13 η at most.
    """
    total = squared_sensitivity
    exponent = (2 * math.pi**2 * scale * scale - math.log(total) - 5) / total
    closeness = 13 * 1.02 * math.sqrt(2 * math.pi * total) * scale * math.exp(-max(0.0, exponent))
    if closeness > 0.05:
        return 1.0
    at = epsilon - closeness
    divisors = np.arange(1.0, math.isqrt(total) + 1)
    copies = np.floor(total / divisors**2)
    spreads = np.sqrt(copies) * scale
    # The loss (g²v + 2gu)/2σ² is above ε from the first u on; under the neighbour u lies g·v further.
    first = np.floor((2 * scale * scale * at - divisors**2 * copies) / (2 * divisors)) + 1
    above, other = _log_tails(first, spreads), _log_tails(first + divisors * copies, spreads)
    deltas = np.exp(above) - np.exp(np.minimum(at + other, above))
    # What the tails are rounded by, far above it.
    return min(1.0, float((deltas + 1e-13 * np.exp(above)).max()) * (1 + closeness) + 1e-25)


def _log_tails(first: Floats, spreads: Floats) -> Floats:
    """Return ln P(U ≥ u) for discrete Gaussians U, each with its own u and standard deviation."""
    from scipy.special import log_ndtr

    y = (first - 0.5) / spreads
    log_main = log_ndtr(-y)
    # Sum over the integers from u on = integral from u − ½ on, corrected by derivatives there (Euler and
    # Maclaurin); hazard is φ(y)/Q(y).
    hazard = np.exp(-y * y / 2 - 0.5 * math.log(2 * math.pi) - log_main)
    third, fifth = y**3 - 3 * y, y**5 - 10 * y**3 + 15 * y
    terms = -y / (24 * spreads**2) + 7 * third / (5760 * spreads**4) - 31 * fifth / (967680 * spreads**6)
    found = np.asarray(log_main + np.log1p(np.maximum(hazard * terms, -0.5)))
    for index in np.flatnonzero(spreads < _NARROW):
        found[index] = _log_tail(float(first[index]), float(spreads[index]))
    return found


def _log_tail(first: float, spread: float) -> float:
    """Return ln P(U ≥ u) term by term, largest term taken out."""
    reach = math.ceil(12 * spread) + 2
    terms = -(np.arange(-reach, reach + 1) ** 2) / (2 * spread * spread)
    start = max(first, -reach)
    tail = -((start + np.arange(reach + 1)) ** 2) / (2 * spread * spread)
    top = float(tail.max())
    return min(0.0, top + math.log(math.fsum(np.exp(tail - top))) - math.log(math.fsum(np.exp(terms))))


@cache
def _squares(total: int, largest: int | None = None) -> tuple[tuple[int, ...], ...]:
    """Return every way to write a number as a sum of squares, by their roots in falling order."""
    if total == 0:
        return ((),)
    top = math.isqrt(total) if largest is None else min(largest, math.isqrt(total))
    return tuple((root, *rest) for root in range(top, 0, -1) for rest in _squares(total - root * root, root))


def _of_shift(shift: tuple[int, ...], *, scale: float, epsilon: float) -> float:
    """Return δ for one shift of the vector: δ = E[(1 − e^(ε − loss))₊], by convolution."""
    half = gaussian_probabilities(Fraction(scale) ** 2)
    one = np.concatenate([half[:0:-1], half])
    shares = np.ones(1)
    for step in shift:
        spread = np.zeros((len(one) - 1) * step + 1)
        spread[::step] = one
        shares = np.convolve(shares, spread)
    total = np.arange(len(shares)) - (len(shares) - 1) // 2
    loss = (2.0 * total + sum(step * step for step in shift)) / (2 * scale * scale)
    over = loss > epsilon
    return float(np.sum(shares[over] * -np.expm1(epsilon - loss[over]))) + 1e-25


@cache
def _orders() -> tuple[npt.NDArray[np.float64], ...]:
    """Return the orders α that are tried, log(α−1) and α·log(1−1/α): a search asks for them often."""
    orders = 1 + np.geomspace(1e-6, 1e9, 6000)
    return orders, np.log(orders - 1), orders * np.log1p(-1 / orders)


def concentrated_delta(*, rho: float, epsilon: float) -> float:
    """Return the delta that ρ-concentrated differential privacy gives at epsilon.

    Notes
    -----
    δ = min over α > 1 of exp((α−1)(αρ−ε)) / (α−1) · (1−1/α)^α. Every α gives a valid bound.

    Source: Canonne, Kamath and Steinke (2020), corollary 13.
    """
    orders, logs, powers = _orders()
    exponent = (orders - 1) * (orders * rho - epsilon) - logs + powers
    return min(1.0, math.exp(min(0.0, float(exponent.min()))))


def concentrated_epsilon(*, rho: float, delta: float) -> float:
    """Return the epsilon that ρ-concentrated privacy gives at delta, see `concentrated_delta`."""
    orders, logs, powers = _orders()
    bounds = orders * rho - (math.log(delta) + logs - powers) / (orders - 1)
    return max(0.0, float(bounds.min()))


def concentrated_budget(epsilon: float, delta: float) -> float:
    """Return the largest ρ that is (ε, δ), by halving.

    Examples
    --------
    >>> round(concentrated_budget(1.0, 1e-9), 6)
    0.014973
    """
    low, high = 0.0, epsilon + math.log(1 / delta)
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):  # no number lies between them
            break
        if concentrated_delta(rho=middle, epsilon=epsilon) <= delta:
            low = middle
        else:
            high = middle
    return low


@lru_cache(maxsize=256)
def gaussian_level(epsilon: float, delta: float) -> float:
    """Return the largest μ = sensitivity / scale that is (ε, δ), by halving.

    Examples
    --------
    >>> round(gaussian_level(1.0, 1e-6), 4)
    0.2367
    """
    low, high = 0.0, 2 * epsilon + 10
    for _ in range(200):
        middle = (low + high) / 2
        if middle and continuous_delta(scale=1.0, epsilon=epsilon, sensitivity=middle) <= delta:
            low = middle
        else:
            high = middle
    return low


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
