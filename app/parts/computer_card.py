"""Check this computer: a link, and below it what was found, with a page for those who look after it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QWidget

from app import words
from app.parts.cards import Card, Rule
from app.parts.making import add, align_left, empty, hidden, make_button, make_column, name_widget
from app.parts.prose import Heading, Prose
from app.state.settings import data_folder
from app.theme import polish
from engine.errors import EngineError
from engine.policy import policy

COPIED = ("onedrive", "dropbox", "google drive", "nextcloud", "icloud", "owncloud", "seafile")
"""How the folders begin that a program copies to other computers."""


class ComputerCard(QWidget):
    """``report`` is what was found last."""

    def __init__(
        self, check: Callable[[], None], save: Callable[[], None], ledger: Callable[[], Path | None]
    ) -> None:
        super().__init__()
        self._ledger = ledger
        self.place = name_widget(Prose(tone="quiet", pixels=12), "registers-place")
        self.report: Any = None
        self.rules = hidden(name_widget(Prose(), "computer-rules"))
        self.check = make_button(words.say("app.start.computer"), "check-computer", check, look="link")
        self.card = hidden(name_widget(Card(), "computer-card"))
        self.answer = name_widget(Heading(size="side"), "computer-answer")
        self.lines = make_column(spacing=6)
        self.save = make_button(words.say("app.start.computer_save"), "save-check", save)
        add(self.card.body, self.answer, self.lines, align_left(self.save))
        make_column(self.rules, self.place, align_left(self.check), self.card, inside=self, margins=0)

    def show_place(self) -> None:
        """Say where the registers live; a folder that is copied elsewhere is no place for them."""
        try:
            ledger = self._ledger()
            folder = ledger.parent if ledger is not None else policy().registers or data_folder()
        except EngineError:  # rules that cannot be read; said below
            self.place.hide()
            return
        copied = next((one for one in folder.parts if one.casefold().startswith(COPIED)), "")
        self.place.set_tone("care" if copied else "quiet")
        name = "copied" if copied else "live"
        self.place.say(words.say(f"app.start.registers_{name}", folder=str(folder), copied=copied))
        self.place.show()

    def show_rules(self) -> None:
        """Show what the administrator has set, if anything: what is locked, and for whom it is."""
        self.show_place()
        try:
            found = policy().named()
            said = words.say("policy.set") if found else ""
            lines = [words.say(f"policy.names.{name}", value=value) for name, value in found.items()]
        except EngineError as error:
            said, lines = words.say("policy.broken"), list(words.explain(error))
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
