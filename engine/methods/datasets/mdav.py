"""Groups of similar people: maximum distance to the average vector, over numbers and categories.

Distances are squared and add up over the columns: of numbers, days and ranks the squared difference in
standard deviations, of categories without an order the height of the lowest common group, from 0 to 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine import arrays
from engine.methods.datasets.recoding import Codes
from engine.progress import SILENT, Progress

Floats = arrays.Floats
EXACT = 200_000  # rows; of more, blocks of similar rows are worked on one after the other
BLOCK = 20_000


@dataclass(frozen=True)
class Categories:
    """A column of categories.

    Parameters
    ----------
    codes
        Of every row, shape (rows,).
    nodes
        Shape (steps, categories): the number of the group of each category on each step but the last, on
        which all are one.
    weight
        How much the column counts.
    """

    codes: Codes
    nodes: Codes
    weight: float = 1.0

    def take(self, rows: Codes) -> Categories:
        """Return some rows."""
        return Categories(self.codes[rows], self.nodes, self.weight)


@dataclass(frozen=True)
class Space:
    """Rows as points.

    Parameters
    ----------
    numbers
        Shape (columns, rows): scaled and weighed.
    categories
        The other columns.
    """

    numbers: Floats
    categories: tuple[Categories, ...] = ()

    @property
    def rows(self) -> int:
        """How many points there are."""
        return self.numbers.shape[1]

    def take(self, rows: Codes) -> Space:
        """Return some rows."""
        return Space(self.numbers[:, rows], tuple(one.take(rows) for one in self.categories))


def mdav(space: Space, *, k: int, progress: Progress = SILENT) -> Codes:
    """Put rows into groups of k to 2k − 1 similar ones.

    Parameters
    ----------
    space
        The rows, at least k of them.
    k
        Least size of a group.

    Returns
    -------
    array of int64, shape (rows,)
        The group of each row, from 0.

    Notes
    -----
    J. Domingo-Ferrer and V. Torra, Ordinal, continuous and heterogeneous k-anonymity through
    microaggregation, 2005, algorithm 3 (MDAV-generic). Equally far rows are taken in their order. The best
    groups are NP-hard to find for more than one column; this is a heuristic.

    Examples
    --------
    >>> mdav(Space(np.array([[0.0, 9.0, 1.0, 8.0, 0.5]])), k=2).tolist()
    [1, 0, 1, 0, 1]
    """
    if space.rows <= EXACT:
        return _groups(space, k, progress)
    group, made = np.zeros(space.rows, dtype=np.int64), 0
    blocks = _blocks(space, max(BLOCK, 2 * k))
    for turn, rows in enumerate(blocks):
        own = _groups(space.take(rows), k, progress.part(turn / len(blocks), (turn + 1) / len(blocks)))
        group[rows] = own + made
        made += int(own.max()) + 1
    return group


def block_loss(space: Space, *, k: int) -> float | None:
    """Measure what working in blocks costs: squared errors with blocks divided by those without.

    Returns
    -------
    float or None
        None where rows are few enough to be worked on together, as `mdav` does then.

    Notes
    -----
    All rows together would take the time that blocks save. So it is measured on every so many rows, as many
    as one block has, cut into as many blocks as the table is, of two groups at least.
    """
    if space.rows <= EXACT:
        return None
    block = max(BLOCK, 2 * k)
    sample = space.take(np.linspace(0, space.rows - 1, block).astype(np.int64))
    least = max(2 * k, block // len(_blocks(space, block)))
    whole, _ = squared_errors(sample, _groups(sample, k, SILENT))
    group, made = np.zeros(block, dtype=np.int64), 0
    for rows in _blocks(sample, least):
        own = _groups(sample.take(rows), k, SILENT)
        group[rows] = own + made
        made += int(own.max()) + 1
    parts, _ = squared_errors(sample, group)
    return parts / whole if whole else 1.0


def _groups(space: Space, k: int, progress: Progress) -> Codes:
    left = _Left(space)
    group, made, every = np.zeros(space.rows, dtype=np.int64), 0, space.rows
    while left.count >= 3 * k:
        progress.step(1 - left.count / every, "datasets.groups")
        far = left.farthest(left.from_mean())
        distance = left.from_point(far)
        other = left.points(left.farthest(distance))
        group[left.remove(left.nearest(distance, k))] = made
        group[left.remove(left.nearest(left.from_points(other), k))] = made + 1
        made += 2
    if left.count >= 2 * k:
        distance = left.from_point(left.farthest(left.from_mean()))
        group[left.remove(left.nearest(distance, k))] = made
        made += 1
    group[left.ids[: left.count]] = made
    return group


class _Left:
    """The rows that are in no group yet: at the front of arrays whose holes are filled from the end."""

    def __init__(self, space: Space) -> None:
        self.count = space.rows
        self.ids = np.arange(space.rows)
        self.numbers = space.numbers.copy()
        self.nodes = [one.nodes for one in space.categories]
        self.weights = [one.weight for one in space.categories]
        self.codes = [one.codes.copy() for one in space.categories]
        self.sums = self.numbers.sum(axis=1)
        self.counts = [
            np.bincount(one.codes, minlength=one.nodes.shape[1]).astype(np.float64)
            for one in space.categories
        ]
        self._out, self._buffer = np.empty(space.rows), np.empty(space.rows)

    def points(self, place: int) -> tuple[Floats, list[int]]:
        """Return one row."""
        return self.numbers[:, place].copy(), [int(codes[place]) for codes in self.codes]

    def from_point(self, place: int) -> Floats:
        """Return the squared distance of every row to one of them."""
        return self.from_points(self.points(place))

    def from_points(self, point: tuple[Floats, list[int]]) -> Floats:
        """Return the squared distance of every row to a point."""
        tables = [
            weight * (nodes != nodes[:, [code]]).mean(axis=0)
            for weight, nodes, code in zip(self.weights, self.nodes, point[1], strict=True)
        ]
        return self._distances(point[0], tables)

    def from_mean(self) -> Floats:
        """Return the squared distance of every row to the mean of all.

        Categories are points of a space in which two are as far apart as their lowest common group is high.
        """
        tables = []
        for weight, nodes, counts in zip(self.weights, self.nodes, self.counts, strict=True):
            table = np.zeros(nodes.shape[1])
            for step in nodes:
                share = np.bincount(step, counts) / self.count
                table += ((share**2).sum() - 2 * share[step] + 1) / 2
            tables.append(weight * table / len(nodes))
        return self._distances(self.sums / self.count, tables)

    def _distances(self, point: Floats, tables: list[Floats]) -> Floats:
        out, buffer = self._out[: self.count], self._buffer[: self.count]
        out[:] = 0.0
        for column, own in zip(self.numbers, point, strict=True):
            np.subtract(column[: self.count], own, out=buffer)
            np.multiply(buffer, buffer, out=buffer)
            out += buffer
        for codes, table in zip(self.codes, tables, strict=True):
            out += table[codes[: self.count]]
        return out

    def farthest(self, distance: Floats) -> int:
        """Return the place of the row with the largest distance, the first in the table of equal ones."""
        places = np.flatnonzero(distance == distance.max())
        return int(places[self.ids[places].argmin()])

    def nearest(self, distance: Floats, k: int) -> npt.NDArray[np.intp]:
        """Return the places of the k rows with the smallest distance, the first of equal ones."""
        pieces = max(64, 4 * k)
        size = len(distance) // pieces
        if size:  # the k-th smallest of the pieces' smallest is a bound: no partition of all
            bound = np.partition(distance[: size * pieces].reshape(pieces, size).min(axis=1), k - 1)[k - 1]
            places = np.flatnonzero(distance <= bound)
        else:
            places = np.arange(len(distance))
        places = places[np.lexsort((self.ids[places], distance[places]))[:k]]
        return np.sort(places)

    def remove(self, places: npt.NDArray[np.intp]) -> Codes:
        """Take rows out; return which rows of the table they are."""
        gone = self.ids[places].copy()
        self.sums -= self.numbers[:, places].sum(axis=1)
        for codes, counts in zip(self.codes, self.counts, strict=True):
            np.subtract.at(counts, codes[places], 1.0)
        left = self.count - len(places)
        holes = places[places < left]
        stay = np.ones(len(places), dtype=bool)
        stay[places[places >= left] - left] = False
        tail = np.arange(left, self.count)[stay]
        self.ids[holes] = self.ids[tail]
        self.numbers[:, holes] = self.numbers[:, tail]
        for codes in self.codes:
            codes[holes] = codes[tail]
        self.count = left
        return gone


def squared_errors(space: Space, group: Codes) -> tuple[float, float]:
    """Return the sum of squared distances to the mean of the group, and to the mean of all."""
    return _squared(space, group), _squared(space, np.zeros_like(group))


def _squared(space: Space, group: Codes) -> float:
    size = np.bincount(group).astype(np.float64)
    total = 0.0
    for column in space.numbers:
        mean = np.bincount(group, column) / size
        total += float(((column - mean[group]) ** 2).sum())
    for one in space.categories:
        for step in one.nodes:
            nodes = int(step.max()) + 1
            found, count = np.unique(group * nodes + step[one.codes], return_counts=True)
            inside = size.sum() - float((count**2 / size[found // nodes]).sum())
            total += one.weight * inside / (2 * len(one.nodes))
    return total


def _blocks(space: Space, most: int) -> list[Codes]:
    """Cut rows into blocks of at most so many, always at the middle of the number that varies most."""
    open_blocks, closed = [np.arange(space.rows)], []
    while open_blocks:
        rows = open_blocks.pop()
        if len(rows) <= most:
            closed.append(rows)
            continue
        keys = [column[rows] for column in space.numbers] + [
            one.codes[rows].astype(np.float64) for one in space.categories
        ]
        widest = max(keys, key=lambda own: float(own.var()))
        order = np.argsort(widest, kind="stable")
        open_blocks += [rows[order[: len(rows) // 2]], rows[order[len(rows) // 2 :]]]
    return closed
