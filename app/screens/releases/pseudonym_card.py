"""Who is behind a pseudonym that came back: what has to be said for it, and the answer."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QLineEdit

from app import words
from app.parts.cards import Card
from app.parts.making import add, left, make_button, named
from app.parts.prose import Heading, Prose

FIELDS = ("pseudonym", "reason", "passphrase")


class PseudonymCard(Card):
    """Three fields, a button that asks for the table, and the number of the person."""

    def __init__(self, ask: Callable[[], None]) -> None:
        super().__init__(words.say("app.releases.behind.heading"))
        self.setObjectName("behind-card")
        self.body.addWidget(Prose(words.say("app.releases.behind.body"), tone="quiet"))
        self.fields: dict[str, QLineEdit] = {}
        for name in FIELDS:
            field = QLineEdit()
            field.setObjectName(f"behind-{name}")
            field.setAccessibleName(words.say(f"app.releases.behind.{name}"))
            field.setPlaceholderText(words.say(f"app.releases.behind.{name}"))
            field.setMaximumWidth(480)
            field.textChanged.connect(lambda text: self._enable())
            self.fields[name] = field
            self.body.addWidget(field)
        self.fields["passphrase"].setEchoMode(QLineEdit.EchoMode.Password)
        self.button = make_button(words.say("app.releases.behind.button"), "behind", lambda: ask())
        self.answer = named(Heading(size="side"), "behind-answer")
        add(self.body, left(self.button), self.answer)
        self.forget()

    def forget(self) -> None:
        """Show neither an answer nor what was asked."""
        self.answer.hide()
        self.answer.setText("")
        for field in self.fields.values():
            field.clear()
        self._enable()

    def asked(self) -> dict[str, str]:
        """Return what was said, and forget the passphrase."""
        found = {name: field.text().strip() for name, field in self.fields.items()}
        self.fields["passphrase"].clear()
        return found

    def show_person(self, person: str) -> None:
        """Show the number of the person."""
        self.answer.setText(words.say("app.releases.behind.answer", person=person))
        self.answer.show()

    def _enable(self) -> None:
        said = all(self.fields[name].text().strip() for name in ("pseudonym", "reason"))
        self.button.setEnabled(said)
