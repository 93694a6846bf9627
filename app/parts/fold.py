"""A group of fields that lies folded until somebody opens it; its line says how much of it is answered."""

from __future__ import annotations

from PySide6.QtWidgets import QGridLayout, QPushButton, QVBoxLayout, QWidget

from app import words


class Fold(QWidget):
    """A line that opens and closes ``body``."""

    def __init__(self, name: str, heading: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._heading = heading
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        self.line = QPushButton()
        self.line.setObjectName(f"fold_{name}")
        self.line.setProperty("look", "link")
        self.line.setCheckable(True)
        column.addWidget(self.line)
        self.body = QWidget()
        self.grid = QGridLayout(self.body)
        self.grid.setContentsMargins(0, 0, 0, 8)
        self.grid.setHorizontalSpacing(16)
        self.grid.setVerticalSpacing(4)
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
