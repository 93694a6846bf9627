"""The cells of a table of statistics: all combinations of declared levels, whatever the rows hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import prod
from typing import Protocol

import numpy as np
import pandas as pd

from engine import arrays
from engine.errors import InputRefused
from engine.methods import option
from engine.methods.parameters import Problem
from engine.methods.protocol import DictionaryEntry, Request
from engine.once import once
from engine.table import coding
from engine.table.code_lists import code_list
from engine.table.schema import Column, Domain, Kind
from engine.views import Text

Codes = arrays.Integers

MOST_CELLS = 100_000
LEFT_OUT = -1


class Extra(StrEnum):
    """What happens to rows whose value is no declared level, or missing. Decided before rows are read."""

    MISSING = "missing"  # a cell for missing values; other values are left out: the domain is closed
    SEPARATE = "separate"
    TOGETHER = "together"
    LEFT_OUT = "left_out"


EXTRA_CELLS = option.choice(*Extra, name="extra_cells", default=Extra.MISSING.value)
LEVEL_KINDS = (Kind.CATEGORY, Kind.ORDINAL, Kind.INTEGER, Kind.NUMBER)
BY = option.columns(
    name="by", default=[], optional=True, maximum=3, column_kinds=LEVEL_KINDS, needs_domain=True
)


class Axis(Protocol):
    """One side of the table."""

    @property
    def name(self) -> str:
        """Heading of the column that names the cell."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The cells in their order: those that were declared, then those for everything else."""

    @property
    def declared(self) -> int:
        """How many of the first cells were declared; the others stand for completeness only."""

    def codes(self, frame: pd.DataFrame) -> Codes:
        """Return the cell of every row, `LEFT_OUT` where the row is in none."""

    @property
    def entry(self) -> DictionaryEntry:
        """Its line of the data dictionary."""


@lru_cache(maxsize=32)
def _labels(kind: Kind, domain: Domain | None, extra: Extra, has_bounds: bool) -> tuple[str, ...]:
    """The forecast asks for these at every move of a slider: they depend on the declaration alone."""
    levels = coding.levels(Column("", kind=kind, domain=domain))
    if has_bounds and extra is not Extra.LEFT_OUT:
        return (*levels, unused_name(f"({coding.MISSING})", levels))
    return with_extra(levels, extra)


@dataclass(frozen=True)
class LevelAxis:
    """The declared levels of a column, then its cells for everything else."""

    column: Column
    extra: Extra = Extra.SEPARATE

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def labels(self) -> tuple[str, ...]:
        """What the cells are called: a meaning that was declared, or the value itself."""
        meanings = self._meanings
        shown = tuple(meanings.get(level, level) for level in self._levels)
        return shown if len(set(shown)) == len(shown) else self._levels

    @property
    def declared(self) -> int:
        return len(coding.levels(self.column))

    @property
    def _levels(self) -> tuple[str, ...]:
        return _labels(self.column.kind, self.column.domain, self.extra, self._has_bounds)

    @once
    def _meanings(self) -> Mapping[str, str]:
        """Declared meanings of values; those of the column stand before those of its code list."""
        domain = self.column.domain
        listed: Mapping[str, str] = {}
        if domain is not None and domain.code_list is not None:
            listed = code_list(domain.code_list, column=self.name).labels
        return {**listed, **self.column.labels}

    @property
    def _has_bounds(self) -> bool:
        """Numbers outside bounds are clamped, so that no row is ever in the cell for other values."""
        domain = self.column.domain
        return domain is not None and domain.values is None and domain.code_list is None

    def codes(self, frame: pd.DataFrame) -> Codes:
        found = coding.codes(frame[self.name], self.column)
        levels = self.declared
        if self.extra is Extra.LEFT_OUT:
            found[found >= levels] = LEFT_OUT
        elif self.extra is Extra.TOGETHER or self._has_bounds:
            np.minimum(found, levels, out=found)
        elif self.extra is Extra.MISSING:
            found[found == levels] = LEFT_OUT
            found[found > levels] = levels
        return found

    @property
    def entry(self) -> DictionaryEntry:
        meaning = Text("statistics.dictionary.group", {"column": self.name})
        return DictionaryEntry(self.name, meaning, self.column.kind.value, values=self.labels)


