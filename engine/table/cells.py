"""The one way to read a cell: what a text says as a number, a date or a person key, each cell by itself.

Everything that turns text into values comes here: looking at a table, reading it for a release, coding its
levels. What one cell means never depends on another cell. The quick ways below only shorten the work where
every cell of a piece is plain; tests compare them with the careful way, cell by cell.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from engine import arrays
from engine.numbers import exact
from engine.table.patterns import LONGEST, LONGEST_DATE
from engine.table.reading.options import ReadOptions

Cells: TypeAlias = "pa.Array | pa.ChunkedArray"
Numbers = arrays.Floats
Dates = arrays.Dates

LARGEST_EXACT = 2**53
"""Beyond it not every whole number is a double."""

YMD, DMY, MDY, UNCLEAR = "ymd", "dmy", "mdy", "?"
_DATE = (
    r"^(?P<first>\d{1,4})(?P<mark>[-/.])(?P<second>\d{1,2})(?P<again>[-/.])(?P<third>\d{1,4})"
    r"(?:[ T](?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<seconds>\d{2})(?:\.(?P<fraction>\d+))?)?)?$"
)
_UNSEEN = r"\p{Cf}"
"""Signs that nobody sees: joiners, marks of direction and of the beginning of a file, soft hyphens."""
_WHOLE_KEY = r"^\+?(-?\d+)\.0*$"


@dataclass(frozen=True)
class NumberSigns:
    """The signs inside numbers: one for decimals, one or none between thousands."""

    decimal: str = "."
    thousands: str = ""

    @staticmethod
    def of(options: ReadOptions) -> NumberSigns:
        """Return the signs of a text file; text of other formats has a point by itself."""
        if options.format not in (None, "text"):
            return POINT
        return NumberSigns(options.decimal or ".", options.thousands or "")

    def pattern(self) -> str:
        """Return what a number looks like, without blanks around it; in time linear in its length."""
        mark, group = re.escape(self.decimal), re.escape(self.thousands)
        whole = rf"(?:\d+|\d{{1,3}}(?:{group}\d{{3}})+)" if self.thousands else r"\d+"
        return rf"^[+-]?(?:{whole}(?:{mark}\d*)?|{mark}\d+)(?:[eE][+-]?\d+)?$"


POINT = NumberSigns()


def cells_of(values: pd.Series | pd.Index) -> pa.ChunkedArray:
    """Return a text column as Arrow's cells, null where one is missing."""
    cells = pa.array(values, pa.large_string(), from_pandas=True)
    return cells if isinstance(cells, pa.ChunkedArray) else pa.chunked_array([cells])


def series_of(cells: Cells) -> pd.Series:
    """Return Arrow's cells as a column of pandas' own text type."""
    return pd.Series(cells.cast(pa.large_string()).to_pandas(), dtype="str")


def numbers_of(cells: Cells, signs: NumberSigns = POINT) -> Numbers:
    """Return what cells say as numbers.

    Parameters
    ----------
    cells
        Text, shape (n,); null for a missing cell.
    signs
        The decimal mark and the sign between thousands.

    Returns
    -------
    array of float64, shape (n,)
        NaN where a cell is missing, no number, not finite or longer than `LONGEST` characters.

    Notes
    -----
    A number has an optional sign, digits with at most one decimal mark, and an optional exponent; blanks
    around it do not count. Its value is the double nearest to what is written.

    Examples
    --------
    >>> numbers_of(pa.array(["1", " 2.50 ", "1e3", "x", "1,5", "inf", None])).tolist()
    [1.0, 2.5, 1000.0, nan, nan, nan, nan]
    >>> numbers_of(pa.array(["1.234,5", "1.23,4"]), NumberSigns(",", ".")).tolist()
    [1234.5, nan]
    """
    found = np.empty(len(cells), dtype=np.float64)
    start = 0
    for piece in _pieces(cells):
        read = _plain_numbers(piece, signs)
        found[start : start + len(piece)] = numbers_by_pattern(piece, signs) if read is None else read
        start += len(piece)
    return found


