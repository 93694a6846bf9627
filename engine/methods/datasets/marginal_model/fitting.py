"""The model that agrees best with noisy tables and assumes nothing else: maximum entropy over a tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import prod

import numpy as np

from engine import arrays
from engine.methods.datasets.marginal_model.junction_tree import (
    Attributes,
    Floats,
    JunctionTree,
    junction_tree,
)
from engine.methods.datasets.marginal_model.propagation import Propagation, spread
from engine.progress import SILENT, Progress

Codes = arrays.Integers

CHECKED = 10
"""After so many steps each it is looked whether a fit still gains."""
FURTHEST, DEEPEST = 2.0, -300.0
"""By how much a step moves a logarithm at most, and how far below the largest of its table one is kept."""


@dataclass(frozen=True)
class Measured:
    """A noisy table of counts.

    Parameters
    ----------
    attributes
        Its columns, rising.
    groups
        For each of them, the group of every cell: a coarse table counts groups.
    counts
        Noisy, one for each combination of groups.
    deviation
        Standard deviation of their noise.
    """

    attributes: Attributes
    groups: tuple[Codes, ...]
    counts: Floats
    deviation: float

    @cached_property
    def merged(self) -> tuple[Floats | None, ...]:
        """For each column the matrix that adds up cells of a group; None where every cell is its own."""
        return tuple(
            None if _is_fine(group) else (np.arange(size)[:, None] == group).astype(np.float64)
            for group, size in zip(self.groups, self.counts.shape, strict=True)
        )

    @property
    def is_fine(self) -> bool:
        """Whether every cell is counted by itself."""
        return all(matrix is None for matrix in self.merged)

    def coarse(self, table: Floats) -> Floats:
        """Return a table of all cells as one of groups."""
        for axis, matrix in enumerate(self.merged):
            if matrix is not None:
                table = np.moveaxis(np.tensordot(matrix, table, axes=(1, axis)), 0, axis)
        return table

    def spread(self, table: Floats) -> Floats:
        """Give every cell what its group has."""
        for axis, (group, matrix) in enumerate(zip(self.groups, self.merged, strict=True)):
            if matrix is not None:
                table = np.take(table, group, axis=axis)
        return table


@dataclass
class Model:
    """A log-linear model: one table of logarithms for every measured set of columns.

    Parameters
    ----------
    sizes
        Cells of every column.
    total
        Estimated number of rows.
    potentials
        By columns. They are kept while the tree changes around them.
    tree, shares
        The tree of the measured tables, and the shares of its cliques.
    step
        Of the descent; kept from one fit to the next.
    """

    sizes: tuple[int, ...]
    total: float
    potentials: dict[Attributes, Floats] = field(default_factory=dict)
    tree: JunctionTree = field(init=False)
    shares: list[Floats] = field(init=False)
    step: float = 0.0

    def __post_init__(self) -> None:
        self._grow()

    @property
    def pairs(self) -> list[Attributes]:
        """The pairs that are modelled together: those measured, and those inside larger tables."""
        return list(dict.fromkeys(pair for one in self.potentials for pair in combinations(one, 2)))

    def table(self, attributes: Attributes) -> Floats:
        """Return the expected counts of columns that one clique holds."""
        return self.total * self.tree.table(self.shares, attributes)

    def fit(
        self,
        measured: Sequence[Measured],
        *,
        steps: int,
        enough: float = 0.0,
        progress: Progress = SILENT,
    ) -> None:
        """Move the model towards noisy tables.

        Parameters
        ----------
        measured
            The tables.
        steps
            At most so many.
        enough
            The fit ends where ten steps make its loss less by no more than this share of it.

        Notes
        -----
        Minimises ½ Σ ‖N · A μ − y‖² / σ² over all models of the tree by mirror descent with the entropy as
        its geometry, with momentum: logarithms move against the gradient, and on in the direction that they
        have been moving in (Nesterov 1983, coefficients (k − 1) / (k + 2)). Where the loss rises, the step is
        taken back and the momentum is lost (O'Donoghue and Candès 2015, section 3.2). Steps grow until they
        are too long for the first time.
        """
        self._hold(measured)
        aim = Aim(measured, list(self.potentials), self.sizes, self.total)
        place = aim.flat(self.potentials)
        loss, slope, shares = self._looked(aim, place)
        moved = np.zeros_like(place)
        step = 2 * self.step or (min(one.deviation for one in measured) / self.total) ** 2
        count, too_long, recent = 0, False, loss
        for done in range(steps):
            progress.step(done / steps, "synthesis.fit")
            if done % CHECKED == CHECKED - 1:
                if recent - loss <= enough * loss:
                    break
                recent = loss
            count += 1
            step = min(step, FURTHEST / max(float(np.abs(slope).max()), 1e-300))
            pull = (count - 1) / (count + 2)
            ahead = max(count - 2, 0) / (count + 1) * moved - step * slope
            tried = place - step * slope + pull * ahead
            new_loss, new_slope, new_shares = self._looked(aim, tried)
            if new_loss <= loss:
                place, loss, slope, shares, moved = tried, new_loss, new_slope, new_shares, ahead
                step *= 1.0 if too_long else 1.5
                continue
            too_long, step = True, step / (1.2 if count > 1 else 2)
            count, moved = 0, np.zeros_like(place)
        self.potentials = {name: _level(table) for name, table in aim.tables(place).items()}
        self.shares, self.step = shares, step

    def _looked(self, aim: Aim, place: Floats) -> tuple[float, Floats, list[Floats]]:
        """Return the loss, its gradient and the shares of the cliques at some logarithms."""
        shares, tables = self._propagation.run(aim.tables(place))
        return *aim.loss(aim.flat(tables)), shares

    def _hold(self, measured: Sequence[Measured]) -> None:
        """Give every measured table logarithms: its own, or those of a table that holds its columns."""
        for one in measured:
            name = one.attributes
            if any(set(name) <= set(other) for other in self.potentials):
                continue
            if len(name) == 1:
                self.potentials[name] = np.log(np.maximum(one.counts, one.deviation) / self.total)
            else:
                self.potentials[name] = np.zeros([self.sizes[a] for a in name])
        for held in [one for one in self.potentials if len(one) == 1]:
            for name in [one for one in self.potentials if len(one) > 1]:
                if held[0] in name:
                    own = spread(self.potentials.pop(held), held, name)
                    self.potentials[name] = self.potentials[name] + own
                    break
        self._grow()

    def _grow(self) -> None:
        self.tree = junction_tree(self.sizes, self.pairs)
        self._propagation = Propagation(self.tree, list(self.potentials))
        self.shares = self._propagation.run(self.potentials)[0]


class Aim:
    """What a model is fitted to, laid out as one long row of numbers: all cells of all its tables.

    Parameters
    ----------
    measured
        Noisy tables.
    names
        Columns of the tables that the model has logarithms of; every measured table is inside one of them.
    sizes, total
        Of the model.

    Notes
    -----
    Several tables of all cells of the same columns are one: their mean by exactness, and a constant.
    """

    def __init__(
        self, measured: Sequence[Measured], names: Sequence[Attributes], sizes: Sequence[int], total: float
    ) -> None:
        self._shapes = {name: tuple(sizes[one] for one in name) for name in names}
        ends = np.cumsum([0, *(prod(shape) for shape in self._shapes.values())]).tolist()
        self._slices = {name: slice(*ends[k : k + 2]) for k, name in enumerate(names)}
        self._total = total
        self._weight, self._wanted = np.zeros(ends[-1]), np.zeros(ends[-1])
        self._constant = 0.0
        self._others: list[tuple[Attributes, tuple[int, ...], Measured]] = []
        for one in measured:
            exactness = 1 / one.deviation**2
            if one.attributes in self._slices and one.is_fine:
                own = self._slices[one.attributes]
                self._weight[own] += exactness
                self._wanted[own] += exactness * one.counts.ravel()
                self._constant += 0.5 * exactness * float(np.vdot(one.counts, one.counts))
            else:
                inside = next(name for name in names if set(one.attributes) <= set(name))
                away = tuple(axis for axis, own in enumerate(inside) if own not in one.attributes)
                self._others.append((inside, away, one))
        np.divide(self._wanted, self._weight, out=self._wanted, where=self._weight > 0)
        self._constant -= 0.5 * float((self._weight * self._wanted**2).sum())

    def flat(self, tables: Mapping[Attributes, Floats]) -> Floats:
        """Return tables as one row."""
        return np.concatenate([tables[name].ravel() for name in self._slices])

    def tables(self, row: Floats) -> dict[Attributes, Floats]:
        """Return one row as tables."""
        return {name: row[own].reshape(self._shapes[name]) for name, own in self._slices.items()}

    def loss(self, shares: Floats) -> tuple[float, Floats]:
        """Return ½ Σ ‖N · A μ − y‖² / σ² and its gradient, both by a row of shares."""
        off = self._total * shares - self._wanted
        slope = self._total * self._weight * off
        loss = self._constant + 0.5 * float(slope @ off) / self._total
        tables, slopes = self.tables(shares), self.tables(slope)
        for inside, away, one in self._others:
            table = tables[inside].sum(axis=away) if away else tables[inside]
            left = (self._total * one.coarse(table) - one.counts) / one.deviation
            loss += 0.5 * float(np.vdot(left, left))
            back = one.spread(left * (self._total / one.deviation))
            slopes[inside] += np.expand_dims(back, away)
        return loss, slope


def _is_fine(group: Codes) -> bool:
    return bool(group[-1] == len(group) - 1 and np.array_equal(group, np.arange(len(group))))


def _level(table: Floats) -> Floats:
    """Lift logarithms so that the largest is 0, and the finite ones to where their shares are nothing."""
    found = table - table.max()
    return np.asarray(np.where(np.isneginf(found), found, np.maximum(found, DEEPEST)))
