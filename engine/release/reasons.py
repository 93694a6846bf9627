"""Decisions that an auditor asks the reason of: which ones a plan takes, and which are without one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from engine.errors import InputRefused
from engine.ledger.remembered import OLDER
from engine.methods.protocol import Method
from engine.pricing.beyond import ASKED, SECOND_MODEL, beyond
from engine.release import charge
from engine.release.decisions import ONE_ROW_EACH, decision_about, name_decision, read_decision
from engine.release.earlier import EARLIER_MISSING, OTHER_PEOPLE
from engine.release.nearby import PUT_BACK
from engine.release.plan import Plan
from engine.release.pseudonyms import KEY_ELSEWHERE
from engine.release.rows_beside import ROWS_BESIDE

KEY_UNLOCKED = "key_unlocked"
"""A key that tells who is behind the pseudonyms is written without a passphrase."""
KNOWN = (
    *(*ASKED, SECOND_MODEL, KEY_UNLOCKED),
    *(EARLIER_MISSING, OTHER_PEOPLE, PUT_BACK, OLDER, charge.NEW_HOLDING, charge.OTHER_KEY, ONE_ROW_EACH),
    *(KEY_ELSEWHERE, ROWS_BESIDE),
)
"""The decisions for which a reason can be given on the command line."""


def unexplained_decisions(
    plan: Plan, design: Method, price: Mapping[str, Any], *, locks: bool
) -> dict[str, dict[str, Any]]:
    """Return the decisions of a plan that want a reason and have none, each with its figures.

    Parameters
    ----------
    plan, design
        What is to be released.
    price
        As `engine.release.foreseen` worked it out.
    locks
        Whether there is a passphrase for a key that stays.
    """
    found = {name: values for name, values in beyond(price).items() if name in ASKED}
    if design.keeps_key and not locks:
        found[KEY_UNLOCKED] = {}
    return {name: values for name, values in found.items() if not charge.reason_of(plan, name)}


def refuse_unexplained(plan: Plan, design: Method, price: Mapping[str, Any], *, locks: bool) -> None:
    """Refuse a plan with a decision that wants a reason and has none.

    Raises
    ------
    InputRefused
        ``run.no_reason`` names the decisions.
    """
    found = unexplained_decisions(plan, design, price, locks=locks)
    if found:
        named = {"count": len(found), "decisions": ", ".join(found), "first": next(iter(found))}
        raise InputRefused("run.no_reason", **named)


def with_reasons(plan: Plan, given: Mapping[str, str]) -> Plan:
    """Return the plan with reasons for decisions, in the place of earlier ones for the same.

    They are marked as given ``ahead``: nothing has asked for them yet, and perhaps nothing will.

    Raises
    ------
    InputRefused
        ``run.unknown_decision``.
    """
    for name in given:
        if name not in KNOWN and not name.startswith(decision_about("")):
            known = ", ".join((*KNOWN, decision_about("COLUMN")))
            raise InputRefused("run.unknown_decision", decision=name[:60], known=known)
    if not given:
        return plan
    at = datetime.now().astimezone().isoformat(timespec="seconds")
    new = tuple(
        {**read_decision(name), "reason": reason, "at": at, "ahead": True} for name, reason in given.items()
    )
    others = tuple(one for one in plan.decisions if name_decision(one) not in given)
    return replace(plan, decisions=(*others, *new))
