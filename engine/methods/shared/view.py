"""What a method gets of a table: answers to what it declared, and rows only where it declared rows.

Whatever holds the rows gives them piece by piece, and every answer is a sum of whole numbers over the pieces,
or the pieces one below the other: the same to the last digit, however the rows are cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from engine import arrays
from engine.methods.protocol import Reads
from engine.methods.shared.blocks import blocks, smallest_type
from engine.methods.shared.cells import LEFT_OUT, Cells, Codes
from engine.methods.shared.column_cells import ColumnCells
from engine.methods.shared.quantity import Grid, Quantity, add_exactly
from engine.privacy.fixed_point import tally
from engine.table.table import Table, Tallied

Part = tuple[int, ...]
"""Places of some axes, increasing."""


class View(Table):
    """A table, fixed as prepared, capped and filtered, that answers no more than was declared.

    Parameters
    ----------
    table
        Its rows.
    allowed
        The most that may be asked of it; in the order of `Reads` everything before it may be asked too.

    Raises
    ------
    PermissionError
        Somebody asks for more.

    Examples
    --------
    >>> view = View(Table(pd.DataFrame({"sex": ["f", "m"]})), Reads.COUNTS)
    >>> view.counts(Cells(())).tolist()
    [2]
    >>> view.rows()
    Traceback (most recent call last):
    PermissionError: counts were declared, not rows
    """

    def __init__(self, table: Table, allowed: Reads) -> None:
        super().__init__(table.heading, source=table.source, options=table.options)
        self.n_rows = table.n_rows
        self._table, self._allowed = table, allowed

    def rows(self) -> pd.DataFrame:
        """Return the private rows, where they were declared."""
        self._allow(Reads.ROWS)
        return self._table.rows()

    def counts(self, cells: Cells, grid: Grid | None = None) -> Codes:
        """Return how many rows each cell holds, shape (cells,); with a grid (cells, steps of the grid).

        With a grid a row whose number is missing is in no cell.
        """
        self._allow(Reads.COUNTS)
        steps = 1 if grid is None else grid.high - grid.low + 1
        found = np.zeros(cells.size * steps, dtype=np.int64)
        for frame, often in self._tallied([*cells.names, *([grid.column.name] if grid else [])]):
            codes = cells.codes(frame)
            if grid is not None:
                values, missing = grid.steps(frame)
                codes = codes * steps + (values - grid.low)
                codes[missing | (codes < 0)] = LEFT_OUT
            found += tally(codes + 1, len(found) + 1, often)[1:]
        return found if grid is None else found.reshape(cells.size, steps)

    def margins(self, cells: Cells, parts: Sequence[Part]) -> list[Codes]:
        """Return the counts over some axes each, of the rows that no axis leaves out."""
        self._allow(Reads.COUNTS)
        sizes = [[cells.shape[place] for place in part] for part in parts]
        found = [np.zeros(int(np.prod(size, dtype=np.int64)), dtype=np.int64) for size in sizes]
        for frame, often in self._tallied(cells.names):
            codes = np.array([axis.codes(frame) for axis in cells.axes])
            inside = (codes != LEFT_OUT).all(axis=0)
            codes, often = codes[:, inside], None if often is None else often[inside]
            for counts, part, size in zip(found, parts, sizes, strict=True):
                place = np.zeros(codes.shape[1], dtype=np.int64)
                for axis, length in zip(part, size, strict=True):
                    place = place * length + codes[axis]
                counts += tally(place, len(counts), often)
        return found

    def sums(self, quantity: Quantity, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
        """Return, by cell, Σ weight · value and Σ weight in whole steps, see `Quantity.sums`."""
        self._allow(Reads.SUMS)
        names = [*cells.names, *quantity.columns]
        parts = [quantity.sums(frame, cells, often) for frame, often in self._tallied(names)]
        return add_exactly(one for one, _ in parts), add_exactly(one for _, one in parts)

    def combinations(self, grids: Sequence[Grid]) -> tuple[list[Codes], Codes]:
        """Return the steps of every combination of numbers that occurs, and how many rows have it."""
        self._allow(Reads.COMBINATIONS)
        lengths = [grid.high - grid.low + 1 for grid in grids]
        places, counts = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        for frame, times in self._tallied([grid.column.name for grid in grids]):
            steps, missing = zip(*(grid.steps(frame) for grid in grids), strict=True)
            inside = ~np.logical_or.reduce(missing)
            flat = np.zeros(int(inside.sum()), dtype=np.int64)
            for grid, own, length in zip(grids, steps, lengths, strict=True):
                flat = flat * length + own[inside] - grid.low
            more, which = np.unique(flat, return_inverse=True)
            often = tally(which, len(more), None if times is None else times[inside])
            places, where = np.unique(np.concatenate([places, more]), return_inverse=True)
            counts = tally(where, len(places), np.concatenate([counts, often]))
        sides: list[Codes] = []
        for length in reversed(lengths):
            places, own = np.divmod(places, length)
            sides.insert(0, own)
        return sides, counts

    def coded(self, name: str, kind: type[np.integer[Any]], of: Callable[[pd.Series], Any]) -> arrays.Whole:
        """Return a whole number of some kind for every row, that follows from its cell of one column."""
        self._allow(Reads.CODED)
        found, start = self._table.room(kind), 0
        for frame in self._pieces([name]):
            for rows in blocks(len(frame)):
                found[start + rows.start : start + rows.stop] = of(frame.iloc[rows][name])
            start += len(frame)
        return found

    def codes(self, columns: Iterable[ColumnCells]) -> list[arrays.Whole]:
        """Return the cell of every row, for each column, as whole numbers of as few bits as it takes."""
        return [self.coded(one.column.name, smallest_type(one.size), one.codes) for one in columns]

    def parts(self, names: Sequence[str]) -> Iterator[View]:
        """Yield some columns a block of rows at a time, as views that answer what this one does."""
        self._allow(Reads.CODED)
        for frame in self._pieces(names):
            for rows in blocks(len(frame)):
                yield View(Table(frame.iloc[rows]), self._allowed)

    def _pieces(self, names: Sequence[str]) -> Iterator[pd.DataFrame]:
        """Give the rows of some columns piece by piece; the only way to them, with `_tallied`."""
        return self._table.pieces(names)

    def _tallied(self, names: Sequence[str]) -> Iterator[Tallied]:
        """Give the rows of some columns piece by piece, each with how often it stands there."""
        return self._table.tallied(names)

    def _allow(self, asked: Reads) -> None:
        order = list(Reads)
        if order.index(asked) > order.index(self._allowed):
            raise PermissionError(f"{self._allowed} were declared, not {asked}")


def view_of(table: Table) -> View:
    """Return the view that a method was given; of a bare table one that answers everything."""
    return table if isinstance(table, View) else View(table, Reads.ROWS)
