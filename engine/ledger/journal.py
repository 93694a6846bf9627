"""The journal: an append-only chain of every event, and the proof that the tables say what it says.

Row n holds the canonical JSON of its event, the hash of row n-1 and

    hash_n = SHA-256(hash_{n-1} ‖ canonical JSON_n)

with 64 zeros before the first row. Every event holds 16 random bytes. An event that changes a row of a table
carries these changes, so that replaying the journal gives the tables again.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from engine.errors import InputRefused, VerificationFailed
from engine.ledger import people_key
from engine.ledger.fields import write_canonical
from engine.ledger.staff import Present, Staff
from engine.ledger.values import Head

BEFORE_FIRST = "0" * 64
TABLES = ("holding", "attached", "entry")
CARRIED_OVER = "carried_over"

State = dict[str, dict[str, dict[str, Any]]]


class Connection(sqlite3.Connection):
    """A connection to a ledger: who is there to sign, and what its journal says of persons."""

    staff: Staff
    present: Present

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.staff, self.present = Staff(), {}


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def write_names(names: Iterable[str]) -> str:
    """Return the JSON text of a list of names."""
    return json.dumps(list(names), ensure_ascii=False)


def hash_row(previous: str, event: str) -> str:
    """Return the hash of a row."""
    return hashlib.sha256(previous.encode() + event.encode()).hexdigest()


def begin(db: Connection, key: bytes) -> None:
    """Write the first row: random, so that no two ledgers share a chain, and bound to the ledger's key."""
    _append(db, {"kind": "begun", "key": people_key.digest(key)})


def change(
    db: Connection,
    kind: str,
    table: str,
    row: str,
    changes: Mapping[str, Any],
    **details: Any,
) -> None:
    """Make or change a row of a table, and journal that in the same transaction."""
    _append(
        db, {"kind": kind, "table": table, "row": row, "changes": dict(changes), **_named("details", details)}
    )
    known = db.execute(f"SELECT 1 FROM {table} WHERE id = ?", (row,)).fetchone()
    if known:
        names = ", ".join(f"{name} = ?" for name in changes)
        db.execute(f"UPDATE {table} SET {names} WHERE id = ?", (*changes.values(), row))
    else:
        names = ", ".join(("id", *changes))
        marks = ", ".join("?" * (len(changes) + 1))
        db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", (row, *changes.values()))


def note(db: Connection, kind: str, **details: Any) -> None:
    """Journal something that changes no table, such as a decision."""
    _append(db, {"kind": kind, **_named("details", details)})


def head(db: Connection) -> Head:
    """Return the last row's number and hash."""
    row = db.execute("SELECT sequence, hash FROM journal ORDER BY sequence DESC LIMIT 1").fetchone()
    return Head(row["sequence"], row["hash"])


def chain(db: Connection) -> str:
    """Return the hash of the first row: random, and the same as long as the ledger lives."""
    return str(db.execute("SELECT hash FROM journal WHERE sequence = 0").fetchone()[0])


def events(db: Connection) -> Iterator[dict[str, Any]]:
    """Yield every event in order, each with its ``sequence``."""
    for row in db.execute("SELECT sequence, event FROM journal ORDER BY sequence"):
        yield {"sequence": row["sequence"], **json.loads(row["event"])}


def replay(db: Connection) -> State:
    """Return the rows of the tables as the events of a journal give them, whose chain was followed before."""
    state: State = {table: {} for table in TABLES}
    for event in events(db):
        _apply(event, state)
    return state


def key_hash(db: sqlite3.Connection) -> object:
    """Return the hash of the ledger's key, as its first row has it."""
    return json.loads(db.execute("SELECT event FROM journal WHERE sequence = 0").fetchone()[0]).get("key")


