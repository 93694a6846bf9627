"""Tables on screen: rows of a frame, or rows of texts; lines between rows only; every cell is spoken.

view = DataTable(accessible_name)
view.show_frame(frame, marked={(3, "age")})      # a pandas frame; private, never leaves the screen
view.show_rows(headings, rows, numeric={1, 2})   # texts
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from app import words
from app.theme import mono_font, text_font, theme

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
MARKED = Qt.ItemDataRole.UserRole + 1
MISSING = Qt.ItemDataRole.UserRole + 2
MOST_ROWS = 200
EDGES = 26  # pixels beside the text of a cell, both sides together
HEADING_EDGE = 8  # pixels that the style leaves beside a heading, besides the padding of a cell


class RowsModel(QAbstractTableModel):
    """Read-only texts under headings."""

    def __init__(
        self,
        headings: Sequence[str],
        rows: Sequence[Sequence[str]],
        *,
        numeric: Set[int] = frozenset(),
        marked: Set[tuple[int, int]] = frozenset(),
    ) -> None:
        super().__init__()
        self.marked_cells = marked
        self.wraps_headings = False  # on a second line, where a column is narrower
        self.tips: dict[int, str] = {}  # what is said of a heading, by column
        self.headings, self.rows, self.numeric = list(headings), [list(row) for row in rows], numeric

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.headings)

    def written(self, row: int, column: int) -> str:
        """Return the text of a cell."""
        return self.rows[row][column]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row, column = index.row(), index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self.written(row, column)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return words.pair(self.headings[column], self.written(row, column))
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if column in self.numeric else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return (row, column) in self.marked_cells if role == MARKED else None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal and role in (
            Qt.ItemDataRole.DisplayRole,
            Qt.ItemDataRole.AccessibleTextRole,
        ):
            return self.headings[section]
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.ToolTipRole:
            return self.tips.get(section)
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if section in self.numeric else Qt.AlignmentFlag.AlignLeft
            wraps = int(Qt.TextFlag.TextWordWrap) if self.wraps_headings else 0
            return int(side | Qt.AlignmentFlag.AlignVCenter) | wraps
        return None


class LinesModel(QAbstractTableModel):
    """One line for each column of a table, in fixed fields; knows no row of the table."""

    def __init__(self, fields: Sequence[str]) -> None:
        super().__init__()
        self.fields = tuple(fields)
        self.lines: list[Any] = []

    def show_lines(self, lines: Sequence[Any]) -> None:
        """Show other lines; the same columns are updated in place, so that the selection stays."""
        if [line.name for line in lines] == [line.name for line in self.lines]:
            changed = [place for place, line in enumerate(lines) if line != self.lines[place]]
            self.lines = list(lines)
            if changed:  # once for all of them: the table is laid out anew each time
                last = self.index(changed[-1], len(self.fields) - 1)
                self.dataChanged.emit(self.index(changed[0], 0), last)
            return
        self.beginResetModel()
        self.lines = list(lines)
        self.endResetModel()

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.lines)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.fields)


class FrameModel(RowsModel):
    """The first rows of a frame; missing cells are a dash, cells that did not fit are marked."""

    def __init__(self, frame: Any, marked: frozenset[tuple[int, str]] = frozenset()) -> None:
        first = frame.head(MOST_ROWS)
        numeric = frozenset(
            place for place, kind in enumerate(first.dtypes) if getattr(kind, "kind", "O") in "iuf"
        )
        super().__init__([str(name) for name in first.columns], (), numeric=numeric)
        self._missing = first.isna().to_numpy()
        self._cells = first.astype("str").to_numpy()
        self.marked = marked

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._cells)

    def written(self, row: int, column: int) -> str:
        if self._missing[row, column]:
            return "—"
        written = str(self._cells[row, column])
        return words.signed(written) if column in self.numeric else written

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == MARKED:
            return (index.row() + 1, self.headings[index.column()]) in self.marked
        if role == MISSING:
            return bool(self._missing[index.row(), index.column()])
        if role == Qt.ItemDataRole.AccessibleTextRole and self._missing[index.row(), index.column()]:
            return words.say("app.window.cell_missing", column=self.headings[index.column()])
        return super().data(index, role)


class LinesDelegate(QStyledItemDelegate):
    """Paints a cell: selection as a soft band, a line below each row, marked cells in the care colour."""

    padding = 12
    wraps = False  # long texts go on in a second line, for which the row has to be high enough

    def __init__(self, parent: QWidget | None = None, *, mono: frozenset[int] = frozenset()) -> None:
        super().__init__(parent)
        self.mono = mono

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        self.paint_ground(painter, option, index)
        self.paint_text(painter, option.rect, index, str(index.data() or ""), wrap=self.wraps)

    def paint_ground(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint everything behind the text."""
        tokens = theme.tokens()
        if index.data(MARKED):
            painter.fillRect(option.rect, tokens.colour("care_soft"))
        elif option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, tokens.colour("accent_soft"))
        painter.setPen(QPen(tokens.colour("line"), 1))
        painter.drawLine(option.rect.bottomLeft(), option.rect.bottomRight())
        if option.state & QStyle.StateFlag.State_HasFocus:
            edge = QRect(option.rect.left(), option.rect.top(), 3, option.rect.height() - 1)
            painter.fillRect(edge, tokens.colour("accent"))

    def paint_text(
        self,
        painter: QPainter,
        rect: QRect,
        index: Index,
        written: str,
        *,
        colour: str = "text",
        wrap: bool = False,
    ) -> None:
        """Paint a text within the padding of a cell."""
        tokens = theme.tokens()
        painter.setFont(mono_font() if index.column() in self.mono else text_font())
        quiet = index.data(MISSING)
        painter.setPen(tokens.colour("quiet" if quiet else "care" if index.data(MARKED) else colour))
        align = index.data(Qt.ItemDataRole.TextAlignmentRole)
        flags = int(
            align if align is not None else Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        )
        place = rect.adjusted(self.padding, 2, -self.padding, -2)
        if wrap:
            painter.drawText(place, flags | int(Qt.TextFlag.TextWordWrap), written)
        else:
            cut = painter.fontMetrics().elidedText(written, Qt.TextElideMode.ElideRight, place.width())
            painter.drawText(place, flags, cut)


