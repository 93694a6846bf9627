"""DuckDB, locked: tables of its files, and Parquet files whose raw cells it groups for who only adds up.

It is a library of its own that need not be there. It gets no extension, no file but those that are named, no
network, and no setting once it is locked; what it says of its settings is compared before it reads anything.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from engine.errors import InputRefused
from engine.progress import SILENT, Progress
from engine.table.reading.names import clean_names, refuse_wide
from engine.table.reading.options import Finding, ReadOptions
from engine.table.reading.parquet import column_of, is_long, names_of_parquet
from engine.table.reading.room import NUMBER, Room
from engine.table.table import Table

PACKAGE, VERSIONS = "duckdb", ("2",)
LOCKED = {
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
"""Settings from the beginning."""
SHUT = {"enable_external_access": "false", "lock_configuration": "true"}
"""Settings once it knows its files; the last one forbids every change."""
MEMORY = "1GB"
MOST_DIFFERENT = 1 << 24
"""Different texts that it tells apart at a time: of 43 million keys the memory did not hold the list."""
_BATCH = 1 << 17
_PLAIN = ("BOOLEAN", "DATE", "DOUBLE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")
_WHOLE = tuple(f"{sign}{size}" for sign in ("", "U") for size in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT"))
_SOURCE = "source"


def has_duckdb() -> bool:
    """Say whether a version of DuckDB is installed that this program knows."""
    with suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version(PACKAGE).split(".")[0] in VERSIONS
    return False


class Duck:
    """One relation, read by a locked DuckDB; it answers queries that this program wrote.

    Parameters
    ----------
    paths
        Parquet files with the same columns, or one DuckDB file.
    is_database
        Whether it is a DuckDB file.
    relation
        The table of the DuckDB file, with its schema before it where it is not ``main``; None for the first
        one. Nothing with Parquet files.
    temporary
        A folder for what memory does not hold; None where nothing is kept but what is read through.

    Raises
    ------
    InputRefused
        ``table.no_duckdb``: it is not installed. ``table.duck_not_locked``, ``table.duck_open``,
        ``table.no_such_sheet``, ``table.damaged``.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        is_database: bool = False,
        relation: str | None = None,
        temporary: Path | None = None,
    ) -> None:
        if not has_duckdb():
            raise InputRefused("table.no_duckdb", file=paths[0].name)
        import duckdb

        self.file, self._error = paths[0].name, duckdb.Error
        self.engine = f"DuckDB {duckdb.__version__}"
        self.asked, self.fetched = 0, 0
        """How many queries it was asked, and how many rows came back."""
        self.relation, self.relations = "", tuple[str, ...]()
        self.after: Callable[[], None] = lambda: None
        """Called behind every answer: whether the files are still the same."""
        self._learnt = 0
        with self._explained():
            self._connection = duckdb.connect(":memory:", config=dict(LOCKED))
            self._run(f"SET memory_limit = '{MEMORY}'")
            self._run(f"SET temp_directory = {_text('' if temporary is None else str(temporary))}")
            listed = ", ".join(_text(str(path.absolute())) for path in paths)
            if is_database:
                _refuse_open(paths[0])
                self._run(f"ATTACH {listed} AS {_SOURCE} (READ_ONLY)")
            else:
                self._run(f"SET allowed_paths = [{listed}]")
            for name, value in SHUT.items():
                self._run(f"SET {name} = {value}")
            self._refuse_open_settings()
            self._describe_table(relation) if is_database else self._describe_files(listed, paths[0])

    def _describe_files(self, listed: str, first: Path) -> None:
        self.source = f"read_parquet([{listed}], hive_partitioning = false)"
        described = self._run(f"DESCRIBE SELECT * FROM {self.source}")
        columns = [(str(name), str(kind)) for name, kind, *_ in described]
        if clean_names([name for name, _ in columns], len(columns), "")[0] != names_of_parquet(first):
            # names that differ in capitals alone are the same to DuckDB
            raise InputRefused("table.duck_failed", file=self.file, reason="names")
        self._take_columns(columns, has_collations=False)

    def _describe_table(self, relation: str | None) -> None:
        listed = self._run(
            f"SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = '{_SOURCE}'"
            " ORDER BY schema_name, table_name"
        )
        tables = {
            str(name) if schema == "main" else f"{schema}.{name}": (schema, name) for schema, name in listed
        }
        self.relations = tuple(tables)
        if not tables:
            raise InputRefused("table.empty_file", file=self.file)
        relation = self.relations[0] if relation is None else relation
        if relation not in tables:
            raise InputRefused("table.no_such_sheet", file=self.file, found=relation, known=", ".join(tables))
        schema, name = tables[relation]
        self.relation, self.source = relation, ".".join(map(_name, (_SOURCE, schema, name)))
        where = (
            f"database_name = '{_SOURCE}' AND schema_name = {_text(schema)} AND table_name = {_text(name)}"
        )
        columns = self._run(
            f"SELECT column_name, data_type FROM duckdb_columns() WHERE {where} ORDER BY column_index"
        )
        self._take_columns([(str(name), str(kind)) for name, kind in columns], has_collations=True)

    def _take_columns(self, columns: list[tuple[str, str]], *, has_collations: bool) -> None:
        """Say what each column is called here, how its cells are asked for, and as what they come."""
        refuse_wide(len(columns), self.file)
        names, found = clean_names([name for name, _ in columns], len(columns), self.file)
        self.found: Sequence[Finding] = found
        self.cells: Mapping[str, str] = {
            name: _cell(_name(written), kind, has_collations)
            for name, (written, kind) in zip(names, columns, strict=True)
        }
        ((self.rows,),) = self._run(f"SELECT count(*) FROM {self.source}")
        self.kinds: Mapping[str, pa.DataType] = {}
        if names:
            asked = ", ".join(f"{cell} AS c{place}" for place, cell in enumerate(self.cells.values()))
            with self._batches(f"SELECT {asked} FROM {self.source} LIMIT 0") as (kinds, _):
                self.kinds = dict(zip(names, (plain_kind(field.type) for field in kinds), strict=True))

    tier, count = "grouped", "count"

    def answers(
        self, sql: str, names: Sequence[str], numbers: int = 1
    ) -> Iterator[tuple[list[pa.Array], list[pa.Array]]]:
        """Give the answer of a query piece by piece: columns of the relation, then numbers.

        Parameters
        ----------
        sql
            Of this program; its first columns are cells of the relation.
        names
            Which ones.
        numbers
            How many columns stand behind them.
        """
        self.asked += 1
        with self._explained(), self._batches(sql) as (_, batches):
            for batch in batches:
                if batch.num_rows:
                    self.fetched += batch.num_rows
                    columns = batch.columns
                    cells = [
                        one.cast(self.kinds[name])
                        for name, one in zip(names, columns[: len(names)], strict=True)
                    ]
                    yield cells, list(columns[len(names) :])
        self.after()

    def shares(self, cell: str) -> list[str]:
        """Return conditions of which each cell fulfils one, so that memory holds all that fulfil it."""
        count = -(-self.rows // MOST_DIFFERENT)
        return [f"hash({cell}) % {count} = {part}" for part in range(count)] if count > 1 else [""]

    def learn(self, name: str, cells: pa.Array, forms: pa.Array) -> str:
        """Keep cells of a column and how each is written in another form, for queries to join."""
        self._learnt += 1
        kept = f"memory.main.learnt_{self._learnt}"
        columns = ["cell", "form"]
        if self.cells[name].startswith("encode("):
            columns = [f"encode({one}) AS {one}" for one in columns]
        with self._explained(), self._cursor() as cursor:
            cursor.register("given", pa.table({"cell": cells, "form": forms}))
            cursor.sql(f"CREATE TABLE {kept} AS SELECT {', '.join(columns)} FROM given")
        return kept

    def keep(self, sql: str) -> str:
        """Keep the answer of a query, on the disk where memory does not hold it, and return its name."""
        self._learnt += 1
        kept = f"memory.main.learnt_{self._learnt}"
        self.asked += 1
        with self._explained():
            self._run(f"CREATE TABLE {kept} AS {sql}")
        self.after()
        return kept

    def lot(self, salt: Sequence[int], columns: Sequence[str]) -> str:
        """Return a number that follows from a salt and some columns; the outer hash mixes their sum."""
        words = [f"{int(word)}::UBIGINT" for word in salt]
        return f"hash(hash({', '.join([*words, *columns])}))"

    content = ""
    """Of what the files hold, their digests tell."""

    def confirm(self) -> None:
        """Refuse files that are no longer as they were; so does every answer."""
        self.after()

    @property
    def about(self) -> dict[str, Any]:
        """What more the internal evidence says: nothing."""
        return {}

    def close(self) -> None:
        """Let the file go, and what was kept."""
        self._connection.close()

    def _run(self, sql: str) -> list[tuple[Any, ...]]:
        with self._cursor() as cursor:
            found = cursor.sql(sql)
            return [] if found is None else list(found.fetchall())

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        cursor = self._connection.cursor()
        try:
            yield cursor
        finally:
            cursor.close()

    @contextmanager
    def _batches(self, sql: str) -> Iterator[tuple[pa.Schema, Iterator[pa.RecordBatch]]]:
        with self._cursor() as cursor:
            reader = cursor.sql(sql).to_arrow_reader(_BATCH)
            yield reader.schema, reader

    def _refuse_open_settings(self) -> None:
        wanted = LOCKED | SHUT
        said = dict(self._run("SELECT name, value FROM duckdb_settings()"))
        if any(said.get(name) != value for name, value in wanted.items()):
            raise InputRefused("table.duck_not_locked", file=self.file)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say in words what DuckDB refuses; its own words may hold a cell."""
        try:
            yield
        except (self._error, pa.ArrowException) as error:
            if "lock on file" in str(error):
                raise InputRefused("table.duck_open", file=self.file) from None
            raise InputRefused("table.duck_failed", file=self.file, reason=type(error).__name__) from None


def _refuse_open(path: Path) -> None:
    """Refuse a file beside which changes wait that it does not hold yet."""
    if path.with_name(f"{path.name}.wal").exists():
        raise InputRefused("table.duck_open", file=path.name)


def _cell(column: str, kind: str, has_collations: bool) -> str:
    """Return how a raw cell is asked for, so that no two that differ are one.

    A column may declare that ``f`` and ``F`` are alike; bytes are not. What Arrow has no plain type for comes
    as text.
    """
    if kind in ("FLOAT", "DOUBLE"):
        return f"({column} + CAST(0 AS DOUBLE))"  # −0 and 0 are one cell
    if kind == "VARCHAR":
        return f"encode({column})" if has_collations else column
    if kind in (*_PLAIN, *_WHOLE, "TIMESTAMP WITH TIME ZONE") or kind.startswith("DECIMAL"):
        return column
    return f"encode(CAST({column} AS VARCHAR))"


def plain_kind(kind: pa.DataType) -> pa.DataType:
    """Return the type of a column that came as bytes of texts."""
    is_text = pa.types.is_binary(kind) or pa.types.is_string(kind) or pa.types.is_large_binary(kind)
    return pa.large_string() if is_text else kind


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _name(value: str) -> str:
    return '"' + value.replace('"', '""') + '"'


# --- a table of a DuckDB file, as any other file ----------------------------------------------------------


def duckdb_pieces(path: Path, *, options: ReadOptions, progress: Progress = SILENT) -> Iterator[Table]:
    """Read a table of a DuckDB file some rows at a time, in the order in which they lie there.

    Raises
    ------
    InputRefused
        As `Duck`; ``table.empty_file``, ``table.no_rows``, ``table.unpacks_too_large``.
    """
    with _opened(path, options) as duck:
        names, room = tuple(duck.cells), Room(path)
        if not names:
            raise InputRefused("table.empty_file", file=path.name)
        if not duck.rows:
            raise InputRefused("table.no_rows", file=path.name)
        room.take(duck.rows * len(names) * NUMBER, in_pieces=True)
        long = long_columns(duck, names)
        asked = ", ".join(f"{cell} AS c{place}" for place, cell in enumerate(duck.cells.values()))
        found, read, known = tuple(duck.found), 0, replace(options, sheet=duck.relation)
        for cells, _ in duck.answers(f"SELECT {asked} FROM {duck.source}", names):
            room.take(sum(one.nbytes for one in cells), in_pieces=True)
            progress.step(read / duck.rows, "table.read")
            yield table_of(names, cells, long, options=known, file=path.name, found=found)
            found, read = (), read + len(cells[0])


def read_duckdb(path: Path, *, options: ReadOptions, progress: Progress = SILENT) -> Table:
    """Read a table of a DuckDB file."""
    return Table.joined(list(duckdb_pieces(path, options=options, progress=progress)))


@dataclass(frozen=True)
class Looked:
    """What a DuckDB file says of a table of it: columns and their types, its name, and the other tables."""

    kinds: Mapping[str, pa.DataType]
    rows: int
    relation: str
    relations: tuple[str, ...]


def look_into(path: Path, options: ReadOptions) -> Looked:
    """Return what a DuckDB file says of a table of it, without reading a row."""
    with _opened(path, options) as duck:
        return Looked(duck.kinds, duck.rows, duck.relation, duck.relations)


@contextmanager
def _opened(path: Path, options: ReadOptions) -> Iterator[Duck]:
    duck = Duck([path], is_database=True, relation=options.sheet)
    try:
        yield duck
    finally:
        duck.close()


def long_columns(duck: Any, names: Sequence[str]) -> frozenset[str]:
    """Return the columns of whole numbers that are kept as digits, see `engine.table.reading.parquet`."""
    found = set()
    for name in names:
        if duck.kinds[name] in (pa.int64(), pa.uint64()):
            cell = duck.cells[name]
            asked = f"min({cell}) AS c0, max({cell}) AS c1, {duck.count}(*) - {duck.count}({cell}) AS n"
            answer = duck.answers(f"SELECT {asked} FROM {duck.source}", (name, name))
            for (low, high), (gaps,) in answer:
                ends = [abs(end or 0) for one in (low, high) for end in one.to_pylist()]
                if is_long(max(ends), has_gaps=gaps.to_pylist() != [0]):
                    found.add(name)
    return frozenset(found)


def table_of(
    names: Sequence[str],
    cells: Sequence[pa.Array],
    long: frozenset[str],
    *,
    options: ReadOptions,
    file: str,
    found: Sequence[Finding] = (),
) -> Table:
    """Return raw cells as a table, stored as those of a Parquet file are."""
    columns: dict[str, pd.Series] = {}
    findings = list(found)
    for name, one in zip(names, cells, strict=True):
        chunked = pa.chunked_array([one.cast(pa.string()) if name in long else one])
        stored = column_of(chunked, name, options=options, file=file)
        columns[name] = stored.values.reset_index(drop=True)
        findings.extend(stored.findings)
    length = len(cells[0]) if cells else 0
    frame = pd.DataFrame(columns, index=pd.RangeIndex(length), copy=False)
    return Table(frame, source=file, options=options, findings=findings)
