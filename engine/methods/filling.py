"""What a declared number of people can fill at most: from declarations alone, before anything is spent."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor


@dataclass(frozen=True)
class Counted:
    """Into how many cells a release counts, and how exact one count is.

    Parameters
    ----------
    cells
        Cells (or groups) that share the rows between them: a row is in one of them at most.
    limit
        The error that 95 of 100 counts stay within, in rows.
    rows_per_person
        Cap on the rows of one person.
    """

    cells: int
    limit: float
    rows_per_person: int


@dataclass(frozen=True)
class Filling:
    """What a declared number of people can fill at most, from public numbers alone.

    Parameters
    ----------
    per_cell
        Rows for each cell, were they spread evenly.
    above
        How many cells can hold more than the margin of a count, at most.
    guesses
        Share of cells, at least, whose count is no larger than its margin: zero would be as good a guess.
    """

    per_cell: float
    above: int
    guesses: float


def filling(*, rows: int, cells: int, limit: float) -> Filling:
    """Return how many cells declared rows can fill beyond the margin of a count.

    Parameters
    ----------
    rows
        How many rows the table has at most: declared people times the cap on rows of one person.
    cells
        How many cells are released.
    limit
        The error that 95 of 100 counts stay within.

    Examples
    --------
    >>> filling(rows=100, cells=80, limit=4)
    Filling(per_cell=1.25, above=20, guesses=0.75)
    """
    above = min(cells, rows // (floor(limit) + 1))  # each of them takes more than the limit
    return Filling(rows / cells, above, 1 - above / cells)
