"""Declared bounds of numbers, and the way to −1 … 1 and back."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from engine import arrays
from engine.table.schema import Column, Kind

Floats = arrays.Floats

_LARGEST = Fraction(10) ** 300
_SMALLEST = 1 / _LARGEST


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
    if not _SMALLEST < high - low < _LARGEST or max(abs(low), abs(high)) > _LARGEST:
        return None
    found = Bounds(float(low), float(high))
    return found if found.low < found.middle < found.high else None


def checked_bounds(column: Column) -> Bounds:
    """Return the declared bounds of a number; a method asks after its problems were looked at."""
    found = bounds_of(column)
    assert found is not None, "problems() reports numbers without bounds"
    return found
