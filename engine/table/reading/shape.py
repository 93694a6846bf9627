"""Whether a file looks as its reading options say: asked before a plan is run, never while it runs."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from engine.errors import InputRefused
from engine.table.cells import DMY, MDY, NumberSigns, date_orders, numbers_of
from engine.table.reading.detect import SAMPLE_BYTES, Detection, detect_text
from engine.table.reading.options import ReadOptions
from engine.table.reading.readers import detect, explain_file_errors, format_of
from engine.table.schema import Column, Kind, Schema

_LOOKED_AT = 100
_NUMBERS = (Kind.INTEGER, Kind.NUMBER)
_Pair = tuple[str, object, object]


def contradictions(path: Path, options: ReadOptions, schema: Schema | None = None) -> list[InputRefused]:
    """Return every reading option that contradicts how the file begins.

    Parameters
    ----------
    path
        The file.
    options
        As a plan says them.
    schema
        Its columns: those declared numbers and dates show whether decimal mark and order of dates are right.

    Returns
    -------
    list of InputRefused
        ``table.option_contradicted``, one for each option; it names what is said and what the file has.

    Raises
    ------
    InputRefused
        As `engine.table.reading.readers.detect`.

    Notes
    -----
    Looked at are the first rows. Whether a release can be made must not depend on them, so that this belongs
    to checking a plan and not to running it.
    """
    with explain_file_errors(path):
        return _contradictions(path, options, schema or Schema())


def _contradictions(path: Path, options: ReadOptions, schema: Schema) -> list[InputRefused]:
    real = format_of(path)
    if options.format not in (None, real):
        return [_say(path, [("format", options.format, real)])[0]]
    if real not in ("text", "excel"):
        return []
    if real == "text":
        said = _say(path, _of_encoding(path, options))
        if said:
            return said  # nothing else can be told
    found = detect(path, options=replace(options, format=real))
    if real == "text":
        said = _say(path, _of_text(path, options, found))
    else:
        free = detect(path, options=replace(options, format=real, header=None))
        said = _say(path, _of_header(options, free))
    # Cells tell about decimal signs and dates only where they are cut out rightly.
    return said or _say(path, _of_cells(options, found, _signs_found(path, options, real), schema))


def _signs_found(path: Path, options: ReadOptions, real: str) -> NumberSigns:
    """Return the signs inside numbers that would be found if none were said."""
    return NumberSigns.of(
        detect(path, options=replace(options, format=real, decimal=None, thousands=None)).options
    )


def _say(path: Path, pairs: Iterable[_Pair]) -> list[InputRefused]:
    return [
        InputRefused("table.option_contradicted", file=path.name, option=option, said=said, found=found)
        for option, said, found in pairs
    ]


def _sample(path: Path) -> tuple[bytes, bool]:
    with path.open("rb") as source:
        sample = source.read(SAMPLE_BYTES)
    return sample, len(sample) < SAMPLE_BYTES


def _of_encoding(path: Path, options: ReadOptions) -> Iterator[_Pair]:
    sample, whole = _sample(path)
    if options.encoding is not None and not _decodes(sample, options.encoding, whole):
        found = detect_text(sample, whole=whole, file=path.name).options.encoding
        if found is not None and codecs.lookup(found).name != codecs.lookup(options.encoding).name:
            yield "encoding", options.encoding, found  # else some signs are broken whatever is said


def _of_text(path: Path, options: ReadOptions, found: Detection) -> Iterator[_Pair]:
    sample, whole = _sample(path)
    free = detect_text(sample, whole=whole, file=path.name, given=ReadOptions(encoding=options.encoding))
    if options.line_ends not in (None, "\n", free.options.line_ends):
        yield "line_ends", _write(options.line_ends), _write(free.options.line_ends)
        return
    if options.line_ends == "\n" and free.options.line_ends == "\r":
        yield "line_ends", _write("\n"), _write("\r")
        return
    if options.multiline is False and free.options.multiline and _share(free) > _share(found):
        yield "multiline", False, True
        return
    usual = _usual([len(row) for row in found.preview[:_LOOKED_AT]])
    width, most = options.width, max(usual, len(found.names))
    other = free.options.delimiter
    if options.delimiter not in (None, other) and free.width in (width, found.width) and usual < free.width:
        yield "delimiter", options.delimiter, other
        return
    if usual and width is not None and not usual <= width <= most:
        yield "width", width, usual
    cells = [cell for row in found.preview[:_LOOKED_AT] for cell in row]
    if options.quote == "" and any(len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in cells):
        yield "quote", "", '"'
    yield from _of_header(options, free if options.delimiter in (None, free.options.delimiter) else found)


def _of_header(options: ReadOptions, found: Detection) -> Iterator[_Pair]:
    """Compare the option with what would be found without it; only a clear case counts."""
    if options.header is True and found.options.header is False:
        why = found.reasons.get("header", ("", {}))[0]
        if why == "first_row_has_values":
            yield "header", True, False
    if options.header is False and found.options.header is True:
        why = found.reasons.get("header", ("", {}))[0]
        if why == "text_over_numbers":
            yield "header", False, True


def _of_cells(options: ReadOptions, found: Detection, free: NumberSigns, schema: Schema) -> Iterator[_Pair]:
    columns: list[tuple[Column, pa.Array]] = []
    for place, name in enumerate(found.names):
        cells = [row[place] or None for row in found.preview if place < len(row)]
        columns.append((schema.column(name.strip()), pa.array(cells, pa.string())))
    signs = NumberSigns.of(options)
    # Of a file with columns in both ways of writing, whatever is said contradicts one of them: what would be
    # found anew is no contradiction, and other columns are read as they are written
    numbers = [
        cells
        for column, cells in columns
        if signs != free and column.kind in _NUMBERS and _readable(cells, signs) < 0.5
    ]
    for other in (NumberSigns("."), NumberSigns(","), NumberSigns(".", ","), NumberSigns(",", ".")):
        if any(_readable(cells, other) > 0.9 for cells in numbers):
            if other.decimal != signs.decimal:
                yield "decimal", signs.decimal, other.decimal
            else:
                yield "thousands", signs.thousands, other.thousands
            break
    dates = [cells for column, cells in columns if column.kind is Kind.DATE]
    orders = [date_orders(cells) & {DMY, MDY} for cells in dates]
    told: set[str] = set().union(*orders)
    if options.date_order is not None and told and options.date_order not in told:
        yield "date_order", options.date_order, ", ".join(sorted(told))


def _readable(cells: pa.Array, signs: NumberSigns) -> float:
    """Return the share of the filled cells that are numbers; 1 where none is filled."""
    filled = len(cells) - cells.null_count
    return int(np.isfinite(numbers_of(cells, signs)).sum()) / filled if filled else 1.0


def _decodes(sample: bytes, encoding: str, whole: bool) -> bool:
    try:
        codecs.getincrementaldecoder(encoding)().decode(sample, final=whole)
    except (UnicodeError, LookupError):
        return False
    return True


def _write(end: str | None) -> str:
    return (end or "").replace("\r", "\\r").replace("\n", "\\n")


def _share(found: Detection) -> float:
    """Return the share of the first rows that have the usual number of cells."""
    widths = [len(row) for row in found.preview]
    return widths.count(_usual(widths)) / max(len(widths), 1)


def _usual(widths: Sequence[int]) -> int:
    return max(set(widths), key=lambda width: (widths.count(width), width)) if widths else 0
