"""How many people are found again in the released rows by who knows them as they were. Stays inside."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pandas as pd

from engine.evaluation.protocol import InternalMeasure, InternalMeasured, Need, Private
from engine.methods.protocol import Family, Method, Rows
from engine.methods.shared.rows import trace_rows, written_cells
from engine.numbers import of_hundred
from engine.risk.encoding import IDENTIFYING
from engine.risk.released_rows import strongest_found
from engine.table.declared import people_of_rows
from engine.views import Cell, NumberView, TableView, Text

ID = "risk.rows_found"
WORDS = f"measures.{ID}"
SHOWN = ("right", "alone_right", "alone_wrong", "exactly", "blind")


class RowsFound(InternalMeasure):
    """Linkage of released rows to original ones: the nearest row, rows that read exactly alike, by lot.

    Notes
    -----
    See `engine.risk.released_rows.strongest_found`. The rows that were left out are looked for too.
    """

    id = ID
    families = frozenset({Family.DATASET})
    needs = frozenset({Need.USED, Need.RELEASE})

    def further_applies(self, subject: Method) -> bool:
        return subject.rows in (Rows.COARSER, Rows.REAL)

    def evaluate(self, context: Private) -> InternalMeasured:
        found = trace_rows(context.release.artefacts)
        if found is None:
            return InternalMeasured()
        table, origin = found
        schema, frame = context.subject.request.schema, table.frame
        names = [name for name in map(str, frame) if name in schema and name in context.used]
        columns = [column for column in map(schema.column, names) if column.role in IDENTIFYING]
        if not columns:
            return InternalMeasured()
        rows = context.used.rows()
        original = pd.DataFrame(
            {one.name: written_cells(rows[one.name], one) for one in columns}, dtype="str"
        )
        released = frame[[one.name for one in columns]]
        person = people_of_rows(context.used, schema.person_key)
        again, way, tried = strongest_found(
            original, released, columns, origin=origin, person=person, progress=context.progress
        )
        figures: dict[str, Any] = {name: round(value, 6) for name, value in asdict(again).items()}
        figures |= {"way": way, "tried": tried}
        lines: list[tuple[Cell, ...]] = [
            (Text(f"{WORDS}.numbers.{name}.label"), of_hundred(figures[name])) for name in SHOWN
        ]
        headings = tuple(Text(f"{WORDS}.views.{name}") for name in ("figure", "share"))
        values = {
            "records": again.records,
            "columns": ", ".join(one.name for one in columns),
            "tried": tried,
        }
        view = TableView(
            Text(f"{WORDS}.views.title"), headings, tuple(lines), Text(f"{WORDS}.views.{way}", values)
        )
        number = NumberView(
            Text(f"{WORDS}.numbers.right.label"),
            of_hundred(figures["right"]),
            Text(f"{WORDS}.numbers.right"),
            "%",
        )
        return InternalMeasured((number, view), figures)
