"""Undo and redo by keys and buttons: where an edit was made, and the letters of a field before the study."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget
from shiboken6 import isValid

from app import words
from app.screens.base import Page
from app.state import flow
from app.state.history import Moment
from app.state.study import Study
from app.work.jobs import JobRunner
from engine.views import Text


class Place(Protocol):
    """What undoing needs of the window."""

    study: Study
    runner: JobRunner
    step: str

    def go(self, step: str) -> None: ...
    def page(self, step: str) -> Page: ...
    def notify(self, what: str, do: str = "", *, tone: str = "wrong") -> None: ...


class Undoing(QObject):
    """Undoes and makes again the edits of a window's study."""

    def __init__(self, window: QWidget, place: Place) -> None:
        super().__init__(window)
        self._window, self._place = window, place
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._focus_moved)

    def undo(self) -> None:
        """Undo the last edit, on whatever screen it was made, and show where."""
        self._move("undone", self.named()[0], self._place.study.undo)

    def redo(self) -> None:
        """Make again what was undone last, and show where."""
        self._move("made_again", self.named()[1], self._place.study.redo)

    def named(self) -> tuple[Text | None, Text | None]:
        """Return what would be undone and made again from the screen in view; nothing where it is made.

        What was released and answered cannot be undone, and the edits before it are those of another release.
        """
        history = self._place.study.history
        return (None, None) if self.shows_made else (history.undone_next, history.made_next)

    @property
    def shows_made(self) -> bool:
        """Whether the screen in view shows what was made, so that nothing can be undone on it."""
        study, step = self._place.study, self._place.step
        was_opened = study.plan is study.shown_again  # from the list: undoing leads back from it
        made = study.state.finished or study.state.resumed
        return step in flow.SHOW_WHAT_IS_MADE and made and not was_opened

    def _move(self, name: str, said: Text | None, act: Callable[[], Moment | None]) -> None:
        window = self._place
        if window.runner.busy("release"):
            window.notify(words.say("app.window.no_undo_now"), tone="care")
            return
        if self.shows_made:
            window.notify(
                words.say("app.window.no_undo_made"), words.say("app.window.no_undo_made_do"), tone="care"
            )
            return
        moment = act()
        if said is None or moment is None:
            return
        state = window.study.state
        wanted = moment.place if moment.place in flow.path(state) else window.step
        step = wanted if flow.reachable(wanted, state) else flow.furthest(state)
        if step != window.step:
            window.go(step)
        else:
            window.page(step).opened()
        window.notify(words.say(f"app.window.{name}", edit=words.label(said)), tone="accent")

    def _focus_moved(self, old: QWidget | None, new: QWidget | None) -> None:
        if isinstance(old, QLineEdit) and isValid(old):
            old.removeEventFilter(self)
        if isinstance(new, QLineEdit) and isValid(new) and self._window.isAncestorOf(new):
            new.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Undo the letters of a field while it is being written, and the study's edits after that."""
        if not isinstance(watched, QLineEdit) or not isinstance(event, QKeyEvent):
            return super().eventFilter(watched, event)
        if event.type() == QEvent.Type.KeyPress and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            # Taken, once the field has told its page.
            QTimer.singleShot(0, watched, lambda: watched.setModified(False))
        if event.type() == QEvent.Type.ShortcutOverride and not watched.isModified():
            keys = (QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo)
            if any(event.matches(key) for key in keys):
                event.ignore()
                return True
        return super().eventFilter(watched, event)
