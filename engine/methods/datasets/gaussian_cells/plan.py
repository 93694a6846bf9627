"""How a budget is divided for groups of rows: from public numbers alone, before a row is read."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import floor, isqrt

from engine.methods.shared.division import Division, Query
from engine.methods.shared.grid_centres import PER_SIDE
from engine.privacy.events import Event

Sets = tuple[tuple[int, ...], ...]
"""Places of columns, by set."""

SETS, PLACES, CELLS = "sets", "places", "cells"
SETS_SHARE, PLACES_SHARE = 0.10, 0.15
"""Shares of the budget for finding sets of columns and groups of rows; the rest is for the groups."""
MOST_TOGETHER = 6
"""Columns of a set: a grid of more has too few cells along each."""
HARDLY_MORE = 3
"""Up to so many columns one set asks for at most one number more than a set for each."""
MOST_GROUPS = 10
MOST_CELLS = 1_500
"""Of a grid, so that centres are found in a moment."""
ROOM = 40
"""A group has at least so many deviations of its noise in rows; with 10 or 20 it follows the noise."""
_FINER = 256


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
        The sets of columns; None where they are to be found.
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

    Sets that are found are known only after part of the budget is spent. The noise is fixed before, for the
    sets that ask for most; those found are counted in finer steps, as many as their sensitivity allows.
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

    @property
    def known(self) -> Sets | None:
        """The sets of columns where they are known beforehand."""
        if self.declared is None and self.columns <= HARDLY_MORE:
            return (tuple(range(self.columns)),)
        return self.declared

    @cached_property
    def most(self) -> Sets:
        """The sets, or those with the largest sensitivity that may be found."""
        if self.known is not None:
            return self.known
        places = range(self.columns)
        return tuple(
            tuple(places[start : start + MOST_TOGETHER]) for start in range(0, self.columns, MOST_TOGETHER)
        )

    @cached_property
    def groups(self) -> int:
        """Into how many groups the rows of a class are divided in every set, at most."""
        share = 1 - PLACES_SHARE - (SETS_SHARE if self.known is None else 0)
        noise = self._divided((self._cells(share),)).deviation(CELLS) / self.steps(CELLS, self.most)
        least = max(self.group_rows, ROOM * noise)
        return max(1, min(MOST_GROUPS, floor(self.rows_of_class / least)))

    @property
    def rows_of_class(self) -> float:
        """Roughly how many rows a declared class has, were they spread evenly."""
        return self.about_rows / max(1, self.classes - 2)

    @cached_property
    def division(self) -> Division:
        """How the budget is divided."""
        asked, left = [], 1.0
        if self.known is None:
            asked.append(self._question(SETS, answers((tuple(range(self.columns)),)), SETS_SHARE))
            left -= SETS_SHARE
        if self.groups > 1:
            most_sets = self.columns if self.known is None else len(self.known)
            asked.append(self._question(PLACES, most_sets, PLACES_SHARE))
            left -= PLACES_SHARE
        return self._divided((*asked, self._cells(left))).borne_out()

    @property
    def event(self) -> Event:
        """What the ledger reserves."""
        return self.division.events

    def steps(self, name: str, sets: Sets) -> int:
        """Return in how many steps a row is counted: as many as keep its sums below what was fixed."""
        whole = 1 if name == PLACES else PER_SIDE**2
        if self.known is not None or name == SETS:
            return whole
        most, own = (answers(self.most), answers(sets)) if name == CELLS else (self.columns, len(sets))
        return whole * (isqrt(_FINER**2 * most // own) if self.delta else _FINER * most // own)

    def deviation(self, name: str, sets: Sets) -> float:
        """Return the standard deviation of the noise of a count, or of a sum of numbers between −1 and 1."""
        return self.division.deviation(name) / self.steps(name, sets)

    def per_side(self, columns: int, sets: Sets) -> int:
        """Return how many cells the grid of a set has along each of its columns."""
        told = self.about_rows / self.deviation(PLACES, sets) / 5
        return max(1, min(round(told ** (2 / (2 + columns))), floor(MOST_CELLS ** (1 / columns)), PER_SIDE))

    def _divided(self, asked: tuple[Query, ...]) -> Division:
        return Division(asked, self.epsilon, self.delta, self.replace_one)

    def _cells(self, share: float) -> Query:
        return self._question(CELLS, answers(self.most), share)

    def _question(self, name: str, sensitivity: int, share: float) -> Query:
        times, rows = 2 if self.replace_one else 1, self.rows_per_person
        finer = 1 if self.known is not None or name == SETS else _FINER
        step = rows * finer * (1 if name == PLACES else PER_SIDE**2)
        return Query(name, times * sensitivity * step, times * sensitivity * step**2, share)


def answers(sets: Sets) -> int:
    """Return how many numbers a row can move by 1: for every set its count, its sums and its products.

    Examples
    --------
    >>> answers(((0,),)), answers(((0, 1, 2), (3,)))
    (3, 13)
    """
    return sum(1 + len(one) + len(one) * (len(one) + 1) // 2 for one in sets)
