"""Noisy tables of classes by cells, and what they say of the class of a row: naive Bayes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from engine import arrays
from engine.methods.shared.cell_search import SEARCH_SHARE, search_query
from engine.methods.shared.division import Division, Query, join_groups
from engine.once import once
from engine.privacy.noise import Noise

Codes = arrays.Integers
Floats = arrays.Floats

COUNTS, MOMENTS = "counts", "moments"
PER_SIDE = 1 << 10
LEAST_VARIANCE = 1e-3
"""Of a number between −1 and 1: noise must not make a class certain."""


@dataclass(frozen=True)
class TablesPlan:
    """What is counted, and with how much noise: from declarations alone.

    Parameters
    ----------
    classes
        How many classes there are.
    sizes
        Cells of every predictor that is counted by cells.
    numbers
        How many predictors are numbers with a mean and a variance in each class.
    epsilon, delta
        Of everything together; δ = 0 for noise of the Laplace kind.
    rows_per_person
        The cap.
    replace_one
        Whether neighbouring tables exchange a person.
    searched
        How many predictors are counted by their fine grids first; see `cell_search`.

    Notes
    -----
    A row is in one class, in one cell of every predictor, and for every number either known or missing: one
    cell each of 1 + predictors + numbers tables. Of a known number z between −1 and 1 its class gets z and
    z² − ½, together at most 1.5 (L1) and 1.25 (squared L2), both at z = ± 1. The variance is made from these
    sums; published ones with a sensitivity of their own are off by (u − l)/(n + 1). Who is exchanged for one
    of another class moves twice as many numbers, which are others: twice L1 and, for counts, twice squared
    L2. Of a number the farthest (squared L2) is from −1 to 1 in one class: 4.
    """

    classes: int
    sizes: tuple[int, ...]
    numbers: int
    epsilon: Fraction
    delta: Fraction
    rows_per_person: int
    replace_one: bool
    searched: int = 0

    @property
    def tables(self) -> int:
        """How many tables a row is in one cell of each."""
        return 1 + len(self.sizes) + self.numbers

    @once
    def division(self) -> Division:
        """How the budget is divided: by how far a row moves either kind of sum."""
        rows, times = self.rows_per_person, 2 if self.replace_one else 1
        weight = self.tables + 1.5 * self.numbers
        ones, squared = times * rows, times * rows**2
        queries, left = [], 1.0
        if self.searched:
            queries = [search_query(self.searched, rows=rows, replace_one=self.replace_one)]
            left -= SEARCH_SHARE
        share = left * self.tables / weight
        queries.append(Query(COUNTS, ones * self.tables, squared * self.tables, share))
        if self.numbers:
            half = PER_SIDE // 2
            share = left * 1.5 * self.numbers / weight
            farthest = 4 * PER_SIDE**2 if self.replace_one else PER_SIDE**2 + half**2
            moved = rows**2 * self.numbers * farthest
            queries.append(Query(MOMENTS, ones * self.numbers * 3 * half, moved, share))
        return Division(tuple(queries), self.epsilon, self.delta, self.replace_one).borne_out()

    @property
    def count_noise(self) -> float:
        """Standard deviation of the noise of a count."""
        return self.division.deviation(COUNTS)


@dataclass(frozen=True)
class ClassTables:
    """Noisy sums.

    Parameters
    ----------
    rows
        Of every class, shape (classes,).
    cells
        By predictor: rows of every class in every cell, shape (classes, cells).
    known
        By number: rows of every class whose number is missing, and known, shape (classes, 2).
    sums
        By number: Σ z and Σ (z² − ½) of every class, shape (classes, 2).
    """

    rows: Floats
    cells: tuple[Floats, ...]
    known: tuple[Floats, ...] = ()
    sums: tuple[Floats, ...] = ()


@dataclass(frozen=True)
class Rows:
    """Some rows.

    Parameters
    ----------
    target
        The class of every row; at least as many as there are classes where it has none, and so no part.
    codes
        By predictor, the cell of every row.
    numbers
        By number, the values between −1 and 1, NaN where missing.
    """

    target: Codes
    codes: Sequence[Codes]
    numbers: Sequence[Floats] = ()


def fit(blocks: Iterable[Rows], plan: TablesPlan, *, noise: Noise) -> ClassTables:
    """Count rows by class and cell, with noise; no block is kept."""
    widths = [*plan.sizes, *(2 for _ in range(plan.numbers))]
    sizes = [plan.classes, *(plan.classes * width for width in widths)]
    counts = np.zeros(sum(sizes), dtype=np.int64)
    moments = np.zeros(plan.numbers * plan.classes * 2, dtype=np.int64)
    for rows in blocks:
        own_counts, own_moments = _count(rows, widths, plan)
        counts += own_counts
        moments += own_moments
    noisy = plan.division.noisy(COUNTS, counts, noise).astype(np.float64)
    parts = np.split(noisy, np.cumsum(sizes)[:-1])
    tables = [part.reshape(plan.classes, -1) for part in parts[1:]]
    sums: list[Floats] = []
    if plan.numbers:
        ways = plan.division.noisy(MOMENTS, moments, noise).astype(np.float64) / PER_SIDE
        sums = list(ways.reshape(plan.numbers, plan.classes, 2))
    by_cell = len(plan.sizes)
    return ClassTables(parts[0], tuple(tables[:by_cell]), tuple(tables[by_cell:]), tuple(sums))


def _count(rows: Rows, widths: Sequence[int], plan: TablesPlan) -> tuple[Codes, Codes]:
    """Return the exact counts of some rows, and their exact sums of numbers."""
    seen = (rows.target >= 0) & (rows.target < plan.classes)
    own = rows.target[seen]
    steps = [_steps(values[seen]) for values in rows.numbers]
    places = [*(one[seen] for one in rows.codes), *(known.astype(np.int64) for known, _ in steps)]
    counts = [
        np.bincount(own * width + place, minlength=plan.classes * width)
        for width, place in zip(widths, places, strict=True)
    ]
    moments = [_moments(own, values, plan.classes).ravel() for _, values in steps]
    none = np.zeros(0, dtype=np.int64)
    return join_groups([np.bincount(own, minlength=plan.classes), *counts]), join_groups([none, *moments])


def _steps(values: Floats) -> tuple[npt.NDArray[np.bool_], Codes]:
    """Return which numbers are known, and z and z² − ½ in whole steps: each row's from its own alone."""
    known = ~np.isnan(values)
    steps = np.rint(np.clip(np.where(known, values, 0.0), -1, 1) * PER_SIDE).astype(np.int64)
    squares = steps * steps // PER_SIDE - PER_SIDE // 2
    return known, np.where(known[:, None], np.stack([steps, squares], axis=1), 0)


