"""Answer one process by pipes: a line of JSON each for where to connect and for every query.

Every answer is a sequence of frames: a letter, eight bytes of length, content. ``B`` is a batch (Arrow IPC),
``E`` ends an answer (JSON), ``X`` says what is refused (JSON: a code, and never a word of the server's, which
may hold a cell).
"""

from __future__ import annotations

import json
import sys
from typing import Any, BinaryIO

from engine.connector.postgres import Refused, Session

_MOST = 1 << 26  # bytes of a request


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
                session = Session(request)
                end(session.about)
                continue
            for batch in session.answer(str(request["sql"]), [str(one) for one in request["kinds"]]):
                tell(b"B", batch)
            end({"sent": session.sent, "received": session.received})
        except Refused as refused:
            end({"code": refused.code, "reason": refused.reason}, b"X")
            return


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
