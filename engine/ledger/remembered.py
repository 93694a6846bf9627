"""What this computer remembers of each ledger, outside its folder: an older copy is noticed when put back.

Kept is the hash of the first row of a ledger, which is random, and where its journal and its releases ended
when anything was last written into it: a release, a rule, a person, a budget. No name, no path, no id of a
release. The file is its owner's alone; where it is missing, cannot be read or cannot be written, nothing is
remembered and nothing refused.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from engine import strict_json
from engine.bounded import SUMS, read_text
from engine.ledger import journal

OLDER = "ledger_older"
"""The decision to release from a ledger that has less in it than is remembered; it needs a reason."""
MOST_KEPT = 200


@dataclass(frozen=True)
class Remembered:
    """Where a ledger ended: its last row with its hash, and how many releases it listed."""

    sequence: int
    hash: str
    releases: int


def place() -> Path:
    """Return where it is remembered: in the user's state folder, in none that a ledger lies in."""
    from platformdirs import user_state_path

    return user_state_path("custos-remembered", appauthor=False) / "ledgers.json"


def with_end(db: journal.Connection) -> dict[str, Any] | None:
    """Return what is to be remembered with where a ledger ends, within the transaction that wrote into it.

    None where nothing changes: it is remembered already, or the ledger lacks rows that are remembered and no
    reason for it stands in its journal. What is remembered stays then, whatever is written there.
    """
    chain = journal.chain(db)
    head, releases = journal.head(db), db.execute("SELECT count(*) FROM entry").fetchone()[0]
    found, ends = _read(), Remembered(head.sequence, head.hash, releases)
    known = _known(found.pop(chain, None))
    if known == ends or (known is not None and not _has(db, known)):
        return None
    return dict([*found.items(), (chain, asdict(ends))][-MOST_KEPT:])  # the latest stand last


def _has(db: journal.Connection, known: Remembered) -> bool:
    """Say whether a ledger continues what is remembered, or has a reason why it does not."""
    row = db.execute("SELECT hash FROM journal WHERE sequence = ?", (known.sequence,)).fetchone()
    return (row is not None and row[0] == known.hash) or decision_about(known) in _reasons(journal.events(db))


def lacked(db: journal.Connection) -> Remembered | None:
    """Return what is remembered of a ledger where it lacks rows of it, and has no reason why."""
    known = _known(_read().get(journal.chain(db)))
    return None if known is None or _has(db, known) else known


def decision_about(known: Remembered) -> str:
    """Return the decision to go on without the rows that are remembered, as it is journalled."""
    return f"{OLDER} {known.hash}"


def _reasons(events: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the decisions for which a reason stands in a journal."""
    decisions = (event for event in events if event["kind"] == "decision")
    return {str(event.get("details", {}).get("decision")) for event in decisions}


def _known(tree: Any) -> Remembered | None:
    """Return what a file says of one ledger; nothing where it is not what was written."""
    if not isinstance(tree, Mapping) or set(tree) != {"sequence", "hash", "releases"}:
        return None
    is_right = type(tree["sequence"]) is int and type(tree["releases"]) is int and type(tree["hash"]) is str
    fits = is_right and 0 <= tree["sequence"] < 1 << 62 and tree["releases"] >= 0
    return Remembered(**tree) if fits else None


def _read() -> dict[str, Any]:
    try:
        tree = strict_json.loads(read_text(place(), SUMS))
    except (OSError, ValueError):
        return {}
    return tree if isinstance(tree, dict) else {}


def keep(tree: Mapping[str, Any]) -> None:
    """Replace what is remembered; let be what cannot be written."""
    path = place()
    new = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(json.dumps(tree))
            if not path.exists() or os.access(path, os.W_OK):  # a file that was made read-only stays
                new.replace(path)
        finally:
            new.unlink(missing_ok=True)
