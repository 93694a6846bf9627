"""A document as PDF/A-3a and PDF/UA-1 with the evidence inside, the same bytes from the same input.

typst sets it from one template; what stands in it goes there as JSON, never as markup.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from engine import languages, texts
from engine.report import drawing
from engine.report.document import Document, Section
from engine.report.findings import describe_view
from engine.report.fonts import FOLDERS, settable
from engine.report.theme import LIGHT, resource
from engine.report.told import LONGEST_WORD, Piece, Told
from engine.report.words import FIRM_SPACE
from engine.views import Text

if TYPE_CHECKING:
    from pypdf import PdfReader

PROGRAM = "Custos"
BREAK = "\u200b"  # a place where a line may end, without width
MOST_COLUMNS = 12
SHORT = 17
MOST_SHORT = 70  # letters of short columns beside which a long one still has room
THIN, FOOT = 127.0, 54.0
"""Points from the top: a last page whose lowest line stands above holds a few lines alone. And from the foot:
what stands below is no line of the text."""
LETTERS = 3150
"""Of a page, about."""
MOST_PAGES = {False: 6, True: 9}
"""Of what leaves and of what stays: more are set in smaller letters, then without what the HTML file has."""
_INCHES = 6.69  # between the margins


def render(document: Document, *, evidence: bytes, language: str = "en") -> bytes:
    """Return a document as the bytes of a PDF.

    Parameters
    ----------
    document
        What stands in it. Its ``made_at`` is the only date in the file.
    evidence
        Embedded byte by byte as ``evidence.json``, an associated file of the document; UTF-8.
    language
        Of the words, and of the file's language mark.

    Notes
    -----
    typst checks the rules of PDF/A-3a and PDF/UA-1 that it knows while it writes: every font is embedded,
    colours have an output intent, everything is tagged. No independent validator is asked.
    """
    import typst

    try:
        return _set(document, evidence, language, simple=False)
    except typst.TypstError:  # letters that join into shapes without a meaning of their own
        return _set(document, evidence, language, simple=True)


def _set(document: Document, evidence: bytes, language: str, *, simple: bool) -> bytes:
    import typst
    from pypdf import PdfReader

    words = _Parts(language, simple=simple)
    tree = words.document(document)
    template = resource("report", "report.typ").read_bytes()
    inputs = {"document": json.dumps(tree, ensure_ascii=False), "evidence": evidence.decode()}

    def pages(tight: str = "", folded: int = 0) -> tuple[bytes, PdfReader]:
        made = typst.compile(
            template,
            format="pdf",
            font_paths=fonts(),
            sys_inputs=inputs | {"tight": tight, "folded": str(folded)},
            pdf_standards=["a-3a", "ua-1"],
            timestamp=datetime.fromisoformat(document.made_at),
        )
        return bytes(made), PdfReader(io.BytesIO(bytes(made)))

    most, folded = MOST_PAGES[document.stays], 0
    # One that is likely too long is asked before anything is written; the file is the same either way.
    is_long = _letters(tree) > LETTERS * most and _last_page(template, inputs) > most
    made, read = pages("dense" if is_long else "")
    if is_long or len(read.pages) > most:
        made, read = (made, read) if is_long else pages("dense")
        while len(read.pages) > most and folded < words.foldable:
            folded = min(folded + len(read.pages) - most, words.foldable)  # each is about a page
            made, read = pages("dense", folded)
    elif len(read.pages) > 1 and _depth(read.pages[-1]) < THIN:
        closer = pages("yes")
        made, read = closer if len(closer[1].pages) < len(read.pages) else (made, read)
    return _with_row_headers(made, read)


def _with_row_headers(made: bytes, read: PdfReader) -> bytes:
    """Tag the first cell of every row of a table as the header of its row, which typst cannot write yet.

    Nothing else changes: the tags are the only objects that are written anew.
    """
    from pypdf import PdfWriter
    from pypdf.generic import ArrayObject, DictionaryObject, NameObject

    writer = PdfWriter(clone_from=read)
    for row in _elements(writer.root_object["/StructTreeRoot"].get_object(), "/TR"):
        kids = row["/K"].get_object()
        first = (kids if isinstance(kids, ArrayObject) else ArrayObject([kids]))[0].get_object()
        if first.get("/S") == "/TD":
            first[NameObject("/S")] = NameObject("/TH")
            said = {"/O": "/Table", "/Scope": "/Row"}
            first[NameObject("/A")] = DictionaryObject(
                {NameObject(name): NameObject(value) for name, value in said.items()}
            )
    writer.pdf_header = made[:8].decode()
    target = io.BytesIO()
    writer.write(target)
    return target.getvalue()


def _elements(node: Any, kind: str) -> Iterator[Any]:
    """Give the elements of a kind below one of the structure tree."""
    kids = node.get("/K", ())
    kids = kids.get_object() if hasattr(kids, "get_object") else kids
    for kid in kids if isinstance(kids, list) else (kids,):
        inner = kid.get_object() if hasattr(kid, "get_object") else kid
        if isinstance(inner, dict) and "/S" in inner:
            if inner["/S"] == kind:
                yield inner
            else:
                yield from _elements(inner, kind)


def _letters(piece: Any) -> int:
    """Return how many letters stand in a piece, drawings aside."""
    if isinstance(piece, dict):
        return sum(_letters(part) for name, part in piece.items() if name != "pictures")
    if isinstance(piece, list):
        return sum(map(_letters, piece))
    return len(piece) if isinstance(piece, str) else 0


def _last_page(template: bytes, inputs: dict[str, str]) -> int:
    """Return how many pages a document has, which is known sooner than it is written."""
    import typst

    found = typst.query(template, "<end>", field="value", one=True, font_paths=fonts(), sys_inputs=inputs)
    return int(json.loads(found))


def _depth(page: Any) -> float:
    """Return how far down the lowest line of a page stands, in points; what stands below the text is none."""
    height = float(page.mediabox.height)
    depths = [0.0]

    def look(said: str, outer: list[float], inner: list[float], *_: object) -> None:
        depth = height - (inner[5] * outer[3] + outer[5])
        if said.strip() and depth < height - FOOT:
            depths.append(depth)

    page.extract_text(visitor_text=look)
    return max(depths)


@cache
def fonts() -> Any:
    """Return the fonts of the program, and none of the machine's."""
    import typst

    folders = [resource(*names) for names in FOLDERS]
    return typst.Fonts(include_system_fonts=False, include_embedded_fonts=False, font_paths=folders)


