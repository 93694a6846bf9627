"""The second glance: one line for each way, with nothing but what differs between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QLabel, QRadioButton, QVBoxLayout, QWidget

from app import words
from app.parts.cards import Card, pill
from app.parts.making import STRETCH, add, align_left, hidden, make_column, make_label, make_row, name_widget
from app.parts.plot import ShareBar
from app.parts.prose import Heading, Prose
from app.theme import polish, text_font

COLUMNS = {"promise": 140, "slack": 58, "keeps": 138, "off": 106, "seconds": 44}
"""What may differ, and how wide its column is."""
BRIEF = ("holds",)
GIVES_WAY = ("keeps", "promise")  # what stands below the name where there is little room
NAME = 210  # the least width of a name
SPACING, EDGE = 13, 16
CIRCLE = 20
MADE_AT_ONCE, PAUSE = 2, 5  # lines in one turn of the event loop, and milliseconds until the next


@dataclass(frozen=True)
class Way:
    """One line. ``against`` says why it does not fit; empty where it does."""

    id: str
    title: str
    thing: str
    promise: str
    slack: str
    keeps: str
    off: str = ""
    share: float | None = None  # of the bar beside it
    seconds: str = ""
    against: str = ""
    best: str = ""  # by what it stands first
    care: bool = False  # the slack is there
    holds: str = ""  # what the recipient holds, in one line

    def says(self, column: str) -> str:
        """Return what stands in a column."""
        return str(getattr(self, column))


def differing(ways: Sequence[Way]) -> tuple[str, ...]:
    """Return the columns in which ways differ, beside what was tried; all where nothing is compared."""
    if len(ways) < 2 or not ways[0].off:
        return ("promise", "slack", "keeps")
    return tuple(
        name for name in COLUMNS if len({way.says(name) for way in ways}) > 1 or name in ("off", "seconds")
    )


class WayRow(QFrame):
    """A line that is chosen by its circle, by a click anywhere on it, or by arrows."""

    used = Signal()

    def __init__(self, way: Way) -> None:
        super().__init__()
        self.way = way
        self.setObjectName(f"way-{way.id}")
        self.setProperty("way", "true")
        self._line = make_row(inside=self, spacing=SPACING, margins=(EDGE - 3, 9, EDGE, 9))
        self.button = name_widget(QRadioButton(), f"method-{way.id}", way.title)
        self.button.setProperty("method", way.id)
        self.button.toggled.connect(self._mark)
        self.button.setFixedWidth(CIRCLE)
        self.name = Heading(words.firm(way.title), size="card")
        self.name.setFont(text_font(14, 600))
        self.best = hidden(pill("usual"))
        self.best.setProperty("pill", "bounded")
        self.below = Prose(tone="quiet", pixels=12)
        self.against = Prose(tone="care", pixels=12)
        parts = (self.name, align_left(self.best), self.below, self.against)
        column = make_column(STRETCH, *parts, STRETCH, spacing=3)
        add(self._line, self.button, (column, 1))
        self.cells: dict[str, QLabel] = {}
        self.bar = ShareBar(6)
        self.bar.setFixedWidth(58)
        for name in COLUMNS:
            made: QLabel = make_label(pixels=13) if name in ("off", "seconds") else Prose()
            self.cells[name] = made
            if name == "off":
                made.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                made.setFont(text_font(13, 600))
                part = QWidget()
                add(make_row(inside=part, spacing=8, margins=0), (made, 1), self.bar)
                self._off = part
            elif name == "seconds":
                made.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            shown: QWidget = self._off if name == "off" else made
            shown.setFixedWidth(COLUMNS[name])
            self._line.addWidget(shown, 0, Qt.AlignmentFlag.AlignVCenter)
        self._columns: tuple[str, ...] = ()
        self._fill()

    def show_way(self, way: Way) -> None:
        """Show the same way beside other answers, or what came out of trying it."""
        if way != self.way:
            self.way = way
            self._fill()
            self.lay(self._columns, self._given)

    def lay(self, columns: Sequence[str], given: Sequence[str]) -> None:
        """Show columns, and below the name what had to give way; `BRIEF` alone: what the recipient holds."""
        self._columns, self._given = tuple(columns), tuple(given)
        for name, cell in self.cells.items():
            part = self._off if name == "off" else cell
            part.setVisible(name in columns)
        thing = "" if tuple(given) == BRIEF else self.way.thing
        below = " · ".join(filter(None, (thing, *(self.way.says(name) for name in given))))
        self.below.setVisible(bool(below))
        self.below.say(below)

    _given: tuple[str, ...] = ()

    def _fill(self) -> None:
        way = self.way
        for name, cell in self.cells.items():
            if isinstance(cell, Prose):
                cell.say(way.says(name))
            else:
                cell.setText(way.says(name))
        slack = self.cells["slack"]
        assert isinstance(slack, Prose)
        slack.set_tone("care" if way.care else "")
        self.bar.setVisible(way.share is not None)
        self.bar.show_share(way.share or 0.0, colours=("line", "accent" if way.best else "accent_pale"))
        self.best.setVisible(bool(way.best))
        self.best.setText(way.best)
        self.against.say(way.against)
        self.against.setVisible(bool(way.against))
        told = [
            words.pair(words.say(f"app.method.ways.{name}"), way.says(name))
            for name in COLUMNS
            if way.says(name)
        ]
        self.button.setAccessibleDescription(". ".join((*told, way.against)).strip(". "))

    def _mark(self, on: bool) -> None:
        self.setProperty("chosen", on)
        polish(self)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.button.setFocus(Qt.FocusReason.MouseFocusReason)
        self.button.click()
        super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.used.emit()


class Ways(Card):
    """All lines below their headings; ``chosen`` tells the id of the one selected, ``used`` takes it."""

    chosen = Signal(str)
    used = Signal()
    made = Signal(object)  # a row, once

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("ways")
        self.body.setContentsMargins(1, 1, 1, 1)
        self.body.setSpacing(0)
        self.rows: list[WayRow] = []
        self._made: dict[str, WayRow] = {}  # by what answers leave as it is: a line takes long to make
        self._waiting: list[Way] = []
        self.group = QButtonGroup(self)
        self.group.buttonClicked.connect(lambda button: self.chosen.emit(button.property("method")))
        self._shown: tuple[Way, ...] = ()
        self._columns: tuple[str, ...] = tuple(COLUMNS)
        self._is_brief = False
        self.head = self._make_head()
        self._column: QVBoxLayout = make_column(spacing=0)
        add(self.body, self.head, self._column)

    def _make_head(self) -> QWidget:
        head = QFrame()
        head.setProperty("way", "true")
        line = make_row(inside=head, spacing=SPACING, margins=(EDGE - 3, 10, EDGE, 8))
        name = Prose(f"**{words.say('app.method.ways.way')}**", tone="quiet", pixels=12)
        name.setContentsMargins(CIRCLE + SPACING, 0, 0, 0)
        line.addWidget(name, 1, Qt.AlignmentFlag.AlignBottom)
        self._heads: dict[str, Prose] = {}
        for column, wide in COLUMNS.items():
            label = Prose(f"**{words.say(f'app.method.ways.{column}')}**", tone="quiet", pixels=12)
            label.setFixedWidth(wide)
            if column in ("off", "seconds"):
                label.setAlignment(Qt.AlignmentFlag.AlignRight)
            line.addWidget(label, 0, Qt.AlignmentFlag.AlignBottom)
            self._heads[column] = label
        return head

    def show_ways(self, ways: Sequence[Way], selected: str, *, brief: bool = False) -> None:
        """Show other lines, or the same with other words, and select one; ``brief`` shows no columns."""
        if tuple(ways) != self._shown or brief != self._is_brief:
            self._is_brief = brief
            self._waiting.clear()
            same = [way.id for way in ways] == [row.way.id for row in self.rows]
            was_hidden = self.isHidden()
            focus = next((row for row in self.rows if row.button.hasFocus()), None)
            if not same:
                self.hide()  # or the whole page would be laid out for each line that is shown
            before, self.rows = self.rows, [self._row(way) for way in ways]
            for row in {*before, *self._made.values()} - {*self.rows}:
                row.hide()
            for place, row in enumerate(self.rows):
                self._put(place, row)
            self._shown = tuple(ways)
            self._lay()
            if not same:
                self.setHidden(was_hidden)
            if focus is not None and focus in self.rows:
                focus.button.setFocus(Qt.FocusReason.OtherFocusReason)
        self.group.setExclusive(False)
        for row in self._made.values():
            row.button.setChecked(row in self.rows and row.way.id == selected)
        self.group.setExclusive(True)

    def _put(self, place: int, row: WayRow) -> None:
        if self._column.indexOf(row) != place:
            self._column.insertWidget(place, row)
        row.show()

    def _lay(self) -> None:
        """Show the columns that differ and have room; what has none stands below the names."""
        self.head.setVisible(not self._is_brief)
        if self._is_brief:
            for row in self.rows:
                row.lay((), BRIEF)
            return
        columns = list(differing(self._shown))
        given = []
        for name in GIVES_WAY:
            needed = CIRCLE + SPACING + NAME + 2 * EDGE + sum(COLUMNS[one] + SPACING for one in columns)
            if name in columns and needed > self.width():
                columns.remove(name)
                given.append(name)
        for name, label in self._heads.items():
            label.setVisible(name in columns)
        for row in self.rows:
            row.lay(columns, given[::-1])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._lay()

    def make_ready(self, ways: Sequence[Way]) -> None:
        """Make the lines that may be shown, a few in each turn of the event loop, while nobody waits."""
        self._waiting = [] if self._shown else list(ways)
        QTimer.singleShot(0, self, self._make_some)

    def _make_some(self) -> None:
        for way in self._waiting[:MADE_AT_ONCE]:
            row = self._row(way)
            self._put(len(self.rows), row)  # in its place already: to show many lines takes long, too
            self.rows.append(row)
            row.lay(("promise", "slack", "keeps"), ())
            for part in (row, *row.findChildren(QWidget)):
                part.ensurePolished()
            row.heightForWidth(self.contentsRect().width())  # its texts remember it
        self._waiting = self._waiting[MADE_AT_ONCE:]
        if self._waiting:
            QTimer.singleShot(PAUSE, self, self._make_some)

    def _row(self, way: Way) -> WayRow:
        """Return the line of a way, made once."""
        row = self._made.get(way.id)
        if row is None:
            row = self._made[way.id] = WayRow(way)
            row.hide()
            row.setParent(self)
            self.group.addButton(row.button)
            row.button.installEventFilter(self)
            row.used.connect(self.used)
            self.made.emit(row)
        row.show_way(way)
        return row

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            place = next((at for at, row in enumerate(self.rows) if row.button is watched), -1)
            step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()), 0)
            if step and 0 <= place + step < len(self.rows):
                button = self.rows[place + step].button
                button.setFocus(Qt.FocusReason.TabFocusReason)
                button.click()
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.used.emit()
                return True
        return super().eventFilter(watched, event)
