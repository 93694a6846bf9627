"""What stays of a bundle as one encrypted file, ``internal.sealed``: the folders *internal* and *key*.

One random data key for a ledger, beside it in its folder of keys, locked twice: with a passphrase and with a
recovery code on paper. Each sealed file carries both locks, so that it opens wherever it lies. The content is
a tar in pieces of AES-256-GCM, each bound to the file's head, its place and whether it is the last, so that
none can be changed, moved or cut off. Nothing is removed before its other form is whole in its place and was
read back; what a killed process leaves is finished by the next call. One process at a time works on a bundle.
"""

from __future__ import annotations

import base64
import errno
import hashlib
import json
import os
import secrets
import shutil
import struct
import sys
import tarfile
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from engine import strict_json, texts
from engine.bounded import EVIDENCE, SUMS, read_bytes, sha256
from engine.errors import InputRefused, VerificationFailed
from engine.ledger import Ledger, cipher
from engine.policy import sealing_place
from engine.privacy.keys import LEAST_PASSPHRASE, lock_key, new_key, unlock_key
from engine.release.bundle import INTERNAL, KEY, PRIVATE, RELEASE, SEALED
from engine.release.signature import dumps
from engine.release.signing import write_key

VERSION = 1
PIECE = 1 << 20
_OPENING, _CLOSING, _LOCK = ".custos-opening-", ".custos-closing-", ".custos-lock"
_MAGIC = b"custos sealed 1\n"
_TAG = 16
_LARGEST_HEAD = 1 << 14
_PROOF = "evidence.json"
_CODE_BYTES = 20


@dataclass(frozen=True)
class Sealer:
    """An open data key, which is not printed, with its two locks."""

    key: bytes = field(repr=False)
    locks: dict[str, Any]

    @property
    def people(self) -> bytes:
        """The key that locks by which key the ledger knows people."""
        return _deriv(self.key, b"", use=b"custos people 1")

    @property
    def file(self) -> bytes:
        """The key that encrypts the file of the ledger."""
        return _deriv(self.key, b"", use=b"custos ledger file 1")

    def encrypt(self, ledger: Ledger) -> None:
        """Encrypt the whole file of a ledger, see `engine.ledger.Ledger.encrypt`."""
        ledger.encrypt(self.people, self.file)


def set_up(ledger: Ledger, passphrase: str, write_code: Callable[[str], None]) -> Sealer:
    """Make the data key of a ledger; the recovery code is written down before anything is locked with it.

    Raises
    ------
    InputRefused
        ``sealing.exists``, ``sealing.short``; ``signing.not_writable``.
    """
    path = sealing_place(ledger.path)
    if path.exists():
        raise InputRefused("sealing.exists", file=path.name, folder=str(path.parent))
    _refuse_short(passphrase)
    code = base64.b32encode(new_key()[:_CODE_BYTES]).decode()
    write_code("-".join(code[at : at + 4] for at in range(0, len(code), 4)))
    key = new_key()
    locks = {
        name: strict_json.loads(lock_key(key, words))
        for name, words in (("passphrase", passphrase), ("code", code))
    }
    content = dumps({"version": VERSION, **locks})
    write_key(path, content, replaces=False)
    if read_bytes(path, SUMS) != content:  # another was first: what is locked with this key would be lost
        raise InputRefused("sealing.exists", file=path.name, folder=str(path.parent))
    return Sealer(key, locks)


def change(ledger: Ledger, secret: str, passphrase: str) -> Sealer:
    """Lock the data key of a ledger with another passphrase; ``secret`` is the earlier one or the code.

    The code stays. Files that were sealed before carry the earlier lock: they open with the earlier
    passphrase too, until they are opened and sealed again.

    Raises
    ------
    InputRefused
        As `opened`; ``sealing.short``; ``signing.not_writable``.
    """
    sealer = opened(ledger, secret)
    _refuse_short(passphrase)
    locks = sealer.locks | {"passphrase": strict_json.loads(lock_key(sealer.key, passphrase))}
    write_key(sealing_place(ledger.path), dumps({"version": VERSION, **locks}), replaces=True)
    return Sealer(sealer.key, locks)


