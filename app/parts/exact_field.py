"""A field for an exact number, alone or with a slider that follows it.

field = ExactField("ε", smallest=Fraction(1, 1000))
field.decided.connect(…)          # a Fraction, or None when it was emptied; never half a number
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QLineEdit, QSlider, QWidget

from app import words
from app.parts.reading_numbers import Reading
from app.theme import polish
from engine.numbers import exact, shortest_json

STEPS = 600
AROUND, WIDEST = 24, 200  # pixels: what a field leaves beside its text, and how wide it may become


class ExactField(QLineEdit):
    """A line for one number; what cannot be read, or lies outside, is marked and changes nothing."""

    decided = Signal(object)
    refused = Signal(str)  # its name, where what was written is no number or lies outside

    def __init__(
        self,
        name: str,
        *,
        smallest: Fraction | int | None = None,
        largest: Fraction | int | None = None,
        whole: bool = False,
        money: bool = False,
        width: int = 96,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.smallest, self.largest, self.whole = smallest, largest, whole
        self._least = width
        self.setFixedWidth(width)
        self.setProperty("look", "compact")
        self._shown: Fraction | None = None
        self.reading = Reading(self, grouped=whole or money, fits=self._fits)
        self.editingFinished.connect(self._finish)

    def show_number(self, value: Fraction | int | None) -> None:
        """Show a number unless the person is typing here."""
        before, self._shown = self._shown, None if value is None else Fraction(value)
        stays_wrong = (
            bool(self.property("wrong")) and self._shown == before
        )  # what was written waits for its author
        if not stays_wrong and not (self.hasFocus() and self.isModified()):
            self._write(self._shown)

    def number(self) -> Fraction | None:
        """Return the number shown."""
        return self._shown

    def _write(self, value: Fraction | None) -> None:
        with QSignalBlocker(self):
            self.setText("" if value is None else write_exact(value))
        self._fit()
        self._mark(False)

    def setPlaceholderText(self, text: str) -> None:
        super().setPlaceholderText(text)
        self._fit()

    def _fit(self) -> None:
        """Be as wide as what stands in it, or what is asked where nothing does."""
        self.ensurePolished()
        needed = self.fontMetrics().horizontalAdvance(self.text() or self.placeholderText()) + AROUND
        self.setFixedWidth(max(self._least, min(needed, WIDEST)))

    def _finish(self) -> None:
        if not self.isModified():
            return
        self.setModified(False)
        text = self.text().strip()
        value = self.reading.value() if text else None
        wrong = bool(text) and (value is None or not self._fits(value))
        self._mark(wrong)
        if wrong:
            self.refused.emit(self.accessibleName())
        if not wrong and value != self._shown:
            self._shown = value
            self.decided.emit(value)
        if not wrong:
            self._write(self._shown)

    def _fits(self, value: Fraction) -> bool:
        above = self.smallest is None or value >= self.smallest
        below = self.largest is None or value <= self.largest
        return above and below and (not self.whole or value.denominator == 1)

    def _mark(self, wrong: bool) -> None:
        if self.property("wrong") != wrong:
            self.setProperty("wrong", wrong)
            polish(self)


def write_exact(value: Fraction) -> str:
    """Return an exact number as it is written in the language of the window.

    >>> [write_exact(one) for one in (Fraction(1, 2), Fraction(1, 3), Fraction(400000), Fraction(1, 10**6))]
    ['0.5', '1/3', '400,000', '0.000001']
    """
    if value.denominator == 1:
        return words.number(int(value))
    plain = str(shortest_json(value))
    return words.signed(f"{Decimal(plain):f}" if "e-" in plain else plain)


class ScaleSlider(QSlider):
    """A slider over a scale of powers: each step multiplies, so that small values have room too."""

    moved = Signal(float)

    def __init__(self, name: str, low: float, high: float, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setAccessibleName(name)
        self.setRange(0, STEPS)
        self.setSingleStep(6)
        self.setPageStep(30)
        self.setMinimumHeight(32)
        self.set_scale(low, high)
        self.valueChanged.connect(lambda place: self.moved.emit(self.value_at(place)))

    def set_scale(self, low: float, high: float) -> None:
        """Set the values at both ends, each above 0."""
        self._low, self._high = math.log(low), math.log(max(high, low * 1.001))

    def value_at(self, place: int) -> float:
        """Return the value of a place."""
        return math.exp(self._low + (self._high - self._low) * place / STEPS)

    def show_value(self, value: float | None) -> None:
        """Move the handle without saying so; a place that already means this value is left."""
        if value is None or value <= 0:
            place = 0
        else:
            place = round(STEPS * (math.log(value) - self._low) / (self._high - self._low))
        if not self.isSliderDown():
            with QSignalBlocker(self):
                self.setValue(min(max(place, 0), STEPS))


def three_digits(value: float) -> Fraction:
    """Return a number of at most three significant digits: what a slider can point at.

    >>> three_digits(0.49871), three_digits(288196.2)
    (Fraction(499, 1000), Fraction(288000, 1))
    """
    return exact(f"{value:.3g}") if value > 0 else Fraction(0)