def check(db: Connection, path: Path) -> Head:
    """Follow the chain from its first row and compare its replay with the tables and the key.

    Raises
    ------
    VerificationFailed
        ``ledger.chain_broken`` with the first row that was altered, removed or reordered;
        ``ledger.holding_differs``, ``ledger.attached_differs``, ``ledger.entry_differs`` with the first row
        of a table that the journal does not confirm; ``ledger.key_differs``; ``ledger.not_signed`` with
        the first row that none of the persons of its register may have written.
    """
    state: State = {table: {} for table in TABLES}
    previous, expected, key_digest = BEFORE_FIRST, 0, None
    staff = Staff()
    for row in db.execute("SELECT sequence, previous, event, hash FROM journal ORDER BY sequence"):
        event = _event_of(row, previous, expected)
        if event is None or not _apply(event, state):
            raise VerificationFailed("ledger.chain_broken", file=path.name, row=expected)
        try:
            staff.follow(event, previous, row["hash"])
        except (InputRefused, KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise VerificationFailed("ledger.not_signed", file=path.name, row=expected) from error
        if expected == 0:
            key_digest = event.get("key")
        previous, expected = row["hash"], expected + 1
    if expected == 0:
        raise VerificationFailed("ledger.chain_broken", file=path.name, row=0)
    _compare(db, state, path)
    db.staff = staff
    if not people_key.is_key(people_key.read_stored_key(db), key_digest):
        raise VerificationFailed("ledger.key_differs", file=path.name)
    return Head(expected - 1, previous)


def _event_of(row: sqlite3.Row, previous: str, expected: int) -> dict[str, Any] | None:
    if row["sequence"] != expected or row["previous"] != previous or not isinstance(row["event"], str):
        return None
    if row["hash"] != hash_row(previous, row["event"]):
        return None
    try:
        event = json.loads(row["event"])
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and event.get("sequence", expected) == expected else None


def _apply(event: Mapping[str, Any], state: State) -> bool:
    if event.get("kind") == CARRIED_OVER:
        return _drop(event, state)
    if "table" not in event:
        return True
    table, row, changes = (event.get(name) for name in ("table", "row", "changes"))
    if not isinstance(table, str) or not isinstance(row, str) or not isinstance(changes, dict):
        return False
    if table not in state:
        return False
    state[table].setdefault(row, {"id": row}).update(changes)
    return True


def _drop(event: Mapping[str, Any], state: State) -> bool:
    """Leave out the columns that an older format had and this one has not."""
    details = event.get("details")
    dropped = details.get("dropped") if isinstance(details, dict) else None
    if not isinstance(dropped, dict) or not dropped.keys() <= state.keys():
        return False
    for table, names in dropped.items():
        for row in state[table].values():
            for name in names:
                row.pop(name, None)
    return True


def _compare(db: Connection, state: State, path: Path) -> None:
    for table in TABLES:
        replayed = state[table]
        found = {row["id"]: dict(row) for row in db.execute(f"SELECT * FROM {table}")}
        for row in sorted(found.keys() | replayed.keys(), key=str):
            if not _agree(found.get(row), replayed.get(row)):
                raise VerificationFailed(f"ledger.{table}_differs", file=path.name, row=row)
    # A register is found by its name: a second one of that name would pay in the place of the first
    names: dict[str, str] = {}
    for row, found_row in sorted(state["holding"].items(), key=lambda one: str(one[1].get("created"))):
        if names.setdefault(str(found_row.get("name")).casefold(), row) != row:
            raise VerificationFailed("ledger.holding_differs", file=path.name, row=row)


def _agree(found: Mapping[str, Any] | None, replayed: Mapping[str, Any] | None) -> bool:
    if found is None or replayed is None:
        return False
    # A column that no event has filled yet is empty in the table and absent in the replay.
    return replayed.keys() <= found.keys() and all(replayed.get(name) == found[name] for name in found)


def _append(db: Connection, event: Mapping[str, Any]) -> None:
    row = db.execute("SELECT sequence, hash FROM journal ORDER BY sequence DESC LIMIT 1").fetchone()
    sequence, previous = (0, BEFORE_FIRST) if row is None else (row["sequence"] + 1, row["hash"])
    # Bundles name the head outside: random bytes in every row keep anyone from trying out what it says.
    tree: dict[str, Any] = {**event, "sequence": sequence, "time": now(), "random": os.urandom(16).hex()}
    text = write_canonical(db.staff.signed(tree, previous, db.present))
    hash_ = hash_row(previous, text)
    db.staff.follow(json.loads(text), previous, hash_)
    row = (sequence, previous, text, hash_)
    db.execute("INSERT INTO journal (sequence, previous, event, hash) VALUES (?, ?, ?, ?)", row)


def _named(name: str, details: Mapping[str, Any]) -> dict[str, Any]:
    return {name: dict(details)} if details else {}
