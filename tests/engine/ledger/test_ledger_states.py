"""From reservation to withdrawal: which step may follow which, what counts, and what is kept."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import pytest

from engine import ed25519, texts
from engine.errors import InputRefused
from engine.ledger import STATES, staff

SUMS = {"release_sums_hash": "a" * 64, "internal_sums_hash": "B" * 64}


def refused(code):
    """Expect a refusal that has its sentences."""

    class Expecting:
        def __enter__(self):
            return self

        def __exit__(self, kind, error, traceback):
            assert isinstance(error, InputRefused), f"{code} was not raised"
            assert error.code == f"ledger.{code}"
            self.values = error.values
            self.what, self.do = texts.explain(error)
            return True

    return Expecting()


def name_somebody(ledger):
    """Name and sign in one person of the only register: without persons nothing is prepared."""
    holding, private = ledger.holdings()[0].id, bytes(32)
    person = staff.Person("pada", "Ada", "approve", ed25519.public_key(private), "")
    signer = staff.Signer(holding, person.id, private)
    staff.sign_in(ledger.path, signer)
    ledger.name_person(holding, person, signer.sign(staff.proof_message(ledger.chain(), holding, person)))


def in_state(ledger, reserve, state):
    if state == "prepared":
        name_somebody(ledger)
    entry = reserve("0.1", is_prepared=state == "prepared")
    if state == "freed":
        ledger.free(entry)
    if state in ("spent", "complete", "withdrawn", "failed"):
        ledger.spend(entry)
    if state in ("complete", "withdrawn"):
        ledger.complete(entry, **SUMS)
    if state == "withdrawn":
        ledger.withdraw(entry, "Mistake")
    if state == "failed":
        ledger.fail(entry)
    assert ledger.entry(entry).state == state
    return entry


ALONE = [one for one in STATES if one != "prepared"]
"""The states of a ledger without persons; nobody prepares there, see ``test_staff.py``."""
STEPS = {
    "spent": (lambda ledger, entry: ledger.spend(entry), {"reserved"}),
    "freed": (lambda ledger, entry: ledger.free(entry), {"prepared", "reserved"}),
    "complete": (lambda ledger, entry: ledger.complete(entry, **SUMS), {"spent"}),
    "failed": (lambda ledger, entry: ledger.fail(entry), {"spent"}),
    "withdrawn": (lambda ledger, entry: ledger.withdraw(entry, "Mistake"), {"complete"}),
}


@pytest.mark.parametrize("state", ALONE)
@pytest.mark.parametrize("to", STEPS)
def test_only_the_drawn_steps_are_possible(ledger, holding, reserve, state, to):
    entry = in_state(ledger, reserve, state)
    step, allowed = STEPS[to]
    before = ledger.entry(entry)
    if state in allowed:
        step(ledger, entry)
        assert ledger.entry(entry).state == to
    else:
        with refused(f"cannot_be_{to}") as refusal:
            step(ledger, entry)
        assert state in refusal.what
        assert ledger.entry(entry) == before
    ledger.verify_chain()


@pytest.mark.parametrize("state", ALONE)
def test_every_state_but_freed_counts(ledger, holding, reserve, state):
    in_state(ledger, reserve, state)
    assert ledger.status(holding).epsilon_spent == (0 if state == "freed" else Fraction(1, 10))


@pytest.mark.parametrize("state", ["complete", "failed", "freed", "withdrawn"])
def test_what_is_closed_needs_no_resolving(ledger, holding, reserve, state):
    entry = in_state(ledger, reserve, state)
    with refused("cannot_be_resolved"):
        ledger.resolve(entry, "Power cut")


@pytest.mark.parametrize("state", ["reserved", "spent"])
def test_what_still_runs_is_not_resolved(ledger, holding, reserve, state):
    entry = in_state(ledger, reserve, state)
    assert not ledger.entry(entry).abandoned
    with refused("still_running"):
        ledger.resolve(entry, "Power cut")


def test_a_reason_is_wanted(ledger, holding, reserve):
    entry = in_state(ledger, reserve, "complete")
    with refused("no_reason"):
        ledger.withdraw(entry, "  ")
    with refused("no_reason"):
        ledger.resolve(entry, "")
    with refused("no_reason"):
        ledger.decide("threshold overridden", "")
    with refused("no_decision"):
        ledger.decide("", "because")


def test_an_unknown_entry_and_a_wrong_hash_are_refused(ledger, holding, reserve):
    with refused("no_entry"):
        ledger.spend("r0")
    entry = in_state(ledger, reserve, "spent")
    with refused("bad_hash"):
        ledger.complete(entry, release_sums_hash="a" * 63, internal_sums_hash="b" * 64)
    assert ledger.entry(entry).state == "spent"


def test_the_purpose_is_kept(ledger, holding, reserve):
    entry = ledger.entry(
        reserve(
            "0.1",
            request="2026-17",
            agreement="DUA 4",
            expires="2027-12-31",
            approver="Dr Ito",
            plan_fingerprint="f" * 64,
        )
    )
    assert (entry.request, entry.agreement, entry.approver) == ("2026-17", "DUA 4", "Dr Ito")
    assert (entry.recipient, entry.title, entry.plan) == ("University", "Stays by age", "f" * 64)
    assert not entry.expired(date(2027, 12, 31))
    assert entry.expired(date(2028, 1, 1))
    with refused("bad_day"):
        reserve("0.1", expires="31.12.2027")
    assert ledger.entry(reserve("0.1", expires="")).expires is None
