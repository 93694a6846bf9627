"""Which columns are parents of which: chosen one after the other by the exponential mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from engine import arrays
from engine.methods.datasets.bayes_network.shares import Shares
from engine.privacy.noise import Noise
from engine.progress import SILENT, Progress

Codes = arrays.Integers


@dataclass(frozen=True)
class Node:
    """A column and its parents, which were chosen before it."""

    column: int
    parents: tuple[int, ...]


@dataclass(frozen=True)
class Rows:
    """Cells of every row, fine and coarse, shape (columns, n) each, and how many there are of both."""

    fine: Codes
    coarse: Codes
    sizes: tuple[int, ...]
    groups: tuple[int, ...]

    def table(self, node: Node) -> Codes:
        """Return the counts of the groups of the parents (lines) by the cells of the column."""
        place = np.zeros(self.fine.shape[1], dtype=np.int64)
        lines = 1
        for parent in node.parents:
            place = place * self.groups[parent] + self.coarse[parent]
            lines *= self.groups[parent]
        size = self.sizes[node.column]
        found = np.bincount(place * size + self.fine[node.column], minlength=lines * size)
        return found.reshape(lines, size).astype(np.int64)


def score(table: Codes) -> int:
    """Return how far a table is from that of independence: ½ Σ |T − r·c/n| in whole rows, rounded down.

    Notes
    -----
    One more row, in line a and column b, adds n/(n+1) · (1[i=a] − r_i/n)(1[j=b] − c_j/n) to every term, so
    that the sum of absolute values moves by at most 4 (1 − r_a/n)(1 − c_b/n) < 4, and half of it by less than
    2. With n in it PrivBayes (2017) divides by a number of rows that is private too. In integers throughout.

    Examples
    --------
    >>> score(np.array([[5, 0], [0, 5]])), score(np.array([[4, 4], [1, 1]])), score(np.zeros((2, 2), int))
    (5, 0, 0)
    """
    n = int(table.sum())
    if n == 0:
        return 0
    apart = np.abs(n * table - table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True))
    return int(apart.sum()) // (2 * n)


def structure(
    rows: Rows, shares: Shares, *, total: float, noise: Noise, progress: Progress = SILENT
) -> list[Node]:
    """Return every column with its parents, in an order in which parents stand before their children.

    Parameters
    ----------
    rows
        Counted by `Rows.table` alone, whose result is only a score of a choice.
    shares
        Which noise everything gets.
    total
        Noisy number of rows: says how large tables may be.

    Notes
    -----
    PrivBayes (2017), algorithm 4: in each step every column that is left, with every set of parents that has
    room, is a candidate.
    """
    columns = len(shares.sizes)
    nodes = [Node(int(noise.uniform_below(columns, 1)[0]), ())]
    room = shares.room(total)
    scores: dict[Node, int] = {}
    while len(nodes) < columns:
        progress.step(len(nodes) / columns, "synthesis.structure")
        known = [node.column for node in nodes]
        left = [column for column in range(columns) if column not in known]
        candidates = [
            node
            for column in left
            for node in (Node(column, ()), *_with(column, known, rows.groups, room, shares))
        ]
        for node in candidates:
            if node not in scores:
                scores[node] = score(rows.table(node))
        found = noise.exponential_choice(np.array([scores[node] for node in candidates]), rate=shares.rate)
        nodes.append(candidates[found])
    return nodes


def _with(
    column: int, known: Sequence[int], groups: Sequence[int], room: float, shares: Shares
) -> list[Node]:
    """Return a column with every set of parents that has room."""
    found = []
    for count in range(1, min(shares.most_parents, len(known)) + 1):
        for parents in combinations(sorted(known), count):
            if shares.sizes[column] * float(np.prod([groups[one] for one in parents])) <= room:
                found.append(Node(column, parents))
    return found