class _Parts:
    """Turns the parts of a document into the JSON that the template reads."""

    def __init__(self, language: str, *, simple: bool = False) -> None:
        self._language, self._simple = language, simple
        self._told = Told(language, self._said)
        self._word = self._told.word
        self.foldable = 0

    def _said(self, words: str, longest: int = LONGEST_WORD) -> str:
        held = words.replace("± ", f"±{FIRM_SPACE}")  # no margin begins a line
        return breakable(settable(held, simple=self._simple), longest)

    def document(self, document: Document) -> dict[str, Any]:
        below = document.footer or Text("report.footer.bundle", {"bundle": document.bundle_id})
        return {
            "language": self._language,
            "decimal": languages.find(self._language).decimal,
            "title": self._word(document.title, LONGEST_WORD - 6),
            "subtitle": self._word(document.subtitle),
            "author": PROGRAM,
            "audience": self._word(document.audience),
            "stays": document.stays,
            "colours": {name.replace("-", "_"): value for name, value in LIGHT.tokens().items()},
            "attachment": texts.text("report.footer.evidence", language=self._language),
            "bundle": self._word(below),
            "page": texts.text("report.footer.page", language=self._language, page="{page}", pages="{pages}"),
            "contents": texts.text("report.footer.contents", language=self._language),
            "front": document.is_front,
            "cover": [self._set(piece) for piece in self._told.pieces(document.cover)],
            "sections": [self._section(section) for section in reversed(document.sections)][::-1],
        }

    def _section(self, section: Section) -> Piece:
        parts = [self._set(piece) for piece in reversed(list(self._told.pieces(section.parts)))][::-1]
        return {
            "heading": self._word(section.heading),
            "fresh": section.fresh,
            "small": section.small,
            "parts": parts,
        }

    def _set(self, piece: Piece) -> Piece:
        """Return a piece as the template reads it: a table with widths, a figure with its drawings.

        What may be left to the HTML file is numbered from the end: the last is left out first.
        """
        if piece["kind"] == "folded":
            self.foldable += not piece["always"]
            place = 0 if piece["always"] else self.foldable
            return piece | {"pieces": [self._set(one) for one in piece["pieces"]], "place": place}
        if piece["kind"] == "table":
            return piece | {"widths": _widths(piece["headings"], piece["rows"], piece["numeric"])}
        if piece["kind"] != "figure":
            return piece
        view = piece.pop("view")
        axis = drawing.limits(view)
        drawn = [
            drawing.draw(part, language=self._language, width=_INCHES, axis_limits=axis)
            for part in drawing.split(view)
        ]
        return piece | {
            "alt": self._said(describe_view(view, self._language)),
            "pictures": [settable(canvas.svg(), simple=self._simple) for canvas in drawn],
            "shape": drawn[0].height / drawn[0].width,
        }


def _widths(headings: list[str], rows: list[list[str]], numeric: list[bool]) -> list[int]:
    """Return the share of each column of words; 0 for a column that is as wide as what stands in it.

    A table whose longest cells fit beside each other keeps its natural widths.
    """
    longest = [
        max((len(row[at]) for row in (headings, *rows) if at < len(row)), default=1)
        for at in range(len(headings))
    ]
    if len(headings) > MOST_COLUMNS:
        return [1] * len(headings)
    if sum(longest) <= 88:
        return [0 if at or len(headings) > 1 else 1 for at in range(len(headings))]
    short = [size <= SHORT for size in longest]
    if sum(size for size, is_short in zip(longest, short, strict=True) if is_short) > MOST_SHORT:
        return [min(max(size, SHORT), 60) for size in longest]
    return [0 if is_short else min(size, 60) for size, is_short in zip(longest, short, strict=True)]


def breakable(words: str, longest: int) -> str:
    """Return words in which a line may end inside a word that is longer than so many letters.

    Examples
    --------
    >>> breakable("short verylongword", 6).count("\\u200b")
    1
    """
    if len(words) <= longest:
        return words
    return " ".join(
        BREAK.join(piece[at : at + longest] for at in range(0, len(piece), longest))
        if len(piece) > longest
        else piece
        for piece in words.split(" ")
    )
