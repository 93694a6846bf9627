"""Every kind of row about a register with persons, by every role, in every state of an entry."""

from __future__ import annotations

import copy
import itertools
import json
import os
from fractions import Fraction
from typing import Any

import pytest

from engine import ed25519
from engine.errors import InputRefused
from engine.ledger import journal, staff, store
from engine.ledger.book import budget_changes
from engine.ledger.fields import write_canonical
from engine.ledger.staff import Person, Rule, Signer, Staff

OWN, OTHER, LATER = "h1", "h2", "h3"
CHAIN = "c" * 64
ROLES = {"Ada": "approve", "Abe": "approve", "Bea": "prepare", "Cy": "audit"}
SERVICE = {"theorem": staff.OF_SERVICES, "epsilon": "1/2", "delta": "0"}
STATES = ("reserved", "spent", "complete", "failed", "freed", "withdrawn")
DONE = {"release_sums": "0" * 64, "internal_sums": "1" * 64, "closed_at": "2026-01-01", "folder": ""}
STEPS: dict[str, list[tuple[str, str, dict[str, Any]]]] = {
    "reserved": [],
    "freed": [("freed", "freed", {"closed_at": "2026-01-01", "reason": "", "folder": ""})],
    "spent": [("spent", "spent", {"spent_at": "2026-01-01", "process": "{}"})],
}
STEPS["failed"] = [*STEPS["spent"], ("failed", "failed", {"closed_at": "2026-01-01", "reason": ""})]
STEPS["complete"] = [*STEPS["spent"], ("completed", "complete", DONE)]
STEPS["withdrawn"] = [
    *STEPS["complete"],
    ("withdrawn", "withdrawn", {"withdrawn_at": "2026-01-02", "reason": "x"}),
]
FOLLOWS = {
    "reserved": {"spent": {"process", "spent_at"}, "freed": {"closed_at", "reason", "folder"}},
    "spent": {
        "failed": {"closed_at", "reason", "folder"},
        "complete": {"closed_at", "folder", "release_sums", "internal_sums", "state_hash", "told"},
    },
    "complete": {"withdrawn": {"withdrawn_at", "reason"}},
}
"""What the program writes of an entry, by the state that it comes from and into."""
KINDS = {"Bea": ("note", "swept"), "Ada": ("budget_changed",), "Cy": ("note",), "": ("swept", "spent")}
SEEN_BY_ALL = ("told", "folder", "epsilon", "spent_at", "reason")
VALUES: dict[str, Any] = dict.fromkeys(("epsilon", "delta"), "1/1000") | {"guarantee": "{}", "number": 99}


class Rows:
    """A journal in memory: three registers, of which the first has persons."""

    def __init__(self) -> None:
        self.staff, self.head, self.number = Staff(), CHAIN, 1
        self.signers: dict[str, Signer] = {}
        self.staff.follow({"kind": "begun"}, journal.BEFORE_FIRST, CHAIN)
        for holding in (OWN, OTHER):
            self.add(
                {"kind": "holding_made", "table": "holding", "row": holding, "changes": {"name": holding}}
            )
        for name, role in ROLES.items():
            self.name(name, role)
        rule = Rule(Fraction(1, 10), None, True)
        self.add(
            {"kind": staff.RULED, "details": {"holding": OWN, "rule": rule.to_json()}}, by="Ada", second="Abe"
        )
        self.add({"kind": "holding_made", "table": "holding", "row": LATER, "changes": {"name": LATER}})

    def name(self, name: str, role: str) -> None:
        private = os.urandom(32)
        person = Person(f"p{name.lower()}", name, role, ed25519.public_key(private), "")
        self.signers[name] = signer = Signer(OWN, person.id, private)
        proof = signer.sign(staff.proof_message(CHAIN, OWN, person))
        said = {
            "holding": OWN,
            "person": person.id,
            "name": name,
            "role": role,
            "key": person.key,
            "proof": proof,
        }
        second = {"Ada": "", "Abe": ""}.get(name, "Abe")
        self.add({"kind": staff.NAMED, "details": said}, by="Ada", second=second)

    def add(self, event: dict[str, Any], *, by: str = "", second: str = "") -> None:
        """Take a row in that is signed as it should be, or let it be refused."""
        tree = {**event, "sequence": self.number, "time": "2026-01-01T00:00:00+00:00"}
        tree |= {name: self.signers[one].person for name, one in (("by", by), ("second", second)) if one}
        said = staff.row_message(self.head, tree)
        tree |= {"signature": self.signers[by].sign(said)} if by else {}
        tree |= {"countersignature": self.signers[second].sign(said)} if second else {}
        text = write_canonical(tree)
        hash_ = journal.hash_row(self.head, text)
        self.staff.follow(json.loads(text), self.head, hash_)
        self.head, self.number = hash_, self.number + 1

    def takes(self, event: dict[str, Any], *, by: str = "", second: str = "") -> bool:
        """Say whether a row would be taken in; it is not."""
        tried = copy.copy(self)
        tried.staff = copy.deepcopy(self.staff)
        try:
            tried.add(event, by=by, second=second)
        except (InputRefused, KeyError, TypeError, ValueError, AttributeError, ArithmeticError):
            return False
        return True

    def enter(self, entry: str, state: str = "reserved", *, by: str = "Bea", **changes: Any) -> None:
        self.add(entered(entry, **changes), by=by)
        for kind, to, more in STEPS[state]:
            self.add(changed(entry, kind, state=to, **more), by=by)


