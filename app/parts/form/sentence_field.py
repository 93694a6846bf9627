"""Fields for conditions: a sentence of several lines, and a single condition on rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from app import words
from app.parts.cards import row
from app.parts.form.clause_row import ClauseRow
from app.parts.form.conditions import (
    Clause,
    clause_of,
    clauses_of,
    condition_of,
    operators,
    step_operators,
    text_of,
)
from app.parts.form.parameter_columns import Unfit, declarable, fitting
from app.parts.form.parameter_fields import Field
from app.parts.making import add, empty, make_button, make_choice, make_column, make_field, make_label
from engine.table.schema import Column, Schema


class SentenceField(Field):
    """A condition over several columns, built from lists; what lists cannot say is written as a text."""

    begins = True  # with "who have"; not where the label before it says as much

    def build(self) -> None:
        self.clauses: tuple[Clause, ...] = ()
        self.columns: tuple[Column, ...] = ()
        self._others: list[Unfit] = []
        self.everybody = make_label(words.say("app.conditions.everybody"), tone="quiet")
        self.rows = make_column(spacing=6)
        self.edit = make_field(self.parameter.name, self.spoken)
        self.edit.textEdited.connect(lambda text: self.say())
        self.more = {name: self._link(name) for name in ("add", "and", "or")}
        for name, button in self.more.items():
            button.clicked.connect(
                lambda checked=False, name=name: self._add("or" if name == "or" else "and")
            )
        self.by_hand = self._link("by_hand")
        self.by_hand.setCheckable(True)
        self.by_hand.toggled.connect(self._write)
        add(self.line, self.everybody, self.rows, self.edit)
        self.line.addLayout(row(*self.more.values(), self.by_hand, spacing=14))
        self._show()

    def _link(self, name: str) -> QPushButton:
        button = make_button(words.say(f"app.conditions.links.{name}"), f"condition-{name}", look="link")
        button.setAccessibleName(f"{self.spoken}: {button.text()}")
        return button

    def set_schema(self, schema: Schema) -> None:
        fits, others = fitting(self.parameter, schema)
        columns = tuple(column for column in schema.columns if column.name in fits)
        if (columns, others) != (self.columns, self._others):
            self.columns, self._others = columns, others
            self._show()

    def show_value(self, value: Any) -> None:
        if value == self.value():
            return
        found = clauses_of(str(value or ""))
        self.clauses = found or ()
        self.edit.setText(str(value or ""))
        if found is None and not self.by_hand.isChecked():
            self.by_hand.setChecked(True)
            return
        self._show()

    def value(self) -> Any:
        written = self.edit.text().strip() if self.by_hand.isChecked() else text_of(self.clauses)
        return written or None

    def _write(self, by_hand: bool) -> None:
        """Change between lists and a text; a text with brackets stays one."""
        if by_hand:
            whole = tuple(one for one in self.clauses if one.whole)
            if whole or not self.edit.text():
                self.edit.setText(text_of(whole))
        else:
            found = clauses_of(self.edit.text())
            if found is None:
                self.by_hand.setChecked(True)
                return
            self.clauses = found
        self._show()
        self.say()

    def _add(self, joined: str) -> None:
        self._change((*self.clauses, Clause(joined=joined)))

    def _change(self, clauses: tuple[Clause, ...]) -> None:
        self.clauses = clauses
        self._show()
        self.say()

    def _show(self) -> None:
        by_hand = self.by_hand.isChecked()
        self.edit.setVisible(by_hand)
        self.everybody.setVisible(not by_hand and not self.clauses)
        self.more["add"].setVisible(not by_hand and not self.clauses)
        for name in ("and", "or"):
            self.more[name].setVisible(not by_hand and bool(self.clauses))
        empty(self.rows)
        for place in range(0 if by_hand else len(self.clauses)):
            self.rows.addWidget(self._row(place))

    def _row(self, place: int) -> QWidget:
        spoken = words.say("app.conditions.part", name=self.spoken, number=place + 1)
        joined: QWidget | None = None
        if place:
            joined = self._joined(place, spoken)
        elif self.begins:
            joined = QLabel(words.say("app.conditions.who"))
        remove = QPushButton(words.say("app.method.remove"))
        remove.setObjectName(f"remove-clause-{place}")
        remove.setAccessibleName(f"{words.say('app.method.remove')}: {spoken}")
        remove.setProperty("look", "link")
        remove.clicked.connect(
            lambda checked=False: self._change((*self.clauses[:place], *self.clauses[place + 1 :]))
        )
        made = ClauseRow(
            self.columns,
            operators,
            self.clauses[place],
            spoken,
            others=declarable(self._others),
            before=joined,
            after=remove,
        )
        made.declare_wanted.connect(lambda column: self.declare_wanted.emit(column, self.value()))
        made.changed.connect(lambda clause: self._put(place, clause))
        return made

    def _joined(self, place: int, spoken: str) -> QWidget:
        combo = make_choice(f"joined-{place}", spoken)
        for name in ("and", "or"):
            combo.addItem(words.say(f"app.conditions.joined.{name}"), name)
        combo.setCurrentIndex(combo.findData(self.clauses[place].joined))
        combo.activated.connect(
            lambda index: self._put(place, self.clauses[place], joined=combo.currentData())
        )
        return combo

    def _put(self, place: int, clause: Clause, *, joined: str = "") -> None:
        one = replace(clause, joined=joined or self.clauses[place].joined)
        self.clauses = (*self.clauses[:place], one, *self.clauses[place + 1 :])
        self.say()


class ConditionField(Field):
    """One condition on rows, as a step of preparation has it."""

    def build(self) -> None:
        self.columns: tuple[Column, ...] = ()
        self._others: list[Unfit] = []
        self.clause = Clause()
        self._schema = Schema()
        self.place = QVBoxLayout()
        self.line.addLayout(self.place)
        self._show()

    def set_schema(self, schema: Schema) -> None:
        fits, self._others = fitting(self.parameter, schema)
        self._schema = schema
        self.columns = tuple(column for column in schema.columns if column.name in fits)
        self._show()

    def show_value(self, value: Any) -> None:
        if value != self.value():
            self.clause = clause_of(value) if isinstance(value, Mapping) else Clause()
            self._show()

    def value(self) -> Any:
        return condition_of(self.clause, self._schema.column(self.clause.column))

    def _show(self) -> None:
        empty(self.place)
        made = ClauseRow(
            self.columns, step_operators, self.clause, self.spoken, others=declarable(self._others)
        )
        made.declare_wanted.connect(lambda column: self.declare_wanted.emit(column, self.value()))
        made.changed.connect(self._take)
        self.place.addWidget(made, 0, Qt.AlignmentFlag.AlignTop)

    def _take(self, clause: Clause) -> None:
        self.clause = clause
        self.say()
