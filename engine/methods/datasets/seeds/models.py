"""Models that make a row from a seed, with the likelihood of every row from every seed, exactly known."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from engine import arrays
from engine.methods.datasets.seeds.crowds import Crowd
from engine.once import once
from engine.privacy.noise import Noise

Codes = arrays.Integers
Floats = arrays.Floats
Truths = arrays.Bools

GRID = 2**30
"""Shares are whole parts of it, so that what is drawn has exactly the likelihood that is computed."""


class SeedModel(ABC):
    """Makes rows from seeds. It has been learnt from other people, or from nobody."""

    def batch(self, seeds: Codes) -> int:
        """Return how many rows are best tried at a time."""
        return 1 << 15

    @abstractmethod
    def made(self, seeds: Codes, noise: Noise) -> Codes:
        """Return a row from every seed, both of shape (n, columns)."""

    @abstractmethod
    def alone(self, n: int, noise: Noise) -> Codes:
        """Return rows that no seed has a part in, shape (n, columns)."""

    @abstractmethod
    def crowds(self, seeds: Codes) -> Callable[[Codes, Codes], Crowd]:
        """Return what says for rows, and the seed of each, who of all seeds could have led to them."""

    def finished(self, rows: Codes) -> Codes:
        """Return rows that were tested as they leave: reads nobody."""
        return rows


@dataclass(frozen=True)
class Conditional:
    """The shares of a column's cells for every combination of earlier columns.

    Parameters
    ----------
    parents
        Places of earlier columns; the last runs fastest.
    groups
        For each parent, the group of every cell; combinations are of groups.
    edges
        Shares added up, in parts of `GRID`: shape (combinations, cells), the last edge is `GRID`.
    """

    parents: tuple[int, ...]
    groups: tuple[Codes, ...]
    edges: Codes

    @staticmethod
    def of(shares: Floats, parents: Sequence[int] = (), groups: Sequence[Codes] = ()) -> Conditional:
        """Round shares, shape (combinations, cells), each line summing to 1.

        A line without numbers, which a model fitted to hardly more than noise may have, becomes even.
        """
        shares = np.where(np.isfinite(shares).all(axis=1, keepdims=True), shares, 1 / shares.shape[1])
        edges = np.rint(np.minimum(np.cumsum(shares, axis=1), 1.0) * GRID).astype(np.int64)
        edges[:, -1] = GRID
        return Conditional(tuple(parents), tuple(groups), edges)

    @property
    def size(self) -> int:
        """How many cells the column has."""
        return self.edges.shape[1]

    @once
    def logs(self) -> Floats:
        """The logarithms of the shares, −inf where there is none."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.diff(self.edges, axis=1, prepend=0) / GRID))

    @once
    def _line(self) -> Codes:
        return np.asarray((self.edges + np.arange(len(self.edges))[:, None] * GRID).ravel())

    def drawn(self, combination: Codes, noise: Noise) -> Codes:
        """Return a cell for every combination."""
        place = combination * GRID + noise.uniform_below(GRID, len(combination))
        return np.asarray(np.searchsorted(self._line, place, side="right") - combination * self.size)


