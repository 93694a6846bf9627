"""Delimited text: the fast way through Arrow, and the patient way for files that are not regular."""

from __future__ import annotations

import codecs
import csv
import io
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from engine.errors import InputRefused
from engine.memory import give_back
from engine.progress import SILENT, Progress
from engine.table.cells import Cells, series_of
from engine.table.reading.detect import SAMPLE_BYTES, Detection, detect_text, reader, row_of
from engine.table.reading.line_ends import LineEnds, Lines, Readable, run_over
from engine.table.reading.names import clean_names
from engine.table.reading.options import ROWS_NAMED, Finding, ReadOptions
from engine.table.reading.room import TEXT, Room
from engine.table.reading.storage import rows_of, store
from engine.table.table import Table

_BLOCK = 1 << 22
_LONGEST_LINE = 1 << 30
_PIECE, _PIECE_CELLS = 50_000, 5_000_000
_UNUSED = 1 << 26
_PART = 1 << 24  # bytes of a piece of a text, about
_BOM = b"\xef\xbb\xbf"


def detect_file(path: Path, *, given: ReadOptions | None = None) -> Detection:
    """Find out how a text file is written, from its first megabyte."""
    with path.open("rb") as source:
        sample = source.read(SAMPLE_BYTES)
        whole = len(sample) < SAMPLE_BYTES
    if not sample:
        raise InputRefused("table.empty_file", file=path.name)
    return detect_text(sample, whole=whole, file=path.name, given=given)


def read_text(
    path: Path,
    *,
    options: ReadOptions,
    as_written: frozenset[str] = frozenset(),
    progress: Progress = SILENT,
) -> Table:
    """Read a delimited text file.

    Notes
    -----
    Every cell is first read as bytes. Arrow's reader does that for regular files; rows with too few or too
    many cells, and lines longer than a gigabyte, go through the csv module, which knows row numbers. Both
    see only the ends of lines that the options say; others are hidden from them.
    """
    found = detect_file(path, given=options)
    with path.open("rb", buffering=0) as raw:
        read = _read(raw, path.stat().st_size, path, found, as_written, progress)
    if read is None:
        raise InputRefused("table.no_rows", file=path.name)
    if _is_left_open(path, read):
        read.findings = (*read.findings, Finding("table.quote_to_the_end", path.name, "", 1, (read.n_rows,)))
    return read


def _is_left_open(path: Path, table: Table) -> bool:
    """Say whether the last cell of a file goes on over lines to its end, without the mark that ends it."""
    options = table.options
    last = table.rows().iloc[-1, -1]
    if not (
        options.quote and isinstance(last, str) and "\n" in last and keeps_ascii(options.encoding or "utf-8")
    ):
        return False
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _PART))
        return not file.read(_PART).rstrip().endswith(options.quote.encode())


def can_cut(options: ReadOptions) -> bool:
    """Say whether a text can be read some lines at a time: every line is a row, and its end is seen in bytes.

    Examples
    --------
    >>> can_cut(ReadOptions(header=True, multiline=False, line_ends="\\n")), can_cut(ReadOptions())
    (True, False)
    """
    lines = options.multiline is False and options.line_ends in ("\n", "\r\n")
    return lines and options.header is not None and keeps_ascii(options.encoding or "utf-8")


def has_quote(path: Path, found: Detection) -> bool:
    """Say whether a cell below the names could run over the end of its line: only quotation marks let it."""
    options, end = found.options, (found.options.line_ends or "\n").encode()
    if options.escape or not keeps_ascii(options.encoding or "utf-8"):
        return True
    quote = (options.quote or '"').encode()
    with path.open("rb") as file:
        for _ in range(found.lines_before):
            _line(file, end)
        return any(quote in block for block in iter(lambda: file.read(_PART), b""))


