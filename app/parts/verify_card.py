"""What a verification found, in words: every check with its result, and what to do about what is wrong."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QVBoxLayout

from app import words
from app.parts.cards import Card, Rule
from app.parts.making import empty
from app.parts.prose import Heading, Prose


class VerifyCard(Card):
    """A button, and the answer below it."""

    def __init__(self) -> None:
        super().__init__(words.say("app.verify.heading"))
        self.setObjectName("verify-card")
        self.hint = Prose(words.say("app.verify.hint"), tone="quiet")
        self.body.addWidget(self.hint)
        self.button = QPushButton(words.say("app.verify.button"))
        self.button.setObjectName("verify")
        self.body.addWidget(self.button, 0, Qt.AlignmentFlag.AlignLeft)
        self.answer = Heading(size="side")
        self.answer.setObjectName("verify-answer")
        self.answer.hide()
        self.body.addWidget(self.answer)
        self.lines = QVBoxLayout()
        self.lines.setSpacing(6)
        self.body.addLayout(self.lines)

    def forget(self) -> None:
        """Show no answer: another bundle is meant."""
        self.answer.hide()
        empty(self.lines)

    def show_verification(self, found: Any) -> None:
        """Show an `engine.release.verify.Verification`."""
        empty(self.lines)
        self.answer.show()
        self.answer.setText(words.say(f"app.verify.{_answer(found)}", folder=found.folder))
        self.answer.setProperty("tone", "accent" if found.passed else "wrong")
        self.answer.style().unpolish(self.answer)
        self.answer.style().polish(self.answer)
        merged: dict[str, list[Any]] = {}
        for check in found.checks:
            merged.setdefault(check.id, []).extend(check.problems)
        if found.unchecked:
            merged["words_absent"] = []
        if found.signed:
            merged["signed"] = []
        if not found.chain_checked:
            merged["ledger_absent"] = []
        for name, problems in merged.items():
            self.lines.addWidget(Rule())
            if problems:
                for problem in problems:
                    self.lines.addWidget(Prose(" ".join(words.explain(problem)), tone="wrong"))
            else:
                said = words.say(
                    f"app.verify.check.{name}",
                    fingerprint=found.fingerprint,
                    unchecked=", ".join(found.unchecked),
                    signed=", ".join(found.signed),
                )
                self.lines.addWidget(Prose(said))
        self.setAccessibleDescription(self.answer.text())


def _answer(found: Any) -> str:
    """Return the id of what can be said: without a ledger, only that the files agree."""
    if not found.passed:
        return "failed"
    return "passed" if found.chain_checked else "agrees"
