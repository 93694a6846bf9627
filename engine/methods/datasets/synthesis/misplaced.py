"""How many rows noise puts into a wrong cell: by formula, before anything is spent."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi, sqrt

from engine.methods.protocol import POINTS, Expected
from engine.views import Text


def share_misplaced(cells: Sequence[int], deviations: Sequence[float], rows: float) -> tuple[float, float]:
    """Return the share of rows in a wrong cell, the mean over tables: its median, and what 95 of 100 keep to.

    Parameters
    ----------
    cells
        Of every table.
    deviations
        Standard deviation of the noise of one count, by table.
    rows
        About how many rows there are.

    Returns
    -------
    median, limit
        Total variation distance, 0 to 1.

    Notes
    -----
    Half the sum of |noise| over the cells, divided by the rows: E|Z| = σ √(2/π), Var|Z| = σ² (1 − 2/π), the
    sums as good as normal. Rather too much: counts below zero are mended and tables made to agree afterwards,
    which takes noise away, the more the emptier a table is; and Laplace noise has a smaller E|Z|.

    Examples
    --------
    >>> [round(share, 4) for share in share_misplaced([4, 4], [10.0, 10.0], 1000)]
    [0.016, 0.023]
    """
    each = [size / (2 * rows) for size in cells]
    mean = sum(one * deviation for one, deviation in zip(each, deviations, strict=True)) * sqrt(2 / pi)
    spread = sum(
        (deviation / (2 * rows)) ** 2 * size for size, deviation in zip(cells, deviations, strict=True)
    ) * (1 - 2 / pi)
    mean, limit = mean / len(cells), (mean + 1.645 * sqrt(spread)) / len(cells)
    return min(mean, 1.0), min(limit, 1.0)


def forecast_misplaced(label: Text, shares: tuple[float, float]) -> Expected:
    """Return it as part of a forecast, in percentage points."""
    median, limit = shares
    return Expected(label, "whole", None, 100 * median, 100 * limit, POINTS)