@dataclass(frozen=True)
class ColumnModel(SeedModel):
    """Keeps the first columns of a seed and draws the others, one after the other.

    Parameters
    ----------
    conditionals
        One for each column, in the order in which they are drawn.
    fewest, most
        How many of the last columns are drawn anew: a number ω between them, each equally likely.
    anew
        With this probability all columns are drawn anew instead, below 1.

    Notes
    -----
    A row y has from a seed d, with which it agrees in its first L columns of m, the likelihood
    Σ over ω >= m − L of Q_ω(y), over the number of possible ω: it depends on d through L alone. Q_ω is the
    product of the shares of the last ω cells given those before. Bindschaedler (2018), equation 6.13, with
    the likelihood that it leaves implicit. ω = 0 copies the seed (example 3.1), ω = m has no seed (example
    3.3 where every cell is equally likely). With ``anew`` = 1 − b the likelihood is b times that, and (1 − b)
    Q_m, so that everybody could have led to every row (example 3.6).
    """

    conditionals: tuple[Conditional, ...]
    fewest: int
    most: int
    anew: Fraction = Fraction(0)

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return len(self.conditionals)

    def made(self, seeds: Codes, noise: Noise) -> Codes:
        redrawn = self.fewest + noise.uniform_below(self.most - self.fewest + 1, len(seeds))
        if self.anew:
            redrawn = np.where(noise.bernoulli(self.anew, len(seeds)), self.columns, redrawn)
        return self._drawn(seeds, redrawn, noise)

    def alone(self, n: int, noise: Noise) -> Codes:
        nothing = np.zeros((n, self.columns), dtype=np.int64)
        return self._drawn(nothing, np.full(n, self.columns), noise)

    def _drawn(self, seeds: Codes, redrawn: Codes, noise: Noise) -> Codes:
        rows = seeds.copy()
        for place in range(self.columns - int(redrawn.max(initial=0)), self.columns):
            anew = np.flatnonzero(redrawn >= self.columns - place)
            combination = self._combination(rows[anew], place)
            rows[anew, place] = self.conditionals[place].drawn(combination, noise)
        return rows

    def _combination(self, rows: Codes, place: int) -> Codes:
        found = np.zeros(len(rows), dtype=np.int64)
        here = self.conditionals[place]
        for parent, group in zip(here.parents, here.groups, strict=True):
            found = found * (int(group.max()) + 1) + group[rows[:, parent]]
        return found

    def crowds(self, seeds: Codes) -> Callable[[Codes, Codes], Crowd]:
        prefixes = Prefixes.of(seeds, [one.size for one in self.conditionals])
        kept = self.columns - self.most

        def crowd(rows: Codes, of: Codes) -> Crowd:
            agree = prefixes.counts(rows, first=kept, last=self.columns - self.fewest)
            exactly = agree - np.append(agree[:, 1:], np.zeros((len(rows), 1), dtype=np.int64), axis=1)
            length = np.cumprod(rows == of, axis=1).sum(axis=1)
            own = np.clip(length - kept, 0, self.most - self.fewest)
            found = Crowd(exactly, self._logs(rows), own)
            if not self.anew:
                return found
            fewer = np.array(len(seeds) - agree[:, 0])  # who agree in fewer columns than are kept
            return self._mixed(found, rows, fewer, length < kept)

        return crowd

    def _mixed(self, crowd: Crowd, rows: Codes, fewer: Codes, is_among: Truths) -> Crowd:
        """Return the crowd where everybody may lead to every row: one level more, below the others."""
        logs = np.insert(crowd.logs, 0, -np.inf, axis=1)
        by_model = self._shares(rows, 0).sum(axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):
            logs = np.logaddexp(logs + math.log(1 - self.anew), by_model + math.log(self.anew))
        return Crowd(np.insert(crowd.counts, 0, fewer, axis=1), logs, np.where(is_among, 0, crowd.own + 1))

    def _shares(self, rows: Codes, first: int) -> Floats:
        """Return the logarithms of the shares of the cells from a column on, and 0 for those before."""
        each = np.zeros((len(rows), self.columns))
        for place in range(first, self.columns):
            each[:, place] = self.conditionals[place].logs[self._combination(rows, place), rows[:, place]]
        return each

    def _logs(self, rows: Codes) -> Floats:
        """Return ln Σ_{ω >= m − L} Q_ω for L from m − most to m − fewest, less ln of how many ω there are."""
        each = self._shares(rows, self.columns - self.most)
        after = np.append(np.cumsum(each[:, ::-1], axis=1)[:, ::-1], np.zeros((len(rows), 1)), axis=1)
        products = after[:, self.columns - self.most : self.columns - self.fewest + 1]  # ω falls along it
        highest = products.max(axis=1, keepdims=True)
        choices = self.most - self.fewest + 1
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.cumsum(np.exp(products - highest), axis=1) / choices) + highest)


@dataclass(frozen=True)
class Prefixes:
    """How many rows begin alike, for beginnings of every length.

    Parameters
    ----------
    sizes
        Cells of every column.
    keys
        For every column the different beginnings that end with it, sorted: the place of the beginning before,
        times the cells, plus the cell.
    members
        How many rows have each.
    n
        How many rows there are.
    """

    sizes: tuple[int, ...]
    keys: tuple[Codes, ...]
    members: tuple[Codes, ...]
    n: int

    @staticmethod
    def of(rows: Codes, sizes: Sequence[int]) -> Prefixes:
        """Count the beginnings of rows, shape (n, columns)."""
        place = np.zeros(len(rows), dtype=np.int64)
        keys, members = [], []
        for column, size in enumerate(sizes):
            unique, place, counts = np.unique(
                place * size + rows[:, column], return_inverse=True, return_counts=True
            )
            place = place.reshape(-1)
            keys.append(unique)
            members.append(counts)
        return Prefixes(tuple(sizes), tuple(keys), tuple(members), len(rows))

    def counts(self, rows: Codes, *, first: int, last: int) -> Codes:
        """Return how many of the counted rows agree in the first ``first`` … ``last`` columns with each row.

        Examples
        --------
        >>> some = np.array([[0, 1], [0, 0], [1, 1]])
        >>> Prefixes.of(some, (2, 2)).counts(np.array([[0, 1]]), first=0, last=2).tolist()
        [[3, 2, 1]]
        """
        found = np.zeros((len(rows), last - first + 1), dtype=np.int64)
        if first == 0:
            found[:, 0] = self.n
        place = np.zeros(len(rows), dtype=np.int64)
        alive = np.full(len(rows), self.n > 0)
        for column in range(last):
            key = place * self.sizes[column] + rows[:, column]
            place = np.minimum(np.searchsorted(self.keys[column], key), max(len(self.keys[column]) - 1, 0))
            if self.n:
                alive &= self.keys[column][place] == key
                if column + 1 >= first:
                    found[:, column + 1 - first] = np.where(alive, self.members[column][place], 0)
        return found
