"""The key that signs the releases of a register: its fingerprint, its sheets, its passphrase, another one."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from app import words
from app.parts.cards import Fold
from app.parts.making import (
    STRETCH,
    add,
    align_left,
    make_button,
    make_column,
    make_field,
    make_row,
    name_widget,
    wide_enough,
)
from app.parts.prose import Prose

SECRETS = ("opens", "locks")
FIELDS = (*SECRETS, "reason")


class SigningSecret(QLineEdit):
    """Asks for a passphrase; hidden until a release was refused for want of it with one of these codes."""

    def __init__(
        self,
        name: str = "signing-passphrase",
        said: str = "app.signing.opens",
        codes: Collection[str] = ("signing.passphrase",),
    ) -> None:
        super().__init__()
        self.codes = codes
        self.setObjectName(name)
        self.setEchoMode(QLineEdit.EchoMode.Password)
        self.setAccessibleName(words.say(said))
        self.setPlaceholderText(words.say(said))
        self.setMaximumWidth(wide_enough(self, 360))
        self.hide()

    def taken(self) -> str:
        """Return what was written, and forget it."""
        found = self.text()
        self.clear()
        return found

    def ask_after(self, error: Any) -> None:
        """Ask from now on where a release was refused for want of it."""
        if error is not None and error.code in self.codes:
            self.show()
            self.setFocus()


class SigningKey(Fold):
    """Folded until somebody opens it. ``wanted`` tells what to do, and what was written in the fields."""

    wanted = Signal(str, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(words.say("app.signing.heading"), "signing-key", parent)
        inside = make_column(inside=self.form, spacing=6, margins=0)
        self.said = name_widget(Prose(), "signing-said")
        self.fields: dict[str, QLineEdit] = {
            name: make_field(
                f"signing-{name}",
                words.say(f"app.signing.{name}"),
                placeholder=words.say(f"app.signing.{name}"),
                most=300,
                width=480,
                secret=name in SECRETS,
            )
            for name in FIELDS
        }
        self.lost = QCheckBox(words.say("app.signing.lost"))
        self.lost.setObjectName("signing-lost")
        self.buttons = {
            name: make_button(words.say(f"app.signing.{name}"), f"signing-{name}", partial(self._ask, name))
            for name in ("sheets", "lock", "renew")
        }
        self.fields["reason"].textChanged.connect(lambda text: self._enable())
        fields = self.fields
        add(inside, self.said, fields["opens"], align_left(self.buttons["sheets"]))
        add(inside, make_row((fields["locks"], 1), self.buttons["lock"], STRETCH, spacing=8))
        add(inside, make_row((fields["reason"], 1), self.buttons["renew"], STRETCH, spacing=8), self.lost)
        self._enable()

    def show_key(self, key: dict[str, Any] | None) -> None:
        """Show what is known of the key of a register; nothing where it has none yet."""
        self.line.setChecked(False)
        self.setVisible(bool(key and key["fingerprint"]))
        if not key or not key["fingerprint"]:
            return
        for field in self.fields.values():
            field.clear()
        self.lost.setChecked(not key["there"])
        name = "is_lost" if not key["there"] else "is_locked" if key["locked"] else "is_open"
        self.said.say(
            f"{words.say('app.signing.is', fingerprint=key['grouped'])} {words.say(f'app.signing.{name}')}"
        )
        self.fields["opens"].setVisible(key["locked"])
        for button in ("sheets", "lock"):
            self.buttons[button].setEnabled(key["there"])

    def _enable(self) -> None:
        self.buttons["renew"].setEnabled(bool(self.fields["reason"].text().strip()))

    def _ask(self, name: str) -> None:
        said: dict[str, Any] = {field: one.text() for field, one in self.fields.items()}
        said["reason"] = said["reason"].strip()
        for secret in SECRETS:
            self.fields[secret].clear()
        self.wanted.emit(name, said | {"is_lost": self.lost.isChecked()})
