"""A newer version on a stick: checked against a pinned key, and laid beside the one that runs.

Beside the packages lies ``custos-NUMBER.update.json``: the number of the version, the format of its ledgers
and the sums of the packages, signed (Ed25519) by whoever hands the program out. No connection is opened,
nothing that is installed is changed, and nothing older than what runs is taken.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
import shutil
import tarfile
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from engine import ed25519, strict_json
from engine.bounded import SUMS, read_bytes, sha256
from engine.errors import InputRefused, VerificationFailed
from engine.ledger import store
from engine.version import __version__

ENDING = ".update.json"
ARCHIVE = ".tar.zst"
ASIDE = ".custos-update-"
KEY = "release_key.txt"
"""Of the resources: the public key in hexadecimal. Empty where a version is made by whoever uses it."""
_PIECE = 1 << 20
_MEMBERS = {"version", "number", "ledger", "files", "key", "signature"}
_NUMBER = re.compile(r"(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,120}")
_SUM = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Update:
    """A newer version whose statement is genuine; ``files`` are the sums of its packages by name."""

    number: str
    files: Mapping[str, str]
    folder: Path


def message(tree: Mapping[str, Any]) -> bytes:
    """Return the bytes that are signed: everything but the signature, in one way to write it."""
    said = {name: value for name, value in tree.items() if name != "signature"}
    return b"custos update 1\n" + json.dumps(said, sort_keys=True, separators=(",", ":")).encode()


def statement(private: bytes, number: str, sums: Mapping[str, str]) -> bytes:
    """Return the signed statement of a version, for whoever hands it out."""
    key = ed25519.public_key(private)
    tree = {"version": 1, "number": number, "ledger": store.VERSION, "files": dict(sums), "key": key}
    signed = tree | {"signature": ed25519.sign(private, message(tree))}
    return (json.dumps(signed, indent=2, sort_keys=True) + "\n").encode()


def pinned_key() -> str:
    """Return the key that this program was made with, or nothing."""
    return files("resources").joinpath(KEY).read_text(encoding="utf-8").strip()


def read_update(path: Path, *, key: str = "") -> Update:
    """Return what a statement says, and check every package that lies beside it.

    Parameters
    ----------
    path
        The file ``custos-NUMBER.update.json``.
    key
        The public key to check with, where the program has none pinned; a pinned one counts alone.

    Raises
    ------
    InputRefused
        ``update.no_key``; ``update.not_readable``; ``update.not_newer``; ``update.older_ledger``: ledgers of
        this version could not be read by it; ``update.no_package``: none lies beside it.
    VerificationFailed
        ``update.not_signed``: by another key, or changed since; ``update.differs``: a package is another one
        or cut off.
    """
    trusted = pinned_key() or key.strip().lower()
    if not ed25519.is_key(trusted):
        raise InputRefused("update.no_key")
    try:
        tree = strict_json.loads(read_bytes(path, SUMS))
        if not isinstance(tree, dict) or set(tree) != _MEMBERS:
            raise ValueError("no statement of this form")
    except (OSError, ValueError) as error:
        raise InputRefused("update.not_readable", file=path.name) from error
    if tree["key"] != trusted or not ed25519.is_signed(trusted, tree["signature"], message(tree)):
        raise VerificationFailed("update.not_signed", file=path.name)
    number, ledger, sums = tree["number"], tree["ledger"], tree["files"]
    if tree["version"] != 1 or not _is_form(number, ledger, sums):
        raise InputRefused("update.not_readable", file=path.name)
    if _order(number) <= _order(__version__):
        raise InputRefused("update.not_newer", found=number, expected=__version__)
    if ledger < store.VERSION:
        raise InputRefused("update.older_ledger", found=ledger, expected=store.VERSION)
    there = {name: digest for name, digest in sums.items() if os.path.lexists(path.with_name(name))}
    if not there:
        raise InputRefused("update.no_package", file=path.name)
    for name, digest in there.items():
        try:
            is_whole = sha256(path.with_name(name)) == digest
        except OSError:  # also a folder, or a pipe that never ends
            is_whole = False
        if not is_whole:
            raise VerificationFailed("update.differs", file=name)
    return Update(number, there, path.parent)


def lay_beside(update: Update, folder: Path) -> Path:
    """Unpack the archive of a version into ``FOLDER/custos-NUMBER``, whole or not at all.

    What is unpacked is a copy whose own sum was taken: a stick may change meanwhile.

    Raises
    ------
    InputRefused
        ``update.no_archive``, ``update.is_there``, ``update.not_writable``.
    VerificationFailed
        ``update.differs``.
    """
    from engine.release.working import unrecorded  # brings the making of releases along

    name = next((one for one in update.files if one.endswith(ARCHIVE)), "")
    target = folder / f"custos-{update.number}"
    if not name:
        raise InputRefused("update.no_archive", number=update.number)
    if os.path.lexists(target):
        raise InputRefused("update.is_there", folder=target.name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with unrecorded(ASIDE, beside=folder) as aside:
            source, copy = update.folder / name, aside / "copy"
            if source.is_file():
                shutil.copyfile(source, copy)
            if not copy.is_file() or sha256(copy) != update.files[name]:
                raise VerificationFailed("update.differs", file=name)
            _unpack(copy, aside / "out")
            (aside / "out" / "custos").rename(target)
    except (OSError, tarfile.TarError) as error:
        reason = getattr(error, "strerror", "") or ""
        raise InputRefused("update.not_writable", folder=folder.name, reason=reason) from error
    return target


def _is_form(number: object, ledger: object, sums: object) -> bool:
    return (
        isinstance(number, str)
        and _NUMBER.fullmatch(number) is not None
        and type(ledger) is int
        and isinstance(sums, dict)
        and all(_NAME.fullmatch(name) and _SUM.fullmatch(str(digest)) for name, digest in sums.items())
    )


def _order(number: str) -> tuple[int, ...]:
    return tuple(map(int, number.split(".")))


def _unpack(archive: Path, folder: Path) -> None:
    import pyarrow as pa

    folder.mkdir()
    with closing(pa.input_stream(str(archive), compression="zstd")) as plain:
        plain_tar = folder.with_name("plain.tar")
        with open(plain_tar, "wb") as taken:
            shutil.copyfileobj(plain, taken, _PIECE)
    with tarfile.open(plain_tar) as packed:
        unpack_tar(packed, folder)


def unpack_tar(packed: tarfile.TarFile, folder: Path) -> None:
    """Unpack files, folders and links of an archive that stay within a folder, as one's own.

    Raises
    ------
    tarfile.TarError
        Something would leave the folder, or is neither file nor folder nor link.

    Notes
    -----
    tarfile has a filter for that since Python 3.11.4; Debian 12 comes with 3.11.2.
    """
    if hasattr(tarfile, "data_filter"):
        packed.extractall(folder, filter="data")
        return
    members = packed.getmembers()
    for member in members:
        # a hard link names another member, a soft one a place as seen from its own
        beside = posixpath.dirname(member.name) if member.issym() else ""
        ends = [member.name, posixpath.join(beside, member.linkname)]
        leaves = any(posixpath.isabs(one) or posixpath.normpath(one).startswith("..") for one in ends)
        if leaves or not (member.isreg() or member.isdir() or member.issym() or member.islnk()):
            raise tarfile.TarError(f"not within the folder: {member.name[:100]}")
        member.mode, member.uid, member.gid, member.uname, member.gname = member.mode & 0o755, 0, 0, "", ""
    packed.extractall(folder, members)