def changed(entry: str, kind: str, **changes: Any) -> dict[str, Any]:
    return {"kind": kind, "table": "entry", "row": entry, "changes": changes}


def entered(entry: str, **changes: Any) -> dict[str, Any]:
    row = {
        "state": "reserved",
        "holding": OWN,
        "plan": "p",
        "loss": "bounded",
        "epsilon": "1/20",
        "delta": "0/1",
    }
    row |= {"parent": None} | changes
    if row["epsilon"] is not None:
        row.setdefault("guarantee", write_canonical({"epsilon": row["epsilon"], "delta": row["delta"]}))
    row.setdefault("guarantee", "{}")
    return changed(entry, row["state"], **row)


COLUMNS = sorted(one[0] for one in store.expected_structure()["entry"] if one[0] not in ("id", "state"))


@pytest.fixture(scope="module")
def rows() -> dict[str, Rows]:
    found = {}
    for state in STATES:
        found[state] = Rows()
        found[state].enter("r1", state)
    return found


@pytest.mark.guarantee
@pytest.mark.parametrize("state", STATES)
def test_of_an_entry_nothing_is_written_but_what_the_program_writes(
    state: str, rows: dict[str, Rows]
) -> None:
    """Each kind of row, each next state, each column beside it, by each person and by nobody."""
    there, taken, wrong = rows[state], 0, []
    follows = FOLLOWS.get(state, {})
    asked = [(by, kind) for by, kinds in KINDS.items() for kind in kinds]
    for (by, kind), to in itertools.product(asked, (None, "", "prepared", *STATES)):
        for column in COLUMNS if kind == "note" and by == "Bea" else SEEN_BY_ALL:
            changes = {column: VALUES.get(column, "x")} | ({} if to is None else {"state": to})
            said = there.takes(changed("r1", kind, **changes), by=by)
            may = by in ("Ada", "Bea")
            if to is None:
                expected = may and column in ("told", "folder")
            else:
                expected = may and column in follows.get(to, set())
            taken += said
            if said != expected:
                wrong.append((by, kind, to, column, said))
    assert not wrong
    assert taken > 0


