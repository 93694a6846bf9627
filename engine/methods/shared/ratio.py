"""How far a noisy mean goes: the error forecast for a declared size, and the margin of a released one.

A mean at place p of the declared range (0 its lower end, 1 its upper) is A/(A + B), where A says how far the
values stand above the lower end and B how far below the upper end, both added up. Nothing here reads a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import sqrt

import numpy as np

from engine import arrays
from engine.privacy.accuracy import (
    HALF,
    MOST,
    laplace_accuracy,
    laplace_below,
    laplace_error,
    laplace_nodes,
    laplace_shortfall,
    sites_that_add,
)

Floats = arrays.Floats

_TRIED = 9  # true means between 0 and 1/2 that a forecast compares
_LISTED = 8  # largest scale whose integers are listed one by one; above, noise is as good as continuous
_HALVINGS, _CLOSE, _NOTHING, _EDGE = 50, 1e-5, 1e-14, 1e-9
_FAR = 12  # scales: beyond, less than 1e-5 of the noise
_PERIOD, _ANGLES = 40.0, 512  # in standard deviations; beyond half a period the noise is as good as never


@dataclass(frozen=True)
class RatioError:
    """Median and 95 % limit of the absolute error, as shares of the declared range."""

    median: float
    limit: float


@dataclass(frozen=True)
class RatioNoise:
    """The noise of A − p (A + B), for every place p: two independent discrete Laplace draws, weighed.

    Parameters
    ----------
    main, count
        Scales of the draws. Without ``count`` both A and B get a draw of scale ``main``; with it the draws
        are on the centred sum A − B and on the count (A + B)/reach.
    reach
        What one row adds to A + B: the declared range in steps. Used with ``count`` only.
    sites
        How many times each draw is in its sum, where several sites add noise; it may be a fraction.
    """

    main: Fraction
    count: Fraction | None = None
    reach: int = 1
    sites: Fraction = Fraction(1)

    def weighed(self, places: Floats) -> tuple[Floats, Floats]:
        """Return the weights of the draws at places 0 … ½: of the one to integrate, and of the other."""
        if self.count is None:
            return 1 - places, places  # (1 − p) X − p Y
        return np.full_like(places, 0.5), self.reach * (0.5 - places)  # ½ X + (½ − p) K Y

    @property
    def widest(self) -> float:
        """A bound on the scale of the noise at every place."""
        one = float(self.main) + (0.0 if self.count is None else self.reach * float(self.count))
        return one * sqrt(self.sites)

    def above(self, limits: Floats, places: Floats) -> Floats:
        """Return P(noise of A − p (A + B) > limit); the same for places p and 1 − p."""
        one, other = self.weighed(np.minimum(places, 1 - places))
        first, second = self.main, self.main if self.count is None else self.count
        if self.sites != 1:
            return _sums_above(limits, one * float(first), other * float(second), float(self.sites))
        if first < second:
            first, second, one, other = second, first, other, one
        if float(second) > _LISTED:
            return _laplace_sum_above(limits, one * float(first), other * float(second))
        draws, chance = laplace_nodes(second, most=2 * 21 * _LISTED + 1)
        left = limits[..., None] - other[..., None] * draws
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = left / one[..., None]
        below = np.where(one[..., None] > 0, laplace_below(first, steps + _EDGE), left >= -_EDGE)
        return np.asarray((1 - below) @ chance)


class GaussianRatioNoise(RatioNoise):
    """The same with Gaussian noise of standard deviation ``main`` on A and on B."""

    def above(self, limits: Floats, places: Floats) -> Floats:
        from scipy.special import ndtr  # on first use: it takes long to import

        one, other = self.weighed(np.minimum(places, 1 - places))
        # ¼ covers that the noise is whole
        spread = np.sqrt((float(self.main) ** 2 + 0.25) * (one**2 + other**2))
        return np.asarray(ndtr(-np.asarray(limits) / spread))


def _laplace_sum_above(limits: Floats, one: Floats, other: Floats) -> Floats:
    """Return P(one X + other Y > limit) of standard continuous Laplace X, Y; the weights may be 0.

    P = (s² e^(−t/s) − w² e^(−t/w)) / 2(s² − w²) for t ≥ 0, and (½ + t/4s) e^(−t/s) where s = w.
    """
    wide, narrow, size = np.maximum(one, other), np.minimum(one, other), np.abs(limits)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        far, near = np.exp(-size / wide), np.where(narrow > 0, np.exp(-size / narrow), 0.0)
        apart = (wide**2 * far - narrow**2 * near) / (2 * (wide**2 - narrow**2))
        alike = (0.5 + size / (4 * wide)) * far
    tail = np.where(wide - narrow > 1e-6 * wide, apart, alike)
    return np.where(limits >= 0, tail, 1 - tail)


def _sums_above(limits: Floats, one: Floats, other: Floats, sites: float) -> Floats:
    """Return P(X + Y > limit) of sums of ``sites`` continuous Laplace draws of scales ``one`` and ``other``.

    Notes
    -----
    J. Gil-Pelaez, Note on the inversion theorem (1951), by the midpoint rule: ½ − 1/π ∫ sin(ut) φ(u)/u du.
    """
    spread = np.sqrt(2 * sites * (one**2 + other**2))
    steps = (np.arange(_ANGLES) + 0.5) * (np.pi / _PERIOD)
    angles = steps / spread[..., None]
    logs = np.log1p((one[..., None] * angles) ** 2) + np.log1p((other[..., None] * angles) ** 2)
    waves = np.sin(np.clip(limits / spread, -_PERIOD / 2, _PERIOD / 2)[..., None] * steps)
    chance = 0.5 - (waves * np.exp(-sites * logs) / steps).sum(axis=-1) / _PERIOD
    return np.asarray(chance.clip(0.0, 1.0))


# --- forecast --------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def ratio_errors(noise: RatioNoise, totals: tuple[int, ...]) -> tuple[RatioError, ...]:
    """Return the error of a noisy A/(A + B) for the least favourable true mean.

    Parameters
    ----------
    totals
        True values of A + B, one a size: the size times the declared range in steps.

    Returns
    -------
    tuple of RatioError, one a total
        What half and 95 of 100 of the errors stay within wherever in the range the true mean lies.

    Notes
    -----
    With e the error, the ratio falls below p − e exactly where the noise of A − (p − e)(A + B) falls below
    −e (A + B), and rises above p + e where that at p + e rises above e (A + B); a side that lies outside the
    range cannot be missed. The least favourable mean is not at an end of the range, where only one side can
    be missed, but just inside, where both can: it is tried beside a grid. That A and B are both below
    zero, where the ratio is put at ½, is left out: its chance matters for totals below the noise only.

    Examples
    --------
    >>> noise = RatioNoise(Fraction(100))
    >>> [round(error.limit, 3) for error in ratio_errors(noise, (500, 100_000))]
    [0.5, 0.003]
    """
    total = np.asarray(totals, dtype=np.float64)[:, None]
    miss = 1 - np.array([HALF, MOST])
    high = np.minimum(1.0, _FAR * noise.widest / total) + np.zeros_like(miss)
    low = np.zeros_like(high)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        enough = _worst_miss(noise, total, middle) <= miss
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        if np.all(high - low <= _CLOSE * high):
            break
    return tuple(RatioError(*row) for row in np.where(high < _NOTHING, 0.0, high).tolist())


def _worst_miss(noise: RatioNoise, total: Floats, error: Floats) -> Floats:
    """Return the largest chance, over the true means, of being further away than ``error``; its shape."""
    inside = error[..., None] * (1 + _EDGE)
    ends = np.concatenate([inside, 1 - inside], axis=-1).clip(0, 0.5)
    tried = np.linspace(0.0, 0.5, _TRIED)
    places = np.concatenate([ends, np.broadcast_to(tried, (*error.shape, _TRIED))], axis=-1)
    limit = np.broadcast_to((error * total)[..., None], places.shape)
    below, over = places - error[..., None], places + error[..., None]
    too_low = np.where(below > 0, noise.above(limit, np.clip(below, 0, 1)), 0.0)
    too_high = np.where(over < 1, noise.above(limit, np.clip(over, 0, 1)), 0.0)
    return np.asarray((too_low + too_high).max(axis=-1))


def whole_errors(scale: Fraction, *, reach: int) -> RatioError:
    """Return the error of a finished mean with noise, clamped, for the least favourable true mean.

    Parameters
    ----------
    scale
        Of the discrete Laplace noise, in steps.
    reach
        The declared range in the same steps.

    Notes
    -----
    Up to half the range there is a mean from which both sides can be missed; beyond, one side only. Where
    several sites add noise, the limit of both sides stands for that of one, which is smaller.

    Examples
    --------
    >>> whole_errors(Fraction(10), reach=1000).limit
    0.03
    """

    def error(share: float) -> float:
        if sites_that_add() == 1:
            both, one = laplace_error(scale, share=share), laplace_shortfall(scale, share=share)
        else:
            of_all = laplace_accuracy(scale)
            both, one = (of_all.median, 0) if share == HALF else (of_all.limit, of_all.limit)
        return min(1.0, both / reach if 2 * both <= reach else max(0.5, one / reach))

    return RatioError(error(HALF), error(MOST))


# --- the margin of a released number ---------------------------------------------------------------


def ratio_and_margin(above: Floats, below: Floats, noise: RatioNoise) -> tuple[Floats, Floats]:
    """Return noisy A/(A + B), and how far the true one is away at most in 95 of 100 releases.

    Parameters
    ----------
    above, below
        Noisy A and B, shape (cells,). What is below 0 counts as 0; where both do, the ratio is ½.

    Returns
    -------
    ratio, margin
        Shares of the declared range, shape (cells,).

    Notes
    -----
    Fieller's argument with the exact noise: whatever A + B is, at the true place p the noise of
    A − p (A + B) is within its 95 % limit c(p) in 95 of 100 releases. The places for which the released A
    and B satisfy that are the limits, and the margin reaches the farther of them. Counting what is below 0
    as 0 can only add places at an end of the range. No row is read; the true size is not needed.

    Source: E. C. Fieller, "Some problems in interval estimation", Journal of the Royal Statistical Society B
    16 (1954), with the noise in the place of the normal distribution.

    Examples
    --------
    >>> ratio, margin = ratio_and_margin(np.array([250.0]), np.array([750.0]), RatioNoise(Fraction(30)))
    >>> ratio.tolist(), margin.round(3).tolist()
    ([0.25], [0.075])
    """
    above, below = np.maximum(above, 0.0), np.maximum(below, 0.0)
    total = above + below
    with np.errstate(invalid="ignore"):
        ratio = np.where(total > 0, above / np.where(total > 0, total, 1.0), 0.5)
    limits = _limits(noise)
    return ratio, np.maximum(_reach(ratio, total, limits), _reach(1 - ratio, total, limits))


def _places() -> Floats:
    """Return the true shares of a table of limits; the other half of the range mirrors them."""
    return np.linspace(0.0, 0.5, 257)


@lru_cache(maxsize=256)
def _limits(noise: RatioNoise) -> Floats:
    """Return c(p) at `_places`: what 95 of 100 draws of the noise of A − p (A + B) stay within."""
    places = _places()
    low = np.zeros_like(places)
    high = np.full_like(places, _FAR * noise.widest + 1)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        enough = 2 * noise.above(middle, places) <= 1 - MOST
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high


def _reach(ratio: Floats, total: Floats, limits: Floats) -> Floats:
    """Return how far above the ratio the noise still allows the true one, by bisection."""
    low, high, places = ratio.copy(), np.ones_like(ratio), _places()
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        allowed = np.interp(np.minimum(middle, 1 - middle), places, limits)
        inside = (middle - ratio) * total <= allowed
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return high - ratio
