"""Who works with a register: persons with a role and a key, who signs each row, and what needs two of them.

All of it is read from the journal, row by row, by the same code when a row is written and whenever the ledger
is opened. A register for which nobody is named is as it was without any of this. From the first person on

* every row about the register is signed by one of its persons, over the row and the hash of the row before;
* beyond the register's rule a release is *prepared*, and goes on only with the approval of another person's
  key, which stands in the journal;
* another person is named, withdrawn, or the rule loosened by two, as soon as there are two to ask;
* a register that is made later needs a second person beyond the strictest rule of those that have persons.

What it cannot show: that two keys are of two people, which is why the first of a register, who names the
second, has to be believed; and a whole file put back or written anew. Both show beside a counter sheet.
"""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Any

from engine import ed25519
from engine.errors import InputRefused
from engine.ledger.fields import INVISIBLE, seen_as, write_canonical
from engine.ledger.values import LOSSES
from engine.policy import policy

ROLES = PREPARE, APPROVE, AUDIT = ("prepare", "approve", "audit")
NAMED, WITHDRAWN, RULED, SHEET = "person_named", "person_withdrawn", "rule_set", "sheet_taken"
PREPARED, APPROVED = "prepared", "approved"
SIGNED_OVER = ("signature", "countersignature")
"""Of a row: everything but these is signed."""

_OF_APPROVERS = frozenset((NAMED, WITHDRAWN, RULED, "budget_changed"))
_CLOSED = frozenset(("state", "closed_at", "reason", "folder"))
_CHANGES = {
    "reserved": frozenset(("state", "process", "folder")),
    "spent": frozenset(("state", "process", "spent_at")),
    "freed": _CLOSED,
    "failed": _CLOSED,
    "complete": frozenset(
        ("state", "closed_at", "folder", "release_sums", "internal_sums", "state_hash", "told")
    ),
    "withdrawn": frozenset(("state", "withdrawn_at", "reason")),
    None: frozenset(("told", "folder")),
}
"""Of an entry, by the state that it comes into: nothing else that was weighed, approved or handed over."""
_NOT_YET = ("told", "state_hash", "release_sums", "internal_sums", "spent_at", "closed_at", "withdrawn_at")
"""Of an entry: what comes later, and nobody says when it is entered."""
_BUDGET = frozenset(("epsilon", "delta", "money", "currency"))
_COUNTED_IN = frozenset(("unit", "neighbours"))
"""Of a register: what changes in it, and what changes until a release has a loss that is counted so."""
_FOLLOWS = {
    "": ("reserved", "prepared"),
    "prepared": ("reserved", "freed"),
    "reserved": ("spent", "freed"),
    "spent": ("complete", "failed"),
    "complete": ("withdrawn",),
}
OF_SERVICES = "adaptive_composition"
"""Of the event that an opening of a service states, see `engine.privacy.events.Stated`."""
_MOST_VERIFIED = 1 << 17
_verified: set[tuple[str, str]] = set()  # (hash of a row, key): a row is checked once in a process


@dataclass(frozen=True)
class Person:
    """Somebody who works with a register. ``withdrawn`` is when that ended; empty while it lasts."""

    id: str
    name: str
    role: str
    key: str
    since: str
    withdrawn: str = ""

    @property
    def is_active(self) -> bool:
        """Whether the person may act now."""
        return not self.withdrawn