def begins_sealed(path: Path) -> bool:
    """Say whether a file begins as one that this program encrypted; what is in it only the key tells."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def _refuse_short(passphrase: str) -> None:
    if len(passphrase) < LEAST_PASSPHRASE:
        raise InputRefused("sealing.short", least=LEAST_PASSPHRASE)


def sheet(code: str, *, language: str = "en") -> str:
    """Return the text with the recovery code, to be printed and locked away."""
    use = texts.text("signing.sealing.code", language=language)
    return f"{code}\n\n{use}\n\n{texts.text('signing.sealing.limits', language=language)}\n"


def write_code(path: Path, code: str) -> None:
    """Write the text with the recovery code, for its owner alone and over no file that is there.

    Raises
    ------
    InputRefused
        ``sealing.code_there``, ``commands.not_writable``.
    """
    try:
        _put(path, sheet(code).encode())
    except FileExistsError as error:
        raise InputRefused("sealing.code_there", file=path.name) from error
    except OSError as error:
        raise InputRefused("commands.not_writable", file=path.name, reason=error.strerror or "") from error


def opened(ledger: Ledger, secret: str) -> Sealer:
    """Return the open data key of a ledger; ``secret`` is the passphrase or the recovery code.

    Where the key by which the ledger knows people is locked with it, this process has that open from then on.

    Raises
    ------
    InputRefused
        ``sealing.not_set_up``, ``sealing.damaged``, ``sealing.secret``.
    VerificationFailed
        ``ledger.key_differs``.
    """
    sealer = _sealer_at(ledger.path, secret)
    ledger.open_people(sealer.people)
    return sealer


def open_ledger(path: Path, secret: str, *, read_only: bool = False) -> tuple[Ledger, Sealer]:
    """Open a ledger with the passphrase or the recovery code, also one whose whole file is encrypted.

    Parameters
    ----------
    path
        The file of the ledger. This process can read it from then on.
    secret
        As for `opened`.
    read_only
        As for `engine.ledger.Ledger`.

    Raises
    ------
    InputRefused, VerificationFailed
        As `opened`; ``ledger.corrupted`` where the file was encrypted with another key.
    """
    sealer = _sealer_at(path, secret)
    if cipher.is_encrypted(path):
        cipher.use_key(path, sealer.file)
    ledger = Ledger(path, read_only=read_only)
    ledger.open_people(sealer.people)
    if cipher.is_encrypted(path) and not read_only:
        cipher.mark_whole(path)  # an earlier version set none
    return ledger, sealer


def _sealer_at(ledger_path: Path, secret: str) -> Sealer:
    path = sealing_place(ledger_path)
    if not path.is_file():
        raise InputRefused("sealing.not_set_up")
    try:
        tree = strict_json.loads(read_bytes(path, SUMS))
    except (OSError, ValueError) as error:
        raise InputRefused("sealing.damaged", file=path.name) from error
    return _open(tree, secret, path.name)


def _open(tree: Any, secret: str, file: str) -> Sealer:
    try:
        locks = {name: dict(tree[name]) for name in ("passphrase", "code")}
        if any(lock["locked"] is not True for lock in locks.values()):
            raise ValueError("a key that anybody can read")
    except (KeyError, TypeError, ValueError) as error:
        raise InputRefused("sealing.damaged", file=file) from error
    code = "".join(sign for sign in secret.upper() if sign.isalnum())
    for name, words in (("passphrase", secret), ("code", code)):
        try:
            return Sealer(unlock_key(dumps(locks[name]), words, file=file), locks)
        except InputRefused as error:
            if error.code == "keys.damaged":
                raise InputRefused("sealing.damaged", file=file) from error
    raise InputRefused("sealing.secret", file=file)


# --- Sealing and opening a bundle -----------------------------------------------------------------------


def is_sealed(folder: Path) -> bool:
    """Say whether what stays of a bundle is encrypted and nothing of it lies open."""
    return (folder / SEALED).is_file() and not _lies_open(folder) and not _leftovers(folder)


def seal(folder: Path, sealer: Sealer) -> Path:
    """Encrypt what stays of a bundle into one file, and remove what it was made from.

    Raises
    ------
    InputRefused
        ``sealing.nothing``: there is no folder *internal*. ``sealing.both``: a sealed file is there whose
        content is not that of the folders. ``sealing.busy``: another process works on the bundle.
        ``sealing.not_writable``, ``sealing.damaged``, ``sealing.secret``.
    VerificationFailed
        ``bundle.not_a_file``: a folder or a file in it is a link, which would leave all of it readable.
    """
    target = folder / SEALED
    with _in_words(folder), _alone(folder):
        _sweep(folder)
        _refuse_links(folder)
        if not target.is_file():
            if not (folder / INTERNAL).is_dir():
                raise InputRefused("sealing.nothing", folder=folder.name)
            aside = folder / f"{_CLOSING}{secrets.token_hex(4)}"
            _write(aside, folder, sealer)
            if not _holds(_read_all(aside, sealer.key), folder, whole=True):
                raise InputRefused("sealing.both", folder=folder.name)
            aside.replace(target)
            _flush(folder)
        if _lies_open(folder):  # just written, or a process was killed before all was removed
            if not _holds(_read_all(target, sealer.key), folder):
                raise InputRefused("sealing.both", folder=folder.name)
            for name in (KEY, INTERNAL):
                _remove(folder, name)
    return target


def unseal(folder: Path, secret: str, *, ledger: Ledger | None = None) -> Path:
    """Open what stays of a bundle again, with the passphrase or the recovery code.

    With the ledger also by a passphrase that was chosen after the bundle was sealed.

    Raises
    ------
    InputRefused
        ``sealing.nothing``, ``sealing.secret``, ``sealing.damaged``, ``sealing.both``, ``sealing.busy``,
        ``sealing.not_writable``; ``sealing.other_bundle``: it was made of another bundle.
    VerificationFailed
        ``bundle.not_a_file``, as `seal`.
    """
    source = folder / SEALED
    if not source.is_file() or source.is_symlink():
        _tidy(folder)  # killed at the last touches: it is open already
        raise InputRefused("sealing.nothing", folder=folder.name)
    with _in_words(folder), _alone(folder):
        if not source.is_file():  # opened while this process came to the lock
            raise InputRefused("sealing.nothing", folder=folder.name)
        _sweep(folder)
        _refuse_links(folder)
        key = _key(source, secret, ledger)
        _refuse_other(source, key)
        if not _holds(_read_all(source, key), folder):
            raise InputRefused("sealing.both", folder=folder.name)
        aside = folder / f"{_OPENING}{secrets.token_hex(4)}"
        aside.mkdir(mode=0o700)
        for name, content in _read_all(source, key):
            _put(aside / name, content)
        for name in (KEY, INTERNAL):
            _remove(folder, name)
        for name in (KEY, INTERNAL):  # the folder that says that the bundle is open comes last
            if (aside / name).is_dir():
                (aside / name).rename(folder / name)
        _flush(folder)
        if not _holds(_read_all(source, key), folder, whole=True):  # the only other form goes next
            raise InputRefused("sealing.both", folder=folder.name)
        source.unlink()
        shutil.rmtree(aside, ignore_errors=True)
    return folder / INTERNAL


def sweep(place: Path) -> None:
    """Take away what killed processes left in the bundles of a folder: it may lie open there."""
    from engine.release.nearby import find_bundles  # brings along how releases are charged and tables read

    for folder, _ in find_bundles([place]):
        _tidy(folder)


def _tidy(folder: Path) -> None:
    """Take away what a killed process left in a bundle, its lock too; a living one tidies up itself."""
    if _leftovers(folder) or (folder / _LOCK).exists():
        with suppress(OSError, InputRefused), _alone(folder):
            _sweep(folder)


def _refuse_other(sealed: Path, key: bytes) -> None:
    """Refuse a file whose content names another entry of a ledger than the release beside it.

    Where no release lies beside it any more, or it names no entry, nothing contradicts.
    """
    beside = sealed.with_name(RELEASE) / _PROOF
    with (
        closing(_read_all(sealed, key)) as files,
        suppress(OSError, ValueError, LookupError, TypeError, StopIteration),
    ):
        expected = strict_json.loads(read_bytes(beside, EVIDENCE))["ledger"]["entry"]
        stays = next(content for name, content in files if name == f"{INTERNAL}/{_PROOF}")
        found = strict_json.loads(stays)["ledger"]["entry"]
        if found != expected:
            named = {"folder": sealed.parent.name, "found": str(found)[:100], "expected": str(expected)[:100]}
            raise InputRefused("sealing.other_bundle", file=sealed.name, **named)


def _key(source: Path, secret: str, ledger: Ledger | None) -> bytes:
    try:
        return _open(_head(source)[0], secret, SEALED).key
    except InputRefused as error:
        if ledger is None or error.code != "sealing.secret" or not sealing_place(ledger.path).is_file():
            raise
        with suppress(InputRefused):
            return opened(ledger, secret).key
        raise


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep every other process, and thread, from the same bundle; the system ends it with the process.

    Raises
    ------
    InputRefused
        ``sealing.busy``.
    """
    path = folder / _LOCK
    try:
        with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE)) as file:
            _take(file.fileno(), folder)
            # Whoever had it before removed the file with it: then this one has no name, and keeps nobody out.
            if not path.exists() or not os.path.samestat(os.fstat(file.fileno()), path.stat()):
                raise InputRefused("sealing.busy", folder=folder.name)
            try:
                yield
            finally:
                if sys.platform != "win32":
                    path.unlink(missing_ok=True)  # while it is locked still
    finally:
        if sys.platform == "win32":
            with suppress(OSError):  # nobody removes there what another has open
                path.unlink()


