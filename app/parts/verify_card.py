"""What a verification found, in words: every check with its result, and what to do about what is wrong."""

from __future__ import annotations

from typing import Any

from app import words
from app.parts.cards import Card, Rule
from app.parts.making import add, align_left, empty, hidden, make_button, make_column, make_field, name_widget
from app.parts.prose import Heading, Prose
from app.theme import polish
from engine.release.signature import in_groups, plain_fingerprint


class VerifyCard(Card):
    """A button, and the answer below it."""

    def __init__(self) -> None:
        super().__init__(words.say("app.verify.heading"))
        self.setObjectName("verify-card")
        self.hint = Prose(words.say("app.verify.hint"), tone="quiet")
        self.button = make_button(words.say("app.verify.button"), "verify")
        said = words.say("app.verify.known")
        hint = words.say("app.verify.known_short")
        self.fingerprint = make_field("verify-fingerprint", said, placeholder=hint, most=80, width=480)
        self.answer = hidden(name_widget(Heading(size="side"), "verify-answer"))
        add(self.body, self.hint, self.fingerprint, align_left(self.button), self.answer)
        self.lines = make_column(spacing=6)
        self.body.addLayout(self.lines)

    def forget(self) -> None:
        """Show no answer: another bundle is meant."""
        self.answer.hide()
        empty(self.lines)

    def known(self) -> dict[str, str] | None:
        """Return the fingerprint that was entered, if any; None where it is none, which is said."""
        written = self.fingerprint.text().strip()
        if not written:
            return {}
        found = plain_fingerprint(written)
        if found:
            return {found: words.say("app.verify.known_as")}
        empty(self.lines)
        self.answer.hide()
        self.lines.addWidget(Prose(words.say("app.verify.known_wrong"), tone="wrong"))
        self.fingerprint.setFocus()
        return None

    def show_verification(self, found: Any) -> None:
        """Show an `engine.release.verify.Verification`."""
        empty(self.lines)
        self.answer.show()
        said = words.say(f"app.verify.{_answer(found)}", folder=found.folder, part=found.unsigned)
        self.answer.setText(said)
        self.answer.setProperty("tone", "accent" if found.passed else "wrong")
        polish(self.answer)
        merged: dict[str, list[Any]] = {}
        for check in found.checks:
            merged.setdefault(check.id, []).extend(check.problems)
        if found.unchecked:
            merged["words_absent"] = []
        if found.signed:
            merged["signed"] = []
        merged.setdefault("signature", [])
        if not found.chain_checked and not found.known_as:
            merged["ledger_absent"] = []
        for name, problems in merged.items():
            self.lines.addWidget(Rule())
            if problems:
                for problem in problems:
                    self.lines.addWidget(Prose(" ".join(words.explain(problem)), tone="wrong"))
            else:
                said = words.say(
                    f"app.verify.check.{_signature(found) if name == 'signature' else name}",
                    name=found.known_as,
                    key="" if found.signature is None else in_groups(found.signature.fingerprint),
                    fingerprint=found.fingerprint,
                    unchecked=", ".join(found.unchecked),
                    signed=", ".join(found.signed),
                )
                self.lines.addWidget(Prose(said))
        self.setAccessibleDescription(self.answer.text())


def _signature(found: Any) -> str:
    """Return the id of what can be said of a signature: whose key it is only where somebody knows it."""
    if found.signature is None:
        return "signature_absent"
    if not found.known_by:
        return "signature_unknown"
    is_later = found.known_by != found.signature.fingerprint
    return "signature_known_earlier" if is_later else "signature_known"


def _answer(found: Any) -> str:
    """Return the id of what can be said: without a ledger, only that the files agree."""
    if not found.passed:
        return "failed"
    signed = "release_signed" if found.unsigned else "agrees_signed"
    agrees = signed if found.known_as else "agrees"
    return "passed" if found.chain_checked else agrees
