"""The form of a method, made from its declaration: a field for every parameter, with its problem beside it.

form = ParameterForm()
form.changed.connect(lambda name, value: study.decide_parameters(**{name: value}))
form.show_form("methods.statistics.counts", method.parameters, plan.parameters, plan.schemas, problems)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from app import words
from app.parts.form.column_picker import ColumnPicker
from app.parts.form.parameter_fields import BooleanField, Field, LineField
from app.parts.form.parameter_records import make_field
from app.parts.making import add, empty, hidden, make_button, make_column, make_row, name_widget
from app.parts.prose import Heading, Prose
from app.theme import polish
from engine.methods.parameters import Parameter, ParameterKind, Problem, applies, value_of
from engine.table.schema import Schema

UNFILLED = "parameters.unfilled"
UNFINISHED = "services.private_queries.unfinished"  # a line of a condition that is being filled in


@dataclass(frozen=True)
class _Line:
    """One parameter on screen."""

    parameter: Parameter
    part: QWidget
    field: Field
    problem: Prose


class ParameterForm(QWidget):
    """All parameters of one method; the ones with a default stand below, folded away."""

    changed = Signal(str, object)
    declare_wanted = Signal(str, str, object)  # parameter, column to declare, the parameter's value with it
    declare_dropped = Signal(str)  # a column that was to be declared, and is not wanted any more
    focused = Signal(str)  # name of the parameter whose help is wanted

    def __init__(self, parent: QWidget | None = None, *, in_line: bool = False) -> None:
        """``in_line`` puts the only thing that is asked beside its name, with what is folded behind it."""
        super().__init__(parent)
        self._in_line = in_line
        self._column = make_column(inside=self, spacing=18, margins=0)
        self._made_for: Any = None
        self._schemas: Mapping[str, Schema] | None = None
        self._base = ""
        self.lines: dict[str, _Line] = {}
        self._further: QPushButton | None = None
        self._problems: tuple[Problem, ...] = ()
        self._waiting: frozenset[str] = frozenset()

    def show_form(
        self,
        base: str,
        parameters: tuple[Parameter, ...],
        values: Mapping[str, Any],
        schemas: Mapping[str, Schema],
        problems: Iterable[Problem] = (),
    ) -> None:
        """Show a form. The texts of a parameter stand at ``BASE.parameters.NAME``; schemas by source."""
        self.make_ready(base, parameters, schemas)
        for name, line in self.lines.items():
            line.field.show_value(value_of(parameters, values, name))
        self._show_which(parameters, values)
        self._show_problems(problems)

    def make_ready(self, base: str, parameters: tuple[Parameter, ...], schemas: Mapping[str, Schema]) -> None:
        """Make the fields of a form that is shown next."""
        if (base, parameters) != self._made_for:
            self._made_for = (base, parameters)
            self._make(base, parameters)
            self._schemas = None
        if schemas != self._schemas:
            self._schemas = dict(schemas)
            for line in self.lines.values():
                line.field.set_schema(schemas.get(line.parameter.source, Schema()))

    def pickers(self) -> dict[str, ColumnPicker]:
        """Return the lists in which columns are ticked, by parameter."""
        return {name: line.field for name, line in self.lines.items() if isinstance(line.field, ColumnPicker)}

    def parameters(self) -> tuple[Parameter, ...]:
        """Return the parameters that are asked for."""
        return tuple(line.parameter for line in self.lines.values())

    def labels(self) -> dict[str, str]:
        """Return the words for each parameter's name."""
        return {name: self._label(name) for name in self.lines}

    def part(self, name: str) -> QWidget | None:
        """Return where a parameter is asked for, unfolded if it was folded; None where it is not."""
        line = self.lines.get(name)
        if line is None:
            return None
        if self._further is not None and line.part.isHidden():
            self._further.setChecked(True)
        return line.field

    def help(self, name: str) -> str:
        """Return the help of a parameter."""
        text_id = f"{self._base}.parameters.{name}.help"
        return words.say(text_id) if words.has(text_id) else ""

    def _label(self, name: str) -> str:
        text_id = f"{self._base}.parameters.{name}.label"
        return words.say(text_id) if words.has(text_id) else name

    def _make(self, base: str, parameters: tuple[Parameter, ...]) -> None:
        self._base = base
        self.lines.clear()
        empty(self._column)
        needed = [parameter for parameter in parameters if _is_asked(parameter)]
        further = [parameter for parameter in parameters if not _is_asked(parameter)]
        for parameter in needed:
            self._add(parameter)
        self._further = None
        if further:
            self._further = make_button(words.say("app.method.fewer"), "further", look="link", checkable=True)
            self._further.setChecked(not needed)
            self._further.toggled.connect(lambda on: self._refold())
            if self._in_line and len(needed) == 1:
                line = self.lines[needed[0].name].part
                self._column.removeWidget(line)
                top = Qt.AlignmentFlag.AlignTop
                self._column.addLayout(make_row((line, 1), (self._further, 0, top), spacing=12))
            else:
                self._column.addWidget(self._further)
        for parameter in further:
            self._add(parameter)

    def _add(self, parameter: Parameter) -> None:
        name = self._label(parameter.name)
        part = QWidget()
        column = make_column(inside=part, spacing=5, margins=0)
        picks = parameter.kind is ParameterKind.COLUMNS and not parameter.each
        make = ColumnPicker if picks else make_field
        field = make(parameter, f"{self._base}.parameters.{parameter.name}", name)
        named = None
        if not isinstance(field, BooleanField):
            title = name if not parameter.optional else words.say("app.method.optional", label=name)
            name_shown = Heading(title, size="card")
            if self._in_line and _is_asked(parameter) and isinstance(field, LineField):
                named = make_row(name_shown, (field, 1), spacing=14)
            else:
                column.addWidget(name_shown)
        field.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)  # never squeezed
        problem = hidden(name_widget(Prose(pixels=12), f"problem-{parameter.name}"))
        add(column, field if named is None else named, problem)
        field.declare_wanted.connect(
            lambda column, value, name=parameter.name: self.declare_wanted.emit(name, column, value)
        )
        field.declare_dropped.connect(self.declare_dropped)
        field.changed.connect(lambda value, name=parameter.name: self.changed.emit(name, value))
        self._column.addWidget(part)
        self.lines[parameter.name] = _Line(parameter, part, field, problem)

    def _show_which(self, parameters: tuple[Parameter, ...], values: Mapping[str, Any]) -> None:
        self._applying = {
            parameter.name for parameter in parameters if applies(parameter, parameters, values)
        }
        self._refold()

    def _refold(self) -> None:
        unfolded = self._further is None or self._further.isChecked()
        for name, line in self.lines.items():
            wanted = name in self._applying and (_is_asked(line.parameter) or unfolded)
            line.part.setVisible(wanted)
        if self._further is not None:
            folded = [
                name
                for name, line in self.lines.items()
                if name in self._applying and not _is_asked(line.parameter)
            ]
            self._further.setVisible(bool(folded))
            word = "fewer" if self._further.isChecked() else "further"
            self._further.setText(words.say(f"app.method.{word}", count=len(folded)))

    def show_waiting(self, names: Iterable[str]) -> None:
        """Say of parameters that they are decided as soon as the values of columns are declared."""
        self._waiting = frozenset(names)
        self._show_problems(self._problems)

    def _show_problems(self, problems: Iterable[Problem]) -> None:
        self._problems = tuple(problems)
        by_name: dict[str, Problem] = {}
        for problem in self._problems:
            if problem.parameter is not None:
                by_name.setdefault(problem.parameter, problem)
        for name, line in self.lines.items():
            found = by_name.get(name)
            line.problem.setVisible(found is not None)
            if found is None:
                continue
            unfilled = found.code == UNFILLED
            if not unfilled and not _is_asked(line.parameter) and self._further is not None:
                self._further.setChecked(True)
            is_begun = unfilled or found.code == UNFINISHED
            line.problem.setProperty("tone", "quiet" if is_begun else "wrong")
            polish(line.problem)
            line.problem.say(self._sentence(found))

    def _sentence(self, problem: Problem) -> str:
        if problem.code == UNFILLED:
            return words.say(f"app.method.{'waits' if problem.parameter in self._waiting else 'undecided'}")
        name = problem.values.get("parameter")
        if isinstance(name, str):
            problem = replace(problem, values={**problem.values, "parameter": self._label(name)})
        return " ".join(words.explain(problem))


def _is_asked(parameter: Parameter) -> bool:
    """Whether a person has to decide, or shapes the release; all else comes after."""
    return parameter.kind is ParameterKind.COLUMNS or (parameter.default is None and not parameter.optional)
