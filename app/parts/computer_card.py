"""Check this computer: a link, and below it what was found, with a page for those who look after it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtWidgets import QWidget

from app import words
from app.parts.cards import Card, Rule
from app.parts.making import add, align_left, empty, hidden, make_button, make_column, name_widget
from app.parts.prose import Heading, Prose
from app.theme import polish
from engine.errors import EngineError
from engine.policy import policy


class ComputerCard(QWidget):
    """``report`` is what was found last; ``rules``, what the administrator has set, stand elsewhere.

    ``is_broken``: the rules cannot be read, so that nothing is released.
    """

    def __init__(self, check: Callable[[], None], save: Callable[[], None]) -> None:
        super().__init__()
        self.report: Any = None
        self.is_broken = False
        self.rules = hidden(name_widget(Prose(), "computer-rules"))
        self.check = make_button(words.say("app.start.computer"), "check-computer", check, look="link")
        self.card = hidden(name_widget(Card(), "computer-card"))
        self.answer = name_widget(Heading(size="side"), "computer-answer")
        self.lines = make_column(spacing=6)
        self.save = make_button(words.say("app.start.computer_save"), "save-check", save)
        add(self.card.body, self.answer, self.lines, align_left(self.save))
        make_column(align_left(self.check), self.card, inside=self, margins=0)

    def show_rules(self) -> None:
        """Show what the administrator has set, if anything: what is locked, and for whom it is."""
        self.is_broken = False
        try:
            found = policy().named()
            said = words.say("policy.set") if found else ""
            lines = [words.say(f"policy.names.{name}", value=value) for name, value in found.items()]
        except EngineError as error:
            said, lines = words.say("policy.broken"), list(words.explain(error))
            self.is_broken = True
        self.rules.setProperty("tone", "wrong" if self.is_broken else "")
        polish(self.rules)
        self.rules.setVisible(bool(said))
        self.rules.say("\n\n".join((said, *(f"• {line}" for line in lines))))

    def show_report(self, report: Any) -> None:
        """Show an `engine.computer.checks.Report`: what is wrong stands first."""
        self.report = report
        empty(self.lines)
        self.answer.setText(words.say(f"computer.{'passed' if report.passed else 'failed'}"))
        self.answer.setProperty("tone", "accent" if report.passed else "wrong")
        polish(self.answer)
        for one in sorted(report.checks, key=lambda one: one.state != "wrong"):
            name = words.say(f"computer.names.{one.id}")
            said = words.say(one.text_id, **one.values)
            self.lines.addWidget(Rule())
            self.lines.addWidget(Prose(f"**{name}.** {said}", tone="wrong" if one.state == "wrong" else ""))
        self.card.show()
        self.card.setAccessibleDescription(self.answer.text())
