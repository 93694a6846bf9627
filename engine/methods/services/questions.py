"""What a condition means in a declared table: which rows it takes, and when two questions are the same one.

Every comparison of a column becomes a set of that column's cells: declared values, stretches of a line of
numbers or days, and the cells for missing and undeclared values. The canonical form of a condition is its
reduced decision diagram over the columns in the order of their names: two conditions have the same one if and
only if they take the same rows of *every* table with these declarations, however they were written.

Source: R. E. Bryant, "Graph-based algorithms for Boolean function manipulation" (1986), theorem 1, here with
several cells a column instead of two.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import reduce
from typing import Any, Protocol

import numpy as np
import pandas as pd

from engine import arrays
from engine.errors import InputRefused
from engine.methods.conditions import EVERYBODY, NOBODY, All, Comparison, Condition, Not, comparisons
from engine.methods.values import edge_number, edge_of
from engine.numbers import exact
from engine.once import once
from engine.table import coding
from engine.table.schema import Column, Kind, Role, Schema

Rows = arrays.Bools
Codes = arrays.Whole
Cells = frozenset[int]
_NAMELESS = (Role.DIRECT_IDENTIFIER, Role.PERSON_KEY, Role.DROPPED)
_NUMERIC = (Kind.INTEGER, Kind.NUMBER)
EVERYWHERE, NOWHERE = "everywhere", "nowhere"


class Axis(Protocol):
    """The cells of one column, as far as the comparisons of one condition tell them apart."""

    def cells(self, comparison: Comparison) -> Cells:
        """Return the cells that a comparison takes."""

    @property
    def size(self) -> int:
        """How many cells there are."""

    def written(self, cells: Iterable[int]) -> list[Any]:
        """Return cells in the one form that does not depend on what else the condition asks."""

    def read(self, frame: pd.DataFrame) -> Any:
        """Return what the rows say of the column, whatever is asked of it: read once for many questions."""

    def codes(self, read: Any) -> Codes:
        """Return the cell of every row, from what `read` returned, in as few bytes as hold it."""

    def stored(self, read: Any) -> Codes:
        """Return a small number of each row, as it was read where that is one."""

    @property
    def stored_cells(self) -> arrays.Integers:
        """The cell that each such number is in."""

    @property
    def described(self) -> str:
        """The declared values or bounds, to be read by people; empty where none were declared."""


def _small(size: int) -> type[np.unsignedinteger]:
    """Return the smallest kind of whole number that holds the cells of a column."""
    return np.uint8 if size <= 1 << 8 else np.uint16 if size <= 1 << 16 else np.uint32


def _runs(cells: Iterable[int]) -> list[tuple[int, int]]:
    """Return cells as stretches, first and last included."""
    found: list[tuple[int, int]] = []
    for cell in sorted(cells):
        if found and found[-1][1] == cell - 1:
            found[-1] = (found[-1][0], cell)
        else:
            found.append((cell, cell))
    return found


@dataclass(frozen=True)
class Levels:
    """A column with listed values: one cell each, then "other" and "missing"."""

    column: Column

    @once
    def _levels(self) -> tuple[str, ...]:
        return coding.levels(self.column)

    @property
    def described(self) -> str:
        return "; ".join(self._levels)

    @once
    def _place(self) -> Mapping[str | Fraction, int]:
        listed = reversed(list(enumerate(self._levels)))
        return {self._read(level): place for place, level in listed}

    def _read(self, value: str) -> str | Fraction:
        """Return a value in the form in which it is compared: numbers as numbers, as in the rows."""
        if self.column.kind in _NUMERIC:
            try:
                return exact(value)
            except (ValueError, ZeroDivisionError):
                pass
        return value.strip()

    @property
    def size(self) -> int:
        return len(self._levels) + 2

    def cells(self, comparison: Comparison) -> Cells:
        count = len(self._levels)
        if comparison.operator in ("missing", "other"):
            return frozenset((count + (comparison.operator == "missing"),))
        if comparison.operator == "in":
            return frozenset(self._place_of(value) for value in comparison.values)
        if self.column.kind not in (Kind.ORDINAL, *_NUMERIC):
            raise _refuse("no_order", column=self.column.name)
        low, high = _ends(comparison, [self._rank(value) for value in comparison.values])
        ranks = [self._rank(level) for level in self._levels]
        return frozenset(place for place, rank in enumerate(ranks) if _inside((rank, 0), low, high))

    def _place_of(self, value: str) -> int:
        place = self._place.get(self._read(value))
        if place is None:
            raise _refuse("undeclared", column=self.column.name, value=value[:100])
        return place

    def _rank(self, value: str) -> Fraction:
        """Return where a value stands in the order: numbers by their size, others as they were declared."""
        if self.column.kind not in _NUMERIC:
            return Fraction(self._place_of(value))
        read = self._read(value)
        if not isinstance(read, Fraction):
            raise _refuse("no_number", column=self.column.name, value=value[:100])
        return read

    def written(self, cells: Iterable[int]) -> list[Any]:
        return [list(run) for run in _runs(cells)]

    def read(self, frame: pd.DataFrame) -> Codes:
        return coding.codes(frame[self.column.name], self.column).astype(_small(self.size))

    def codes(self, read: Codes) -> Codes:
        return read

    def stored(self, read: Codes) -> Codes:
        return read

    @property
    def stored_cells(self) -> arrays.Integers:
        return np.arange(self.size)


Cut = tuple[Fraction, int]
"""A place on the line: at a number (0) or just above it (1)."""


def _ends(comparison: Comparison, values: Sequence[Fraction]) -> tuple[Cut | None, Cut | None]:
    """Return from which cut on, and up to which one, a comparison holds."""
    operator, first = comparison.operator, values[0]
    if operator == "between":
        return (first, 0), (values[1], 1)
    return {
        "at least": ((first, 0), None),
        "above": ((first, 1), None),
        "at most": (None, (first, 1)),
        "below": (None, (first, 0)),
    }[operator]


def _inside(place: Cut, low: Cut | None, high: Cut | None) -> bool:
    return (low is None or place >= low) and (high is None or place < high)


@dataclass(frozen=True)
class Line:
    """A column of numbers or days, cut where the comparisons of a condition cut it; then "missing".

    Numbers outside declared bounds are clamped to them, so that a cut at the lower bound or beyond the upper
    one cuts nothing. Numbers on a declared grid and days are cut between their steps only: above 59 is at
    least 60.
    """

    column: Column
    asked: tuple[Comparison, ...] = ()

    @property
    def described(self) -> str:
        domain = self.column.domain
        return "" if domain is None else f"{domain.minimum} – {domain.maximum}"

    @once
    def _bounds(self) -> tuple[Fraction | None, Fraction | None]:
        domain = self.column.domain
        if domain is None:
            return None, None
        low, high = _bind(domain.minimum), _bind(domain.maximum)
        if self._step is not None and low is not None and high is not None:
            high = low + (high - low) // self._step * self._step  # the last number of the grid
        return low, high

    @once
    def _step(self) -> Fraction | None:
        """The step of the declared grid, from the lower bound on; of days it is one. None where none is."""
        if self.column.kind is Kind.DATE:
            return Fraction(1)
        domain = self.column.domain
        if domain is None or not isinstance(domain.minimum, Fraction):
            return None
        step = domain.step or (Fraction(1) if self.column.kind is Kind.INTEGER else None)
        if step is None or not isinstance(domain.maximum, Fraction):
            return None
        # A longer grid has no cells in `coding`: there numbers are compared as they are.
        return step if (domain.maximum - domain.minimum) // step < coding.MOST_LEVELS else None

    @property
    def _origin(self) -> Fraction:
        low = self._bounds[0]
        return Fraction(0) if self.column.kind is Kind.DATE or low is None else low

    def _number(self, value: str) -> Fraction:
        found = edge_of(value)
        days = self.column.kind is Kind.DATE
        if found is None or isinstance(found, date) != days:
            raise _refuse("no_day" if days else "no_number", column=self.column.name, value=value[:100])
        return edge_number(found)

    def _stretches(self, comparison: Comparison) -> list[tuple[Cut | None, Cut | None]]:
        """Return where a comparison holds, each from a cut up to a cut; None where there is no end."""
        numbers = [self._number(value) for value in comparison.values]
        if comparison.operator != "in":
            ends = [_ends(comparison, numbers)]
        else:
            ends = [((one, 0), (one, 1)) for one in numbers]
        found = [(self._cut(low), self._cut(high)) for low, high in ends]
        lowest, highest = self._bounds
        for (low, high), value in zip(found, comparison.values, strict=False):
            beyond = (lowest is not None and high is not None and high <= (lowest, 0)) or (
                highest is not None and low is not None and low > (highest, 0)
            )
            if comparison.operator == "in" and (beyond or low == high):
                raise _refuse("undeclared", column=self.column.name, value=value[:100])
        return found

    def _cut(self, cut: Cut | None) -> Cut | None:
        """Return a cut in its one form: on the grid where there is one."""
        if cut is None or self._step is None:
            return cut
        places = (cut[0] - self._origin) / self._step
        place = math.floor(places) + 1 if cut[1] else math.ceil(places)
        return self._origin + place * self._step, 0

    @once
    def _cuts(self) -> list[Cut]:
        """All cuts that part the line, in their order."""
        low, high = self._bounds
        found = {cut for one in self.asked if one.values for ends in self._stretches(one) for cut in ends}
        return sorted(
            cut
            for cut in found
            if cut is not None and (low is None or cut > (low, 0)) and (high is None or cut <= (high, 0))
        )

    @property
    def size(self) -> int:
        return len(self._cuts) + 2

    def cells(self, comparison: Comparison) -> Cells:
        if comparison.operator == "other":
            raise _refuse("no_other", column=self.column.name)
        if comparison.operator == "missing":
            return frozenset((self.size - 1,))
        taken: set[int] = set()
        for first, last in self._stretches(comparison):
            # All numbers from the lower bound on lie before the first cut.
            begin = 0 if first is None else self._after(first)
            end = self.size - 1 if last is None else self._after(last)
            taken.update(range(begin, end))
        return frozenset(taken)

    def _after(self, cut: Cut) -> int:
        """Return the stretch that begins at a cut; beyond the upper bound there is none."""
        high = self._bounds[1]
        reached = high is None or cut <= (high, 0)
        return sum(one <= cut for one in self._cuts) if reached else self.size - 1

    def written(self, cells: Iterable[int]) -> list[Any]:
        wanted, missing = set(cells), self.size - 1
        found: list[Any] = ["missing"] if missing in wanted else []
        ends = [None, *self._cuts, None]
        for first, last in _runs(wanted - {missing}):
            found.append([_write(ends[first]), _write(ends[last + 1])])
        return found

    def read(self, frame: pd.DataFrame) -> tuple[arrays.Anything, arrays.Integers]:
        return self._values(frame[self.column.name])

    def codes(self, read: tuple[arrays.Anything, arrays.Integers]) -> Codes:
        values, absent = read
        found = np.zeros(len(values), dtype=_small(self.size))
        for number, above in self._cuts:
            edge = float(number) if self._step is None else int((number - self._origin) / self._step)
            found += (values > edge) if above else (values >= edge)
        found[absent] = self.size - 1
        return found

    def stored(self, read: tuple[arrays.Anything, arrays.Integers]) -> Codes:
        return self.codes(read) if self._grid_cells is None else read[0]

    @property
    def stored_cells(self) -> arrays.Integers:
        return np.arange(self.size) if self._grid_cells is None else self._grid_cells

    @once
    def _grid_cells(self) -> arrays.Integers | None:
        """The cell of every place on the grid, of undeclared and of missing ones; None without a grid."""
        (low, high), step = self._bounds, self._step
        if self.column.kind is Kind.DATE or step is None or low is None or high is None:
            return None
        edges = [int((number - low) / step) for number, _ in self._cuts]
        cells = np.searchsorted(edges, np.arange(int((high - low) / step) + 1), side="right")
        return np.append(cells, [self.size - 1] * 2)

    def _values(self, cells: pd.Series) -> tuple[arrays.Anything, arrays.Integers]:
        """Return every row's number, on a grid its place in as few bytes as hold it, and the rows without."""
        low, high = (None if bound is None else float(bound) for bound in self._bounds)
        if self.column.kind is Kind.DATE:
            days = coding.dates(cells, self.column)
            absent = np.isnat(days)
            values = days.astype("datetime64[D]").astype(np.int64).astype(np.float64)
        elif self._step is not None:
            places, count = coding.codes(cells, self.column), len(coding.levels(self.column))
            return places.astype(_small(count + 2)), np.flatnonzero(places >= count)  # clamped by now
        else:
            values = coding.numbers(cells, self.column)
            absent = np.isnan(values)
        values = np.where(absent, 0.0, values)
        clipped = values if low is None and high is None else np.clip(values, low, high)
        return clipped, np.flatnonzero(absent)


