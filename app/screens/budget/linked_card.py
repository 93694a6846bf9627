"""One of the four views of the privacy level: a key number, its sentence, a slider and an exact field."""

from __future__ import annotations

from fractions import Fraction

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.parts.cards import NumberCard
from app.parts.exact_field import ExactField, ScaleSlider, three_digits
from app.parts.making import STRETCH, add, make_row, named
from app.parts.prose import Prose


class LinkedCard(NumberCard):
    """A number card that can be moved. ``chosen`` tells the exact value that the person decided."""

    chosen = Signal(object)

    def __init__(
        self,
        heading: str,
        label: str,
        *,
        name: str,
        smallest: Fraction | int,
        largest: Fraction | int | None = None,
        scale: tuple[float, float] = (0.01, 10.0),
        width: int = 78,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(heading, parent=parent)
        self.setObjectName(f"card-{name}")
        self.slider = named(ScaleSlider(label, *scale), f"slider-{name}")
        self.field = ExactField(label, smallest=smallest, largest=largest, money=name == "money", width=width)
        self.field.setObjectName(f"exact-{name}")
        self.slider.moved.connect(lambda value: self.chosen.emit(three_digits(value)))
        self.field.decided.connect(self.chosen.emit)
        self.body.addWidget(self.slider)
        self.row = make_row(spacing=6)
        name_of_field = Prose(label, tone="quiet", pixels=12)
        name_of_field.setWordWrap(False)
        add(self.row, name_of_field, STRETCH, self.field)
        self.body.addLayout(self.row)

    def add_field(self, field: QWidget, after: str) -> None:
        """Put another field at the end of the row, with a word after it."""
        word = Prose(after, tone="quiet", pixels=12)
        word.setWordWrap(False)
        add(self.row, 4, field, word)

    def show_choice(self, value: Fraction | None, result: float | None = None) -> None:
        """Show the exact value in the field and roughly on the slider, without telling.

        Where nothing was stated the handle stands at what follows from the level.
        """
        self.field.show_number(value)
        self.slider.show_value(result if value is None else float(value))
