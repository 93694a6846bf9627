"""A release of two persons from plan to bundle, what is carried between them, and the counter sheet."""

from __future__ import annotations

import hashlib
import json
import shutil
import stat
import unicodedata
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import pytest

from app.work.people import prepare_release
from engine import ed25519, policy, texts
from engine.__main__ import main
from engine.errors import InputRefused
from engine.ledger import Holding, Ledger, staff
from engine.ledger.staff import Rule
from engine.methods.catalogue import method
from engine.methods.protocol import MAIN, Budget
from engine.privacy import keys
from engine.release import charge, counter_sheet, seconded
from engine.release.check import check
from engine.release.examples import _bring, plans
from engine.release.plan import FileReference, Plan
from engine.release.preview import preview_json
from engine.release.reading import pin_reading
from engine.release.run import prepare
from engine.release.verify import verify
from tests.engine.methods.services.test_private_queries import OLD, Visitor, write_rows
from tests.engine.release.conftest import ROWS, Runner, folder, ledger, plan, run

__all__ = ["folder", "ledger", "plan", "run"]

WORDS = "a long passphrase"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stretch passphrases less: how long that takes is not what is tried here."""
    monkeypatch.setattr(keys, "_ARGON2", {"iterations": 1, "lanes": 1, "memory_cost": 64})


@pytest.fixture
def holding(ledger: Ledger, run: Runner) -> Holding:
    """The register after a first release, with Ada, who approves, and Bea, who prepares."""
    run("first")
    found = ledger.holdings()[0]
    for name, role in (("Ada", "approve"), ("Bea", "prepare")):
        seconded.name_person(ledger, found, name=name, role=role, passphrase=f"{WORDS} {name}")
    ledger.set_rule(found.id, Rule(epsilon=Fraction(1, 10)), "two persons")
    return found


def act(ledger: Ledger, holding: Holding, name: str) -> staff.Signer:
    person = seconded.find_person(ledger, holding, name)
    signer = seconded.opened(ledger, holding, person, f"{WORDS} {name}")
    staff.sign_in(ledger.path, signer)
    return signer


def test_a_request_is_carried_approved_and_released_once(
    plan: Plan, ledger: Ledger, holding: Holding, folder: Path
) -> None:
    from engine.release.run import run as release

    ada = act(ledger, holding, "Ada")
    act(ledger, holding, "Bea")
    with pytest.raises(InputRefused, match=r"staff\.needs_second"):
        release(plan, out=folder / "alone", ledger=ledger, base=folder)
    content = prepare(plan, ledger=ledger, base=folder)
    assert not any(secret in content.decode() for secret in ("P1", "P6"))
    asked = seconded.read_request(content)
    told = asked.told(ledger)
    assert (asked.plan, told["preparer"], told["register"]) == (plan, "Bea", holding.name)
    assert all(said in told["says"] for said in ("ε = 0.5", "spends ε 0.5", "1.65", "406.006 EUR"))
    entry = ledger.entries(holding.id)[-1]
    assert entry.state == "prepared" and seconded.is_waiting(ledger, holding, plan.fingerprint)
    approval = seconded.approve(content, ada)
    made = release(plan, out=folder / "second", ledger=ledger, base=folder, approval=approval)
    assert made.entry == entry.id and ledger.entry(entry.id).state == "complete"
    assert verify(made.folder, ledger=ledger).passed
    with pytest.raises(InputRefused, match=r"staff\.not_prepared"):
        release(plan, out=folder / "third", ledger=ledger, base=folder, approval=approval)
    assert not (folder / "third").exists() and len(ledger.entries()) == 2


@pytest.mark.parametrize("currency", ["EUR. Nobody can be found in it.", "eur", "EUR\u202e", "E R"])
def test_no_word_of_a_plan_stands_in_what_an_approver_is_told_as_a_currency(
    plan: Plan, ledger: Ledger, holding: Holding, folder: Path, currency: str
) -> None:
    """It stood behind the amount in the program's own sentence, however long it was."""
    ada = act(ledger, holding, "Ada")
    bea = act(ledger, holding, "Bea")
    usual = prepare(plan, ledger=ledger, base=folder)
    odd = replace(plan, price=replace(plan.price, currency=currency))
    with pytest.raises(InputRefused, match=r"price\.currency"):
        prepare(odd, ledger=ledger, base=folder)
    tree = json.loads(usual) | {"plan": odd.to_json(), "plan_fingerprint": odd.fingerprint}
    del tree["signature"]
    forged = tree | {"signature": bea.sign(seconded._request_message(tree))}
    with pytest.raises(InputRefused, match=r"price\.currency"):
        seconded.read_request(seconded._dumps(forged)).told()
    assert ada.person != bea.person


