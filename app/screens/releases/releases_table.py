"""The table of releases: texts wrapped instead of cut, widths by content, dates and states narrow."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QStyleOptionViewItem, QWidget

from app.parts.table import DataTable, Index, LinesDelegate
from app.theme import text_font

PADDING = 26  # left and right of a text in its cell
LOWEST, AIR = 34, 14  # height of a row of one line, and what a row has around its lines
MOST_LINES = 12  # of text before the table scrolls


class WrappingDelegate(LinesDelegate):
    """Every text on as many lines as it needs."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        self.paint_ground(painter, option, index)
        self.paint_text(painter, option.rect, index, str(index.data() or ""), wrap=True)


class ReleasesTable(DataTable):
    """``chosen`` tells the row that the person is on."""

    chosen = Signal(int)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, parent)
        self.setItemDelegate(WrappingDelegate(self))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self._limits: dict[int, int] = {}

    def show_releases(
        self,
        headings: Sequence[str],
        rows: Sequence[Sequence[str]],
        *,
        numeric: frozenset[int],
        narrow: dict[int, int],
    ) -> None:
        """Show the rows; ``narrow`` says how wide a column may become at most, by its place."""
        self._limits = narrow
        self.show_rows(headings, rows, numeric=numeric)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.selectionModel().currentRowChanged.connect(lambda now, before: self.chosen.emit(now.row()))
        self.fit()

    def fit(self) -> None:
        """Share the width out: what each column needs if there is room, else the long ones give way."""
        model, width = self.model(), self.viewport().width()
        if model is None or width < 50 or not model.rowCount():
            return
        needed = [self._needed(column) for column in range(model.columnCount())]
        narrow = sum(needed[column] for column in self._limits)
        wide = [column for column in range(len(needed)) if column not in self._limits]
        rest, wanted = max(width - narrow, 60 * len(wide)), sum(needed[column] for column in wide)
        # In proportion to what they hold, but none below the others' half.
        floor = rest / (2 * len(wide))
        shares = {column: max(needed[column] * rest / wanted, floor) for column in wide}
        whole = sum(shares.values())
        sizes = {column: int(share * rest / whole) for column, share in shares.items()}
        for column in wide:  # a heading is never cut: the widest gives
            lacking = max(self._heading(column) - sizes[column], 0)
            sizes[max(sizes, key=lambda one: sizes[one])] -= lacking
            sizes[column] += lacking
        for column in range(len(needed)):
            self.horizontalHeader().resizeSection(column, sizes.get(column, needed[column]))
        self._fit_rows()

    def _needed(self, column: int) -> int:
        """Return the width at which a column shows everything on one line, within its limit."""
        model = self.model()
        metrics = QFontMetrics(text_font())
        texts = [str(model.index(row, column).data() or "") for row in range(model.rowCount())]
        longest = max(metrics.horizontalAdvance(text) for text in texts) + PADDING
        return max(self._heading(column), min(longest, self._limits.get(column, longest)))

    def _heading(self, column: int) -> int:
        """Return the width of a column's heading."""
        head = str(self.model().headerData(column, Qt.Orientation.Horizontal))
        return QFontMetrics(text_font(12, 600)).horizontalAdvance(head) + PADDING

    def _fit_rows(self) -> None:
        model, metrics = self.model(), QFontMetrics(text_font())
        flags = int(Qt.TextFlag.TextWordWrap)
        for row in range(model.rowCount()):
            heights = [
                metrics.boundingRect(
                    0, 0, self.columnWidth(column) - 24, 10_000, flags, str(model.index(row, column).data())
                ).height()
                for column in range(model.columnCount())
            ]
            self.setRowHeight(row, max(LOWEST, max(heights) + AIR))
        most = MOST_LINES * LOWEST
        self.setFixedHeight(self.horizontalHeader().height() + min(self.verticalHeader().length(), most) + 2)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()
