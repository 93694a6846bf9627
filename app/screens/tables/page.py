"""Other tables: one card for each table that the chosen method reads besides that of the people."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QWidget

from app import words
from app.parts.cards import Card
from app.parts.form.declare_card import DeclareCard, DeclareHere
from app.parts.form.parameter_form import ParameterForm
from app.parts.making import STRETCH, add, align_left, empty, make_button, make_column
from app.parts.source_card import SourceCard
from app.parts.view_stack import ViewStack
from app.screens.base import Page
from app.state import flow
from app.work import marking
from app.work.visiting import Further, hang_together, read_further
from engine.methods.protocol import Source
from engine.table.schema import Role


class TablesPage(Page):
    """After the method, which says what it reads."""

    id = "tables"
    _looked: Any = None

    def build(self) -> None:
        self.cards: dict[str, SourceCard] = {}
        self.rows: dict[str, int] = {}  # of each file, by its path
        self._cards = make_column(spacing=14)
        self.asked = Card(words.say("app.tables.columns"))
        self.form = ParameterForm()
        self.form.changed.connect(lambda name, value: self.study.decide_parameters(**{name: value}))
        self.declare = DeclareCard()
        self.declaring = DeclareHere(self.form, self.declare, self.study, lambda: None)
        add(self.asked.body, self.form, self.declare)
        self.together = Card()
        self.look = make_button(words.say("app.tables.look"), "look-together", self._look_together)
        self.found = ViewStack(self.runner, lambda widget, place: None)
        add(self.together.body, align_left(self.look), self.found)
        add(self.body, self._cards, self.together, self.asked, STRETCH)
        for widget in (self.look, self.declare, self.form):
            self.topic(widget, "")

    def enter(self) -> None:
        sources = flow.further_sources(self.study.method)
        if [card.source for card in self.cards.values()] != list(sources):
            empty(self._cards)
            self.cards = {source.name: self._card(source) for source in sources}
        for name, card in self.cards.items():
            files = [
                (key, Path(file.path).name, self.rows.get(file.path))
                for key, file in self._files(name).items()
            ]
            card.show_files(files, self.study.plan.schemas.get(name))
        self._show_form()
        known = self._together()
        self.together.setVisible(known is not None)
        if known != self._looked:  # what was counted is not of these tables
            self._looked = known
            self.found.show_views(())

    def _show_form(self) -> None:
        method, plan = self.study.method, self.study.plan
        absent = any(one.required and one.name not in plan.schemas for one in flow.further_sources(method))
        together = self.study.has_all_tables
        asked = flow.of_tables(method, together=together) if method is not None and not absent else ()
        self.asked.setVisible(bool(asked))
        if method is None or not asked:
            return
        names = {one.name for one in asked}
        problems = [one for one in self.study.problems() if one.parameter in names]
        self.form.show_form(f"methods.{method.id}", asked, plan.parameters, plan.schemas, problems)
        for line in self.form.lines.values():
            for widget in (line.part, *line.field.findChildren(QWidget)):
                self.topic(widget, "")
        self.declaring.refresh()

    def _together(self) -> Any:
        """The private tables with a person key, and by what they hang together; None where too few."""
        plan, method = self.study.plan, self.study.method
        sources = () if method is None else method.sources
        keyed = {
            one.name: (plan.files_of(one.name), plan.schemas[one.name].person_key)
            for one in sources
            if one.shape.is_private and plan.files_of(one.name) and one.name in plan.schemas
        }
        keyed = {name: known for name, known in keyed.items() if known[1] is not None}
        by = (plan.parameters.get("record"), plan.parameters.get("record_of"))
        return (keyed, by) if len(keyed) > 1 else None

    def _look_together(self) -> None:
        """Count which rows belong to which; it stays here."""
        self.work(
            hang_together,
            self.study.plan,
            done=lambda view: self.found.show_views((view,)),
            doing=words.say("app.tables.reading"),
        )

    def field_at(self, place: str) -> QWidget | None:
        kind, _, name = place.partition(":")
        return self.form.part(name) if kind == "parameter" else super().field_at(place)

    def _files(self, source: str) -> dict[str, Any]:
        """The files of a source, by their names in the plan."""
        return {key: file for key, file in self.study.plan.files.items() if key.split(".")[0] == source}

    def _card(self, source: Source) -> SourceCard:
        method = self.study.method
        assert method is not None, "without a method there are no further tables"
        card = SourceCard(method.id, source)
        card.chosen.connect(lambda path: self.open_path(source, path))
        card.removed.connect(lambda name: self._remove(source, name))
        card.key_chosen.connect(lambda column: self._set_key(source, column))
        for widget in (card.button, card.key):
            self.topic(widget, "")
        self._cards.addWidget(card)
        return card

    def take_file(self) -> Callable[[str], None] | None:
        """A file that is dropped is the first table that is still missing."""
        missing = next((one.source for name, one in self.cards.items() if not self._files(name)), None)
        return None if missing is None else lambda path: self.open_path(missing, path)

    def open_path(self, source: Source, path: str) -> None:
        """Read a table of a source; a further file of one that has many comes to those before it."""
        self.work(
            read_further,
            source,
            path,
            done=lambda found: self._read(source, found),
            doing=words.say("app.tables.reading"),
        )

    def _read(self, source: Source, found: Further) -> None:
        plan, before = self.study.plan, self._files(source.name)
        known = plan.schemas.get(source.name)
        joins = source.many and bool(before) and known is not None
        if joins and known is not None:
            names = {column.name for column in known.columns}
            if names != {column.name for column in found.schema.columns}:
                file = Path(found.file.path).name
                self.frame.notify(
                    words.say("app.tables.other_columns", file=file), words.say("app.tables.other_columns_do")
                )
                return
        self.rows[found.file.path] = found.rows
        self.study.looked[found.file.path] = found.digest
        kept = list(before.values()) if joins else []
        self._decide(source, [*kept, found.file], known if joins else found.schema)

    def _remove(self, source: Source, name: str) -> None:
        left = [file for key, file in self._files(source.name).items() if key != name]
        self._decide(source, left, self.study.plan.schemas.get(source.name) if left else None)

    def _decide(self, source: Source, found: list[Any], schema: Any) -> None:
        """Write the files of a source into the plan: ``name``, ``name.2``, ``name.3`` …"""
        plan = self.study.plan
        files = {key: file for key, file in plan.files.items() if key.split(".")[0] != source.name}
        for place, file in enumerate(found, 1):
            files[source.name if place == 1 else f"{source.name}.{place}"] = file
        schemas = {name: one for name, one in plan.schemas.items() if name != source.name}
        if schema is not None:
            schemas[source.name] = schema
        self.study.decide(files=files, schemas=schemas)

    def _set_key(self, source: Source, name: str) -> None:
        """Mark the column that says whose a row is."""
        plan = self.study.plan
        marked = marking.with_person_key(plan.schemas[source.name], name, former=Role.OTHER)
        schemas = {**plan.schemas, source.name: marked}
        self.study.decide(schemas=schemas)


PAGE = TablesPage
