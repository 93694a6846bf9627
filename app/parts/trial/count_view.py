"""Tables of counts with what an attacker works out of each hidden cell, for the custodian's eyes."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QButtonGroup,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from app import words
from app.parts.cards import row
from app.parts.making import STRETCH, add, make_button, make_choice, make_column, make_row, name_widget, turn
from app.parts.plot import Painted
from app.parts.prose import Heading, Prose
from app.theme import text_font, theme
from app.words.money import size
from engine.methods.trying import CountCell, CountTable, CountTables, Tried

# --- A table of counts on screen ------------------------------------------------------------------------

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
CELL = Qt.ItemDataRole.UserRole + 1
WORKED_OUT, RECIPIENT, REAL = "worked_out", "recipient", "real"
WAYS = (WORKED_OUT, RECIPIENT, REAL)
APART = 10  # pixels between the interval of a hidden cell and its word
ROW, NARROWEST, TWO_WORDS, WIDEST = 40, 84, 118, 190


def write_amount(value: float) -> str:
    """Write a count or an amount."""
    return words.number(int(value)) if float(value).is_integer() else size(value)


def interval(cell: CountCell) -> str:
    """Return what an attacker works out of a hidden cell."""
    low = write_amount(cell.low or 0.0)
    if cell.high is None:
        return words.say("app.trying.cells.from", low=low)
    return words.say("app.trying.cells.interval", low=low, high=write_amount(cell.high))


class CellsModel(QAbstractTableModel):
    """The cells of one table, in one of the three ways of looking at them."""

    def __init__(self, table: CountTable, way: str, threshold: float) -> None:
        super().__init__()
        self.table, self.way, self.threshold = table, way, threshold

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.table.rows)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.table.columns)

    def cell(self, index: Index) -> CountCell | None:
        """Return the cell of a place."""
        return self.table.cells[index.row()][index.column()]

    def said(self, cell: CountCell | None) -> str:
        """Return what stands in a cell."""
        if cell is None:
            return "–"
        if cell.state == "printed" or self.way == REAL:
            return write_amount(cell.value)
        if self.way == RECIPIENT:
            return words.say("statistics.labels.hidden")
        return words.say("app.trying.cells.small" if cell.state == "small" else "app.trying.cells.protects")

    def name(self, index: Index) -> str:
        """Return the values that name a cell."""
        row, column = self.table.rows[index.row()], self.table.columns[index.column()]
        named = [words.label(row), words.label(column)] if self.table.across else [words.label(row)]
        return ", ".join(named)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        cell = self.cell(index)
        if role == CELL:
            return cell
        if role == Qt.ItemDataRole.DisplayRole:
            return self.said(cell)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return words.pair(self.name(index), self.told(cell))
        if role == Qt.ItemDataRole.ToolTipRole and cell is not None and cell.state != "printed":
            return words.tip(words.pair(self.name(index), self.told(cell)))
        return None

    def told(self, cell: CountCell | None) -> str:
        """Return what stands in a cell and, in the custodian's own way of looking, what can be worked out."""
        said = self.said(cell)
        if cell is None or cell.state == "printed" or self.way != WORKED_OUT:
            return said
        return f"{said}, {interval(cell)}"

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            labels = self.table.columns if orientation == Qt.Orientation.Horizontal else self.table.rows
            return words.label(labels[section])
        return None