def _take(number: int, folder: Path) -> None:
    """Lock an open file, or refuse where another has it locked."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
            raise
        raise InputRefused("sealing.busy", folder=folder.name) from error


@contextmanager
def _in_words(folder: Path) -> Iterator[None]:
    """Turn failures of the disk into an error for people."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or ""
        raise InputRefused("sealing.not_writable", folder=folder.name, reason=reason) from error


def _lies_open(folder: Path) -> bool:
    return any(os.path.lexists(folder / name) for name in (KEY, INTERNAL))


def _refuse_links(folder: Path) -> None:
    """Refuse folders that lie elsewhere: what they hold would stay readable there, or be overwritten."""
    for name in (KEY, INTERNAL, SEALED):
        path = folder / name
        is_kind = path.is_file() if name == SEALED else path.is_dir()
        if os.path.lexists(path) and (not is_kind or path.resolve() != folder.resolve() / name):
            raise VerificationFailed("bundle.not_a_file", file=name)


def _files(folder: Path) -> list[Path]:
    found = [path for name in (INTERNAL, KEY) for path in sorted((folder / name).rglob("*"))]
    for path in found:
        if path.is_symlink() or not (path.is_file() or path.is_dir()):  # it would be lost
            raise VerificationFailed("bundle.not_a_file", file=path.relative_to(folder).as_posix())
    return [path for path in found if path.is_file()]


