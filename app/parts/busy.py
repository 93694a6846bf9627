"""Work under way: what is being done, how far it is, and Stop."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QFrame, QProgressBar, QWidget

from app import words
from app.parts.making import add, make_button, make_column, make_row
from app.parts.prose import Prose

SHOW_AFTER = 200  # milliseconds: what is over sooner never flickers


class Busy(QFrame):
    """A line of words, a bar and a button; hidden while nothing runs."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("busy")
        row = make_row(inside=self, spacing=16, margins=(16, 10, 12, 10))
        column = make_column(spacing=8)
        self._words = Prose(tone="quiet")
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setRange(0, 1000)
        add(column, self._words, self._bar)
        self._stop = make_button(words.say("app.window.stop"), press=lambda: self._on_stop())
        add(row, (column, 1), self._stop)
        self._on_stop: Callable[[], None] = lambda: None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.show)
        self.hide()

    def begin(self, sentence: str, stop: Callable[[], None] | None = None) -> None:
        """Say what is being done; appears only when it takes a moment."""
        self._words.say(sentence)
        self._bar.setAccessibleName(sentence)
        self._bar.setRange(0, 0)
        self._stop.setVisible(stop is not None)
        self._stop.setEnabled(True)
        self._on_stop = stop if stop is not None else (lambda: None)
        self._timer.start(SHOW_AFTER)

    def step(self, share: float, stage: str) -> None:
        """Show how far the work is; ``stage`` is an id of the texts below ``stages``."""
        self._bar.setRange(0, 1000)
        self._bar.setValue(round(share * 1000))
        if words.has(f"stages.{stage}"):
            self._words.say(words.say(f"stages.{stage}"))

    def end(self) -> None:
        """Hide it."""
        self._timer.stop()
        self.hide()
