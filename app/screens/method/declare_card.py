"""Declaring a column's allowed values where a method misses them, without going back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from app import words
from app.parts.form.domain_editor import DomainEditor
from app.parts.making import add, left, make_button, make_column
from app.parts.prose import Heading
from engine.table.schema import Column, Domain


class DeclareCard(QWidget):
    """Hidden until it is needed. ``declared`` tells the column, the domain, and whether the rows helped."""

    declared = Signal(str, object, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("declare-here")
        self._column = make_column(inside=self, spacing=4, margins=0)
        self.heading = Heading(size="card")
        self.editor: DomainEditor | None = None
        self.cancel = make_button(
            words.say("app.method.declare_cancel"), "declare-cancel", self.close_editor, look="link"
        )
        add(self._column, self.heading, left(self.cancel))
        self.hide()

    def open_editor(self, column: Column, found: Domain | None, lists: Mapping[str, Any]) -> None:
        """Ask for the allowed values of a column."""
        self.close_editor()
        self.heading.setText(words.say("app.method.declare_here", column=column.name))
        self.editor = DomainEditor(column, found, lists)
        self.editor.setMaximumWidth(420)
        self.editor.declared.connect(
            lambda domain, from_rows: self.declared.emit(column.name, domain, from_rows)
        )
        self._column.insertWidget(1, self.editor)
        self.show()
        first = next((one for one in self.editor.findChildren(QWidget) if one.focusPolicy()), None)
        if first is not None:
            first.setFocus(Qt.FocusReason.OtherFocusReason)

    def close_editor(self) -> None:
        """Take the question away."""
        if self.editor is not None:
            self.editor.hide()
            self.editor.deleteLater()
            self.editor = None
        self.hide()
