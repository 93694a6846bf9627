"""Encrypting what stays of a release, and opening it again; the passphrase is handed on and kept nowhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QInputDialog, QLineEdit, QVBoxLayout, QWidget

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
        self.secret, self.again = (_secret_field(name, self._enable) for name in ("secret", "again"))
        self.button = make_button("", "sealing-now", self._ask)
        row = make_row((self.secret, 1), (self.again, 1), self.button, spacing=8)
        limits = Prose(words.say("signing.sealing.limits"), tone="quiet", pixels=12)
        add(inside, self.said, row, limits)
        self._seals, self._sets_up = True, True

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


class SealingSetUp(Fold):
    """Offers encryption before there is a release until somebody answers, and changes the passphrase later.

    ``wanted`` tells the earlier passphrase, or the code, and the new one; at first the earlier is empty.
    """

    wanted = Signal(str, str)
    declined = Signal()
    ledger = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", "sealing-set-up", parent)
        self.offer = name_widget(Prose(), "sealing-offer")
        self.later = make_button(words.say("app.sealing.later"), "sealing-later", self._decline, look="link")
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.insertWidget(0, self.offer)
        layout.insertWidget(2, self.later, 0, Qt.AlignmentFlag.AlignLeft)
        self.of_ledger = make_button("", "sealing-ledger", self.ledger.emit, look="link")
        layout.insertWidget(1, self.of_ledger, 0, Qt.AlignmentFlag.AlignLeft)
        self.fields = {name: _secret_field(name, self._enable) for name in ("old", "new", "new_again")}
        self.button = make_button("", "sealing-take", self._ask)
        inside = make_column(inside=self.form, spacing=6, margins=0)
        self.said = Prose()
        row = make_row(*((self.fields[name], 1) for name in ("new", "new_again")), self.button, spacing=8)
        limits = Prose(words.say("signing.sealing.limits"), tone="quiet", pixels=12)
        add(inside, self.said, self.fields["old"], row, limits)
        self._is_set_up = False

    def show_state(self, *, is_set_up: bool, is_wanted: bool, is_answered: bool, ledger: str = "") -> None:
        """Show whether a passphrase was chosen, whether one has to be, and whether somebody said no.

        ``ledger``: what can be done with the file of the ledger, ``encrypt`` or ``open``.
        """
        self.of_ledger.setVisible(bool(ledger))
        self.of_ledger.setText(words.say(f"app.sealing.ledger.{ledger}") if ledger else "")
        self._is_set_up = is_set_up
        for field in self.fields.values():
            field.clear()
        asks = not is_set_up and (is_wanted or not is_answered)
        self.offer.say(words.say(f"app.sealing.{'offer_wanted' if is_wanted else 'offer'}") if asks else "")
        self.offer.setVisible(asks)
        self.later.setVisible(asks and not is_wanted)
        self.fields["old"].setVisible(is_set_up)
        name = "change" if is_set_up else "choose"
        self.line.setText(words.say(f"app.sealing.{name}_heading"))
        self.said.say(words.say("signing.sealing.before" if is_set_up else "app.sealing.not_set_up"))
        self.button.setText(words.say(f"app.sealing.{name}"))
        self._enable()

    def _enable(self) -> None:
        old, new, again = (field.text() for field in self.fields.values())
        self.button.setEnabled(bool(new) and new == again and bool(old or not self._is_set_up))

    def _ask(self) -> None:
        old, new, _ = (field.text() for field in self.fields.values())
        for field in self.fields.values():
            field.clear()
        self.wanted.emit(old if self._is_set_up else "", new)

    def _decline(self) -> None:
        self.line.setChecked(False)
        self.declined.emit()


def _secret_field(name: str, edited: Callable[[], None]) -> QLineEdit:
    said = words.say(f"app.sealing.{name}")
    field = make_field(f"sealing-{name.replace('_', '-')}", said, placeholder=said, most=300, secret=True)
    field.textChanged.connect(lambda text: edited())
    return field


def ask_secret(page: Any, act: Callable[[str], None]) -> None:
    """Ask for the passphrase or the recovery code with which something is opened."""
    dialog = QInputDialog(page)
    dialog.setObjectName("sealing-secret-asked")
    dialog.setWindowTitle(words.say("app.sealing.heading"))
    dialog.setLabelText(words.say("app.sealing.secret"))
    dialog.setTextEchoMode(QLineEdit.EchoMode.Password)
    dialog.textValueSelected.connect(act)
    dialog.open()
