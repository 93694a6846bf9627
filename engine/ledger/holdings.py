"""Holdings as they stand in the file, and the tables attached to them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Sequence
from fractions import Fraction
from typing import Any

from engine.errors import InputRefused
from engine.ledger import entries
from engine.ledger.fields import check_words, seen_as, write_at_least, write_at_most
from engine.ledger.staff import Staff, rule_of_computer
from engine.ledger.values import Compose, Holding, Match


def refuse_other(target: Holding, matches: Sequence[Match], reason: str) -> bool:
    """Return whether people of a table are charged to another than knows them: that needs a reason."""
    strongest = [one for one in matches if one.strength == matches[0].strength]
    own = next((one for one in strongest if one.holding.id == target.id), None)
    known = next(iter(matches), None) if own is None else own.further
    if known is not None and not reason:
        raise known.refusal(target.name)
    return known is not None


def refuse_looser(staff: Staff, target: Holding, matches: Sequence[Match]) -> None:
    """Refuse to charge people, whatever the reason, to a holding whose rule wants a second person less often.

    Raises
    ------
    InputRefused
        ``staff.looser_rule``: else one person could pass over the rule of those who know the people.
    """
    own = staff.rule(target.id).tightened(rule_of_computer())
    for known in (*matches, *(one.further for one in matches if one.further is not None)):
        is_sure = known.grounds[0] not in ("columns", "coincidence")
        if is_sure and own.tightened(staff.rule(known.holding.id)) != own:
            raise InputRefused("staff.looser_rule", holding=target.name, known=known.holding.name)


def refuse_other_key(db: sqlite3.Connection, target: Holding, key: str, reason: str) -> bool:
    """Return whether another column than before names the people of a holding, which needs a reason."""
    before = person_key(db, target.id)
    if target.unit != "person" or not before or before.casefold() == key.casefold():
        return False
    if not reason:
        raise InputRefused("ledger.key_changed", holding=target.name, before=before, found=key)
    return True


def person_key(db: sqlite3.Connection, holding: str) -> str:
    """Return the name of the column that last named the people of a holding, or nothing."""
    query = "SELECT key FROM attached WHERE holding = ? AND key != '' ORDER BY number DESC LIMIT 1"
    row = db.execute(query, (holding,)).fetchone()
    return "" if row is None else str(row["key"])


def refuse_unpaid(
    db: sqlite3.Connection,
    identity: str,
    kind: Collection[str],
    accountant: Callable[[Holding], Compose] | None,
) -> Holding:
    """Return a register whose budget was just changed, unless that would not cover what has been spent.

    ``kind`` names what was changed of the unit and the relation in which losses are counted.
    """
    found = find(db, identity)
    if not entries.entries_that_pay(entries.of_holding(db, identity)):
        return found
    if kind:
        raise InputRefused("ledger.kind_is_fixed", holding=found.name)
    spent = entries.status(db, found, None if accountant is None else accountant(found))
    for part, whole, used in (
        ("ε", found.epsilon, spent.epsilon_spent),
        ("δ", found.delta, spent.delta_spent),
    ):
        if whole is not None and used > whole:
            asked = {"budget": write_at_most(whole), "spent": write_at_least(used)}
            raise InputRefused("ledger.below_spent", holding=found.name, part=part, **asked)
    return found


def all_holdings(db: sqlite3.Connection) -> list[Holding]:
    """Return all holdings in the order of their names."""
    return [_holding(row) for row in db.execute("SELECT * FROM holding ORDER BY name, id")]


def find(db: sqlite3.Connection, holding: str) -> Holding:
    """Return a holding by id, else by name: one that is called by the id of another pays nothing for it."""
    name, listed = check_words(holding, "name"), all_holdings(db)
    found = next((one for one in listed if one.id == holding), None) or called(listed, name)
    if found is None:
        raise InputRefused("ledger.no_holding", holding=holding)
    return found


def called(listed: Sequence[Holding], name: str) -> Holding | None:
    """Return the register of a name, None where there is none: as it is written, else as it looks.

    Two that look alike were made by an earlier version, or by no program.
    """
    wanted, looks = name.strip().casefold(), seen_as(name)
    written = (one for one in listed if one.name.casefold() == wanted)
    alike = (one for one in listed if looks and seen_as(one.name) == looks)
    return next(written, None) or next(alike, None)


def _holding(row: sqlite3.Row) -> Holding:
    exact_values = {
        name: None if row[name] is None else Fraction(row[name]) for name in ("epsilon", "delta", "money")
    }
    return Holding(
        **{name: row[name] for name in ("id", "name", "unit", "neighbours", "created", "currency")},
        **exact_values,  # type: ignore[arg-type]
    )


def tables(db: sqlite3.Connection, holding: str) -> list[dict[str, Any]]:
    """Return the tables attached to a holding, without their people."""
    rows = db.execute("SELECT * FROM attached WHERE holding = ? ORDER BY number", (holding,))
    return [
        {
            "fingerprint": row["fingerprint"],
            "columns": json.loads(row["columns"]),
            "key": row["key"],
            "people": row["people"],
            "reason": row["reason"],
            "created": row["created"],
        }
        for row in rows
    ]


def refuse_detached(db: sqlite3.Connection, holding: Holding, fingerprints: Sequence[str]) -> None:
    """Refuse tables that are not attached to the holding that is to pay for them."""
    known = {table["fingerprint"] for table in tables(db, holding.id)}
    if not known.issuperset(fingerprints):
        raise InputRefused("ledger.not_attached", holding=holding.name)
