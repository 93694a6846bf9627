"""A stand-in for Trino: it speaks the small protocol of its statements, and has DuckDB answer them.

No Trino runs where the tests run. What is tried here is the connection, the protocol and that the templates
are queries that an engine answers; whether Trino itself tells cells apart, ``custos connect selftest`` says.
"""

from __future__ import annotations

import base64
import json
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import duckdb

USER, PASSWORD = "keeper", "no one's"
_PIECE = 200
_WORDS = (
    "CREATE MACRO current_timezone() AS 'UTC'",
    "CREATE MACRO to_utf8(x) AS encode(x)",
    "CREATE MACRO xxhash64(x) AS hash(x)",
    "CREATE MACRO from_big_endian_64(x) AS CAST(CAST(x AS HUGEINT) - 9223372036854775808 AS BIGINT)",
)
"""What Trino has and DuckDB calls otherwise."""
_OTHERWISE = {
    "'\\.?0+$')": "'\\.?0+$', '')",
    '"memory".information_schema.': "information_schema.",
    "data_type FROM": "lower(data_type) FROM",
}
"""What Trino writes and DuckDB otherwise."""


class Trino:
    """A server that runs: its port, what it was asked, and how to fill its tables."""

    def __init__(self, *, version: str = "476", elsewhere: str = "") -> None:
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.is_stopped = False
        self.elsewhere, self._answers = elsewhere, dict[str, tuple[Any, list[Any]]]()
        self._duck, self._lock = duckdb.connect(":memory:"), threading.Lock()
        for one in (*_WORDS, f"CREATE MACRO version() AS '{version}'"):
            self._duck.sql(one)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def run(self, sql: str) -> None:
        """Do something as its owner."""
        with self._lock:
            self._duck.sql(sql)

    def stop(self) -> None:
        """Stop it, with the connections that there are."""
        self.is_stopped = True
        self._server.shutdown()
        self._server.server_close()

    def begin(self, sql: str) -> dict[str, Any]:
        """Take a query, and say where its answer is."""
        self.asked.append(sql)
        name = str(len(self.asked))
        told = sql
        for theirs, ours in _OTHERWISE.items():
            told = told.replace(theirs, ours)
        try:
            with self._lock:
                found = self._duck.execute(told)
                columns = [self._column(one[0], str(one[1])) for one in found.description]
                self._answers[name] = columns, found.fetchall()
        except duckdb.Error as error:
            kind = "TABLE_NOT_FOUND" if "Table with name" in str(error) else "GENERIC_USER_ERROR"
            said = {"message": "a cell", "errorCode": 1, "errorName": kind, "errorType": "USER_ERROR"}
            return self._told(name, "FAILED") | {"error": said}
        return self._told(name, "QUEUED") | {"nextUri": self._place(name, 0)}

    def go_on(self, name: str, start: int) -> dict[str, Any]:
        """Give a piece of an answer."""
        columns, rows = self._answers[name]
        piece = [[_plain(cell) for cell in row] for row in rows[start : start + _PIECE]]
        told = self._told(name, "RUNNING") | {"columns": columns, "data": piece}
        if start + _PIECE < len(rows):
            return told | {"nextUri": self._place(name, start + _PIECE)}
        return told | {"stats": {"state": "FINISHED", "nodes": 1}}

    def _told(self, name: str, state: str) -> dict[str, Any]:
        return {"id": name, "infoUri": "http://127.0.0.1/", "stats": {"state": state, "nodes": 1}}

    def _place(self, name: str, start: int) -> str:
        where = self.elsewhere or f"127.0.0.1:{self.port}"
        return f"http://{where}/v1/statement/executing/{name}/{start}"

    def _column(self, name: str, kind: str) -> dict[str, Any]:
        known = {"BIGINT": "bigint", "INTEGER": "integer", "DOUBLE": "double", "BOOLEAN": "boolean"}
        written = known.get(kind, "bigint" if kind == "NUMBER" else "varchar")
        return {"name": name, "type": written, "typeSignature": {"rawType": written, "arguments": []}}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # head and content in one piece: else each answer waits for a receipt of its head
            disable_nagle_algorithm = True

            def parse_request(self) -> bool:
                """Answer nothing once the server is stopped."""
                self.close_connection = outer.is_stopped
                return not outer.is_stopped and super().parse_request()

            def do_POST(self) -> None:
                outer.headers.append(dict(self.headers))
                sql = self.rfile.read(int(self.headers["Content-Length"])).decode()
                shown = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
                if self.headers.get("Authorization") != f"Basic {shown}":
                    self._answer({}, 401)
                    return
                self._answer(outer.begin(sql))

            def do_GET(self) -> None:
                *_, name, start = self.path.split("/")
                self._answer(outer.go_on(name, int(start)))

            def do_DELETE(self) -> None:
                self._answer({}, 204)

            def log_message(self, *given: Any) -> None:
                """Say nothing."""

            def _answer(self, tree: dict[str, Any], status: int = 200) -> None:
                content = json.dumps(tree).encode() if status == 200 else b""
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        return Handler


def _plain(cell: Any) -> Any:
    if isinstance(cell, float) and not math.isfinite(cell):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(cell)]
    return cell


@contextmanager
def running(**given: Any) -> Iterator[Trino]:
    """Start a stand-in, and stop it at the end."""
    server = Trino(**given)
    try:
        yield server
    finally:
        server.stop()
