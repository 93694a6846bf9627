"""What to look at, worst first: a mark and a sentence each, spoken with the word of the mark."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app import words
from app.parts.cards import Card
from app.parts.making import add, empty, make_column, make_label, make_row
from app.parts.prose import Prose
from app.screens.release.looking import Point
from app.theme import restyle


class Points(Card):
    """The first part of a release that was made."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(words.say("app.release.look_at"), tone="", parent=parent)
        self.setObjectName("look-at")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._lines = make_column(spacing=8)
        self.body.addLayout(self._lines)

    def show_points(self, points: Sequence[Point]) -> None:
        """Show other points; a quiet sentence where there is none."""
        empty(self._lines)
        worst = points[0].tone if points else "quiet"
        self.setProperty("card", "care" if worst in ("wrong", "care") else "true")
        restyle(self)
        spoken = []
        for point in points:
            sentence = words.say(f"app.release.point.{point.name}", **point.values)
            mark = words.say(f"app.release.mark.{point.tone}")
            self._lines.addWidget(_line(mark, sentence, point.tone))
            spoken.append(f"{mark}: {sentence}")
        if not points:
            spoken.append(words.say("app.release.point.nothing"))
            self._lines.addWidget(Prose(spoken[0]))
        self.setAccessibleName(f"{self.heading.text()}. {' '.join(spoken)}")


def _line(mark: str, sentence: str, tone: str) -> QWidget:
    line = QWidget()
    row = make_row(inside=line, spacing=12, margins=0)
    label = make_label(mark, pixels=12, weight=600, tone=tone)
    label.setFixedWidth(72)
    add(row, (label, 0, Qt.AlignmentFlag.AlignTop), (Prose(sentence), 1))
    return line
