"""What is there for those who want it, behind one link."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app import words
from app.parts.cards import Card
from app.parts.making import make_button, make_column


class BehindLink(Card):
    """A link, and below it ``body``, which the link shows and hides. ``bare`` draws no frame."""

    def __init__(self, heading: str, parent: QWidget | None = None, *, bare: bool = False) -> None:
        super().__init__(parent=parent)
        if bare:
            self.setProperty("card", "bare")
            self.body.setContentsMargins(0, 0, 0, 0)
        self._heading = heading
        self.link = make_button(look="link", checkable=True)
        self.link.toggled.connect(lambda shown: self._show(shown))
        self.body.addWidget(self.link, 0, Qt.AlignmentFlag.AlignLeft)
        self._inner = QWidget()
        inner = make_column(inside=self._inner, margins=0)
        self.body.addWidget(self._inner)
        self.body = inner
        self._show(False)

    def close_up(self) -> None:
        """Hide what is inside."""
        self.link.setChecked(False)

    def _show(self, shown: bool) -> None:
        self._inner.setVisible(shown)
        self.link.setText(words.say(f"app.window.{'fold' if shown else 'unfold'}", what=self._heading))
