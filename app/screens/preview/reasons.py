"""Why a release goes beyond what was stated: a line a decision, kept in the plan and the internal report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit

from app import words
from app.parts.cards import Card
from app.parts.making import add, empty, make_column
from app.parts.prose import Prose
from app.words.money import level, money, size


class Reasons(Card):
    """Emits ``given`` with a decision and its reason."""

    given = Signal(str, str)

    def __init__(self) -> None:
        super().__init__(words.say("app.preview.beyond.heading"), tone="care")
        self.setObjectName("reasons")
        self.setProperty("card", "care")
        self._lines = make_column(spacing=8)
        self.body.addLayout(self._lines)
        self.fields: dict[str, QLineEdit] = {}
        self.hide()

    def show_decisions(
        self, found: Mapping[str, Mapping[str, Any]], said: Mapping[str, str], unit: str
    ) -> None:
        """Ask for the reason of each decision; hide where there is none."""
        self.setVisible(bool(found))
        if set(found) != set(self.fields):
            empty(self._lines)
            self.fields = {}
            for name, values in found.items():
                add(self._lines, Prose(_sentence(name, values, unit)), self._field(name))
        for name, field in self.fields.items():
            if not field.hasFocus():
                field.setText(said.get(name, ""))

    def missing(self) -> QLineEdit | None:
        """Return the first field without a reason."""
        return next((field for field in self.fields.values() if not field.text().strip()), None)

    def _field(self, name: str) -> QLineEdit:
        field = self.fields[name] = QLineEdit()
        field.setObjectName(f"reason-{name}")
        field.setPlaceholderText(words.say("app.preview.beyond.reason"))
        field.setAccessibleName(words.say("app.preview.beyond.reason"))
        field.editingFinished.connect(lambda: self.given.emit(name, field.text().strip()))
        return field


def _sentence(name: str, values: Mapping[str, Any], unit: str) -> str:
    written = {key: money(values[key], unit) for key in ("price", "budget") if key in values}
    written |= {key: level(values[key]) for key in ("epsilon", "lower", "second") if key in values}
    written |= {"error": size(float(values["error"]))} if "error" in values else {}
    written |= {key: values[key] for key in ("count", "titles", "folders", "column") if key in values}
    what = "_".join((name.partition(":")[0], *([values["why"]] if "why" in values else [])))
    return words.say(f"app.preview.beyond.{what}", **written)
