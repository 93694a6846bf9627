"""Cells of numbers that follow where rows crowd: by one noisy count of a fine declared grid.

The intervals that bounds are cut into anyway are cut further where they are certainly over-full, and joined
where they are certainly under-full. What is certain is said by the noise of the counts, so that where little
is known the intervals stay as they are declared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import ceil, sqrt
from typing import Any

import numpy as np

from engine import arrays
from engine.methods import option
from engine.methods.budget import is_replace_one
from engine.methods.protocol import Budget, Request
from engine.methods.shared.column_cells import BINS, NUMBERS, OWN_EDGES, ColumnCells, Intervals, cells_of
from engine.methods.shared.division import Division, Query
from engine.methods.shared.view import view_of
from engine.privacy.noise import Noise
from engine.table.table import Table
from engine.views import Text

Floats = arrays.Floats

SEARCHED, EQUAL = "searched", "equal"
CELLS = option.choice(SEARCHED, EQUAL, name="cells", default=SEARCHED)
SEARCH = "cells"
SEARCH_SHARE = 0.02
"""Of the budget for the fine counts of all columns together; between 1 and 5 % there is no difference."""
MOST_VALUES, STEPS = 4_096, 1_024
"""Declared values up to which the fine grid has one each; else it has so many equal steps."""
FEW_VALUES = 64
"""Declared values of a whole number up to which each may have a cell."""
CERTAIN = 1.5
"""Standard deviations of the noise beyond which a cell is certainly over- or under-full."""
FULL, SPARSE = 16, 48
"""A cell is cut while it has more than 1/16 of the rows, and joined while it has less than 1/48."""
MOST_CELLS = 200
LEAST_FOUND = 0.25
"""A column is searched where a declared interval with this share of the rows would certainly be cut."""


def fine_of(cells: ColumnCells, own: Mapping[str, Any]) -> Intervals | None:
    """Return the fine grid of a number; None where it has none, or is not finer.

    Parameters
    ----------
    cells
        As declared.
    own
        Edges that were named, by column: these stay.
    """
    column = cells.column
    if not isinstance(cells, Intervals) or column.kind not in NUMBERS or column.name in own:
        return None
    has_few = cells.has_steps and cells.spans[-1][1] - cells.spans[0][0] < MOST_VALUES
    found = cells_of(column, bins=MOST_VALUES if has_few else STEPS)
    assert isinstance(found, Intervals)
    return found if found.size > cells.size else None


def each_value(cells: ColumnCells) -> ColumnCells:
    """Return a whole number of few declared values with a cell for each; anything else as it is."""
    if not isinstance(cells, Intervals) or cells.column.kind not in NUMBERS or not cells.has_steps:
        return cells
    has_few = cells.spans[-1][1] - cells.spans[0][0] < FEW_VALUES
    return cells_of(cells.column, bins=FEW_VALUES) if has_few else cells


Grids = Mapping[int, Intervals]
"""The fine grid of every column whose cells are searched, by its place."""


def searched(request: Request, cells: Sequence[ColumnCells], *, budget: Budget, rows: int | None) -> Grids:
    """Return the fine grids of the columns whose cells are searched: from declarations alone.

    Parameters
    ----------
    cells
        Of every column, as declared.
    budget
        Of the fit: in a small one nothing would be certain, and nothing is searched.
    rows
        Roughly how many there are; nothing is searched where that is not said.
    """
    if request.values[CELLS.name] != SEARCHED or rows is None:
        return {}
    whole = Division((), budget.epsilon, budget.delta, is_replace_one(request))
    level = whole.level / (request.rows_per_person * (2 if whole.replace_one else 1))
    own = request.values[OWN_EDGES.name] or {}
    fine = {place: grid for place, one in enumerate(cells) if (grid := fine_of(one, own)) is not None}
    for _ in range(2):  # fewer columns have less noise: once more with those that were worth it
        kept = {}
        for place, grid in fine.items():
            width = ceil((grid.size - 1) / request.values[BINS.name])
            if certainly_shows(
                len(fine), SEARCH_SHARE, level, gaussian=whole.is_gaussian, rows=rows, width=width
            ):
                kept[place] = grid
        if not kept:
            return {}
        fine = kept
    return fine


def certainly_shows(
    columns: int, share: float, level: float, *, gaussian: bool, rows: float, width: int
) -> bool:
    """Whether a declared interval with a quarter of the rows would certainly be cut.

    Parameters
    ----------
    columns, share
        How many are counted by their fine cells, and with what part of the budget.
    level
        Of the budget, for a row that comes or goes.
    gaussian
        Of which kind the noise is.
    rows
        Roughly how many there are.
    width
        Fine cells of the interval.
    """
    deviation = _deviation(columns, share, level, gaussian)
    return rows * (LEAST_FOUND - 1 / FULL) > CERTAIN * deviation * sqrt(width)


def count_cells(table: Table, grids: Grids) -> arrays.Integers:
    """Return how many rows every cell of every fine grid holds, one grid after the other."""
    found = [np.zeros(grid.size, dtype=np.int64) for grid in grids.values()]
    for part in view_of(table).parts([grid.column.name for grid in grids.values()]):
        for counts, codes in zip(found, part.codes(grids.values()), strict=True):
            counts += np.bincount(codes, minlength=len(counts))
    return np.concatenate(found)


def search_notes(grids: Grids) -> tuple[Text, ...]:
    """Say which columns are searched, and what part of the budget that takes."""
    if not grids:
        return ()
    names = ", ".join(grid.column.name for grid in grids.values())
    told = {"columns": names, "percent": round(100 * SEARCH_SHARE)}
    return (Text("statistics.notes.cells_searched", told),)


def _deviation(columns: int, share: float, level: float, gaussian: bool) -> float:
    if gaussian:
        return sqrt(columns / share) / level
    return sqrt(2) * columns / (share * level)


def search_query(columns: int, *, rows: int, replace_one: bool) -> Query:
    """Return how far a person's rows move the fine counts: a row is in one cell of every column."""
    times = 2 if replace_one else 1
    return Query(SEARCH, times * rows * columns, times * rows**2 * columns, SEARCH_SHARE)


