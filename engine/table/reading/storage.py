"""From text as written to the storage that loses nothing: whole numbers, numbers, dates, or the text itself.

For looking at a table, not for releases: a column is stored as numbers only if `engine.table.cells` reads
every filled cell as one and all can be written back. Codes with leading zeros, numbers with more digits than
a double keeps, and columns where some cells do not fit stay text, and the cells that do not fit are counted:
they are the ones that a release takes as missing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from engine import arrays
from engine.table.cells import (
    LARGEST_EXACT,
    UNCLEAR,
    YMD,
    Cells,
    Dates,
    Numbers,
    NumberSigns,
    date_orders,
    dates_of,
    numbers_of,
    series_of,
)
from engine.table.missing_words import missing_words
from engine.table.patterns import LONGEST, MISSING_CODES, date_order_of
from engine.table.reading.options import ROWS_NAMED, Finding, ReadOptions

_FEW_GROUPED = 3
"""So many cells that can be read in two ways are reported, no fewer."""
_SNIFFED = 500
_LONG_CELL = 200
_FORMULA = r"^(=|@|[+-][A-Za-z(])"
_WITH_COMMA = r"^\s*[+-]?\d{1,3}(\.\d{3})*,\d+\s*$"
_WITH_POINT = r"^\s*[+-]?\d+\.\d+\s*$"
_IN_GROUPS = "^[+-]?[0-9]{1,3}(?:[ \u00a0\u2009\u202f'\u2019][0-9]{3})+(?:[.,][0-9]+)?$"
_SHORT = r"^[+-]?[0-9]{1,3}(?:[.,][0-9]+)?$"

Mask = arrays.Bools


@dataclass
class Stored:
    """One column as it will be kept, and what was noticed on the way."""

    values: pd.Series
    findings: list[Finding] = field(default_factory=list)


@dataclass(frozen=True)
class _Place:
    """Where a column comes from; collects what is noticed."""

    file: str
    name: str
    found: list[Finding]

    def note(self, code: str, count: int, rows: tuple[int, ...] = (), **more: object) -> None:
        if count:
            self.found.append(Finding(code, self.file, self.name, count, rows, more))

    def note_where(self, code: str, mask: Mask, **more: object) -> None:
        self.note(code, int(mask.sum()), _rows(mask), **more)


def store(text: Cells, name: str, *, options: ReadOptions, file: str = "") -> Stored:
    """Choose the storage of a column that was read as text.

    Parameters
    ----------
    text
        Strings, shape (n,); null for an empty cell.
    name
        Name of the column, for the findings.
    options
        Decimal mark, thousands mark, order of dates.
    file
        Name of the file, for the findings.

    Returns
    -------
    Stored
        int64 (no cell missing), float64, datetime64 or ``str``.

    Examples
    --------
    >>> store(pa.array(["1", "2", None]), "n", options=ReadOptions()).values.tolist()
    [1.0, 2.0, nan]
    >>> store(pa.array(["01", "2"]), "code", options=ReadOptions()).values.tolist()
    ['01', '2']
    >>> store(pa.array(["1,5", "2"]), "x", options=ReadOptions(decimal=",")).values.tolist()
    [1.5, 2.0]
    """
    place = _Place(file, name, [])
    if text.null_count == len(text):
        place.note("table.column_empty", len(text))
        return Stored(series_of(text), place.found)
    sniffed = text[:_SNIFFED].drop_null().to_pylist() or text.drop_null()[:_SNIFFED].to_pylist()
    signs = NumberSigns.of(options)
    pattern = re.compile(signs.pattern(), re.ASCII)
    numbers = sum(len(cell) <= LONGEST and pattern.match(cell.strip()) is not None for cell in sniffed)
    dates = 0 if numbers else sum(date_order_of(cell) is not None for cell in sniffed)
    values: Numbers | Dates | npt.NDArray[np.int64] | None = None
    if numbers * 2 >= len(sniffed):
        values, text = _numbers(text, signs, options, place, whole=_all_digits(sniffed, signs))
    elif dates * 2 >= len(sniffed):
        values, text = _dates(text, options, place)
    if values is not None:
        return Stored(pd.Series(values, copy=False), place.found)  # pandas would copy
    _missing_codes(text, place)
    place.note_where("table.formula_like", _matching(text, _FORMULA, ("=", "@", "+", "-")))
    _in_groups(text, sniffed, place)
    _many_lines(text, place)
    return Stored(series_of(text), place.found)


def rows_of(mask: Cells) -> tuple[int, ...]:
    """Return the first few row numbers, from 1, where a mask of Arrow's is true."""
    return _rows(_numpy(mask))


