"""Spark: a backslash begins another sign, hashes skip what is missing, sums of whole numbers run over."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from engine.table.dialects.dialect import Dialect, signed


class Spark(Dialect):
    """Spark 4 or later, by Spark Connect."""

    kind, name, package, port = "spark", "Apache Spark", "pyspark", 15002
    oldest = "4"
    needs_password, is_tried = False, True
    types: ClassVar[dict[str, tuple[str, str]]] = {
        "text": ("STRING", ""),
        "double": ("DOUBLE", ""),
        "bool": ("BOOLEAN", ""),
    }

    def text(self, value: str) -> str:
        """Return a text as it stands in a query.

        Examples
        --------
        >>> print(Spark().text("a\\\\b'c"))
        'a\\\\b\\'c'
        """
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def lot(self, salt: Sequence[int], columns: Sequence[str]) -> str:
        """Return a whole number of 64 bits that follows from a salt and some columns.

        The hash of a missing cell is that of none: whether it is there goes in as well. Of the smallest
        number there is no literal, so words of the salt come as texts.
        """
        words = [f"'{signed(word)}'" for word in salt]
        told = [part for one in columns for part in (f"{one} IS NULL", one)]
        return f"xxhash64({', '.join([*words, *told])})"

    def content(self, lots: str, source: str) -> str:
        """Return the query for the number of rows, and the rest of the sum of a lot of each."""
        return super().content(f"CAST({lots} AS DECIMAL(20, 0))", source)

    def chance(self, share: Fraction) -> str:
        """Return what is true of about a share of the rows, by a draw of each."""
        return f"rand() < {float(share)}D"
