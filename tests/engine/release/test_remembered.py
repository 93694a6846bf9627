"""What a computer remembers of a ledger: an older copy is noticed without any bundle."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from engine import texts
from engine.__main__ import main
from engine.errors import InputRefused
from engine.ledger import Ledger, remembered, staff
from engine.privacy import keys
from engine.release import nearby, seconded
from engine.release.plan import Plan
from engine.release.reasons import with_reasons
from tests.engine.release.conftest import SECRETS, Runner


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where this computer remembers ledgers, in a home of its own."""
    monkeypatch.setattr(
        remembered, "place", lambda: tmp_path / "state" / "custos-remembered" / "ledgers.json"
    )
    return remembered.place()


def put_back(ledger: Ledger, copy: Path) -> None:
    shutil.copyfile(copy, ledger.path)


def yesterday(run: Runner, ledger: Ledger, folder: Path) -> Path:
    """Release twice, and return a copy of the ledger between the two; the bundles are carried away."""
    run("one")
    copy = folder / "copy.sqlite"
    shutil.copyfile(ledger.path, copy)
    run("two")
    for name in ("one", "two"):
        shutil.rmtree(folder / name)
    return copy


def test_an_older_ledger_stops_the_spend_where_no_bundle_is_at_hand(
    run: Runner, ledger: Ledger, folder: Path, memory: Path
) -> None:
    put_back(ledger, yesterday(run, ledger, folder))
    before = ledger.head()
    with pytest.raises(InputRefused, match=r"run\.ledger_older") as refused:
        run("three")
    said = refused.value.values
    assert (said["releases"], said["listed"]) == (2, 1) and said["row"] > said["last"] == before.sequence
    assert all(texts.explain(refused.value)) and ledger.head() == before and not (folder / "three").exists()


def test_with_a_reason_it_is_recorded_once_and_goes_on(
    run: Runner, ledger: Ledger, folder: Path, memory: Path, plan: Plan
) -> None:
    put_back(ledger, yesterday(run, ledger, folder))
    run("three", decisions=with_reasons(plan, {remembered.OLDER: "the disk burnt"}).decisions)
    told = [event for event in ledger.journal() if event["kind"] == "decision"]
    assert [event["details"]["reason"] for event in told] == ["the disk burnt"]
    run("four")


DECIDED: dict[str, Callable[[Ledger, str], object]] = {
    "a budget": lambda ledger, of: ledger.change_budget(of, "asked for", epsilon=1),
    "a rule": lambda ledger, of: ledger.set_rule(of, staff.Rule(epsilon=Fraction(1)), "asked for"),
    "a person": lambda ledger, of: add(ledger, of, "Bea", staff.APPROVE),
    "a reason": lambda ledger, of: ledger.decide("something", "else", holding=of),
    "a withdrawal": lambda ledger, of: ledger.withdraw(ledger.entries()[0].id, "asked for"),
    "a register": lambda ledger, of: ledger.create_holding("Another", unit="row", neighbours="add_remove"),
}


def add(ledger: Ledger, holding: str, name: str, role: str) -> None:
    seconded.name_person(
        ledger, ledger.holding(holding), name=name, role=role, passphrase=f"very long {name}"
    )


