"""Allowed values of one column: a list, a code list, or bounds with a step. Declared, never learnt.

Values that stand in the table can be taken as a start, but only become declared when the custodian says that
they are known without the rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from functools import cache, partial
from typing import Any
from zoneinfo import available_timezones

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QPlainTextEdit, QWidget

from app import words
from app.parts.exact_field import AROUND
from app.parts.making import (
    add,
    hidden,
    make_button,
    make_column,
    make_field,
    make_group,
    make_label,
    make_row,
    name_widget,
)
from app.parts.prose import Prose
from app.parts.reading_numbers import Reading
from app.parts.wrapping import Wrapping
from app.work.widening import round_outward
from engine.numbers import surely, unmistakable
from engine.table.patterns import is_moment
from engine.table.schema import Column, Domain, Kind, read_moment

NARROWEST = 52  # pixels of a field where there is little room
_OF_CALENDAR = {
    Kind.DATE: {"minimum": "2020-01-31", "maximum": "2020-01-31"},
    Kind.MOMENT: {
        "minimum": "2020-01-01T00:00",
        "maximum": "2020-01-31T23:59",
        "step": "60",
        "zone": "Europe/Zurich",
    },
}
"""What is declared of days and of moments, with what stands in the empty fields."""


class DomainFields(QWidget):
    """The fields for the allowed values of one column; ``edited`` after every change in them.

    Parameters
    ----------
    column
        As it is marked.
    lists
        Code lists by id, with titles.
    few
        Whether there is little room: values may stand in one line, with commas or points between them.
    """

    edited = Signal()

    def __init__(
        self, column: Column, lists: Mapping[str, Any], parent: QWidget | None = None, *, few: bool = False
    ) -> None:
        super().__init__(parent)
        self._column, self._few = column, few
        self._box = make_column(inside=self, spacing=6 if few else 8, margins=0 if few else (0, 4, 0, 0))
        self.lists = QComboBox()
        self.values = QPlainTextEdit()
        self.bounds: dict[str, QLineEdit] = {}
        if column.kind in (Kind.INTEGER, Kind.NUMBER, Kind.DATE, Kind.MOMENT):
            self._build_bounds()
        else:
            self._build_list(lists)

    def first_field(self) -> QWidget:
        """Return where the declaring begins."""
        return next(iter(self.bounds.values()), None) or (
            self.lists if self.lists.currentData() else self.values
        )

    def _build_bounds(self) -> None:
        names = tuple(_OF_CALENDAR.get(self._column.kind, ("minimum", "maximum", "step")))
        line = Wrapping(spacing=6) if self._few else make_row(spacing=8)
        for name in names:
            column = make_column(spacing=2, margins=0)
            label = make_label(words.say(f"app.columns.domain.{name}"), pixels=12, tone="quiet")
            field = make_field(f"domain_{name}", label.text())
            if self._column.kind in _OF_CALENDAR:
                field.setPlaceholderText(words.typed_day(_OF_CALENDAR[self._column.kind][name]))
            else:
                Reading(field)
            field.setMinimumWidth(40)
            field.textChanged.connect(lambda text: self.edited.emit())
            label.setBuddy(field)
            add(column, label, field)
            if isinstance(line, Wrapping):
                line.addWidget(make_group(column))
                field.setProperty("look", "compact")
                field.textChanged.connect(partial(_make_room, field))
                _make_room(field)
            else:
                line.addLayout(column)
            self.bounds[name] = field
        self._box.addLayout(line)
        if self._column.domain is not None:
            self._fill_bounds(self._column.domain)

    def _build_list(self, lists: Mapping[str, Any]) -> None:
        self.lists.setObjectName("domain_list")
        self.lists.setAccessibleName(words.say("app.columns.domain.lists"))
        self.lists.addItem(words.say("app.columns.domain.own"), "")
        for name, entry in lists.items():
            self.lists.addItem(words.label(entry.named()), name)
        self.lists.setMinimumContentsLength(12)
        self.lists.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.lists.activated.connect(lambda place: self._list_chosen())
        self.values.setObjectName("domain_values")
        self.values.setAccessibleName(words.say("app.columns.domain.values"))
        told = "app.columns.domain.in_line" if self._few else "app.columns.domain.one_a_line"
        self.values.setPlaceholderText(words.say(told))
        self.values.setFixedHeight(48 if self._few else 132)
        self.values.setTabChangesFocus(True)
        add(self._box, self.lists, self.values)
        domain = self._column.domain
        if domain is not None and domain.code_list:
            self.lists.setCurrentIndex(max(self.lists.findData(domain.code_list), 0))
        elif domain is not None and domain.values:
            self.values.setPlainText("\n".join(domain.values))
        self._list_chosen()
        self.values.textChanged.connect(self.edited)

    def _list_chosen(self) -> None:
        self.values.setVisible(not self.lists.currentData())
        self.edited.emit()

    def propose_list(self, name: str) -> None:
        """Propose a code list, to be taken or not."""
        place = self.lists.findData(name)
        if place > 0:
            self.lists.setCurrentIndex(place)
            self._list_chosen()

    def fill(self, domain: Domain) -> None:
        """Put values or bounds into the fields."""
        if self.bounds:
            self._fill_bounds(domain)
            return
        with QSignalBlocker(self.lists):
            self.lists.setCurrentIndex(0)
        values = domain.values or ()
        between = " · " if self._few and not any("·" in one for one in values) else "\n"
        self.values.setPlainText(between.join(values) + ("\n" if len(values) == 1 else ""))
        self._list_chosen()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was said yet."""
        if self.bounds:
            return not any(field.text().strip() for field in self.bounds.values())
        return not self.lists.currentData() and not self.values.toPlainText().strip()

    def domain(self) -> Domain | str:
        """Return what was declared, or the id of what is wrong with it."""
        return self._read_bounds() if self.bounds else self._read_list()

    def _fill_bounds(self, domain: Domain) -> None:
        for name, field in self.bounds.items():
            value = getattr(domain, name)
            field.setText(
                unmistakable(value) if isinstance(value, Fraction) else words.typed_day(value or "")
            )

    def _read_list(self) -> Domain | str:
        """Return what was declared, or the id of what is wrong with it."""
        if self.lists.currentData():
            return Domain(code_list=self.lists.currentData())
        values = self._written()
        if not values:
            return "app.columns.domain.no_values"
        if len(set(values)) < len(values):
            return "app.columns.domain.twice"
        return Domain(values=tuple(values))

    def _written(self) -> list[str]:
        """Return the values that were written: one a line, or all in one with a sign between them."""
        text = self.values.toPlainText()
        lines = text.splitlines()
        if self._few:
            lines = [part for line in lines for part in line.split("·")]
            if len(lines) == 1 and not text.endswith("\n"):
                lines = lines[0].split(";") if ";" in text else lines[0].split(",")
        return [line.strip() for line in lines if line.strip()]

    def _read_bounds(self) -> Domain | str:
        """Return what was declared, or the id of what is wrong with it."""
        texts = {name: words.read_day(field.text().strip()) for name, field in self.bounds.items()}
        if not texts["minimum"] or not texts["maximum"]:
            return "app.columns.domain.no_bounds"
        try:
            if self._column.kind is Kind.DATE:
                first, last = date.fromisoformat(texts["minimum"]), date.fromisoformat(texts["maximum"])
                if first >= last:
                    return "app.columns.domain.order"
                return Domain(first.isoformat(), last.isoformat())
            if self._column.kind is Kind.MOMENT:
                return _read_moments(texts)
            low, high = _read_bound(texts["minimum"]), _read_bound(texts["maximum"])
            step = _read_bound(texts["step"]) if texts["step"] else None
        except (ValueError, ZeroDivisionError):
            return "app.columns.domain.not_a_bound"
        if low >= high:
            return "app.columns.domain.order"
        if step is not None and step <= 0:
            return "app.columns.domain.not_a_bound"
        return Domain(low, high, step)


