"""The most exposed people, for the custodian alone: opened on a click, never copied, in no report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from app import words
from app.parts.cards import Card, pill
from app.parts.making import STRETCH, add, empty, make_button, make_grid, make_row
from app.parts.prose import Heading, Prose
from app.theme import mono_font, text_font
from engine import texts

SHOWN = 10


class ExposedCard(Card):
    """A line for each: row, what shows, and the columns that are enough."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("exposed")
        head = make_row(Heading(words.say("app.risk.exposed.heading"), size="card", tone="quiet"))
        self.open = make_button(press=self._toggle, look="link")
        add(head, pill(words.say("app.risk.exposed.stays")), STRETCH, self.open)
        self.sentence = Prose(tone="quiet")
        add(self.body, head, self.sentence)
        self.lines = QWidget()
        self._grid = make_grid(self.lines, across=18, margins=0)
        self._grid.setColumnStretch(1, 1)
        self.body.addWidget(self.lines)
        self._people: Sequence[Any] = ()
        self._is_open, self._all = False, False

    def show_people(self, people: Sequence[Any], *, singled_out: int, everybody: int, few: int) -> None:
        """Take other people; their rows stay closed until they are asked for."""
        if people is not self._people:
            self._people, self._is_open, self._all = people, False, False
        name = "sentence" if singled_out else "nobody"
        self.sentence.say(words.say(f"app.risk.exposed.{name}", count=singled_out, people=everybody, few=few))
        self._fill()

    def _toggle(self) -> None:
        if self._is_open and not self._all and len(self._people) > SHOWN:
            self._all = True
        else:
            self._is_open, self._all = not self._is_open, False
        self._fill()

    def _fill(self) -> None:
        empty(self._grid)
        self.open.setVisible(bool(self._people))
        more = self._is_open and not self._all and len(self._people) > SHOWN
        word = "all" if more else "hide" if self._is_open else "show"
        self.open.setText(words.say(f"app.risk.exposed.{word}", count=len(self._people)))
        self.lines.setVisible(self._is_open)
        for line, one in enumerate(self._people[: len(self._people) if self._all else SHOWN]):
            if not self._is_open:
                break
            row = words.say("app.risk.exposed.row", row=texts.number(one.row + 1))
            said = [value or words.say("app.risk.exposed.missing") for value in one.values]
            for place, (written, face) in enumerate(
                (
                    (row, text_font(12)),
                    (", ".join(said), text_font(13)),
                    (", ".join(one.columns), mono_font(12)),
                )
            ):
                label = QLabel(written)
                label.setFont(face)
                label.setTextFormat(Qt.TextFormat.PlainText)
                label.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)
                self._grid.addWidget(label, line, place)
