"""Fields for columns: those that fit can be chosen, all others say why they do not fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton, QWidget

from app import words
from app.parts.cards import row
from app.parts.form.parameter_fields import PLACEHOLDER, Field
from app.parts.layouts import ColumnLayout
from app.parts.making import add, empty, make_choice
from app.parts.prose import name_label
from app.theme import mono_font
from engine.methods.parameters import Parameter, ParameterKind, Problem
from engine.methods.values import resolve
from engine.table.schema import Schema

DECLARABLE = ("domain_missing", "domain_copied")


class Unfit(NamedTuple):
    """A column that a parameter does not take: why, in short and in full; whether a declaration mends it."""

    name: str
    short: str
    reason: str
    declarable: bool


def fitting(parameter: Parameter, schema: Schema) -> tuple[list[str], list[Unfit]]:
    """Return the columns that a parameter takes, and those that it does not, each with what is wrong."""
    probe = Parameter(
        parameter.name,
        ParameterKind.COLUMN,
        source=parameter.source,
        column_kinds=parameter.column_kinds,
        column_roles=parameter.column_roles,
        needs_domain=parameter.needs_domain,
    )
    fits, others = [], []
    for column in schema.columns:
        _, problems = resolve((probe,), {parameter.name: column.name}, {parameter.source: schema})
        if problems:
            others.append(_unfit(column.name, problems[0]))
        else:
            fits.append(column.name)
    return fits, others


def _unfit(name: str, problem: Problem) -> Unfit:
    code = problem.code.rpartition(".")[2]
    short = f"app.method.unfit.{code}"
    said = words.say(short) if words.has(short) else ""
    return Unfit(name, said, " ".join(words.explain(problem)), code in DECLARABLE)


class ColumnField(Field):
    """One column; those that do not fit stand below and say why, or can be declared where that is all."""

    def build(self) -> None:
        self._others: list[Unfit] = []
        self.combo = make_choice(self.parameter.name, self.spoken, self._chosen, width=420)
        self.combo.setFont(mono_font())
        self.combo.setPlaceholderText(words.say("app.method.choose_column"))
        self.line.addWidget(self.combo)

    def set_schema(self, schema: Schema) -> None:
        chosen = self.value()
        fits, self._others = fitting(self.parameter, schema)
        fill_columns(self.combo, fits, self._others)
        self.show_value(chosen)

    def _chosen(self, place: int) -> None:
        name = str(self.combo.itemData(place))
        if is_declarable(name, self._others):
            self.combo.setCurrentIndex(PLACEHOLDER)
            self.declare_wanted.emit(name, name)
        else:
            self.say()

    def show_waiting(self, names: Iterable[str]) -> None:
        """Show the column that was chosen while its values are still asked for, in place of none."""
        waits = next(iter(names), "")
        said = f"{waits} · {words.say('app.picker.state.waiting')}" if waits else ""
        self.combo.setPlaceholderText(said or words.say("app.method.choose_column"))
        self.combo.update()

    def show_value(self, value: Any) -> None:
        self.combo.setCurrentIndex(PLACEHOLDER if value is None else self.combo.findData(value))

    def value(self) -> Any:
        return self.combo.currentData()


def is_declarable(name: str, others: list[Unfit]) -> bool:
    """Say whether a column would fit, were its values declared."""
    return any(one.name == name and one.declarable for one in others)


def declarable(others: list[Unfit]) -> list[Unfit]:
    """Return the columns that would fit, were their values declared."""
    return [one for one in others if one.declarable]


def fill_columns(combo: QComboBox, fits: list[str], others: list[Unfit]) -> None:
    """Put columns into a list: those that fit, then the others with the reason why they do not.

    Those that only lack a declaration can be chosen, which leads to declaring them.
    """
    combo.clear()
    for name in fits:
        combo.addItem(name, name)
    for name, short, reason, mended in sorted(others, key=lambda one: not one.declarable):
        combo.addItem(f"{name} · {short}" if short else name, name)
        place = combo.count() - 1
        combo.setItemData(place, words.tip(reason), Qt.ItemDataRole.ToolTipRole)
        combo.setItemData(place, f"{name}. {reason}", Qt.ItemDataRole.AccessibleTextRole)
        item = combo.model().item(place)  # type: ignore[attr-defined]
        item.setEnabled(mended)
    combo.setCurrentIndex(PLACEHOLDER)


class AddedColumns(Field):
    """Columns that are added from a list, one line each; the list says of the others why they do not fit."""

    def build(self) -> None:
        self._fits: list[str] = []
        self._others: list[Unfit] = []
        self.rows = ColumnLayout()
        self.combo = make_choice(self.parameter.name, self.spoken, self._chosen, width=420)
        self.combo.setPlaceholderText(words.say("app.method.add_column"))
        add(self.line, self.rows, self.combo)

    def added(self) -> list[str]:
        """Return the columns that were added."""
        raise NotImplementedError

    def add(self, name: str) -> None:
        """Add a column."""
        raise NotImplementedError

    def with_column(self, name: str, value: Any) -> Any:
        """Return what a value becomes with a column added."""
        raise NotImplementedError

    def make_row(self, place: int, name: str) -> QWidget:
        """Return the line of a column."""
        raise NotImplementedError

    def set_schema(self, schema: Schema) -> None:
        self._fits, self._others = fitting(self.parameter, schema)
        self._offer()

    def _offer(self) -> None:
        added = self.added()
        left = [name for name in self._fits if name not in added]
        others = [one for one in self._others if one.name not in added]
        fill_columns(self.combo, left, others)

    def _chosen(self, place: int) -> None:
        name = self.combo.itemData(place)
        if name and is_declarable(name, self._others):
            self.combo.setCurrentIndex(PLACEHOLDER)
            self.declare_wanted.emit(name, self.with_column(name, self.value()))
        elif name and name not in self.added():
            self.add(name)

    def show_rows(self) -> None:
        """Make the lines anew."""
        empty(self.rows)
        for place, name in enumerate(self.added()):
            self.rows.addWidget(self.make_row(place, name))
        self._offer()

    def column_label(self, name: str) -> QLabel:
        """Return the name at the beginning of a line."""
        label = name_label(name)
        label.setFont(mono_font())
        label.setMinimumWidth(180)
        return label

    def link(self, word: str, name: str, act: Callable[[], None]) -> QPushButton:
        """Return something to do with a column, in its line."""
        button = QPushButton(words.say(f"app.method.{word}"))
        button.setObjectName(f"{word}-{name}")
        button.setAccessibleName(words.say(f"app.method.{word}_name", column=name))
        button.setProperty("look", "link")
        button.clicked.connect(lambda checked=False: act())
        return button


class ColumnsField(AddedColumns):
    """Several columns in their order within a record, where a list of all has no room."""

    def build(self) -> None:
        super().build()
        self.chosen: list[str] = []
        self.rows.setSpacing(4)

    def show_value(self, value: Any) -> None:
        wanted = [str(name) for name in value] if isinstance(value, list | tuple) else []
        if wanted != self.chosen:
            self.chosen = wanted
            self.show_rows()

    def value(self) -> Any:
        return list(self.chosen) if self.chosen else None

    def added(self) -> list[str]:
        return self.chosen

    def with_column(self, name: str, value: Any) -> list[str]:
        return [*(value or ()), name]

    def add(self, name: str) -> None:
        self._change(self.with_column(name, self.chosen))

    def _change(self, chosen: list[str]) -> None:
        self.chosen = chosen
        self.show_rows()
        self.say()

    def make_row(self, place: int, name: str) -> QWidget:
        parts: list[QWidget] = [self.column_label(name)]
        others = [other for other in self.chosen if other != name]
        if place:
            moved = [*others[: place - 1], name, *others[place - 1 :]]
            parts.append(self.link("earlier", name, lambda: self._change(moved)))
        parts.append(self.link("remove", name, lambda: self._change(others)))
        line = row(*parts, spacing=4)
        line.setContentsMargins(0, 0, 0, 0)
        part = QWidget()
        part.setLayout(line)
        return part
