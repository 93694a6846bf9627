"""SPSS, Stata and SAS files, with their value labels and their own missing codes; see `package_process`."""

from __future__ import annotations

import codecs
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from engine.errors import InputRefused
from engine.progress import SILENT, Progress
from engine.table.coding import text_of
from engine.table.reading.frames import store_frame
from engine.table.reading.moments import clock, from_numbers, is_time_of_day, package_moment
from engine.table.reading.names import clean_names, refuse_wide
from engine.table.reading.options import ROWS_NAMED, Finding, ReadOptions
from engine.table.reading.package_process import read_apart
from engine.table.reading.room import NUMBER, Room
from engine.table.table import Table

MOST_PIECES = 32
"""Each begins at the first row of a packed file: many would take very long."""
TEXT_OBJECT = 64
"""Bytes that a text takes beside its letters while these packages are read."""
_STATA_HEADER = 1 << 10
Lost = list[tuple[str, int, str]]
"""Cells that are not in the encoding of their file: column, place of the row, and that encoding."""


def read_statistics_package(path: Path, *, options: ReadOptions, progress: Progress = SILENT) -> Table:
    """Read an SPSS (.sav, .zsav, .por), Stata (.dta) or SAS (.sas7bdat, .xpt) file.

    Notes
    -----
    Cells keep their codes; the labels go into `Table.labels` and from there into the suggested schema. Values
    that the file itself declares missing stay in the cells and are listed in `Table.missing`.
    """
    progress.step(0.1, "table.read")
    kind = options.format or ""
    frame, about, lost = _in_pieces(path, options, progress.part(0.1, 0.7))
    progress.step(0.7, "table.store")
    if frame.shape[1] == 0:
        raise InputRefused("table.empty_file", file=path.name)
    if len(frame) == 0:
        raise InputRefused("table.no_rows", file=path.name)
    refuse_wide(frame.shape[1], path.name)
    names, found = clean_names([str(name) for name in frame.columns], frame.shape[1], path.name)
    new = dict(zip((str(name) for name in frame.columns), names, strict=True))
    frame.columns = list(names)
    displays = {new[name]: form for name, form in about.original_variable_types.items() if name in new}
    frame, about_dates = _with_dates(frame, kind, displays, path.name)
    whole, about_cells = store_frame(_integral(frame), options=options, file=path.name)
    return Table(
        whole,
        source=path.name,
        options=ReadOptions(format=kind, encoding=about.file_encoding or None, missing=options.missing),
        findings=(*found, *_undecodable(lost, new, path.name), *about_dates, *about_cells),
        labels={
            new[name]: {text_of(code): str(label) for code, label in labels.items()}
            for name, labels in about.variable_value_labels.items()
            if name in new
        },
        titles={
            new[name]: str(title)
            for name, title in about.column_names_to_labels.items()
            if title and name in new
        },
        missing=_declared_missing(about, new, frame),
    )


def names_of_package(path: Path, *, options: ReadOptions) -> tuple[str, ...]:
    """Return the names of the columns, from what the file says about itself."""
    columns = _read(path, options, metadataonly=True)[0].columns
    refuse_wide(len(columns), path.name)
    return clean_names([str(name) for name in columns], len(columns), path.name)[0]


def _in_pieces(path: Path, options: ReadOptions, progress: Progress) -> tuple[pd.DataFrame, Any, Lost]:
    """Read all rows, in so many pieces that none can take more room than there is for the file.

    One piece is the rule. Where the file declares wide texts, as they always do for a few words, what the
    cells really hold is counted piece by piece.
    """
    lost: Lost = []
    room = Room(path)
    about = _read(path, options, metadataonly=True)[1]
    refuse_wide(len(about.column_names), path.name)
    widest = _widest_row(path, about)
    frames: list[pd.DataFrame] = []
    seen: dict[str, dict[Any, None]] = {}
    done = 0
    for number in range(MOST_PIECES):
        most = max(1, room.left // widest)
        try:
            frame, read = _read(path, options, progress=progress, row_limit=most, row_offset=done)
        except InputRefused as refusal:
            if refusal.code == "table.package_ended":
                raise
            frame, read, undecodable = _cell_by_cell(path, options, done, most, refusal)
            lost += undecodable
        room.take(int(frame.memory_usage(index=False, deep=True).sum()))
        if len(frame) or not frames:
            frames.append(frame)
        about = about if number else read
        for name, codes in (read.missing_user_values or {}).items():
            seen.setdefault(name, {}).update(dict.fromkeys(codes))
        done += len(frame)
        if len(frame) < most:
            break
        progress.step((number + 1) / MOST_PIECES, "table.read")
    else:
        room.refuse(room.left + 1)
    about.missing_user_values = {name: list(codes) for name, codes in seen.items()}
    return (pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]), about, lost


