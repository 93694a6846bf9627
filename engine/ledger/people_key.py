"""The key by which a ledger knows people, locked where what stays is encrypted.

Whoever has this key beside the digests can try out every number that a person may have, and learns who is in
the tables: with numbers of ten digits in minutes. Locked, the digests tell nothing. Opened, the key stays in
this process alone.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from pathlib import Path

from engine.errors import InputRefused, VerificationFailed
from engine.ledger import cipher

_MAGIC = b"custos locked people 1\n"
_NONCE = 12
_opened: dict[str, bytes] = {}


def digest(key: bytes) -> str:
    """Return the hash of the key, as the first row of the journal has it."""
    return hashlib.sha256(b"custos ledger key\0" + key).hexdigest()


def read_stored_key(db: sqlite3.Connection) -> bytes:
    """Return what the ledger has as its key: locked or not; nothing where it has none."""
    row = db.execute("SELECT key FROM secret").fetchone()
    return row[0] if row is not None and isinstance(row[0], bytes) else b""


def is_locked(content: bytes) -> bool:
    """Say whether what the ledger has as its key is locked."""
    return content.startswith(_MAGIC)


def is_key(content: bytes, expected: object) -> bool:
    """Say whether it is the key with this hash; of a locked one, `open_with` finds out."""
    return is_locked(content) or (bool(content) and digest(content) == expected)


def key_of(db: sqlite3.Connection, path: Path, expected: object) -> bytes:
    """Return the key with this hash.

    Raises
    ------
    InputRefused
        ``ledger.people_locked``: it is locked, and nobody opened it in this process.
    """
    content = read_stored_key(db)
    found = _opened.get(os.path.realpath(path), b"") if is_locked(content) else content
    if (
        not found or digest(found) != expected
    ):  # also where another ledger took the place of one that was open
        raise InputRefused("ledger.people_locked", file=path.name)
    return found


def is_closed(path: Path) -> bool:
    """Say whether the key of a ledger is locked and was not opened here, without reading anything else."""
    return os.path.realpath(path) not in _opened and locked_at(path)


def locked_at(path: Path) -> bool:
    """Say whether the key of a ledger is locked, by itself or with the whole file, and read nothing else."""
    if cipher.is_encrypted(path):
        return True
    try:
        db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            return is_locked(read_stored_key(db))
        finally:
            db.close()
    except sqlite3.Error:  # whoever uses the ledger is told
        return False


def lock(db: sqlite3.Connection, path: Path, wrapping: bytes) -> None:
    """Lock the key with another one; the process that does it has it open."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    content = read_stored_key(db)
    if is_locked(content):
        return
    nonce = os.urandom(_NONCE)
    sealed = _MAGIC + nonce + AESGCM(wrapping).encrypt(nonce, content, _MAGIC)
    db.execute("UPDATE secret SET key = ?", (sealed,))
    _opened[os.path.realpath(path)] = content


def open_with(db: sqlite3.Connection, path: Path, wrapping: bytes, expected: object) -> None:
    """Open the key for this process; one that is not locked needs nothing.

    Raises
    ------
    VerificationFailed
        ``ledger.key_differs``: it was locked with another key, or changed.
    """
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    content = read_stored_key(db)
    if not is_locked(content):
        return
    begin = len(_MAGIC) + _NONCE
    try:
        key = AESGCM(wrapping).decrypt(content[len(_MAGIC) : begin], content[begin:], _MAGIC)
    except (InvalidTag, ValueError) as error:
        raise VerificationFailed("ledger.key_differs", file=path.name) from error
    if digest(key) != expected:
        raise VerificationFailed("ledger.key_differs", file=path.name)
    _opened[os.path.realpath(path)] = key
