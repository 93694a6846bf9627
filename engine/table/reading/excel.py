"""Excel workbooks (.xlsx, .xlsm) through openpyxl: one sheet, its cached values, never its formulas."""

from __future__ import annotations

import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from engine.errors import InputRefused
from engine.progress import SILENT, Progress
from engine.table.reading.detect import SAMPLE_ROWS, Detection, date_order_in
from engine.table.reading.frames import store_values
from engine.table.reading.header import header_of
from engine.table.reading.names import MOST_COLUMNS, clean_names, refuse_wide
from engine.table.reading.options import ROWS_NAMED, Finding, ReadOptions
from engine.table.reading.room import NUMBER, Room
from engine.table.table import Table

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# What the library raises for parts that are cut off, missing, or refer to what is not there
_DAMAGED = (
    zipfile.BadZipFile, zlib.error, EOFError, SyntaxError,
    LookupError, ValueError, TypeError, AttributeError, ArithmeticError, RuntimeError,
)  # fmt: skip
MOST_UNPACKED = 300_000_000  # bytes of a workbook's parts: beyond that, reading takes minutes
MOST_BESIDE, MOST_ELEMENTS = 10_000_000, 250_000
MOST_ROWS = 1 << 20  # of a sheet, in every version of Excel
"""Bytes and signs “<” of the parts that hold no cells: styles, names. Excel itself has 65,490 styles."""
_HEAD = 1 << 12
# A root element at once: no document type, whose entities would be multiplied, and no other letters.
_ROOT = re.compile(
    rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*(?:<\?xml(?:(?!encoding)[^>])*"
    rb"(?:encoding\s*=\s*[\"'](?:utf-8|utf-16|us-ascii|iso-8859-1|windows-1252)[\"'][^>]*)?\?>\s*)?"
    rb"(?:<!--.*?-->\s*|<\?(?!xml\s).*?\?>\s*)*<[^!?]",
    re.DOTALL | re.IGNORECASE,
)
MOST_BLANK = 10_000
"""Blank rows that are counted; beyond that many it does not matter how many there are."""
_HIDDEN_ROW = re.compile(
    rb"<(?:\w+:)?row\b(?=[^>]*\bhidden=\"(?:1|true)\")(?:(?=[^>]*\br=\"(\d+)\"))?[^>]*(?<!/)>"
)
_HAS_VALUE = re.compile(rb"<(?:\w+:)?(?:v|t)[ >]")
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\b[^>]*\bref=\"[A-Z]+(\d+):[A-Z]+(\d+)\"")
_PIECE = 1 << 20
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


