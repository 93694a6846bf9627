"""The notice bar: what happened and what to do, above the page, never a pop-up."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app import words
from app.widgets.prose import Heading, Prose


class Notice(QFrame):
    """Hidden until something has to be said. ``tone``: wrong, care or accent."""

    shown = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notice")
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 12, 12, 12)
        row.setSpacing(12)
        column = QVBoxLayout()
        column.setSpacing(3)
        self._what = Heading(size="card")
        self._do = Prose()
        column.addWidget(self._what)
        column.addWidget(self._do)
        row.addLayout(column, 1)
        self._close = QPushButton(words.say("app.window.close_notice"))
        self._close.setProperty("look", "link")
        self._close.clicked.connect(self.clear)
        row.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)
        self.hide()

    def show_notice(self, what: str, do: str = "", *, tone: str = "wrong") -> None:
        """Show what happened and what to do; a screen reader speaks it."""
        self.setProperty("tone", tone)
        self._what.setProperty("tone", tone if tone != "accent" else "")
        self._what.setText(what)
        self._do.say(do)
        self._do.setVisible(bool(do))
        for part in (self, self._what):
            part.style().unpolish(part)
            part.style().polish(part)
        self.setAccessibleName(f"{what} {do}".strip())
        self.show()
        self.shown.emit(True)
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, f"{what} {do}".strip()))

    def clear(self) -> None:
        """Hide it."""
        self.hide()
        self.shown.emit(False)

    def words(self) -> str:
        """Return what it says, or nothing while hidden."""
        return f"{self._what.text()} {self._do.plain()}".strip() if not self.isHidden() else ""
