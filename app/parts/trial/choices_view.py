"""Lines that were found in the table, to be ticked: each tick is a record of a setting."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QLineEdit,
    QScrollArea,
    QWidget,
)

from app import words
from app.parts.making import add, empty, make_column, make_grid, named
from app.parts.prose import Prose, name_label
from app.theme import text_font
from engine import texts
from engine.methods.trying import Choices, Tried

LINE, HIGHEST = 34, 420


class ChoicesView(QWidget):
    """``ticked`` tells a setting, a record, its place among those given if any, and whether it is on."""

    taken = Signal(object)
    ticked = Signal(str, object, object, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.shown: Choices | None = None
        box = make_column(inside=self, spacing=8, margins=0)
        self.note = named(Prose(tone="quiet", pixels=12), "choices-note")
        self.search = QLineEdit()
        self.search.setObjectName("choices-search")
        self.search.setPlaceholderText(words.say("app.trying.choices.search"))
        self.search.setAccessibleName(words.say("app.trying.choices.search"))
        self.search.setMaximumWidth(320)
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(lambda text: self._filter())
        add(box, self.note, self.search)
        self.lines = QWidget()
        self.area = named(QScrollArea(), "choices", words.say("app.trying.choices.name"))
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setWidget(self.lines)
        self.grid = make_grid(self.lines, across=18, down=0, margins=(0, 0, 12, 0))
        self.grid.setColumnStretch(0, 1)
        box.addWidget(self.area)
        self.ticks: list[QCheckBox] = []
        self._beside: list[list[QWidget]] = []

    def show_answer(self, shown: Tried) -> None:
        """Show the lines; those that stay the same keep their boxes, and the focus with them."""
        assert isinstance(shown, Choices)
        fresh = self.shown is None or self.shown.rows != shown.rows
        self.shown = shown
        if fresh:
            self._make()
        for tick, place in zip(self.ticks, shown.taken, strict=True):
            with QSignalBlocker(tick):
                tick.setChecked(place is not None)
        on = sum(place is not None for place in shown.taken)
        self.note.say(
            words.say("app.trying.choices.note", found=shown.found, shown=len(shown.rows), ticked=on)
            if shown.rows
            else words.say("app.trying.choices.none")
        )
        self.search.setVisible(bool(shown.rows))

    def _make(self) -> None:
        assert self.shown is not None
        empty(self.grid)
        self.ticks, self._beside = [], []
        for column, heading in enumerate(self.shown.headings if self.shown.rows else ()):
            label = name_label(words.label(heading))
            label.setFont(text_font(12, 600))
            label.setProperty("tone", "quiet")
            self.grid.addWidget(label, 0, column)
        for line, row in enumerate(self.shown.rows):
            said = str(row[0])
            tick = named(QCheckBox(said), f"tick-{line}")
            tick.setToolTip(words.tip(said))
            tick.clicked.connect(lambda on, line=line: self._tick(line, on))
            self.grid.addWidget(tick, line + 1, 0)
            beside: list[QWidget] = []
            for column, cell in enumerate(row[1:], 1):
                number = texts.number(cell) if isinstance(cell, int | float) else str(cell)
                label = name_label(number)
                label.setFont(text_font())
                self.grid.addWidget(label, line + 1, column, Qt.AlignmentFlag.AlignRight)
                beside.append(label)
            self.ticks.append(tick)
            self._beside.append(beside)
        height = LINE * (len(self.ticks) + 1)
        self.area.setVisible(bool(self.ticks))
        self.area.setFixedHeight(min(HIGHEST, height))
        self._filter()

    def _filter(self) -> None:
        """Show the lines that hold every word that is searched for."""
        wanted = self.search.text().casefold().split()
        for tick, beside in zip(self.ticks, self._beside, strict=True):
            is_shown = all(word in tick.text().casefold() for word in wanted)
            for widget in (tick, *beside):
                widget.setVisible(is_shown)

    def _tick(self, line: int, on: bool) -> None:
        assert self.shown is not None
        shown = self.shown
        self.ticked.emit(shown.parameter, dict(shown.records[line]), shown.taken[line], on)