def level_axes(request: Request, names: Iterable[str]) -> tuple[LevelAxis, ...]:
    """Return an axis of levels for each column, with the cells beside them that the request asks for."""
    extra = Extra(request.values["extra_cells"])
    return tuple(LevelAxis(request.schema.column(name), extra) for name in names)


class Outside(StrEnum):
    """What happens to values below the first edge or above the last. Decided before rows are read."""

    SEPARATE = "separate"
    CLAMPED = "clamped"
    LEFT_OUT = "left_out"


@dataclass(frozen=True)
class EdgeAxis:
    """Intervals between edges: each holds its lower edge, the last its upper edge too.

    Parameters
    ----------
    column
        A number, or a date.
    written
        The edges as the custodian wrote them, for the labels.
    edges
        The same as exact increasing numbers; days since 1970 for dates.
    outside
        Where values outside the edges go.
    missing
        Whether missing values get a cell (after the others) or are left out.
    """

    column: Column
    written: tuple[str, ...]
    edges: tuple[Fraction, ...]
    outside: Outside = Outside.SEPARATE
    missing: bool = True

    @property
    def name(self) -> str:
        return self.column.name

    @once
    def labels(self) -> tuple[str, ...]:
        inner = [f"{low} to <{high}" for low, high in zip(self.written, self.written[1:], strict=False)]
        inner[-1] = f"{self.written[-2]} to {self.written[-1]}"
        if self.outside is Outside.SEPARATE:
            inner = [f"<{self.written[0]}", *inner, f">{self.written[-1]}"]
        return (*inner, f"({coding.MISSING})") if self.missing else tuple(inner)

    @once
    def said(self) -> dict[str, Text]:
        """Return the intervals as every language says them, by their labels: files hold the labels."""
        ends = list(zip(self.written, self.written[1:], strict=False))
        labels = self.labels[self.outside is Outside.SEPARATE :]
        words = [*("below" for _ in ends[1:]), "up_to"]
        return {
            label: Text(f"statistics.labels.{word}", {"low": low, "high": high})
            for label, word, (low, high) in zip(labels, words, ends, strict=False)
        }

    @property
    def declared(self) -> int:
        return len(self.labels) - self.missing

    def codes(self, frame: pd.DataFrame) -> Codes:
        values, absent = self._values(frame[self.name])
        last = len(self.edges) - 1
        place = np.searchsorted(np.array([float(edge) for edge in self.edges]), values, side="right")
        place[values == float(self.edges[-1])] = last  # 0 below, 1 … last inside, last + 1 above
        if self.outside is Outside.SEPARATE:
            found = place
        else:
            found = np.clip(place, 1, last) - 1
            if self.outside is Outside.LEFT_OUT:
                found[(place < 1) | (place > last)] = LEFT_OUT
        found[absent] = len(self.labels) - 1 if self.missing else LEFT_OUT
        return found.astype(np.int64)

    def _values(self, series: pd.Series) -> tuple[np.ndarray, np.ndarray]:
        if self.column.kind is Kind.DATE:
            days = coding.dates(series, self.column)
            absent = np.isnat(days)
            return np.where(absent, 0, days.astype(np.int64)).astype(np.float64), absent
        numbers = coding.numbers(series, self.column)
        absent = np.isnan(numbers)
        return np.where(absent, 0.0, numbers), absent

    @property
    def entry(self) -> DictionaryEntry:
        return DictionaryEntry(
            self.name,
            Text("statistics.dictionary.interval", {"column": self.name}),
            "category",
            values=self.labels,
        )


def written_edges(edges: Sequence[object]) -> tuple[str, ...]:
    """Return edges as they are printed.

    Examples
    --------
    >>> written_edges([0, 0.5, "1/3", "2021-01-01"])
    ('0', '0.5', '1/3', '2021-01-01')
    """
    return tuple(str(edge).strip() for edge in edges)


