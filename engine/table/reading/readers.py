"""The one way into the program for a file: find out what it is, read it, explain what cannot be read."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from engine.errors import InputRefused
from engine.progress import SILENT, Progress
from engine.table.reading.detect import Detection
from engine.table.reading.duck import duckdb_pieces, look_into, read_duckdb
from engine.table.reading.excel import OLE, detect_excel, read_excel, refuse_old_or_locked
from engine.table.reading.names import clean_names
from engine.table.reading.options import SERVER_ENDING, SERVER_FORMATS, ReadOptions
from engine.table.reading.parquet import names_of_parquet, parquet_pieces, read_parquet
from engine.table.reading.room import refuse_more_than_memory
from engine.table.reading.statistics_packages import names_of_package, read_statistics_package
from engine.table.reading.text import can_cut, detect_file, read_text, text_pieces
from engine.table.schema import Kind, Schema
from engine.table.table import Table

SUFFIXES = {
    ".csv": "text",
    ".tsv": "text",
    ".tab": "text",
    ".txt": "text",
    ".dat": "text",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".sav": "spss",
    ".zsav": "spss",
    ".por": "spss",
    ".dta": "stata",
    ".sas7bdat": "sas",
    ".xpt": "sas_transport",
    ".duckdb": "duckdb",
    ".ddb": "duckdb",
    SERVER_ENDING: "server",
}
"""Endings of the files that can be read, and the format that each promises."""

_SAS = bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
_MAGIC = (
    (b"PAR1", "parquet"),
    (b"$FL2", "spss"),
    (b"$FL3", "spss"),
    (b"<stata_dta>", "stata"),
    (b"HEADER RECORD*******LIB", "sas_transport"),
    (b"PK\x03\x04", "excel"),
)
_FOREIGN = (
    b"\x1f\x8b",
    b"%PDF",
    b"SQLite format 3\0",
    b"7z\xbc\xaf",
    b"Rar!",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"{\\rtf",
    b"ARROW1\0\0",
)
_MARKED_UP = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:\{\s*\"|\[\s*[\[{]|<(?:\?xml|!doctype|html|table|head|meta|body)\b)",
    re.IGNORECASE,
)
"""How JSON, XML and pages begin: their first row would be read as names of columns."""


def read_table(
    path: str | os.PathLike[str],
    *,
    options: ReadOptions | None = None,
    schema: Schema | None = None,
    progress: Progress = SILENT,
) -> Table:
    """Read a table from a file of any known format.

    Parameters
    ----------
    path
        CSV, TSV or other delimited text, Excel (.xlsx), Parquet, SPSS, Stata or SAS.
    options
        What is known about the file; the rest is found out.
    schema
        Columns declared ``text``, ``category`` or ``ordinal`` are kept as they are written. A first row that
        looks like values holds the names all the same where it has names of the schema (“2020”), unless
        ``options`` say whether there are names.
    progress
        Told where the work is; its Stop raises `engine.errors.Cancelled`.

    Returns
    -------
    Table
        With the options used and what was noticed in `Table.findings`. Every cell is kept, except rows with
        more cells than there are columns, which are reported with their numbers.

    Raises
    ------
    InputRefused
        ``table.*``: each names the file, what was found, and what to do.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "people.csv"
    ...     _ = file.write_text("name;age;weight\\nA;41;70,5\\nB;39;80\\n")
    ...     table = read_table(file)
    >>> table.names, table.n_rows, table.options.delimiter, table.options.decimal
    (('name', 'age', 'weight'), 2, ';', ',')
    """
    place = Path(path)
    given = options or ReadOptions()
    with _settled(place):
        refuse_more_than_memory(place.name, place.stat().st_size)
        given = replace(given, format=given.format or format_of(place))
        table = _read(place, given, schema, progress)
        if schema is not None and given.header is None and table.options.header is False:
            table = _with_names_of(
                schema, table, lambda: _read(place, replace(given, header=True), schema, progress)
            )
    progress.step(1.0, "table.read")
    return table


def read_pieces(
    path: str | os.PathLike[str],
    *,
    options: ReadOptions | None = None,
    schema: Schema | None = None,
    progress: Progress = SILENT,
) -> Iterator[Table]:
    """Read a table piece by piece where its format allows it, in one piece otherwise; see `read_table`.

    Whoever takes the pieces one after the other and lets them go needs memory for one at a time.
    """
    place = Path(path)
    given = options or ReadOptions()
    with explain_file_errors(place):
        given = replace(given, format=given.format or format_of(place))
    if given.format == "parquet":
        pieces = parquet_pieces(place, options=given, progress=progress)
    elif given.format == "duckdb":
        pieces = duckdb_pieces(place, options=given, progress=progress)
    elif given.format == "text" and can_cut(given):
        pieces = text_pieces(place, options=given, as_written=_as_written(schema), progress=progress)
    else:
        yield read_table(place, options=given, schema=schema, progress=progress)
        return
    with _settled(place):
        yield from pieces
    progress.step(1.0, "table.read")


@contextmanager
def _settled(place: Path) -> Iterator[None]:
    """Say in words what the file system refuses, and refuse a file that changes while it is read."""
    with explain_file_errors(place):
        before = place.stat()
        yield
        after = place.stat()
    if (before.st_size, before.st_mtime_ns, before.st_ino) != (
        after.st_size,
        after.st_mtime_ns,
        after.st_ino,
    ):
        raise InputRefused("table.changed_while_read", file=place.name)


def _read(place: Path, given: ReadOptions, schema: Schema | None, progress: Progress) -> Table:
    if given.format == "text":
        return read_text(place, options=given, as_written=_as_written(schema), progress=progress)
    if given.format == "excel":
        return read_excel(place, options=given, as_written=_as_written(schema), progress=progress)
    if given.format == "parquet":
        return read_parquet(place, options=given, progress=progress)
    if given.format in SERVER_FORMATS:
        raise InputRefused("server.only_groups", file=place.name)
    if given.format == "duckdb":
        return read_duckdb(place, options=given, progress=progress)
    return read_statistics_package(place, options=given, progress=progress)


def _with_names_of(schema: Schema, table: Table, with_names: Callable[[], Table]) -> Table:
    """Return the table as it reads with names in its first row, where more of them are the schema's."""
    wanted = {column.name for column in schema.columns}
    if wanted <= set(table.names) or table.n_rows < 2:
        return table
    named = with_names()
    return named if len(wanted & set(named.names)) > len(wanted & set(table.names)) else table


