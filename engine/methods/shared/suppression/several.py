"""What three published tables of the same register, and more, tell together: added and subtracted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import ceil, floor

import numpy as np

from engine.arrays import Bools, Integers, Objects
from engine.methods.shared.suppression.differencing import Told, name_of
from engine.once import once

MOST_TRIED = 12
"""Independent numbers up to which all sums of them are looked at; of more, those of up to three."""
PIECE = 32
STRAYS = 0.05
"""Share of all people who may break a relation between tables that nearly holds."""
_Cell = frozenset[tuple[str, str]]


def derived_cells(
    tables: Sequence[Told], members: Bools, sizes: Integers, groups_in: Callable[[_Cell], Bools]
) -> list[str]:
    """Name the cells of which the numbers of three tables and more, added and subtracted, say too much.

    Parameters
    ----------
    tables
        The new one first.
    members, sizes
        Groups of people (or rows): which tables have each, shape (groups, tables), and how many they are.
    groups_in
        Which groups have somebody in a cell of the new table; of those that it does not have, all.

    Notes
    -----
    A printed number is the sum over the groups that its table has, so that what numbers say together is the
    span of their rows of ``members``, over the rational numbers. A hidden cell is given away whose row lies
    in the span of the rows that are printed of this cell; so are groups of fewer people together than the
    threshold, whose row of ones lies in it. Of people outside the new table nobody knows the cell: where few
    of them break such a relation, the number that follows must be no small one. A number that was rounded or
    changed stands for all that it can come from. What two tables say is for `exposed_cells`.
    """
    lines = [table.lines for table in tables]
    is_away = ~members[:, 0]
    rising = np.argsort(sizes, kind="stable")
    rising = rising[is_away[rising]]
    strays = rising[np.cumsum(sizes[rising]) <= STRAYS * sizes.sum()]

    @cache
    def look(having: tuple[int, ...], active: bytes) -> Bools:
        return np.unique(members[np.frombuffer(active, dtype=bool)][:, having], axis=0)

    @cache
    def span(rows: tuple[bytes, ...]) -> _Span:
        return _Span.of(np.array([np.frombuffer(row, dtype=bool) for row in rows]))

    def says_too_much(cell: _Cell) -> bool:
        having = tuple(place for place, told in enumerate(lines) if cell in told)
        if len(having) < 3:
            return False
        is_active = members[:, having].any(axis=1) & (is_away | groups_in(cell))
        for place in having:
            if lines[place][cell] == 0 and not tables[place].off:
                is_active &= ~members[:, place]
        nearly = is_active.copy()
        nearly[strays] = False
        # The new one after all others that are as exact: what these say without it was known before
        order = sorted(having, key=lambda place: (tables[place].off > 0, place == 0))
        for is_exact, active in ((True, is_active), (False, nearly)):
            groups = look(having, active.tobytes())
            rows = {place: groups[:, having.index(place)] for place in having}
            about = _Together(cell, tables, lines, order, rows, span)
            if (is_exact and about.shows_few()) or any(
                about.gives_away(place, is_exact=is_exact) for place in having
            ):
                return True
        return False

    return [name_of(cell) for cell in lines[0] if says_too_much(cell)]


@dataclass(frozen=True)
class _Together:
    """One cell in all tables that have it: which groups they count there, and what they print."""

    cell: _Cell
    tables: Sequence[Told]
    lines: Sequence[dict[_Cell, float | None]]
    order: Sequence[int]
    rows: dict[int, Bools]
    span: Callable[[tuple[bytes, ...]], _Span]

    def shows_few(self) -> bool:
        """Say whether fewer people than the threshold are counted by a combination of numbers."""
        threshold = max(table.threshold for table in self.tables)
        printed = self._printed()
        if 0 not in printed or not threshold:
            return False
        for made in self._spanned(printed).unions:
            value, slack = self._value(made, printed)
            if self._is_new(made, printed) and slack < value < threshold - slack:
                return True
        found = self._made_of(0, [place for place in printed if place != 0])
        if found is None or self.tables[0].off:
            return False
        value, slack = found  # the others count the same people: a number that differs tells of who moved
        return not slack and 0 < abs(value - Fraction(self._number(0))) < threshold

    def gives_away(self, place: int, *, is_exact: bool) -> bool:
        """Say whether what a table hides of the cell, or does not print exactly, follows from the others."""
        number, table = self.lines[place][self.cell], self.tables[place]
        if number is not None and not table.off:
            return False
        found = self._made_of(place, [other for other in self._printed() if other != place])
        if found is None:
            return False
        value, slack = found
        if number is None and not is_exact:
            return bool(table.threshold) and -table.threshold < value - slack < 2 * table.threshold
        if number is None:
            return not slack or value + slack < table.threshold
        own, around = Fraction(number), table.off - 1
        low, high = max(value - slack, own - around), min(value + slack, own + around)
        small = max(max(one.threshold, one.off) for one in self.tables)
        return is_exact and 0 < high < small and floor(high) <= ceil(low)

    def _printed(self) -> list[int]:
        return [place for place in self.order if self.lines[place][self.cell] is not None]

    def _number(self, place: int) -> float:
        number = self.lines[place][self.cell]
        assert number is not None
        return number

    def _spanned(self, places: Sequence[int]) -> _Span:
        return self.span(tuple(self.rows[place].tobytes() for place in places))

    def _made_of(self, place: int, others: Sequence[int]) -> tuple[Fraction, Fraction] | None:
        """Return the number that follows for a table from others, and how far it may be off.

        None where nothing follows, where one other table alone says it, or where the new one is not needed.
        """
        made = self._spanned(others).made_of(self.rows[place]) if others else None
        if made is None or sum(made != 0) < 2 or not (place == 0 or self._is_new(made, others)):
            return None
        return self._value(made, others)

    def _is_new(self, made: Objects, places: Sequence[int]) -> bool:
        return 0 in places and bool(made[places.index(0)])

    def _value(self, made: Objects, places: Sequence[int]) -> tuple[Fraction, Fraction]:
        numbers = [Fraction(self._number(place)) for place in places]
        off = [max(self.tables[place].off - 1, 0) for place in places]
        return sum(made * numbers, Fraction(0)), sum(abs(made) * off, Fraction(0))


@dataclass(frozen=True)
class _Span:
    """All combinations of rows of ones and zeros: independent ones in reduced form, and their making.

    ``rows`` has shape (rank, groups), ``made`` (rank, rows given).
    """

    rows: Objects
    made: Objects
    pivots: list[int]

    @classmethod
    def of(cls, given: Bools) -> _Span:
        """Return the span of rows; one that depends on those before it is not used."""
        rows = np.zeros((0, given.shape[1]), dtype=object)
        made, pivots = np.zeros((0, len(given)), dtype=object), list[int]()
        for place, one in enumerate(given):
            row = one.astype(int).astype(object)
            own = np.array([int(place == other) for other in range(len(given))], dtype=object)
            row, own = row - row[pivots] @ rows, own - row[pivots] @ made
            if not row.any():
                continue
            units = np.flatnonzero(abs(row) == 1)  # by them whole numbers stay whole, which are far quicker
            pivot = int(units[0] if units.size else np.flatnonzero(row)[0])
            by = row[pivot] if units.size else Fraction(1, 1) / row[pivot]
            row, own = row * by, own * by
            there = rows[:, [pivot]]
            rows, made = np.vstack([rows - there * row, row]), np.vstack([made - there * own, own])
            pivots.append(pivot)
        return cls(rows, made, pivots)

    def made_of(self, wanted: Bools) -> Objects | None:
        """Return what a row is made of; None where it is not in the span."""
        row = wanted.astype(int).astype(object)
        return None if (row - row[self.pivots] @ self.rows).any() else row[self.pivots] @ self.made

    @once
    def unions(self) -> list[Objects]:
        """What combinations of three rows and more are made of in which each group is once or not at all.

        In reduced form every one of them is a sum of some of the rows. Rows that share no group are looked at
        by themselves: what is few together is few in each part.
        """
        from scipy.sparse.csgraph import connected_components

        found = list[Objects]()
        rows = self.rows.astype(np.float64)
        linked = (rows != 0).astype(np.int64)
        _, part = connected_components(linked @ linked.T, directed=False)
        for one in np.unique(part):
            among = np.flatnonzero(part == one)
            most = len(among) if len(among) <= MOST_TRIED else 3
            sets = [one for many in range(1, most + 1) for one in combinations(range(len(among)), many)]
            chosen = np.zeros((len(sets), len(among)))
            for place, those in enumerate(sets):
                chosen[place, those] = 1
            for start in range(0, rows.shape[1], PIECE):  # most are none of them by few groups already
                union = chosen @ rows[among, start : start + PIECE]
                chosen = chosen[(np.isclose(union, 0) | np.isclose(union, 1)).all(axis=1)]
            found += [self.made[among[own > 0]].sum(axis=0) for own in chosen]
        return [made for made in found if np.count_nonzero(made) >= 3]
