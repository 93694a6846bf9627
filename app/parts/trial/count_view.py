"""Tables of counts with what an attacker works out of each hidden cell, for the custodian's eyes."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QButtonGroup,
    QWidget,
)

from app import words
from app.parts.cards import row
from app.parts.making import STRETCH, add, make_button, make_choice, make_column, named
from app.parts.plot import Painted
from app.parts.prose import Heading, Prose
from app.parts.trial.count_cells import REAL, ROW, WAYS, WORKED_OUT, CellsModel, CellsTable, interval, written
from app.theme import theme
from engine.methods.trying import CountCell, CountTable, CountTables, Tried

BESIDE, SIDE, MOST_HEIGHT = 700, 220, 520
LINE_HEIGHT = 66


class IntervalLine(Painted):
    """What can be worked out of a cell as a bar, with its real value and the limit."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, focus=False)
        self.setFixedHeight(LINE_HEIGHT)
        self.grow_across()
        self.cell: CountCell | None = None
        self.threshold = 0.0

    def sizeHint(self) -> QSize:
        return QSize(230, LINE_HEIGHT)

    def show_cell(self, cell: CountCell, threshold: float, spoken: str) -> None:
        """Show another cell."""
        self.cell, self.threshold = cell, threshold
        self.setAccessibleName(spoken)
        self.update()

    def paint(self, painter: QPainter) -> None:
        cell, tokens = self.cell, theme.tokens()
        if cell is None:
            return
        low = cell.low or 0.0
        high = cell.high if cell.high is not None else max(2 * cell.value, 2 * self.threshold)
        begin = 0.0 if low < high / 2 else low - (high - low) / 3
        end = max(high + (high - low) / 4, cell.value)
        width, middle = self.width() - 24.0, 34.0

        def at(value: float) -> float:
            return 12 + width * (value - begin) / max(end - begin, 1e-9)

        painter.setPen(Qt.PenStyle.NoPen)
        small = cell.state == "small"
        for left, right, colour in (
            (begin, end, "line"),
            (low, high, "care" if small else "quiet"),
        ):
            painter.setBrush(tokens.colour(colour))
            painter.drawRoundedRect(QRectF(at(left), middle - 3, at(right) - at(left), 6), 3, 3)
        if small and begin <= self.threshold <= end:
            painter.setPen(QPen(tokens.colour("text"), 1.2, Qt.PenStyle.DashLine))
            painter.drawLine(int(at(self.threshold)), 18, int(at(self.threshold)), 50)
        painter.setPen(QPen(tokens.colour("text"), 2))
        painter.setBrush(tokens.colour("surface"))
        painter.drawEllipse(QRectF(at(cell.value) - 5, middle - 5, 10, 10))
        painter.setPen(tokens.colour("text"))
        self._label(painter, at(cell.value), 0, words.say("app.trying.cells.real", value=written(cell.value)))
        painter.setPen(tokens.colour("quiet"))
        self._label(painter, at(low), 46, written(low))
        self._label(painter, at(high), 46, "∞" if cell.high is None else written(high))

    def _label(self, painter: QPainter, centre: float, top: float, said: str) -> None:
        width = painter.fontMetrics().horizontalAdvance(said) + 4.0
        left = min(max(centre - width / 2, 0.0), self.width() - width)
        painter.drawText(QRectF(left, top, width, 16), Qt.AlignmentFlag.AlignHCenter, said)


