"""How far released numbers are from the exact ones, and which of them say no more than a guess."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine import arrays

Floats = arrays.Floats

_ROUNDING = 1e-9  # relative: the exact numbers are rounded to doubles


@dataclass(frozen=True)
class Distance:
    """How far released numbers are from the exact ones. Internal: made from private rows.

    Parameters
    ----------
    cells
        How many numbers were compared.
    median, largest
        Of the absolute errors; None where there is nothing to compare.
    within
        How many lie within their stated limit; None where no limit is stated.
    """

    cells: int
    median: float | None
    largest: float | None
    within: int | None

    @property
    def share_within(self) -> float | None:
        """``within`` as a share of ``cells``."""
        return None if self.within is None or not self.cells else self.within / self.cells


def distance(released: Floats, exact: Floats, *, limits: Floats | None = None) -> Distance:
    """Say how far released numbers are from the exact ones.

    Parameters
    ----------
    released, exact
        Shape (cells,), in the units of the number.
    limits
        Stated limit of the absolute error of each cell, shape (cells,).

    Returns
    -------
    Distance
        A number exactly at its limit is within it.

    Notes
    -----
    One draw of the noise on one table. Other draws would give other errors.

    Examples
    --------
    >>> distance(np.array([3.0, 9.0]), np.array([1.0, 10.0]), limits=np.array([1.0, 1.0]))
    Distance(cells=2, median=1.5, largest=2.0, within=1)
    """
    error = np.abs(released - exact)
    within = None
    if limits is not None:
        slack = _ROUNDING * np.maximum(np.abs(limits), np.abs(exact))
        within = int((error <= limits + slack).sum())
    if not error.size:
        return Distance(0, None, None, within)
    return Distance(int(error.size), float(np.median(error)), float(error.max()), within)


def worst_first(released: Floats, exact: Floats, *, most: int) -> npt.NDArray[np.int64]:
    """Return the places of the largest absolute errors, at most ``most``; equal ones in their own order.

    Examples
    --------
    >>> worst_first(np.array([3.0, 9.0, 2.0]), np.array([1.0, 10.0, 0.0]), most=2).tolist()
    [0, 2]
    """
    return np.argsort(-np.abs(released - exact), kind="stable")[:most].astype(np.int64)


def no_better_than_a_guess(
    values: Floats, limits: Floats, *, is_counted: bool = False
) -> npt.NDArray[np.bool_]:
    """Say which released numbers have a 95 % limit that is as large as the number itself, or larger.

    Parameters
    ----------
    values, limits
        Released numbers and their limits, shape (cells,).
    is_counted
        Whether the true numbers cannot be below zero: then a released one below its margin under zero says
        nothing either, as no number within its margin is possible.

    Notes
    -----
    For such a number zero lies inside the margin, so that whoever guesses zero without the release is not
    proved wrong. A number without any error is never one of them.

    Examples
    --------
    >>> no_better_than_a_guess(np.array([3.0, -4.0, 40.0]), np.array([4.0, 4.0, 4.0])).tolist()
    [True, True, False]
    >>> no_better_than_a_guess(np.array([-38.0]), np.array([35.0]), is_counted=True).tolist()
    [True]
    """
    sizes = values if is_counted else np.abs(values)
    return np.asarray((limits >= sizes) & (limits > 0), dtype=np.bool_)
