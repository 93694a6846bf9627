"""The list of ways to release something: name, what happens, promise, exactness and cost on each line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from app import words
from app.parts.cards import Card
from app.parts.making import STRETCH, add, left, make_column, make_label, make_row, named
from app.parts.prose import Prose
from app.theme import polish, text_font


@dataclass(frozen=True)
class Way:
    """One line. ``against`` says which answers rule it out; empty where it fits."""

    id: str
    title: str
    summary: str
    promise: str
    bounded: bool
    exactness: str
    cost: str
    account: str
    against: str = ""
    has_example: bool = False


MADE_AT_ONCE, PAUSE = 2, 5  # lines in one turn of the event loop, and milliseconds until the next
AGAINST = 2  # place of what rules a way out: below its promise and the air after that
AIR = 4  # pixels above and below a name in two lines
WIDE_PILL, WIDE_TITLE = 24, 30  # letters beyond which a promise or a name is written in two lines


def in_two(text: str, most: int) -> str:
    """Return a text in two lines of about one length where it has more letters than fit into one.

    Examples
    --------
    >>> in_two("Similar rows read alike (micro-aggregation)", 30).split("\\n")
    ['Similar rows read alike', '(micro-aggregation)']
    """
    blanks = [place for place, letter in enumerate(text) if letter == " "]
    if len(text) <= most or not blanks:
        return text
    middle = min(blanks, key=lambda place: abs(place - len(text) / 2))
    return f"{text[:middle]}\n{text[middle + 1 :]}"


def _column() -> QVBoxLayout:
    return make_column(spacing=0)


def _widest(button: QRadioButton) -> int:
    """Return the pixels of the widest line of a name."""
    return max(button.fontMetrics().horizontalAdvance(line) for line in button.text().split("\n"))


class WayRow(QFrame):
    """A line that is chosen by its circle, by a click anywhere on it, or by arrows."""

    example = Signal()

    def __init__(self, way: Way) -> None:
        super().__init__()
        self.way = way
        self._against: Prose | None = None
        self.setObjectName(f"way-{way.id}")
        self.setProperty("way", "true")
        line = make_row(
            (self._names(), 5), (self._promises(), 3), inside=self, spacing=16, margins=(14, 8, 16, 10)
        )
        line.addLayout(self._costs())

    def _names(self) -> QVBoxLayout:
        way, column = self.way, _column()
        self.button = named(QRadioButton(in_two(way.title, WIDE_TITLE)), f"method-{way.id}", way.title)
        self.button.setFont(text_font(14, 600))
        self.button.setProperty("method", way.id)
        self._describe()
        self.button.toggled.connect(self._mark)
        # The width of the name in two lines is all that it asks for; in one line it stands where it has room.
        self.button.setMinimumWidth(self.button.sizeHint().width())
        summary = Prose(way.summary, tone="quiet", pixels=12)
        add(column, self.button, summary, STRETCH)
        self._named, self._summary = column, summary
        self._give_air()
        return column

    def _promises(self) -> QVBoxLayout:
        way, column = self.way, _column()
        self._promised = column
        column.setContentsMargins(0, 5, 0, 0)
        pill = make_label(in_two(way.promise, WIDE_PILL), pixels=12, weight=600)
        pill.setProperty("pill", "bounded" if way.bounded else "stated")
        add(column, left(pill), 4)
        if way.against:
            self._say_against(way.against)
        add(column, Prose(way.exactness, tone="quiet", pixels=12), STRETCH)
        return column

    def _costs(self) -> QVBoxLayout:
        way, column = self.way, _column()
        column.setContentsMargins(0, 7, 0, 0)
        for text, weight, tone in ((way.cost, 600, ""), (way.account, 400, "quiet")):
            label = make_label(text, pixels=12, weight=weight, tone=tone)
            label.setAlignment(Qt.AlignmentFlag.AlignRight)
            column.addWidget(label)
        if way.has_example:
            link = QPushButton(words.say("app.method.example.link"))
            link.setObjectName(f"example-{way.id}")
            link.setAccessibleName(words.say("app.method.example.name", way=way.title))
            link.setProperty("look", "link")
            link.clicked.connect(lambda checked=False: self.example.emit())
            column.addWidget(link, 0, Qt.AlignmentFlag.AlignRight)
        column.addStretch(1)
        return column

    def answer(self, way: Way) -> None:
        """Show the same way beside other answers: all that differs is which of them rule it out."""
        if way.against == self.way.against:
            return
        self.way = way
        self._say_against(way.against)
        self._describe()

    def _describe(self) -> None:
        way = self.way
        self.button.setAccessibleDescription(
            " ".join((way.summary, way.promise, way.exactness, way.cost, way.account, way.against)).strip()
        )

    def _say_against(self, against: str) -> None:
        if self._against is None:
            self._against = Prose(tone="care", pixels=12)
            self._promised.insertWidget(AGAINST, self._against)
        self._against.say(against)
        self._against.setVisible(bool(against))

    def _mark(self, on: bool) -> None:
        self.setProperty("chosen", on)
        polish(self)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        circle = self.button.sizeHint().width() - _widest(self.button)
        whole = self.button.fontMetrics().horizontalAdvance(self.way.title) + circle
        shown = self.way.title if whole <= self.button.width() else in_two(self.way.title, WIDE_TITLE)
        if shown != self.button.text():
            self.button.setText(shown)
            self._give_air()

    def _give_air(self) -> None:
        """Give a name in two lines the room above and below that one in a single line has."""
        air = AIR if "\n" in self.button.text() else 0
        self._named.setContentsMargins(0, air, 0, 0)
        self._summary.setContentsMargins(30, air, 0, 0)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.button.setFocus(Qt.FocusReason.MouseFocusReason)
        self.button.click()
        super().mousePressEvent(event)


class Ways(Card):
    """All lines; ``chosen`` tells the id of the one that was selected, ``used`` that it is to be taken."""

    chosen = Signal(str)
    used = Signal()
    example = Signal(str)
    made = Signal(object)  # a row, once

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("ways")
        self.body.setContentsMargins(0, 0, 0, 0)
        self.body.setSpacing(0)
        self.rows: list[WayRow] = []
        self._made: dict[Way, WayRow] = {}  # by what answers leave as it is: a line takes long to make
        self._waiting: list[Way] = []
        self.group = QButtonGroup(self)
        self.group.buttonClicked.connect(lambda button: self.chosen.emit(button.property("method")))
        self._shown: tuple[Way, ...] = ()
        self._column = make_column(spacing=0)
        self.body.addLayout(self._column)

    def show_ways(self, ways: Sequence[Way], selected: str) -> None:
        """Show other lines, and select one of them."""
        if tuple(ways) != self._shown:
            self._waiting.clear()
            was_hidden = self.isHidden()
            self.hide()  # or the whole page would be laid out for each line that is shown
            before, self.rows = self.rows, [self._row(way) for way in ways]
            for row in {*before, *self._made.values()} - {*self.rows}:
                row.hide()
            for place, row in enumerate(self.rows):
                self._put(place, row)
            self.setHidden(was_hidden)
            self._shown = tuple(ways)
        self.group.setExclusive(False)
        for row in self._made.values():
            row.button.setChecked(row in self.rows and row.way.id == selected)
        self.group.setExclusive(True)

    def _put(self, place: int, row: WayRow) -> None:
        if self._column.indexOf(row) != place:
            self._column.insertWidget(place, row)
        row.show()

    def make_ready(self, ways: Sequence[Way]) -> None:
        """Make the lines that are shown first, a few in each turn of the event loop, while nobody waits."""
        self._waiting = [] if self._shown else list(ways)
        QTimer.singleShot(0, self, self._make_some)

    def _make_some(self) -> None:
        for way in self._waiting[:MADE_AT_ONCE]:
            row = self._row(way)
            self._put(len(self.rows), row)  # in its place already: to show many lines takes long, too
            self.rows.append(row)
            for part in (row, *row.findChildren(QWidget)):
                part.ensurePolished()
            row.heightForWidth(self.contentsRect().width())  # its texts remember it
        self._waiting = self._waiting[MADE_AT_ONCE:]
        if self._waiting:
            QTimer.singleShot(PAUSE, self, self._make_some)
        else:
            self._shown = tuple(row.way for row in self.rows)

    def _row(self, way: Way) -> WayRow:
        """Return the line of a way, made once for all answers."""
        key = replace(way, against="")
        row = self._made.get(key)
        if row is None:
            row = self._made[key] = WayRow(way)
            row.setParent(self)
            self.group.addButton(row.button)
            row.button.installEventFilter(self)
            row.example.connect(lambda: self.example.emit(way.id))
            self.made.emit(row)
        row.answer(way)
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
