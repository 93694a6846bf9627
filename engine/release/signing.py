"""The key with which releases of a register are signed: beside its ledger, made with its first release.

The file is its owner's alone and may be locked with a passphrase. Which key a register has stands in the
ledger, so that one which is lost or was put in its place is noticed, and no other is made in silence.
"""

from __future__ import annotations

import glob
import os
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from engine import ed25519, strict_json, texts
from engine.bounded import SUMS, read_bytes
from engine.errors import InputRefused
from engine.ledger import Holding, Ledger
from engine.policy import keys_folder, refuse_open_key
from engine.privacy.keys import is_locked, lock_key, new_key, unlock_key
from engine.release import signature as signatures
from engine.release.signature import Known, fingerprint_of

NEXT = ".next"
SHORTLY = 60.0
"""Seconds after which a key that nobody finished writing is taken as left by a dead process."""


@dataclass(frozen=True)
class SigningKey:
    """A key that is open, and the earlier ones whose place it took."""

    register: str
    private: bytes = field(repr=False)
    since: str
    earlier: tuple[Mapping[str, str], ...] = ()

    @property
    def public(self) -> str:
        """The public key in hexadecimal."""
        return ed25519.public_key(self.private)

    @property
    def fingerprint(self) -> str:
        """Of the public key."""
        return fingerprint_of(self.public)

    def sign(self, message: bytes) -> str:
        """Return the signature of a message in hexadecimal."""
        return ed25519.sign(self.private, message)

    def sign_bundle(self, sums: str, head: Mapping[str, Any]) -> bytes:
        """Return the content of ``signature.json`` of a release with these sums."""
        tree = {
            "version": signatures.VERSION,
            "register": self.register,
            "sums": sums,
            "head": {"sequence": head["sequence"], "hash": head["hash"]},
            "time": _now(),
            "key": self.public,
            "earlier": [dict(line) for line in self.earlier],
        }
        signed = self.sign(signatures.message(signatures.BUNDLE, tree))
        return signatures.dumps(tree | {"signature": signed})

    def revocation(self) -> str:
        """Return the code that revokes the key: printed and kept, for the day on which it is stolen."""
        return self.sign(signatures.revocation(self.register, self.public))


def place(ledger: Ledger, holding: Holding) -> Path:
    """Return where the key of a register lies."""
    return keys_folder(ledger.path) / f"{holding.id}.json"


def state(ledger: Ledger, holding: Holding) -> dict[str, Any]:
    """Return what is known of the key of a register without opening it.

    Returns
    -------
    dict
        ``fingerprint`` as the ledger has it, empty before the first release; ``there``; ``locked``.
    """
    path = place(ledger, holding)
    named = ledger.keys().get(holding.id, [])
    return {
        "fingerprint": named[-1] if named else "",
        "there": path.is_file(),
        "locked": path.is_file() and is_locked(signatures.dumps(_tree(path)["key"])),
    }


def public_key(ledger: Ledger, holding: Holding) -> str:
    """Return the public key of a register without opening it; empty where it has none yet."""
    path = place(ledger, holding)
    return str(_tree(path)["public"]) if path.is_file() else ""


def open_key(
    ledger: Ledger, holding: Holding, passphrase: str | None = None, *, locks: bool = False
) -> SigningKey:
    """Return the key of a register; one that has none yet gets one: locked with the passphrase if ``locks``.

    Raises
    ------
    InputRefused
        ``signing.lost``: the ledger names a key, and its file is not there. ``signing.other``: the file
        holds another. ``signing.passphrase``, ``signing.damaged``, ``signing.not_writable``.
    """
    path = place(ledger, holding)
    for may_have_changed in (True, False):
        _settle(ledger, holding)
        named = ledger.keys().get(holding.id, [])
        if not path.exists():
            if named:
                folder = str(path.parent)
                raise InputRefused("signing.lost", register=holding.name, file=path.name, folder=folder)
            made = SigningKey(holding.id, new_key(), _now())
            write_key(path, _content(made, passphrase if locks else None), replaces=False)
        key = _open(path, holding, passphrase)
        if key.fingerprint == (named[-1] if named else _name_first(ledger, holding, key)):
            break
        if not may_have_changed:  # not by another process, between the ledger and the file
            raise InputRefused("signing.other", register=holding.name, file=path.name)
    return key


