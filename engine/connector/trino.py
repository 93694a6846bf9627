"""Trino: one address, asked over HTTP one SELECT at a time; a table of a catalogue.

Catalogues of Trino show one state of the rows or none: whoever asks compares it, see `engine.table.server`.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import requests
import trino.dbapi
from requests.adapters import HTTPAdapter
from requests.exceptions import InvalidSchema
from trino.auth import BasicAuthentication
from trino.exceptions import DatabaseError, HttpError, TrinoConnectionError, TrinoQueryError

from engine.connector.session import (
    FETCHED,
    LISTED,
    PATIENCE,
    Refused,
    Session,
    digits_of,
    encryption,
    is_exact,
    plain_host,
    try_address,
)

_WHOLE = ("tinyint", "smallint", "integer", "bigint")
_SPOOLED = "X-Trino-Query-Data-Encoding"  # whoever says it is sent to other addresses for the answer
_OLDEST = 400
_OF_THE_SERVER = ("information_schema",)
_NOT_THERE = ("TABLE_NOT_FOUND", "SCHEMA_NOT_FOUND", "CATALOG_NOT_FOUND", "MISSING_CATALOG_NAME")


class Trino(Session):
    """A user of Trino who asks one catalogue."""

    families: ClassVar[dict[str, str]] = {
        "text": "varchar",
        "whole": "bigint",
        "decimal": "decimal(20, 4)",
        "double": "double",
        "endless": "double",
        "yes_no": "boolean",
        "day": "date",
        "moment": "timestamp(6)",
    }

    def connect(self, said: Mapping[str, Any]) -> str:
        """Connect; see `Session`."""
        host, port, secret = plain_host(str(said["host"])), int(said["port"]), str(said["password"])
        context = encryption(said)
        certificate = try_address(said, context)
        scheme = "http" if context is None else "https"
        session = requests.Session()
        session.trust_env = False  # no proxy, and no password of a file
        session.adapters.clear()  # there is a way to this address, and to no other that an answer may name
        self.counted = _OneAddress(context)
        session.mount(f"{scheme}://{host}:{port}/", self.counted)
        self._database, self._seconds = str(said["database"]), int(said["seconds"])
        self._connection = trino.dbapi.connect(
            host=host,
            port=port,
            user=str(said["user"]),
            source="custos",
            catalog=self._database,
            http_scheme=scheme,
            http_session=session,
            auth=BasicAuthentication(str(said["user"]), secret) if secret else None,
            allow_insecure_auth=context is None,  # with this computer alone, see `encryption`
            max_attempts=2,
            request_timeout=(PATIENCE, self._seconds),
            timezone="UTC",
            session_properties={"query_max_run_time": f"{self._seconds}s"},
            heartbeat_interval=None,
        )
        return certificate

    def set_up(self, said: Mapping[str, Any]) -> None:
        """Refuse a server of which it is not known that two cells which differ are two."""
        ((version, zone),) = self.rows("SELECT version() AS a, current_timezone() AS b")
        self._version = str(version)
        number = re.match(r"\d+", self._version)
        if number is None or int(number[0]) < _OLDEST:
            raise Refused("server.old")
        if zone != "UTC":
            raise Refused("server.not_read_only", "timezone")

    def engine(self) -> str:
        """Return name and version of the server."""
        return f"Trino {self._version}"

    def describe(self, relation: str) -> tuple[str, list[tuple[str, str]]]:
        """Return a relation as it stands behind FROM, and name and type of each of its columns."""
        schema, _, name = relation.rpartition(".")
        catalogue = self.name_of(self._database)
        where = f"table_schema = {self.text(schema)} AND table_name = {self.text(name)}"
        found = self.rows(f"SELECT table_type FROM {catalogue}.information_schema.tables WHERE {where}")
        if [str(kind) for (kind,) in found] != ["BASE TABLE"]:
            raise Refused("server.no_relation")
        columns = self.rows(
            f"SELECT column_name, data_type FROM {catalogue}.information_schema.columns WHERE {where}"
            " ORDER BY ordinal_position"
        )
        source = ".".join(map(self.name_of, (self._database, schema, name)))
        return source, [(str(column), str(kind)) for column, kind in columns]

    def list_relations(self) -> list[list[Any]]:
        """Return the tables that this user may read."""
        found = self.rows(
            "SELECT table_schema, table_name"
            f" FROM {self.name_of(self._database)}.information_schema.tables"
            " WHERE table_type = 'BASE TABLE' AND table_schema <> 'information_schema'"
            f" AND strpos(table_name, '.') = 0 ORDER BY 1, 2 LIMIT {LISTED}"
        )
        return [[f"{schema}.{name}", -1] for schema, name in found]

    def rows(self, sql: str) -> list[Sequence[Any]]:
        """Return the answer of a small query."""
        self.opened.append(sql)
        return [row for piece in self.pieces(sql) for row in piece]

    def pieces(self, sql: str) -> Iterator[Sequence[Sequence[Any]]]:
        """Give the answer of a query some rows at a time."""
        cursor = self._connection.cursor()
        is_late = threading.Event()

        def stop() -> None:
            is_late.set()
            cursor.cancel()

        timer = threading.Timer(self._seconds, stop)
        timer.daemon = True
        timer.start()
        try:
            cursor.execute(sql)
            while rows := cursor.fetchmany(FETCHED):
                yield rows
        except TrinoQueryError as error:
            if is_late.is_set():
                raise Refused("server.failed", "seconds") from None
            if error.error_name in _NOT_THERE:
                raise Refused("server.no_relation") from None
            raise Refused("server.failed", str(error.error_name)) from None
        except HttpError as error:
            is_shut_out = any(code in str(error) for code in ("401", "403"))
            raise Refused("server.password" if is_shut_out else "server.failed", "HTTP") from None
        except requests.exceptions.SSLError as error:
            raise Refused("server.tls", type(error).__name__) from None
        except (TrinoConnectionError, requests.RequestException, OSError) as error:
            if isinstance(error, InvalidSchema) or isinstance(error.__context__, InvalidSchema):
                raise Refused("server.elsewhere") from None
            raise Refused("server.lost", type(error).__name__) from None
        except DatabaseError as error:
            raise Refused("server.failed", type(error).__name__) from None
        finally:
            timer.cancel()

    @staticmethod
    def cell(column: str, kind: str) -> tuple[str, str]:
        """Return how a raw cell is asked for, so that no two that differ are one, and as what it comes."""
        if kind in _WHOLE:
            return f"CAST({column} AS bigint)", "int64"
        if kind in ("real", "double"):
            return f"(CAST({column} AS double) + DOUBLE '0')", "double"  # −0 and 0 are one cell
        if kind == "boolean":
            return column, "bool"
        if kind == "date":
            return f"date_diff('day', DATE '1970-01-01', {column})", "day"
        if kind.startswith("timestamp"):
            if kind.endswith("with time zone"):
                return f"CAST(CAST({column} AT TIME ZONE 'UTC' AS timestamp(6)) AS varchar)", "moment_utc"
            return f"CAST(CAST({column} AS timestamp(6)) AS varchar)", "moment"
        if is_exact(kind):
            return f"(CAST({column} AS double) + DOUBLE '0')", "double"
        if (found := digits_of(kind)) is not None:
            written = f"CAST({column} AS varchar)"
            return f"regexp_replace({written}, '\\.?0+$')" if found[1] > 0 else written, "text"
        if kind.startswith(("varchar", "char", "uuid", "ipaddress")):
            return f"CAST({column} AS varchar)", "text"
        return "CAST(NULL AS varchar)", "other"


class _OneAddress(HTTPAdapter):
    """The way to one address: it verifies with the certificates that are named, and counts bytes."""

    def __init__(self, context: Any) -> None:
        self._context, self.sent, self.received = context, 0, 0
        super().__init__()

    def init_poolmanager(self, *given: Any, **more: Any) -> None:
        """Have every connection encrypted in the one way."""
        if self._context is not None:
            more["ssl_context"] = self._context
        super().init_poolmanager(*given, **more)

    def send(self, request: requests.PreparedRequest, *given: Any, **more: Any) -> requests.Response:
        """Send a request without what would lead to another address."""
        request.headers.pop(_SPOOLED, None)
        self.sent += len(request.body) if isinstance(request.body, (bytes, str)) else 0
        if self._context is not None and len(given) < 3:
            more["verify"] = True
        response = super().send(request, *given, **more)
        self.received += len(response.content)
        return response
