"""Releases that two persons make: keys of persons, requests that are carried, approvals, and their checks.

A request is a file without rows: the plan, where it stands in the ledger as prepared, and the key of whoever
prepared it. What it costs and says is worked out by the approver's own program, from the plan that is
approved, and compared with the ledger where it is at hand; the ledger compares what comes back with it.
"""

from __future__ import annotations

import json
import math
import secrets
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from engine import ed25519, strict_json, texts
from engine.bounded import EVIDENCE, SUMS, read_bytes
from engine.errors import InputRefused
from engine.ledger import Entry, Holding, Ledger
from engine.ledger import journal as journals
from engine.ledger.staff import (
    APPROVAL,
    PREPARED,
    Person,
    Rule,
    Signer,
    approval_message,
    present,
    proof_message,
    rule_of_computer,
    sign_in,
    sign_out,
)
from engine.methods.protocol import MAIN, Method
from engine.numbers import exact
from engine.pricing.statement import privacy_statement
from engine.privacy.keys import LEAST_PASSPHRASE, lock_key, new_key, unlock_key
from engine.privacy.promise import Promise
from engine.release import charge, signing
from engine.release.check import check, check_and_foresee
from engine.release.foreseen import price_plan
from engine.release.plan import Plan
from engine.release.signature import dumps, fingerprint_of, in_groups

VERSION = 1
_REQUEST = (
    *("version", "chain", "holding", "entry", "sequence", "hash", "preparer"),
    *("plan_fingerprint", "plan", "key", "signature"),
)
_REQUEST_TEXTS = frozenset(_REQUEST) - {"version", "sequence", "plan"}
_LONGEST, _LONGEST_LINE = 1_200, 200
"""Signs of one part of what is told of a request, and of one thing in it: no long one hides the next."""
_APPROVED = ("version", *APPROVAL, "signature")

# --- Keys of persons ------------------------------------------------------------------------------------


def place(ledger: Ledger, holding: Holding, person: Person) -> Path:
    """Return where the key of a person lies unless it is carried elsewhere."""
    return signing.place(ledger, holding).parent / "people" / holding.id / f"{person.id}.json"


def name_person(
    ledger: Ledger, holding: Holding, *, name: str, role: str, passphrase: str, file: Path | None = None
) -> Person:
    """Make a key for a person, locked with a passphrase that they alone know, and name them in the ledger.

    The first person of a register names themselves, and has to be one who approves; the others are named by
    whoever is signed in.

    Raises
    ------
    InputRefused
        ``staff.*``; ``signing.not_writable``.
    """
    if len(passphrase) < LEAST_PASSPHRASE:
        raise InputRefused("staff.no_passphrase", least=LEAST_PASSPHRASE)
    private = new_key()
    person = Person(
        f"p{secrets.token_hex(6)}",
        _written_alike(name),
        role,
        ed25519.public_key(private),
        journals.now(),
    )
    path = place(ledger, holding, person) if file is None else file
    tree = {
        "version": VERSION,
        "chain": ledger.chain(),
        "holding": holding.id,
        "register": holding.name,
        "person": person.id,
        "name": person.name,
        "key": strict_json.loads(lock_key(private, passphrase)),
    }
    signer = Signer(holding.id, person.id, private)
    proof = signer.sign(proof_message(ledger.chain(), holding.id, person))
    signing.write_key(path, dumps(tree), replaces=False)
    is_first = not ledger.staff().persons(holding.id)
    try:
        if is_first:
            sign_in(ledger.path, signer)
        ledger.name_person(holding.id, person, proof)
    except BaseException:
        path.unlink(missing_ok=True)
        if is_first:
            sign_out(ledger.path, holding.id)
        raise
    # as the ledger has them: it says since when
    return next(one for one in ledger.staff().persons(holding.id) if one.id == person.id)


def find_person(ledger: Ledger, holding: Holding, name: str) -> Person:
    """Return an active person of a register by their name.

    Raises
    ------
    InputRefused
        ``staff.unknown``.
    """
    asked = _written_alike(name).casefold()
    for one in ledger.staff().persons(holding.id):
        if one.is_active and asked in (one.name.casefold(), one.id):
            return one
    raise InputRefused("staff.unknown")


