"""The cost curve with its legend and the sentence about the window; the numbers behind it as a table."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app import words
from app.parts.cards import Card
from app.parts.making import (
    add,
    hidden,
    make_button,
    make_row,
    named,
)
from app.parts.prose import Prose
from app.parts.table import DataTable
from app.parts.views.figure import LiveDrawing
from engine import texts
from engine.views import CurveView, as_table


class MoneyView(Card):
    """Curve, legend, window."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("money-view")
        self.curve = named(LiveDrawing(), "cost-curve")
        self.table = hidden(DataTable(words.say("app.budget.table_name")))
        self.table.setMinimumHeight(190)
        self.band = hidden(Prose(words.say("app.budget.band"), tone="quiet", pixels=12))
        self.window_sentence = named(Prose(), "window-sentence")
        self.as_table = make_button(
            words.say("app.budget.as_table"), "cost-as-table", look="link", checkable=True
        )
        self.as_table.toggled.connect(self._show_table)
        said = make_row((self.window_sentence, 1), self.as_table, spacing=20)
        add(self.body, self.curve, self.table, self.band, said)
        self._view: CurveView | None = None

    def show_view(self, view: CurveView | None, sentence: str, tone: str = "") -> None:
        """Show a curve and what the window says."""
        self._view = view
        self.curve.show_view(view)
        self.band.setVisible(view is not None and view.band is not None)
        self.window_sentence.set_tone(tone)
        self.window_sentence.say(sentence)
        if self.table.isVisible():
            self._fill()

    def _show_table(self, wanted: bool) -> None:
        self.table.setVisible(wanted)
        self.curve.setVisible(not wanted)
        self.as_table.setText(words.say("app.budget.as_curve" if wanted else "app.budget.as_table"))
        if wanted:
            self._fill()

    def _fill(self) -> None:
        if self._view is None:
            return
        marks = [(mark.label, mark.x, mark.y) for mark in self._view.marks]
        drawn = [
            (series.label, x, y)
            for series in self._view.series
            for x, y in zip(series.x, series.y, strict=True)
        ]
        rows = [
            (words.label(label), texts.number(x, digits=4), texts.number(y, digits=4))
            for label, x, y in (*marks, *drawn)
        ]
        headings = [words.label(one) for one in as_table(self._view).headings]
        self.table.show_rows(headings, rows, numeric={1, 2})
