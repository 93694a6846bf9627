"""What a written number means, in words beneath its field before it counts; a choice where it may be two.

reading = Reading(edit, grouped=True)   # an amount of money: three digits after a mark are thousands
reading.value()                         # a Fraction; None where it is none, or may be two
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QFrame, QLineEdit, QPushButton, QScrollArea, QWidget
from shiboken6 import isValid

from app import words
from app.parts.making import READ_NEXT, make_label, make_row
from engine.numbers import readings, unmistakable

SPOKEN_FROM = 10_000  # numbers below are read at a glance
MARKS = frozenset(".,' \u00a0\u202f\u2019")
SCALES = (("million", 10**6), ("thousand", 10**3))
MOST = 10**12


def meant(text: str, *, grouped: bool = False) -> tuple[Fraction, ...]:
    """Return what a text may mean; ``grouped`` where nobody writes three decimals: money, whole numbers.

    >>> meant("250.000"), meant("250.000", grouped=True)
    ((Fraction(250000, 1), Fraction(250, 1)), (Fraction(250000, 1),))
    """
    found = readings(text)
    return found[:1] if grouped else found


_decimal = ""  # the mark before decimals where the person lives; "" asks


def read_as_at(mark: str) -> None:
    """Read what may be two numbers as where people write this mark before decimals; "" asks each time."""
    global _decimal
    _decimal = mark


def choose_home(text: str, found: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """Return of two readings the one that is meant at home, if that was said."""
    if len(found) < 2 or not _decimal:
        return found
    return found[1:] if _decimal in text else found[:1]


def read(text: str, *, grouped: bool = False) -> Fraction | None:
    """Return a typed number as an exact fraction, or None where it is none or may be two.

    >>> read("0.5"), read("1/3"), read("250 000"), read("50 %"), read("soon"), read("400,000")
    (Fraction(1, 2), Fraction(1, 3), Fraction(250000, 1), Fraction(50, 1), None, None)
    """
    found = meant(text, grouped=grouped)
    return found[0] if len(found) == 1 else None


def in_words(value: Fraction) -> str:
    """Return a number in words that no mark can change.

    >>> in_words(Fraction(250000)), in_words(Fraction(1254321)), in_words(Fraction(9, 8))
    ('250 thousand', '1 million 254 thousand 321', '1 and 125 thousandths')
    """
    parts, left = [], abs(value)
    if left >= MOST:
        return unmistakable(value)
    for name, scale in SCALES:
        count, left = int(left // scale), left % scale
        if count:
            parts.append(words.say(f"app.window.number.{name}", count=count))
    whole, left = int(left), left - int(left)
    if whole or not parts:
        parts.append(str(whole))
    if left:
        parts.append(_decimals(left))
    return ("\u2212" if value < 0 else "") + " ".join(parts)


def _decimals(rest: Fraction) -> str:
    for name, scale in (("tenth", 10), ("hundredth", 100), ("thousandth", 1000)):
        if (count := rest * scale).denominator == 1:
            return words.say(f"app.window.number.{name}{'' if count == 1 else 's'}", count=int(count))
    return words.say("app.window.number.rest", rest=unmistakable(rest))


class Hint(QFrame):
    """Stands beneath a field: in words what was written, to be pressed where it may be two."""

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self.over = over
        self.setObjectName("reading")
        row = make_row(inside=self, spacing=8, margins=(8, 2, 8, 2))
        self.said = make_label(pixels=12)
        row.addWidget(self.said)
        self.choices = [QPushButton(self) for _ in range(2)]
        for place, button in enumerate(self.choices):
            button.setObjectName(f"reading-{place}")
            button.setProperty("look", "link")
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            row.addWidget(button)
        self.hide()

    def show_readings(self, found: tuple[Fraction, ...]) -> str:
        """Say what a text means and return that; or ask which of two."""
        asked = len(found) > 1
        told = [in_words(one) for one in found]
        said = (
            words.say("app.window.number.which")
            if asked
            else words.say("app.window.number.is", number=told[0])
        )
        self.said.setText(said)
        for place, button in enumerate(self.choices):
            button.setVisible(asked)
            button.setText(told[place] if asked else "")
        return " ".join((said, *told)) if asked else said


class Reading(QObject):
    """Reads one field; see the head of this file. `fits` leaves out what lies outside its bounds."""

    def __init__(
        self, edit: QLineEdit, *, grouped: bool = False, fits: Callable[[Fraction], bool] = lambda value: True
    ) -> None:
        super().__init__(edit)
        self.edit, self.grouped, self.fits = edit, grouped, fits
        self._hint: Hint | None = None
        edit.textChanged.connect(lambda text: self._show())
        edit.editingFinished.connect(self._show)
        edit.installEventFilter(self)

    def found(self) -> tuple[Fraction, ...]:
        """Return what the text may mean within the bounds of the field; beyond them, what it means at all."""
        every = meant(self.edit.text(), grouped=self.grouped)
        return choose_home(self.edit.text(), tuple(filter(self.fits, every)) or every)

    def value(self) -> Fraction | None:
        """Return the number that is written, None where it is none or may be two."""
        found = self.found()
        return found[0] if len(found) == 1 else None

    def is_open(self) -> bool:
        """Say whether it may be two numbers and nobody has said which."""
        return len(self.found()) > 1

    def _wanted(self) -> tuple[Fraction, ...]:
        """Return what is to be said beneath the field as it is."""
        found, edit = self.found(), self.edit
        if len(found) > 1:
            return found
        marked = bool(found) and (
            abs(found[0]) >= SPOKEN_FROM
            or (found[0] >= 1000 and MARKS & set(edit.text()))
            or len(meant(edit.text(), grouped=self.grouped)) > 1
        )
        return found if marked and edit.hasFocus() else ()

    def _show(self) -> None:
        found = self._wanted() if self.edit.isVisible() and self.edit.isEnabled() else ()
        if not found:
            self.edit.setAccessibleDescription("")
            if self._hint is not None:
                self._hint.hide()
            return
        hint = self._made()
        self.edit.setAccessibleDescription(hint.show_readings(found))
        hint.adjustSize()
        self._place(hint)
        hint.show()
        hint.raise_()

    def _made(self) -> Hint:
        if self._hint is None or not isValid(self._hint):
            over = _ground(self.edit)
            self._hint = hint = Hint(over)
            for place, button in enumerate(hint.choices):
                button.clicked.connect(lambda checked=False, place=place: self._choose(place))
            self.edit.destroyed.connect(lambda: hint.deleteLater() if isValid(hint) else None)
            self.edit.setProperty(READ_NEXT, hint)  # it lies over the page, in no layout
        return self._hint

    def _place(self, hint: Hint) -> None:
        over = hint.over
        corner = self.edit.mapTo(over, self.edit.rect().bottomLeft())
        top = corner.y() + 3
        if top + hint.height() > over.height():
            top = corner.y() - self.edit.height() - hint.height() - 3
        hint.move(max(0, min(corner.x(), over.width() - hint.width())), max(0, top))

    def _choose(self, place: int) -> None:
        """Write what was chosen so that it means one number, as if it had been typed so."""
        found, edit = self.found(), self.edit
        if place >= len(found):
            return
        if self._hint is not None:
            self._hint.hide()
        edit.setFocus(Qt.FocusReason.OtherFocusReason)
        edit.setText(unmistakable(found[place]))
        edit.setModified(True)
        edit.textEdited.emit(edit.text())
        edit.editingFinished.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.edit and event.type() in (
            QEvent.Type.FocusIn,
            QEvent.Type.FocusOut,
            QEvent.Type.Show,
            QEvent.Type.Hide,
            QEvent.Type.Move,
        ):
            hides = event.type() in (QEvent.Type.FocusOut, QEvent.Type.Hide) and not self.is_open()
            if self._hint is not None and isValid(self._hint) and (hides or event.type() == QEvent.Type.Hide):
                self._hint.hide()
            elif event.type() != QEvent.Type.FocusOut and (self._hint is not None or self.edit.hasFocus()):
                self._show()
        return False


def _ground(edit: QWidget) -> QWidget:
    """Return what scrolls with a field, so that what stands beneath it does too."""
    now = edit.parentWidget()
    while now is not None:
        above = now.parentWidget()
        if above is not None and isinstance(above.parentWidget(), QScrollArea):
            return now
        now = above
    return edit.window()
