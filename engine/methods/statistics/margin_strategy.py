"""Which tables to measure so that the tables that are asked for come out most exact, and how to read them.

A table over some columns is the sum of independent parts, one for each set of its columns: a total, what each
column adds to it, what each pair adds to those, and so on. Whoever measures a table measures all its parts.
From the declared numbers of levels alone follows how exactly each part is known, for any shares of ε.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import ceil, prod

import numpy as np

from engine import arrays
from engine.privacy.accuracy import Accuracy, laplace_accuracy, spread_of_sum

Floats = arrays.Floats
Integers = arrays.Integers
Columns = tuple[int, ...]
"""Places of the columns of one table, increasing; () is the total."""

SHARES = 840  # shares of ε are multiples of one part in so many: up to eight tables can have equal ones
_STEPS = (140, 28, 7, 1)  # parts that the search moves at a time
_UNKNOWN = 1e-30  # precision of a part that no measured table has


@dataclass(frozen=True)
class Strategy:
    """The tables that are measured, each with its share of ε.

    Parameters
    ----------
    shape
        Levels of every column.
    shares
        By table; they add up to 1.
    """

    shape: tuple[int, ...]
    shares: tuple[tuple[Columns, Fraction], ...]

    def cells(self, table: Columns) -> int:
        """Return how many cells a table has."""
        return prod(self.shape[place] for place in table)

    def weights(self, part: Columns) -> dict[Columns, float]:
        """Return how much each measured table counts in the least-squares estimate of a part; they sum to 1.

        Notes
        -----
        The entries of a part, averaged from table S, have a variance proportional to |S| / share².
        """
        found = {
            table: float(share) ** 2 / self.cells(table)
            for table, share in self.shares
            if set(part) <= set(table)
        }
        total = sum(found.values())
        return {table: weight / total for table, weight in found.items()}

    def estimate(self, measured: Mapping[Columns, Floats], asked: Columns) -> Floats:
        """Return the least-squares estimate of a table from all measured ones.

        Parameters
        ----------
        measured
            The noisy tables, each with one axis a column.
        asked
            A table whose columns are all within one measured table.

        Returns
        -------
        array of float64
            Tables that are estimated from the same measurements agree on what they share.

        Notes
        -----
        Weighted least squares with the inverse variances of the noise as weights, part by part: parts are
        orthogonal, so that each is a weighted mean. Source: McKenna, Miklau, Hay and Machanavajjhala (2018),
        section 6.3 (strategies of marginals); Xiao et al. (2023), theorem 3 (parts).
        """
        found = np.zeros([self.shape[place] for place in asked])
        for part in parts_of(asked):
            for table, weight in self.weights(part).items():
                scale = weight * self.cells(table) / self.cells(asked)
                found = found + scale * _in_table(_part(measured[table], table, part), part, asked)
        return found

    def accuracy(self, asked: Columns, *, scale: Fraction) -> Accuracy:
        """Return the accuracy of a rounded cell of an estimated table, from the noise alone.

        Parameters
        ----------
        scale
            Of the Laplace noise of a table that had the whole budget.

        Notes
        -----
        A cell is a sum of all noise times known numbers; the distribution of the sum is read off its Fourier
        transform. Continuous Laplace noise stands for the discrete one, which lies closer to zero.
        """
        if len(self.shares) == 1:  # cells of one table added up: the sum is known exactly
            (table, share) = self.shares[0]
            return laplace_accuracy(scale / share, count=self.cells(table) // self.cells(asked))
        terms = [
            (abs(coefficient) * float(scale / share), times)
            for table, share in self.shares
            for coefficient, times in self._coefficients(table, asked)
        ]
        median, most = spread_of_sum(tuple(terms))
        # a rounded cell is off by at most L where the sum is within L + 1/2
        return Accuracy(max(0, ceil(median - 0.5)), max(0, ceil(most - 0.5)))

    def _coefficients(self, table: Columns, asked: Columns) -> list[tuple[float, int]]:
        """Return with which numbers the noise of a table's cells enters a cell, and how many cells each."""
        common = [place for place in asked if place in table]
        weights = {part: self.weights(part).get(table, 0.0) for part in parts_of(tuple(common))}
        outside = prod(self.shape[place] for place in table if place not in common)
        found = []
        for same in parts_of(tuple(common)):  # the columns in which the two cells have the same level
            total = 0.0
            for part, weight in weights.items():
                centred = prod((place in same) - 1 / self.shape[place] for place in part)
                averaged = prod(self.shape[place] for place in table if place not in part)
                total += weight * centred / averaged
            times = outside * prod(self.shape[place] - 1 for place in common if place not in same)
            if times and total:
                found.append((total * self.cells(table) / self.cells(asked), times))
        return found


