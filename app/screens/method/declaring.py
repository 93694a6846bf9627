"""Declaring a column where a form misses it: the card opens below the form, and the form takes the column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app import words
from app.parts.form.parameter_columns import AddedColumns
from app.parts.form.parameter_form import ParameterForm
from app.screens.method.declare_card import DeclareCard
from app.state.study import Study
from app.work import marking
from engine.methods.protocol import MAIN
from engine.table.schema import Domain


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
