"""Encrypting what stays of a release, and opening it again; the passphrase is handed on and kept nowhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QInputDialog, QLineEdit, QWidget

from app import words
from app.parts.cards import Fold
from app.parts.making import add, make_button, make_column, make_field, make_row, name_widget
from app.parts.prose import Prose


class SealingFold(Fold):
    """Folded until somebody opens it. ``wanted`` tells whether to encrypt, and the passphrase or the code."""

    wanted = Signal(bool, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(words.say("app.sealing.heading"), "sealing", parent)
        inside = make_column(inside=self.form, spacing=6, margins=0)
        self.said = name_widget(Prose(), "sealing-said")
        self.secret, self.again = (self._field(name) for name in ("secret", "again"))
        self.button = make_button("", "sealing-now", self._ask)
        row = make_row((self.secret, 1), (self.again, 1), self.button, spacing=8)
        limits = Prose(words.say("signing.sealing.limits"), tone="quiet", pixels=12)
        add(inside, self.said, row, limits)
        self._seals, self._sets_up = True, True

    def _field(self, name: str) -> QLineEdit:
        said = words.say(f"app.sealing.{name}")
        field = make_field(f"sealing-{name}", said, placeholder=said, most=300, secret=True)
        field.textChanged.connect(lambda text: self._enable())
        return field

    def show_state(self, *, is_sealed: bool, is_set_up: bool) -> None:
        """Show whether what stays is encrypted, and whether a passphrase was ever chosen."""
        self._seals, self._sets_up = not is_sealed, not is_set_up
        for field in (self.secret, self.again):
            field.clear()
        self.again.setVisible(self._seals and self._sets_up)
        name = "is_sealed" if is_sealed else "is_open" if is_set_up else "not_set_up"
        self.said.say(words.say(f"app.sealing.{name}"))
        self.button.setText(words.say(f"app.sealing.{'open' if is_sealed else 'seal'}"))
        self._enable()

    def _enable(self) -> None:
        twice = not (self._seals and self._sets_up) or self.secret.text() == self.again.text()
        self.button.setEnabled(bool(self.secret.text()) and twice)

    def _ask(self) -> None:
        secret = self.secret.text()
        for field in (self.secret, self.again):
            field.clear()
        self.wanted.emit(self._seals, secret)


def ask_secret(page: Any, act: Callable[[str], None]) -> None:
    """Ask for the passphrase or the recovery code with which something is opened."""
    dialog = QInputDialog(page)
    dialog.setObjectName("sealing-secret-asked")
    dialog.setWindowTitle(words.say("app.sealing.heading"))
    dialog.setLabelText(words.say("app.sealing.secret"))
    dialog.setTextEchoMode(QLineEdit.EchoMode.Password)
    dialog.textValueSelected.connect(act)
    dialog.open()
