"""What a verification found, in words: every check with its result, and what to do about what is wrong."""

from __future__ import annotations

from typing import Any

from app import words
from app.parts.cards import Card, Rule
from app.parts.making import add, empty, hidden, left, make_button, make_column, named
from app.parts.prose import Heading, Prose
from app.theme import polish


class VerifyCard(Card):
    """A button, and the answer below it."""

    def __init__(self) -> None:
        super().__init__(words.say("app.verify.heading"))
        self.setObjectName("verify-card")
        self.hint = Prose(words.say("app.verify.hint"), tone="quiet")
        self.button = make_button(words.say("app.verify.button"), "verify")
        self.answer = hidden(named(Heading(size="side"), "verify-answer"))
        add(self.body, self.hint, left(self.button), self.answer)
        self.lines = make_column(spacing=6)
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
        polish(self.answer)
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
