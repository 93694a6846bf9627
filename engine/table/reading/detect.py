"""How a text file is written, found out from its beginning: a proposal that a person can change."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from engine.errors import InputRefused
from engine.table.patterns import LONGEST, MISSING_CODES, date_order_of, is_grouped, is_number
from engine.table.reading.header import header_of
from engine.table.reading.line_ends import LineEnds
from engine.table.reading.names import refuse_wide
from engine.table.reading.options import ReadOptions, can_decode

SAMPLE_BYTES = 1 << 20
SAMPLE_ROWS = 1000
DELIMITERS = (",", ";", "\t", "|", "~", "^")
# A cell in quotation marks, between delimiters or ends of lines.
_QUOTED = r'(?:^|(?<=[,;\t|~^\r\n]))"(?:[^"]++|"")*+"(?=[,;\t|~^\r\n]|$)'
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True)
class Detection:
    """What was found out about a file.

    Parameters
    ----------
    options
        Every field filled: what was given, over what was found.
    reasons
        Field of the options → (id of a reason below ``suggestions.detection``, named values).
    names
        The names of the columns as they would be read.
    width
        The number of columns.
    preview
        The first rows as text. Private: for the load screen only.
    sheets
        Names of the sheets of an Excel file, or of the tables of a DuckDB file.
    missing
        Codes that look like missing values, from the fixed list `MISSING_CODES`.
    """

    options: ReadOptions
    reasons: dict[str, tuple[str, dict[str, Any]]] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    width: int = 0
    preview: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    sheets: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    quoted: bool = False
    """Whether the sample has a quotation mark below the header."""
    characters_before: int = 0
    """Characters before the first row."""
    lines_before: int = 0
    """Physical lines before the first row: skipped ones and the header's."""


def detect_text(sample: bytes, *, whole: bool, file: str, given: ReadOptions | None = None) -> Detection:
    """Find out how a text file is written.

    Parameters
    ----------
    sample
        Its first bytes.
    whole
        Whether that is all of it.
    file
        Its name, for messages.
    given
        What is known already.

    Raises
    ------
    InputRefused
        ``table.not_text``, ``table.empty_file``, ``table.unknown_encoding``.

    Examples
    --------
    >>> found = detect_text(b"name;height\\nA;1,5\\nB;1,75\\n", whole=True, file="f.csv")
    >>> found.options.delimiter, found.options.decimal, found.options.header, found.names
    (';', ',', True, ('name', 'height'))
    """
    given = given or ReadOptions()
    reasons: dict[str, tuple[str, dict[str, Any]]] = {}
    encoding, why = (given.encoding, "given") if given.encoding else _encoding(sample, whole, file)
    reasons["encoding"] = (why, {"encoding": encoding})
    text = _decode(sample, encoding, whole, file)
    # Where nothing is left to find out, cells that look empty decide nothing about the others.
    is_said = given.header is False and given.width is not None
    if not is_said and not text.strip("\r\n\t ;,|\0\ufeff"):
        raise InputRefused("table.empty_file", file=file)
    line_ends = given.line_ends or _line_ends(text, given)
    ends_of_lines = LineEnds.of(replace(given, line_ends=line_ends))
    text = ends_of_lines.hidden(text)
    every_line = _lines(text)
    lines = every_line[: 2 * SAMPLE_ROWS]
    skipped, announced = _announce(lines)
    delimiter, quote = given.delimiter, given.quote
    if quote is None:
        quote = _quote(lines)
    escape = given.escape if given.escape is not None else ("\\" if quote and f"\\{quote}" in text else "")
    if delimiter is None:
        delimiter = announced or _delimiter(lines, quote, escape, given.multiline)
        reasons["delimiter"] = ("announced" if announced else "consistent", {})
    if given.skip_rows is not None:
        skipped = given.skip_rows
    elif not announced:
        skipped = _preamble(lines, delimiter, quote, escape, given.multiline)
        if skipped:
            reasons["skip_rows"] = ("title_lines", {"count": skipped})
    rows, ends = _parse(lines[skipped:], delimiter, quote, escape, given.multiline)
    if not rows and not is_said:
        raise InputRefused("table.empty_file", file=file)
    if ends_of_lines.mark in text:
        rows = [[ends_of_lines.shown(cell) for cell in row] for row in rows]
    width = given.width or max(_width(rows), 1)
    refuse_wide(width, file)
    header, why = (given.header, "given") if given.header is not None else header_of(rows, width)
    reasons["header"] = (why, {})
    body = rows[1:] if header else rows
    decimal, thousands, why = _decimal(body, given)
    reasons["decimal"] = (why, {})
    found = ReadOptions(
        format="text",
        delimiter=delimiter,
        encoding=encoding,
        header=header,
        skip_rows=skipped,
        decimal=decimal,
        thousands=thousands,
        quote=quote,
        escape=escape,
        line_ends=line_ends,
        multiline=_multiline(rows, ends_of_lines, quote, is_all=whole and len(every_line) <= SAMPLE_ROWS)
        if given.multiline is None
        else given.multiline,
        date_order=given.date_order or date_order_in(body),
        width=given.width or max(width, len(rows[0]) if header else 0),
    )
    written = rows[0] if header else []
    above = skipped + (ends[0] if header else 0)
    before = sum(map(len, lines[:above]))
    return Detection(
        options=given.over(found),
        reasons=reasons,
        names=tuple(written),
        width=given.width or max(width, len(written)),
        preview=tuple(tuple(row) for row in body[:100]),
        missing=_missing(body),
        quoted=bool(quote) and quote in text[before:],
        characters_before=before,
        lines_before=above,
    )


