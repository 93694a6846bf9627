"""A table of counts on screen: cells too small are filled, those that protect them have a dashed edge."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
)

from app import words
from app.theme import text_font, theme
from app.words.money import size
from engine.methods.trying import CountCell, CountTable

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
CELL = Qt.ItemDataRole.UserRole + 1
WORKED_OUT, RECIPIENT, REAL = "worked_out", "recipient", "real"
WAYS = (WORKED_OUT, RECIPIENT, REAL)
APART = 10  # pixels between the interval of a hidden cell and its word
ROW, NARROWEST, TWO_WORDS, WIDEST = 40, 84, 118, 190


def written(value: float) -> str:
    """Write a count or an amount."""
    return f"{value:,.0f}" if float(value).is_integer() else size(value)


def interval(cell: CountCell) -> str:
    """Return what an attacker works out of a hidden cell."""
    low = written(cell.low or 0.0)
    if cell.high is None:
        return words.say("app.trying.cells.from", low=low)
    return words.say("app.trying.cells.interval", low=low, high=written(cell.high))


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
            return written(cell.value)
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
            return f"{self.name(index)}: {self.told(cell)}"
        if role == Qt.ItemDataRole.ToolTipRole and cell is not None and cell.state != "printed":
            return words.tip(f"{self.name(index)}: {self.told(cell)}")
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
        self._kept: CellsModel | None = None

    def show_cells(self, model: CellsModel) -> None:
        """Show a table; its model lives as long as it is shown."""
        self.setModel(model)
        self._kept = model
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        self.horizontalHeader().setDefaultAlignment(right)
        self._fit()

    def _fit(self) -> None:
        """Make the columns as wide as there is room, within limits."""
        model = self._kept
        if model is not None and model.columnCount():
            room = self.viewport().width() // model.columnCount()
            least = NARROWEST if model.way != WORKED_OUT else max(TWO_WORDS, widest_hidden(model))
            self.horizontalHeader().setDefaultSectionSize(max(least, min(WIDEST, room)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_N and self._kept is not None:
            self.go_to_next()
        else:
            super().keyPressEvent(event)

    def go_to_next(self) -> None:
        """Go to the next hidden cell, from the last one to the first."""
        model = self._kept
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
