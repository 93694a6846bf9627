"""Columns as cells that were declared before any row was read, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, lcm, log10
from typing import Any

import numpy as np
import pandas as pd

from engine import arrays
from engine.methods import option
from engine.methods.parameters import Problem
from engine.methods.protocol import Request
from engine.methods.values import edge_number
from engine.table import coding
from engine.table.schema import Column, Kind

Codes = arrays.Integers
Floats = arrays.Floats

NUMBERS = (Kind.INTEGER, Kind.NUMBER)
CELL_KINDS = (Kind.CATEGORY, Kind.ORDINAL, *NUMBERS, Kind.DATE)
BINS = option.integer(name="bins", default=16, minimum=2, maximum=64)
OWN_EDGES = option.edges(name="edges", optional=True, each=True, minimum=2, maximum=200)
Span = tuple[int, int, tuple[int, ...]]
"""Of a cell of numbers: its first and its last step, and steps in between that are not its own."""


@dataclass(frozen=True)
class Named:
    """A column of declared names: a cell each, one for what was not declared, one for what is missing."""

    column: Column

    @property
    def size(self) -> int:
        """How many cells there are."""
        return len(coding.levels(self.column)) + 2

    @property
    def ordered(self) -> int:
        """How many of the first cells have an order."""
        return self.size - 2 if self.column.kind in (Kind.ORDINAL, *NUMBERS) else 0

    def codes(self, values: pd.Series) -> Codes:
        """Return the cell of every row."""
        return coding.codes(values, self.column)

    def written(self, codes: Codes, uniform: Floats) -> list[str]:
        """Return cells as text."""
        texts = np.array([*coding.levels(self.column), coding.written_other(self.column), ""], dtype=object)
        return [str(text) for text in texts[codes]]


@dataclass(frozen=True)
class Intervals:
    """A column of numbers between declared bounds: intervals, then one cell for what is missing.

    Parameters
    ----------
    column
        A number, or a date.
    edges
        Rising; values outside go to the first or the last interval, which holds its upper edge too. A date is
        a day since 1970.
    """

    column: Column
    edges: tuple[Fraction, ...]

    @property
    def size(self) -> int:
        """How many cells there are."""
        return len(self.edges)

    @property
    def ordered(self) -> int:
        """How many of the first cells have an order."""
        return self.size - 1

    def codes(self, values: pd.Series) -> Codes:
        """Return the cell of every row; looks at no other row."""
        if self.column.kind is Kind.DATE:
            days = coding.dates(values, self.column)
            read = np.where(np.isnat(days), np.nan, days.astype("int64").astype(np.float64))
        else:
            read = coding.numbers(values, self.column)
        inner = np.array([float(edge) for edge in self.edges[1:-1]])
        found = np.searchsorted(inner, read, side="right")
        return np.where(np.isnan(read), self.size - 1, found).astype(np.int64)

    def written(self, codes: Codes, uniform: Floats) -> list[str]:
        """Return a value of each row's interval, every one of the column's step equally likely."""
        step, start = self.step, self.start
        found = np.full(len(codes), "", dtype=object)
        for code, (first, last, left_out) in enumerate(self.spans):
            rows = np.flatnonzero(codes == code)
            count = max(last - first + 1 - len(left_out), 1)
            told_apart = min(count, 2**53)  # so many places a uniform number has
            places, uniques = pd.factorize(np.floor(uniform[rows] * told_apart))
            values = []
            for place in uniques.tolist():
                own = first + int(place) * count // told_apart
                for other in left_out:  # rising
                    own += own >= other
                values.append(self._text(min(start + own * step, self.edges[-1])))
            found[rows] = np.array(values, object)[places]
        return [str(text) for text in found]

    @property
    def spans(self) -> tuple[Span, ...]:
        """Return which steps every cell has but the last, which is of what is missing."""
        step, start = self.step, self.start
        reach = [-((start - edge) // step) for edge in self.edges]  # of each edge: its step, or the next one
        ends = [*(after - 1 for after in reach[1:-1]), (self.edges[-1] - start) // step]
        return tuple((first, last, ()) for first, last in zip(reach[:-1], ends, strict=True))

    @property
    def has_steps(self) -> bool:
        """Whether the step is declared, or that of whole numbers or days."""
        domain = self.column.domain
        return (domain is not None and domain.step is not None) or self.column.kind in (
            Kind.INTEGER,
            Kind.DATE,
        )

    @property
    def start(self) -> Fraction:
        """Where steps are counted from: the declared lower bound, 0 where it or the step is not declared."""
        domain = self.column.domain
        if domain is None or domain.step is None or domain.minimum is None:
            return Fraction(0)
        return _number(domain.minimum)

    @property
    def step(self) -> Fraction:
        """The declared step, 1 for whole numbers and days, else about a hundredth of an interval."""
        domain = self.column.domain
        if domain is not None and domain.step is not None:
            return domain.step
        if self.column.kind in (Kind.INTEGER, Kind.DATE):
            return Fraction(1)
        width = min(b - a for a, b in pairwise(self.edges))
        return Fraction(10) ** floor(log10(width.numerator) - log10(width.denominator) - 2)

    def _text(self, value: Fraction) -> str:
        if self.column.kind is Kind.DATE:
            return str(np.datetime64(int(value), "D"))
        return coding.text_of(float(value))


ColumnCells = Named | Intervals


def cells_of(column: Column, *, bins: int, edges: tuple[Fraction, ...] | None = None) -> ColumnCells:
    """Return the cells of a column: from its declaration, and edges that were declared with the plan.

    Parameters
    ----------
    column
        With declared values, a code list, or bounds.
    bins
        Into how many intervals of equal width bounds are cut where no edges are given and the values do not
        already fit.
    edges
        Increasing.
    """
    if edges is not None:
        return Intervals(column, edges)
    domain = column.domain
    if domain is None or is_listed(column):
        return Named(column)
    low, high = bounds_of(column)
    whole = column.kind in (Kind.INTEGER, Kind.DATE)
    step = domain.step or (Fraction(1) if whole else None)
    if step is not None:
        places = (high - low) // step + 1
        width = -(-places // bins)  # whole steps, so that no interval has more of them than another
        return Intervals(column, (*_rising(low, width * step, -(-places // width)), high))
    return Intervals(column, (*_rising(low, (high - low) / bins, bins), high))


def _rising(start: Fraction, step: Fraction, count: int) -> Iterator[Fraction]:
    """Yield a number and those after it, a step further each, over one denominator: fine grids have many."""
    below = lcm(start.denominator, step.denominator)
    first = start.numerator * (below // start.denominator)
    further = step.numerator * (below // step.denominator)
    return (Fraction(first + further * place, below) for place in range(count))


def bounds_of(column: Column) -> tuple[Fraction, Fraction]:
    """Return the declared bounds as numbers; days since 1970 for dates."""
    assert column.domain is not None
    return _number(column.domain.minimum), _number(column.domain.maximum)


def _number(bound: Fraction | str | None) -> Fraction:
    if isinstance(bound, str):
        return Fraction(int(np.datetime64(bound, "D").astype(int)))
    assert bound is not None
    return bound


def columns_as_cells(request: Request, names: Iterable[str]) -> tuple[ColumnCells, ...]:
    """Return the cells of columns, with the intervals and edges that a request asks for."""
    own = request.values[OWN_EDGES.name] or {}
    return tuple(
        cells_of(
            request.schema.column(name),
            bins=request.values[BINS.name],
            edges=tuple(map(edge_number, own[name])) if name in own else None,
        )
        for name in names
    )


def bins_taken(cells: Iterable[ColumnCells]) -> Mapping[str, Any]:
    """Say for `Method.taken` that no column was cut into intervals: every value has a cell of its own."""
    has_cut = any(
        not isinstance(one, Named)
        and not (isinstance(one, Intervals) and all(first == last for first, last, _ in one.spans))
        for one in cells
    )
    return {} if has_cut else {BINS.name: None}


def edge_problems(
    request: Request, columns: Sequence[Column], *, method: str, parameter: str
) -> list[Problem]:
    """Say which columns cannot be cut into intervals, and which edges belong to none."""
    own = request.values[OWN_EDGES.name] or {}
    named = {column.name for column in columns if not is_listed(column)}
    found = [
        Problem(f"{method}.no_edges", {"column": name}, OWN_EDGES.name) for name in own if name not in named
    ]
    for column in columns:
        if column.name in named and column.name not in own:
            low, high = bounds_of(column)
            whole = column.kind is Kind.INTEGER and column.domain is not None and column.domain.step is None
            if low >= high or (whole and ceil(low) > floor(high)):
                found.append(Problem(f"{method}.no_edges", {"column": column.name}, parameter))
        elif column.name in named:
            days = {isinstance(edge, date) for edge in own[column.name]}
            if days != {column.kind is Kind.DATE}:
                found.append(Problem(f"{method}.no_edges", {"column": column.name}, OWN_EDGES.name))
    return found


def is_listed(column: Column) -> bool:
    """Whether the values of a column are names that were declared one by one."""
    domain = column.domain
    return domain is not None and (domain.values is not None or domain.code_list is not None)
