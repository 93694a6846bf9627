"""Fingerprints by which the ledger knows a table and its people again, without keeping a cell."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from engine.errors import InputRefused
from engine.progress import SILENT, Progress
from engine.table.coding import text_of, texts_of
from engine.table.schema import Schema
from engine.table.table import Table

_PIECE = 50_000
_NUMBER = r"^[+-]?(0|[1-9]\d{0,14})(\.\d{1,15})?$"


def fingerprint(table: Table, *, progress: Progress = SILENT) -> str:
    """Return a fingerprint of a table that does not depend on the order of its rows or columns.

    Parameters
    ----------
    table
        The table.
    progress
        Asked between columns whether to stop.

    Returns
    -------
    str
        64 hexadecimal digits. Internal: it is computed from private rows and never leaves.

    Notes
    -----
    Each cell is hashed with the name of its column, cells of a row are added, and of the hashes of the rows
    the sum and the sum of squares (modulo 2⁶⁴) go into SHA-256 with names and size. It recognises the same
    table again; it is no proof that two tables are the same.

    Examples
    --------
    >>> one = Table(pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}))
    >>> two = Table(pd.DataFrame({"b": ["y", "x"], "a": [2, 1]}))
    >>> fingerprint(one) == fingerprint(two)
    True
    """
    rows = np.zeros(table.n_rows, dtype=np.uint64)
    frame = table.rows()
    for place, name in enumerate(table.names):
        progress.step(place / max(len(table.names), 1), "table.fingerprint")
        seed = np.uint64(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little"))
        rows += _mixed(_hashed(frame[name]) ^ seed)
    mixed = _mixed(rows)
    total = int(mixed.sum(dtype=np.uint64))
    squares = int((mixed * mixed).sum(dtype=np.uint64))
    about = "\0".join((*sorted(table.names), str(table.n_rows), str(total), str(squares)))
    return hashlib.sha256(about.encode()).hexdigest()


def schema_fingerprint(table: Table) -> str:
    """Return a fingerprint of the names of the columns alone, whatever their order.

    Examples
    --------
    >>> first = Table(pd.DataFrame({"a": [1], "b": [2]}))
    >>> schema_fingerprint(first) == schema_fingerprint(Table(pd.DataFrame({"b": [9], "a": [8]})))
    True
    """
    return hashlib.sha256("\0".join(sorted(table.names)).encode()).hexdigest()


def person_digests(
    table: Table, schema: Schema, *, key: bytes, progress: Progress = SILENT
) -> Iterator[bytes]:
    """Give one keyed digest per person of a table.

    Parameters
    ----------
    table
        The table.
    schema
        Its person key says which column names a person. Without one there is nothing to digest.
    key
        The secret of the ledger, at least 16 bytes.

    Yields
    ------
    bytes
        HMAC-SHA-256 of the person key as text, 32 bytes, each person once; rows without a key give none.

    Raises
    ------
    InputRefused
        ``table.no_such_column``: the person key is not in the table.
    ValueError
        The key is too short.

    Examples
    --------
    >>> from engine.table.schema import Column, Role
    >>> table = Table(pd.DataFrame({"patient": [7, 7, 9]}))
    >>> schema = Schema((Column("patient", Role.PERSON_KEY),))
    >>> len(set(person_digests(table, schema, key=bytes(16))))
    2
    """
    if len(key) < 16:
        raise ValueError("the key has fewer than 16 bytes")
    column = schema.person_key
    if column is None:
        return
    if column.name not in table:
        raise InputRefused("table.no_such_column", file=table.source, column=column.name)
    absent = {text_of(code) for code in column.missing} | {""}
    people = texts_of(table.rows()[column.name].dropna().unique())
    for place, person in enumerate(people):
        if place % _PIECE == 0:
            progress.step(place / max(len(people), 1), "table.digests")
        if person not in absent:
            yield hmac.digest(key, person.encode(), "sha256")


def _hashed(values: pd.Series) -> npt.NDArray[np.uint64]:
    """Hash cells so that 1, 1.0 and "1" agree, and a day and its ISO text, whatever the storage."""
    if pd.api.types.is_numeric_dtype(values.dtype):
        return _hashed_plainly(pd.Series(values.to_numpy(dtype=np.float64, na_value=np.nan) + 0.0))
    found, uniques = pd.factorize(values)
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        uniques = pd.Index(texts_of(uniques))
    text = pa.array([*uniques, None], pa.large_string(), from_pandas=True)
    fits = pc.fill_null(pc.match_substring_regex(text, _NUMBER), False)
    numbers = pc.if_else(fits, text, pa.scalar(None, text.type)).cast(pa.float64())
    as_numbers = _hashed_plainly(pd.Series(numbers.to_numpy(zero_copy_only=False) + 0.0))
    as_text = _hashed_plainly(pd.Series(text.to_pandas(), dtype="str").fillna("\0"))
    is_number = fits.to_numpy(zero_copy_only=False)
    is_number[-1] = True  # a missing cell, in whatever storage
    return np.asarray(np.where(is_number, as_numbers, as_text)[found])


def _hashed_plainly(values: pd.Series) -> npt.NDArray[np.uint64]:
    return np.asarray(pd.util.hash_pandas_object(values, index=False).to_numpy(), dtype=np.uint64)


def _mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Spread every bit over all others: the finaliser of SplitMix64 (Steele, Lea and Flood 2014)."""
    with np.errstate(over="ignore"):
        values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(values ^ (values >> np.uint64(31)))
