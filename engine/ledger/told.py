"""What a release told its recipients, kept where a later one has to be compared with it.

It is public: the released numbers and the decisions that made them. The content lies outside the journal,
which holds its hash, so that none can be changed unnoticed and no transaction has to read it.
"""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from pathlib import Path

from engine.errors import VerificationFailed

MOST_BYTES = 1 << 20
"""Of the compressed content of one release. What is larger is not kept: its folder has to be at hand."""
_MOST_OUT = 1 << 27


def keep(db: sqlite3.Connection, entry: str, content: bytes | None) -> str | None:
    """Keep what a release told and return the hash for the journal; None where it is too much, or nothing."""
    packed = None if content is None or len(content) > _MOST_OUT else zlib.compress(content, 9)
    if packed is None or len(packed) > MOST_BYTES:
        return None
    db.execute("DELETE FROM told WHERE entry = ?", (entry,))
    db.execute("INSERT INTO told (entry, content) VALUES (?, ?)", (entry, packed))
    return hashlib.sha256(packed).hexdigest()


def read_told(db: sqlite3.Connection, entry: str, path: Path) -> bytes | None:
    """Return what a release told, or None where it was not kept.

    Raises
    ------
    VerificationFailed
        ``ledger.told_differs``: it is not what the journal says.
    """
    digest = db.execute("SELECT told FROM entry WHERE id = ?", (entry,)).fetchone()
    row = db.execute("SELECT content FROM told WHERE entry = ?", (entry,)).fetchone()
    expected, packed = (digest and digest[0]), (row and row[0])
    if expected is None and packed is None:
        return None
    if not isinstance(packed, bytes) or hashlib.sha256(packed).hexdigest() != expected:
        raise VerificationFailed("ledger.told_differs", file=path.name, row=entry)
    return zlib.decompressobj().decompress(packed, _MOST_OUT)


def check(db: sqlite3.Connection, path: Path) -> None:
    """Compare everything that is kept with the journal; see `read_told`."""
    rows = db.execute("SELECT id FROM entry WHERE told IS NOT NULL UNION SELECT entry FROM told").fetchall()
    for row in rows:
        read_told(db, row[0], path)
