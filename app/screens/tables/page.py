"""Other tables: one card for each table that the chosen method reads besides that of the people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from app import words
from app.parts.making import STRETCH, add, empty, make_column
from app.parts.source_card import SourceCard
from app.screens.base import Page
from app.state import flow
from app.work.visiting import Further, read_further
from engine.methods.protocol import Source
from engine.table.schema import Role


class TablesPage(Page):
    """After the method, which says what it reads."""

    id = "tables"

    def build(self) -> None:
        self.cards: dict[str, SourceCard] = {}
        self.rows: dict[str, int] = {}  # of each file, by its path
        self._cards = make_column(spacing=14)
        add(self.body, self._cards, STRETCH)

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

    def _files(self, source: str) -> dict[str, Any]:
        """The files of a source, by their names in the plan."""
        return {key: file for key, file in self.study.plan.files.items() if key.split(".")[0] == source}

    def _card(self, source: Source) -> SourceCard:
        card = SourceCard(source)
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
        schema = self.study.plan.schemas[source.name]
        roles = {True: Role.PERSON_KEY, False: Role.OTHER}
        columns = tuple(
            replace(column, role=roles[column.name == name])
            if column.name == name or column.role is Role.PERSON_KEY
            else column
            for column in schema.columns
        )
        schemas = {**self.study.plan.schemas, source.name: replace(schema, columns=columns)}
        self.study.decide(schemas=schemas)


PAGE = TablesPage
