"""A further table of a method: which file, how many rows, and what its columns are."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QPushButton

from app import words
from app.widgets.cards import Card
from app.widgets.prose import Prose
from engine.methods.protocol import Source


class SourceCard(Card):
    """``chosen`` tells the path of the file."""

    chosen = Signal(str)

    def __init__(self, source: Source) -> None:
        super().__init__(source.name)
        self.source = source
        self.setObjectName(f"source-{source.name}")
        self.body.addWidget(Prose(words.say(f"app.tables.shape.{source.shape}"), tone="quiet"))
        self.told = Prose(words.say("app.tables.none" if source.required else "app.tables.optional"))
        self.body.addWidget(self.told)
        self.button = QPushButton(words.say("app.tables.choose"))
        self.button.setObjectName(f"choose-{source.name}")
        self.button.setAccessibleName(words.say("app.tables.choose_name", source=source.name))
        self.button.clicked.connect(lambda checked=False: self._ask())
        self.body.addWidget(self.button, 0, Qt.AlignmentFlag.AlignLeft)

    def show_table(self, file: str, rows: int | None, columns: int) -> None:
        """Say what was read."""
        count = "–" if rows is None else f"{rows:,}"
        self.told.say(words.say("app.tables.read", file=file, rows=count, columns=columns))

    def _ask(self) -> None:
        dialog = QFileDialog(self, words.say("app.tables.choose"), "", words.say("app.load.filter"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.chosen)
        dialog.open()
