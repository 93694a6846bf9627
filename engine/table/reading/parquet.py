"""Parquet files: each column by the type that the file declares, each cell by itself."""

from __future__ import annotations

import decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from engine.errors import InputRefused
from engine.progress import SILENT, Progress
from engine.table.reading.frames import store_series, written
from engine.table.reading.moments import DAY, from_ticks
from engine.table.reading.names import clean_names, refuse_wide
from engine.table.reading.options import Finding, ReadOptions
from engine.table.reading.storage import Stored
from engine.table.table import Table

EXACT_DIGITS = 15  # whole digits that a double keeps
MOST_CELLS = 1_000_000_000  # repeated values take no room in the file, and 8 bytes each in memory
_TICK = {"s": Fraction(10**6), "ms": Fraction(1000), "us": Fraction(1), "ns": Fraction(1, 1000)}
# Whole numbers stay whole beside empty cells.
_NULLABLE = {
    pa.bool_(): pd.BooleanDtype(),
    pa.int8(): pd.Int8Dtype(),
    pa.int16(): pd.Int16Dtype(),
    pa.int32(): pd.Int32Dtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.uint8(): pd.UInt8Dtype(),
    pa.uint16(): pd.UInt16Dtype(),
    pa.uint32(): pd.UInt32Dtype(),
    pa.uint64(): pd.UInt64Dtype(),
}


def read_parquet(path: Path, *, options: ReadOptions, progress: Progress = SILENT) -> Table:
    """Read a Parquet file.

    Notes
    -----
    A date outside the years 1 to 9999 is a missing cell with a finding. Decimals with more whole digits than
    a double keeps stay text, so that two long numbers never become one.
    """
    from pyarrow import parquet

    progress.step(0.1, "table.read")
    try:
        declared = parquet.read_metadata(path)
        refuse_wide(len(declared.schema.to_arrow_schema().names), path.name)
        if declared.num_rows * declared.num_columns > MOST_CELLS:
            raise InputRefused("table.too_large", file=path.name)
        read = parquet.read_table(path)
        names, found = clean_names([str(name) for name in read.column_names], read.num_columns, path.name)
        if read.num_columns == 0:
            raise InputRefused("table.empty_file", file=path.name)
        if read.num_rows == 0:
            raise InputRefused("table.no_rows", file=path.name)
        columns: dict[str, pd.Series] = {}
        findings = list(found)
        for place, name in enumerate(names):
            progress.step(0.3 + 0.7 * place / len(names), "table.store")
            stored = column_of(read.column(place), name, options=options, file=path.name)
            columns[name] = stored.values.reset_index(drop=True)
            findings.extend(stored.findings)
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, FileNotFoundError | PermissionError):
            raise
        raise InputRefused("table.damaged", file=path.name, format="parquet") from error
    frame = pd.DataFrame(columns, index=pd.RangeIndex(read.num_rows), copy=False)
    return Table(frame, source=path.name, options=options, findings=findings)


def names_of_parquet(path: Path) -> tuple[str, ...]:
    """Return the names of the columns, from what the file says about itself."""
    from pyarrow import parquet

    try:
        names = [str(name) for name in parquet.read_schema(path).names]
    except pa.ArrowException as error:
        raise InputRefused("table.damaged", file=path.name, format="parquet") from error
    refuse_wide(len(names), path.name)
    return clean_names(names, len(names), path.name)[0]


def column_of(column: pa.ChunkedArray, name: str, *, options: ReadOptions, file: str = "") -> Stored:
    """Bring one column into one of the four storages; its type decides how, no row does.

    Examples
    --------
    >>> keys = pa.chunked_array([pa.array([2**60, 2**60 + 1]).cast(pa.decimal128(38, 0))])
    >>> column_of(keys, "key", options=ReadOptions()).values.tolist()
    ['1152921504606846976', '1152921504606846977']
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _moments(column, name, file)
    if pa.types.is_decimal(kind):
        if kind.precision - kind.scale > EXACT_DIGITS:
            return Stored(_each(column, lambda value: _digits(value)))
        return Stored(pd.Series(column.cast(pa.float64()).to_numpy()))
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        stored = Stored(_each(column, written))
        if pa.types.is_nested(kind):
            stored.findings.append(Finding("table.nested_values", file, name, len(column)))
        return stored
    if pa.types.is_time(kind) or pa.types.is_duration(kind):
        return Stored(_each(column, str))
    if pa.types.is_null(kind):
        return Stored(pd.Series([None] * len(column), dtype="str"))
    return store_series(column.to_pandas(types_mapper=_NULLABLE.get), name, options=options, file=file)


def _moments(column: pa.ChunkedArray, name: str, file: str) -> Stored:
    absent = pc.is_null(column).to_numpy()
    if pa.types.is_date32(column.type):
        ticks, tick = column.cast(pa.int32()).cast(pa.int64()), Fraction(DAY)
    elif pa.types.is_date64(column.type):
        ticks, tick = column.cast(pa.int64()), _TICK["ms"]
    else:
        ticks, tick = column.cast(pa.int64()), _TICK[column.type.unit]
    whole = pc.fill_null(ticks, 0).to_numpy().astype(np.int64)
    values, found = from_ticks(whole, absent, tick=tick, name=name, file=file)
    if getattr(column.type, "tz", None) is not None:
        found.append(Finding("table.time_zone", file, name, len(column)))
    return Stored(values, found)


def _digits(value: decimal.Decimal) -> str:
    plain = format(value, "f")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def _each(column: pa.ChunkedArray, write: Any) -> pd.Series:
    """Write every cell as text by itself; one that Python cannot hold is missing."""
    texts: list[str | None] = []
    for cell in column:
        try:
            value = cell.as_py()
            texts.append(None if value is None else write(value) or None)
        except (ValueError, OverflowError):
            texts.append(None)
    return pd.Series(texts, dtype="str")
