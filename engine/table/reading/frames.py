"""From typed columns of other formats to the four storages of a table, losing nothing unsaid."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from engine.table.cells import LARGEST_EXACT, series_of
from engine.table.coding import text_of
from engine.table.reading.options import ROWS_NAMED, Finding, ReadOptions
from engine.table.reading.storage import Stored, store


def store_values(
    values: Sequence[Any], name: str, *, options: ReadOptions, file: str = "", as_written: bool = False
) -> Stored:
    """Choose the storage of a list of Python values, as a spreadsheet gives them.

    Examples
    --------
    >>> store_values([1, 2.0, None], "n", options=ReadOptions()).values.tolist()
    [1.0, 2.0, nan]
    >>> store_values(["a", 7], "x", options=ReadOptions()).values.tolist()
    ['a', '7']
    """
    kinds = {type(value) for value in values if value is not None}
    if kinds and kinds <= {int, float, decimal.Decimal, np.float64, np.int64}:
        return Stored(_numbers(values))
    if kinds and kinds <= {datetime.datetime, datetime.date, pd.Timestamp}:
        return Stored(pd.Series(np.array([_moment(value) for value in values], dtype="datetime64[us]")))
    if kinds <= {str}:
        text = pa.array([value or None for value in values], pa.string())
        return Stored(series_of(text)) if as_written else store(text, name, options=options, file=file)
    # A column of several kinds: kept as text, each cell in its own form.
    texts = [None if value is None or value == "" else cell_as_text(value) for value in values]
    mixed = pa.array(texts, pa.string())
    return Stored(series_of(mixed)) if as_written else store(mixed, name, options=options, file=file)


def store_frame(
    frame: pd.DataFrame, *, options: ReadOptions, file: str
) -> tuple[pd.DataFrame, list[Finding]]:
    """Bring the columns of a data frame into the four storages."""
    columns: dict[str, pd.Series] = {}
    found: list[Finding] = []
    for place, name in enumerate(frame.columns):
        stored = store_series(frame.iloc[:, place], str(name), options=options, file=file)
        columns[str(name)] = stored.values.reset_index(drop=True)
        found.extend(stored.findings)
    return pd.DataFrame(columns, index=pd.RangeIndex(len(frame)), copy=False), found


def store_series(series: pd.Series, name: str, *, options: ReadOptions, file: str = "") -> Stored:
    """Bring one typed column into one of the four storages."""
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        categories = store_series(pd.Series(dtype.categories), name, options=options, file=file).values
        taken = pd.Series(categories.astype("object").to_numpy()).reindex(series.cat.codes.to_numpy())
        return Stored(taken.reset_index(drop=True).astype(_taken_type(categories, series)))
    if pd.api.types.is_bool_dtype(dtype):
        return Stored(series.astype("object").map({True: "true", False: "false"}).astype("str"))
    if pd.api.types.is_integer_dtype(dtype):
        return Stored(_whole(series))
    if pd.api.types.is_float_dtype(dtype):
        return _float(series, name, file)
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return _stamps(series, name, file)
    if pd.api.types.is_string_dtype(dtype) and not pd.api.types.is_object_dtype(dtype):
        text = series.astype("str")
        return Stored(text.mask(text == ""))
    values = [
        None if _is_absent(value) else _encodable(value) if isinstance(value, str) else value
        for value in series.tolist()
    ]
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {str}:  # typed as text where it comes from: not to be turned into numbers here
        return Stored(pd.Series([value or None for value in values], dtype="str"))
    if kinds & {list, dict, tuple, set, np.ndarray, bytes}:
        cells = [None if value is None else _encodable(cell_as_text(value)) for value in values]
        texts = pd.Series(cells, dtype="str")
        return Stored(texts, [Finding("table.nested_values", file, name, len(values))])
    return store_values(values, name, options=options, file=file)


def _encodable(text: str) -> str:
    """Return a text in which halves of signs, which UTF-8 cannot write, are written in letters."""
    return text.encode(errors="backslashreplace").decode()


def _numbers(values: Sequence[Any]) -> pd.Series:
    if any(isinstance(value, int) and abs(value) > LARGEST_EXACT for value in values):
        return pd.Series([None if value is None else text_of(value) for value in values], dtype="str")
    numbers = pd.Series([np.nan if value is None else float(value) for value in values], dtype="float64")
    whole = (
        not numbers.isna().any() and bool((numbers % 1 == 0).all()) and bool((numbers.abs() < 2**53).all())
    )
    return numbers.astype("int64") if whole else numbers


def _whole(series: pd.Series) -> pd.Series:
    if not series.isna().any():
        if str(series.dtype).lower() == "uint64" and len(series) and int(series.max()) > 2**63 - 1:
            return series.astype("object").map(str).astype("str")
        return series.astype("int64")
    if int(series.abs().max() if series.notna().any() else 0) > LARGEST_EXACT:
        return series.astype("object").map(lambda value: None if pd.isna(value) else str(value)).astype("str")
    return pd.Series(series.to_numpy(dtype="float64", na_value=np.nan))


def _float(series: pd.Series, name: str, file: str) -> Stored:
    numbers = pd.Series(series.to_numpy(dtype="float64", na_value=np.nan))
    infinite = np.flatnonzero(np.isinf(numbers.to_numpy()))
    found = []
    if len(infinite):
        rows = tuple(int(place) + 1 for place in infinite[:ROWS_NAMED])
        found.append(Finding("table.infinite_numbers", file, name, len(infinite), rows))
    return Stored(numbers, found)


def _stamps(series: pd.Series, name: str, file: str) -> Stored:
    found = []
    if getattr(series.dt, "tz", None) is not None:
        series = series.dt.tz_convert("UTC").dt.tz_localize(None)
        found.append(Finding("table.time_zone", file, name, len(series)))
    return Stored(pd.Series(series.to_numpy().astype("datetime64[us]")), found)


def _taken_type(categories: pd.Series, series: pd.Series) -> Any:
    if series.isna().any() and pd.api.types.is_integer_dtype(categories.dtype):
        return "float64"
    return categories.dtype


def _is_absent(value: Any) -> bool:
    return value is None or value is pd.NaT or value is pd.NA or (isinstance(value, float) and value != value)


def _moment(value: Any) -> np.datetime64:
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    return np.datetime64("NaT" if value is None else value, "us")


def cell_as_text(value: Any) -> str:
    """Return a cell of a typed format as text; a moment in the same form as in a column of moments."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        return text_of(np.datetime64(_moment(value)))
    if isinstance(value, bytes):
        return bytes_as_text(value)[0]
    return text_of(value)


def bytes_as_text(value: bytes) -> tuple[str, bool]:
    r"""Return bytes as text, and whether they are one; others are read as Latin-1, so that none is lost.

    Examples
    --------
    >>> bytes_as_text(b"M\xc3\xbcller"), bytes_as_text(b"\xff\xc8"), bytes_as_text(b"\xff\xc9")
    (('Müller', True), ('ÿÈ', False), ('ÿÉ', False))
    """
    try:
        return value.decode(), True
    except UnicodeDecodeError:
        return value.decode("latin-1"), False
