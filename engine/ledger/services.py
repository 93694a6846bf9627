"""Services and exchanges: opened once with a budget, then visited; each visit an entry of its own.

The state that a visit leaves (what was answered so far) stays in the bundle; its hash goes into the entry and
so into the journal. A visit begins from that very state and no other, and no two visits are underway at once,
prepared ones included, so a restored old state is noticed and every question is paid for once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from fractions import Fraction

from engine.errors import InputRefused
from engine.ledger import entries
from engine.ledger.entries import Asked
from engine.ledger.fields import write_at_least, write_at_most
from engine.ledger.values import Compose, Holding, Service


def service(db: sqlite3.Connection, opening: str, compose: Compose | None = None) -> Service:
    """Return an opened service with its visits; without an accountant ε and δ of the visits are added up."""
    first = entries.find_entry(db, opening)
    visits = tuple(one for one in entries.of_holding(db, first.holding) if one.parent == first.id)
    drawn = [one for one in visits if one.counts and one.bounded]
    if compose is not None and drawn:
        epsilon, delta = entries.exact_total(compose, [dict(one.guarantee) for one in drawn])
    else:
        epsilon = sum((one.epsilon or Fraction(0) for one in drawn), Fraction(0))
        delta = sum((one.delta or Fraction(0) for one in drawn), Fraction(0))
    left = [one.state_hash for one in (first, *visits) if one.state_hash is not None]
    return Service(
        opening=first,
        visits=visits,
        state_hash=left[-1] if left else None,
        epsilon_spent=epsilon,
        delta_spent=delta,
        underway=next((one for one in visits if one.state in ("prepared", "reserved", "spent")), None),
    )


def weigh(
    found: Service, holding: Holding, request: Asked, compose: Compose, state_hash: str | None
) -> InputRefused | None:
    """Return why a visit cannot begin, or None.

    Parameters
    ----------
    found
        The service, from the same transaction.
    state_hash
        Hash of the state that the visit begins from.
    """
    opening = found.opening
    named = {"title": opening.title, "entry": opening.id}
    if opening.holding != holding.id or opening.parent is not None or opening.state != "complete":
        return InputRefused("ledger.not_open", **named, state=opening.state)
    if found.underway is not None:
        return InputRefused("ledger.visit_underway", **named, visit=found.underway.id)
    try:
        refuse_other_state(found, state_hash)
    except InputRefused as refusal:
        return refusal
    return _over(found, holding, request, compose)


def _over(found: Service, holding: Holding, request: Asked, compose: Compose) -> InputRefused | None:
    opening = found.opening
    if request.epsilon is None or request.delta is None or opening.epsilon is None or opening.delta is None:
        return None
    refusal = entries.refusal_of_other_kind(holding, request)
    if refusal is not None:
        return refusal
    drawn = [dict(one.guarantee) for one in found.visits if one.counts and one.bounded]
    epsilon, delta = entries.exact_total(compose, [*drawn, request.guarantee])
    for code, total, whole, asked, left in (
        ("ledger.over_reserved", epsilon, opening.epsilon, request.epsilon, found.epsilon_left),
        ("ledger.over_reserved_delta", delta, opening.delta, request.delta, found.delta_left),
    ):
        if total > whole:
            return InputRefused(
                code,
                title=opening.title,
                asked=write_at_least(asked),
                total=write_at_least(total),
                left=write_at_most(left or Fraction(0)),
                budget=write_at_most(whole),
            )
    return None


def refuse_other_state(found: Service, state_hash: str | None) -> None:
    """Refuse a visit that begins from another state than the one that the last visit left."""
    if state_hash != found.state_hash:
        raise InputRefused("ledger.other_state", title=found.opening.title, entry=found.opening.id)


def refuse_paid(found: Service, questions: Sequence[str]) -> None:
    """Refuse to pay again for what an earlier visit has answered: its answer can be given once more."""
    kept = (one for one in found.visits if one.state in ("complete", "withdrawn") and one.bounded)
    for one in kept:
        if set(one.questions) & set(questions):
            raise InputRefused("ledger.paid_already", title=found.opening.title, entry=one.id)