def test_another_plan_or_another_table_is_not_released_with_the_approval(
    plan: Plan, ledger: Ledger, holding: Holding, folder: Path
) -> None:
    from engine.release.run import run as release

    ada = act(ledger, holding, "Ada")
    act(ledger, holding, "Bea")
    approval = seconded.approve(prepare(plan, ledger=ledger, base=folder), ada)
    louder = replace(plan, budget=Budget(Fraction(1)))
    with pytest.raises(InputRefused, match=r"staff\.other_plan"):
        release(louder, out=folder / "out", ledger=ledger, base=folder, approval=approval)
    to_another = replace(plan, purpose=replace(plan.purpose, recipient="Somebody else"))
    with pytest.raises(InputRefused, match=r"staff\.other_plan"):
        release(to_another, out=folder / "out", ledger=ledger, base=folder, approval=approval)
    (folder / "stays.csv").write_text(ROWS + "P7;f;north;8\n")
    with pytest.raises(InputRefused, match=r"staff\.other_tables"):
        release(plan, out=folder / "out", ledger=ledger, base=folder, approval=approval)
    assert not (folder / "out").exists() and ledger.entries()[-1].state == "prepared"
    (folder / "stays.csv").write_text(ROWS)
    release(plan, out=folder / "out", ledger=ledger, base=folder, approval=approval)


@pytest.mark.parametrize("kind", ["drop_people", "recode"])
def test_another_list_is_not_released_with_the_approval(
    plan: Plan, ledger: Ledger, holding: Holding, folder: Path, kind: str
) -> None:
    from engine.release.run import run as release

    lists = {"drop_people": ("P1\nP2\n", "P1\n"), "recode": ("north,N\nsouth,S\n", "north,S\nsouth,N\n")}
    column = {"column": "ward", "to": "place"} if kind == "recode" else {}
    listed = replace(plan, preparation=({"step": kind, "file": "list.csv", **column},))
    ada = act(ledger, holding, "Ada")
    act(ledger, holding, "Bea")
    before, after = lists[kind]
    (folder / "list.csv").write_text(before)
    approval = seconded.approve(prepare(listed, ledger=ledger, base=folder), ada)
    assert preview_json(listed, ledger, base=folder)["problems"] == []
    for changed in (after, None):
        (folder / "list.csv").unlink() if changed is None else (folder / "list.csv").write_text(changed)
        with pytest.raises(InputRefused):
            release(listed, out=folder / "out", ledger=ledger, base=folder, approval=approval)
        assert not (folder / "out").exists() and ledger.entries()[-1].state == "prepared"
    (folder / "list.csv").write_text(before)
    made = release(listed, out=folder / "out", ledger=ledger, base=folder, approval=approval)
    digest = hashlib.sha256(before.encode()).hexdigest()
    assert not any(
        digest in path.read_text("utf-8", "replace") for path in (made.folder / "release").iterdir()
    )


