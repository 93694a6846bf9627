"""What a recipient gets, shown on a bundle that was made from a table that comes with the program."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QPlainTextEdit, QPushButton

from app import words
from app.parts.cards import Card
from app.parts.layouts import ColumnLayout
from app.parts.making import add, empty, make_row, name_widget
from app.parts.prose import Heading, Prose
from app.parts.views.table import TableBody
from app.theme import mono_font
from engine.bounded import PAPER, read_text
from engine.views import TableView, Text


class ExampleCard(Card):
    """``closed`` tells that the person has seen enough; ``failed`` that nothing could open a file."""

    closed = Signal()
    failed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("example")
        self.folder = Path()
        self.name = Heading(size="side")
        add(self.body, self.name, Prose(words.say("app.method.example.body"), tone="quiet"))
        self.buttons: dict[str, QPushButton] = {}
        row = make_row(spacing=8)
        for name, act in (
            ("report", lambda: self._open(self.folder / "release" / "report-external.pdf")),
            ("folder", lambda: self._open(self.folder / "release")),
            ("back", self.closed.emit),
        ):
            button = QPushButton(words.say(f"app.method.example.{name}"))
            button.setObjectName(f"example-{name}")
            button.clicked.connect(lambda checked=False, act=act: act())
            row.addWidget(button)
            self.buttons[name] = button
        row.addStretch(1)
        self.body.addLayout(row)
        self._files = ColumnLayout()
        self.cover = name_widget(QPlainTextEdit(), "example-cover", words.say("app.method.example.cover"))
        self.cover.setReadOnly(True)
        self.cover.setFont(mono_font(12))
        self.cover.setMinimumHeight(260)
        add(self.body, self._files, Heading(words.say("app.method.example.cover"), size="card"), self.cover)

    def show_bundle(self, title: str, folder: Path, files: list[tuple[str, int, str]]) -> None:
        """Show a bundle by its folder and the files of its part for outside."""
        self.folder = folder
        self.name.setText(words.say("app.method.example.title", way=title))
        empty(self._files)
        headings = (Text("app.report.column.file"), Text("app.report.column.bytes"))
        rows = tuple((name, size) for name, size, _ in files)
        table = TableBody(TableView(words.say("app.method.example.files"), headings, rows))
        table.setObjectName("example-files")
        self._files.addWidget(table)
        self.cover.setPlainText(read_text(folder / "release" / "README.txt", PAPER))

    def _open(self, path: Path) -> None:
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))):
            self.failed.emit(str(path))
