"""Answer one process by pipes: a line of JSON each for where to connect and for every query.

Every answer is a sequence of frames: a letter, eight bytes of length, content. ``B`` is a batch (Arrow IPC),
``E`` ends an answer (JSON), ``X`` says what is refused (JSON: a code, and never a word of the server's, which
may hold a cell).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any, BinaryIO

from engine.connector.session import Refused, Session

_MOST = 1 << 26  # bytes of a request


def open_session(said: Mapping[str, Any]) -> Session:
    """Connect to a server of the kind that is named; only its library is loaded."""
    kind = str(said["kind"])
    if kind == "spark":
        from engine.connector.spark import Spark

        return Spark(said)
    if kind == "trino":
        from engine.connector.trino import Trino

        return Trino(said)
    if kind == "sqlserver":
        from engine.connector.sqlserver import SqlServer

        return SqlServer(said)
    if kind == "oracle":
        from engine.connector.oracle import Oracle

        return Oracle(said)
    from engine.connector.postgresql import Postgresql

    return Postgresql(said)


def serve(asked: BinaryIO, told: BinaryIO) -> None:
    """Connect as the first line says, then answer the others until there is none."""

    def tell(letter: bytes, content: bytes) -> None:
        told.write(letter + len(content).to_bytes(8, "big") + content)
        told.flush()

    def end(tree: dict[str, Any], letter: bytes = b"E") -> None:
        tell(letter, json.dumps(tree).encode())

    session: Session | None = None
    while line := asked.readline(_MOST):
        try:
            request = json.loads(line)
            if session is None:
                session = open_session(request)
                end(session.about)
                continue
            for batch in session.answer(str(request["sql"]), [str(one) for one in request["kinds"]]):
                tell(b"B", batch)
            end({"sent": session.sent, "received": session.received})
        except Refused as refused:
            end({"code": refused.code, "reason": refused.reason}, b"X")
            return


if __name__ == "__main__":
    told = sys.stdout.buffer
    sys.stdout = sys.stderr  # whatever a library prints is no part of an answer
    serve(sys.stdin.buffer, told)
