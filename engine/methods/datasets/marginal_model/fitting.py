"""The model that agrees best with noisy tables and assumes nothing else: maximum entropy over a tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from engine import arrays
from engine.methods.datasets.marginal_model.junction_tree import (
    Attributes,
    Floats,
    JunctionTree,
    junction_tree,
)
from engine.progress import SILENT, Progress

Codes = arrays.Integers


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

    def coarse(self, table: Floats) -> Floats:
        """Return a table of all cells as one of groups."""
        for axis, group in enumerate(self.groups):
            if not _is_fine(group):
                table = _grouped(table, group, axis, self.counts.shape[axis])
        return table

    def spread(self, table: Floats) -> Floats:
        """Give every cell what its group has."""
        for axis, group in enumerate(self.groups):
            if not _is_fine(group):
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
        The tree of the measured pairs, and the shares of its cliques.
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
        """The pairs that are modelled together."""
        return [one for one in self.potentials if len(one) == 2]

    def table(self, attributes: Attributes) -> Floats:
        """Return the expected counts of columns that one clique holds."""
        return self.total * self.tree.table(self.shares, attributes)

    def fit(self, measured: Sequence[Measured], *, steps: int, progress: Progress = SILENT) -> None:
        """Move the model towards noisy tables.

        Notes
        -----
        Minimises ½ Σ ‖N · A μ − y‖² / σ² over all models of the tree by mirror descent with the entropy as
        its geometry: logarithms move against the gradient. A step is taken where the loss falls by at least
        .4 of what the gradient promises (it is convex in the shares), else it is halved.
        """
        for one in measured:
            if one.attributes not in self.potentials:
                self.potentials[one.attributes] = np.zeros([self.sizes[a] for a in one.attributes])
        self._grow()
        loss, gradient, expected = self._loss(self.potentials, measured)
        self.step = self.step or 1 / max(self.total**2 / min(one.deviation for one in measured) ** 2, 1.0)
        recent = loss
        for count in range(steps):
            progress.step(count / steps, "synthesis.fit")
            tried = {name: value - self.step * gradient[name] for name, value in self.potentials.items()}
            shares = self.tree.shares(tried)
            tables = {name: self.tree.table(shares, name) for name in tried}
            promised = sum(float(np.vdot(gradient[name], expected[name] - tables[name])) for name in gradient)
            new_loss, new_gradient, _ = self._loss_of(tables, measured)
            if not new_loss <= loss - 0.4 * promised:
                self.step /= 2
                if self.step < 1e-30:
                    break
                continue
            self.potentials, self.shares = tried, shares
            loss, gradient, expected = new_loss, new_gradient, tables
            self.step *= 1.3
            if count % 10 == 9:
                if recent - loss <= 1e-4 * max(loss, 1e-9):  # ten steps
                    break
                recent = loss

    def _grow(self) -> None:
        self.tree = junction_tree(self.sizes, self.pairs)
        self.shares = self.tree.shares(self.potentials)

    def _loss(
        self, potentials: Mapping[Attributes, Floats], measured: Sequence[Measured]
    ) -> tuple[float, dict[Attributes, Floats], dict[Attributes, Floats]]:
        self.shares = self.tree.shares(potentials)
        return self._loss_of({name: self.tree.table(self.shares, name) for name in potentials}, measured)

    def _loss_of(
        self, tables: dict[Attributes, Floats], measured: Sequence[Measured]
    ) -> tuple[float, dict[Attributes, Floats], dict[Attributes, Floats]]:
        """Return the loss, its gradient by columns, and the tables it was computed from."""
        loss = 0.0
        gradient = {name: np.zeros_like(table) for name, table in tables.items()}
        for one in measured:
            residual = (self.total * one.coarse(tables[one.attributes]) - one.counts) / one.deviation**2
            loss += 0.5 * float(np.vdot(residual, residual)) * one.deviation**2
            gradient[one.attributes] += self.total * one.spread(residual)
        return loss, gradient, tables


def _is_fine(group: Codes) -> bool:
    return bool(group[-1] == len(group) - 1 and np.array_equal(group, np.arange(len(group))))


def _grouped(table: Floats, group: Codes, axis: int, size: int) -> Floats:
    indicator = (np.arange(size)[:, None] == group).astype(np.float64)
    return np.moveaxis(np.tensordot(indicator, table, axes=(1, axis)), 0, axis)
