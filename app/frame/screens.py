"""The screens of the window: each made on first use, and anew where who is protected got another name."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QStackedWidget, QWidget

from app import screens
from app.screens.base import Page


def load(steps: Sequence[str]) -> None:
    """Import the screens of some steps; takes a quarter of a second and belongs on another thread."""
    for step in steps:
        importlib.import_module(f"{screens.__name__}.{step}.page")


def lay_out(part: QWidget) -> None:
    """Lay a hidden screen out as it will be: its texts then know already how high they are at their width."""
    QApplication.sendEvent(part, QResizeEvent(part.size(), part.size()))
    for child in part.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly):
        if not child.isHidden():
            lay_out(child)


class Screens:
    """Makes the ``PAGE`` of ``app/screens/ID/page.py`` by ``make``, and keeps it in the stack."""

    def __init__(self, stack: QStackedWidget, make: Callable[[type[Page]], Page]) -> None:
        self.stack, self._make = stack, make
        self.made: dict[str, Page] = {}
        self.wanted: list[str] = []  # to be made ahead
        self._pieces: Iterator[None] = iter(())
        self._begun: dict[str, Page] = {}  # made in part, while nobody waits
        self._outdated: set[str] = set()
        self._former: list[Page] = []

    def screen(self, step: str, *, in_view: bool = False) -> Page:
        """Return the screen of a step; one with outdated words is made anew unless it is in view."""
        if step in self._outdated and not in_view:
            self._put_away(step)
        if step not in self.made:
            if step not in self._begun:
                self._begin(step)
            while self._has_piece(step):
                pass
            self._keep(step)
        return self.made[step]

    def make_ahead(self, *, in_view: str = "") -> bool:
        """Make the next piece of the screens in ``wanted``; say whether there was one."""
        while True:
            # What fails here fails again, and is said, when the screen is opened.
            with suppress(Exception):
                next(self._pieces)
                return True
            if not self.wanted:
                return False
            step = self.wanted.pop(0)
            self._pieces = self._ahead(step, in_view=step == in_view)

    def _ahead(self, step: str, *, in_view: bool) -> Iterator[None]:
        """Make the screen of a step one piece after another, as long as nobody asks for it."""
        if step in self._outdated and not in_view:
            self._put_away(step)
        if step in self.made:
            return
        page = self._begin(step)
        yield
        while self._begun.get(step) is page and self._has_piece(step):
            yield
        if self._begun.get(step) is page:
            self._keep(step)
            yield
            for part in (page, *page.findChildren(QWidget)):
                part.ensurePolished()  # the style of a screen takes longer to look up than to draw
            yield
            page.resize(self.stack.size())
            lay_out(page)
            yield

    def _begin(self, step: str) -> Page:
        page = self._begun[step] = self._make(importlib.import_module(f"{screens.__name__}.{step}.page").PAGE)
        return page

    def _has_piece(self, step: str) -> bool:
        try:
            return self._begun[step].make_piece()
        except Exception:
            self._begun.pop(step).deleteLater()  # half a screen is none
            raise

    def _keep(self, step: str) -> None:
        made = self.made[step] = self._begun.pop(step)
        self.stack.addWidget(made)

    def outdate(self) -> None:
        """Have every screen made anew when it is opened next: its words are not those in use any more."""
        for former in (*self._former, *self._begun.values()):
            former.deleteLater()
        self._former = []
        self._begun.clear()
        self._outdated = set(self.made)

    def _put_away(self, step: str) -> None:
        """Take a screen out but keep it for now: a job that it ordered may still report to it."""
        self._outdated.discard(step)
        former = self.made.pop(step)
        self.stack.removeWidget(former)
        former.setParent(None)
        self._former.append(former)
