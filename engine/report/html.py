"""A document as one HTML file: no script, nothing fetched, light and dark, every drawing with its numbers."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable
from html import escape
from typing import Any

from engine import languages, texts
from engine.report import drawing
from engine.report.document import Document, Part, Section
from engine.report.findings import describe_view
from engine.report.theme import DARK, LIGHT, VARIABLES, resource
from engine.report.told import Piece, Told
from engine.report.words import word
from engine.views import Label, View, as_table

FIGURE_SPACE, POINT_SPACE = "\u2007", "\u2008"
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
WEB = ("Inter", "system-ui", "Segoe UI", "Roboto", "Arial", "sans-serif")


def render(document: Document, *, evidence: bytes, language: str = "en") -> bytes:
    """Return a document as the bytes of an HTML file, UTF-8, the same from the same input.

    Parameters
    ----------
    document
        What stands in it.
    evidence
        Behind a link for saving, inside the file.
    language
        Of the words, and of the file's language mark.
    """
    return _Writer(language).document(document, evidence).encode()


def page(title: str, body: Iterable[str], *below: str, language: str) -> str:
    """Return a whole file: no script, nothing fetched, in the colours that the reader prefers.

    Parameters
    ----------
    title, body, below
        As they stand in the file: its title, its lines, and those beneath them.
    language
        Of the words.
    """
    return "\n".join(
        [
            "<!DOCTYPE html>",
            f'<html lang="{escape(language)}">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{title}</title>",
            f"<style>\n{style()}</style>",
            "</head>",
            "<body>",
            "<main>",
            *body,
            "</main>",
            *below,
            "</body>",
            "</html>",
            "",
        ]
    )


class _Writer:
    def __init__(self, language: str) -> None:
        self._language = language
        self._decimal = languages.find(language).decimal
        self._told = Told(language, lambda words, longest: escape(words))
        self._writers: dict[str, Callable[[Piece], str]] = {
            "text": lambda piece: f"<p>{piece['text']}</p>",
            "heading": lambda piece: f"<h3>{piece['text']}</h3>",
            "pairs": self._pairs,
            "numbers": self._numbers,
            "beside": lambda piece: (
                '<div class="beside">'
                + "".join(
                    f"<div><h3>{one['heading']}</h3>{_list(one['items'])}</div>" for one in piece["lists"]
                )
                + "</div>"
            ),
            "callout": self._callout,
            "bullets": lambda piece: _list(piece["items"]),
            "signatures": lambda piece: (
                f'<div class="signatures">{"".join(f"<p>{line}</p>" for line in piece["items"])}</div>'
            ),
            "explanations": self._explanations,
            "folded": self._folded,
            "table": self._table,
            "figure": self._figure,
        }

    def _word(self, label: Label) -> str:
        return self._told.word(label)

    def _text(self, text_id: str, **values: Any) -> str:
        return escape(texts.text(text_id, language=self._language, **values))

    def document(self, document: Document, evidence: bytes) -> str:
        title = self._word(document.title)
        saved = base64.b64encode(evidence).decode()
        body = [
            f'<p class="kind">{self._word(document.subtitle)}</p>',
            f'<p class="audience{" stays" if document.stays else ""}">{self._word(document.audience)}</p>',
            f"<h1>{title}</h1>",
            *(self._part(part) for part in document.cover),
            "" if document.is_front else self._contents(document.sections),
            *(self._section(number, section) for number, section in enumerate(document.sections, 1)),
        ]
        foot = [
            self._text("report.footer.bundle", bundle=word(document.bundle_id, self._language)),
            self._word(document.audience),
            self._text("report.footer.made", made_at=word(document.made_at, self._language)),
            '<a download="evidence.json" href="data:application/json;base64,'
            f'{saved}">{self._text("report.footer.save")}</a>',
        ]
        return page(title, body, f"<footer>{' · '.join(foot)}</footer>", language=self._language)

    def _contents(self, sections: tuple[Section, ...]) -> str:
        links = (
            f'<a href="#s{n}">{n}&ensp;{self._word(one.heading)}</a>' for n, one in enumerate(sections, 1)
        )
        name = self._text("report.footer.contents")
        return f'<nav aria-label="{name}"><h2>{name}</h2>{_list(links)}</nav>'

    def _section(self, number: int, section: Section) -> str:
        parts = "\n".join(self._part(part) for part in section.parts)
        heading = f'<h2 id="h{number}">{number}&ensp;{self._word(section.heading)}</h2>'
        return f'<section id="s{number}" aria-labelledby="h{number}">\n{heading}\n{parts}\n</section>'

    def _part(self, part: Part) -> str:
        return "".join(self._writers[piece["kind"]](piece) for piece in self._told.pieces([part]))

    # Values

    def _pairs(self, piece: Piece) -> str:
        looks = "pairs across" if piece["across"] and piece["title"] else "pairs"  # as in the PDF
        return _title(piece) + f'<dl class="{looks}">{"".join(self._row(row) for row in piece["rows"])}</dl>'

    def _row(self, row: Piece) -> str:
        value = row["value"]
        shown = f"<code>{value}</code>" if row["code"] else f"<b>{value}</b>" if row["number"] else value
        more = f'<p class="note">{row["note"]}</p>' if row["note"] else ""
        return f"<div><dt>{row['label']}</dt><dd>{shown}{more}</dd></div>"

    def _numbers(self, piece: Piece) -> str:
        cards = (
            f'<div class="card{" care" if one["care"] else ""}"><p class="name">{one["name"]}</p>'
            f'<p class="key">{one["value"]}</p><p class="note">{one["what"]}</p></div>'
            for one in piece["items"]
        )
        return f'<div class="numbers">{"".join(cards)}</div>'

    def _explanations(self, piece: Piece) -> str:
        rows = (f"<div><dt>{one['name']}</dt><dd>{one['words']}</dd></div>" for one in piece["items"])
        return f'<dl class="pairs explained">{"".join(rows)}</dl>'

    def _folded(self, piece: Piece) -> str:
        found = "".join(self._writers[one["kind"]](one) for one in piece["pieces"])
        if not piece["always"]:
            return _title(piece) + found
        return f"<details><summary>{piece['title']}</summary>{found}</details>"

    def _callout(self, piece: Piece) -> str:
        looks = " ".join(["callout", *(look for look in ("care", "large") if piece[look])])
        head = f"<b>{piece['head']}</b> " if piece["head"] else ""
        return f'<p class="{looks}">{head}{piece["text"]}</p>'

    # Tables and drawings

    def _table(self, piece: Piece) -> str:
        return _title(piece) + (self._grid(piece) if piece["headings"] else "") + _notes(piece)

    def _grid(self, piece: Piece) -> str:
        numeric, rows = piece["numeric"], piece["rows"]
        columns = zip(numeric, piece["headings"], strict=True)
        head = "".join(f'<th scope="col"{_right(right)}>{name}</th>' for right, name in columns)
        pads = [
            max((self._decimals(row[column]) for row in rows), default=0) if right else 0
            for column, right in enumerate(numeric)
        ]
        body = (
            f"<tr>{''.join(self._cell(words, at, numeric, pads) for at, words in enumerate(row))}</tr>"
            for row in rows
        )
        label = f' aria-label="{piece["title"]}"' if piece["title"] else ""
        return (
            f'<div class="scroll"><table{label}><thead><tr>{head}</tr></thead>'
            f"<tbody>{''.join(body)}</tbody></table></div>"
        )

    def _cell(self, words: str, column: int, numeric: list[bool], pads: list[int]) -> str:
        if column == 0 and not numeric[0]:
            return f'<th scope="row">{words}</th>'
        if not numeric[column]:
            return f"<td>{words}</td>"
        missing = pads[column] - self._decimals(words)
        without = self._decimal not in words and missing > 0
        pad = (POINT_SPACE if without else "") + FIGURE_SPACE * (missing - without)
        return f"<td{_right(True)}>{words}{pad}</td>"

    def _decimals(self, words: str) -> int:
        """Count the letters from the decimal point on."""
        return len(words) - words.index(self._decimal) if self._decimal in words else 0

    def _figure(self, piece: Piece) -> str:
        view = piece["view"]
        axis = drawing.limits(view)
        drawings = "".join(self._drawing(part, axis) for part in drawing.split(view))
        numbers = self._told.table(as_table(view))
        caption = f"<figcaption>{piece['title']}</figcaption>" if piece["title"] else ""
        return (
            f"<figure>{caption}{drawings}{_notes(piece)}{_notes(numbers)}"
            f"<details><summary>{self._text('report.footer.numbers')}</summary>"
            f"{self._grid(numbers)}</details></figure>"
        )

    def _drawing(self, view: View, axis: tuple[float, float] | None) -> str:
        """Return a drawing whose colours follow the page."""
        name = escape(describe_view(view, self._language))
        canvas = drawing.draw(view, theme=VARIABLES, language=self._language, axis_limits=axis, families=WEB)
        opening, rest = canvas.svg().split(">", 1)
        box = re.search(r'viewBox="[^"]*"', opening)
        assert box is not None
        return f'<svg {box.group()} role="img" aria-label="{name}" class="drawing">{rest}'


def _title(piece: Piece) -> str:
    return f"<h3>{piece['title']}</h3>" if piece["title"] else ""


def _notes(piece: Piece) -> str:
    return "".join(f'<p class="note">{note}</p>' for note in piece["notes"])


def _list(items: Any) -> str:
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"


def _right(numeric: bool) -> str:
    return ' class="number"' if numeric else ""


def style() -> str:
    """Return the style sheet of a page that follows light and dark, and fits a phone."""
    light = "".join(f"--{name}:{colour};" for name, colour in LIGHT.tokens().items())
    dark = "".join(f"--{name}:{colour};" for name, colour in DARK.tokens().items())
    sheet = resource("report", "report.css").read_text(encoding="utf-8")
    return f":root{{{light}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{sheet}"