class DataTable(QTableView):
    """A calm table: no grid, no corner, whole rows selected, columns as wide as they need up to a limit."""

    def __init__(
        self, name: str, parent: QWidget | None = None, *, mono: frozenset[int] = frozenset()
    ) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setItemDelegate(LinesDelegate(self, mono=mono))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(34)
        self.horizontalHeader().setHighlightSections(False)
        # Names often differ at their ends.
        self.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.horizontalHeader().setDefaultAlignment(
            Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        )
        self.horizontalHeader().setFixedHeight(36)
        self._kept: QAbstractTableModel | None = None
        self._filling: tuple[int, int, dict[int, int]] | None = None
        self._wanted: list[tuple[int, int]] = []

    def keep(self, model: QAbstractTableModel) -> None:
        """Show a model, which lives as long as the view does."""
        self._filling = None
        self._wanted = []
        self.setModel(model)
        self._kept = model

    def show_frame(self, frame: Any, marked: frozenset[tuple[int, str]] = frozenset()) -> None:
        """Show the first rows of a frame."""
        self.keep(FrameModel(frame, marked))
        self.fit_columns()

    def show_rows(
        self,
        headings: Sequence[str],
        rows: Sequence[Sequence[str]],
        *,
        numeric: Set[int] = frozenset(),
        marked: Set[tuple[int, int]] = frozenset(),
        tips: Mapping[int, str] | None = None,
    ) -> None:
        """Show texts under headings; ``marked`` cells (row, column) stand out; headings may have ``tips``."""
        model = RowsModel(headings, rows, numeric=numeric, marked=marked)
        model.tips.update(tips or {})
        self.keep(model)
        self.fit_columns()

    def fit_columns(self, narrowest: int = 72, widest: int = 260) -> None:
        """Make columns as wide as what they hold, within limits."""
        model, header = self.model(), self.horizontalHeader()
        assert isinstance(model, RowsModel)
        head_width, cell_width = QFontMetrics(text_font(12, 600)), QFontMetrics(text_font())
        for column, heading in enumerate(model.headings):
            cells = {model.written(place, column) for place in range(min(model.rowCount(), 40))}
            # The longest few in letters: to measure every cell takes longer than a person should wait.
            longest = sorted(cells, key=len)[-4:]
            widths = [cell_width.horizontalAdvance(text) for text in longest]
            head = max(head_width.horizontalAdvance(line) for line in heading.split("\n"))
            width = max(head + HEADING_EDGE, *widths, 0)
            header.resizeSection(column, max(narrowest, min(widest, width + EDGES)))
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)

    def give_room(self, narrowest: int, widest: int) -> None:
        """Keep columns within ``widest``, and let those that need more have the room that is left."""
        self.fit_columns(narrowest)
        header = self.horizontalHeader()
        needed = [header.sectionSize(column) for column in range(header.count())]
        self._wanted = [(min(one, widest), one) for one in needed]
        self._give()

    def _give(self) -> None:
        left = self.viewport().width() - sum(least for least, _ in self._wanted)
        lacking = sum(needed - least for least, needed in self._wanted)
        share = min(1.0, max(0, left) / lacking) if lacking else 0.0
        for column, (least, needed) in enumerate(self._wanted):
            self.horizontalHeader().resizeSection(column, least + int((needed - least) * share))

    def fill_with(self, column: int) -> None:
        """Let a column have the room that the others leave; where its heading needs more, they give way."""
        header, heading = (
            self.horizontalHeader(),
            str(self.model().headerData(column, Qt.Orientation.Horizontal)),
        )
        least = QFontMetrics(text_font(12, 600)).horizontalAdvance(heading) + HEADING_EDGE + EDGES
        others = {place: header.sectionSize(place) for place in range(header.count()) if place != column}
        self._filling = column, least, others
        self._fill()

    def _fill(self) -> None:
        if self._filling is None:
            return
        column, least, others = self._filling
        header, room = self.horizontalHeader(), self.viewport().width()
        widest = max(others.values(), default=0)
        while widest > least and room - sum(min(width, widest) for width in others.values()) < least:
            widest -= 1  # the widest give way first
        for place, width in others.items():
            header.resizeSection(place, min(width, widest))
        header.resizeSection(column, max(room - sum(min(width, widest) for width in others.values()), least))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fill()
        self._give()
