"""How many people lie between declared edges of a number or a date, in groups if wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from fractions import Fraction
from functools import cached_property

import numpy as np
import pandas as pd

from engine.methods import option
from engine.methods.once import once
from engine.methods.parameters import Problem
from engine.methods.protocol import DictionaryEntry, Reference
from engine.methods.shared.cells import (
    BY,
    LEFT_OUT,
    Cells,
    Codes,
    Extra,
    level_axes,
    level_problems,
    size_problems,
)
from engine.methods.shared.counted import (
    CountsMethod,
)
from engine.methods.values import edge_number, to_json
from engine.table import coding
from engine.table.schema import Column, Kind
from engine.views import Text

# --- declared edges as one side of a table ---------------------------------------------------------------


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

    @cached_property
    def labels(self) -> tuple[str, ...]:
        inner = [f"{low} to <{high}" for low, high in zip(self.written, self.written[1:], strict=False)]
        inner[-1] = f"{self.written[-2]} to {self.written[-1]}"
        if self.outside is Outside.SEPARATE:
            inner = [f"<{self.written[0]}", *inner, f">{self.written[-1]}"]
        return (*inner, f"({coding.MISSING})") if self.missing else tuple(inner)

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


# --- the method ------------------------------------------------------------------------------------------


class Histogram(CountsMethod):
    """Counts between declared edges.

    Notes
    -----
    The edges are declared, so a row is in at most one interval and the mechanism is that of the counts.
    Edges taken from the rows (equal frequencies, rounded extremes) would need a budget of their own; they
    are not offered.
    """

    id = "statistics.histogram"
    summable = True
    published = Reference(
        "Dwork, McSherry, Nissim, Smith: Calibrating noise to sensitivity in private data analysis (2006)",
        "example 3, histograms",
        "doi:10.1007/11681878_14",
    )

    class Options(CountsMethod.Options, own_first=True):
        column: str = option.column(column_kinds=(Kind.INTEGER, Kind.NUMBER, Kind.DATE))
        edges: option.Edges = option.edges(minimum=2, maximum=1001)
        outside: str = option.choice(*Outside, default=Outside.SEPARATE.value)
        by: option.Names = BY

    options: Options

    @once
    def further_problems(self) -> list[Problem]:
        by = [self.schema.column(name) for name in self.names]
        found = self.edge_problems
        if self.options.column in self.names:
            found.append(Problem(f"{self.id}.column_twice", {}, "by"))
        found += level_problems(by, parameter="by")
        found = found or size_problems(self.cells, method=self.id, parameter="edges")
        return found + self.noise_problems

    @once
    def edge_problems(self) -> list[Problem]:
        """Say when edges are days and the column numbers, or the other way round."""
        is_date = self.schema.column(self.options.column).kind is Kind.DATE
        days = [isinstance(edge, date) for edge in self.options.edges]
        if is_date and not all(days):
            return [Problem(f"{self.id}.edges_not_days", {}, "edges")]
        if not is_date and any(days):
            return [Problem(f"{self.id}.edges_not_numbers", {}, "edges")]
        return []

    @once
    def names(self) -> list[str]:
        """Return the columns to group by."""
        return list(self.options.by)

    @once
    def cells(self) -> Cells:
        extra = Extra(self.options.extra_cells)
        edges = self.options.edges
        exact = tuple(edge_number(edge) for edge in edges)
        between = EdgeAxis(
            self.schema.column(self.options.column),
            written_edges(to_json(edges)),
            exact,
            Outside(self.options.outside),
            missing=extra is not Extra.LEFT_OUT,
        )
        return Cells((*level_axes(self.request, self.names), between))