def _written_alike(name: str) -> str:
    """Return a name as it is kept, whichever way a keyboard or a file system writes its accents."""
    return unicodedata.normalize("NFC", name.strip())


def opened(
    ledger: Ledger, holding: Holding, person: Person, passphrase: str, file: Path | None = None
) -> Signer:
    """Return the open key of a person of a register.

    Raises
    ------
    InputRefused
        ``staff.no_key``, ``staff.key_damaged``, ``staff.passphrase``.
    """
    path = place(ledger, holding, person) if file is None else file
    if not path.is_file():
        raise InputRefused("staff.no_key", name=person.name, file=path.name, folder=str(path.parent))
    signer, _ = open_file(path, passphrase)
    if (signer.holding, signer.person) != (holding.id, person.id) or (
        ed25519.public_key(signer.private) != person.key
    ):
        raise InputRefused("staff.key_damaged", file=path.name)
    return signer


def open_file(path: Path, passphrase: str) -> tuple[Signer, dict[str, Any]]:
    """Return the open key of a file, and what the file says of its person."""
    try:
        tree = strict_json.loads(read_bytes(path, SUMS))
        names = [strict_json.text(tree[name], name) for name in ("chain", "holding", "person", "name")]
        content = dumps(tree["key"])
        if not strict_json.truth(tree["key"]["locked"], "locked"):
            raise ValueError("a key of a person is locked")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, InputRefused) as error:
        raise InputRefused("staff.key_damaged", file=path.name) from error
    try:
        private = unlock_key(content, passphrase, file=path.name)
    except InputRefused as error:
        if error.code == "keys.damaged":
            raise InputRefused("staff.key_damaged", file=path.name) from error
        raise InputRefused("staff.passphrase", name=names[3]) from error
    return Signer(names[1], names[2], private), tree


def fingerprint(person: Person) -> str:
    """Return the fingerprint of a person's key, as it stands on a counter sheet."""
    return fingerprint_of(person.key)


def staff_json(ledger: Ledger, holding: Holding) -> dict[str, Any]:
    """Return persons and rule of a register as JSON values, and who of them is signed in; no private key."""
    staff = ledger.staff()
    persons = [
        {
            "id": one.id,
            "name": one.name,
            "role": one.role,
            "fingerprint": fingerprint(one),
            "since": one.since,
            "withdrawn": one.withdrawn,
        }
        for one in staff.persons(holding.id)
    ]
    there = [one.person for one in present(ledger.path).get(holding.id, ())]
    return {"persons": persons, "rule": staff.rule(holding.id).to_json(), "present": there}


def threshold(written: str) -> Fraction:
    """Return a threshold exactly as it is written, or refuse in words."""
    try:
        found = exact(written)
    except (ValueError, ZeroDivisionError):
        found = Fraction(-1)
    if found < 0:
        raise InputRefused("staff.no_threshold", found=written[:100])
    return found


def rule_words(rule: Mapping[str, Any], *, language: str = "en") -> list[str]:
    """Return the sentences about what a rule leaves to two persons."""
    said = [
        texts.text(f"signing.rule.{name}", language=language, most=texts.number(Fraction(rule[name])))
        for name in ("epsilon", "money")
        if rule[name] is not None
    ]
    said += [texts.text("signing.rule.unbounded", language=language)] if rule["unbounded"] else []
    return said or [texts.text("signing.rule.none", language=language)]


# --- Preparing and approving ----------------------------------------------------------------------------


def money_of(price: Mapping[str, Any]) -> Fraction | None:
    """Return what a release would cost in compensation; None where nothing was said of money."""
    amount = price.get("budget")
    if not isinstance(amount, int | float) or isinstance(amount, bool) or not math.isfinite(amount):
        return None
    return Fraction(str(amount))


def needs_second(plan: Plan, ledger: Ledger | None, design: Method) -> bool:
    """Say whether the release would need a second person now; nothing is priced where nobody asks for one."""
    if ledger is None:
        return False
    holding = charge.known_holding(plan, ledger)
    rule = rule_of_computer().tightened(ledger.staff().rule(None if holding is None else holding.id))
    if rule == Rule():
        return False
    money = money_of(price_plan(plan, design.priced)) if rule.money is not None else None
    return bool(charge.second_person(plan, ledger, design, money))


