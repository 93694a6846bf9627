"""How far a noisy mean goes: the error of a noisy sum over a noisy count, and of a mean noised as a whole.

Everything is in half-steps of the value's grid, measured from the middle of the declared range, so that a
value lies in [−K, K]. Nothing here reads a row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from engine.privacy.accuracy import HALF, MOST, laplace_below, laplace_error, laplace_nodes, laplace_shortfall

Floats = npt.NDArray[np.float64]

POSITIONS = (0.0, 0.5, 1.0)  # of the true mean, from the middle of the declared range to its edge
NODES = 256
_HALVINGS, _CLOSE, _NOTHING = 60, 1e-5, 1e-14  # relative; errors are rounded up
_SUM_MISS, _COUNT_MISS = 0.04, 0.01  # add up to the 5 of 100 that an interval may miss


@dataclass(frozen=True)
class RatioError:
    """Median and 95 % limit of the absolute error for one group size, in half-steps."""

    median: float
    limit: float


@lru_cache(maxsize=1024)
def ratio_errors(
    sum_scale: Fraction, count_scale: Fraction | None, *, reach: int, sizes: tuple[int, ...]
) -> tuple[RatioError, ...]:
    """Return the error of (sum + X) / max(count + Y, 1), clamped to the declared range.

    Parameters
    ----------
    sum_scale
        Scale of the discrete Laplace noise X on the centred sum, in half-steps.
    count_scale
        Scale of the discrete Laplace noise Y on the count; None: the mean itself was noised by X.
    reach
        K, half the declared range in half-steps.
    sizes
        True group sizes; below 1 counts as 1.

    Returns
    -------
    tuple of RatioError, one a size
        For the least favourable of three true means: the middle of the range, half-way to its edge, the edge.

    Notes
    -----
    P(|error| ≤ e) = Σ_y P(Y = y) · P(X in the interval that e leaves it), with the distribution function of X
    in closed form; e is found by bisection. The noisy ratio has no mean, so no expected error is given.

    Examples
    --------
    >>> ratio_errors(Fraction(20), Fraction(2), reach=10, sizes=(5, 100))[1].limit < 1
    True
    """
    if count_scale is None:
        one = RatioError(*(_whole_error(sum_scale, share, reach) for share in (HALF, MOST)))
        return (one,) * len(sizes)
    size = np.maximum(np.asarray(sizes, dtype=np.float64), 1.0)[:, None, None]
    draws, chance = laplace_nodes(count_scale, most=NODES)
    count = np.maximum(size + draws, 1.0)
    mean = reach * np.asarray(POSITIONS)[:, None]

    def share_within(error: Floats) -> Floats:
        above, below = mean + error, mean - error
        upper = np.where(above >= reach, 1.0, laplace_below(sum_scale, above * count - size * mean))
        smallest = np.ceil(below * count - size * mean) - 1
        lower = np.where(below <= -reach, 0.0, laplace_below(sum_scale, smallest))
        return np.asarray((upper - lower) @ chance)[..., None]

    return tuple(
        RatioError(float(half), float(most))
        for half, most in _smallest(share_within, reach, len(sizes)).max(axis=2)[:, :, 0].T
    )


def _whole_error(scale: Fraction, share: float, reach: int) -> float:
    """Return the error of a mean noised as a whole and clamped, for the worst of the three positions.

    In the middle both sides stop at K. Half-way to the edge one side stops at K/2, so that beyond K/2 only
    the other counts; at the edge only one side ever counts.
    """
    both, one = laplace_error(scale, share=share), laplace_shortfall(scale, share=share)
    half_way = float(both) if both < reach / 2 else min(max(reach / 2, one), 1.5 * reach)
    return max(min(both, reach), half_way, min(one, 2 * reach))


def _smallest(share_within: Callable[[Floats], Floats], reach: int, sizes: int) -> Floats:
    """Bisect for the errors that HALF and MOST of the draws stay within: (2, sizes, positions, 1)."""
    wanted = np.array([HALF, MOST])[:, None, None, None]
    high = np.full((2, sizes, len(POSITIONS), 1), 2.0 * reach)
    low = np.zeros_like(high)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        enough = share_within(middle) >= wanted
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        if np.all(high - low <= _CLOSE * high):
            break
    return np.where(high < _NOTHING * reach, 0.0, high)


def ratio_interval(
    sums: Floats, counts: Floats, *, sum_scale: Fraction, count_scale: Fraction, reach: int
) -> tuple[Floats, Floats]:
    """Return limits between which the true mean of each non-empty group lies in 95 of 100 releases.

    Parameters
    ----------
    sums, counts
        Noisy centred sums and noisy counts, shape (cells,).

    Notes
    -----
    The sum is within its 96 % limit and the count within its 99 % limit in at least 95 of 100 releases
    (union bound); the limits are the smallest and largest ratio that both allow, inside the declared range.
    Computed from released numbers and declared scales, and valid whatever the table holds.
    """
    sum_limit = laplace_error(sum_scale, share=1 - _SUM_MISS)
    count_limit = laplace_error(count_scale, share=1 - _COUNT_MISS)
    fewest, most = np.maximum(counts - count_limit, 1.0), counts + count_limit
    smallest, largest = sums - sum_limit, sums + sum_limit
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(smallest < 0, smallest / fewest, smallest / np.maximum(most, 1.0))
        high = np.where(largest > 0, largest / fewest, largest / np.maximum(most, 1.0))
    empty = most < 1
    low, high = np.where(empty, -reach, low), np.where(empty, reach, high)
    return np.clip(low, -reach, reach), np.clip(high, -reach, reach)
