"""A group of fields that lies folded until somebody opens it; its line says how much of it is answered."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app import words
from app.parts.making import make_button, make_column, make_grid


class Fold(QWidget):
    """A line that opens and closes ``body``."""

    def __init__(self, name: str, heading: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._heading = heading
        column = make_column(inside=self, spacing=4, margins=0)
        self.line = make_button("", f"fold_{name}", look="link", checkable=True)
        column.addWidget(self.line)
        self.body = QWidget()
        self.grid = make_grid(self.body, across=16, down=4, margins=(0, 0, 0, 8))
        for side in (0, 1):
            self.grid.setColumnStretch(side, 1)
        self.body.hide()
        column.addWidget(self.body)
        self.line.toggled.connect(self._toggled)
        self._answered = (0, 0)
        self._say()

    def show_answered(self, count: int, whole: int) -> None:
        """Say how many of the fields are answered."""
        self._answered = (count, whole)
        self._say()

    def unfold(self) -> None:
        """Open it."""
        self.line.setChecked(True)

    def _toggled(self, on: bool) -> None:
        self.body.setVisible(on)
        self._say()

    def _say(self) -> None:
        count, whole = self._answered
        values = {"heading": self._heading, "count": count, "whole": whole}
        self.line.setText(
            words.say(f"app.purpose.fold_{'open' if self.line.isChecked() else 'shut'}", **values)
        )
