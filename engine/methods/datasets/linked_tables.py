"""Tables that hang together: people, records of each, details of each record, as rows to be invented."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd

from engine import arrays
from engine.methods import option
from engine.methods.datasets.marginal_model.rounds import count_cells
from engine.methods.parameters import Problem
from engine.methods.protocol import MAIN, DictionaryEntry, Family, Method, Rows, Shape, Source, TableArtefact
from engine.methods.shared.cells import level_problems
from engine.methods.shared.column_cells import BINS, CELL_KINDS, ColumnCells, cells_of, is_listed
from engine.methods.shared.linked_rows import LinkedRows, read_linked
from engine.once import once
from engine.table.schema import DETAILS, RECORDS, Kind, Role
from engine.views import Text

if TYPE_CHECKING:
    from engine.table.schema import Column, Schema

Integers = arrays.Integers

ID = "datasets.linked"
"""Where the words and the problems of every such method are."""
COLUMNS = {MAIN: "columns", RECORDS: "record_columns", DETAILS: "detail_columns"}
"""By source, the parameter that names what leaves of it."""
LATER = "later"
"""The model of records that another one stands before; `RECORDS` is then that of first ones."""
ORDERS = (Kind.DATE, Kind.MOMENT, Kind.INTEGER, Kind.NUMBER)
NUMBERED = tuple(role for role in Role if role is not Role.PERSON_KEY)
MOST_CELLS = 5_000
PEOPLE_COLUMNS = option.columns(minimum=1, maximum=50, column_kinds=CELL_KINDS, needs_domain=True)
RECORD_COLUMNS = option.columns(
    minimum=1, maximum=50, column_kinds=CELL_KINDS, needs_domain=True, source=RECORDS
)
ORDER = option.column(column_kinds=ORDERS, optional=True, source=RECORDS)
MOST_RECORDS = option.integer(default=10, minimum=1, maximum=200)
DETAIL_COLUMNS = option.columns(
    optional=True, maximum=50, column_kinds=CELL_KINDS, needs_domain=True, source=DETAILS
)
RECORD = option.column(column_roles=NUMBERED, optional=True, source=RECORDS)
RECORD_OF = option.column(column_roles=NUMBERED, optional=True, source=DETAILS)
MOST_DETAILS = option.integer(default=10, minimum=1, maximum=200)


class LinkedTables(Method):
    """A method whose invented tables hang together by keys: rows below rows that are there."""

    family = Family.DATASET
    sources = (Source(), Source(RECORDS, Shape.EVENTS), Source(DETAILS, Shape.EVENTS, required=False))
    rows = Rows.SYNTHETIC
    counts_people = True
    of_details: ClassVar[tuple[str, ...]] = ("record", "record_of")
    """What has to be said where details leave."""

    class Options(option.Options):
        columns: option.Names = PEOPLE_COLUMNS
        record_columns: option.Names = RECORD_COLUMNS
        order: str | None = ORDER
        most_records: int = MOST_RECORDS
        detail_columns: option.Names = DETAIL_COLUMNS
        record: str | None = RECORD
        record_of: str | None = RECORD_OF
        most_details: int = MOST_DETAILS

    options: Options

    # --- declarations ------------------------------------------------------------------------------

    @property
    def tables(self) -> tuple[str, ...]:
        """The sources that have a part."""
        return (MAIN, RECORDS, DETAILS) if self.options.detail_columns else (MAIN, RECORDS)

    def schema_of(self, source: str) -> Schema:
        """Return what is declared about a table."""
        return self.request.schemas[source]

    def columns_of(self, source: str) -> list[Column]:
        """Return the columns of a table that leave."""
        return [self.schema_of(source).column(name) for name in self.values[COLUMNS[source]]]

    @once
    def further_problems(self) -> list[Problem]:
        return self.table_problems

    @once
    def table_problems(self) -> list[Problem]:
        """Say what is missing for tables to hang together, and in which columns."""
        given = [name for name in self.request.private if name in self.request.schemas]
        if any(self.schema_of(name).person_key is None for name in (*self.tables, *given)):
            return [Problem(f"{ID}.no_person_key", {}, COLUMNS[RECORDS])]
        if self.request.rows_per_person != 1:
            return [Problem(f"{ID}.one_row", {}, "columns")]
        missing = [name for name in self.of_details if not self.values[name]]
        if DETAILS in self.tables and missing:
            return [Problem(f"{ID}.details_open", {}, missing[0])]
        found = [problem for name in self.tables for problem in self._column_problems(name)]
        if found:
            return found
        return [
            Problem(
                f"{ID}.too_many_cells",
                {"column": cells.column.name, "cells": cells.size, "most": MOST_CELLS},
                COLUMNS[name],
            )
            for name in self.tables
            for cells in self.cells[name]
            if cells.size > MOST_CELLS
        ]

    def _column_problems(self, source: str) -> list[Problem]:
        """Say which columns of a table lack what has to be declared, or stand for a key."""
        columns, parameter = self.columns_of(source), COLUMNS[source]
        keys = {RECORDS: self.options.record, DETAILS: self.options.record_of}.get(source)
        found = level_problems([one for one in columns if is_listed(one)], parameter=parameter)
        found += [
            Problem(f"{ID}.key_leaves", {"column": one.name}, parameter)
            for one in columns
            if one.name == keys
        ]
        for one in columns:
            domain = one.domain
            if not is_listed(one) and (domain is None or domain.minimum is None or domain.maximum is None):
                found.append(Problem(f"{ID}.no_bounds", {"column": one.name}, parameter))
        return found

    @once
    def uses(self) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        beside = {MAIN: (), RECORDS: (self.values.get("order"), self.values.get("record"))}
        for name, parameter in COLUMNS.items():
            if name not in self.request.schemas:
                continue
            key = self.schema_of(name).person_key
            more = beside.get(name, (self.values.get("record_of"),))
            named = (None if key is None else key.name, *(self.values.get(parameter) or ()), *more)
            found[name] = tuple(dict.fromkeys(one for one in named if one is not None))
        return found

    @once
    def cells(self) -> Mapping[str, tuple[ColumnCells, ...]]:
        """Return the cells of every table's columns: from declarations alone."""
        return {
            name: tuple(cells_of(column, bins=self.intervals) for column in self.columns_of(name))
            for name in self.tables
        }

    @property
    def intervals(self) -> int:
        """Into how many intervals numbers and days are cut, where rows are counted in cells."""
        return int(BINS.default)

    @property
    def has_order(self) -> bool:
        """Whether a record hangs on the one before it."""
        return self.options.order is not None

    @once
    def model_sizes(self) -> Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]]:
        """Return, by model, the cells of what is known when its rows are drawn, and of what is drawn."""
        own = {name: tuple(cells.size for cells in self.cells[name]) for name in self.tables}
        people, records = own[MAIN], own[RECORDS]
        drawn = (*records, self.options.most_details + 1) if DETAILS in own else records
        found = {MAIN: ((), (*people, self.options.most_records + 1)), RECORDS: (people, drawn)}
        if self.has_order:
            found[LATER] = ((*people, *records), drawn)
        if DETAILS in own:
            found[DETAILS] = ((*people, *records), own[DETAILS])
        return found

    # --- rows as they hang together --------------------------------------------------------------------

    def read(self, rows: Mapping[str, pd.DataFrame]) -> LinkedRows:
        """Return the rows of all tables as they hang together; those without a parent are left out."""
        own = self.options
        return read_linked(
            {name: rows[name] for name in self.tables},
            {name: self.schema_of(name) for name in self.tables},
            self.cells,
            order=own.order,
            record=own.record if DETAILS in self.tables else None,
            record_of=own.record_of,
        )

    def rows_of(self, part: str, rows: LinkedRows) -> tuple[Integers, Integers | None]:
        """Return the rows that a model is of, with what is known of their parents.

        Besides, how many such rows the person of each has; None where that is one.
        """
        if part == MAIN:
            return np.vstack([rows.cells[MAIN], np.minimum(rows.records, self.options.most_records)]), None
        kept, above = self.parents(part, rows)
        parts = [rows.cells[table][:, places] for _, table, places in above]
        parts.append(rows.cells[DETAILS if part == DETAILS else RECORDS][:, kept])
        if part != DETAILS and DETAILS in self.tables:
            parts.append(np.minimum(rows.details[kept], self.options.most_details)[None])
        person = above[0][2]
        if part == DETAILS:
            return np.vstack(parts), np.bincount(person, minlength=len(rows.records))[person]
        return np.vstack(parts), rows.records[person] - (part == LATER)

    def parents(self, part: str, rows: LinkedRows) -> tuple[Integers, list[tuple[str, str, Integers]]]:
        """Return which rows of its table a model is of, and what each of them hangs on.

        That is, in their order: as what (``of_person``, ``before``, ``of_record``), rows of which table, and
        which of these.
        """
        if part == DETAILS:
            above = [("of_person", MAIN, rows.person[rows.record]), ("of_record", RECORDS, rows.record)]
            return np.arange(len(rows.record)), above
        kept = np.arange(len(rows.person))
        if self.has_order:
            kept = np.flatnonzero(rows.before < 0 if part == RECORDS else rows.before >= 0)
        above = [("of_person", MAIN, rows.person[kept])]
        if part == LATER:
            above.append(("before", RECORDS, rows.before[kept]))
        return kept, above

    def relations(self, rows: LinkedRows) -> list[tuple[Text, Text, Text, Integers]]:
        """Return the counts of pairs of columns of different rows: the model, both columns, the table."""
        found = []
        for name, (given, drawn) in self.model_sizes.items():
            codes, _ = self.rows_of(name, rows)
            titles, sizes = self.titles(name), (*given, *drawn)
            columns = len(self.cells[RECORDS if name == LATER else name])
            count = [len(sizes) - 1] if len(drawn) > columns else []
            own = range(len(given), len(sizes))
            pairs = [(one, other) for one in range(len(given)) for other in own]
            pairs += [(one, other) for one in own for other in count if one != other]
            for one, other in pairs:
                table = count_cells(codes, (one, other), (sizes[one], sizes[other]))
                found.append((Text(f"methods.{ID}.tables.{name}"), titles[one], titles[other], table))
        return found

    # --- what leaves -------------------------------------------------------------------------------

    def keyed(
        self,
        source: str,
        frame: pd.DataFrame,
        entries: Mapping[str, DictionaryEntry],
        *,
        people: int,
        person: Integers,
        record: Integers | None,
    ) -> TableArtefact:
        """Put the keys in front of a table's columns: numbers that nobody had.

        Parameters
        ----------
        source, frame, entries
            The table, its invented rows, and what the dictionary says of their columns.
        people, person, record
            How many people there are, the person of every record, and the record of every detail, if any.
        """
        key = self.schema_of(source).person_key
        assert key is not None
        own = self.options
        who = {MAIN: np.arange(people), RECORDS: person}
        if record is not None:
            who[DETAILS] = person[record]
        keys = {key.name: ("person", who[source])}
        links: dict[str, tuple[str, str]] = {}
        if source != MAIN:
            links[key.name] = (MAIN, self._key_name(MAIN))
        if source == RECORDS and own.record is not None and DETAILS in self.tables:
            keys[own.record] = ("record", np.arange(len(person)))
        if source == DETAILS and own.record is not None and own.record_of is not None and record is not None:
            keys[own.record_of] = ("record", record)
            links[own.record_of] = (RECORDS, own.record)
        made = {name: pd.array((at + 1).astype(str), dtype="str") for name, (_, at) in keys.items()}
        table = pd.concat([pd.DataFrame(made), frame], axis=1)
        meanings = {
            name: DictionaryEntry(name, Text(f"methods.{ID}.dictionary.{kind}"), "category")
            for name, (kind, _) in keys.items()
        }
        primary = {MAIN: self._key_name(MAIN), RECORDS: own.record or ""}.get(source, "")
        dictionary = tuple((dict(entries) | meanings)[name] for name in table.columns)
        return TableArtefact(
            source, (table,), dictionary, key=primary if primary in made else "", links=links
        )

    def _key_name(self, source: str) -> str:
        key = self.schema_of(source).person_key
        assert key is not None
        return key.name

    def titles(self, part: str) -> list[Text]:
        """Return what every column of a model is called."""
        words = f"methods.{ID}.columns"

        def named(kind: str, table: str) -> list[Text]:
            return [Text(f"{words}.{kind}", {"column": cells.column.name}) for cells in self.cells[table]]

        if part == MAIN:
            return [*named("own", MAIN), Text(f"{words}.records")]
        person = named("of_person", MAIN)
        if part == DETAILS:
            return [*person, *named("of_record", RECORDS), *named("own", DETAILS)]
        before = named("before", RECORDS) if part == LATER else []
        count = [Text(f"{words}.details")] if DETAILS in self.tables else []
        return [*person, *before, *named("own", RECORDS), *count]


def rising(frame: pd.DataFrame, name: str, person: Integers) -> pd.DataFrame:
    """Let one column rise from record to record of a person; all others stay where they are."""
    numbers = pd.to_numeric(frame[name], errors="coerce")
    values = frame[name] if numbers.isna().all() else numbers  # days are in order as texts
    rank = values.where(frame[name] != "").rank(method="first", na_option="bottom")
    return frame.assign(**{name: frame[name].iloc[np.lexsort((rank, person))].array})
