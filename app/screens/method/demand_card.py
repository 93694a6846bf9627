"""Measures that take long, each with a tick and what it costs in time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox

from app import words
from app.parts.cards import Card
from app.parts.making import add, empty, make_column, name_widget
from app.parts.prose import Prose


@dataclass(frozen=True)
class Offered:
    """A measure on demand: its name, its title, what it says and costs; whether it applies, and is ticked."""

    id: str
    title: str
    summary: str
    applies: bool
    is_ticked: bool


class DemandCard(Card):
    """Emits ``ticked`` with a measure and whether it is wanted."""

    ticked = Signal(str, bool)

    def __init__(self) -> None:
        super().__init__(words.say("app.method.demand.heading"))
        self.setObjectName("demand")
        self._lines = make_column(spacing=4)
        self.body.addLayout(self._lines)
        self.boxes: dict[str, QCheckBox] = {}
        self._shown: tuple[Offered, ...] = ()
        self.hide()

    def show_measures(self, offered: Iterable[Offered]) -> None:
        """Show other measures; hide where there is none."""
        found = tuple(offered)
        self.setVisible(bool(found))
        if found == self._shown:
            return
        if [(one.id, one.applies) for one in found] != [(one.id, one.applies) for one in self._shown]:
            empty(self._lines)
            self.boxes = {one.id: self._line(one) for one in found}
        self._shown = found
        for one in found:
            box = self.boxes[one.id]
            box.blockSignals(True)
            box.setChecked(one.is_ticked)
            box.blockSignals(False)

    def _line(self, one: Offered) -> QCheckBox:
        box = name_widget(QCheckBox(one.title), f"demand-{one.id}")
        box.setAccessibleDescription(one.summary)
        box.toggled.connect(lambda on: self.ticked.emit(one.id, on))
        add(self._lines, box, Prose(one.summary, tone="quiet", pixels=12))
        if not one.applies:
            self._lines.addWidget(Prose(words.say("app.method.demand.unfit"), tone="wrong", pixels=12))
        return box
