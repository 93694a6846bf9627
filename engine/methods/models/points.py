"""Rows as whole numbers, kept small in memory: numbers on a grid, the cells of levels as their places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine import arrays
from engine.methods.models.design import bounds_of
from engine.methods.models.residuals import on_grid
from engine.methods.shared.blocks import blocks, smallest_type
from engine.methods.shared.view import view_of
from engine.privacy.fixed_point import to_grid
from engine.table import coding
from engine.table.schema import Column
from engine.table.table import Table

Floats = arrays.Floats
Integers = arrays.Integers

PER_SIDE = 1 << 10
"""Steps of a number on either side of the middle."""
WIDEST_WEIGHT = 2.0**8
_CHUNK = 2**14  # rows at a time: products stay below 2^53, so that sums in doubles are exact in any order


@dataclass(frozen=True)
class Points:
    """The coordinates of rows: 1, then every predictor.

    Parameters
    ----------
    numbers
        In steps of 1/1024 between −1 and 1, 0 where missing, shape (n, numbers).
    cells
        For every predictor with levels the cell of each row, shape (n,).
    widths
        For every predictor 0 where it is a number, else how many cells it has.
    """

    numbers: npt.NDArray[np.int16] | Floats
    cells: tuple[arrays.Whole, ...]
    widths: tuple[int, ...]

    @classmethod
    def of(cls, table: Table, predictors: Sequence[Column], known: arrays.Bools | None = None) -> Points:
        """Return the coordinates of rows; a number without bounds is read by its declared levels.

        Parameters
        ----------
        table, predictors
            A table, and those of its columns that are read.
        known
            Which rows, shape (n,); all of them where nothing is said.
        """
        view, which = view_of(table), slice(None) if known is None else known
        widths = tuple(0 if bounds_of(column) else len(coding.cells(column)) for column in predictors)
        count = table.n_rows if known is None else int(known.sum())
        numbers, cells = np.empty((count, widths.count(0)), dtype=np.int16), []
        place = 0
        for column, width in zip(predictors, widths, strict=True):
            if width:
                cells.append(
                    view.coded(column.name, smallest_type(width), partial(coding.codes, column=column))[which]
                )
            else:
                numbers[:, place] = view.coded(column.name, np.int16, partial(_steps, column=column))[which]
                place += 1
        return cls(numbers, tuple(cells), widths)

    def where(self, known: arrays.Bools | slice) -> Points:
        """Return some of the rows."""
        return Points(self.numbers[known], tuple(own[known] for own in self.cells), self.widths)

    def parts(self) -> Iterator[tuple[slice, Points]]:
        """Yield the rows a block at a time, with their places; numbers in doubles, so that sums are fast."""
        for rows in blocks(len(self), at_most=_CHUNK):
            numbers = self.numbers[rows].astype(np.float64)
            yield rows, Points(numbers, tuple(own[rows] for own in self.cells), self.widths)

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def size(self) -> int:
        """How many coordinates there are, the 1 included."""
        return 1 + sum(max(width, 1) for width in self.widths)

    def scores(self, weights: Floats) -> Integers:
        """Return the scores of rows in steps of 2^-12, from weights rounded to 2^-12 and kept within ± 2^8.

        Notes
        -----
        Products are below 2^31 and their sums below 2^53: exact in doubles, whatever the order.
        """
        steps = on_grid(weights, widest=WIDEST_WEIGHT)
        by_number, by_cell = self._parted(steps)
        found = np.full(len(self), int(steps[0]) * PER_SIDE, dtype=np.int64)
        for rows in blocks(len(self), at_most=_CHUNK):
            chunk = self.numbers[rows].astype(np.float64, copy=False)
            found[rows] += (chunk @ by_number.astype(np.float64)).astype(np.int64)
        for own, given in zip(self.cells, by_cell, strict=True):
            found += (given * PER_SIDE).take(own)
        return found >> (PER_SIDE.bit_length() - 1)

    def sums(self, left: arrays.Whole) -> Integers:
        """Return Σ x · left over rows for every coordinate, in steps of 1/1024 of those of ``left``.

        ``left`` are whole numbers of at most 2^15: products stay below 2^25, sums of a chunk below 2^39.
        """
        plain = left.astype(np.float64)
        total = np.zeros(self.numbers.shape[1], dtype=np.int64)
        for rows in blocks(len(self), at_most=_CHUNK):
            chunk = self.numbers[rows].astype(np.float64, copy=False)
            total += (chunk.T @ plain[rows]).astype(np.int64)
        by_cell = [
            np.bincount(own, weights=plain, minlength=width).astype(np.int64) * PER_SIDE
            for own, width in zip(self.cells, self._cell_widths, strict=True)
        ]
        return self._whole(int(left.sum()) * PER_SIDE, total, by_cell)

    def dense(self) -> Iterator[Floats]:
        """Yield the rows as whole numbers from −1024 to 1024, shape (rows, size), for sums of products."""
        starts = np.cumsum([1, *(max(width, 1) for width in self.widths)])[:-1]
        for rows in blocks(len(self), at_most=_CHUNK):
            found = np.zeros((len(self.numbers[rows]), self.size))
            found[:, 0] = PER_SIDE
            number, cell = 0, 0
            for start, width in zip(starts, self.widths, strict=True):
                if width:
                    found[np.arange(len(found)), start + self.cells[cell][rows]] = PER_SIDE
                    cell += 1
                else:
                    found[:, start] = self.numbers[rows, number]
                    number += 1
            yield found

    @property
    def _cell_widths(self) -> list[int]:
        return [width for width in self.widths if width]

    def _parted(self, steps: Integers) -> tuple[Integers, list[Integers]]:
        """Return the weights of numbers, and those of the cells of every other predictor."""
        parts = np.split(steps[1:], np.cumsum([max(width, 1) for width in self.widths])[:-1])
        pairs = list(zip(parts, self.widths, strict=True))
        numbers = [part for part, width in pairs if not width]
        return np.concatenate([np.zeros(0, np.int64), *numbers]), [part for part, width in pairs if width]

    def _whole(self, first: int, numbers: Integers, by_cell: list[Integers]) -> Integers:
        """Return sums by coordinate in the order of the predictors."""
        own, rest = iter(by_cell), iter(numbers)
        parts = [next(own) if width else np.array([next(rest)]) for width in self.widths]
        return np.concatenate([np.array([first]), *parts]).astype(np.int64)


def _steps(values: pd.Series, column: Column) -> Integers:
    """Return numbers in steps of 1/1024 of half their range, 0 where one is missing."""
    bound = bounds_of(column)
    assert bound is not None
    scaled = bound.scaled(coding.numbers(values, column))
    return to_grid(scaled, minimum=-1, maximum=1, step=Fraction(1, PER_SIDE))[0]