def _make_room(field: QLineEdit, text: str = "") -> None:
    """Make a field as wide as what is written in it, or would be."""
    needed = field.fontMetrics().horizontalAdvance(text or field.placeholderText()) + AROUND
    field.setFixedWidth(max(needed, NARROWEST))


_time_zones = cache(available_timezones)  # which opens some hundred files, and a key is pressed often


def _read_moments(texts: Mapping[str, str]) -> Domain | str:
    """Return declared moments, or the id of what is wrong with them."""
    ends = [texts[name] for name in ("minimum", "maximum")]
    step = _read_bound(texts["step"]) if texts["step"] else None
    if not all(map(is_moment, ends)) or (step is not None and (step < 1 or step.denominator != 1)):
        return "app.columns.domain.not_a_bound"
    if read_moment(ends[0]) >= read_moment(ends[1]):
        return "app.columns.domain.order"
    if texts["zone"] and texts["zone"] not in _time_zones():
        return "app.columns.domain.no_zone"
    return Domain(ends[0], ends[1], step, zone=texts["zone"])


class DomainEditor(DomainFields):
    """Emits ``declared`` with the domain, and whether it was started from values of the table.

    Parameters
    ----------
    column, lists
        As for the fields.
    found
        The domain that was seen in the rows, or None. It is shown and taken only on request.
    """

    declared = Signal(object, bool)

    def __init__(
        self, column: Column, found: Domain | None, lists: Mapping[str, Any], parent: QWidget | None = None
    ) -> None:
        super().__init__(column, lists, parent)
        self._found, self._from_rows = found, False
        self.take = make_button(words.say("app.columns.domain.take"), "domain_take", self._take, look="link")
        self.exact = hidden(
            make_button(words.say("app.columns.domain.exact"), "domain_exact", self._take_exact, look="link")
        )
        self.known = hidden(name_widget(QCheckBox(words.say("app.columns.domain.known")), "domain_known"))
        self.known_why = hidden(Prose(words.say("app.columns.domain.known_why"), tone="care", pixels=12))
        self.wrong = hidden(Prose(tone="wrong", pixels=12))
        self.button = make_button(words.say("app.columns.domain.declare"), "domain_declare", self._declare)
        add(self._box, self.take, self.exact, self.known_why, self.known, self.wrong, self.button)
        self.take.setVisible(found is not None and found.code_list is None)

    def _take(self) -> None:
        """Start from what stands in the table, bounds rounded outward: to be looked through, vouched for."""
        if self._found is None:
            return
        wide = round_outward(self._found, self._column.kind)
        self.fill(wide)
        self.exact.setVisible(wide != self._found)
        self._from_rows = True
        self.known.show()
        self.known_why.show()
        self.take.hide()

    def _take_exact(self) -> None:
        """Take the bounds as they stand in the table, which are two values of somebody."""
        if self._found is not None:
            self.fill(self._found)
        self.known.setChecked(False)
        self.exact.hide()

    def _declare(self) -> None:
        if self._from_rows and not self.known.isChecked():
            self._refuse("app.columns.domain.not_vouched")
            return
        domain = self.domain()
        if isinstance(domain, str):
            self._refuse(domain)
        else:
            self.wrong.hide()
            self.declared.emit(domain, self._from_rows)

    def _refuse(self, text_id: str) -> None:
        """Say what is wrong with what was declared."""
        self.wrong.say(words.say(text_id))
        self.wrong.show()


def _read_bound(text: str) -> Fraction:
    """Return a bound that means one number."""
    found = surely(text)
    if found is None:
        raise ValueError("no number, or one that may be two")
    return found
