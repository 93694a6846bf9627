"""Rows under headings; a dash for nothing; numbers to the right."""

from __future__ import annotations

import re
from collections.abc import Mapping

from PySide6.QtCore import QRect, QRectF, QSizeF, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QStyleOptionViewItem, QWidget

from app import words
from app.parts.making import make_column
from app.parts.table import EDGES, HEADING_EDGE, DataTable, Index, LinesDelegate, RowsModel
from app.theme import text_font, theme
from engine.views import TableView, share_of

MOST_SHOWN = 12
BAR = 12
HEAD, ROW = 36, 34
NARROWEST, READABLE, WIDEST, MOST_MEASURED = 72, 170, 440, 200
SHORT = 16  # letters that fit into every column
BREAKS = re.compile(r"[ \n]+")  # where a line may end: never at the narrow space within a French number
SHARE_WIDTH, SHARE_HEIGHT, MUCH = 76, 6, 0.5


class ShareDelegate(LinesDelegate):
    """Draws a part of a whole as a bar before its words; one that is more than half in the care colour."""

    def __init__(self, parent: QWidget, shares: Mapping[tuple[int, int], float]) -> None:
        super().__init__(parent)
        self.shares = shares

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        part = self.shares.get((index.row(), index.column()))
        if part is None:
            super().paint(painter, option, index)
            return
        self.paint_ground(painter, option, index)
        tokens, colour = theme.tokens(), "care" if part > MUCH else "accent"
        rect = QRectF(option.rect).adjusted(self.padding, 0, -self.padding, 0)
        bar = QRectF(rect.left(), rect.center().y() - SHARE_HEIGHT / 2, SHARE_WIDTH, SHARE_HEIGHT)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        for width, fill in ((bar.width(), "line"), (max(bar.width() * part, 2.0), colour)):
            painter.setBrush(tokens.colour(fill))
            painter.drawRoundedRect(QRectF(bar.topLeft(), QSizeF(width, bar.height())), 3, 3)
        painter.restore()
        beside = option.rect.adjusted(SHARE_WIDTH + 8, 0, 0, 0)
        words_in = "care" if part > MUCH else "text"
        self.paint_text(painter, beside, index, str(index.data() or ""), colour=words_in)


class TableBody(DataTable):
    """The rows of a table view, as high as up to twelve of them."""

    def __init__(self, view: TableView) -> None:
        super().__init__(words.label(view.title))
        from engine.report.words import number_columns, written_rows

        language = words.language()
        numeric = frozenset(place for place, is_number in enumerate(number_columns(view)) if is_number)
        rows = written_rows(view, language)
        self.show_rows([words.label(heading) for heading in view.headings], rows, numeric=numeric)
        self.fit_columns(widest=WIDEST)  # where there is less room, columns of texts give way
        shares = {
            (place, column): part
            for place, row in enumerate(view.rows)
            for column, value in enumerate(row)
            if (part := share_of(value)) is not None
        }
        if shares:
            self.setItemDelegate(ShareDelegate(self, shares))
        for column in {column for _, column in shares}:
            self.setColumnWidth(column, max(self.columnWidth(column), SHARE_WIDTH + 100))
        self.setProperty("look", "plain")
        self._wide = sum(self.columnWidth(column) for column in range(len(view.headings)))
        self._rows = rows
        self._natural = [self.columnWidth(column) for column in range(len(view.headings))]
        drawn = {column for _, column in shares}
        self._numeric = numeric
        self._least = {
            column: self._narrowest(column) for column in range(len(view.headings)) if column not in drawn
        }
        model = self.model()
        assert isinstance(model, RowsModel)
        model.wraps_headings = True
        self.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideNone)  # what is cut does not wrap
        self._wrap()
        self.setMaximumWidth(max(self._wide + 12, 240))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def _wrap(self) -> None:
        """Give rows whose texts are longer than their column as many lines as they need."""
        delegate = self.itemDelegate()
        assert isinstance(delegate, LinesDelegate)
        delegate.wraps, metrics = True, QFontMetrics(text_font())
        widths = [self.columnWidth(column) - 2 * delegate.padding for column in range(len(self._natural))]
        for place, row in enumerate(self._rows):
            lines = 1
            for across, text in zip(widths, row, strict=False):
                if len(text) > SHORT and metrics.horizontalAdvance(text) > across:
                    box = metrics.boundingRect(QRect(0, 0, across, 0), Qt.TextFlag.TextWordWrap, text)
                    lines = max(lines, round(box.height() / metrics.height()))
            self.setRowHeight(place, ROW + (lines - 1) * metrics.height())
        heights = [self.rowHeight(place) for place in range(min(len(self._rows), MOST_SHOWN))]
        self._high = HEAD + (sum(heights) or ROW)
        self.setFixedHeight(self._high)

    def _narrowest(self, column: int) -> int:
        """Return the width that a heading on two lines and the longest words of a column need."""
        heading, cells = QFontMetrics(text_font(12, 600)), QFontMetrics(text_font())
        parts_of = str(self.model().headerData(column, Qt.Orientation.Horizontal)).split(" ")
        halves = [(parts_of[:at], parts_of[at:]) for at in range(len(parts_of))]
        across = min(max(heading.horizontalAdvance(" ".join(half)) for half in both) for both in halves)
        said_in = [row[column] for row in self._rows[:MOST_MEASURED]]
        parts = sorted({part for text in said_in for part in BREAKS.split(text)}, key=len)
        widest = [cells.horizontalAdvance(part) for part in parts[-4:]]
        is_number = column in self._numeric
        needed = max(across + HEADING_EDGE, *widest, 0 if is_number else NARROWEST) + EDGES
        return max(needed, min(self._natural[column], 0 if is_number else READABLE))

    def _narrow(self, room: int) -> None:
        """Take what is too much from the widest columns, of texts first; words and numbers stay whole."""
        widths = list(self._natural)
        for column in sorted(self._least, key=lambda one: (one in self._numeric, -self._natural[one])):
            over = max(0, sum(widths) - room)
            widths[column] = max(widths[column] - over, min(widths[column], self._least[column]))
        if widths != [self.columnWidth(column) for column in range(len(widths))]:
            for column, width in enumerate(widths):
                self.setColumnWidth(column, width)
            self._wrap()
        self._wide = sum(widths)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._narrow(event.size().width())
        # The bar below stands under the last row, not over it.
        self.setFixedHeight(self._high + (BAR if self._wide > event.size().width() + 1 else 0))


class TableWidget(QWidget):
    """A table."""

    def __init__(self, view: TableView, runner: object = None) -> None:
        super().__init__()
        column = make_column(inside=self, margins=0)
        self.body = TableBody(view)
        column.addWidget(self.body)
