"""Below the page: Back, what was saved, Next."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from app import words
from app.parts.making import STRETCH, add, make_button, make_label, make_row
from app.theme import polish
from engine.views import Text


class Footer(QFrame):
    """Buttons and one quiet line."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("footer")
        self._row = make_row(inside=self, spacing=16)
        self.set_margin(32)
        self.back = make_button(words.say("app.window.back"), "back")
        self.why = make_button(words.say("app.window.what_this_means"), "why", look="link", checkable=True)
        self.undo = self._link("undo")
        self.redo = self._link("redo")
        self.saved = make_label("", "saved", pixels=12, tone="quiet")
        self.next = make_button(words.say("app.window.next"), "next", look="primary")
        self.next.installEventFilter(self)
        add(self._row, self.back, self.undo, self.redo, self.why, STRETCH, self.saved, self.next)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take no second press for another screen: a double click turns one page."""
        if watched is self.next and event.type() == QEvent.Type.MouseButtonDblClick:
            return True
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.make_room()

    def make_room(self) -> None:
        """Let the line about saving give way where the buttons need the room."""
        shown = [one for one in (self.back, self.undo, self.redo, self.why, self.next) if not one.isHidden()]
        margins = self._row.contentsMargins()
        needed = sum(one.sizeHint().width() + self._row.spacing() for one in (*shown, self.saved))
        self.saved.setVisible(needed + margins.left() + margins.right() <= self.width())

    def say_saved(self, told: str) -> None:
        """Say what is saved; another time of day is another width."""
        self.saved.setText(told)
        self.make_room()

    def _link(self, name: str) -> QPushButton:
        button = make_button(words.say(f"app.window.{name}"), name, look="link")
        button.setEnabled(False)
        return button

    def show_history(self, undone: Text | None, made_again: Text | None) -> None:
        """Say what the two buttons would undo and make again."""
        for button, name, edit in ((self.undo, "undo", undone), (self.redo, "redo", made_again)):
            button.setEnabled(edit is not None)
            said = "" if edit is None else words.say(f"app.window.{name}_what", edit=words.label(edit))
            button.setToolTip(words.tip(said))
            button.setAccessibleName(said or button.text())

    def set_margin(self, pixels: int) -> None:
        """Stand under the edges of the page."""
        self._row.setContentsMargins(pixels, 14, pixels, 14)

    def show_next(self, named: str, waiting: Text | None) -> None:
        """Name the button for the next step; one that still waits for something is pale and says for what."""
        self.next.setText(named or words.say("app.window.next"))
        pale = waiting is not None
        if self.next.property("waiting") != pale:
            self.next.setProperty("waiting", pale)
            polish(self.next)
        self.next.setToolTip(words.tip(words.label(waiting)) if waiting is not None else "")
        self.make_room()
