"""A document as PDF/A-3a and PDF/UA-1 with the evidence inside, the same bytes from the same input.

typst sets it from one template; what stands in it goes there as JSON, never as markup.
"""

from __future__ import annotations

import io
import json
import re
from bisect import bisect_right
from datetime import datetime
from functools import cache
from textwrap import wrap
from typing import Any

from engine import languages, texts
from engine.report import drawing
from engine.report.document import Document, Section
from engine.report.findings import describe_view
from engine.report.fonts import FOLDERS, settable
from engine.report.theme import LIGHT, resource
from engine.report.told import LONGEST_WORD, Piece, Told
from engine.report.words import FIRM_SPACE
from engine.views import Text

PROGRAM = "Custos"
BREAK = "\u200b"  # a place where a line may end, without width
MOST_COLUMNS = 12
SHORT = 17
HEADING_LINES = 4  # a heading above short cells takes no more where its words allow it
FEW_COLUMNS, FEWER_LINES = 3, 3  # beside so few columns there is room for headings of fewer lines
MOST_SHORT = 70  # letters of short columns beside which a long one still has room
MANY_ROWS, HALF_A_LINE = 20, 48  # of so many rows with so few letters two stand side by side
THIN = 127.0
"""Points from the top: a last page that ends above holds a few lines alone."""
HOPELESS = {False: 3400, True: 4200}
"""Letters a page: of more than that, none was ever set within the pages wanted but in smaller letters."""
MOST_PAGES = {False: 6, True: 9}
"""Of what leaves and of what stays: more are set in smaller letters, then without what the HTML file has."""
_INCHES = 6.69  # between the margins
_TOP, _ROOM = 40.0, 754.0  # of a page in small letters: where it begins, and how high it is, in points
_ROW = re.compile(rb"\d+ 0 obj\s*<</Type/StructElem/S/TR/P \d+ 0 R/K\s*\[?(\d+) 0 R")
_CELL = re.compile(rb"\d+ 0 obj\s*<</Type/StructElem/S/TD\b")
_SMALLER = 58.0  # points that a drawing as high as it is wide loses where parts are left out


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
    words = _Parts(language, simple=simple)
    tree = words.document(document)
    made_at = datetime.fromisoformat(document.made_at)
    inputs = {"document": json.dumps(tree, ensure_ascii=False), "evidence": evidence.decode()}
    most, pictures = MOST_PAGES[document.stays], _heights(tree)

    def lay(tight: str = "", folded: int = 0) -> _Laid:
        return _Laid(inputs | {"tight": tight, "folded": str(folded)})

    # Laying out costs most of the time, so that what is hopelessly long is not asked whether it fits.
    laid = lay("dense" if _letters(tree) > HOPELESS[document.stays] * most else "")
    if laid.tight != "dense" and laid.pages > most:
        laid = lay("dense")
    elif laid.tight != "dense" and laid.pages > 1 and laid.depth < THIN:
        closer = lay("yes")
        laid = closer if closer.pages < laid.pages else laid
    folded = 0
    while laid.pages > most and folded < words.foldable:
        folded = laid.folds_needed(most, folded, pictures)
        laid = lay("dense", folded)
    if laid.pages > most:
        laid = lay("closest", folded)
    return _with_row_headers(laid.write(made_at))


class _Laid:
    """A document laid out with some settings: how many pages it has is known before it is written.

    Parameters
    ----------
    inputs
        What the template reads; ``tight`` and ``folded`` are how close its lines stand and how many of its
        folded parts are left to the HTML file.
    """

    def __init__(self, inputs: dict[str, str]) -> None:
        import typst

        self._template = resource("report", "report.typ").read_bytes()
        self._compiler = typst.Compiler(self._template, font_paths=fonts(), sys_inputs=inputs)
        self.tight = inputs["tight"]
        found = json.loads(self._compiler.query("<at>", field="value"))
        *self._marks, (_, self.pages, self.depth) = found

    def folds_needed(self, most: int, folded: int, pictures: float) -> int:
        """Return how many folded parts to leave out so that it likely fits, more than are left out now."""
        over = (self.pages - 1 - most) * _ROOM + self.depth - _TOP
        over -= 0 if folded else pictures * _SMALLER
        heights: dict[int, float] = {}
        for name, page, y in self._marks:
            place, side = name.split()
            sign = 1 if side == "after" else -1
            heights[int(place)] = heights.get(int(place), 0.0) + sign * (page * _ROOM + y)
        for place in sorted(one for one in heights if one > folded):
            over -= heights[place]
            if over <= 0 or place == max(heights):
                return place
        return folded + 1

    def write(self, made_at: datetime) -> bytes:
        """Return it as a PDF; nothing is laid out again."""
        made = self._compiler.compile(
            self._template, format="pdf", pdf_standards=["a-3a", "ua-1"], timestamp=made_at
        )
        assert isinstance(made, bytes)
        return made


def _heights(piece: Any) -> float:
    """Return how high the drawings of a piece are together, in widths of the text; page one aside."""
    if isinstance(piece, dict):
        own = piece["shape"] * len(piece["pictures"]) if piece.get("kind") == "figure" else 0.0
        return own + sum(_heights(part) for name, part in piece.items() if name != "cover")
    return sum(map(_heights, piece)) if isinstance(piece, list) else 0.0


def _with_row_headers(made: bytes) -> bytes:
    """Tag the first cell of every row of a table as the header of its row, which typst cannot write yet.

    Nothing else changes: only these tags are written anew, and the table of where everything stands. What is
    looked at are the objects that this table names, as typst writes them. (To read every object with pypdf
    takes .1 s.)
    """
    places = _places(made)
    changed = {}
    for place in places.values():
        row = _ROW.match(made, place)
        first = places[int(row[1])] if row else place
        if row and _CELL.match(made, first):
            tag = made[made.index(b"<<", first) : made.index(b"endobj", first)]
            changed[first] = _as_header(tag)
    return _rewritten(made, changed)


