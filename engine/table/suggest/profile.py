"""What a column looks like, in a few figures: enough to suggest how it should be marked."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from engine.table.cells import cells_of, numbers_of
from engine.table.coding import texts_of
from engine.table.patterns import MISSING_CODES, PLACEHOLDER_DAYS, date_order_of, is_number
from engine.table.table import DATE, TEXT, Table

LOOKED_AT = 500
MOST_VALUES = 1000
MOST_COUNTS = 60
WORDS = frozenset(
    code for code in MISSING_CODES if code.isalpha() and code.upper() not in ("NA", "NULL", "NAN")
)
"""Codes that are words: "None" may well be a finding, so they count as missing only among numbers."""

_SENTINELS_BELOW = (-1, -7, -8, -9, -77, -88, -99, -777, -888, -999, -9999, -99999)
_SENTINELS_ABOVE = (99, 999, 9999, 99999, 999999)


@dataclass(frozen=True)
class Profile:
    """A column in figures. Private: it holds cells.

    Parameters
    ----------
    name, storage
        As in the table.
    n_rows, filled, distinct
        Rows; filled cells that are no missing code; different values among these.
    missing
        Codes that probably stand for missing values.
    values
        All different values as text, sorted, if there are at most 1,000; else None.
    counts
        Each of these values with its number of rows, if there are at most 60.
    sample
        Up to 500 different values as text.
    numeric, whole
        Whether all filled cells are numbers, and whole numbers.
    odd
        Cells among numbers that are none.
    low, high
        The least and the greatest number or date.
    longest
        Characters of the longest value in the sample.
    """

    name: str
    storage: str
    n_rows: int
    filled: int
    distinct: int
    missing: tuple[str, ...] = ()
    values: tuple[str, ...] | None = field(default=None, repr=False)
    counts: tuple[tuple[str, int], ...] = field(default=(), repr=False)
    sample: tuple[str, ...] = field(default=(), repr=False)
    numeric: bool = False
    whole: bool = False
    odd: int = 0
    low: Any = field(default=None, repr=False)
    high: Any = field(default=None, repr=False)
    longest: int = 0

    @property
    def unique(self) -> bool:
        """Whether every filled cell has a value of its own, and there are enough to tell."""
        return self.filled >= 20 and self.distinct == self.filled

    @property
    def row_number(self) -> bool:
        """Whether the cells only count the rows: whole numbers without a gap, each once."""
        return self.unique and self.whole and bool(self.high - self.low == self.filled - 1)

    def all_match(self, pattern: re.Pattern[str]) -> bool:
        """Whether every value of the sample has a form."""
        return bool(self.sample) and all(pattern.fullmatch(value.strip()) for value in self.sample)


def profile(table: Table, name: str, values: pd.Series) -> Profile:
    """Describe one column.

    Parameters
    ----------
    table
        The table, for the codes that the file itself declares missing.
    name
        Name of the column.
    values
        Its cells.
    """
    counts = values.value_counts(sort=False)
    filled = int(counts.sum())
    declared = table.missing.get(name, ())
    if table.storage[name] == DATE:
        return _days(table, name, counts, filled)
    if table.storage[name] == TEXT:
        return _text(table, name, counts, filled, declared)
    return _numbers(table, name, counts, filled, declared)


def _days(table: Table, name: str, counts: pd.Series, filled: int) -> Profile:
    is_code = _placeholders(counts)
    rest = counts.index[~is_code]
    low, high = (rest.min(), rest.max()) if len(rest) else (None, None)
    return Profile(
        name,
        DATE,
        table.n_rows,
        filled - int(counts[is_code].sum()),
        len(rest),
        missing=tuple(sorted(texts_of(counts.index[is_code]))),
        sample=tuple(texts_of(rest[:LOOKED_AT])),
        low=low,
        high=high,
        longest=10,
    )


def _placeholders(counts: pd.Series) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Say which days look like codes: a repeated 1900-01-01 far from all others, or in a tenth of cells."""
    days = counts.index.to_numpy().astype("datetime64[D]")
    known = np.isin(days, np.array(PLACEHOLDER_DAYS, dtype="datetime64[D]"))
    others, rows = days[~known], counts.to_numpy()
    if not known.any() or not len(others):
        return np.zeros(len(days), dtype=bool)
    year = np.timedelta64(366, "D")
    apart = (days < others.min() - year) | (days > others.max() + year)
    return known & (rows > 1) & (apart | (rows * 10 >= rows.sum()))