def refuse_alone(plan: Plan, ledger: Ledger, design: Method, money: Fraction | None) -> None:
    """Refuse a release that needs a second person, before a row is read; the ledger refuses it again.

    Raises
    ------
    InputRefused
        ``staff.needs_second``, ``staff.nobody_named``.
    """
    if charge.second_person(plan, ledger, design, money):
        holding = charge.known_holding(plan, ledger)
        is_named = holding is not None and ledger.staff().persons(holding.id)
        code = "needs_second" if is_named else "nobody_named"
        raise InputRefused(f"staff.{code}", holding=plan.holding.strip())


def who_prepares(plan: Plan, ledger: Ledger) -> Signer:
    """Return who is signed in for the register that pays; refuse where nobody is."""
    holding = charge.known_holding(plan, ledger)
    if holding is None or not ledger.staff().persons(holding.id):
        raise InputRefused("staff.nobody_named", holding=plan.holding.strip())
    there = present(ledger.path).get(holding.id, ())
    if not there:
        raise InputRefused("staff.nobody_acts")
    return there[0]


def request(plan: Plan, ledger: Ledger, entry: str, signer: Signer) -> bytes:
    """Return the request for a release that was prepared, signed by whoever prepared it."""
    state = ledger.staff()
    found = state.prepared(entry)
    if found is None:
        raise InputRefused("staff.not_prepared")
    known = {one.id: one for one in state.persons(found.holding)}
    tree = {
        "version": VERSION,
        "chain": state.chain,
        "holding": found.holding,
        "entry": entry,
        "sequence": found.sequence,
        "hash": found.hash,
        "preparer": found.preparer,
        "plan_fingerprint": found.plan,
        "plan": plan.to_json(),
        "key": known[found.preparer].key,
    }
    return _dumps(tree | {"signature": signer.sign(_request_message(tree))})


@dataclass(frozen=True)
class Request:
    """A request that is whole: what would be released, and where it was prepared with which key."""

    tree: Mapping[str, Any]
    plan: Plan

    def told(self, ledger: Ledger | None = None, *, language: str = "en") -> dict[str, Any]:
        """Return what an approver has to know of it; nothing of it is what the preparer says of the plan.

        Parameters
        ----------
        ledger
            Where it knows the register, it names the preparer, and what is reserved there has to be what the
            plan costs. Else the preparer is told by the fingerprint of the key.

        Raises
        ------
        InputRefused
            ``staff.request_differs``, ``staff.other_cost``; ``staff.needs_ledger``: what a visit costs hangs
            on a state that stays inside; and whatever stands against the plan.
        """
        plan, entry = self.plan, None
        preparer = in_groups(fingerprint_of(self.tree["key"]))
        if ledger is not None and any(one.id == self.tree["holding"] for one in ledger.holdings()):
            preparer, entry = self._found(ledger)
        if plan.state:
            if entry is None:
                raise InputRefused("staff.needs_ledger")
            charge.refuse_unfit(plan)
            stated = cost = Promise.from_json(dict(entry.guarantee))
            money = None
        else:
            design = check(plan)
            foreseen = check_and_foresee(plan, design)
            stated, cost, money = foreseen.promise, design.cost, money_of(foreseen.price)
            if entry is not None and ledger is not None:
                charge.refuse_changed(plan, ledger, design, entry)
        sentence = privacy_statement(stated, readings=False)["sentence"]  # in no words of the plan's
        says = [texts.text(sentence["id"], language=language, **sentence["values"])]
        if cost.loss is not None:
            spent = {"epsilon": texts.number(cost.loss.epsilon), "delta": texts.number(cost.loss.delta)}
            says.append(texts.text("signing.request.costs", language=language, **spent))
        if cost.loss is not None and not plan.state:
            name = "unpriced" if money is None else "priced"
            amount = {} if money is None else {"amount": texts.number(money), "currency": plan.price.currency}
            says.append(texts.text(f"signing.request.{name}", language=language, **amount))
        told = {
            "register": plan.holding,
            "title": plan.purpose.title,
            "recipient": plan.purpose.recipient,
            "preparer": preparer,
            "method": plan.method,
            "plan_fingerprint": plan.fingerprint,
            "says": " ".join(says),
            **_decided(plan, None if plan.state else design.uses, language),
        }
        return {name: texts.in_one_line(text) for name, text in told.items()}

    def _found(self, ledger: Ledger) -> tuple[str, Entry | None]:
        """Return the preparer's name and the entry, as the ledger has them; a copy may not have it yet."""
        tree, staff = self.tree, ledger.staff()
        known = {one.id: one for one in staff.persons(tree["holding"])}
        person, found = known.get(tree["preparer"]), staff.prepared(tree["entry"])
        written = {"holding": tree["holding"], "plan": self.plan.fingerprint}
        written |= {name: tree[name] for name in ("sequence", "hash", "preparer")}
        is_signed = person is not None and person.is_active and person.key == tree["key"]
        if person is None or not is_signed or staff.chain != tree["chain"]:
            raise InputRefused("staff.request_differs")
        is_there = found is not None and all(getattr(found, name) == one for name, one in written.items())
        is_later = found is None and tree["sequence"] > ledger.head().sequence
        if not (is_there or is_later):
            raise InputRefused("staff.request_differs")
        holding = charge.known_holding(self.plan, ledger)
        if holding is None or holding.id != tree["holding"]:
            raise InputRefused("staff.other_register")
        return person.name, None if found is None else ledger.entry(tree["entry"])