def text_pieces(
    path: Path,
    *,
    options: ReadOptions,
    as_written: frozenset[str] = frozenset(),
    progress: Progress = SILENT,
) -> Iterator[Table]:
    """Read a text some lines at a time, so that memory does not grow with it; see `read_text` and `can_cut`.

    Every piece is read as a file of its own below the same names. Of rows that were set aside the numbers
    count those that stayed before their piece.
    """
    found = detect_file(path, given=options)
    if not set(clean_names(found.names, found.width, path.name)[0]) <= as_written:
        # how a column is stored that nobody declared follows from all of its cells
        yield read_text(path, options=options, as_written=as_written, progress=progress)
        return
    end, size = (found.options.line_ends or "\n").encode(), max(path.stat().st_size, 1)
    is_first = True
    with path.open("rb") as file:
        head = b"".join(_line(file, end) for _ in range(found.lines_before))
        for at, part in _parts(file, end):
            # at the beginning of a text these bytes are a mark, anywhere else they are in a cell
            mark = _BOM if not head and at > len(part) and part.startswith(_BOM) else b""
            whole = io.BytesIO(head + mark + part)
            share = progress.part((at - len(part)) / size, min(at / size, 1.0))
            read = _read(whole, len(whole.getbuffer()), path, found, as_written, share, names=is_first)
            del whole, part
            if read is not None:
                is_first = False
                yield read
    if is_first:
        raise InputRefused("table.no_rows", file=path.name)


def _line(file: IO[bytes], end: bytes) -> bytes:
    line = file.readline()
    while line and not line.endswith(end):
        more = file.readline()
        if not more:
            break
        line += more
    return line


def _parts(file: IO[bytes], end: bytes) -> Iterator[tuple[int, bytes]]:
    """Give whole lines, about so many bytes at a time, and where in the file they end."""
    rest = b""
    while block := file.read(_PART):
        whole = rest + block
        cut = whole.rfind(end) + len(end)
        if cut < len(end):
            rest = whole
            continue
        rest = whole[cut:]
        yield file.tell() - len(rest), whole[:cut]
    if rest:
        yield file.tell(), rest


def _read(
    raw: IO[bytes],
    size: int,
    path: Path,
    found: Detection,
    as_written: frozenset[str],
    progress: Progress,
    *,
    names: bool = True,
) -> Table | None:
    """Read the rows of a text, None where it has none; with ``names`` say what was found about those."""
    ends = LineEnds.of(found.options)
    quote = (found.options.quote or '"').encode("utf-8")

    def start(above: int = 0) -> Watched:
        raw.seek(0)
        return Watched(raw, size, progress.part(0, 0.6), quote, above)

    findings: list[Finding] = []
    try:
        columns, has_nul, hidden = _fast(start, found, ends)
    except (pa.ArrowInvalid, UnicodeDecodeError, ValueError):
        watched = start()
        columns, findings = _patient(watched, found, ends, path.name, Room(path))
        has_nul, hidden = watched.has_nul, True
    if not columns or len(columns[0]) == 0:
        return None
    called, about_names = clean_names(found.names, len(columns), path.name)
    findings.extend(about_names if names else ())
    if found.options.multiline is None:
        over = run_over(columns)
        found = replace(found, options=replace(found.options, multiline=over))
    how = _How(found.options, has_nul, path.name, as_written, ends if hidden else None)
    frame, about_cells = _store(columns, called, how, progress.part(0.6, 1))
    return Table(frame, source=path.name, options=found.options, findings=(*findings, *about_cells))


class Watched(Readable):
    """A file that reports how far it has been read, can be stopped, and notes bytes that change the way.

    ``has_quote`` and ``has_nul`` say whether a quotation mark or a NUL byte went by; quotation marks in the
    first ``above`` bytes, where the names are, do not count.

    Arrow reads ahead in a thread of its own, and goes on for a while after it has refused a file. So each
    attempt has a watcher of its own, and a watcher that has been retired reads nothing any more.
    """

    def __init__(
        self, raw: IO[bytes], size: int, progress: Progress, quote: bytes = b'"', above: int = 0
    ) -> None:
        self._raw, self._size, self._progress, self._quote = raw, max(size, 1), progress, quote
        self._above = above
        self._at = raw.tell()
        self.has_quote = self.has_nul = False
        self._turn, self._retired = threading.Lock(), False

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        with self._turn:
            return b"" if self._retired else self._read(size)

    def _read(self, size: int) -> bytes:
        piece = self._raw.read(size)
        below = max(self._above - self._at, 0)
        self._at += len(piece)
        self.has_nul = self.has_nul or b"\0" in piece
        self.has_quote = self.has_quote or piece.find(self._quote, below) >= 0
        self._progress.step(self._at / self._size, "table.read")
        return piece

    def restart(self) -> None:
        """Go back to the beginning."""
        self._raw.seek(0)
        self._at = 0

    def retire(self) -> None:
        """Leave the file alone from now on; wait for a read that is under way."""
        with self._turn:
            self._retired = True


