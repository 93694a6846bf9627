"""Whose data a table holds, without their keys: keyed digests, kept locally and compared inside SQLite."""

from __future__ import annotations

import hashlib
import hmac
import json
import sqlite3
from collections.abc import Iterable, Sequence

from engine.errors import InputRefused
from engine.ledger.values import Holding, Match

DIGEST_BYTES = 16  # of 32: a million people collide with probability below 2^-88


def digests(key: bytes, people: Iterable[str | bytes]) -> list[bytes]:
    """Return the sorted, distinct digests of person keys: HMAC-SHA-256 under the ledger's key, 16 bytes."""
    found = {
        hmac.digest(key, b"person\0" + (one if isinstance(one, bytes) else one.encode()), "sha256")[
            :DIGEST_BYTES
        ]
        for one in people
    }
    return sorted(found)


def clean(people: Iterable[bytes]) -> list[bytes]:
    """Return digests sorted and distinct; anything else than 16 bytes is refused."""
    found = dict.fromkeys(people)  # keeps the order, so that what is sorted already is sorted fast
    if any(not isinstance(one, bytes) or len(one) != DIGEST_BYTES for one in found):
        raise InputRefused("ledger.bad_digest", expected=DIGEST_BYTES)
    return sorted(found)


def matches(
    db: sqlite3.Connection,
    holdings: Sequence[Holding],
    fingerprint: str,
    people: Sequence[bytes],
    columns: Sequence[str],
) -> list[Match]:
    """Return how the table relates to each holding that it shares anything with, the strongest first."""
    distinct, names = frozenset(people), frozenset(columns)
    found = [_match(db, holding, fingerprint, distinct, names) for holding in holdings]
    related = [match for match in found if match.strength > (False, 0, False)]
    return sorted(related, key=lambda match: match.strength, reverse=True)


def _match(
    db: sqlite3.Connection,
    holding: Holding,
    fingerprint: str,
    people: frozenset[bytes],
    columns: frozenset[str],
) -> Match:
    tables = db.execute(
        "SELECT fingerprint, columns FROM attached WHERE holding = ?", (holding.id,)
    ).fetchall()
    # A set and one pass over the file: less than half the time of a temporary table, for a million people.
    known = db.execute("SELECT digest FROM person WHERE holding = ?", (holding.id,)) if people else ()
    return Match(
        holding=holding,
        same_table=any(table["fingerprint"] == fingerprint for table in tables),
        people=len(people),
        people_shared=sum(row[0] in people for row in known),
        same_columns=bool(columns)
        and any(frozenset(json.loads(table["columns"])) == columns for table in tables),
    )


def keep(db: sqlite3.Connection, holding: str, people: Sequence[bytes]) -> str:
    """Add people to a holding and return the hash over all that it now knows."""
    db.executemany("INSERT OR IGNORE INTO person VALUES (?, ?)", ((holding, one) for one in people))
    return set_hash(db, holding)


def set_hash(db: sqlite3.Connection, holding: str) -> str:
    """Return the SHA-256 over the sorted digests of a holding."""
    total = hashlib.sha256()
    for row in db.execute("SELECT digest FROM person WHERE holding = ? ORDER BY digest", (holding,)):
        total.update(row[0])
    return total.hexdigest()