_LATIN = re.compile(
    r"ascii|utf_8|latin_1|cp125[02478]|iso8859_(1|2|3|4|9|10|13|14|15|16)|hp_roman8|mac_(roman|iceland|latin2|turkish)"
)
"""Guesses that say no more than that the letters are Latin: few files are in the rarer ones."""
_ALPHABETS = {
    "cp1252": (
        "[äöüß]",
        "[àâæçéèêëîïôœùûüÿ]",
        "[áéíóúñüªº]",
        "[ãáâàéêíóôúçªº]|õ(?=e)",
        "[àçéèíïóòúü]",
        r"[àèéìòù](?!\w)",
        "[äëïöüéèêóá]",
        "[åäöéš]",
        "[æøåéòôü]",
        "[áéíóúýþæöð]",
        "[äöõüšž]",
    ),
    "cp1250": (
        "[ąćęłńóśźż]",
        "[áčďéěíňóřšťúůýž]",
        "[áäčďéíĺľňóôŕšťúýž]",
        "[áéíóöőúüű]",
        "[čćđšž]",
        "[ăâîşţ]",
        "[äöüß]",
    ),
    "cp1254": ("(?-i:[çğıöşüÇĞİÖŞÜ])",),
    "cp1257": ("[ąčęėįšųūž]", "[āčēģīķļņšūž]", "[äöõüšž]"),
}
"""Letters beyond ASCII of the languages that are written in a code page, and where in a word they stand."""
_JOINS = "\u2018\u2019\u00b4\u00b7\u2010\u2011\u2013\u2014\u00ad"  # apostrophes, points and hyphens


def _encoding(sample: bytes, whole: bool, file: str) -> tuple[str, str]:
    for mark, name in _BOMS:
        if sample.startswith(mark):
            return name, "byte_order_mark"
    nuls = sample.count(0)
    if nuls > len(sample) // 5:
        even, odd = sample[0::2].count(0), sample[1::2].count(0)
        if odd > 20 * max(even, 1) or even > 20 * max(odd, 1) or len(sample) < 200:
            return ("utf-16-le" if odd > even else "utf-16-be"), "zero_bytes"
        raise InputRefused("table.not_text", file=file)
    controls = sum(sample.count(code) for code in (*range(1, 9), *range(14, 27), *range(28, 32)))
    if controls > max(len(sample) // 50, 5):
        raise InputRefused("table.not_text", file=file)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample, final=whole)
        return "utf-8", "valid_utf8" if not sample.isascii() else "ascii"
    except UnicodeDecodeError:
        return _legacy(sample), "not_utf8"


def _legacy(sample: bytes) -> str:
    """Guess an older encoding; the Western ones of Windows unless there is good evidence for another."""
    from charset_normalizer import from_bytes

    lines = [line for line in re.split(rb"[\r\n]+", sample) if not line.isascii()][:500]
    best = from_bytes(b"\n".join(lines)).best()
    name = best.encoding if best is not None else "cp1252"
    doubtful = best is None or best.encoding.startswith(
        ("cp037", "cp500", "cp11", "cp10", "cp4", "cp7", "cp8")
    )
    text = b"\n".join(lines)
    if _LATIN.fullmatch(name) or doubtful or len(text) < 400 or _mixes_scripts(text, name):
        return _latin(text)
    name = codecs.lookup(name).name
    return "cp932" if name == "cp949" and _is_japanese(text) else name