class CellsDelegate(QStyledItemDelegate):
    """Paints a cell: filled, dashed or plain; the interval stands before the word, in a smaller face."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        tokens, cell, model = theme.tokens(), index.data(CELL), index.model()
        assert isinstance(model, CellsModel)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(tokens.colour("line"), 1))
        painter.drawLine(option.rect.bottomLeft(), option.rect.bottomRight())
        place = QRectF(option.rect).adjusted(3, 4, -3, -5)
        hidden = cell is not None and cell.state != "printed" and model.way != REAL
        told_apart = hidden and model.way == WORKED_OUT
        if told_apart and cell.state == "small":
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(tokens.colour("care_soft"))
            painter.drawRoundedRect(place, 5, 5)
        elif hidden:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(tokens.colour("quiet"), 1.2, Qt.PenStyle.DashLine))
            painter.drawRoundedRect(place, 5, 5)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(tokens.colour("accent"), 2))
            painter.drawRoundedRect(place, 5, 5)
        colour = "care" if told_apart and cell.state == "small" else "text"
        inner = place.adjusted(8, 0, -8, 0)
        self._write(painter, inner, model.said(cell), colour, strong=hidden)
        if told_apart:
            painter.setFont(text_font(11))
            painter.setPen(tokens.colour(colour if cell.state == "small" else "quiet"))
            left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(inner, left, interval(cell))
        painter.restore()

    def _write(self, painter: QPainter, place: QRectF, said: str, colour: str, *, strong: bool) -> None:
        painter.setFont(text_font(13, 600 if strong else 400))
        painter.setPen(theme.tokens().colour(colour))
        painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, said)


def widest_hidden(model: CellsModel) -> int:
    """Return how wide a hidden cell has to be, so that its interval and its word stand apart."""
    small, strong = QFontMetrics(text_font(11)), QFontMetrics(text_font(13, 600))
    hidden = {
        (interval(cell), model.said(cell))
        for line in model.table.cells
        for cell in line
        if cell is not None and cell.state != "printed"
    }
    words_wide = (small.horizontalAdvance(one) + strong.horizontalAdvance(other) for one, other in hidden)
    return max(words_wide, default=0) + 2 * (3 + 8) + APART


class CellsTable(QTableView):
    """Arrows go from cell to cell, ``N`` to the next hidden one."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("cells")
        self.setProperty("look", "plain")
        self.setShowGrid(False)
        self.setItemDelegate(CellsDelegate(self))
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setMouseTracking(True)
        self.verticalHeader().setDefaultSectionSize(ROW)
        for header in (self.verticalHeader(), self.horizontalHeader()):
            header.setHighlightSections(False)
            header.setSectionsClickable(False)
        self.cells: CellsModel | None = None

    def show_cells(self, model: CellsModel) -> None:
        """Show a table; its model lives as long as it is shown."""
        self.setModel(model)
        self.cells = model
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        self.horizontalHeader().setDefaultAlignment(right)
        self._fit()

    def _fit(self) -> None:
        """Make the columns as wide as there is room, within limits."""
        model = self.cells
        if model is not None and model.columnCount():
            room = self.viewport().width() // model.columnCount()
            least = NARROWEST if model.way != WORKED_OUT else max(TWO_WORDS, widest_hidden(model))
            self.horizontalHeader().setDefaultSectionSize(max(least, min(WIDEST, room)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_N and self.cells is not None:
            self.go_to_next()
        else:
            super().keyPressEvent(event)

    def go_to_next(self) -> None:
        """Go to the next hidden cell, from the last one to the first."""
        model = self.cells
        if model is None:
            return
        columns = model.columnCount()
        hidden = [
            row * columns + column
            for row, line in enumerate(model.table.cells)
            for column, cell in enumerate(line)
            if cell is not None and cell.state != "printed"
        ]
        if hidden:
            now = self.currentIndex()
            at = now.row() * columns + now.column() if now.isValid() else -1
            place = next((one for one in hidden if one > at), hidden[0])
            self.setCurrentIndex(model.index(place // columns, place % columns))


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
        self._label(
            painter, at(cell.value), 0, words.say("app.trying.cells.real", value=write_amount(cell.value))
        )
        painter.setPen(tokens.colour("quiet"))
        self._label(painter, at(low), 46, write_amount(low))
        self._label(painter, at(high), 46, "∞" if cell.high is None else write_amount(high))

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
        self.summary = name_widget(Prose(), "cells-summary")
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
        self._sides = make_row(spacing=16)
        self.table = CellsTable()
        add(self._sides, (self.table, 3), self._build_side())
        box.addLayout(self._sides)

    def _build_side(self) -> QWidget:
        self.side = QWidget()
        column = make_column(inside=self.side, spacing=6, margins=0)
        self.cell_name = name_widget(Heading(size="small"), "cell-name")
        self.line = IntervalLine()
        self.why = name_widget(Prose(pixels=12), "cell-why")
        self.keys = Prose(words.say("app.trying.cells.keys"), tone="quiet", pixels=12)
        add(column, self.cell_name, self.line, self.why, self.keys, STRETCH)
        return self.side

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        beside = self.width() >= BESIDE
        turn(self._sides, beside)
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
        named = " × ".join(filter(None, (table.down, table.across, words.label(table.name))))
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
        told = {"value": write_amount(cell.value), "threshold": write_amount(self.shown.threshold)}
        if hidden:
            self.line.show_cell(cell, self.shown.threshold, interval(cell))
            told["interval"] = interval(cell)
        said = words.say(f"app.trying.cells.why.{cell.state if hidden else 'printed'}", **told)
        if hidden:
            said += "\n\n" + words.say(f"app.trying.cells.why.{'whole' if self.shown.whole else 'fractions'}")
        self.why.say(said)


def _cells(table: CountTable) -> list[CountCell]:
    return [cell for line in table.cells for cell in line if cell is not None]
