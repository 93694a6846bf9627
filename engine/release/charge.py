"""Between plan and ledger: who pays, in which relation, and what the ledger will say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from engine.errors import InputRefused
from engine.ledger import Compose, Entry, Holding, Ledger, Match, Preview
from engine.ledger.values import at_least, at_most, day, exact, words
from engine.privacy import accounting
from engine.privacy.promise import Neighbours, Promise
from engine.release.plan import Plan

NEW_HOLDING = "new_holding"


def composer(payer: Holding | Entry) -> Compose:
    """Return the accountant of a holding: guarantees as JSON → total (ε, δ) at the holding's δ.

    For the visits of a service it is the entry that opened it, at the δ that it reserved.
    """
    delta = payer.delta or Fraction(0)

    def total(guarantees: list[dict[str, Any]]) -> tuple[Fraction, Fraction]:
        found = accounting.total([Promise.from_json(tree) for tree in guarantees], delta=delta)
        return found.epsilon, found.delta

    return total


def charged(promise: Promise, holding: Holding) -> Promise:
    """Return the promise as the holding counts it.

    Raises
    ------
    InputRefused
        ``charge.unit_differs`` or, from the accountant, ``accounting.neighbours``: a promise under
        replace-one says nothing about add/remove.
    """
    if promise.loss is None:
        return promise
    if promise.unit.value != holding.unit:
        raise InputRefused(
            "charge.unit_differs", holding=holding.name, found=promise.unit.value, expected=holding.unit
        )
    return accounting.as_neighbours(promise, Neighbours(holding.neighbours))


def known_holding(plan: Plan, ledger: Ledger) -> Holding | None:
    """Return the holding that the plan names if the ledger knows it."""
    wanted = plan.holding.strip().casefold()
    return next((one for one in ledger.holdings() if one.name.casefold() == wanted), None)


def holding_of(plan: Plan, ledger: Ledger, promise: Promise) -> Holding:
    """Return the holding that pays, made now if the plan says with which budget.

    Raises
    ------
    InputRefused
        ``charge.no_holding``: no register of people is named. ``charge.no_budget``: it is new, the release
        states a loss, and the plan does not say the budget.
    """
    if not plan.holding.strip():
        raise InputRefused("charge.no_holding")
    found = known_holding(plan, ledger)
    if found is not None:
        return found
    refuse_too_much(plan, promise)
    budget = plan.holding_budget
    return ledger.create_holding(
        plan.holding.strip(),
        unit=promise.unit.value,
        neighbours=(_relation(promise) if budget is None else budget.neighbours).value,
        epsilon=None if budget is None else budget.epsilon,
        delta=0 if budget is None else budget.delta,
        money=plan.price.budget,
        currency=plan.price.currency if plan.price.budget is not None else "",
    )


def _relation(promise: Promise) -> Neighbours:
    return Neighbours.ADD_REMOVE if promise.loss is None else promise.loss.neighbours


def refuse_too_much(plan: Plan, promise: Promise) -> None:
    """Refuse to make a new register whose whole budget is less than its first release asks for.

    Raises
    ------
    InputRefused
        ``charge.no_budget``, ``ledger.over_budget`` or ``ledger.over_delta``.
    """
    budget = plan.holding_budget
    if promise.loss is None:
        return
    if budget is None:
        raise InputRefused("charge.no_budget", holding=plan.holding)
    name, unit = plan.holding.strip(), promise.unit.value
    made = Holding("", name, unit, budget.neighbours.value, budget.epsilon, budget.delta, None, "")
    paid = charged(promise, made)
    if paid.loss is None:
        return
    for code, asked, whole in (
        ("ledger.over_budget", paid.loss.epsilon, budget.epsilon),
        ("ledger.over_delta", paid.loss.delta, budget.delta),
    ):
        if asked > whole:
            named = {"holding": name, "budget": at_most(whole), "left": at_most(whole)}
            raise InputRefused(code, **named, asked=at_least(asked), total=at_least(asked))


def refuse_known(plan: Plan, ledger: Ledger, matches: Sequence[Match]) -> None:
    """Refuse to make a new register for people whom another one already knows, unless a reason was given.

    Raises
    ------
    InputRefused
        ``charge.known``: names the register and what the table shares with it.
    """
    if known_holding(plan, ledger) is not None or new_holding_reason(plan) or not matches:
        return
    first = matches[0]
    raise InputRefused("charge.known", holding=first.holding.name, shared=first.people_shared)


def new_holding_reason(plan: Plan) -> str:
    """Return the reason that the custodian gave for charging a known table to another register."""
    reasons = (entry.get("reason", "") for entry in plan.decisions if entry.get("decision") == NEW_HOLDING)
    return str(next(reasons, ""))


def preview(plan: Plan, ledger: Ledger, promise: Promise) -> Preview | None:
    """Return what the ledger would say now, or None while the holding does not exist yet.

    Nothing is reserved, and no row is read.
    """
    holding = known_holding(plan, ledger)
    if holding is None:
        return None
    paid = charged(promise, holding)
    return ledger.preview(holding.id, compose=composer(holding), **_terms(paid))


def reserve(plan: Plan, ledger: Ledger, promise: Promise, holding: Holding, fingerprint: str) -> str:
    """Reserve what the promise costs and return the id of the entry."""
    paid = charged(promise, holding)
    purpose = plan.purpose
    return ledger.reserve(
        holding.id,
        plan_fingerprint=plan.fingerprint,
        title=purpose.title,
        recipient=purpose.recipient,
        request=purpose.request_number,
        agreement=purpose.agreement,
        expires=purpose.expires or None,
        approver=purpose.approver,
        compose=composer(holding),
        tables=(fingerprint,),
        **_terms(paid),
    )


def _terms(paid: Promise) -> dict[str, Any]:
    loss = paid.loss
    return {
        "guarantee_json": paid.to_json(),
        "epsilon": None if loss is None else loss.epsilon,
        "delta": None if loss is None else loss.delta,
        "unit": None if loss is None else paid.unit.value,
        "neighbours": None if loss is None else loss.neighbours.value,
    }


def refuse_unfit(plan: Plan) -> None:
    """Refuse what the ledger could not write down, before anything is made in it.

    Raises
    ------
    InputRefused
        ``charge.no_holding``; ``ledger.*`` about a single field: a text too long, a day that is none, a
        budget that no register can have.
    """
    if not plan.holding.strip():
        raise InputRefused("charge.no_holding")
    words(plan.holding, "name", required=True)
    for part in ("title", "recipient", "agreement", "approver"):
        words(getattr(plan.purpose, part), part)
    words(plan.purpose.request_number, "request")
    words(new_holding_reason(plan), "reason")
    day(plan.purpose.expires)
    budget = plan.holding_budget
    if budget is not None:
        exact(budget.epsilon, "ledger.bad_epsilon")
        exact(budget.delta, "ledger.bad_delta", zero=True, below_one=True)
    if plan.price.budget is not None:
        exact(plan.price.budget, "ledger.bad_money")
    words(plan.price.currency, "currency")


def budget_error(plan: Plan) -> InputRefused | None:
    """Say what is wrong with the budget of a plan: absent, not positive, δ outside [0, 1)."""
    if plan.budget is None:
        return InputRefused("charge.no_epsilon")
    if plan.budget.epsilon <= 0:
        return InputRefused("charge.bad_epsilon", found=plan.budget.epsilon)
    if not 0 <= plan.budget.delta < 1:
        return InputRefused("charge.bad_delta", found=plan.budget.delta)
    return None


def in_relation(plan: Plan, neighbours: Neighbours) -> Plan:
    """Return the plan with its budget stated between other neighbouring data sets (the screen's switch)."""
    if plan.budget is None:
        return plan
    return replace(plan, budget=replace(plan.budget, neighbours=neighbours))
