"""From rows to vectors with an exact size: numbers on an integer grid, levels as one cell of a block each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine import arrays
from engine.privacy.fixed_point import to_grid
from engine.table import coding
from engine.table.schema import Column, Kind

Floats = arrays.Floats

_CHUNK = 2**14  # rows at a time: their products stay far below 2^53, so that sums in doubles are exact
_LARGEST = Fraction(10) ** 300


@dataclass(frozen=True)
class Bounds:
    """Declared bounds of a number, and the way to −1 … 1 and back."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """Half way between the bounds."""
        return self.low + self.half

    @property
    def half(self) -> float:
        """Half of the declared range."""
        return self.high / 2 - self.low / 2

    def scaled(self, numbers: Floats) -> Floats:
        """Return numbers, clamped, between −1 and 1; NaN stays NaN. Each depends on itself alone."""
        inside = np.clip(numbers, self.low, self.high)
        return np.asarray(np.clip((inside - self.middle) / self.half, -1.0, 1.0))


def bounds_of(column: Column) -> Bounds | None:
    """Return the declared bounds of a number; None for anything else, and where they leave no range."""
    domain = column.domain
    if column.kind not in (Kind.INTEGER, Kind.NUMBER) or domain is None:
        return None
    low, high = domain.minimum, domain.maximum
    if not isinstance(low, Fraction) or not isinstance(high, Fraction):
        return None
    if not 1 / _LARGEST < high - low < _LARGEST or max(abs(low), abs(high)) > _LARGEST:
        return None
    found = Bounds(float(low), float(high))
    return found if found.low < found.middle < found.high else None


@dataclass(frozen=True)
class Design:
    """What the coordinates of a row are: 1, then every predictor, then the target.

    Parameters
    ----------
    target
        A number with declared bounds.
    predictors
        A number with declared bounds is one coordinate between −1 and 1, 0 where it is missing. Any other
        column is a block of coordinates, one for each declared level, for other values and for missing ones,
        of which exactly one is 1.
    """

    target: Column
    predictors: tuple[Column, ...]

    @property
    def widths(self) -> tuple[int, ...]:
        """For each predictor 0 where it is a number, else the number of its cells."""
        return tuple(0 if bounds_of(column) else len(coding.cells(column)) for column in self.predictors)

    @property
    def starts(self) -> tuple[int, ...]:
        """The first coordinate of each predictor."""
        sizes = [1, *(max(width, 1) for width in self.widths)]
        return tuple(int(start) for start in np.cumsum(sizes)[:-1])

    @property
    def size(self) -> int:
        """How many coefficients a linear model has, the intercept included."""
        return 1 + sum(max(width, 1) for width in self.widths)

    def chunks(self, frame: pd.DataFrame, *, per_side: int) -> Iterator[Floats]:
        """Yield the rows as whole numbers from −``per_side`` to ``per_side``, shape (rows, size + 1).

        A row without a target is 0 everywhere: it adds nothing. Doubles, so that products are fast; every
        sum of products is a whole number below 2^53 and therefore exact in any order.
        """
        for start in range(0, len(frame), _CHUNK):
            yield self._vectors(frame.iloc[start : start + _CHUNK], per_side)

    def _vectors(self, frame: pd.DataFrame, per_side: int) -> Floats:
        found = np.zeros((len(frame), self.size + 1))
        found[:, 0] = per_side
        for column, width, start in zip(self.predictors, self.widths, self.starts, strict=True):
            if width:
                codes = coding.codes(frame[column.name], column)
                found[np.arange(len(frame)), start + codes] = per_side
            else:
                found[:, start] = _steps(frame, column, per_side)[0]
        found[:, -1], missing = _steps(frame, self.target, per_side)
        found[missing] = 0
        return found


def _steps(frame: pd.DataFrame, column: Column, per_side: int) -> tuple[npt.NDArray[np.int64], np.ndarray]:
    bounds = bounds_of(column)
    assert bounds is not None, "problems() reports numbers without bounds"
    scaled = bounds.scaled(coding.numbers(frame[column.name], column))
    return to_grid(scaled, minimum=-1, maximum=1, step=Fraction(1, per_side))