def keeps_ascii(encoding: str) -> bool:
    """Say whether every byte below 128 stands for its ASCII character wherever it occurs.

    Examples
    --------
    >>> keeps_ascii("cp1252"), keeps_ascii("utf-16"), keeps_ascii("shift_jis")
    (True, False, False)
    """
    name = codecs.lookup(encoding).name
    single = name.startswith(("utf-8", "iso8859", "cp125", "koi8", "mac-", "ascii", "tis-620"))
    return single or name in ("cp437", "cp850", "cp852", "cp858", "cp865", "cp866", "cp874")


def _fast(
    start: Callable[[int], Watched], found: Detection, ends: LineEnds
) -> tuple[list[pa.ChunkedArray], bool, bool]:
    """Read all cells as bytes with Arrow; raise ArrowInvalid where a row has another number of cells.

    So it does where a cell runs over the end of its line and must not. Say also whether a NUL byte went by,
    and whether ends of lines are hidden in the cells.
    """
    from pyarrow import csv as arrow_csv

    options = found.options
    names = [str(place) for place in range(found.width)]
    encoding = options.encoding or "utf-8"
    # Without quotes in the sample, guess that no cell holds a line end: twice as fast, and checked below.
    # Where a quotation mark may be other bytes than its own (EBCDIC, spelt-out ones), nobody could check it.
    runs_on = found.quoted or bool(options.escape) or not keeps_ascii(encoding)
    # An escape sign behind a quotation mark: it means one thing to Arrow and another to the csv module.
    unlike = (options.quote + options.escape).encode() if options.quote and options.escape else b""
    hides = False
    block = _BLOCK
    while True:
        source = start(found.characters_before)
        recoded = None if keeps_ascii(encoding) else encoding
        # A quotation mark left open in the last line is seen by the end of the line that its cell then holds.
        closes = options.multiline is False
        lines = Lines(source, ends, hides=hides, encoding=recoded, sought=unlike, closes=closes)
        try:
            table = arrow_csv.read_csv(
                pa.PythonFile(lines, mode="r"),
                read_options=arrow_csv.ReadOptions(
                    column_names=names,
                    skip_rows=found.lines_before,
                    block_size=block,
                ),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=options.delimiter,
                    quote_char=options.quote or False,
                    escape_char=options.escape or False,
                    newlines_in_values=runs_on and bool(options.quote or options.escape),
                    ignore_empty_lines=found.width > 1,
                ),
                convert_options=arrow_csv.ConvertOptions(
                    column_types={name: pa.binary() for name in names},
                    strings_can_be_null=False,  # empty cells become null in `decode`: faster there
                ),
            )
        except pa.ArrowInvalid as error:
            if lines.has_content:
                hides = True
                continue
            if "straddling" in str(error) and block < _LONGEST_LINE:
                block = min(block * 32, _LONGEST_LINE)  # Arrow counts it in 32 bits
                continue
            raise
        finally:
            source.retire()
        if (source.has_quote and options.quote and not runs_on) or lines.has_content:
            runs_on, hides = runs_on or source.has_quote, hides or lines.has_content
            continue
        columns = [table.column(place) for place in range(found.width)]
        if lines.has_sought or (options.multiline is False and runs_on and run_over(columns)):
            raise pa.ArrowInvalid("not as the csv module reads it")
        return columns, source.has_nul, hides


