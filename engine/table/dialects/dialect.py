"""What every kind of server writes in its own way; where nothing else is said, as PostgreSQL writes it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

MODULUS = 1 << 62
"""A sum of lots is told by its rest, which every server has as a whole number."""


class Dialect:
    """How a kind of server writes what `engine.table.grouped` and `engine.table.server` ask.

    Attributes
    ----------
    kind, name
        How files call it, and how people do.
    package
        The library that connects.
    port
        The usual one.
    oldest
        The first version that is asked.
    needs_password
        Whether a server of this kind never lets anybody in without one.
    is_tried
        Whether the tests run against a real one.
    count
        What counts rows in numbers that do not run over.
    most_unlike
        How many person keys go back within a query.
    types
        Those of texts, of decimal numbers and of truth values, each with what has two texts that differ stay
        two; everything else is a whole number.
    writes_moments
        Whether moments come as they are written.
    """

    kind: str
    name: str
    package: str
    port: int
    oldest: str
    needs_password = True
    is_tried = False
    count = "count"
    most_unlike = 20_000
    types: ClassVar[dict[str, tuple[str, str]]]
    whole = "bigint"
    writes_moments = False

    def text(self, value: str) -> str:
        """Return a text as it stands in a query.

        Examples
        --------
        >>> print(Dialect().text("no one's"))
        'no one''s'
        """
        return "'" + value.replace("'", "''") + "'"

    def literal(self, value: object, kind: str) -> str:
        """Return a raw cell of a column as it stands in a query."""
        return "NULL" if value is None else self.text(str(value))

    def pairs(self, pairs: Sequence[tuple[str, str]]) -> str:
        """Return the query for pairs of cells that stand in it."""
        return "VALUES " + ", ".join(f"({cell}, {form})" for cell, form in pairs)

    def typed_pairs(self, query: str, kind: str) -> str:
        """Return what stands behind FROM for such pairs, with columns ``cell`` and ``form`` of a kind."""
        written, collation = self.types.get(kind, (self.whole, ""))
        columns = ", ".join(f"CAST({one} AS {written}){collation} AS {one}" for one in ("cell", "form"))
        return f"(SELECT {columns} FROM ({query}) {self.named_pairs})"

    named_pairs = "AS pairs(cell, form)"

    def lot(self, salt: Sequence[int], columns: Sequence[str]) -> str:
        """Return a whole number of 64 bits that follows from a salt and some columns."""
        raise NotImplementedError

    def content(self, lots: str, source: str) -> str:
        """Return the query for the number of rows, and the rest of the sum of a lot of each."""
        total = self.rest_of(f"coalesce(sum({lots}), 0)")
        return f"SELECT {self.count}(*) AS n0, {total} AS n1 FROM {source}"

    def rest_of(self, total: str) -> str:
        """Return the rest of a sum that does not run over."""
        return f"CAST({total} % {MODULUS} AS bigint)"

    def chance(self, share: Fraction) -> str:
        """Return what is true of about a share of the rows, by a draw of each."""
        return f"random() < {float(share)}"

    def first(self, query: str, rows: int) -> str:
        """Return the query for so many rows of another."""
        return f"{query} LIMIT {rows}"


def signed(word: int) -> int:
    """Return a word of 64 bits as a number with a sign.

    Examples
    --------
    >>> signed(1), signed((1 << 64) - 1)
    (1, -1)
    """
    return int(word) - (1 << 64 if word >= 1 << 63 else 0)
