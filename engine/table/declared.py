"""Every cell read by what was declared and by nothing else: no other row decides what a cell means.

A reader that looks at a whole column (are these all numbers? which of the dates tells the order?) lets one
person's cell change what everybody else's cells mean, and no sensitivity would hold. A release therefore
keeps the cells as they are written and gives them their meaning here, one at a time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from engine.table.coding import texts_of
from engine.table.patterns import date_order_of
from engine.table.reading.options import ReadOptions
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table

_EXPONENT = r"([eE][+-]?\d{1,4})?"
_WHOLE_KEY = re.compile(r"\+?(-?\d+)\.0*")


def as_declared(table: Table, schema: Schema) -> Table:
    """Return the table with every column stored by its declared kind.

    Parameters
    ----------
    table
        As it was read, text as written.
    schema
        Columns that are not listed are text.

    Returns
    -------
    Table
        Whole numbers and numbers as float64, dates as datetime64, all else as text; a cell that does not fit
        its kind is missing. The person key is text in one form, see `key_text`.

    Notes
    -----
    Each cell goes its own way: adding a row leaves every other cell as it was.

    Examples
    --------
    >>> table = Table(pd.DataFrame({"age": ["41", "4x", " 7.0"]}))
    >>> as_declared(table, Schema((Column("age", kind=Kind.INTEGER),))).rows()["age"].tolist()
    [41.0, nan, 7.0]
    """
    frame = table.rows()
    columns = {
        name: _stored(frame.iloc[:, place], schema.column(name), table.options)
        for place, name in enumerate(table.names)
    }
    return table.with_rows(pd.DataFrame(columns, index=pd.RangeIndex(len(frame)), copy=False))


def key_text(value: object) -> str:
    """Return a person key in one form: ``"7"``, ``" 7"``, ``"7.0"``, 7 and 7.0 are one person.

    Examples
    --------
    >>> key_text(7.0), key_text(" 7.00"), key_text("007"), key_text("P7 ")
    ('7', '7', '007', 'P7')
    """
    return key_texts([value])[0]


def key_texts(values: Iterable[object]) -> list[str]:
    """Return person keys in one form, see `key_text`."""
    found = texts_of(values)
    for place, text in enumerate(found):
        if "." in text and (match := _WHOLE_KEY.fullmatch(text)) is not None:
            found[place] = match[1]
    return found


def _stored(values: pd.Series, column: Column, options: ReadOptions) -> pd.Series:
    if column.role is Role.PERSON_KEY:
        return _each(values, key_texts)
    if column.kind in (Kind.INTEGER, Kind.NUMBER):
        return _numbers(values, options)
    if column.kind is Kind.DATE:
        return _dates(values, options)
    is_text = values.dtype.kind not in "biufMm"
    return values if is_text else _each(values, texts_of)


def _each(values: pd.Series, rewrite: Callable[[Any], list[str]]) -> pd.Series:
    """Rewrite every cell as text; each distinct one once."""
    found, uniques = pd.factorize(values)
    texts: list[str | None] = [text or None for text in rewrite(uniques)]
    return pd.Series([*texts, None], dtype="str").take(found).reset_index(drop=True)


def _numbers(values: pd.Series, options: ReadOptions) -> pd.Series:
    kind = values.dtype.kind
    if kind in "iuf":
        return pd.Series(values.to_numpy(dtype=np.float64, na_value=np.nan))
    if kind in "bMm":
        return pd.Series(np.full(len(values), np.nan))
    text = pc.utf8_trim_whitespace(pa.array(values, pa.large_string(), from_pandas=True))
    is_text_file = options.format in (None, "text")  # cells of other formats have a point by themselves
    decimal, thousands = (options.decimal or ".", options.thousands or "") if is_text_file else (".", "")
    mark, group = re.escape(decimal), re.escape(thousands)
    whole = rf"(\d+|\d{{1,3}}({group}\d{{3}})+)" if thousands else r"\d+"
    fits = pc.match_substring_regex(text, rf"^[+-]?({whole}({mark}\d*)?|{mark}\d+){_EXPONENT}$")
    if thousands:
        text = pc.replace_substring(text, thousands, "")
    if decimal != ".":
        text = pc.replace_substring(text, decimal, ".")
    numbers = pc.if_else(fits, text, pa.scalar(None, text.type)).cast(pa.float64())
    return pd.Series(numbers.to_numpy(zero_copy_only=False))


def _dates(values: pd.Series, options: ReadOptions) -> pd.Series:
    if values.dtype.kind == "M":  # a day, as the same moment written as text is
        return pd.Series(values.to_numpy().astype("datetime64[D]").astype("datetime64[us]"))
    found, uniques = pd.factorize(values)
    days = [_day(text, options.date_order) for text in texts_of(uniques)]
    return pd.Series(np.array([*days, np.datetime64("NaT")], dtype="datetime64[us]")[found])


def _day(text: str, order: str | None) -> np.datetime64:
    """Return what a cell says by itself; where day and month cannot be told apart the declared order does."""
    written = date_order_of(text)
    written = order if written == "?" else written
    if written in ("ymd", "dmy", "mdy"):
        numbers = re.findall(r"\d+", text)[:3]
        year, month, day = (int(numbers[written.index(letter)]) for letter in "ymd")
        return _checked(lambda: datetime(year, month, day))
    return _checked(lambda: datetime.fromisoformat(text))


def _checked(make: Callable[[], datetime]) -> np.datetime64:
    try:
        made = make()
        if made.tzinfo is not None:
            made = made.astimezone(UTC).replace(tzinfo=None)
        return np.datetime64(made, "us")
    except (ValueError, OverflowError):
        return np.datetime64("NaT")