def _patient(
    source: Watched, found: Detection, ends: LineEnds, file: str, room: Room
) -> tuple[list[pa.ChunkedArray], list[Finding]]:
    """Read with the csv module: rows that are too short are filled, rows that are too long are set aside."""
    options = found.options
    encoding = options.encoding or "utf-8"
    direct = keeps_ascii(encoding)
    if not direct or source.read(len(_BOM)) != _BOM:
        source.restart()
    lines = Lines(source, ends, hides=True, encoding=None if direct else encoding)
    # Latin-1 maps each byte to one character and back, so that cells stay bytes until they are decoded.
    back = "latin-1" if direct else "utf-8"
    # Of what was turned into UTF-8 a mark at the beginning is left out too, as Arrow does.
    reads = back if direct else "utf-8-sig"
    text = io.TextIOWrapper(io.BufferedReader(lines, 1 << 18), reads, errors="replace", newline="")
    pieces: list[list[pa.Array]] = [[] for _ in range(found.width)]
    odd = short, long_, left_open = _Rows(), _Rows(), _Rows()
    for batch in _batches(text, found, odd, file):
        room.take(len(batch) * found.width * TEXT)  # cells that a short row does not have are filled in
        for place, cells in enumerate(zip(*batch, strict=True)):
            encoded = [cell.encode(back, "replace") if cell else None for cell in cells]
            pieces[place].append(pa.array(encoded, pa.binary()))
    findings = []
    if short.count:
        findings.append(Finding("table.rows_too_short", file, "", short.count, tuple(short.first)))
    if long_.count:
        findings.append(Finding("table.rows_too_long", file, "", long_.count, tuple(long_.first)))
    if left_open.count:
        findings.append(Finding("table.quote_left_open", file, "", left_open.count, tuple(left_open.first)))
    return [pa.chunked_array(piece, pa.binary()) for piece in pieces], findings


class _Rows:
    def __init__(self) -> None:
        self.count = 0
        self.first: list[int] = []

    def add(self, row: int) -> None:
        self.count += 1
        if len(self.first) < ROWS_NAMED:
            self.first.append(row)


