"""The SQLite file: making it, opening it, one transaction at a time, and its failures in words.

A connection lives as long as one transaction: nothing is shared between threads or windows, nothing is left
open when a process is killed. Writers take the lock at once (``BEGIN IMMEDIATE``), so what a release was
weighed against cannot change before it is entered. The rollback journal is used rather than the write-ahead
log because user data folders lie on network drives, where the latter fails; ``synchronous=EXTRA`` has every
entry on the disk before the first noise.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from engine.errors import InputRefused, VerificationFailed
from engine.ledger import cipher, journal, staff

VERSION = 3
APPLICATION = 0x43757374  # "Cust"
KEY_BYTES = 32

SCHEMA = """
CREATE TABLE secret (id INTEGER PRIMARY KEY CHECK (id = 1), key BLOB NOT NULL);
CREATE TABLE journal (
    sequence INTEGER PRIMARY KEY, previous TEXT NOT NULL, event TEXT NOT NULL, hash TEXT NOT NULL
);
CREATE TRIGGER journal_not_changed BEFORE UPDATE ON journal BEGIN SELECT RAISE(ABORT, 'append only'); END;
CREATE TRIGGER journal_not_removed BEFORE DELETE ON journal BEGIN SELECT RAISE(ABORT, 'append only'); END;
CREATE TABLE holding (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, unit TEXT NOT NULL, neighbours TEXT NOT NULL,
    epsilon TEXT, delta TEXT NOT NULL, money TEXT, currency TEXT NOT NULL, created TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE attached (
    id TEXT PRIMARY KEY, number INTEGER NOT NULL, holding TEXT NOT NULL REFERENCES holding (id),
    fingerprint TEXT NOT NULL, columns TEXT NOT NULL, key TEXT NOT NULL, people INTEGER NOT NULL,
    traces_hash TEXT NOT NULL, reason TEXT NOT NULL, created TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE entry (
    id TEXT PRIMARY KEY, number INTEGER NOT NULL, holding TEXT NOT NULL REFERENCES holding (id),
    parent TEXT REFERENCES entry (id), state TEXT NOT NULL, title TEXT NOT NULL, plan TEXT NOT NULL,
    recipient TEXT NOT NULL, request TEXT NOT NULL, agreement TEXT NOT NULL, expires TEXT,
    approver TEXT NOT NULL, loss TEXT NOT NULL, unit TEXT, neighbours TEXT, guarantee TEXT NOT NULL,
    epsilon TEXT, delta TEXT, tables TEXT NOT NULL, questions TEXT NOT NULL, folder TEXT NOT NULL,
    process TEXT NOT NULL, reserved_at TEXT NOT NULL, spent_at TEXT, closed_at TEXT, withdrawn_at TEXT,
    reason TEXT NOT NULL, release_sums TEXT, internal_sums TEXT, state_hash TEXT, told TEXT
) WITHOUT ROWID;
CREATE TABLE told (entry TEXT PRIMARY KEY REFERENCES entry (id), content BLOB NOT NULL);
CREATE TABLE trace (
    attached TEXT PRIMARY KEY REFERENCES attached (id), people BLOB NOT NULL, sampled INTEGER NOT NULL,
    rows BLOB NOT NULL, contents BLOB NOT NULL
);
"""

_REFUSED = {
    sqlite3.SQLITE_BUSY: "ledger.locked",
    sqlite3.SQLITE_LOCKED: "ledger.locked",
    sqlite3.SQLITE_READONLY: "ledger.read_only",
    sqlite3.SQLITE_PERM: "ledger.read_only",
    sqlite3.SQLITE_FULL: "ledger.disk_full",
    sqlite3.SQLITE_IOERR: "ledger.disk_error",
    sqlite3.SQLITE_CANTOPEN: "ledger.cannot_open",
}


def make(path: Path) -> None:
    """Make an empty ledger unless there is one; of two processes that try at once, one wins.

    The file is complete before it gets its name, so nobody ever sees half a ledger, and an existing empty
    file is a damaged ledger, not a new one.
    """
    with say_failures(path), file_in_words(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        number, name = tempfile.mkstemp(prefix=".ledger-", dir=path.parent)  # readable by its owner alone
        os.close(number)
        made = Path(name)
        try:
            with open_connection(made, read_only=False, timeout=10) as db:
                db.execute(f"PRAGMA application_id = {APPLICATION}")
                db.execute(f"PRAGMA user_version = {VERSION}")
                db.executescript(f"BEGIN IMMEDIATE; {SCHEMA}")
                key = os.urandom(KEY_BYTES)
                db.execute("INSERT INTO secret (id, key) VALUES (1, ?)", (key,))
                journal.begin(db, key)
                db.execute("COMMIT")
            _give_name(made, path)
        finally:
            made.unlink(missing_ok=True)


def _give_name(made: Path, path: Path) -> None:
    try:
        os.link(made, path)  # refuses to replace, unlike a rename on POSIX
    except FileExistsError:
        return
    except OSError:  # no hard links on this file system
        if not path.exists():
            made.rename(path)


@contextmanager
def transaction(
    path: Path, *, write: bool, read_only: bool = False, timeout: float = 10
) -> Iterator[journal.Connection]:
    """Give a connection inside one transaction: kept if the block ends, undone if it raises.

    The journal is checked first, every time: a ledger that was altered is neither believed nor extended.
    ``read_only`` changes nothing, and reads also on a medium that cannot be written. What a killed process
    left half done is undone where the file can be written: SQLite reads nothing before.
    """
    found = cipher.file_of(path)
    with say_failures(path), open_connection(path, read_only=read_only, timeout=timeout) as db:
        db.execute("BEGIN IMMEDIATE" if write else "BEGIN")
        try:
            if write and cipher.file_of(path) != found:  # encrypted while this waited: nobody reads this one
                raise InputRefused("ledger.locked", file=path.name, folder=str(path.parent))
            check_format(db, path)
            journal.check(db, path)
            yield db
            db.execute("COMMIT")
        except BaseException:
            with suppress(*cipher.failures()):
                db.rollback()
            raise


@contextmanager
def open_connection(path: Path, *, read_only: bool, timeout: float) -> Iterator[journal.Connection]:
    """Open the file for the length of a block."""
    # Never "rwc": a ledger that vanished is not replaced by an empty one
    mode = "ro" if read_only and not _is_half_done(path) else "rw"
    db: journal.Connection
    if cipher.is_encrypted(path):
        db = cipher.connect(path, mode, timeout)
    else:
        cipher.refuse_plain(path, read_only=read_only)
        db = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=timeout,
            isolation_level=None,
            factory=journal.Connection,
        )
        db.row_factory = sqlite3.Row
    try:
        db.present = staff.present(path)
        db.execute("PRAGMA temp_store = MEMORY")
        db.execute("PRAGMA synchronous = EXTRA")
        db.execute("PRAGMA secure_delete = ON")  # a key that is locked leaves no open one in the file
        yield db
    finally:
        db.close()


def encrypt(path: Path, key: bytes, *, timeout: float) -> None:
    """Put an encrypted file in the place of a plain one, with a key of 32 bytes; whole or not at all.

    Who waits for the plain file meanwhile finds that it is no longer the ledger, and writes nothing.

    Raises
    ------
    InputRefused, VerificationFailed
        As every transaction; ``ledger.locked``: somebody uses the ledger.
    """
    if cipher.is_encrypted(path):
        return
    with (
        say_failures(path),
        file_in_words(path),
        open_connection(path, read_only=False, timeout=timeout) as db,
    ):
        # Nothing is written here, so no journal of the plain file can be taken for one of the other.
        db.execute("BEGIN EXCLUSIVE")
        made = cipher.write_encrypted(db, path, key, timeout)
        was = cipher.written_at(path)
        if os.name != "nt":
            cipher.put_in_place(made, path)
        db.rollback()
    if os.name == "nt":
        with file_in_words(path):
            try:
                cipher.put_in_place_closed(made, path, was)
            finally:
                made.unlink(missing_ok=True)
    cipher.use_key(path, key)


def _is_half_done(path: Path) -> bool:
    """Say whether a killed process may have left a transaction here that can be undone by writing."""
    return os.path.lexists(f"{path}-journal") and os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


@contextmanager
def replay_until(db: journal.Connection, sequence: int) -> Iterator[journal.Connection]:
    """Give in memory what a ledger said after a row of its journal: replayed, with neither people nor key."""
    past = sqlite3.connect(":memory:", isolation_level=None, factory=journal.Connection)
    try:
        past.row_factory = sqlite3.Row
        past.executescript(SCHEMA)
        rows = db.execute("SELECT * FROM journal WHERE sequence <= ? ORDER BY sequence", (sequence,))
        past.executemany("INSERT INTO journal VALUES (?, ?, ?, ?)", map(tuple, rows))
        for table, found in journal.replay(past).items():
            for row in found.values():
                marks = ", ".join("?" * len(row))
                past.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))
        yield past
    finally:
        past.close()


def older(path: Path, *, read_only: bool, timeout: float) -> bool:
    """Say whether a file is a ledger of an older format, which has to be carried over before it is used."""
    with say_failures(path), open_connection(path, read_only=read_only, timeout=timeout) as db:
        return format_of(db, path) < VERSION


def format_of(db: sqlite3.Connection, path: Path) -> int:
    """Return the number of the format that a ledger was written in; refuse what is none, or is newer."""
    if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise VerificationFailed("ledger.not_a_ledger", file=path.name)
    found = int(db.execute("PRAGMA user_version").fetchone()[0])
    if found > VERSION:
        raise InputRefused("ledger.newer_version", file=path.name, found=found, expected=VERSION)
    if found < 1:
        raise VerificationFailed("ledger.corrupted", file=path.name)
    return found


def check_format(db: sqlite3.Connection, path: Path) -> None:
    """Refuse a ledger of another format, and one whose tables or triggers are not those of its format."""
    found = format_of(db, path)
    if found < VERSION:
        raise InputRefused("ledger.older_version", file=path.name, found=found, expected=VERSION)
    if structure(db) != expected_structure():
        raise VerificationFailed("ledger.corrupted", file=path.name)


def statements() -> tuple[str, ...]:
    """Return the statements that make an empty ledger, one by one."""
    found, begun = [], ""
    for line in SCHEMA.strip().splitlines():
        begun = f"{begun}{line}\n"
        if sqlite3.complete_statement(begun):
            found.append(begun.strip())
            begun = ""
    return tuple(found)


Structure = dict[str, frozenset[tuple[str, ...]]]


def structure(db: sqlite3.Connection) -> Structure:
    """Return the columns of every table, and what every trigger and view does, by their names.

    A renamed column, a lost trigger or an added one shows. How the statements were laid out, in which order
    the columns stand, and an index, which changes no answer, do not.
    """
    found: Structure = {}
    rows = db.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND type != 'index'")
    for kind, name, sql in rows.fetchall():
        if kind == "table":
            columns = db.execute('SELECT name, type, "notnull", pk FROM pragma_table_info(?)', (name,))
            found[name] = frozenset(tuple(map(str, column)) for column in columns.fetchall())
        else:
            found[name] = frozenset([(kind, " ".join(sql.casefold().split()))])
    return found


@cache
def expected_structure() -> Structure:
    """Return the structure of a new ledger."""
    db = sqlite3.connect(":memory:")
    try:
        db.executescript(SCHEMA)
        return structure(db)
    finally:
        db.close()


@contextmanager
def say_failures(path: Path) -> Iterator[None]:
    """Turn failures of SQLite into errors for people; its own text may quote rows and is dropped."""
    try:
        yield
    except Exception as error:
        if not isinstance(error, cipher.failures()):
            raise
        # A missing table or column has the code 1.
        code = cipher.code_of(error)
        if code == sqlite3.SQLITE_NOTADB:
            cipher.look_anew(path)
        if code in _REFUSED:
            raise InputRefused(_REFUSED[code], file=path.name, folder=str(path.parent)) from error
        raise VerificationFailed("ledger.corrupted", file=path.name) from error


@contextmanager
def file_in_words(path: Path) -> Iterator[None]:
    """Turn failures of the file system into errors for people."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
        denied = error.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST)
        code = "ledger.disk_full" if full else "ledger.read_only" if denied else "ledger.disk_error"
        raise InputRefused(code, file=path.name, folder=str(path.parent)) from error
