"""The table of columns: name, role as a chip, kind, values, and why it was suggested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStyleOptionViewItem, QWidget

from app import words
from app.parts.table import DataTable, LinesDelegate
from app.theme import mono_font, text_font, theme
from engine.table.schema import Column, Role

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
FIELDS = ("name", "role", "kind", "values", "why")
ROLE = Qt.ItemDataRole.UserRole + 3
OPEN = Qt.ItemDataRole.UserRole + 4
BARS = Qt.ItemDataRole.UserRole + 5
GUARDED = Qt.ItemDataRole.UserRole + 6
PICTURE, BAR = 58, 6  # pixels of a small picture, and of a bar in it
NO_PICTURE = 180  # width of the values under which there is none
# Ground and text of a chip; None is no ground but an edge.
CHIPS: dict[Role, tuple[str | None, str]] = {
    Role.PERSON_KEY: ("text", "surface"),
    Role.DIRECT_IDENTIFIER: ("wrong_soft", "wrong"),
    Role.IDENTIFYING: ("accent_soft", "accent"),
    Role.PLACE: ("accent_soft", "accent"),
    Role.TIME: ("accent_soft", "accent"),
    Role.SENSITIVE: ("care_soft", "care"),
    Role.WEIGHT: (None, "quiet"),
    Role.OTHER: (None, "quiet"),
    Role.DROPPED: (None, "quiet"),
    Role.NOT_RECOGNISED: (None, "text"),
}

LEAST_HEIGHT = 200
LINE = 32  # height of a line
NO_KIND, NO_REASON = 900, 700  # widths under which a column of the table gives way
VALUES = 0.46  # of the room that values and reasons share
ANSWER_KEYS = {
    Qt.Key.Key_I: Role.IDENTIFYING,
    Qt.Key.Key_S: Role.SENSITIVE,
    Qt.Key.Key_O: Role.OTHER,
    Qt.Key.Key_L: Role.DROPPED,
}
"""One letter answers all selected lines."""


@dataclass(frozen=True)
class Line:
    """One column as it is shown."""

    column: Column
    values: str
    why: str
    undecided: bool
    alike: tuple[str, ...] = ()
    """Names of further columns that look alike and take the same answer."""
    bars: tuple[float, ...] = ()
    """How the values are spread, as heights up to 1; for the custodian's eyes."""
    guarded: bool = False
    """Whether it names single people: as it stands, it never leaves without a reason."""

    @property
    def name(self) -> str:
        """The name in the table."""
        return self.column.name

    @property
    def title(self) -> str:
        """The name, and how many columns stand behind it."""
        if not self.alike:
            return self.name
        return words.say("app.columns.and_more", name=self.name, count=len(self.alike))


class ColumnsModel(QAbstractTableModel):
    """Lines of the schema; knows no row of the table."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[Line] = []

    def show_lines(self, lines: Sequence[Line]) -> None:
        """Show other lines; the same columns are updated in place, so that the selection stays."""
        if [line.name for line in lines] == [line.name for line in self.lines]:
            changed = [place for place, line in enumerate(lines) if line != self.lines[place]]
            self.lines = list(lines)
            if changed:  # once for all of them: the table is laid out anew each time
                self.dataChanged.emit(self.index(changed[0], 0), self.index(changed[-1], len(FIELDS) - 1))
            return
        self.beginResetModel()
        self.lines = list(lines)
        self.endResetModel()

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.lines)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(FIELDS)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        line, field = self.lines[index.row()], FIELDS[index.column()]
        if role == ROLE:
            return line.column.role
        if role == OPEN:
            return line.undecided
        if role == BARS:
            return line.bars
        if role == GUARDED:
            return line.guarded
        if role == Qt.ItemDataRole.DisplayRole:
            return self.written(line, field)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            text = self.written(line, field)
            if field == "role" and line.undecided:
                text = words.say("app.columns.chip_open", role=text)
            return f"{words.say(f'app.columns.head.{field}')}: {text}"
        return None

    @staticmethod
    def written(line: Line, field: str) -> str:
        """Return the text of a cell."""
        if field == "role":
            return words.say(f"app.roles.{line.column.role.value}.name")
        if field == "kind":
            return words.say(f"app.kinds.{line.column.kind.value}")
        return {"name": line.title, "values": line.values, "why": line.why}[field]

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return words.say(f"app.columns.head.{FIELDS[section]}")
        return None


class ColumnsDelegate(LinesDelegate):
    """Chips in the second column, wrapped reasons in the last."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, mono=frozenset({0}))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        self.paint_ground(painter, option, index)
        written = str(index.data() or "")
        if FIELDS[index.column()] == "role":
            guarded = bool(index.data(GUARDED))
            self._chip(painter, option, written, Role(index.data(ROLE)), bool(index.data(OPEN)), guarded)
        else:
            quiet = FIELDS[index.column()] == "why"
            wrap = FIELDS[index.column()] in ("why", "values")
            colour = "quiet" if quiet else "text"
            if quiet and index.data(GUARDED):
                colour = "wrong"
            place, bars = option.rect, index.data(BARS) if FIELDS[index.column()] == "values" else ()
            if bars and place.width() >= NO_PICTURE:
                self._picture(painter, place, bars)
                place = place.adjusted(0, 0, -PICTURE - self.padding, 0)
            self.paint_text(painter, place, index, written, colour=colour, wrap=wrap)

    def _picture(self, painter: QPainter, place: QRect, bars: Sequence[float]) -> None:
        """Paint how the values are spread: bars on one line, at the right of the cell."""
        step = min(BAR + 2.0, PICTURE / len(bars))
        left, bottom = place.right() - self.padding - step * len(bars), place.center().y() + 10
        painter.save()
        painter.setPen(Qt.PenStyle.NoPen)
        fill = theme.tokens().colour("accent")
        fill.setAlphaF(0.75)
        painter.setBrush(fill)
        for at, share in enumerate(bars):
            height = max(20 * share, 1.0)
            painter.drawRect(QRectF(left + at * step, bottom - height, max(step - 2, 1.5), height))
        painter.restore()

    def _chip(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        written: str,
        role: Role,
        undecided: bool,
        guarded: bool,
    ) -> None:
        tokens = theme.tokens()
        ground, ink = ("wrong_soft", "wrong") if guarded else CHIPS[role]
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(text_font(12, 600))
        width = painter.fontMetrics().horizontalAdvance(written) + 20
        place = QRectF(option.rect.left() + self.padding + 0.5, option.rect.center().y() - 10.5, width, 22)
        if undecided:
            edge = QColor(tokens.colour("text" if role is Role.PERSON_KEY else ink))
            unknown = role is Role.NOT_RECOGNISED  # dashed: not even a proposal
            dash = Qt.PenStyle.DashLine if unknown else Qt.PenStyle.SolidLine
            painter.setPen(QPen(tokens.colour("quiet") if unknown else edge, 1, dash))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(place, 11, 11)
            painter.setPen(edge)
        else:
            painter.setPen(QPen(tokens.colour("line"), 1) if ground is None else Qt.PenStyle.NoPen)
            painter.setBrush(tokens.colour(ground) if ground is not None else tokens.colour("surface"))
            painter.drawRoundedRect(place, 11, 11)
            painter.setPen(tokens.colour(ink))
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, written)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(60, LINE)


