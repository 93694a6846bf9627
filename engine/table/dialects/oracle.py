"""Oracle: no rows stand in a query but one by one, and no text is longer than 4,000 bytes."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from engine.table.dialects.dialect import MODULUS, Dialect, signed

_TOGETHER = 60
"""Hashes of 32 signs that are joined to a text."""


class Oracle(Dialect):
    """Oracle Database 12.2 or later."""

    kind, name, package, port = "oracle", "Oracle Database", "oracledb", 1521
    oldest = "12.2"
    most_unlike = 2_000
    types: ClassVar[dict[str, tuple[str, str]]] = {
        "text": ("VARCHAR2(4000)", ""),
        "double": ("BINARY_DOUBLE", ""),
        "moment": ("VARCHAR2(64)", ""),
        "moment_utc": ("VARCHAR2(64)", ""),
    }
    whole = "NUMBER(19)"
    writes_moments = True
    named_pairs = "pairs"

    def pairs(self, pairs: Sequence[tuple[str, str]]) -> str:
        """Return the query for pairs of cells that stand in it."""
        return " UNION ALL ".join(f"SELECT {cell} AS cell, {form} AS form FROM dual" for cell, form in pairs)

    def lot(self, salt: Sequence[int], columns: Sequence[str]) -> str:
        """Return a whole number of 64 bits that follows from a salt and some columns."""
        words = [f"'{'/'.join(str(signed(word)) for word in salt)}'"]
        told = [f"NVL(RAWTOHEX(STANDARD_HASH({one}, 'MD5')), '-')" for one in columns]
        while len(told) > _TOGETHER:
            groups = [told[place : place + _TOGETHER] for place in range(0, len(told), _TOGETHER)]
            told = [f"RAWTOHEX(STANDARD_HASH({' || '.join(group)}, 'MD5'))" for group in groups]
        joined = " || ".join([*words, *told])
        taken = f"SUBSTR(RAWTOHEX(STANDARD_HASH({joined}, 'SHA256')), 1, 16)"
        return f"(TO_NUMBER({taken}, 'XXXXXXXXXXXXXXXX') - {1 << 63})"

    def rest_of(self, total: str) -> str:
        """Return the rest of a sum that does not run over."""
        return f"MOD({total}, {MODULUS})"

    def chance(self, share: Fraction) -> str:
        """Return what is true of about a share of the rows, by a draw of each."""
        return f"DBMS_RANDOM.VALUE < {float(share)}"

    def first(self, query: str, rows: int) -> str:
        """Return the query for so many rows of another."""
        return f"{query} FETCH FIRST {rows} ROWS ONLY"