def _is_japanese(text: bytes) -> bool:
    """Say whether what can be read as Korean is Japanese of Windows.

    Its first bytes are those of syllables that Windows added to the Korean standard (KS X 1001) since hardly
    any word has them. Korean has few of them, Japanese read as Korean hardly anything else.
    """
    try:
        text.decode("cp932")
    except UnicodeDecodeError:
        return False
    signs = [sign for sign in text.decode("cp949", "replace") if not sign.isascii()]
    return 2 * sum(len(sign.encode("euc_kr", "ignore")) != 2 for sign in signs) > len(signs)


def _mixes_scripts(text: bytes, name: str) -> bool:
    """Say whether an encoding makes words of two scripts where a Latin page reads letters of one alphabet.

    A word that stands in many rows is little evidence however long the file: a column of wards with one Ü
    in it can be read as Chinese, whose second bytes are Latin letters. No other script is taken for a file
    in most of whose words it stands beside Latin letters, and that has the letters of one language.
    """
    page = _latin(text)
    if _strange(text.decode(page, "replace"), _ALPHABETS[page]):
        return False
    read = text.decode(name, "replace")
    words = {word for word in re.findall(r"[A-Za-z\x80-\U0010ffff]+", read) if not word.isascii()}
    mixed = sum(bool(re.search("[A-Za-z]", word)) for word in words)
    return 2 * mixed > len(words)


def _latin(text: bytes) -> str:
    """Return the Latin code page of Windows in whose letters a language is written; in doubt the Western.

    A page reads every byte as some letter. Only in the right one do all of them belong to one alphabet:
    Czech read as Western has the letters of Italian, Danish and Spanish in one word. Another page has to
    leave less than half as many strange letters as the Western one, so that a few foreign names decide
    nothing.
    """
    strange = {page: _strange(text.decode(page, "replace"), written) for page, written in _ALPHABETS.items()}
    best = min(strange, key=lambda page: strange[page])
    return best if 2 * strange[best] < strange["cp1252"] else "cp1252"


def _strange(text: str, alphabets: tuple[str, ...]) -> int:
    """Count the letters that are in no one alphabet, and the signs within words."""
    beyond = sum(not sign.isascii() and sign.isalpha() for sign in text)
    known = max(len(re.findall(alphabet, text, re.IGNORECASE)) for alphabet in alphabets)
    return beyond - known + _signs_in_words(text)


def _signs_in_words(text: str) -> int:
    """Count signs between two letters: a Polish word read as Western is full of them (``p³eæ``)."""
    inside = zip(text, text[1:], text[2:], strict=False)
    return sum(
        not (sign.isascii() or sign.isalpha() or sign in _JOINS) and before.isalpha() and after.isalpha()
        for before, sign, after in inside
    )


def _decode(sample: bytes, encoding: str, whole: bool, file: str) -> str:
    if not can_decode(encoding):
        raise InputRefused("table.unknown_encoding", file=file, found=encoding[:100])
    try:
        text = codecs.getincrementaldecoder(encoding)(errors="replace").decode(sample, final=whole)
    except UnicodeError as error:  # no mark at its beginning says which of the two UTF-16 it is
        other = _encoding(sample, whole, file)[0]
        raise InputRefused(
            "table.option_contradicted", file=file, option="encoding", said=encoding, found=other
        ) from error
    return text.removeprefix("\ufeff") if isinstance(text, str) else ""


def _line_ends(text: str, given: ReadOptions) -> str:
    """Return what ends a row; where there are several ends of lines, those that leave rows alike."""
    found = _ends_in(text)
    if len(found) > 1:  # those in quotation marks end nothing
        found = _ends_in(re.sub(_QUOTED, "", text)) if given.quote is None else found
    if len(found) < 2:
        return next(iter(found), "\n")
    share = {end: _alike(text, end, given) for end in found}
    newlines = [end for end in ("\n", "\r\n") if end in found]  # where both do, every newline ends a row
    best = max(newlines, key=lambda end: share[end], default="\n")
    if "\r" not in found:
        return best
    first = re.search(r"\r\n|\r|\n", text)
    favoured = 0.1 if first is not None and first.group() == "\r" else -0.1
    return "\r" if not newlines or share["\r"] + favoured > share[best] else best


