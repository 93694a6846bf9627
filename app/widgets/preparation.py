"""The recorded steps before anything is computed: keep rows, drop people, ages, bands, recoding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from app import words
from app.widgets.cards import Card


class PreparationSteps(Card):
    """Emits ``changed`` with all steps."""

    changed = Signal(tuple)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(words.say("app.load.preparation"), parent=parent)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(words.say("app.load.preparation"))

    def show_steps(self, steps: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
        """Show the steps of a plan."""