def search_cells(
    table: Table,
    cells: Sequence[ColumnCells],
    grids: Grids,
    division: Division,
    noise: Noise,
    *,
    rows: int | None,
    bins: int,
) -> tuple[ColumnCells, ...]:
    """Return the columns with the cells that one noisy count of their fine grids leads to.

    Parameters
    ----------
    cells, grids
        As declared; see `searched`.
    division
        It has the `search_query`.
    rows, bins
        See `with_edges`.
    """
    if not grids:
        return tuple(cells)
    assert rows is not None, "nothing is searched where rows are not said"
    noisy = division.noisy(SEARCH, count_cells(table, grids), noise)
    return with_edges(cells, grids, noisy, rows=rows, deviation=division.deviation(SEARCH), bins=bins)


def with_edges(
    cells: Sequence[ColumnCells],
    grids: Grids,
    noisy: arrays.Integers,
    *,
    rows: int,
    deviation: float,
    bins: int,
) -> tuple[ColumnCells, ...]:
    """Return the columns with the cells that noisy counts of their fine grids lead to.

    Parameters
    ----------
    cells
        As declared.
    grids
        The fine grid of every column that is searched, by place.
    noisy
        Of all grids, one after the other.
    rows, deviation
        Roughly how many rows there are; of the noise of one count.
    bins
        Intervals to begin with.
    """
    found, start = list(cells), 0
    for place, grid in grids.items():
        counts = noisy[start : start + grid.size - 1].astype(np.float64)
        start += grid.size
        cuts = cut_and_joined(counts, bins=bins, rows=rows, deviation=deviation)
        found[place] = replace(grid, edges=tuple(grid.edges[cut] for cut in cuts))
    return tuple(found)


def cut_and_joined(
    counts: Floats, *, bins: int, rows: float, deviation: float, most: int = MOST_CELLS
) -> tuple[int, ...]:
    """Return where cells begin and end in a fine grid, rising from 0 to its size.

    Notes
    -----
    A cell of w fine ones with the noisy count m is cut in two while m − 1.5 σ √w is more than 1/16 of the
    rows, the fullest first; then neighbours are joined while m + 1.5 σ √w is less than 1/48 of them. Both
    bounds are of the noise, so that noise alone seldom decides.

    Examples
    --------
    >>> crowd = np.array([900.0] + [0.0] * 31)
    >>> cut_and_joined(crowd, bins=4, rows=900, deviation=1.0)
    (0, 1, 32)
    >>> cut_and_joined(crowd, bins=4, rows=900, deviation=1e4)
    (0, 8, 16, 24, 32)
    """
    size = len(counts)
    below = np.concatenate([[0.0], np.cumsum(counts)])
    width = max(1, ceil(size / bins))
    ends = [*range(0, size, width), size]

    def bound(first: int, last: int, sign: int) -> float:
        return float(below[last] - below[first]) + sign * CERTAIN * deviation * sqrt(last - first)

    while len(ends) <= most:
        full = [(bound(first, last, -1), first, last) for first, last in pairwise(ends) if last - first > 1]
        worst = max(full, default=(0.0, 0, 0))
        if worst[0] <= rows / FULL:
            break
        ends = sorted([*ends, (worst[1] + worst[2]) // 2])
    kept = [0]
    for middle, last in pairwise(ends[1:]):
        if bound(kept[-1], last, 1) >= rows / SPARSE:
            kept.append(middle)
    return (*kept, size)