def _ends_in(text: str) -> set[str]:
    pairs = text.count("\r\n")
    counts = {"\r\n": pairs, "\n": text.count("\n") - pairs, "\r": text.count("\r") - pairs}
    return {end for end, count in counts.items() if count}


def _alike(text: str, end: str, given: ReadOptions) -> float:
    """Return the share of the first rows that have the usual number of cells when this ends rows."""
    lines = _lines(LineEnds.of(replace(given, line_ends=end)).hidden(text))[:SAMPLE_ROWS]
    quote = _quote(lines) if given.quote is None else given.quote
    delimiter = given.delimiter or _delimiter(lines, quote, given.escape or "", given.multiline)
    rows, _ = _parse(lines, delimiter, quote, given.escape or "", given.multiline)
    width = _width(rows)
    return sum(len(row) == width for row in rows) / max(len(rows), 1)


def _multiline(rows: Sequence[Sequence[str]], ends: LineEnds, quote: str, *, is_all: bool) -> bool | None:
    """Say whether cells run over the ends of their lines; None where the sample cannot tell."""
    if not quote:
        return False
    with_ends = (cell for row in rows for cell in row if "\r" in cell or "\n" in cell)  # few have any
    if any(end in ends.hidden(cell) for cell in with_ends for end in "\r\n"):
        return True
    return False if is_all else None


def _lines(text: str) -> list[str]:
    """Split into physical lines, each with its end, without what was cut off at the end of the sample."""
    lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$", text)
    if len(lines) > 2 and len(text) >= SAMPLE_BYTES // 4 and not lines[-1].endswith(("\r", "\n")):
        lines.pop()
    return lines


def _announce(lines: Sequence[str]) -> tuple[int, str]:
    """Excel's own first line: ``sep=;``."""
    first = lines[0].strip("\r\n") if lines else ""
    return (1, first[4]) if re.fullmatch(r"sep=.", first, re.IGNORECASE) else (0, "")


def _quote(lines: Sequence[str]) -> str:
    doubles = singles = 0
    for line in lines[:SAMPLE_ROWS]:
        doubles += line.count('"')
        singles += len(re.findall(r"(?:^|[,;\t|])'[^']*'(?=[,;\t|\r\n]|$)", line))
    return "'" if singles > 2 and singles >= doubles else '"'


def reader(lines: Iterable[str], delimiter: str, quote: str, escape: str) -> Any:
    """Return the csv module's reader for these marks."""
    csv.field_size_limit(2**31 - 1)
    return csv.reader(
        lines,
        delimiter=delimiter,
        quotechar=quote or None,
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
        escapechar=escape or None,
        doublequote=not escape or True,
        strict=False,
    )


def row_of(line: str, delimiter: str, quote: str, escape: str) -> tuple[list[str], bool]:
    """Return the cells of one line, and whether a quotation mark was left open in it.

    Examples
    --------
    >>> row_of('a,"b,c\\n', ",", '"', ""), row_of('a,"b"\\n', ",", '"', "")
    ((['a', 'b,c'], True), (['a', 'b'], False))
    """
    one = reader([line.rstrip("\r\n"), ""], delimiter, quote, escape)
    row: list[str] = next(one, [])
    is_open = one.line_num > 1
    if is_open and escape and row[-1].endswith("\n"):  # of an escape sign with nothing behind it
        row[-1] = row[-1][:-1]
    return row, is_open


def _parse(
    lines: Sequence[str], delimiter: str, quote: str, escape: str, multiline: bool | None
) -> tuple[list[list[str]], list[int]]:
    """Return the first records and, for each, the physical lines up to its end. Blank lines are no rows."""
    rows: list[list[str]] = []
    ends: list[int] = []
    if multiline is False:
        for place, line in enumerate(lines):
            row, _ = row_of(line, delimiter, quote, escape)
            if row:
                rows.append(row)
                ends.append(place + 1)
            if len(rows) > SAMPLE_ROWS:
                break
        return rows, ends
    source = reader(lines, delimiter, quote, escape)
    try:
        for row in source:
            if row:
                rows.append(row)
                ends.append(source.line_num)
            if len(rows) > SAMPLE_ROWS:
                break
    except csv.Error:
        pass  # what was understood so far is enough for a proposal
    return rows, ends


