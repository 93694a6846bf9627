"""One field for every kind of parameter. A field shows and writes a JSON value and checks nothing itself.

Every field has ``changed(value)``, ``show_value(value)`` and ``value()``; None is the unfilled state.
What was typed but cannot be read as a number is passed on as text, so that the engine says what is wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QCompleter,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from app import words
from app.theme import mono_font
from engine.methods.parameters import Parameter, ParameterKind, check_parameters
from engine.table.schema import Schema, exact, written

MOST_RADIO = 4
PLACEHOLDER = -1


class Field(QWidget):
    """What all fields share."""

    changed = Signal(object)

    def __init__(self, parameter: Parameter, base: str, name: str) -> None:
        super().__init__()
        self.parameter, self.base, self.spoken = parameter, base, name
        self.setObjectName(f"field-{parameter.name}")
        self.line = QVBoxLayout(self)
        self.line.setContentsMargins(0, 0, 0, 0)
        self.line.setSpacing(6)
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

    read: Callable[[str], Any]

    def build(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(8)
        self.edit = QLineEdit()
        self.edit.setObjectName(self.parameter.name)
        self.edit.setAccessibleName(self.spoken)
        self.edit.setMaximumWidth(150 if self.is_number else 420)
        self.edit.textEdited.connect(lambda text: self.say())
        row.addWidget(self.edit)
        if self.parameter.unit:
            row.addWidget(QLabel(self.parameter.unit))
        row.addStretch(1)
        self.line.addLayout(row)

    @property
    def is_number(self) -> bool:
        """Whether the field holds one number."""
        return self.parameter.kind in (ParameterKind.NUMBER, ParameterKind.INTEGER)

    def show_value(self, value: Any) -> None:
        if self.value() == value:  # never rewrite what the person is typing
            return
        with QSignalBlocker(self.edit):
            self.edit.setText(_line(value))

    def value(self) -> Any:
        text = self.edit.text().strip()
        if not text:
            return None
        return _READERS.get(self.parameter.kind, str)(text)

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


def _line(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return ", ".join(str(item) for item in value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, Mapping) else str(value)


def read_number(text: str) -> Any:
    """Return a typed number as its exact JSON value, or the text where it is none.

    >>> read_number("0.1"), read_number("1/3"), read_number("soon")
    (0.1, '1/3', 'soon')
    """
    try:
        return written(exact(text.replace("\u202f", "").replace("\u00a0", "")))
    except (ValueError, ZeroDivisionError):
        return text


def read_list(text: str) -> list[Any]:
    """Return numbers or days that are separated by commas, semicolons or blanks.

    >>> read_list("0, 10; 20.5 2021-01-31")
    [0, 10, 20.5, '2021-01-31']
    """
    return [read_number(item) for item in re.split(r"[;,\s]+", text) if item]


def read_shares(text: str) -> list[Any]:
    """Return shares as they were written, exact.

    >>> read_shares("3/4, 1/4")
    ['3/4', '1/4']
    """
    return [item if "/" in item else read_number(item) for item in re.split(r"[;,\s]+", text) if item]


def read_json(text: str) -> Any:
    """Return JSON, or the text where it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return text


_READERS: Mapping[ParameterKind, Callable[[str], Any]] = {
    ParameterKind.NUMBER: read_number,
    ParameterKind.INTEGER: read_number,
    ParameterKind.EDGES: read_list,
    ParameterKind.SHARES: read_shares,
    ParameterKind.CONDITION: read_json,
    ParameterKind.HIERARCHY: read_json,
}


class BooleanField(Field):
    """A box to tick; two circles where a default would decide."""

    def build(self) -> None:
        self.box = QCheckBox(self.spoken)
        self.box.setObjectName(self.parameter.name)
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
            button = QRadioButton(self.label(name))
            button.setObjectName(f"{self.parameter.name}-{name}")
            button.setAccessibleName(f"{self.spoken}: {button.text()}")
            self.group.addButton(button, place)
            self.line.addWidget(button)
        self.line.setSpacing(0)
        self.group.idClicked.connect(lambda place: self.say())

    def _build_list(self) -> None:
        self.combo = QComboBox()
        self.combo.setObjectName(self.parameter.name)
        self.combo.setAccessibleName(self.spoken)
        self.combo.setMaximumWidth(420)
        self.combo.setPlaceholderText(words.say("app.method.choose"))
        for name in self.names:
            self.combo.addItem(self.label(name), name)
        self.combo.setCurrentIndex(PLACEHOLDER)
        self.combo.activated.connect(lambda place: self.say())
        self.line.addWidget(self.combo)

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