def _rows(mask: Mask) -> tuple[int, ...]:
    return tuple(int(place) + 1 for place in np.flatnonzero(mask)[:ROWS_NAMED])


def _numpy(mask: Cells) -> Mask:
    if not pc.any(mask).as_py():  # as a rule: counting bits takes a hundredth of unpacking them
        return np.zeros(len(mask), dtype=bool)
    return np.asarray(pc.fill_null(mask, False).to_numpy(zero_copy_only=False))


def _all_digits(sniffed: list[str], signs: NumberSigns) -> bool:
    return all(cell.replace(signs.thousands or " ", "").lstrip("+-").strip().isdigit() for cell in sniffed)


def _numbers(
    text: Cells, signs: NumberSigns, options: ReadOptions, place: _Place, *, whole: bool
) -> tuple[Numbers | npt.NDArray[np.int64] | None, Cells]:
    """Return the values, or None and the text with the numbers in it written with a point."""
    if whole and not signs.thousands:
        values = _whole_numbers(text)
        if values is not None:
            return (None if _leading_zeros(text, place) else _exact(values, text)), text
    read = numbers_of(text, signs)
    misfit = np.isnan(read)
    if text.null_count:
        misfit &= _numpy(pc.is_valid(text))
    misfits = int(misfit.sum())
    written = _with_point(text, misfit, signs) if signs != NumberSigns() else text
    if _leading_zeros(written, place):
        return None, text
    if misfits:
        _misfits(text, misfit, options, place)
        return None, written
    if _long_digits(written):
        return None, text  # more digits than a double keeps: a number that names somebody, not a quantity
    if whole:
        values = _whole_numbers(written)
        if values is not None:
            return _exact(values, text), text
    _either_way(text, signs, place)
    return read, text


def _either_way(text: Cells, signs: NumberSigns, place: _Place) -> None:
    """Report decimals that may be thousands: three digits after every mark, as in 1.000 and 1.500."""
    if signs.thousands:
        return
    mark = re.escape(signs.decimal)
    either = rf"^\s*[+-]?([1-9]\d{{0,2}}{mark}\d{{3}}|\d{{1,3}})\s*$"
    if not pc.all(pc.match_substring_regex(text[:_SNIFFED], either)).as_py():
        return
    if not pc.all(pc.match_substring_regex(text, either)).as_py():
        return
    grouped = _numpy(pc.match_substring(text, signs.decimal))
    if int(grouped.sum()) >= _FEW_GROUPED:
        place.note_where("table.thousands_or_decimals", grouped, decimal=signs.decimal)


def _whole_numbers(text: Cells) -> npt.NDArray[np.int64] | None:
    """Return whole numbers, 0 for a missing one; None if one cell is none or does not fit into 64 bits."""
    found = np.zeros(len(text), dtype=np.int64)
    start = 0
    for piece in text.chunks if isinstance(text, pa.ChunkedArray) else [text]:
        try:
            read = piece.cast(pa.int64())
        except pa.ArrowInvalid:
            return None
        if read.null_count:
            read = pc.fill_null(read, 0)
        found[start : start + len(piece)] = read.to_numpy()
        start += len(piece)
    hexadecimal = _matching(text, r"^-?0[xX]", ("0", "-0"))  # Arrow reads them, the program does not
    return None if hexadecimal.any() else found


def _exact(values: npt.NDArray[np.int64], text: Cells) -> Numbers | npt.NDArray[np.int64] | None:
    """Return whole numbers, as doubles where cells are missing; None where a double cannot hold them."""
    if text.null_count == 0:
        return values
    if max(int(values.max()), -int(values.min())) > LARGEST_EXACT:
        return None
    numbers = values.astype(np.float64)
    numbers[_numpy(pc.is_null(text))] = np.nan
    return numbers


def _leading_zeros(written: Cells, place: _Place) -> bool:
    before = len(place.found)
    place.note_where("table.leading_zeros", _matching(written, r"^[+-]?0[0-9]", ("0", "-0", "+0")))
    return len(place.found) > before


def _long_digits(written: Cells) -> bool:
    if (pc.max(pc.binary_length(written)).as_py() or 0) <= 16:
        return False
    return bool(pc.any(pc.match_substring_regex(written, r"^\s*[+-]?\d{16,}\s*$")).as_py())


def _matching(text: Cells, pattern: str, starts: tuple[str, ...]) -> Mask:
    """Match a pattern where cells start in one of some ways: looking at starts costs a tenth of matching."""
    likely = pc.starts_with(text, starts[0])
    for start in starts[1:]:
        likely = pc.or_(likely, pc.starts_with(text, start))
    mask = _numpy(likely)
    if mask.any():
        places = np.flatnonzero(mask)
        mask[places] = _numpy(pc.match_substring_regex(text.take(pa.array(places)), pattern))
    return mask


