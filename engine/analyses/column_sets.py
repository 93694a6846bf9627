"""How far every set of identifying columns tells people apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from engine.analyses.disclosure import own_table
from engine.analyses.protocol import Analysis, Answer, Context, InternalAnswer
from engine.methods.parameters import Parameter, ParameterKind
from engine.methods.protocol import MAIN, Reference, Source
from engine.risk.encoding import encode
from engine.risk.uniques import LARGEST, column_sets
from engine.views import TableView, Text

if TYPE_CHECKING:
    from engine.table.table import Table

SHOWN = 40


class ColumnSets(Analysis):
    """Distinction and separation of all sets of columns up to a size, the sharpest first."""

    id = "column_sets"
    published = Reference("Motwani and Xu: masking and finding quasi-identifiers (2007)", "section 2")
    sources = (Source(MAIN),)
    parameters = (
        Parameter("columns", ParameterKind.COLUMNS, optional=True, minimum=1),
        Parameter("largest", ParameterKind.INTEGER, default=LARGEST, minimum=1, maximum=LARGEST),
    )

    def run(self, values: Mapping[str, Any], tables: Mapping[str, Table], context: Context) -> Answer:
        table, schema = own_table(tables, context)
        names = tuple(values["columns"] or ()) or None
        encoded = encode(table, schema, columns=names)
        found = column_sets(encoded, names, largest=values["largest"], progress=context.progress)
        sharpest = sorted(found, key=lambda one: (-one.alone, len(one.columns)))
        headings = tuple(
            self.word(f"sets.{name}") for name in ("columns", "groups", "alone", "distinction", "separation")
        )
        rows = tuple(
            (
                ", ".join(one.columns),
                one.groups,
                one.alone,
                round(one.distinction, 6),
                round(one.separation, 6),
            )
            for one in sharpest[:SHOWN]
        )
        first = sharpest[0]
        said = {
            "sets": len(found),
            "columns": ", ".join(first.columns),
            "alone": first.alone,
            "rows": len(table),
        }
        figures = {
            "audience": "internal",
            "sets": [
                {
                    "columns": list(one.columns),
                    "groups": one.groups,
                    "alone": one.alone,
                    "distinction": one.distinction,
                    "separation": one.separation,
                }
                for one in found
            ],
        }
        return InternalAnswer(
            (
                self.sentences([self.word("said", **said), Text("risk.lines.stays")]),
                TableView(self.word("sets.title"), headings, rows, self.word("sets.note")),
            ),
            figures,
        )
