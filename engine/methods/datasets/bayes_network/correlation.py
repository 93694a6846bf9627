"""Which columns are parents of which by correlation: strong with the column, weak with each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import e, floor, log2

import numpy as np

from engine import arrays
from engine.methods.datasets.bayes_network.shares import MOST_GROUPS, Shares
from engine.methods.datasets.bayes_network.structure import Node, Rows
from engine.once import once
from engine.privacy.events import Event, Sequential
from engine.privacy.mechanisms import LaplaceCounts
from engine.privacy.noise import Noise

Codes = arrays.Integers
Floats = arrays.Floats

MOST_LINES = MOST_GROUPS**3


@dataclass(frozen=True)
class CorrelationShares(Shares):
    """Which noise everything gets where parents follow from noisy entropies of columns and pairs.

    Parameters
    ----------
    about_rows
        Roughly how many rows there are: declared.

    Notes
    -----
    Entropies and tables are of the same rows and share the budget. Half the rows for each, at the full
    budget, would have the same noise for every row and the error of a sample besides.
    """

    about_rows: int

    @property
    def structure_share(self) -> Fraction:
        return Fraction(2, 5)

    @once
    def unit(self) -> Entropies:
        """How an entropy becomes a whole number."""
        return Entropies(max(2, self.about_rows))

    @once
    def entropies(self) -> LaplaceCounts:
        """The noise of the entropies of all columns and pairs together: one row is in each."""
        count = len(self.sizes) * (len(self.sizes) + 1) // 2
        moved = count * self.unit.sensitivity * self.moved
        return LaplaceCounts(moved, self.structure_share * self.epsilon, Fraction(1, self.unit.grid))

    @property
    def event(self) -> Event:
        if not self.choices:
            return self.single.event
        return Sequential((self.single.event, self.entropies.event, self.tables.event))


def by_correlation(rows: Rows, shares: CorrelationShares, *, total: float, noise: Noise) -> list[Node]:
    """Return every column with its parents, parents first, from noisy entropies and nothing else.

    Parameters
    ----------
    rows
        Counted in groups: what becomes a parent is coarse, and so is here what it is compared with.
    shares
        Which noise entropies get.
    total
        Noisy number of rows.
    """
    columns = len(shares.sizes)
    pairs = list(combinations(range(columns), 2))
    counts = [np.bincount(one) for one in rows.coarse]
    counts += [
        np.bincount(rows.coarse[one] * rows.groups[other] + rows.coarse[other]) for one, other in pairs
    ]
    exact = np.array([shares.unit.steps(one) for one in counts], dtype=np.int64)
    # nothing after this line has seen a row
    released = shares.entropies.release(exact, noise).astype(np.float64)
    bits = shares.unit.bits(released, total)
    return parents_of(
        correlations(bits[:columns], bits[columns:], rows.groups),
        sizes=shares.sizes,
        groups=rows.groups,
        room=shares.room(total),
    )


def correlations(single: Floats, joint: Floats, groups: Sequence[int]) -> Floats:
    """Return how far columns say each other, 0 to 1, from noisy entropies in bits.

    Parameters
    ----------
    single, joint
        Of columns, and of pairs in the order of `itertools.combinations`.
    groups
        How many values each column has: bounds its entropy.

    Notes
    -----
    2 − 2 H(x, y)/(H(x) + H(y)): Bindschaedler (2018), equation 6.15, each entropy first set into the bounds
    that any has.

    Examples
    --------
    >>> correlations(np.array([1.0, 1.0]), np.array([1.5]), [2, 2]).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    own = np.clip(single, 0, np.log2(groups))
    found = np.eye(len(own))
    for (one, other), both in zip(combinations(range(len(own)), 2), joint, strict=True):
        apart = own[one] + own[other]
        if apart > 0:
            within = min(max(both, own[one], own[other]), apart)
            found[one, other] = found[other, one] = min(1.0, 2 - 2 * within / apart)
    return found


def parents_of(
    correlation: Floats, *, sizes: Sequence[int], groups: Sequence[int], room: float
) -> list[Node]:
    """Return columns with parents, parents first: again and again the new parent that says most.

    Parameters
    ----------
    correlation
        Between columns, 0 to 1, symmetric.
    sizes, groups
        Cells of each column, and its groups where it is a parent.
    room
        Most cells that a table of a column with its parents may have.

    Notes
    -----
    The merit of parents P of i is Σ c_ij / √(|P| + Σ c_jk), j ≠ k in P: Bindschaedler (2018), equation 6.14,
    with the cost of equation 6.16 bounded by the room and by `MOST_LINES`. The order in which columns get
    parents is left open there; here whoever gains most is next.
    """
    columns = len(sizes)
    parents: list[list[int]] = [[] for _ in sizes]
    gains = np.array(
        [_gains(column, (), correlation, sizes, groups, room) for column in range(columns)]
    ).reshape(columns, columns)
    before = np.eye(columns, dtype=bool)  # [i, j]: j is i or before it
    while True:
        possible = np.where(before.T, -np.inf, gains)
        column, parent = (int(place) for place in np.unravel_index(np.argmax(possible), possible.shape))
        if not possible[column, parent] > 0:
            return _order(parents)
        parents[column].append(parent)
        gains[column] = _gains(column, parents[column], correlation, sizes, groups, room)
        before |= np.outer(before[:, column], before[parent])