class CountView(QWidget):
    """Shows tables; nothing is taken in it."""

    taken = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.shown: CountTables | None = None
        box = make_column(inside=self, spacing=10, margins=0)
        self.summary = named(Prose(), "cells-summary")
        box.addWidget(self.summary)
        self.ways = QButtonGroup(self)
        chips = []
        for place, name in enumerate(WAYS):
            chip = make_button(
                words.say(f"app.trying.cells.ways.{name}"), f"cells-{name}", look="chip", checkable=True
            )
            self.ways.addButton(chip, place)
            chips.append(chip)
        chips[0].setChecked(True)
        self.ways.idClicked.connect(lambda place: self._show_table())
        self.layers = make_choice(
            "cells-layer", words.say("app.trying.cells.layer"), lambda place: self._show_table()
        )
        add(box, row(*chips, spacing=4), row(self.layers))
        self._sides = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._sides.setSpacing(16)
        self.table = CellsTable()
        add(self._sides, (self.table, 3), self._build_side())
        box.addLayout(self._sides)

    def _build_side(self) -> QWidget:
        self.side = QWidget()
        column = make_column(inside=self.side, spacing=6, margins=0)
        self.cell_name = named(Heading(size="small"), "cell-name")
        self.line = IntervalLine()
        self.why = named(Prose(pixels=12), "cell-why")
        self.keys = Prose(words.say("app.trying.cells.keys"), tone="quiet", pixels=12)
        add(column, self.cell_name, self.line, self.why, self.keys, STRETCH)
        return self.side

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        beside = self.width() >= BESIDE
        across, down = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._sides.setDirection(across if beside else down)
        self.side.setMinimumWidth(SIDE if beside else 0)
        self.side.setMaximumWidth(SIDE if beside else 16_777_215)

    # --- showing -----------------------------------------------------------------------------------

    def show_answer(self, shown: Tried) -> None:
        """Show tables, the first one first."""
        assert isinstance(shown, CountTables)
        self.shown = shown
        self.layers.clear()
        for table in shown.tables:
            hidden = sum(cell.state != "printed" for cell in _cells(table))
            self.layers.addItem(words.say("app.trying.cells.of_layer", name=table.name, count=hidden))
        self.layers.setVisible(len(shown.tables) > 1)
        cells = [cell for table in shown.tables for cell in _cells(table)]
        small = [cell for cell in cells if cell.state == "small"]
        protects = sum(cell.state == "protects" for cell in cells)
        told = {"cells": len(cells), "small": len(small), "protects": protects}
        printed = len(cells) - len(small) - protects
        told_of = words.say(f"app.trying.cells.{'summary' if small else 'all'}", printed=printed, **told)
        proof = "exact" if shown.gap <= 0 else "gap"
        if small:
            told_of += " " + words.say(f"app.trying.cells.{proof}", percent=round(100 * shown.gap, 1))
        self.summary.say(told_of)
        self._show_table()

    def _show_table(self) -> None:
        assert self.shown is not None
        table = self.shown.tables[max(self.layers.currentIndex(), 0)]
        way = WAYS[self.ways.checkedId()]
        before = self.table.currentIndex()
        at = (before.row(), before.column())
        model = CellsModel(table, way, self.shown.threshold)
        self.table.show_cells(model)
        named = " × ".join(name for name in (table.down, table.across, table.name) if name)
        self.table.setAccessibleName(words.say("app.trying.cells.table", columns=named))
        self.table.setFixedHeight(min(MOST_HEIGHT, 40 + ROW * model.rowCount() + 16))
        self.table.selectionModel().currentChanged.connect(lambda now, then: self._show_cell())
        self.side.setVisible(way == WORKED_OUT)
        kept = model.index(*at)
        if kept.isValid():
            self.table.setCurrentIndex(kept)
        else:
            self.table.go_to_next()
        self._show_cell()

    def _show_cell(self) -> None:
        """Say of the cell in focus what can be worked out, and why it is as it is."""
        index, model = self.table.currentIndex(), self.table.cells
        cell = model.cell(index) if model is not None and index.isValid() else None
        for part in (self.cell_name, self.line, self.why):
            part.setVisible(cell is not None)
        if cell is None or model is None or self.shown is None:
            return
        hidden = cell.state != "printed" and model.way != REAL
        self.cell_name.setText(model.name(index))
        self.line.setVisible(hidden)
        told = {"value": written(cell.value), "threshold": written(self.shown.threshold)}
        if hidden:
            self.line.show_cell(cell, self.shown.threshold, interval(cell))
            told["interval"] = interval(cell)
        said = words.say(f"app.trying.cells.why.{cell.state if hidden else 'printed'}", **told)
        if hidden:
            said += "\n\n" + words.say(f"app.trying.cells.why.{'whole' if self.shown.whole else 'fractions'}")
        self.why.say(said)


def _cells(table: CountTable) -> list[CountCell]:
    return [cell for line in table.cells for cell in line if cell is not None]