def detect(path: str | os.PathLike[str], *, options: ReadOptions | None = None) -> Detection:
    """Find out how a file is written without reading all of it.

    Parameters
    ----------
    path
        The file.
    options
        What is known already; it is kept, and the rest is found out with it.

    Returns
    -------
    Detection
        Options with every field filled, the reasons, the names and, for the load screen, the first rows.

    Raises
    ------
    InputRefused
        As `read_table`.
    """
    place = Path(path)
    given = options or ReadOptions()
    with explain_file_errors(place):
        kind = given.format or format_of(place)
        given = replace(given, format=kind)
        if kind == "text":
            return detect_file(place, given=given)
        if kind == "excel":
            return detect_excel(place, given=given)
        if kind == "duckdb":
            found = look_into(place, given)
            given = replace(given, sheet=found.relation)
            return Detection(given, names=tuple(found.kinds), width=len(found.kinds), sheets=found.relations)
        table = read_table(place, options=given)
    return Detection(table.options, names=table.names, width=len(table.names))


def names_of(path: Path, *, options: ReadOptions) -> tuple[str, ...]:
    """Return the names of the columns of a file, reading no row but the first ones of a text or a sheet.

    Raises
    ------
    InputRefused
        ``table.*``.
    """
    with explain_file_errors(path):
        given = replace(options, format=options.format or format_of(path))
        if given.format == "parquet":
            return names_of_parquet(path)
        if given.format == "duckdb":
            return tuple(look_into(path, given).kinds)
        if given.format not in ("text", "excel"):
            return names_of_package(path, options=given)
        found = detect(path, options=given)
        return clean_names(found.names, found.width, path.name)[0]


def _as_written(schema: Schema | None) -> frozenset[str]:
    if schema is None:
        return frozenset()
    kinds = (Kind.TEXT, Kind.CATEGORY, Kind.ORDINAL)
    return frozenset(column.name for column in schema.columns if column.kind in kinds)


@contextmanager
def explain_file_errors(path: Path) -> Iterator[None]:
    """Turn what the file system says into what a person can act on."""
    try:
        if "\0" in str(path):  # no file can have such a name
            raise InputRefused("table.not_found", file=path.name[:100])
        if path.is_dir():
            raise InputRefused("table.folder", file=path.name)
        if path.exists() and not path.is_file():  # a pipe would be waited for without end
            raise InputRefused("table.no_regular_file", file=path.name)
        yield
    except FileNotFoundError as error:
        raise InputRefused("table.not_found", file=path.name) from error
    except PermissionError as error:
        raise InputRefused("table.not_permitted", file=path.name) from error
    except MemoryError as error:
        raise InputRefused("table.too_large", file=path.name) from error
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG or not path.exists():
            raise InputRefused("table.not_found", file=path.name[:100]) from error
        raise InputRefused("table.unreadable", file=path.name) from error


def format_of(path: Path) -> str:
    """Say what a file is, by its first bytes and then by its ending."""
    with path.open("rb") as source:
        start = source.read(64)
    promised = SUFFIXES.get(path.suffix.lower())
    if not start:
        raise InputRefused("table.empty_file", file=path.name)
    if start.startswith(OLE):
        refuse_old_or_locked(path)
    for magic, kind in _MAGIC:
        if start.startswith(magic):
            if kind == "excel" and promised != "excel":
                raise InputRefused("table.unknown_format", file=path.name, known=", ".join(SUFFIXES))
            return kind
    if _SAS in start:
        return "sas"
    if promised in SERVER_FORMATS:
        return promised
    if start[8:12] == b"DUCK":
        return "duckdb"
    if any(start.startswith(magic) for magic in _FOREIGN) or _MARKED_UP.match(start):
        raise InputRefused("table.unknown_format", file=path.name, known=", ".join(SUFFIXES))
    if promised == "stata" and start[0] in range(102, 120) and start[1] in (1, 2):
        return "stata"
    if promised == "spss" and path.suffix.lower() == ".por":
        return "spss"
    if promised in (None, "text"):
        return "text"  # whether it is text at all is found out next
    raise InputRefused("table.damaged", file=path.name, format=promised)
