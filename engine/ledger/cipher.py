"""The file of a ledger, encrypted as a whole by SQLCipher with a key that this process was given.

A plain file and an encrypted one are read by two libraries, and one process never opens the same file with
both: closing a file drops every POSIX lock that the process has on it, those of the other library too. What a
file is follows from how it begins, and is looked up once for each file.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import tempfile
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from engine.errors import InputRefused, VerificationFailed
from engine.ledger.staff import Present, Staff
from engine.policy import sealing_place

_PLAIN = b"SQLite format 3\0"
_ASIDE = "-encrypting"
_MOST_SEEN = 64
_File = tuple[int, int]
_Seen = tuple[str, _File]
"""By name too: a file that is gone gives its number to the next one, which may be of the other kind."""

_keys: dict[str, bytes] = {}
_seen: dict[_Seen, bool] = {}
_looking = Lock()
# What SQLite says of itself, where its number is not handed on: SQLCipher's module has none.
_CODES = {
    "database is locked": sqlite3.SQLITE_BUSY,
    "database table is locked": sqlite3.SQLITE_LOCKED,
    "attempt to write a readonly database": sqlite3.SQLITE_READONLY,
    "access permission denied": sqlite3.SQLITE_PERM,
    "database or disk is full": sqlite3.SQLITE_FULL,
    "disk I/O error": sqlite3.SQLITE_IOERR,
    "unable to open database file": sqlite3.SQLITE_CANTOPEN,
    "file is not a database": sqlite3.SQLITE_NOTADB,
}


def failures() -> tuple[type[Exception], ...]:
    """Return what the libraries raise that were loaded so far."""
    loaded = sys.modules.get("sqlcipher3.dbapi2")
    return (sqlite3.Error,) if loaded is None else (sqlite3.Error, loaded.Error)


def code_of(error: Exception) -> int:
    """Return the primary result code of SQLite for a failure of either library."""
    number = getattr(error, "sqlite_errorcode", None)
    if number is None:
        number = _CODES.get(str(error), sqlite3.SQLITE_ERROR)
    return int(number) & 0xFF


def use_key(path: Path, key: bytes) -> None:
    """Let this process read the file of a ledger with a key of 32 bytes; a plain file needs none."""
    _keys[os.path.realpath(path)] = key


def forget_keys() -> None:
    """Forget all keys: as it is when a program starts."""
    _keys.clear()


def file_of(path: Path) -> _File | None:
    """Return which file lies in a place, and not what is in it; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _seen_as(path: Path) -> _Seen | None:
    found = file_of(path)
    return None if found is None else (os.path.realpath(path), found)


def is_encrypted(path: Path) -> bool:
    """Say whether a ledger is encrypted; what merely is no ledger is not."""
    found = _seen_as(path)
    if found is None:
        return False
    with _looking:  # nobody has opened it yet, so no lock is dropped by closing it
        if found not in _seen:
            try:
                with open(path, "rb") as file:
                    begins = file.read(len(_PLAIN))
            except OSError:  # who opens it says so
                return False
            if len(begins) < len(_PLAIN):  # just made: nothing is in it yet
                return False
            _remember(found, begins != _PLAIN)
        encrypted = _seen[found]
    return encrypted and (_key_of(path) is not None or _is_there(sealing_place(_owner(path))) is not False)


def _is_there(path: Path) -> bool | None:
    """Say whether a file lies beside the keys of a ledger; None where their folder is closed to this user."""
    try:
        return path.is_file()
    except PermissionError:
        return None


def _remember(found: _Seen, encrypted: bool) -> None:
    _seen[found] = encrypted
    while len(_seen) > _MOST_SEEN:
        del _seen[next(iter(_seen))]


def look_anew(path: Path) -> None:
    """Forget what a file was taken for: it could not be read as that, or another took its place."""
    found = _seen_as(path)
    if found is not None:
        with _looking:
            _seen.pop(found, None)


def is_closed(path: Path) -> bool:
    """Say whether a ledger is encrypted and this process was given no key for it."""
    return is_encrypted(path) and _key_of(path) is None


def _owner(path: Path) -> Path:
    """Return the ledger that a file belongs to: one of an older format lies beside it under a longer name."""
    stem, parted, _ = path.stem.partition("-format-")
    return path.with_name(f"{stem}{path.suffix}") if parted else path


def _key_of(path: Path) -> bytes | None:
    return _keys.get(os.path.realpath(path)) or _keys.get(os.path.realpath(_owner(path)))


def refuse_plain(path: Path, *, read_only: bool) -> None:
    """Refuse a plain file in the place of a ledger whose whole file was encrypted.

    Who may not look beside the keys cannot tell, and reads; nothing is written openly then.

    Raises
    ------
    InputRefused
        ``ledger.read_only``: the folder of the keys is closed to this user.
    VerificationFailed
        ``ledger.not_encrypted``: an earlier copy or another file was put there.
    """
    found = _seen_as(path)  # looked into by `is_encrypted`: opening it here would drop locks
    if found is None or _seen.get(found) is not False:
        return
    mark = whole_mark(_owner(path))
    is_marked = _is_there(mark)
    if is_marked is None and not read_only:
        raise InputRefused("ledger.read_only", file=path.name, folder=str(mark.parent))
    if is_marked:
        raise VerificationFailed(
            "ledger.not_encrypted",
            file=path.name,
            folder=str(path.parent),
            mark=f"{mark.parent.name}/{mark.name}",
        )


