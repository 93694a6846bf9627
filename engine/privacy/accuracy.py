"""How far integer noise goes: limits of its absolute value, exact from the probability of every integer.

These are the accuracy statements that stand beside every noisy number: P(|answer − truth| ≤ limit) ≥ share.
Nothing here reads a row.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from engine import arrays

Floats = arrays.Floats

HALF, MOST = 0.5, 0.95
NORMAL_MEDIAN, NORMAL_WITHIN = 0.6744897501960817, 1.959963984540054
LAPLACE_MEDIAN, LAPLACE_WITHIN = math.log(2) / math.sqrt(2), math.log(20) / math.sqrt(2)
"""Standard deviations within which half, and 95 of 100, draws of continuous noise lie.

Of the normal distribution its 75 % and 97.5 % points, here and nowhere else."""
_LARGEST_TABLE = 2000.0  # standard deviation up to which the Gaussian's probabilities are listed one by one
_WORKING_SPREAD = 512.0  # standard deviation of a sum, in the steps on which it is convolved
_POINTS, _COARSE = 2**15, 2**14


_sites: ContextVar[Fraction] = ContextVar("sites", default=Fraction(1))


@contextmanager
def noise_of(sites: Fraction | int) -> Iterator[None]:
    """Count so many times the noise in every sum while this lasts, in this thread: each site adds its own.

    Of shares of one noise it may be a fraction: five of which four are one noise are 5/4 of it.
    """
    token = _sites.set(Fraction(sites))
    try:
        yield
    finally:
        _sites.reset(token)


def sites_that_add() -> Fraction:
    """Return how many times the noise of one site is in every sum; see `noise_of`."""
    return _sites.get()


def spread_of_sites() -> float:
    """Return by how much the standard deviation of every noise grows with the sites that add some: √ of them.

    Examples
    --------
    >>> with noise_of(4):
    ...     spread_of_sites()
    2.0
    """
    return math.sqrt(_sites.get())


@dataclass(frozen=True)
class Accuracy:
    """Median absolute error, and the error that 95 of 100 draws stay within, in steps of the noise."""

    median: int
    limit: int


def laplace_error(scale: Fraction, *, share: float) -> int:
    """Return the smallest t with P(|X| ≤ t) ≥ share for discrete Laplace noise.

    Parameters
    ----------
    scale
        b > 0 of P(X = x) = (1−q)/(1+q) · q^|x|, q = exp(−1/b), in steps of the integer grid.
    share
        In (0, 1).

    Notes
    -----
    P(|X| > t) = 2 q^(t+1) / (1+q), solved for t. A statement about the noise alone: rounding to the grid and
    clamping are not in it.

    Source: Canonne, Kamath and Steinke (2020), definition 1 (the distribution, there with scale t).

    Examples
    --------
    >>> laplace_error(Fraction(1), share=0.5), laplace_error(Fraction(1), share=0.95)
    (1, 3)
    """
    b = float(scale)
    q = math.exp(-1 / b)
    steps = math.ceil(b * math.log(2 / ((1 - share) * (1 + q))) - 1 - 1e-12)
    return max(0, steps)


def laplace_shortfall(scale: Fraction, *, share: float) -> int:
    """Return the smallest t >= 0 with P(X ≥ −t) ≥ share for discrete Laplace noise: one side only.

    Examples
    --------
    >>> laplace_shortfall(Fraction(1), share=0.5), laplace_shortfall(Fraction(1), share=0.95)
    (0, 2)
    """
    b = float(scale)
    q = math.exp(-1 / b)
    return max(0, math.ceil(b * math.log(1 / ((1 - share) * (1 + q))) - 1 - 1e-12))


def laplace_below(scale: Fraction, limits: Floats) -> Floats:
    """Return P(X ≤ limit) of discrete Laplace noise for real limits, any shape.

    Examples
    --------
    >>> laplace_below(Fraction(1), np.array([-0.5, 0.0])).round(4).tolist()
    [0.2689, 0.7311]
    """
    b = float(scale)
    q = math.exp(-1 / b)
    steps = np.floor(limits)
    tail = np.exp(-np.abs(steps) / b) / (1 + q)
    return np.where(steps >= 0, 1 - q * tail, tail)


def laplace_nodes(scale: Fraction, *, most: int = 400) -> tuple[Floats, Floats]:
    """Return values of discrete Laplace noise and their probabilities, for averages over the noise.

    Notes
    -----
    Every integer that matters (outside: less than 1e-9) where there are no more than ``most``; otherwise the
    middles of ``most`` equally likely parts, which moves a probability of the average by at most 1/most.
    """
    b = float(scale)
    q = math.exp(-1 / b)
    reach = math.ceil(b * 21)
    if 2 * reach + 1 <= most:
        values = np.arange(-reach, reach + 1, dtype=np.float64)
        return values, (1 - q) / (1 + q) * q ** np.abs(values)
    share = (np.arange(most) + 0.5) / most
    side = np.minimum(share, 1 - share)
    steps = np.maximum(0, np.ceil(-b * np.log(side * (1 + q)) - 1))
    return np.where(share < 0.5, -steps, steps), np.full(most, 1 / most)


def staircase_error(sensitivity: int, plateau: int, epsilon: Fraction, *, share: float) -> int:
    """Return the smallest t with P(|X| ≤ t) ≥ share for discrete staircase noise.

    Parameters
    ----------
    sensitivity, plateau, epsilon
        Δ, r, ε of `engine.privacy.noise.Noise.staircase`.
    share
        In (0, 1).

    Notes
    -----
    With b = e^−ε and x = Δb/(1 − b) all integers weigh 2(r + x) − 1. Beyond t = r + Δg + u, 0 ≤ u < Δ, lie
    2 b^(g+1) (Δ − 1 − u + x) of it, beyond t < r it is 2(r − 1 − t + x).

    Examples
    --------
    >>> staircase_error(10, 3, Fraction(2), share=0.5), staircase_error(10, 3, Fraction(2), share=0.95)
    (2, 13)
    """
    rate = float(epsilon)
    below = sensitivity / math.expm1(rate) if rate < 700 else 0.0
    weight = 2 * (plateau + below) - 1

    def is_enough(t: int) -> bool:
        if t < plateau:
            beyond = 2 * (plateau - 1 - t + below)
        else:
            stair, place = divmod(t - plateau, sensitivity)
            beyond = 2 * math.exp(-rate * (stair + 1)) * (sensitivity - 1 - place + below)
        return beyond <= (1 - share) * weight * (1 + 1e-13)

    low, high = -1, 1
    while not is_enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def gaussian_error(variance: Fraction, *, share: float) -> int:
    """Return the smallest t with P(|X| ≤ t) ≥ share for discrete Gaussian noise.

    Parameters
    ----------
    variance
        σ² > 0 of P(X = x) ∝ exp(−x²/2σ²), in squared steps.
    share
        In (0, 1).

    Notes
    -----
    Summed from the probabilities up to σ = 2,000. Above, the integral over (−t−½, t+½) stands for the sum;
    their difference is below t φ(t/σ)/(12σ³), less than 1e-8 there.

    Source: Canonne, Kamath and Steinke (2020), definition 1.

    Examples
    --------
    >>> gaussian_error(Fraction(1), share=0.5), gaussian_error(Fraction(1), share=0.95)
    (1, 2)
    """
    sigma = math.sqrt(variance)
    if sigma > _LARGEST_TABLE:
        from scipy.special import ndtri

        return max(0, math.ceil(sigma * float(ndtri((1 + share) / 2)) - 0.5))
    within = np.cumsum(gaussian_probabilities(variance) * np.where(np.arange(_reach(sigma) + 1) == 0, 1, 2))
    return int(np.searchsorted(within, share - 1e-13))


def gaussian_probabilities(variance: Fraction) -> Floats:
    """Return P(X = 0), P(X = 1), … of discrete Gaussian noise, as far as they matter (to 1e-30)."""
    sigma = math.sqrt(variance)
    steps = np.arange(_reach(sigma) + 1, dtype=np.float64)
    weights = np.exp(-(steps**2) / (2 * float(variance)))
    return np.asarray(weights / (weights[0] + 2 * weights[1:].sum()))


def laplace_accuracy(scale: Fraction, *, count: int = 1) -> Accuracy:
    """Return median and 95 % limit of the sum of ``count`` independent discrete Laplace draws of each site.

    Examples
    --------
    >>> laplace_accuracy(Fraction(10))
    Accuracy(median=7, limit=30)
    >>> laplace_accuracy(Fraction(10), count=4)
    Accuracy(median=18, limit=57)
    """
    return _laplace_accuracy(scale, count * _sites.get())


@lru_cache(maxsize=512)
def _laplace_accuracy(scale: Fraction, count: Fraction) -> Accuracy:
    if count == 1:
        return Accuracy(laplace_error(scale, share=HALF), laplace_error(scale, share=MOST))
    q = math.exp(-1 / float(scale))
    variance = 2 * q / (1 - q) ** 2 if float(scale) < 1e6 else 2 * float(scale) ** 2
    step = max(1.0, math.sqrt(variance * float(count)) / _WORKING_SPREAD)
    if step > 1:  # a coarser discrete Laplace of the same variance stands for the fine one
        coarse = variance / step**2
        q = (coarse + 1 - math.sqrt(2 * coarse + 1)) / coarse
    angle = 2 * np.pi * np.arange(_POINTS // 2 + 1) / _POINTS
    transform = ((1 - q) ** 2 / (1 - 2 * q * np.cos(angle) + q * q)) ** float(count)
    return _from_transform(transform, step)


def gaussian_accuracy(variance: Fraction, *, count: int = 1) -> Accuracy:
    """Return median and 95 % limit of the sum of ``count`` independent discrete Gaussian draws of each site.

    Examples
    --------
    >>> gaussian_accuracy(Fraction(100))
    Accuracy(median=7, limit=20)
    """
    return _gaussian_accuracy(variance, count * _sites.get())


@lru_cache(maxsize=512)
def _gaussian_accuracy(variance: Fraction, count: Fraction) -> Accuracy:
    if count == 1:
        return Accuracy(gaussian_error(variance, share=HALF), gaussian_error(variance, share=MOST))
    spread = math.sqrt(float(variance * count))
    if spread > _WORKING_SPREAD:  # a sum of discrete Gaussians this wide is a discrete Gaussian to 1e-8
        return _gaussian_accuracy(variance * count, Fraction(1))
    half = gaussian_probabilities(variance)
    ring = np.zeros(_POINTS)
    ring[: len(half)] = half
    ring[-(len(half) - 1) :] += half[:0:-1]
    transform = np.maximum(np.fft.rfft(ring).real, 0.0)  # below 0 by rounding alone
    return _from_transform(transform ** float(count), 1.0)


def spread_of_sum(terms: tuple[tuple[float, int], ...]) -> tuple[float, float]:
    """Return median and 95 % limit of the absolute value of a sum of continuous Laplace noises of each site.

    Parameters
    ----------
    terms
        Scale above 0, and how many independent draws have it.

    Notes
    -----
    The distribution of the sum is read off its Fourier transform. Continuous Laplace noise stands for the
    discrete one, which lies closer to zero.

    Examples
    --------
    >>> [round(limit, 2) for limit in spread_of_sum(((1.0, 1),))]
    [0.69, 3.0]
    """
    sites = _sites.get()
    return _spread_of_sum(
        terms if sites == 1 else tuple((scale, float(times * sites)) for scale, times in terms)
    )


@lru_cache(maxsize=4096)
def _spread_of_sum(terms: tuple[tuple[float, float], ...]) -> tuple[float, float]:
    spread = math.sqrt(sum(2 * scale**2 * times for scale, times in terms))
    step = spread / 256
    angles = 2 * np.pi * np.arange(_COARSE // 2 + 1) / _COARSE / step
    logs = sum(times * np.log1p((scale * angles) ** 2) for scale, times in terms)
    chances = np.maximum(0.0, np.fft.irfft(np.exp(-logs), _COARSE)[: _COARSE // 2])
    chances[1:] *= 2
    # half a step beyond the last point, up to which its chance reaches
    within, reach = np.cumsum(chances) / chances.sum(), (np.arange(_COARSE // 2) + 0.5) * step
    median, most = (float(np.interp(share, within, reach)) for share in (HALF, MOST))
    return median, most


def gaussian_spread_of_sum(terms: tuple[tuple[float, int], ...]) -> tuple[float, float]:
    """Return median and 95 % limit of the absolute value of a sum of Gaussian noises of each site.

    Parameters
    ----------
    terms
        Standard deviation above 0, and how many independent draws have it.
    """
    spread = math.sqrt(sum(scale**2 * times for scale, times in terms) * _sites.get())
    return NORMAL_MEDIAN * spread, NORMAL_WITHIN * spread


def share_interval(found: float, tries: float) -> tuple[float, float]:
    """Return the 95 % interval of a share of which so many of so many were seen; 0 to 1 where none was tried.

    Of chance alone, as in drawing people: it says nothing of noise. It holds at 0 and at 1. E. B. Wilson,
    "Probable inference" (1927).

    Examples
    --------
    >>> [round(edge, 3) for edge in share_interval(5, 10)], share_interval(0, 0)
    ([0.237, 0.763], (0.0, 1.0))
    """
    if not tries:
        return 0.0, 1.0
    z, share = NORMAL_WITHIN, found / tries
    middle = share + z * z / (2 * tries)
    half = z * math.sqrt(share * (1 - share) / tries + z * z / (4 * tries * tries))
    low, high = (middle - half) / (1 + z * z / tries), (middle + half) / (1 + z * z / tries)
    # at the ends the formula gives 0 and 1, but for what rounding leaves of them
    return (low if found > 0 else 0.0), (high if found < tries else 1.0)


def _from_transform(transform: Floats, step: float) -> Accuracy:
    """Read both limits off the Fourier transform of the probabilities of a symmetric sum."""
    probability = np.fft.irfft(transform, _POINTS)[: _POINTS // 2]
    within = np.cumsum(probability * np.where(np.arange(_POINTS // 2) == 0, 1, 2))
    median, limit = (int(np.searchsorted(within, share - 1e-12)) for share in (HALF, MOST))
    return Accuracy(math.ceil(median * step), math.ceil(limit * step))


def _reach(sigma: float) -> int:
    return math.ceil(12 * sigma) + 10
