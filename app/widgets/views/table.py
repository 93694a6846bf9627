"""Rows under headings; a dash for nothing; numbers to the right."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from app import words
from app.widgets.table_view import DataTable
from engine.views import TableView

MOST_SHOWN = 12
BAR = 12


class TableBody(DataTable):
    """The rows of a table view, as high as up to twelve of them."""

    def __init__(self, view: TableView) -> None:
        super().__init__(words.label(view.title))
        from engine.report.words import cell, number_columns

        language = words.language()
        numeric = frozenset(place for place, is_number in enumerate(number_columns(view)) if is_number)
        rows = [[cell(value, language) for value in row] for row in view.rows]
        self.show_rows([words.label(heading) for heading in view.headings], rows, numeric=numeric)
        self.setProperty("look", "plain")
        self._wide = sum(self.columnWidth(column) for column in range(len(view.headings)))
        self._high = 36 + 34 * max(min(len(rows), MOST_SHOWN), 1)
        self.setFixedHeight(self._high)
        self.setMaximumWidth(max(self._wide + 12, 240))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # The bar below stands under the last row, not over it.
        self.setFixedHeight(self._high + (BAR if self._wide > event.size().width() + 1 else 0))


class TableWidget(QWidget):
    """A table."""

    def __init__(self, view: TableView, runner: object = None) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        self.body = TableBody(view)
        column.addWidget(self.body)