def whole_mark(ledger: Path) -> Path:
    """Return the file that says that the whole file of a ledger is encrypted; nothing stands in it."""
    return sealing_place(ledger).with_name("whole-ledger")


def mark_whole(ledger: Path) -> None:
    """Remember beside the keys of a ledger that its whole file is encrypted, where that can be written."""
    mark = whole_mark(ledger)
    if not mark.exists():
        with suppress(OSError), os.fdopen(os.open(mark, os.O_WRONLY | os.O_CREAT, 0o600), "wb"):
            pass


def connect(path: Path, mode: str, timeout: float) -> Any:
    """Open an encrypted ledger.

    Raises
    ------
    InputRefused
        ``ledger.closed``: nobody gave this process its key.
    """
    key = _key_of(path)
    if key is None:
        raise InputRefused("ledger.closed", file=path.name)
    return _open(path, key, mode, timeout)


def _open(path: Path, key: bytes, mode: str, timeout: float) -> Any:
    module, factory = _library()
    db = module.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=timeout,
        isolation_level=None,
        factory=factory,
    )
    try:
        db.execute("PRAGMA cipher_log_level = NONE")  # it would write to where people read errors
        db.execute(f"PRAGMA key = \"x'{key.hex()}'\"")
        db.row_factory = module.Row
    except BaseException:
        db.close()
        raise
    return db


@cache
def _library() -> tuple[Any, type[Any]]:
    from sqlcipher3 import dbapi2

    class Encrypted(dbapi2.Connection):
        """As `journal.Connection`, of the other library."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.staff = Staff()
            self.present: Present = {}

    return dbapi2, Encrypted


def connect_copy(path: Path, like: Path, timeout: float) -> Any:
    """Open an empty file that becomes a copy of an encrypted ledger, with its key."""
    key = _key_of(like)
    if key is None:
        raise InputRefused("ledger.closed", file=like.name)
    use_key(path, key)
    return _open(path, key, "rw", timeout)


# --- Encrypting a plain file ----------------------------------------------------------------------------


def write_encrypted(db: Any, path: Path, key: bytes, timeout: float) -> Path:
    """Write what a connection holds locked into an encrypted file beside the ledger, and read it back.

    Raises
    ------
    VerificationFailed
        ``ledger.corrupted``: what was read back is not what was written.
    """
    number, name = tempfile.mkstemp(prefix=".ledger-", dir=path.parent)  # readable by its owner alone
    os.close(number)
    made = Path(name)
    try:
        with closing(_open(made, key, "rw", timeout)) as new:
            new.execute("PRAGMA synchronous = EXTRA")
            new.execute("PRAGMA temp_store = MEMORY")
            for pragma in ("application_id", "user_version"):
                new.execute(f"PRAGMA {pragma} = {int(db.execute(f'PRAGMA {pragma}').fetchone()[0])}")
            new.execute("BEGIN IMMEDIATE")
            new.execute("PRAGMA defer_foreign_keys = ON")
            tables, others = _statements(db)
            for name, statement in tables.items():
                new.execute(statement)
                for row in db.execute(f'SELECT * FROM "{name}"'):
                    new.execute(f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(row))})', tuple(row))
            for statement in others:
                new.execute(statement)
            new.execute("COMMIT")
        with closing(_open(made, key, "ro", timeout)) as again:
            if _content(again) != _content(db):
                raise VerificationFailed("ledger.corrupted", file=path.name)
    except BaseException:
        made.unlink(missing_ok=True)
        raise
    return made


def _statements(db: Any) -> tuple[dict[str, str], list[str]]:
    """Return what makes the tables, by their names, and what comes after their rows."""
    found = db.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")
    rows = [tuple(row) for row in found.fetchall()]
    return {name: sql for kind, name, sql in rows if kind == "table"}, [
        sql for kind, _, sql in rows if kind != "table"
    ]


def _content(db: Any) -> Any:
    tables, others = _statements(db)
    pragmas = [db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
    rows = {name: sorted(map(tuple, db.execute(f'SELECT * FROM "{name}"')), key=repr) for name in tables}
    return tables, sorted(others), pragmas, rows


def put_in_place(made: Path, path: Path) -> None:
    """Give the encrypted file the name of the plain one, which the caller holds locked."""
    look_anew(path)  # its number is free from now on, for any file
    made.replace(path)
    if os.name != "nt":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def put_in_place_closed(made: Path, path: Path, was: tuple[int, int]) -> None:
    """Do it where a file that anybody has open keeps its name (Windows), so that nobody holds a lock.

    The plain file is moved aside first: from then on nobody can write into it. Whatever was written since it
    was read, as its time and size ``was`` show, is not lost: it is moved back.

    Raises
    ------
    InputRefused
        ``ledger.locked``: somebody uses the ledger.
    """
    aside = path.with_name(f"{path.name}{_ASIDE}")
    try:
        path.rename(aside)
    except OSError as error:
        raise InputRefused("ledger.locked", file=path.name, folder=str(path.parent)) from error
    if written_at(aside) != was:
        aside.rename(path)
        raise InputRefused("ledger.locked", file=path.name, folder=str(path.parent))
    look_anew(aside)
    made.replace(path)
    aside.unlink()


def written_at(path: Path) -> tuple[int, int]:
    """Return time of the last change and size of a file."""
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def finish(path: Path) -> None:
    """Put a plain file back that was moved aside by a process that was killed before the other was there."""
    aside = path.with_name(f"{path.name}{_ASIDE}")
    if aside.exists():
        with suppress(OSError):
            if path.exists():
                aside.unlink()
            else:
                aside.rename(path)
