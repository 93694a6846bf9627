"""One field for every kind of parameter. A field shows and writes a JSON value and checks nothing itself.

Every field has ``changed(value)``, ``show_value(value)`` and ``value()``; None is the unfilled state.
What was typed but cannot be read as a number is passed on as text, so that the engine says what is wrong.
"""

from __future__ import annotations

import contextlib
from fractions import Fraction
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QBoxLayout,
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QCompleter,
    QLabel,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QWidget,
)

from app import words
from app.parts.making import make_choice, make_column, make_row, name_widget
from app.parts.reading_numbers import Reading
from engine import texts
from engine.methods.parameters import Parameter, ParameterKind
from engine.methods.records import parse_typed
from engine.numbers import exact, shortest_json, unmistakable
from engine.table.schema import Schema

MOST_RADIO = 4
NUMBER_WIDE, TEXT_WIDE = 150, 680  # pixels at most: a question of a survey is read whole
PLACEHOLDER = -1


class Field(QWidget):
    """What all fields share."""

    changed = Signal(object)
    declare_wanted = Signal(str, object)  # a column that fits once it is declared, and the value with it
    declare_dropped = Signal(str)  # such a column that is not wanted any more

    def __init__(self, parameter: Parameter, base: str, name: str) -> None:
        super().__init__()
        self.parameter, self.base, self.spoken = parameter, base, name
        self.setObjectName(f"field-{parameter.name}")
        self.line = make_column(inside=self, spacing=6, margins=0)
        self.build()

    def build(self) -> None:
        """Make the widgets."""

    def show_value(self, value: Any) -> None:
        """Show a value without saying that it changed."""

    def value(self) -> Any:
        """Return what is filled in, None for nothing."""

    def set_schema(self, schema: Schema) -> None:
        """Offer what this schema has."""

    def say(self) -> None:
        """Tell that the person changed the field."""
        self.changed.emit(self.value())


