"""What stands in a document, piece by piece, in one language: the walk that every writer goes by.

A piece is an object of JSON values; ``kind`` says which, and a drawing is still a view.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from engine.report.document import (
    Bullets,
    Callout,
    Explanations,
    Facts,
    Folded,
    Heading,
    Headline,
    KeyValues,
    Numbers,
    Part,
    Row,
    SideBySide,
    Signatures,
)
from engine.report.words import (
    cell,
    explain_numbers,
    is_number,
    note,
    number_columns,
    shorten_table,
    word,
    write_with_unit,
)
from engine.views import Label, NumberView, TableView, Text, TextView

Piece = dict[str, Any]
LONGEST_WORD, LONGEST_CODE = 26, 64


class Told:
    """Turns the parts of a document into pieces.

    Parameters
    ----------
    language
        Of the words.
    say
        What a writer does to every string: ``say(words, longest)``, the letters that fit on a line there.
    """

    def __init__(self, language: str, say: Callable[[str, int], str]) -> None:
        self.language, self.say = language, say
        self._tellers: dict[type, Callable[[Any], Piece]] = {
            Text: lambda part: {"kind": "text", "text": self.word(part)},
            Heading: lambda part: {"kind": "heading", "text": self.word(part.text)},
            KeyValues: self._pairs,
            Numbers: lambda part: self._numbers(part.numbers),
            Callout: lambda part: {
                "kind": "callout",
                "text": self.word(part.text),
                "head": self.word(part.head),
                "care": part.care,
                "large": part.large,
            },
            Facts: self._facts,
            Headline: self._headline,
            SideBySide: lambda part: {
                "kind": "beside",
                "lists": [
                    {"heading": self.word(heading), "items": self._words(items)}
                    for heading, items in part.lists
                ],
            },
            Bullets: lambda part: {"kind": "bullets", "items": [self.word(item) for item in part.items]},
            Signatures: lambda part: {
                "kind": "signatures",
                "items": [self.word(line) for line in part.lines],
            },
            Explanations: self._explanations,
            Folded: self._folded,
            NumberView: lambda part: self._numbers((part,)),
            TableView: self.table,
        }

    def word(self, label: Label, longest: int = LONGEST_WORD) -> str:
        """Return a label; nothing for an empty one."""
        return self.say(word(label, self.language), longest) if label else ""

    def _words(self, labels: Iterable[Label]) -> list[str]:
        return [self.word(label) for label in labels]

    def pieces(self, parts: Iterable[Part]) -> Iterator[Piece]:
        """Give the pieces of some parts, in reading order."""
        for part in parts:
            if isinstance(part, TextView):
                if part.title:
                    yield {"kind": "heading", "text": self.word(part.title)}
                yield from ({"kind": "text", "text": self.word(text)} for text in part.paragraphs)
            else:
                yield self._tellers.get(type(part), self._figure)(part)

    def table(self, table: TableView) -> Piece:
        """Return a table, with a note where rows were left out."""
        table, cut = shorten_table(table)
        numeric = number_columns(table)
        longest = max(LONGEST_WORD * 4 // max(len(numeric), 4), 5)
        return {
            "kind": "table",
            "title": self.word(table.title),
            "headings": [self.word(heading, longest) for heading in table.headings],
            "rows": [[self.say(cell(one, self.language), longest) for one in row] for row in table.rows],
            "numeric": list(numeric),
            "notes": self._words((*note(table), *cut)),
        }

    def _pairs(self, part: KeyValues) -> Piece:
        rows = [self._row(row) for row in part.rows]
        return {"kind": "pairs", "title": self.word(part.title), "rows": rows, "across": part.across}

    def _row(self, row: Row) -> Piece:
        return {
            "label": self.word(row.label),
            "value": self.say(cell(row.value, self.language), LONGEST_CODE if row.code else LONGEST_WORD),
            "code": row.code,
            "number": is_number(row.value),
            "note": self.word(row.note or ""),
        }

    def _numbers(self, numbers: tuple[NumberView, ...]) -> Piece:
        items = [
            {
                "name": self.word(number.title),
                "value": self.say(write_with_unit(number.value, number.unit, self.language), LONGEST_WORD),
                "what": self.word(Text(f"{number.three.id}.what", number.three.values)),
                "care": False,
            }
            for number in numbers
        ]
        return {"kind": "numbers", "items": items, "small": False}

    def _facts(self, part: Facts) -> Piece:
        items = [
            {
                "name": self.word(fact.name),
                "value": self.say(cell(fact.value, self.language), LONGEST_WORD),
                "what": self.word(fact.what),
                "care": fact.care,
            }
            for fact in part.items
        ]
        return {"kind": "numbers", "items": items, "small": True}

    def _headline(self, part: Headline) -> Piece:
        title = (part.view.title,) if part.view.title else ()
        found = {"title": self.word(part.finding), "notes": self._words((*title, *note(part.view)))}
        return self._figure(part.view) | found | {"first": True}

    def _explanations(self, part: Explanations) -> Piece:
        found = explain_numbers(part, self.language)
        items = [
            {"name": self.say(name, LONGEST_WORD), "words": self.say(words, LONGEST_WORD)}
            for name, words in found
        ]
        return {"kind": "explanations", "items": items}

    def _folded(self, part: Folded) -> Piece:
        return {
            "kind": "folded",
            "title": self.word(part.heading),
            "pieces": list(self.pieces(part.parts)),
            "instead": self.word(part.instead),
            "always": part.always,
        }

    def _figure(self, view: Any) -> Piece:
        return {
            "kind": "figure",
            "title": self.word(view.title),
            "notes": self._words(note(view)),
            "view": view,
            "first": False,
        }
