"""One column given others: a tree that only divides the rows, and donors from its leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from engine import arrays
from engine.methods.datasets.synthesis.variables import Amounts, Codes, Floats, Levels, Variable, values_of
from engine.once import once

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeRegressor

Predictors = arrays.HalfFloats

FEW_LEVELS = 3
"""Up to so many levels have a coordinate each; more are seen along their two principal axes."""
LARGEST = 3e38
"""The trees read single precision, in which no larger number is finite."""
SHRINKAGE = 2.0
"""Rows that every level's mean is drawn to the overall mean by, so that rare levels do not decide."""


@dataclass(frozen=True)
class Encoder:
    """How a column is seen by a tree: a level as the mean of the target, an amount as itself.

    Parameters
    ----------
    levels
        Shape (levels,): what stands for each level; None for amounts.
    filling
        Stands for a missing amount, which has a column of its own besides.
    """

    levels: Floats | None = None
    filling: float = 0.0

    @staticmethod
    def fitted(variable: Variable, rows: Codes, target: Floats) -> Encoder:
        """Fit it on some rows, for a target of shape (rows, coordinates) whose means are 0."""
        if isinstance(variable, Amounts):
            known = variable.values[rows]
            known = known[~np.isnan(known)]
            return Encoder(None, float(np.median(known)) if known.size else 0.0)
        codes = variable.codes[rows]
        counts = np.bincount(codes, minlength=variable.size)
        sums = np.column_stack(
            [np.bincount(codes, weights=axis, minlength=variable.size) for axis in target.T]
        )
        means = sums / (counts + SHRINKAGE)[:, None]
        if means.shape[1] > 1:
            means = means @ _first_axis(means, counts)[:, None]
        return Encoder(np.asarray(means[:, 0]))

    def seen(self, values: Floats) -> list[Floats]:
        """Return one column for levels, two for amounts of which some are missing."""
        if self.levels is not None:
            return [self.levels[values.astype(np.int64)]]
        absent = np.isnan(values)
        return [np.where(absent, self.filling, values), absent.astype(np.float64)]


@dataclass(frozen=True)
class Leaves:
    """The rows of a table in the leaves of a tree.

    Parameters
    ----------
    tree
        None where there is nothing to predict from: then all rows are one leaf.
    encoders
        By predictor.
    rows
        Places of the training rows, those of one leaf next to each other, in a leaf by their value.
    start, count
        By the tree's number of the leaf: where its rows begin, and how many it has.
    """

    tree: DecisionTreeRegressor | None
    encoders: tuple[Encoder, ...]
    rows: Codes
    start: Codes
    count: Codes

    def leaf(self, predictors: list[Floats], n: int) -> Codes:
        """Return the leaf that each of n rows leads to."""
        if self.tree is None:
            return np.zeros(n, dtype=np.int64)
        return np.asarray(self.tree.apply(_matrix(self.encoders, predictors))).astype(np.int64)


