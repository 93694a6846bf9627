"""How a file is read, and what was found in it: two frozen values that hold no cell."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from engine.errors import InputRefused

LINE_ENDS = ("\n", "\r\n", "\r")
FORMATS = (
    "text",
    "excel",
    "parquet",
    "spss",
    "stata",
    "sas",
    "sas_transport",
    "duckdb",
    "server",
    "postgresql",
)
DATE_ORDERS = ("ymd", "dmy", "mdy")
SERVER_FORMATS = ("server", "postgresql")
"""Of a table on a server, and what plans called it while there was one kind of servers."""
SERVER_ENDING = ".server"
"""Of a file that names a table on a server."""
MOST_COLUMNS = 100_000
_OF_NAMES = ("idna", "punycode")  # of domain names, not of texts
ROWS_NAMED = 5
"""How many row numbers a finding keeps."""


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file. ``None`` means: find out.

    Parameters
    ----------
    format
        One of `FORMATS`.
    delimiter, quote, escape, decimal, thousands
        Single characters of a text file; ``""`` for quote, escape and thousands means that there is none.
    encoding
        A codec name of Python: ``utf-8``, ``utf-8-sig``, ``utf-16``, ``cp1252`` …
    header
        Whether the first row holds the names of the columns.
    skip_rows
        Lines before the header or the first row, for instance a title.
    line_ends
        One of `LINE_ENDS`: what ends a row. A carriage return with a newline behind it ends one in any case;
        every other end of line is content of its cell.
    multiline
        Whether a cell in quotation marks may hold ends of lines. If not, every line is a row, and a quotation
        mark that is left open ends with its line.
    date_order
        One of `DATE_ORDERS`, for dates written with numbers only.
    missing
        Cells that count as missing in every column, beside empty ones. Codes of one column belong to the
        schema.
    sheet
        Name of an Excel sheet, or of a table of a DuckDB file.
    width
        Number of columns. Rows of a text file with more filled cells are set aside; of a sheet, what stands
        further to the right is not in the table.
    """

    format: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    header: bool | None = None
    skip_rows: int | None = None
    decimal: str | None = None
    thousands: str | None = None
    quote: str | None = None
    escape: str | None = None
    line_ends: str | None = None
    multiline: bool | None = None
    date_order: str | None = None
    missing: tuple[str, ...] = ()
    sheet: str | None = None
    width: int | None = None

    def over(self, found: ReadOptions) -> ReadOptions:
        """Return ``found`` with everything that is given here put over it.

        Examples
        --------
        >>> ReadOptions(decimal=",").over(ReadOptions(decimal=".", delimiter=";")).decimal
        ','
        """
        given = {item.name: getattr(self, item.name) for item in fields(self)}
        return replace(found, **{name: value for name, value in given.items() if value not in (None, ())})

    def to_json(self) -> dict[str, Any]:
        """Return what is set as plain JSON values.

        Examples
        --------
        >>> ReadOptions(delimiter=";", missing=("?",)).to_json()
        {'delimiter': ';', 'missing': ['?']}
        """
        tree = {item.name: getattr(self, item.name) for item in fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in tree.items()
            if value not in (None, ())
        }

    @staticmethod
    def from_json(tree: Mapping[str, Any], *, file: str = "options") -> ReadOptions:
        """Read options from JSON values.

        Raises
        ------
        InputRefused
            ``table.bad_option``: a name that is not known or a value of the wrong kind.
        """
        known = {item.name for item in fields(ReadOptions)}
        for name, value in tree.items():
            if name not in known or not _fits(name, value):
                raise InputRefused("table.bad_option", file=file, option=name, known=", ".join(sorted(known)))
        values: dict[str, Any] = {
            name: tuple(value) if name == "missing" else value for name, value in tree.items()
        }
        return ReadOptions(**values)


OWN_TEXT = ReadOptions(
    format="text",
    encoding="utf-8",
    header=True,
    skip_rows=0,
    decimal=".",
    thousands="",
    escape="",
    line_ends="\n",
)
"""How a text is read that the program wrote to read it again; who writes it adds how its cells are parted."""


def _fits(name: str, value: Any) -> bool:
    if name == "missing":
        return isinstance(value, list | tuple) and all(isinstance(code, str) for code in value)
    if name in ("header", "multiline"):
        return isinstance(value, bool)
    if name in ("skip_rows", "width"):
        whole = isinstance(value, int) and not isinstance(value, bool)
        return whole and (value >= 0 if name == "skip_rows" else 1 <= value <= MOST_COLUMNS)
    if name == "format":
        return value in FORMATS
    if name == "line_ends":
        return value in LINE_ENDS
    if name == "date_order":
        return value in DATE_ORDERS
    if name in ("delimiter", "decimal"):
        return isinstance(value, str) and len(value) == 1
    if name in ("quote", "escape", "thousands"):
        return isinstance(value, str) and len(value) <= 1
    return isinstance(value, str)


def can_decode(encoding: str) -> bool:
    """Say whether text files can be read in an encoding: not every codec of Python is one for them.

    Examples
    --------
    >>> [can_decode(name) for name in ("utf-16", "klingon", "base64", "punycode")]
    [True, False, False, False]
    """
    try:
        return codecs.lookup(encoding).name not in _OF_NAMES and "a".encode(encoding).decode(encoding) == "a"
    except (LookupError, ValueError):
        return False


@dataclass(frozen=True)
class Finding:
    """Something about the rows that the custodian should see: internal, never part of a release.

    Parameters
    ----------
    code
        ``"table.name"``; the sentences stand with the errors, see `engine.texts.sentences`.
    file, column
        Where. ``column`` is empty when the finding is about whole rows.
    count
        How many cells or rows.
    rows
        The first few row numbers, counted from 1 at the first row below the names.
    more
        Further named values: counts, kinds, and codes of a fixed list. Never the content of a cell.
    """

    code: str
    file: str = ""
    column: str = ""
    count: int = 0
    rows: tuple[int, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def values(self) -> dict[str, Any]:
        """The named values of the sentences."""
        named = ", ".join(f"{row:,}" for row in self.rows)
        if self.count > len(self.rows) and self.rows:
            named += ", …"
        return {"file": self.file, "column": self.column, "count": self.count, "rows": named, **self.more}

    def to_json(self) -> dict[str, Any]:
        """Return the finding as plain JSON values."""
        tree: dict[str, Any] = {"code": self.code, "count": self.count}
        if self.column:
            tree["column"] = self.column
        if self.rows:
            tree["rows"] = list(self.rows)
        return {**tree, **self.more}
