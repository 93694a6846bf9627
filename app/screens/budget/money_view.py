"""The cost curve with its legend and the sentence about the window; the numbers behind it as a table."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from app import words
from app.parts.cards import Card
from app.parts.making import (
    STRETCH,
    add,
    empty,
    hidden,
    left,
    make_button,
    make_column,
    make_group,
    make_row,
    named,
)
from app.parts.prose import Prose
from app.parts.table import DataTable
from app.screens.budget.live_curve import LiveCurve, pen
from app.theme import restyle, theme
from engine import texts
from engine.views import CurveView, Series, as_table

SIDE_BY_SIDE = 620


class Sample(QWidget):
    """A short piece of a line."""

    def __init__(self, style: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.line = style
        self.setFixedSize(QSize(26, 18))
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(pen(self.line, theme.tokens()))
        painter.drawLine(0, 9, 26, 9)


class MoneyView(Card):
    """Curve, legend, window."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("money-view")
        self.curve = named(LiveCurve(), "cost-curve")
        self.table = hidden(DataTable(words.say("app.budget.table_name")))
        self.table.setMinimumHeight(190)
        side = make_column(spacing=6)
        self.legend = make_column(spacing=4)
        self.window_sentence = named(Prose(), "window-sentence")
        add(side, self.legend, 4, self.window_sentence)
        self.as_table = make_button(
            words.say("app.budget.as_table"), "cost-as-table", look="link", checkable=True
        )
        self.as_table.toggled.connect(self._show_table)
        add(side, left(self.as_table), STRETCH)
        self._row = make_row((self.curve, 5), (self.table, 5), (side, 3), spacing=20)
        self.body.addLayout(self._row)
        self._named: list[tuple[str, str]] = []
        self._view: CurveView | None = None

    def show_view(self, view: CurveView | None, sentence: str, tone: str = "") -> None:
        """Show a curve and what the window says."""
        self._view = view
        self.curve.show_view(view)
        series = list(view.series) if view is not None else []
        named = [(words.label(one.label), one.style) for one in series]
        if view is not None and view.band is not None:
            named.append((words.say("app.budget.band"), "band"))
        if named != self._named:
            self._named = named
            self._name(series, band=view is not None and view.band is not None)
        if self.window_sentence.property("tone") != tone:
            self.window_sentence.setProperty("tone", tone)
            restyle(self.window_sentence)
        if self.window_sentence.plain() != sentence.replace("**", ""):
            self.window_sentence.say(sentence)
        if self.table.isVisible():
            self._fill()

    def _name(self, series: list[Series], *, band: bool) -> None:
        empty(self.legend)
        for one in series:
            self.legend.addWidget(_line(one.style, words.label(one.label)))
        if band:
            self.legend.addWidget(Prose(words.say("app.budget.band"), tone="quiet", pixels=12))

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

    def resizeEvent(self, event: object) -> None:
        wide = self.width() >= SIDE_BY_SIDE
        way = QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom
        if self._row.direction() != way:
            self._row.setDirection(way)
        super().resizeEvent(event)  # type: ignore[arg-type]


def _line(style: str, name: str) -> QWidget:
    return make_group(make_row(Sample(style), (Prose(name), 1), spacing=10, margins=0))
