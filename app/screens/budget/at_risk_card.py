"""Privacy at risk: published, exact, exact both ways and certified, always together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from app import words
from app.parts.cards import Card, Rule
from app.parts.making import STRETCH, add, hidden, make_button, make_grid, make_label, name_widget
from app.parts.prose import Heading, Prose

NAMES = ("published", "exact", "exact_two_sided", "certified")


@dataclass(frozen=True)
class AtRisk:
    """What the card shows: its heading, one written number a name, a warning or nothing."""

    heading: str
    numbers: Sequence[str]
    warning: str = ""
    key: str = "–"
    sentence: str = ""
    is_told: bool = True


class AtRiskCard(Card):
    """One sentence about the exact figure; all four under their own names behind a link, never one alone."""

    def __init__(self) -> None:
        super().__init__(words.say("app.budget.at_risk.heading_empty"))
        self.setObjectName("card-at-risk")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.key = Heading(size="key")
        self.key.setWordWrap(False)
        self.sentence = name_widget(Prose(), "at-risk-sentence")
        self.toggle = make_button(
            words.say("app.budget.at_risk.show"), "at-risk-figures", look="link", checkable=True
        )
        add(self.body, self.key, self.sentence, self.toggle)
        figures = QWidget()
        grid = make_grid(figures, across=8, down=5, margins=0)
        grid.setColumnStretch(0, 1)
        head = make_label(words.say("app.budget.at_risk.confidence"), pixels=12, weight=500, tone="quiet")
        grid.addWidget(head, 0, 0, 1, 2, Qt.AlignmentFlag.AlignRight)
        self.numbers: dict[str, QLabel] = {}
        for place, name in enumerate(NAMES):
            grid.addWidget(Rule(), 2 * place + 1, 0, 1, 2)
            grid.addWidget(Prose(words.say(f"app.budget.at_risk.{name}")), 2 * place + 2, 0)
            number = make_label("–", f"at-risk-{name}", pixels=13, weight=500)
            self.numbers[name] = number
            grid.addWidget(number, 2 * place + 2, 1, Qt.AlignmentFlag.AlignRight)
        figures.hide()
        self.toggle.toggled.connect(figures.setVisible)
        self.toggle.toggled.connect(
            lambda on: self.toggle.setText(words.say(f"app.budget.at_risk.{'hide' if on else 'show'}"))
        )
        self.warning = hidden(Prose(tone="care", pixels=12))
        add(self.body, figures, self.warning, STRETCH)

    def show_at_risk(self, said: AtRisk) -> None:
        """Show the figures."""
        self.heading.setText(said.heading)
        self.key.setText(said.key)
        self.sentence.say(said.sentence)
        self.toggle.setVisible(said.is_told)
        if not said.is_told:
            self.toggle.setChecked(False)
        for name, written in zip(NAMES, said.numbers, strict=True):
            self.numbers[name].setText(written)
        self.warning.setVisible(bool(said.warning))
        self.warning.say(said.warning)
        pairs = zip(NAMES, said.numbers, strict=True)
        spoken = ", ".join(f"{words.say(f'app.budget.at_risk.{name}')} {number}" for name, number in pairs)
        self.setAccessibleName(words.pair(said.heading, f"{said.sentence} {spoken}. {said.warning}"))
