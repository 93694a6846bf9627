"""Declaring the allowed values of all columns that a method misses: side by side, with one statement."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCheckBox, QFrame, QWidget

from app import words
from app.parts.form.column_picker import ColumnPicker
from app.parts.form.domain_editor import DomainFields
from app.parts.form.parameter_columns import AddedColumns, ColumnField
from app.parts.form.parameter_form import ParameterForm
from app.parts.making import (
    STRETCH,
    add,
    align_left,
    hidden,
    make_button,
    make_column,
    make_grid,
    make_label,
    make_row,
    name_widget,
)
from app.parts.prose import Heading, Prose, name_label
from app.parts.wrapping import Wrapping
from app.state.study import Study
from app.theme import mono_font, polish
from app.work import marking
from app.work.widening import round_outward
from engine.table.schema import Column, Domain, Kind

CELL = 186  # pixels that a column needs at least


class DeclareCell(QFrame):
    """One column: its name, how many values there are, the fields, and what is wrong with them."""

    def __init__(self, column: Column, found: Domain | None, proposed: str, lists: Mapping[str, Any]) -> None:
        super().__init__()
        self.setObjectName(f"declare-{column.name}")
        self.setProperty("card", "inner")
        self.column, self.found, self.from_rows = column, found, False
        self._lists = lists
        self.name = name_label(column.name)
        self.name.setFont(mono_font())
        self.name.setMinimumWidth(20)
        self.name.setToolTip(words.tip(column.name))
        self.count = make_label("", pixels=12, tone="quiet")
        self.leave = make_button(
            "×",
            f"declare-cancel-{column.name}",
            look="link",
            spoken=words.say("app.picker.leave_name", column=column.name),
        )
        self.leave.setToolTip(words.tip(self.leave.accessibleName()))
        self.fields = DomainFields(column, lists, few=True)
        self.fields.edited.connect(self.show_count)
        self.wrong = hidden(Prose(tone="wrong", pixels=12))
        add(
            make_column(inside=self, spacing=2, margins=(10, 2, 8, 10)),
            make_row((self.name, 1), self.count, self.leave, spacing=6),
            self.fields,
            self.wrong,
            STRETCH,
        )
        if proposed and self.fields.is_empty:
            self.fields.propose_list(proposed)
        self.show_count()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._cut_name()

    def _cut_name(self) -> None:
        """Let a long name end in dots where there is no room for it; the tip has all of it."""
        beside = self.count.sizeHint().width() + self.leave.sizeHint().width() + 32
        end = Qt.TextElideMode.ElideRight
        cut = self.name.fontMetrics().elidedText(self.column.name, end, max(self.width() - beside, 20))
        self.name.setText(cut)

    def take_rows(self) -> None:
        """Start from what stands in the table, where nothing was said yet; bounds are rounded outward."""
        if self.found is not None and self.fields.is_empty:
            self.fields.fill(round_outward(self.found, self.column.kind))
            self.from_rows = True

    @property
    def is_rounded(self) -> bool:
        """Whether the bounds in the fields are those of the table, rounded outward."""
        wide = (
            None if self.found is None or not self.from_rows else round_outward(self.found, self.column.kind)
        )
        return wide is not None and wide != self.found and self.fields.domain() == wide

    def take_exact(self) -> None:
        """Take the bounds as they stand in the table in the place of the rounded ones."""
        if self.found is not None and self.is_rounded:
            self.fields.fill(self.found)

    def domain(self) -> Domain | None:
        """Return what was declared, or None, and say then what is wrong with it."""
        domain = self.fields.domain()
        self.wrong.setVisible(isinstance(domain, str))
        if isinstance(domain, str):
            self.wrong.say(words.say(domain))
            return None
        return domain

    def show_count(self) -> None:
        """Say how many values there are by now."""
        domain = self.fields.domain()
        number = None
        if isinstance(domain, Domain) and domain.code_list:
            number = len(self._lists[domain.code_list].codes)
        elif isinstance(domain, Domain) and domain.values is not None:
            number = len(domain.values)
        elif isinstance(domain, Domain) and self.column.kind is Kind.INTEGER and not domain.step:
            low, high = domain.minimum, domain.maximum
            if isinstance(low, Fraction) and isinstance(high, Fraction):
                number = int(high) - int(low) + 1
        self.count.setText("" if number is None else words.say("app.picker.values", count=number))
        self._cut_name()
        if not isinstance(domain, str):
            self.wrong.hide()


class DeclareCard(QWidget):
    """Hidden until it is needed. ``declared`` tells column, domain and whether the rows helped, of all.

    ``changed`` tells that the statement was ticked or a field was written in.
    """

    declared = Signal(object)
    dropped = Signal(str)
    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("declare-here")
        self.cells: dict[str, DeclareCell] = {}
        self.heading = Heading(size="card")
        self.take = make_button(
            words.say("app.columns.domain.take"), "domain_take", self._take_rows, look="link"
        )
        self.exact = hidden(
            make_button(words.say("app.columns.domain.exact"), "domain_exact", self._take_exact, look="link")
        )
        self.note = Prose(words.say("app.picker.proposals"), tone="quiet", pixels=12)
        self._grid = make_grid(across=10, down=10)
        self._across = 0
        self.statement = QFrame()
        self.statement.setProperty("card", "statement")
        self.known = name_widget(QCheckBox(words.say("app.columns.domain.known")), "domain_known")
        self.known.toggled.connect(lambda on: self._said())
        self.wrong = hidden(Prose(words.say("app.picker.not_said"), tone="wrong", pixels=12))
        self.button = make_button("", "domain_declare", self.declare)
        self.known_why = Prose(words.say("app.picker.known_why"), pixels=12)
        add(
            make_column(inside=self.statement, spacing=4, margins=(12, 6, 12, 12)),
            self.known,
            self.known_why,
            self.wrong,
            align_left(self.button),
        )
        column = make_column(inside=self, spacing=8, margins=0)
        takes = Wrapping(spacing=10)  # in French both together are wider than the half of a screen
        for link in (self.take, self.exact):
            takes.addWidget(link)
        add(column, self.heading, self.note, takes, self._grid, self.statement, STRETCH)
        self.hide()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are asked about."""
        return tuple(self.cells)

    def open_cell(
        self, column: Column, found: Domain | None, proposed: str, lists: Mapping[str, Any]
    ) -> None:
        """Ask for the allowed values of one more column; what was begun about others stays."""
        if column.name in self.cells:
            return
        cell = self.cells[column.name] = DeclareCell(column, found, proposed, lists)
        cell.leave.clicked.connect(lambda checked=False: self.dropped.emit(column.name))
        cell.fields.edited.connect(self.changed)
        self.known.setChecked(False)  # it was said of other columns
        self._lay()

    def close_cell(self, name: str) -> None:
        """Take the question about a column away."""
        cell = self.cells.pop(name, None)
        if cell is not None:
            cell.hide()
            cell.deleteLater()
            self._lay()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._fits() != self._across:
            self._lay()

    def _fits(self) -> int:
        return 2 if self.width() >= 2 * CELL + 10 and len(self.cells) > 1 else 1

    def _lay(self) -> None:
        self._across = self._fits()
        for cell in self.cells.values():
            self._grid.removeWidget(cell)
        for place, cell in enumerate(self.cells.values()):
            self._grid.addWidget(cell, place // self._across, place % self._across)
        for column in range(2):
            self._grid.setColumnStretch(column, 1 if column < self._across else 0)
        count = len(self.cells)
        self.heading.setText(words.say("app.picker.declare", count=count))
        self.button.setText(words.say("app.picker.declare", count=count))
        self.take.setVisible(any(one.found is not None for one in self.cells.values()))
        self._offer_exact()
        self.setVisible(bool(self.cells))
        if not self.cells:
            self.known.setChecked(False)
            self.wrong.hide()
        self.changed.emit()

    def _take_rows(self) -> None:
        for cell in self.cells.values():
            cell.take_rows()
        self.known.setChecked(False)
        self._offer_exact()

    def _take_exact(self) -> None:
        for cell in self.cells.values():
            cell.take_exact()
        self.known.setChecked(False)
        self._offer_exact()

    def _offer_exact(self) -> None:
        """Offer exact bounds only where rounded ones were taken: they are two values of somebody."""
        self.exact.setVisible(any(cell.is_rounded for cell in self.cells.values()))

    def _said(self) -> None:
        if self.known.isChecked():
            self.wrong.hide()
        self.changed.emit()

    # --- declaring ---------------------------------------------------------------------------------

    @property
    def is_ready(self) -> bool:
        """Whether all was said, with the statement."""
        read = (isinstance(one.fields.domain(), Domain) for one in self.cells.values())
        return self.known.isChecked() and all(read)

    def declare(self) -> bool:
        """Declare all of them, or say what is missing and lead there."""
        read = {name: cell.domain() for name, cell in self.cells.items()}
        missing = next((name for name, domain in read.items() if domain is None), None)
        self.wrong.setVisible(missing is None and not self.known.isChecked())
        for part in (self.wrong, *(cell.wrong for cell in self.cells.values())):
            polish(part)
        if missing is not None:
            self.cells[missing].fields.first_field().setFocus(Qt.FocusReason.OtherFocusReason)
        elif not self.known.isChecked():
            self.known.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.declared.emit([(name, domain, self.cells[name].from_rows) for name, domain in read.items()])
            return True
        return False


class DeclareHere:
    """Keeps card, form and study at one; ``opened`` is called when the card has a question."""

    def __init__(
        self, form: ParameterForm, card: DeclareCard, study: Study, opened: Callable[[], None]
    ) -> None:
        self.form, self.card, self.study, self._opened = form, card, study, opened
        self._asked: dict[str, tuple[str, Any]] = {}  # the parameter that misses a column, and its value then
        form.declare_wanted.connect(self.ask)
        form.declare_dropped.connect(self._drop)
        card.dropped.connect(self._drop)
        card.declared.connect(self._declared)

    def _source(self, parameter: str) -> str:
        return next((one.source for one in self.form.parameters() if one.name == parameter), "")

    def _suggestion(self, source: str, name: str) -> Any:
        return next((one for one in self.study.suggestions_of(source) if one.column == name), None)

    def ask(self, parameter: str, name: str, value: Any) -> None:
        """Ask for the values of a column; ``value`` is what the parameter becomes with it."""
        from engine.table.code_lists import code_lists

        self._asked[name] = parameter, value
        source = self._source(parameter)
        column = self.study.plan.schemas[source].column(name)
        found = self._suggestion(source, name)
        proposed = next((one.code_list for one in found.proposals), "") if found is not None else ""
        self.card.open_cell(column, marking.seen(column, found), proposed, code_lists())
        self.refresh()
        self._opened()

    def _drop(self, name: str) -> None:
        self.card.close_cell(name)
        self.refresh()

    def refresh(self) -> None:
        """Take questions away that the form, or the table, no longer asks; show in the lists what waits."""
        for name in self.card.columns:
            schema = self.study.plan.schemas.get(self._source(self._asked[name][0]))
            if schema is None or name not in schema or schema.column(name).is_declared:
                self.card.close_cell(name)
        for parameter, picker in self.form.pickers().items():
            known = self.study.suggestions_of(picker.parameter.source)
            picker.show_seen({one.column: one for one in known})
            picker.show_waiting(self._waiting(parameter))
        for parameter, line in self.form.lines.items():
            if isinstance(line.field, ColumnField):
                line.field.show_waiting(self._waiting(parameter))
        self.form.show_waiting(parameter for parameter in self.form.lines if self._waiting(parameter))

    def _waiting(self, parameter: str) -> list[str]:
        return [one for one in self.card.columns if self._asked[one][0] == parameter]

    def _declared(self, found: Sequence[tuple[str, Domain, bool]]) -> None:
        """Take all declarations, and the columns for the parameters that missed them, as one edit."""
        plan = self.study.plan
        schemas, parameters, decisions = dict(plan.schemas), dict(plan.parameters), plan.decisions
        for name, domain, from_rows in found:
            parameter, value = self._asked[name]
            field, source = self.form.lines[parameter].field, self._source(parameter)
            if isinstance(field, AddedColumns | ColumnPicker):
                value = field.with_column(name, parameters.get(parameter))
            parameters[parameter] = value
            schema = schemas[source]
            schemas[source] = schema.with_column(
                marking.declare_values(schema.column(name), domain, language=words.language())
            )
            if from_rows:
                decisions = marking.vouch_for_values(decisions, name, words.say("app.columns.vouched"))
        for name, _, _ in found:
            self.card.close_cell(name)
        self.study.decide(schemas=schemas, parameters=parameters, decisions=decisions)