def _batches(
    text: io.TextIOWrapper, found: Detection, odd: tuple[_Rows, _Rows, _Rows], file: str
) -> Iterator[list[list[str]]]:
    options, width = found.options, found.width
    short, long_, left_open = odd
    for _ in range(found.lines_before):
        text.readline()
    batch: list[list[str]] = []
    number = 0
    piece = max(1, min(_PIECE, _PIECE_CELLS // max(width, 1)))
    try:
        for row, is_open in _rows(text, options):
            if not row:
                if width == 1:
                    row = [""]
                else:
                    continue
            number += 1
            if is_open:
                left_open.add(number)
            if len(row) < width:
                short.add(number)
                row = row + [""] * (width - len(row))
            elif len(row) > width:
                if any(row[width:]):
                    long_.add(number)
                    continue
                row = row[:width]
            batch.append(row)
            if len(batch) == piece:
                yield batch
                batch = []
    except csv.Error as error:
        raise InputRefused("table.row_not_understood", file=file, row=number + 1) from error
    if batch:
        yield batch


def _rows(text: io.TextIOWrapper, options: ReadOptions) -> Iterator[tuple[list[str], bool]]:
    """Give the rows, and of those that are lines whether a quotation mark was left open in one."""
    marks = options.delimiter or ",", options.quote or "", options.escape or ""
    if options.multiline is False:
        yield from (row_of(line, *marks) for line in text)
    else:
        yield from ((row, False) for row in reader(text, *marks))


@dataclass(frozen=True)
class _How:
    options: ReadOptions
    has_nul: bool
    file: str
    as_written: frozenset[str]
    hidden: LineEnds | None


def _store(
    columns: list[pa.ChunkedArray], names: tuple[str, ...], how: _How, progress: Progress
) -> tuple[pd.DataFrame, list[Finding]]:
    """Decode and store the columns, each freed as soon as it is done."""
    empty = _empty_rows(columns, how.file)
    unused = 0

    def one(place: int) -> tuple[pd.Series, list[Finding]]:
        nonlocal unused
        column = columns[place]
        columns[place] = None
        unused += column.nbytes
        progress.step(place / len(names), "table.store")
        name = names[place]
        about_ends: list[Finding] = []
        if how.hidden is not None:
            column, about_ends = _show(column, name, how.hidden, how.file)
        decoded, found = decode(column, name, options=how.options, has_nul=how.has_nul, file=how.file)
        found = [*about_ends, *found]
        if name in how.as_written:
            return series_of(decoded), found
        stored = store(decoded, name, options=how.options, file=how.file)
        del column, decoded
        if unused > _UNUSED:  # not after every column: each time costs some hundredths of a second
            unused = 0
            give_back()
        return stored.values, [*found, *stored.findings]

    give_back()
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        done = list(pool.map(one, range(len(names))))
    frame = pd.DataFrame({name: item[0] for name, item in zip(names, done, strict=True)}, copy=False)
    return frame, [*empty, *(finding for item in done for finding in item[1])]


def _empty_rows(columns: list[pa.ChunkedArray], file: str) -> list[Finding]:
    if len(columns) == 1:
        return []
    mask = None
    for column in columns:
        empty = pc.fill_null(pc.equal(pc.binary_length(column), 0), True)
        mask = empty if mask is None else pc.and_(mask, empty)
        if not pc.any(mask).as_py():
            return []
    count = pc.sum(mask).as_py() or 0
    return [Finding("table.empty_rows", file, "", count, rows_of(mask))] if count else []


def _show(column: Cells, name: str, hidden: LineEnds, file: str) -> tuple[Cells, list[Finding]]:
    """Return cells with the ends of lines that were hidden in them, and say where there were some."""
    shown, held = hidden.shown_cells(column)
    count = pc.sum(held).as_py() or 0
    return shown, [Finding("table.other_line_ends", file, name, count, rows_of(held))] if count else []


def decode(
    column: Cells, name: str, *, options: ReadOptions, has_nul: bool = False, file: str = ""
) -> tuple[Cells, list[Finding]]:
    """Turn bytes into text; cells in another encoding than the file's are decoded one by one and reported."""
    found: list[Finding] = []
    raw = _without_empty(column)
    if options.missing:
        codes = pa.array([code.encode() for code in options.missing], raw.type)
        raw = pc.if_else(pc.is_in(raw, value_set=codes), pa.scalar(None, raw.type), raw)
    encoding = options.encoding or "utf-8"
    direct = codecs.lookup(encoding).name if keeps_ascii(encoding) else "utf-8"
    try:
        text = raw.cast(pa.string())
        plain = direct.startswith("utf-8") or pc.all(pc.string_is_ascii(text)).as_py() is not False
    except pa.ArrowInvalid:
        plain = False
    if not plain:
        text, found = _decoded_cells(raw, direct, name, file)
    if has_nul:
        mask = pc.match_substring(text, "\0")
        count = pc.sum(mask).as_py() or 0
        if count:
            found.append(Finding("table.nul_bytes", file, name, count, rows_of(mask)))
            text = pc.replace_substring(text, "\0", "")
    return text, found


def _without_empty(raw: Cells) -> Cells:
    """Return the cells with null for the empty ones."""
    if pc.min(pc.binary_length(raw)).as_py() != 0:
        return raw
    return pc.if_else(pc.equal(pc.binary_length(raw), 0), pa.scalar(None, raw.type), raw)


def _decoded_cells(raw: Cells, encoding: str, name: str, file: str) -> tuple[Cells, list[Finding]]:
    encoded = pc.dictionary_encode(raw).unify_dictionaries()
    dictionary = encoded.chunk(0).dictionary if encoded.num_chunks else pa.array([], raw.type)
    indices = pa.chunked_array([piece.indices for piece in encoded.chunks], pa.int32())
    texts: list[str] = []
    kinds: list[int] = []
    for value in dictionary.to_pylist():
        text, kind = _decoded_cell(value, encoding)
        texts.append(text)
        kinds.append(kind)
    of_cell = pa.array(kinds, pa.int8()).take(indices)
    utf8, older = pc.equal(of_cell, 1), pc.equal(of_cell, 2)
    both = pc.sum(utf8).as_py() and pc.sum(older).as_py()
    found = []
    if encoding.startswith("utf-8") or both:
        odd = older if encoding.startswith("utf-8") else utf8
        count = pc.sum(odd).as_py() or 0
        more = {"encoding": encoding, "other": "cp1252" if encoding.startswith("utf-8") else "utf-8"}
        found.append(Finding("table.mixed_encodings", file, name, count, rows_of(odd), more))
    lost = pc.equal(of_cell, 3)
    count = pc.sum(lost).as_py() or 0
    if count:
        found.append(
            Finding("table.cells_undecodable", file, name, count, rows_of(lost), {"encoding": encoding})
        )
    return pa.array(texts, pa.string()).take(indices), found


def _decoded_cell(value: bytes, encoding: str) -> tuple[str, int]:
    """Return the text, and 0 for ASCII, 1 for UTF-8, 2 for the older encoding, 3 where signs were lost."""
    if value.isascii():
        return value.decode("ascii"), 0
    try:
        return value.decode("utf-8"), 1
    except UnicodeDecodeError:
        pass
    try:
        return value.decode("cp1252" if encoding.startswith("utf-8") else encoding), 2
    except UnicodeDecodeError:
        return value.decode("latin-1"), 3
