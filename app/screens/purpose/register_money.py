"""What all releases about a new register may cost together: money first, the privacy level follows."""

from __future__ import annotations

from fractions import Fraction

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QWidget

from app import words
from app.parts.exact_field import ExactField
from app.parts.making import make_choice, make_grid, make_label
from app.words.money import CURRENCIES
from engine.pricing.price import Price

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
