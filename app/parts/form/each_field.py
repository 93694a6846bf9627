"""Fields for hierarchies, and for one value for each of several columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from PySide6.QtWidgets import QWidget

from app.parts.cards import row
from app.parts.form.hierarchy_editor import HierarchyEditor
from app.parts.form.parameter_columns import AddedColumns
from app.parts.form.parameter_fields import Field
from app.parts.making import add, empty, make_column
from engine.methods.parameters import Parameter, ParameterKind
from engine.table.schema import Column, Schema


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
        field = type(self).make(one, self.base, f"{self.spoken}: {name}")
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
