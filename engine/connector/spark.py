"""Spark Connect: one session of a cluster with ANSI arithmetic; a catalogue table or a folder of Parquet.

Spark shows no one state of the rows to all queries: whoever asks compares it, see `engine.table.server`.
"""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import grpc
from pyspark.errors import PySparkException
from pyspark.sql.connect.client import ChannelBuilder
from pyspark.sql.connect.session import SparkSession

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
    stream,
    try_address,
)
from engine.connector.session import KINDS as ARROW

FOLDER = "parquet:"
"""What a folder of Parquet files begins with, where a relation is named."""
_ARITHMETIC = "spark.sql.ansi.enabled"
_SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "true",
    "spark.sql.variable.substitute": "false",  # or ${env:HOME} within a key would be put in its place
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.parquet.mergeSchema": "true",  # or one file would say which columns the others have
}
_TRIES = {"max_retries": 2, "max_backoff": 1000}
_MOST_TRUSTED = 16 << 20  # bytes of certificates
_WHOLE = ("tinyint", "smallint", "int", "bigint")
_VIEWS = ("global_temp",)
_LOST = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
_SHUT_OUT = (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED)
_NOT_THERE = ("TABLE_OR_VIEW_NOT_FOUND", "PATH_NOT_FOUND", "SCHEMA_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA")


class Spark(Session):
    """A session of Spark Connect (Spark 4 or later)."""

    families: ClassVar[dict[str, str]] = {
        "text": "STRING",
        "whole": "BIGINT",
        "decimal": "DECIMAL(20, 4)",
        "double": "DOUBLE",
        "endless": "DOUBLE",
        "yes_no": "BOOLEAN",
        "day": "DATE",
        "moment": "TIMESTAMP_NTZ",
    }

    def connect(self, said: Mapping[str, Any]) -> str:
        """Connect; see `Session`."""
        logging.disable(logging.CRITICAL)  # its client logs what a server answers
        warnings.simplefilter("ignore")
        context = encryption(said)
        certificate = try_address(said, context, ["h2"])
        self.counted, self._seconds = _Counted(), int(said["seconds"])
        self._database = str(said["database"])
        channel: Any = _Channel(said, context is not None, self.counted)
        with _explained():
            self._session = SparkSession(connection=channel)
            client: Any = self._session.client
            client.disable_reattachable_execute()
            client.set_retry_policies([type(client._retry_policies[0])(**_TRIES)])
            self._version = str(self._session.version)
        return certificate

    def set_up(self, said: Mapping[str, Any]) -> None:
        """Set what a query depends on; refuse a session that does not hold it, or wraps numbers around."""
        if int(self._version.split(".")[0]) < 4:
            raise Refused("server.old")
        with _explained():
            for name, value in _SETTINGS.items():
                self.opened.append(f"SET {name} = {value}")
                self._session.conf.set(name, value)
            found = {name: self._session.conf.get(name) for name in (_ARITHMETIC, *_SETTINGS)}
        if found.pop(_ARITHMETIC) != "true":
            raise Refused("server.no_ansi", _ARITHMETIC)
        for name, value in _SETTINGS.items():
            if str(found[name]).lower() != value.lower():
                raise Refused("server.not_read_only", name)

    def engine(self) -> str:
        """Return name and version of the server."""
        return f"Apache Spark {self._version}"

    def describe(self, relation: str) -> tuple[str, list[tuple[str, str]]]:
        """Return a relation as it stands behind FROM, and name and type of each of its columns."""
        if relation.startswith(FOLDER):
            source = f"parquet.{self.name_of(relation.removeprefix(FOLDER))}"
        else:
            schema, _, name = relation.rpartition(".")
            source = ".".join(map(self.name_of, (self._database, schema or "default", name)))
            told = {str(key): str(value) for key, value, *_ in self.rows(f"DESCRIBE TABLE EXTENDED {source}")}
            if schema in _VIEWS or "VIEW" in told.get("Type", ""):
                raise Refused("server.no_relation")
        asked = f"SELECT * FROM {source}"
        self.opened.append(asked)
        with _explained():
            fields = self._session.sql(asked).schema.fields
        return source, [(field.name, field.dataType.simpleString()) for field in fields]

    def list_relations(self) -> list[list[Any]]:
        """Return the tables of a catalogue, or the folder of Parquet that stands in its place."""
        if "/" in self._database:
            self.describe(FOLDER + self._database)
            return [[FOLDER + self._database, -1]]
        found = list[list[Any]]()
        catalogue = self.name_of(self._database)
        for (schema,) in self.rows(f"SHOW SCHEMAS IN {catalogue}"):
            tables = self.rows(f"SHOW TABLES IN {catalogue}.{self.name_of(schema)}")
            views = {name for _, name, *_ in self.rows(f"SHOW VIEWS IN {catalogue}.{self.name_of(schema)}")}
            for _, name, is_temporary, *_ in tables:
                if not is_temporary and name not in views and "." not in name:
                    found.append([f"{schema}.{name}", -1])
        return sorted(found)[:LISTED]

    def rows(self, sql: str) -> list[Sequence[Any]]:
        """Return the answer of a small query."""
        self.opened.append(sql)
        table = self._asked(sql)
        return [tuple(row.values()) for row in table.to_pylist()]

    def answer(self, sql: str, kinds: Sequence[str]) -> Iterator[bytes]:
        """Give the answer of a query piece by piece, each as a stream of Arrow, which it is already."""
        self.begin(sql)
        for batch in self._asked(sql).to_batches(FETCHED):
            if batch.num_rows:
                yield stream(
                    [column.cast(ARROW[kind]) for column, kind in zip(batch.columns, kinds, strict=True)]
                )

    def pieces(self, sql: str) -> Iterator[Sequence[Sequence[Any]]]:
        """Give the answer of a query some rows at a time."""
        for batch in self._asked(sql).to_batches(FETCHED):
            yield [tuple(row.values()) for row in batch.to_pylist()]

    def _asked(self, sql: str) -> Any:
        """Return an answer; a query that takes too long is stopped there, too."""
        is_late = threading.Event()

        def stop() -> None:
            is_late.set()
            self._session.interruptAll()

        timer = threading.Timer(self._seconds, stop)
        timer.daemon = True
        timer.start()
        try:
            with _explained():
                return self._session.sql(sql).toArrow()
        except Refused:
            if is_late.is_set():
                raise Refused("server.failed", "seconds") from None
            raise
        finally:
            timer.cancel()

    @staticmethod
    def name_of(value: str) -> str:
        """Return a name as it stands in a query."""
        return "`" + value.replace("`", "``") + "`"

    @staticmethod
    def text(value: str) -> str:
        """Return a text as it stands in a query, where a backslash begins another sign."""
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"

    @staticmethod
    def cell(column: str, kind: str) -> tuple[str, str]:
        """Return how a raw cell is asked for, so that no two that differ are one, and as what it comes."""
        kind = kind.lower()
        if kind in _WHOLE:
            return f"CAST({column} AS BIGINT)", "int64"
        if kind in ("float", "double"):
            return f"(CAST({column} AS DOUBLE) + 0D)", "double"  # −0 and 0 are one cell
        if kind == "boolean":
            return column, "bool"
        if kind == "date":
            return f"unix_date({column})", "day"
        if kind == "timestamp":
            return f"unix_micros({column})", "moment_utc"
        if kind == "timestamp_ntz":
            return f"unix_micros(CAST({column} AS TIMESTAMP))", "moment"
        if is_exact(kind):
            return f"(CAST({column} AS DOUBLE) + 0D)", "double"
        if (found := digits_of(kind)) is not None:
            written = f"CAST({column} AS STRING)"
            bare = f"TRIM(TRAILING '.' FROM TRIM(TRAILING '0' FROM {written}))"
            return bare if found[1] > 0 else written, "text"
        if kind.startswith(("string collate", "char", "varchar")):
            return f"collate(CAST({column} AS STRING), 'UTF8_BINARY')", "text"
        if kind == "string":
            return f"CAST({column} AS STRING)", "text"
        return "CAST(NULL AS STRING)", "other"