class LineField(Field):
    """A number, a text, or a list written in one line."""

    def build(self) -> None:
        row = make_row(spacing=8)
        self.edit = QLineEdit()
        self.reading: Reading | None = None
        self.edit.setObjectName(self.parameter.name)
        self.edit.setAccessibleName(self.spoken)
        self.edit.setMaximumWidth(NUMBER_WIDE if self.is_number else TEXT_WIDE)
        self.edit.textEdited.connect(lambda text: self.say())
        if self.is_number:
            self.reading = Reading(
                self.edit, grouped=self.parameter.kind is ParameterKind.INTEGER, fits=self._fits
            )
        row.addWidget(self.edit, 0 if self.is_number else 3)
        if self.parameter.unit:
            row.addWidget(QLabel(texts.say_unit(self.parameter.unit, words.language())))
        for value in self.parameter.presets:
            row.addWidget(self._preset(value))
        row.addStretch(1)
        self.line.addLayout(row)

    def _preset(self, value: Any) -> QPushButton:
        """Return a button that fills in a value which has a name."""
        said = words.say(f"{self.base}.presets.{value}")
        button = QPushButton(said)
        button.setObjectName(f"preset-{self.parameter.name}-{value}")
        button.setProperty("look", "chip")
        button.setAccessibleName(words.pair(self.spoken, said))
        button.clicked.connect(lambda checked=False: self._take(value))
        return button

    def _take(self, value: Any) -> None:
        self.show_value(value)
        self.say()

    def _fits(self, value: Fraction) -> bool:
        low, high = self.parameter.minimum, self.parameter.maximum
        return (low is None or value >= low) and (high is None or value <= high)

    @property
    def is_number(self) -> bool:
        """Whether the field holds one number."""
        return self.parameter.kind in (ParameterKind.NUMBER, ParameterKind.INTEGER)

    def show_value(self, value: Any) -> None:
        if self.value() == value:  # never rewrite what the person is typing
            return
        if self.is_number and isinstance(value, str):  # a plan may say one tenth as 1/10
            with contextlib.suppress(ValueError):
                value = shortest_json(exact(value))
        with QSignalBlocker(self.edit):
            several = self.parameter.kind is ParameterKind.TEXTS
            self.edit.setText(_line(value, "; " if several else ", "))
            self.edit.setCursorPosition(0)  # what is longer than the field is read from its beginning

    def value(self) -> Any:
        text = self.edit.text().strip()
        if not text:
            return None
        if self.is_number and self.reading is not None:
            found = self.reading.value()
            return text if found is None else shortest_json(found)
        return parse_typed(self.parameter, text)

    def set_schema(self, schema: Schema) -> None:
        """Offer declared values while a text is typed."""
        if self.parameter.kind is not ParameterKind.TEXT:
            return
        known = [value for column in schema.columns for value in _levels(column)]
        completer = QCompleter(sorted(set(known)), self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.activated.connect(lambda text: self.say())
        self.edit.setCompleter(completer)


def _levels(column: Any) -> tuple[str, ...]:
    return column.domain.values if column.is_declared and column.domain.values is not None else ()


def _line(value: Any, between: str) -> str:
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return between.join(map(_write, value))
    return _write(value)


def _write(value: Any) -> str:
    """Return a value as its field shows it: a number so that it is read back as the same one."""
    return unmistakable(value) if isinstance(value, float) else str(value)


class BooleanField(Field):
    """A box to tick; two circles where a default would decide."""

    def build(self) -> None:
        self.box = name_widget(QCheckBox(self.spoken), self.parameter.name)
        self.box.setTristate(False)
        self.box.clicked.connect(lambda checked=False: self.say())
        self.line.addWidget(self.box)
        self._decided = self.parameter.default is not None

    def show_value(self, value: Any) -> None:
        with QSignalBlocker(self.box):
            self._decided = value is not None
            self.box.setChecked(bool(value))

    def value(self) -> Any:
        return self.box.isChecked() if self._decided or self.box.isChecked() else None

    def say(self) -> None:
        self._decided = True
        super().say()


class ChoiceField(Field):
    """Circles for a few choices, a list for many; nothing is chosen until somebody does."""

    def build(self) -> None:
        self.names = tuple(str(choice) for choice in self.parameter.choices)
        self.combo: QComboBox | None = None
        self.group = QButtonGroup(self)
        if len(self.names) > MOST_RADIO:
            self._build_list()
            return
        for place, name in enumerate(self.names):
            button = name_widget(QRadioButton(self.label(name)), f"{self.parameter.name}-{name}")
            button.setAccessibleName(words.pair(self.spoken, button.text()))
            self.group.addButton(button, place)
            self.line.addWidget(button)
        self.line.setSpacing(0)
        self.group.idClicked.connect(lambda place: self.say())

    def _build_list(self) -> None:
        self.combo = make_choice(self.parameter.name, self.spoken, width=420)
        self.combo.setPlaceholderText(words.say("app.method.choose"))
        for name in self.names:
            self.combo.addItem(self.label(name), name)
        self.combo.setCurrentIndex(PLACEHOLDER)
        self.combo.activated.connect(lambda place: self.say())
        self.line.addWidget(self.combo)

    def lie_down(self) -> None:
        """Put few choices beside each other, where a line holds several fields."""
        self.line.setDirection(QBoxLayout.Direction.LeftToRight)
        self.line.setSpacing(12)

    def label(self, name: str) -> str:
        """Return the words of a choice."""
        text_id = f"{self.base}.choices.{name}"
        return words.say(text_id) if words.has(text_id) else name

    def show_value(self, value: Any) -> None:
        place = (
            self.names.index(str(value)) if value is not None and str(value) in self.names else PLACEHOLDER
        )
        if self.combo is not None:
            self.combo.setCurrentIndex(place)
            return
        self.group.setExclusive(False)
        for button in self.group.buttons():
            button.setChecked(self.group.id(button) == place)
        self.group.setExclusive(True)

    def value(self) -> Any:
        place = self.combo.currentIndex() if self.combo is not None else self.group.checkedId()
        return self.names[place] if place >= 0 else None
