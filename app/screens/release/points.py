"""What to look at, worst first: a mark and a sentence each, spoken with the word of the mark."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app import words
from app.parts.cards import Card
from app.parts.making import empty
from app.parts.prose import Prose
from app.screens.release.looking import Point
from app.theme import text_font


class Points(Card):
    """The first part of a release that was made."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(words.say("app.release.look_at"), tone="", parent=parent)
        self.setObjectName("look-at")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._lines = QVBoxLayout()
        self._lines.setSpacing(8)
        self.body.addLayout(self._lines)

    def show_points(self, points: Sequence[Point]) -> None:
        """Show other points; a quiet sentence where there is none."""
        empty(self._lines)
        worst = points[0].tone if points else "quiet"
        self.setProperty("card", "care" if worst in ("wrong", "care") else "true")
        self.style().unpolish(self)
        self.style().polish(self)
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
    row = QHBoxLayout(line)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(12)
    label = QLabel(mark)
    label.setFont(text_font(12, 600))
    label.setProperty("tone", tone)
    label.setFixedWidth(72)
    row.addWidget(label, 0, Qt.AlignmentFlag.AlignTop)
    row.addWidget(Prose(sentence), 1)
    return line