def _cell_by_cell(
    path: Path, options: ReadOptions, first: int, most: int, refusal: InputRefused
) -> tuple[pd.DataFrame, Any, Lost]:
    """Read rows of which some cell is not in the encoding of its file: that one alone reads otherwise.

    Notes
    -----
    The reader gives up a whole file for one cell. Latin-1 knows every byte, so that each cell can be decoded
    by itself; a letter that was cut off at the end of a cell is left out, as the reader does.
    """
    if path.suffix.lower() == ".por":
        raise refusal
    about = _read(path, options, metadataonly=True)[1]
    encoding = _encoding(path, options, about)
    every_byte = replace(options, encoding="LATIN1")
    try:
        decoder = codecs.getincrementaldecoder(encoding)
        frame, read = _read(path, every_byte, row_limit=most, row_offset=first)
    except (InputRefused, LookupError):
        raise refusal from None
    new = dict(zip(read.column_names, about.column_names, strict=True))
    codes = (read.missing_user_values or {}).items()
    about.missing_user_values = {new[name]: letters for name, letters in codes}
    frame.columns = pd.Index(about.column_names)
    lost: Lost = []
    for name in frame.columns:
        if frame[name].dtype.kind in "fiub":
            continue
        texts = {text for text in frame[name] if isinstance(text, str) and not text.isascii()}
        if not texts:
            continue
        wrong, right = set(), {}
        for text in texts:
            try:
                right[text] = decoder().decode(text.encode("latin-1"))
            except UnicodeDecodeError:
                wrong.add(text)
        lost += [(name, first + place, encoding) for place, text in enumerate(frame[name]) if text in wrong]
        frame[name] = [right.get(text, text) for text in frame[name]]
    return frame, about, lost


def _encoding(path: Path, options: ReadOptions, about: Any) -> str:
    """Return the encoding of texts; a file of Stata says none, and its version has one."""
    found = options.encoding or about.file_encoding
    if found or options.format != "stata":
        return str(found or "utf-8").lower()
    with path.open("rb") as source:
        start = source.read(_STATA_HEADER)
    release = start.partition(b"<release>")[2][:3]
    return "utf-8" if release >= b"118" else "cp1252"


def _undecodable(lost: Lost, new: dict[str, str], file: str) -> list[Finding]:
    rows: dict[tuple[str, str], list[int]] = {}
    for name, place, encoding in lost:
        rows.setdefault((new[name], encoding), []).append(place + 1)
    return [
        Finding(
            "table.cells_undecodable",
            file,
            name,
            len(found),
            tuple(found[:ROWS_NAMED]),
            {"encoding": encoding},
        )
        for (name, encoding), found in rows.items()
    ]


def _widest_row(path: Path, about: Any) -> int:
    """Return the bytes that a row can take at most."""
    widths = [int(about.variable_storage_width.get(name) or 0) for name in about.column_names]
    texts = [about.readstat_variable_types.get(name) == "string" for name in about.column_names]
    long_ = (
        longest_text(path)
        if any(text and not width for text, width in zip(texts, widths, strict=True))
        else 0
    )
    cells = (
        TEXT_OBJECT + (width or long_) if text else NUMBER for text, width in zip(texts, widths, strict=True)
    )
    return max(1, sum(cells))


