"""Trino: its hash takes bytes, its sums of whole numbers stop a query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from engine.table.dialects.dialect import Dialect, signed


class Trino(Dialect):
    """Trino 400 or later."""

    kind, name, package, port = "trino", "Trino", "trino", 443
    oldest = "400"
    needs_password = False
    types: ClassVar[dict[str, tuple[str, str]]] = {
        "text": ("varchar", ""),
        "double": ("double", ""),
        "bool": ("boolean", ""),
        "moment": ("varchar", ""),
        "moment_utc": ("varchar", ""),
    }
    writes_moments = True

    def lot(self, salt: Sequence[int], columns: Sequence[str]) -> str:
        """Return a whole number of 64 bits that follows from a salt and some columns.

        Each cell goes in with its length, so that no two rows are the same text; a missing one has none.
        """
        words = "/".join(str(signed(word)) for word in salt)
        cells = [f"CAST({one} AS varchar)" for one in columns]
        told = [f"coalesce(CAST(length({one}) AS varchar) || ':' || {one}, '-')" for one in cells]
        return f"from_big_endian_64(xxhash64(to_utf8(concat('{words}', {', '.join(told)}))))"

    def content(self, lots: str, source: str) -> str:
        """Return the query for the number of rows, and the rest of the sum of a lot of each."""
        return super().content(f"CAST({lots} AS decimal(38, 0))", source)