def _moments(own: Codes, steps: Codes, classes: int) -> Codes:
    """Return the sums of both by class: whole numbers below 2^53, exact in any order."""
    by_column = [np.bincount(own, weights=column.astype(np.float64), minlength=classes) for column in steps.T]
    return np.stack(by_column, axis=1).astype(np.int64)


def shares(counts: Floats, *, smoothing: float = 1.0) -> Floats:
    """Return the share of every cell in its class from noisy counts, shape (classes, cells).

    Counts below 0 count as 0; ``smoothing`` is added to each, so that no share is 0.

    Examples
    --------
    >>> shares(np.array([[2.0, -1.0], [3.0, 3.0]]), smoothing=1)
    array([[0.75, 0.25],
           [0.5 , 0.5 ]])
    """
    filled = np.maximum(counts, 0.0) + smoothing
    return np.asarray(filled / filled.sum(axis=-1, keepdims=True))


def normal(known: Floats, sums: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance by class of a number between −1 and 1, from noisy sums."""
    rows = np.maximum(known[:, 1], 1.0)
    mean = np.clip(sums[:, 0] / rows, -1.0, 1.0)
    variance = sums[:, 1] / rows + 0.5 - mean**2
    return mean, np.clip(variance, LEAST_VARIANCE, 1.0)
