"""Masks: numbers that hide a site's sums from whoever adds them up, and that key holders add up apart.

A site and every holder agree on a seed by X25519 (RFC 7748) with a key pair that the site makes for one share
and forgets. The mask is the stream of ChaCha20 (RFC 8439) under that seed, read as numbers of 64 bits, and is
added modulo 2^64. Whoever has the shares needs the sum of the masks of every holder; a holder has never seen
a share. Together, coordinator and all holders see what each site sent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from engine import arrays

Integers = arrays.Integers
Words = arrays.Words
KEY_BYTES = 32


def exchange_private(register_key: bytes) -> bytes:
    """Return the private X25519 key that goes with the signing key of a register."""
    return _derived(register_key, b"custos exchange 1", b"")


def exchange_public(private: bytes) -> str:
    """Return the public key of a private one, in hexadecimal."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw().hex()


def mask(private: bytes, public: str, *, study: str, ephemeral: str, holder: str, size: int) -> Words:
    """Return the mask that a site and a holder share, from either's private and the other's public key.

    Parameters
    ----------
    private, public
        Of the site's pair for this share and of the holder: one of each.
    study, ephemeral, holder
        What the mask is bound to: the id of the study, and both public keys.
    size
        How many numbers.

    Raises
    ------
    ValueError
        The public key is one of small order, with which no secret is shared.
    """
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20

    other = X25519PublicKey.from_public_bytes(bytes.fromhex(public))
    secret = X25519PrivateKey.from_private_bytes(private).exchange(other)
    bound = hashlib.sha256(f"{study} {ephemeral} {holder} {size}".encode()).digest()
    seed = _derived(secret, b"custos mask 1", bound)
    stream = Cipher(
        ChaCha20(seed, bytes(16)), mode=None
    ).encryptor()  # a seed is used once: no nonce is needed
    return np.frombuffer(stream.update(bytes(8 * size)), dtype="<u8").astype(np.uint64)


def masked(numbers: Integers, masks: Sequence[Words]) -> Integers:
    """Return numbers with masks added modulo 2^64."""
    found = numbers.astype(np.int64).view(np.uint64).copy()
    for one in masks:
        found += one
    return found.view(np.int64)


def unmasked(numbers: Sequence[Integers], masks: Sequence[Words]) -> Integers:
    """Return the total of masked numbers less the sums of the masks of all holders."""
    found = np.zeros(numbers[0].size, dtype=np.uint64)
    for one in numbers:
        found += one.view(np.uint64)
    for each in masks:
        found -= each
    return found.view(np.int64)


def _derived(secret: bytes, info: bytes, salt: bytes) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(SHA256(), KEY_BYTES, salt, info).derive(secret)
