"""Every cell read by what was declared and by nothing else: no other row decides what a cell means.

A reader that looks at a whole column (are these all numbers? which of the dates tells the order?) lets one
person's cell change what everybody else's cells mean, and no sensitivity would hold. A release therefore
keeps the cells as they are written and gives them their meaning here, one at a time.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from engine.table.cells import (
    Dates,
    Marks,
    Numbers,
    cells_of,
    dates_of,
    key_cells,
    numbers_of,
    series_of,
)
from engine.table.coding import texts_of
from engine.table.reading.options import ReadOptions
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table


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
        its kind is missing. The person key is text in one form, see `key_texts`.

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


def key_texts(values: Iterable[object]) -> list[str]:
    """Return person keys in one form: ``"7"``, ``" 7"``, ``"7.0"``, 7 and 7.0 are one person.

    Examples
    --------
    >>> key_texts([7.0, " 7.00", "007", "P7 "])
    ['7', '7', '007', 'P7']
    """
    texts = pa.array(texts_of(values), pa.large_string())
    return [text or "" for text in key_cells(texts).to_pylist()]


def key_column(values: pd.Series) -> pa.ChunkedArray:
    """Return the person keys of a column in one form, null for a missing one; see `key_texts`."""
    is_text = values.dtype.kind not in "biufMm"
    return key_cells(cells_of(values if is_text else _each(values)))


def person_codes(keys: pd.Series, missing: tuple[str, ...] = ()) -> npt.NDArray[np.int64]:
    """Return a number for each row's person, −1 where the key is missing; see `key_texts` for who is one."""
    cells = key_column(keys)
    absent = pc.is_in(cells, value_set=pa.array(key_texts(missing), cells.type))
    encoded = pc.if_else(absent, pa.scalar(None, cells.type), cells).combine_chunks().dictionary_encode()
    codes = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)
    return np.asarray(codes, dtype=np.int64)


def _stored(values: pd.Series, column: Column, options: ReadOptions) -> pd.Series:
    is_text = values.dtype.kind not in "biufMm"
    if column.role is Role.PERSON_KEY:
        return series_of(key_column(values))
    if column.kind in (Kind.INTEGER, Kind.NUMBER):
        return pd.Series(_numbers(values, options), copy=False)
    if column.kind is Kind.DATE:
        return pd.Series(_dates(values, options), copy=False)
    return values if is_text else _each(values)


def _each(values: pd.Series) -> pd.Series:
    """Write every cell as text; each distinct one once."""
    found, uniques = pd.factorize(values)
    texts: list[str | None] = [text or None for text in texts_of(uniques)]
    return pd.Series([*texts, None], dtype="str").take(found).reset_index(drop=True)


def _numbers(values: pd.Series, options: ReadOptions) -> Numbers:
    kind = values.dtype.kind
    if kind in "iuf":
        return values.to_numpy(dtype=np.float64, na_value=np.nan)
    if kind in "bMm":
        return np.full(len(values), np.nan)
    return numbers_of(cells_of(values), Marks.of(options))


def _dates(values: pd.Series, options: ReadOptions) -> Dates:
    """Return days: a time of the day is no part of a date, whatever the format of the file."""
    if values.dtype.kind == "M":
        read = values.to_numpy()
    else:
        cells = cells_of(values if values.dtype.kind not in "biuf" else _each(values))
        read = dates_of(cells, options.date_order)
    return read.astype("datetime64[D]").astype("datetime64[us]")