def numbers_by_pattern(piece: pa.Array, signs: NumberSigns = POINT) -> Numbers:
    """Read numbers where some cells may be none; `numbers_of` says what it returns."""
    text = pc.utf8_trim_whitespace(piece)
    fits = pc.and_(
        pc.match_substring_regex(text, signs.pattern()), pc.less_equal(pc.binary_length(text), LONGEST)
    )
    places = pc.indices_nonzero(pc.fill_null(fits, False))
    written = text.take(places)
    if signs.thousands:
        written = pc.replace_substring(written, signs.thousands, "")
    if signs.decimal != ".":
        written = pc.replace_substring(written, signs.decimal, ".")
    try:
        read = written.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        read = np.array([float(cell) for cell in written.to_pylist()], dtype=np.float64)
    found = np.full(len(piece), np.nan)
    found[places.to_numpy(zero_copy_only=False)] = np.where(np.isfinite(read), read, np.nan)
    return found


def dates_of(cells: Cells, order: str | None = None) -> Dates:
    """Return what cells say as points in time.

    Parameters
    ----------
    cells
        Text, shape (n,); null for a missing cell.
    order
        ``"dmy"`` or ``"mdy"``: how a cell is read in which day and month cannot be told apart; with
        anything else such a cell is no date. Where the cell itself tells, the cell decides.

    Returns
    -------
    array of datetime64[us], shape (n,)
        NaT where a cell is missing or no date of the calendar. Times with a zone are given in UTC; more than
        six decimals of a second are cut off.

    Notes
    -----
    Read are ``2020-02-29``, ``29.2.2020`` and ``2/29/2020`` with any of the signs ``- / .``, with or without
    a time, and everything else that ISO 8601 knows. The years are 1 to 9999.

    Examples
    --------
    >>> dates_of(pa.array(["2020-02-29", "29.2.2020", "1/2/2020", "2021-02-29"])).astype(str).tolist()
    ['2020-02-29T00:00:00.000000', '2020-02-29T00:00:00.000000', 'NaT', 'NaT']
    >>> dates_of(pa.array(["1/2/2020"]), "mdy").astype("datetime64[D]").tolist()
    [datetime.date(2020, 1, 2)]
    """
    found = np.empty(len(cells), dtype="datetime64[us]")
    start = 0
    for piece in _pieces(cells):
        read = _plain_dates(piece)
        if read is None:
            return _of_distinct(cells, order)
        found[start : start + len(piece)] = read
        start += len(piece)
    return found


def dates_by_pattern(distinct: pa.Array, order: str | None = None) -> Dates:
    """Read dates where some cells may be none; `dates_of` says what it returns."""
    text = pc.utf8_trim_whitespace(distinct)
    parts = _Parts(text)
    found = parts.stamps(order)
    rest = np.flatnonzero(parts.unlike & (pc.binary_length(text).to_numpy(zero_copy_only=False) >= 8))
    for place, cell in zip(rest.tolist(), text.take(pa.array(rest)).to_pylist(), strict=True):
        found[place] = _iso(cell)
    return found


def date_orders(cells: Cells) -> set[str]:
    """Return which of ``ymd``, ``dmy``, ``mdy`` and ``"?"`` (day and month alike) occur among dates."""
    parts = _Parts(pc.utf8_trim_whitespace(pc.unique(cells)))
    seen = {YMD: parts.ymd, DMY: parts.dmy, MDY: parts.mdy, UNCLEAR: parts.unclear}
    return {name for name, places in seen.items() if places.any()}


