"""Privacy at risk: published, exact, exact both ways and certified, always together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QWidget

from app import words
from app.parts.cards import Card, Rule
from app.parts.prose import Heading, Prose
from app.theme import text_font

NAMES = ("published", "exact", "exact_two_sided", "certified")


@dataclass(frozen=True)
class AtRisk:
    """What the card shows: its heading, one written number a name, a warning or nothing."""

    heading: str
    numbers: Sequence[str]
    warning: str = ""
    key: str = "–"
    sentence: str = ""


class AtRiskCard(Card):
    """One sentence about the exact figure; all four under their own names behind a link, never one alone."""

    def __init__(self) -> None:
        super().__init__(words.say("app.budget.at_risk.heading_empty"))
        self.setObjectName("card-at-risk")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.key = Heading(size="key")
        self.key.setWordWrap(False)
        self.sentence = Prose()
        self.sentence.setObjectName("at-risk-sentence")
        self.body.addWidget(self.key)
        self.body.addWidget(self.sentence)
        self.toggle = QPushButton(words.say("app.budget.at_risk.show"))
        self.toggle.setObjectName("at-risk-figures")
        self.toggle.setProperty("look", "link")
        self.toggle.setCheckable(True)
        self.body.addWidget(self.toggle)
        figures = QWidget()
        grid = QGridLayout(figures)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(5)
        grid.setColumnStretch(0, 1)
        head = QLabel(words.say("app.budget.at_risk.confidence"))
        head.setFont(text_font(12, 500))
        head.setProperty("tone", "quiet")
        grid.addWidget(head, 0, 0, 1, 2, Qt.AlignmentFlag.AlignRight)
        self.numbers: dict[str, QLabel] = {}
        for place, name in enumerate(NAMES):
            grid.addWidget(Rule(), 2 * place + 1, 0, 1, 2)
            grid.addWidget(Prose(words.say(f"app.budget.at_risk.{name}")), 2 * place + 2, 0)
            number = QLabel("–")
            number.setFont(text_font(13, 500))
            number.setObjectName(f"at-risk-{name}")
            self.numbers[name] = number
            grid.addWidget(number, 2 * place + 2, 1, Qt.AlignmentFlag.AlignRight)
        figures.hide()
        self.toggle.toggled.connect(figures.setVisible)
        self.toggle.toggled.connect(
            lambda on: self.toggle.setText(words.say(f"app.budget.at_risk.{'hide' if on else 'show'}"))
        )
        self.body.addWidget(figures)
        self.warning = Prose(tone="care", pixels=12)
        self.warning.hide()
        self.body.addWidget(self.warning)
        self.body.addStretch(1)

    def show_at_risk(self, said: AtRisk) -> None:
        """Show the figures."""
        self.heading.setText(said.heading)
        self.key.setText(said.key)
        self.sentence.say(said.sentence)
        for name, written in zip(NAMES, said.numbers, strict=True):
            self.numbers[name].setText(written)
        self.warning.setVisible(bool(said.warning))
        self.warning.say(said.warning)
        pairs = zip(NAMES, said.numbers, strict=True)
        spoken = ", ".join(f"{words.say(f'app.budget.at_risk.{name}')} {number}" for name, number in pairs)
        self.setAccessibleName(f"{said.heading}: {said.sentence} {spoken}. {said.warning}")
