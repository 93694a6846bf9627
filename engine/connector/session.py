"""What connections to servers of all kinds have in common: what they refuse, how answers are sent on."""

from __future__ import annotations

import hashlib
import ipaddress
import re
import socket
import ssl
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any, ClassVar, Protocol

import pyarrow as pa

FETCHED = 50_000
"""Rows of a piece of an answer."""
LISTED = 10_000
"""Relations that are listed at most."""
PATIENCE = 10
"""Seconds to connect."""
KINDS = {
    "text": pa.large_string(),
    "int64": pa.int64(),
    "double": pa.float64(),
    "bool": pa.bool_(),
    "day": pa.date32(),
    "moment": pa.timestamp("us"),
    "moment_utc": pa.timestamp("us", tz="UTC"),
    "other": pa.large_binary(),
}
"""As what a raw cell comes. ``other`` is of a type that the server does not group: it is not asked for."""
_AS_NUMBER = {"day": pa.int32(), "moment": pa.int64(), "moment_utc": pa.int64()}
_MOMENT = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?)?")
_OUTSIDE = 1 << 62
"""A moment that no calendar here has, for one whose year the server writes otherwise than in four digits."""
_EPOCH = date(1970, 1, 1).toordinal()


class Refused(Exception):
    """What cannot be done, by a code of the texts."""

    def __init__(self, code: str, reason: str = "") -> None:
        super().__init__(code)
        self.code, self.reason = code, reason


class Counted(Protocol):
    """Counts the bytes of a connection."""

    sent: int
    received: int


