"""The notice bar: what happened and what to do, above the page, never a pop-up."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from app import words
from app.parts.making import add, empty, make_button, make_column, make_row
from app.parts.prose import Heading, Prose
from app.state.flow import Missing
from app.theme import polish


class Notice(QFrame):
    """Hidden until something has to be said. ``tone``: wrong, care or accent."""

    shown = Signal(bool)
    followed = Signal(str)  # the place of what is missing that somebody pressed

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notice")
        row = make_row(inside=self, spacing=12, margins=(16, 12, 12, 12))
        column = make_column(spacing=3)
        self._what = Heading(size="card")
        self._do = Prose()
        add(column, self._what, self._do)
        self._links = make_column(spacing=0)
        column.addLayout(self._links)
        self._close = make_button(words.say("app.window.close_notice"), look="link")
        self._close.clicked.connect(self.clear)
        add(row, (column, 1), (self._close, 0, Qt.AlignmentFlag.AlignTop))
        self.missing: tuple[Missing, ...] = ()
        self.hide()

    def show_missing(self, found: tuple[Missing, ...]) -> None:
        """Say what is missing; every part of it is a link to its field."""
        one = len(found) == 1
        said = [words.label(missing) for missing in found]
        what = said[0] if one else words.say("app.window.missing", count=len(found))
        self.show_notice(what, tone="care")
        for missing, sentence in zip(found, said, strict=True):
            if not missing.place:
                continue
            link = QPushButton(words.say("app.window.go_there") if one else sentence)
            link.setObjectName(f"missing-{missing.place}")
            link.setAccessibleName(sentence)
            link.setProperty("look", "link")
            link.clicked.connect(lambda checked=False, place=missing.place: self.followed.emit(place))
            self._links.addWidget(link, 0, Qt.AlignmentFlag.AlignLeft)
        self.missing = found

    def still_missing(self, now: tuple[Missing, ...]) -> None:
        """Keep what is missing still, and go away when nothing of it is."""
        left = tuple(one for one in self.missing if one in now)
        if self.missing and left != self.missing:
            if left:
                self.show_missing(left)
            else:
                self.clear()

    def show_notice(self, what: str, do: str = "", *, tone: str = "wrong") -> None:
        """Show what happened and what to do; a screen reader speaks it."""
        self.missing = ()
        empty(self._links)
        self.setProperty("tone", tone)
        self._what.setProperty("tone", tone if tone != "accent" else "")
        self._what.setText(what)
        self._do.say(do)
        self._do.setVisible(bool(do))
        polish(self, self._what)
        self.setAccessibleName(f"{what} {do}".strip())
        self.show()
        self.shown.emit(True)
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, f"{what} {do}".strip()))

    def clear(self) -> None:
        """Hide it."""
        self.missing = ()
        self.hide()
        self.shown.emit(False)

    def words(self) -> str:
        """Return what it says, or nothing while hidden."""
        if self.isHidden():
            return ""
        several = [words.label(one) for one in self.missing] if len(self.missing) > 1 else []
        return " ".join(part for part in (self._what.text(), self._do.plain(), *several) if part)
