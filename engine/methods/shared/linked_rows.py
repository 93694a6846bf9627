"""Rows of several tables as they hang together: people, records of each in their order, details of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine import arrays
from engine.methods.protocol import MAIN
from engine.table import coding
from engine.table.declared import people_of
from engine.table.encoded import Encoded
from engine.table.linked import link, link_within
from engine.table.schema import Kind
from engine.table.table import Table

if TYPE_CHECKING:
    import pandas as pd

    from engine.methods.shared.column_cells import ColumnCells
    from engine.table.schema import Column, Schema

Integers = arrays.Integers


@dataclass(frozen=True)
class LinkedRows:
    """Rows that hang together; what it says of a person follows from their rows alone.

    Parameters
    ----------
    cells
        By table, the cells of its columns, shape (columns, rows).
    records
        How many records every person has, shape (people,).
    person, before
        Of every record, ordered by person and order: its person, and the record before it, −1 for the first.
    details
        How many details every record has, shape (records,).
    record
        Of every detail: its record.
    places
        By table, which of its rows these are.
    """

    cells: Mapping[str, arrays.Whole]
    records: Integers
    person: Integers
    before: Integers
    details: Integers
    record: Integers
    places: Mapping[str, Integers]


def read_linked(
    rows: Mapping[str, pd.DataFrame],
    schemas: Mapping[str, Schema],
    cells: Mapping[str, Sequence[ColumnCells]],
    *,
    order: str | None,
    record: str | None,
    record_of: str | None,
) -> LinkedRows:
    """Return the rows of tables as they hang together: people first, then records, then perhaps details.

    Parameters
    ----------
    rows, schemas, cells
        By table.
    order
        The column that records of a person are ordered by; a record where it is missing comes last. Where
        none is given or two are equal, they keep the order of the file.
    record, record_of
        The number of a record, and of the record that a detail belongs to; None where there are no details.

    Notes
    -----
    A record without a person of the table, and a detail without a record of the same person, has no part.
    """
    names = list(rows)
    keys = {name: _people(rows[name], schemas[name]) for name in names}
    people = len(rows[MAIN])
    parents = link(keys[names[1]], keys[MAIN]).parent
    frame, schema = rows[names[1]], schemas[names[1]]
    rank = np.zeros(len(frame)) if order is None else _ranks(frame[order], schema.column(order))
    kept = np.flatnonzero(parents >= 0)
    kept = kept[np.lexsort((kept, rank[kept], parents[kept]))]
    person = parents[kept]
    same = np.append(False, person[1:] == person[:-1])[: len(person)]
    before = np.where(same, np.arange(len(person)) - 1, -1)
    found = {
        MAIN: _coded(rows[MAIN], cells[MAIN]),
        names[1]: _coded(frame.iloc[kept], cells[names[1]]),
    }
    places = {MAIN: np.arange(people), names[1]: kept}
    details, of_record = np.zeros(len(person), dtype=np.int64), np.zeros(0, dtype=np.int64)
    if record is not None and record_of is not None:
        below = rows[names[2]]
        whose = link(keys[names[2]], keys[MAIN]).parent
        numbers = _numbers(below[record_of]), _numbers(frame.iloc[kept][record])
        of_record = link_within(numbers[0], whose, numbers[1], person, people=people).parent
        there = np.flatnonzero(of_record >= 0)
        of_record = of_record[there]
        details = np.bincount(of_record, minlength=len(person)).astype(np.int64)
        found[names[2]] = _coded(below.iloc[there], cells[names[2]])
        places[names[2]] = there
    records = np.bincount(person, minlength=people).astype(np.int64)
    return LinkedRows(found, records, person, before, details, of_record, places)


def _people(frame: pd.DataFrame, schema: Schema) -> Encoded:
    key = schema.person_key
    assert key is not None, "problems() reports a table without one"
    return people_of(Table(frame), key)


def _numbers(values: pd.Series) -> Encoded:
    """Return numbers of records in one form, as those of people."""
    from engine.table.declared import key_column

    return Encoded.of(key_column(values))


def _ranks(values: pd.Series, column: Column) -> arrays.Floats:
    """Return by what rows are ordered; infinity for what is missing."""
    if column.kind in (Kind.DATE, Kind.MOMENT):
        bare = type(column)(column.name, kind=column.kind, domain=column.domain, missing=column.missing)
        found = coding.dates(values, bare) if column.kind is Kind.DATE else coding.moments(values, bare)
        numbers = found.astype("datetime64[m]").astype(np.int64).astype(np.float64)
        return np.where(np.isnat(found), np.inf, numbers)
    numbers = coding.numbers(values, column)
    return np.where(np.isnan(numbers), np.inf, numbers)


def _coded(frame: pd.DataFrame, cells: Sequence[ColumnCells]) -> Integers:
    return np.array([one.codes(frame[one.column.name]) for one in cells], dtype=np.int64)
