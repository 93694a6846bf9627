"""A further file that a question may be asked with: what it is, which one was chosen, choose or leave it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QPushButton, QWidget

from app import words
from app.parts.making import add, align_left, make_column, make_row
from app.parts.prose import Heading, Prose


class SecondFile(QWidget):
    """``chosen`` tells the path of a file, ``removed`` that none is wanted any more.

    Parameters
    ----------
    name
        Of the source, for tests and programs.
    label, about
        What the file is, and what it is for.
    """

    chosen = Signal(str)
    removed = Signal()

    def __init__(self, name: str, label: str, about: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(f"second-{name}")
        column = make_column(Heading(label, size="card"), inside=self, spacing=4, margins=0)
        self.told = Prose(about, tone="quiet", pixels=12)
        column.addWidget(self.told)
        line = make_row(spacing=10)
        self.button = QPushButton(words.say("app.explore.second.choose"))
        self.button.setObjectName(f"choose-{name}")
        self.button.setAccessibleName(words.say("app.explore.second.choose_name", source=label))
        self.button.clicked.connect(lambda checked=False: self._ask())
        self.remove = QPushButton(words.say("app.explore.second.remove"))
        self.remove.setObjectName(f"remove-{name}")
        self.remove.setAccessibleName(words.say("app.explore.second.remove_name", source=label))
        self.remove.setProperty("look", "link")
        self.remove.clicked.connect(lambda checked=False: self.removed.emit())
        self.file = Prose()
        add(line, align_left(self.button), (self.file, 1), self.remove)
        column.addLayout(line)
        self.show_file(None)

    def show_file(self, path: Path | None) -> None:
        """Show which file was chosen, None for none."""
        self.file.say("" if path is None else path.name)
        self.file.setVisible(path is not None)
        self.remove.setVisible(path is not None)
        self.button.setText(words.say(f"app.explore.second.{'choose' if path is None else 'other'}"))

    def _ask(self) -> None:
        dialog = QFileDialog(self, words.say("app.explore.second.choose"), "", words.say("app.load.filter"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.chosen)
        dialog.open()