def _gains(
    column: int,
    parents: Sequence[int],
    correlation: Floats,
    sizes: Sequence[int],
    groups: Sequence[int],
    room: float,
) -> Floats:
    """Return by how much each further parent raises the merit; −inf where it is none or has no room."""
    known = list(parents)
    said = correlation[column, known].sum()
    among = correlation[np.ix_(known, known)].sum() - len(known)
    now = said / np.sqrt(len(known) + among) if known else 0.0
    merit = (said + correlation[column]) / np.sqrt(
        len(known) + 1 + among + 2 * correlation[known].sum(axis=0)
    )
    lines = np.prod([groups[one] for one in known]) * np.asarray(groups, dtype=np.float64)
    fits = (lines <= MOST_LINES) & (lines * sizes[column] <= room)
    fits[[column, *known]] = False
    return np.where(fits, merit - now, -np.inf)


def _order(parents: Sequence[Sequence[int]]) -> list[Node]:
    """Return columns with their parents in an order in which parents stand first."""
    nodes: list[Node] = []
    left = list(range(len(parents)))
    while left:
        placed = {node.column for node in nodes}
        column = next(one for one in left if placed.issuperset(parents[one]))
        nodes.append(Node(column, tuple(sorted(parents[column]))))
        left.remove(column)
    return nodes


# --- entropies as whole numbers --------------------------------------------------------------------------
# One row moves them by no more than is declared, whatever the rows are.


_FINEST = 2**20
_EXACT = 2**50
"""Up to here c log₂ c is off by less than half a step in floating point."""
_ROUNDING = 5
"""Four rounded terms, each off by at most one step, and the steepest step, rounded down."""


@dataclass(frozen=True)
class Entropies:
    """How entropies of about so many rows become whole numbers.

    Parameters
    ----------
    rows
        About how many rows there are: declared, at least 2.

    Notes
    -----
    With counts c of n rows, n H = n log₂ n − Σ c log₂ c. One more row in a cell of c raises it by
    d(n) − d(c), d(c) = (c+1) log₂(c+1) − c log₂ c, which rises with c from 0: by 0 at least, and by
    log₂ n + log₂ e at most, which has no bound that holds for every n. Therefore c log₂ c goes on in a
    straight line above the declared number of rows, so that d stays below L = log₂ rows + log₂ e for every
    table. Then L/2 is taken off for every row, and one row moves what is left by L/2 in either direction.

    V. Bindschaedler (2018), lemma A.1, bounds H itself, by (2 + 1/ln 2 + 2 log₂ n)/n for an exchanged row and
    for an n that is known; there the noise follows from a noisy n, and is too small where that is too large.
    """

    rows: int

    @once
    def grid(self) -> int:
        """How many steps a bit of one row has."""
        fine = _FINEST
        while fine * self.rows * log2(self.rows) > _EXACT:
            fine //= 2
        return fine

    @once
    def steepest(self) -> int:
        """By how many steps one row raises n H, at most."""
        return floor(self.grid * (log2(self.rows) + log2(e)))

    @property
    def sensitivity(self) -> int:
        """By how many steps one row moves one sum, at most."""
        return self.steepest - self.steepest // 2 + _ROUNDING

    def steps(self, counts: Codes) -> int:
        """Return n H of the counts of cells in steps, less half the steepest step for every row."""
        n = int(counts.sum())
        return int(self._curved(np.array([n]))[0] - self._curved(counts).sum()) - self.steepest // 2 * n

    def bits(self, steps: Floats, total: float) -> Floats:
        """Return the entropies of which the steps are, from a number of rows."""
        return np.asarray((steps / total + self.steepest // 2) / self.grid)

    def _curved(self, counts: Codes) -> Codes:
        """Return c log₂ c in steps, in a straight line above the declared number of rows."""
        within = np.minimum(counts, self.rows)
        bent = np.rint(self.grid * (within * np.log2(np.maximum(within, 1)))).astype(np.int64)
        return np.asarray(bent + (counts - within) * self.steepest)