@dataclass(frozen=True)
class Rule:
    """How much may leave without a second person; None: as much as the budget bears.

    Parameters
    ----------
    epsilon, money
        That all releases without a second person spend and cost together, so that a large one cannot be cut
        into small ones.
    unbounded
        Whether each release whose loss is not bounded needs a second person.
    """

    epsilon: Fraction | None = None
    money: Fraction | None = None
    unbounded: bool = False

    def tightened(self, other: Rule) -> Rule:
        """Return what both rules demand."""
        return Rule(
            _least(self.epsilon, other.epsilon),
            _least(self.money, other.money),
            self.unbounded or other.unbounded,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the rule as JSON values."""
        amounts = {"epsilon": self.epsilon, "money": self.money}
        written = {name: None if one is None else str(one) for name, one in amounts.items()}
        return written | {"unbounded": self.unbounded}

    @staticmethod
    def from_json(tree: Mapping[str, Any]) -> Rule:
        """Read a rule."""
        if type(tree["unbounded"]) is not bool:
            raise ValueError("neither true nor false")
        return Rule(_amount(tree["epsilon"]), _amount(tree["money"]), tree["unbounded"])


def _least(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    return other if one is None else one if other is None else min(one, other)


def _amount(written: object) -> Fraction | None:
    if written is None:
        return None
    if not isinstance(written, str) or (found := Fraction(written)) < 0:
        raise ValueError("no amount")
    return found


def rule_of_computer() -> Rule:
    """Return what the administrator of this computer demands of every register."""
    found = policy()
    return Rule(found.second_epsilon, found.second_money, found.second_unbounded)


# --- Who is there now -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Signer:
    """The open key of a person, for as long as somebody works with it. It shows no key when printed."""

    holding: str
    person: str
    private: bytes = field(repr=False)

    def sign(self, message: bytes) -> str:
        """Return the signature of a message."""
        return ed25519.sign(self.private, message)


Present = Mapping[str, tuple[Signer, ...]]
_present: dict[str, dict[str, tuple[Signer, ...]]] = {}
_changing = Lock()
_seconds: ContextVar[Mapping[tuple[str, str], Signer]] = ContextVar("seconds", default=MappingProxyType({}))
"""Who countersigns by ledger and register, for the block alone: no other thread of the process has them."""


def present(path: Path) -> Present:
    """Return who works with which register of a ledger: in this process, and second in this block."""
    place = os.path.realpath(path)
    found, seconds = dict(_present.get(place, {})), _seconds.get()
    for (where, holding), second in seconds.items():
        if where == place:
            found[holding] = (*found.get(holding, ())[:1], second)
    return found


def sign_in(path: Path, signer: Signer) -> None:
    """Let a person act for a register in this process until `sign_out`."""
    _put(path, signer.holding, (signer,))


def sign_out(path: Path, holding: str) -> None:
    """Let nobody act for a register any more."""
    _put(path, holding, ())


@contextmanager
def countersigned(path: Path, second: Signer | None) -> Iterator[None]:
    """Let a second person sign too, within a block, and in no other thread meanwhile."""
    if second is None:
        yield
        return
    before = _seconds.set({**_seconds.get(), (os.path.realpath(path), second.holding): second})
    try:
        yield
    finally:
        _seconds.reset(before)


def _put(path: Path, holding: str, signers: tuple[Signer, ...]) -> None:
    with _changing:
        place = os.path.realpath(path)
        _present[place] = {**_present.get(place, {}), holding: signers}


# --- What is signed -------------------------------------------------------------------------------------


def row_message(previous: str, event: Mapping[str, Any]) -> bytes:
    """Return what is signed of a row."""
    signed = {name: value for name, value in event.items() if name not in SIGNED_OVER}
    return f"custos row 1\n{previous}\n{write_canonical(signed)}".encode()


def proof_message(chain: str, holding: str, person: Person) -> bytes:
    """Return what a new person signs: that the key is theirs, for this register of this ledger alone."""
    said = {"chain": chain, "holding": holding, "name": person.name, "role": person.role, "key": person.key}
    return f"custos person 1\n{write_canonical(said)}".encode()


def approval_message(approval: Mapping[str, Any]) -> bytes:
    """Return what an approver signs of a prepared release."""
    said = {name: approval[name] for name in APPROVAL}
    return f"custos approval 1\n{write_canonical(said)}".encode()


APPROVAL = ("chain", "holding", "entry", "plan", "sequence", "hash", "preparer", "person", "time")
"""What an approval says: which release of which ledger, as prepared in which row by whom; who approves."""


# --- What the journal says ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Prepared:
    """An entry as far as persons are concerned. ``sequence`` and ``hash`` are of the row that entered it.

    One person made it (``alone``), before anybody was named for its register (``early``): the rule of a
    register is about what came since, that of the computer about everything. What ``opens`` a service draws
    nothing itself and states what all visits may. ``told``: what the release says is kept, once and for all.
    """

    holding: str
    state: str
    plan: str
    loss: str
    epsilon: Fraction
    money: Fraction | None
    parent: str | None
    preparer: str
    sequence: int
    hash: str
    alone: bool
    early: bool = False
    leaves_state: bool = False
    opens: bool = False
    told: bool = False

    @property
    def counts(self) -> bool:
        """Whether it counts as spent without a second person."""
        return self.alone and self.state != "freed"


@dataclass(frozen=True)
class _Act:
    """A row about persons or the rule: whom its register had before it, and who signed it."""

    event: Mapping[str, Any]
    holding: str
    known: Mapping[str, Person]
    signer: Person
    second: Person | None

    def refuse_one(self, gone: Person | None = None) -> None:
        """Refuse what one person decides alone while there is another to ask.

        Those who can prepare or approve are asked first, and who is to be withdrawn only where nobody else of
        them stays; who audits only where nobody else is there at all.
        """
        others = [one for one in self.known.values() if one.is_active and one.id != self.signer.id]
        workers = [one for one in others if one.role != AUDIT]
        staying = [one for one in workers if gone is None or one.id != gone.id]
        asked = staying or workers or others
        if asked and (self.second is None or self.second not in asked):
            raise InputRefused("staff.two_decide")


class Staff:
    """Persons, rules and entries of a ledger as its journal tells them, up to a row."""

    def __init__(self) -> None:
        self.chain = ""
        self._persons: dict[str, dict[str, Person]] = {}
        self._rules: dict[str, Rule] = {}
        self._entries: dict[str, Prepared] = {}
        self._attached: dict[str, str] = {}
        self._made: set[str] = set()
        self._ownerless: set[str] = set()  # entries of which a row says something, and none whose they are
        self._later: set[str] = set()  # registers that were made when another had persons

    def persons(self, holding: str) -> list[Person]:
        """Return the persons of a register in the order in which they were named, those withdrawn too."""
        return list(self._persons.get(holding, {}).values())

    def rule(self, holding: str | None) -> Rule:
        """Return the rule of a register, None of one that is not made yet; nothing needs two without one.

        One that is made beside a register with persons has its rules too: else another name for the same
        people would be enough to be without any.
        """
        if holding is not None and holding not in self._later:
            return self._rules.get(holding, Rule())
        found = Rule()
        for rule in self._rules.values():
            found = found.tightened(rule)
        return found

    def prepared(self, entry: str) -> Prepared | None:
        """Return an entry as it was entered."""
        return self._entries.get(entry)

    def needs_second(
        self,
        holding: str | None,
        *,
        loss: str,
        epsilon: Fraction | None,
        money: Fraction | None,
        parent: str | None,
        policy: Rule | None = None,
    ) -> str:
        """Say by which part of the rule a release needs a second person; empty where it needs none.

        A visit that draws from what its opening reserved needs none: the opening had it. A release of which
        nothing was said in money could cost anything.
        """
        own, computer = self.rule(holding), policy or Rule()
        if loss == "unbounded":
            return "unbounded" if own.unbounded or computer.unbounded else ""
        if loss != "bounded" or self._is_drawn(holding, parent, epsilon):
            return ""
        alone = [one for one in self._entries.values() if one.holding == holding and one.counts]
        later = [one for one in alone if not one.early]
        return _beyond(own, later, epsilon, money) or _beyond(computer, alone, epsilon, money)

    def _is_drawn(self, holding: str | None, parent: str | None, epsilon: Fraction | None) -> bool:
        """Say whether a visit takes no more than what is left of what its opening reserved."""
        opening = self._entries.get(parent or "")
        if opening is None or opening.holding != holding or opening.loss != "bounded" or opening.parent:
            return False
        if opening.state != "complete" or not (opening.leaves_state and opening.opens):
            return False
        drawn = sum(one.epsilon for one in self._visits(parent) if one.state != "freed")
        return drawn + (epsilon or 0) <= opening.epsilon

    def _visits(self, parent: str | None) -> list[Prepared]:
        """Return the visits of an opening; none of what is no visit."""
        return [one for one in self._entries.values() if one.parent == parent] if parent else []

    def signed(self, event: dict[str, Any], previous: str, signers: Present) -> dict[str, Any]:
        """Return a new row with the signature of who is there; as it was for a register without persons."""
        holding = self._concern(event)
        there = signers.get(holding, ())
        if not there or not (self._persons.get(holding) or event["kind"] == NAMED):
            return event
        named = {"by": there[0].person} | ({"second": there[1].person} if len(there) > 1 else {})
        event = event | named
        message = row_message(previous, event)
        return event | {name: one.sign(message) for name, one in zip(SIGNED_OVER, there[:2], strict=False)}

    def follow(self, event: Mapping[str, Any], previous: str, hash_: str) -> None:
        """Take the next row in, or say why it must not stand there.

        Raises
        ------
        InputRefused
            ``staff.*``.
        """
        if not previous.strip("0"):
            self.chain = hash_
        kind, holding = str(event.get("kind")), self._concern(event)
        known = self._persons.get(holding, {})
        if self._persons and kind == "carried_over":
            raise InputRefused("staff.not_allowed", kind=kind)
        if not known and kind in (WITHDRAWN, RULED, PREPARED, APPROVED):
            raise InputRefused("staff.not_allowed", kind=kind)
        if not known and kind != NAMED:
            if event.get("table") == "holding" and str(event["row"]) not in self._made:
                self._made.add(str(event["row"]))
                if self._persons:
                    self._later.add(str(event["row"]))
            if event.get("table") == "entry" and str(event["row"]) not in self._entries:
                self._refuse_beyond(event, holding)
            self._enter(event, hash_, alone=True, early=holding not in self._later)
            return
        if kind == "swept" and event.get("table") == "entry" and event.get("changes") == {"folder": ""}:
            return  # a working folder that a killed process left; nobody has to be there
        signer = _signer(event, previous, hash_, known)
        if not known and signer.role != APPROVE:
            raise InputRefused("staff.first_approves")
        of_approvers = kind in _OF_APPROVERS or event.get("table") == "holding"
        if (signer.role == AUDIT and kind != SHEET) or (of_approvers and signer.role != APPROVE):
            raise InputRefused("staff.role", name=signer.name, role=signer.role)
        act = _Act(event, holding, known, signer, _second(event, previous, hash_, known, signer))
        if kind in (NAMED, WITHDRAWN, RULED, SHEET) and "table" in event:
            raise InputRefused("staff.not_allowed", kind=kind)
        if kind == NAMED:
            self._name(act)
        elif kind == WITHDRAWN:
            self._withdraw(act)
        elif kind == RULED:
            self._set_rule(act)
        else:
            self._refuse_change(event, kind, holding)
            self._enter(event, hash_, alone=kind != PREPARED)

    def refuse_approval(self, approval: Mapping[str, Any], entry: str) -> None:
        """Refuse what is no approval of a prepared release as it stands.

        Raises
        ------
        InputRefused
            ``staff.other_ledger``, ``staff.other_register``, ``staff.other_release``, ``staff.other_plan``,
            ``staff.older_approval``, ``staff.other_preparer``, ``staff.unknown``, ``staff.withdrawn``,
            ``staff.role``, ``staff.same_person``, ``staff.not_genuine``; ``staff.service_over``: a visit of
            a service that was withdrawn.
        """
        found = self._entries.get(entry)
        if found is None or found.state != PREPARED:
            raise InputRefused("staff.not_prepared")
        opening = self._entries.get(found.parent or "")
        if found.parent is not None and (opening is None or opening.state != "complete"):
            raise InputRefused("staff.service_over")
        for name, expected, code in (
            ("chain", self.chain, "staff.other_ledger"),
            ("holding", found.holding, "staff.other_register"),
            ("entry", entry, "staff.other_release"),
            ("plan", found.plan, "staff.other_plan"),
            ("sequence", found.sequence, "staff.older_approval"),
            ("hash", found.hash, "staff.older_approval"),
            ("preparer", found.preparer, "staff.other_preparer"),
        ):
            if type(approval.get(name)) is not type(expected) or approval[name] != expected:
                raise InputRefused(code)
        known = self._persons.get(found.holding, {})
        approver, preparer = (_active(known, one) for one in (approval.get("person"), found.preparer))
        if approver.id == preparer.id or approver.key == preparer.key:
            raise InputRefused("staff.same_person", name=approver.name)
        if approver.role != APPROVE:
            raise InputRefused("staff.role", name=approver.name, role=approver.role)
        if not ed25519.is_signed(approver.key, approval.get("signature"), approval_message(approval)):
            raise InputRefused("staff.not_genuine", name=approver.name)

    # --- one row -----------------------------------------------------------------------------------

    def _concern(self, event: Mapping[str, Any]) -> str:
        """Return the register that a row is about; of several the one that has persons."""
        table, row = event.get("table"), str(event.get("row"))
        changes, details = event.get("changes") or {}, event.get("details") or {}
        owner = (
            self._owner(row) if table == "entry" else self._attached.get(row) if table == "attached" else None
        )
        about = {owner, row if table == "holding" else None, changes.get("holding"), details.get("holding")}
        about.add(self._owner(str(details.get("entry"))))
        found = {str(one) for one in about if one is not None}
        with_persons = sorted(found & self._persons.keys())
        if len(with_persons) > 1 or (with_persons and owner not in (None, *with_persons)):
            raise InputRefused("staff.not_allowed", kind=str(event.get("kind")))
        held = changes.get("holding", owner)
        if with_persons and owner is not None and held != owner:
            raise InputRefused("staff.not_allowed", kind=str(event.get("kind")))
        if with_persons and table in ("entry", "attached") and held not in with_persons:
            raise InputRefused("staff.not_allowed", kind=str(event.get("kind")))
        return (with_persons or sorted(found) or [""])[0]

    def _owner(self, entry: str) -> str | None:
        found = self._entries.get(entry)
        return None if found is None else found.holding

    def _name(self, act: _Act) -> None:
        details, known = act.event["details"], act.known
        new = _person(details, str(act.event["time"]))
        if new.id in known or any(one.key == new.key for one in known.values()):
            raise InputRefused("staff.key_taken")
        if not _is_plain(new.name):
            raise InputRefused("staff.odd_name")
        if any(one.is_active and seen_as(one.name) == seen_as(new.name) for one in known.values()):
            raise InputRefused("staff.name_taken", name=new.name)
        if not ed25519.is_signed(new.key, details["proof"], proof_message(self.chain, act.holding, new)):
            raise InputRefused("staff.not_genuine", name=new.name)
        act.refuse_one()
        self._persons[act.holding] = {**known, new.id: new}

    def _withdraw(self, act: _Act) -> None:
        gone = _active(act.known, act.event["details"]["person"])
        rest = [one for one in act.known.values() if one.is_active and one.id != gone.id]
        if not any(one.role == APPROVE for one in rest):
            raise InputRefused("staff.last_approver", name=gone.name)
        act.refuse_one(gone)
        withdrawn = replace(gone, withdrawn=str(act.event["time"]))
        self._persons[act.holding] = {**act.known, gone.id: withdrawn}

    def _set_rule(self, act: _Act) -> None:
        rule, before = Rule.from_json(act.event["details"]["rule"]), self.rule(act.holding)
        if rule.tightened(before) != rule:
            act.refuse_one()
        self._rules[act.holding] = rule

    def _refuse_change(self, event: Mapping[str, Any], kind: str, holding: str) -> None:
        """Refuse a row about an entry that skips a state, changes what was weighed, or wants two persons."""
        if event.get("table") != "entry":
            if kind in (PREPARED, APPROVED) or self._rewrites(event):
                raise InputRefused("staff.not_allowed", kind=kind)
            return
        entry, changes = str(event["row"]), event["changes"]
        before = self._entries.get(entry)
        state, was = changes.get("state"), "" if before is None else before.state
        if "state" in changes and state not in _FOLLOWS.get(was, ()):  # nor one that is empty
            raise InputRefused("staff.not_allowed", kind=kind)
        if (state == "prepared") != (kind == PREPARED) or (was == "prepared" and state is None):
            raise InputRefused("staff.not_allowed", kind=kind)
        if before is None:
            if state is None:
                raise InputRefused("staff.needs_second")
            if entry in self._ownerless:
                raise InputRefused("staff.not_allowed", kind=kind)
            self._refuse_odd_entry(changes, kind, holding)
            self._refuse_beyond(event, holding)
            return
        if not changes.keys() <= _CHANGES[state] or (
            "told" in changes and (before.told or not changes["told"])
        ):
            raise InputRefused("staff.not_allowed", kind=kind)
        if (kind == APPROVED) != (was == "prepared" and state == "reserved"):
            raise InputRefused("staff.not_allowed", kind=kind)
        if kind == APPROVED:
            self.refuse_approval(event["details"]["approval"], entry)

    def _refuse_odd_entry(self, changes: Mapping[str, Any], kind: str, holding: str) -> None:
        """Refuse a new entry that says more than is known of one, or visits what is no open service.

        What a visit takes from its opening costs nothing further, and totals are composed of the guarantees
        while a rule is about ε: one that says both has to say the same.
        """
        is_begun = any(changes.get(name) is not None for name in _NOT_YET)
        if is_begun or not _says_one_loss(changes):
            raise InputRefused("staff.not_allowed", kind=kind)
        parent = changes.get("parent")
        if parent is None:
            return
        opening = self._entries.get(parent)
        if opening is None or opening.holding != holding or opening.parent or opening.state != "complete":
            raise InputRefused("staff.not_allowed", kind=kind)
        draws = opening.loss == "bounded" and changes.get("epsilon") is not None
        if draws and not (opening.opens and opening.leaves_state):
            raise InputRefused("staff.not_allowed", kind=kind)
        if any(one.state in ("prepared", "reserved", "spent") for one in self._visits(parent)):
            raise InputRefused("staff.not_allowed", kind=kind)

    def _rewrites(self, event: Mapping[str, Any]) -> bool:
        """Say whether a row changes what names people, or in what losses are counted that were paid.

        Nor is a budget changed by a row of another name: nobody would be told of it.
        """
        table, row = event.get("table"), str(event.get("row"))
        changes = (event.get("changes") or {}).keys()
        if table == "attached":
            return row in self._attached
        if table != "holding":
            return False
        if event.get("kind") != "budget_changed":
            return True
        paid = [one for one in self._entries.values() if one.holding == row and one.loss == "bounded"]
        pays = any(one.state != "freed" for one in paid)
        return bool(changes - (_BUDGET if pays else _BUDGET | _COUNTED_IN))

    def _refuse_beyond(self, event: Mapping[str, Any], holding: str) -> None:
        """Refuse a new entry that one person may not make alone."""
        new = _entered(event, holding, "", alone=True)
        if new.state != PREPARED and self.needs_second(
            holding, loss=new.loss, epsilon=new.epsilon, money=new.money, parent=new.parent
        ):
            raise InputRefused("staff.needs_second")

    def _enter(self, event: Mapping[str, Any], hash_: str, *, alone: bool, early: bool = False) -> None:
        changes = event.get("changes") or {}
        if event.get("table") == "attached" and "holding" in changes:
            self._attached[str(event["row"])] = str(changes["holding"])
        if event.get("table") != "entry":
            return
        entry = str(event["row"])
        before = self._entries.get(entry)
        if before is not None:
            state = str(changes.get("state", before.state))
            leaves = before.leaves_state or bool(changes.get("state_hash"))
            told = before.told or bool(changes.get("told"))
            self._entries[entry] = replace(before, state=state, leaves_state=leaves, told=told)
        elif "holding" in changes:
            new = _entered(event, str(changes["holding"]), hash_, alone=alone)
            is_drawn = new.loss == "bounded" and self._is_drawn(new.holding, new.parent, new.epsilon)
            self._entries[entry] = replace(new, alone=alone and not is_drawn, early=early)
        else:
            self._ownerless.add(entry)


def _beyond(rule: Rule, alone: list[Prepared], epsilon: Fraction | None, money: Fraction | None) -> str:
    """Say which amount of a rule a release passes beside those that one person made; empty for none."""
    if rule.epsilon is not None and sum(one.epsilon for one in alone) + (epsilon or 0) > rule.epsilon:
        return "epsilon"
    if rule.money is None:
        return ""
    is_said = money is not None and money > 0
    paid = sum(one.money for one in alone if one.money is not None)
    return "" if is_said and paid + (money or 0) <= rule.money else "money"


def _entered(event: Mapping[str, Any], holding: str, hash_: str, *, alone: bool) -> Prepared:
    changes, details = event["changes"], event.get("details") or {}
    is_bounded = changes.get("epsilon") is not None
    loss = changes.get("loss", "bounded" if is_bounded else "unbounded")
    epsilon, money = Fraction(changes.get("epsilon") or 0), details.get("money")
    if loss not in LOSSES or (loss == "bounded") != is_bounded or epsilon < 0:
        raise ValueError("no loss of this form")
    return Prepared(
        holding=holding,
        state=str(changes.get("state")),
        plan=str(changes.get("plan")),
        loss=str(loss),
        epsilon=epsilon,
        money=None if money is None or Fraction(money) <= 0 else Fraction(money),
        parent=changes.get("parent"),
        preparer=str(event.get("by", "")),
        sequence=int(event["sequence"]) if "sequence" in event else -1,
        hash=hash_,
        alone=alone,
        opens=_opens(changes.get("guarantee")),
    )


def _says_one_loss(changes: Mapping[str, Any]) -> bool:
    """Say whether the guarantee of a new entry states the loss that the entry states."""
    if changes.get("loss") == "none":
        return True
    guarantee = json.loads(str(changes.get("guarantee")))
    inner = guarantee.get("loss")
    told = [guarantee, *([inner] if isinstance(inner, dict) else [])]  # one that says less counts, too
    if changes.get("epsilon") is None:
        return all(one.get("epsilon") is None for one in told)
    if not 0 <= Fraction(changes["delta"]) < 1:
        return False
    return all(
        Fraction(one[name]) == Fraction(changes[name])
        for one in told
        for name in ("epsilon", "delta")
        if name in one
    )


def _opens(guarantee: object) -> bool:
    """Say whether a promise is about what visits draw later: what draws itself has nothing left for them."""
    try:
        found = json.loads(guarantee) if isinstance(guarantee, str) else None
    except (ValueError, RecursionError):
        return False
    events = found.get("events") if isinstance(found, dict) else None
    return isinstance(events, dict) and events.get("theorem") == OF_SERVICES


def _person(details: Mapping[str, Any], since: str) -> Person:
    """Return the person that a row names, with a key that can be believed."""
    texts = {name: details[name] for name in ("person", "name", "role", "key")}
    if not all(isinstance(one, str) and one for one in texts.values()):
        raise ValueError("no person of this form")
    if texts["role"] not in ROLES or not ed25519.is_key(texts["key"]):
        raise ValueError("no person of this form")
    return Person(texts["person"], texts["name"], texts["role"], texts["key"], since)


def _active(known: Mapping[str, Person], who: object) -> Person:
    found = known.get(who) if isinstance(who, str) else None
    if found is None:
        raise InputRefused("staff.unknown")
    if not found.is_active:
        raise InputRefused("staff.withdrawn", name=found.name)
    return found


def _signer(event: Mapping[str, Any], previous: str, hash_: str, known: Mapping[str, Person]) -> Person:
    who = event.get("by")
    if who is None:
        raise InputRefused("staff.nobody_acts")
    first = not known and event.get("kind") == NAMED
    signer = _person(event["details"], str(event.get("time"))) if first else _active(known, who)
    if signer.id != who:
        raise InputRefused("staff.unknown")
    _refuse_unsigned(signer, event.get(SIGNED_OVER[0]), previous, event, hash_)
    return signer


def _second(
    event: Mapping[str, Any], previous: str, hash_: str, known: Mapping[str, Person], signer: Person
) -> Person | None:
    if "second" not in event:
        return None
    second = _active(known, event["second"])
    if second.id == signer.id or second.key == signer.key:
        raise InputRefused("staff.same_person", name=second.name)
    _refuse_unsigned(second, event.get(SIGNED_OVER[1]), previous, event, hash_)
    return second


def _refuse_unsigned(
    person: Person, signature: object, previous: str, event: Mapping[str, Any], hash_: str
) -> None:
    if (hash_, person.key) in _verified:
        return
    if not ed25519.is_signed(person.key, signature, row_message(previous, event)):
        raise InputRefused("staff.not_genuine", name=person.name)
    if len(_verified) >= _MOST_VERIFIED:
        _verified.clear()
    _verified.add((hash_, person.key))


_IN_ONE_TEXT = ("CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC")


def _is_plain(name: str) -> bool:
    """Say whether a name shows all that it is: nothing invisible, one direction, letters of one script."""
    if name != unicodedata.normalize("NFKC", name) or INVISIBLE.search(name):
        return False
    if any(sign != " " and unicodedata.category(sign)[0] not in "LMNP" for sign in name):
        return False
    directions = {unicodedata.bidirectional(sign) for sign in name}
    letters = (unicodedata.name(sign, "?") for sign in name if unicodedata.category(sign)[0] == "L")
    scripts = {letter.split()[0] for letter in letters} - {"MODIFIER"}
    scripts = {"CJK" if one in _IN_ONE_TEXT else one for one in scripts}
    return len(scripts) == 1 and not ("L" in directions and directions & {"R", "AL"})
