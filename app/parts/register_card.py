"""A register of people: budget, spent, left, releases, what was changed, and the change of its budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QGridLayout, QLineEdit, QWidget

from app import words
from app.parts.cards import Card, Fold
from app.parts.making import (
    add,
    align_left,
    hidden,
    make_button,
    make_choice,
    make_column,
    make_field,
    make_grid,
    make_label,
    name_widget,
)
from app.parts.people import RegisterPeople
from app.parts.prose import Prose
from app.parts.reading_numbers import Reading
from app.parts.signing_key import SigningKey
from app.words.money import as_float, level, money, percent, written_day
from engine.ledger.register import QUESTIONS

# --- What officers' papers ask once for a register ------------------------------------------------------

LONGEST = 2000


class RegisterAnswers(Fold):
    """Folded until somebody opens it. ``wanted`` tells the answers that were changed, by their names."""

    wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(words.say("app.papers.questions"), "register-answers", parent)
        self._known: Mapping[str, str] = {}
        inside = make_column(inside=self.form, spacing=4, margins=0)
        add(inside, Prose(words.say("app.papers.questions_body"), tone="quiet"))
        self.fields: dict[str, QLineEdit] = {}
        for name in QUESTIONS:
            label = make_label(words.say(f"papers.questions.{name}.label"), pixels=12, tone="quiet")
            help_ = words.say(f"papers.questions.{name}.help")
            field = make_field(f"answer-{name}", label.text(), most=LONGEST, width=640)
            field.setAccessibleDescription(help_)
            field.textChanged.connect(lambda text: self._enable())
            label.setBuddy(field)
            self.fields[name] = field
            add(inside, label, field, Prose(help_, tone="quiet", pixels=12))
        self.button = make_button(words.say("app.papers.keep"), "keep-answers", self._ask)
        add(inside, align_left(self.button))
        self._enable()

    def show_answers(self, known: Mapping[str, str]) -> None:
        """Show what was answered for a register."""
        self._known = known
        for name, field in self.fields.items():
            field.setText(known.get(name, ""))
            field.setCursorPosition(0)
        self._enable()

    def _changed(self) -> dict[str, str]:
        said = {name: field.text().strip() for name, field in self.fields.items()}
        return {name: one for name, one in said.items() if one != self._known.get(name, "")}

    def _enable(self) -> None:
        self.button.setEnabled(bool(self._changed()))

    def _ask(self) -> None:
        self.wanted.emit(self._changed())


CERTAIN = 1000  # beyond this level nobody is less sure than certain
AMOUNTS = ("epsilon", "delta", "money")


class BudgetChange(QWidget):
    """Folded until somebody opens it. ``wanted`` tells the new amounts by their names, and the reason."""

    wanted = Signal(object, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = make_column(inside=self, spacing=6, margins=0)
        self.line = make_button(
            words.say("app.releases.change"), "change-budget", look="link", checkable=True
        )
        column.addWidget(self.line)
        self.form = hidden(QWidget())
        grid = make_grid(self.form, across=12, down=4, margins=0)
        self.readings: dict[str, Reading] = {}
        self.fields = {name: self._field(grid, name, 0, place) for place, name in enumerate(AMOUNTS)}
        self.reason = self._field(grid, "reason", 2, 0, span=len(AMOUNTS))
        self.wrong = hidden(Prose(tone="wrong"))
        grid.addWidget(self.wrong, 4, 0, 1, len(AMOUNTS))
        self.button = make_button(words.say("app.releases.change_button"), "change-budget-now", self._ask)
        grid.addWidget(self.button, 5, 0)
        column.addWidget(self.form)
        self.line.toggled.connect(self.form.setVisible)
        for field in (*self.fields.values(), self.reason):
            field.textChanged.connect(lambda text: self._enable())
        self._enable()

    def _field(self, grid: QGridLayout, name: str, line: int, side: int, span: int = 1) -> QLineEdit:
        label = make_label(words.say(f"app.releases.new_budget.{name}"), pixels=12, tone="quiet")
        field = make_field(f"new-{name}", label.text(), most=300)
        label.setBuddy(field)
        if name in AMOUNTS:
            self.readings[name] = Reading(field, grouped=name == "money")
        grid.addWidget(label, line, side, 1, span)
        grid.addWidget(field, line + 1, side, 1, span)
        return field

    def forget(self) -> None:
        """Empty and fold it."""
        for field in (*self.fields.values(), self.reason):
            field.clear()
        self.wrong.hide()
        self.line.setChecked(False)

    def _enable(self) -> None:
        amounts = any(field.text().strip() for field in self.fields.values())
        self.button.setEnabled(amounts and bool(self.reason.text().strip()))

    def _ask(self) -> None:
        amounts: dict[str, Fraction] = {}
        for name, field in self.fields.items():
            text = field.text().strip()
            value = self.readings[name].value() if text else None
            if text and (value is None or value < 0 or (value == 0 and name != "delta")):
                self.wrong.say(words.say("app.releases.no_amount", name=field.accessibleName()))
                self.wrong.show()
                field.setFocus()
                return
            if value is not None:
                amounts[name] = value
        self.wrong.hide()
        self.wanted.emit(amounts, self.reason.text().strip())


class RegisterCard(Card):
    """One register of the ledger. ``change.wanted`` asks for another budget of `holding`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(words.say("app.releases.register"), parent=parent)
        self.setObjectName("register")
        self._known: Sequence[dict[str, Any]] = ()
        self.choice = make_choice("register-choice", words.say("app.releases.register"))
        self.choice.currentIndexChanged.connect(lambda place: self._show())
        self.figures = name_widget(Prose(), "register-figures")
        self.changes = name_widget(Prose(tone="quiet", pixels=12), "register-changes")
        self.change = BudgetChange()
        self.key = SigningKey()
        self.people = RegisterPeople()
        self.answers = RegisterAnswers()
        add(self.body, self.choice, self.figures, self.changes, self.change, self.key, self.people)
        add(self.body, self.answers)

    @property
    def holding(self) -> dict[str, Any] | None:
        """The register in view, as the ledger lists it."""
        place = self.choice.currentIndex()
        return self._known[place] if 0 <= place < len(self._known) else None

    def show_registers(self, holdings: Sequence[dict[str, Any]]) -> None:
        """Show registers; the one that was in view stays in view."""
        before = self.holding["id"] if self.holding is not None else ""
        with QSignalBlocker(self.choice):
            self._known = holdings
            self.choice.clear()
            for one in holdings:
                self.choice.addItem(one["name"], one["id"])
            self.choice.setCurrentIndex(max(self.choice.findData(before), 0))
        self.setVisible(bool(holdings))
        self.choice.setVisible(len(holdings) > 1)
        self._show()

    def show_register(self, identity: str) -> None:
        """Show a register by its id."""
        self.choice.setCurrentIndex(max(self.choice.findData(identity), 0))

    def _show(self) -> None:
        holding = self.holding
        self.change.forget()
        if holding is None:
            return
        self.heading.setText(holding["name"])
        self.key.show_key(holding.get("signing"))
        self.people.show_people(holding.get("staff"))
        self.answers.show_answers(holding.get("answers", {}))
        self.figures.say(figures_words(holding))
        changes = holding["budget_changes"]
        self.changes.setVisible(bool(changes))
        self.changes.say("\n\n".join(map(change_words, changes)))


