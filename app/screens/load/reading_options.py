"""How a file is read: what was found out, and fields to say otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QWidget

from app import words
from app.parts.cards import Card
from app.parts.layouts import RowLayout
from app.parts.making import add, empty, make_button, make_grid, make_label, name_widget
from app.parts.prose import Prose
from app.parts.wrapping import Wrapping

FOUND = "found"
CHOICES: Mapping[str, tuple[Any, ...]] = {
    "delimiter": (",", ";", "\t", "|", " "),
    "encoding": ("utf-8", "utf-8-sig", "utf-16", "cp1252", "iso-8859-15", "cp1250", "cp850", "mac_roman"),
    "header": (True, False),
    "decimal": (".", ","),
    "quote": ('"', "'", ""),
    "date_order": ("ymd", "dmy", "mdy"),
    "sheet": (),
}
OF_TEXT = ("delimiter", "encoding", "header", "decimal", "quote", "date_order", "missing")
OF_EXCEL = ("sheet", "header", "missing")
OF_DUCKDB = ("sheet", "missing")
NAMES = {
    ",": "comma",
    ";": "semicolon",
    "\t": "tab",
    "|": "bar",
    " ": "blank",
    ".": "point",
    '"': "double_quote",
    "'": "single_quote",
    "": "nothing",
    True: "yes",
    False: "no",
    "ymd": "ymd",
    "dmy": "dmy",
    "mdy": "mdy",
}


class ReadingOptions(Card):
    """Emits ``changed`` with the options that the custodian gave; what is left out is found out."""

    changed = Signal(dict)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._given: dict[str, Any] = {}
        line = RowLayout()
        self.said = name_widget(Prose(), "read-as")
        self.change = make_button(words.say("app.load.change"), "change-reading", look="link", checkable=True)
        add(line, (self.said, 1), (self.change, 0, Qt.AlignmentFlag.AlignTop))
        self._offers = Wrapping()
        add(self.body, line, self._offers)
        self._fields = QWidget()
        self._grid = make_grid(self._fields, across=16, down=4, margins=(0, 4, 0, 0))
        self._wanted: tuple[str, ...] = ()
        self._laid: tuple[tuple[str, ...], int] | None = None
        self.body.addWidget(self._fields)
        self._fields.hide()
        self.change.toggled.connect(self._fields.setVisible)
        self.fields: dict[str, QWidget] = {}
        self._labels: dict[str, QLabel] = {}
        for name in CHOICES:
            field = QComboBox()
            field.activated.connect(lambda place, name=name: self._chosen(name))
            self._add(name, field)
        missing = QLineEdit()
        missing.setPlaceholderText(words.say("app.load.option.missing.placeholder"))
        missing.editingFinished.connect(self._missing_edited)
        self._add("missing", missing)

    def _add(self, name: str, field: QWidget) -> None:
        label = make_label(words.say(f"app.load.option.{name}.label"), pixels=12, tone="quiet", buddy=field)
        field.setObjectName(f"option_{name}")
        field.setAccessibleName(label.text())
        field.setMinimumWidth(90)
        self.fields[name], self._labels[name] = field, label

    def show_options(self, given: Mapping[str, Any], used: Any, detection: Any) -> None:
        """Show what is used; ``given`` is what the custodian said."""
        self._given = dict(given)
        wanted = {"text": OF_TEXT, "excel": OF_EXCEL, "duckdb": OF_DUCKDB}.get(used.format, ("missing",))
        self._wanted = wanted
        self._lay_out()
        for name in self.fields:
            self.fields[name].setVisible(name in wanted)
            self._labels[name].setVisible(name in wanted)
        for name in CHOICES:
            choices = getattr(detection, "sheets", ()) if name == "sheet" else CHOICES[name]
            self._fill(name, choices, getattr(used, name))
        missing = self.fields["missing"]
        assert isinstance(missing, QLineEdit)
        with QSignalBlocker(missing):
            missing.setText("  ".join(given.get("missing", ())))
        self._offer(getattr(detection, "missing", ()))
        self.said.say(words.say("app.load.read_as", how=self._read_as(used)))

    def _read_as(self, used: Any) -> str:
        """Say in one line how the file is read."""
        missing = "  ".join(self._given.get("missing", ()))
        said = {name: _named(getattr(used, name)) for name in self._wanted if name != "missing"}
        said |= {"missing": missing or words.say("app.load.value.none")} if "missing" in self._wanted else {}
        labels = {name: words.say(f"app.load.option.{name}.label") for name in said}
        return " · ".join(words.pair(labels[name], value) for name, value in said.items())

    def _lay_out(self) -> None:
        """Put the fields side by side, as many as there is room for."""
        across = 4 if self.width() >= 700 else 3
        if self._laid == (self._wanted, across):
            return
        self._laid = (self._wanted, across)
        for place, name in enumerate(self._wanted):
            line, column = 2 * (place // across), place % across
            self._grid.addWidget(self._labels[name], line, column)
            self._grid.addWidget(self.fields[name], line + 1, column)
            if place // across:
                self._grid.setRowMinimumHeight(line, 22)
        for column in range(4):
            self._grid.setColumnStretch(column, 1 if column < across else 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if (event.size().width() >= 700) != (event.oldSize().width() >= 700):
            self._lay_out()

    def _fill(self, name: str, choices: tuple[Any, ...], used: Any) -> None:
        field = self.fields[name]
        assert isinstance(field, QComboBox)
        with QSignalBlocker(field):
            field.clear()
            field.addItem(words.say("app.load.found", value=_named(used)), FOUND)
            for choice in choices:
                field.addItem(_named(choice), choice)
            given = self._given.get(name, FOUND)
            place = next((place for place in range(field.count()) if field.itemData(place) == given), 0)
            field.setCurrentIndex(place)

    def _offer(self, codes: tuple[str, ...]) -> None:
        """Offer the codes that look like missing values, one button each."""
        empty(self._offers)
        accepted = tuple(self._given.get("missing", ()))
        if not codes and not accepted:
            return
        label = make_label(words.say("app.load.offers"), tone="quiet")
        label.setMinimumHeight(36)
        self._offers.addWidget(label)
        for code in dict.fromkeys((*codes, *accepted)):
            button = make_button(words.say("app.load.is_missing", code=code), look="chip", checkable=True)
            button.setChecked(code in accepted)
            button.clicked.connect(lambda checked, code=code: self._accept(code, checked))
            self._offers.addWidget(button)

    def _accept(self, code: str, wanted: bool) -> None:
        codes = [entry for entry in self._given.get("missing", ()) if entry != code]
        self._give("missing", [*codes, code] if wanted else codes)

    def _missing_edited(self) -> None:
        field = self.fields["missing"]
        assert isinstance(field, QLineEdit)
        codes = field.text().split()
        if codes != list(self._given.get("missing", ())):
            self._give("missing", codes)

    def _chosen(self, name: str) -> None:
        field = self.fields[name]
        assert isinstance(field, QComboBox)
        value = field.currentData(Qt.ItemDataRole.UserRole)
        if value != self._given.get(name, FOUND):
            self._give(name, value)

    def _give(self, name: str, value: Any) -> None:
        options = {key: entry for key, entry in self._given.items() if key != name}
        if value != FOUND and value != []:
            options[name] = value
        self._given = options
        self.changed.emit(options)


def _named(value: Any) -> str:
    if value is None:
        return words.say("app.load.value.none")
    name = NAMES.get(value)
    return words.say(f"app.load.value.{name}") if name else str(value)