def _decided(plan: Plan, uses: Mapping[str, Sequence[str]] | None, language: str) -> dict[str, str]:
    """Return what was chosen in a plan: files, columns, steps, settings, and reasons that were given.

    Reasons above all: each lets the release pass where it would have stopped, and stops nobody again.
    """
    said = {table: ", ".join(columns) for table, columns in (uses or {}).items() if columns}
    columns = [said[MAIN]] if [*said] == [MAIN] else [f"{table} ({names})" for table, names in said.items()]
    named = f"methods.{plan.method}.parameters"
    settings = [
        f"{texts.text(label, language=language) if texts.has(label) else name}: {_written(value)}"
        for name, value in plan.parameters.items()
        if value not in (None, "", [], {}, ())
        for label in (f"{named}.{name}.label",)
    ]
    parts = {
        "files": [_written(one.path) for one in plan.files.values()],
        "columns": columns,
        "steps": [_written(step) for step in plan.to_json()["preparation"]],
        "settings": settings,
        "reasons": [_reason(one, language) for one in plan.decisions],
    }
    joined = {
        name: " · ".join(_cut(texts.in_one_line(line), _LONGEST_LINE, language) for line in lines)
        for name, lines in parts.items()
    }
    return {name: _cut(line, _LONGEST, language) for name, line in joined.items()}


def _reason(decision: Mapping[str, Any], language: str) -> str:
    """Return a decision in words, with the reason that was given for it, in quotation marks of its own."""
    name, column = str(decision.get("decision", "")), str(decision.get("column", ""))
    kinds = (f"report.decisions.kinds.{one}" for one in ((f"{name}_column", name) if column else (name,)))
    kind = next(filter(texts.has, kinds), "")
    what = texts.text(kind, language=language, column=column) if kind else name
    reason = _written(str(decision.get("reason", "")))
    return texts.text("signing.request.reason", language=language, what=what, reason=reason)


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _cut(text: str, most: int, language: str) -> str:
    """Return at most so many signs of a text, which then says that it goes on."""
    if len(text) <= most:
        return text
    return texts.text("signing.request.more", language=language, text=text[:most])


