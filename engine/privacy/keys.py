"""Keys that stay with the custodian: pseudonyms made with one, and the key locked with a passphrase."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
from collections.abc import Sequence
from threading import Lock
from typing import Any

from engine import strict_json
from engine.errors import InputRefused

KEY_BYTES = 32
FEWEST = 12
"""Different bytes of a key: one that was drawn has fewer with a chance below 1e-20."""
LEAST_PASSPHRASE = 8
"""Signs of a passphrase that locks what no one else can open."""
LETTERS = 20
"""Signs of a pseudonym, five bits each: among a million people two agree with a chance below 4e-19."""
_SALT_BYTES, _NONCE_BYTES = 16, 12
_SCRYPT = {"n": 2**15, "r": 8, "p": 1}  # of files that earlier versions wrote
_ARGON2: dict[str, Any] = {
    "iterations": 3,
    "lanes": 4,
    "memory_cost": 1 << 16,
}  # 64 MiB, about a fifth of a second a try
_stretching = Lock()
"""Two threads in OpenSSL's Argon2 at once wait for each other's lanes without end."""


def new_key() -> bytes:
    """Return 32 bytes of the operating system's randomness."""
    return os.urandom(KEY_BYTES)


def pseudonyms(texts: Sequence[str], *, key: bytes) -> list[str]:
    """Return a pseudonym for each text: the same for the same text and key.

    Parameters
    ----------
    texts
        What names somebody, in one form.
    key
        From `new_key`. Who has it can compute the pseudonym of anybody whose number they know.

    Returns
    -------
    list of str
        The first 100 bits of HMAC-SHA-256 (RFC 2104) as 20 letters and digits.

    Notes
    -----
    Without a key the same could be computed by anybody from a list of all numbers, so no hash without a key
    is offered.

    Examples
    --------
    >>> pseudonyms(["7", "7"], key=bytes(32))
    ['GBXJIJWXSTZPNRDDMK2Q', 'GBXJIJWXSTZPNRDDMK2Q']
    """
    return [_pseudonym(text, key) for text in texts]


def _pseudonym(text: str, key: bytes) -> str:
    digest = hmac.digest(key, text.encode(), "sha256")
    return base64.b32encode(digest).decode()[:LETTERS]


def lock_key(key: bytes, passphrase: str | None) -> bytes:
    """Return a key as the content of a file, encrypted where there is a passphrase.

    Parameters
    ----------
    key
        From `new_key`.
    passphrase
        Stretched by Argon2id (RFC 9106), encrypts with AES-256 in GCM mode. None leaves the key readable.
    """
    if not passphrase:
        return _dumps({"version": 1, "locked": False, "key": key.hex()})
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # only where it is needed

    salt, nonce = os.urandom(_SALT_BYTES), os.urandom(_NONCE_BYTES)
    sealed = AESGCM(_stretch(passphrase, salt, 2)).encrypt(nonce, key, None)
    tree = {"salt": salt.hex(), "nonce": nonce.hex(), "sealed": sealed.hex()}
    return _dumps({"version": 2, "locked": True, **tree})


def is_locked(content: bytes) -> bool:
    """Say whether a file that `lock_key` wrote needs a passphrase."""
    return bool(strict_json.loads(content.decode())["locked"])


def unlock_key(content: bytes, passphrase: str | None, *, file: str = "key") -> bytes:
    """Return the key of a file that `lock_key` wrote.

    Raises
    ------
    InputRefused
        ``keys.damaged``; ``keys.passphrase``: none was given, or it is another one.
    """
    try:
        tree = strict_json.loads(content.decode())
        version = strict_json.whole(tree["version"], "version")
        if version not in (1, 2):
            raise ValueError("another version")
        if not strict_json.truth(tree["locked"], "locked"):
            return _whole(bytes.fromhex(tree["key"]), file)
        salt, nonce, sealed = (bytes.fromhex(tree[name]) for name in ("salt", "nonce", "sealed"))
    except (ValueError, KeyError, TypeError) as error:
        raise InputRefused("keys.damaged", file=file) from error
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    if not passphrase:
        raise InputRefused("keys.passphrase", file=file)
    try:
        key = AESGCM(_stretch(passphrase, salt, version)).decrypt(nonce, sealed, None)
    except (InvalidTag, ValueError) as error:
        raise InputRefused("keys.passphrase", file=file) from error
    return _whole(key, file)


def _whole(key: bytes, file: str) -> bytes:
    """Refuse a key that is shorter or plainer than any that was made: pseudonyms of it could be guessed."""
    if len(key) != KEY_BYTES or len(set(key)) < FEWEST:
        raise InputRefused("keys.damaged", file=file)
    return key


def _stretch(passphrase: str, salt: bytes, version: int) -> bytes:
    if version == 1:
        most = 256 * _SCRYPT["n"] * _SCRYPT["r"]
        return hashlib.scrypt(passphrase.encode(), salt=salt, maxmem=most, dklen=KEY_BYTES, **_SCRYPT)
    from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

    with _stretching:
        return Argon2id(salt=salt, length=KEY_BYTES, **_ARGON2).derive(passphrase.encode())


def _dumps(tree: dict[str, object]) -> bytes:
    return (json.dumps(tree, indent=2) + "\n").encode()
