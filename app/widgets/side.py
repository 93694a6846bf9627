"""The left-hand side: name, steps, look, and the one promise."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QVBoxLayout, QWidget

from app import flow, words
from app.theme import MODES, text_font, theme
from app.widgets.prose import Prose
from app.widgets.step_list import StepList

WIDE, NARROW = 196, 68


class Side(QFrame):
    """Emits ``look_chosen`` with system, light or dark."""

    look_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("side")
        self.setFixedWidth(WIDE)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 26, 16, 20)
        column.setSpacing(0)
        self.name = QLabel(words.say("app.window.name"))
        self.name.setFont(text_font(18, 700))
        self.name.setIndent(8)
        column.addWidget(self.name)
        column.addSpacing(26)
        self.steps = StepList(flow.STEPS)
        column.addWidget(self.steps)
        column.addStretch(1)
        self.look = QPushButton()
        self.look.setObjectName("look")
        self.look.setProperty("look", "link")
        self.look.clicked.connect(lambda checked=False: self._next_look())
        theme.changed.connect(self._name_look)
        self._name_look()
        column.addWidget(self.look, 0, Qt.AlignmentFlag.AlignLeft)
        column.addSpacing(8)
        self.offline = Prose(words.say("app.window.offline"), tone="quiet", pixels=12)
        self.offline.setContentsMargins(8, 0, 0, 0)
        column.addWidget(self.offline)

    def set_narrow(self, narrow: bool) -> None:
        """Show the circles of the steps alone."""
        self.setFixedWidth(NARROW if narrow else WIDE)
        self.steps.set_narrow(narrow)
        for part in (self.name, self.look, self.offline):
            part.setVisible(not narrow)

    def _next_look(self) -> None:
        self.look_chosen.emit(MODES[(MODES.index(theme.mode) + 1) % len(MODES)])

    def _name_look(self) -> None:
        self.look.setText(words.say(f"app.window.look_{theme.mode}"))
        self.look.setAccessibleName(words.say("app.window.look_name", look=self.look.text()))