LATER_ON = ("told", "state_hash", "release_sums", "internal_sums", "spent_at", "closed_at", "withdrawn_at")
NEW: dict[str, dict[str, Any]] = {name: {name: "a" * 64} for name in LATER_ON} | {
    "of a small loss, and a guarantee of a large one": {"guarantee": '{"epsilon":"1/2","delta":"0/1"}'},
    "of a small loss, and an inner guarantee of a large one": {
        "guarantee": '{"loss":{"epsilon":"1/2","delta":"0/1"}}'
    },
    "of a loss that only an inner guarantee states": {
        "guarantee": '{"epsilon":"1/1000","delta":"0/1","loss":{"epsilon":"1/20","delta":"0/1"}}'
    },
    "of a δ below nought": {"delta": "-1/2", "guarantee": '{"epsilon":"1/20","delta":"-1/2"}'},
    "of a δ of one": {"delta": "1", "guarantee": '{"epsilon":"1/20","delta":"1"}'},
    "of another δ": {"guarantee": '{"epsilon":"1/20","delta":"1/100"}'},
    "of no guarantee": {"guarantee": "[]"},
    "without a loss, and with a guarantee of one": {
        "loss": "unbounded",
        "epsilon": None,
        "delta": None,
        "guarantee": '{"epsilon":"1/20"}',
    },
    "paid by an ordinary release": {"parent": "r1"},
    "paid by a visit": {"parent": "r2"},
    "paid by a release of nowhere": {"parent": "r9"},
}


@pytest.mark.parametrize("name", NEW)
@pytest.mark.parametrize("by", ["Ada", "Bea"])
def test_a_new_entry_says_no_more_than_what_is_asked(name: str, by: str) -> None:
    there = Rows()
    there.add(
        {"kind": staff.RULED, "details": {"holding": OWN, "rule": Rule().to_json()}}, by="Ada", second="Abe"
    )
    there.enter("r1", "complete")
    there.enter(
        "r0", guarantee=write_canonical({"epsilon": "1/2", "delta": "0/1", "events": SERVICE}), epsilon="1/2"
    )
    there.add(changed("r0", "spent", state="spent"), by="Bea")
    there.add(changed("r0", "completed", state="complete", **DONE, state_hash="a" * 64), by="Bea")
    there.enter("r2", "complete", parent="r0")
    assert there.takes(entered("r3"), by=by)
    assert there.takes(entered("r3", parent="r0"), by=by)
    assert not there.takes(entered("r3", **NEW[name]), by=by)


def test_who_works_with_one_register_enters_nothing_in_another() -> None:
    """What the rule of all registers leaves to one is summed where it is entered."""
    there = Rows()
    assert there.takes(entered("r1", holding=LATER))
    for by in ("", "Ada", "Bea"):
        event = entered("r1", holding=LATER) | {"details": {"holding": OWN, "money": "1"}}
        assert not there.takes(event, by=by)


@pytest.mark.parametrize("kind", ["holding_made", "note", "answered"])
def test_a_register_is_a_later_one_whatever_its_row_is_called(kind: str) -> None:
    there = Rows()
    there.add({"kind": kind, "table": "holding", "row": "h4", "changes": {"name": "h4"}})
    assert there.staff.rule("h4") == there.staff.rule(OWN)
    assert not there.takes(entered("r1", holding="h4", epsilon="1/2"))
    assert there.takes(entered("r1", holding=OTHER, epsilon="1/2"))


@pytest.mark.parametrize("kind", ["note", "swept"])
def test_an_entry_does_not_begin_before_somebody_signs_for_it(kind: str) -> None:
    """What stood there before would be part of it."""
    there = Rows()
    there.add(changed("r1", kind, told="a" * 64, epsilon="1/2"))
    assert not there.takes(entered("r1"), by="Bea")
    assert there.takes(entered("r2"), by="Bea")


@pytest.mark.parametrize("kind", ["note", "decision", "holding_made", "answered"])
def test_a_budget_is_changed_under_its_name(kind: str) -> None:
    """Who reads what was changed, an auditor, would not find it."""
    there = Rows()
    raised = {"table": "holding", "row": OWN, "changes": {"epsilon": "100"}}
    assert there.takes(raised | {"kind": "budget_changed"}, by="Ada")
    assert not there.takes(raised | {"kind": kind}, by="Ada")


def test_what_a_budget_was_is_not_what_a_row_says_of_it() -> None:
    made = {"kind": "holding_made", "table": "holding", "row": OWN, "changes": {"epsilon": "1"}}
    raised = {"kind": "budget_changed", "table": "holding", "row": OWN, "changes": {"epsilon": "100"}}
    raised |= {"time": "2026-01-01", "details": {"before": {"epsilon": "99"}, "reason": "x"}}
    assert budget_changes([made, raised])[OWN][0]["before"] == {"epsilon": "1"}
