"""From rows to vectors with an exact size: numbers on an integer grid, levels as one cell of a block each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine import arrays
from engine.methods.shared.blocks import blocks
from engine.methods.shared.bounds import Bounds as Bounds
from engine.methods.shared.bounds import bounds_of as bounds_of
from engine.once import once
from engine.table import coding
from engine.table.schema import Column

Floats = arrays.Floats

_CHUNK = 2**14  # rows at a time: their products stay far below 2^53, so that sums in doubles are exact
_APART = 8  # cells between coordinates: at a power of two they would share places in the cache
_MOST_STEPS = 2**18  # on either side: 2^14 products of two such numbers reach 2^50
_PLAIN = frozenset(("f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1"))


@dataclass(frozen=True)
class Design:
    """What the coordinates of a row are: 1, then every predictor, then the target.

    Parameters
    ----------
    target
        A number with declared bounds, or a column of two declared values: −1 for the first, 1 for the second.
    predictors
        A number with declared bounds is one coordinate between −1 and 1, 0 where it is missing. Any other
        column is a block of coordinates, one for each declared level, for other values and for missing ones,
        of which exactly one is 1.
    """

    target: Column
    predictors: tuple[Column, ...]

    @once
    def widths(self) -> tuple[int, ...]:
        """For each predictor 0 where it is a number, else the number of its cells."""
        return tuple(0 if bounds_of(column) else len(coding.cells(column)) for column in self.predictors)

    @once
    def starts(self) -> tuple[int, ...]:
        """The first coordinate of each predictor."""
        sizes = [1, *(max(width, 1) for width in self.widths)]
        return tuple(int(start) for start in np.cumsum(sizes)[:-1])

    @once
    def size(self) -> int:
        """How many coefficients a linear model has, the intercept included."""
        return 1 + sum(max(width, 1) for width in self.widths)

    def chunks(self, frame: pd.DataFrame, *, per_side: int) -> Iterator[Floats]:
        """Yield the rows as whole numbers from −``per_side`` to ``per_side``, shape (rows, size + 1).

        A row without a target is 0 everywhere: it adds nothing. Doubles, so that products are fast; every
        sum of products is a whole number below 2^53 and therefore exact in any order. What is yielded is
        overwritten by the next rows.
        """
        scales = [_Scale.of(frame, column, per_side) for column in (*self.predictors, self.target)]
        buffer = np.empty((self.size + 1, min(len(frame), _CHUNK) + _APART))  # a coordinate lies in one piece
        for rows in blocks(len(frame), at_most=_CHUNK):
            found = buffer[:, : rows.stop - rows.start]
            found[0] = per_side
            places = zip(self.predictors, self.widths, self.starts, scales[:-1], strict=True)
            for column, width, start, scale in places:
                if scale is not None:
                    scale.steps(rows, found[start])
                else:
                    codes = coding.codes(frame[column.name].iloc[rows], column)
                    found[start : start + width] = 0
                    found[start + codes, np.arange(codes.size)] = per_side
            scale, missing = scales[-1], None
            if scale is not None:
                missing = scale.steps(rows, found[-1])
            else:
                codes = coding.codes(frame[self.target.name].iloc[rows], self.target)
                found[-1], missing = np.where(codes == 1, per_side, -per_side), codes > 1
            if missing is not None:
                found[:, missing] = 0
            yield found.T


@dataclass(frozen=True)
class _Scale:
    """A number of every row, and its way to whole steps: just what `Bounds.scaled` and `to_grid` give.

    Nothing on that way falls where its input rises, so that the bounds go it once and rows are clamped last,
    to what they gave. A power of two per side only shifts exponents and joins the division by half the range.
    """

    column: Column
    values: pd.Series
    plain: npt.NDArray[np.number] | None
    middle: float
    width: float
    ends: tuple[float, float]

    @staticmethod
    def of(frame: pd.DataFrame, column: Column, per_side: int) -> _Scale | None:
        bounds = bounds_of(column)
        if bounds is None:
            return None
        assert per_side & (per_side - 1) == 0 and per_side <= _MOST_STEPS
        values = frame[column.name]
        is_plain = (
            isinstance(values.dtype, np.dtype) and values.dtype.str[1:] in _PLAIN and not column.missing
        )
        ends = np.rint(bounds.scaled(np.array([bounds.low, bounds.high])) * per_side)
        return _Scale(
            column,
            values,
            values.to_numpy() if is_plain else None,
            bounds.middle,
            bounds.half / per_side,
            (float(ends[0]), float(ends[1])),
        )

    def steps(self, rows: slice, out: Floats) -> npt.NDArray[np.bool_] | None:
        """Write the steps of some rows, 0 where a number is missing; return where, None if nowhere."""
        read = self.plain
        part = coding.numbers(self.values.iloc[rows], self.column) if read is None else read[rows]
        with np.errstate(over="ignore"):  # far beyond the bounds: clamped like everything beyond them
            np.subtract(part, self.middle, out=out, dtype=np.float64)
            finite = np.isfinite(out)
            np.divide(out, self.width, out=out)
        np.rint(out, out=out)
        np.clip(out, *self.ends, out=out)
        if finite.all():
            return None
        missing = ~np.isfinite(part)  # of the cell itself: a difference may be too large where it is not
        out[missing] = 0
        return missing
