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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from engine import strict_json
from engine.bounded import read_text
from engine.errors import InputRefused
from engine.table.reading.names import clean_names, refuse_wide
from engine.table.reading.options import Finding

SUFFIX = ".server"
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
            tree = strict_json.loads(read_text(path, _LARGEST))
            found = strict_json.members(tree, path.name, must=_MUST, may=_MAY)
            texts = [found[name] for name in ("host", "database", "user", "relation", "kind")]
            fits = all(isinstance(one, str) and one and one.isprintable() for one in texts)
            fits &= isinstance(found["port"], int) and 0 < found["port"] < 1 << 16
            more = {name: found[name] for name in _MAY if name in found}
            kinds = {"seconds": int, "tls": bool, "ca": str}
            fits &= all(type(value) is kinds[name] for name, value in more.items())
            if not fits or found["kind"] != KIND or more.get("seconds", 1) < 1:
                raise ValueError
        except OSError as error:
            reason = error.strerror or ""
            raise InputRefused("reading.not_readable", file=path.name[:100], reason=reason) from error
        except (ValueError, InputRefused) as error:
            raise InputRefused("server.bad_file", file=path.name, must=", ".join(_MUST)) from error
        if more.get("ca"):
            more["ca"] = str(path.absolute().parent / more["ca"])
        return Address(*(found[name] for name in ("host", "port", "database", "user", "relation")), **more)

    @property
    def said(self) -> str:
        """The address in a line."""
        return f"{self.host}:{self.port}/{self.database}"


def has_connector() -> bool:
    """Say whether the part that connects is installed."""
    with suppress(ImportError, ValueError):
        return all(importlib.util.find_spec(one) is not None for one in (_CONNECTOR, "pg8000"))
    return False


class Server:
    """One relation of a server, asked by a process of its own; see `engine.table.grouped.Grouper`.

    Parameters
    ----------
    path
        The file that names it.
    password
        It goes to the other process by a pipe, and nowhere else.

    Raises
    ------
    InputRefused
        ``server.no_connector``, ``server.no_password``, or what the connector refuses: ``server.*``.
    """

    def __init__(self, path: Path, password: str | None) -> None:
        address = Address.read(path)
        self.file, self._address = path.name, address
        if not has_connector():
            raise InputRefused("server.no_connector", file=path.name)
        if password is None:
            raise InputRefused("server.no_password", file=path.name, user=address.user, address=address.said)
        self.asked, self.fetched, self._sent, self._received = 0, 0, 0, 0
        self.queries: list[dict[str, Any]] = []
        self._pairs: dict[str, str] = {}
        self._process = subprocess.Popen(
            [sys.executable, "-m", _CONNECTOR],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _KEPT if name in os.environ} | _only_from(),
        )
        try:
            (about,) = self._exchange(
                {**{name: getattr(address, name) for name in Address.__annotations__}, "password": password}
            )
        except BaseException:
            self.close()
            raise
        self._about = json.loads(about)
        self.engine, self.source = str(self._about["engine"]), str(self._about["source"])
        self.rows, written = int(self._about["rows"]), list(self._about["cells"])
        refuse_wide(len(written), path.name)
        names, found = clean_names(written, len(written), path.name)
        self.found: Sequence[Finding] = found
        self.cells: Mapping[str, str] = dict(zip(names, self._about["cells"].values(), strict=True))
        self._types: Mapping[str, str] = dict(zip(names, self._about["kinds"].values(), strict=True))
        self.kinds: Mapping[str, pa.DataType] = {name: _KINDS[kind] for name, kind in self._types.items()}

    tier = "server"

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
        token = f"{{pairs {len(self._pairs) + 1}}}"
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
        address = {
            "address": self._address.said,
            "relation": self._address.relation,
            "user": self._address.user,
        }
        known = {name: self._about[name] for name in ("snapshot", "certificate")}
        return {**address, **known, "sent": self._sent, "received": self._received, "asked": self.queries}

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


def _only_from() -> dict[str, str]:
    """Return the settings with which Python looks for modules beside this one, and in no working folder."""
    root = Path(__file__).resolve().parents[len(__name__.split(".")) - 1]
    return {"PYTHONPATH": str(root), "PYTHONSAFEPATH": "1"}


def _literal(value: Any) -> str:
    """Return a value as it stands in a query."""
    if value is None:
        return "NULL"
    return "'" + str(value).replace("'", "''") + "'"
