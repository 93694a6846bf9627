"""How levels add up over many runs of the same mechanism: the best that holds for every mechanism."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

_UP = 1 + 1e-6
"""More than the sums of logarithms are off by."""
_REACH = 40  # standard deviations beyond which a binomial has less than exp(-700)


def excess(each: float, count: int, total: float) -> float:
    """Return a δ that ``count`` runs of (each, 0) together certainly have at the level ``total``.

    Parameters
    ----------
    each
        Privacy level of one run, above 0.
    count
        How many runs, at least 1.
    total
        Level of all together, at least 0.

    Notes
    -----
    Σ over l with (count − 2l)·each > total of C(count, l) · (e^{(count−l)·each} − e^{total + l·each}) /
    (1 + e^{each})^count: P. Kairouz, S. Oh, P. Viswanath, "The composition theorem for differential privacy"
    (2015), theorem 3.3; runs chosen in the light of earlier ones included. Rounded up.

    Examples
    --------
    >>> excess(1.0, 1, 1.0), round(excess(1.0, 1, 0.0), 4)
    (0.0, 0.4621)
    """
    chance = math.exp(-each) / (1 + math.exp(-each))
    spread = _REACH * math.sqrt(count) / 2 + 1
    first = max(0, math.floor(count * chance - spread))
    last = min(count, math.ceil(count * chance + spread), math.floor((count - total / each) / 2) + 1)
    if last < first:
        return 0.0
    places = np.arange(first, last + 1)
    gaps = (count - 2 * places) * each - total
    steps = np.log((count - places[:-1]) / (places[:-1] + 1))
    start = math.lgamma(count + 1) - math.lgamma(first + 1) - math.lgamma(count - first + 1)
    choose = start + np.concatenate([[0.0], np.cumsum(steps)])
    logs = choose - places * each - count * math.log1p(math.exp(-each))
    held = gaps > 0
    found = float((np.exp(logs[held]) * -np.expm1(-gaps[held])).sum())
    return min(1.0, found * _UP + (1e-300 if first else 0.0))


@lru_cache(maxsize=256)
def largest_level(count: int, total: float, slack: float) -> float:
    """Return a level that each of ``count`` runs may have so that all have (total, slack) together.

    Examples
    --------
    >>> largest_level(1, 1.0, 1e-6), 0.015 < largest_level(1000, 1.0, 1e-6) < 0.02
    (1.0, False)
    """
    low, high = total / count, total
    if count == 1 or slack <= 0 or low > 30:  # nothing is gained where one run gives everything away
        return low
    while high > low * (1 + 1e-9):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if excess(middle, count, total) <= slack else (low, middle)
    return low


@lru_cache(maxsize=256)
def level_together(each: float, count: int, slack: float) -> float:
    """Return a level that ``count`` runs of (each, 0) have together with δ = ``slack``; rounded up."""
    low, high = 0.0, count * each
    if slack <= 0 or each > 30:
        return high
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if excess(each, count, middle) <= slack else (middle, high)
    return high
