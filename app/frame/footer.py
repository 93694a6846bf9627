"""Below the page: Back, what was saved, Next; and the question before what cannot be undone."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from app import words
from app.parts.making import STRETCH, add, hidden, make_button, make_column, make_label, make_row, name_widget
from app.parts.prose import Heading, Prose
from app.theme import polish
from engine.views import Text

WAITS_LEAST, WAITS_WIDE = 140, 330  # pixels of what Next waits for: on two lines beside it


class Footer(QFrame):
    """Buttons and one quiet line; `ask` puts a question in their place until it is answered."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("footer")
        both = make_row(inside=self, margins=0)
        self._usual, self.guard = QWidget(), hidden(name_widget(QWidget(), "guard"))
        add(both, (self._usual, 1), (self.guard, 1))
        self._row = make_row(inside=self._usual, spacing=16)
        self._build_guard()
        self.set_margin(32)
        self.back = make_button(words.say("app.window.back"), "back")
        self.why = make_button(words.say("app.window.what_this_means"), "why", look="link", checkable=True)
        self.undo = self._link("undo")
        self.redo = self._link("redo")
        self.saved = make_label("", "saved", pixels=12, tone="quiet")
        self.next = make_button(words.say("app.window.next"), "next", look="primary")
        for button in (self.next, self.commit):
            button.installEventFilter(self)
        self.waits = hidden(name_widget(Prose(tone="quiet", pixels=12), "waits"))
        self.waits.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.other = hidden(make_button("", "other"))
        add(self._row, self.back, self.undo, self.redo, self.why, STRETCH, self.waits, self.saved)
        add(self._row, self.other, self.next)

    def _build_guard(self) -> None:
        self._guard_row = make_row(inside=self.guard, spacing=16)
        self.asked, self.asked_more = Heading("", size="small", tone="care"), Prose(pixels=12)
        self.not_yet = make_button(words.say("app.window.commit.not_yet"), "not-yet", self.take_back)
        self.commit = make_button("", "commit", self._agree, look="primary")
        said = make_column(self.asked, self.asked_more, spacing=2)
        add(self._guard_row, (said, 1), self.not_yet, self.commit)
        self._agreed: Callable[[], object] = lambda: None

    def ask(
        self, title: str, sentence: str, button: str, agreed: Callable[[], object], *, tone: str = "care"
    ) -> None:
        """Ask before what cannot be undone, with the focus on what does nothing.

        ``tone`` is ``"wrong"`` where people are named.
        """
        self.asked.setText(title)
        self.asked.setProperty("tone", tone)
        self.setProperty("tone", tone)
        polish(self.asked)
        self.asked_more.say(sentence)
        self.commit.setText(button)
        self._agreed = agreed
        self._show_guard(True)
        self.guard.setAccessibleName(f"{title} {sentence}")
        self.not_yet.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def asks(self) -> bool:
        """Whether a question stands in the place of the buttons."""
        return not self.guard.isHidden()

    def take_back(self) -> None:
        """Take the question back: nothing happens."""
        if self.asks:
            self._show_guard(False)
            self.next.setFocus(Qt.FocusReason.OtherFocusReason)

    def _agree(self) -> None:
        agreed = self._agreed
        self._show_guard(False)
        agreed()

    def _show_guard(self, shown: bool) -> None:
        self.guard.setVisible(shown)
        self._usual.setVisible(not shown)
        self.setProperty("asks", shown)
        polish(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take no second press for another screen: a double click turns one page."""
        if watched in (self.next, self.commit) and event.type() == QEvent.Type.MouseButtonDblClick:
            return True
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.make_room()

    def make_room(self) -> None:
        """Say beside Next what it waits for, else what was saved, as far as the buttons leave room."""
        shown = [
            one
            for one in (self.back, self.undo, self.redo, self.why, self.other, self.next)
            if not one.isHidden()
        ]
        margins = self._row.contentsMargins()
        taken = sum(one.sizeHint().width() + self._row.spacing() for one in shown)
        room = self.width() - taken - margins.left() - margins.right() - self._row.spacing()
        said = QFontMetrics(self.waits.font()).boundingRect(
            QRect(0, 0, min(room, WAITS_WIDE), 0), int(Qt.TextFlag.TextWordWrap), self.waits.plain()
        )
        fits = room >= WAITS_LEAST and said.height() <= self.next.sizeHint().height()
        self.waits.setVisible(bool(self.waits.plain()) and fits)
        self.waits.setFixedWidth(max(WAITS_LEAST, min(room, WAITS_WIDE)))
        self.saved.setVisible(self.waits.isHidden() and self.saved.sizeHint().width() <= room)

    def say_saved(self, told: str) -> None:
        """Say what is saved; another time of day is another width."""
        self.saved.setText(told)
        self.make_room()

    def _link(self, name: str) -> QPushButton:
        button = make_button(words.say(f"app.window.{name}"), name, look="link")
        button.setEnabled(False)
        return button

    def show_history(self, undone: Text | None, made_again: Text | None, *, gone: bool = False) -> None:
        """Say what the two buttons would undo and make again; both are gone where nothing can be."""
        for button, name, edit in ((self.undo, "undo", undone), (self.redo, "redo", made_again)):
            button.setVisible(not gone)
            button.setEnabled(edit is not None)
            said = "" if edit is None else words.say(f"app.window.{name}_what", edit=words.label(edit))
            button.setToolTip(words.tip(said))
            button.setAccessibleName(said or button.text())

    def set_margin(self, pixels: int) -> None:
        """Stand under the edges of the page."""
        high = 14 if pixels >= 32 else 8
        for row in (self._row, self._guard_row):
            row.setContentsMargins(pixels, high, pixels, high)

    def show_next(self, named: str, waiting: Text | None, other: str = "") -> None:
        """Name the button for the next step; one that still waits for something is pale and says for what.

        ``other`` is a second way to go on, which is not the one to be taken without thinking.
        """
        self.other.setText(other)
        self.other.setVisible(bool(other))
        self.next.setText(named or words.say("app.window.next"))
        pale = waiting is not None
        if self.next.property("waiting") != pale:
            self.next.setProperty("waiting", pale)
            polish(self.next)
        said = "" if waiting is None else words.label(waiting)
        self.next.setToolTip(words.tip(said) if said else "")
        self.waits.say(said)
        self.make_room()