@pytest.mark.parametrize("lies_in", ["file", "folder"])
@pytest.mark.guarantee
def test_another_public_table_is_not_released_with_the_approval(
    ledger: Ledger, folder: Path, lies_in: str
) -> None:
    """Rows are hidden among a population that the approver knows: not among one that came later."""
    from engine.release.run import run as release

    plan = _bring(plans(method("datasets.presence"))[0], folder)
    table = (folder / plan.files[MAIN].path).read_text()
    place = "population.csv" if lies_in == "file" else "population"
    file = folder / place if lies_in == "file" else folder / place / "all.csv"
    file.parent.mkdir(exist_ok=True)
    file.write_text(table)
    own = replace(plan.files["population"], path=place)
    plan = replace(plan, files={**plan.files, "population": own})
    release(plan, out=folder / "first", ledger=ledger, base=folder)
    holding = ledger.holdings()[0]
    for name, role in (("Ada", "approve"), ("Bea", "prepare")):
        seconded.name_person(ledger, holding, name=name, role=role, passphrase=f"{WORDS} {name}")
    ledger.set_rule(holding.id, Rule(unbounded=True), "two persons")
    ada = act(ledger, holding, "Ada")
    act(ledger, holding, "Bea")
    content = prepare(plan, ledger=ledger, base=folder)
    asked = seconded.read_request(content).plan
    assert asked.files["population"].sha256 and not asked.files[MAIN].sha256  # no digest of private rows
    approval = seconded.approve(content, ada)
    first, *rows = table.splitlines()
    invented = [f"9{row}" for row in rows]
    file.write_text("\n".join((first, *rows, *invented)) + "\n")
    for wanted in (plan, asked):
        with pytest.raises(InputRefused, match=r"staff\.other_plan|reading\.not_as_pinned"):
            release(wanted, out=folder / "out", ledger=ledger, base=folder, approval=approval)
        assert not (folder / "out").exists() and ledger.entries()[-1].state == "prepared"
    file.write_text(table)
    made = release(plan, out=folder / "out", ledger=ledger, base=folder, approval=approval)
    assert verify(made.folder, ledger=ledger).passed


def test_a_request_is_whole_or_none_and_its_preparer_does_not_approve_it(
    plan: Plan, ledger: Ledger, holding: Holding, folder: Path
) -> None:
    ada, bea = act(ledger, holding, "Ada"), act(ledger, holding, "Bea")
    content = prepare(plan, ledger=ledger, base=folder)
    tree = json.loads(content)
    for name in tree:
        other = "0" if isinstance(tree[name], str) else 7 if isinstance(tree[name], int) else {}
        for forged in (tree | {name: other}, {one: tree[one] for one in tree if one != name}):
            with pytest.raises(InputRefused, match=r"staff\.request_damaged"):
                seconded.approve(json.dumps(forged).encode(), ada)
    louder = replace(plan, budget=Budget(Fraction(2)))
    forged = tree | {"plan": louder.to_json(), "plan_fingerprint": louder.fingerprint}
    with pytest.raises(InputRefused, match=r"staff\.request_damaged"):
        seconded.read_request(json.dumps(forged).encode())
    with pytest.raises(InputRefused, match=r"staff\.prepared_by_you"):
        seconded.approve(content, bea)
    with pytest.raises(InputRefused, match=r"staff\.other_register"):
        seconded.approve(content, replace(ada, holding="h0"))
    approval = json.loads(seconded.approve(content, ada))
    for name in approval:
        with pytest.raises(InputRefused):
            seconded.approved(json.dumps(approval | {name: "0"}).encode(), plan, ledger)


@pytest.mark.guarantee
def test_an_approval_of_a_forged_request_is_worth_nothing(
    plan: Plan, ledger: Ledger, holding: Holding, folder: Path
) -> None:
    """Somebody signs a request of their own making for a louder plan over the entry that waits."""
    ada = act(ledger, holding, "Ada")
    bea = act(ledger, holding, "Bea")
    tree = json.loads(prepare(plan, ledger=ledger, base=folder))
    louder = replace(plan, budget=Budget(Fraction(2)))
    tree |= {"plan": louder.to_json(), "plan_fingerprint": louder.fingerprint}
    tree.pop("signature")
    tree["signature"] = bea.sign(seconded._request_message(tree))
    approval = seconded.approve(json.dumps(tree).encode(), ada)
    for wanted in (plan, louder):
        with pytest.raises(InputRefused, match=r"staff\.other_plan"):
            seconded.approved(approval, wanted, ledger)


def signed(tree: Mapping[str, Any], signer: staff.Signer) -> bytes:
    """Return a request of a preparer's own making."""
    said = {name: value for name, value in tree.items() if name != "signature"}
    return seconded._dumps(said | {"signature": signer.sign(seconded._request_message(said))})


