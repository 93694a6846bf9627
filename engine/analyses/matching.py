"""How many people of a table are found in what was released of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.analyses.disclosure import own_table
from engine.analyses.linkage import rows_by_key
from engine.analyses.protocol import Analysis, Answer, Context, InternalAnswer
from engine.methods.parameters import Parameter, ParameterKind
from engine.methods.protocol import MAIN, Reference, Source
from engine.risk.encoding import encode
from engine.risk.linkage import Matching as Found
from engine.risk.linkage import match_release
from engine.views import TableView, Text

if TYPE_CHECKING:
    from engine.table.table import Table

RELEASED = "released"
FIGURES = ("found", "expected_right", "true_rate", "false_rate")


class Matching(Analysis):
    """Against somebody who knows columns of everybody; without a second file the table itself is released."""

    id = "matching"
    published = Reference(
        "Reiter and Mitra: estimating risks of identification disclosure in partially synthetic data (2009)",
        "section 2",
    )
    sources = (Source(MAIN), Source(RELEASED, required=False))
    parameters = (Parameter("columns", ParameterKind.COLUMNS, minimum=1),)

    def run(self, values: Mapping[str, Any], tables: Mapping[str, Table], context: Context) -> Answer:
        table, schema = own_table(tables, context)
        released = tables.get(RELEASED, table)
        names = tuple(values["columns"])
        truth = np.arange(table.n_rows) if released is table else rows_by_key(released, table, schema)
        mine, theirs = (encode(one, schema, columns=names, beside=True) for one in (table, released))
        found = match_release(
            mine,
            [theirs],
            names,
            truth=truth,
            progress=context.progress,
        )
        columns = ", ".join(names)
        lines = [
            self.word(
                "said", people=found.people, columns=columns, alone=round(found.true_rate * found.people)
            ),
            self.word("expected", expected=round(found.expected_right * found.people, 2)),
            self.word("by_order" if truth is None else "itself" if released is table else "by_key"),
        ]
        if not found.found:
            lines.append(self.word("nobody"))
        views = (self.sentences([*lines, Text("risk.lines.stays")]), self._figures(found))
        figures = {"audience": "internal", "columns": list(names), "people": found.people}
        return InternalAnswer(views, figures | {name: getattr(found, name) for name in FIGURES})

    def _figures(self, found: Found) -> TableView:
        rows = tuple((self.word(f"figures.{name}"), round(getattr(found, name), 4)) for name in FIGURES)
        headings = (self.word("figures.figure"), self.word("figures.share"))
        return TableView(self.word("figures.title"), headings, rows, self.word("figures.note"))