def _name_first(ledger: Ledger, holding: Holding, key: SigningKey) -> str:
    """Return which key the ledger names after the first was offered to it."""
    with ledger.change_keys(holding.id) as change:
        if change.named:
            return change.named[-1]
        change.name(key.fingerprint, texts.text("signing.first"))
    return key.fingerprint


def renew(
    ledger: Ledger,
    holding: Holding,
    *,
    reason: str,
    passphrase: str | None = None,
    is_lost: bool = False,
) -> SigningKey:
    """Give a register another key. The earlier one signs for it, unless it is lost.

    Parameters
    ----------
    reason
        Why; enters the ledger with the fingerprint.
    passphrase
        Opens the earlier key, and locks the new one.
    is_lost
        The earlier key is gone, or was stolen: nobody may take its word. What was signed with it stays
        genuine by the ledger; recipients get the new fingerprint over another way.

    Raises
    ------
    InputRefused
        As `open_key`; ``signing.no_reason``; ``policy.locked_keys``; ``signing.meanwhile``: another window or
        command changed the key at the same time.
    """
    if not reason.strip():
        raise InputRefused("signing.no_reason")
    refuse_open_key(is_locked=bool(passphrase))
    made = SigningKey(holding.id, new_key(), _now())
    earlier: tuple[Mapping[str, str], ...] = ()
    _settle(ledger, holding)
    path, named = place(ledger, holding), tuple(ledger.keys().get(holding.id, ()))
    stood = _stands(path)
    if not is_lost:
        before = open_key(ledger, holding, passphrase)
        named = named or (before.fingerprint,)
        stood = stood or _stands(path)
        said = signatures.successor(holding.id, before.public, made.public, made.since)
        line = {"key": before.public, "time": made.since, "signature": before.sign(said)}
        earlier = (*before.earlier, line)[-signatures.MOST_EARLIER :]
    made = SigningKey(holding.id, made.private, made.since, earlier)
    content = _content(made, passphrase)
    with ledger.change_keys(holding.id) as change:
        if (change.named, _stands(path)) != (named, stood):
            raise InputRefused("signing.meanwhile", register=holding.name)
        write_key(path.with_name(f"{path.name}.{made.fingerprint[:16]}{NEXT}"), content, replaces=True)
        change.name(made.fingerprint, reason.strip())
    _settle(ledger, holding)
    return made


def lock(ledger: Ledger, holding: Holding, *, passphrase: str | None, new: str | None) -> SigningKey:
    """Lock the key of a register with another passphrase; without one it lies open to its owner.

    Raises
    ------
    InputRefused
        As `open_key`; ``signing.meanwhile``, as `renew`; ``policy.locked_keys``.
    """
    refuse_open_key(is_locked=bool(new))
    path = place(ledger, holding)
    _settle(ledger, holding)
    stood, key = _stands(path), open_key(ledger, holding, passphrase)
    stood, content = stood or _stands(path), _content(key, new)
    with ledger.change_keys(holding.id) as change:
        if (change.named[-1:], _stands(path)) != ((key.fingerprint,), stood):
            raise InputRefused("signing.meanwhile", register=holding.name)
        write_key(path, content, replaces=True)
    return key


def _stands(path: Path) -> bytes:
    """Return what a file of a key holds; nothing where it cannot be read."""
    try:
        return read_bytes(path, SUMS)
    except (OSError, ValueError):  # gone, or larger than any key: it may be replaced all the same
        return b""


