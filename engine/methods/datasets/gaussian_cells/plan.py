"""How a budget is divided for groups of rows: from public numbers alone, before a row is read."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor, sqrt

from engine.methods.shared.division import Division, Query
from engine.methods.shared.grid_centres import PER_SIDE
from engine.once import once
from engine.privacy.accuracy import spread_of_sites
from engine.privacy.events import Event

Sets = tuple[tuple[int, ...], ...]
"""Places of columns, by set."""

PLACES, CELLS = "places", "cells"
PLACES_SHARE = 0.15
"""Share of the budget for finding groups of rows; the rest is for the groups."""
MOST_TOGETHER = 6
"""Columns of a set with groups: a grid of more has too few cells along each."""
SPREAD = 0.3
"""About the standard deviation of a column, half of its declared range being 1."""
TELLS = 0.5
"""Relations are asked for where noise moves a correlation of such columns by no more than this."""
MOST_GROUPS = 10
MOST_CELLS = 1_500
"""Of a grid, so that centres are found in a moment."""
ROOM = 400
"""A group has at least so many deviations of its noise in rows: a column's spread is often a twentieth of its
range, and groups with 40 had means that noise had moved by a quarter of that, and lost relations to it."""


@dataclass(frozen=True)
class Plan:
    """Which noise everything gets.

    Parameters
    ----------
    columns
        How many numbers there are.
    classes
        Cells of the column that says the class, for other and missing ones too; 1 without such a column.
    declared
        The sets of columns; None where they follow from the other numbers.
    epsilon, delta
        Of everything together; δ = 0 for noise of the Laplace kind.
    rows_per_person
        The cap.
    replace_one
        Whether neighbouring tables exchange a person.
    about_rows
        Roughly how many rows there are; public.
    group_rows
        How many rows a group has at least.

    Notes
    -----
    A row is in one group of every set. There it adds 1 to the count, and for q columns at most 1 to each of
    q sums and q (q + 1) / 2 products; a missing number adds 1 to the count of missing ones and nothing else,
    which is less. So the sums are moved by s = Σ (1 + q + q (q + 1) / 2) in L1 and by √s in L2, which a row
    at the ends of all ranges reaches; c rows of a person by c times that. Exchanged: 2 c s, and c √(2 s)
    since no two such vectors are at an obtuse angle: with t = x · y, their product is at least 1 + t + t²/2,
    which is above 0. An exchange reaches this where there are two groups or classes; with one it moves less.

    Where no sets are declared, all columns are one set if noise leaves anything of their relations, else each
    is alone. To look for sets in noisy correlations first, as the book does for nothing, costs more than it
    saves: what a tenth of the budget tells of them is seldom more than noise, and every relation between
    columns that end up in different sets is lost, at any budget.

    Under pure ε the sums get one vector of noise where that is less: with one group always.
    """

    columns: int
    classes: int
    declared: Sets | None
    epsilon: Fraction
    delta: Fraction
    rows_per_person: int
    replace_one: bool
    about_rows: int
    group_rows: int

    @once
    def sets(self) -> Sets:
        """The sets of columns: those that were declared, or all together, or each alone."""
        if self.declared is not None:
            return self.declared
        together: Sets = (tuple(range(self.columns)),)
        off = self._noise(together, 1.0) / self.rows_of_class
        if relation_off(off) <= TELLS:
            return together
        return tuple((place,) for place in range(self.columns))

    @property
    def is_related(self) -> bool:
        """Whether there are columns whose relation is kept."""
        return max(map(len, self.sets)) > 1

    @once
    def groups(self) -> int:
        """Into how many groups the rows of a class are divided in every set, at most."""
        if max(map(len, self.sets)) > MOST_TOGETHER:
            return 1
        least = max(self.group_rows, ROOM * self._noise(self.sets, 1 - PLACES_SHARE, vector=False))
        return max(1, min(MOST_GROUPS, floor(self.rows_of_class / least)))

    @property
    def rows_of_class(self) -> float:
        """Roughly how many rows a declared class has, were they spread evenly."""
        return self.about_rows / max(1, self.classes - 2)

    @once
    def division(self) -> Division:
        """How the budget is divided."""
        if self.groups == 1:
            numbers = self.classes * sum(numbers_of(len(one)) for one in self.sets)
            return self._divide((self._cells(self.sets, 1.0, together=numbers),)).borne_out()
        places = self._question(PLACES, len(self.sets), PLACES_SHARE)
        return self._divide((places, self._cells(self.sets, 1 - PLACES_SHARE))).borne_out()

    @property
    def event(self) -> Event:
        """What the ledger reserves."""
        return self.division.events

    def deviation(self, name: str) -> float:
        """Return the standard deviation of the noise of a count, or of a sum of numbers between −1 and 1."""
        return self.division.deviation(name) / (1 if name == PLACES else PER_SIDE**2)

    def per_side(self, columns: int) -> int:
        """Return how many cells the grid of a set has along each of its columns."""
        told = self.about_rows / self.deviation(PLACES) / 5
        return max(1, min(round(told ** (2 / (2 + columns))), floor(MOST_CELLS ** (1 / columns)), PER_SIDE))

    def _noise(self, sets: Sets, share: float, *, vector: bool = True) -> float:
        """Return the standard deviation of the noise of a sum, if sets had one group for a class.

        Of one site, even where several add noise: all of them have to ask for the same sums.
        """
        together = self.classes * sum(numbers_of(len(one)) for one in sets) if vector else None
        divided = self._divide((self._cells(sets, share, together=together),))
        return divided.deviation(CELLS) / spread_of_sites() / PER_SIDE**2

    def _divide(self, asked: tuple[Query, ...]) -> Division:
        return Division(asked, self.epsilon, self.delta, self.replace_one)

    def _cells(self, sets: Sets, share: float, *, together: int | None = None) -> Query:
        return self._question(CELLS, answers(sets), share, together=together)

    def _question(self, name: str, sensitivity: int, share: float, *, together: int | None = None) -> Query:
        times, rows = 2 if self.replace_one else 1, self.rows_per_person
        step = rows * (1 if name == PLACES else PER_SIDE**2)
        moved = times * sensitivity
        return Query(name, moved * step, moved * step**2, share, together=together)


def relation_off(off: float) -> float:
    """Return by how much noise moves a correlation of columns of the usual spread.

    Parameters
    ----------
    off
        The deviation of the noise of a mean, half of the declared range being 1.
    """
    return off * sqrt(1 + SPREAD**2) / SPREAD**2


def numbers_of(columns: int) -> int:
    """Return how many sums a group has in a set: rows, missing ones, numbers, and products.

    Examples
    --------
    >>> numbers_of(1), numbers_of(3)
    (4, 13)
    """
    return 1 + 2 * columns + columns * (columns + 1) // 2


def answers(sets: Sets) -> int:
    """Return how many numbers a row can move by 1: for every set its count, its sums and its products.

    Examples
    --------
    >>> answers(((0,),)), answers(((0, 1, 2), (3,)))
    (3, 13)
    """
    return sum(1 + len(one) + len(one) * (len(one) + 1) // 2 for one in sets)
