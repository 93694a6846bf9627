"""The ledger as plain JSON values, for the ``ledger`` command and the releases screen."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Any

from engine.ledger.fields import write_fraction
from engine.ledger.values import Entry, Status


def holding_to_json(
    status: Status,
    entries: list[Entry],
    tables: list[dict[str, Any]],
    changes: list[dict[str, Any]],
) -> dict[str, Any]:
    """Return a holding with what was spent, what is left, and every release. Neither keys nor digests.

    ``changes`` are those of its budget, see `budget_changes`.
    """
    holding = status.holding
    return {
        "id": holding.id,
        "name": holding.name,
        "unit": holding.unit,
        "neighbours": holding.neighbours,
        "created": holding.created,
        "money": write_fraction(holding.money),
        "currency": holding.currency,
        "budget": {"epsilon": write_fraction(holding.epsilon), "delta": write_fraction(holding.delta)},
        "spent": {
            "epsilon": write_fraction(status.epsilon_spent),
            "delta": write_fraction(status.delta_spent),
        },
        "left": {"epsilon": write_fraction(status.epsilon_left), "delta": write_fraction(status.delta_left)},
        "totals": "composed" if status.composed else "added",
        "bounds_all": status.bounds_all,
        "budget_changes": changes,
        "tables": tables,
        "releases": [entry_to_json(entry) for entry in entries],
    }


def budget_changes(events: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return what was changed in the budget of each holding, by its id: when, what before and after, why."""
    found: dict[str, list[dict[str, Any]]] = {}
    for event in events:
        if event["kind"] == "budget_changed":
            details = event.get("details", {})
            entry = {
                "time": event["time"],
                "before": details.get("before", {}),
                "after": event["changes"],
                "reason": details.get("reason", ""),
            }
            found.setdefault(event["row"], []).append(entry)
    return found


def entry_to_json(entry: Entry) -> dict[str, Any]:
    """Return one release: what was given, to whom, under which agreement, until when, what it spent."""
    return {
        "id": entry.id,
        "parent": entry.parent,
        "title": entry.title,
        "state": entry.state,
        "counts": entry.counts,
        "abandoned": entry.abandoned,
        "recipient": entry.recipient,
        "request": entry.request,
        "agreement": entry.agreement,
        "expires": entry.expires,
        "expired": entry.expired(date.today()),
        "approver": entry.approver,
        "plan": entry.plan,
        "loss": entry.loss,
        "unbounded": entry.loss == "unbounded",
        "spent": {"epsilon": write_fraction(entry.epsilon), "delta": write_fraction(entry.delta)},
        "unit": entry.unit,
        "neighbours": entry.neighbours,
        "guarantee": entry.guarantee,
        "reserved_at": entry.reserved_at,
        "spent_at": entry.spent_at,
        "closed_at": entry.closed_at,
        "withdrawn_at": entry.withdrawn_at,
        "reason": entry.reason,
        "release_sums": entry.release_sums,
        "internal_sums": entry.internal_sums,
        "state_hash": entry.state_hash,
    }
