"""The table of columns: name, kind, values, four pills to answer its role, and why it was suggested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QFontMetrics,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStyleOptionViewItem, QWidget

from app import words
from app.parts.table import DataTable, Index, LinesDelegate, LinesModel
from app.theme import mono_font, text_font, theme
from engine.table.schema import Column, Role

FIELDS = ("name", "role", "kind", "values", "why")
ROLE = Qt.ItemDataRole.UserRole + 3
OPEN = Qt.ItemDataRole.UserRole + 4
BARS = Qt.ItemDataRole.UserRole + 5
GUARDED = Qt.ItemDataRole.UserRole + 6
BAND = Qt.ItemDataRole.UserRole + 7
PICTURE, BAR = 58, 6  # pixels of a small picture, and of a bar in it
NO_PICTURE = 180  # width of the values under which there is none
LEAST_HEIGHT = 200
LINE, LOW_LINE = 33, 26  # height of a line: two of small words, or one
ABOVE, LOW_ABOVE = 21, 18  # height of the band above the first line of a group
GROUPS = {
    "asked": ("care_soft", "care"),
    "guarded": ("wrong_soft", "wrong"),
    "proposed": ("background", "quiet"),
    "settled": ("background", "quiet"),
}
"""What comes first, with the ground and the ink of its band."""
NO_KIND, NO_REASON = 900, 700  # widths under which a column of the table gives way
VALUES = 0.42  # of the room that values and reasons share
LEAST_VALUES = 100
ANSWER_KEYS = {
    Qt.Key.Key_I: Role.IDENTIFYING,
    Qt.Key.Key_S: Role.SENSITIVE,
    Qt.Key.Key_O: Role.OTHER,
    Qt.Key.Key_L: Role.DROPPED,
}
"""One letter, or one pill, answers all selected lines."""
PILL = 24  # height of the pills
AIR = 20  # pixels of air in a pill, both sides together
VIEWED = (0, 2, 3, 1, 4)
"""The order in which fields stand side by side: the role beside its reason."""


def pill_of(role: Role) -> Role | None:
    """Return the pill that stands for a role; None where nobody knows one."""
    if role is Role.NOT_RECOGNISED:
        return None
    near = {
        **dict.fromkeys((Role.PLACE, Role.TIME), Role.IDENTIFYING),
        **dict.fromkeys((Role.PERSON_KEY, Role.DIRECT_IDENTIFIER), Role.DROPPED),
        Role.WEIGHT: Role.OTHER,
    }
    return near.get(role, role)


def pill_words(role: Role, pill: Role) -> str:
    """Return what stands on a pill: the exact role on the one that stands for it."""
    said = role if pill_of(role) is pill and role is not Role.PERSON_KEY else pill
    return words.say(f"app.columns.pill.{said.value}")


def pill_widths() -> dict[Role, int]:
    """Return how wide each pill is: as the longest of what it may say."""
    metrics, found = QFontMetrics(text_font(12, 600)), {}
    for pill in ANSWER_KEYS.values():
        roles = [role for role in Role if pill_of(role) is pill]
        found[pill] = AIR + max(metrics.horizontalAdvance(pill_words(role, pill)) for role in roles)
    return found


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
    band: str = ""
    """The group that begins with this line; empty for the others of it."""

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


class ColumnsModel(LinesModel):
    """Lines of the schema."""

    lines: list[Line]

    def __init__(self) -> None:
        super().__init__(FIELDS)

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
        if role == BAND:
            return line.band
        if role == Qt.ItemDataRole.DisplayRole:
            return self.written(line, field)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            text = self.written(line, field)
            if field == "role" and line.undecided:
                text = words.say("app.columns.chip_open", role=text)
            if field == "name" and line.band:
                text = f"{self.band_words(index.row())}. {text}"
            return words.pair(words.say(f"app.columns.head.{field}"), text)
        if role == Qt.ItemDataRole.ToolTipRole and field in ("name", "values", "why"):
            return words.tip(self.written(line, field))
        return None

    def group_of(self, place: int) -> range:
        """Return the places of the lines under the band that a line stands under; all where there is none."""
        first = next((at for at in range(place, -1, -1) if self.lines[at].band), 0)
        following = (at for at in range(place + 1, len(self.lines)) if self.lines[at].band)
        return range(first, next(following, len(self.lines)))

    def band_words(self, place: int) -> str:
        """Return what a band says, and how many columns a click on it selects where these are several."""
        said = words.say(f"app.columns.band.{self.lines[place].band}")
        count = sum(1 + len(self.lines[at].alike) for at in self.group_of(place))
        return said if count == 1 else f"{said} · {words.say('app.columns.band_all', count=count)}"

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
    """Pills in the column of roles, wrapped reasons in the last."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, mono=frozenset({0}))
        self.line, self.above = LINE, ABOVE

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        option = QStyleOptionViewItem(option)
        if index.data(BAND):
            self._band(painter, option, index)
            option.rect = option.rect.adjusted(0, self.above, 0, 0)
        self.paint_ground(painter, option, index)
        written = str(index.data() or "")
        if FIELDS[index.column()] == "role":
            self._pills(painter, option.rect, Role(index.data(ROLE)), index)
        else:
            quiet = FIELDS[index.column()] == "why"
            wrap = FIELDS[index.column()] in ("why", "values")
            colour = "quiet" if quiet else "text"
            if quiet and index.data(GUARDED):
                colour = "wrong"
            place, bars = option.rect, index.data(BARS) if FIELDS[index.column()] == "values" else ()
            if bars and self.has_room(written, place):
                self._picture(painter, place, bars)
                place = place.adjusted(0, 0, -PICTURE - self.padding, 0)
            if wrap:
                self._two_lines(painter, place, written, colour)
            else:
                self.paint_text(painter, place, index, written, colour=colour)

    def _band(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint what a group is above its first line; the words run on through all cells."""
        place, (ground, ink) = QRect(option.rect), GROUPS[str(index.data(BAND))]
        place.setHeight(self.above)
        painter.save()
        painter.setClipRect(place)
        painter.fillRect(place, theme.tokens().colour(ground))
        painter.setFont(text_font(12, 600))
        painter.setPen(theme.tokens().colour(ink))
        model = index.model()
        assert isinstance(model, ColumnsModel)
        said = model.band_words(index.row())
        across = painter.fontMetrics().horizontalAdvance(said) + 2
        whole = QRect(self.padding, place.top(), across, self.above)
        painter.drawText(whole, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, said)
        painter.restore()

    def _two_lines(self, painter: QPainter, rect: QRect, written: str, colour: str) -> None:
        """Paint small words on at most two lines, on one where lines are low."""
        place = rect.adjusted(self.padding, 1, -self.padding, -1)
        painter.setFont(text_font(12))
        painter.setPen(theme.tokens().colour(colour))
        metrics, wraps = painter.fontMetrics(), int(Qt.TextFlag.TextWordWrap)
        most = self.lines_at(rect.height())
        room, said = most * place.width(), written
        while metrics.boundingRect(place, wraps, said).height() > most * metrics.lineSpacing() and room > 40:
            room -= 12
            said = metrics.elidedText(written, Qt.TextElideMode.ElideRight, room)
        painter.drawText(place, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft) | wraps, said)

    def has_room(self, written: str, place: QRect) -> bool:
        """Say whether the small picture has room beside the words: they are never cut for it."""
        metrics, most = QFontMetrics(text_font(12)), self.lines_at(place.height())
        left = place.adjusted(self.padding, 1, -PICTURE - 2 * self.padding, -1)
        said = metrics.boundingRect(left, int(Qt.TextFlag.TextWordWrap), written)
        fits = said.width() <= left.width() and said.height() <= most * metrics.lineSpacing()
        return fits and place.width() >= NO_PICTURE

    def lines_at(self, high: int) -> int:
        """Return how many lines of small words a line of the table has room for."""
        return (
            1 if self.line != LINE else 2 + max(0, high - LINE) // QFontMetrics(text_font(12)).lineSpacing()
        )

    def needed(self, written: str, width: int) -> int:
        """Return how high a line is that shows a reason whole."""
        metrics, place = QFontMetrics(text_font(12)), QRect(0, 0, width - 2 * self.padding, 0)
        box = metrics.boundingRect(place, int(Qt.TextFlag.TextWordWrap), written)
        return self.line + max(0, box.height() // metrics.lineSpacing() - 2) * metrics.lineSpacing()

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

    def pills(self, rect: QRect, high: int) -> list[tuple[Role, QRectF]]:
        """Return where each pill stands in a cell, at whose end is a line so high."""
        widths, left = pill_widths(), rect.left() + self.padding + 0.5
        share = min(1.0, (rect.width() - 2 * self.padding) / sum(widths.values()))
        below = (high - PILL) / 2
        found, top = [], rect.bottom() + 1 - below - PILL  # of the line, not of a band above it
        for pill, width in widths.items():
            found.append((pill, QRectF(left, top, width * share, PILL)))
            left += width * share
        return found

    def _pills(self, painter: QPainter, rect: QRect, role: Role, index: Index) -> None:
        """Paint the four answers: open ones empty, a proposal tinted, a decision filled, a guard in red."""
        tokens, taken, letters = theme.tokens(), pill_of(role), {its: key for key, its in ANSWER_KEYS.items()}
        open_, guarded = bool(index.data(OPEN)), bool(index.data(GUARDED))
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        places = self.pills(rect, rect.height())
        whole = places[0][1].united(places[-1][1])
        outline = QPainterPath()
        outline.addRoundedRect(whole, 7, 7)
        painter.fillPath(outline, tokens.colour("surface"))
        for pill, place in places:
            on = pill is taken
            ground, ink = (None, "quiet" if guarded else "text")
            if on and guarded:
                ground, ink = "wrong_soft", "wrong"
            elif on and open_:
                ground, ink = "accent_soft", "accent"
            elif on:
                ground, ink = "accent", "on_accent"
            if ground is not None:
                painter.setClipPath(outline)
                painter.fillRect(place, tokens.colour(ground))
                painter.setClipping(False)
            painter.setFont(text_font(12, 600 if on else 400))
            painter.setPen(tokens.colour(ink))
            said = pill_words(role, pill)
            metrics = painter.fontMetrics()
            said = metrics.elidedText(said, Qt.TextElideMode.ElideRight, int(place.width()) - 6)
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, said)
            letter = chr(letters[pill].value)
            if not on and said.startswith(letter):  # the letter that answers
                left = place.center().x() - metrics.horizontalAdvance(said) / 2
                below = place.center().y() + metrics.ascent() / 2 + 1.5
                painter.drawLine(
                    QPointF(left, below), QPointF(left + metrics.horizontalAdvance(letter) - 1, below)
                )
        painter.setPen(QPen(tokens.colour("wrong" if guarded else "edge"), 1))
        for _, place in places[1:]:
            painter.drawLine(place.topLeft(), place.bottomLeft())
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(outline)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(60, self.line)


class ColumnsTable(DataTable):
    """Several lines at once with Shift or Ctrl; Enter accepts, a letter or pill answers, M opens the menu.

    A click on a band selects its columns; so does Ctrl+A for the line in hand, and pressed again all.
    """

    accepted = Signal()
    all_accepted = Signal()
    answered = Signal(object)
    answered_by_key = Signal(object)
    menu_wanted = Signal()
    unit_wanted = Signal()
    unfolded = Signal(str, bool)  # the group of a column: its members one by one, or together again

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, parent)
        self._pills = ColumnsDelegate(self)
        self.setItemDelegate(self._pills)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().setDefaultSectionSize(LINE)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(lambda place: self.menu_wanted.emit())
        self.columns = ColumnsModel()
        self.keep(self.columns)
        for changed in (self.columns.dataChanged, self.columns.modelReset):
            changed.connect(lambda *_: self.fit())
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        for place, field in enumerate(VIEWED):
            self.horizontalHeader().moveSection(self.horizontalHeader().visualIndex(field), place)

    def set_low(self, wanted: bool) -> None:
        """Stand in a low window: lower lines, and no headings."""
        self._pills.line, self._pills.above = (LOW_LINE, LOW_ABOVE) if wanted else (LINE, ABOVE)
        self.horizontalHeader().setVisible(not wanted)
        self.fit()

    def selected(self) -> list[str]:
        """Return the names of the selected columns with those that look alike, in the order of the table."""
        places = sorted(index.row() for index in self.selectionModel().selectedRows())
        lines = [self.columns.lines[place] for place in places]
        return [name for line in lines for name in (line.name, *line.alike)]

    def fit(self) -> None:
        """Share the width out, and what height is left among red lines whose reason is long.

        What is longer stands in full on the right-hand side.
        """
        width = self.viewport().width()
        if width < 50 or not self.columns.lines:
            return
        names = QFontMetrics(mono_font())
        longest = max(names.horizontalAdvance(line.title) for line in self.columns.lines)
        first = min(max(110, longest + 28), 190 if width < NO_KIND else 320)
        kinds = max(
            QFontMetrics(text_font()).horizontalAdvance(words.say(f"app.kinds.{kind.value}"))
            for kind in {line.column.kind for line in self.columns.lines}
        )
        pills = min(sum(pill_widths().values()) + 24, max(width - first - LEAST_VALUES, 220))
        widths = [first, pills, max(82, kinds + 26)]
        narrow = width < NO_REASON
        for field, least in ((2, NO_KIND), (4, NO_REASON)):  # both stand on the right-hand side, too
            self.setColumnHidden(field, width < least)
        if width < NO_KIND:
            widths[2] = 0
        rest = max(width - sum(widths), 120)
        widths += [rest, 0] if narrow else [round(rest * VALUES), rest - round(rest * VALUES)]
        for column, wanted in enumerate(widths):
            self.horizontalHeader().resizeSection(column, wanted)
        lines, head = self.columns.lines, self.horizontalHeader()
        talls = [self._pills.line + (self._pills.above if line.band else 0) for line in lines]
        least = (0 if head.isHidden() else head.height()) + sum(talls) + 2
        more = [
            self._pills.needed(line.why, widths[4]) - LINE
            if line.guarded and widths[4] and self._pills.line == LINE
            else 0
            for line in lines
        ]
        self.setMinimumHeight(min(least, LEAST_HEIGHT))
        self.setMaximumHeight(least + sum(more))
        room = self.height() - least
        for place, tall in enumerate(talls):
            grows = more[place] if more[place] <= room else 0  # why it names people is read whole
            room -= grows
            if self.verticalHeader().sectionSize(place) != tall + grows:
                self.verticalHeader().resizeSection(place, tall + grows)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def pill_at(self, place: QPoint) -> Role | None:
        """Return the pill at a place, or None beside them."""
        index = self.indexAt(place)
        if not index.isValid() or FIELDS[index.column()] != "role":
            return None
        found = self.pills_of(index)
        return next((pill for pill, where in found if where.contains(QPointF(place))), None)

    def pills_of(self, index: Index) -> list[tuple[Role, QRectF]]:
        """Return where each pill of a line stands."""
        rect = self.visualRect(index)
        return self._pills.pills(rect, rect.height() - (self._pills.above if index.data(BAND) else 0))

    def select_group(self, place: int) -> None:
        """Select the lines that stand under one band, so that one answer is theirs."""
        group, flags = self.columns.group_of(place), QItemSelectionModel.SelectionFlag
        lines = QItemSelection(self.columns.index(group[0], 0), self.columns.index(group[-1], 0))
        self.selectionModel().setCurrentIndex(self.columns.index(group[0], 0), flags.NoUpdate)
        self.selectionModel().select(lines, flags.ClearAndSelect | flags.Rows)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Keep several lines selected where one of their pills is pressed; take a whole group by its band."""
        index = self.indexAt(event.position().toPoint())
        below = self.visualRect(index).top() + self._pills.above
        if index.data(BAND) and event.position().y() < below and not event.modifiers():
            self.select_group(index.row())
            return
        pill = self.pill_at(event.position().toPoint())
        if pill is not None and self.selectionModel().isRowSelected(index.row(), QModelIndex()):
            return
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        pill = self.pill_at(event.position().toPoint())
        if pill is not None and event.button() == Qt.MouseButton.LeftButton and not event.modifiers():
            self.answered.emit(pill)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        place = self.currentIndex().row()
        if event.matches(QKeySequence.StandardKey.SelectAll) and place >= 0:
            group = self.columns.group_of(place)
            if [one.row() for one in sorted(self.selectionModel().selectedRows())] == list(group):
                super().keyPressEvent(event)
            else:
                self.select_group(place)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.accepted.emit()
        elif event.key() == Qt.Key.Key_A and not event.modifiers():
            self.all_accepted.emit()
        elif event.key() == Qt.Key.Key_U:
            self.unit_wanted.emit()
        elif event.key() == Qt.Key.Key_M:
            self.menu_wanted.emit()
        elif event.key() in ANSWER_KEYS and not event.modifiers():
            self.answered_by_key.emit(ANSWER_KEYS[Qt.Key(event.key())])
        elif event.key() in (Qt.Key.Key_Right, Qt.Key.Key_Left) and self.currentIndex().isValid():
            line = self.columns.lines[self.currentIndex().row()]
            self.unfolded.emit(line.name, event.key() == Qt.Key.Key_Right)
        else:
            super().keyPressEvent(event)