class _Channel(ChannelBuilder):
    """One connection to the address that is named, by no proxy, encrypted unless it is this computer."""

    def __init__(self, said: Mapping[str, Any], is_encrypted: bool, counted: _Counted) -> None:
        host = plain_host(str(said["host"]))
        self._target = f"[{host}]:{int(said['port'])}" if ":" in host else f"{host}:{int(said['port'])}"
        self._is_encrypted, self._ca = is_encrypted, str(said.get("ca") or "")
        self._token = str(said["password"])
        options = [("grpc.enable_http_proxy", 0), ("grpc.max_reconnect_backoff_ms", 1000 * PATIENCE)]
        super().__init__(options, {ChannelBuilder.PARAM_USER_ID: str(said["user"])})
        self.set(ChannelBuilder.PARAM_USER_AGENT, "custos")
        self.add_interceptor(counted)

    @property
    def host(self) -> str:
        """Where it connects to."""
        return self._target

    @property
    def token(self) -> str | None:
        """What is shown in place of a password, see `metadata`."""
        return None

    def metadata(self) -> list[tuple[str, str]]:
        """Return what goes with every message: the token, where there is one."""
        shown = [("authorization", f"Bearer {self._token}")] if self._token else []
        return [*super().metadata(), *shown]

    def toChannel(self) -> grpc.Channel:
        """Return the channel."""
        if not self._is_encrypted:
            return self._insecure_channel(self._target)
        trusted = None
        if self._ca:
            with Path(self._ca).open("rb") as file:
                trusted = file.read(_MOST_TRUSTED)
        return self._secure_channel(self._target, grpc.ssl_channel_credentials(trusted))


class _Counted(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor):
    """Counts the bytes of the messages of a connection."""

    def __init__(self) -> None:
        self.sent, self.received = 0, 0

    def intercept_unary_unary(self, go_on: Callable[..., Any], details: Any, request: Any) -> Any:
        """Let one message through, and its answer."""
        self.sent += request.ByteSize()
        call = go_on(details, request)
        if call.exception() is None:
            self.received += call.result().ByteSize()
        return call

    def intercept_unary_stream(self, go_on: Callable[..., Any], details: Any, request: Any) -> Any:
        """Let one message through, and its answers."""
        self.sent += request.ByteSize()

        def counted() -> Iterator[Any]:
            for one in go_on(details, request):
                self.received += one.ByteSize()
                yield one

        return counted()


class _explained:
    """Say by a code what Spark refuses; its own words may hold a cell."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, grpc.RpcError):
            raise _refused_by(error.code(), str(error.code().name)) from None
        if isinstance(error, PySparkException):
            condition = str(error.getCondition() or "")
            if condition.startswith(_NOT_THERE):
                raise Refused("server.no_relation") from None
            status = getattr(error, "_grpc_status_code", None)
            raise _refused_by(status, condition or str(getattr(status, "name", ""))) from None
        if isinstance(error, OSError):
            raise Refused("server.tls", type(error).__name__) from None


def _refused_by(status: Any, reason: str) -> Refused:
    if status in _SHUT_OUT:
        return Refused("server.password", reason)
    if status in _LOST or reason in ("RETRIES_EXCEEDED", "NO_ACTIVE_SESSION"):
        return Refused("server.lost", reason)
    return Refused("server.failed", reason)
