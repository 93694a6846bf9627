"""SQL Server (2016 or later): one connection that sends SELECT alone, in a snapshot where there is one.

Its sessions cannot be made to read only: a user who may write the relation is refused.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import pytds

from engine.connector.session import (
    FETCHED,
    LISTED,
    PATIENCE,
    Refused,
    Session,
    column_of,
    digits_of,
    encryption,
    is_exact,
    plain_host,
    stream,
)

_OLDEST = 13  # 2016: since then a hash takes texts of any length
_WHOLE = ("tinyint", "smallint", "int", "bigint")
_TEXTS = ("char", "varchar", "nchar", "nvarchar", "text", "ntext", "sysname", "uniqueidentifier", "xml")
_DECIMALS = ("decimal", "numeric")
_MOMENTS = ("datetime", "datetime2", "smalldatetime")
_ARITHMETIC = ("ANSI_NULLS", "ANSI_WARNINGS", "ARITHABORT", "CONCAT_NULL_YIELDS_NULL", "QUOTED_IDENTIFIER")
_END = "."
"""Stands behind every text: a comparison there takes no notice of blanks at the end."""
_LOST = (6005, 596)


class SqlServer(Session):
    """A connection to SQL Server."""

    count = "COUNT_BIG(*)"
    families: ClassVar[dict[str, str]] = {
        "text": "nvarchar(max)",
        "whole": "bigint",
        "decimal": "decimal(20, 4)",
        "double": "float",
        "yes_no": "bit",
        "day": "date",
        "moment": "datetime2",
    }

    def connect(self, said: Mapping[str, Any]) -> str:
        """Connect; see `Session`."""
        trusted = str(said.get("ca") or "") or ssl.get_default_verify_paths().cafile
        is_encrypted = encryption(said) is not None
        if is_encrypted and not trusted:
            raise Refused("server.tls", "ca")
        host = plain_host(str(said["host"]))
        try:
            self.counted = _Counted(socket.create_connection((host, int(said["port"])), PATIENCE))
        except OSError as error:
            raise Refused("server.unreachable", type(error).__name__) from None
        try:
            self._connection = pytds.connect(
                server=host,
                sock=self.counted,
                port=int(said["port"]),
                database=str(said["database"]),
                user=str(said["user"]),
                password=str(said["password"]),
                cafile=trusted if is_encrypted else None,
                validate_host=True,
                login_timeout=PATIENCE,
                timeout=int(said["seconds"]),
                appname="custos",
                readonly=True,
                autocommit=True,
                disable_connect_retry=True,
            )
        except pytds.LoginError as error:
            raise Refused("server.password", str(getattr(error, "number", ""))) from None
        except (pytds.Error, OSError, ValueError) as error:
            is_secret = "ssl" in str(error).lower() or "certificate" in str(error).lower()
            raise Refused("server.tls" if is_secret else "server.unreachable", type(error).__name__) from None
        return ""

    def set_up(self, said: Mapping[str, Any]) -> None:
        """Have what a query depends on, and refuse a session that does not hold it."""
        ((version,),) = self.rows("SELECT CAST(SERVERPROPERTY('ProductVersion') AS varchar(40)) AS a")
        self._version = str(version)
        if int(self._version.split(".")[0]) < _OLDEST:
            raise Refused("server.old")
        self._set(f"SET {', '.join(_ARITHMETIC)} ON; SET NUMERIC_ROUNDABORT OFF; SET ROWCOUNT 0;")
        for name in _ARITHMETIC:
            ((found,),) = self.rows(f"SELECT SESSIONPROPERTY('{name}') AS a")
            if int(found or 0) != 1:
                raise Refused("server.not_read_only", name)
        ((state,),) = self.rows(
            "SELECT MAX(CAST(snapshot_isolation_state AS int)) AS a FROM sys.databases WHERE name = DB_NAME()"
        )
        if state == 1:
            self._set("SET TRANSACTION ISOLATION LEVEL SNAPSHOT; BEGIN TRANSACTION;")
            self.one_state = True

    def _set(self, sql: str) -> None:
        self.opened.append(sql)
        with self._connection.cursor() as cursor:
            self._execute(cursor, sql)

    def engine(self) -> str:
        """Return name and version of the server."""
        return f"SQL Server {self._version}"

    def snapshot(self) -> str:
        """Return which isolation the queries have."""
        return "snapshot" if self.one_state else ""

    def describe(self, relation: str) -> tuple[str, list[tuple[str, str]]]:
        """Return a relation as it stands behind FROM, and name and type of each of its columns."""
        schema, _, name = relation.rpartition(".")
        source = f"{self.name_of(schema or 'dbo')}.{self.name_of(name)}"
        found = self.rows(
            "SELECT c.name AS a, t.name AS b, c.precision AS c, c.scale AS d FROM sys.tables r"
            " JOIN sys.schemas s ON s.schema_id = r.schema_id JOIN sys.columns c ON c.object_id = r.object_id"
            " JOIN sys.types t ON t.user_type_id = c.system_type_id"
            f" WHERE s.name = {self.text(schema or 'dbo')} AND r.name = {self.text(name)}"
            " AND r.is_external = 0 ORDER BY c.column_id"
        )
        if not found:
            raise Refused("server.no_relation")
        for right in ("INSERT", "UPDATE", "DELETE"):
            ((may,),) = self.rows(f"SELECT HAS_PERMS_BY_NAME({self.text(source)}, 'OBJECT', '{right}') AS a")
            if may != 0:
                raise Refused("server.may_write", right)
        return source, [
            (str(column), f"{kind}({digits}, {scale})" if kind in _DECIMALS else str(kind))
            for column, kind, digits, scale in found
        ]

    def list_relations(self) -> list[list[Any]]:
        """Return the tables that this user may read."""
        found = self.rows(
            f"SELECT TOP ({LISTED}) s.name AS a, r.name AS b,"
            " (SELECT SUM(p.rows) FROM sys.partitions p"
            " WHERE p.object_id = r.object_id AND p.index_id IN (0, 1)) AS c"
            " FROM sys.tables r JOIN sys.schemas s ON s.schema_id = r.schema_id"
            " WHERE r.is_ms_shipped = 0 AND r.is_external = 0 AND CHARINDEX('.', r.name) = 0"
            " AND HAS_PERMS_BY_NAME(QUOTENAME(s.name) + '.' + QUOTENAME(r.name), 'OBJECT', 'SELECT') = 1"
            " ORDER BY s.name, r.name"
        )
        return [[f"{schema}.{name}", -1 if rows is None else int(rows)] for schema, name, rows in found]

    def rows(self, sql: str) -> list[Sequence[Any]]:
        """Return the answer of a small query."""
        self.opened.append(sql)
        return [row for piece in self.pieces(sql) for row in piece]

    def pieces(self, sql: str) -> Iterator[Sequence[Sequence[Any]]]:
        """Give the answer of a query some rows at a time."""
        with self._connection.cursor() as cursor:
            self._execute(cursor, sql)
            while rows := self._fetch(cursor):
                yield rows

    def _execute(self, cursor: Any, sql: str) -> None:
        with _explained():
            cursor.execute(sql)

    def _fetch(self, cursor: Any) -> list[Sequence[Any]]:
        with _explained():
            return list(cursor.fetchmany(FETCHED))

    def answer(self, sql: str, kinds: Sequence[str]) -> Iterator[bytes]:
        """Give the answer of a query piece by piece, without the sign at the end of each text."""
        self.begin(sql)
        for rows in self.pieces(sql):
            columns = list(zip(*rows, strict=True))
            for place, kind in enumerate(kinds):
                if kind == "text":
                    columns[place] = tuple(one and one.removesuffix(_END) for one in columns[place])
            yield stream([column_of(cells, kind) for cells, kind in zip(columns, kinds, strict=True)])

    @staticmethod
    def name_of(value: str) -> str:
        """Return a name as it stands in a query."""
        return "[" + value.replace("]", "]]") + "]"

    @staticmethod
    def text(value: str) -> str:
        """Return a text as it stands in a query; a backslash at the end of a line would join two lines."""
        return (
            "N'" + value.replace("'", "''").replace("\\\n", "\\' + N'\n").replace("\\\r", "\\' + N'\r") + "'"
        )

    @staticmethod
    def cell(column: str, kind: str) -> tuple[str, str]:
        """Return how a raw cell is asked for, so that no two that differ are one, and as what it comes."""
        if kind in _WHOLE:
            return f"CAST({column} AS bigint)", "int64"
        if kind in ("real", "float"):
            return f"(CAST({column} AS float) + 0)", "double"  # −0 and 0 are one cell
        if kind == "bit":
            return f"CAST({column} AS bigint)", "bool"
        if kind == "date":
            return f"DATEDIFF(day, CAST('19700101' AS date), {column})", "day"
        if kind in _MOMENTS:
            since = "CAST('1970-01-01T00:00:00' AS datetime2(6))"
            return f"DATEDIFF_BIG(microsecond, {since}, CAST({column} AS datetime2(6)))", "moment"
        if kind == "datetimeoffset":
            since = "CAST('1970-01-01T00:00:00+00:00' AS datetimeoffset)"
            return f"DATEDIFF_BIG(microsecond, {since}, {column})", "moment_utc"
        if is_exact(kind):
            return f"(CAST({column} AS float) + 0)", "double"
        if digits_of(kind) is not None:
            written = f"CAST({column} AS nvarchar(60))"
        elif kind in ("money", "smallmoney"):  # as a text it has two digits of its four
            written = f"CAST(CAST({column} AS decimal(19, 4)) AS nvarchar(60))"
        elif kind == "time":
            written = f"CONVERT(nvarchar(60), {column}, 114)"
        elif kind in _TEXTS:
            written = f"CAST({column} AS nvarchar(max))"
        else:
            return "CAST(NULL AS nvarchar(1))", "other"
        return f"({written} + N'{_END}') COLLATE Latin1_General_100_BIN2", "text"


class _Counted:
    """The socket of a connection, which counts what goes through it."""

    def __init__(self, plain: socket.socket) -> None:
        self._plain, self.sent, self.received = plain, 0, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plain, name)

    def sendall(self, content: Any, *given: Any) -> None:
        self.sent += len(content)
        self._plain.sendall(content, *given)

    def recv(self, size: int, *given: Any) -> bytes:
        found = self._plain.recv(size, *given)
        self.received += len(found)
        return found

    def recv_into(self, buffer: Any, *given: Any) -> int:
        found = self._plain.recv_into(buffer, *given)
        self.received += found
        return found


class _explained:
    """Say by a code what SQL Server refuses; its own words may hold a cell."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        number = int(getattr(error, "number", 0) or 0)
        if isinstance(error, pytds.ClosedConnectionError) or number in _LOST:
            raise Refused("server.lost", str(number or "")) from None
        if isinstance(error, pytds.TimeoutError):
            raise Refused("server.failed", "seconds") from None
        if isinstance(error, pytds.Error):
            raise Refused("server.failed", str(number or type(error).__name__)) from None
        if isinstance(error, OSError):
            raise Refused("server.lost", type(error).__name__) from None
