"""PostgreSQL: its hash takes a row as a text; its sums of whole numbers do not run over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from engine.table.dialects.dialect import Dialect, signed


class Postgresql(Dialect):
    """PostgreSQL 14 or later."""

    kind, name, package, port = "postgresql", "PostgreSQL", "pg8000", 5432
    oldest = "14"
    is_tried = True
    types: ClassVar[dict[str, tuple[str, str]]] = {
        "text": ("text", ' COLLATE "C"'),
        "double": ("float8", ""),
        "bool": ("boolean", ""),
    }

    def lot(self, salt: Sequence[int], columns: Sequence[str]) -> str:
        """Return a whole number of 64 bits that follows from a salt and some columns."""
        first, second = map(signed, salt)
        return f"hashtextextended(CAST(ROW({second}, {', '.join(columns)}) AS text), {first})"
