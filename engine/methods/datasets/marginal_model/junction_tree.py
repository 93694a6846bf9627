"""Junction trees: which columns are modelled together, and their joint shares.

A set of pairs of columns becomes a graph; the graph is made triangular, its cliques form a tree, and two
sweeps over the tree give the shares of every clique exactly (Koller and Friedman 2009, chapter 10).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from engine import arrays
from engine.once import once

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

    @once
    def _homes(self) -> dict[Attributes, int]:
        return {}

    def home(self, attributes: Attributes) -> int:
        """Return the place of the smallest clique that holds some columns."""
        if attributes not in self._homes:
            holding = [p for p, clique in enumerate(self.cliques) if set(attributes) <= set(clique)]
            self._homes[attributes] = min(holding, key=lambda p: prod(self.shape(self.cliques[p])))
        return self._homes[attributes]

    def table(self, shares: Sequence[Floats], attributes: Attributes) -> Floats:
        """Return the shares of some columns of one clique."""
        place = self.home(attributes)
        return _sum(shares[place], self.cliques[place], attributes)

    def joint(self, place: int) -> Attributes:
        """Return the columns that a clique shares with its parent: none where it has none."""
        above = self.cliques[self.parents[place]] if self.parents[place] >= 0 else ()
        return tuple(one for one in self.cliques[place] if one in above)


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
    # A spanning tree of largest intersections: what two cliques share is in all cliques between them.
    order, parents = [0], {0: -1}
    nearest = {one: (len(set(cliques[0]) & set(cliques[one])), 0) for one in range(1, len(cliques))}
    while nearest:
        child = max(nearest, key=lambda one: (nearest[one][0], -one))
        weight, parent = nearest.pop(child)
        parents[child] = parent if weight else -1
        order.append(child)
        for one, (most, at) in nearest.items():
            shared = len(set(cliques[child]) & set(cliques[one]))
            if (shared, -child) > (most, -at):
                nearest[one] = (shared, child)
    place = {clique: new for new, clique in enumerate(order)}
    return JunctionTree(
        tuple(sizes),
        tuple(cliques[one] for one in order),
        tuple(-1 if parents[one] < 0 else place[parents[one]] for one in order),
    )


def cells_joined(tree: JunctionTree) -> dict[Attributes, int]:
    """Return for pairs of columns a number of cells that suffices for every clique that joining them changes.

    Notes
    -----
    One of the two is added to the cliques on the way to the other: the tree stays a junction tree. 0 where
    they are in one clique already; a pair that no way joins is left out.

    Examples
    --------
    >>> cells_joined(junction_tree((2, 3, 4), [(0, 1), (1, 2)]))
    {(0, 1): 0, (0, 2): 24, (1, 2): 0}
    """
    beside: list[list[int]] = [[] for _ in tree.cliques]
    for place, parent in enumerate(tree.parents):
        if parent >= 0:
            beside[place].append(parent)
            beside[parent].append(place)
    cells = [prod(tree.shape(clique)) for clique in tree.cliques]
    found: dict[Attributes, int] = {}
    for one, size in enumerate(tree.sizes):
        most = {place: 0 for place, clique in enumerate(tree.cliques) if one in clique}
        ahead = list(most)
        while ahead:
            place = ahead.pop()
            for other in tree.cliques[place]:
                if other != one:
                    pair = (min(one, other), max(one, other))
                    found[pair] = min(found.get(pair, most[place]), most[place])
            for further in beside[place]:
                if further not in most:
                    most[further] = max(most[place], size * cells[further])
                    ahead.append(further)
    return dict(sorted(found.items()))


def cells_with(sizes: Sequence[int], pairs: Iterable[Attributes], *, most: int) -> bool:
    """Whether the cliques of a junction tree for these pairs have at most ``most`` cells each."""
    return all(prod(sizes[one] for one in clique) <= most for clique in _eliminate(sizes, pairs))


def _cliques(sizes: Sequence[int], pairs: Iterable[Attributes]) -> list[Attributes]:
    found: list[set[int]] = []
    for own in _eliminate(sizes, pairs):
        if not any(own <= other for other in found):
            found.append(own)
    return [tuple(sorted(clique)) for clique in found]


def _eliminate(sizes: Sequence[int], pairs: Iterable[Attributes]) -> Iterator[set[int]]:
    """Eliminate columns one by one, the one whose neighbours lack the fewest links first."""
    near: dict[int, set[int]] = {one: set() for one in range(len(sizes))}
    for a, b in pairs:
        near[a].add(b)
        near[b].add(a)
    missing = {one: _missing(near, one, sizes) for one in near}
    while near:
        chosen = min(missing, key=lambda one: (missing[one], one))
        links = missing.pop(chosen)
        around = near.pop(chosen)
        yield around | {chosen}
        for one in around:
            near[one] |= around - {one}
            near[one].discard(chosen)
        # Where no link was added, only for the neighbours something changed.
        changed = set().union(around, *(near[one] for one in around)) if links else around
        for one in changed:
            missing[one] = _missing(near, one, sizes)


def _missing(near: Mapping[int, set[int]], one: int, sizes: Sequence[int]) -> int:
    """Return the cells of the links that eliminating a column would add."""
    left, found = set(near[one]), 0
    for a in near[one]:
        left.discard(a)
        found += sizes[a] * sum(sizes[b] for b in left - near[a])
    return found


def _sum(table: Floats, of: Attributes, wanted: Attributes) -> Floats:
    """Sum over the columns that are not wanted; those wanted that are not there are passed over."""
    away = tuple(place for place, one in enumerate(of) if one not in wanted)
    return np.asarray(table.sum(axis=away)) if away else table
