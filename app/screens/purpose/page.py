"""Purpose: who asks, for whom, until when, who approved it, and which register of people pays."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLabel, QLineEdit, QPushButton, QWidget

from app import words
from app.parts.cards import Card
from app.parts.exact_field import ExactField, write_exact
from app.parts.layouts import RowLayout
from app.parts.making import (
    STRETCH,
    add,
    hidden,
    make_choice,
    make_column,
    make_field,
    make_grid,
    make_label,
    name_widget,
)
from app.parts.panel import Explanation, Part, three_parts
from app.parts.prose import Prose, tell_whole
from app.parts.reading_numbers import Reading
from app.parts.register_card import BudgetChange, sure_after
from app.screens.base import Page, Pieces
from app.screens.purpose.purpose_form import PurposeForm
from app.state.holdings import NEW_HOLDING, OTHER_KEY, Holdings, epsilon_of_money, look_up, reason_said
from app.state.purposes import remembered_answers
from app.theme import text_font
from app.words.money import CURRENCIES, as_float, level, money
from app.work.releasing import change_budget
from engine import languages, texts
from engine.methods.protocol import Budget
from engine.pricing.price import Price
from engine.privacy.promise import Neighbours
from engine.release.copies import COPIES, DESCRIPTIONS
from engine.release.plan import Plan

# --- What all releases about a new register may cost together -------------------------------------------

WIDTH = 144


class RegisterMoney(QWidget):
    """Emits ``decided(changes)`` with fields of `Price`."""

    decided = Signal(dict)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._grid = make_grid(self, across=6, down=4, margins=(0, 0, 0, 6))
        self.money = self._field("money", 0, span=2)
        self.currency = make_choice("holding_currency", words.say("app.budget.currency"))
        for name in CURRENCIES:
            self.currency.addItem(name, name)
        self._grid.addWidget(self.currency, 1, 1)
        self.compensation = self._field("compensation", 2)
        self.people = self._field("people", 3, whole=True)
        self._grid.setColumnStretch(4, 1)
        self.money.decided.connect(lambda value: self.decided.emit({"register": value}))
        self.compensation.decided.connect(
            lambda value: self.decided.emit({"compensation": value, "anchor": ""})
        )
        self.people.decided.connect(
            lambda value: self.decided.emit({"people": None if value is None else int(value)})
        )
        self.currency.activated.connect(
            lambda place: self.decided.emit({"currency": self.currency.itemData(place)})
        )

    def _field(self, name: str, column: int, *, whole: bool = False, span: int = 1) -> ExactField:
        label = make_label(words.say(f"app.purpose.field.holding_{name}.label"), pixels=12, tone="quiet")
        smallest = 1 if whole else Fraction(1, 100)
        field = ExactField(label.text(), smallest=smallest, whole=whole, money=not whole, width=WIDTH)
        field.setObjectName(f"holding_{name}")
        field.setPlaceholderText(words.say(f"app.purpose.field.holding_{name}.example"))
        label.setBuddy(field)
        self._grid.addWidget(label, 0, column, 1, span)
        self._grid.addWidget(field, 1, column)
        return field

    def show_price(self, price: Price) -> None:
        """Show what was said."""
        self.money.show_number(price.register)
        self.compensation.show_number(price.compensation)
        self.people.show_number(price.people)
        with QSignalBlocker(self.currency):
            self.currency.setCurrentIndex(self.currency.findData(price.currency))


NEW = ""
LARGEST_DELTA = Fraction(1, 2)


class PurposePage(Page):
    """The fifth screen."""

    id = "purpose"
    counts_rows = True

    def build(self) -> Pieces:
        self._delta = Fraction(0)  # written before there is an ε to go with it
        self._reasons: dict[str, QWidget] = {}
        self._labels: dict[str, QLabel] = {}
        self._asked_for_reason = False
        self.form = PurposeForm()
        self.form.decided.connect(lambda name, value: self.study.decide_part("purpose", **{name: value}))
        self.form.filled.connect(self._fill_in)
        yield
        self.form.build_groups()
        self.fields = self.form.fields
        self.ends, self.expires = self.form.days["expires"].wanted, self.form.days["expires"].day
        for widget, topic in self.form.topics():
            self.topic(widget, topic)
        self.body.addWidget(self.form)
        yield
        self.body.addWidget(self._build_holding())
        yield
        add(self.body, self.form.further, self._build_also(), STRETCH)

    def _label(self, name: str) -> QLabel:
        label = QLabel(words.say(f"app.purpose.field.{name}.label"))
        if name == "holding_name":
            label.setText(words.say("app.window.required", label=label.text()))
        self._labels[name] = label
        label.setFont(text_font(12))
        label.setProperty("tone", "quiet")
        return label

    def _place(self, grid: QGridLayout, name: str, field: QWidget, place: int, span: int = 1) -> None:
        label = self._label(name)
        label.setBuddy(field)
        line, side = 3 * (place // 2), place % 2
        grid.addWidget(label, line, side, 1, span)
        grid.addWidget(field, line + 1, side, 1, span)
        grid.setRowMinimumHeight(line + 2, 6)
        self.topic(field, name)

    def _build_also(self) -> QWidget:
        """What else is made beside the tables, for the programs of the recipient and for catalogues."""
        card = Card(words.say("app.purpose.also.heading"))
        self.also: dict[str, QCheckBox] = {}
        further = [one for one in texts.languages() if one != words.language()]
        said = {name: words.say(f"app.purpose.also.{name}") for name in (*COPIES, *DESCRIPTIONS)}
        for name in further:
            said[name] = words.say("app.purpose.also.papers", name=languages.find(name).name)
        for name, label in said.items():
            box = name_widget(QCheckBox(label), f"also_{name}")
            box.clicked.connect(lambda checked=False: self._wish())
            self.topic(box, "also")
            self.also[name] = box
            card.body.addWidget(box)
        return card

    def _wish(self) -> None:
        self.study.decide(also=tuple(name for name, box in self.also.items() if box.isChecked()))

    def _build_holding(self) -> QWidget:
        card = Card(words.say("app.purpose.pays"))
        self.holding = make_choice(
            "holding", words.say("app.purpose.field.holding.label"), lambda place: self._holding_chosen()
        )
        self.topic(self.holding, "holding")
        self.left = Prose()
        self.matched = Prose(tone="care")
        self.change = BudgetChange()
        self.change.wanted.connect(self._change_budget)
        self.topic(self.change.line, "change")
        add(card.body, self.holding, self._build_question(), self.left, self.change)
        self.new = QWidget()
        grid = make_grid(self.new, across=16, down=4, margins=(0, 4, 0, 0))
        for side in (0, 1):
            grid.setColumnStretch(side, 1)
        self.name = self._line("holding_name")
        self.name.editingFinished.connect(lambda: self.study.decide(holding=self.name.text().strip()))
        self.sure_field = self._line("holding_sure")
        self.sure_field.editingFinished.connect(self._sure_edited)
        self.epsilon = self._line("holding_epsilon")
        self.epsilon.editingFinished.connect(self._budget_edited)
        self.neighbours = make_choice("holding_neighbours", words.say("app.purpose.field.neighbours.label"))
        for relation in Neighbours:
            relation_words = words.say(f"app.purpose.field.neighbours.{relation.value}")
            self.neighbours.addItem(relation_words, relation.value)
        self.neighbours.activated.connect(lambda place: self._budget_edited())
        self.delta = self._line("holding_delta")
        self.delta.editingFinished.connect(self._budget_edited)
        self.read_epsilon, self.read_delta = Reading(self.epsilon), Reading(self.delta)
        self.read_sure = Reading(self.sure_field, fits=lambda value: value <= 100)
        self._place(grid, "holding_name", self.name, 0, span=2)
        self.money = RegisterMoney()
        self.money.decided.connect(self._money_decided)
        for name in ("money", "compensation", "people"):
            self.topic(getattr(self.money, name), f"holding_{name}")
        grid.addWidget(self.money, 3, 0, 2, 2)
        self._place(grid, "holding_sure", self.sure_field, 4)
        self._place(grid, "holding_epsilon", self.epsilon, 5)
        self.follows = name_widget(Prose(tone="quiet", pixels=12), "holding_follows")
        grid.addWidget(self.follows, 9, 0, 1, 2)
        self._place(grid, "neighbours", self.neighbours, 8)
        self._place(grid, "holding_delta", self.delta, 9)
        card.body.addWidget(self.new)
        self.other_reason = self._reason_field("other_reason", NEW_HOLDING)
        self.key_words = Prose(tone="care")
        self.key_reason = self._reason_field("key_reason", OTHER_KEY)
        add(card.body, self.reason_part("other_reason"), self.key_words, self.reason_part("key_reason"))
        self.wrong = hidden(Prose(tone="wrong"))
        card.body.addWidget(self.wrong)
        return card

    def _build_question(self) -> QWidget:
        """Which register a table seems to belong to is asked, never decided."""
        self.question = name_widget(QWidget(), "register_question")
        line = make_column(self.matched, inside=self.question, margins=(0, 0, 0, 4))
        buttons = RowLayout()
        self.same, self.others = QPushButton(), QPushButton(words.say("app.purpose.other_people"))
        self.same.setObjectName("same_people")
        self.others.setObjectName("other_people")
        self.same.clicked.connect(lambda checked=False: self._same_people())
        self.others.clicked.connect(lambda checked=False: self._other_people())
        for button in (self.same, self.others):
            buttons.addWidget(button)
            self.topic(button, "recognised")
        buttons.addStretch(1)
        line.addLayout(buttons)
        return self.question

    def _reason_field(self, name: str, decision: str) -> QLineEdit:
        """Make the field for the reason of a decision, which the ledger keeps."""
        field = self._line(name)
        field.editingFinished.connect(lambda: self._reason_edited(field, decision))
        part = name_widget(QWidget(), f"{name}_part")
        grid = make_grid(part, margins=0)
        self._place(grid, name, field, 0)
        self._reasons[name] = part
        return field

    def reason_part(self, name: str) -> QWidget:
        """Return the label and the field of a reason."""
        return self._reasons[name]

    def _line(self, name: str) -> QLineEdit:
        field = make_field(name)
        tell_whole(field)
        field.setAccessibleName(words.say(f"app.purpose.field.{name}.label"))
        field.setPlaceholderText(words.say(f"app.purpose.field.{name}.example"))
        return field

    # --- showing -----------------------------------------------------------------------------------

    def first_focus(self) -> QWidget | None:
        return self.fields["title"]

    def opened(self) -> None:
        plan = self.study.plan
        self.work(
            look_up,
            plan,
            self.study.result("raw"),
            ledger_path=self.study.ledger_path,
            doing=words.say("app.purpose.asking"),
            done=self._looked_up,
        )

    def _looked_up(self, found: Holdings) -> None:
        self.study.registers = found
        self._asked_for_reason = False
        sizes = self.study.result("group_sizes")
        whole = self.study.part is None  # how many people a sample has says nothing of the table
        if self.study.plan.price.people is None and sizes is not None and sizes.people and whole:
            with self.study.by_itself():
                self.study.decide_part("price", people=sizes.people)
        self.frame.update_frame()
        self.enter()

    def enter(self) -> None:
        purpose = self.study.plan.purpose
        self.form.show_purpose(purpose, remembered_answers(purpose, folder=self.frame.data))
        for name, box in self.also.items():
            box.setChecked(name in self.study.plan.also)
        self._show_holding()

    def _show_holding(self) -> None:
        plan = self.study.plan
        status = self._status()
        with QSignalBlocker(self.holding):
            self.holding.clear()
            for one in self.study.registers.statuses:
                self.holding.addItem(one.holding.name, one.holding.name)
            self.holding.addItem(words.say("app.purpose.new"), NEW)
            place = self.holding.findData(status.holding.name) if status is not None else -1
            self.holding.setCurrentIndex(place if place >= 0 else self.holding.count() - 1)
        self.holding.setVisible(bool(self.study.registers.statuses))
        self.new.setVisible(status is None)
        self.left.setVisible(status is not None)
        self.change.setVisible(status is not None)
        if status is not None:
            self.left.say(left_words(status))
        else:
            self._show_sure()
        self._show_match()
        if status is None:
            self.money.show_price(plan.price)
            self.follows.say(follows_words(plan))
            if not (self.name.hasFocus() and self.name.isModified()):
                self.name.setText(plan.holding)
            budget = plan.holding_budget
            if not (self.epsilon.hasFocus() and self.epsilon.isModified()) and self.wrong.isHidden():
                self.epsilon.setText("" if budget is None else words.number(budget.epsilon))
            if not (self.delta.hasFocus() and self.delta.isModified()) and self.wrong.isHidden():
                self.delta.setText(write_exact(budget.delta if budget is not None else self._delta))
            relation = budget.neighbours if budget is not None else Neighbours.ADD_REMOVE
            self.neighbours.setCurrentIndex(self.neighbours.findData(relation.value))

    def _show_sure(self) -> None:
        """Say what a budget allows in the end, beside its number."""
        budget = self.study.plan.holding_budget
        if not (self.sure_field.hasFocus() and self.sure_field.isModified()) and self.wrong.isHidden():
            at_most = "" if budget is None else sure_after(budget.epsilon, budget.neighbours.value)
            self.sure_field.setText(at_most.rstrip("% \u00a0"))

    def _show_match(self) -> None:
        """Ask whether these are people of a known register, and for a reason where they are not."""
        registers, plan = self.study.registers, self.study.plan
        best = registers.asked(plan)
        elsewhere = best is not None
        asks_reason = elsewhere and (self._asked_for_reason or bool(plan.holding) or bool(self._reason()))
        self.question.setVisible(elsewhere)
        self.reason_part("other_reason").setVisible(asks_reason)
        if best is not None:
            self.matched.say(match_words(best))
            self.same.setText(words.say("app.purpose.same_people", holding=best.holding.name))
        changed = registers.other_key(plan)
        for part in (self.key_words, self.reason_part("key_reason")):
            part.setVisible(changed is not None)
        if changed is not None:
            before, found = changed
            self.key_words.say(
                words.say("app.purpose.key_changed", holding=plan.holding, before=before, found=found)
            )
        for field, decision in ((self.other_reason, NEW_HOLDING), (self.key_reason, OTHER_KEY)):
            if not (field.hasFocus() and field.isModified()):
                field.setText(reason_said(plan, decision))

    def _status(self) -> Any:
        return self.study.registers.paying(self.study.plan)

    def explain(self, topic: str) -> Explanation:
        status = self._status()
        if topic == "holding" and status is not None:
            holding = status.holding
            values = {
                "spent": texts.level_up(float(status.epsilon_spent), language=words.language()),
                "left": _level(status.epsilon_left),
                "budget": _level(holding.epsilon),
                "releases": status.releases,
            }
            parts = [] if holding.epsilon is None else [*three_parts("app.purpose.left", **values)]
            if not status.bounds_all:
                parts.insert(0, Part(body=words.say("app.purpose.not_bounded"), tone="care"))
            return Explanation(holding.name, tuple(parts))
        if words.has(f"app.purpose.field.{topic}.help"):
            help_text = words.say(f"app.purpose.field.{topic}.help")
            return Explanation(words.say(f"app.purpose.field.{topic}.label"), (Part(body=help_text),))
        return super().explain(topic)

    # --- deciding ----------------------------------------------------------------------------------

    def _fill_in(self) -> None:
        """Say again what the organisation's last release said, where nothing is said yet."""
        self.study.decide_part(
            "purpose", **remembered_answers(self.study.plan.purpose, folder=self.frame.data)
        )

    def field_at(self, place: str) -> QWidget | None:
        self.form.unfold_to(place.removeprefix("purpose_"))
        found = super().field_at(place)
        return self.holding if found is not None and not found.isVisibleTo(self) else found

    def _holding_chosen(self) -> None:
        name = self.holding.currentData()
        self.study.decide(holding=name, **({"holding_budget": None} if name else {}))
        if not name:
            self.name.setFocus()

    def _budget_edited(self) -> None:
        """Take the budget of the new register; nothing counts while one of its numbers is none."""
        relation = Neighbours(self.neighbours.currentData())
        epsilon, delta = self.read_epsilon.value(), self.read_delta.value()
        delta = Fraction(0) if not self.delta.text().strip() else delta
        fits = delta is not None and 0 <= delta < LARGEST_DELTA
        wrong = "" if fits else "bad_delta"
        if self.epsilon.text().strip() and (epsilon is None or epsilon <= 0):
            wrong = "bad_epsilon"
        self.wrong.setVisible(bool(wrong))
        if wrong:
            self.wrong.say(words.say(f"app.purpose.{wrong}"))
        elif delta is not None:
            self._delta = delta
        budget = None
        if not wrong and epsilon is not None and delta is not None:
            budget = Budget(epsilon, delta, relation)
        # A level that was written goes before the money it would follow from.
        is_followed = budget is not None and budget.epsilon == epsilon_of_money(self.study.plan)
        price = replace(self.study.plan.price, register=None)
        self.study.decide(holding_budget=budget, **({} if is_followed else {"price": price}))

    def _money_decided(self, changes: dict[str, Any]) -> None:
        """Take what all releases may cost, what each would be owed and how many there are; ε follows."""
        plan = self.study.plan
        price = replace(plan.price, **changes)
        epsilon, followed = epsilon_of_money(replace(plan, price=price)), {}
        if epsilon is not None:
            self.wrong.hide()
            before, relation = plan.holding_budget, Neighbours(self.neighbours.currentData())
            delta = self._delta if before is None else before.delta
            followed = {"holding_budget": Budget(epsilon, delta, relation)}
        self.study.decide(price=price, **followed)

    def _change_budget(self, amounts: dict[str, Fraction], reason: str) -> None:
        """Have the ledger change the budget of the register that pays, and ask it again."""
        status = self._status()
        if status is None:
            return
        currency = {"currency": self.study.plan.price.currency} if "money" in amounts else {}
        self.work(
            change_budget,
            status.holding.id,
            amounts | currency,
            reason,
            ledger_path=self.study.ledger_path,
            done=lambda listed: self._changed(),
            doing=words.say("app.releases.writing"),
            stoppable=False,
        )

    def _changed(self) -> None:
        self.change.forget()
        self.study.forget("ledger")
        self.opened()
        self.notify(words.say("app.releases.written"), tone="accent")

    def _sure_edited(self) -> None:
        """Take the budget as what somebody may become sure of at most, for whoever never heard of ε."""
        text = self.sure_field.text().strip()
        if not self.sure_field.isModified() or not text:
            return
        from engine.release.levels import epsilon_for_posterior

        self.sure_field.setModified(False)
        percent = self.read_sure.value()
        found = None if percent is None else epsilon_for_posterior(float(percent) / 100)
        self.wrong.setVisible(found is None)
        if found is None:
            self.wrong.say(words.say("app.purpose.bad_sure"))
            return
        self.epsilon.setText(words.number(found))
        self._budget_edited()

    def _reason(self) -> str:
        return reason_said(self.study.plan, NEW_HOLDING)

    def _reason_edited(self, field: QLineEdit, decision: str) -> None:
        text = field.text().strip()
        others = tuple(one for one in self.study.plan.decisions if one.get("decision") != decision)
        entry = ({"decision": decision, "reason": text},) if text else ()
        self.study.decide(decisions=(*others, *entry))

    def _same_people(self) -> None:
        best = self.study.registers.asked(self.study.plan)
        others = tuple(one for one in self.study.plan.decisions if one.get("decision") != NEW_HOLDING)
        self.study.decide(holding=best.holding.name, holding_budget=None, decisions=others)
        self.enter()

    def _other_people(self) -> None:
        self._asked_for_reason = True
        self.enter()
        self.other_reason.setFocus()


