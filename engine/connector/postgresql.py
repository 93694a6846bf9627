"""PostgreSQL: one connection, one read-only transaction with one snapshot, answers as Arrow batches."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import pg8000.native

from engine.connector.session import (
    FETCHED,
    LISTED,
    PATIENCE,
    Refused,
    Session,
    digest,
    encryption,
    plain_host,
)

_NOTICED = 2  # seconds after which the server ends a query whose asker is gone
_OLDEST = 140_000  # of server_version_num: since then the seconds of a moment are exact
_SETTINGS = {
    "default_transaction_read_only": "on",
    "search_path": "pg_catalog",  # whatever somebody has defined under the name of a function
    "standard_conforming_strings": "on",
    "client_encoding": "UTF8",
    "extra_float_digits": "3",
    "datestyle": "ISO, YMD",
}
_WHERE_TABLES_ARE = "('r', 'p', 'm')"  # tables, those in parts, and views that are written down


class Postgresql(Session):
    """A connection to PostgreSQL 14 or later."""

    holds_to_reading, one_state = True, True
    families: ClassVar[dict[str, str]] = {
        "text": "text",
        "whole": "int8",
        "decimal": "numeric",
        "double": "float8",
        "endless": "float8",
        "yes_no": "bool",
        "day": "date",
        "moment": "timestamp",
    }

    def connect(self, said: Mapping[str, Any]) -> str:
        """Connect; see `Session`."""
        self._connection, certificate = _connect(said)
        self.counted = _Counted(self._connection._sock)
        self._connection._sock = self.counted
        return certificate

    def set_up(self, said: Mapping[str, Any]) -> None:
        """Begin a transaction that only reads, and sees one state of the rows."""
        for name, value in {**_SETTINGS, "statement_timeout": f"{int(said['seconds'])}s"}.items():
            self.rows(f"SET {name} = '{value}'")
        try:
            self.rows(f"SET client_connection_check_interval = '{_NOTICED}s'")
        except Refused as refused:  # a server on Windows cannot
            self.opened[-1] += f" -- {refused.reason}"
        self.rows("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        self._refuse_other_settings()

    def engine(self) -> str:
        """Return name and version of the server."""
        ((version,),) = self.rows("SELECT current_setting('server_version')")
        return f"PostgreSQL {version}"

    def snapshot(self) -> str:
        """Return which transactions are seen."""
        ((snapshot,),) = self.rows("SELECT CAST(pg_current_snapshot() AS text)")
        return str(snapshot)

    def pieces(self, sql: str) -> Iterator[Sequence[Sequence[Any]]]:
        """Give the answer of a query some rows at a time."""
        self.rows(f"DECLARE answer NO SCROLL CURSOR FOR {sql}")
        while rows := self.rows(f"FETCH FORWARD {FETCHED} FROM answer"):
            yield rows
        self.rows("CLOSE answer")

    def rows(self, sql: str) -> list[Sequence[Any]]:
        """Return the answer of a small query."""
        self.opened.append(sql)
        try:
            return list(self._connection.run(sql) or ())
        except pg8000.native.DatabaseError as error:
            said = error.args[0] if error.args and isinstance(error.args[0], dict) else {}
            state = str(said.get("C", ""))
            # the server goes down, or the administrator ends the connection
            raise Refused("server.lost" if state.startswith("57P") else "server.failed", state) from None
        except (pg8000.native.InterfaceError, OSError) as error:
            raise Refused("server.lost", type(error).__name__) from None

    def _refuse_other_settings(self) -> None:
        """Refuse a session that is not what was asked for, whatever the server's own settings are."""
        wanted = {
            **_SETTINGS,
            "transaction_read_only": "on",
            "transaction_isolation": "repeatable read",
        }
        for name, value in wanted.items():
            ((found,),) = self.rows(f"SELECT current_setting('{name}')")
            if found != value:
                raise Refused("server.not_read_only", name)
        ((number, encoding),) = self.rows(
            "SELECT current_setting('server_version_num'), current_setting('server_encoding')"
        )
        if int(number) < _OLDEST:
            raise Refused("server.old")
        if encoding == "SQL_ASCII":  # bytes of any encoding: one cell could stop a query
            raise Refused("server.encoding")

    def list_relations(self) -> list[list[Any]]:
        """Return the relations that this user may read: the name of each, and how many rows it has, about.

        A name with a point in it could not be told from a schema.
        """
        found = self.rows(
            "SELECT n.nspname, c.relname, CAST(c.reltuples AS bigint)"
            " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            f" WHERE c.relkind IN {_WHERE_TABLES_ARE} AND NOT c.relispartition"
            " AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'"
            " AND position('.' in c.relname) = 0"
            " AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')"
            f" ORDER BY n.nspname, c.relname LIMIT {LISTED}"
        )
        return [[f"{schema}.{name}", int(rows)] for schema, name, rows in found]

    def describe(self, relation: str) -> tuple[str, list[tuple[str, str]]]:
        """Return a relation as it stands behind FROM, and name and type of each of its columns."""
        schema, _, name = relation.rpartition(".")
        found = self.rows(
            "SELECT c.oid, c.relkind FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            f" WHERE n.nspname = {self.text(schema or 'public')} AND c.relname = {self.text(name)}"
        )
        if not found or f"'{found[0][1]}'" not in _WHERE_TABLES_ARE:
            raise Refused("server.no_relation")
        columns = self.rows(
            "SELECT a.attname, t.typname FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid"
            f" WHERE a.attrelid = {int(found[0][0])} AND a.attnum > 0 AND NOT a.attisdropped"
            " ORDER BY a.attnum"
        )
        return f"{self.name_of(schema or 'public')}.{self.name_of(name)}", [
            (str(a), str(b)) for a, b in columns
        ]

    @staticmethod
    def cell(column: str, kind: str) -> tuple[str, str]:
        """Return how a raw cell is asked for, so that no two that differ are one, and as what it comes.

        No cell can stop a query: nothing is parsed, and what has no end is missing.
        """
        if kind in ("int2", "int4", "int8"):
            return f"CAST({column} AS bigint)", "int64"
        if kind in ("float4", "float8"):
            return f"(CAST({column} AS float8) + 0)", "double"  # −0 and 0 are one cell
        if kind == "bool":
            return column, "bool"
        if kind == "date":
            return f"CASE WHEN isfinite({column}) THEN {column} - DATE '1970-01-01' END", "day"
        if kind in ("timestamp", "timestamptz"):
            ticks = f"CAST(extract(epoch FROM {column}) * 1000000 AS bigint)"
            return f"CASE WHEN isfinite({column}) THEN {ticks} END", "moment" + "_utc" * (kind[-2:] == "tz")
        return f'CAST({column} AS text) COLLATE "C"', "text"  # bytes: no collation makes f and F one


