"""What in columns of free text may name somebody."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from engine.analyses.disclosure import own_table
from engine.analyses.protocol import Analysis, Answer, Context, InternalAnswer
from engine.methods.parameters import Parameter, ParameterKind
from engine.methods.protocol import MAIN, Reference, Source
from engine.risk.free_text import LANGUAGES, MARKS, PLANTED, OwnWords, Scanned, scan
from engine.table.schema import Kind, Role
from engine.views import Cell, TableView, Text

if TYPE_CHECKING:
    from engine.risk.copies import Rate
    from engine.table.table import Table

OWN = (Role.DIRECT_IDENTIFIER, Role.PERSON_KEY)
"""Columns whose words and numbers are looked for."""


class FreeText(Analysis):
    """Names, numbers, dates and addresses in notes; how much of it such a scan misses stands beside."""

    id = "free_text"
    published = Reference(
        "Meystre, Friedlin, South, Shen, Samore: Automatic de-identification of textual documents (2010)",
        "methods based on patterns and dictionaries",
        "doi:10.1186/1471-2288-10-70",
    )
    sources = (Source(MAIN),)
    parameters = (
        Parameter(
            "columns",
            ParameterKind.COLUMNS,
            minimum=1,
            column_kinds=(Kind.TEXT, Kind.CATEGORY),
            column_roles=tuple(role for role in Role if role not in (*OWN, Role.NOT_RECOGNISED)),
        ),
    )

    def run(self, values: Mapping[str, Any], tables: Mapping[str, Table], context: Context) -> Answer:
        table, schema = own_table(tables, context)
        rows = table.rows()
        own = tuple(one.name for one in schema.columns if one.role in OWN and one.name in rows)
        words = OwnWords.of(cell for name in own for cell in _cells(rows[name]))
        found = {}
        for name in values["columns"]:
            found[name] = scan(_cells(rows[name]), words)
            context.progress.step(len(found) / len(values["columns"]), "risk.free_text")
        return self._answer(found, own)

    def _answer(self, found: Mapping[str, Scanned], own: tuple[str, ...]) -> Answer:
        lines = [
            self.word("said", column=name, marked=one.marked, notes=one.notes) for name, one in found.items()
        ]
        lines.append(self.word("own" if own else "no_own", columns=", ".join(own)))
        lines += [self.word("not_all"), self.word("default"), Text("risk.lines.stays")]
        headings: tuple[Text | str, ...] = (self.word("marks.what"), *found)
        marks: tuple[tuple[Cell, ...], ...] = tuple(
            (self.word(f"marks.{mark}"), *(one.by_mark[mark] for one in found.values())) for mark in MARKS
        )
        first = next(iter(found.values()))
        figures = {
            "audience": "internal",
            "columns": {
                name: {"notes": one.notes, "marked": one.marked, "by_mark": dict(one.by_mark)}
                for name, one in found.items()
            },
            "recall": [
                {"kind": one.kind, "language": one.language, "tidy": one.tidy.share, "messy": one.messy.share}
                for one in first.recall
            ],
            "false_alarms": first.alarms.share,
        }
        views = (
            self.sentences(lines),
            TableView(self.word("marks.title"), headings, marks, self.word("marks.note")),
            self._recall(first),
        )
        return InternalAnswer(views, figures)

    def _recall(self, found: Scanned) -> TableView:
        """Return how much is found of what stands in invented notes."""
        headings = tuple(
            self.word(f"recall.{name}")
            for name in ("kind", "language", "tidy", "between", "messy", "between")
        )
        rates = {(one.kind, one.language): one for one in found.recall}
        rows = tuple(
            (
                self.word(f"recall.kinds.{kind}"),
                self.word(f"recall.{language}"),
                *_percent(rates[kind, language].tidy),
                *_percent(rates[kind, language].messy),
            )
            for kind in PLANTED
            for language in LANGUAGES
        )
        values = {"notes": rates[PLANTED[0], LANGUAGES[0]].tidy.attacks, "alarms": found.alarms.successes}
        note = self.word("recall.note", **values, clean=found.alarms.attacks)
        return TableView(self.word("recall.title"), headings, rows, note)


def _percent(rate: Rate) -> tuple[int, str]:
    low, high = rate.interval
    return round(100 * rate.share), f"{100 * low:.0f}–{100 * high:.0f}"


def _cells(values: Any) -> Iterator[str]:
    """Give the filled cells of a column as text."""
    return (str(cell) for cell in values.dropna().tolist() if str(cell).strip())