def refuse_old_or_locked(path: Path) -> None:
    """Refuse a workbook in the container of old Excel files: it is either encrypted or of before 2007.

    Raises
    ------
    InputRefused
        ``table.excel_password`` or ``table.excel_old``.
    """
    locked, before = False, b""
    with path.open("rb") as source:
        for _ in range(MOST_UNPACKED // _PIECE):  # a workbook that is larger is too large anyway
            piece = source.read(_PIECE)
            locked = locked or _ENCRYPTED in before + piece
            before = piece[-len(_ENCRYPTED) :]
            if locked or not piece:
                break
    raise InputRefused("table.excel_password" if locked else "table.excel_old", file=path.name)


def detect_excel(path: Path, *, given: ReadOptions) -> Detection:
    """Find out which sheets there are, and whether the chosen one has names in its first row."""
    book = _open(path)
    try:
        sheets = tuple(sheet.title for sheet in book.worksheets)
        sheet = _sheet(book, given.sheet, path.name)
        first = list(_fill(sheet, SAMPLE_ROWS))
    except _DAMAGED as error:
        raise InputRefused("table.excel_damaged", file=path.name) from error
    finally:
        book.close()
    if not first:
        raise InputRefused("table.empty_file", file=path.name)
    width = max(len(row) for row in first)
    written = [["" if cell is None else str(cell) for cell in row] for row in first]
    skipped = given.skip_rows
    if skipped is None:  # a plan that says where the names are was made when no title was left out
        skipped = _titles(written, width) if given.header is None else 0
    written = written[skipped:] or [[]]
    header, why = (given.header, "given") if given.header is not None else header_of(written, width)
    if given.width is not None:
        width = given.width
    elif header and width > MOST_COLUMNS:  # a stray cell far to the right makes no columns
        width = len(written[0])
    written = [row[:width] for row in written]
    refuse_wide(width, path.name)
    order = given.date_order or date_order_in(written[1:] if header else written)
    found = ReadOptions(format="excel", header=header, sheet=sheet.title, skip_rows=skipped, date_order=order)
    titles = {"skip_rows": ("title_lines", {"count": skipped})} if skipped else {}
    return Detection(
        options=given.over(found),
        reasons={"header": (why, {}), **titles},
        names=tuple(written[0]) if header else (),
        width=width,
        preview=tuple(tuple(row) for row in (written[1:101] if header else written[:100])),
        sheets=sheets,
    )


def _titles(rows: list[list[str]], width: int) -> int:
    """Return how many rows above the names hold something else: a title, a date of export, names of groups.

    Only a clear case: they have words, and all columns of the row below them have a name. Where they have
    more than one cell, fewer than half of the columns have one, and the names stand over numbers or days.
    """
    most = max(1, (width - 1) // 2)
    count = next((place for place, row in enumerate(rows[:10]) if sum(map(bool, row)) > most), 0)
    names, above = rows[count], [[cell for cell in row if cell] for row in rows[:count]]
    if len(names) != width or not all(cell.strip() for cell in names):
        return 0
    if not all(any(map(str.isalpha, "".join(cells))) for cells in above):
        return 0
    header, why = header_of(rows[count:], width)
    if width == 2 or any(len(cells) > 1 for cells in above):
        header = header and why == "text_over_numbers" and len(set(names)) == width
    return count if header else 0


def _rows_above(options: ReadOptions) -> int:
    """Return how many rows stand above the first one of the table: titles, and names."""
    return (options.skip_rows or 0) + bool(options.header)


def read_excel(
    path: Path,
    *,
    options: ReadOptions,
    as_written: frozenset[str] = frozenset(),
    progress: Progress = SILENT,
) -> Table:
    """Read one sheet of a workbook; text cells of the columns ``as_written`` stay text."""
    found = detect_excel(path, given=options)
    book = _open(path)
    rows: list[tuple[Any, ...]] = []
    blank: list[int] = []
    room = Room(path)
    try:
        sheet = _sheet(book, found.options.sheet, path.name)
        part = str(sheet._worksheet_path)
        for row in _fill(sheet, None, blank):
            # A text that stands once in the file may be the text of every cell, and a row may hold one far
            # to the right and nothing before it.
            room.take(len(row) * NUMBER + sum(len(cell) for cell in row if isinstance(cell, str)))
            rows.append(row)
            if len(rows) % 5000 == 0:
                progress.step(0.7, "table.read")
    except _DAMAGED as error:
        raise InputRefused("table.excel_damaged", file=path.name) from error
    finally:
        book.close()
    rows = rows[_rows_above(found.options) :]
    if not rows:
        raise InputRefused("table.no_rows", file=path.name)
    widest = width = max(found.width, max(len(row) for row in rows))
    beyond: list[Finding] = []
    if options.width is not None or (found.options.header and width > MOST_COLUMNS):
        width = found.width
    if widest > width:
        rows, beyond = _within(rows, width, path.name)
    refuse_wide(width, path.name)
    names, findings = clean_names(found.names, width, path.name)
    findings.extend(beyond)
    absent = set(options.missing)
    columns: dict[str, pd.Series] = {}
    for place, name in enumerate(names):
        progress.step(0.7 + 0.3 * place / width, "table.store")
        values = [row[place] if place < len(row) else None for row in rows]
        if absent:
            values = [None if isinstance(value, str) and value in absent else value for value in values]
        stored = store_values(
            values, name, options=found.options, file=path.name, as_written=name in as_written
        )
        columns[name] = stored.values
        findings.extend(stored.findings)
    findings.extend(_formulas_without_value(path, found, names))
    findings.extend(_beside_cells(path, part, blank, above=_rows_above(found.options)))
    used = replace(found.options, width=width)
    return Table(pd.DataFrame(columns, copy=False), source=path.name, options=used, findings=findings)


def _within(
    rows: list[tuple[Any, ...]], width: int, file: str
) -> tuple[list[tuple[Any, ...]], list[Finding]]:
    """Return rows without what stands right of the columns, and say where something stood there."""
    far = [place + 1 for place, row in enumerate(rows) if len(row) > width]
    cut = [row[:width] for row in rows]
    kept = [row for row in cut if any(cell is not None and cell != "" for cell in row)]
    if not kept:
        raise InputRefused("table.no_rows", file=file)
    return kept, [Finding("table.cells_beyond_columns", file, "", len(far), tuple(far[:ROWS_NAMED]))]


def _open(path: Path, *, values: bool = True) -> Any:
    from openpyxl.reader.excel import ExcelReader
    from openpyxl.utils.exceptions import InvalidFileException

    _refuse_huge(path)
    warnings.filterwarnings("ignore", module=r"openpyxl\.")  # it warns with the content of cells
    try:
        reader = ExcelReader(path, read_only=True, data_only=values, keep_links=False)
        reader.read_chartsheet = lambda sheet, rel: None  # has no cells, and is read whole
        _count_parts(reader.archive, path.name)
        reader.read()
        return reader.wb
    except (*_DAMAGED, InvalidFileException) as error:
        raise InputRefused("table.excel_damaged", file=path.name) from error


def _count_parts(packed: Any, file: str) -> None:
    """Let the library open no part with a document type, and read no more of what is no cell than is set.

    Sheets and texts are read as a stream and counted as rows. Of all else a tree is made, a hundred times as
    large as its shortest elements.
    """
    open_part, read_part = packed.open, packed.read
    size = count = 0

    def opened(name: Any, *how: Any, **further: Any) -> Any:
        with open_part(name) as part:
            if not _ROOT.match(part.read(_HEAD).replace(b"\0", b"")):
                raise InputRefused("table.excel_damaged", file=file)
        return open_part(name, *how, **further)

    def read(name: Any, *how: Any) -> bytes:
        nonlocal size, count
        size += packed.getinfo(name).file_size
        content: bytes = read_part(name, *how) if size <= MOST_BESIDE else b""
        count += content.count(b"<")
        if size > MOST_BESIDE or count > MOST_ELEMENTS:
            raise InputRefused(
                "table.excel_beside", file=file, most=MOST_BESIDE // 10**6, count=MOST_ELEMENTS
            )
        return content

    packed.open, packed.read = opened, read


def _refuse_huge(path: Path) -> None:
    with suppress(zipfile.BadZipFile), zipfile.ZipFile(path) as packed:
        size = sum(item.file_size for item in packed.infolist())
        if size > MOST_UNPACKED:
            megabytes, most = size // 10**6, MOST_UNPACKED // 10**6
            raise InputRefused("table.excel_too_large", file=path.name, size=megabytes, most=most)


def _sheet(book: Any, name: str | None, file: str) -> Any:
    """Return the sheet of a name, or the first that shows two filled rows, else one."""
    if name is not None:
        if name not in book.sheetnames:
            raise InputRefused("table.no_such_sheet", file=file, found=name, known=", ".join(book.sheetnames))
        return book[name]
    visible = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"] or book.worksheets
    filled = None
    for sheet in visible:
        rows = sum(1 for _ in _fill(sheet, 2))
        if rows == 2:
            return sheet
        filled = filled or (sheet if rows else None)  # a title alone stands before the table
    if filled is None:
        raise InputRefused("table.empty_file", file=file)
    return filled


def _fill(sheet: Any, most: int | None, blank: list[int] | None = None) -> Iterator[tuple[Any, ...]]:
    """Give the filled rows, without the empty cells at their right end; what is blank is no row anywhere.

    The numbers in the sheet of blank rows between filled ones are put into ``blank``, up to `MOST_BLANK`.
    """
    sheet.reset_dimensions()
    count = 0
    passed: list[int] = []
    for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
        if number > MOST_ROWS:  # the rows before a number that none has would be given one by one
            raise ValueError("a row beyond the last one of a sheet")
        width = len(row)
        while width and (row[width - 1] is None or row[width - 1] == ""):
            width -= 1
        if width == 0:
            if count and len(passed) < MOST_BLANK:
                passed.append(number)
            continue
        if blank is not None and passed:
            blank += passed[: MOST_BLANK - len(blank)]
            passed = []
        yield tuple(row[:width])
        count += 1
        if most is not None and count >= most:
            return


def _beside_cells(path: Path, part: str, blank: list[int], *, above: int) -> list[Finding]:
    """Report what a sheet shows otherwise than it is read: hidden and blank rows, and merged cells."""
    with zipfile.ZipFile(path) as packed:
        try:
            content = packed.read(part.lstrip("/"))
        except KeyError:  # a library wrote another path than the one that it keeps
            content = b""
    hidden = [
        int(found[1] or 0)
        for found in _HIDDEN_ROW.finditer(content)
        if _HAS_VALUE.search(content, found.end(), content.find(b"row>", found.end()))
    ]
    merged = [int(found[1]) for found in _MERGED.finditer(content) if int(found[2]) > above + 1 or not above]
    blank = [number for number in blank if number > above]
    return [
        Finding(f"table.{code}", path.name, "", len(rows), tuple(rows[:ROWS_NAMED]))
        for code, rows in (("hidden_rows", hidden), ("blank_rows", blank), ("merged_cells", merged))
        if rows
    ]


def _formulas_without_value(path: Path, found: Detection, names: tuple[str, ...]) -> list[Finding]:
    """Report formulas whose result was never saved: they read as empty cells."""
    with zipfile.ZipFile(path) as packed:
        sheets = [item for item in packed.namelist() if item.startswith("xl/worksheets/")]
        if not any(b"<f" in packed.read(item) for item in sheets):
            return []
    formulas, results = _open(path, values=False), _open(path)
    places: dict[int, list[int]] = {}
    try:
        both = zip(
            _fill(_sheet(formulas, found.options.sheet, path.name), None),
            _fill(_sheet(results, found.options.sheet, path.name), None),
            strict=False,
        )
        for number, (row, cached) in enumerate(both, 1 - _rows_above(found.options)):
            for place, cell in enumerate(row):
                if number >= 0 and _is_formula(cell) and (place >= len(cached) or cached[place] is None):
                    places.setdefault(place, []).append(number)
    finally:
        formulas.close()
        results.close()
    return [
        Finding("table.formula_without_value", path.name, names[place], len(rows), tuple(rows[:ROWS_NAMED]))
        for place, rows in places.items()
        if place < len(names)
    ]


def _is_formula(cell: Any) -> bool:
    return (isinstance(cell, str) and cell.startswith("=")) or type(cell).__name__ == "ArrayFormula"
