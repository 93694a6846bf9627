"""What is summed: a value or a yes, on an integer grid, with a weight if declared."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd

from engine.errors import InputRefused
from engine.methods.shared.cells import LEFT_OUT, Cells, Codes
from engine.methods.shared.sensitivity import largest_step
from engine.privacy.fixed_point import LARGEST_SUM, grid_bounds, grouped_sum, tally, to_grid
from engine.table import coding
from engine.table.schema import Column, Kind

WIDEST = 2**36  # steps that one row can add: 2^26 such rows stay below 2^62
_VALUE_DIGITS = 5


@dataclass(frozen=True)
class Grid:
    """A declared numeric column in whole steps: ``low`` … ``high``, each worth ``step``."""

    column: Column
    low: int
    high: int
    step: Fraction

    def steps(self, frame: pd.DataFrame) -> tuple[Codes, np.ndarray]:
        """Return every row in steps and whether it is missing."""
        numbers = coding.numbers(frame[self.column.name], self.column)
        domain = self.column.domain
        assert domain is not None and isinstance(domain.minimum, Fraction)
        assert isinstance(domain.maximum, Fraction)
        return to_grid(numbers, minimum=domain.minimum, maximum=domain.maximum, step=self.step)


def grid_of(column: Column, *, digits: int = _VALUE_DIGITS) -> Grid | None:
    """Return the grid of a column that declares its bounds, None where it does not or they make none.

    An undeclared step is 1 for whole numbers, else the power of ten that makes 10^digits steps or more.
    """
    domain = column.domain
    if domain is None or not isinstance(domain.minimum, Fraction) or not isinstance(domain.maximum, Fraction):
        return None
    whole = Fraction(1) if column.kind is Kind.INTEGER else None
    step = domain.step or whole or largest_step(domain.minimum, domain.maximum, digits=digits)
    try:
        low, high = grid_bounds(minimum=domain.minimum, maximum=domain.maximum, step=step)
    except InputRefused:
        return None
    return Grid(column, low, high, step) if low < high else None


@dataclass(frozen=True)
class Quantity:
    """The value of each row between ``low`` and ``high`` steps, and its weight between 1 and ``heaviest``.

    Parameters
    ----------
    value
        Grid of the column to sum; None for a proportion.
    answer, counted
        For a proportion: the column, and the places of its levels that count.
    weight
        Grid of the weights, if any.
    """

    value: Grid | None = None
    answer: Column | None = None
    counted: frozenset[int] = frozenset()
    weight: Grid | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that it reads."""
        grids = [grid.column for grid in (self.value, self.weight) if grid is not None]
        return tuple(column.name for column in (*grids, self.answer) if column is not None)

    @property
    def low(self) -> int:
        return self.value.low if self.value else 0

    @property
    def high(self) -> int:
        return self.value.high if self.value else 1

    @property
    def step(self) -> Fraction:
        return self.value.step if self.value else Fraction(1)

    @property
    def reach(self) -> int:
        """K: the declared range in steps, which is half the range in half-steps."""
        return self.high - self.low

    @property
    def heaviest(self) -> int:
        """Largest weight in steps of the weight's grid, 1 without weights."""
        return self.weight.high if self.weight else 1

    @property
    def weight_step(self) -> Fraction:
        return self.weight.step if self.weight else Fraction(1)

    def sums(
        self, frame: pd.DataFrame, cells: Cells, often: Codes | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return, by cell, Σ weight · value and Σ weight in whole steps, both exact.

        A row whose value, weight or group is missing adds nothing; ``often`` says how often each one stands
        in the table, where alike ones are told as one.
        """
        codes = cells.codes(frame)
        steps, missing = self._steps(frame)
        weights: Codes | None = None
        if self.weight is not None:
            weights, without = self.weight.steps(frame)
            missing = missing | without
        codes[missing] = LEFT_OUT
        if weights is None:
            counts = tally(codes + 1, cells.size + 1, often)[1:]
            return grouped_sum(_times(steps, often), codes, cells.size), counts
        weighed = _times(steps * weights, often), _times(weights, often)
        return grouped_sum(weighed[0], codes, cells.size), grouped_sum(weighed[1], codes, cells.size)

    def centred(self, sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Return, from `sums`, Σ weight · (value − middle of the range) in whole half-steps, exact."""
        return 2 * sums.astype(object) - (self.low + self.high) * counts.astype(object)

    def _steps(self, frame: pd.DataFrame) -> tuple[Codes, np.ndarray]:
        if self.value is not None:
            return self.value.steps(frame)
        assert self.answer is not None
        found = coding.codes(frame[self.answer.name], self.answer)
        levels = len(coding.levels(self.answer))
        counts = np.zeros(levels + 2, dtype=np.int64)
        counts[list(self.counted)] = 1
        return counts[found], found == levels + 1


def _times(steps: np.ndarray, often: Codes | None) -> np.ndarray:
    """Return steps as often as each stands there; Python's own numbers where the others could overflow."""
    if often is None or not len(steps):
        return steps
    fits = int(np.abs(steps).max()) * int(often.max()) < LARGEST_SUM
    return steps * often if fits else steps.astype(object) * often.astype(object)


def add_exactly(parts: Iterable[np.ndarray]) -> np.ndarray:
    """Return the sum of whole numbers of several pieces, exact: sums that fit each may not fit together.

    Examples
    --------
    >>> add_exactly(np.array([2**61]) for _ in range(8)).tolist() == [2**64]
    True
    """
    found: np.ndarray | None = None
    for part in parts:
        if found is None:
            found = part
            continue
        largest = sum(int(abs(one).max()) if one.size else 0 for one in (found, part))
        kind = np.int64 if largest < LARGEST_SUM else object
        found = found.astype(kind) + part.astype(kind)
    assert found is not None, "a table without rows is a piece, too"
    return found
