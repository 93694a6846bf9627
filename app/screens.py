"""The screens of the window: each made on first use, and anew where who is protected got another name."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QStackedWidget

from app.pages.base import Page


def load(steps: Sequence[str]) -> None:
    """Import the screens of some steps; takes a quarter of a second and belongs on another thread."""
    for step in steps:
        importlib.import_module(f"app.pages.{step}")


class Screens:
    """Makes ``app/pages/ID.py`` with what ``make`` gives to its ``PAGE``, and keeps it in the stack."""

    def __init__(self, stack: QStackedWidget, make: Callable[[type[Page]], Page]) -> None:
        self.stack, self._make = stack, make
        self.made: dict[str, Page] = {}
        self._outdated: set[str] = set()
        self._former: list[Page] = []

    def screen(self, step: str, *, in_view: bool = False) -> Page:
        """Return the screen of a step; one with outdated words is made anew unless it is in view."""
        if step in self._outdated and not in_view:
            self._put_away(step)
        if step not in self.made:
            made = self.made[step] = self._make(importlib.import_module(f"app.pages.{step}").PAGE)
            self.stack.addWidget(made)
        return self.made[step]

    def outdate(self) -> None:
        """Have every screen made anew when it is opened next: its words are not those in use any more."""
        for former in self._former:
            former.deleteLater()
        self._former = []
        self._outdated = set(self.made)

    def _put_away(self, step: str) -> None:
        """Take a screen out but keep it for now: a job that it ordered may still report to it."""
        self._outdated.discard(step)
        former = self.made.pop(step)
        self.stack.removeWidget(former)
        former.setParent(None)
        self._former.append(former)