def _places(made: bytes) -> dict[int, int]:
    """Return where each object of a PDF begins, by its number, from the table at its end."""
    table = int(made[made.rindex(b"startxref") :].split()[1])
    places, number = {}, 0
    for line in made[table : made.index(b"trailer", table)].splitlines()[1:]:
        match line.split():
            case [start, _]:
                number = int(start)
            case [place, _, kind]:
                if kind == b"n":
                    places[number] = int(place)
                number += 1
    return places


def _as_header(tag: bytes) -> bytes:
    """Return the tag of a cell as one that is the header of its row."""
    own = re.sub(rb"/A\[<<.*?>>\]", b"", tag, count=1, flags=re.DOTALL)
    return own.replace(b"/S/TD", b"/S/TH/A<</O/Table/Scope/Row>>", 1)


def _rewritten(made: bytes, changed: dict[int, bytes]) -> bytes:
    """Return a PDF in which the dictionaries that begin at some places are others.

    Its table of where each object stands is the last thing in it: lines of twenty bytes, the place first.
    """
    table = int(made[made.rindex(b"startxref") :].split()[1])
    written, at = io.BytesIO(), 0
    starts, shifts = [0], [0]
    for offset in sorted(changed):
        begin = made.index(b"<<", offset)
        written.write(made[at:begin] + changed[offset] + b"\n")
        at = made.index(b"endobj", begin)
        starts.append(offset + 1)
        shifts.append(written.tell() - at)
    written.write(made[at:table])
    end = made.index(b"trailer", table)

    def moved(line: re.Match[bytes]) -> bytes:
        place = int(line[1])
        return b"%010d" % (place + shifts[bisect_right(starts, place) - 1])

    written.write(re.sub(rb"(?m)^(\d{10})(?= \d{5} n)", moved, made[table:end]))
    last = made.rindex(b"startxref")
    written.write(made[end:last] + b"startxref\n%d\n%%%%EOF" % (table + shifts[-1]))
    return written.getvalue()


def _letters(piece: Any) -> int:
    """Return how many letters stand in a piece, drawings aside."""
    if isinstance(piece, dict):
        return sum(_letters(part) for name, part in piece.items() if name != "pictures")
    if isinstance(piece, list):
        return sum(map(_letters, piece))
    return len(piece) if isinstance(piece, str) else 0


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
            headings, rows = piece["headings"], piece["rows"]
            narrow = len(rows) >= MANY_ROWS and sum(_longest(headings, rows)) <= HALF_A_LINE
            return piece | {"widths": _widths(headings, rows, piece["numeric"]), "halved": narrow}
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

    A column of short cells below a long heading has as many letters as the cells take, below zero: no value
    stands apart from its margin. A table whose longest cells fit beside each other keeps its natural widths.
    """
    longest = _longest(headings, rows)
    if len(headings) > MOST_COLUMNS:
        return [1] * len(headings)
    if sum(longest) <= 88:
        return [0 if at or len(headings) > 1 else 1 for at in range(len(headings))]
    short = [size <= SHORT for size in longest]
    if sum(size for size, is_short in zip(longest, short, strict=True) if is_short) > MOST_SHORT:
        return [min(max(size, SHORT), 60) for size in longest]
    cells = [max((len(row[at]) for row in rows if at < len(row)), default=1) for at in range(len(headings))]
    lines = HEADING_LINES if len(headings) > FEW_COLUMNS else FEWER_LINES
    held = [
        max(size, _narrowest(heading, lines)) if size <= SHORT < len(heading) else 0
        for size, heading in zip(cells, headings, strict=True)
    ]
    return [
        0 if is_short else -letters if letters and letters <= SHORT else min(size, 60)
        for size, is_short, letters in zip(longest, short, held, strict=True)
    ]


def _longest(headings: list[str], rows: list[list[str]]) -> list[int]:
    """Return the letters of the longest cell of each column, its heading among them."""
    return [
        max((len(row[at]) for row in (headings, *rows) if at < len(row)), default=1)
        for at in range(len(headings))
    ]


def _narrowest(heading: str, lines: int) -> int:
    """Return how many letters a line of a heading needs so that there are no more lines.

    Where that takes more than `SHORT`, there may be `HEADING_LINES`, and more where its words want them.

    Examples
    --------
    >>> _narrowest("Level ε that holds against them", 3)
    12
    """
    longest = max(map(len, heading.split()))
    for most in (lines, HEADING_LINES):
        for width in range(longest, SHORT + 1):
            if len(wrap(heading, width, break_on_hyphens=False)) <= most:
                return width
    return max(-(-len(heading) // HEADING_LINES), longest)


def breakable(words: str, longest: int) -> str:
    """Return words in which a line may end inside a word that is longer than so many letters.

    Names of columns end a line after a mark between their words, where they have one.

    Examples
    --------
    >>> breakable("short verylongword", 6).count("\\u200b")
    1
    >>> breakable("time_in_hospital", 14).split("\\u200b")
    ['time_in_', 'hospital']
    """
    if len(words) <= longest:
        return words
    return " ".join(_parted(piece, longest) if len(piece) > longest else piece for piece in words.split(" "))


def _parted(word: str, longest: int) -> str:
    lines = [""]
    for part in re.findall(r"[^_]*_+|[^_]+", word):
        pieces = [part[at : at + longest] for at in range(0, len(part), longest)]
        if len(lines[-1]) + len(pieces[0]) <= longest:
            lines[-1] += pieces.pop(0)
        lines += pieces
    return BREAK.join(line for line in lines if line)
