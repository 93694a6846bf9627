"""Statistics of coded rows by group, answered on many pairs of neighbours at once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from engine import arrays
from engine.privacy.sampled_sensitivity.draws import Answers, position_chunks, record_chunks
from engine.privacy.sampled_sensitivity.populations import Population, TablePopulation

Rows = arrays.Floats
Places = arrays.Integers


@dataclass(frozen=True)
class Ratio:
    """The sum is divided by the number of records in the group; ``empty`` stands where there is none."""

    empty: float


@dataclass(frozen=True)
class CellQuery:
    """Count, sum, mean or proportion in every group.

    Parameters
    ----------
    value
        Column of the coded rows that is added up; None to count records.
    counted
        A place: each record adds 1 if its value is that place, else 0.
    first
        Where the columns of the groups begin.
    sizes
        How many cells each of them has; empty for one answer about all records.
    ratio
        Divide by the number of records.

    Examples
    --------
    >>> rows = np.array([[3.0, 0.0], [5.0, 0.0], [4.0, 1.0]])
    >>> CellQuery(0, None, 1, (3,), Ratio(9.0))(rows).tolist()
    [4.0, 4.0, 9.0]
    """

    value: int | None
    counted: int | None
    first: int
    sizes: tuple[int, ...]
    ratio: Ratio | None

    def __call__(self, rows: Rows) -> Rows:
        """Return the answer on one data set, shape (groups,)."""
        added, places = self._terms(rows)
        return self._finished(*self._sums(added[None, :], places[None, :]))[0]

    def answer_pairs(
        self, population: Population, *, pairs: int, records: int, generator: np.random.Generator
    ) -> Iterator[Answers]:
        """Yield the answers on both data sets of some pairs at a time, each of shape (some pairs, groups)."""
        if isinstance(population, TablePopulation):
            added, places = self._terms(np.asarray(population.rows, dtype=np.float64))
            for common, ends in position_chunks(
                population, pairs=pairs, records=records, generator=generator
            ):
                yield self._both(added[common], places[common], added[ends], places[ends])
            return
        for chunk in record_chunks(population, pairs=pairs, records=records, generator=generator):
            flat, cells = self._terms(chunk.reshape(-1, chunk.shape[-1]))
            added, places = flat.reshape(chunk.shape[:2]), cells.reshape(chunk.shape[:2])
            yield self._both(added[:, :-2], places[:, :-2], added[:, -2:], places[:, -2:])

    def _both(self, added: Rows, places: Places, end: Rows, end_places: Places) -> Answers:
        sums, counts = self._sums(added, places)
        pair = np.arange(len(sums))
        answers = []
        for which in (0, 1):
            with_one, one_more = sums.copy(), counts.copy()
            with_one[pair, end_places[:, which]] += end[:, which]
            one_more[pair, end_places[:, which]] += 1.0
            answers.append(self._finished(with_one, one_more))
        return answers[0], answers[1]

    def _terms(self, rows: Rows) -> tuple[Rows, Places]:
        """Return what each row adds, and to which group."""
        added = np.ones(len(rows)) if self.value is None else rows[:, self.value]
        if self.counted is not None:
            added = (added == self.counted).astype(np.float64)
        return added, group_of(rows, self.first, self.sizes)

    def _sums(self, added: Rows, places: Places) -> tuple[Rows, Rows]:
        pairs, groups = len(added), math.prod(self.sizes)
        flat = (places + groups * np.arange(pairs)[:, None]).ravel()
        shape = (pairs, groups)
        sums = np.bincount(flat, weights=added.ravel(), minlength=pairs * groups)
        counts = np.bincount(flat, minlength=pairs * groups)
        return sums.astype(np.float64).reshape(shape), counts.astype(np.float64).reshape(shape)

    def _finished(self, sums: Rows, counts: Rows) -> Rows:
        if self.ratio is None:
            return sums
        return np.divide(sums, counts, out=np.full_like(sums, self.ratio.empty), where=counts > 0)


@dataclass(frozen=True)
class QuantileQuery:
    """The smallest value that a share of the records of a group keep to; the value is the first column."""

    share: float
    sizes: tuple[int, ...]
    empty: float

    def __call__(self, rows: Rows) -> Rows:
        """Return the answer on one data set, shape (groups,)."""
        places = group_of(rows, 1, self.sizes)
        order = np.lexsort((rows[:, 0], places))
        groups = math.prod(self.sizes)
        counts = np.bincount(places, minlength=groups)
        starts = np.cumsum(counts) - counts
        # The rank may come out a rounding above a whole number: .9 × 10 is 9, not 9.000000000000002.
        ranks = np.ceil(self.share * counts - 1e-9).astype(np.int64)
        found = np.full(groups, self.empty)
        filled = counts > 0
        found[filled] = rows[order, 0][starts[filled] + np.maximum(ranks[filled], 1) - 1]
        return found


def group_of(rows: Rows, first: int, sizes: tuple[int, ...]) -> Places:
    """Return each row's group: its cells counted like digits."""
    places = np.zeros(len(rows), dtype=np.int64)
    for offset, size in enumerate(sizes):
        places = places * size + rows[:, first + offset].astype(np.int64)
    return places
