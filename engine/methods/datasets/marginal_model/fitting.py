"""The model that agrees best with noisy tables and assumes nothing else: maximum entropy over a tree."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
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
from engine.once import once
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

    @once
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


# --- two sweeps over a junction tree ---------------------------------------------------------------------
# From logarithms of some tables to the shares of every clique.


@dataclass(frozen=True)
class Sum:
    """One table is another one summed over a column."""

    of: Attributes
    axis: int
    left: Attributes


def sums(clique: Attributes, wanted: Collection[Attributes], sizes: Sequence[int]) -> list[Sum]:
    """Return how tables of some columns of a clique are summed, each from the smallest table at hand.

    Notes
    -----
    The largest column that some wanted table lacks goes first: what is left is small, and serves all wanted
    tables without that column.

    Examples
    --------
    >>> [(one.of, one.left) for one in sums((0, 1, 2), [(0, 1), (0,), (1, 2)], (2, 3, 9))]
    [((0, 1, 2), (0, 1)), ((0, 1), (0,)), ((0, 1, 2), (1, 2))]
    """
    found: list[Sum] = []
    left = [one for one in dict.fromkeys(wanted) if one != clique]
    while left:
        gone = max((c for c in clique if any(c not in one for one in left)), key=lambda c: sizes[c])
        smaller = tuple(one for one in clique if one != gone)
        found.append(Sum(clique, clique.index(gone), smaller))
        found += sums(smaller, [one for one in left if gone not in one], sizes)
        left = [one for one in left if gone in one]
    return found


class Propagation:
    """What two sweeps over a tree do, laid out once for all that follow.

    Parameters
    ----------
    tree
        A junction tree.
    names
        Columns of the tables whose logarithms are given, and whose shares are wanted; every one is inside
        some clique.
    """

    def __init__(self, tree: JunctionTree, names: Collection[Attributes]) -> None:
        places = range(len(tree.cliques))
        self.tree = tree
        self._hosted = [[name for name in names if tree.home(name) == place] for place in places]
        self._joint = [tree.joint(place) for place in places]
        self._children = [[one for one in places if tree.parents[one] == place] for place in places]
        self._upwards, self._downwards = [], []
        for place, clique in enumerate(tree.cliques):
            passed_on = [self._joint[child] for child in self._children[place]]
            upwards = [self._joint[place]] if tree.parents[place] >= 0 else []
            self._upwards.append(sums(clique, upwards, tree.sizes))
            self._downwards.append(sums(clique, [*self._hosted[place], *passed_on], tree.sizes))
        self._built = [self._layers(place) for place in places]

    def run(self, potentials: Mapping[Attributes, Floats]) -> tuple[list[Floats], dict[Attributes, Floats]]:
        """Return the joint shares of every clique, each summing to 1, and those of every name.

        Parameters
        ----------
        potentials
            By name: logarithms, in the shape of its columns.

        Notes
        -----
        Towards the roots each clique passes on the sums over its own columns, back each is corrected by what
        its parent knows (Hugin form; 0/0 is 0).
        """
        with np.errstate(over="ignore", invalid="ignore"):  # whoever fits takes no step to such numbers
            return self._swept(potentials)

    def _swept(
        self, potentials: Mapping[Attributes, Floats]
    ) -> tuple[list[Floats], dict[Attributes, Floats]]:
        cliques, parents = self.tree.cliques, self.tree.parents
        beliefs = [self._belief(place, potentials) for place in range(len(cliques))]
        passed: dict[int, Floats] = {}
        for place in reversed(range(len(cliques))):
            if (parent := parents[place]) >= 0:
                found = self._summed(place, beliefs[place], self._upwards[place])
                message = found[self._joint[place]]
                passed[place] = message
                beliefs[parent] *= spread(message / message.max(), self._joint[place], cliques[parent])
        known: dict[int, Floats] = {}
        tables: dict[Attributes, Floats] = {}
        for place, clique in enumerate(cliques):
            belief = beliefs[place]
            if place in passed:
                sent = passed[place]
                ratio = np.divide(known[place], sent, out=np.zeros_like(sent), where=sent > 0)
                belief *= spread(ratio, self._joint[place], clique)
            else:
                belief /= belief.sum()
            found = self._summed(place, belief, self._downwards[place])
            tables |= {name: found[name] for name in self._hosted[place]}
            known |= {child: found[self._joint[child]] for child in self._children[place]}
        return beliefs, tables

    def _summed(self, place: int, belief: Floats, order: Sequence[Sum]) -> dict[Attributes, Floats]:
        found = {self.tree.cliques[place]: belief}
        for one in order:
            found[one.left] = _without(found[one.of], one.axis)
        return found

    def _layers(self, place: int) -> list[tuple[Attributes, int, list[Attributes]]]:
        """Return how a clique's logarithms are added up: column by column, so that most sums are small.

        For each of them: the columns so far, the axis that is new, and the tables that can now be added.
        """
        sizes, clique = self.tree.sizes, self.tree.cliques[place]
        rising, left = sorted(clique, key=lambda one: sizes[one]), list(self._hosted[place])
        found = []
        for count in range(1, len(rising) + 1):
            columns = tuple(sorted(rising[:count]))
            added = [name for name in left if set(name) <= set(columns)]
            left = [name for name in left if name not in added]
            found.append((columns, columns.index(rising[count - 1]), added))
        return found

    def _belief(self, place: int, potentials: Mapping[Attributes, Floats]) -> Floats:
        total = np.zeros(())
        for columns, new, added in self._built[place]:
            total = np.expand_dims(total, new)
            for name in added:
                total = total + spread(potentials[name], name, columns)
        shares = np.exp(total - total.max())
        shape = self.tree.shape(self.tree.cliques[place])
        return shares if shares.shape == shape else np.broadcast_to(shares, shape).copy()


def spread(table: Floats, of: Attributes, over: Attributes) -> Floats:
    """Give a table the axes of more columns."""
    sizes = dict(zip(of, table.shape, strict=True))
    return table.reshape([sizes.get(one, 1) for one in over])


def _without(table: Floats, axis: int) -> Floats:
    """Sum over one axis: as a product with ones where it is the last, which is several times faster."""
    shape = table.shape
    left = shape[:axis] + shape[axis + 1 :]
    if axis == len(shape) - 1:
        return np.asarray(table.reshape(-1, shape[axis]) @ np.ones(shape[axis])).reshape(left)
    return np.asarray(table.reshape(prod(shape[:axis]), shape[axis], -1).sum(axis=1)).reshape(left)
