"""Questions with one answer each, or none: circles under a heading; a link takes the answers back."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QRadioButton, QWidget

from app import words
from app.parts.making import STRETCH, add, left, make_button, make_column, make_grid, named
from app.parts.prose import Heading


class Questions(QWidget):
    """``answered`` tells that an answer was given or taken back; texts at ``BASE.QUESTION`` and below it."""

    answered = Signal()

    def __init__(self, base: str, questions: Mapping[str, tuple[str, ...]]) -> None:
        super().__init__()
        self.groups: dict[str, QButtonGroup] = {}
        outer = make_column(inside=self, spacing=0, margins=0)
        self._grid = make_grid(across=24, down=12)
        outer.addLayout(self._grid)
        self._parts = [self._part(base, name, answers) for name, answers in questions.items()]
        self._columns = 0
        self.lay(1)
        self.clear = make_button(words.say("app.method.clear"), "clear-answers", self.take_back, look="link")
        add(outer, 8, left(self.clear), STRETCH)
        self.clear.setEnabled(False)

    def _part(self, base: str, question: str, answers: tuple[str, ...]) -> QWidget:
        part = QWidget()
        column = make_column(inside=part, spacing=0, margins=0)
        asked = words.say(f"{base}.{question}.question")
        column.addWidget(Heading(asked, size="card"))
        group = QButtonGroup(self)
        for answer in answers:
            button = named(QRadioButton(words.say(f"{base}.{question}.{answer}")), f"{question}-{answer}")
            button.setAccessibleName(f"{asked}: {button.text()}")
            button.setProperty("answer", answer)
            group.addButton(button)
            column.addWidget(button)
        column.addStretch(1)
        group.buttonClicked.connect(lambda button: self._answered())
        self.groups[question] = group
        return part

    def lay(self, columns: int) -> None:
        """Put the questions below each other, or several side by side."""
        if columns != self._columns:
            self._columns = columns
            for place, part in enumerate(self._parts):
                self._grid.addWidget(part, place // columns, place % columns)

    def answers(self) -> dict[str, str]:
        """Return the answers that were given, by question."""
        given = {name: group.checkedButton() for name, group in self.groups.items()}
        return {name: button.property("answer") for name, button in given.items() if button is not None}

    def take_back(self) -> None:
        """Leave every question without an answer."""
        for group in self.groups.values():
            group.setExclusive(False)
            for button in group.buttons():
                button.setChecked(False)
            group.setExclusive(True)
        self._answered()

    def _answered(self) -> None:
        self.clear.setEnabled(bool(self.answers()))
        self.answered.emit()