def _with_point(text: Cells, misfit: Mask, signs: NumberSigns) -> Cells:
    """Write the numbers of a column with a decimal point and without signs between thousands."""
    written = text
    if signs.thousands:
        written = pc.replace_substring(written, signs.thousands, "")
    if signs.decimal != ".":
        written = pc.replace_substring(written, signs.decimal, ".")
    return pc.if_else(pa.array(misfit), text, written) if misfit.any() else written


def _misfits(text: Cells, misfit: Mask, options: ReadOptions, place: _Place) -> None:
    """Report cells that do not fit a column of numbers; missing codes are reported elsewhere."""
    places = np.flatnonzero(misfit)
    odd = text.take(pa.array(places))
    code = _numpy(pc.is_in(pc.utf8_trim_whitespace(odd), value_set=pa.array(MISSING_CODES, odd.type)))
    pattern, other = (_WITH_COMMA, ",") if NumberSigns.of(options).decimal == "." else (_WITH_POINT, ".")
    marked = ~code & _numpy(pc.match_substring_regex(odd, pattern))
    for name, chosen, more in (
        ("table.wrong_decimal_mark", marked, {"decimal": options.decimal, "other": other}),
        ("table.cells_not_numbers", ~marked & ~code, {}),
    ):
        named = tuple(int(row) + 1 for row in places[chosen][:ROWS_NAMED])
        place.note(name, int(chosen.sum()), named, **more)


def _dates(text: Cells, options: ReadOptions, place: _Place) -> tuple[Dates | None, Cells]:
    """Return the dates, or None and the text with the clear dates in it written as ISO 8601 has them."""
    order = options.date_order
    read = dates_of(text, order)
    filled = _numpy(pc.is_valid(text))
    misfit = np.isnat(read) & filled
    orders = date_orders(text)
    told = orders - {YMD, UNCLEAR}
    if len(told) > 1 or (misfit.any() and UNCLEAR in orders and order not in ("dmy", "mdy")):
        seen = ", ".join(sorted(orders - {UNCLEAR})) or "dmy or mdy"
        which = "table.dates_in_several_orders" if len(told) > 1 else "table.date_order_unclear"
        place.note(which, int(misfit.sum()) or len(text), _rows(misfit), orders=seen)
        return None, text
    if not misfit.any():
        return read, text
    code = _numpy(pc.is_in(pc.utf8_trim_whitespace(text), value_set=_codes(text)))
    place.note_where("table.cells_not_dates", misfit & ~code)
    return None, pc.if_else(pa.array(~np.isnat(read)), _iso(read, text), text)


def _iso(read: Dates, text: Cells) -> Cells:
    days = read.astype("datetime64[D]")
    times = np.char.replace(read.astype("datetime64[s]").astype(str), "T", " ")
    return pa.array(np.where(days == read, days.astype(str), times), text.type)


def _codes(text: Cells) -> pa.Array:
    return pa.array(MISSING_CODES, text.type)


def _missing_codes(text: Cells, place: _Place) -> None:
    places = pc.index_in(text, value_set=_codes(text))
    if places.null_count == len(places):
        return
    for item in pc.value_counts(places.drop_null()).to_pylist():
        sign = MISSING_CODES[item["values"]]
        code = "missing_word" if missing_words((sign,)) else "missing_code"
        place.note(f"table.{code}", item["counts"], sign=sign)


def _in_groups(text: Cells, sniffed: list[str], place: _Place) -> None:
    """Report a column of numbers with blanks or apostrophes between thousands, which is read as text.

    Numbers of telephones and of firms are written so too: of quantities some have decimals, or are short.
    """
    cells = [cell.strip() for cell in sniffed if len(cell) <= LONGEST]
    grouped = [cell for cell in cells if re.match(_IN_GROUPS, cell)]
    short = [cell for cell in cells if re.match(_SHORT, cell)]
    decimals = any("," in cell or "." in cell for cell in grouped)
    if grouped and (decimals or short) and 2 * (len(grouped) + len(short)) >= len(sniffed):
        fits = pc.match_substring_regex(pc.utf8_trim_whitespace(text), _IN_GROUPS)
        place.note_where("table.grouped_numbers", _numpy(fits))


def _many_lines(text: Cells, place: _Place) -> None:
    """Report cells that look as if a quotation mark without partner had swallowed rows."""
    if pc.max(pc.binary_length(text)).as_py() < _LONG_CELL:
        return
    many = pc.greater(pc.count_substring_regex(text, r"\r\n|\n|\r"), 100)
    place.note_where("table.cell_with_many_lines", _numpy(many))
