"""Sets the parts of a document on paper: what belongs together stays together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from engine.release.report import figures, tables
from engine.release.report.document import (
    Bullets,
    Document,
    Explanations,
    Heading,
    KeyValues,
    Numbers,
    Part,
    Row,
    Section,
    Signatures,
    Statement,
)
from engine.release.report.paper import (
    BODY,
    CODE,
    HEADING,
    HEIGHT,
    KEY,
    NOTE,
    QUIET,
    SECTION,
    SIDE,
    STRONG,
    TITLE,
    TOP,
    WIDTH,
    Paper,
    Type,
)
from engine.release.report.theme import LIGHT
from engine.release.report.words import (
    cell,
    description,
    explained,
    is_number,
    measured,
    note,
    shortened,
    word,
)
from engine.views import NumberView, TableView, Text, TextView, View

ROOM = WIDTH - 2 * SIDE
LABEL = 150.0
CARD_GAP, CARD_PAD = 10.0, 10.0
SIGNED_BY, SIGN_HEIGHT = 3, 58.0
SHORT = 0.22 * HEIGHT


class Writer:
    """Writes one document onto one paper."""

    def __init__(self, paper: Paper, language: str) -> None:
        self.paper, self.language = paper, language
        self._writers: dict[type, Callable[[Any], None]] = {
            Text: lambda part: self.paragraph(self.word(part)),
            Heading: lambda part: self.heading(self.word(part.text)),
            KeyValues: self._key_values,
            Numbers: self._numbers,
            Statement: self._statement,
            Bullets: self._bullets,
            Signatures: self._signatures,
            Explanations: lambda part: self._table(explained(part, self.language)),
            NumberView: lambda part: self._numbers(Numbers((part,))),
            TableView: self._table,
            TextView: self._text_view,
        }

    def word(self, label: Any) -> str:
        """Return a label in the language of the document."""
        return word(label, self.language)

    def document(self, document: Document) -> None:
        """Write everything: the label on a page of its own, then the sections."""
        self.paper.add_page()
        self._title(document)
        self.parts(document.cover)
        self.paper.add_page()
        for number, section in enumerate(document.sections, 1):
            self._section(number, section)

    def _title(self, document: Document) -> None:
        paper = self.paper
        kind = Type("bold", 8.5, LIGHT.care if document.stays else LIGHT.accent)
        words = self.word(document.audience)
        width = paper.width_of(words, kind) + 16
        paper.box(
            WIDTH - SIDE - width, TOP, width, 18, LIGHT.care_soft if document.stays else LIGHT.accent_soft
        )
        with paper.mark("P"):
            paper.block(SIDE, TOP + 2, [self.word(document.subtitle)], replace(QUIET, size=9.5))
        with paper.mark("P"):
            paper.block(WIDTH - SIDE - width + 8, TOP + 9 - kind.step / 2, [words], kind)
        title = self.word(document.title)
        paper.start_section(title)
        paper.set_y(TOP + 26)
        with paper.mark("H1"):
            paper.set_y(paper.block(SIDE, paper.y, paper.wrap(title, TITLE, ROOM), TITLE) + 10)

    def _section(self, number: int, section: Section) -> None:
        paper = self.paper
        words = f"{number}  {self.word(section.heading)}"
        lines = paper.wrap(words, SECTION, ROOM)
        space = 0.0 if paper.y <= TOP else 22.0
        first = self._first(section.parts, 0) if section.parts else 0.0
        if paper.need(space + len(lines) * SECTION.step + 8 + first):
            space = 0.0
        paper.set_y(paper.y + space)
        paper.start_section(words)
        with paper.mark("H2"):
            paper.set_y(paper.block(SIDE, paper.y, lines, SECTION) + 8)
        self.parts(section.parts)

    def parts(self, parts: tuple[Part, ...]) -> None:
        """Write parts one after the other; a heading never stands alone at the foot of a page."""
        for index, part in enumerate(parts):
            self.paper.need(self._first(parts, index))
            self._write(part)

    def _write(self, part: Part) -> None:
        writer = self._writers.get(type(part))
        if writer is None:
            self._figure(part)  # type: ignore[arg-type]
        else:
            writer(part)

    def _first(self, parts: tuple[Part, ...], index: int) -> float:
        """Return the height that must fit below, or the part goes to the next page."""
        part = parts[index]
        if isinstance(part, Heading):
            after = self._first(parts, index + 1) if index + 1 < len(parts) else 0.0
            return HEADING.step + 16 + after
        if isinstance(part, Text):
            return self._text_start(parts, index)
        if isinstance(part, Statement):
            return len(self.paper.wrap(self.word(part.text), BODY, ROOM - 30)) * BODY.step + 22
        if isinstance(part, Numbers):
            return self._cards(part)[1]
        if isinstance(part, NumberView):
            return self._cards(Numbers((part,)))[1]
        if isinstance(part, Signatures):
            return SIGN_HEIGHT * -(-len(part.lines) // SIGNED_BY)
        if isinstance(part, KeyValues):
            height = tables.pairs_height([self._row(row) for row in part.rows])
            return (HEADING.step + 16 if part.title else 0) + (height if height < SHORT else 60)
        if isinstance(part, TableView | Explanations):
            return self._table_start(part)
        if isinstance(part, Bullets | TextView):
            return 3 * BODY.step
        return self._figure_height(figures.split(part)[0]) + self._title_height(part.title)

    def _text_start(self, parts: tuple[Part, ...], index: int) -> float:
        """Return two lines of a text, or all of a short one and the start of what it introduces."""
        lines = len(self.paper.wrap(self.word(parts[index]), BODY, ROOM))
        after = parts[index + 1] if index + 1 < len(parts) else None
        if lines > 4 or after is None or isinstance(after, Text | TextView | Heading | Bullets):
            return min(lines, 2) * BODY.step
        return lines * BODY.step + 8 + self._first(parts, index + 1)

    # Words

    def paragraph(self, words: str, kind: Type = BODY, *, indent: float = 0.0, after: float = 8.0) -> None:
        """Write a paragraph; at the end of a page at least two lines stay and two go."""
        paper = self.paper
        lines = paper.wrap(words, kind, ROOM - indent)
        while lines:
            fits = int((paper.floor - paper.y) / kind.step + 1e-6)
            if fits < len(lines):
                fits = min(fits, len(lines) - 2)
                if fits < 2:
                    paper.add_page()
                    fits = min(int((paper.floor - paper.y) / kind.step), len(lines))
            with paper.mark("P"):
                paper.set_y(paper.block(SIDE + indent, paper.y, lines[:fits], kind))
            lines = lines[fits:]
        paper.set_y(paper.y + after)

    def heading(self, words: str, *, before: float = 8.0) -> None:
        """Write a heading within a section."""
        paper = self.paper
        space = 0.0 if paper.y <= TOP else before
        with paper.mark("H3"):
            lines = paper.wrap(words, HEADING, ROOM)
            paper.set_y(paper.block(SIDE, paper.y + space, lines, HEADING) + 4)

    def _title_height(self, title: Any) -> float:
        return len(self.paper.wrap(self.word(title), HEADING, ROOM)) * HEADING.step + 12 if title else 0.0

    def _text_view(self, view: TextView) -> None:
        if view.title:
            self.heading(self.word(view.title))
        for text in view.paragraphs:
            self.paragraph(self.word(text))

    def _statement(self, part: Statement) -> None:
        paper = self.paper
        kind = replace(BODY, colour=LIGHT.care if part.care else LIGHT.text)
        lines = paper.wrap(self.word(part.text), kind, ROOM - 30)
        height = len(lines) * kind.step + 14
        paper.box(SIDE, paper.y, ROOM, height, LIGHT.care_soft if part.care else LIGHT.accent_soft)
        with paper.mark("P"):
            paper.block(SIDE + 15, paper.y + 7, lines, kind)
        paper.set_y(paper.y + height + 10)

    def _bullets(self, part: Bullets) -> None:
        paper = self.paper
        with paper.group("L"):
            for item in part.items:
                lines = paper.wrap(self.word(item), BODY, ROOM - 14)
                paper.need(len(lines) * BODY.step)
                with paper.group("LI"):
                    with paper.mark("Lbl"):
                        paper.block(SIDE, paper.y, ["–"], replace(BODY, colour=LIGHT.accent))
                    with paper.mark("LBody"):
                        paper.set_y(paper.block(SIDE + 14, paper.y, lines, BODY) + 3)
        paper.set_y(paper.y + 5)

    # Values

    def _key_values(self, part: KeyValues) -> None:
        if part.title:
            self.heading(self.word(part.title))
        tables.key_values(self.paper, [self._row(row) for row in part.rows], LABEL)
        self.paper.set_y(self.paper.y + 10)

    def _row(self, row: Row) -> tuple[list[str], list[str], Type, list[str]]:
        kind = CODE if row.code else STRONG if is_number(row.value) else BODY
        wrap = self.paper.wrap
        return (
            wrap(self.word(row.label), QUIET, LABEL - 12),
            wrap(cell(row.value, self.language), kind, ROOM - LABEL),
            kind,
            wrap(self.word(row.note), NOTE, ROOM - LABEL) if row.note is not None else [],
        )

    def _cards(self, part: Numbers) -> tuple[list[tuple[list[str], str, Type, list[str]]], float]:
        """Return the words of every card and the height of all rows of cards."""
        width = self._card_width(part)
        cards = []
        for number in part.numbers:
            value = measured(number.value, number.unit, self.language)
            kind = KEY
            while kind.size > 9 and self.paper.width_of(value, kind) > width:
                kind = replace(kind, size=kind.size - 1)
            what = word(Text(f"{number.three.id}.what", number.three.values), self.language)
            title = self.paper.wrap(self.word(number.title), QUIET, width)
            cards.append((title, value, kind, self.paper.wrap(what, NOTE, width)))
        tallest = max((len(title) for title, _, _, _ in cards), default=0)
        for title, _, _, _ in cards:
            title += [""] * (tallest - len(title))
        per_row = min(len(cards), 4) or 1
        rows = [cards[start : start + per_row] for start in range(0, len(cards), per_row)]
        return cards, sum(max(self._card_height(card) for card in row) + CARD_GAP for row in rows)

    @staticmethod
    def _card_width(part: Numbers) -> float:
        per_row = min(len(part.numbers), 4) or 1
        return (ROOM - (per_row - 1) * CARD_GAP) / per_row - 2 * CARD_PAD

    @staticmethod
    def _card_height(card: tuple[list[str], str, Type, list[str]]) -> float:
        title, _, _, what = card
        return len(title) * QUIET.step + KEY.step + len(what) * NOTE.step + 2 * CARD_PAD

    def _numbers(self, part: Numbers) -> None:
        paper = self.paper
        cards, _ = self._cards(part)
        width = self._card_width(part)
        per_row = min(len(cards), 4) or 1
        for start in range(0, len(cards), per_row):
            row = cards[start : start + per_row]
            height = max(self._card_height(card) for card in row)
            paper.need(height)
            for index, (title, value, kind, what) in enumerate(row):
                x = SIDE + index * (width + 2 * CARD_PAD + CARD_GAP)
                paper.box(x, paper.y, width + 2 * CARD_PAD, height, LIGHT.background, 5)
                with paper.mark("P"):
                    y = paper.block(x + CARD_PAD, paper.y + CARD_PAD, title, QUIET)
                    paper.block(x + CARD_PAD, y + (KEY.step - kind.step) / 2, [value], kind)
                    paper.block(x + CARD_PAD, y + KEY.step, what, NOTE)
            paper.set_y(paper.y + height + CARD_GAP)

    def _signatures(self, part: Signatures) -> None:
        paper = self.paper
        width = (ROOM - (SIGNED_BY - 1) * 20) / SIGNED_BY
        kind = replace(QUIET, size=7.5)
        for start in range(0, len(part.lines), SIGNED_BY):
            row = [
                paper.wrap(self.word(label), kind, width) for label in part.lines[start : start + SIGNED_BY]
            ]
            paper.need(SIGN_HEIGHT)
            if start + SIGNED_BY >= len(part.lines):
                paper.set_y(max(paper.y, paper.floor - SIGN_HEIGHT))
            for index, lines in enumerate(row):
                x = SIDE + index * (width + 20)
                paper.rule(x, paper.y + 34, width, colour=LIGHT.quiet)
                with paper.mark("P"):
                    paper.block(x, paper.y + 36, lines, kind)
            paper.set_y(paper.y + SIGN_HEIGHT)

    # Tables and drawings

    def _table_start(self, part: TableView | Explanations) -> float:
        table = explained(part, self.language) if isinstance(part, Explanations) else part
        grid = next(iter(tables.grids(self.paper, table, self.language)))
        short = grid.height if grid.height < SHORT else grid.first
        return self._title_height(table.title) + short

    def _table(self, table: TableView) -> None:
        table, cut = shortened(table)
        if table.title:
            self.heading(self.word(table.title))
        if table.headings:
            for index, grid in enumerate(tables.grids(self.paper, table, self.language)):
                if index:
                    self.paper.set_y(self.paper.y + 10)
                    self.paper.need(grid.first)
                tables.write(self.paper, grid)
        self.paper.set_y(self.paper.y + 4)
        for text in (*note(table), *cut):
            self.paragraph(self.word(text), replace(NOTE, colour=LIGHT.quiet), after=2)
        self.paper.set_y(self.paper.y + 8)

    def _figure_height(self, view: View) -> float:
        from engine.release.report.plots import height

        lines = sum(len(self.paper.wrap(self.word(text), NOTE, ROOM)) for text in note(view))
        return height(view, ROOM / 72, 8.5) * 72 + lines * NOTE.step + 12

    def _figure(self, view: View) -> None:
        from engine.release.report.canvas import paint

        paper, pieces = self.paper, figures.split(view)
        axis = figures.limits(view)
        for index, piece in enumerate(pieces):
            paper.need(self._figure_height(piece) + (self._title_height(view.title) if index == 0 else 0))
            if index == 0 and view.title:
                self.heading(self.word(view.title))
            figure = figures.draw(piece, language=self.language, width=ROOM / 72, axis_limits=axis)
            with paper.mark("Figure", alt=description(piece, self.language)):
                paint(paper, figure, SIDE, paper.y)
            paper.set_y(paper.y + float(figure.get_size_inches()[1]) * 72 + 4)
        for text in note(view):
            self.paragraph(self.word(text), replace(NOTE, colour=LIGHT.quiet), after=2)
        paper.set_y(paper.y + 8)
