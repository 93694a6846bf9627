"""Two sweeps over a junction tree: from logarithms of some tables to the shares of every clique."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from engine.methods.datasets.marginal_model.junction_tree import Attributes, Floats, JunctionTree


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
