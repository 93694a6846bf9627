"""What is declared about one column, by hand or from a file beside the table. Orders engine calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from app import words
from app.screens.columns.column_editor import ColumnEditor
from app.state.study import Study
from app.work import marking
from engine.table.schema import Column, Domain, Kind, Schema


class Asks(Protocol):
    """What is needed of the page that shows the column."""

    study: Study

    def enter(self) -> None: ...
    def work(self, function: Callable[..., Any], *args: Any, **options: Any) -> int: ...
    def notify(self, what: str, do: str = "", *, tone: str = "care") -> None: ...


def read_book(path: str, schema: Schema, *, progress: Any = None) -> tuple[Schema, tuple[str, ...]]:
    """Return a schema with what a code book says, and the names of the columns that it speaks of."""
    from engine.progress import SILENT
    from engine.table.code_book import read_code_book, with_code_book

    return with_code_book(schema, read_code_book(path, progress=progress or SILENT))


class Values:
    """Keeps the fields of one column and the study at one."""

    def __init__(self, page: Asks, editor: ColumnEditor) -> None:
        self.page, self.editor, self.study = page, editor, page.study
        editor.list_taken.connect(self.take_list)
        editor.domain_wanted.connect(self.edit)
        editor.domain_declared.connect(self.declare)
        editor.missing_given.connect(self.set_missing)
        editor.described.connect(self.describe)
        editor.labelled.connect(self.label)
        editor.book_wanted.connect(self.ask_book)

    def _decide(self, change: Callable[[Column], Column]) -> None:
        """Change the column that is shown, where it is one alone."""
        if len(self.editor.names) == 1:
            schema = self.study.plan.schema
            changed = change(schema.column(self.editor.names[0]))
            self.study.decide(schemas=self.study.plan.with_schema(schema.with_column(changed)).schemas)

    def take_list(self, name: str) -> None:
        """Take a code list that was proposed, after its meanings and their counts were shown."""
        self._decide(
            lambda column: marking.declare_values(
                marking.with_kind(column, Kind.CATEGORY),
                Domain(code_list=name),
                language=words.language(),
            )
        )

    def set_missing(self, codes: tuple[str, ...]) -> None:
        """Say which codes stand for a missing value."""
        self._decide(lambda column: replace(column, missing=codes, missing_origin=None))

    def describe(self, meaning: str, unit: str) -> None:
        """Say what the column means, and its unit: public words."""
        self._decide(lambda column: replace(column, meaning=meaning, unit=unit))

    def label(self, written: str) -> None:
        """Say what the values of the column mean: public words; nothing written takes them away."""
        from engine.table.code_book import read_labels

        labels = read_labels(written)
        if written and not labels:
            self.page.notify(words.say("app.columns.words.no_labels"))
            return
        self._decide(lambda column: replace(column, labels=labels))

    def edit(self) -> None:
        """Show the editor of declared values."""
        from engine.table.code_lists import code_lists

        column = self.study.plan.schema.column(self.editor.names[0])
        suggestions = self.study.result("suggestions") or ()
        suggestion = next((one for one in suggestions if one.column == column.name), None)
        self.editor.open_domain(column, marking.seen(column, suggestion), code_lists())

    def declare(self, domain: Domain, from_rows: bool) -> None:
        """Declare values; that they were seen in the rows and vouched for is written down."""
        if len(self.editor.names) != 1:
            return
        name = self.editor.names[0]
        with self.study.together():
            if from_rows:
                reason = words.say("app.columns.vouched")
                self.study.decide(decisions=marking.vouch_for_values(self.study.plan.decisions, name, reason))
            self._decide(lambda column: marking.declare_values(column, domain, language=words.language()))
        self.editor.close_domain()
        self.page.enter()

    # --- files -------------------------------------------------------------------------------------

    def ask_book(self) -> None:
        """Ask for a code book."""
        choose, listed = (words.say(f"app.columns.code_book.{name}") for name in ("choose", "filter"))
        dialog = QFileDialog(self.editor, choose, "", listed)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.read_book)
        dialog.open()

    def read_book(self, path: str) -> None:
        """Take what a code book says about the columns."""
        name = Path(path).name
        self.page.work(
            read_book,
            path,
            self.study.plan.schema,
            done=lambda found: self._book_read(name, *found),
            doing=words.say("app.columns.code_book.reading", file=name),
        )

    def _book_read(self, name: str, schema: Schema, used: tuple[str, ...]) -> None:
        if not used:
            self.page.notify(
                words.say("app.columns.code_book.none", file=name), words.say("app.columns.code_book.none_do")
            )
            return
        told = self.study.plan.schema
        for column in used:  # only these: something else may have been decided meanwhile
            said, now = schema.column(column), told.column(column)
            told = told.with_column(replace(said, role=now.role))
        self.study.decide(schemas=self.study.plan.with_schema(told).schemas)
        self.page.notify(words.say("app.columns.code_book.done", file=name, count=len(used)), tone="accent")