def _text(table: Table, name: str, counts: pd.Series, filled: int, declared: tuple[str, ...]) -> Profile:
    known = counts.index[counts.index.isin([*MISSING_CODES, *declared])]
    rest = counts.index.difference(known, sort=False) if len(known) else counts.index
    sample = tuple(texts_of(rest[:LOOKED_AT]))
    numeric = bool(sample) and sum(map(is_number, sample)) >= 0.95 * len(sample)
    odd = 0
    if numeric:
        read = pd.Series(numbers_of(cells_of(rest)))
        strange = rest[read.isna().to_numpy()]
        odd = int(counts.reindex(strange).sum()) if len(strange) else 0
        # A few words among numbers are slips; V27 among 250 and 401 is a code, and so is 0815.
        slips = odd * 20 <= filled and not any(re.search(r"\d", str(value)) for value in strange)
        numeric = slips and not any(re.match(r"[+-]?0\d", value) for value in sample)
        odd = odd if numeric else 0
    if odd:
        rest, read = rest.difference(strange, sort=False), read.dropna()
    missing = [code for code in known if numeric or code not in WORDS or code in declared]
    back = [code for code in known if code not in missing]
    rest = rest.append(pd.Index(back)) if back else rest
    kept = filled - int(counts.reindex(missing).sum()) if missing else filled
    return Profile(
        name,
        TEXT,
        table.n_rows,
        kept,
        len(rest),
        missing=tuple(sorted(missing)),
        values=tuple(sorted(set(texts_of(rest)))) if len(rest) <= MOST_VALUES else None,
        counts=_counts(rest, counts),
        sample=tuple(texts_of(rest[:LOOKED_AT])),
        numeric=numeric,
        whole=numeric and bool((read % 1 == 0).all()),
        odd=odd,
        low=float(read.min()) if numeric else None,
        high=float(read.max()) if numeric else None,
        longest=max(map(len, sample), default=0),
    )


def _numbers(table: Table, name: str, counts: pd.Series, filled: int, declared: tuple[str, ...]) -> Profile:
    numbers = np.sort(counts.index.to_numpy(dtype=np.float64))
    numbers = numbers[np.isfinite(numbers)]
    codes = {float(code) for code in declared if is_number(code)} | _sentinels(numbers, counts)
    missing = [code for code in counts.index if float(code) in codes]
    rest = counts.index.difference(pd.Index(missing), sort=False) if missing else counts.index
    kept = filled - int(counts.reindex(missing).sum()) if missing else filled
    inside = numbers[~np.isin(numbers, list(codes))]
    listed = texts_of(rest.sort_values()) if len(rest) <= MOST_VALUES else None
    sample = tuple(texts_of(rest[:LOOKED_AT]))
    return Profile(
        name,
        table.storage[name],
        table.n_rows,
        kept,
        len(rest),
        missing=tuple(texts_of(sorted(missing))),
        values=tuple(listed) if listed is not None else None,
        counts=_counts(rest, counts),
        sample=sample,
        numeric=bool(len(inside)),
        whole=bool(len(inside)) and bool((inside % 1 == 0).all()),
        low=float(inside[0]) if len(inside) else None,
        high=float(inside[-1]) if len(inside) else None,
        longest=max(map(len, sample), default=0),
    )


def _counts(kept: pd.Index, counts: pd.Series) -> tuple[tuple[str, int], ...]:
    if len(kept) > MOST_COUNTS:
        return ()
    return tuple(zip(texts_of(kept), counts.reindex(kept).astype(int).tolist(), strict=True))


def _sentinels(numbers: np.ndarray[Any, np.dtype[np.float64]], counts: pd.Series) -> set[float]:
    """Numbers that look like codes: a lone −9 below, or a repeated 999 far above, everything else."""
    found: set[float] = set()
    below = list(numbers[numbers < 0].tolist())
    if (
        0 < len(below) <= 3
        and len(numbers) > len(below)
        and all(value in _SENTINELS_BELOW for value in below)
    ):
        found.update(below)
    if len(numbers) > 2:
        top, next_ = float(numbers[-1]), float(numbers[-2])
        if top in _SENTINELS_ABOVE and next_ > 0 and top > 3 * next_ and int(counts.get(top, 0)) > 1:
            found.add(top)
    return found


def looks_like_dates(looked: Profile) -> bool:
    """Say whether a text column holds dates, in whatever order."""
    return bool(looked.sample) and all(date_order_of(value) is not None for value in looked.sample)
