"""The editor of a column's coarser steps on the columns screen, in the place of the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Signal

from app import words
from app.parts.cards import Card
from app.parts.form.coarsening import read
from app.parts.form.hierarchy_editor import HierarchyEditor
from app.parts.making import add, empty, left, make_button
from app.parts.prose import Prose
from engine.table.schema import Column, Schema


class CoarseningCard(Card):
    """``decided`` tells a column's hierarchy, None for none; ``done`` that the table is wanted again."""

    decided = Signal(object)
    done = Signal()

    def __init__(self) -> None:
        super().__init__(" ")
        self.setObjectName("coarsening")
        self.column = Column("")
        self.editor: HierarchyEditor | None = None
        self.hide()

    def edit(self, column: Column, schema: Schema) -> None:
        """Show the steps of a column; those of others can be taken over."""
        self.column = column
        empty(self.body)
        title = Prose(f"**{words.say('app.coarsening.title', column=column.name)}**", pixels=15)
        others = {one.name: one.hierarchy for one in schema.columns if one.name != column.name}
        known = {name: one.to_json() for name, one in others.items() if one is not None}
        now = column.hierarchy.to_json() if column.hierarchy is not None else None
        self.editor = HierarchyEditor(column, now, known)
        self.editor.changed.connect(self._changed)
        done = make_button(words.say("app.coarsening.done"), "coarsening_done", self.done.emit)
        add(self.body, title, Prose(words.say("app.coarsening.why"), tone="quiet"), self.editor, left(done))
        self.show()
        self.editor.form.setFocus()

    def refresh(self, schema: Schema) -> None:
        """Show the steps as they are by now, after an edit was undone; what is being typed stays."""
        if self.isHidden() or self.editor is None or self.column.name not in schema:
            return
        found, wrong = read(self.editor.told, self.column)
        now = schema.column(self.column.name).hierarchy
        if not wrong and found != now:
            self.editor.show_value(now.to_json() if now is not None else None)

    def _changed(self, tree: Mapping[str, Any] | None) -> None:
        found, wrong = read(tree, self.column)
        if not wrong:
            self.decided.emit(found)