def test_what_an_approver_is_shown_is_worked_out_from_the_plan(
    plan: Plan, ledger: Ledger, holding: Holding, folder: Path
) -> None:
    bea = act(ledger, holding, "Bea")
    louder = replace(plan, budget=Budget(Fraction(3, 4)))
    tree = json.loads(prepare(louder, ledger=ledger, base=folder))
    assert not {"statement", "register", "person"} & tree.keys()
    asked = seconded.read_request(signed(tree, bea))
    for at_hand in (ledger, None, Ledger(folder / "another.sqlite")):
        assert "ε 0.75" in asked.told(at_hand)["says"]
    assert asked.told(ledger)["preparer"] == "Bea" and asked.told()["preparer"] != "Bea"
    assert asked.told()["preparer"].replace(" ", "") == seconded.fingerprint(
        seconded.find_person(ledger, holding, "Bea")
    )
    softer = replace(plan, budget=Budget(Fraction(1, 100)))
    other = tree | {"plan": softer.to_json(), "plan_fingerprint": softer.fingerprint}
    ada = seconded.find_person(ledger, holding, "Ada")
    for forged in (other, tree | {"preparer": ada.id}, tree | {"sequence": 1}, tree | {"hash": "0" * 64}):
        with pytest.raises(InputRefused, match=r"staff\.request_differs"):
            seconded.read_request(signed(forged, bea)).told(ledger)
    assert "ε 0.01" in seconded.read_request(signed(other, bea)).told()["says"]


