"""PostgreSQL: one connection, one read-only transaction with one snapshot, answers as Arrow batches."""

from __future__ import annotations

import hashlib
import ipaddress
import ssl
from collections.abc import Iterator, Mapping
from typing import Any

import pg8000.native
import pyarrow as pa

_FETCHED = 50_000
_LISTED = 10_000
_NOTICED = 2  # seconds after which the server ends a query whose asker is gone
_OLDEST = 140_000  # of server_version_num: since then the seconds of a moment are exact
_PATIENCE = 10  # seconds to connect
_KINDS = {
    "text": pa.large_string(),
    "int64": pa.int64(),
    "double": pa.float64(),
    "bool": pa.bool_(),
    "day": pa.date32(),
    "moment": pa.timestamp("us"),
    "moment_utc": pa.timestamp("us", tz="UTC"),
}
_SETTINGS = {
    "default_transaction_read_only": "on",
    "search_path": "pg_catalog",  # whatever somebody has defined under the name of a function
    "standard_conforming_strings": "on",
    "client_encoding": "UTF8",
    "extra_float_digits": "3",
    "datestyle": "ISO, YMD",
}
_WHERE_TABLES_ARE = "('r', 'p', 'm')"  # tables, those in parts, and views that are written down


class Refused(Exception):
    """What cannot be done, by a code of the texts."""

    def __init__(self, code: str, reason: str = "") -> None:
        super().__init__(code)
        self.code, self.reason = code, reason


