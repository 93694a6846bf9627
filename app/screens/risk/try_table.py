"""What each column causes, with buttons that try it coarser or left out; trying changes nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QPushButton, QWidget

from app import words
from app.parts.making import empty, make_button, make_grid, make_label
from app.parts.prose import name_label
from app.theme import mono_font, text_font

OUT = -1
ARROWS = {
    Qt.Key.Key_Down: (1, 0), Qt.Key.Key_Up: (-1, 0), Qt.Key.Key_Right: (0, 1), Qt.Key.Key_Left: (0, -1),
}  # fmt: skip


NAMED = 160  # pixels of the names: a button stands near what it is about, however wide the window is


class TryTable(QWidget):
    """``tried`` tells the changes that are tried together: column → step, −1 for left out."""

    tried = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._grid = make_grid(self, across=10, down=4, margins=0)
        self._grid.setColumnMinimumWidth(0, NAMED)
        self._grid.setColumnStretch(3, 1)  # what room is left over lies behind the buttons
        self._causes: Sequence[Any] = ()
        self._changes: dict[str, int] = {}
        self.coarser: dict[str, QPushButton] = {}
        self.left_out: dict[str, QPushButton] = {}
        self._places: dict[tuple[int, int], QPushButton] = {}

    @property
    def changes(self) -> Mapping[str, int]:
        """What is being tried."""
        return dict(self._changes)

    def show_causes(self, causes: Sequence[Any]) -> None:
        """Show other columns; nothing is tried then."""
        if causes is self._causes:
            return
        self._causes = causes
        self._changes = {}
        self.coarser, self.left_out, self._places = {}, {}, {}
        empty(self._grid)
        for place, name in enumerate(("column", "coarser", "left_out")):
            heading = make_label(words.say(f"app.risk.try.{name}"), pixels=12, tone="quiet")
            self._grid.addWidget(heading, 0, place)
        for line, cause in enumerate(causes, 1):
            self._add(line, cause)

    def undo(self) -> None:
        """Try nothing any more."""
        self._changes = {}
        self._tell()

    def _add(self, line: int, cause: Any) -> None:
        name = name_label(cause.column)
        name.setFont(mono_font(12))
        name.setToolTip(cause.column)
        self._grid.addWidget(name, line, 0)
        if cause.steps:
            button = self._button(f"coarser-{cause.column}")
            button.clicked.connect(lambda checked=False: self._next_step(cause))
            self._put(button, line, 1)
            self.coarser[cause.column] = button
        button = self._button(f"left-out-{cause.column}")
        button.clicked.connect(lambda checked=False: self._leave_out(cause))
        self._put(button, line, 2)
        self.left_out[cause.column] = button
        self._show(cause)

    def _put(self, button: QPushButton, line: int, column: int) -> None:
        self._grid.addWidget(button, line, column)
        self._places[(line, column)] = button
        button.installEventFilter(self)

    def _button(self, name: str) -> QPushButton:
        button = make_button("", name, look="try", checkable=True)
        button.setFont(text_font(12))
        return button

    def _next_step(self, cause: Any) -> None:
        now = max(self._changes.get(cause.column, 0), 0)
        self._change(cause.column, now + 1 if now < len(cause.steps) else 0)

    def _leave_out(self, cause: Any) -> None:
        self._change(cause.column, 0 if self._changes.get(cause.column) == OUT else OUT)

    def _change(self, column: str, step: int) -> None:
        self._changes.pop(column, None)
        if step:
            self._changes[column] = step
        self._tell()

    def _tell(self) -> None:
        for cause in self._causes:
            self._show(cause)
        self.tried.emit(self.changes)

    def _show(self, cause: Any) -> None:
        step = self._changes.get(cause.column, 0)
        if cause.column in self.coarser:
            shown = cause.steps[max(step, 1) - 1]
            said = words.say("app.risk.try.values", values=shown.values, alone=shown.tried.alone)
            self._say(self.coarser[cause.column], said, checked=step > 0)
            spoken = words.say("app.risk.try.coarser_name", column=cause.column, step=shown.step, said=said)
            self.coarser[cause.column].setAccessibleName(spoken)
        said = words.number(cause.left_out.alone)
        self._say(self.left_out[cause.column], said, checked=step == OUT)
        spoken = words.say("app.risk.try.left_out_name", column=cause.column, said=said)
        self.left_out[cause.column].setAccessibleName(spoken)

    def _say(self, button: QPushButton, said: str, *, checked: bool) -> None:
        button.setText(said)
        button.setChecked(checked)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let the arrows move between the buttons of a line and of a column."""
        if (
            not isinstance(event, QKeyEvent)
            or event.type() != QEvent.Type.KeyPress
            or event.key() not in ARROWS
        ):
            return super().eventFilter(watched, event)
        down, right = ARROWS[Qt.Key(event.key())]
        place = next(key for key, button in self._places.items() if button is watched)
        other = self._places.get((place[0] + down, place[1] + right))
        if other is not None:
            other.setFocus(Qt.FocusReason.OtherFocusReason)
        return True