@pytest.mark.parametrize("what", DECIDED)
def test_a_ledger_from_before_anything_was_decided_is_noticed(
    what: str, run: Runner, ledger: Ledger, folder: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No release lies between the two copies, but a rule, a person, a budget: whatever is written counts.

    Nor does writing into the older one make this computer forget what it saw.
    """
    monkeypatch.setattr(keys, "_ARGON2", {"iterations": 1, "lanes": 1, "memory_cost": 64})
    run("one")
    shutil.rmtree(folder / "one")
    (holding,) = ledger.holdings()
    add(ledger, holding.id, "Ada", staff.APPROVE)
    ada = seconded.opened(ledger, holding, seconded.find_person(ledger, holding, "Ada"), "very long Ada")
    staff.sign_in(ledger.path, ada)
    copy = folder / "copy.sqlite"
    shutil.copyfile(ledger.path, copy)
    DECIDED[what](ledger, holding.id)
    put_back(ledger, copy)
    for number in range(3):
        ledger.decide("something", f"else {number}", holding=holding.id)
        with pytest.raises(InputRefused, match=r"run\.ledger_older"):
            run("two")
    assert not (folder / "two").exists() and len(ledger.entries()) == 1


def test_two_copies_that_are_used_in_turn_are_noticed(
    run: Runner, ledger: Ledger, folder: Path, memory: Path
) -> None:
    """Longer than what is remembered, but not its continuation."""
    copy = yesterday(run, ledger, folder)
    newer = folder / "newer.sqlite"
    shutil.copyfile(ledger.path, newer)
    memory.unlink()
    put_back(ledger, copy)
    for name in ("three", "four"):
        run(name)
        shutil.rmtree(folder / name)
    put_back(ledger, newer)
    with pytest.raises(InputRefused, match=r"run\.ledger_older"):
        run("five")


def test_what_continues_and_what_is_another_ledger_is_not_asked_about(
    run: Runner, ledger: Ledger, folder: Path, memory: Path
) -> None:
    run("one")
    ledger.decide("something", "else")
    assert nearby.older(ledger) == {}
    run("two")
    assert nearby.older(Ledger(folder / "other.sqlite")) == {}


def test_what_is_remembered_names_nobody_and_nothing(
    run: Runner, ledger: Ledger, folder: Path, memory: Path, plan: Plan
) -> None:
    run("one")
    written = memory.read_text(encoding="utf-8")
    (kept,) = json.loads(written).items()
    assert kept == (
        ledger.chain(),
        {"sequence": ledger.head().sequence, "hash": ledger.head().hash, "releases": 1},
    )
    if os.name == "posix":
        assert stat.S_IMODE(memory.stat().st_mode) == 0o600
        assert stat.S_IMODE(memory.parent.stat().st_mode) == 0o700
    assert not any(one in written for one in (*SECRETS, plan.holding, plan.purpose.title, folder.name))
    assert [path.name for path in memory.parent.iterdir()] == ["ledgers.json"]


@pytest.mark.parametrize(
    "content",
    [
        *("", "[]", "no json", '{"CHAIN": 1}', '{"CHAIN": {"sequence": 9}}'),
        '{"CHAIN": {"sequence": -1, "hash": "a", "releases": 1}}',
        '{"CHAIN": {"sequence": true, "hash": "a", "releases": 1}}',
    ],
)
def test_a_memory_that_cannot_be_read_refuses_nothing_and_is_written_anew(
    content: str, run: Runner, ledger: Ledger, folder: Path, memory: Path
) -> None:
    put_back(ledger, yesterday(run, ledger, folder))
    memory.write_text(content.replace("CHAIN", ledger.chain()), encoding="utf-8")
    run("three")
    assert json.loads(memory.read_text(encoding="utf-8"))[ledger.chain()]["releases"] == 2


def test_a_memory_that_cannot_be_written_is_as_if_there_were_none(
    run: Runner, ledger: Ledger, folder: Path, memory: Path
) -> None:
    memory.parent.parent.write_text("a file where a folder should be", encoding="utf-8")
    put_back(ledger, yesterday(run, ledger, folder))
    run("three")
    assert [entry.state for entry in ledger.entries()] == ["complete", "complete"]


def test_a_release_that_failed_after_the_spend_is_remembered_too(
    run: Runner, ledger: Ledger, folder: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("one")
    copy = folder / "copy.sqlite"
    shutil.copyfile(ledger.path, copy)
    with monkeypatch.context() as broken, pytest.raises(RuntimeError):
        broken.setattr("engine.release.write.write_release", failing)
        run("two")
    put_back(ledger, copy)
    shutil.rmtree(folder / "one")
    with pytest.raises(InputRefused, match=r"run\.ledger_older"):
        run("three")


def failing(*_: object) -> None:
    raise RuntimeError("the power went out")


def test_the_command_line_stops_and_takes_a_reason(
    folder: Path, plan: Plan, memory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "plan.json").write_text(plan.dumps(), encoding="utf-8")
    path, copy = folder / "ledger.sqlite", folder / "copy.sqlite"

    def command(name: str, *more: str) -> int:
        return main(
            ["run", str(folder / "plan.json"), "--out", str(folder / name), "--ledger", str(path), *more]
        )

    assert command("one", "--without-reason") == 0
    shutil.copyfile(path, copy)
    assert command("two", "--without-reason") == 0
    for name in ("one", "two"):
        shutil.rmtree(folder / name)
    shutil.copyfile(copy, path)
    capsys.readouterr()
    assert command("three", "--without-reason") != 0
    assert "older than the one that was last used" in capsys.readouterr().err
    assert command("three", "--without-reason", "--reason", f"{remembered.OLDER}=the disk burnt") == 0
