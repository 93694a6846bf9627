"""Signatures by Ed25519 (RFC 8032) in hexadecimal; keys under which anything is signed are none."""

from __future__ import annotations

import re

_P = 2**255 - 19
_Y8 = int.from_bytes(
    bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"), "little"
)
_SMALL = frozenset((0, 1, _P - 1, _Y8, _P - _Y8))
"""Second coordinates of the eight points of small order: under such a key anything is signed."""
_KEY, _SIGNATURE = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9a-f]{128}")


def public_key(private: bytes) -> str:
    """Return the public key of a private one."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw().hex()


def sign(private: bytes, message: bytes) -> str:
    """Return the signature of a message."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(private).sign(message).hex()


def is_signed(key: str, signature: object, signed: bytes) -> bool:
    """Say whether a signature is one of these bytes under a key.

    Keys of small order and those written another way than RFC 8032 writes them are none.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if not is_key(key) or not isinstance(signature, str) or not _SIGNATURE.fullmatch(signature):
        return False
    try:
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(key))
        public.verify(bytes.fromhex(signature), signed)
    except (InvalidSignature, ValueError):
        return False
    return True


def is_key(key: str) -> bool:
    """Say whether digits are a public key that can be believed."""
    if not _KEY.fullmatch(key):
        return False
    y = int.from_bytes(bytes.fromhex(key), "little") & (1 << 255) - 1
    return y < _P and y not in _SMALL