def _connect(said: Mapping[str, Any]) -> tuple[Any, str]:
    """Return the connection and the digest of the certificate that the server showed; none without TLS."""
    encrypted = encryption(said)
    try:
        connection = pg8000.native.Connection(
            str(said["user"]),
            host=plain_host(str(said["host"])),
            port=int(said["port"]),
            database=str(said["database"]),
            password=str(said["password"]),
            ssl_context=encrypted,
            timeout=PATIENCE,
            application_name="custos",
        )
    except pg8000.native.DatabaseError as error:
        detail = error.args[0] if error.args and isinstance(error.args[0], dict) else {}
        state = str(detail.get("C", ""))
        raise Refused("server.password" if state.startswith("28") else "server.failed", state) from None
    except ssl.SSLError as error:
        raise Refused("server.tls", type(error).__name__) from None
    except (pg8000.native.InterfaceError, OSError) as error:
        code = "server.tls" if "SSL" in str(error) else "server.unreachable"
        raise Refused(code, type(error.__cause__ or error).__name__) from None
    connection._usock.settimeout(None)  # a query may take its time
    shown = connection._usock.getpeercert(binary_form=True) if encrypted else b""
    return connection, digest(shown)


class _Counted:
    """The stream of a connection, which counts what goes through it."""

    def __init__(self, stream: Any) -> None:
        self._stream, self.sent, self.received = stream, 0, 0

    def write(self, content: bytes) -> None:
        self.sent += len(content)
        self._stream.write(content)

    def read(self, size: int) -> bytes:
        found = self._stream.read(size)
        self.received += len(found)
        return bytes(found)

    def flush(self) -> None:
        self._stream.flush()

    def close(self) -> None:
        self._stream.close()