def _delimiter(lines: Sequence[str], quote: str, escape: str, multiline: bool | None) -> str:
    lines = lines[: SAMPLE_ROWS // 5]
    best, best_score = ",", 0.0
    for candidate in DELIMITERS:
        rows, _ = _parse(lines, candidate, quote, escape, multiline)
        width = _width(rows)
        if width < 2:
            continue
        share = sum(len(row) == width for row in rows) / len(rows)
        # A cell that still holds another delimiter speaks against this one, unless it is a decimal number.
        cells = [cell for row in rows[:200] for cell in row]
        odd = sum(
            1
            for cell in cells
            if any(other in cell for other in DELIMITERS[:4] if other != candidate)
            and not is_number(cell, ",")
        )
        score = share * (1 - odd / len(cells)) + min(width, 50) / 1000
        if score > best_score:
            best, best_score = candidate, score
    return best


def _width(rows: Sequence[Sequence[str]]) -> int:
    """Return the usual number of cells of a row; the larger of two equally usual ones."""
    counts = Counter(len(row) for row in rows)
    return max(counts, key=lambda width: (counts[width], width)) if counts else 0


def _preamble(lines: Sequence[str], delimiter: str, quote: str, escape: str, multiline: bool | None) -> int:
    """Return how many lines above the table hold something else: a title, a date of export."""
    if len(lines) < 3:
        return 0
    rows, ends = _parse(lines, delimiter, quote, escape, multiline)
    width = _width(rows)
    if width < 2 or len(rows) < 3:
        return 0
    count = 0
    for row in rows[:10]:
        if len([cell for cell in row if cell.strip()]) > 1 or (width == 2 and len(row) == 2):
            break
        count += 1
    # Only a clear case: all rows but the titles have the same width.
    regular = all(len(row) == width for row in rows[count : min(len(rows), 200)])
    return ends[count - 1] if 0 < count < len(rows) - 1 and regular else 0


def _decimal(body: Sequence[Sequence[str]], given: ReadOptions) -> tuple[str, str, str]:
    if given.decimal is not None and given.thousands is not None:
        return given.decimal, given.thousands, "given"
    cells = [cell for row in body[:300] for cell in row if cell[-1:].isdigit() and len(cell) <= LONGEST]
    comma = sum(1 for cell in cells if "," in cell and is_number(cell, ","))
    point = sum(1 for cell in cells if "." in cell and is_number(cell))
    grouped_comma = sum(1 for cell in cells if "," in cell and is_grouped(cell, ","))
    grouped_point = sum(1 for cell in cells if "." in cell and is_grouped(cell, "."))
    # "1,234" reads both ways; a comma with other than three digits after it decides.
    plain_comma = sum(1 for cell in cells if re.fullmatch(r"\s*[+-]?\d+,(\d{1,2}|\d{4,})\s*", cell))
    if given.decimal is not None:
        decimal, why = given.decimal, "given"
    elif grouped_comma or (plain_comma and comma + grouped_comma > point + grouped_point):
        decimal, why = ",", "comma_in_numbers"
    elif point or grouped_point or not comma:
        decimal, why = ".", "point_in_numbers" if point or grouped_point else "usual"
    else:
        decimal, why = (",", "comma_in_numbers") if plain_comma else (".", "usual")
    if given.thousands is not None:
        return decimal, given.thousands, why
    return decimal, ("." if grouped_comma else "") if decimal == "," else ("," if grouped_point else ""), why


def date_order_in(body: Iterable[Sequence[str]]) -> str | None:
    """Return the order of day, month and year when the sample shows one and no other."""
    orders: set[str] = set()
    for row in body:
        for cell in row:
            order = date_order_of(cell)
            if order is not None and order != "?":
                orders.add(order)
    orders.discard("ymd")
    return next(iter(orders)) if len(orders) == 1 else None


def _missing(body: Sequence[Sequence[str]]) -> tuple[str, ...]:
    known = set(MISSING_CODES)
    seen = {cell.strip() for cell in set(chain.from_iterable(body))} & known
    return tuple(code for code in MISSING_CODES if code in seen)