class Session(ABC):
    """A connection to one relation, or to a database whose relations are asked for.

    Parameters
    ----------
    said
        ``host``, ``port``, ``database``, ``user``, ``password``, ``relation`` (empty to have all listed),
        ``seconds`` (that one query may take), ``tls`` (also with this computer), ``ca`` (a file of
        certificates to trust), and ``inline`` (columns of a table that stands in the queries themselves, in
        place of a relation; each a name, a family of `families` and its cells).

    Raises
    ------
    Refused
        ``server.unreachable``, ``server.password``, ``server.tls``, ``server.old``, ``server.not_read_only``,
        ``server.encoding``, ``server.no_relation``, ``server.lost``, ``server.failed``.
    """

    families: ClassVar[dict[str, str]]
    """The type of this server for cells of each family of a table that stands in queries."""
    count = "count(*)"
    """How rows are counted: in numbers that do not run over."""
    holds_to_reading = False
    """Whether the server itself refuses to write in such a session; where not, nothing but SELECT is sent."""
    one_state = False
    """Whether all queries see one state of the rows; where they do not, whoever asks compares it."""
    counted: Counted
    """What counts the bytes of the connection: `connect` sets it, and says of which bytes."""

    def __init__(self, said: Mapping[str, Any]) -> None:
        self.opened = list[str]()  # every query, but for what `answer` is asked
        certificate = self.connect(said)
        self.set_up(said)
        self.about: dict[str, Any] = {"certificate": certificate}
        if said.get("inline"):
            self.about |= self._look_at_inline(said["inline"])
        elif relation := str(said["relation"]):
            source, columns = self.describe(relation)
            self.about |= self._look_at(source, columns)
        else:
            self.about["relations"] = self.list_relations()
        self.about |= {"engine": self.engine(), "snapshot": self.snapshot(), "one_state": self.one_state}
        self.about |= {"opened": self.opened, "sent": self.sent, "received": self.received}

    # --- what each kind of server does in its own way ---

    @abstractmethod
    def connect(self, said: Mapping[str, Any]) -> str:
        """Connect, and return the digest of the certificate that the server showed; none without TLS."""

    @abstractmethod
    def set_up(self, said: Mapping[str, Any]) -> None:
        """Have the session read only and refuse one that is not what was asked for."""

    @abstractmethod
    def describe(self, relation: str) -> tuple[str, list[tuple[str, str]]]:
        """Return a relation as it stands behind FROM, and name and type of each of its columns."""

    @abstractmethod
    def list_relations(self) -> list[list[Any]]:
        """Return the relations that this user may read: the name of each, and how many rows it has, about.

        A name with a point in it could not be told from a schema.
        """

    @abstractmethod
    def engine(self) -> str:
        """Return name and version of the server."""

    @abstractmethod
    def rows(self, sql: str) -> list[Sequence[Any]]:
        """Return the answer of a small query."""

    @abstractmethod
    def pieces(self, sql: str) -> Iterator[Sequence[Sequence[Any]]]:
        """Give the answer of a query some rows at a time."""

    @staticmethod
    @abstractmethod
    def cell(column: str, kind: str) -> tuple[str, str]:
        """Return how a raw cell is asked for, so that no two that differ are one, and as what it comes.

        No cell can stop a query: nothing is parsed, and what has no end is missing.
        """

    @staticmethod
    def name_of(value: str) -> str:
        """Return a name as it stands in a query."""
        return '"' + value.replace('"', '""') + '"'

    @staticmethod
    def text(value: str) -> str:
        """Return a text as it stands in a query."""
        return "'" + value.replace("'", "''") + "'"

    def inline(self, names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        """Return what stands behind FROM for rows of expressions."""
        listed = ", ".join(f"({', '.join(row)})" for row in rows)
        return f"(VALUES {listed}) AS inline_rows({', '.join(names)})"

    # --- what is alike ---

    @property
    def sent(self) -> int:
        """Bytes of queries since the connection was made."""
        return self.counted.sent

    @property
    def received(self) -> int:
        """Bytes of answers."""
        return self.counted.received

    def snapshot(self) -> str:
        """Return which state of the rows is seen; nothing where the server names none."""
        return ""

    def answer(self, sql: str, kinds: Sequence[str]) -> Iterator[bytes]:
        """Give the answer of a query piece by piece, each as a stream of Arrow."""
        self.begin(sql)
        for rows in self.pieces(sql):
            columns = list(zip(*rows, strict=True))
            yield stream([column_of(cells, kind) for cells, kind in zip(columns, kinds, strict=True)])

    def begin(self, sql: str) -> None:
        """Forget the queries before this one, which whoever asks keeps; refuse one that is no SELECT."""
        self.opened.clear()
        if not self.holds_to_reading and not sql.startswith("SELECT "):
            raise Refused("server.failed", "SELECT")

    def _look_at(self, source: str, columns: Sequence[tuple[str, str]]) -> dict[str, Any]:
        """Return what a relation is, and how many rows it has."""
        cells, kinds = dict[str, str](), dict[str, str]()
        for name, kind in columns:
            cells[name], kinds[name] = self.cell(self.name_of(name), kind)
        ((rows,),) = self.rows(f"SELECT {self.count} AS n FROM {source}")
        return {"source": source, "cells": cells, "kinds": kinds, "rows": int(rows)}

    def _look_at_inline(self, columns: Sequence[Sequence[Any]]) -> dict[str, Any]:
        """Return the same of a table that stands in the queries, but for what this server has no type for."""
        columns = [one for one in columns if str(one[1]) in self.families]
        names = [self.name_of(str(name)) for name, _, _ in columns]
        typed = [
            [self._literal(None if cell is None else str(cell), str(family)) for cell in cells]
            for _, family, cells in columns
        ]
        source = self.inline(names, list(zip(*typed, strict=True)))
        return self._look_at(source, [(str(name), self.families[str(family)]) for name, family, _ in columns])

    def _literal(self, cell: str | None, family: str) -> str:
        return f"CAST({'NULL' if cell is None else self.text(cell)} AS {self.families[family]})"


def stream(columns: Sequence[pa.Array]) -> bytes:
    """Return a batch of columns as a stream of Arrow."""
    schema = pa.schema([(f"c{place}", column.type) for place, column in enumerate(columns)])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as out:
        out.write_batch(pa.record_batch(list(columns), schema=schema))
    return bytes(sink.getvalue().to_pybytes())


def column_of(cells: Sequence[Any], kind: str) -> pa.Array:
    """Return cells of an answer as Arrow: days and moments as numbers since 1970, or as they are written."""
    if kind in _AS_NUMBER:
        cells = [_ticks(cell, kind) if isinstance(cell, str) else cell for cell in cells]
    if kind == "bool":
        cells = [None if cell is None else bool(cell) for cell in cells]
    if kind == "other":
        return pa.nulls(len(cells), KINDS[kind])
    if kind == "double":
        cells = [None if cell is None else float(cell) for cell in cells]
    if kind == "int64":
        cells = [None if cell is None else int(cell) for cell in cells]
    return pa.array(cells, _AS_NUMBER.get(kind, KINDS[kind])).cast(KINDS[kind])


def _ticks(written: str, kind: str) -> int:
    """Return days or microseconds since 1970 of a day or moment ``2020-01-31 10:00:00.123456``.

    Examples
    --------
    >>> _ticks("1970-01-02", "day"), _ticks("1969-12-31 23:59:59.5", "moment")
    (1, -500000)
    >>> _ticks("-0044-03-15 00:00:00", "moment") == _OUTSIDE
    True
    """
    found = _MOMENT.fullmatch(written.strip())
    try:
        if found is None:
            raise ValueError
        year, month, day, hour, minute, second = (int(one or 0) for one in found.groups()[:6])
        days = datetime(year, month, day).toordinal() - _EPOCH
    except ValueError:  # before the year 1, or behind 9999
        return _OUTSIDE if kind != "day" else 1 << 30
    if kind == "day":
        return days
    micro = int((found[7] or "").ljust(6, "0"))
    return (((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000_000 + micro


_DECIMAL = re.compile(r"(?:decimal|numeric)\((\d+), ?(-?\d+)\)")
_EXACT = 15
"""Digits of a decimal number that a double keeps, so that no two are one."""


def digits_of(kind: str) -> tuple[int, int] | None:
    """Return the digits of a type of decimal numbers, and those behind the point; None of another type.

    Examples
    --------
    >>> digits_of("decimal(20, 4)"), digits_of("decimal(9,2)"), digits_of("date")
    ((20, 4), (9, 2), None)
    """
    found = _DECIMAL.fullmatch(kind)
    return None if found is None else (int(found[1]), int(found[2]))


def is_exact(kind: str) -> bool:
    """Say whether every decimal number of a type is a double of its own, as a file's is read."""
    found = digits_of(kind)
    return found is not None and found[0] <= _EXACT


def is_loopback(host: str) -> bool:
    """Say whether a host is this computer, by its name alone."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def plain_host(host: str) -> str:
    """Return a host so that no name server is asked where this computer is."""
    return "127.0.0.1" if host == "localhost" else host


def encryption(said: Mapping[str, Any]) -> ssl.SSLContext | None:
    """Return how a connection is encrypted; None with this computer, where it is not wished."""
    if not said.get("tls") and is_loopback(str(said["host"])):
        return None
    try:
        return ssl.create_default_context(cafile=said.get("ca") or None)
    except (OSError, ssl.SSLError) as error:
        raise Refused("server.tls", type(error).__name__) from None


def digest(certificate: bytes | None) -> str:
    """Return the digest of a certificate as the server showed it; nothing of none."""
    return hashlib.sha256(certificate).hexdigest() if certificate else ""


def try_address(
    said: Mapping[str, Any], context: ssl.SSLContext | None, protocols: Sequence[str] = ()
) -> str:
    """Connect once to see whether somebody answers and shows a trusted certificate; return its digest.

    For libraries that tell neither.

    Raises
    ------
    Refused
        ``server.unreachable``, ``server.tls``.
    """
    host = plain_host(str(said["host"]))
    try:
        with socket.create_connection((host, int(said["port"])), PATIENCE) as plain:
            if context is None:
                return ""
            if protocols:
                context.set_alpn_protocols(list(protocols))
            with context.wrap_socket(plain, server_hostname=host) as encrypted:
                return digest(encrypted.getpeercert(binary_form=True))
    except ssl.SSLError as error:
        raise Refused("server.tls", type(error).__name__) from None
    except OSError as error:
        raise Refused("server.unreachable", type(error).__name__) from None
