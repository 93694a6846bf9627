"""SQL Server: texts end in a sign of their own, since comparisons take no notice of blanks at the end."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from engine.table.dialects.dialect import MODULUS, Dialect, signed

END = "."
"""Stands behind every text, see ``engine/connector/sqlserver.py``."""


class SqlServer(Dialect):
    """SQL Server 2016 or later."""

    kind, name, package, port = "sqlserver", "SQL Server", "pytds", 1433
    oldest = "13"
    count = "COUNT_BIG"
    types: ClassVar[dict[str, tuple[str, str]]] = {
        "text": ("nvarchar(max)", " COLLATE Latin1_General_100_BIN2"),
        "double": ("float", ""),
    }

    def text(self, value: str) -> str:
        """Return a text as it stands in a query; a backslash at the end of a line would join two lines.

        Examples
        --------
        >>> print(SqlServer().text("it's"))
        N'it''s'
        >>> SqlServer().text("a\\\\\\nb")
        "N'a\\\\' + N'\\nb'"
        """
        kept = value.replace("'", "''")
        for end in ("\n", "\r"):
            kept = kept.replace(f"\\{end}", f"\\' + N'{end}")
        return f"N'{kept}'"

    def literal(self, value: object, kind: str) -> str:
        """Return a raw cell of a column as it stands in a query."""
        if value is None:
            return "NULL"
        return self.text(f"{value}{END}") if kind == "text" else self.text(str(value))

    def lot(self, salt: Sequence[int], columns: Sequence[str]) -> str:
        """Return a whole number of 64 bits that follows from a salt and some columns.

        Cells go in as bytes, each with its length: as texts, numbers would lose digits.
        """
        words = [f"CAST(CAST({signed(word)} AS bigint) AS varbinary(8))" for word in salt]
        told = [
            f"CASE WHEN {one} IS NULL THEN 0x00 ELSE 0x01 + CAST(CAST(DATALENGTH({one}) AS bigint) AS"
            f" varbinary(8)) + CAST({one} AS varbinary(max)) END"
            for one in columns
        ]
        return f"CAST(SUBSTRING(HASHBYTES('SHA2_256', {' + '.join([*words, *told])}), 1, 8) AS bigint)"

    def content(self, lots: str, source: str) -> str:
        """Return the query for the number of rows, and the rest of the sum of a lot of each."""
        return super().content(f"CAST({lots} AS decimal(38, 0))", source)

    def rest_of(self, total: str) -> str:
        """Return the rest of a sum that does not run over."""
        return f"CAST({total} % CAST({MODULUS} AS decimal(38, 0)) AS bigint)"

    def chance(self, share: Fraction) -> str:
        """Return what is true of about a share of the rows, by a draw of each: RAND is drawn once a query."""
        return f"(CHECKSUM(NEWID()) & 2147483647) < {int(share * (1 << 31))}"

    def first(self, query: str, rows: int) -> str:
        """Return the query for so many rows of another."""
        return f"SELECT TOP ({rows}) * FROM ({query}) first_rows"
