"""A question of a visit, and the level that it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from engine.errors import InputRefused
from engine.methods.budget import LARGEST, SMALLEST
from engine.methods.services.desk import Answer
from engine.methods.services.questions import Question
from engine.methods.shared.cells import Cells, Extra, LevelAxis
from engine.privacy.accuracy import MOST, laplace_error
from engine.table.schema import Schema

ID = "services.private_queries"
FINEST = 10**6
"""Levels that follow from a margin are whole millionths."""


@dataclass(frozen=True)
class Asked:
    """A question of a visit with what it costs: nothing where it was answered before."""

    question: Question
    where: str
    epsilon: Fraction
    known: Answer | None
    margin: int | None = None

    @cached_property
    def cells(self) -> Cells:
        """What is counted: one cell, or those of a column."""
        return cells_of(self.question.schema, self.question.by)

    def count(self, rows: pd.DataFrame) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return the exact counts. A row is in at most one cell, by its own values alone."""
        codes = self.cells.codes(rows)
        codes[~self.question.mask(rows)] = -1
        return self.cells.count(codes)


def cells_of(schema: Schema, by: str | None) -> Cells:
    """Return the cells that are counted: one, or those of a column."""
    return Cells(() if by is None else (LevelAxis(schema.column(by), Extra.SEPARATE),))


def level_of(record: Mapping[str, Any], moved: int) -> Fraction:
    """Return the level that a new question asks for.

    Raises
    ------
    InputRefused
        ``services.private_queries.level_or_margin``, ``budget.out_of_range``.
    """
    epsilon, margin = record["epsilon"], record["margin"]
    if (epsilon is None) == (margin is None):
        raise InputRefused(f"{ID}.level_or_margin")
    found = level_for(margin, moved) if epsilon is None else Fraction(epsilon)
    if found > LARGEST:
        raise InputRefused("budget.out_of_range", minimum=SMALLEST, maximum=LARGEST)
    return found


def level_for(margin: int, moved: int) -> Fraction:
    """Return the smallest level at which 95 of 100 answers are within a margin, in whole millionths.

    Parameters
    ----------
    margin
        Largest error, in rows, at least 1.
    moved
        How many rows differ between neighbouring tables.

    Examples
    --------
    >>> level_for(10, 1), level_for(20, 2)
    (Fraction(284349, 1000000), Fraction(292007, 1000000))
    """

    def is_enough(millionths: int) -> bool:
        return laplace_error(Fraction(moved * FINEST, millionths), share=MOST) <= margin

    low, high = 0, 1
    while not is_enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return max(Fraction(high, FINEST), SMALLEST)
