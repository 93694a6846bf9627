"""Declaring a column's allowed values where a method misses them, without going back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from app import words
from app.parts.form.domain_editor import DomainEditor
from app.parts.form.parameter_columns import AddedColumns
from app.parts.form.parameter_form import ParameterForm
from app.parts.making import add, empty, left, make_button, make_column
from app.parts.prose import Heading
from app.state.study import Study
from app.work import marking
from engine.methods.protocol import MAIN
from engine.table.schema import Column, Domain


class DeclareCard(QWidget):
    """Hidden until it is needed. ``declared`` tells the column, the domain, and whether the rows helped.

    One column is asked about at a time; what was begun about others waits, each reached by its name.
    """

    declared = Signal(str, object, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("declare-here")
        self._column = make_column(inside=self, spacing=4, margins=0)
        self.heading = Heading(size="card")
        self._editors: dict[str, DomainEditor] = {}
        self._asked = ""
        self.cancel = make_button(
            words.say("app.method.declare_cancel"),
            "declare-cancel",
            lambda: self.close_editor(self._asked),
            look="link",
        )
        self._waiting = make_column(spacing=2)
        add(self._column, self.heading, left(self.cancel), self._waiting)
        self.hide()

    @property
    def editor(self) -> DomainEditor | None:
        """What is asked about the column in view."""
        return self._editors.get(self._asked)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are asked about, in view or waiting."""
        return tuple(self._editors)

    def open_editor(self, column: Column, found: Domain | None, lists: Mapping[str, Any]) -> None:
        """Ask for the allowed values of a column; what was begun about another one waits."""
        if column.name not in self._editors:
            editor = self._editors[column.name] = DomainEditor(column, found, lists)
            editor.setMaximumWidth(420)
            editor.declared.connect(
                lambda domain, from_rows: self.declared.emit(column.name, domain, from_rows)
            )
            self._column.insertWidget(1, editor)
        self._show(column.name)

    def close_editor(self, name: str) -> None:
        """Take the question about a column away, and come back to one that waits."""
        editor = self._editors.pop(name, None)
        if editor is not None:
            editor.hide()
            editor.deleteLater()
        if self._editors and name == self._asked:
            self._show(next(reversed(self._editors)))
        elif self._editors:
            self._list_waiting()
        else:
            self._asked = ""
            self.hide()

    def _show(self, name: str) -> None:
        self._asked = name
        self.heading.setText(words.say("app.method.declare_here", column=name))
        for other, editor in self._editors.items():
            editor.setVisible(other == name)
        self._list_waiting()
        self.show()
        parts = self._editors[name].findChildren(QWidget)
        first = next((one for one in parts if one.focusPolicy()), None)
        if first is not None:
            first.setFocus(Qt.FocusReason.OtherFocusReason)

    def _list_waiting(self) -> None:
        empty(self._waiting)
        for name in self._editors:
            if name != self._asked:
                text = words.say("app.method.declare_waits", column=name)
                link = make_button(text, f"declare-{name}", partial(self._show, name), look="link")
                add(self._waiting, left(link))


class DeclareHere:
    """Keeps card, form and study at one; ``opened`` is called when the card has a question."""

    def __init__(
        self, form: ParameterForm, card: DeclareCard, study: Study, opened: Callable[[], None]
    ) -> None:
        self.form, self.card, self.study, self._opened = form, card, study, opened
        self._asked: dict[str, tuple[str, Any]] = {}  # the parameter that misses a column, and its value then
        form.declare_wanted.connect(self.ask)
        card.declared.connect(self._declared)

    def _source(self, parameter: str) -> str:
        return next((one.source for one in self.form.parameters() if one.name == parameter), "")

    def ask(self, parameter: str, name: str, value: Any) -> None:
        """Ask for the values of a column; ``value`` is what the parameter becomes with it."""
        from engine.table.code_lists import code_lists

        self._asked[name] = parameter, value
        source = self._source(parameter)
        column = self.study.plan.schemas[source].column(name)
        suggestions = self.study.result("suggestions") or ()
        found = next((one for one in suggestions if source == MAIN and one.column == name), None)
        self.card.open_editor(column, marking.seen(column, found), code_lists())
        self._opened()

    def refresh(self) -> None:
        """Take questions away that the form, or the table, no longer asks."""
        for name in self.card.columns:
            schema = self.study.plan.schemas.get(self._source(self._asked[name][0]))
            if schema is None or name not in schema or schema.column(name).is_declared:
                self.card.close_editor(name)

    def _declared(self, name: str, domain: Domain, from_rows: bool) -> None:
        """Take the declaration, and the column for the parameter that missed it, as one edit."""
        parameter, value = self._asked[name]
        plan, source = self.study.plan, self._source(parameter)
        field = self.form.lines[parameter].field
        if isinstance(field, AddedColumns):
            value = field.with_column(name)  # others may have been added since it was asked
        schema = plan.schemas[source]
        schema = schema.with_column(marking.declared(schema.column(name), domain))
        reason = words.say("app.columns.vouched")
        self.card.close_editor(name)
        self.study.decide(
            schemas={**plan.schemas, source: schema},
            parameters={**plan.parameters, parameter: value},
            decisions=marking.vouched(plan.decisions, name, reason) if from_rows else plan.decisions,
        )
