"""Fields for conditions: a sentence of several lines, and a single condition on rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QComboBox,
    QLabel,
    QLineEdit,
    QListView,
    QMenu,
    QPushButton,
    QWidget,
    QWidgetAction,
)

from app import words
from app.parts.cards import row
from app.parts.form.conditions import (
    SEVERAL,
    WITHOUT_VALUE,
    Clause,
    clause_of,
    clauses_of,
    condition_of,
    operators,
    step_operators,
    text_of,
)
from app.parts.form.parameter_columns import Unfit, declarable, fill_columns, fitting, is_declarable
from app.parts.form.parameter_fields import PLACEHOLDER, Field
from app.parts.layouts import ColumnLayout
from app.parts.making import add, empty, make_button, make_choice, make_column, make_field, make_label
from app.parts.wrapping import Wrapping
from app.theme import mono_font
from engine.table.schema import Column, Schema

# --- One line of a condition ----------------------------------------------------------------------------

NARROW, WIDE, MOST_NAMED = 110, 200, 3


class ValuesButton(QPushButton):
    """Several of the declared values, ticked in a list that opens below."""

    chosen = Signal()

    def __init__(self, values: Sequence[str], ticked: Sequence[str], spoken: str) -> None:
        super().__init__()
        self.setObjectName("values")
        self.spoken = spoken
        self.model = QStandardItemModel(self)
        for value in [*values, *(one for one in ticked if one not in values)]:
            item = QStandardItem(value)
            item.setFlags(
                Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsUserCheckable | Qt.ItemFlag.ItemIsSelectable
            )
            item.setCheckState(Qt.CheckState.Checked if value in ticked else Qt.CheckState.Unchecked)
            self.model.appendRow(item)
        self.model.itemChanged.connect(lambda item: self._changed())
        self.clicked.connect(lambda checked=False: self._open())
        self._name()

    def values(self) -> tuple[str, ...]:
        """Return what is ticked, in the declared order."""
        items = [self.model.item(place) for place in range(self.model.rowCount())]
        return tuple(item.text() for item in items if item.checkState() == Qt.CheckState.Checked)

    def _changed(self) -> None:
        self._name()
        self.chosen.emit()

    def _name(self) -> None:
        ticked = self.values()
        shown = words.say("app.conditions.or").join(ticked[:MOST_NAMED])
        if len(ticked) > MOST_NAMED:
            shown = words.say("app.conditions.and_more", values=shown, count=len(ticked) - MOST_NAMED)
        self.setText((shown or words.say("app.conditions.choose_values")) + "  ▾")
        self.setAccessibleName(words.pair(self.spoken, shown))

    def _open(self) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        view = QListView(menu)
        view.setModel(self.model)
        view.setAccessibleName(self.spoken)
        view.setMinimumWidth(max(self.width(), 220))
        view.setFixedHeight(min(320, 30 * self.model.rowCount() + 10))
        action = QWidgetAction(menu)
        action.setDefaultWidget(view)
        menu.addAction(action)
        menu.popup(self.mapToGlobal(self.rect().bottomLeft()))
        view.setFocus()


class ClauseRow(QWidget):
    """``changed`` tells the line as it is now."""

    changed = Signal(object)
    declare_wanted = Signal(str)  # a column that could be asked about, were its values declared

    def __init__(
        self,
        columns: Sequence[Column],
        operators: Callable[..., tuple[str, ...]],
        clause: Clause,
        spoken: str,
        *,
        others: Sequence[Unfit] = (),
        before: QWidget | None = None,
        after: QWidget | None = None,
    ) -> None:
        super().__init__()
        self.clause, self.spoken = clause, spoken
        self._columns = {column.name: column for column in columns}
        self._operators = operators
        self.line = Wrapping(self, whole=True)
        if before is not None:
            self.line.addWidget(before)
        self.column = self._combo("column", NARROW)
        self.column.setFont(mono_font())
        fill_columns(self.column, list(self._columns), list(others))
        self._others = list(others)
        self.column.setCurrentIndex(self.column.findData(clause.column))
        self.column.setPlaceholderText(words.say("app.method.choose_column"))
        self.column.activated.connect(lambda place: self._choose_column())
        self.operator = self._combo("operator", NARROW)
        self.operator.activated.connect(lambda place: self._choose(operator=self.operator.currentData()))
        add(self.line, self.column, self.operator)
        self.parts: list[QWidget] = []
        self._after = after
        self._show()

    def _combo(self, name: str, least: int) -> QComboBox:
        combo = make_choice(f"clause-{name}", words.pair(self.spoken, words.say(f"app.conditions.{name}")))
        combo.setMinimumWidth(least)
        combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        return combo

    def _listed(self) -> tuple[str, ...]:
        from engine.table.fitting import list_declared  # on first use: it brings pandas along

        column = self._columns.get(self.clause.column)
        return () if column is None else list_declared(column)

    def _choose_column(self) -> None:
        name = str(self.column.currentData())
        if is_declarable(name, self._others):
            self.column.setCurrentIndex(self.column.findData(self.clause.column))
            self.declare_wanted.emit(name)
        else:
            self._choose(column=name)

    def _choose(self, *, column: str | None = None, operator: str | None = None) -> None:
        """Take another column or operator; values stay where they still make sense."""
        before = self.clause
        clause = replace(
            before,
            column=before.column if column is None else column,
            operator=before.operator if operator is None else operator,
        )
        known = self._columns.get(clause.column)
        self.clause = clause
        fitting = () if known is None else self._operators(known, is_listed=bool(self._listed()))
        if clause.operator not in fitting:
            clause = replace(clause, operator=fitting[0] if fitting else "")
        same = clause.column == before.column and (clause.operator in SEVERAL) == (before.operator in SEVERAL)
        if not same or clause.operator in WITHOUT_VALUE or clause.operator == "between":
            clause = replace(clause, values=())
        self.clause = clause
        self._show()
        self.changed.emit(self.clause)

    def _show(self) -> None:
        column = self._columns.get(self.clause.column)
        listed = self._listed()
        self.operator.clear()
        for name in () if column is None else self._operators(column, is_listed=bool(listed)):
            self.operator.addItem(words.say(f"app.conditions.operators.{name}"), name)
        self.operator.setCurrentIndex(self.operator.findData(self.clause.operator))
        self.operator.setVisible(column is not None)
        for part in self.parts:
            self.line.removeWidget(part)
            part.hide()
            part.deleteLater()
        self.parts = self._make_values(listed)
        for part in self.parts:
            self.line.addWidget(part)
        if self._after is not None:  # stays last
            self.line.removeWidget(self._after)
            self.line.addWidget(self._after)
        self.updateGeometry()

    def _make_values(self, listed: tuple[str, ...]) -> list[QWidget]:
        operator = self.clause.operator
        if not operator or operator in WITHOUT_VALUE:
            return []
        spoken = words.pair(self.spoken, words.say("app.conditions.value"))
        if operator in SEVERAL and listed:
            button = ValuesButton(listed, self.clause.values, spoken)
            button.chosen.connect(lambda: self._take(button.values()))
            return [button]
        if operator in SEVERAL:
            return [self._edit(0, spoken, "; ".join(self.clause.values), WIDE)]
        first = self._value(0, listed, spoken)
        if operator != "between":
            return [first]
        return [first, QLabel(words.say("app.conditions.and")), self._value(1, listed, spoken)]

    def _value(self, place: int, listed: tuple[str, ...], spoken: str) -> QWidget:
        now = self.clause.values[place] if place < len(self.clause.values) else ""
        if not listed:
            return self._edit(place, spoken, now, NARROW)
        combo = make_choice(f"value-{place}", spoken)
        combo.addItems(list(listed))
        combo.setPlaceholderText(words.say("app.conditions.choose_value"))
        combo.setCurrentIndex(combo.findText(now) if now else PLACEHOLDER)
        combo.activated.connect(lambda index: self._put(place, combo.currentText()))
        return combo

    def _edit(self, place: int, spoken: str, text: str, width: int) -> QWidget:
        edit = QLineEdit(text)
        edit.setObjectName(f"value-{place}")
        edit.setAccessibleName(spoken)
        edit.setPlaceholderText(words.say("app.conditions.choose_value"))
        edit.setFixedWidth(width)
        several = self.clause.operator in SEVERAL
        edit.textEdited.connect(
            lambda written: self._take(_texts(written)) if several else self._put(place, written.strip())
        )
        return edit

    def _put(self, place: int, value: str) -> None:
        count = 2 if self.clause.operator == "between" else 1
        values = [*self.clause.values, "", ""][:count]
        values[place] = value
        self._take(tuple(values))

    def _take(self, values: tuple[str, ...]) -> None:
        self.clause = replace(self.clause, values=values)
        self.changed.emit(self.clause)


def _texts(written: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in written.split(";") if part.strip())


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
        self._links = (*self.more.values(), self.by_hand)
        self._flow: Wrapping | None = None
        self._before = 0  # fields that the sentence begins with
        self.line.addLayout(row(*self._links, spacing=14))
        self._show()

    def read_on(self, *before: QWidget) -> None:
        """Be one sentence that begins with other fields, instead of a line for each condition."""
        self._flow, self._before = Wrapping(spacing=8), len(before)
        empty(self.rows)  # the sentence says them itself
        self.line.removeWidget(self.everybody)
        self.line.insertLayout(0, self._flow)
        for part in before:
            self._flow.addWidget(part)
        self._show()

    def _link(self, name: str) -> QPushButton:
        button = make_button(words.say(f"app.conditions.links.{name}"), f"condition-{name}", look="link")
        button.setAccessibleName(words.pair(self.spoken, button.text()))
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
        lines = self.rows if self._flow is None else self._flow
        if self._flow is not None:
            for part in (self.everybody, *self._links):
                self._flow.removeWidget(part)
        empty(lines, self._before)
        for place in range(0 if by_hand else len(self.clauses)):
            lines.addWidget(self._row(place))
        if self._flow is not None:  # the sentence goes on after what it says by now
            add(self._flow, self.everybody, *self._links)

    def _row(self, place: int) -> QWidget:
        spoken = words.say("app.conditions.part", name=self.spoken, number=place + 1)
        joined: QWidget | None = None
        if place:
            joined = self._joined(place, spoken)
        elif self.begins or self._flow is not None:
            joined = QLabel(words.say(f"app.conditions.{'who' if self._flow is None else 'whose'}"))
        remove = QPushButton(words.say("app.method.remove"))
        remove.setObjectName(f"remove-clause-{place}")
        remove.setAccessibleName(words.pair(words.say("app.method.remove"), spoken))
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
        self.place = ColumnLayout()
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
