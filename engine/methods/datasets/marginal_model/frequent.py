"""Numbers of which single values are frequent: they get cells of their own, found in a table with noise.

Every declared value of such a column is counted once, with noise of its own. Which values stand out of their
interval is decided by these counts; nothing that is made of them has seen a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from engine import arrays
from engine.methods.datasets.marginal_model.fitting import Measured
from engine.methods.shared.cell_search import STEPS, cut_and_joined
from engine.methods.shared.column_cells import NUMBERS, ColumnCells, Intervals, Span, cells_of
from engine.once import once
from engine.table import coding

Codes = arrays.Integers
Floats = arrays.Floats

FEWEST_VALUES, MOST_VALUES = 65, 200_000
"""Declared values from which on a column is searched for frequent ones, and up to which."""
MOST_FREQUENT = 8
"""Values of a column that get cells of their own.

Adult by its bounds alone, ε = 1: pairs off by .0283 with 8, .0285 with 12, and .3147 with none.
"""
TIMES = 2
"""A frequent value has at least so many times the rows that the others of its interval have on average."""


@dataclass(frozen=True)
class FrequentApart(Intervals):
    """Intervals of a number, of which frequent values have cells of their own; then what is missing.

    Parameters
    ----------
    found
        The frequent values: steps, counted from where steps of the column begin.
    is_cut
        Whether the intervals themselves follow from the counts too; see `cell_search`.
    """

    found: tuple[int, ...] = ()
    is_cut: bool = False

    @property
    def size(self) -> int:
        """How many cells there are."""
        return len(self.spans) + 1

    @property
    def most_size(self) -> int:
        """How many there are at most, whatever is found."""
        return self.most_intervals + MOST_FREQUENT + 1

    @property
    def most_intervals(self) -> int:
        """How many intervals there are at most."""
        return len(super().spans) * (2 if self.is_cut else 1)

    @once
    def spans(self) -> tuple[Span, ...]:
        """Every interval without its frequent values, and these after it."""
        spans: list[Span] = []
        for first, last, _ in super().spans:
            own = tuple(step for step in sorted(self.found) if first <= step <= last)
            if last - first + 1 > len(own):
                spans.append((first, last, own))
            spans += [(step, step, ()) for step in own]
        return tuple(spans)

    @property
    def fine(self) -> int:
        """How many cells the table of all values has: the last one is of what is missing."""
        intervals = super().spans
        return intervals[-1][1] - intervals[0][0] + 2

    @property
    def intervals(self) -> Codes:
        """Return the interval of every value, without what was found."""
        widths = [last - first + 1 for first, last, _ in super().spans]
        return np.repeat(np.arange(len(widths)), widths)

    def codes(self, values: pd.Series) -> Codes:
        """Return the cell of every row; looks at no other row."""
        begin = self.spans[0][0]
        cells = np.empty(self.fine, dtype=np.int64)
        cells[-1] = self.size - 1
        for cell, (first, last, _) in enumerate(self.spans):  # a frequent value after its interval
            cells[first - begin : last - begin + 1] = cell
        return np.asarray(cells[self.fine_codes(values)])

    def fine_codes(self, values: pd.Series) -> Codes:
        """Return the cell of every row in the table of all values: the nearest one within the bounds."""
        read = coding.numbers(values, self.column)
        low = float(self.start + self.spans[0][0] * self.step)
        with np.errstate(over="ignore", invalid="ignore"):
            place = np.clip(np.rint((read - low) / float(self.step)), 0, self.fine - 2)
        return np.where(np.isnan(read), self.fine - 1, place).astype(np.int64)

    def with_found(self, table: Measured, *, least: float, rows: int) -> FrequentApart:
        """Return the column with the values that stand out in its noisy table.

        Parameters
        ----------
        table
            Counts of all values with noise.
        least
            Rows that a frequent value has beyond the others of its interval.
        rows
            Roughly how many there are.
        """
        counts = table.counts.ravel()[:-1]
        cut = self._cut(counts, rows=rows, deviation=table.deviation) if self.is_cut else self
        places = frequent(counts, cut.intervals, least=least)
        return replace(cut, found=tuple(self.spans[0][0] + place for place in places))

    def _cut(self, counts: Floats, *, rows: int, deviation: float) -> FrequentApart:
        """Return the column with over-full intervals cut and under-full ones joined."""
        bins, begin = len(super().spans), self.spans[0][0]
        ends = cut_and_joined(counts, bins=bins, rows=rows, deviation=deviation, most=self.most_intervals)
        inner = (self.start + (begin + end) * self.step for end in ends[1:-1])
        return replace(self, edges=(self.edges[0], *inner, self.edges[-1]))


@dataclass(frozen=True)
class Crowded(FrequentApart):
    """Intervals of a number without declared steps, found by one count of equal parts; then what is missing.

    Notes
    -----
    No value has a cell of its own, as there is no end of values.
    """

    @property
    def most_size(self) -> int:
        """How many cells there are at most, whatever is found."""
        return self.most_intervals + 1

    @property
    def fine(self) -> int:
        """How many equal parts are counted, and what is missing."""
        return self._grid.size

    @once
    def _grid(self) -> Intervals:
        found = cells_of(self.column, bins=STEPS)
        assert isinstance(found, Intervals)
        return found

    def codes(self, values: pd.Series) -> Codes:
        """Return the cell of every row; looks at no other row."""
        return Intervals.codes(self, values)

    def fine_codes(self, values: pd.Series) -> Codes:
        """Return the equal part of every row."""
        return self._grid.codes(values)

    def with_found(self, table: Measured, *, least: float, rows: int) -> Crowded:
        """Return the column with over-full intervals cut and under-full ones joined."""
        counts, bins = table.counts.ravel()[:-1], len(self.edges) - 1
        ends = cut_and_joined(
            counts, bins=bins, rows=rows, deviation=table.deviation, most=self.most_intervals
        )
        return replace(self, edges=tuple(self._grid.edges[end] for end in ends))


def as_crowded(cells: ColumnCells) -> ColumnCells:
    """Return a number without declared steps whose intervals are searched for; anything else as it is.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from engine.methods.shared.column_cells import cells_of
    >>> from engine.table.schema import Column, Domain, Kind
    >>> pay = Column("pay", kind=Kind.NUMBER, domain=Domain(minimum=Fraction(0), maximum=Fraction(999)))
    >>> found = as_crowded(cells_of(pay, bins=4))
    >>> found.fine, found.size, found.most_size
    (1025, 5, 9)
    """
    if not isinstance(cells, Intervals) or cells.column.kind not in NUMBERS or cells.has_steps:
        return cells
    return Crowded(cells.column, cells.edges, is_cut=True)


def as_apart(cells: ColumnCells, *, is_cut: bool = False) -> ColumnCells:
    """Return a number whose frequent values are searched for, where its declared values are many.

    Parameters
    ----------
    cells
        By the declaration.
    is_cut
        Whether its intervals follow from the same counts.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from engine.methods.shared.column_cells import cells_of
    >>> from engine.table.schema import Column, Domain, Kind
    >>> pay = Column("pay", kind=Kind.INTEGER, domain=Domain(minimum=Fraction(0), maximum=Fraction(999)))
    >>> found = as_apart(cells_of(pay, bins=4))
    >>> found.fine, found.size, found.most_size
    (1001, 5, 13)
    """
    if not isinstance(cells, Intervals) or cells.column.kind not in NUMBERS or not cells.has_steps:
        return cells
    values = cells.spans[-1][1] - cells.spans[0][0] + 1
    is_searched = FEWEST_VALUES <= values <= MOST_VALUES
    return FrequentApart(cells.column, cells.edges, is_cut=is_cut) if is_searched else cells


def most_sizes(columns: Sequence[ColumnCells]) -> tuple[int, ...]:
    """Return how many cells every column has at most: from declarations alone."""
    return tuple(cells.most_size if isinstance(cells, FrequentApart) else cells.size for cells in columns)


def with_frequent(
    columns: Sequence[ColumnCells], tables: Mapping[int, Measured], least: Mapping[int, float], *, rows: int
) -> tuple[ColumnCells, ...]:
    """Return the columns with their frequent values: of numbers with noise alone.

    Parameters
    ----------
    columns
        Of the model.
    tables
        The table of all values of some of them, by place.
    least
        Rows from which a value stands out there, by place.
    rows
        Roughly how many there are.
    """
    return tuple(
        cells.with_found(tables[place], least=least[place], rows=rows)
        if isinstance(cells, FrequentApart)
        else cells
        for place, cells in enumerate(columns)
    )


def frequent(counts: Floats, intervals: Codes, *, least: float, most: int = MOST_FREQUENT) -> tuple[int, ...]:
    """Return the values that stand out of their interval, at most so many, the clearest first.

    Parameters
    ----------
    counts
        Of every value, with noise.
    intervals
        The interval of every value.
    least
        Rows that a value has beyond the average of the others of its interval.
    most
        How many are returned at most.

    Notes
    -----
    One after the other, so that a frequent value does not hide the next one of the same interval. A value
    alone in its interval is a cell already. Not below `TIMES` the average: where neighbours are frequent too,
    an interval tells nearly as much with fewer cells.

    Examples
    --------
    >>> frequent(np.array([900.0, 9, 7, 300, 5, 4, 6, 8]), np.array([0, 0, 0, 0, 1, 1, 1, 1]), least=100)
    (0, 3)
    """
    found: list[int] = []
    alone = np.zeros(len(counts), dtype=bool)
    for _ in range(most):
        others = np.bincount(intervals, ~alone)[intervals] - 1
        sums = np.bincount(intervals, np.where(alone, 0.0, counts))[intervals] - counts
        mean = np.maximum(sums / np.maximum(others, 1), 0)
        beyond = np.where(alone | (others < 1) | (counts < TIMES * mean), -np.inf, counts - mean)
        place = int(beyond.argmax())
        if beyond[place] <= least:
            break
        found.append(place)
        alone[place] = True
    return tuple(found)
