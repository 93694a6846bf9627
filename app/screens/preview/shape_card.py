"""The release as it will look, with invented numbers: a few lines of every table, and what else leaves."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app import words
from app.parts.cards import Card, pill
from app.parts.form.parameter_fields import empty
from app.parts.prose import Prose, name_label
from app.parts.views import make_view
from app.parts.views.table import TableBody
from app.screens.preview.asks import Lines, shapes
from app.theme import mono_font, text_font
from app.work.jobs import JobRunner
from engine.methods.protocol import DocumentArtefact, FileArtefact, ModelArtefact, Rows
from engine.views import NumberView

MOST_DRAWN = 2


def _number(view: NumberView) -> str:
    from engine.report.words import cell

    return f"{cell(view.value, words.language())} {view.unit}".strip()


class ShapeCard(Card):
    """Says "invented" beside everything that it shows."""

    def __init__(self, runner: JobRunner, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("shape")
        self._runner = runner
        self.is_drawn = False  # something is drawn, which needs the whole width
        row = QHBoxLayout()
        title = QLabel(words.say("app.preview.shape.heading"))
        title.setFont(text_font(13, 600))
        row.addWidget(title)
        row.addStretch(1)
        self.pill = pill(words.say("app.preview.shape.invented"))
        row.addWidget(self.pill)
        self.body.addLayout(row)
        self.note = Prose(tone="quiet", pixels=12)
        self.note.setObjectName("shape-note")
        self.body.addWidget(self.note)
        self._parts = QVBoxLayout()
        self._parts.setSpacing(8)
        self.body.addLayout(self._parts)
        self.hide()

    def show_shape(self, mock: Any, *, rows: Any, is_bounded: bool = True, tried: str = "") -> None:
        """Show what a release of invented people looks like; hide where none could be made.

        Only what a loss is bounded of has its shape from declarations alone; elsewhere the rows decide about
        it too, and ``tried`` says what is known of them.
        """
        self.setVisible(mock is not None)
        empty(self._parts)
        name = "follows" if rows is Rows.NONE else "follows_rows"
        self.pill.setText(words.say(f"app.preview.shape.{'invented' if is_bounded else name}"))
        told = [] if is_bounded else [words.say(f"app.preview.shape.{name}_note")]
        told += [words.say("app.preview.shape.tried", steps=tried)] if tried else []
        self.note.say("\n\n".join(told))
        self.note.setVisible(bool(told))
        if mock is None:
            return
        tables, drawn = shapes(mock, rows=rows)
        self.is_drawn = bool(drawn)
        if mock.kept is not None:
            self._kept(mock)
        for lines in tables:
            self._table(lines)
        for view in drawn[:MOST_DRAWN]:
            title = words.label(view.title)
            if isinstance(view, NumberView):
                self._parts.addWidget(Prose(f"**{title}**: {_number(view)}"))
                continue
            self._parts.addWidget(Prose(f"**{title}**", tone="quiet", pixels=12))
            self._parts.addWidget(make_view(view, self._runner))
        for artefact in mock.artefacts:
            if isinstance(artefact, ModelArtefact | DocumentArtefact | FileArtefact):
                meaning = words.label(artefact.meaning)
                text = words.say("app.preview.shape.file", file=artefact.files[0], meaning=meaning)
                self._parts.addWidget(Prose(text))

    def _kept(self, mock: Any) -> None:
        """Say how far the method was off where all is known: on the people who were invented."""
        shares = {name: f"{100 * getattr(mock.kept, name):.2g}" for name in ("one_way", "two_way", "apart")}
        name = ("relates" if mock.kept.relates else "apart") + ("_named" if mock.kept.is_named else "")
        said = Prose(words.say(f"app.preview.shape.kept.{name}", people=mock.people, **shares), pixels=13)
        said.setObjectName("shape-kept")
        self._parts.addWidget(said)

    def _table(self, lines: Lines) -> None:
        name = name_label(lines.file)
        name.setFont(mono_font(12))
        name.setProperty("tone", "quiet")
        self._parts.addWidget(name)
        table = TableBody(lines.view)
        table.setObjectName(f"shape-{lines.file}")
        self._parts.addWidget(table)
        last = lines.first + len(lines.view.rows) - 1
        said = words.say("app.preview.shape.lines", first=lines.first, last=last, all=lines.of)
        if lines.view.note is not None:
            said = f"{said} {words.label(lines.view.note)}"
        self._parts.addWidget(Prose(said, tone="quiet", pixels=12))
