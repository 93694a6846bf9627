"""The signature of a bundle, ``release/signature.json``: what is signed, and by which key.

Ed25519 (RFC 8032) over the file itself without its last value, so that there is one way to write a signature
and one to read it. It names the sums of the release, the register and where the ledger stood. A key that
took another's place carries the earlier one's word for it. A key that comes with a bundle proves nothing:
what counts is a fingerprint that was given over another way.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine import strict_json
from engine.bounded import read_bytes
from engine.ed25519 import is_signed

SIGNATURE = "signature.json"
"""Of the sums, so that they cannot have its own."""
VERSION = 1
LARGEST = 1 << 16
MOST_EARLIER = 16
FINGERPRINT = 40
BUNDLE, SUCCESSOR, REVOCATION = "bundle", "successor", "revocation"

_HEX = {length: re.compile(f"[0-9a-f]{{{length}}}") for length in (FINGERPRINT, 64, 128)}
_REGISTER = re.compile(r"[a-z0-9]{1,40}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00")
_EARLIER = ("key", "time", "signature")
_MEMBERS = ("version", "register", "sums", "head", "time", "key", "earlier", "signature")


@dataclass(frozen=True)
class Signature:
    """A signature that is genuine: what it says was signed with `key`.

    Parameters
    ----------
    register
        Random id of the register of people in the ledger of whoever signed.
    sums
        SHA-256 of ``SHA256SUMS`` of the release.
    head
        ``sequence`` and ``hash`` of the ledger when the release was reserved.
    time
        ISO date and time in UTC, as the computer of whoever signed had it.
    key
        The public key in hexadecimal.
    earlier
        The keys that it took the place of, oldest first; each signed for the one after it.
    """

    register: str
    sums: str
    head: Mapping[str, Any]
    time: str
    key: str
    earlier: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """Of the key; see `fingerprint_of`."""
        return fingerprint_of(self.key)

    @property
    def keys(self) -> tuple[str, ...]:
        """Every key of the chain, oldest first; the last one signed."""
        return (*self.earlier, self.key)


def fingerprint_of(key: str) -> str:
    """Return the first 40 digits of the SHA-256 of a public key.

    Examples
    --------
    >>> fingerprint_of("00" * 32)
    '66687aadf862bd776c8fc18b8e9f8e2008971485'
    """
    return hashlib.sha256(bytes.fromhex(key)).hexdigest()[:FINGERPRINT]


def in_groups(fingerprint: str) -> str:
    """Return a fingerprint as it is read out and printed.

    Examples
    --------
    >>> in_groups("66687aadf862")
    '6668 7aad f862'
    """
    return " ".join(fingerprint[at : at + 4] for at in range(0, len(fingerprint), 4))


def plain_fingerprint(written: str) -> str:
    """Return a fingerprint that somebody typed without blanks and capitals; empty where it is none."""
    found = re.sub(r"[\s:-]+", "", written).lower()
    return found if _HEX[FINGERPRINT].fullmatch(found) else ""


def dumps(tree: Mapping[str, Any]) -> bytes:
    """Return the one way in which a signature is written."""
    return (json.dumps(tree, indent=2) + "\n").encode()


def message(kind: str, tree: Mapping[str, Any]) -> bytes:
    """Return the bytes that are signed. The kind keeps a signature from being taken for another."""
    return f"custos {kind} {VERSION}\n".encode() + dumps(tree)


def successor(register: str, earlier: str, key: str, time: str) -> bytes:
    """Return what an earlier key signs for the one that takes its place."""
    return message(SUCCESSOR, {"register": register, "earlier": earlier, "key": key, "time": time})


def revocation(register: str, key: str) -> bytes:
    """Return what a key signs so that it is never believed again."""
    return message(REVOCATION, {"register": register, "key": key})


def read(content: bytes) -> Signature:
    """Return what a signature says, once it is known to be genuine under the key that it names.

    Raises
    ------
    ValueError
        It is no signature of this form, or not genuine.
    """
    tree = strict_json.loads(content)
    _check_form(tree)
    if dumps(tree) != content:
        raise ValueError("written in another way")
    signed = {name: value for name, value in tree.items() if name != "signature"}
    chain = [line["key"] for line in tree["earlier"]] + [tree["key"]]
    if len(set(chain)) < len(chain):
        raise ValueError("a key that follows itself")
    for line, following in zip(tree["earlier"], chain[1:], strict=True):
        said = successor(tree["register"], line["key"], following, line["time"])
        if not is_signed(line["key"], line["signature"], said):
            raise ValueError("an earlier key did not sign for the next")
    if not is_signed(tree["key"], tree["signature"], message(BUNDLE, signed)):
        raise ValueError("not signed with this key")
    return Signature(
        tree["register"], tree["sums"], tree["head"], tree["time"], tree["key"], tuple(chain[:-1])
    )


def _check_form(tree: Any) -> None:
    _check(isinstance(tree, dict) and tuple(tree) == _MEMBERS and tree["version"] == VERSION)
    _check(type(tree["version"]) is int and isinstance(tree["earlier"], list))
    _check(len(tree["earlier"]) <= MOST_EARLIER)
    head = tree["head"]
    _check(isinstance(head, dict) and tuple(head) == ("sequence", "hash"))
    _check(type(head["sequence"]) is int and 0 <= head["sequence"] < 1 << 53)
    _check(_is_text(head["hash"], _HEX[64]) and _is_text(tree["sums"], _HEX[64]))
    _check(_is_text(tree["register"], _REGISTER))
    for line in (tree, *tree["earlier"]):
        _check(isinstance(line, dict) and (line is tree or tuple(line) == _EARLIER))
        _check(_is_text(line["key"], _HEX[64]) and _is_text(line["time"], _TIME))
        _check(_is_text(line["signature"], _HEX[128]))


def _is_text(value: Any, form: re.Pattern[str]) -> bool:
    return isinstance(value, str) and form.fullmatch(value) is not None


def _check(holds: bool) -> None:
    if not holds:
        raise ValueError("no signature of this form")


@dataclass(frozen=True)
class Known:
    """What somebody knows of keys from elsewhere.

    Parameters
    ----------
    keys
        Fingerprint → as what the key is known: the name of a register, a person, a paper.
    wanted
        Whether a signature is wanted: then one that is missing or by another key is a problem.
    revocations
        Codes from printed revocations, 128 digits each.
    of_ledger
        Fingerprints that a ledger names.
    """

    keys: Mapping[str, str]
    wanted: bool = False
    revocations: tuple[str, ...] = ()
    of_ledger: frozenset[str] = frozenset()

    def name_of(self, signature: Signature) -> tuple[str, str]:
        """Return as what the latest known key of a chain is known, and its fingerprint; empty for none."""
        for key in reversed(signature.keys):
            print_ = fingerprint_of(key)
            if print_ in self.keys:
                return self.keys[print_], print_
        return "", ""

    def is_revoked(self, signature: Signature) -> bool:
        """Say whether a key is revoked on which belief in a signature rests."""
        _, known = self.name_of(signature)
        chain = list(signature.keys)
        begin = next((at for at, key in enumerate(chain) if fingerprint_of(key) == known), len(chain) - 1)
        return any(
            is_signed(key, code, revocation(signature.register, key))
            for key in chain[begin:]
            for code in self.revocations
        )


def read_file(folder: Path) -> Signature | None:
    """Return the signature of a folder; None where there is none.

    Raises
    ------
    ValueError
        There is a file of its name that is no genuine signature.
    """
    place = folder / SIGNATURE
    if not place.is_file() or place.is_symlink():
        return None
    if place.stat().st_size > LARGEST:
        raise ValueError("larger than any signature")
    return read(read_bytes(place, LARGEST))
