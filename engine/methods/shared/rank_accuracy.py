"""How many ranks a chosen quantile is off: for values that lie evenly, and for any values whatever."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from engine import arrays
from engine.methods.shared.rank_choices import RankChoice, inherit_errors

Floats = arrays.Floats

HALF, MOST = 0.5, 0.95
_POINTS = 2**13
_FAR = 30.0  # e^-30 of an error is further away than so many times its mean


@lru_cache(maxsize=256)
def even_errors(
    roots: tuple[RankChoice, ...], *, size: int | None = None, candidates: int = 0
) -> tuple[tuple[float, float], ...]:
    """Return median and 95 % limit of the error of each quantile, in ranks, for evenly spread values.

    Parameters
    ----------
    roots
        Of `engine.methods.shared.rank_choices.choices`.
    size
        How many values, at least 1; None for so many that there are always further ones on both sides.
    candidates
        How many steps the declared grid has; not used without a size.

    Returns
    -------
    tuple of (float, float)
        In the order of the wanted quantiles: how many values stand on the wrong side of the chosen value,
        rounded up to whole ones.

    Notes
    -----
    Where values lie evenly every rank has as many candidates, so that a step is off by x ranks with a density
    ∝ e^(−rate·|x|) over the ranks that there are; a later step inherits its share (`inherited`), and cuts at
    whole numbers of values. Where several values share a candidate an error within them is none; without a
    size no values do.

    Examples
    --------
    >>> from fractions import Fraction
    >>> median = (RankChoice(0, Fraction(1, 2), Fraction(1)),)
    >>> even_errors(median)
    ((1.0, 3.0),)
    >>> even_errors(median, size=100, candidates=29)
    ((0.0, 2.0),)
    """
    intervals = _intervals(roots)
    steps = {step.place: step for root in roots for step in root.steps()}
    found = []
    for place, weights in sorted(inherit_errors(roots).items()):
        parts = []
        for at, weight in weights.items():
            low, high = intervals[at]
            target, values = float(steps[at].target), (high - low) * (size or math.inf)
            parts.append((weight, float(steps[at].rate), -target * values, (1 - target) * values))
        errors, shares = _sum(parts)
        low, high = intervals[place]
        wanted = low + (high - low) * float(steps[place].target)
        wrong = (
            np.ceil(np.abs(errors)) if size is None else _wrong_side(errors, wanted * size, size, candidates)
        )
        found.append(_read_off(wrong, shares))
    return tuple(found)


def any_limits(
    roots: tuple[RankChoice, ...], *, candidates: int, parts: int, share: float
) -> tuple[float, ...]:
    """Return how many values stand on the wrong side of each quantile at most, whatever the values are.

    Parameters
    ----------
    candidates, parts
        How many steps the grid has, and into how many parts the values on one may be cut.
    share
        Of the releases in which the limit holds, for each quantile by itself.

    Notes
    -----
    Every step that a quantile depends on keeps its own limit with an equal part of the failures (union
    bound); a cut at a whole number of values adds less than one.
    """
    steps = {step.place: step for root in roots for step in root.steps()}
    found = []
    for _, weights in sorted(inherit_errors(roots).items()):
        each = 1 - (1 - share) / len(weights)
        total = float(len(weights) - 1)
        for at, weight in weights.items():
            places = candidates * (parts if steps[at].next else 1)
            total += weight * steps[at].choice(unit=1).score_limit(places, share=each)
        found.append(total)
    return tuple(found)


def _intervals(roots: tuple[RankChoice, ...]) -> dict[int, tuple[float, float]]:
    """Return between which shares of all values each step chooses."""
    found: dict[int, tuple[float, float]] = {}

    def walk(step: RankChoice, low: float, high: float) -> None:
        found[step.place] = (low, high)
        middle = low + (high - low) * float(step.target)
        if step.left is not None:
            walk(step.left, low, middle)
        if step.right is not None:
            walk(step.right, middle, high)

    for root in roots:
        walk(root, 0.0, 1.0)
    return found


def _sum(parts: list[tuple[float, float, float, float]]) -> tuple[Floats, Floats]:
    """Return errors on a grid and their probabilities: a sum of weighted two-sided exponentials."""
    reach = sum(weight * min(max(-low, high), _FAR / rate) for weight, rate, low, high in parts)
    reach += (len(parts) - 1) / 2
    errors = (np.arange(_POINTS) - _POINTS // 2) * (2.2 * reach / _POINTS)
    transform = np.ones(_POINTS // 2 + 1, dtype=np.complex128)
    for weight, rate, low, high in parts:
        own = np.exp(-rate / weight * np.abs(errors))
        own[(errors < weight * low) | (errors > weight * high)] = 0.0
        own[_POINTS // 2] = 1.0  # also where the grid is coarser than the whole error
        transform *= np.fft.rfft(np.fft.ifftshift(own / own.sum()))
    cutting = (np.abs(errors) <= 0.5).astype(np.float64)
    transform *= np.fft.rfft(np.fft.ifftshift(cutting / cutting.sum())) ** (len(parts) - 1)
    shares = np.fft.fftshift(np.fft.irfft(transform, _POINTS))
    return np.asarray(errors, dtype=np.float64), np.asarray(np.maximum(0.0, shares), dtype=np.float64)


def _wrong_side(errors: Floats, wanted: float, size: int, candidates: int) -> Floats:
    """Return how many values stand on the wrong side where the rank looked for is missed by so much."""
    rank = np.clip(wanted + errors, 0.0, size)
    if 2 * size < candidates:  # hardly ever a value on the chosen candidate: a whole number lies below it
        return np.asarray(np.ceil(np.abs(np.round(rank) - wanted) - 1e-9))
    together = max(1.0, size / candidates)
    first = np.minimum(np.floor(rank / together) * together, size - together)
    return np.ceil(np.maximum(0.0, np.maximum(first - wanted, wanted - first - together)) - 1e-9)


def _read_off(wrong: Floats, shares: Floats) -> tuple[float, float]:
    order = np.argsort(wrong)
    within = np.cumsum(shares[order]) / shares.sum()
    places = (min(int(np.searchsorted(within, share - 1e-9)), wrong.size - 1) for share in (HALF, MOST))
    median, most = (float(wrong[order[place]]) + 0.0 for place in places)
    return median, most