def fitting(parameter: Parameter, schema: Schema) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the columns that a parameter takes, and those that it does not, each with what is wrong."""
    probe = Parameter(
        parameter.name,
        ParameterKind.COLUMN,
        column_kinds=parameter.column_kinds,
        column_roles=parameter.column_roles,
        needs_domain=parameter.needs_domain,
    )
    fits, others = [], []
    for column in schema.columns:
        problems = check_parameters((probe,), {parameter.name: column.name}, schema)
        if problems:
            others.append((column.name, " ".join(words.explain(problems[0]))))
        else:
            fits.append(column.name)
    return fits, others


class ColumnField(Field):
    """One column; those that do not fit stand below, greyed, with the reason as their tip."""

    def build(self) -> None:
        self.combo = QComboBox()
        self.combo.setObjectName(self.parameter.name)
        self.combo.setAccessibleName(self.spoken)
        self.combo.setMaximumWidth(420)
        self.combo.setFont(mono_font())
        self.combo.setPlaceholderText(words.say("app.method.choose_column"))
        self.combo.activated.connect(lambda place: self.say())
        self.line.addWidget(self.combo)

    def set_schema(self, schema: Schema) -> None:
        chosen = self.value()
        fill_columns(self.combo, *fitting(self.parameter, schema))
        self.show_value(chosen)

    def show_value(self, value: Any) -> None:
        self.combo.setCurrentIndex(PLACEHOLDER if value is None else self.combo.findData(value))

    def value(self) -> Any:
        return self.combo.currentData()


def fill_columns(combo: QComboBox, fits: list[str], others: list[tuple[str, str]]) -> None:
    """Put columns into a list: those that fit, then the others, which cannot be chosen."""
    combo.clear()
    for name in fits:
        combo.addItem(name, name)
    for name, reason in others:
        combo.addItem(name, name)
        place = combo.count() - 1
        combo.setItemData(place, reason, Qt.ItemDataRole.ToolTipRole)
        combo.setItemData(place, f"{name}. {reason}", Qt.ItemDataRole.AccessibleTextRole)
        item = combo.model().item(place)  # type: ignore[attr-defined]
        item.setEnabled(False)
    combo.setCurrentIndex(PLACEHOLDER)


class ColumnsField(Field):
    """Several columns in their order: the first one changes slowest in the released table."""

    def build(self) -> None:
        self.chosen: list[str] = []
        self._fits: list[str] = []
        self._others: list[tuple[str, str]] = []
        self.rows = QVBoxLayout()
        self.rows.setSpacing(4)
        self.line.addLayout(self.rows)
        self.combo = QComboBox()
        self.combo.setObjectName(self.parameter.name)
        self.combo.setAccessibleName(self.spoken)
        self.combo.setMaximumWidth(420)
        self.combo.setPlaceholderText(words.say("app.method.add_column"))
        self.combo.activated.connect(self._add)
        self.line.addWidget(self.combo)

    def set_schema(self, schema: Schema) -> None:
        self._fits, self._others = fitting(self.parameter, schema)
        self._offer()

    def show_value(self, value: Any) -> None:
        wanted = [str(name) for name in value] if isinstance(value, list | tuple) else []
        if wanted != self.chosen:
            self.chosen = wanted
            self._show()

    def value(self) -> Any:
        return list(self.chosen) if self.chosen else None

    def _offer(self) -> None:
        fill_columns(self.combo, [name for name in self._fits if name not in self.chosen], self._others)

    def _add(self, place: int) -> None:
        name = self.combo.itemData(place)
        if name and name not in self.chosen:
            self._change([*self.chosen, name])

    def _change(self, chosen: list[str]) -> None:
        self.chosen = chosen
        self._show()
        self.say()

    def _show(self) -> None:
        empty(self.rows)
        for place, name in enumerate(self.chosen):
            self.rows.addWidget(self._row(place, name))
        self._offer()

    def _row(self, place: int, name: str) -> QWidget:
        part = QWidget()
        row = QHBoxLayout(part)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        label = QLabel(name)
        label.setFont(mono_font())
        label.setMinimumWidth(180)
        row.addWidget(label)
        others = [other for other in self.chosen if other != name]
        if place:
            moved = [*others[: place - 1], name, *others[place - 1 :]]
            row.addWidget(self._link("earlier", name, lambda: self._change(moved)))
        row.addWidget(self._link("remove", name, lambda: self._change(others)))
        row.addStretch(1)
        return part

    def _link(self, word: str, name: str, act: Callable[[], None]) -> QPushButton:
        button = QPushButton(words.say(f"app.method.{word}"))
        button.setObjectName(f"{word}-{name}")
        button.setAccessibleName(words.say(f"app.method.{word}_name", column=name))
        button.setProperty("look", "link")
        button.clicked.connect(lambda checked=False: act())
        return button


class SourceField(Field):
    """The name of another table of the plan."""

    def build(self) -> None:
        self.combo = QComboBox()
        self.combo.setObjectName(self.parameter.name)
        self.combo.setAccessibleName(self.spoken)
        self.combo.setMaximumWidth(420)
        self.combo.setEditable(True)
        self.combo.setCurrentIndex(PLACEHOLDER)
        self.combo.editTextChanged.connect(lambda text: self.say())
        self.line.addWidget(self.combo)

    def show_value(self, value: Any) -> None:
        if self.value() != value:
            with QSignalBlocker(self.combo):
                self.combo.setEditText(_line(value))

    def value(self) -> Any:
        return self.combo.currentText().strip() or None


class RecordsField(Field):
    """A small table: one line a record, with a field for each part."""

    def build(self) -> None:
        self.records: list[dict[str, Any]] = []
        self.schema = Schema()
        self.rows = QVBoxLayout()
        self.rows.setSpacing(6)
        self.line.addLayout(self.rows)
        self.add = QPushButton(words.say("app.method.add_record"))
        self.add.setObjectName(f"add-{self.parameter.name}")
        self.add.setAccessibleName(words.say("app.method.add_record_name", field=self.spoken))
        self.add.setProperty("look", "link")
        self.add.clicked.connect(lambda checked=False: self._change([*self.records, {}]))
        self.line.addWidget(self.add, 0, Qt.AlignmentFlag.AlignLeft)

    def set_schema(self, schema: Schema) -> None:
        if schema != self.schema:
            self.schema = schema
            self._show()

    def show_value(self, value: Any) -> None:
        wanted = [dict(item) for item in value] if isinstance(value, list | tuple) else []
        if wanted != self.records:
            self.records = wanted
            self._show()

    def value(self) -> Any:
        return [dict(record) for record in self.records] or None

    def _change(self, records: list[dict[str, Any]]) -> None:
        self.records = records
        self._show()
        self.say()

    def _show(self) -> None:
        empty(self.rows)
        for place in range(len(self.records)):
            self.rows.addWidget(self._row(place))

    def _row(self, place: int) -> QWidget:
        part = QWidget()
        row = QHBoxLayout(part)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        for column in self.parameter.fields:
            base = f"{self.base}.fields.{column.name}"
            label = words.say(f"{base}.label") if words.has(f"{base}.label") else column.name
            field = make_field(
                column, base, words.say("app.method.record_part", part=label, number=place + 1)
            )
            if len(self.parameter.fields) > 1:
                row.addWidget(QLabel(label))
            field.set_schema(self.schema)
            field.show_value(self.records[place].get(column.name))
            field.changed.connect(lambda value, name=column.name, place=place: self._set(place, name, value))
            row.addWidget(field, 1)
        remove = QPushButton(words.say("app.method.remove"))
        remove.setProperty("look", "link")
        remove.setAccessibleName(words.say("app.method.remove_record_name", number=place + 1))
        remove.clicked.connect(
            lambda checked=False: self._change([*self.records[:place], *self.records[place + 1 :]])
        )
        row.addWidget(remove)
        return part

    def _set(self, place: int, name: str, value: Any) -> None:
        if value is None:
            self.records[place].pop(name, None)
        else:
            self.records[place][name] = value
        self.say()


def empty(layout: Any) -> None:
    """Remove everything from a layout."""
    while (item := layout.takeAt(0)) is not None:
        if item.widget() is not None:
            item.widget().hide()
            item.widget().deleteLater()


_FIELDS: Mapping[ParameterKind, type[Field]] = {
    ParameterKind.CHOICE: ChoiceField,
    ParameterKind.BOOLEAN: BooleanField,
    ParameterKind.COLUMN: ColumnField,
    ParameterKind.COLUMNS: ColumnsField,
    ParameterKind.SOURCE: SourceField,
    ParameterKind.RECORDS: RecordsField,
}


def make_field(parameter: Parameter, base: str, name: str) -> Field:
    """Return the field for a parameter; ``base`` is where its texts stand, ``name`` what is spoken."""
    return _FIELDS.get(parameter.kind, LineField)(parameter, base, name)
