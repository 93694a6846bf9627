"""Ledgers of older formats: carried over with everything that was spent, the old file kept as it was.

The rows of the old journal stand unchanged at the beginning of the new one, so that every head which a bundle
names is still found. Then comes one event that says from which format and head was carried over, and which
columns are dropped; what the new format has besides follows as ordinary events.
"""

from __future__ import annotations

import glob
import os
import tempfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from engine.errors import VerificationFailed
from engine.ledger import cipher, journal, store, traces

_TRIGGERS = ("journal_not_changed", "journal_not_removed")
_NEEDED = {"secret": {"id", "key"}, "journal": {"sequence", "previous", "event", "hash"}}
_MOST_COPIES = 100

_Rows = dict[str, dict[str, dict[str, Any]]]


def carry_over(path: Path, *, timeout: float) -> None:
    """Bring a ledger of an older format into this one; the old file stays beside it under another name.

    Of several processes that try at once, one does it. What fails leaves the ledger as it was.

    Raises
    ------
    InputRefused, VerificationFailed
        As every transaction: an older ledger that was altered is not carried over.
    """
    with store.say_failures(path), store.open_connection(path, read_only=False, timeout=timeout) as db:
        db.execute("BEGIN IMMEDIATE")
        try:
            found = store.format_of(db, path)
            if found < store.VERSION:
                _refuse_altered(db, path)
                with store.file_in_words(path):
                    _keep(path, found, timeout)
                _bring_over(db, found)
                store.check_format(db, path)
                journal.check(db, path)
            db.execute("COMMIT")
        except BaseException:
            db.rollback()
            raise


def copy_carried(path: Path, *, timeout: float) -> tempfile.TemporaryDirectory[str]:
    """Return a folder with a copy of an older ledger, carried over, for who may only read the file."""
    folder = tempfile.TemporaryDirectory(prefix="custos-ledger-", ignore_cleanup_errors=True)
    with store.say_failures(path):
        _backup(path, Path(folder.name) / path.name, timeout, read_only=True)
    carry_over(Path(folder.name) / path.name, timeout=timeout)
    return folder


def _refuse_altered(db: journal.Connection, path: Path) -> None:
    """Refuse an older ledger whose chain, tables or triggers are not as its program left them."""
    found = store.structure(db)
    have = {name: {column[0] for column in columns} for name, columns in found.items()}
    expected = store.expected_structure()
    for name in _TRIGGERS:
        if found.get(name) != expected[name]:
            raise VerificationFailed("ledger.corrupted", file=path.name)
    for name, needed in (_NEEDED | {table: {"id"} for table in journal.TABLES}).items():
        if not needed <= have.get(name, set()):
            raise VerificationFailed("ledger.corrupted", file=path.name)
    others = found.keys() - expected.keys() - {"person"}
    if others:
        raise VerificationFailed("ledger.corrupted", file=path.name)
    journal.check(db, path)
    if "trace" in found and "traces_hash" in have["attached"]:
        traces.known_tables(db, path)


def _keep(path: Path, found: int, timeout: float) -> None:
    """Keep the file as it is under a name that says its format."""
    for number in range(1, _MOST_COPIES):
        more = "" if number == 1 else f"-{number}"
        place = path.with_name(f"{path.stem}-format-{found}{more}{path.suffix}")
        if not place.exists():
            handle, name = tempfile.mkstemp(prefix=".ledger-", dir=path.parent)  # its owner's alone
            os.close(handle)
            aside = Path(name)
            try:
                # Not read as a plain file: closing that would drop the locks that this process holds on it.
                _backup(path, aside, timeout, read_only=True)
                aside.replace(place)
            finally:
                aside.unlink(missing_ok=True)
            return
    raise OSError("too many copies of an older ledger")


def earlier_files(path: Path) -> list[Path]:
    """Return the files of older formats that lie beside a ledger since it was carried over."""
    return sorted(path.parent.glob(f"{glob.escape(path.stem)}-format-*{glob.escape(path.suffix)}"))


def _backup(path: Path, place: Path, timeout: float, *, read_only: bool) -> None:
    with store.open_connection(path, read_only=read_only, timeout=timeout) as old:
        if cipher.is_encrypted(path):
            with closing(cipher.connect_copy(_made(place), path, timeout)) as new:
                old.backup(new)
        else:
            with store.open_connection(_made(place), read_only=False, timeout=timeout) as plain:
                old.backup(plain)


def _made(place: Path) -> Path:
    """Return a place with an empty file of its owner's alone."""
    os.close(os.open(place, os.O_RDWR | os.O_CREAT, 0o600))
    return place


def _bring_over(db: journal.Connection, found: int) -> None:
    """Give the tables the columns of this format, and journal what that changes."""
    rows: _Rows = {
        table: {str(row["id"]): dict(row) for row in db.execute(f"SELECT * FROM {table}").fetchall()}
        for table in journal.TABLES
    }
    before = store.structure(db)
    has_traces = "trace" in before and "traces_hash" in {column[0] for column in before["attached"]}
    kept = db.execute("SELECT * FROM trace").fetchall() if has_traces else []
    told = db.execute("SELECT * FROM told").fetchall() if "told" in before else []
    _make_anew(db)
    head = journal.head(db)
    dropped, added = {}, {}
    for table in journal.TABLES:
        now = {column[0] for column in store.expected_structure()[table]}
        then = {column[0] for column in before[table]}
        dropped[table], added[table] = sorted(then - now), now - then
        for row in rows[table].values():
            values = {name: value for name, value in row.items() if name in now} | _news(table, row, added)
            _insert(db, table, values)
    for trace in kept:
        _insert(db, "trace", dict(trace))
    for one in told:
        _insert(db, "told", dict(one))
    journal.note(
        db,
        journal.CARRIED_OVER,
        **{"from": found, "to": store.VERSION, "head": {"sequence": head.sequence, "hash": head.hash}},
        dropped={table: names for table, names in dropped.items() if names},
    )
    for table in journal.TABLES:
        for identity, row in rows[table].items():
            news = _news(table, row, added)
            if table == "attached" and not has_traces:
                news["traces_hash"] = traces.keep_nothing(db, identity)
            if news:
                journal.change(db, "carried_over_row", table, identity, news)
    db.execute(f"PRAGMA user_version = {store.VERSION}")


def _make_anew(db: journal.Connection) -> None:
    """Drop all tables but key and journal, whose rows stay as they are, and make those of this format."""
    db.execute("PRAGMA defer_foreign_keys = ON")
    for name in ("trace", "told", "person", *reversed(journal.TABLES)):
        db.execute(f"DROP TABLE IF EXISTS {name}")
    for statement in store.statements():
        if statement.startswith("CREATE TABLE") and not any(
            statement.startswith(f"CREATE TABLE {name} ") for name in _NEEDED
        ):
            db.execute(statement)


def _news(table: str, row: Mapping[str, Any], added: Mapping[str, set[str]]) -> dict[str, Any]:
    """Return what the new columns of an old row hold, where they are not empty."""
    bounded = "unbounded" if row.get("epsilon") is None else "bounded"
    filled = {
        "holding": {"currency": ""},
        "attached": {"key": "", "traces_hash": ""},
        "entry": {"loss": bounded, "questions": "[]", "folder": ""},
    }
    return {name: value for name, value in filled[table].items() if name in added[table]}


def _insert(db: journal.Connection, table: str, values: Mapping[str, Any]) -> None:
    names, marks = ", ".join(values), ", ".join("?" * len(values))
    db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(values.values()))