def parts_of(table: Columns) -> list[Columns]:
    """Return all sets of a table's columns, the empty one first.

    Examples
    --------
    >>> parts_of((0, 2))
    [(), (0,), (2,), (0, 2)]
    """
    return [part for size in range(len(table) + 1) for part in combinations(table, size)]


@lru_cache(maxsize=64)
def best_strategy(shape: tuple[int, ...], asked: tuple[Columns, ...], *, most_cells: int) -> Strategy:
    """Return the measured tables and shares with the smallest error of what is asked.

    Parameters
    ----------
    shape
        Declared levels of every column.
    asked
        The tables that will be released.
    most_cells
        Larger tables are not measured.

    Notes
    -----
    The error is the mean over the tables asked for of ln(variance of a cell), so that halving the variance
    of one table is worth as much as halving that of another. Searched from several starts by moving
    parts of the budget from one table to another until nothing is gained. Reads no row.

    Examples
    --------
    >>> best_strategy((10, 10), ((0, 1), (0,), (1,), ()), most_cells=10**5).shares[0][0]
    (0, 1)
    >>> best_strategy((2, 2), ((0, 1),), most_cells=10**5).shares
    (((0, 1), Fraction(1, 1)),)
    """
    tables = [table for table in parts_of(tuple(range(len(shape)))) if _cells(shape, table) <= most_cells]
    cover = np.array([[set(part) <= set(table) for table in tables] for part in tables], dtype=np.float64)
    cells = np.array([_cells(shape, table) for table in tables], dtype=np.float64)
    freedom = np.array([prod(shape[place] - 1 for place in part) for part in tables], dtype=np.float64)
    wanted = [tables.index(table) for table in asked]

    def error(shares: Floats) -> Floats:
        """Mean ln variance for each row of shares, in parts."""
        precision = (shares**2 / cells) @ cover.T
        spread = freedom / np.maximum(precision, _UNKNOWN)
        variances = spread @ cover[:, wanted] / cells[wanted] ** 2
        return np.asarray(np.log(variances).mean(axis=1))

    largest = max(range(len(tables)), key=lambda place: (len(tables[place]), place))
    starts = [np.eye(len(tables))[largest] * SHARES] if all(cover[want, largest] for want in wanted) else []
    starts.append(_evenly(wanted, len(tables)))
    found = [_descended(start, error) for start in starts]
    best = min(found, key=lambda shares: float(error(shares[None])[0]))
    order = sorted(np.flatnonzero(best), key=lambda place: (-len(tables[place]), tables[place]))
    return Strategy(shape, tuple((tables[place], Fraction(int(best[place]), SHARES)) for place in order))


def _evenly(wanted: Sequence[int], size: int) -> Floats:
    shares = np.zeros(size)
    shares[list(wanted)] = SHARES // len(wanted)
    shares[wanted[0]] += SHARES - shares.sum()
    return shares


def _descended(shares: Floats, error: Callable[[Floats], Floats]) -> Floats:
    for step in _STEPS:
        while True:
            givers = np.flatnonzero(shares >= step)
            moves = np.repeat(shares[None], givers.size * shares.size, axis=0)
            rows = np.arange(len(moves))
            moves[rows, np.repeat(givers, shares.size)] -= step
            moves[rows, np.tile(np.arange(shares.size), givers.size)] += step
            errors = error(moves)
            least = int(np.argmin(errors))
            if not errors[least] < float(error(shares[None])[0]) - 1e-12:
                break
            shares = moves[least]
    return shares


def _cells(shape: tuple[int, ...], table: Columns) -> int:
    return prod(shape[place] for place in table)


def _part(values: Floats, table: Columns, part: Columns) -> Floats:
    """Return the mean over a table's other columns, less the means along its own."""
    others = tuple(axis for axis, place in enumerate(table) if place not in part)
    found = np.asarray(values, dtype=np.float64).mean(axis=others) if others else np.asarray(values, float)
    for axis in range(len(part)):
        found = found - found.mean(axis=axis, keepdims=True)
    return np.asarray(found)


def _in_table(values: Floats, part: Columns, table: Columns) -> Floats:
    """Return a part with one axis for every column of a table, of length 1 where it has none."""
    sizes = iter(values.shape)
    return values.reshape([next(sizes) if place in part else 1 for place in table])
