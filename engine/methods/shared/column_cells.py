"""Columns as cells that were declared before any row was read, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, log10

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.methods.parameters import Parameter, ParameterKind, Problem
from engine.methods.protocol import Request
from engine.methods.values import edge_number
from engine.table import coding
from engine.table.schema import Column, Kind

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

NUMBERS = (Kind.INTEGER, Kind.NUMBER)
CELL_KINDS = (Kind.CATEGORY, Kind.ORDINAL, *NUMBERS, Kind.DATE)
BINS = Parameter("bins", ParameterKind.INTEGER, default=16, minimum=2, maximum=64)
OWN_EDGES = Parameter("edges", ParameterKind.EDGES, optional=True, each=True, minimum=2, maximum=200)


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
        texts = np.array([*coding.levels(self.column), coding.OTHER, ""], dtype=object)
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
        step = self.step
        low = np.array([float(-(-edge // step)) for edge in self.edges] + [0.0])
        first = low[codes]
        last = np.maximum(low[np.minimum(codes + 1, len(self.edges) - 1)] - 1, first)
        last = np.where(codes == self.size - 2, float(self.edges[-1] // step), last)
        steps = first + np.floor(uniform * (last - first + 1))
        places, uniques = pd.factorize(np.where(codes == self.size - 1, np.nan, steps))
        texts = [self._text(Fraction(int(value)) * step) for value in uniques.tolist()]
        return [str(text) for text in np.array([*texts, ""], dtype=object)[places]]

    @property
    def step(self) -> Fraction:
        """The declared step, 1 for whole numbers and days, else about a hundredth of an interval."""
        domain = self.column.domain
        if domain is not None and domain.step is not None:
            return domain.step
        if self.column.kind in (Kind.INTEGER, Kind.DATE):
            return Fraction(1)
        width = min(float(b - a) for a, b in zip(self.edges, self.edges[1:], strict=False))
        return Fraction(10) ** floor(log10(width / 100))

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
        return Intervals(column, (*(low + width * step * k for k in range(-(-places // width))), high))
    return Intervals(column, tuple(low + (high - low) * k / bins for k in range(bins + 1)))


def bounds_of(column: Column) -> tuple[Fraction, Fraction]:
    """Return the declared bounds as numbers; days since 1970 for dates."""
    assert column.domain is not None
    low, high = column.domain.minimum, column.domain.maximum
    if column.kind is Kind.DATE:
        return tuple(Fraction(int(np.datetime64(str(day), "D").astype(int))) for day in (low, high))  # type: ignore[return-value]
    assert isinstance(low, Fraction) and isinstance(high, Fraction)
    return low, high


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
            if low >= high:
                found.append(Problem(f"{method}.no_edges", {"column": column.name}, parameter))
    return found


def is_listed(column: Column) -> bool:
    """Whether the values of a column are names that were declared one by one."""
    domain = column.domain
    return domain is not None and (domain.values is not None or domain.code_list is not None)
