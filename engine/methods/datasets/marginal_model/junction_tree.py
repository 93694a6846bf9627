"""Junction trees: which columns are modelled together, and their joint shares.

A set of pairs of columns becomes a graph; the graph is made triangular, its cliques form a tree, and two
sweeps over the tree give the shares of every clique exactly (Koller and Friedman 2009, chapter 10).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from engine import arrays

Floats = arrays.Floats
Attributes = tuple[int, ...]
"""Places of columns, rising."""


@dataclass(frozen=True)
class JunctionTree:
    """Cliques and how they hang together.

    Parameters
    ----------
    sizes
        Cells of every column.
    cliques
        Each the rising places of its columns; a parent stands before its children.
    parents
        Of each clique the place of its parent, −1 for the first of a component.
    """

    sizes: tuple[int, ...]
    cliques: tuple[Attributes, ...]
    parents: tuple[int, ...]

    def shape(self, attributes: Attributes) -> tuple[int, ...]:
        """Return the sizes of columns."""
        return tuple(self.sizes[one] for one in attributes)

    @property
    def cells(self) -> int:
        """How many cells all cliques have together."""
        return sum(prod(self.shape(clique)) for clique in self.cliques)

    @cached_property
    def _homes(self) -> dict[Attributes, int]:
        return {}

    def home(self, attributes: Attributes) -> int:
        """Return the place of the smallest clique that holds some columns."""
        if attributes not in self._homes:
            holding = [p for p, clique in enumerate(self.cliques) if set(attributes) <= set(clique)]
            self._homes[attributes] = min(holding, key=lambda p: prod(self.shape(self.cliques[p])))
        return self._homes[attributes]

    def shares(self, potentials: Mapping[Attributes, Floats]) -> list[Floats]:
        """Return the joint shares of every clique, each summing to 1.

        Parameters
        ----------
        potentials
            By columns: logarithms, in the shape of these columns; every set is inside some clique.

        Notes
        -----
        Two sweeps: towards the roots each clique passes on the sums over its own columns, back each is
        corrected by what its parent knows (Hugin form; 0/0 is 0).
        """
        with np.errstate(over="ignore", invalid="ignore"):  # whoever fits takes no step to such numbers
            return self._swept(potentials)

    def _swept(self, potentials: Mapping[Attributes, Floats]) -> list[Floats]:
        beliefs = [self._belief(place, potentials) for place in range(len(self.cliques))]
        passed: list[Floats | None] = [None] * len(self.cliques)
        for place in reversed(range(len(self.cliques))):
            parent = self.parents[place]
            if parent < 0:
                continue
            message = _summed(beliefs[place], self.cliques[place], self.cliques[parent])
            message = message / message.max()
            beliefs[parent] = beliefs[parent] * _spread(message, self._joint(place), self.cliques[parent])
            beliefs[parent] /= beliefs[parent].max()
            passed[place] = message
        for place, parent in enumerate(self.parents):
            sent = passed[place]
            if sent is not None:
                known = _summed(beliefs[parent], self.cliques[parent], self.cliques[place])
                ratio = np.divide(known, sent, out=np.zeros_like(known), where=sent > 0)
                beliefs[place] = beliefs[place] * _spread(ratio, self._joint(place), self.cliques[place])
            beliefs[place] = beliefs[place] / beliefs[place].sum()
        return beliefs

    def table(self, shares: Sequence[Floats], attributes: Attributes) -> Floats:
        """Return the shares of some columns of one clique."""
        place = self.home(attributes)
        return _summed(shares[place], self.cliques[place], attributes)

    def _joint(self, place: int) -> Attributes:
        """Return the columns that a clique shares with its parent."""
        above = set(self.cliques[self.parents[place]])
        return tuple(one for one in self.cliques[place] if one in above)

    def _belief(self, place: int, potentials: Mapping[Attributes, Floats]) -> Floats:
        clique = self.cliques[place]
        total = np.zeros(self.shape(clique))
        for attributes, potential in potentials.items():
            if self.home(attributes) == place:
                total = total + _spread(potential, attributes, clique)
        return np.exp(total - total.max())


def junction_tree(sizes: Sequence[int], pairs: Iterable[Attributes]) -> JunctionTree:
    """Return a junction tree in which every pair of columns has a clique.

    Parameters
    ----------
    sizes
        Cells of every column.
    pairs
        Columns that have to be modelled together.

    Examples
    --------
    >>> junction_tree((2, 3, 4), [(0, 1), (1, 2)]).cliques
    ((0, 1), (1, 2))
    """
    cliques = _cliques(sizes, pairs)
    weights = {
        (a, b): len(set(cliques[a]) & set(cliques[b]))
        for a in range(len(cliques))
        for b in range(a + 1, len(cliques))
    }
    # A spanning tree of largest intersections: what two cliques share is in all cliques between them.
    order, parents, left = [0], {0: -1}, set(range(1, len(cliques)))
    while left:
        found = max(((weights[min(a, b), max(a, b)], -b, -a) for a in order for b in left), default=(0, 0, 0))
        weight, child, parent = found[0], -found[1], -found[2]
        parents[child] = parent if weight else -1
        order.append(child)
        left.remove(child)
    place = {clique: new for new, clique in enumerate(order)}
    return JunctionTree(
        tuple(sizes),
        tuple(cliques[one] for one in order),
        tuple(-1 if parents[one] < 0 else place[parents[one]] for one in order),
    )


def cells_with(sizes: Sequence[int], pairs: Iterable[Attributes], *, most: int) -> bool:
    """Whether the cliques of a junction tree for these pairs have at most ``most`` cells each."""
    return all(prod(sizes[one] for one in clique) <= most for clique in _cliques(sizes, pairs))


def _cliques(sizes: Sequence[int], pairs: Iterable[Attributes]) -> list[Attributes]:
    """Eliminate columns one by one, the one whose neighbours lack the fewest links first."""
    near: dict[int, set[int]] = {one: set() for one in range(len(sizes))}
    for a, b in pairs:
        near[a].add(b)
        near[b].add(a)
    found: list[set[int]] = []
    while near:
        chosen = min(near, key=lambda one: (_missing(near, one, sizes), one))
        clique = near.pop(chosen)
        for one in clique:
            near[one] |= clique - {one}
            near[one].discard(chosen)
        own = clique | {chosen}
        if not any(own <= other for other in found):
            found.append(own)
    return [tuple(sorted(clique)) for clique in found]


def _missing(near: Mapping[int, set[int]], one: int, sizes: Sequence[int]) -> int:
    """Return the cells of the links that eliminating a column would add."""
    around = sorted(near[one])
    return sum(
        sizes[a] * sizes[b] for place, a in enumerate(around) for b in around[place + 1 :] if b not in near[a]
    )


def _summed(table: Floats, of: Attributes, wanted: Attributes) -> Floats:
    """Sum over the columns that are not wanted; those wanted that are not there are passed over."""
    away = tuple(place for place, one in enumerate(of) if one not in wanted)
    return np.asarray(table.sum(axis=away)) if away else table


def _spread(table: Floats, of: Attributes, over: Attributes) -> Floats:
    """Give a table the axes of more columns."""
    sizes = dict(zip(of, table.shape, strict=True))
    return table.reshape([sizes.get(one, 1) for one in over])
