"""The way back to the step on which a plan stopped, past those that only have to read and count again."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

from app.state import flow
from app.state.study import Study

LAST = "preview"  # what comes after it is made, not gone on with


class Returning(QObject):
    """Goes on by itself until the step is reached; ends where a person has to answer or does something."""

    def __init__(self, parent: QObject, study: Study, go: Callable[[str], None]) -> None:
        super().__init__(parent)
        self._study, self._go = study, go
        self.wanted = self._at = ""  # where it goes, and where it is now

    def begin(self, step: str) -> None:
        """Open the step on which a plan stopped, or the first one on the way that has to be made again."""
        self.wanted = LAST if step in flow.DONE_FOR_GOOD else step
        self._open(self._next())

    def end(self) -> None:
        """Stay where we are."""
        self.wanted = ""

    def went_to(self, step: str) -> None:
        """End where a person opened another step."""
        if self.wanted and step != self._at:
            self.end()

    def changed(self, *, by_person: bool) -> None:
        """Go on once what the step in view had to make again is there; a decision ends it."""
        if by_person:
            self.end()
        elif self.wanted:
            QTimer.singleShot(0, self, self._advance)

    def _advance(self) -> None:
        if self.wanted and self._next() != self._at:
            self._open(self._next())

    def _next(self) -> str:
        state = self._study.state
        path, furthest = flow.path(state), flow.furthest(state)
        wanted = self.wanted if self.wanted in path else furthest
        return wanted if flow.reachable(wanted, state) else furthest

    def _open(self, step: str) -> None:
        if step == self.wanted:
            self.end()
        self._at = step
        self._go(step)