def read_request(content: bytes, *, file: str = "request") -> Request:
    """Read a request, and see that it is signed by the key that it names and about the plan in it.

    Raises
    ------
    InputRefused
        ``staff.request_damaged``.
    """
    try:
        tree = strict_json.loads(content)
        if not isinstance(tree, dict) or tuple(tree) != _REQUEST or tree["version"] != VERSION:
            raise ValueError("no request of this form")
        if any(type(tree[name]) is not str for name in _REQUEST_TEXTS):
            raise ValueError("no request of this form")
        if any(type(tree[name]) is not int for name in ("version", "sequence")):
            raise ValueError("no request of this form")
        plan = Plan.loads(json.dumps(tree["plan"]), file=file)
        signed = {name: value for name, value in tree.items() if name != "signature"}
        if plan.fingerprint != tree["plan_fingerprint"]:
            raise ValueError("another plan")
        if not ed25519.is_signed(tree["key"], tree["signature"], _request_message(signed)):
            raise ValueError("not signed")
    except (ValueError, KeyError, TypeError, InputRefused) as error:
        raise InputRefused("staff.request_damaged", file=file) from error
    return Request(tree, plan)


def approve(content: bytes, signer: Signer, *, file: str = "request") -> bytes:
    """Approve a request and return the approval, which is carried back.

    Raises
    ------
    InputRefused
        ``staff.request_damaged``; ``staff.other_register``; ``staff.prepared_by_you``.
    """
    asked = read_request(content, file=file).tree
    if asked["holding"] != signer.holding:
        raise InputRefused("staff.other_register")
    if asked["preparer"] == signer.person or asked["key"] == ed25519.public_key(signer.private):
        raise InputRefused("staff.prepared_by_you")
    own = {"plan": asked["plan_fingerprint"], "person": signer.person, "time": journals.now()}
    told = {name: own[name] if name in own else asked[name] for name in APPROVAL}
    return _dumps({"version": VERSION, **told, "signature": signer.sign(approval_message(told))})


def approved(content: bytes, plan: Plan, ledger: Ledger, *, file: str = "approval") -> dict[str, Any]:
    """Return an approval, once the ledger confirms that it is of this very plan as it was prepared there.

    Raises
    ------
    InputRefused
        ``staff.request_damaged``, ``staff.other_plan``, and what
        `engine.ledger.staff.Staff.refuse_approval` says.
    """
    try:
        tree = strict_json.loads(content)
        if not isinstance(tree, dict) or tuple(tree) != _APPROVED or tree["version"] != VERSION:
            raise ValueError("no approval of this form")
    except ValueError as error:
        raise InputRefused("staff.request_damaged", file=file) from error
    found = {name: value for name, value in tree.items() if name != "version"}
    holding = charge.known_holding(plan, ledger)
    if tree["plan"] != plan.fingerprint:
        raise InputRefused("staff.other_plan")
    if holding is None or tree["holding"] != holding.id:
        raise InputRefused("staff.other_register")
    ledger.staff().refuse_approval(found, str(tree["entry"]))
    return found


def go_on(
    approval: Mapping[str, Any],
    plan: Plan,
    ledger: Ledger,
    design: Method,
    fingerprints: tuple[str, ...],
    folder: Path,
) -> str:
    """Go on with a release that was prepared and approved, from the tables and the state that it was for."""
    entry = ledger.entry(str(approval["entry"]))
    if set(entry.tables) != set(fingerprints):
        raise InputRefused("staff.other_tables")
    state = charge.refuse_changed(plan, ledger, design, entry)
    ledger.approve(entry.id, approval, folder=str(folder), state_hash=state)
    return entry.id


def is_waiting(ledger: Ledger | None, holding: Holding, fingerprint: str) -> bool:
    """Say whether a plan of this fingerprint waits for an approval."""
    waits = [] if ledger is None or not fingerprint else ledger.entries(holding.id)
    return any(one.state == PREPARED and one.plan == fingerprint for one in waits)


def read_carried(path: Path) -> bytes:
    """Return the content of a request or an approval, or refuse in words."""
    try:
        return read_bytes(path, EVIDENCE)
    except (OSError, ValueError) as error:
        raise InputRefused("staff.request_damaged", file=path.name) from error


def _request_message(tree: Mapping[str, Any]) -> bytes:
    return b"custos request 1\n" + _dumps(tree)


def _dumps(tree: Mapping[str, Any]) -> bytes:
    return (json.dumps(tree, indent=2, ensure_ascii=False) + "\n").encode()
