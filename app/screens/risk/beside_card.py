"""What other files change: the population that the table is a part of, and what somebody else holds."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from PySide6.QtCore import Signal

from app import words
from app.parts.cards import Card, row
from app.parts.exact_field import ExactField
from app.parts.prose import Prose
from app.parts.second_file import SecondFile
from app.screens.risk.asks import INTRUDER, POPULATION

FIELD = "population_size"


class BesideCard(Card):
    """``chosen`` tells what is asked with, by name: a path or a size; None where no longer."""

    chosen = Signal(str, object)

    def __init__(self) -> None:
        super().__init__(words.say("app.risk.beside.heading"))
        self.setObjectName("beside")
        self.body.setSpacing(12)
        self.files: dict[str, SecondFile] = {}
        self.answers: dict[str, Prose] = {}
        self._add_file(POPULATION, "analyses.disclosure.sources.population")
        self.how_many = ExactField(words.say("app.risk.beside.size"), smallest=1, whole=True, width=120)
        self.how_many.setObjectName(FIELD)
        self.how_many.decided.connect(lambda number: self.chosen.emit(POPULATION, number))
        said = Prose(words.say("app.risk.beside.size"), tone="quiet")
        said.setWordWrap(False)
        self.body.addLayout(row(said, self.how_many))
        self._add_answer(POPULATION)
        self._add_file(INTRUDER, "analyses.linkage.sources.intruder")
        self._add_answer(INTRUDER)

    def _add_file(self, name: str, text: str) -> None:
        file = SecondFile(name, words.say(f"{text}.label"), words.say(f"app.risk.beside.{name}"))
        file.chosen.connect(lambda path: self.chosen.emit(name, Path(path)))
        file.removed.connect(lambda: self.chosen.emit(name, None))
        self.files[name] = file
        self.body.addWidget(file)

    def _add_answer(self, name: str) -> None:
        self.answers[name] = Prose()
        self.answers[name].setObjectName(f"answer-{name}")
        self.answers[name].hide()
        self.body.addWidget(self.answers[name])

    def show_asked(self, name: str, given: Path | Fraction | None) -> None:
        """Show what is asked with; its answer is not known yet."""
        self.files[name].show_file(given if isinstance(given, Path) else None)
        if name == POPULATION:
            self.how_many.show_number(given if isinstance(given, Fraction) else None)
        self.show_answer(name, ())

    def show_answer(self, name: str, sentences: Sequence[str]) -> None:
        """Show what was found, in sentences."""
        self.answers[name].say("\n\n".join(sentences))
        self.answers[name].setVisible(bool(sentences))
