"""Whom somebody finds in the table who holds a file about the same people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.analyses.disclosure import own_table
from engine.analyses.protocol import Analysis, Answer, Context, InternalAnswer
from engine.analyses.shared import number
from engine.methods.parameters import Parameter, ParameterKind
from engine.methods.protocol import MAIN, Reference, Source
from engine.risk.encoding import encode
from engine.risk.linkage import ECCENTRICITY, link_by_score, link_exactly
from engine.risk.linkage import Linkage as Links
from engine.table.declared import key_texts
from engine.views import TableView, Text

if TYPE_CHECKING:
    from engine.table.schema import Schema
    from engine.table.table import Table

INTRUDER = "intruder"


class Linkage(Analysis):
    """By equal values and by score; without a second file for somebody who holds the table's own columns."""

    id = "linkage"
    published = Reference("Narayanan and Shmatikov: robust de-anonymization (2008)", "section 4")
    sources = (Source(MAIN), Source(INTRUDER, required=False))
    parameters = (
        Parameter("columns", ParameterKind.COLUMNS, minimum=1),
        number("margin"),
    )

    def run(self, values: Mapping[str, Any], tables: Mapping[str, Table], context: Context) -> Answer:
        table, schema = own_table(tables, context)
        other = tables.get(INTRUDER, table)
        names = tuple(values["columns"])
        mine, theirs = (encode(one, schema, columns=names, beside=True) for one in (table, other))
        truth = np.arange(table.n_rows) if other is table else rows_by_key(table, other, schema)
        exact = link_exactly(mine, theirs, names, truth=truth, progress=context.progress.part(0, 0.3))
        margin = ECCENTRICITY if values["margin"] is None else float(values["margin"])
        rest = context.progress.part(0.3, 1)
        close = link_by_score(mine, theirs, names, eccentricity=margin, truth=truth, progress=rest)
        said = {
            "records": exact.records,
            "columns": ", ".join(names),
            "found": exact.found,
            "links": exact.links,
        }
        lines = [self.word("said_itself" if other is table else "said", **said)]
        lines.append(self.word("by_score", links=close.links))
        if exact.right is not None and close.right is not None:
            lines.append(self.word("right", exact=exact.right, close=close.right))
        else:
            lines.append(self.word("unknown"))
        lines.append(self.word("expected", expected=round(exact.expected, 2)))
        headings = tuple(self.word(f"ways.{name}") for name in ("way", "found", "links", "right"))
        rows = tuple(
            (self.word(f"ways.{name}"), found.found, found.links, found.right)
            for name, found in (("exact", exact), ("score", close))
        )
        return InternalAnswer(
            (
                self.sentences([*lines, Text("risk.lines.stays")]),
                TableView(self.word("ways.title"), headings, rows, self.word("ways.note")),
            ),
            {"audience": "internal", "columns": list(names), "exact": _json(exact), "score": _json(close)},
        )


def _json(found: Links) -> dict[str, Any]:
    return {
        "records": found.records,
        "found": found.found,
        "links": found.links,
        "right": found.right,
        "expected": found.expected,
    }


def rows_by_key(table: Table, other: Table, schema: Schema) -> np.ndarray | None:
    """Return for every row of ``other`` the row of the same person, −1 for none, by the person key.

    None where a file has no person key, or the table has somebody twice.
    """
    key = schema.person_key
    if key is None or key.name not in table or key.name not in other:
        return None
    mine = key_texts(table.rows()[key.name])
    rows = {text: row for row, text in enumerate(mine) if text}
    if len(rows) < len(mine):
        return None
    return np.array([rows.get(text, -1) for text in key_texts(other.rows()[key.name])], dtype=np.int64)
