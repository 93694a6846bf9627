"""Persons of a register: what they may, what needs two of them, and forged rows that are all refused."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from engine import ed25519, policy
from engine.errors import EngineError, InputRefused, VerificationFailed
from engine.ledger import Ledger, journal, staff, traces
from engine.ledger.fields import write_canonical
from engine.ledger.staff import Person, Rule, Signer


@dataclass
class House:
    """A ledger with one register, of which Ada and Abe approve, Bea prepares and Cy audits."""

    ledger: Ledger
    holding: str
    signers: dict[str, Signer]

    def act(self, name: str) -> Ledger:
        staff.sign_in(self.ledger.path, self.signers[name])
        return self.ledger

    def name(self, name: str, role: str, *, second: str = "", number: str = "") -> Signer:
        private = os.urandom(32)
        person = Person(f"p{name.lower()}{number}", name, role, ed25519.public_key(private), "")
        signer = Signer(self.holding, person.id, private)
        if not self.signers:
            staff.sign_in(self.ledger.path, signer)
        proof = signer.sign(staff.proof_message(self.ledger.chain(), self.holding, person))
        with staff.countersigned(self.ledger.path, self.signers.get(second)):
            self.ledger.name_person(self.holding, person, proof)
        self.signers[name] = signer
        return signer

    def approval(self, waits: str, by: str, **changes: Any) -> dict[str, Any]:
        state = self.ledger.staff()
        found = state.prepared(waits)
        assert found is not None
        told = {
            "chain": state.chain,
            "holding": self.holding,
            "entry": waits,
            "plan": found.plan,
            "sequence": found.sequence,
            "hash": found.hash,
            "preparer": found.preparer,
            "person": self.signers[by].person,
            "time": journal.now(),
        } | changes
        return told | {"signature": self.signers[by].sign(staff.approval_message(told))}


@pytest.fixture
def reserve(reserve: Callable[..., str]) -> Callable[..., str]:
    """Reserve a release that costs little, unless a test says what it costs."""

    def call(epsilon: Any, delta: Any = "0", **others: Any) -> str:
        return reserve(epsilon, delta, **({"money": Fraction(1, 1000)} | others))

    return call


@pytest.fixture
def house(ledger: Ledger, holding: str) -> Iterator[House]:
    found = House(ledger, holding, {})
    found.name("Ada", "approve")
    found.name("Bea", "prepare")
    found.name("Abe", "approve", second="Bea")
    found.name("Cy", "audit", second="Bea")
    ledger.set_rule(holding, Rule(Fraction(1, 10), Fraction(50), True), "two persons")
    yield found
    staff.sign_out(ledger.path, holding)


@pytest.fixture
def prepared(house: House, reserve: Callable[..., str]) -> str:
    house.act("Bea")
    return reserve("1/2", is_prepared=True)


@pytest.fixture
def paid(house: House, reserve: Callable[..., str]) -> str:
    """A release that was small enough for one person, whole."""
    house.act("Bea")
    entry = reserve("1/20")
    house.ledger.spend(entry)
    house.ledger.complete(entry, release_sums_hash="0" * 64, internal_sums_hash="1" * 64)
    return entry


# --- What is done -----------------------------------------------------------------------------------------


def test_without_persons_nothing_is_signed_and_nothing_refused(
    ledger: Ledger, holding: str, reserve: Callable[..., str]
) -> None:
    ledger.spend(reserve("1/2"))
    assert not any("by" in event for event in ledger.journal())
    assert ledger.needs_second(holding, loss="unbounded", epsilon=None) == ""


def test_each_row_about_the_register_is_signed_by_whoever_acted(house: House, paid: str) -> None:
    rows = [event for event in house.ledger.journal() if event.get("row") == paid]
    assert len(rows) == 3 and {event["by"] for event in rows} == {"pbea"}
    assert all(len(event["signature"]) == 128 for event in rows)
    other = house.ledger.create_holding("Another", unit="row", neighbours="add_remove")
    assert "by" not in house.ledger.journal()[-1]
    assert house.ledger.staff().persons(other.id) == []


def test_a_large_release_spends_only_after_another_persons_approval(
    house: House, reserve: Callable[..., str]
) -> None:
    ledger = house.act("Bea")
    with pytest.raises(InputRefused, match=r"staff\.needs_second"):
        reserve("1/2")
    entry = reserve("1/2", is_prepared=True)
    assert ledger.status(house.holding).epsilon_left == Fraction(1, 2)
    with pytest.raises(InputRefused, match=r"ledger\.cannot_be_spent"):
        ledger.spend(entry)
    ledger.approve(entry, house.approval(entry, "Ada"))
    ledger.spend(entry)
    ledger.verify_chain()
    with pytest.raises(InputRefused, match=r"staff\.not_prepared"):
        ledger.approve(entry, house.approval(entry, "Ada"))


def test_a_prepared_release_can_be_given_up(house: House, prepared: str) -> None:
    assert house.ledger.resolve(prepared, "not needed") == "freed"
    assert house.ledger.status(house.holding).epsilon_left == 1
    with pytest.raises(InputRefused, match=r"staff\.not_prepared"):
        house.ledger.approve(prepared, house.approval(prepared, "Ada"))


@pytest.mark.parametrize("amount", ["epsilon", "money"])
def test_a_large_release_cannot_be_cut_into_small_ones(
    house: House, reserve: Callable[..., str], amount: str
) -> None:
    house.act("Bea")
    each: dict[str, Any] = {"epsilon": "1/20"} if amount == "epsilon" else {"epsilon": "1/1000"}
    money = Fraction(1) if amount == "epsilon" else Fraction(25)
    for _ in range(2):
        reserve(each["epsilon"], money=money)
    with pytest.raises(InputRefused, match=r"staff\.needs_second"):
        reserve(each["epsilon"], money=money)
    given_up = house.ledger.entries(house.holding)[-1].id
    house.ledger.free(given_up)
    reserve(each["epsilon"], money=money)


@pytest.mark.parametrize("money", [None, Fraction(0), Fraction(-60)])
def test_a_release_without_a_price_is_not_a_cheap_one(
    house: House, reserve: Callable[..., str], money: Fraction | None
) -> None:
    house.act("Bea")
    with pytest.raises(InputRefused, match=r"staff\.needs_second"):
        reserve("1/1000", money=money)
    waits = reserve("1/1000", money=money, is_prepared=True)
    house.ledger.approve(waits, house.approval(waits, "Ada"))
    house.act("Ada").set_rule(house.holding, Rule(Fraction(1, 10), Fraction(50), True), "as before")
    with staff.countersigned(house.ledger.path, house.signers["Bea"]):
        house.ledger.set_rule(house.holding, Rule(Fraction(1, 10), None, True), "no rule about money")
    house.act("Bea")
    reserve("1/1000", money=money)
    house.ledger.verify_chain()


DONE = {"release_sums_hash": "0" * 64, "internal_sums_hash": "1" * 64}


OPENING = {
    "kind": "pure_dp",
    "epsilon": "1/2",
    "delta": "0",
    "unit": "person",
    "neighbours": "add_remove",
    "events": {
        "mechanism": "stated",
        "theorem": staff.OF_SERVICES,
        "level": "1/2",
        "failure": "0",
        "count": 1,
    },
}


@pytest.fixture
def opening(house: House, reserve: Callable[..., str]) -> str:
    """A service that two persons opened, in the state of all a."""
    house.act("Bea")
    entry = reserve("1/2", is_prepared=True, guarantee_json=OPENING)
    house.ledger.approve(entry, house.approval(entry, "Ada"))
    house.ledger.spend(entry)
    house.ledger.complete(entry, state_hash="a" * 64, **DONE)
    return entry


def test_an_approved_release_is_not_made_a_service_to_draw_from(
    house: House, reserve: Callable[..., str]
) -> None:
    """What draws from it would need nobody, and cost nothing."""
    house.act("Bea")
    entry = reserve("1/5", is_prepared=True)
    house.ledger.approve(entry, house.approval(entry, "Ada"))
    house.ledger.spend(entry)
    house.ledger.complete(entry, **DONE, state_hash="a" * 64)
    with pytest.raises(InputRefused, match=r"staff\.needs_second"):
        reserve("1/5", parent=entry, state_hash="a" * 64)


def test_a_visit_that_waits_holds_its_place(house: House, reserve: Callable[..., str], opening: str) -> None:
    from_it: dict[str, Any] = {"parent": opening, "state_hash": "a" * 64}
    waits = reserve("1/10", is_prepared=True, questions=["q"], **from_it)
    for is_prepared in (True, False):
        with pytest.raises(InputRefused, match=r"ledger\.visit_underway"):
            reserve("1/10", is_prepared=is_prepared, questions=["q"], **from_it)
    approval = house.approval(waits, "Ada")
    for state in (None, "b" * 64):
        with pytest.raises(InputRefused, match=r"ledger\.other_state"):
            house.ledger.approve(waits, approval, state_hash=state)
    house.ledger.approve(waits, approval, state_hash="a" * 64)
    house.ledger.spend(waits)
    house.ledger.complete(waits, state_hash="b" * 64, **DONE)
    assert house.ledger.service(opening).state_hash == "b" * 64
    given_up = reserve("1/10", is_prepared=True, parent=opening, state_hash="b" * 64)
    house.ledger.resolve(given_up, "not needed")
    reserve("1/10", parent=opening, state_hash="b" * 64)


def test_a_visit_of_a_service_that_is_over_is_not_approved(
    house: House, reserve: Callable[..., str], opening: str
) -> None:
    waits = reserve("1/10", is_prepared=True, parent=opening, state_hash="a" * 64)
    approval = house.approval(waits, "Ada")
    house.ledger.withdraw(opening, "over")
    with pytest.raises(InputRefused, match=r"staff\.service_over"):
        house.ledger.approve(waits, approval, state_hash="a" * 64)


def test_two_visits_from_one_state_are_refused_although_they_are_signed(
    house: House, reserve: Callable[..., str], opening: str
) -> None:
    waits = reserve("1/10", is_prepared=True, parent=opening, state_hash="a" * 64)
    forge(house, waits, "rforged", kind="prepared")
    refuse(house)


FORGED: dict[str, dict[str, str | None]] = {
    "drawn from a release that opened nothing": {"parent": "paid", "epsilon": "1/20"},
    "drawn from a service, and more than it reserved": {"parent": "opening", "epsilon": "3/4"},
    "without a loss, and with one": {"loss": "none", "epsilon": "1/2"},
    "of an unknown kind": {"loss": "odd", "epsilon": "1/2"},
    "with less than no loss": {"epsilon": "-1/2"},
}


@pytest.mark.parametrize("name", FORGED)
def test_a_row_that_calls_a_large_release_small_is_refused(
    house: House, reserve: Callable[..., str], opening: str, paid: str, name: str
) -> None:
    reserve("1/20")
    known = {"opening": opening, "paid": paid}
    changes = {part: known.get(str(value), value) for part, value in FORGED[name].items()}
    forge(house, paid, "rforged", **changes)
    refuse(house)


def forge(house: House, like: str, entry: str, *, kind: str = "reserved", **changes: Any) -> None:
    """Write an entry like another past the program, in a row that Bea signed."""
    with sqlite3.connect(house.ledger.path) as db:
        db.row_factory = sqlite3.Row
        row = dict(db.execute("SELECT * FROM entry WHERE id = ?", (like,)).fetchone())
        row |= {"state": kind, **dict.fromkeys(staff._NOT_YET)}
        row |= {"id": entry, "number": row["number"] + 100} | changes
        if "epsilon" in changes:
            row["guarantee"] = write_canonical(json.loads(row["guarantee"]) | {"epsilon": row["epsilon"]})
        marks = ", ".join("?" * len(row))
        db.execute(f"INSERT INTO entry ({', '.join(row)}) VALUES ({marks})", list(row.values()))
    db.close()
    columns = {name: value for name, value in row.items() if name != "id" and value is not None}
    event = changed("entry", entry, kind, **columns) | {"details": {"money": "1/1000"}}
    append(house.ledger.path, event, by=house.signers["Bea"])


def test_a_forged_entry_that_one_may_make_is_read(
    house: House, reserve: Callable[..., str], paid: str
) -> None:
    forge(house, paid, "rforged", epsilon="1/100")
    assert Ledger(house.ledger.path).entry("rforged").epsilon == Fraction(1, 100)


def test_a_release_without_a_guarantee_needs_two(house: House, reserve: Callable[..., str]) -> None:
    house.act("Bea")
    with pytest.raises(InputRefused, match=r"staff\.needs_second"):
        reserve(None, None, unit=None, neighbours=None)
    reserve(None, None, unit=None, neighbours=None, loss="none")


def test_nobody_acts_unnoticed(house: House, reserve: Callable[..., str]) -> None:
    staff.sign_out(house.ledger.path, house.holding)
    for call in (
        lambda: reserve("1/100"),
        lambda: house.ledger.change_budget(house.holding, "more", epsilon=100),
        lambda: house.ledger.decide("something", "because", holding=house.holding),
    ):
        with pytest.raises(InputRefused, match=r"staff\.nobody_acts"):
            call()


@pytest.mark.parametrize(
    ("who", "what"),
    [
        ("Bea", lambda house: house.name("Eve", "approve")),
        ("Bea", lambda house: house.ledger.set_rule(house.holding, Rule(), "no rule")),
        ("Bea", lambda house: house.ledger.withdraw_person(house.holding, "pabe", "gone")),
        ("Bea", lambda house: house.ledger.change_budget(house.holding, "more", epsilon=9)),
        ("Cy", lambda house: house.ledger.decide("something", "because", holding=house.holding)),
        ("Cy", lambda house: house.ledger.name_key(house.holding, "0" * 40, "another")),
    ],
)
def test_a_role_allows_what_it_says_and_no_more(house: House, who: str, what: Callable[[House], Any]) -> None:
    house.act(who)
    with pytest.raises(InputRefused, match=r"staff\.role"):
        what(house)


def test_who_audits_signs_for_a_sheet(house: House) -> None:
    house.act("Cy").note_sheet(house.holding)
    assert house.ledger.journal()[-1]["by"] == "pcy"


@pytest.mark.parametrize(
    "what",
    [
        lambda house: house.name("Eve", "prepare"),
        lambda house: house.ledger.withdraw_person(house.holding, "pbea", "gone"),
        lambda house: house.ledger.set_rule(house.holding, Rule(Fraction(1)), "looser"),
        lambda house: house.ledger.set_rule(house.holding, Rule(), "none"),
    ],
)
def test_two_decide_who_belongs_to_a_register_and_how_much_one_may(
    house: House, what: Callable[[House], Any]
) -> None:
    house.act("Ada")
    with pytest.raises(InputRefused, match=r"staff\.two_decide"):
        what(house)
    with (
        staff.countersigned(house.ledger.path, house.signers["Ada"]),
        pytest.raises(InputRefused, match=r"staff\.same_person"),
    ):
        what(house)
    with staff.countersigned(house.ledger.path, house.signers["Abe"]):
        what(house)
    house.ledger.verify_chain()


def test_a_second_person_countersigns_in_the_block_that_names_them_alone(house: House) -> None:
    """Another thread of the process, as the window has, acts for one person meanwhile."""
    house.act("Ada")
    with ThreadPoolExecutor(1) as other, staff.countersigned(house.ledger.path, house.signers["Abe"]):
        with pytest.raises(InputRefused, match=r"staff\.two_decide"):
            other.submit(house.ledger.withdraw_person, house.holding, "pbea", "gone").result()
        assert len(staff.present(house.ledger.path)[house.holding]) == 2
        house.ledger.withdraw_person(house.holding, "pbea", "gone")
    assert len(staff.present(house.ledger.path)[house.holding]) == 1
    house.ledger.verify_chain()


def test_who_is_withdrawn_does_not_countersign_and_does_not_act(house: House) -> None:
    house.act("Ada")
    with (
        staff.countersigned(house.ledger.path, house.signers["Bea"]),
        pytest.raises(InputRefused, match=r"staff\.two_decide"),
    ):
        house.ledger.withdraw_person(house.holding, "pbea", "gone")  # her own word does not count
    with staff.countersigned(house.ledger.path, house.signers["Abe"]):
        house.ledger.withdraw_person(house.holding, "pbea", "gone")
    house.act("Bea")
    with pytest.raises(InputRefused, match=r"staff\.withdrawn"):
        house.ledger.decide("something", "because", holding=house.holding)


def test_of_two_persons_neither_gets_rid_of_the_other(ledger: Ledger, holding: str) -> None:
    house = House(ledger, holding, {})
    house.name("Ada", "approve")
    house.name("Bea", "prepare")
    for done in (
        lambda: ledger.withdraw_person(holding, "pbea", "gone"),
        lambda: house.name("Eve", "prepare"),
    ):
        with pytest.raises(InputRefused, match=r"staff\.two_decide"):
            done()
    with staff.countersigned(ledger.path, house.signers["Bea"]):
        house.name("Cy", "audit")
    for second in ("", "Cy"):
        with (
            staff.countersigned(ledger.path, house.signers.get(second)),
            pytest.raises(InputRefused, match=r"staff\.two_decide"),
        ):
            ledger.withdraw_person(holding, "pbea", "gone")
    with staff.countersigned(ledger.path, house.signers["Bea"]):
        ledger.withdraw_person(holding, "pbea", "both agreed")
    with pytest.raises(InputRefused, match=r"staff\.two_decide"):
        house.name("Eve", "prepare")
    with staff.countersigned(ledger.path, house.signers["Cy"]):  # nobody else is there to ask
        house.name("Eve", "prepare")
    ledger.verify_chain()
    staff.sign_out(ledger.path, holding)


@pytest.mark.parametrize(
    "what",
    [
        lambda house: house.name("Eve", "prepare"),
        lambda house: house.ledger.withdraw_person(house.holding, "pbea", "gone"),
        lambda house: house.ledger.set_rule(house.holding, Rule(), "none"),
    ],
)
def test_who_audits_decides_nothing_while_others_are_there(
    house: House, what: Callable[[House], Any]
) -> None:
    house.act("Ada")
    with (
        staff.countersigned(house.ledger.path, house.signers["Cy"]),
        pytest.raises(InputRefused, match=r"staff\.two_decide"),
    ):
        what(house)


def test_a_register_made_later_has_the_rules_of_the_others(
    house: House, asked: Callable[..., dict[str, Any]]
) -> None:
    ledger = house.act("Bea")
    other = House(
        ledger, ledger.create_holding("B", unit="person", neighbours="add_remove", epsilon="9").id, {}
    )
    named = {"plan_fingerprint": "plan", "title": "t", "recipient": "r"}

    def reserve(epsilon: str, **more: Any) -> str:
        return ledger.reserve(other.holding, **(named | asked(epsilon, money=Fraction(1), **more)))

    first = reserve("1/20")
    with pytest.raises(InputRefused, match=r"staff\.nobody_named"):
        reserve("1/10")  # together with the one before
    ledger.spend(first)
    ledger.complete(first, release_sums_hash="a" * 64, internal_sums_hash="b" * 64)
    other.name("Bea", "approve")
    with pytest.raises(InputRefused, match=r"staff\.needs_second"):
        reserve("1/10")
    ledger.set_rule(other.holding, Rule(), "none of its own")
    with pytest.raises(InputRefused, match=r"staff\.needs_second"):
        reserve("1/10")
    reserve("1/10", is_prepared=True)
    ledger.verify_chain()
    staff.sign_out(ledger.path, other.holding)


@pytest.mark.parametrize(
    "rule", [Rule(Fraction(1, 10)), Rule(money=Fraction(50)), Rule(unbounded=True)], ids=["ε", "money", "any"]
)
@pytest.mark.parametrize("more", [0, 9])
def test_people_of_a_register_with_a_rule_are_not_charged_to_an_older_one_without(
    ledger: Ledger, holding: str, rule: Rule, more: int
) -> None:
    other = ledger.create_holding("B", unit="person", neighbours="add_remove", epsilon="9").id
    own = [f"own {n}" for n in range(9)]
    ledger.attach(other, "own", ledger.person_digests(own), ["stay"])
    ledger.attach(holding, "print", ledger.person_digests(["anna", "ben"]), ["age"])
    houses = [House(ledger, one, {}) for one in (holding, other)]
    houses[0].name("Ada", "approve")
    ledger.set_rule(holding, rule, "two persons")
    given = ("later", ledger.person_digests(["anna", *own[:more]]), ["age"])
    with pytest.raises(InputRefused, match=r"ledger\.known_people"):
        ledger.attach(other, *given)
    with pytest.raises(InputRefused, match=r"staff\.looser_rule"):
        ledger.attach(other, *given, reason="In care for both")
    houses[1].name("Eve", "approve")
    ledger.set_rule(other, rule, "two persons")
    ledger.attach(other, *given, reason="In care for both")
    ledger.verify_chain()
    for one in houses:
        staff.sign_out(ledger.path, one.holding)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("A\u200bda", "odd_name"),
        ("Ada\u202e", "odd_name"),
        ("Ada\u3164", "odd_name"),
        ("\u0410da", "odd_name"),
        ("Ada \u05d0", "odd_name"),
        ("A\u0301da", "odd_name"),
        ("\uff21da", "odd_name"),
        ("...", "odd_name"),
        ("ADA", "name_taken"),
        ("Ad\u0251", "name_taken"),
        ("\u1d00d\u1d00", "name_taken"),
        ("A da", ""),
        ("Андрей", ""),
        ("José Núñez-O’Brien 2", ""),
        ("佐藤ひかり", ""),
        ("דנה כהן", ""),
    ],
)
def test_a_name_is_what_is_seen(house: House, name: str, code: str) -> None:
    house.act("Ada")
    if not code:
        house.name(name, "prepare", second="Abe", number="x")
        return
    with pytest.raises(InputRefused, match=rf"staff\.{code}"):
        house.name(name, "prepare", second="Abe", number="x")


def test_a_name_in_another_script_that_looks_the_same_is_taken(house: House) -> None:
    house.act("Ada")
    house.name("Cop", "prepare", second="Abe")
    with pytest.raises(InputRefused, match=r"staff\.name_taken"):
        house.name("\u0421\u043e\u0440", "prepare", second="Abe", number="x")


def test_a_stricter_rule_needs_one_and_the_computer_only_tightens(
    house: House, reserve: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.act("Ada").set_rule(house.holding, Rule(Fraction(1, 100), Fraction(50), True), "stricter")
    rules = tmp_path / "custos.toml"
    monkeypatch.setattr(policy, "place", lambda: rules)
    rules.write_text('second_epsilon = "5"\n')
    assert house.ledger.needs_second(house.holding, loss="bounded", epsilon=Fraction(1, 50)) == "epsilon"
    rules.write_text('second_epsilon = "1/1000"\n')
    with pytest.raises(InputRefused, match=r"staff\.needs_second"):
        reserve("1/500")
    with pytest.raises(InputRefused, match=r"staff\.nobody_named"):
        other = house.ledger.create_holding("Another", unit="person", neighbours="add_remove", epsilon="1")
        reserve_in(house.ledger, other.id, reserve)
    for wrong in ('second_epsilon = "-1"', "second_money = true", "second_unbounded = 1"):
        rules.write_text(wrong)
        with pytest.raises(InputRefused, match=r"policy\.wrong"):
            reserve("1/1000000")


def reserve_in(ledger: Ledger, holding: str, reserve: Callable[..., str]) -> None:
    class In(Ledger):
        def reserve(self, _: str, **named: Any) -> str:
            return super().reserve(holding, **named)

    reserve("1/2", of=In(ledger.path))


def test_the_first_person_approves_and_the_last_approver_stays(ledger: Ledger, holding: str) -> None:
    alone = House(ledger, holding, {})
    with pytest.raises(InputRefused, match=r"staff\.first_approves"):
        alone.name("Bea", "prepare")
    alone.name("Ada", "approve")
    with pytest.raises(InputRefused, match=r"staff\.last_approver"):
        ledger.withdraw_person(holding, "pada", "gone")
    with pytest.raises(InputRefused, match=r"staff\.name_taken"):
        alone.name("ADA", "prepare", number="2")


# --- Attacks ----------------------------------------------------------------------------------------------


def append(
    path: Path, event: dict[str, Any], *, by: Signer | None = None, second: Signer | None = None
) -> None:
    """Write a row as somebody does who may write the file and computes every hash."""
    with sqlite3.connect(path) as db:
        db.row_factory = sqlite3.Row
        last = db.execute("SELECT sequence, hash FROM journal ORDER BY sequence DESC LIMIT 1").fetchone()
        tree = {**event, "sequence": last["sequence"] + 1, "time": journal.now(), "random": "0" * 32}
        tree |= {} if by is None else {"by": by.person}
        tree |= {} if second is None else {"second": second.person}
        said = staff.row_message(last["hash"], tree)
        tree |= {} if by is None else {"signature": by.sign(said)}
        tree |= {} if second is None else {"countersignature": second.sign(said)}
        text = write_canonical(tree)
        row = (tree["sequence"], last["hash"], text, journal.hash_row(last["hash"], text))
        db.execute("INSERT INTO journal (sequence, previous, event, hash) VALUES (?, ?, ?, ?)", row)
        for name, value in event.get("changes", {}).items():
            if value is None:  # by a table whose rule that it never is empty was taken away meanwhile
                continue
            db.execute(f"UPDATE {event['table']} SET {name} = ? WHERE id = ?", (value, event["row"]))
    db.close()


def changed(table: str, row: str, kind: str = "spent", **changes: Any) -> dict[str, Any]:
    return {"kind": kind, "table": table, "row": row, "changes": changes}


def noted(kind: str, house: House, **details: Any) -> dict[str, Any]:
    return {"kind": kind, "details": {"holding": house.holding, **details}}


def intruder(house: House, *, role: str = "approve") -> tuple[Signer, dict[str, Any]]:
    private = os.urandom(32)
    person = Person("peve", "Eve", role, ed25519.public_key(private), "")
    signer = Signer(house.holding, "peve", private)
    proof = signer.sign(staff.proof_message(house.ledger.chain(), house.holding, person))
    said = {"person": "peve", "name": "Eve", "role": role, "key": person.key, "proof": proof}
    return signer, noted(staff.NAMED, house, **said)


UNSIGNED: dict[str, Callable[[House, str, str], dict[str, Any]]] = {
    "spends what waits": lambda house, waits, paid: changed("entry", waits, state="spent"),
    "frees what was spent": lambda house, waits, paid: changed("entry", paid, "freed", state="freed"),
    "sweeps and frees": lambda house, waits, paid: changed("entry", paid, "swept", folder="", state="freed"),
    "makes a loss smaller": lambda house, waits, paid: changed("entry", paid, epsilon="1/1000"),
    "raises the budget": lambda house, waits, paid: changed(
        "holding", house.holding, "budget_changed", epsilon="100/1"
    ),
    "moves a release to another register": lambda house, waits, paid: changed(
        "entry", paid, holding=house.ledger.holding("Another").id
    ),
    "moves a table to another register": lambda house, waits, paid: changed(
        "attached", "t1", holding=house.ledger.holding("Another").id
    ),
    "drops a column": lambda house, waits, paid: {
        "kind": "carried_over",
        "details": {"dropped": {"entry": ["epsilon"]}},
    },
    "names themselves": lambda house, waits, paid: intruder(house)[1],
    "withdraws a person": lambda house, waits, paid: noted(staff.WITHDRAWN, house, person="pada"),
    "loosens the rule": lambda house, waits, paid: noted(staff.RULED, house, rule=Rule().to_json()),
    "decides by the entry alone": lambda house, waits, paid: {
        "kind": "decision",
        "details": {"entry": paid, "holding": None},
    },
    "approves": lambda house, waits, paid: (
        changed("entry", waits, staff.APPROVED, state="reserved")
        | {"details": {"approval": house.approval(waits, "Ada")}}
    ),
}


@pytest.fixture
def attacked(house: House, prepared: str, paid: str) -> Iterator[tuple[House, str, str]]:
    house.ledger.create_holding("Another", unit="person", neighbours="add_remove", epsilon="5")
    house.ledger.attach(house.holding, "f" * 64, [], ["a"])
    with sqlite3.connect(house.ledger.path) as db:
        table = db.execute("SELECT id FROM attached").fetchone()[0]
    db.close()
    staff.sign_out(house.ledger.path, house.holding)
    yield house, prepared, paid if table else ""


def refuse(house: House) -> None:
    with pytest.raises(VerificationFailed) as caught:
        Ledger(house.ledger.path)
    assert caught.value.code == "ledger.not_signed"
    assert caught.value.values["row"] > 0


@pytest.mark.parametrize("name", UNSIGNED)
def test_a_row_that_nobody_signed_is_refused(name: str, attacked: tuple[House, str, str]) -> None:
    house, waits, paid = attacked
    event = UNSIGNED[name](house, waits, paid)
    if event.get("row") == "t1":
        with sqlite3.connect(house.ledger.path) as db:
            event["row"] = db.execute("SELECT id FROM attached").fetchone()[0]
        db.close()
    append(house.ledger.path, event)
    refuse(house)


@pytest.mark.parametrize("name", ["Diabetes register", "DIABETES REGISTER"])
def test_a_second_register_does_not_take_the_name_of_one_with_persons(
    name: str, attacked: tuple[House, str, str]
) -> None:
    """Nobody need sign one without persons, and a release is charged to the first of a name: a new budget."""
    house, _, _ = attacked
    with sqlite3.connect(house.ledger.path) as db:
        db.row_factory = sqlite3.Row
        columns = dict(db.execute("SELECT * FROM holding WHERE id = ?", (house.holding,)).fetchone())
        columns |= {"name": name, "created": journal.now()}
        del columns["id"]
        db.execute(
            f"INSERT INTO holding (id, {', '.join(columns)}) VALUES ('h0'{', ?' * len(columns)})",
            tuple(columns.values()),
        )
    db.close()
    append(house.ledger.path, changed("holding", "h0", "holding_made", **columns))
    with pytest.raises(VerificationFailed, match=r"ledger\.holding_differs"):
        Ledger(house.ledger.path)


def own_approval(house: House, waits: str, paid: str) -> dict[str, Any]:
    return changed("entry", waits, staff.APPROVED, state="reserved") | {
        "details": {"approval": house.approval(waits, "Bea")}
    }


SIGNED_BY_BEA: dict[str, Callable[[House, str, str], dict[str, Any]]] = {
    "spends what waits": lambda house, waits, paid: changed("entry", waits, state="spent"),
    "reserves what waits": lambda house, waits, paid: changed("entry", waits, "reserved", state="reserved"),
    "approves her own": own_approval,
    "names an approver": lambda house, waits, paid: intruder(house)[1],
    "loosens the rule": lambda house, waits, paid: noted(staff.RULED, house, rule=Rule().to_json()),
    "changes the budget under another name": lambda house, waits, paid: changed(
        "holding", house.holding, "decision", epsilon="100/1"
    ),
    "refunds what was spent": lambda house, waits, paid: changed("entry", paid, "freed", state="freed"),
    "puts another bundle behind what was released": lambda house, waits, paid: changed(
        "entry", paid, "note", release_sums="2" * 64
    ),
    "gives a release another approver": lambda house, waits, paid: changed(
        "entry", paid, "note", approver="Somebody"
    ),
    "gives what was released a state": lambda house, waits, paid: changed(
        "entry", paid, "note", state_hash="a" * 64
    ),
    "empties what was told": lambda house, waits, paid: changed("entry", paid, "told_kept", told=""),
    "empties the state of what was spent": lambda house, waits, paid: changed(
        "entry", paid, "note", state=None
    ),
    "makes a loss smaller": lambda house, waits, paid: changed("entry", paid, epsilon="1/1000"),
    "puts another plan behind the approval": lambda house, waits, paid: changed(
        "entry", waits, plan="another"
    ),
    "hides a change behind a sheet": lambda house, waits, paid: changed(
        "holding", house.holding, staff.SHEET, epsilon="100/1"
    ),
    "moves a release": lambda house, waits, paid: changed(
        "entry", paid, holding=house.ledger.holding("Another").id
    ),
    "hides whose decision it is": lambda house, waits, paid: (
        changed("entry", waits, staff.APPROVED, state="spent")
        | {"details": {"approval": house.approval(waits, "Ada")}}
    ),
}


@pytest.mark.parametrize("name", SIGNED_BY_BEA)
def test_what_a_preparer_signs_beyond_her_role_is_refused(
    name: str, attacked: tuple[House, str, str]
) -> None:
    house, waits, paid = attacked
    append(house.ledger.path, SIGNED_BY_BEA[name](house, waits, paid), by=house.signers["Bea"])
    refuse(house)


@pytest.mark.parametrize("changes", [{"unit": "row"}, {"neighbours": "replace"}, {"name": "Other"}])
def test_in_what_losses_are_counted_is_not_changed_after_they_were_paid(
    changes: dict[str, str], attacked: tuple[House, str, str]
) -> None:
    house, _, paid = attacked
    assert paid
    by, second = house.signers["Ada"], house.signers["Abe"]
    row = changed("holding", house.holding, "budget_changed", **changes)
    append(house.ledger.path, row, by=by, second=second)
    refuse(house)


@pytest.mark.parametrize("name", ["Bea", "Ada"])
def test_by_what_a_register_knows_people_is_not_written_anew(
    name: str, attacked: tuple[House, str, str]
) -> None:
    """Whoever could, would have the same people charged to a register without a rule."""
    house, _, _ = attacked
    with sqlite3.connect(house.ledger.path) as db:
        db.row_factory = sqlite3.Row
        kept = dict(db.execute("SELECT * FROM trace").fetchone()) | {"contents": b""}
        db.execute("UPDATE trace SET contents = ?", (b"",))
    db.close()
    changes = {"traces_hash": traces._hash(kept), "fingerprint": "0" * 64, "columns": '["other"]'}
    event = changed("attached", kept["attached"], "table_attached", **changes)
    append(house.ledger.path, event, by=house.signers[name])
    refuse(house)


def test_a_reservation_beyond_the_rule_is_refused_although_it_is_signed(
    attacked: tuple[House, str, str],
) -> None:
    house, waits, _ = attacked
    with sqlite3.connect(house.ledger.path) as db:
        db.row_factory = sqlite3.Row
        row = dict(db.execute("SELECT * FROM entry WHERE id = ?", (waits,)).fetchone())
    db.close()
    row |= {"state": "reserved", "epsilon": "1/2"}
    columns = {name: value for name, value in row.items() if name != "id" and value is not None}
    with sqlite3.connect(house.ledger.path) as db:
        marks = ", ".join("?" * len(row))
        db.execute(
            f"INSERT INTO entry ({', '.join(row)}) VALUES ({marks})", ("rforged", *list(row.values())[1:])
        )
    db.close()
    append(house.ledger.path, changed("entry", "rforged", "reserved", **columns), by=house.signers["Bea"])
    refuse(house)


def test_an_intruder_is_not_named_by_an_approver_alone_nor_by_his_own_key(
    attacked: tuple[House, str, str],
) -> None:
    house, _, _ = attacked
    copy = house.ledger.path.with_name("copy.sqlite")
    shutil.copy(house.ledger.path, copy)
    eve, event = intruder(house)
    for signers in ({"by": eve}, {"by": house.signers["Ada"]}, {"by": house.signers["Ada"], "second": eve}):
        shutil.copy(copy, house.ledger.path)
        append(house.ledger.path, event, **signers)
        refuse(house)
    shutil.copy(copy, house.ledger.path)
    append(house.ledger.path, event, by=house.signers["Ada"], second=house.signers["Abe"])
    Ledger(house.ledger.path).verify_chain()


def test_a_key_of_a_person_is_not_theirs_in_another_register_or_ledger(house: House) -> None:
    eve, event = intruder(house)
    for name, value in (("name", "Ida"), ("role", "audit"), ("proof", "0" * 128)):
        with pytest.raises(InputRefused, match=r"staff\.not_genuine"):
            person = Person("peve", "Eve", "approve", event["details"]["key"], "")
            said = {"name": person.name, "role": person.role, name: value}
            proof = said.pop("proof", event["details"]["proof"])
            with staff.countersigned(house.ledger.path, house.signers["Abe"]):
                house.act("Ada")
                with staff.countersigned(house.ledger.path, house.signers["Abe"]):
                    house.ledger.name_person(house.holding, replace(person, **said), proof)
    other = house.ledger.create_holding("Another", unit="person", neighbours="add_remove", epsilon="5")
    person = Person("peve", "Eve", "approve", event["details"]["key"], "")
    staff.sign_in(house.ledger.path, replace(eve, holding=other.id))
    with pytest.raises(InputRefused, match=r"staff\.not_genuine"):
        house.ledger.name_person(other.id, person, event["details"]["proof"])


@pytest.mark.parametrize("what", ["signature", "content", "another row's signature", "no signature"])
def test_a_signed_row_that_was_changed_shows_although_the_chain_was_computed_again(
    house: House, paid: str, what: str
) -> None:
    rewrite(house.ledger.path, paid, what)
    refuse(house)


def rewrite(path: Path, entry: str, what: str) -> None:
    """Change the row that spends an entry and compute all hashes behind it again."""
    with sqlite3.connect(path) as db:
        db.row_factory = sqlite3.Row
        for name in ("journal_not_changed", "journal_not_removed"):
            db.execute(f"DROP TRIGGER {name}")
        rows = [dict(row) for row in db.execute("SELECT * FROM journal ORDER BY sequence")]
        previous, signature = "", ""
        for row in rows:
            event = json.loads(row["event"])
            if event.get("row") == entry and event["kind"] == "spent":
                if what == "signature":
                    event["signature"] = "0" * 128
                elif what == "content":
                    event["changes"]["process"] = event["changes"]["process"] + " "
                elif what == "no signature":
                    event.pop("signature"), event.pop("by")
                else:
                    event["signature"] = signature
            signature = event.get("signature", signature)
            text = write_canonical(event)
            row |= {"event": text, "previous": previous or row["previous"]}
            previous = row["hash"] = journal.hash_row(row["previous"], text)
            db.execute(
                "UPDATE journal SET previous = ?, event = ?, hash = ? WHERE sequence = ?",
                (row["previous"], row["event"], row["hash"], row["sequence"]),
            )
        if what == "content":
            db.execute("UPDATE entry SET process = process || ' ' WHERE id = ?", (entry,))
        for name in ("CHANGED BEFORE UPDATE", "REMOVED BEFORE DELETE"):
            done, _, when = name.partition(" ")
            db.execute(
                f"CREATE TRIGGER journal_not_{done.lower()} {when} ON journal "
                "BEGIN SELECT RAISE(ABORT, 'append only'); END"
            )
    db.close()


APPROVALS: dict[str, tuple[str, Callable[[House, str], dict[str, Any]]]] = {
    "of another ledger": ("other_ledger", lambda house, waits: house.approval(waits, "Ada", chain="0" * 64)),
    "of another register": (
        "other_register",
        lambda house, waits: house.approval(waits, "Ada", holding="h0"),
    ),
    "of another release": ("other_release", lambda house, waits: house.approval(waits, "Ada", entry="r0")),
    "of another plan": ("other_plan", lambda house, waits: house.approval(waits, "Ada", plan="else")),
    "of another row": ("older_approval", lambda house, waits: house.approval(waits, "Ada", sequence=3)),
    "of another head": ("older_approval", lambda house, waits: house.approval(waits, "Ada", hash="0" * 64)),
    "with a truth value": (
        "older_approval",
        lambda house, waits: house.approval(waits, "Ada", sequence=True),
    ),
    "of another preparer": (
        "other_preparer",
        lambda house, waits: house.approval(waits, "Ada", preparer="pabe"),
    ),
    "by herself": ("same_person", lambda house, waits: house.approval(waits, "Bea")),
    "by an auditor": ("role", lambda house, waits: house.approval(waits, "Cy")),
    "by nobody": ("unknown", lambda house, waits: house.approval(waits, "Ada", person="peve")),
    "in another's name": ("not_genuine", lambda house, waits: house.approval(waits, "Bea", person="pada")),
    "changed afterwards": (
        "not_genuine",
        lambda house, waits: house.approval(waits, "Ada") | {"time": "2020-01-01T00:00:00+00:00"},
    ),
    "unsigned": ("not_genuine", lambda house, waits: house.approval(waits, "Ada") | {"signature": None}),
}


@pytest.mark.parametrize("name", APPROVALS)
def test_an_approval_is_for_one_release_by_another_person(name: str, house: House, prepared: str) -> None:
    code, make = APPROVALS[name]
    approval = make(house, prepared)
    with pytest.raises(InputRefused) as caught:
        house.ledger.approve(prepared, approval)
    assert caught.value.code == f"staff.{code}"
    append(
        house.ledger.path,
        changed("entry", prepared, staff.APPROVED, state="reserved") | {"details": {"approval": approval}},
        by=house.signers["Bea"],
    )
    refuse(house)


@pytest.mark.parametrize("gone", ["Ada", "Bea"])
def test_an_approval_falls_with_the_person_who_gave_or_asked_it(
    house: House, prepared: str, gone: str
) -> None:
    approval = house.approval(prepared, "Ada")
    house.act("Abe")
    second = "Bea" if gone == "Ada" else "Ada"
    with staff.countersigned(house.ledger.path, house.signers[second]):
        house.ledger.withdraw_person(house.holding, house.signers[gone].person, "gone")
    with pytest.raises(InputRefused, match=r"staff\.withdrawn"):
        house.ledger.approve(prepared, approval)


def test_an_approver_who_prepares_does_not_approve_it_herself(
    house: House, reserve: Callable[..., str]
) -> None:
    ledger = house.act("Ada")
    entry = reserve("1/2", is_prepared=True)
    with pytest.raises(InputRefused, match=r"staff\.same_person"):
        ledger.approve(entry, house.approval(entry, "Ada"))
    ledger.approve(entry, house.approval(entry, "Abe"))


def test_rows_that_hold_nonsense_are_no_rows(attacked: tuple[House, str, str]) -> None:
    house, _, _ = attacked
    copy = house.ledger.path.with_name("copy.sqlite")
    shutil.copy(house.ledger.path, copy)
    for event in (
        {"kind": staff.NAMED, "details": {"holding": house.holding}},
        {"kind": staff.RULED, "details": {"holding": house.holding, "rule": {"epsilon": "1/0"}}},
        {"kind": "decision", "details": [house.holding]},
        {"kind": staff.APPROVED, "details": {"holding": house.holding, "approval": []}},
    ):
        shutil.copy(copy, house.ledger.path)
        append(house.ledger.path, event, by=house.signers["Ada"], second=house.signers["Abe"])
        with pytest.raises(EngineError):
            Ledger(house.ledger.path)
