"""Oracle Database (12.2 or later): one connection, one read-only transaction with one state of the rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import oracledb

from engine.connector.session import (
    FETCHED,
    LISTED,
    PATIENCE,
    Refused,
    Session,
    encryption,
    plain_host,
    try_address,
)

_OLDEST = (12, 2)
_SETTINGS = {
    "NLS_COMP": "BINARY",
    "NLS_SORT": "BINARY",
    "NLS_NUMERIC_CHARACTERS": ".,",
    "NLS_CALENDAR": "GREGORIAN",
    "NLS_TERRITORY": "AMERICA",
}
_WHOLE_DIGITS = 18
_TEXTS = ("VARCHAR2", "NVARCHAR2", "CHAR", "NCHAR", "ROWID")
_SHUT_OUT = (1017, 28000, 28001, 1045)
_LOST = (28, 3113, 3114, 3135, 1033, 1034, 1089, 12537, 12541, 4011)
_NO_BINARY = ("USING_NLS_COMP", "BINARY", "")


class Oracle(Session):
    """A connection to Oracle."""

    holds_to_reading, one_state = True, True
    families: ClassVar[dict[str, str]] = {
        "text": "VARCHAR2(1000 CHAR)",
        "whole": "NUMBER(18)",
        "decimal": "NUMBER",
        "double": "BINARY_DOUBLE",
        "endless": "BINARY_DOUBLE",
        "day": "DATE",
        "moment": "TIMESTAMP(6)",
    }

    def connect(self, said: Mapping[str, Any]) -> str:
        """Connect; see `Session`."""
        context, host = encryption(said), plain_host(str(said["host"]))
        certificate = try_address(said, context)
        try:
            self._connection = oracledb.connect(
                user=str(said["user"]),
                password=str(said["password"]),
                host=host,
                port=int(said["port"]),
                service_name=str(said["database"]),
                protocol="tcp" if context is None else "tcps",
                ssl_context=context,
                ssl_server_dn_match=True,
                tcp_connect_timeout=PATIENCE,
                retry_count=0,
                program="custos",
            )
        except oracledb.Error as error:
            number = _number_of(error)
            code = "server.password" if number in _SHUT_OUT else "server.unreachable"
            raise Refused("server.tls" if "ssl" in str(error).lower() else code, f"ORA-{number}") from None
        except OSError as error:
            raise Refused("server.unreachable", type(error).__name__) from None
        self._connection.call_timeout = 1000 * int(said["seconds"])
        return certificate

    def set_up(self, said: Mapping[str, Any]) -> None:
        """Begin a transaction that only reads, and sees one state of the rows."""
        self._version = str(self._connection.version)
        if tuple(int(one) for one in self._version.split(".")[:2]) < _OLDEST:
            raise Refused("server.old")
        for name, value in _SETTINGS.items():
            self._set(f"ALTER SESSION SET {name} = '{value}'")
        self._set("SET TRANSACTION READ ONLY")
        told = self.rows("SELECT parameter AS a, value AS b FROM nls_session_parameters")
        found = {str(name): str(value) for name, value in told}
        for name, value in _SETTINGS.items():
            if found.get(name) != value:
                raise Refused("server.not_read_only", name)
        ((encoding,),) = self.rows(
            "SELECT value AS a FROM nls_database_parameters WHERE parameter = 'NLS_CHARACTERSET'"
        )
        if encoding != "AL32UTF8":  # a text of a query could not be written there as it is
            raise Refused("server.encoding")

    def _set(self, sql: str) -> None:
        self.opened.append(sql)
        self._sent += len(sql.encode())
        with _explained(), self._connection.cursor() as cursor:
            cursor.execute(sql)

    _sent, _received = 0, 0

    @property
    def sent(self) -> int:
        """Bytes of the texts of queries: the library does not tell those of its messages."""
        return self._sent

    @property
    def received(self) -> int:
        """Bytes of answers as texts, about: the library does not tell those of its messages."""
        return self._received

    def engine(self) -> str:
        """Return name and version of the server."""
        return f"Oracle Database {self._version}"

    def snapshot(self) -> str:
        """Return which isolation the queries have."""
        return "read only"

    def describe(self, relation: str) -> tuple[str, list[tuple[str, str]]]:
        """Return a relation as it stands behind FROM, and name and type of each of its columns."""
        schema, _, name = relation.rpartition(".")
        owner = self.text(schema) if schema else "USER"
        where = f"owner = {owner} AND table_name = {self.text(name)}"
        is_table = self.rows(f"SELECT 1 AS a FROM all_tables WHERE {where} AND temporary = 'N'")
        if not is_table:
            raise Refused("server.no_relation")
        columns = self.rows(
            "SELECT column_name AS a, data_type AS b, data_precision AS c, data_scale AS d, collation AS e"
            f" FROM all_tab_columns WHERE {where} ORDER BY column_id"
        )
        source = f"{self.name_of(schema)}.{self.name_of(name)}" if schema else self.name_of(name)
        return source, [
            (str(column), _kind(str(kind), digits, scale, str(collation or "")))
            for column, kind, digits, scale, collation in columns
        ]

    def list_relations(self) -> list[list[Any]]:
        """Return the tables that this user may read."""
        found = self.rows(
            "SELECT t.owner AS a, t.table_name AS b, t.num_rows AS c FROM all_tables t"
            " JOIN all_users u ON u.username = t.owner"
            " WHERE u.oracle_maintained = 'N' AND t.temporary = 'N' AND INSTR(t.table_name, '.') = 0"
            f" ORDER BY t.owner, t.table_name FETCH FIRST {LISTED} ROWS ONLY"
        )
        return [[f"{schema}.{name}", -1 if rows is None else int(rows)] for schema, name, rows in found]

    def rows(self, sql: str) -> list[Sequence[Any]]:
        """Return the answer of a small query."""
        self.opened.append(sql)
        return [row for piece in self.pieces(sql) for row in piece]

    def pieces(self, sql: str) -> Iterator[Sequence[Sequence[Any]]]:
        """Give the answer of a query some rows at a time."""
        self._sent += len(sql.encode())
        with self._connection.cursor() as cursor:
            with _explained():
                cursor.execute(sql)
            while rows := self._fetch(cursor):
                self._received += sum(len(str(cell)) for row in rows for cell in row)
                yield rows

    def _fetch(self, cursor: Any) -> list[Sequence[Any]]:
        with _explained():
            return list(cursor.fetchmany(FETCHED))

    def inline(self, names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        """Return what stands behind FROM for rows of expressions."""
        listed = [
            ", ".join(f"{cell} AS {name}" for cell, name in zip(row, names, strict=True)) for row in rows
        ]
        return "(" + " UNION ALL ".join(f"SELECT {row} FROM dual" for row in listed) + ")"

    def _literal(self, cell: str | None, family: str) -> str:
        """Return a cell of a table that stands in the queries; how a day is written is said."""
        if cell is not None and family == "day":
            return f"TO_DATE({self.text(cell)}, 'YYYY-MM-DD')"
        if cell is not None and family == "moment":
            return f"CAST(TO_TIMESTAMP({self.text(cell)}, 'YYYY-MM-DD HH24:MI:SS.FF6') AS TIMESTAMP(6))"
        if cell in ("NaN", "Infinity", "-Infinity"):
            sign = "-" if str(cell).startswith("-") else ""
            return f"{sign}BINARY_DOUBLE_{'NAN' if cell == 'NaN' else 'INFINITY'}"
        return super()._literal(cell, family)

    @staticmethod
    def cell(column: str, kind: str) -> tuple[str, str]:
        """Return how a raw cell is asked for, so that no two that differ are one, and as what it comes."""
        if kind == "BOOLEAN":
            return f"CASE WHEN {column} THEN 1 WHEN NOT {column} THEN 0 END", "bool"
        if kind.startswith("NUMBER(") and int(kind[7:-1]) <= _WHOLE_DIGITS:
            return column, "int64"
        if kind in ("BINARY_FLOAT", "BINARY_DOUBLE"):
            return f"(TO_BINARY_DOUBLE({column}) + 0D)", "double"  # −0 and 0 are one cell
        if kind.startswith(("NUMBER", "FLOAT")):  # a number below one is written without its zero
            return f"REGEXP_REPLACE(TO_CHAR({column}, 'TM9'), '^(-?)\\.', '\\10.')", "text"
        if kind == "DATE":  # which holds a time of the day, too
            return f"TO_CHAR({column}, 'SYYYY-MM-DD HH24:MI:SS')", "moment"
        if kind.startswith("TIMESTAMP"):
            if kind.endswith("TIME ZONE"):
                utc = f"SYS_EXTRACT_UTC(CAST({column} AS TIMESTAMP WITH TIME ZONE))"
                return f"TO_CHAR({utc}, 'SYYYY-MM-DD HH24:MI:SS.FF6')", "moment_utc"
            return f"TO_CHAR({column}, 'SYYYY-MM-DD HH24:MI:SS.FF6')", "moment"
        if kind.startswith("INTERVAL"):
            return f"TO_CHAR({column})", "text"
        if kind.startswith(_TEXTS):
            return f"CAST({column} AS VARCHAR2(4000))" + " COLLATE BINARY" * kind.endswith("!"), "text"
        if kind.startswith("RAW"):
            return f"RAWTOHEX({column})", "text"
        return "CAST(NULL AS VARCHAR2(1))", "other"


def _kind(kind: str, digits: Any, scale: Any, collation: str) -> str:
    """Return the type of a column; a text whose collation would join cells ends in an exclamation mark.

    Examples
    --------
    >>> _kind("NUMBER", 10, 0, ""), _kind("NUMBER", None, None, "")
    ('NUMBER(10)', 'NUMBER')
    >>> _kind("VARCHAR2", None, None, "GERMAN_CI")
    'VARCHAR2!'
    """
    if kind == "NUMBER" and digits is not None and scale is not None and int(scale) <= 0:
        return f"NUMBER({int(digits) - int(scale)})"
    return kind + "!" * (kind.startswith(_TEXTS) and collation not in _NO_BINARY)


def _number_of(error: Exception) -> int:
    first = error.args[0] if error.args else None
    return int(getattr(first, "code", 0) or 0)


class _explained:
    """Say by a code what Oracle refuses; its own words may hold a cell."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, oracledb.Error):
            number = _number_of(error)
            code = "server.lost" if number in _LOST else "server.failed"
            raise Refused(code, f"ORA-{number:05}") from None
        if isinstance(error, OSError):
            raise Refused("server.lost", type(error).__name__) from None
