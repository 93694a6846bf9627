"""Who stands alone after each step so far: a line for each step, with a bar."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import words
from app.parts.making import add, empty, make_column, make_grid
from app.parts.prose import Heading, Prose
from app.theme import theme
from engine.methods.trying import Standing, Tried

BAR = 6


class CountBar(QWidget):
    """A number as a part of the largest one; the number itself stands beside it."""

    def __init__(self, share: float, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.share = share
        self.setMinimumWidth(60)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(140, 16)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, tokens = QPainter(self), theme.tokens()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        top = (self.height() - BAR) / 2
        for width, colour in ((self.width(), "line"), (self.width() * self.share, "accent")):
            painter.setBrush(tokens.colour(colour))
            painter.drawRoundedRect(QRectF(0, top, width, BAR), 3, 3)
        painter.end()


class StandingView(QWidget):
    """Shows a count; nothing is taken in it."""

    taken = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        box = make_column(inside=self, spacing=8, margins=0)
        self.figure, self.note = Heading(size="side"), Prose(tone="quiet", pixels=12)
        self.figure.setObjectName("alone-now")
        add(box, Prose(words.say("app.trying.standing.heading"), tone="quiet", pixels=12), self.figure)
        box.addWidget(self.note)
        self.lines = make_grid(across=14, down=6)
        self.lines.setColumnStretch(0, 3)
        self.lines.setColumnStretch(1, 2)
        box.addLayout(self.lines)

    def show_answer(self, shown: Tried) -> None:
        """Show who stands alone before, after each step, and now."""
        assert isinstance(shown, Standing)
        now = shown.after[-1][1] if shown.after else shown.before
        self.figure.setText(f"{shown.before:,} → {now:,}" if shown.after else f"{shown.before:,}")
        name = "by" if shown.columns else "by_nothing"
        columns = ", ".join(shown.columns)
        self.note.say(words.say(f"app.trying.standing.{name}", people=shown.people, columns=columns))
        empty(self.lines)
        steps = [(words.say("app.trying.standing.before"), shown.before)]
        steps += [
            (words.say("app.trying.standing.step", number=number, step=words.label(step)), count)
            for number, (step, count) in enumerate(shown.after, 1)
        ]
        most = max(1, *(count for _, count in steps))
        for line, (said, count) in enumerate(steps):
            figure = Prose(f"**{count:,}**")
            figure.setWordWrap(False)
            self.lines.addWidget(Prose(said, pixels=12), line, 0)
            self.lines.addWidget(CountBar(count / most), line, 1)
            self.lines.addWidget(figure, line, 2, Qt.AlignmentFlag.AlignRight)