class ColumnsTable(DataTable):
    """Several lines at once with Shift or Ctrl; Enter accepts, a letter answers, the menu key marks."""

    accepted = Signal()
    answered = Signal(object)
    menu_wanted = Signal()
    unit_wanted = Signal()
    unfolded = Signal(str, bool)  # the group of a column: its members one by one, or together again

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, parent)
        self.setItemDelegate(ColumnsDelegate(self))
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().setDefaultSectionSize(LINE)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(lambda place: self.menu_wanted.emit())
        self._heights: dict[tuple[str, int, int], int] = {}
        self.columns = ColumnsModel()
        self.keep(self.columns)
        for changed in (self.columns.dataChanged, self.columns.modelReset):
            changed.connect(lambda *_: self.fit())
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)

    def selected(self) -> list[str]:
        """Return the names of the selected columns with those that look alike, in the order of the table."""
        places = sorted(index.row() for index in self.selectionModel().selectedRows())
        lines = [self.columns.lines[place] for place in places]
        return [name for line in lines for name in (line.name, *line.alike)]

    def fit(self) -> None:
        """Share the width out, and give lines with long reasons a second row."""
        width = self.viewport().width()
        if width < 50 or not self.columns.lines:
            return
        names = QFontMetrics(mono_font())
        longest = max(names.horizontalAdvance(line.title) for line in self.columns.lines)
        chip = QFontMetrics(text_font(12, 600))
        chips = max(
            chip.horizontalAdvance(words.say(f"app.roles.{role.value}.name"))
            for role in {line.column.role for line in self.columns.lines}
        )
        first = min(max(110, longest + 28), 214)
        kinds = max(
            QFontMetrics(text_font()).horizontalAdvance(words.say(f"app.kinds.{kind.value}"))
            for kind in {line.column.kind for line in self.columns.lines}
        )
        widths = [first, chips + 46, max(82, kinds + 26)]
        narrow = width < NO_REASON
        for field, least in ((2, NO_KIND), (4, NO_REASON)):  # both stand on the right-hand side, too
            self.setColumnHidden(field, width < least)
        if width < NO_KIND:
            widths[2] = 0
        rest = max(width - sum(widths), 120)
        widths += [rest, 0] if narrow else [round(rest * VALUES), rest - round(rest * VALUES)]
        for column, wanted in enumerate(widths):
            self.horizontalHeader().resizeSection(column, wanted)
        metrics = QFontMetrics(text_font())
        for place, line in enumerate(self.columns.lines):
            height = max(
                self._height(metrics, text, max(room - 24, 40))
                for text, room in (
                    (line.values, widths[3] - (PICTURE + 12 if line.bars and widths[3] >= NO_PICTURE else 0)),
                    (line.why if widths[4] else "", widths[4] or 400),
                )
            )
            self.setRowHeight(place, max(LINE, height + 12))
        height = self.horizontalHeader().height() + self.verticalHeader().length() + 2
        self.setMinimumHeight(min(height, LEAST_HEIGHT))
        self.setMaximumHeight(height)

    def _height(self, metrics: QFontMetrics, text: str, room: int) -> int:
        """Return how high a text is in a width; measured once: every decision lays the table out anew."""
        key = (text, room, metrics.height())
        if key not in self._heights:
            box = metrics.boundingRect(0, 0, room, 1000, Qt.TextFlag.TextWordWrap, text)
            self._heights[key] = box.height()
        return self._heights[key]

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.accepted.emit()
        elif event.key() == Qt.Key.Key_U:
            self.unit_wanted.emit()
        elif event.key() == Qt.Key.Key_M:
            self.menu_wanted.emit()
        elif event.key() in ANSWER_KEYS and not event.modifiers():
            self.answered.emit(ANSWER_KEYS[Qt.Key(event.key())])
        elif event.key() in (Qt.Key.Key_Right, Qt.Key.Key_Left) and self.currentIndex().isValid():
            line = self.columns.lines[self.currentIndex().row()]
            self.unfolded.emit(line.name, event.key() == Qt.Key.Key_Right)
        else:
            super().keyPressEvent(event)
