"""Sums with an exact sensitivity: every record is clamped and put on a declared integer grid.

The order of the records, the size of the sum and what the other records hold cannot change what one record
adds, because nothing but integers is ever added.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from engine import arrays
from engine.errors import InputRefused
from engine.privacy.trials import exact

Integers = arrays.Integers
FINEST = 1 << 52  # no bound may lie further than this many steps from zero
LARGEST_SUM = 1 << 62


def grid_bounds(*, minimum: Fraction | int, maximum: Fraction | int, step: Fraction | int) -> tuple[int, int]:
    """Return the declared bounds in whole steps of the grid: the bounds inside [minimum, maximum].

    Parameters
    ----------
    minimum, maximum
        Declared bounds, exact, minimum below maximum.
    step
        Declared value of one step, exact, above 0.

    Returns
    -------
    low, high
        ⌈minimum / step⌉ and ⌊maximum / step⌋. A record adds at most max(|low|, |high|) steps to a sum, which
        is the sensitivity where one record is added or removed.

    Raises
    ------
    InputRefused
        ``noise.bounds``: not exact numbers, or the minimum is not below the maximum.
        ``noise.step``: not above 0, coarser than the range, or a bound is 2^52 steps or more from zero.

    Examples
    --------
    >>> grid_bounds(minimum=0, maximum=14, step=Fraction(1, 2))
    (0, 28)
    """
    try:
        lower, upper, width = exact(minimum), exact(maximum), exact(step)
    except InputRefused as error:
        raise InputRefused("noise.bounds") from error
    if lower >= upper:
        raise InputRefused("noise.bounds")
    if width <= 0:
        raise InputRefused("noise.step")
    low, high = -((-lower) // width), upper // width
    if low > high or max(abs(low), abs(high)) >= FINEST or not Fraction(1, 1 << 900) < width < 1 << 900:
        raise InputRefused("noise.step")
    return low, high


def to_grid(
    values: Iterable[Any],
    *,
    minimum: Fraction | int,
    maximum: Fraction | int,
    step: Fraction | int,
    missing_value: Fraction | int | None = None,
) -> tuple[Integers, npt.NDArray[np.bool_]]:
    """Return each record in whole steps of a declared grid.

    Parameters
    ----------
    values
        Numbers, shape (n,): integers, floats, exact numbers, or objects among which None and NA are missing.
    minimum, maximum, step
        The declared grid, see `grid_bounds`.
    missing_value
        Declared value that stands in for what is missing, clamped like the others; None: it adds 0.

    Returns
    -------
    grid
        int64, shape (n,): whole steps, between the two `grid_bounds`, 0 or the stand-in where missing.
    missing
        bool, shape (n,): NaN, ±infinity, None, NA and whatever is not a number.

    Raises
    ------
    InputRefused
        ``noise.bounds``, ``noise.step``: on the declaration only, never because of a record.

    Notes
    -----
    Each record goes its own way: x → float64 → clamp → x / step → nearest whole number (ties to even) →
    clamp. Each of these is a function of the record alone and never falls where x rises. Integers go
    through float64 as well, on purpose: a reader keeps a column as integers only while no cell is missing,
    and one person's missing cell must not change how the others are rounded. A value is therefore known to
    53 bits (2^53 + 1 counts as 2^53), and one within a rounding of the middle between two steps may go
    either way.

    Fixed point answers the attacks of S. Casacuberta et al., "Widespread underestimation of sensitivity in
    differentially private libraries and how to fix it", ACM CCS 2022.

    Examples
    --------
    >>> grid, missing = to_grid([0.25, 99.0, float("nan")], minimum=0, maximum=14, step=Fraction(1, 4))
    >>> grid.tolist(), missing.tolist()
    ([1, 56, 0], [False, False, True])
    """
    low, high = grid_bounds(minimum=minimum, maximum=maximum, step=step)
    width = float(exact(step))
    floats = _as_floats(values)
    missing = ~np.isfinite(floats)
    # Bounds in floats may be off by a rounding; the last clip, in integers, is what holds
    clamped = np.clip(np.where(missing, 0.0, floats), float(exact(minimum)), float(exact(maximum)))
    grid = np.clip(np.rint(clamped / width).astype(np.int64), low, high)
    grid[missing] = 0 if missing_value is None else _stand_in(missing_value, exact(step), low, high)
    return grid, missing


def grouped_sum(grid: Integers, codes: npt.NDArray[np.integer], n_groups: int) -> npt.NDArray[Any]:
    """Add up the whole steps of each group, exactly.

    Parameters
    ----------
    grid
        Whole steps of each record, shape (n,).
    codes
        Group of each record, 0 … n_groups − 1, shape (n,); a negative code is in no group.
    n_groups
        How many groups were declared; groups without a record get 0.

    Returns
    -------
    ndarray, shape (n_groups,)
        int64 where n · max |grid| < 2^62 proves that nothing can overflow, Python integers (dtype object)
        otherwise. Multiply by the step, as a fraction, after the noise: the division comes last.

    Examples
    --------
    >>> grouped_sum(np.array([3, 4, 5]), np.array([0, 2, 0]), 3).tolist()
    [8, 0, 4]
    """
    grid, codes = np.asarray(grid), np.asarray(codes)
    if grid.shape != codes.shape or grid.ndim != 1:
        raise ValueError("one group for each record")
    inside = codes >= 0
    if not inside.all():
        grid, codes = grid[inside], codes[inside]
    if codes.size and int(codes.max()) >= n_groups:
        raise ValueError("a group that was not declared")
    largest = max(abs(int(grid.min())), abs(int(grid.max()))) if grid.size else 0
    kind: type = np.int64 if grid.size * largest < LARGEST_SUM else object
    sums: npt.NDArray[Any] = np.zeros(n_groups, dtype=kind)
    np.add.at(sums, codes, grid.astype(kind))
    return sums


def tally(places: Integers, size: int, often: Integers | None = None) -> Integers:
    """Return how many rows are at each place, shape (size,); ``often`` says how many each one stands for.

    Examples
    --------
    >>> tally(np.array([0, 2, 0]), 3).tolist(), tally(np.array([0, 2, 0]), 3, np.array([1, 5, 7])).tolist()
    ([2, 0, 1], [8, 0, 5])
    """
    if often is None:
        return np.bincount(places, minlength=size)
    found = np.zeros(size, dtype=np.int64)
    np.add.at(found, places, often)
    return found


def _stand_in(value: Fraction | int, step: Fraction, low: int, high: int) -> int:
    try:
        return min(max(round(exact(value) / step), low), high)
    except InputRefused as error:
        raise InputRefused("noise.bounds") from error


def _as_floats(values: Iterable[Any]) -> npt.NDArray[np.float64]:
    """Return the records as doubles, NaN where there is no number."""
    array = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    return np.fromiter((_one_float(value) for value in array.tolist()), dtype=np.float64, count=array.size)


def _one_float(value: Any) -> float:
    if isinstance(value, str | bytes):
        return float("nan")
    try:
        return float(value)
    except OverflowError:  # a whole number beyond the doubles is clamped like any other large one
        return 1e308 if value > 0 else -1e308
    except (TypeError, ValueError):  # None, NA, dates
        return float("nan")