def figures_words(holding: dict[str, Any]) -> str:
    """Return the budget of a register, what is spent and left, how many releases, and what that allows."""
    count = sum(1 for entry in holding["releases"] if entry["counts"])
    if holding["budget"]["epsilon"] is None:
        return words.say("app.releases.register_without", count=count)
    whole = Fraction(holding["budget"]["epsilon"])
    parts = [
        words.say(
            "app.releases.register_figures",
            whole=level(whole),
            spent=level(Fraction(holding["spent"]["epsilon"]), up=True),
            left=level(Fraction(holding["left"]["epsilon"]), down=True),
            count=count,
        )
    ]
    if holding["money"] is not None:
        amount = money(Fraction(holding["money"]), holding["currency"])
        parts.append(words.say("app.releases.register_money", amount=amount))
    parts.append(words.say("app.releases.register_sure", sure=sure_after(whole, holding["neighbours"])))
    return " ".join(parts)


def sure_after(epsilon: Fraction, neighbours: str) -> str:
    """Return how sure somebody half sure becomes at most after all releases of a budget."""
    from engine.pricing.posterior import posterior
    from engine.privacy.promise import Neighbours

    relation = Neighbours(neighbours)
    known = relation is not Neighbours.ADD_REMOVE
    return percent(posterior(0.5, min(as_float(epsilon), CERTAIN), known_in_table=known, neighbours=relation))


def change_words(change: dict[str, Any]) -> str:
    """Return one change of a budget: when, from what to what, why."""
    parts = [
        words.say(
            f"app.releases.changed.{name}",
            before=_amount(change["before"].get(name)),
            after=_amount(change["after"].get(name)),
        )
        for name in AMOUNTS
        if name in change["after"]
    ]
    day = written_day(change["time"])
    return words.say("app.releases.change_words", day=day, what=", ".join(parts), reason=change["reason"])


def _amount(value: Any) -> str:
    if value is None:
        return words.say("app.releases.no_amount_before")
    number = Fraction(value)
    return words.number(number)
