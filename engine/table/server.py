"""A table on a server: what is asked of it, by a process of its own that opens the only connection.

This program opens none. The server that a custodian named stands in a file of its own, without a password:

    {"kind": "postgresql", "host": "db.hospital.example", "port": 5432, "database": "dwh",
     "user": "custos", "relation": "public.visits"}

The server only groups cells as they are written, see `engine.table.grouped`, in one read-only transaction, so
that every query sees the same rows. Each query is kept for the internal evidence.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa

from engine import strict_json
from engine.bounded import read_text
from engine.errors import Cancelled, InputRefused
from engine.progress import SILENT, Progress
from engine.table.reading.names import clean_names, refuse_wide
from engine.table.reading.options import Finding

KIND = "postgresql"
_CONNECTOR = f"{__name__.removesuffix('.table.server')}.connector"
_MUST, _MAY = ("kind", "host", "port", "database", "user", "relation"), ("seconds", "tls", "ca")
_LARGEST, _SECONDS, _MOST_UNLIKE = 1 << 14, 3600, 20_000
_KINDS = {
    "text": pa.large_string(),
    "int64": pa.int64(),
    "double": pa.float64(),
    "bool": pa.bool_(),
    "day": pa.date32(),
    "moment": pa.timestamp("us"),
    "moment_utc": pa.timestamp("us", tz="UTC"),
}
_TYPES = {
    "text": ("text", ' COLLATE "C"'),
    "double": ("float8", ""),
    "bool": ("boolean", ""),
}
_LOOK_EVERY = 0.2  # seconds
_KEPT = ("PATH", "SYSTEMROOT", "LANG", "LC_ALL", "SSL_CERT_FILE", "SSL_CERT_DIR", "VIRTUAL_ENV")


@dataclass(frozen=True)
class Address:
    """Where a table is, and as whom it is asked for."""

    host: str
    port: int
    database: str
    user: str
    relation: str
    seconds: int = _SECONDS
    tls: bool = False
    ca: str = ""

    @staticmethod
    def read(path: Path) -> Address:
        """Read the file that names a server.

        Raises
        ------
        InputRefused
            ``server.bad_file``: something else stands in it than `Address` knows, a password for instance.
        """
        try:
            found = Address.of(strict_json.loads(read_text(path, _LARGEST)), path.name)
        except OSError as error:
            reason = error.strerror or ""
            raise InputRefused("reading.not_readable", file=path.name[:100], reason=reason) from error
        except ValueError as error:
            raise InputRefused("server.bad_file", file=path.name, must=", ".join(_MUST)) from error
        return replace(found, ca=str(path.absolute().parent / found.ca)) if found.ca else found

    @staticmethod
    def of(tree: Any, file: str) -> Address:
        """Return what JSON values say of a server.

        Raises
        ------
        InputRefused
            ``server.bad_file``.
        """
        try:
            found = strict_json.members(tree, file, must=_MUST, may=_MAY)
            texts = [found[name] for name in ("host", "database", "user", "relation", "kind")]
            fits = all(isinstance(one, str) and one and one.isprintable() for one in texts)
            fits &= isinstance(found["port"], int) and 0 < found["port"] < 1 << 16
            more = {name: found[name] for name in _MAY if name in found}
            kinds = {"seconds": int, "tls": bool, "ca": str}
            fits &= all(type(value) is kinds[name] for name, value in more.items())
            if not fits or found["kind"] != KIND or more.get("seconds", 1) < 1:
                raise ValueError
        except (ValueError, InputRefused) as error:
            raise InputRefused("server.bad_file", file=file, must=", ".join(_MUST)) from error
        return Address(*(found[name] for name in ("host", "port", "database", "user", "relation")), **more)

    def to_json(self) -> dict[str, Any]:
        """Return what stands in the file; a password has no place in it."""
        written = {name: getattr(self, name) for name in Address.__annotations__}
        more = {name: written[name] for name in _MAY if written[name] != getattr(Address, name)}
        return {"kind": KIND, **{name: written[name] for name in _MUST if name != "kind"}, **more}

    @property
    def said(self) -> str:
        """The address in a line."""
        return f"{self.host}:{self.port}/{self.database}"


def has_connector() -> bool:
    """Say whether the part that connects is installed."""
    with suppress(ImportError, ValueError):
        return all(importlib.util.find_spec(one) is not None for one in (_CONNECTOR, "pg8000"))
    return False


class _Connection:
    """The other process, what it was asked and what it answered.

    Parameters
    ----------
    address
        Whom it connects to.
    file
        Name of the file that says so, for what is refused.
    password
        It goes to the other process by a pipe, and nowhere else.
    progress
        By which it is stopped while it connects and counts the rows.

    Raises
    ------
    InputRefused
        ``server.no_connector``, ``server.no_password``, or what the connector refuses: ``server.*``.
    """

    def __init__(self, address: Address, file: str, password: str | None, progress: Progress) -> None:
        self.file, self._address = file, address
        if not has_connector():
            raise InputRefused("server.no_connector", file=file)
        if password is None:
            raise InputRefused("server.no_password", file=file, user=address.user, address=address.said)
        self.fetched = 0
        self._process = subprocess.Popen(
            [sys.executable, "-m", _CONNECTOR],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _KEPT if name in os.environ} | _only_from(),
        )
        try:
            said = {name: getattr(address, name) for name in Address.__annotations__}
            with self.stopped_by(progress):
                (about,) = self._exchange({**said, "password": password})
        except BaseException:
            self.close()
            raise
        self._about = json.loads(about)
        self._sent, self._received = int(self._about["sent"]), int(self._about["received"])
        self.engine = str(self._about["engine"])

    def close(self) -> None:
        """End the other process, and with it the connection."""
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                assert pipe is not None
                pipe.close()
        self._process.kill()
        self._process.wait()

    def _exchange(self, request: dict[str, Any], of: dict[str, Any] | None = None) -> Iterator[Any]:
        """Send a request and give the batches of its answer, or the JSON of the first one."""
        told, asked = self._process.stdout, self._process.stdin
        assert told is not None and asked is not None
        try:
            asked.write(json.dumps(request).encode() + b"\n")
            asked.flush()
        except OSError:
            pass  # it has ended; what it said before is read now
        while True:
            head = told.read(9)
            if len(head) < 9:
                raise InputRefused("server.lost", file=self.file, address=self._address.said, reason="")
            content = told.read(int.from_bytes(head[1:], "big"))
            if head[:1] == b"X":
                refused = json.loads(content)
                values = {"file": self.file, "address": self._address.said, "reason": refused["reason"]}
                raise InputRefused(refused["code"], **values)
            if head[:1] == b"E":
                if of is None:
                    yield content
                else:
                    ended = json.loads(content)
                    self._sent, self._received = ended["sent"], ended["received"]
                return
            for batch in pa.ipc.open_stream(content):
                assert of is not None
                of["rows"] += batch.num_rows
                self.fetched += batch.num_rows
                yield batch

    @property
    def about_connection(self) -> dict[str, Any]:
        """Where it went, as whom, with how many bytes, and the queries that open it."""
        address = {name: getattr(self._address, name) for name in ("relation", "user")}
        known = {name: self._about[name] for name in ("snapshot", "certificate", "opened")}
        counted = {"sent": self._sent, "received": self._received}
        return {"address": self._address.said, **address, **known, **counted}

    @contextmanager
    def stopped_by(self, progress: Progress) -> Iterator[None]:
        """Let Stop end the other process within a block, whatever the server is busy with."""
        over = threading.Event()

        def watch() -> None:
            with suppress(Cancelled):
                while not over.wait(_LOOK_EVERY):
                    progress.refuse_stopped()
                return
            self._process.kill()

        watching = threading.Thread(target=watch, name="server-stop", daemon=True)
        watching.start()
        try:
            yield
        except InputRefused:
            progress.refuse_stopped()  # the connection broke off because it was wished
            raise
        finally:
            over.set()
            watching.join()


@dataclass(frozen=True)
class Listed:
    """The relations of a database that a user may read, and what was asked for that.

    ``relations`` are names with the number of rows, about; −1 where the server does not know it.
    """

    relations: tuple[tuple[str, int], ...]
    about: Mapping[str, Any]


def list_relations(address: Address, password: str, *, progress: Progress = SILENT) -> Listed:
    """Return the relations of a database.

    Raises
    ------
    InputRefused
        ``server.*``, see `_Connection`.
    """
    progress.step(0.0, "server.connecting")
    asked = _Connection(replace(address, relation=""), address.said, password, progress)
    asked.close()
    known = asked.about_connection
    return Listed(tuple((str(name), int(rows)) for name, rows in asked._about["relations"]), known)


class Server(_Connection):
    """One relation of a server, asked by a process of its own; see `engine.table.grouped.Grouper`.

    Parameters
    ----------
    path
        The file that names it.
    password
        Of the user that it names.
    progress
        By which it is stopped while it connects and counts the rows.

    Raises
    ------
    InputRefused
        What `_Connection` and `Address.read` refuse.
    """

    tier = "server"

    def __init__(self, path: Path, password: str | None, progress: Progress = SILENT) -> None:
        self.asked = 0
        self.queries: list[dict[str, Any]] = []
        self._pairs: dict[str, str] = {}
        super().__init__(Address.read(path), path.name, password, progress)
        self.source = str(self._about["source"])
        self.rows, written = int(self._about["rows"]), list(self._about["cells"])
        refuse_wide(len(written), path.name)
        names, found = clean_names(written, len(written), path.name)
        self.found: Sequence[Finding] = found
        self.cells: Mapping[str, str] = dict(zip(names, self._about["cells"].values(), strict=True))
        self._types: Mapping[str, str] = dict(zip(names, self._about["kinds"].values(), strict=True))
        self.kinds: Mapping[str, pa.DataType] = {name: _KINDS[kind] for name, kind in self._types.items()}

    def answers(
        self, sql: str, names: Sequence[str], numbers: int = 1
    ) -> Iterator[tuple[list[pa.Array], list[pa.Array]]]:
        """Give the answer of a query piece by piece: columns of the relation, then numbers."""
        self.asked += 1
        sent = sql
        for name, pairs in self._pairs.items():
            sent = sent.replace(name, pairs)
        digest = hashlib.sha256(sent.encode()).hexdigest()
        query: dict[str, Any] = {"sql": sql, "sha256": digest, "rows": 0}
        self.queries.append(query)  # without the person keys that it may hold
        kinds = [self._types[name] for name in names]
        request = {"sql": sent, "kinds": [*kinds, *["int64"] * numbers]}
        for batch in self._exchange(request, of=query):
            columns = batch.columns
            yield list(columns[: len(names)]), list(columns[len(names) :])

    def learn(self, name: str, cells: pa.Array, forms: pa.Array) -> str:
        """Return what stands behind FROM for cells of a column and another form of each."""
        if len(cells) > _MOST_UNLIKE:
            raise InputRefused("server.keys", file=self.file, most=_MOST_UNLIKE)
        kind, collation = _TYPES.get(self._types[name], ("bigint", ""))
        pairs = ", ".join(
            f"({_literal(cell)}, {_literal(form)})"
            for cell, form in zip(cells.to_pylist(), forms.to_pylist(), strict=True)
        )
        columns = ", ".join(f"CAST({one} AS {kind}){collation} AS {one}" for one in ("cell", "form"))
        written = "\n".join((self.source, *self.cells.values(), *self._pairs, *self._pairs.values()))
        names = (f"{{pairs {place}}}" for place in count(1))
        token = next(one for one in names if one not in written)  # a column may be called so, or a key be so
        self._pairs[token] = f"VALUES {pairs}"
        return f"(SELECT {columns} FROM ({token}) AS pairs(cell, form))"

    def keep(self, sql: str) -> str:
        """Return the query itself: nothing is written on a server that may only be read."""
        return f"({sql})"

    def lot(self, salt: Sequence[int], columns: Sequence[str]) -> str:
        """Return a number that follows from a salt and some columns."""
        first, second = (int(word) - (1 << 64 if word >= 1 << 63 else 0) for word in salt)
        return f"hashtextextended(CAST(ROW({second}, {', '.join(columns)}) AS text), {first})"

    @property
    def about(self) -> dict[str, Any]:
        """What the internal evidence says of the server and of all that was asked."""
        return {**self.about_connection, "asked": self.queries}

    @property
    def content(self) -> str:
        """What is another one as soon as any row of the relation is: one query that reads all of them."""
        lot = self.lot((0, 0), [*self.cells.values()])
        sums = f"count(*) AS n0, CAST(coalesce(sum({lot}), 0) % {1 << 62} AS bigint) AS n1"
        ((_, numbers),) = self.answers(f"SELECT {sums} FROM {self.source}", (), 2)
        return "/".join(str(one[0].as_py()) for one in numbers)


def _only_from() -> dict[str, str]:
    """Return the settings with which Python looks for modules beside this one, and in no working folder."""
    root = Path(__file__).resolve().parents[len(__name__.split(".")) - 1]
    return {"PYTHONPATH": str(root), "PYTHONSAFEPATH": "1"}


def _literal(value: Any) -> str:
    """Return a value as it stands in a query."""
    if value is None:
        return "NULL"
    return "'" + str(value).replace("'", "''") + "'"
