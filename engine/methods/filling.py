"""What a declared number of people can fill at most: from declarations alone, before anything is spent."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

from engine.views import Text

USELESS = 0.5
"""A release is useless when less than this share of its cells can say anything."""


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

    def filled_by(self, people: int) -> Filling:
        """Return what so many people can fill.

        Examples
        --------
        >>> found = Counted(cells=80, limit=4.0, rows_per_person=2).filled_by(50)
        >>> found.per_cell, found.above, found.below, found.is_useless
        (1.25, 20, 60, True)
        """
        return Filling(people, people * self.rows_per_person, self.cells, self.limit)


@dataclass(frozen=True)
class Filling:
    """How many cells of a release can say something at all.

    Parameters
    ----------
    people
        As declared.
    rows
        What they have at most.
    cells, limit
        As in `Counted`.

    Notes
    -----
    A cell says something when it holds more rows than the margin of its count; with no more, zero would be as
    good a guess. So many rows fill at most rows / (margin + 1) cells beyond it, whatever the rows hold.
    """

    people: int
    rows: int
    cells: int
    limit: float

    @property
    def margin(self) -> int:
        """Rows that a cell may hold and say nothing."""
        return floor(self.limit)

    @property
    def above(self) -> int:
        """How many cells can say something, at most."""
        return min(self.cells, self.rows // (self.margin + 1))

    @property
    def below(self) -> int:
        """How many cells say nothing, at least."""
        return self.cells - self.above

    @property
    def share(self) -> float:
        """Share of the cells that can say something, at most."""
        return self.above / self.cells

    @property
    def per_cell(self) -> float:
        """Rows for each cell, were they spread evenly."""
        return self.rows / self.cells

    @property
    def is_useless(self) -> bool:
        """Whether most cells cannot say anything."""
        return self.share < USELESS


@dataclass(frozen=True)
class Judged:
    """How much a release can say that counts nothing in cells.

    Parameters
    ----------
    share
        Of what it would say without noise, in [0, 1]; what that means is the method's own, and in ``said``.
    said
        The sentence with its numbers.
    """

    share: float
    said: Text

    @property
    def is_useless(self) -> bool:
        """Whether most of it is noise."""
        return self.share < USELESS


def judged_by_margin(limit: float, people: int, text_id: str, **values: float) -> Judged:
    """Return the judgement of counts that are off by up to a limit: half of all people stand for a group.

    Examples
    --------
    >>> found = judged_by_margin(20.0, 100, "methods.services.private_queries.judged")
    >>> found.share, found.is_useless
    (0.6, False)
    """
    share = max(0.0, 1 - limit / (people / 2))
    return Judged(share, Text(text_id, {"people": people, "limit": limit, **values}))
