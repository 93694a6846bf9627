"""A folder of small files, one report each, as one table: neither their names nor their order is kept."""

from __future__ import annotations

import csv
import io
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from dataclasses import dataclass
from pathlib import Path

from engine.bounded import read_bytes
from engine.errors import InputRefused

HEADING = "report"
LARGEST = 2**20  # bytes of one file
LARGEST_OF_REPORTS = 2**28  # bytes of one that begins as a report does: many answered on one device
BEGIN = 256  # bytes in which that is to be seen
MOST_FILES = 10**6
UNREAD = "?"
"""Stands for a file that was not read: whoever counts what is no report counts it, too."""


@dataclass(frozen=True)
class Gathered:
    """The file that was written, how many files and lines are in it, and how many files were not read."""

    path: Path
    files: int
    lines: int
    odd: int


def gather(folder: Path, out: Path | None = None) -> Gathered:
    """Write the lines of all files of a folder into one table with one column, in the order of the alphabet.

    Parameters
    ----------
    folder
        Its own files are read, none of folders in it; hidden ones, links and those above 1 MB are not, unless
        they begin as a report does.
    out
        Where to; by default beside the folder, under its name.

    Raises
    ------
    InputRefused
        ``reading.no_files``: the folder holds none.
    """
    lines: list[str] = []
    files = odd = 0
    for path in sorted(folder.iterdir())[:MOST_FILES]:
        if path.name.startswith(".") or path.is_symlink() or not path.is_file():
            continue
        try:
            content = _read(path)
        except (OSError, InputRefused):
            odd += 1
            continue
        files += 1
        encoding = "utf-16" if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig"
        said = (line.strip() for line in content.decode(encoding, errors="replace").splitlines())
        lines += [line for line in said if line and line != HEADING]
    if not files:
        raise InputRefused("reading.no_files", file=folder.name)
    target = out or folder.parent / f"{folder.name}.gathered.csv"
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [[HEADING], *([line] for line in sorted([*lines, *[UNREAD] * odd]))]
    )
    target.write_text(text.getvalue(), encoding="utf-8")
    return Gathered(target, files, len(lines), odd)


def _read(path: Path) -> bytes:
    """Return the bytes of a file that is small, or seems to hold reports."""
    with path.open("rb") as file:
        begins = b"survey" in file.read(BEGIN).replace(b"\0", b"").lower()
    return read_bytes(path, LARGEST_OF_REPORTS if begins else LARGEST)