def key_cells(cells: Cells) -> Cells:
    """Return person keys in one form: ``"7"``, ``" 7"``, ``"+7.0"`` are one person; empty ones are null.

    However its letters are composed, and whatever stands between them that nobody sees, a key is the same.

    Examples
    --------
    >>> key_cells(pa.array([" 7", "+7.00", "007", "P7 ", " "])).to_pylist()
    ['7', '7', '007', 'P7', None]
    """
    text = pc.utf8_trim_whitespace(cells)
    if not pc.all(pc.string_is_ascii(text)).as_py():
        text = pc.utf8_normalize(pc.replace_substring_regex(text, _UNSEEN, ""), form="NFC")
        text = pc.utf8_trim_whitespace(text)
    if pc.any(pc.match_substring(text, ".")).as_py():
        text = pc.replace_substring_regex(text, _WHOLE_KEY, r"\1")
    if pc.min(pc.binary_length(text)).as_py() == 0:
        text = pc.if_else(pc.equal(pc.binary_length(text), 0), pa.scalar(None, text.type), text)
    return text


def reading_alike(texts: Iterable[str]) -> int:
    """Return how many of some different texts read like another one of them.

    Examples
    --------
    >>> reading_alike(["hiv", "HIV", "e\u0301pi", "\u00e9pi", "flu", "f lu"])
    4
    """
    return sum(count for count in Counter(map(read_form, texts)).values() if count > 1)


def read_form(text: str) -> str:
    """Return what texts have in common that read alike: numbers what they are worth, others their letters.

    Examples
    --------
    >>> read_form(" HIV  positive"), read_form("01") == read_form("1.0") == read_form("+1"), read_form("")
    ('hiv positive', True, '')
    """
    plain = unicodedata.normalize("NFKC", text).casefold().strip()
    plain = re.sub(r"\s+", " ", "".join(sign for sign in plain if unicodedata.category(sign) != "Cf"))
    try:
        return plain if "/" in plain else str(exact(plain))
    except ValueError:
        return plain


def _pieces(cells: Cells) -> list[pa.Array]:
    return cells.chunks if isinstance(cells, pa.ChunkedArray) else [cells]


def _plain_numbers(piece: pa.Array, signs: NumberSigns) -> Numbers | None:
    """Read a piece in which every filled cell is plainly a number; None where one is not."""
    if signs.thousands:
        return None
    if signs.decimal != ".":
        if pc.any(pc.match_substring(piece, ".")).as_py():
            return None
        piece = pc.replace_substring(piece, signs.decimal, ".")
    try:
        read = piece.cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    if (pc.max(pc.binary_length(piece)).as_py() or 0) > LONGEST:
        return None
    found = np.asarray(read.to_numpy(zero_copy_only=False), dtype=np.float64)
    return found if np.isfinite(found).sum() == len(found) - read.null_count else None


def _plain_dates(piece: pa.Array) -> Dates | None:
    """Read a piece in which every filled cell is ``2020-02-29`` or has a time to the second behind it."""
    extent = pc.min_max(pc.binary_length(piece)).as_py()
    kind = {10: pa.date32(), 19: pa.timestamp("s"), None: pa.date32()}.get(extent["min"])
    if kind is None or extent["min"] != extent["max"]:
        return None
    try:
        stamps = piece.cast(kind).cast(pa.timestamp("us")).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return None
    if bool((stamps < np.datetime64("0001-01-01", "us")).any()):
        return None
    return np.asarray(stamps, dtype="datetime64[us]")


def _of_distinct(cells: Cells, order: str | None) -> Dates:
    """Read every distinct cell once."""
    pieces = _pieces(cells.dictionary_encode())  # they share one dictionary
    values = np.append(dates_by_pattern(pieces[-1].dictionary, order), np.datetime64("NaT", "us"))
    found = np.empty(len(cells), dtype="datetime64[us]")
    start = 0
    for piece in pieces:
        places = pc.fill_null(piece.indices, len(values) - 1).to_numpy(zero_copy_only=False)
        found[start : start + len(piece)] = values[places]
        start += len(piece)
    return found