def _remove(folder: Path, name: str) -> None:
    """Remove a folder under another name, so that no half of it is taken for the whole."""
    if (folder / name).is_dir():
        gone = folder / f"{_CLOSING}{secrets.token_hex(4)}"
        (folder / name).rename(gone)
        shutil.rmtree(gone)


def _leftovers(folder: Path) -> list[Path]:
    return [*folder.glob(f"{_CLOSING}*"), *folder.glob(f"{_OPENING}*")]


def _sweep(folder: Path) -> None:
    """Take away what a killed process left aside; none of it is the only form of anything.

    With the lock of the bundle alone: no living process works in it then.
    """
    for left in _leftovers(folder):
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


def _holds(sealed: Iterator[tuple[str, bytes]], folder: Path, *, whole: bool = False) -> bool:
    """Say whether each file that lies open is in a sealed file as it is; with ``whole`` also the reverse."""
    known = {name: hashlib.sha256(content).hexdigest() for name, content in sealed}
    there = {path.relative_to(folder).as_posix(): sha256(path) for path in _files(folder)}
    return known == there if whole else all(known.get(name) == digest for name, digest in there.items())


def _put(path: Path, content: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _flush(folder: Path) -> None:
    with suppress(OSError):  # a folder cannot be opened everywhere
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


# --- The file -------------------------------------------------------------------------------------------


def _write(path: Path, folder: Path, sealer: Sealer) -> None:
    salt = new_key()[:16]
    head = json.dumps({"salt": salt.hex(), **sealer.locks}, separators=(",", ":")).encode()
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
    with os.fdopen(number, "wb") as file:
        file.write(_MAGIC + struct.pack(">I", len(head)) + head)
        pieces = _Pieces(file, _deriv(sealer.key, salt), head)
        with tarfile.open(fileobj=pieces, mode="w|", format=tarfile.PAX_FORMAT) as tar:  # type: ignore[call-overload]
            for one in _files(folder):
                tar.add(one, one.relative_to(folder).as_posix(), recursive=False)
        pieces.finish()
        file.flush()
        os.fsync(file.fileno())


class _Pieces:
    """Encrypts what is written to it, piece by piece."""

    def __init__(self, file: IO[bytes], key: bytes, head: bytes) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        self._file, self._cipher, self._head = file, AESGCM(key), head
        self._begun, self._number = bytearray(), 0

    def write(self, content: bytes) -> int:
        self._begun += content
        while len(self._begun) > PIECE:
            self._seal(bytes(self._begun[:PIECE]), last=False)
            del self._begun[:PIECE]
        return len(content)

    def finish(self) -> None:
        self._seal(bytes(self._begun), last=True)

    def _seal(self, piece: bytes, *, last: bool) -> None:
        self._file.write(self._cipher.encrypt(_nonce(self._number, last=last), piece, self._head))
        self._number += 1


def _nonce(number: int, *, last: bool) -> bytes:
    """Return the nonce of a piece: its place, and whether it is the last (the key is of this file alone)."""
    return struct.pack(">3xQ?", number, last)


def _deriv(key: bytes, salt: bytes, *, use: bytes = b"custos internal 1") -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(algorithm=SHA256(), length=32, salt=salt, info=use).derive(key)


def _head(path: Path) -> tuple[dict[str, Any], bytes]:
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise InputRefused("sealing.damaged", file=path.name)
        size = int.from_bytes(file.read(4), "big")
        written = file.read(min(size, _LARGEST_HEAD))
    try:
        tree = strict_json.loads(written)
        if size > _LARGEST_HEAD or not isinstance(tree, dict) or len(bytes.fromhex(tree["salt"])) != 16:
            raise ValueError("no head of this form")
    except (ValueError, KeyError, TypeError) as error:
        raise InputRefused("sealing.damaged", file=path.name) from error
    return tree, written


class _Opened:
    """Decrypts what is read from it, piece by piece; what is not genuine is never handed on."""

    def __init__(self, file: IO[bytes], key: bytes, head: bytes, size: int) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        self._file, self._cipher, self._head = file, AESGCM(key), head
        self._left, self._number, self._at_hand = size, 0, b""
        self.is_whole = False

    def read(self, size: int) -> bytes:
        while len(self._at_hand) < size and not self.is_whole:
            piece = self._file.read(PIECE + _TAG)
            self._left -= len(piece)
            last = self._left <= 0
            nonce = _nonce(self._number, last=last)
            self._at_hand += self._cipher.decrypt(nonce, piece, self._head)
            self._number, self.is_whole = self._number + 1, last
        found, self._at_hand = self._at_hand[:size], self._at_hand[size:]
        return found


def _read_all(path: Path, key: bytes) -> Generator[tuple[str, bytes]]:
    """Yield name and content of each file in a sealed one; refuse it where anything was changed."""
    from cryptography.exceptions import InvalidTag

    tree, head = _head(path)
    begin = len(_MAGIC) + 4 + len(head)
    with path.open("rb") as file:
        file.seek(begin)
        pieces = _Opened(file, _deriv(key, bytes.fromhex(tree["salt"])), head, path.stat().st_size - begin)
        try:
            with tarfile.open(fileobj=pieces, mode="r|") as tar:  # type: ignore[call-overload]
                for one in tar:
                    parts = Path(one.name).parts
                    content = tar.extractfile(one) if one.isfile() else None
                    if content is None or parts[0] not in (INTERNAL, KEY) or ".." in parts:
                        raise InputRefused("sealing.damaged", file=path.name)
                    yield one.name, content.read(one.size)
            while not pieces.is_whole:
                pieces.read(PIECE)
        except (InvalidTag, tarfile.TarError, struct.error, IndexError) as error:
            raise InputRefused("sealing.damaged", file=path.name) from error
