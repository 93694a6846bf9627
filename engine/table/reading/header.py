"""Whether the first row of a table holds the names of its columns."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.table.patterns import MISSING_CODES, is_date, is_number

_LOOKED_AT = 250


def header_of(rows: Sequence[Sequence[str]], width: int) -> tuple[bool, str]:
    """Say whether the first of some rows of text holds names, and why.

    Examples
    --------
    >>> header_of([["sex", "age"], ["f", "41"]], 2), header_of([["f", "41"], ["m", "50"]], 2)
    ((True, 'text_over_numbers'), (False, 'first_row_has_values'))
    """
    first, below = rows[0], rows[1 : _LOOKED_AT + 1]
    named = [cell.strip() for cell in first]
    if any(_is_value(cell) for cell in named if cell) and not all(
        re.fullmatch(r"\d{4}", c) for c in named[1:]
    ):
        text_over_numbers = sum(
            not _is_value(cell)
            and cell != ""
            and _mostly_values([row[place] for row in below if place < len(row)])
            for place, cell in enumerate(named)
        )
        numbers_over_numbers = sum(
            _is_value(cell) and _mostly_values([row[place] for row in below if place < len(row)])
            for place, cell in enumerate(named)
        )
        if numbers_over_numbers >= text_over_numbers:
            return False, "first_row_has_values"
    if not below:
        return True, "only_row"
    if len(set(named)) < len(named) * 0.5:
        return False, "first_row_repeats"
    again = votes = 0
    for place, cell in enumerate(named[:width]):
        column = [row[place].strip() for row in below if place < len(row)]
        if cell and not _is_value(cell) and _mostly_values(column):
            votes += 1
        elif cell and cell in column:
            again += 1
    if votes > again:
        return True, "text_over_numbers"
    if again:
        return False, "first_row_occurs_again"
    return True, "first_row_differs"


def _is_value(cell: str) -> bool:
    return is_number(cell) or is_number(cell, ",") or is_date(cell)


def _mostly_values(column: Sequence[str]) -> bool:
    filled = [cell for cell in column if cell.strip() and cell not in MISSING_CODES]
    return bool(filled) and sum(map(_is_value, filled)) > 0.8 * len(filled)
