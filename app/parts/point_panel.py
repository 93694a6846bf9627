"""What a point of a picture stands for: read off beside the picture opened large, and taken there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QLabel, QWidget

from app import words
from app.parts.making import add, empty, hidden, make_button, make_column, make_grid, name_widget
from app.parts.prose import Heading, Prose, name_label
from app.theme import text_font


@dataclass(frozen=True)
class PointRead:
    """One point in words.

    Parameters
    ----------
    lines
        What it has, each with its name, its value, and whether that differs from the point that is taken.
    is_taken
        Whether it is the one that is taken.
    barred
        Why it cannot be taken; empty where it can.
    """

    lines: tuple[tuple[str, str, bool], ...]
    is_taken: bool = False
    barred: str = ""


@dataclass(frozen=True)
class PointReading:
    """How the points of a picture are read and taken, each told by its line in the numbers of the picture."""

    at: Callable[[int], PointRead]
    take: Callable[[int], None]


class PointPanel(QWidget):
    """The point that is looked at, line by line; ``wanted`` tells that it shall be taken."""

    wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("point")
        column = make_column(inside=self, spacing=6, margins=0)
        self.heading = Heading(words.say("app.enlarged.point"), size="side")
        self.note = name_widget(Prose(tone="quiet", pixels=12), "point-note")
        self.lines = make_grid(across=12, down=4)
        self.lines.setColumnStretch(1, 1)
        self.values: list[tuple[QLabel, Prose]] = []
        self.take = hidden(make_button(words.say("app.enlarged.take"), "take-point", self.wanted.emit))
        add(column, self.heading, self.note, self.lines)
        self.show_point(None)

    def show_point(self, read: PointRead | None) -> None:
        """Show another point, or that none is looked at."""
        lines = () if read is None else read.lines
        if len(lines) != len(self.values):
            self._make(len(lines))
        for (name, value), (label, said, differs) in zip(self.values, lines, strict=True):
            name.setText(label)
            value.say(f"**{said}**" if differs else said)
            value.set_tone("care" if differs else "")
        self.note.say(self._told(read))
        self.note.set_tone("wrong" if read is not None and read.barred else "quiet")
        self.take.setVisible(read is not None)
        self.take.setEnabled(read is not None and not read.barred and not read.is_taken)

    def _told(self, read: PointRead | None) -> str:
        if read is None:
            return words.say("app.enlarged.point_none")
        if read.barred:
            return read.barred
        return words.say(f"app.enlarged.{'is_taken' if read.is_taken else 'differs'}")

    def _make(self, count: int) -> None:
        empty(self.lines)
        self.values = []
        for line in range(count):
            name, value = name_label(""), Prose(pixels=13)
            name.setFont(text_font(12, QFont.Weight.Normal))
            name.setProperty("tone", "quiet")
            value.setAlignment(Qt.AlignmentFlag.AlignRight)
            self.lines.addWidget(name, line, 0, Qt.AlignmentFlag.AlignTop)
            self.lines.addWidget(value, line, 1)
            self.values.append((name, value))
