"""The people of a register: who prepares, approves, audits, who is signed in, what needs two."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QPushButton, QWidget

from app import words
from app.parts.cards import Fold
from app.parts.making import (
    STRETCH,
    add,
    align_left,
    make_button,
    make_choice,
    make_column,
    make_field,
    make_row,
    name_widget,
)
from app.parts.prose import Heading, Prose
from engine.ledger.staff import APPROVE, ROLES

SECRETS = ("passphrase", "new", "again", "second_passphrase")
FIELDS = ("passphrase", "name", "new", "again", "epsilon", "money", "reason", "second_passphrase")


class RegisterPeople(Fold):
    """Folded until somebody opens it. ``wanted`` tells what to do with what was said; see `app.work.people`.

    ``carried`` asks for a file: a request to approve, a counter sheet to write or to compare with.
    """

    wanted = Signal(str, object)
    carried = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(words.say("app.staff.heading"), "register-people", parent)
        self.said = name_widget(Prose(), "people-said")
        self.fields: dict[str, QLineEdit] = {name: self._field(name) for name in FIELDS}
        self.choices: dict[str, QComboBox] = {
            name: make_choice(f"people-{name}", words.say(f"app.staff.{name}"), width=240)
            for name in ("person", "role", "gone", "second")
        }
        for role in ROLES:
            self.choices["role"].addItem(words.say(f"app.staff.roles.{role}"), role)
        self.unbounded = QCheckBox(words.say("app.staff.unbounded"))
        self.unbounded.setObjectName("people-unbounded")
        self.buttons: dict[str, QPushButton] = {
            name: make_button(
                words.say(f"app.staff.{name}_button"), f"people-{name}", partial(self._ask, name)
            )
            for name in ("sign_in", "sign_out", "name", "withdraw", "rule")
        }
        for name in ("approve", "sheet", "compare"):
            self.buttons[name] = make_button(
                words.say(f"app.staff.{name}_button"), f"people-{name}", partial(self.carried.emit, name)
            )
        self._build()
        for field in self.fields.values():
            field.textChanged.connect(lambda text: self._enable())
        self._enable()

    def _field(self, name: str) -> QLineEdit:
        said = words.say(f"app.staff.{name}")
        return make_field(f"people-{name}-field", said, placeholder=said, most=300, secret=name in SECRETS)

    def _build(self) -> None:
        inside = make_column(inside=self.form, spacing=6, margins=0)
        fields, choices, buttons = self.fields, self.choices, self.buttons
        add(inside, self.said)
        self.here = QWidget()
        make_row(
            choices["person"], (fields["passphrase"], 1), buttons["sign_in"], inside=self.here, margins=0
        )
        add(inside, self.here, align_left(buttons["sign_out"]))
        self.deciding = QWidget()
        column = make_column(inside=self.deciding, spacing=6, margins=0)
        add(column, Heading(words.say("app.staff.name_heading"), size="small", tone="quiet"))
        add(column, make_row((fields["name"], 1), choices["role"]))
        add(column, make_row((fields["new"], 1), (fields["again"], 1), buttons["name"]))
        self.grown = QWidget()
        more = make_column(inside=self.grown, spacing=6, margins=0)
        add(more, Heading(words.say("app.staff.rule_heading"), size="small", tone="quiet"))
        add(more, make_row((fields["epsilon"], 1), (fields["money"], 1)), self.unbounded)
        add(more, fields["reason"])
        add(more, make_row(buttons["rule"], STRETCH, choices["gone"], buttons["withdraw"]))
        self.two = QWidget()
        second = make_column(inside=self.two, spacing=6, margins=0)
        add(second, Heading(words.say("app.staff.second_heading"), size="small", tone="quiet"))
        add(second, make_row(choices["second"], (fields["second_passphrase"], 1)))
        add(inside, self.deciding, self.grown, self.two)
        add(inside, make_row(buttons["approve"], buttons["sheet"], buttons["compare"], STRETCH))
        add(inside, Prose(words.say("app.staff.limits"), tone="quiet", pixels=12))

    def show_people(self, found: dict[str, Any] | None) -> None:
        """Show the persons and the rule of a register, as the ledger lists them."""
        self.setVisible(found is not None)
        if found is None:
            return
        active = [one for one in found["persons"] if not one["withdrawn"]]
        there = next((one for one in active if one["id"] in found["present"]), None)
        others = [one for one in active if there is None or one["id"] != there["id"]]
        for field in self.fields.values():
            field.clear()
        _fill(self.choices["person"], active)
        _fill(self.choices["gone"], active)
        _fill(self.choices["second"], others, none=words.say("app.staff.no_second"))
        approves = there is not None and there["role"] == APPROVE
        self.here.setVisible(bool(active) and there is None)
        self.buttons["sign_out"].setVisible(there is not None)
        self.deciding.setVisible(approves or not active)
        self.choices["role"].setCurrentIndex(0 if active else ROLES.index(APPROVE))
        self.choices["role"].setEnabled(bool(active))
        self.grown.setVisible(approves)
        self.two.setVisible(approves and bool(others))
        self.buttons["approve"].setVisible(approves)
        rule = found["rule"]
        for name in ("epsilon", "money"):
            self.fields[name].setText(_write(rule[name]))
        self.unbounded.setChecked(rule["unbounded"])
        self.said.say(_say(active, there, rule))
        self._enable()

    def _enable(self) -> None:
        said = {name: field.text() for name, field in self.fields.items()}
        self.buttons["sign_in"].setEnabled(bool(said["passphrase"]))
        is_whole = bool(said["name"].strip() and said["new"] and said["new"] == said["again"])
        self.buttons["name"].setEnabled(is_whole)
        for name in ("rule", "withdraw"):
            self.buttons[name].setEnabled(bool(said["reason"].strip()))

    def _ask(self, name: str) -> None:
        said: dict[str, Any] = {
            field: one.text() if field in SECRETS else one.text().strip()
            for field, one in self.fields.items()
        }
        said |= {choice: one.currentData() or "" for choice, one in self.choices.items()}
        for secret in SECRETS:
            self.fields[secret].clear()
        if name in ("sign_in", "sign_out") or not self.two.isVisibleTo(self):
            said["second"] = ""
        self.wanted.emit(name, said | {"unbounded": self.unbounded.isChecked()})


def _say(active: Sequence[dict[str, Any]], there: dict[str, Any] | None, rule: dict[str, Any]) -> str:
    from engine.release.seconded import rule_words  # brings along what reads tables

    if not active:
        return words.say("app.staff.nobody")
    listed = ", ".join(
        words.say("app.staff.one", name=one["name"], role=words.say(f"app.staff.roles.{one['role']}"))
        for one in active
    )
    present = (
        words.say("app.staff.not_here")
        if there is None
        else words.say("app.staff.is_here", name=there["name"])
    )
    return " ".join([listed + ".", present, *rule_words(rule, language=words.language())])


def _write(amount: str | None) -> str:
    """Return an amount of a rule as a person writes it; as a fraction where no decimals are exact."""
    if amount is None:
        return ""
    decimals = f"{float(Fraction(amount)):.12g}"
    return decimals if Fraction(decimals) == Fraction(amount) else amount


def _fill(choice: QComboBox, persons: Sequence[dict[str, Any]], *, none: str = "") -> None:
    choice.clear()
    if none:
        choice.addItem(none, "")
    for one in persons:
        choice.addItem(one["name"], one["id"])


class SecondPerson(QWidget):
    """On the screen that releases: prepare the release for a second person, or take their approval."""

    asked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = make_column(inside=self, spacing=6, margins=0)
        self.words = name_widget(Prose(words.say("app.staff.needs_second")), "second-words")
        self.prepare = make_button(
            words.say("app.staff.prepare_button"),
            "prepare-request",
            lambda: self.asked.emit("prepare"),
            look="primary",
        )
        self.approval = make_button(
            words.say("app.staff.approval_button"), "take-approval", lambda: self.asked.emit("approval")
        )
        add(column, self.words, make_row(self.prepare, self.approval, STRETCH, spacing=8))
        self.hide()
