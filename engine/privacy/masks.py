"""Masks: numbers that hide a site's sums from whoever adds them up, and that key holders add up apart.

A site and every holder agree on a seed by X25519 (RFC 7748) and, where the holder's card has a key for it,
by ML-KEM-768 (FIPS 203) besides: shares lie about for decades, and one of both is enough to keep the seed.
The site makes its X25519 pair for one share and forgets it. The mask is the stream of ChaCha20 (RFC 8439)
under that seed, read as numbers of 64 bits, and is added modulo 2^64. Whoever has the shares needs the sum of
the masks of every holder; a holder has never seen a share. Together, coordinator and all holders see what
each site sent.

Of 20 sites with 10⁶ numbers each, everything here (agreeing, masks of all sites and holders, the total
without them) took 0.3 to 0.7 s of processor time with one to three holders, 6 to 15 ms of it for a site.
Noise, which any release draws, reading and writing of files and their signatures are not in that.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from engine import arrays
from engine.errors import InputRefused

Integers = arrays.Integers
Words = arrays.Words
KEY_BYTES = 32
_SEED_BYTES = 64
_BOTH = "x25519-ml-kem-768:"
_PUBLIC = re.compile(rf"({_BOTH})?([0-9a-f]{{{2 * KEY_BYTES}}})((?(1)[0-9a-f]{{{2 * 1184}}}))")


def exchange_private(register_key: bytes) -> bytes:
    """Return what goes with the signing key of a register: a private X25519 key, and the seed of ML-KEM."""
    return _derived(register_key, b"custos exchange 1", b"", KEY_BYTES + _SEED_BYTES)


def exchange_public(private: bytes) -> str:
    """Return the public key of a private one, in hexadecimal: both where there is a seed for both.

    Where the library has no ML-KEM, it is that of X25519 alone, as it always was.
    """
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    first = X25519PrivateKey.from_private_bytes(private[:KEY_BYTES]).public_key().public_bytes_raw().hex()
    if len(private) == KEY_BYTES or not has_ml_kem():
        return first
    seeded = _ml_kem().MLKEM768PrivateKey.from_seed_bytes(private[KEY_BYTES:])
    return f"{_BOTH}{first}{seeded.public_key().public_bytes_raw().hex()}"


def is_both(public: str) -> bool:
    """Say whether a public key is one of X25519 and of ML-KEM."""
    return public.startswith(_BOTH)


def is_public(public: str) -> bool:
    """Say whether a secret can be agreed on with a public key, as far as this computer can tell."""
    found = _PUBLIC.fullmatch(public)
    try:
        if found is None or not _exchanged(bytes(KEY_BYTES), found[2]):
            return False
        if found[1] and has_ml_kem():
            _ml_kem().MLKEM768PublicKey.from_public_bytes(bytes.fromhex(found[3]))
    except ValueError:
        return False
    return True


def has_ml_kem() -> bool:
    """Say whether the installed library has ML-KEM."""
    try:
        _ml_kem()
    except InputRefused:
        return False
    return True


def agree(private: bytes, holders: Sequence[str]) -> tuple[str, list[bytes]]:
    """Return what a site says besides its share so that holders find its masks, and its secret with each.

    Parameters
    ----------
    private
        Of X25519, drawn for this share alone.
    holders
        The public keys of the holders. For those of both ways the ciphertext of ML-KEM follows the public key
        of the share, in their order, apart by colons.

    Raises
    ------
    InputRefused
        ``sites.no_ml_kem``.
    ValueError
        A public key is one with which no secret is shared; see `is_public`.
    """
    said, agreements = [exchange_public(private)], list[bytes]()
    for one in holders:
        found = _PUBLIC.fullmatch(one)
        if found is None:
            raise ValueError("no public key")
        secret, sealed = _exchanged(private, found[2]), b""
        if found[1]:
            further, sealed = (
                _ml_kem().MLKEM768PublicKey.from_public_bytes(bytes.fromhex(found[3])).encapsulate()
            )
            secret += further
        agreements.append(secret)
        said.append(sealed.hex())
    return (":".join(said) if any(said[1:]) else said[0]), agreements


def agreed(private: bytes, said: str, public: str, place: int) -> bytes:
    """Return the secret of a holder with a site, from what the site said.

    Parameters
    ----------
    private
        Of the holder.
    said
        As `agree` returned it.
    public
        The holder's, as the site knows it.
    place
        Of the holder among all of them.

    Raises
    ------
    InputRefused
        ``sites.no_ml_kem``.
    ValueError
        What the site said is no key, or the half of ML-KEM is missing.
    """
    first, *sealed = said.split(":")
    secret = _exchanged(private[:KEY_BYTES], first)
    if not is_both(public):
        return secret
    if place >= len(sealed):
        raise ValueError("no ciphertext")
    own = _ml_kem().MLKEM768PrivateKey.from_seed_bytes(private[KEY_BYTES:])
    return secret + bytes(own.decapsulate(bytes.fromhex(sealed[place])))


def mask(secret: bytes, *, study: str, said: str, holder: str, size: int) -> Words:
    """Return the mask that a site and a holder share.

    Parameters
    ----------
    secret
        On which both agreed, each on their own; see `agree` and `agreed`.
    study, said, holder
        What the mask is bound to: the id of the study, what the site said, and the public key of the holder.
    size
        How many numbers.
    """
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20

    bound = hashlib.sha256(f"{study} {said} {holder} {size}".encode()).digest()
    seed = _derived(secret, b"custos mask 2" if is_both(holder) else b"custos mask 1", bound, KEY_BYTES)
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


def _exchanged(private: bytes, public: str) -> bytes:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

    other = X25519PublicKey.from_public_bytes(bytes.fromhex(public))
    return X25519PrivateKey.from_private_bytes(private).exchange(other)


def _ml_kem() -> Any:
    """Return the part of the library that has ML-KEM, as later releases of it have."""
    from cryptography.exceptions import UnsupportedAlgorithm

    try:
        from cryptography.hazmat.primitives.asymmetric import mlkem

        mlkem.MLKEM768PrivateKey.from_seed_bytes(bytes(_SEED_BYTES))
    except (ImportError, UnsupportedAlgorithm) as error:
        raise InputRefused("sites.no_ml_kem") from error
    return mlkem


def _derived(secret: bytes, info: bytes, salt: bytes, length: int) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(SHA256(), length, salt, info).derive(secret)
