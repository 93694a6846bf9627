"""What officers' papers ask once for a register: nine questions, each with its answer."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from app import words
from app.parts.cards import Fold
from app.parts.making import add, align_left, make_button, make_column, make_field, make_label
from app.parts.prose import Prose
from engine.ledger.register import QUESTIONS

LONGEST = 2000


class RegisterAnswers(Fold):
    """Folded until somebody opens it. ``wanted`` tells the answers that were changed, by their names."""

    wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(words.say("app.papers.questions"), "register-answers", parent)
        self._known: Mapping[str, str] = {}
        inside = make_column(inside=self.form, spacing=4, margins=0)
        add(inside, Prose(words.say("app.papers.questions_body"), tone="quiet"))
        self.fields: dict[str, QLineEdit] = {}
        for name in QUESTIONS:
            label = make_label(words.say(f"papers.questions.{name}.label"), pixels=12, tone="quiet")
            help_ = words.say(f"papers.questions.{name}.help")
            field = make_field(f"answer-{name}", label.text(), most=LONGEST, width=640)
            field.setAccessibleDescription(help_)
            field.textChanged.connect(lambda text: self._enable())
            label.setBuddy(field)
            self.fields[name] = field
            add(inside, label, field, Prose(help_, tone="quiet", pixels=12))
        self.button = make_button(words.say("app.papers.keep"), "keep-answers", self._ask)
        add(inside, align_left(self.button))
        self._enable()

    def show_answers(self, known: Mapping[str, str]) -> None:
        """Show what was answered for a register."""
        self._known = known
        for name, field in self.fields.items():
            field.setText(known.get(name, ""))
            field.setCursorPosition(0)
        self._enable()

    def _changed(self) -> dict[str, str]:
        said = {name: field.text().strip() for name, field in self.fields.items()}
        return {name: one for name, one in said.items() if one != self._known.get(name, "")}

    def _enable(self) -> None:
        self.button.setEnabled(bool(self._changed()))

    def _ask(self) -> None:
        self.wanted.emit(self._changed())
