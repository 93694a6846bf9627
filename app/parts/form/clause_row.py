"""One line of a condition: column, operator, values, each offered from what was declared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

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
from app.parts.form.conditions import SEVERAL, WITHOUT_VALUE, Clause
from app.parts.form.parameter_columns import Unfit, fill_columns, is_declarable
from app.parts.form.parameter_fields import PLACEHOLDER
from app.parts.making import add, make_choice
from app.parts.wrapping import Wrapping
from app.theme import mono_font
from engine.table.schema import Column

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
        self.setAccessibleName(f"{self.spoken}: {shown}")

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
        self.line = Wrapping(self)
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
        combo = make_choice(f"clause-{name}", f"{self.spoken}: {words.say(f'app.conditions.{name}')}")
        combo.setMinimumWidth(least)
        combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        return combo

    def _listed(self) -> tuple[str, ...]:
        from engine.table.fitting import listed  # on first use: it brings pandas along

        column = self._columns.get(self.clause.column)
        return () if column is None else listed(column)

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
        spoken = f"{self.spoken}: {words.say('app.conditions.value')}"
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