@dataclass(frozen=True)
class Tree:
    """A column drawn from the leaves of one tree, or from any other groups of rows.

    Notes
    -----
    A number that few rows share moves towards its neighbour in the leaf. A value of at least `ATOM` of the
    rows stays as it is: people round to it, or it is a limit. Spreading such values evenly would make the
    table easy to tell from a real one.
    """

    target: Variable
    leaves: Leaves
    beyond: float = 0.0

    def redrawn(self, chance: np.random.Generator) -> Tree:
        """Return itself: a tree has no parameters to be drawn."""
        return self

    def draw(self, predictors: list[Floats], n: int, chance: np.random.Generator) -> Floats:
        """Draw one value for each of n rows."""
        return self.drawn_in(self.leaves.leaf(predictors, n), chance)

    def drawn_in(self, leaf: Codes, chance: np.random.Generator) -> Floats:
        """Draw one value from the leaf of each row."""
        found, n = self.leaves, len(leaf)
        donors = found.start[leaf] + (chance.random(n) * found.count[leaf]).astype(np.int64)
        own = self._values[donors]
        if isinstance(self.target, Levels):
            return own
        below, above, stays = self._gaps
        towards = np.where(chance.random(n) < 0.5, below[donors], above[donors])
        share = chance.random(n)
        moved = self.target.placed((1 - share) * own + share * towards)
        return np.where(stays[donors], np.clip(own, self.target.low, self.target.high), moved)

    @once
    def _values(self) -> Floats:
        return values_of(self.target)[self.leaves.rows]

    @once
    def _gaps(self) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
        """For each place in the leaves: the values before and after it there, and whether it stays."""
        target, found = self.target, self.leaves
        assert isinstance(target, Amounts)
        values, place = self._values, np.arange(len(self.leaves.rows))
        occupied = found.count > 0
        count, start = found.count[occupied], found.start[occupied]
        in_order = np.argsort(start)
        first = np.repeat(start[in_order], count[in_order])
        last = first + np.repeat(count[in_order], count[in_order]) - 1
        begins = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
        length = np.diff(np.append(begins, len(values)))
        run_first = np.repeat(begins, length)
        run_last = run_first + np.repeat(length, length) - 1
        passes = target.is_rare[found.rows]  # a rare value passes by rows that have the same one
        below = np.maximum(np.where(passes, run_first, place) - 1, first)
        above = np.minimum(np.where(passes, run_last, place) + 1, last)
        return values[below], values[above], target.is_atom[found.rows]


def leaves(target: Variable, predictors: list[Variable], rows: Codes, *, smallest: int) -> Leaves:
    """Divide training rows so that the target differs little within a leaf.

    Parameters
    ----------
    target
        Fitted on the rows where it is known.
    predictors
        What it depends on.
    rows
        Places of the training rows.
    smallest
        No leaf has fewer rows: the dial between detail and disclosure.

    Notes
    -----
    Variance reduction on the indicators of the levels is the reduction of the Gini index, so that a
    classification tree is the case of all coordinates; two principal ones cost less and lose little.
    Regression trees as synthesisers: J. Reiter, Journal of Official Statistics 21 (2005).
    """
    return Growing.on(target, predictors, rows).leaves(smallest=smallest)


@dataclass(frozen=True)
class Growing:
    """What trees for one column are grown on, once for any number of trees.

    Parameters
    ----------
    rows, order
        Places of the training rows; in the order in which a leaf holds them.
    coordinates
        Shape (rows, coordinates): what cuts are judged by.
    encoders, seen
        By predictor; shape (rows, columns): what trees see of the predictors.
    """

    rows: Codes
    order: Codes
    coordinates: Floats
    encoders: tuple[Encoder, ...]
    seen: Predictors

    @staticmethod
    def on(target: Variable, predictors: list[Variable], rows: Codes) -> Growing:
        """Make training rows ready."""
        order = rows if isinstance(target, Levels) else rows[np.argsort(target.values[rows], kind="stable")]
        coordinates = _coordinates(target, predictors, rows)
        if not predictors or coordinates.shape[1] == 0:
            return Growing(rows, order, coordinates, (), np.empty((len(rows), 0), dtype=np.float32))
        encoders = tuple(Encoder.fitted(one, rows, coordinates) for one in predictors)
        seen = _matrix(encoders, [values_of(one)[rows] for one in predictors])
        return Growing(rows, order, coordinates, encoders, seen)

    def leaves(self, *, smallest: int, weights: Codes | None = None, tried: float | None = None) -> Leaves:
        """Grow a tree.

        Parameters
        ----------
        smallest
            No leaf has fewer rows.
        weights
            How often the tree sees each training row; donors are also those that it does not see.
        tried
            Share of the predictors that each cut is chosen from; all where it is None.
        """
        if not self.encoders or len(self.rows) < 2 * smallest:
            return Leaves(None, (), self.order, np.zeros(1, dtype=np.int64), np.array([len(self.rows)]))
        from sklearn.tree import DecisionTreeRegressor  # on first use: it takes a second to load

        # of two cuts that are as good the same one always: all that is drawn comes from one source
        ties = 0 if tried is None else None
        tree = DecisionTreeRegressor(min_samples_leaf=smallest, max_features=tried, random_state=ties)
        target = self.coordinates.astype(np.float32)
        if weights is None:
            tree.fit(self.seen, target)
        else:
            sees = weights > 0  # once each: a leaf has to have enough different rows
            tree.fit(self.seen[sees], target[sees], sample_weight=weights[sees])
        place = np.empty(int(self.rows.max()) + 1, dtype=np.int64)
        place[self.rows] = tree.apply(self.seen)
        inside = np.argsort(place[self.order], kind="stable")
        count = np.bincount(place[self.rows], minlength=tree.tree_.node_count)
        return Leaves(tree, self.encoders, self.order[inside], np.cumsum(count) - count, count)


