"""Names of columns: never empty, never twice, and every change is said."""

from __future__ import annotations

from collections.abc import Sequence

from engine.errors import InputRefused
from engine.table.reading.options import Finding

MOST_COLUMNS = 5000
"""Beyond it nobody could say of each column what it is, and looking at all of them takes minutes."""


def refuse_wide(width: int, file: str) -> None:
    """Refuse a table with more columns than somebody could decide about.

    Raises
    ------
    InputRefused
        ``table.too_many_columns``.
    """
    if width > MOST_COLUMNS:
        raise InputRefused("table.too_many_columns", file=file, count=width, most=MOST_COLUMNS)


def clean_names(written: Sequence[str], width: int, file: str) -> tuple[tuple[str, ...], list[Finding]]:
    """Return one name per column, and what had to be changed.

    Parameters
    ----------
    written
        The names of the file; none where it has no header, fewer than columns where it is ragged.
    width
        Number of columns.
    file
        Name of the file, for the findings.

    Examples
    --------
    >>> clean_names(["age", "age", ""], 3, "f.csv")[0]
    ('age', 'age (2)', 'column 3')
    """
    stripped = ["".join(name.replace("\0", "").split("\ufeff")).strip() for name in written]
    names: dict[str, None] = {}
    found: list[Finding] = []
    taken = set(stripped)
    for place in range(width):
        name = stripped[place] if place < len(stripped) else ""
        if not name:
            new = _free(f"column {place + 1}", taken)
            if written:
                found.append(Finding("table.name_empty", file, new, 1, more={"place": place + 1}))
        elif name in names:
            new = _free(name, taken)
            found.append(Finding("table.name_twice", file, name, 1, more={"new": new, "place": place + 1}))
        else:
            new = name
        names[new] = None
        taken.add(new)
    return tuple(names), found


def _free(name: str, taken: set[str]) -> str:
    if name not in taken:
        return name
    count = 2
    while f"{name} ({count})" in taken:
        count += 1
    return f"{name} ({count})"
