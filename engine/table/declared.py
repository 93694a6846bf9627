"""Every cell read by what was declared and by nothing else: no other row decides what a cell means.

A reader that looks at a whole column (are these all numbers? which of the dates tells the order?) lets one
person's cell change what everybody else's cells mean, and no sensitivity would hold. A release therefore
keeps the cells as they are written and gives them their meaning here, one at a time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from engine import arrays
from engine.table.cells import (
    Dates,
    Numbers,
    NumberSigns,
    cells_of,
    dates_of,
    key_cells,
    numbers_of,
    series_of,
)
from engine.table.coding import (
    NUMBERS,
    filled_texts,
    holds_code,
    missing_days,
    missing_numbers,
    moments,
    text_of,
    texts_of,
)
from engine.table.encoded import Encoded
from engine.table.reading.options import ReadOptions
from engine.table.schema import Column, Domain, Kind, Role, Schema
from engine.table.table import Table


def as_declared(table: Table, schema: Schema, *, later: Collection[str] = ()) -> Table:
    """Return the table with every column stored by its declared kind.

    Parameters
    ----------
    table
        As it was read, text as written.
    schema
        Columns that are not listed are text.
    later
        Columns that stay as they are.

    Returns
    -------
    Table
        Whole numbers and numbers as float64, dates as datetime64, all else as text; a cell that does not fit
        its kind is missing, and so is one that holds a declared missing code, read as the cells are. The
        person key is text in one form, see `key_texts`.

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
    columns: dict[str, pd.Series] = {}
    encoded: dict[str, Encoded] = {}
    for place, name in enumerate(table.names):
        values, column = frame.iloc[:, place], schema.column(name)
        if name in later:
            columns[name] = values
        elif column.role is Role.PERSON_KEY:
            encoded[name] = people_of(table, column)
            is_same = isinstance(values.dtype, pd.StringDtype) and encoded[name] is table.encoded(name)
            columns[name] = values if is_same else series_of(encoded[name].cells())
        else:
            columns[name] = stored_as_declared(values, column, table.options)
            if columns[name] is values and name in table.encodings:
                encoded[name] = table.encoded(name)
    stored = pd.DataFrame(columns, index=pd.RangeIndex(len(frame)), copy=False)
    return table.with_rows(stored, encoded=encoded)


def keys_as_declared(table: Table, key: Column, encoded: Encoded) -> Table:
    """Return the table with its person keys in one form, once all of its other columns are as declared.

    Parameters
    ----------
    table
        The table; the column of its person keys holds texts.
    key
        Its person key.
    encoded
        The cells of that column.
    """
    found = table.with_rows(table.rows(), encoded={**table.encoded_columns, key.name: encoded})
    people = people_of(found, key)
    if people is encoded:
        return found
    rows = found.rows()
    rows[key.name] = series_of(people.cells())
    return found.with_rows(rows, encoded={**table.encoded_columns, key.name: people})


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


def encoded_keys(table: Table, name: str) -> Encoded:
    """Return the person keys of a column in one form, each distinct one once; see `key_texts`."""
    values = table.rows()[name]
    if isinstance(values.dtype, pd.StringDtype):
        return table.encoded(name).mapped(key_cells)
    return Encoded.of(key_column(values))


def people_of(table: Table, key: Column) -> Encoded:
    """Return the people of a table: their keys, and for each row which of them it is about.

    Parameters
    ----------
    table
        The table.
    key
        Its person key; the codes that it declares missing are nobody.

    Examples
    --------
    >>> table = Table(pd.DataFrame({"person": ["7", " 7.0", "-9", "x"]}))
    >>> people = people_of(table, Column("person", Role.PERSON_KEY, missing=("-9",)))
    >>> people.distinct.to_pylist(), people.places.tolist()
    (['7', 'x'], [0, 0, -1, 1])
    """
    keys = encoded_keys(table, key.name)
    nobody = pa.array(key_texts(key.missing), keys.distinct.type)

    def known(cells: pa.Array) -> pa.Array:
        return pc.if_else(pc.is_in(cells, value_set=nobody), pa.scalar(None, cells.type), cells)

    return keys.mapped(known) if len(nobody) else keys


def numbered_people(table: Table, key: Column | None) -> arrays.Integers | None:
    """Return a number for each row's person; None where every row is about a person of its own.

    Parameters
    ----------
    table
        The rows.
    key
        The person key, see `people_of`; None where no column tells people apart.

    Returns
    -------
    array of int or None
        From 0 without gaps, shape (rows,). All rows without a key are about one person: nobody is counted
        who may not be there, which is right wherever many people protect each other.

    Examples
    --------
    >>> table = Table(pd.DataFrame({"person": ["x", None, "7", "7.0", None]}))
    >>> numbered_people(table, Column("person", Role.PERSON_KEY)).tolist()
    [0, 2, 1, 1, 2]
    """
    if key is None or key.name not in table:
        return None
    people = people_of(table, key)
    places = people.places.astype(np.int64)
    nobody = places < 0
    places[nobody] = len(people.distinct)
    return None if len(people.distinct) + bool(nobody.any()) == len(places) else places


