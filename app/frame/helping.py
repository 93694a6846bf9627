"""The program's help, offline: everything that stands beside the pages, searched by words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QSize, Qt
from PySide6.QtWidgets import QDialog, QFrame, QLineEdit, QListView, QScrollArea, QWidget

from app import words
from app.parts.making import add, make_column, make_row, name_widget
from app.parts.prose import Heading, Prose
from app.theme import text_font
from engine.manual import Chapter, Entry, chapters, search

SHARE = 0.85
"""Of the window that it lies over."""


class Subjects(QAbstractListModel):
    """Names of chapters, which cannot be chosen, each before its subjects.

    A model, since items that Python made and the toolkit deletes with their list ended the program later.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.lines: list[tuple[str, Entry | None]] = []

    def show_lines(self, lines: Iterable[tuple[str, Entry | None]]) -> None:
        """Take what is listed: each with its name, and the subject where it is one."""
        self.beginResetModel()
        self.lines = list(lines)
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.lines)

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        is_subject = index.isValid() and self.lines[index.row()][1] is not None
        return super().flags(index) if is_subject else Qt.ItemFlag.NoItemFlags

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if not index.isValid():
            return None
        name, entry = self.lines[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return name
        if entry is None and role == Qt.ItemDataRole.FontRole:
            return text_font(13, 600)
        return QSize(0, 32) if entry is None and role == Qt.ItemDataRole.SizeHintRole else None


class HelpWindow(QDialog):
    """Subjects on the left, what is said of one on the right; ``first`` is the id of the one in view."""

    def __init__(self, first: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("help")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(words.say("app.help.title"))
        self.resize(parent.size() * SHARE)
        self.search = name_widget(QLineEdit(), "help-search", words.say("app.help.search"))
        self.search.setPlaceholderText(words.say("app.help.search"))
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._find)
        self.list = name_widget(QListView(), "help-list", words.say("app.help.subjects"))
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setWordWrap(True)
        self.subjects = Subjects(self)
        self.list.setModel(self.subjects)
        self.list.selectionModel().currentChanged.connect(lambda now, before: self._show(now))
        self.heading, self.text = Heading(), Prose()
        page = name_widget(QWidget(), "help-page")
        make_column(self.heading, self.text, inside=page, spacing=10, margins=16).addStretch(1)
        self.shown = name_widget(QScrollArea(), "help-text", words.say("app.help.text"))
        self.shown.setWidgetResizable(True)
        self.shown.setFrameShape(QFrame.Shape.NoFrame)
        self.shown.setWidget(page)
        body = make_row(spacing=16)
        add(body, (self.list, 2), (self.shown, 5))
        column = make_column(self.search, inside=self, spacing=12, margins=18)
        column.addLayout(body, 1)
        column.addWidget(Prose(words.say("app.help.manual"), tone="quiet", pixels=12))
        self._fill(chapters())
        self._choose(first)
        self.search.setFocus(Qt.FocusReason.OtherFocusReason)

    def _fill(self, found: tuple[Chapter, ...]) -> None:
        lines: list[tuple[str, Entry | None]] = []
        for chapter in found:
            lines.append((words.label(chapter.title), None))
            lines += [(words.label(entry.title), entry) for entry in chapter.entries]
        self.subjects.show_lines(lines)

    def _choose(self, wanted: str = "") -> None:
        """Show the subject of an id, or the first there is."""
        subjects = [
            (place, entry) for place, (_, entry) in enumerate(self.subjects.lines) if entry is not None
        ]
        for place, _ in [one for one in subjects if one[1].id == wanted][-1:] or subjects[:1]:
            self.list.setCurrentIndex(self.subjects.index(place, 0))

    def _find(self, wanted: str) -> None:
        if not wanted.strip():
            self._fill(chapters())
        else:
            found = search(wanted, language=words.language())
            self.subjects.show_lines((words.label(entry.title), entry) for entry in found)
        self._choose()
        if not self.subjects.lines:
            self.heading.setText("")
            self.text.say(words.say("app.help.nothing", wanted=wanted.strip()))

    def _show(self, index: QModelIndex) -> None:
        entry = self.subjects.lines[index.row()][1] if index.isValid() else None
        if entry is None:
            return
        self.heading.setText(words.label(entry.title))
        way = " → ".join(words.pair(words.label(one.name), words.label(one.value)) for one in entry.picture)
        parts = [way] if way else []
        for part in entry.parts:
            parts += [f"**{words.label(part.heading)}**"] if part.heading else []
            parts.append(words.label(part.body))
        self.text.say("\n\n".join(parts))
        self.shown.verticalScrollBar().setValue(0)
