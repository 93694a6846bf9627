"""What one person would be owed: people, compensation with its precedent, currency. One line until opened."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton, QWidget

from app import words
from app.parts.cards import Card
from app.parts.exact_field import ExactField
from app.parts.layouts import RowLayout
from app.parts.making import add, make_choice, make_grid, make_label
from app.parts.prose import Prose
from app.words.money import CURRENCIES, money
from engine.pricing.anchors import CHECK
from engine.pricing.price import Price

OWN = ""
FOUR_ACROSS = 760  # width of the card from which its four fields stand beside each other


class Owed(Card):
    """Emits ``decided(changes)`` with fields of `Price`."""

    decided = Signal(dict)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("owed")
        self.body.setContentsMargins(16, 6, 8, 6)
        self.body.setSpacing(2)
        self.anchors: tuple[Any, ...] = ()
        line = RowLayout()
        self.sentence = Prose()
        self.change = QPushButton(words.say("app.budget.change"))
        self.change.setObjectName("change-owed")
        self.change.setAccessibleName(words.say("app.budget.change_name"))
        self.change.setProperty("look", "link")
        self.change.setCheckable(True)
        self.change.toggled.connect(self._fold)
        add(line, (self.sentence, 1), (self.change, 0, Qt.AlignmentFlag.AlignTop))
        self.body.addLayout(line)
        self._build_form()

    def _build_form(self) -> None:
        self.form = QWidget()
        grid = make_grid(self.form, across=16, down=4, margins=(0, 4, 8, 8))
        self.people = ExactField(words.say("app.budget.people"), smallest=1, whole=True, width=120)
        self.people.setObjectName("people")
        self.compensation = ExactField(
            words.say("app.budget.compensation"), smallest=Fraction(1, 100), money=True, width=120
        )
        self.compensation.setObjectName("compensation")
        self.currency = make_choice("currency", words.say("app.budget.currency"))
        for name in CURRENCIES:
            self.currency.addItem(name, name)
        self.anchor = make_choice("anchor", words.say("app.budget.anchor"))
        self.anchor.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.anchor.setMinimumContentsLength(24)
        self._grid, self._across = grid, 0
        self._asked: list[tuple[QLabel, QWidget]] = []
        for name, field in (
            ("people", self.people),
            ("anchor", self.anchor),
            ("compensation", self.compensation),
            ("currency", self.currency),
        ):
            label = make_label(words.say(f"app.budget.{name}"), pixels=12, tone="quiet", buddy=field)
            self._asked.append((label, field))
        grid.setColumnStretch(1, 1)
        self.case = Prose(tone="care", pixels=12)
        self._arrange(4)
        self.body.addWidget(self.form)
        self.people.decided.connect(
            lambda value: self.decided.emit({"people": None if value is None else int(value)})
        )
        self.compensation.decided.connect(
            lambda value: self.decided.emit({"compensation": value, "anchor": OWN})
        )
        self.currency.activated.connect(
            lambda place: self.decided.emit({"currency": self.currency.itemData(place)})
        )
        self.anchor.activated.connect(self._take)

    def _arrange(self, across: int) -> None:
        """Put so many fields beside each other, each below its words."""
        if across == self._across:
            return
        self._across = across
        for place, (label, field) in enumerate(self._asked):
            line, column = 2 * (place // across), place % across
            self._grid.addWidget(label, line, column)
            self._grid.addWidget(field, line + 1, column)
        self._grid.addWidget(self.case, 4, 0, 1, 4)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange(4 if self.width() >= FOUR_ACROSS else 2)

    def offer(self, anchors: Sequence[Any]) -> None:
        """Offer precedents: those with an amount per person."""
        self.anchors = tuple(one for one in anchors if one.quantity == "compensation")
        with QSignalBlocker(self.anchor):
            self.anchor.clear()
            self.anchor.addItem(words.say("app.budget.own_amount"), OWN)
            for one in self.anchors:
                self.anchor.addItem(
                    words.say(
                        "app.budget.anchor_item",
                        jurisdiction=one.jurisdiction,
                        year=str(one.year or words.say("app.budget.undated")),
                        amount=money(one.amount, one.currency),
                        case=one.say("case"),
                    ),
                    one.name,
                )

    def show_price(self, price: Price) -> None:
        """Show what was said."""
        known = price.people is not None and price.compensation is not None
        self.people.show_number(price.people)
        self.compensation.show_number(price.compensation)
        self.currency.setCurrentIndex(self.currency.findData(price.currency))
        with QSignalBlocker(self.anchor):
            self.anchor.setCurrentIndex(max(self.anchor.findData(price.anchor), 0))
        anchor = next((one for one in self.anchors if one.name == price.anchor), None)
        self.case.setVisible(anchor is not None)
        if anchor is not None:
            check = words.say("report.price.lawyer") if anchor.check == CHECK else anchor.check
            said = {part: anchor.say(part) for part in ("case", "source")}
            self.case.say(words.say("app.budget.case", check=check, **said))
        if known:
            self.sentence.say(
                words.say(
                    "app.budget.owed_as" if anchor is not None else "app.budget.owed",
                    people=price.people,
                    amount=money(price.compensation or 0, price.currency),
                    jurisdiction=anchor.jurisdiction if anchor is not None else "",
                    year=str(anchor.year or words.say("app.budget.undated")) if anchor is not None else "",
                )
            )
        else:
            self.sentence.say(words.say("app.budget.owed_question"))
        self.change.setVisible(known)
        self.form.setVisible(not known or self.change.isChecked())

    def _fold(self, wanted: bool) -> None:
        self.change.setText(words.say("app.budget.done" if wanted else "app.budget.change"))
        self.form.setVisible(wanted)

    def _take(self, place: int) -> None:
        name = self.anchor.itemData(place)
        found = next((one for one in self.anchors if one.name == name), None)
        if found is None:
            self.decided.emit({"anchor": OWN})
        else:
            self.decided.emit({"anchor": name, "compensation": found.amount, "currency": found.currency})
