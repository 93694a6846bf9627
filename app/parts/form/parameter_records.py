"""The field for a small table, and the door to all fields: `make_field`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QFileDialog, QLabel, QPushButton, QWidget

from app import words
from app.parts.cards import Rule, row
from app.parts.form.hierarchy_editor import HierarchyEditor
from app.parts.form.parameter_columns import AddedColumns, ColumnField, ColumnsField
from app.parts.form.parameter_fields import BooleanField, ChoiceField, Field, LineField
from app.parts.form.sentence_field import ConditionField, SentenceField
from app.parts.layouts import ColumnLayout, RowLayout
from app.parts.making import (
    STRETCH,
    add,
    empty,
    hidden,
    laid,
    make_column,
    make_group,
    make_row,
    name_widget,
)
from app.parts.prose import Prose
from app.parts.table import DataTable
from app.parts.wrapping import Wrapping
from engine.errors import EngineError
from engine.methods.parameters import Parameter, ParameterKind, applies, value_of
from engine.methods.records import read_records
from engine.table.schema import Column, Schema

# --- Fields for hierarchies, and for one value for each of several columns ------------------------------


class HierarchyField(Field):
    """The hierarchy of one column; without a column, of any."""

    def build(self) -> None:
        self._declared: dict[str, Any] = {}
        self._column = Column(self.parameter.name)
        self.editor: HierarchyEditor | None = None
        self._make(None)

    def set_schema(self, schema: Schema) -> None:
        self._declared = {
            column.name: column.hierarchy.to_json()
            for column in schema.columns
            if column.hierarchy is not None
        }
        self._make(self.value())

    def set_column(self, column: Column) -> None:
        """Make it the field of a column."""
        self._column = column
        self._make(self.value())

    def _make(self, value: Any) -> None:
        empty(self.line)
        others = {name: tree for name, tree in self._declared.items() if name != self._column.name}
        self.editor = HierarchyEditor(self._column, value, others)
        self.editor.changed.connect(lambda found: self.say())
        self.line.addWidget(self.editor)

    def show_value(self, value: Any) -> None:
        if self.editor is not None and value != self.value():
            self.editor.show_value(value if isinstance(value, Mapping) else None)

    def value(self) -> Any:
        return None if self.editor is None or not self.editor.tree else dict(self.editor.tree)


class EachField(AddedColumns):
    """One field for each column that is named; columns are added from a list."""

    make: Callable[[Parameter, str, str], Field]

    def build(self) -> None:
        super().build()
        self.values: dict[str, Any] = {}
        self.fields: dict[str, Field] = {}
        self.schema = Schema()
        self.rows.setSpacing(10)

    def set_schema(self, schema: Schema) -> None:
        super().set_schema(schema)
        self.schema = schema
        self.show_rows()

    def show_value(self, value: Any) -> None:
        wanted = dict(value) if isinstance(value, Mapping) else {}
        if wanted == {name: one for name, one in self.values.items() if one is not None}:
            return
        self.values = wanted
        self.show_rows()

    def value(self) -> Any:
        # No hierarchy is no value; an empty number is one that is still missing.
        left_out = self.parameter.kind is ParameterKind.HIERARCHY
        found = {name: one for name, one in self.values.items() if one is not None or not left_out}
        return found or None

    def added(self) -> list[str]:
        return list(self.values)

    def with_column(self, name: str, value: Any) -> dict[str, Any]:
        return {**(value or {}), name: self.parameter.default}

    def add(self, name: str) -> None:
        self.values[name] = self.parameter.default
        self.show_rows()
        self.say()

    def _drop(self, name: str) -> None:
        self.values.pop(name, None)
        self.show_rows()
        self.say()

    def _set(self, name: str, value: Any) -> None:
        self.values[name] = value
        self.say()

    def show_rows(self) -> None:
        self.fields = {}
        super().show_rows()

    def make_row(self, place: int, name: str) -> QWidget:
        part = QWidget()
        one = replace(self.parameter, each=False, default=None)
        field = type(self).make(one, self.base, words.pair(self.spoken, name))
        field.set_schema(self.schema)
        if isinstance(field, HierarchyField):
            field.set_column(self.schema.column(name))
        field.show_value(self.values[name])
        field.changed.connect(lambda value: self._set(name, value))
        field.declare_wanted.connect(
            lambda column, value: self.declare_wanted.emit(column, {**self.values, name: value})
        )
        self.fields[name] = field
        label, remove = self.column_label(name), self.link("remove", name, lambda: self._drop(name))
        box = make_column(inside=part, spacing=4, margins=0)
        if self.parameter.kind is ParameterKind.HIERARCHY:
            add(box, row(label, remove), field)
        else:
            line = row(label, field, remove, stretch=False)
            line.setStretch(1, 1)
            box.addLayout(line)
        return part


MOST_IN_LINE = 3
FIRST_LINE = 36  # pixels: the height of a field
MOST_WHOLE = 50  # lines of a table that stand on the page whole: as many as a survey may ask
MOST_EDITED = 8
"""Lines that have fields of their own; more of them come from a file and are shown as a table."""


class RecordsField(Field):
    """A small table: one line a record, with a field for each part."""

    def build(self) -> None:
        self.records: list[dict[str, Any]] = []
        self.schema = Schema()
        self.notes: list[Prose] = []
        self.table: DataTable | None = None
        self.rows = make_column(spacing=6)
        self.line.addLayout(self.rows)
        self.add = QPushButton(words.say("app.method.add_record"))
        self.add.setObjectName(f"add-{self.parameter.name}")
        self.add.setAccessibleName(words.say("app.method.add_record_name", field=self.spoken))
        self.add.setProperty("look", "link")
        self.add.clicked.connect(lambda checked=False: self._change([*self.records, {}]))
        self.load = QPushButton(words.say("app.method.load_records"))
        self.load.setObjectName(f"load-{self.parameter.name}")
        self.load.setAccessibleName(words.say("app.method.load_records_name", field=self.spoken))
        self.load.setProperty("look", "link")
        self.load.clicked.connect(lambda checked=False: self._ask())
        self.clear = QPushButton(words.say("app.method.clear_records"))
        self.clear.setObjectName(f"clear-{self.parameter.name}")
        self.clear.setProperty("look", "link")
        self.clear.clicked.connect(lambda checked=False: self._change([]))
        self.wrong = Prose(tone="wrong")
        for part in (self.clear, self.wrong):
            part.hide()
        add(self.line, self.wrong, row(self.add, self.load, self.clear, spacing=14))

    def set_schema(self, schema: Schema) -> None:
        if schema != self.schema:
            self.schema = schema
            self._show()

    def show_value(self, value: Any) -> None:
        wanted = [dict(item) for item in value] if isinstance(value, list | tuple) else []
        if wanted != self.records:
            self._take(wanted)

    def value(self) -> Any:
        return [dict(record) for record in self.records] or None

    def _ask(self) -> None:
        dialog = QFileDialog(self, self.load.text(), "", words.say("app.method.load_filter"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.read_file)
        dialog.open()

    def read_file(self, path: str) -> None:
        """Add the lines of a file to those that are filled in."""
        try:
            found = read_records(Path(path), self.parameter)
        except EngineError as error:
            self.wrong.say(" ".join(words.explain(error)))
            self.wrong.show()
            return
        self._change([*(one for one in self.records if one), *found])

    def _change(self, records: list[dict[str, Any]]) -> None:
        self._take(records)
        self.say()

    def _take(self, records: list[dict[str, Any]]) -> None:
        """Show other records; the lines before the first one that differs stay as they are."""
        pairs = zip(self.records, records, strict=False)
        same = next((place for place, (old, new) in enumerate(pairs) if old != new), None)
        kept = min(len(self.records), len(records)) if same is None else same
        as_table = len(self.records) > MOST_EDITED or len(records) > MOST_EDITED
        self.records = records
        self._show(0 if as_table else kept)

    def _show(self, kept: int = 0) -> None:
        empty(self.rows, kept)
        self.notes = self.notes[:kept]
        self.wrong.hide()
        is_long = len(self.records) > MOST_EDITED
        self.clear.setVisible(is_long)
        self.add.setVisible(not is_long)
        self.table = None
        if is_long:
            self._show_table()
            return
        for place in range(kept, len(self.records)):
            self.rows.addWidget(self._row(place))

    def _show_table(self) -> None:
        """Show many lines as a table: fields for each of them would take too long to make."""
        self.table = name_widget(DataTable(self.spoken), f"table-{self.parameter.name}")
        lines = min(len(self.records), MOST_WHOLE)
        self.table.setFixedHeight(36 + 34 * lines + 6)
        self.rows.addWidget(self.table)
        self.show_notes(())

    def show_notes(self, notes: Sequence[str]) -> None:
        """Say something below each record: what it costs, for instance."""
        if self.table is not None:
            fields = [column.name for column in self.parameter.fields]
            # What no line says has no column: what is said would stand beyond the edge.
            names = [name for name in fields if any(_cell(record.get(name)) for record in self.records)]
            padded = [*notes, *[""] * len(self.records)]
            rows = [
                [str(place), *(_cell(record.get(name)) for name in names), note]
                for place, (record, note) in enumerate(zip(self.records, padded, strict=False), 1)
            ]
            self.table.show_rows(["", *map(self._label, names), ""], rows)
            self.table.fit_columns(narrowest=32, widest=400)  # what is said is read whole
            asked = [place for place, name in enumerate(names, 1) if name in self._conditions()]
            if asked:
                self.table.fill_with(asked[0])
            return
        for place, prose in enumerate(self.notes):
            said = notes[place] if place < len(notes) else ""
            prose.setVisible(bool(said))
            prose.say(said)

    def _conditions(self) -> set[str]:
        """Return the fields that are written as a condition: the longest of a line."""
        return {one.name for one in self.parameter.fields if one.kind is ParameterKind.WHERE}

    def _row(self, place: int) -> QWidget:
        if any(one.kind is ParameterKind.WHERE for one in self.parameter.fields[:-1]):
            return self._sentence(place)
        part = QWidget()
        fields = self.parameter.fields
        several = len(fields) > MOST_IN_LINE
        line = ColumnLayout(part) if several else RowLayout(part)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(4 if several else 8)
        if several and place:
            line.addWidget(Rule())  # whose "Remove" it is must be seen
        short = Wrapping(spacing=16)
        for column in self._asked(place):
            field, label = self._field(column, place), self._label(column.name)
            if several and column.kind in _SHORT:
                short.addWidget(_labelled(label, field))
                continue
            if short.count():  # what is asked first stays before what is asked next
                line.addLayout(short)
                short = Wrapping(spacing=16)
            if len(self.parameter.fields) > 1 and not isinstance(field, BooleanField):
                line.addWidget(_beside(label, several=several), 0, Qt.AlignmentFlag.AlignTop)
            line.addWidget(field, 1)
        if short.count():
            line.addLayout(short)
        add(
            line,
            self._note(place),
            (self._remove(place), 0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop),
        )
        return part

    def _sentence(self, place: int) -> QWidget:
        """Return a record as one sentence: what is asked, of whom, and below it how finely and exactly."""
        part = QWidget()
        line = make_column(inside=part, spacing=6, margins=0)
        if place:
            line.addWidget(Rule())  # whose "Remove" it is must be seen
        before: list[QWidget] = []
        after = Wrapping(spacing=14)
        read = False
        for column in self._asked(place):
            field = self._field(column, place)
            if isinstance(field, SentenceField) and not read:
                field.read_on(*before)
                line.addWidget(field)
                read = True
            elif read:
                after.addWidget(_named(self._label(column.name), field))
            else:
                says_itself = isinstance(field, ChoiceField | BooleanField)
                before.append(field if says_itself else _named(self._label(column.name), field))
        line.addLayout(after)
        line.addLayout(make_row((self._note(place), 1), STRETCH, self._remove(place)))
        return part

    def _field(self, column: Parameter, place: int) -> Field:
        """Return the field for a part of a record."""
        base, label = f"{self.base}.fields.{column.name}", self._label(column.name)
        field = make_field(column, base, words.say("app.method.record_part", part=label, number=place + 1))
        if isinstance(field, BooleanField):
            field.box.setText(label)
            field.box.setAccessibleName(field.spoken)
        if isinstance(field, SentenceField):
            field.begins = len(self.parameter.fields) < 2
        field.set_schema(self.schema)
        field.show_value(value_of(self.parameter.fields, self.records[place], column.name))
        field.changed.connect(lambda value: self._set(place, column.name, value))
        field.declare_wanted.connect(
            lambda missed, value: self.declare_wanted.emit(missed, self._with(place, column.name, value))
        )
        if isinstance(field, ChoiceField):
            field.lie_down()
        return field

    def _note(self, place: int) -> Prose:
        note = hidden(name_widget(Prose(pixels=12), f"note-{place}"))
        self.notes.append(note)
        return note

    def _remove(self, place: int) -> QPushButton:
        remove = QPushButton(words.say("app.method.remove"))
        remove.setProperty("look", "link")
        remove.setAccessibleName(words.say("app.method.remove_record_name", number=place + 1))
        remove.clicked.connect(
            lambda checked=False: self._change([*self.records[:place], *self.records[place + 1 :]])
        )
        return remove

    def _label(self, name: str) -> str:
        text_id = f"{self.base}.fields.{name}.label"
        return words.say(text_id) if words.has(text_id) else name

    def _asked(self, place: int) -> list[Parameter]:
        """Return the fields of one record that are asked for, given its others."""
        every, record = self.parameter.fields, self.records[place]
        shown = [one for one in every if not one.by_file or record.get(one.name)]
        return [one for one in shown if applies(one, every, record)]

    def _set(self, place: int, name: str, value: Any) -> None:
        record, before = self.records[place], self._asked(place)
        if value is None:
            record.pop(name, None)
        else:
            record[name] = value
        asked = self._asked(place)
        if asked != before:  # other fields have their turn: what was said in those that went is forgotten
            record = {one.name: record[one.name] for one in asked if one.name in record}
            self.records[place] = record
            self._show(place)
            self._back_to(place, name)
        self.say()

    def _with(self, place: int, name: str, value: Any) -> list[dict[str, Any]]:
        """Return the records with another value in one of them."""
        changed = {**self.records[place], name: value}
        return [*self.records[:place], changed, *self.records[place + 1 :]]

    def _back_to(self, place: int, name: str) -> None:
        """Let the keyboard go on in a field that was made anew."""
        made = dict(laid(self.rows)).get(place)
        fields: list[Field] = made.findChildren(Field) if made is not None else []
        again = next((one for one in fields if one.parameter.name == name), None)
        inner = again.findChild(QComboBox) if again is not None else None
        if inner is not None:
            inner.setFocus()


def _cell(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "; ".join(map(str, value))
    return "" if value is None else str(value)


def _labelled(label: str, field: Field) -> QWidget:
    """Return a field below its label, no wider than it needs; a box to tick has its words beside it."""
    return make_group(
        make_column(QLabel("" if isinstance(field, BooleanField) else label), field, spacing=2, margins=0)
    )


def _named(label: str, field: Field) -> QWidget:
    """Return a field behind its label, as a part of a line."""
    return make_group(make_row(QLabel(label), field, spacing=8, margins=0))


def _beside(label: str, *, several: bool) -> QLabel:
    """Return the label that stands before a field, level with the first line of what it names."""
    said = QLabel(label)
    if not several:
        said.setMinimumHeight(FIRST_LINE)
    return said


_SHORT = (
    ParameterKind.NUMBER,
    ParameterKind.INTEGER,
    ParameterKind.COLUMN,
    ParameterKind.CHOICE,
    ParameterKind.BOOLEAN,
)
_FIELDS: Mapping[ParameterKind, type[Field]] = {
    ParameterKind.CHOICE: ChoiceField,
    ParameterKind.BOOLEAN: BooleanField,
    ParameterKind.COLUMN: ColumnField,
    ParameterKind.COLUMNS: ColumnsField,
    ParameterKind.RECORDS: RecordsField,
    ParameterKind.WHERE: SentenceField,
    ParameterKind.CONDITION: ConditionField,
    ParameterKind.HIERARCHY: HierarchyField,
}


def make_field(parameter: Parameter, base: str, name: str) -> Field:
    """Return the field for a parameter; ``base`` is where its texts stand, ``name`` what is spoken."""
    kind = EachField if parameter.each else _FIELDS.get(parameter.kind, LineField)
    return kind(parameter, base, name)


EachField.make = staticmethod(make_field)
