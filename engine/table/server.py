"""A table on a server: what is asked of it, by a process of its own that opens the only connection.

This program opens none. The server that a custodian named stands in a file of its own, without a password:

    {"kind": "postgresql", "host": "db.hospital.example", "port": 5432, "database": "dwh",
     "user": "custos", "relation": "public.visits"}

Its kind is one of `engine.table.dialects`. The server only groups cells as they are written, see
`engine.table.grouped`, in one read-only transaction where it has such, so that every query sees the same
rows; else their sum is compared before the first query and behind the last one. Each query is kept for the
internal evidence.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa

from engine import strict_json
from engine.bounded import read_text
from engine.errors import InputRefused
from engine.progress import SILENT, Progress
from engine.stopping import ended_by_stop
from engine.table.dialects import DIALECTS, FIRST
from engine.table.dialects.dialect import Dialect
from engine.table.reading.names import clean_names, refuse_wide
from engine.table.reading.options import Finding

_CONNECTOR = f"{__name__.removesuffix('.table.server')}.connector"
_MUST, _MAY = ("kind", "host", "port", "database", "user", "relation"), ("seconds", "tls", "ca")
_LARGEST, _SECONDS = 1 << 14, 3600
_KINDS = {
    "text": pa.large_string(),
    "int64": pa.int64(),
    "double": pa.float64(),
    "bool": pa.bool_(),
    "day": pa.date32(),
    "moment": pa.timestamp("us"),
    "moment_utc": pa.timestamp("us", tz="UTC"),
    "other": pa.large_binary(),  # which nothing groups
}
_NUMBERS = {"day": pa.int32(), "moment": pa.int64(), "moment_utc": pa.int64()}
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
    kind: str = FIRST

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
            raise _bad_file(path.name) from error
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
            more: dict[str, Any] = {name: found[name] for name in _MAY if name in found}
            kinds = {"seconds": int, "tls": bool, "ca": str}
            fits &= all(type(value) is kinds[name] for name, value in more.items())
            if not fits or found["kind"] not in DIALECTS or more.get("seconds", 1) < 1:
                raise ValueError
        except (ValueError, InputRefused) as error:
            raise _bad_file(file) from error
        told = {name: found[name] for name in _MUST}
        return Address(**told, **more)

    def to_json(self) -> dict[str, Any]:
        """Return what stands in the file; a password has no place in it."""
        written = {name: getattr(self, name) for name in Address.__annotations__}
        more = {name: written[name] for name in _MAY if written[name] != getattr(Address, name)}
        return {**{name: written[name] for name in _MUST}, **more}

    @property
    def dialect(self) -> Dialect:
        """How this kind of server writes queries."""
        return DIALECTS[self.kind]

    @property
    def said(self) -> str:
        """The address in a line."""
        return f"{self.host}:{self.port}/{self.database}"


def has_connector(kind: str | None = None) -> bool:
    """Say whether the part that connects is installed, with the library for a kind of server, or for any."""
    packages = [one.package for one in DIALECTS.values() if kind in (None, one.kind)]
    return _is_there(_CONNECTOR) and any(map(_is_there, packages))


def _is_there(module: str) -> bool:
    with suppress(ImportError, ValueError):
        return importlib.util.find_spec(module) is not None
    return False


def _bad_file(file: str) -> InputRefused:
    return InputRefused("server.bad_file", file=file, must=", ".join(_MUST), kinds=", ".join(DIALECTS))


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
        ``server.no_connector``, ``server.no_driver``, ``server.no_password``, or what the connector refuses:
        ``server.*``.
    """

    def __init__(
        self,
        address: Address,
        file: str,
        password: str | None,
        progress: Progress,
        inline: Sequence[Sequence[Any]] = (),
    ) -> None:
        self.file, self._address, self.dialect = file, address, address.dialect
        if not has_connector(address.kind):
            code = "server.no_driver" if has_connector() else "server.no_connector"
            raise InputRefused(code, file=file, name=self.dialect.name, kind=address.kind)
        if password is None and not self.dialect.needs_password:
            password = ""
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
                (about,) = self._exchange({**said, "password": password, "inline": inline})
        except BaseException:
            self.close()
            raise
        self._about = json.loads(about)
        self._sent, self._received = int(self._about["sent"]), int(self._about["received"])
        self.engine = str(self._about["engine"])
        self.has_one_state = bool(self._about["one_state"])

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
                values |= {"name": self.dialect.name, "oldest": self.dialect.oldest}
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
        address = {name: getattr(self._address, name) for name in ("kind", "relation", "user")}
        known = {name: self._about[name] for name in ("snapshot", "certificate", "opened")}
        counted = {"sent": self._sent, "received": self._received}
        return {"address": self._address.said, **address, **known, **counted}

    def stopped_by(self, progress: Progress) -> AbstractContextManager[None]:
        """Let Stop end the other process within a block, whatever the server is busy with."""
        return ended_by_stop(progress, self._process.kill, InputRefused)


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
    inline
        Columns of a table that stands in the queries in place of the relation, each a name, what it holds and
        its cells; see `engine.table.self_test`.

    Raises
    ------
    InputRefused
        What `_Connection` and `Address.read` refuse.
    """

    tier = "server"

    def __init__(
        self,
        path: Path,
        password: str | None,
        progress: Progress = SILENT,
        inline: Sequence[Sequence[Any]] = (),
    ) -> None:
        self.asked = 0
        self.queries: list[dict[str, Any]] = []
        self._pairs: dict[str, str] = {}
        super().__init__(Address.read(path), path.name, password, progress, inline)
        self.count = self.dialect.count
        self.source = str(self._about["source"])
        self.rows, written = int(self._about["rows"]), list(self._about["cells"])
        refuse_wide(len(written), path.name)
        names, found = clean_names(written, len(written), path.name)
        self.found: Sequence[Finding] = found
        self.cells: Mapping[str, str] = dict(zip(names, self._about["cells"].values(), strict=True))
        self._types: Mapping[str, str] = dict(zip(names, self._about["kinds"].values(), strict=True))
        self.kinds: Mapping[str, pa.DataType] = {name: _KINDS[kind] for name, kind in self._types.items()}
        self._first = ""
        try:
            with self.stopped_by(progress):
                self._first = "" if self.has_one_state else self._content()
        except BaseException:
            self.close()
            raise

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
        dialect, kind = self.dialect, self._types[name]
        if len(cells) > dialect.most_unlike:
            raise InputRefused("server.keys", file=self.file, most=dialect.most_unlike)
        if kind in _NUMBERS:
            if dialect.writes_moments and kind != "day":
                raise InputRefused("server.not_grouped", file=self.file)
            cells, forms = (one.cast(_NUMBERS[kind]) for one in (cells, pa.nulls(len(cells), cells.type)))
        pairs = dialect.pairs(
            [
                (dialect.literal(cell, kind), dialect.literal(form, kind))
                for cell, form in zip(cells.to_pylist(), forms.to_pylist(), strict=True)
            ]
        )
        written = "\n".join((self.source, *self.cells.values(), *self._pairs, *self._pairs.values()))
        names = (f"{{pairs {place}}}" for place in count(1))
        token = next(one for one in names if one not in written)  # a column may be called so, or a key be so
        self._pairs[token] = pairs
        return dialect.typed_pairs(token, kind)

    def shares(self, cell: str) -> tuple[str, ...]:
        """Return no condition: a server has the memory that its queries need."""
        return ("",)

    def keep(self, sql: str) -> str:
        """Return the query itself: nothing is written on a server that may only be read."""
        return f"({sql})"

    def lot(self, salt: Sequence[int], columns: Sequence[str]) -> str:
        """Return a number that follows from a salt and some columns."""
        return self.dialect.lot(salt, columns)

    def chance(self, share: Fraction) -> str:
        """Return what is true of about a share of the rows."""
        return self.dialect.chance(share)

    def first(self, sql: str, rows: int) -> str:
        """Return the query for so many rows of another."""
        return self.dialect.first(sql, rows)

    @property
    def about(self) -> dict[str, Any]:
        """What the internal evidence says of the server and of all that was asked."""
        return {**self.about_connection, "asked": self.queries}

    @property
    def content(self) -> str:
        """What is another one as soon as any row of the relation is.

        Raises
        ------
        InputRefused
            ``server.changed``: the server shows no one state of the rows, and they are others by now than
            when the first query was asked.
        """
        found = self._content()
        if not self.has_one_state and found != self._first:
            raise InputRefused("server.changed", file=self.file, address=self._address.said)
        return found

    def confirm(self) -> None:
        """Refuse rows that are others than at the first query, where the server shows no one state."""
        if not self.has_one_state:
            _ = self.content

    def _content(self) -> str:
        """Return number and sum of the rows: one query that reads all of them."""
        lots = self.lot((0, 0), [*self.cells.values()]) if self.cells else "0"
        ((_, numbers),) = self.answers(self.dialect.content(lots, self.source), (), 2)
        return "/".join(str(one[0].as_py()) for one in numbers)


def _only_from() -> dict[str, str]:
    """Return the settings with which Python looks for modules beside this one, and in no working folder."""
    root = Path(__file__).resolve().parents[len(__name__.split(".")) - 1]
    return {"PYTHONPATH": str(root), "PYTHONSAFEPATH": "1"}
