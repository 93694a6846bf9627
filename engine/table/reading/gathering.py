"""A folder of small files, one report each, as one table: neither their names nor their order is kept."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from engine.bounded import read_bytes
from engine.errors import InputRefused

HEADING = "report"
LARGEST = 2**20  # bytes of one file
MOST_FILES = 10**6


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
        Its own files are read, none of folders in it; hidden ones, links, and those above 1 MB are not.
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
            content = read_bytes(path, LARGEST)
        except (OSError, InputRefused):
            odd += 1
            continue
        files += 1
        said = (line.strip() for line in content.decode("utf-8-sig", errors="replace").splitlines())
        lines += [line for line in said if line and line != HEADING]
    if not files:
        raise InputRefused("reading.no_files", file=folder.name)
    target = out or folder.parent / f"{folder.name}.gathered.csv"
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([[HEADING], *([line] for line in sorted(lines))])
    target.write_text(text.getvalue(), encoding="utf-8")
    return Gathered(target, files, len(lines), odd)
