"""The first glance: eight things that a recipient can hold, each a card with one way behind one press."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from app import words
from app.parts.making import STRETCH, add, make_button, make_column, make_grid, make_row, name_widget
from app.parts.prose import Heading, Prose
from app.parts.wrapping import Wrapping
from app.screens.method.pictures import Shown, ThingPicture
from app.theme import polish, text_font, theme
from engine.methods.kinds import Held

WIDE, SPACING = 190, 12  # pixels: the least width of a card, and the air between two
MOST_ACROSS = 4
ARROWS = {
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Down: (0, 1),
    Qt.Key.Key_Up: (0, -1),
}  # across and down
CAP = 20


@dataclass(frozen=True)
class Said:
    """What a card says. ``unfit`` is why no way to it fits; empty where one does."""

    held: Held
    title: str
    what: str
    promise: str
    cost: str
    others: str
    way: str
    unfit: str = ""


class CapButton(QPushButton):
    """A button with the key that does the same."""

    def __init__(self, text: str, key: str) -> None:
        super().__init__(text)
        self.key = key
        self.setProperty("look", "cap")
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter, tokens = QPainter(self), theme.tokens()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        first = bool(self.property("first"))
        box = QRectF(self.width() - CAP - 9, (self.height() - CAP) / 2, CAP - 3, CAP)
        painter.setPen(QPen(tokens.colour("on_accent" if first else "edge"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.setFont(text_font(11, 600))
        painter.setPen(tokens.colour("on_accent" if first else "quiet"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, self.key)
        painter.end()


class ThingCard(QFrame):
    """``chosen`` when it gets the focus or a press; ``used`` takes its way; ``opened`` shows its ways.

    ``stepped`` tells an arrow that was pressed.
    """

    chosen = Signal()
    stepped = Signal(int)
    used = Signal()
    opened = Signal()

    def __init__(self, held: Held, number: int) -> None:
        super().__init__()
        self.held, self.number = held, number
        self.setObjectName(f"thing-{held}")
        self.setProperty("thing", "true")
        self.setMinimumWidth(WIDE)
        column = make_column(inside=self, spacing=0, margins=11)
        self.picture = ThingPicture(held)
        self.title = Heading(size="card")
        self.what = Prose(tone="quiet", pixels=12)
        self.promise = Prose()
        self.cost = Prose(pixels=12)
        self.use = CapButton(words.say("app.method.things.use"), str(number))
        self.use.setObjectName(f"use-{held}")
        self.use.clicked.connect(lambda checked=False: self.used.emit())
        self.others = make_button("", f"others-{held}", self.opened.emit, look="link")
        for part in (self.use, self.others):
            part.installEventFilter(self)
        self._buttons = make_row(self.use, STRETCH, self.others, STRETCH, spacing=0)
        below = (8, self.promise, 2, self.cost, STRETCH, 8, self._buttons)
        add(column, self.picture, 9, self.title, 1, self.what, *below)
        self._said: Said | None = None
        self._is_small = False

    def show_small(self, small: bool) -> None:
        """Show only what it is and what takes it, or all."""
        if small != self._is_small:
            self._is_small = small
            self._show_parts()

    def _show_parts(self) -> None:
        fits, whole = self._said is None or not self._said.unfit, not self._is_small
        self.picture.setVisible(whole)
        self.promise.setVisible(whole and fits)
        self.cost.setVisible(whole or not fits)
        self.use.setVisible(fits)
        self.others.setVisible(whole or not fits)

    def show_said(self, said: Said, columns: tuple[Shown, ...]) -> None:
        """Show what it says now."""
        self.picture.show_columns(columns)
        if said == self._said:
            return
        self._said = said
        fits = not said.unfit
        self.title.setText(said.title)
        self.title.setProperty("tone", "" if fits else "quiet")
        polish(self.title)
        self.title.setFont(text_font(14, 600))
        self.what.say(said.what)
        self.promise.say(f"**{said.promise}**")
        self.cost.say(said.cost if fits else words.say("app.method.things.unfit", why=said.unfit))
        self.picture.show_dimmed(not fits)
        self._show_parts()
        self.use.setAccessibleName(words.say("app.method.things.use_name", way=said.way, number=self.number))
        self.use.setAccessibleDescription(". ".join((said.what, said.promise, said.cost)))
        for place, on in ((1, fits), (3, not fits)):
            self._buttons.setStretch(place, int(on))
        self.others.setText(said.others if fits else words.say("app.method.things.anyway"))
        self.others.setAccessibleName(
            words.say("app.method.things.others_name", thing=said.title, others=self.others.text())
        )

    @property
    def first(self) -> QPushButton:
        """What the keyboard reaches first."""
        return self.others if self.use.isHidden() else self.use

    def mark(self, on: bool) -> None:
        """Frame the one that is chosen."""
        if bool(self.property("chosen")) != on:
            self.setProperty("chosen", on)
            self.use.setProperty("first", on)
            polish(self, self.use)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.first.setFocus(Qt.FocusReason.MouseFocusReason)
        super().mousePressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QFocusEvent) and event.gotFocus():
            self.chosen.emit()
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in ARROWS:
            self.stepped.emit(event.key())  # a button would go to the next one that it knows of
            return True
        return False


class Things(QWidget):
    """All cards, as many side by side as there is room for; ``chosen``, ``used``, ``opened`` tell which."""

    chosen = Signal(str)
    used = Signal(str)
    opened = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("things")
        self.grid = make_grid(self, across=SPACING, down=SPACING, margins=0)
        self.cards: dict[Held, ThingCard] = {}
        self.current: Held | None = None
        self._across = 0
        for number, held in enumerate(Held, start=1):
            card = ThingCard(held, number)
            card.chosen.connect(lambda held=held: self._choose(held))
            card.stepped.connect(self._step)
            card.used.connect(lambda held=held: self.used.emit(held))
            card.opened.connect(lambda held=held: self.opened.emit(held))
            self.cards[held] = card
        self._lay(MOST_ACROSS)

    def show_things(self, said: Sequence[Said], columns: tuple[Shown, ...], current: Held | None) -> None:
        """Show what each card says now; what no way makes has none."""
        shown = {one.held: one for one in said}
        for held, card in self.cards.items():
            card.setVisible(held in shown)
            if held in shown:
                card.show_said(shown[held], columns)
        self.mark(current)

    def show_small(self, small: bool) -> None:
        """Show the cards small, so that few words are read, or whole."""
        for card in self.cards.values():
            card.show_small(small)

    def mark(self, current: Held | None) -> None:
        """Frame another card."""
        self.current = current
        for held, card in self.cards.items():
            card.mark(held is current)

    def focus(self, held: Held) -> None:
        """Bring the focus to a card."""
        self.cards[held].first.setFocus(Qt.FocusReason.TabFocusReason)

    def _step(self, key: int) -> None:
        """Go to a neighbour by an arrow, where there is one."""
        across, down = ARROWS[Qt.Key(key)]
        shown = [held for held, card in self.cards.items() if not card.isHidden()]
        if self.current in shown:
            place = shown.index(self.current) + across + down * self._across
            if 0 <= place < len(shown):
                self.focus(shown[place])

    def _choose(self, held: Held) -> None:
        if held is not self.current:
            self.mark(held)
            self.chosen.emit(held)

    def _lay(self, across: int) -> None:
        if across == self._across:
            return
        self._across = across
        for place, card in enumerate(self.cards.values()):
            self.grid.addWidget(card, place // across, place % across)
        for column in range(MOST_ACROSS):
            self.grid.setColumnStretch(column, 1 if column < across else 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        room = self.width() + SPACING
        self._lay(min(max(room // (WIDE + SPACING), 1), MOST_ACROSS))
        super().resizeEvent(event)

    def minimumSizeHint(self) -> QSize:
        return QSize(WIDE, super().minimumSizeHint().height())  # fewer side by side ask for less


class ThingNames(QWidget):
    """All things by their names alone, below ways that answer a wish; ``chosen`` tells which is pressed."""

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        name_widget(self, "thing-names")
        line = Wrapping(self, spacing=8)
        self.buttons: dict[Held, QPushButton] = {}
        for held in Held:
            made = make_button("", f"or-{held}", partial(self.chosen.emit, held), look="chip")
            self.buttons[held] = made
            line.addWidget(made)

    def show_names(self, named: Mapping[Held, str]) -> None:
        """Show these, as they are called; what no way makes has none."""
        for held, button in self.buttons.items():
            button.setVisible(held in named)
            button.setText(named.get(held, ""))
