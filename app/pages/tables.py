"""Other tables: one card for each table that the chosen method reads besides that of the people."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QVBoxLayout

from app import flow, words
from app.pages.base import Page
from app.visiting import Further, read_further
from app.widgets.parameter_fields import empty
from app.widgets.source_card import SourceCard
from engine.methods.protocol import Source


class TablesPage(Page):
    """After the method, which says what it reads."""

    id = "tables"

    def build(self) -> None:
        self.cards: dict[str, SourceCard] = {}
        self._column = QVBoxLayout()
        self._column.setSpacing(14)
        self.body.addLayout(self._column)
        self.body.addStretch(1)

    def enter(self) -> None:
        sources = flow.further_sources(self.study.method)
        if [card.source for card in self.cards.values()] != list(sources):
            empty(self._column)
            self.cards = {source.name: self._card(source) for source in sources}
        plan = self.study.plan
        for name, card in self.cards.items():
            if name in plan.files and name in plan.schemas:
                card.show_table(Path(plan.files[name].path).name, None, len(plan.schemas[name].columns))

    def _card(self, source: Source) -> SourceCard:
        card = SourceCard(source)
        card.chosen.connect(lambda path: self.open_path(source, path))
        self.topic(card.button, "")
        self._column.addWidget(card)
        return card

    def open_path(self, source: Source, path: str) -> None:
        """Read the table of a source."""
        self.work(read_further, source, path, done=self._read, doing=words.say("app.tables.reading"))

    def _read(self, found: Further) -> None:
        plan = self.study.plan
        self.study.decide(
            files={**plan.files, found.source: found.file},
            schemas={**plan.schemas, found.source: found.schema},
        )
        self.cards[found.source].show_table(Path(found.file.path).name, found.rows, len(found.schema.columns))


PAGE = TablesPage
