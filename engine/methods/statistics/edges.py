"""One side of a table made of declared edges: numbers or days between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property

import numpy as np
import pandas as pd

from engine.methods.protocol import DictionaryEntry
from engine.methods.shared.cells import LEFT_OUT, Codes
from engine.table import coding
from engine.table.schema import Column, Kind
from engine.views import Text


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