def _bind(value: Fraction | str | None) -> Fraction | None:
    found = None if value is None else edge_of(value)
    return None if found is None else edge_number(found)


def _write(cut: Cut | None) -> list[Any] | None:
    return None if cut is None else [str(cut[0]), cut[1]]


def _refuse(code: str, **values: Any) -> InputRefused:
    return InputRefused(f"services.private_queries.{code}", **values)


# --- conditions over several columns ----------------------------------------------------------------


class Coded:
    """The rows of a table, of which every column is read once, however many questions ask about it."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame
        self._read: dict[Any, Any] = {}

    def __len__(self) -> int:
        return len(self.frame)

    def read(self, name: Any, reader: Callable[[pd.DataFrame], Any]) -> Any:
        """Return what a reader makes of the rows, the first time that the name is asked for."""
        if name not in self._read:
            self._read[name] = reader(self.frame)
        return self._read[name]


@dataclass(frozen=True)
class Question:
    """How many rows fulfil a condition, all together or in each cell of a column.

    Parameters
    ----------
    condition
        As it was read.
    schema
        What is declared about the table, after its preparation.
    by
        The columns whose declared cells are counted apart; none for one number.
    """

    condition: Condition
    schema: Schema
    by: tuple[str, ...] = ()

    @once
    def columns(self) -> tuple[str, ...]:
        """The columns that have a part, in the order of their names."""
        named = {one.column for one in comparisons(self.condition)}
        return tuple(sorted(named | set(self.by)))

    @once
    def axes(self) -> dict[str, Axis]:
        """The columns of the condition, cut where it cuts them."""
        asked: dict[str, tuple[Comparison, ...]] = {}
        for one in comparisons(self.condition):
            asked[one.column] = (*asked.get(one.column, ()), one)
        return {name: axis_of(self.schema, name, found) for name, found in asked.items()}

    @once
    def canonical(self) -> str:
        """The condition in a form that is equal for conditions that take the same rows of any table.

        `EVERYWHERE` for everybody, `NOWHERE` for nobody, otherwise the digest of a diagram.

        Raises
        ------
        InputRefused
            ``services.private_queries.*``: a column or a value that was not declared, an order where there
            is none.
        """
        for one in comparisons(self.condition):  # also what does not matter beside the others
            self.axes[one.column].cells(one)
        return _diagram(self.condition, self.axes, {})

    @once
    def key(self) -> str:
        """The fingerprint of the question: the same for every way of writing it."""
        by = sorted(self.by)
        return digest([self.canonical, by if len(by) > 1 else by[0] if by else None])

    def mask(self, rows: Coded) -> Rows:
        """Return which rows fulfil the condition, each decided by that row alone."""
        codes = {name: axis.codes(rows.read(name, axis.read)) for name, axis in self.axes.items()}
        if self.condition == EVERYBODY:
            return np.ones(len(rows), dtype=bool)
        return truth(self.condition, self.axes, codes, len(rows))


def truth(condition: Condition, axes: Mapping[str, Axis], codes: Mapping[str, Codes], rows: int) -> Rows:
    """Return where a condition holds, from the cells of its columns on axes that its comparisons cut."""
    if isinstance(condition, Comparison):
        axis, found = axes[condition.column], codes[condition.column]
        cells = axis.cells(condition)
        runs = _runs(cells)
        if len(runs) == 1:  # compared in a tenth of the time of looking up
            return np.asarray((found >= runs[0][0]) & (found <= runs[0][1]))
        taken = np.zeros(axis.size, dtype=bool)
        taken[list(cells)] = True
        return np.asarray(taken[found])
    if isinstance(condition, Not):
        return ~truth(condition.part, axes, codes, rows)
    parts = [truth(part, axes, codes, rows) for part in condition.parts]
    if not parts:
        return np.full(rows, isinstance(condition, All))
    return np.asarray(reduce(np.logical_and if isinstance(condition, All) else np.logical_or, parts))


def axis_of(schema: Schema, name: str, asked: tuple[Comparison, ...] = ()) -> Axis:
    """Return the cells of a column; refuse what identifies people, and what was not declared."""
    if name not in schema:
        raise _refuse("no_such_column", column=name[:100])
    column = schema.column(name)
    if column.role in _NAMELESS:
        raise _refuse("identifier", column=name)
    if column.domain is not None and not column.is_declared:
        raise _refuse("copied", column=name)
    domain = column.domain
    if domain is not None and (domain.values is not None or domain.code_list is not None):
        return Levels(column)
    if column.kind in (*_NUMERIC, Kind.DATE):
        return Line(column, asked)
    raise _refuse("not_declared", column=name)


def _diagram(condition: Condition, axes: Mapping[str, Axis], known: dict[Condition, str]) -> str:
    """Return the digest of the reduced ordered decision diagram of a condition."""
    if condition in (EVERYBODY, NOBODY):
        return EVERYWHERE if condition == EVERYBODY else NOWHERE
    if condition not in known:
        name = min(one.column for one in comparisons(condition))
        known[condition] = _node(name, condition, axes, known)
    return known[condition]


def _node(name: str, condition: Condition, axes: Mapping[str, Axis], known: dict[Condition, str]) -> str:
    """Decide by one column: which cells lead to which condition on the columns after it."""
    axis = axes[name]
    asked = list(dict.fromkeys(one for one in comparisons(condition) if one.column == name))
    takes = [axis.cells(one) for one in asked]
    alike: dict[tuple[bool, ...], list[int]] = {}
    for cell in range(axis.size):
        alike.setdefault(tuple(cell in cells for cells in takes), []).append(cell)
    branches: dict[str, list[int]] = {}
    for truths, cells in alike.items():
        rest = _diagram(remaining_condition(condition, dict(zip(asked, truths, strict=True))), axes, known)
        branches.setdefault(rest, []).extend(cells)
    if len(branches) == 1:
        return next(iter(branches))  # the column does not matter
    return digest([name, sorted([rest, axis.written(cells)] for rest, cells in branches.items())])


def digest(tree: Any) -> str:
    """Return the fingerprint of JSON values."""
    text = json.dumps(tree, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def remaining_condition(condition: Condition, truths: Mapping[Comparison, bool]) -> Condition:
    """Return what is left of a condition when some comparisons are decided.

    Examples
    --------
    >>> from engine.methods.conditions import parse
    >>> old = Comparison("age", "at least", ("60",))
    >>> remaining_condition(parse("sex is f or age at least 60"), {old: False})
    Comparison(column='sex', operator='in', values=('f',))
    """
    if isinstance(condition, Comparison):
        return condition if condition not in truths else EVERYBODY if truths[condition] else NOBODY
    if isinstance(condition, Not):
        part = remaining_condition(condition.part, truths)
        return NOBODY if part == EVERYBODY else EVERYBODY if part == NOBODY else Not(part)
    kind = type(condition)
    decides, adds_nothing = (NOBODY, EVERYBODY) if kind is All else (EVERYBODY, NOBODY)
    parts = [remaining_condition(part, truths) for part in condition.parts]
    if decides in parts:
        return decides
    left = tuple(dict.fromkeys(part for part in parts if part != adds_nothing))
    return adds_nothing if not left else left[0] if len(left) == 1 else kind(left)