def match_words(match: Any) -> str:
    """Return the question that a match raises, with what is shared and how many of it."""
    return words.say(
        f"app.purpose.match.{match.grounds[0]}",
        holding=match.holding.name,
        shared=words.number(match.people_shared),
        people=words.number(match.people),
        chance=words.number(match.chance),
        rows_shared=words.number(match.rows_shared),
        rows=words.number(match.rows),
        contents_shared=match.contents_shared,
        contents=match.contents,
        columns_shared=match.columns_shared,
        columns=match.columns,
    )


def left_words(status: Any) -> str:
    """Return what a register has left, in one sentence."""
    if status.holding.epsilon is None:
        return words.say("app.purpose.no_budget_sentence", releases=status.releases)
    return words.say(
        "app.purpose.left_sentence",
        left=level(status.epsilon_left, down=True),
        budget=words.number(status.holding.epsilon),
        releases=status.releases,
    )


def follows_words(plan: Plan) -> str:
    """Return what the budget of a new register would cost, or what is missing to say it."""
    from engine.pricing.statement import cost_of

    cost, budget = cost_of(plan.price), plan.holding_budget
    if cost is None:
        return words.say("app.purpose.follows.unsaid") if plan.price.register is not None else ""
    if budget is None:
        return ""
    return words.say(
        "app.purpose.follows.sentence",
        epsilon=level(budget.epsilon),
        amount=money(cost.at(as_float(budget.epsilon)), plan.price.currency),
        liability=money(cost.liability, plan.price.currency),
    )


def _level(value: Fraction | None) -> str:
    return "–" if value is None else words.number(value)


PAGE = PurposePage
