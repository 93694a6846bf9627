"""A document that leaves beside the data (a model card, for instance), as one plain HTML file."""

from __future__ import annotations

from html import escape

from engine import texts
from engine.methods.protocol import DocumentArtefact
from engine.report.words import word
from engine.views import Cell, Label, Text, TextView, View, as_table

STYLE = (
    "body{font:16px/1.5 sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse}td,th{border-bottom:1px solid #999;padding:.2rem .8rem;text-align:left}"
)
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def document_html(document: DocumentArtefact, *, language: str = "en") -> bytes:
    """Return a document as the bytes of an HTML file: no script, nothing fetched, UTF-8.

    Views stand as the table of their numbers.
    """
    first, *others = document.parts
    title = _say(first if isinstance(first, Text) else first.title, language)
    body = [f"<h1>{title}</h1>"]
    body += [_part(part, language) for part in (others if isinstance(first, Text) else document.parts)]
    head = (
        '<!DOCTYPE html>\n<html lang="' + escape(language) + '">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
    )
    return (head + "\n".join(body) + "\n</body>\n</html>\n").encode()


def _part(part: Text | View, language: str) -> str:
    if isinstance(part, Text):
        return f"<p>{_say(part, language)}</p>"
    heading = f"<h2>{_say(part.title, language)}</h2>"
    if isinstance(part, TextView):
        return heading + "".join(f"<p>{_say(text, language)}</p>" for text in part.paragraphs)
    table = as_table(part)
    columns = "".join(f"<th scope=col>{_say(label, language)}</th>" for label in table.headings)
    rows = "".join(
        "<tr>" + "".join(f"<td>{_say(cell, language)}</td>" for cell in row) + "</tr>" for row in table.rows
    )
    note = f"<p>{_say(table.note, language)}</p>" if table.note is not None else ""
    return f"{heading}<table><thead><tr>{columns}</tr></thead><tbody>{rows}</tbody></table>{note}"


def _say(label: Label | Cell, language: str) -> str:
    if label is None:
        return "–"
    if isinstance(label, Text):
        return escape(word(label, language))  # a text may name other texts
    return escape(label if isinstance(label, str) else texts.number(label))
