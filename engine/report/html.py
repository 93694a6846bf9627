"""A document as one HTML file: no script, nothing fetched, light and dark, every drawing with its numbers."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from html import escape
from typing import Any

from engine import texts
from engine.report import drawing
from engine.report.document import (
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
from engine.report.theme import DARK, LIGHT, VARIABLES, resource
from engine.report.words import (
    alternative,
    cell,
    explained,
    is_number,
    measured,
    note,
    number_columns,
    shortened,
    word,
)
from engine.views import NumberView, TableView, Text, TextView, View, as_table

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


class _Writer:
    def __init__(self, language: str) -> None:
        self._language = language
        self._writers: dict[type, Callable[[Any], str]] = {
            Text: lambda part: f"<p>{self._word(part)}</p>",
            Heading: lambda part: f"<h3>{self._word(part.text)}</h3>",
            KeyValues: self._key_values,
            Numbers: self._numbers,
            Statement: self._statement,
            Bullets: lambda part: _list(self._word(item) for item in part.items),
            Signatures: self._signatures,
            Explanations: self._explanations,
            NumberView: lambda part: self._numbers(Numbers((part,))),
            TableView: self._table,
            TextView: self._text_view,
        }

    def _word(self, label: Any) -> str:
        return escape(word(label, self._language))

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
            self._contents(document.sections),
            *(self._section(number, section) for number, section in enumerate(document.sections, 1)),
        ]
        foot = [
            self._text("report.footer.bundle", bundle=word(document.bundle_id, self._language)),
            self._word(document.audience),
            self._text("report.footer.made", made_at=word(document.made_at, self._language)),
            '<a download="evidence.json" href="data:application/json;base64,'
            f'{saved}">{self._text("report.footer.save")}</a>',
        ]
        return "\n".join(
            [
                "<!DOCTYPE html>",
                f'<html lang="{escape(self._language)}">',
                "<head>",
                '<meta charset="utf-8">',
                '<meta name="viewport" content="width=device-width, initial-scale=1">',
                f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
                '<meta name="color-scheme" content="light dark">',
                f"<title>{title}</title>",
                f"<style>\n{_style()}</style>",
                "</head>",
                "<body>",
                "<main>",
                *body,
                "</main>",
                f"<footer>{' · '.join(foot)}</footer>",
                "</body>",
                "</html>",
                "",
            ]
        )

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
        writer = self._writers.get(type(part))
        return self._figure(part) if writer is None else writer(part)  # type: ignore[arg-type]

    # Values

    def _key_values(self, part: KeyValues) -> str:
        heading = f"<h3>{self._word(part.title)}</h3>" if part.title else ""
        return heading + f'<dl class="pairs">{"".join(self._row(row) for row in part.rows)}</dl>'

    def _row(self, row: Row) -> str:
        value = escape(cell(row.value, self._language))
        shown = f"<code>{value}</code>" if row.code else f"<b>{value}</b>" if is_number(row.value) else value
        more = f'<p class="note">{self._word(row.note)}</p>' if row.note is not None else ""
        return f"<div><dt>{self._word(row.label)}</dt><dd>{shown}{more}</dd></div>"

    def _numbers(self, part: Numbers) -> str:
        return f'<div class="numbers">{"".join(self._number(number) for number in part.numbers)}</div>'

    def _number(self, number: NumberView) -> str:
        value = measured(number.value, number.unit, self._language)
        what = self._word(Text(f"{number.three.id}.what", number.three.values))
        return (
            f'<div class="card"><p class="name">{self._word(number.title)}</p>'
            f'<p class="key">{escape(value)}</p><p class="note">{what}</p></div>'
        )

    def _explanations(self, part: Explanations) -> str:
        found = explained(part, self._language)
        rows = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(words)}</dd></div>" for name, words in found)
        return f'<dl class="pairs explained">{rows}</dl>'

    def _statement(self, part: Statement) -> str:
        looks = ("statement", *(("care",) if part.care else ()), *(("large",) if part.large else ()))
        return f'<p class="{" ".join(looks)}">{self._word(part.text)}</p>'

    def _signatures(self, part: Signatures) -> str:
        return f'<div class="signatures">{"".join(f"<p>{self._word(line)}</p>" for line in part.lines)}</div>'

    def _text_view(self, view: TextView) -> str:
        heading = f"<h3>{self._word(view.title)}</h3>" if view.title else ""
        return heading + "".join(f"<p>{self._word(text)}</p>" for text in view.paragraphs)

    # Tables and drawings

    def _table(self, table: TableView) -> str:
        table, cut = shortened(table)
        heading = f"<h3>{self._word(table.title)}</h3>" if table.title else ""
        notes = "".join(f'<p class="note">{self._word(text)}</p>' for text in (*note(table), *cut))
        return heading + (self._grid(table) if table.headings else "") + notes

    def _grid(self, table: TableView) -> str:
        numeric = number_columns(table)
        columns = list(zip(numeric, table.headings, strict=True))
        head = "".join(f'<th scope="col"{_right(right)}>{self._word(name)}</th>' for right, name in columns)
        pads = [
            max((_decimals(cell(row[column], self._language)) for row in table.rows), default=0)
            if right
            else 0
            for column, right in enumerate(numeric)
        ]
        body = []
        for row in table.rows:
            cells = [self._cell(value, column, numeric, pads) for column, value in enumerate(row)]
            body.append(f"<tr>{''.join(cells)}</tr>")
        label = f' aria-label="{self._word(table.title)}"' if table.title else ""
        return (
            f'<div class="scroll"><table{label}><thead><tr>{head}</tr></thead>'
            f"<tbody>{''.join(body)}</tbody></table></div>"
        )

    def _cell(self, value: Any, column: int, numeric: tuple[bool, ...], pads: list[int]) -> str:
        words = cell(value, self._language)
        if column == 0 and not numeric[0]:
            return f'<th scope="row">{escape(words)}</th>'
        if not numeric[column]:
            return f"<td>{escape(words)}</td>"
        missing = pads[column] - _decimals(words)
        pad = (POINT_SPACE if "." not in words and missing else "") + FIGURE_SPACE * (
            missing - (1 if "." not in words and missing else 0)
        )
        return f"<td{_right(True)}>{escape(words)}{pad}</td>"

    def _figure(self, view: View) -> str:
        axis = drawing.limits(view)
        drawings = "".join(self._drawing(piece, axis) for piece in drawing.split(view))
        numbers, cut = shortened(as_table(view))
        notes = "".join(f'<p class="note">{self._word(text)}</p>' for text in (*note(view), *cut))
        caption = f"<figcaption>{self._word(view.title)}</figcaption>" if view.title else ""
        return (
            f"<figure>{caption}{drawings}{notes}"
            f"<details><summary>{self._text('report.footer.numbers')}</summary>"
            f"{self._grid(numbers)}</details></figure>"
        )

    def _drawing(self, view: View, axis: tuple[float, float] | None) -> str:
        """Return a drawing whose colours follow the page."""
        name = escape(alternative(view, self._language))
        canvas = drawing.draw(view, theme=VARIABLES, language=self._language, axis_limits=axis, families=WEB)
        opening, rest = canvas.svg().split(">", 1)
        box = re.search(r'viewBox="[^"]*"', opening)
        assert box is not None
        return f'<svg {box.group()} role="img" aria-label="{name}" class="drawing">{rest}'


def _list(items: Any) -> str:
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"


def _right(numeric: bool) -> str:
    return ' class="number"' if numeric else ""


def _decimals(words: str) -> int:
    """Count the letters from the decimal point on."""
    return len(words) - words.index(".") if "." in words else 0


def _style() -> str:
    light = "".join(f"--{name}:{colour};" for name, colour in LIGHT.tokens().items())
    dark = "".join(f"--{name}:{colour};" for name, colour in DARK.tokens().items())
    sheet = resource("report", "report.css").read_text(encoding="utf-8")
    return f":root{{{light}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{sheet}"
