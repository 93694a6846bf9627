"""A column that could tell whose a row is; apart from what finds it, which brings pandas along."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class KeyCandidate:
    """A column that could tell whose a row is.

    Parameters
    ----------
    column
        Its name.
    people
        Different values: so many people, if it is what it looks like.
    rows
        Rows in which it is filled.
    recognised
        Whether name or form of the cells say so; otherwise only the counts do.
    constant
        Other columns that stay the same within its repeated values, more than by chance.
    """

    column: str
    people: int
    rows: int
    recognised: bool
    constant: tuple[str, ...] = ()

    @property
    def repeats(self) -> bool:
        """Whether a value stands in several rows: then not every row is another person."""
        return self.people < self.rows
