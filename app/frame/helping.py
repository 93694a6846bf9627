"""The program's help, offline: everything that stands beside the pages, searched by words."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QDialog, QFrame, QLineEdit, QListWidget, QListWidgetItem, QScrollArea, QWidget

from app import words
from app.parts.making import add, make_column, make_row, name_widget
from app.parts.prose import Heading, Prose
from app.theme import text_font
from engine.manual import Chapter, Entry, chapters, search

ENTRY = Qt.ItemDataRole.UserRole
SHARE = 0.85
"""Of the window that it lies over."""


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
        self.list = name_widget(QListWidget(), "help-list", words.say("app.help.subjects"))
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setWordWrap(True)
        self.list.currentItemChanged.connect(lambda item, before: self._show(item))
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
        self.list.clear()
        for chapter in found:
            head = QListWidgetItem(words.label(chapter.title))
            head.setFlags(Qt.ItemFlag.NoItemFlags)
            head.setFont(text_font(13, 600))
            head.setSizeHint(QSize(0, 32))
            self.list.addItem(head)
            for entry in chapter.entries:
                self._add(entry)

    def _add(self, entry: Entry) -> None:
        item = QListWidgetItem(words.label(entry.title))
        item.setData(ENTRY, entry)
        self.list.addItem(item)

    def _choose(self, wanted: str = "") -> None:
        """Show the subject of an id, or the first there is."""
        items = [self.list.item(place) for place in range(self.list.count())]
        subjects = [item for item in items if item.data(ENTRY) is not None]
        for item in [one for one in subjects if one.data(ENTRY).id == wanted] or subjects[:1]:
            self.list.setCurrentItem(item)

    def _find(self, wanted: str) -> None:
        if not wanted.strip():
            self._fill(chapters())
        else:
            self.list.clear()
            for entry in search(wanted, language=words.language()):
                self._add(entry)
        self._choose()
        if not self.list.count():
            self.heading.setText("")
            self.text.say(words.say("app.help.nothing", wanted=wanted.strip()))

    def _show(self, item: QListWidgetItem | None) -> None:
        entry = item.data(ENTRY) if item is not None else None
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