def test_a_release_that_was_reserved_as_a_smaller_one_is_neither_shown_nor_made(
    plan: Plan, ledger: Ledger, holding: Holding, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.release.run import run as release

    ada, _ = act(ledger, holding, "Ada"), act(ledger, holding, "Bea")
    softer, reserve = replace(plan, budget=Budget(Fraction(1, 100))), charge.reserve

    def reserve_less(plan: Plan, ledger: Ledger, design: Any, *more: Any) -> str:
        return reserve(plan, ledger, check(softer), *more)

    with monkeypatch.context() as patch:
        patch.setattr(charge, "reserve", reserve_less)
        content = prepare(plan, ledger=ledger, base=folder)
    assert ledger.entries()[-1].epsilon == Fraction(1, 100)
    with pytest.raises(InputRefused, match=r"staff\.other_cost"):
        seconded.read_request(content).told(ledger)
    approval = seconded.approve(content, ada)
    with pytest.raises(InputRefused, match=r"staff\.other_cost"):
        release(plan, out=folder / "out", ledger=ledger, base=folder, approval=approval)
    assert not (folder / "out").exists()


def test_a_visit_is_prepared_once_from_a_state_and_approved_beside_the_ledger(tmp_path: Path) -> None:
    from engine.release.run import run as release

    write_rows(tmp_path)
    desk = Visitor(tmp_path)
    ledger = desk.ledger
    holding = ledger.holdings()[0]
    for name, role in (("Ada", "approve"), ("Bea", "prepare")):
        seconded.name_person(ledger, holding, name=name, role=role, passphrase=f"{WORDS} {name}")
    ada, _ = act(ledger, holding, "Ada"), act(ledger, holding, "Bea")
    visit = desk.visit(OLD)
    content = prepare(visit, ledger=ledger, base=tmp_path)
    with pytest.raises(InputRefused, match=r"ledger\.visit_underway"):
        prepare(visit, ledger=ledger, base=tmp_path)
    with pytest.raises(InputRefused, match=r"ledger\.visit_underway"):
        release(visit, out=tmp_path / "alone", ledger=ledger, base=tmp_path)
    asked, entry = seconded.read_request(content), ledger.entries()[-1]
    with pytest.raises(InputRefused, match=r"staff\.needs_ledger"):
        asked.told()
    assert entry.epsilon is not None
    assert f"spends ε {texts.number(entry.epsilon)}" in asked.told(ledger)["says"]
    approval = seconded.approve(content, ada)
    made = release(visit, out=tmp_path / "visit", ledger=ledger, base=tmp_path, approval=approval)
    assert made.entry == entry.id and ledger.service(visit.continues).underway is None
    with pytest.raises(InputRefused):
        release(visit, out=tmp_path / "again", ledger=ledger, base=tmp_path, approval=approval)
    assert len(ledger.service(visit.continues).visits) == 1


def test_a_title_does_not_forge_what_else_is_shown(
    plan: Plan, ledger: Ledger, holding: Holding, folder: Path
) -> None:
    act(ledger, holding, "Bea")
    title = "Stays\nPrepared by: The director\u202e\u200b"
    forged = replace(plan, purpose=replace(plan.purpose, title=title))
    told = seconded.read_request(prepare(forged, ledger=ledger, base=folder)).told(ledger)
    assert told["title"] == "Stays Prepared by: The director"


@pytest.mark.guarantee
def test_an_approver_sees_what_was_chosen_and_every_guard_that_was_passed_for_a_reason(
    plan: Plan, ledger: Ledger, holding: Holding, folder: Path
) -> None:
    """A reason lets a release pass where it would have stopped: whoever approves has to see it."""
    act(ledger, holding, "Bea")
    given = [
        {"decision": "one_row_each", "column": "patient", "reason": "a\u202e registry"},
        {"decision": "ledger_older", "reason": "x" * 3000},
        {"decision": "rows_beside", "reason": 'none"\nPassed for a reason: –'},
    ]
    steps = ({"step": "keep_rows_where", "column": "sex", "is": "in", "values": ["f"]},)
    chosen = replace(plan, decisions=tuple(given), preparation=steps)
    told = seconded.read_request(prepare(chosen, ledger=ledger, base=folder)).told(ledger)
    assert set(told["columns"].split(", ")) == {"patient", "sex", "ward"} and told["files"] == '"stays.csv"'
    assert '["sex", "ward"]' in told["settings"] and "separate" in told["settings"]
    assert "keep_rows_where" in told["steps"] and '["f"]' in told["steps"]
    reasons = told["reasons"].split(" · ")
    assert len(reasons) == 3 and "“patient”" in reasons[0] and '"a registry"' in reasons[0]
    assert "all of it is in the file of the plan" in reasons[1] and len(reasons[1]) < 300
    assert "columns in common" in reasons[2] and all("\n" not in line for line in told.values())


@pytest.mark.guarantee
def test_a_reason_that_is_missing_is_asked_before_anybody_approves(
    plan: Plan, ledger: Ledger, holding: Holding, folder: Path
) -> None:
    """Once the plan is approved no reason can be added to it: all was in vain, and the budget reserved."""
    act(ledger, holding, "Bea")
    ahead = replace(plan, price=replace(plan.price, budget=Fraction(1, 1000)))
    with pytest.raises(InputRefused, match=r"run\.no_reason"):
        prepare(ahead, ledger=ledger, base=folder, wants_reasons=True)
    rows = replace(plan.schema, columns=plan.schema.columns[1:], one_row_each=True)
    (folder / "stays.csv").write_text(ROWS.replace("patient;", "patient_nbr;"))
    left_out = replace(plan, schemas={MAIN: rows})
    with pytest.raises(InputRefused, match=r"run\.one_row_each"):
        prepare(left_out, ledger=ledger, base=folder, wants_reasons=True)
    assert [one.state for one in ledger.entries()] == ["complete"]


ODD: tuple[Any, ...] = (None, True, 1.5, -1, "", "\ud800", [], [1], {}, {"sentence": {"id": "x"}}, "x" * 5000)


def test_an_odd_request_is_refused_in_a_sentence(
    plan: Plan, ledger: Ledger, holding: Holding, folder: Path
) -> None:
    bea = act(ledger, holding, "Bea")
    tree = json.loads(prepare(plan, ledger=ledger, base=folder))
    tried = 0
    for name in (one for one in (*tree, "statement") if one != "holding"):
        for value in ODD:
            try:
                changed = tree | {name: value}
                content = seconded._dumps(changed) if name == "signature" else signed(changed, bea)
            except UnicodeEncodeError:
                continue
            tried += 1
            with pytest.raises(InputRefused):
                seconded.read_request(content).told(ledger)
    for part in tree["plan"]:
        for value in ODD:
            forged = tree | {"plan": tree["plan"] | {part: value}}
            try:
                other = Plan.loads(json.dumps(forged["plan"]), file="plan")
                forged["plan_fingerprint"] = other.fingerprint
                content = signed(forged, bea)
            except (InputRefused, UnicodeEncodeError):
                continue
            if other != plan:
                tried += 1
                with pytest.raises(InputRefused):
                    seconded.read_request(content).told(ledger)
                with suppress(InputRefused):  # without the ledger a plan may be whole, and is shown as it is
                    assert seconded.read_request(content).told()["plan_fingerprint"] == other.fingerprint
    assert tried > 100
    for content in (b"", b"[]", b"{}", b"[" * 100_000, b"\xff", b"null"):
        with pytest.raises(InputRefused, match=r"staff\.request_damaged"):
            seconded.read_request(content)


def test_a_new_register_for_the_same_people_does_not_leave_the_rule_behind(
    plan: Plan, ledger: Ledger, holding: Holding, folder: Path
) -> None:
    from engine.release.run import run as release

    act(ledger, holding, "Bea")
    because = {"decision": "new_holding", "reason": "other people", "at": "2026-01-01T00:00:00+00:00"}
    other = replace(plan, holding="Another register", decisions=(*plan.decisions, because))
    with pytest.raises(InputRefused, match=r"staff\.nobody_named"):
        release(other, out=folder / "out", ledger=ledger, base=folder)
    assert not (folder / "out").exists() and len(ledger.entries()) == 1


def test_a_plan_without_a_price_needs_two_under_a_rule_about_money(
    plan: Plan, ledger: Ledger, holding: Holding, folder: Path
) -> None:
    from engine.release.run import run as release

    act(ledger, holding, "Ada")
    with staff.countersigned(
        ledger.path,
        seconded.opened(ledger, holding, seconded.find_person(ledger, holding, "Bea"), f"{WORDS} Bea"),
    ):
        ledger.set_rule(holding.id, Rule(money=Fraction(10**9)), "money alone")
    unsaid = replace(plan, price=replace(plan.price, budget=None, people=None, compensation=None))
    with pytest.raises(InputRefused, match=r"staff\.needs_second"):
        release(unsaid, out=folder / "out", ledger=ledger, base=folder)
    release(plan, out=folder / "out", ledger=ledger, base=folder)


def test_an_approval_for_a_ledger_that_was_put_back_is_refused(
    plan: Plan, ledger: Ledger, holding: Holding, folder: Path
) -> None:
    ada = act(ledger, holding, "Ada")
    act(ledger, holding, "Bea")
    before = folder / "before.sqlite"
    shutil.copy(ledger.path, before)
    approval = seconded.approve(prepare(plan, ledger=ledger, base=folder), ada)
    shutil.copy(before, ledger.path)
    with pytest.raises(InputRefused, match=r"staff\.not_prepared"):
        seconded.approved(approval, plan, ledger)


def test_a_key_of_a_person_is_locked_and_theirs_alone(
    ledger: Ledger, holding: Holding, tmp_path: Path
) -> None:
    person = seconded.find_person(ledger, holding, "ada")
    path = seconded.place(ledger, holding, person)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert act(ledger, holding, "Ada").private.hex() not in path.read_text()
    assert repr(act(ledger, holding, "Ada").private) not in repr(staff.present(ledger.path))
    with pytest.raises(InputRefused, match=r"staff\.passphrase"):
        seconded.opened(ledger, holding, person, "another passphrase")
    with pytest.raises(InputRefused, match=r"staff\.no_passphrase"):
        seconded.name_person(ledger, holding, name="Eve", role="audit", passphrase="short")
    bea = seconded.place(ledger, holding, seconded.find_person(ledger, holding, "Bea"))
    with pytest.raises(InputRefused, match=r"staff\.key_damaged"):
        seconded.opened(ledger, holding, person, f"{WORDS} Bea", bea)
    tree = json.loads(bea.read_text()) | {"person": person.id}
    other = tmp_path / "other.json"
    other.write_text(json.dumps(tree))
    with pytest.raises(InputRefused, match=r"staff\.key_damaged"):
        seconded.opened(ledger, holding, person, f"{WORDS} Bea", other)
    carried = tmp_path / "stick.json"
    path.rename(carried)
    with pytest.raises(InputRefused, match=r"staff\.no_key"):
        seconded.opened(ledger, holding, person, f"{WORDS} Ada")
    signer = seconded.opened(ledger, holding, person, f"{WORDS} Ada", carried)
    assert ed25519.public_key(signer.private) == person.key


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_person_is_found_whichever_way_accents_are_written(
    form: Literal["NFC", "NFD"], ledger: Ledger, holding: Holding
) -> None:
    signs = act(ledger, holding, "Bea")
    act(ledger, holding, "Ada")
    with staff.countersigned(ledger.path, signs):
        named = seconded.name_person(ledger, holding, name="Zoë Müller", role="audit", passphrase=WORDS)
    assert seconded.find_person(ledger, holding, unicodedata.normalize(form, " zoë Müller ")) == named


def test_a_person_who_could_not_be_named_leaves_no_key(ledger: Ledger, holding: Holding) -> None:
    staff.sign_out(ledger.path, holding.id)
    there = sorted(ledger.path.parent.rglob("*.json"))
    with pytest.raises(InputRefused, match=r"staff\.nobody_acts"):
        seconded.name_person(ledger, holding, name="Eve", role="approve", passphrase=WORDS)
    assert sorted(ledger.path.parent.rglob("*.json")) == there


def test_a_rule_of_the_computer_wants_persons_before_anything_is_made(
    plan: Plan, run: Runner, ledger: Ledger, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = folder / "custos.toml"
    rules.write_text("second_epsilon = 0\n")
    monkeypatch.setattr(policy, "place", lambda: rules)
    with pytest.raises(InputRefused, match=r"staff\.nobody_named"):
        run()
    assert ledger.holdings() == [] and not (folder / "bundle").exists()
    rules.write_text("second_money = 100000\n")
    run()
    rules.write_text("second_money = 1\n")
    with pytest.raises(InputRefused, match=r"staff\.nobody_named"):
        run("second")


@pytest.mark.parametrize("rule", ["second_epsilon = 1\n", "second_money = 1000\n"])
@pytest.mark.guarantee
def test_a_rule_of_the_computer_adds_up_what_a_register_without_persons_gave(
    rule: str, run: Runner, ledger: Ledger, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two releases of ε = 0.5, of 406 € each, are within it; a third is not, whoever is named meanwhile."""
    rules = folder / "custos.toml"
    rules.write_text(rule)
    monkeypatch.setattr(policy, "place", lambda: rules)
    run("first")
    run("second")
    with pytest.raises(InputRefused, match=r"staff\.nobody_named"):
        run("third")
    holding = ledger.holdings()[0]
    for name, role in (("Ada", "approve"), ("Bea", "prepare")):
        seconded.name_person(ledger, holding, name=name, role=role, passphrase=f"{WORDS} {name}")
    with pytest.raises(InputRefused, match=r"staff\.needs_second"):
        run("third")
    rules.unlink()  # the register has no rule of its own
    run("third")


def test_the_counter_sheet_shows_rewriting_and_rollback(
    ledger: Ledger, holding: Holding, run: Runner, folder: Path
) -> None:
    act(ledger, holding, "Ada")
    early = folder / "early.sqlite"
    shutil.copy(ledger.path, early)
    ledger.decide("something", "because", holding=holding.id)
    written = counter_sheet.write(ledger)
    sheet = counter_sheet.read(written)
    assert "Ada" in written and "Bea" in written
    assert counter_sheet.compare(ledger, sheet).state == "continues"
    ledger.decide("something else", "because", holding=holding.id)
    found = counter_sheet.compare(ledger, sheet)
    assert found.passed and found.last == sheet.row + 1

    put_back = Ledger(early, read_only=True)
    assert counter_sheet.compare(put_back, sheet).state == "rolled_back"

    again = Ledger(early)  # put back, and gone on from: as many rows as before, or more
    staff.sign_in(early, act(ledger, holding, "Ada"))
    for number in range(3):
        again.decide(f"decision {number}", "because", holding=holding.id)
    assert counter_sheet.compare(again, sheet).state == "rewritten"
    assert not counter_sheet.compare(again, sheet).passed
    assert counter_sheet.compare(Ledger(folder / "other.sqlite"), sheet).state == "other"


def test_a_sheet_is_read_as_it_is_typed_and_not_guessed(ledger: Ledger, holding: Holding) -> None:
    written = counter_sheet.write(ledger)
    sheet = counter_sheet.read(written)
    typed = "\n\n".join(line.upper().replace(" ", "  ") for line in written.splitlines()[1:5])
    typed = "custos counter sheet 1\n" + typed.replace("T", "T")
    assert counter_sheet.read(typed) == sheet
    lines = written.splitlines()
    for place in range(5):
        for wrong in ("", "row: x", lines[place][:-1] if place in (2, 4) else "hash: 00"):
            with pytest.raises(InputRefused, match=r"staff\.sheet_damaged"):
                counter_sheet.read("\n".join([*lines[:place], wrong, *lines[place + 1 : 5]]))


def test_the_same_on_the_command_line(
    plan: Plan, ledger: Ledger, holding: Holding, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    staff.sign_out(ledger.path, holding.id)
    for name in ("Ada", "Bea"):
        (folder / name).write_text(f"{WORDS} {name}\n")
    (folder / "plan.json").write_text(plan.dumps())
    at = ["--ledger", str(ledger.path)]

    def call(*words: str, who: str = "") -> int:
        acts = ["--person", who, "--person-passphrase-file", str(folder / who)] if who else []
        done = main([*words, *at, *acts])
        staff.sign_out(ledger.path, holding.id)
        return done

    planned, asked, given = (str(folder / name) for name in ("plan.json", "request.json", "approval.json"))
    sheet = str(folder / "sheet.txt")
    assert call("ledger", "sheet", "--out", sheet) == 0
    out = ("--out", str(folder / "out"), "--without-reason")
    assert call("run", planned, *out) == 2
    assert call("run", planned, *out, who="Bea") == 2
    assert call("prepare", planned, "--out", asked) == 2
    assert call("prepare", planned, "--out", asked, who="Bea") == 0
    assert call("approve", asked, "--out", given, who="Bea") == 2
    assert call("approve", asked) == 0
    assert not Path(given).exists()
    assert plan.purpose.title in capsys.readouterr().out
    assert call("approve", asked, "--out", given, who="Ada") == 0
    assert call("run", planned, *out, "--approval", given, who="Bea") == 0
    assert call("people", holding.name, "--rule", "epsilon=none", "--why", "none", who="Ada") == 2
    assert call("people", holding.name, "--rule", "epsilon=0.05", "--why", "less", who="Ada") == 0
    assert call("ledger", "check", "--against", sheet) == 0
    assert "0.05" in (call("people", holding.name), capsys.readouterr().out)[1]
    Path(sheet).write_text(Path(sheet).read_text().replace("row: ", "row: 9"))
    assert call("ledger", "check", "--against", sheet) == 1


def test_a_table_elsewhere_is_prepared_for_as_well(
    plan: Plan, ledger: Ledger, holding: Holding, folder: Path
) -> None:
    act(ledger, holding, "Bea")
    (folder / "elsewhere").mkdir()
    shutil.copy(folder / "stays.csv", folder / "elsewhere")
    moved = replace(plan, files={MAIN: FileReference("elsewhere/stays.csv")})
    content = prepare(pin_reading(moved, base=folder), ledger=ledger, base=folder)
    assert seconded.read_request(content).plan.files[MAIN].path == "elsewhere/stays.csv"


def test_a_request_that_could_not_be_written_reserves_nothing(
    plan: Plan, ledger: Ledger, holding: Holding, folder: Path
) -> None:
    """What waited could be approved by nobody: its request was nowhere."""
    left = ledger.status(holding.id).epsilon_left
    (folder / "plan.json").write_text(plan.dumps())
    (folder / "Bea").write_text(f"{WORDS} Bea\n")
    (folder / "no_folder").write_text("")
    act(ledger, holding, "Bea")
    acts = ["--person", "Bea", "--person-passphrase-file", str(folder / "Bea")]
    place = folder / "no_folder" / "request.json"
    words = ["prepare", str(folder / "plan.json"), "--out", str(place), "--ledger", str(ledger.path)]
    assert main([*words, *acts]) == 2
    assert ledger.entries(holding.id)[-1].state == "freed"
    with pytest.raises(InputRefused, match=r"commands\.not_writable"):
        prepare_release(replace(plan, files=_at(plan, folder)), place, ledger_path=ledger.path)
    assert [one.state for one in ledger.entries(holding.id)[1:]] == ["freed", "freed"]
    assert ledger.status(holding.id).epsilon_left == left


def _at(plan: Plan, folder: Path) -> dict[str, FileReference]:
    """Return the files of a plan by their whole paths, as the window has them."""
    return {name: replace(one, path=str(folder / one.path)) for name, one in plan.files.items()}