def _matrix(encoders: tuple[Encoder, ...], values: list[Floats]) -> Predictors:
    columns = [part for encoder, own in zip(encoders, values, strict=True) for part in encoder.seen(own)]
    made = np.empty((len(columns[0]), len(columns)), dtype=np.float32)
    with np.errstate(over="ignore"):
        for place, column in enumerate(columns):
            made[:, place] = column
    return np.clip(made, -LARGEST, LARGEST, out=made)


def _coordinates(target: Variable, predictors: list[Variable], rows: Codes) -> Floats:
    """Return what the tree's cuts are judged by, shape (rows, coordinates), each with mean 0."""
    if isinstance(target, Amounts):
        ranks = _ranks(target.values[rows])
        return (ranks - ranks.mean())[:, None] if len(ranks) else np.empty((0, 0))
    codes = target.codes[rows]
    shares = np.bincount(codes, minlength=target.size) / max(len(rows), 1)
    occurring = np.flatnonzero(shares)
    if len(occurring) <= 1:
        return np.empty((len(rows), 0))
    if len(occurring) <= FEW_LEVELS:
        return np.column_stack([(codes == level) - shares[level] for level in occurring[1:]])
    axes = _principal_axes(target, predictors, rows)
    return np.asarray((axes - shares @ axes)[codes])


def _ranks(values: Floats) -> Floats:
    """Return the mean rank of equal values, from 0 to 1: one outlier must not decide every cut."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts + 1) / 2
    return np.asarray(middle[place] / max(len(values), 1))


def _principal_axes(target: Levels, predictors: list[Variable], rows: Codes) -> Floats:
    """Return two coordinates of each level, shape (levels, 2): along which predictors tell levels apart.

    Notes
    -----
    The tables (cell of a predictor × level) less what independence would give, rows weighted by the root of
    their counts; counted, never made of indicators of all rows.
    """
    codes, size = target.codes[rows], target.size
    scatter = np.zeros((size, size))
    shares = np.bincount(codes, minlength=size) / len(rows)
    for one in predictors:
        cell, cells = _cells(one, rows)
        table = np.bincount(cell * size + codes, minlength=cells * size).reshape(cells, size)
        counts = table.sum(axis=1, keepdims=True)
        apart = (table - counts * shares) / np.sqrt(np.maximum(counts, 1))
        scatter += apart.T @ apart
    return np.asarray(np.linalg.eigh(scatter)[1][:, -2:])


def _cells(variable: Variable, rows: Codes) -> tuple[Codes, int]:
    if isinstance(variable, Levels):
        return variable.codes[rows], variable.size
    values = variable.values[rows]
    known = values[~np.isnan(values)]
    cuts = np.unique(np.quantile(known, np.linspace(0, 1, 17)[1:-1])) if known.size else np.empty(0)
    cell = np.where(np.isnan(values), len(cuts) + 1, np.searchsorted(cuts, values, side="right"))
    return cell.astype(np.int64), len(cuts) + 2


def _first_axis(means: Floats, counts: Codes) -> Floats:
    spread = (means * counts[:, None]).T @ means
    return np.asarray(np.linalg.eigh(spread)[1][:, -1])
