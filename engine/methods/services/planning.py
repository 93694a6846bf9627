"""A list of questions as few tables: what is measured so that all of them are as exact as alone, for less.

A table is cut where the questions that it answers cut its columns, and no row is in two of its cells, so that
all its numbers together lose what one of them loses. Tables are put together as long as that makes the sum of
their levels smaller; what they say together is then read by least squares. Everything follows from
declarations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import ceil, sqrt

import numpy as np

from engine.methods.budget import SMALLEST
from engine.methods.conditions import Comparison, comparisons, write_condition
from engine.methods.services.asked import COUNT, FINEST, ROWS, SHARE, TABLE, Query, Terms, truths_of
from engine.methods.services.combining import MOST_NUMBERS, Floats, levels_of, spread_at
from engine.methods.services.desk import Measurement
from engine.methods.services.questions import Axis, axis_of, truth
from engine.table.schema import Schema

MOST_TABLE = 400
"""Cells of one table, at most."""
WORTH = Fraction(19, 20)
"""A plan that takes more than so much of what the questions take alone is none."""
_STEPS, _ROUNDING = (0.7, 1.3, 0.8, 1.2, 0.9, 1.1), 1e-9
Cuts = Mapping[str, frozenset[Comparison]]


@dataclass(frozen=True)
class Wanted:
    """A question, and the level that would make it exact enough if it were asked alone."""

    query: Query
    alone: Fraction


def is_planned(query: Query) -> bool:
    """Say whether a question is one of counts of rows, so that tables can answer it.

    Examples
    --------
    >>> [is_planned(Query(Schema(()), kind)) for kind in ("count", "share", "mean")]
    [True, True, False]
    """
    return query.kind in (COUNT, SHARE) and query.of == ROWS


def plan_for(wanted: Sequence[Wanted], terms: Terms, *, visit: int) -> tuple[Measurement, ...]:
    """Return tables that answer questions as exactly as each alone would be, for less; none where none do.

    Parameters
    ----------
    wanted
        Questions of which `is_planned` holds.
    terms
        What holds for all questions of the desk.
    visit
        The number of the visit that pays.

    Notes
    -----
    A table whose level is ε answers a question that is a sum of n of its cells as exactly as ε/√n alone. So
    it needs the largest √n·ε of its questions. Two tables become one where that makes the sum of levels
    smaller, beginning with the pair that makes it smallest. In the end the levels are lowered by what least
    squares over all tables gains.
    """
    if len(wanted) < 2:
        return ()
    groups = _begin(wanted)
    while len(groups) > 1:
        pairs = [(one, other, one.joined(other)) for one, other in combinations(groups, 2)]
        small = [pair for pair in pairs if pair[2].size <= MOST_TABLE]
        best = min(small, key=lambda pair: _gain(pair, terms), default=None)
        if best is None or _gain(best, terms) >= 0:
            break
        one, other, joined = best
        groups = [joined, *(group for group in groups if group is not one and group is not other)]
    if sum(group.size for group in groups) > MOST_NUMBERS:
        return ()
    levels = _lower(wanted, groups, terms)
    if terms.takes(levels) > WORTH * terms.takes(one.alone for one in wanted):
        return ()
    return tuple(
        Measurement((group.table,), level, visit=visit, questions=0 if place else len(wanted))
        for place, (group, level) in enumerate(zip(groups, levels, strict=True))
    )


def _gain(pair: tuple[_Group, _Group, _Group], terms: Terms) -> float:
    """Return by how much what two tables take together lies above the sum of what they take."""
    one, other, joined = (group.level ** (2 if terms.is_gaussian else 1) for group in pair)
    return joined - one - other


def _lower(wanted: Sequence[Wanted], groups: Sequence[_Group], terms: Terms) -> list[Fraction]:
    """Return levels of tables, small in all, at which no question is less exact than alone.

    Notes
    -----
    The levels go down together until the least exact question is as exact as alone. One of them is made
    smaller or larger by itself as long as the sum is less after that.
    """
    spread = spread_at([one.query for one in wanted], [group.table for group in groups], terms)
    alone = [float(one.query.noise(one.alone, terms).scale) ** 2 for one in wanted]
    scale = float(groups[0].table.noise(Fraction(1), terms).scale)
    power = 2 if terms.is_gaussian else 1
    allowed = np.repeat(alone, [one.query.size for one in wanted])

    def enough(levels: Floats) -> Floats:
        found = spread(scale / levels)
        return np.asarray(levels * sqrt(float((found / allowed).max())))

    best = enough(np.array([group.level for group in groups]))
    for factor in _STEPS:
        for place in range(len(groups)):
            moved = best.copy()
            moved[place] *= factor
            tried = enough(moved)
            best = tried if (tried**power).sum() < (best**power).sum() else best
    return [_whole(float(level) * (1 + _ROUNDING)) for level in best]


def _whole(level: float) -> Fraction:
    return max(SMALLEST, Fraction(ceil(level * FINEST), FINEST))


@dataclass(frozen=True)
class _Group:
    """Questions that one table answers."""

    schema: Schema
    wanted: tuple[Wanted, ...]
    cuts: Cuts
    known: dict[object, int]
    level: float = 0.0

    def __post_init__(self) -> None:
        levels = [sqrt(self._cells(one.query)) * float(one.alone) for one in self.wanted]
        object.__setattr__(self, "level", max(levels))

    @property
    def size(self) -> int:
        """How many cells the table has."""
        size = 1
        for name in self.cuts:
            size *= self._size(name)
        return size

    @property
    def table(self) -> Query:
        """The table as it is measured."""
        cuts = []
        for name, asked in sorted(self.cuts.items()):
            texts = sorted(write_condition(one) for one in asked)
            cuts.append((name, tuple(texts)))
        return Query(self.schema, TABLE, cuts=tuple(cuts))

    def joined(self, other: _Group) -> _Group:
        """Return both as one table."""
        empty: frozenset[Comparison] = frozenset()
        names = (*self.cuts, *(name for name in other.cuts if name not in self.cuts))
        cuts = {name: self.cuts.get(name, empty) | other.cuts.get(name, empty) for name in names}
        return _Group(self.schema, (*self.wanted, *other.wanted), cuts, self.known)

    def _size(self, name: str) -> int:
        key = (name, self.cuts[name])
        if key not in self.known:
            self.known[key] = len(_classes(self.schema, name, self.cuts[name])[1])
        return self.known[key]

    def _cells(self, query: Query) -> int:
        """Return how many cells of the table a number of a question adds up, at most."""
        own = {name: self.cuts[name] for name in query.columns}
        key = (query.key, frozenset(own.items()))
        if key not in self.known:
            self.known[key] = _sum(query, own)
        outside = 1
        for name in self.cuts:
            outside *= 1 if name in own else self._size(name)
        return self.known[key] * outside


def _begin(wanted: Sequence[Wanted]) -> list[_Group]:
    """Return one table for all questions about the same columns."""
    schema, known = wanted[0].query.schema, dict[object, int]()
    found: dict[tuple[str, ...], _Group] = {}
    for one in wanted:
        cuts: dict[str, set[Comparison]] = {name: set() for name in one.query.columns}
        for condition in one.query.comparisons:
            for cut in comparisons(condition):
                cuts[cut.column].add(cut)
        for name in one.query.by:
            cuts[name] |= set(levels_of(schema, name))
        group = _Group(schema, (one,), {name: frozenset(some) for name, some in cuts.items()}, known)
        before = found.get(one.query.columns)
        found[one.query.columns] = group if before is None else before.joined(group)
    return list(found.values())


def _classes(schema: Schema, name: str, cuts: frozenset[Comparison]) -> tuple[Axis, list[int]]:
    """Return the axis of a column, and one of its cells for every cell of the table."""
    asked = tuple(sorted(cuts, key=write_condition))
    axis = axis_of(schema, name, asked)
    first: dict[tuple[bool, ...], int] = {}
    for cell, truths in enumerate(truths_of(axis, asked)):
        first.setdefault(truths, cell)
    return axis, list(first.values())


def _sum(query: Query, cuts: Cuts) -> int:
    """Return how many cells over a question's own columns one of its numbers adds up, at most."""
    sides = {name: _classes(query.schema, name, asked) for name, asked in cuts.items()}
    size = int(np.prod([len(cells) for _, cells in sides.values()])) if sides else 1
    codes, before, after = {}, 1, size
    for name, (_, cells) in sides.items():
        after //= len(cells)
        codes[name] = np.tile(np.repeat(np.array(cells), after), before)
        before *= len(cells)
    asked = {name: axis for name, (axis, _) in sides.items()}
    inside = truth(query.question.condition, asked, codes, size)
    parts = [inside]
    if query.kind == SHARE:
        within = truth(query.within.condition, asked, codes, size)
        parts = [within, inside & ~within]
    groups = np.zeros(size, dtype=np.int64)
    for axis in query.cells.axes:
        groups = groups * len(axis.labels) + codes[axis.name]
    return max(1, *(int(np.bincount(groups[part], minlength=1).max()) for part in parts))
