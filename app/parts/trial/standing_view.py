"""Who stands alone after each step so far: a line for each step, with a bar."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from app import words
from app.parts.making import add, empty, make_column, make_grid
from app.parts.plot import ShareBar
from app.parts.prose import Heading, Prose
from engine.methods.trying import Standing, Tried


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
            bar = ShareBar(height=16)
            bar.setMinimumWidth(60)
            bar.show_share(count / most)
            self.lines.addWidget(bar, line, 1)
            self.lines.addWidget(figure, line, 2, Qt.AlignmentFlag.AlignRight)