def is_loopback(host: str) -> bool:
    """Say whether a host is this computer, by its name alone."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Session:
    """A connection to one relation, or to a database whose relations are asked for.

    Parameters
    ----------
    said
        ``host``, ``port``, ``database``, ``user``, ``password``, ``relation`` (empty to have all listed),
        ``seconds`` (that one query may take), ``tls`` (also with this computer) and ``ca`` (a file of
        certificates to trust).

    Raises
    ------
    Refused
        ``server.unreachable``, ``server.password``, ``server.tls``, ``server.old``, ``server.not_read_only``,
        ``server.encoding``, ``server.no_relation``, ``server.lost``, ``server.failed``.
    """

    def __init__(self, said: Mapping[str, Any]) -> None:
        self._connection, certificate = _connect(said)
        self._counted = _Counted(self._connection._sock)
        self._connection._sock = self._counted
        self._said = list[str]()  # every query, but for what `answer` is asked
        for name, value in {**_SETTINGS, "statement_timeout": f"{int(said['seconds'])}s"}.items():
            self._run(f"SET {name} = '{value}'")
        try:
            self._run(f"SET client_connection_check_interval = '{_NOTICED}s'")
        except Refused as refused:  # a server on Windows cannot
            self._said[-1] += f" -- {refused.reason}"
        self._run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        self._refuse_other_settings()
        self.about: dict[str, Any] = {"certificate": certificate}
        if relation := str(said["relation"]):
            self.about |= self._look_at(relation)
        else:
            self.about["relations"] = self._list()
        ((snapshot, version),) = self._run(
            "SELECT CAST(pg_current_snapshot() AS text), current_setting('server_version')"
        )
        self.about |= {"snapshot": snapshot, "engine": f"PostgreSQL {version}", "opened": self._said}
        self.about |= {"sent": self.sent, "received": self.received}

    @property
    def sent(self) -> int:
        """Bytes of queries since the connection was made, before they are encrypted."""
        return self._counted.sent

    @property
    def received(self) -> int:
        """Bytes of answers."""
        return self._counted.received

    def answer(self, sql: str, kinds: list[str]) -> Iterator[bytes]:
        """Give the answer of a query piece by piece, each as a stream of Arrow."""
        self._said.clear()  # whoever asks keeps what was asked
        self._run(f"DECLARE answer NO SCROLL CURSOR FOR {sql}")
        schema = pa.schema([(f"c{place}", _KINDS[kind]) for place, kind in enumerate(kinds)])
        while rows := self._run(f"FETCH FORWARD {_FETCHED} FROM answer"):
            columns = [
                _column(cells, kind) for cells, kind in zip(zip(*rows, strict=True), kinds, strict=True)
            ]
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, schema) as out:
                out.write_batch(pa.record_batch(columns, schema=schema))
            yield sink.getvalue().to_pybytes()
        self._run("CLOSE answer")

    def _run(self, sql: str) -> list[list[Any]]:
        self._said.append(sql)
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
            ((found,),) = self._run(f"SELECT current_setting('{name}')")
            if found != value:
                raise Refused("server.not_read_only", name)
        ((number, encoding),) = self._run(
            "SELECT current_setting('server_version_num'), current_setting('server_encoding')"
        )
        if int(number) < _OLDEST:
            raise Refused("server.old")
        if encoding == "SQL_ASCII":  # bytes of any encoding: one cell could stop a query
            raise Refused("server.encoding")

    def _look_at(self, relation: str) -> dict[str, Any]:
        """Return what a relation is, and how many rows it has."""
        source, cells, kinds = self._describe(relation)
        ((rows,),) = self._run(f"SELECT count(*) FROM {source}")
        return {"source": source, "cells": cells, "kinds": kinds, "rows": int(rows)}

    def _list(self) -> list[list[Any]]:
        """Return the relations that this user may read: the name of each, and how many rows it has, about.

        A name with a point in it could not be told from a schema.
        """
        found = self._run(
            "SELECT n.nspname, c.relname, CAST(c.reltuples AS bigint)"
            " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            f" WHERE c.relkind IN {_WHERE_TABLES_ARE} AND NOT c.relispartition"
            " AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'"
            " AND position('.' in c.relname) = 0"
            " AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')"
            f" ORDER BY n.nspname, c.relname LIMIT {_LISTED}"
        )
        return [[f"{schema}.{name}", int(rows)] for schema, name, rows in found]

    def _describe(self, relation: str) -> tuple[str, dict[str, str], dict[str, str]]:
        """Return the relation as it stands behind FROM, and how each of its columns is asked for."""
        schema, _, name = relation.rpartition(".")
        found = self._run(
            "SELECT c.oid, c.relkind FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            f" WHERE n.nspname = {text(schema or 'public')} AND c.relname = {text(name)}"
        )
        if not found or f"'{found[0][1]}'" not in _WHERE_TABLES_ARE:
            raise Refused("server.no_relation")
        columns = self._run(
            "SELECT a.attname, t.typname FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid"
            f" WHERE a.attrelid = {int(found[0][0])} AND a.attnum > 0 AND NOT a.attisdropped"
            " ORDER BY a.attnum"
        )
        cells, kinds = dict[str, str](), dict[str, str]()
        for column, kind in columns:
            cells[column], kinds[column] = _cell(name_of(column), kind)
        return f"{name_of(schema or 'public')}.{name_of(name)}", cells, kinds


def _cell(column: str, kind: str) -> tuple[str, str]:
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


def _column(cells: tuple[Any, ...], kind: str) -> pa.Array:
    ticks = {"day": pa.int32(), "moment": pa.int64(), "moment_utc": pa.int64()}
    return pa.array(cells, ticks.get(kind, _KINDS[kind])).cast(_KINDS[kind])


def text(value: str) -> str:
    """Return a text as it stands in a query."""
    return "'" + value.replace("'", "''") + "'"


def name_of(value: str) -> str:
    """Return a name as it stands in a query."""
    return '"' + value.replace('"', '""') + '"'


def _connect(said: Mapping[str, Any]) -> tuple[Any, str]:
    """Return the connection and the digest of the certificate that the server showed; none without TLS."""
    host = str(said["host"])
    encrypted: Any = False
    if said.get("tls") or not is_loopback(host):
        try:
            encrypted = ssl.create_default_context(cafile=said.get("ca") or None)
        except (OSError, ssl.SSLError) as error:
            raise Refused("server.tls", type(error).__name__) from None
    try:
        connection = pg8000.native.Connection(
            str(said["user"]),
            host="127.0.0.1" if host == "localhost" else host,
            port=int(said["port"]),
            database=str(said["database"]),
            password=str(said["password"]),
            ssl_context=encrypted,
            timeout=_PATIENCE,
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
    return connection, hashlib.sha256(shown).hexdigest() if shown else ""


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
