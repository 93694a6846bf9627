"""A further table of a method: which files, how many rows, what its columns are, and who is who."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QPushButton, QWidget

from app import words
from app.parts.cards import Card, row
from app.parts.form.parameter_fields import PLACEHOLDER
from app.parts.making import add, empty, hidden, make_choice, make_column
from app.parts.prose import Heading, Prose
from engine.methods.protocol import MAIN, Shape, Source
from engine.table.schema import Schema

MOST_NAMED = 12


def source_name(method_id: str, source: str) -> str:
    """Return what a table of a method is called."""
    called = "app.tables.main" if source == MAIN else f"methods.{method_id}.sources.{source}"
    return words.say(called) if words.has(called) else source


class SourceCard(Card):
    """``chosen`` tells the path of a file, ``removed`` a file to forget, ``key_chosen`` who is a person."""

    chosen = Signal(str)
    removed = Signal(str)
    key_chosen = Signal(str)

    def __init__(self, method_id: str, source: Source) -> None:
        name = source_name(method_id, source.name)
        super().__init__(name)
        self.source = source
        self.setObjectName(f"source-{source.name}")
        self.told = Prose(words.say("app.tables.none" if source.required else "app.tables.optional"))
        add(self.body, Prose(words.say(f"app.tables.shape.{source.shape}"), tone="quiet"), self.told)
        self._files = make_column(spacing=2)
        self.columns = hidden(Prose(tone="quiet", pixels=12))
        self.key_heading = Heading(words.say("app.tables.key"), size="card")
        self.key = make_choice(f"key-{source.name}", words.say("app.tables.key"), width=320)
        self.key.setPlaceholderText(words.say("app.tables.no_key"))
        self.key.activated.connect(lambda place: self.key_chosen.emit(self.key.currentText()))
        add(self.body, self._files, self.columns, self.key_heading, self.key)
        for part in (self.key_heading, self.key):
            part.hide()
        self.button = QPushButton(words.say("app.tables.choose"))
        self.button.setObjectName(f"choose-{source.name}")
        self.button.setAccessibleName(words.say("app.tables.choose_name", source=name))
        self.button.clicked.connect(lambda checked=False: self._ask())
        self.folder = QPushButton(words.say("app.tables.folder"))
        self.folder.setObjectName(f"folder-{source.name}")
        self.folder.setAccessibleName(words.say("app.tables.folder_name", source=name))
        self.folder.setProperty("look", "link")
        self.folder.clicked.connect(lambda checked=False: self._ask(folder=True))
        self.body.addLayout(row(self.button, self.folder, spacing=14))
        if source.shape is not Shape.RECEIVED:  # reports come in a file each
            self.folder.hide()

    def show_table(self, file: str, rows: int | None, columns: int) -> None:
        """Say what was read."""
        self.told.say(_read(file, rows, columns))

    def show_files(self, files: Sequence[tuple[str, str, int | None]], schema: Schema | None) -> None:
        """Show the files of the table, each with its name in the plan, and what is declared about it."""
        empty(self._files)
        self.told.setVisible(not files)
        count = 0 if schema is None else len(schema.columns)
        for name, file, rows in files:
            remove = QPushButton(words.say("app.method.remove"))
            remove.setObjectName(f"remove-{name}")
            remove.setAccessibleName(words.say("app.tables.remove_name", file=file))
            remove.setProperty("look", "link")
            remove.clicked.connect(lambda checked=False, name=name: self.removed.emit(name))
            part = QWidget()
            line = row(Prose(_read(file, rows, count)), remove, stretch=False)
            line.setContentsMargins(0, 0, 0, 0)
            line.setStretch(0, 1)
            part.setLayout(line)
            self._files.addWidget(part)
        more = self.source.many and files
        self.button.setText(words.say(f"app.tables.{'more' if more else 'other' if files else 'choose'}"))
        self._show_columns(schema if files else None)

    def _show_columns(self, schema: Schema | None) -> None:
        columns = () if schema is None else schema.columns
        kinds = [words.say(f"app.kinds.{one.kind}") for one in columns[:MOST_NAMED]]
        named = ", ".join(f"{one.name} ({kind})" for one, kind in zip(columns, kinds, strict=False))
        self.columns.setVisible(bool(columns))
        self.columns.say(named + (" …" if len(columns) > MOST_NAMED else ""))
        for part in (self.key_heading, self.key):
            part.setVisible(bool(columns) and self.source.shape.is_private)
        self.key.clear()
        self.key.addItems([one.name for one in columns])
        key = None if schema is None else schema.person_key
        self.key.setCurrentIndex(PLACEHOLDER if key is None else self.key.findText(key.name))

    def _ask(self, *, folder: bool = False) -> None:
        dialog = QFileDialog(self, words.say("app.tables.choose"), "", words.say("app.load.filter"))
        mode = QFileDialog.FileMode
        dialog.setFileMode(mode.Directory if folder else mode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.chosen)
        dialog.open()


def _read(file: str, rows: int | None, columns: int) -> str:
    if rows is None:  # of a plan that was opened: it says which columns there are, and was not read
        return words.say("app.tables.read_not", file=file, columns=columns)
    return words.say("app.tables.read", file=file, rows=words.number(rows), columns=columns)
