"""The left-hand side: name, steps, look, and the one promise."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app import words
from app.frame.register_block import RegisterBlock
from app.frame.step_list import StepList
from app.parts.prose import Prose
from app.state import flow
from app.theme import MODES, text_font, theme
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
        self._narrow, self._current = False, ""
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(MARGIN, 26, MARGIN, 20)
        column.setSpacing(0)
        self.name = QLabel(words.say("app.window.name"))
        self.name.setFont(text_font(18, 700))
        self.name.setIndent(8)
        column.addWidget(self.name)
        column.addSpacing(10)
        self.links: dict[str, QPushButton] = {}
        column.addWidget(self._link(flow.START), 0, Qt.AlignmentFlag.AlignLeft)
        column.addSpacing(4)
        self.steps = StepList(flow.STEPS[1:])
        self.steps.chosen.connect(self.chosen)
        self.scroll = QScrollArea()
        self.scroll.setObjectName("steps")
        self.scroll.setAccessibleName(self.steps.accessibleName())
        self.scroll.setWidgetResizable(True)
        self.scroll.setFrameShape(QFrame.Shape.NoFrame)
        self.scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.scroll.setWidget(self.steps)
        column.addWidget(self.scroll, 1)
        column.addSpacing(8)
        self.register = RegisterBlock()
        self.register.clicked.connect(lambda: self.chosen.emit("releases"))
        column.addWidget(self.register)
        beside = QHBoxLayout()
        beside.setSpacing(14)
        for step in flow.BESIDE:
            beside.addWidget(self._link(step))
        beside.addStretch(1)
        column.addLayout(beside)
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
            self.scroll.ensureWidgetVisible(self.steps.buttons[current])
        self._current = current
        self._show_links()
        for step, button in self.links.items():
            if button.property("current") == (step == current):
                continue
            button.setProperty("current", step == current)
            button.style().unpolish(button)
            button.style().polish(button)

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
        for part in (self.name, self.look, self.offline):
            part.setVisible(not narrow)
        self._show_links()

    def _show_links(self) -> None:
        """Show what stands outside the steps once: the first page has buttons of its own for it."""
        for step, button in self.links.items():
            button.setVisible(not self._narrow and not (self._current == flow.START and step in flow.BESIDE))

    def _next_look(self) -> None:
        self.look_chosen.emit(MODES[(MODES.index(theme.mode) + 1) % len(MODES)])

    def _name_look(self) -> None:
        self.look.setText(words.say(f"app.window.look_{theme.mode}"))
        self.look.setAccessibleName(words.say("app.window.look_name", look=self.look.text()))
