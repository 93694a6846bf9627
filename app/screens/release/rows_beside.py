"""Original rows beside the released ones, with what changed marked in both: for the custodian alone."""

from __future__ import annotations

from typing import Any

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from app import words
from app.parts.cards import Card
from app.parts.making import make_column, named
from app.parts.prose import Heading, Prose
from app.parts.table import DataTable

BESIDE, HIGHEST, ROW = 640, 400, 34
SIDES = ("before", "after")


class RowsBeside(Card):
    """Two tables that scroll and select together."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(words.say("app.release.beside.heading"), parent=parent)
        self.setObjectName("rows-beside")
        self.note = named(Prose(tone="quiet", pixels=12), "rows-beside-note")
        self.body.addWidget(self.note)
        self._sides = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._sides.setSpacing(14)
        self.body.addLayout(self._sides)
        self.tables: dict[str, DataTable] = {}
        for name in SIDES:
            column = make_column(spacing=4)
            said = words.say(f"app.release.beside.{name}")
            column.addWidget(Heading(said, size="small", tone="quiet"))
            table = self.tables[name] = DataTable(said)
            table.setObjectName(f"rows-{name}")
            column.addWidget(table)
            self._sides.addLayout(column, 1)
        before, after = self.tables.values()
        for one, other in ((before, after), (after, before)):
            one.verticalScrollBar().valueChanged.connect(other.verticalScrollBar().setValue)
            one.horizontalScrollBar().valueChanged.connect(other.horizontalScrollBar().setValue)
        self.hide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        across, down = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._sides.setDirection(across if self.width() >= BESIDE else down)

    def show_rows(self, found: Any) -> None:
        """Show what was released beside what it was made from; hide where nothing is known of it."""
        self.setVisible(found is not None)
        if found is None:
            return
        rows, columns = range(len(found.after)), range(len(found.columns))
        marked = {(row, column) for row in rows for column in columns if found.changed(row, column)}
        cells = sum(cell is not None for row in found.before for cell in row)
        told = {"rows": len(rows), "of": found.rows, "changed": len(marked), "cells": cells}
        self.note.say(words.say("app.release.beside.note", **told))
        written = {
            "before": [["–" if cell is None else cell for cell in row] for row in found.before],
            "after": [list(row) for row in found.after],
        }
        for name, table in self.tables.items():
            table.show_rows(found.columns, written[name], marked=marked)
            table.setFixedHeight(min(HIGHEST, 36 + ROW * len(rows) + 14))
        before, after = self.tables.values()
        for column in columns:  # the same widths, so that they scroll as one
            width = max(table.columnWidth(column) for table in (before, after))
            for table in (before, after):
                table.setColumnWidth(column, width)
        for one, other in ((before, after), (after, before)):
            one.selectionModel().currentRowChanged.connect(
                lambda now, then, other=other: (
                    other.selectRow(now.row()) if other.currentIndex().row() != now.row() else None
                )
            )
