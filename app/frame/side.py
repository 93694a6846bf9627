"""The left-hand side: name, steps, look, and the one promise."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app import words
from app.frame.register_block import RegisterBlock
from app.frame.step_list import StepList
from app.parts.making import add, left, make_button, make_label, make_row, named
from app.parts.prose import Prose
from app.state import flow
from app.theme import MODES, restyle, theme
from app.work.registers import Standing

WIDE, NARROW = 196, 68
MARGIN, NARROW_MARGIN = 16, 11  # pixels; narrow, a scroll bar has room beside the circles


class Side(QFrame):
    """Emits ``chosen`` with a step, and ``look_chosen`` with system, light or dark."""

    chosen = Signal(str)
    look_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("side")
        self.setFixedWidth(WIDE)
        self._register: Standing | None = None
        self._narrow = False
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(MARGIN, 26, MARGIN, 20)
        column.setSpacing(0)
        self.name = make_label(words.say("app.window.name"), pixels=18, weight=700)
        self.name.setIndent(8)
        self.links: dict[str, QPushButton] = {}
        add(column, self.name, 10, left(self._link(flow.START)), 4)
        self.steps = StepList(flow.STEPS[1:])
        self.steps.chosen.connect(self.chosen)
        self.list = named(QScrollArea(), "steps", self.steps.accessibleName())
        self.list.setWidgetResizable(True)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setWidget(self.steps)
        self.register = RegisterBlock()
        self.register.clicked.connect(lambda: self.chosen.emit("releases"))
        add(column, (self.list, 1), 8, self.register)
        beside = make_row(spacing=14)
        for step in flow.BESIDE:
            beside.addWidget(self._link(step))
        beside.addStretch(1)
        column.addLayout(beside)
        self.look = make_button("", "look", self._next_look, look="link")
        theme.changed.connect(self._name_look)
        self._name_look()
        self.offline = Prose(words.say("app.window.offline"), tone="quiet", pixels=12)
        self.offline.setContentsMargins(8, 0, 0, 0)
        add(column, left(self.look), 8, self.offline)

    def _link(self, step: str) -> QPushButton:
        """What stands outside the numbered steps."""
        button = QPushButton(words.say(f"app.window.to_{step}"))
        button.setObjectName(f"step-{step}")
        button.setAccessibleName(words.say(f"app.steps.{step}"))
        button.setProperty("look", "link")
        button.setProperty("place", "side")
        button.clicked.connect(lambda checked=False: self.chosen.emit(step))
        self.links[step] = button
        return button

    def update_steps(self, current: str, steps: tuple[str, ...], done: set[str], reachable: set[str]) -> None:
        """Show the steps there are; see `StepList.update_steps`."""
        self.steps.update_steps(current, steps, done, reachable)
        if current in steps:
            self.list.ensureWidgetVisible(self.steps.buttons[current])
        for step, button in self.links.items():
            if button.property("current") == (step == current):
                continue
            button.setProperty("current", step == current)
            restyle(button)

    def show_register(self, found: Standing | None) -> None:
        """Show the register that pays, or none."""
        self._register = found
        self.register.show_register(None if self._narrow else found)

    def set_narrow(self, narrow: bool) -> None:
        """Show the circles of the steps alone."""
        self._narrow = narrow
        self.show_register(self._register)
        self.setFixedWidth(NARROW if narrow else WIDE)
        margin = NARROW_MARGIN if narrow else MARGIN
        self._column.setContentsMargins(margin, 26, margin, 20)
        self.steps.set_narrow(narrow)
        for part in (self.name, self.look, self.offline, *self.links.values()):
            part.setVisible(not narrow)

    def _next_look(self) -> None:
        self.look_chosen.emit(MODES[(MODES.index(theme.mode) + 1) % len(MODES)])

    def _name_look(self) -> None:
        self.look.setText(words.say(f"app.window.look_{theme.mode}"))
        self.look.setAccessibleName(words.say("app.window.look_name", look=self.look.text()))