@dataclass(frozen=True)
class Cells:
    """The table that several axes span. Without axes it is one cell that holds every row."""

    axes: tuple[Axis, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Cells along each axis."""
        return tuple(len(axis.labels) for axis in self.axes)

    @property
    def size(self) -> int:
        """How many cells there are."""
        return prod(self.shape)

    @property
    def declared(self) -> int:
        """How many cells are declared along every axis: the only ones that a release is judged by."""
        return prod(axis.declared for axis in self.axes)

    @property
    def asides(self) -> dict[str, frozenset[str]]:
        """Return the labels of every axis that stand for completeness only."""
        return {axis.name: frozenset(axis.labels[axis.declared :]) for axis in self.axes}

    @property
    def said(self) -> dict[str, dict[str, Text]]:
        """Return by column how labels are said to people where that differs from what files hold."""
        return {axis.name: getattr(axis, "said", {}) for axis in self.axes}

    @property
    def names(self) -> tuple[str, ...]:
        """Headings of the columns that name a cell."""
        return tuple(axis.name for axis in self.axes)

    def labels(self) -> Iterator[tuple[str, ...]]:
        """Name every cell, the last axis running fastest."""
        return product(*(axis.labels for axis in self.axes))

    def codes(self, frame: pd.DataFrame) -> Codes:
        """Return the cell of every row, `LEFT_OUT` where any axis leaves it out."""
        if not self.axes:
            return np.zeros(len(frame), dtype=np.int64)
        flat = self.axes[0].codes(frame)
        out = flat < 0
        for axis in self.axes[1:]:
            further = axis.codes(frame)
            out |= further < 0
            flat *= len(axis.labels)
            flat += further
        flat[out] = LEFT_OUT
        return flat

    def count(self, codes: Codes) -> Codes:
        """Return how many rows each cell holds, shape (size,)."""
        return np.bincount(codes + 1, minlength=self.size + 1)[1:].astype(np.int64)

    def frame(self) -> pd.DataFrame:
        """Return the columns that name the cells, one row a cell, as text."""
        columns = {}
        before, after = 1, self.size
        for axis in self.axes:
            labels = np.asarray(axis.labels, dtype=object)
            after //= len(labels)
            columns[axis.name] = pd.array(np.tile(np.repeat(labels, after), before), dtype="str")
            before *= len(labels)
        return pd.DataFrame(columns, index=pd.RangeIndex(self.size))

    @property
    def entries(self) -> tuple[DictionaryEntry, ...]:
        """The lines of the data dictionary that name a cell."""
        return tuple(axis.entry for axis in self.axes)


def with_extra(levels: Sequence[str], extra: Extra) -> tuple[str, ...]:
    """Return levels followed by the cells for everything else, under names that no level has.

    Examples
    --------
    >>> with_extra(("f", "m"), Extra.SEPARATE), with_extra(("f", "(other or missing)"), Extra.TOGETHER)
    (('f', 'm', '(other)', '(missing)'), ('f', '(other or missing)', '((other or missing))'))
    """
    wanted = {
        Extra.MISSING: (f"({coding.MISSING})",),
        Extra.SEPARATE: (f"({coding.OTHER})", f"({coding.MISSING})"),
        Extra.TOGETHER: (f"({coding.OTHER} or {coding.MISSING})",),
        Extra.LEFT_OUT: (),
    }[extra]
    names = tuple(levels)
    for name in wanted:
        names = (*names, unused_name(name, names))
    return names


def unused_name(name: str, names: Sequence[str]) -> str:
    while name in names:
        name = f"({name})"
    return name


def free_name(wanted: str, taken: Sequence[str]) -> str:
    """Return a heading that no other column has.

    Examples
    --------
    >>> free_name("count", ("sex",)), free_name("count", ("count", "count_"))
    ('count', 'count__')
    """
    while wanted in taken:
        wanted += "_"
    return wanted


def level_problems(columns: Sequence[Column], *, parameter: str) -> list[Problem]:
    """Say which columns name no usable list of levels."""
    found = []
    for column in columns:
        try:
            if not coding.levels(column):  # a list without a value: there would be no cell
                raise InputRefused("table.no_levels", column=column.name)
        except InputRefused as refused:
            found.append(Problem(refused.code, refused.values, parameter))
    return found


def size_problems(cells: Cells, *, method: str, parameter: str) -> list[Problem]:
    """Say when a table would have too many cells to be of use, before it is built."""
    if cells.size <= MOST_CELLS:
        return []
    values = {"cells": cells.size, "most": MOST_CELLS}
    return [Problem(f"{method}.too_many_cells", values, parameter)]
