"""The recorded steps before anything is computed: keep rows, leave people out, ages, bands, recoding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app import words
from app.parts.cards import Card, Rule
from app.parts.making import add, empty, make_column, make_row
from app.parts.prose import Prose
from app.parts.wrapping import Wrapping
from app.screens.load.preparation_forms import StepForm
from engine.table.preparation.declarations import STEPS


class PreparationSteps(Card):
    """A list of steps in their order, and a form for one more. Emits ``changed`` with all steps."""

    changed = Signal(tuple)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(words.say("app.load.preparation"), parent=parent)
        self.setObjectName("preparation")
        self._steps: tuple[Mapping[str, Any], ...] = ()
        self._columns: tuple[str, ...] = ()
        self.form: StepForm | None = None
        self.intro = Prose(words.say("app.load.preparation_intro"), tone="quiet")
        self.body.addWidget(self.intro)
        self._lines = make_column(spacing=0)
        self.body.addLayout(self._lines)
        self._form_place = QVBoxLayout()
        self.body.addLayout(self._form_place)
        self.buttons: dict[str, QPushButton] = {}
        line = Wrapping()
        for kind in STEPS:
            button = QPushButton(words.say(f"app.preparation.{kind}.button"))
            button.setObjectName(f"add_{kind}")
            button.setProperty("look", "chip")
            button.clicked.connect(lambda checked=False, kind=kind: self.add(kind))
            self.buttons[kind] = button
            line.addWidget(button)
        self.body.addLayout(line)

    def show_steps(self, steps: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
        """Show the steps of a plan, for a table with these columns."""
        self._columns = tuple(columns)
        if tuple(steps) == self._steps and self._lines.count() == 2 * len(self._steps):
            return
        self._steps = tuple(steps)
        empty(self._lines)
        for place, step in enumerate(self._steps):
            add(self._lines, self._line(place, step), Rule())
        self.intro.setVisible(not self._steps)

    def _line(self, place: int, step: Mapping[str, Any]) -> QWidget:
        part = QWidget()
        row = make_row(inside=part, margins=(0, 2, 0, 2))
        sentence = step_words(step)
        remove = QPushButton(words.say("app.load.remove_step"))
        remove.setObjectName(f"remove_{place}")
        remove.setAccessibleName(words.say("app.load.remove_step_name", step=sentence))
        remove.setProperty("look", "link")
        remove.clicked.connect(
            lambda checked=False: self._emit(self._steps[:place] + self._steps[place + 1 :])
        )
        add(row, (Prose(f"{place + 1}. {sentence}"), 1), (remove, 0, Qt.AlignmentFlag.AlignTop))
        return part

    def add(self, kind: str) -> None:
        """Open the form of one kind of step."""
        self._close()
        self.form = StepForm(kind, self._columns)
        self.form.made.connect(lambda step: self._emit((*self._steps, step)))
        self.form.dropped.connect(self._close)
        self._form_place.addWidget(self.form)
        self.form.focus_first()

    def _close(self) -> None:
        if self.form is not None:
            self.form.hide()
            self.form.deleteLater()
            self.form = None

    def _emit(self, steps: tuple[Mapping[str, Any], ...]) -> None:
        self._close()
        self.changed.emit(steps)


def step_words(step: Mapping[str, Any]) -> str:
    """Return a recorded step as a sentence; it holds what the custodian wrote, nothing of the rows."""
    kind = str(step.get("step"))
    values = {name: value for name, value in step.items() if isinstance(value, str | int | float)}
    values["to"] = step.get("to") or step.get("column", "")
    if kind == "keep_rows_where":
        values["values"] = ", ".join(map(str, step.get("values", ())))
        return words.say(f"app.preparation.keep_rows_where.is.{step['is']}", **values)
    if step.get("file"):
        values["file"] = Path(str(step["file"])).name
    if kind == "age_at":
        values["date"] = step.get("date") or step.get("date_column", "")
    if kind == "bands":
        values["edges"] = ", ".join(map(str, step.get("edges", ())))
    if kind == "recode" and not step.get("map"):
        return words.say("app.preparation.recode.sentence_file", **values)
    return words.say(f"app.preparation.{kind}.sentence", count=len(step.get("map", ())), **values)