class _Parts:
    """Dates in numbers and signs, taken apart; what does not look like one is ``unlike``."""

    def __init__(self, text: pa.Array) -> None:
        short = pc.less_equal(pc.binary_length(text), LONGEST_DATE)
        found = pc.extract_regex(pc.if_else(short, text, pa.scalar("", text.type)), _DATE)
        self._parts = {item.name: found.field(place) for place, item in enumerate(found.type)}
        matched = pc.and_(pc.is_valid(found), pc.equal(self._parts["mark"], self._parts["again"]))
        matched = pc.fill_null(matched, False).to_numpy(zero_copy_only=False)
        self.unlike = ~matched & pc.fill_null(short, False).to_numpy(zero_copy_only=False)
        first, self._second, third = (self._whole(name) for name in ("first", "second", "third"))
        self._first, self._third = first, third
        long_first, long_third = self._length("first"), self._length("third")
        years_first = matched & (long_first == 4) & (long_third <= 2)
        years_last = matched & (long_first <= 2) & (long_third == 4)
        self.ymd = years_first & _between(self._second, 1, 12) & _between(third, 1, 31)
        days = years_last & _between(first, 1, 31) & _between(self._second, 1, 31)
        self.dmy = days & (first > 12) & (self._second <= 12)
        self.mdy = days & (first <= 12) & (self._second > 12)
        self.unclear = days & (first <= 12) & (self._second <= 12)

    def stamps(self, order: str | None) -> Dates:
        """Return the points in time; NaT where there is none."""
        dmy = self.dmy | (self.unclear & (order == DMY))
        mdy = self.mdy | (self.unclear & (order == MDY))
        year = np.where(self.ymd, self._first, self._third)
        month = np.where(mdy, self._first, self._second)
        day = np.where(self.ymd, self._third, np.where(mdy, self._second, self._first))
        hour, minute, second = (self._whole(name) for name in ("hour", "minute", "seconds"))
        known = (self.ymd | dmy | mdy) & (year >= 1) & (hour <= 23) & (minute <= 59) & (second <= 59)
        months = np.where(known, (year - 1970) * 12 + month - 1, 0).astype("datetime64[M]")
        days = months.astype("datetime64[D]") + np.where(known, day - 1, 0)
        known &= days.astype("datetime64[M]") == months  # no 30th of February
        time = ((hour * 60 + minute) * 60 + second) * 1_000_000 + self._micro()
        found = days.astype("datetime64[us]") + np.where(known, time, 0)
        found[~known] = np.datetime64("NaT", "us")
        return found

    def _micro(self) -> npt.NDArray[np.int64]:
        digits = pc.utf8_rpad(pc.utf8_slice_codeunits(self._parts["fraction"], 0, 6), 6, "0")
        return self._as_whole(digits)

    def _whole(self, name: str) -> npt.NDArray[np.int64]:
        return self._as_whole(self._parts[name])

    def _as_whole(self, digits: pa.Array) -> npt.NDArray[np.int64]:
        filled = pc.fill_null(digits, "0")
        filled = pc.if_else(pc.equal(filled, ""), pa.scalar("0", filled.type), filled)
        return np.asarray(filled.cast(pa.int64()).to_numpy(zero_copy_only=False))

    def _length(self, name: str) -> npt.NDArray[np.int64]:
        return np.asarray(pc.fill_null(pc.binary_length(self._parts[name]), 0).to_numpy(zero_copy_only=False))


def _between(values: npt.NDArray[np.int64], low: int, high: int) -> npt.NDArray[np.bool_]:
    return (values >= low) & (values <= high)


def _iso(cell: str) -> np.datetime64:
    """Read the other forms of ISO 8601: without signs, with weeks, with a time zone."""
    if not cell[:4].isdigit() or not cell.isascii() or re.search(r"[T ]24", cell):
        return np.datetime64("NaT", "us")  # the 24th hour: some versions of Python read it, and some do not
    try:
        made = datetime.fromisoformat(cell)
        if made.tzinfo is not None:
            made = made.astimezone(UTC).replace(tzinfo=None)
        return np.datetime64(made, "us")
    except (ValueError, OverflowError):
        return np.datetime64("NaT", "us")
