"""Rows as whole numbers, and the sums of groups of them: exact, whatever the order of the rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine import arrays
from engine.methods.shared.bounds import bounds_of
from engine.methods.shared.grid_centres import PER_SIDE
from engine.privacy.fixed_point import to_grid
from engine.table import coding
from engine.table.schema import Column

Integers = arrays.Integers

_CHUNK = 2**14  # rows at a time: sums of products stay below 2^53, so that doubles are exact


@dataclass(frozen=True)
class Rows:
    """Rows in whole steps.

    Parameters
    ----------
    steps
        Numbers in steps of 1/1024 of half a declared range, 0 where missing, shape (n, columns).
    missing
        Which are, shape (n, columns).
    classes
        The class of every row, shape (n,).
    """

    steps: Integers
    missing: npt.NDArray[np.bool_]
    classes: Integers

    @classmethod
    def of(cls, frame: pd.DataFrame, columns: Sequence[Column], label: Column | None) -> Rows:
        """Read rows; each depends on itself alone."""
        found = [_steps(frame[one.name], one) for one in columns]
        classes = np.zeros(len(frame), dtype=np.int64) if label is None else _codes(frame, label)
        steps, missing = (np.stack(part, axis=1) for part in zip(*found, strict=True))
        return cls(steps, missing, classes)

    def chunks(self) -> Iterator[Rows]:
        """Return the rows, some at a time."""
        for start in range(0, len(self.steps), _CHUNK):
            part = slice(start, start + _CHUNK)
            yield Rows(self.steps[part], self.missing[part], self.classes[part])


def group_sums(rows: Rows, columns: tuple[int, ...], centres: Integers, *, classes: int) -> Integers:
    """Return the sums of every group of every class for one set of columns.

    Parameters
    ----------
    rows
        As read.
    columns
        Places of the set.
    centres
        In whole steps, shape (groups, columns of the set); a row is in the group of the nearest.
    classes
        How many there are.

    Returns
    -------
    int64, shape (classes · groups, 1 + 2 q + q (q + 1) / 2)
        For q columns: rows, missing ones of every column, sums, and products of the upper triangle, all in
        steps of 1/1024². A missing number is in the middle of its range when the group is looked for.
    """
    q, cells = len(columns), classes * len(centres)
    found = np.zeros((cells, 1 + 2 * q + q * (q + 1) // 2), dtype=np.int64)
    first, second = np.triu_indices(q)
    for chunk in rows.chunks():
        steps = chunk.steps[:, columns]
        cell = chunk.classes * len(centres) + nearest(steps, centres)
        whole = np.full((len(steps), 1), PER_SIDE**2)
        missing = chunk.missing[:, columns] * PER_SIDE**2
        added = np.hstack([whole, missing, steps * PER_SIDE, steps[:, first] * steps[:, second]])
        for place, one in enumerate(added.T.astype(np.float64)):
            found[:, place] += np.bincount(cell, weights=one, minlength=cells).astype(np.int64)
    return found


def grid_counts(rows: Rows, columns: tuple[int, ...], *, per_side: int) -> Integers:
    """Return how many rows are in every cell of a grid over the columns of a set."""
    found = np.zeros(per_side ** len(columns), dtype=np.int64)
    for chunk in rows.chunks():
        steps = chunk.steps[:, columns] + PER_SIDE
        places = np.minimum(steps * per_side // (2 * PER_SIDE), per_side - 1)
        found += np.bincount(places @ per_side ** np.arange(len(columns))[::-1], minlength=found.size)
    return found


def nearest(steps: Integers, centres: Integers) -> Integers:
    """Return the place of the nearest centre, the first of several, by distances that are whole numbers."""
    ways = steps[:, None, :] - centres
    return np.asarray((ways * ways).sum(axis=2).argmin(axis=1), dtype=np.int64)


def _steps(values: pd.Series, column: Column) -> tuple[Integers, npt.NDArray[np.bool_]]:
    bounds = bounds_of(column)
    assert bounds is not None, "problems() reports numbers without bounds"
    scaled = bounds.scaled(coding.numbers(values, column))
    return to_grid(scaled, minimum=-1, maximum=1, step=Fraction(1, PER_SIDE))


def _codes(frame: pd.DataFrame, label: Column) -> Integers:
    return np.asarray(coding.codes(frame[label.name], label), dtype=np.int64)