def _settle(ledger: Ledger, holding: Holding) -> None:
    """Finish a change of keys that broke off: what the ledger names counts.

    A file of a key that follows stands without its name in the ledger only while a process holds the writer's
    lock, or after it was killed there.
    """
    path = place(ledger, holding)
    if not any(_following(path)):
        return
    with ledger.change_keys(holding.id) as change:
        for following in _following(path):
            if fingerprint_of(_tree(following)["public"]) in change.named[-1:]:
                following.replace(path)
            else:
                following.unlink()


def _following(path: Path) -> list[Path]:
    return sorted(path.parent.glob(f"{glob.escape(path.name)}*{NEXT}"))


def known_keys(ledger: Ledger) -> dict[str, str]:
    """Return the fingerprints that a ledger names, each with the name of its register."""
    names = {one.id: one.name for one in ledger.holdings()}
    return {
        print_: names[register]
        for register, prints in ledger.keys().items()
        for print_ in prints
        if register in names
    }


def look_up_keys(
    ledger: Ledger | None, fingerprints: Mapping[str, str], revocations: tuple[str, ...] = ()
) -> Known:
    """Return what is known of keys: what somebody says, which counts alone then, or what a ledger has."""
    own = {} if ledger is None else known_keys(ledger)
    return Known(fingerprints or own, bool(fingerprints), revocations, frozenset(own))


def _content(key: SigningKey, passphrase: str | None) -> bytes:
    kept = strict_json.loads(lock_key(key.private, passphrase))
    tree = {"version": 1, "register": key.register, "public": key.public, "since": key.since}
    return signatures.dumps(tree | {"earlier": [dict(line) for line in key.earlier], "key": kept})


def _open(path: Path, holding: Holding, passphrase: str | None) -> SigningKey:
    tree = _tree(path)
    if tree["register"] != holding.id:
        raise InputRefused("signing.other", register=holding.name, file=path.name)
    try:
        private = unlock_key(signatures.dumps(tree["key"]), passphrase, file=path.name)
    except InputRefused as error:
        if error.code == "keys.damaged":
            raise InputRefused("signing.damaged", file=path.name) from error
        raise InputRefused("signing.passphrase", register=holding.name, file=path.name) from error
    key = SigningKey(holding.id, private, tree["since"], tuple(tree["earlier"]))
    if key.public != tree["public"]:
        raise InputRefused("signing.damaged", file=path.name)
    return key


def _tree(path: Path) -> dict[str, Any]:
    """Return what stands in a file of a key."""
    try:
        tree = strict_json.loads(read_bytes(path, SUMS))
        fits = tree["version"] == 1 and isinstance(tree["earlier"], list)
        lines = [tree[name] for name in ("register", "public", "since")]
        lines += [text for one in tree["earlier"] for text in one.values()]
        if not fits or not all(isinstance(text, str) for text in lines) or not isinstance(tree["key"], dict):
            raise ValueError("no key of this form")
        fingerprint_of(tree["public"])
        is_locked(signatures.dumps(tree["key"]))
        return dict(tree)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputRefused("signing.damaged", file=path.name) from error


def write_key(path: Path, content: bytes, *, replaces: bool) -> None:
    """Write a key to the disk, for its owner alone; of two that are first at once, one wins."""
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _sweep(path)
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
            with os.fdopen(os.open(aside, flags, 0o600), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if replaces:
                aside.replace(path)
            else:
                _give_name(aside, path)
        finally:
            aside.unlink(missing_ok=True)
    except OSError as error:
        raise InputRefused("signing.not_writable", file=path.name, folder=str(path.parent)) from error


def _sweep(path: Path) -> None:
    """Take away what a killed process left aside: a key that is locked now may lie open there."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.{'[0-9a-f]' * 8}"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > SHORTLY:
                left.unlink()


def _give_name(aside: Path, path: Path) -> None:
    with suppress(FileExistsError):
        try:
            os.link(aside, path)  # refuses to replace
        except FileExistsError:
            raise
        except OSError:  # no hard links on this file system
            if not path.exists():
                aside.rename(path)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