def longest_text(path: Path) -> int:
    """Return the bytes of the longest text of those that a Stata file keeps apart from its rows.

    A row refers to such a text, and a million rows may refer to one.

    Notes
    -----
    Stata 15 help, ``dta``: 14 places of 8 bytes follow ``<map>``, the eleventh is that of the texts. Each
    begins with GSO, four bytes, eight bytes (four in format 117), one byte for the kind, and four for the
    length.
    """
    size = path.stat().st_size
    with path.open("rb") as source:
        start = source.read(_STATA_HEADER)
        order: Literal["little", "big"] = "big" if b"<byteorder>MSF" in start else "little"
        head = 3 + 4 + (4 if b"<release>117" in start else 8) + 1
        at = start.find(b"<map>")
        if at < 0 or len(start) < at + 5 + 14 * 8:
            return size
        place = int.from_bytes(start[at + 5 + 80 : at + 5 + 88], order) + len(b"<strls>")
        longest = 0
        while place < size:
            source.seek(place)
            entry = source.read(head + 4)
            if not entry.startswith(b"GSO") or len(entry) < head + 4:
                break
            length = int.from_bytes(entry[head:], order)
            longest = max(longest, length)
            place += len(entry) + length
    return min(longest, size)


def _read(
    path: Path, options: ReadOptions, *, progress: Progress = SILENT, **further: Any
) -> tuple[pd.DataFrame, Any]:
    kind = options.format or ""
    readers = {
        "spss": "read_por" if path.suffix.lower() == ".por" else "read_sav",
        "stata": "read_dta",
        "sas": "read_sas7bdat",
        "sas_transport": "read_xport",
    }
    # The readers leave codes as they are unless they are asked for labels.
    # … and dates as numbers: a library that converts a whole column refuses it for one impossible day.
    given: dict[str, Any] = {"disable_datetime_conversion": True, **further}
    if options.encoding:
        given["encoding"] = options.encoding
    if kind in ("spss", "stata", "sas") and path.suffix.lower() != ".por":
        given["user_missing"] = True
    return read_apart(path, readers[kind], given, kind=kind, progress=progress)


def _with_dates(
    frame: pd.DataFrame, kind: str, displays: dict[str, str | None], file: str
) -> tuple[pd.DataFrame, list[Finding]]:
    """Turn the numbers of columns that the file shows as dates or times into these, each cell by itself."""
    found: list[Finding] = []
    for name in frame.columns:
        moment = package_moment(kind, displays.get(name))
        if moment is None and not is_time_of_day(kind, displays.get(name)):
            continue
        numbers = pd.to_numeric(frame[name], errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
        letters = frame[name].map(lambda cell: isinstance(cell, str) and cell != "")
        if moment is None:
            frame[name] = [None if np.isnan(value) else clock(value) for value in numbers]
            continue
        days, findings = from_numbers(numbers, tick=moment[0], epoch=moment[1], name=name, file=file)
        found.extend(findings)
        frame[name] = days.astype("object").where(~letters, frame[name]) if letters.any() else days
    return frame, found


def _integral(frame: Any) -> Any:
    """Return whole numbers as such: these packages keep every number as a double."""
    for name in frame.columns:
        column = frame[name]
        if column.dtype != "float64" or column.isna().any():
            continue
        if bool((column % 1 == 0).all()) and float(column.abs().max()) < 2**53:
            frame[name] = column.astype("int64")
    return frame


def _declared_missing(about: Any, new: dict[str, str], frame: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """Return the missing codes of every column; of a range those that have a label, and those in the rows."""
    found: dict[str, tuple[str, ...]] = {}
    for name, ranges in (about.missing_ranges or {}).items():
        codes: list[str] = []
        column = frame[new[name]]
        numbers = column.dropna().unique() if column.dtype.kind in "fi" else np.zeros(0)
        for item in ranges:
            low, high = item["lo"], item["hi"]
            if low == high:
                codes.append(text_of(low))
                continue
            labelled = about.variable_value_labels.get(name, {})
            codes += [text_of(code) for code in labelled if low <= code <= high]
            inside = numbers[(numbers >= low) & (numbers <= high)]
            codes += [text_of(code) for code in np.sort(inside).tolist()]
        found[new[name]] = tuple(dict.fromkeys(codes))
    for name, letters in (about.missing_user_values or {}).items():
        found[new[name]] = tuple(str(letter) for letter in letters)
    return {name: codes for name, codes in found.items() if codes}
