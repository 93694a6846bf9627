"""Cheaper ways to what is asked: each with what it takes instead, and a link that takes it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app import words
from app.parts.cards import row
from app.parts.making import empty, make_button, make_column, named
from app.parts.prose import Heading, Prose
from app.words.money import level
from engine.methods.protocol import Cheaper


class CheaperWays(QWidget):
    """``taken`` tells the parameters of the way that a person takes; hidden while there is none."""

    taken = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("cheaper")
        column = make_column(
            Heading(words.say("app.visit.cheaper.title"), size="card"), inside=self, spacing=6, margins=0
        )
        self._lines = make_column(spacing=4)
        column.addLayout(self._lines)
        self.hide()

    def show_ways(self, ways: Sequence[Cheaper], now: Fraction) -> None:
        """Show other ways, beside what is taken now."""
        empty(self._lines)
        for place, way in enumerate(ways):
            self._lines.addWidget(self._line(place, way, now))
        self.setVisible(bool(ways))

    def _line(self, place: int, way: Cheaper, now: Fraction) -> QWidget:
        values = {"epsilon": level(way.epsilon) if way.epsilon else "0", "now": level(now)}
        price = words.say("app.visit.cheaper.instead", **values) if way.epsilon != now else ""
        said = named(Prose(f"{words.label(way.said)} {price}".rstrip()), f"cheaper-{place}")
        take = make_button(words.say("app.visit.cheaper.take"), f"take-cheaper-{place}", look="link")
        take.setAccessibleName(f"{take.text()}: {said.plain()}")
        if way.given is None:  # nothing is left to be asked
            take.hide()
        take.clicked.connect(lambda checked=False: self.taken.emit(way.given))
        line = row(said, take, stretch=False)
        line.setContentsMargins(0, 0, 0, 0)
        line.setStretch(0, 1)
        part = QWidget(self)
        part.setLayout(line)
        return part
