"""Between plan and ledger: who pays, in which relation, and what the ledger will say."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from engine import policy
from engine.errors import InputRefused
from engine.ledger import Compose, Entry, Holding, Ledger, Match, Preview
from engine.ledger.fields import check_words, exact, write_at_least, write_at_most, write_canonical, write_day
from engine.ledger.holdings import called
from engine.ledger.people import MOST_KEPT, NONE, Digests, Gathered
from engine.methods.protocol import Method, Service
from engine.privacy import accounting
from engine.privacy.promise import Neighbours, Promise
from engine.release.plan import Plan
from engine.release.reading import apart, parts_of_keys
from engine.table.fingerprint import Fingerprints
from engine.table.schema import Schema
from engine.table.table import Held, Table

# Decisions of a plan that need a reason: a table that seems to belong to one register is charged to another;
# another column than before names the people of a register.
NEW_HOLDING, OTHER_KEY = "new_holding", "other_key"
_OVER = ("ledger.over_budget", "ledger.over_delta")
EXCHANGED = ("charge.over_budget_exchanged", "charge.over_delta_exchanged")
"""The same of a register that counts exchanged units, which the release was not planned for."""


def make_composer(payer: Holding | Entry) -> Compose:
    """Return the accountant of a holding: guarantees as JSON → total (ε, δ) at the holding's δ.

    For the visits of a service it is the entry that opened it, at the δ that it reserved. A guarantee counts
    as what it states, whatever its events say: an entry may have been written by somebody else.
    """
    delta = payer.delta or Fraction(0)

    def total(guarantees: list[dict[str, Any]]) -> tuple[Fraction, Fraction]:
        promises = [accounting.as_claimed(Promise.from_json(tree)) for tree in guarantees]
        found = accounting.total(promises, delta=delta)
        return found.epsilon, found.delta

    return total


def tell_register(ledger: Ledger, entry: str, *, sequence: int | None = None) -> dict[str, Any]:
    """Return what the ledger says of the register that paid for an entry, without keys or digests.

    Nothing where it knows no such entry. With a ``sequence`` as it was after that row of the journal.
    """
    found = ledger.find(entry)
    if found is None:
        return {}
    tree = ledger.to_json({one.id: make_composer(one) for one in ledger.holdings()}, sequence=sequence)
    return tree | {"holdings": [one for one in tree["holdings"] if one["id"] == found.holding]}


def charged_promise(promise: Promise, holding: Holding) -> Promise:
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
    return called(ledger.holdings(), plan.holding)


def pays(design: Method) -> bool:
    """Say whether a register pays: where private rows are read and the loss is bounded."""
    loss = design.cost.loss
    return bool(design.request.private) and loss is not None and loss.epsilon > 0


def holding_of(plan: Plan, ledger: Ledger, design: Method) -> Holding:
    """Return the holding that pays, made now if the plan says with which budget.

    Raises
    ------
    InputRefused
        ``charge.no_holding``: no register of people is named. ``charge.no_budget``: it is new and has
        to pay, and the plan does not say the budget. ``policy.*``: the computer lets no release spend that.
    """
    if not plan.holding.strip():
        raise InputRefused("charge.no_holding")
    found = known_holding(plan, ledger)
    if found is not None:
        refuse_level(design, found)
        return found
    refuse_too_much(plan, design)
    promise, budget = design.cost, plan.holding_budget
    return ledger.create_holding(
        plan.holding.strip(),
        unit=promise.unit.value,
        neighbours=(_relation(design) if budget is None else budget.neighbours).value,
        epsilon=None if budget is None else budget.epsilon,
        delta=0 if budget is None else budget.delta,
        money=_money(plan),
        currency=plan.price.currency if _money(plan) is not None else "",
    )


def _money(plan: Plan) -> Fraction | None:
    """Return what a new register may cost: as it was said, otherwise what its first release may cost."""
    return plan.price.budget if plan.price.register is None else plan.price.register


def _relation(design: Method) -> Neighbours:
    loss = design.cost.loss
    return loss.neighbours if loss is not None and pays(design) else Neighbours.ADD_REMOVE


def refuse_too_much(plan: Plan, design: Method) -> None:
    """Refuse to make a new register whose whole budget is less than its first release asks for.

    Raises
    ------
    InputRefused
        ``charge.no_budget``, ``ledger.over_budget`` or ``ledger.over_delta``; ``ledger.no_holding``: a visit
        is paid by the register for which its service was opened; ``policy.*``.
    """
    if plan.continues:
        raise InputRefused("ledger.no_holding", holding=plan.holding.strip())
    promise, budget = design.cost, plan.holding_budget
    if not pays(design):
        return
    if budget is None:
        raise InputRefused("charge.no_budget", holding=plan.holding)
    name, unit = plan.holding.strip(), promise.unit.value
    made = Holding("", name, unit, budget.neighbours.value, budget.epsilon, budget.delta, None, "")
    refuse_level(design, made)
    paid = charged_promise(promise, made)
    if paid.loss is None:
        return
    for code, asked, whole in (
        ("ledger.over_budget", paid.loss.epsilon, budget.epsilon),
        ("ledger.over_delta", paid.loss.delta, budget.delta),
    ):
        if asked > whole:
            named = {"holding": name, "budget": write_at_most(whole), "left": write_at_most(whole)}
            refusal = InputRefused(code, **named, asked=write_at_least(asked), total=write_at_least(asked))
            raise _as_planned(refusal, design, made)


def refuse_level(design: Method, holding: Holding) -> None:
    """Refuse what the computer lets no release spend: as the register counts it, not as it was planned.

    Raises
    ------
    InputRefused
        ``policy.epsilon``, ``policy.delta``; or what `charged` says.
    """
    loss = charged_promise(design.cost, holding).loss if pays(design) else None
    if loss is not None:
        policy.refuse_level(loss.epsilon, loss.delta)


def _as_planned(refusal: InputRefused, design: Method, holding: Holding) -> InputRefused:
    """Say in a refusal of too much what the plan itself states, where the register counts it as exchange."""
    loss = design.cost.loss
    if refusal.code not in _OVER or loss is None or loss.neighbours.value == holding.neighbours:
        return refusal
    planned = {"epsilon": write_at_least(loss.epsilon), "delta": write_at_least(loss.delta)}
    return InputRefused(EXCHANGED[_OVER.index(refusal.code)], **refusal.values, **planned)


@dataclass(frozen=True)
class Shown:
    """What the ledger gets to know of a table: digests, hashes and the names of its columns.

    ``apart`` are digests of the same people with letters and accents apart, where keys have any: by them a
    register of an earlier version may know people, when both ways of writing were two people.
    """

    fingerprints: Fingerprints
    people: Digests
    columns: tuple[str, ...]
    key: str
    apart: Digests

    def matches(self, ledger: Ledger) -> list[Match]:
        """Return the registers to which the table seems to belong, the strongest relation first."""
        known = self.fingerprints
        kept = {"rows": known.rows, "contents": known.contents}
        ways = [self.people, self.apart] if len(self.apart) else [self.people]
        found = [ledger.match(known.fingerprint, people, self.columns, **kept) for people in ways]
        return max(found, key=lambda listed: max((one.people_shared for one in listed), default=0))


def trace_table(
    ledger: Ledger, table: Table, schema: Schema, fingerprints: Fingerprints, columns: tuple[str, ...]
) -> Shown:
    """Return what the ledger gets to know of a table.

    Parameters
    ----------
    table, schema
        As prepared: the people who are left.
    fingerprints, columns
        Of the table as it was read.
    """
    key = schema.person_key
    most = MOST_KEPT if isinstance(table, Held) else None  # else all of them are in memory anyway
    people, other = Gathered(most=most), None
    for keys in parts_of_keys(table, schema):
        found, written_apart = ledger.person_digests(keys), apart(keys)
        if written_apart is not None and other is None:
            other = Gathered(people.found(), most)
        if other is not None:
            other.add(found if written_apart is None else ledger.person_digests(written_apart))
        people.add(found)
    spelt = NONE if other is None else other.found()
    return Shown(fingerprints, people.found(), columns, "" if key is None else key.name, spelt)


def refuse_known(plan: Plan, ledger: Ledger, table: Shown) -> None:
    """Refuse to make a new register for people whom another one seems to know, unless a reason was given.

    Raises
    ------
    InputRefused
        ``ledger.known_…``: names the register and what the table shares with it.
    """
    if known_holding(plan, ledger) is not None or reason_of(plan, NEW_HOLDING):
        return
    for match in table.matches(ledger):
        raise match.refusal(plan.holding.strip())


def refuse_other_tables(plan: Plan, ledger: Ledger, design: Method, fingerprints: tuple[str, ...]) -> None:
    """Refuse a visit with other rows than those for which the service was opened, where it asks for them.

    Raises
    ------
    InputRefused
        ``charge.other_table``.
    """
    opening = (
        ledger.find(plan.continues)
        if isinstance(design, Service) and plan.continues and design.same_tables
        else None
    )
    if opening is not None and fingerprints and set(fingerprints) != set(opening.tables):
        raise InputRefused("charge.other_table", title=opening.title, entry=opening.id)


def attach(plan: Plan, ledger: Ledger, holding: Holding, table: Shown) -> None:
    """Charge a table to a register from now on, unless that needs a reason that the plan does not give."""
    ledger.attach(
        holding.id,
        table.fingerprints.fingerprint,
        table.people,
        table.columns,
        rows=table.fingerprints.rows,
        contents=table.fingerprints.contents,
        key=table.key,
        reason=reason_of(plan, NEW_HOLDING),
        key_reason=reason_of(plan, OTHER_KEY),
    )


def reason_of(plan: Plan, decision: str) -> str:
    """Return the reason that the custodian gave for a decision, or nothing."""
    reasons = (entry.get("reason", "") for entry in plan.decisions if entry.get("decision") == decision)
    return str(next(reasons, "")).strip()


def preview(plan: Plan, ledger: Ledger, design: Method) -> Preview | None:
    """Return what the ledger would say now, or None while the holding does not exist yet.

    Nothing is reserved, and no row is read.
    """
    holding = known_holding(plan, ledger)
    if holding is None:
        return None
    found = ledger.preview(
        holding.id,
        compose=_composer(plan, ledger, holding),
        **_terms(design, holding),
        **_visit(plan, design),
    )
    refusal = None if found.refusal is None else _as_planned(found.refusal, design, holding)
    try:
        refuse_level(design, holding)
    except InputRefused as beyond:
        refusal = refusal or beyond
    return replace(found, refusal=refusal)


def reserve(
    plan: Plan,
    ledger: Ledger,
    design: Method,
    holding: Holding,
    fingerprints: tuple[str, ...],
    folder: Path | None,
    money: Fraction | None,
) -> str:
    """Reserve what the promise costs and return the id of the entry, which names the working folder.

    Without a folder it is prepared for a second person to approve.
    """
    purpose = plan.purpose
    try:
        return ledger.reserve(
            holding.id,
            plan_fingerprint=plan.fingerprint,
            title=purpose.title,
            recipient=purpose.recipient,
            request=purpose.request_number,
            agreement=purpose.agreement,
            expires=purpose.expires or None,
            approver=purpose.approver,
            compose=_composer(plan, ledger, holding),
            tables=fingerprints,
            folder="" if folder is None else str(folder),
            money=money,
            is_prepared=folder is None,
            questions=design.questions if isinstance(design, Service) else (),
            **_terms(design, holding),
            **_visit(plan, design),
        )
    except InputRefused as refusal:
        raise _as_planned(refusal, design, holding) from None


def second_person(plan: Plan, ledger: Ledger, design: Method, money: Fraction | None) -> str:
    """Say by which part of the rules the release needs a second person; empty where it needs none.

    Of a register that does not exist yet the rules of the computer and of the other registers say it.
    """
    holding = known_holding(plan, ledger)
    terms = _terms(design, holding)
    return ledger.needs_second(
        None if holding is None else holding.id,
        loss=terms["loss"],
        epsilon=terms["epsilon"],
        money=money,
        parent=plan.continues or None,
    )


def refuse_changed(plan: Plan, ledger: Ledger, design: Method, entry: Entry) -> str | None:
    """Refuse to go on with an entry that is not what the plan costs; return the state that it begins from.

    Raises
    ------
    InputRefused
        ``staff.other_cost``.
    """
    visit = _visit(plan, design)
    terms = _terms(design, ledger.holding(entry.holding)) | {
        "parent": visit.get("parent"),
        "questions": tuple(sorted(set(design.questions))) if isinstance(design, Service) else (),
    }
    guarantee = json.loads(write_canonical(terms.pop("guarantee_json")))
    if guarantee != entry.guarantee or any(getattr(entry, name) != value for name, value in terms.items()):
        raise InputRefused("staff.other_cost", title=entry.title)
    return visit.get("state_hash")


def _composer(plan: Plan, ledger: Ledger, holding: Holding) -> Compose:
    """Return the accountant: for a visit that of the entry that opened the service."""
    opening = ledger.find(plan.continues) if plan.continues else None
    return make_composer(holding if opening is None else opening)


def _visit(plan: Plan, design: Method) -> dict[str, Any]:
    """Return which service is visited, and the state that the visit begins from."""
    if not plan.continues:
        return {}
    state = design.request.state
    return {
        "parent": plan.continues,
        "state_hash": None if state is None else hashlib.sha256(state).hexdigest(),
    }


def _terms(design: Method, holding: Holding | None) -> dict[str, Any]:
    """Return what the ledger enters: what a register pays, or that nothing is paid.

    Where there is no register yet it is what the plan states.
    """
    promise = design.cost
    reads, is_paid = bool(design.request.private), pays(design)
    paid = promise if holding is None or not is_paid else charged_promise(promise, holding)
    loss = paid.loss if is_paid else None
    return {
        "loss": "bounded" if is_paid else "unbounded" if reads and promise.loss is None else "none",
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
    check_words(plan.holding, "name", required=True)
    for part in ("title", "recipient", "agreement", "approver"):
        check_words(getattr(plan.purpose, part), part)
    check_words(plan.purpose.request_number, "request")
    for decision in plan.decisions:
        check_words(str(decision.get("reason", "")), "reason")
    write_day(plan.purpose.expires)
    budget = plan.holding_budget
    if budget is not None:
        exact(budget.epsilon, "ledger.bad_epsilon")
        exact(budget.delta, "ledger.bad_delta", zero=True, below_one=True)
    for amount in (plan.price.budget, plan.price.register):
        if amount is not None:
            exact(amount, "ledger.bad_money")
    check_words(plan.price.currency, "currency")


def budget_error(plan: Plan) -> InputRefused | None:
    """Say what is wrong with the budget of a plan: absent, not exact, not positive, δ outside [0, 1)."""
    if plan.budget is None:
        return InputRefused("charge.no_epsilon")
    if not all(isinstance(one, Fraction) for one in (plan.budget.epsilon, plan.budget.delta)):
        return InputRefused("budget.not_a_number")
    if plan.budget.epsilon <= 0:
        return InputRefused("charge.bad_epsilon", found=plan.budget.epsilon)
    if not 0 <= plan.budget.delta < 1:
        return InputRefused("charge.bad_delta", found=plan.budget.delta)
    return None


def with_neighbours(plan: Plan, neighbours: Neighbours) -> Plan:
    """Return the plan with its budget stated between other neighbouring data sets (the screen's switch)."""
    if plan.budget is None:
        return plan
    return replace(plan, budget=replace(plan.budget, neighbours=neighbours))
