"""A document that leaves beside the data (a model card, for instance), as one plain HTML file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from engine import texts
from engine.methods.protocol import DocumentArtefact
from engine.report.html import page
from engine.report.words import is_number, word
from engine.views import Cell, Label, Text, TextView, View, as_table


def document_html(document: DocumentArtefact, *, language: str = "en") -> bytes:
    """Return a document as the bytes of an HTML file: no script, nothing fetched, UTF-8.

    Views stand as the table of their numbers.
    """
    first, *others = document.parts
    title = _say(first if isinstance(first, Text) else first.title, language)
    body = [f"<h1>{title}</h1>"]
    body += [_part(part, language) for part in (others if isinstance(first, Text) else document.parts)]
    return page(title, body, language=language).encode()


def _part(part: Text | View, language: str) -> str:
    if isinstance(part, Text):
        return f"<p>{_say(part, language)}</p>"
    heading = f"<h2>{_say(part.title, language)}</h2>"
    if isinstance(part, TextView):
        return heading + "".join(f"<p>{_say(text, language)}</p>" for text in part.paragraphs)
    table = as_table(part)
    columns = "".join(f"<th scope=col>{_say(label, language)}</th>" for label in table.headings)
    rows = "".join(f"<tr>{''.join(_cells(row, language))}</tr>" for row in table.rows)
    note = f"<p>{_say(table.note, language)}</p>" if table.note is not None else ""
    inside = f"<table><thead><tr>{columns}</tr></thead><tbody>{rows}</tbody></table>"
    return f'{heading}<div class="scroll">{inside}</div>{note}'


def _cells(row: Sequence[Cell], language: str) -> Iterator[str]:
    """Give the cells of a row; one that begins with words is headed by them."""
    for place, cell in enumerate(row):
        said, number = _say(cell, language), is_number(cell)
        if place == 0 and not number:
            yield f'<th scope="row">{said}</th>'
        else:
            yield f'<td class="number">{said}</td>' if number else f"<td>{said}</td>"


def _say(label: Label | Cell, language: str) -> str:
    if label is None:
        return "–"
    if isinstance(label, Text):
        return escape(word(label, language))  # a text may name other texts
    return escape(label if isinstance(label, str) else texts.number(label))