def people_of_rows(table: Table, key: Column | None) -> arrays.Integers:
    """Return a number for each row's person also where every row is about one of its own."""
    numbered = numbered_people(table, key)
    return np.arange(table.n_rows) if numbered is None else numbered


def stored_as_declared(values: pd.Series, column: Column, options: ReadOptions) -> pd.Series:
    """Return one column stored by its declared kind, see `as_declared`; a person key is text as it stands."""
    if column.kind in NUMBERS:
        read = _numbers(values, options)
        return pd.Series(_without(read, missing_numbers(column, options)), copy=False)
    if column.kind is Kind.DATE:
        days = _dates(values, options)
        return pd.Series(_without(days, missing_days(column, options)), copy=False)
    if column.kind is Kind.MOMENT:
        return pd.Series(_moments(values, column, options), copy=False)
    stored = values if values.dtype.kind not in "biufMm" else _each(values)
    return stored.mask(holds_code(values, column, options)) if column.missing else stored


def codes_read(schema: Schema, options: ReadOptions) -> Schema:
    """Return declarations whose missing codes are written as a stored column writes its values.

    Examples
    --------
    >>> born = Column("born", kind=Kind.DATE, missing=("01.02.1900",))
    >>> codes_read(Schema((born,)), ReadOptions(date_order="dmy")).column("born").missing
    ('1900-02-01',)
    """
    return replace(schema, columns=tuple(_code_read(column, options) for column in schema.columns))


def _code_read(column: Column, options: ReadOptions) -> Column:
    if not column.missing:
        return column
    found = []
    for code in column.missing:
        one = replace(column, missing=(code,))
        read: Iterable[object] = ()
        if column.kind in NUMBERS:
            read = missing_numbers(one, options)
        elif column.kind is Kind.DATE:
            read = missing_days(one, options)
        found.append(next(map(text_of, read), code.strip()))
    return replace(column, missing=tuple(dict.fromkeys(found)))


def _without(read: Any, codes: Any) -> Any:
    """Return numbers or days with those that are missing codes left out."""
    if not len(codes):
        return read
    absent = "NaT" if read.dtype.kind == "M" else np.nan
    return np.where(np.isin(read, codes), np.array(absent, dtype=read.dtype), read)


def _each(values: pd.Series) -> pd.Series:
    """Write every cell as text, each distinct one once; among numbers, what is not finite is missing."""
    found, uniques = pd.factorize(values)
    texts = [text or None for text in filled_texts(uniques, Column(""))]
    return pd.Series([*texts, None], dtype="str").take(found).reset_index(drop=True)


def _numbers(values: pd.Series, options: ReadOptions) -> Numbers:
    kind = values.dtype.kind
    if kind in "iuf":
        read = values.to_numpy(dtype=np.float64, na_value=np.nan)
        return read if np.isfinite(read).all() else np.where(np.isinf(read), np.nan, read)
    if kind in "bMm":
        return np.full(len(values), np.nan)
    return numbers_of(cells_of(values), NumberSigns.of(options))


def _dates(values: pd.Series, options: ReadOptions) -> Dates:
    """Return days: a time of the day is no part of a date, whatever the format of the file."""
    if values.dtype.kind == "M":
        read = values.to_numpy()
    else:
        cells = cells_of(values if values.dtype.kind not in "biuf" else _each(values))
        read = dates_of(cells, options.date_order)
    return read.astype("datetime64[D]").astype("datetime64[us]")


def _moments(values: pd.Series, column: Column, options: ReadOptions) -> Dates:
    """Return moments in the clock of the declared zone; bounds and step are for those who count."""
    absent = holds_code(values, column, options)
    if values.dtype.kind != "M":
        cells = cells_of(values if values.dtype.kind not in "biuf" else _each(values))
        text = pc.utf8_trim_whitespace(cells)
        iso = pc.match_substring_regex(text, r"^\d{4}")
        ordered = dates_of(pc.if_else(iso, pa.scalar(None, text.type), text), options.date_order)
        said = pd.Series(ordered).dt.strftime("%Y-%m-%dT%H:%M:%S")
        values = said.where(~np.isnat(ordered), text.to_pandas())
    zone = Domain(zone=column.domain.zone) if column.domain is not None else None
    read = moments(values, replace(column, domain=zone, missing=()))
    read[absent] = np.datetime64("NaT")
    return read.astype("datetime64[us]")
