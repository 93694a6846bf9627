"""From text as written to the storage that loses nothing: whole numbers, numbers, dates, or the text itself.

A column becomes numeric only if every filled cell is a number that can be written back. Codes with leading
zeros, numbers with more digits than a double keeps, and columns where some cells do not fit stay text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from engine.table.patterns import MISSING_CODES, NUMBER, date_order_of
from engine.table.reading.options import ROWS_NAMED, Finding, ReadOptions

LARGEST_EXACT = 2**53
_SNIFFED = 500
_LONG_CELL = 200
_NUMBER_PATTERN = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"
_FORMULA = r"^(=|@|[+-][A-Za-z(])"


@dataclass
class Stored:
    """One column as it will be kept, and what was noticed on the way."""

    values: pd.Series
    findings: list[Finding] = field(default_factory=list)


def store(text: pa.Array, name: str, *, options: ReadOptions, file: str = "") -> Stored:
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
    found: list[Finding] = []
    if text.null_count == len(text):
        if len(text):
            found.append(Finding("table.column_empty", file, name, len(text)))
        return Stored(as_text(text), found)
    sniffed = text[:_SNIFFED].drop_null().to_pylist()
    if not sniffed:
        sniffed = text.drop_null()[:_SNIFFED].to_pylist()
    written = _with_point(text, sniffed, options)
    if NUMBER.fullmatch(_with_point_one(sniffed[0], options)):
        numeric = _as_number(written, name, file, found)
        if numeric is not None:
            return Stored(numeric, found)
    if date_order_of(sniffed[0]) is not None:
        date = _as_date(text, name, options, file, found)
        if date is not None:
            return Stored(date, found)
    number_like = sum(NUMBER.fullmatch(_with_point_one(value, options)) is not None for value in sniffed)
    if number_like * 2 >= len(sniffed) and not any(item.code == "table.leading_zeros" for item in found):
        text = _misfits(text, written, name, options, file, found)
    elif not number_like and sum(date_order_of(value) is not None for value in sniffed) * 2 >= len(sniffed):
        text = _date_misfits(text, name, options, file, found)
    _missing_codes(text, name, file, found)
    _formulas(text, name, file, found)
    _many_lines(text, name, file, found)
    return Stored(as_text(text), found)


def rows_of(mask: pa.Array) -> tuple[int, ...]:
    """Return the first few row numbers, from 1, where a mask is true."""
    places = np.flatnonzero(pc.fill_null(mask, False).to_numpy(zero_copy_only=False))
    return tuple(int(place) + 1 for place in places[:ROWS_NAMED])


def _as_number(written: pa.Array, name: str, file: str, found: list[Finding]) -> pd.Series | None:
    whole = _cast(written, pa.int64())
    if whole is None:
        return _as_float(written, name, file, found)
    if _has_leading_zeros(written, name, file, found):
        return None
    if whole.null_count == 0:
        return pd.Series(whole.to_numpy())
    extent = pc.min_max(whole).as_py()
    if max(abs(extent["min"]), abs(extent["max"])) > LARGEST_EXACT:
        return None
    return pd.Series(whole.cast(pa.float64()).to_numpy(zero_copy_only=False))


def _as_float(written: pa.Array, name: str, file: str, found: list[Finding]) -> pd.Series | None:
    number = _cast(written, pa.float64())
    if number is None and pc.any(pc.match_substring_regex(written[:_SNIFFED], r"^\s|\s$")).as_py():
        written = pc.utf8_trim_whitespace(written)
        number = _cast(written, pa.float64())
    if number is None:
        return None
    if not pc.all(pc.is_finite(number)).as_py():
        return None  # "nan", "inf": words that stand for missing, not numbers
    if _has_leading_zeros(written, name, file, found):
        return None
    longest = pc.max(pc.binary_length(written)).as_py()
    if longest > 16 and pc.any(pc.match_substring_regex(written, r"^[+-]?\d{16,}$")).as_py():
        return None  # more digits than a double keeps: a number that names somebody, not a quantity
    return pd.Series(number.to_numpy(zero_copy_only=False))


def _cast(text: pa.Array, kind: pa.DataType) -> pa.Array | None:
    """Cast all cells, or return None. A slice is tried first: a cast that fails is ten times as slow."""
    try:
        text[:_SNIFFED].cast(kind)
        return text.cast(kind)
    except pa.ArrowInvalid:
        return None


def _has_leading_zeros(written: pa.Array, name: str, file: str, found: list[Finding]) -> bool:
    mask = _matching(written, r"^[+-]?0[0-9]", ("0", "-0", "+0"))
    count = pc.sum(mask).as_py() or 0
    if count:
        found.append(Finding("table.leading_zeros", file, name, count, rows_of(mask)))
    return bool(count)


def _matching(text: pa.Array, pattern: str, starts: tuple[str, ...]) -> pa.Array:
    """Match a pattern where cells start in one of some ways: looking at starts costs a tenth of matching."""
    likely = pc.starts_with(text, starts[0])
    for start in starts[1:]:
        likely = pc.or_(likely, pc.starts_with(text, start))
    if not pc.any(likely).as_py():
        return likely
    places = pc.indices_nonzero(pc.fill_null(likely, False))
    matched = pc.match_substring_regex(text.take(places), pattern).to_numpy(zero_copy_only=False)
    mask = np.zeros(len(text), dtype=bool)
    mask[places.to_numpy()[matched.astype(bool)]] = True
    return pa.array(mask)


def _with_point(text: pa.Array, sniffed: list[str], options: ReadOptions) -> pa.Array:
    """Rewrite numbers with a decimal comma or thousands marks; leave columns alone that have none."""
    if options.decimal in (None, ".") and not options.thousands:
        return text
    if not any(value[-1:].isdigit() for value in sniffed):
        return text
    if options.decimal not in (None, "."):
        # A point that is not a thousands mark does not belong into such a number: keep it from becoming one.
        thousands = re.escape(options.thousands) if options.thousands else ""
        pattern = (
            rf"^\s*[+-]?(\d+|\d{{1,3}}({thousands}\d{{3}})+)?({re.escape(options.decimal or ',')}\d*)?"
            r"([eE][+-]?\d+)?\s*$"
        )
    else:
        pattern = rf"^\s*[+-]?\d{{1,3}}({re.escape(options.thousands or ',')}\d{{3}})*(\.\d*)?\s*$"
    fits = pc.match_substring_regex(text, pattern)
    changed = text
    if options.thousands:
        changed = pc.replace_substring(changed, options.thousands, "")
    if options.decimal not in (None, "."):
        changed = pc.replace_substring(changed, options.decimal, ".")
        fits = pc.if_else(pc.equal(text, ""), False, fits)
        other = pc.binary_join_element_wise("≠", text, "")  # any text that is not a number
        return pc.if_else(fits, changed, pc.if_else(pc.match_substring(text, "."), other, text))
    return pc.if_else(fits, changed, text)


def _with_point_one(value: str, options: ReadOptions) -> str:
    if options.thousands:
        value = value.replace(options.thousands, "")
    if options.decimal not in (None, "."):
        value = value.replace(".", "≠").replace(options.decimal or ",", ".")
    return value


def _as_date(
    text: pa.Array, name: str, options: ReadOptions, file: str, found: list[Finding]
) -> pd.Series | None:
    stamps = _cast(text, pa.timestamp("us"))
    if stamps is not None:
        return pd.Series(stamps.to_numpy(zero_copy_only=False))
    iso, orders = iso_dates(text, options)
    if iso is None or iso.null_count != text.null_count or len(orders - {"ymd", "?"}) > 1:
        return None
    stamps = _cast(iso, pa.timestamp("us"))
    return None if stamps is None else pd.Series(stamps.to_numpy(zero_copy_only=False))


def iso_dates(text: pa.Array, options: ReadOptions) -> tuple[pa.Array | None, set[str]]:
    """Rewrite dates in ISO form; null where a cell is none, or where day and month cannot be told apart.

    Returns
    -------
    tuple
        The strings, and which of ``ymd``, ``dmy``, ``mdy`` and ``"?"`` occur.
    """
    encoded = text.dictionary_encode()
    uniques = encoded.dictionary.to_pylist()
    kinds = [date_order_of(value) for value in uniques]
    orders = {kind for kind in kinds if kind is not None}
    told = orders - {"?", "ymd"}
    if options.date_order in ("dmy", "mdy"):
        told = told | {options.date_order}
    unclear = next(iter(told)) if len(told) == 1 else None
    rewritten = [
        _iso(value, unclear if kind == "?" else kind) for value, kind in zip(uniques, kinds, strict=True)
    ]
    return pa.array(rewritten, pa.string()).take(encoded.indices), orders


def _iso(value: str, order: str | None) -> str | None:
    if order not in ("ymd", "dmy", "mdy"):
        return None
    match = re.match(r"\s*(\d+)\D(\d+)\D(\d+)(?:[ T]([\d:.]+))?", value)
    if match is None:
        return None
    parts = match.group(1, 2, 3)
    year, month, day = (parts[order.index(letter)] for letter in "ymd")
    time = f" {match.group(4):0>5}" if match.group(4) else ""
    try:
        return np.datetime64(f"{int(year):04}-{int(month):02}-{int(day):02}").astype(str) + time
    except ValueError:
        return None  # the 30th of February


def _misfits(
    text: pa.Array, written: pa.Array, name: str, options: ReadOptions, file: str, found: list[Finding]
) -> pa.Array:
    """Report cells that do not fit a column of numbers; where they do, write them with a point."""
    fits = pc.match_substring_regex(written, _NUMBER_PATTERN)
    code = pc.is_in(pc.utf8_trim_whitespace(text), value_set=pa.array(MISSING_CODES))
    misfit = pc.and_(pc.invert(fits), pc.invert(code))
    count = pc.sum(misfit).as_py() or 0
    if count:
        other = r"^\s*[+-]?\d{1,3}(\.\d{3})*,\d+\s*$" if options.decimal == "." else r"^\s*[+-]?\d+\.\d+\s*$"
        marked = pc.and_(misfit, pc.match_substring_regex(text, other))
        wrong = pc.sum(marked).as_py() or 0
        if wrong:
            found.append(
                Finding(
                    "table.wrong_decimal_mark",
                    file,
                    name,
                    wrong,
                    rows_of(marked),
                    {"decimal": options.decimal, "other": "," if options.decimal == "." else "."},
                )
            )
        if count > wrong:
            rest = pc.and_(misfit, pc.invert(marked))
            found.append(Finding("table.cells_not_numbers", file, name, count - wrong, rows_of(rest)))
    return pc.if_else(fits, written, text)


def _date_misfits(
    text: pa.Array, name: str, options: ReadOptions, file: str, found: list[Finding]
) -> pa.Array:
    """Report dates that do not fit, or that are written in several orders; rewrite those that are clear."""
    iso, orders = iso_dates(text, options)
    assert iso is not None
    told = orders - {"ymd"} - {"?"}
    if len(told) > 1 or ("?" in orders and (not told and options.date_order is None)):
        seen = ", ".join(sorted(orders - {"?"})) or "dmy or mdy"
        unclear = pc.and_(pc.is_valid(text), pc.is_null(iso))
        count = pc.sum(unclear).as_py() or 0
        code = "table.dates_in_several_orders" if len(told) > 1 else "table.date_order_unclear"
        found.append(Finding(code, file, name, count or len(text), rows_of(unclear), {"orders": seen}))
        return text
    code = pc.is_in(pc.utf8_trim_whitespace(text), value_set=pa.array(MISSING_CODES))
    misfit = pc.and_(pc.and_(pc.is_valid(text), pc.is_null(iso)), pc.invert(code))
    count = pc.sum(misfit).as_py() or 0
    if count:
        found.append(Finding("table.cells_not_dates", file, name, count, rows_of(misfit)))
    return pc.coalesce(iso, text)


def _missing_codes(text: pa.Array, name: str, file: str, found: list[Finding]) -> None:
    places = pc.index_in(text, value_set=pa.array(MISSING_CODES))
    if places.null_count == len(places):
        return
    for item in pc.value_counts(places.drop_null()).to_pylist():
        code = MISSING_CODES[item["values"]]
        found.append(Finding("table.missing_code", file, name, item["counts"], more={"sign": code}))


def _formulas(text: pa.Array, name: str, file: str, found: list[Finding]) -> None:
    mask = _matching(text, _FORMULA, ("=", "@", "+", "-"))
    count = pc.sum(mask).as_py() or 0
    if count:
        found.append(Finding("table.formula_like", file, name, count, rows_of(mask)))


def _many_lines(text: pa.Array, name: str, file: str, found: list[Finding]) -> None:
    """Report cells that look as if a quotation mark without partner had swallowed rows."""
    if pc.max(pc.binary_length(text)).as_py() < _LONG_CELL:
        return
    mask = pc.greater(pc.count_substring_regex(text, r"\r\n|\n|\r"), 100)
    count = pc.sum(mask).as_py() or 0
    if count:
        found.append(Finding("table.cell_with_many_lines", file, name, count, rows_of(mask)))


def as_text(text: pa.Array) -> pd.Series:
    """Return strings of Arrow as a column of pandas' own text type."""
    return pd.Series(text.cast(pa.large_string()).to_pandas(), dtype="str")
