"""A run that is killed leaves the ledger, perhaps a whole bundle, and nothing else of anybody."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest

from engine.ledger import Ledger, entries
from engine.methods.protocol import Budget
from engine.release.verify import verify
from engine.release.working import PREFIX, make_working_folder, name_for, sweep
from tests.engine.adversarial.requests import ROWS, plan_for, table
from tests.engine.release.killed import Warm

pytestmark = [pytest.mark.with_reports, pytest.mark.skipif(not hasattr(os, "fork"), reason="needs forks")]
MOMENTS = 60
PLAN = replace(plan_for("median", cap=1), budget=Budget(Fraction(1)))


class Killer:
    """Starts runs and has them killed."""

    def __init__(self, place: Path) -> None:
        self.place, self.number, self.warm = place, 0, Warm(place)

    def kill(self, how: str, number: float) -> str:
        """Kill one run; check what is left and return what became of it."""
        self.number += 1
        folder = self.place / f"run{self.number}"
        folder.mkdir()
        (folder / "people.csv").write_bytes(table(ROWS))
        (folder / "plan.json").write_text(PLAN.dumps())
        status = self.warm.kill(folder, how, number)
        assert status in (0, -9), "the run ended by itself, but not well"
        return self.left(folder, status)

    def left(self, folder: Path, status: int) -> str:
        """Check that nothing is left but the input, the ledger and, whole and entered, the bundle."""
        assert not list(self.warm.temporary.iterdir())
        given = {"people.csv", "plan.json", "ledger.sqlite-keys"}
        ledgers = {"ledger.sqlite", "ledger.sqlite-journal"}  # SQLite takes the second at its next writing
        names = {path.name for path in folder.iterdir()} - given - ledgers
        assert names <= {"bundle"}
        if not (folder / "ledger.sqlite").exists():
            assert not names
            return "nothing"
        ledger = Ledger(folder / "ledger.sqlite")
        ledger.verify_chain()
        states = [entry.state for entry in ledger.entries()]
        assert not ledger.leftovers() and states in ([], ["reserved"], ["spent"], ["complete"])
        assert (states == ["complete"]) == bool(names)
        if names:
            assert verify(folder / "bundle", ledger=ledger).passed
        assert status != 0 or states == ["complete"]
        return states[0] if states else "nothing"


@pytest.fixture
def killer(tmp_path: Path) -> Iterator[Killer]:
    made = Killer(tmp_path)
    yield made
    made.warm.end()


@pytest.mark.guarantee
def test_a_run_killed_at_some_touch_of_the_disk(killer: Killer) -> None:
    found = [killer.kill("at", number) for number in (1, 8, 30, 45, 55, 10_000)]
    assert found[0] == "nothing" and found[-1] == "complete" and "spent" in found


@pytest.mark.slow
def test_a_run_killed_at_every_touch_of_the_disk(killer: Killer) -> None:
    found: list[str] = []
    while found[-2:] != ["complete", "complete"]:  # a kill after the last but one, then none at all
        found.append(killer.kill("at", len(found) + 1))
    print(len(found), {state: found.count(state) for state in found})
    assert {"nothing", "reserved", "spent", "complete"} == set(found)


@pytest.mark.slow
def test_a_run_killed_at_any_moment(killer: Killer) -> None:
    began = time.monotonic()
    assert killer.kill("at", 10_000) == "complete"
    whole = time.monotonic() - began
    moments = random.Random(1)
    found = [killer.kill("after", round(moments.uniform(0.0, whole), 4)) for _ in range(MOMENTS)]
    print({state: found.count(state) for state in found})
    assert len(set(found)) > 1


@pytest.mark.parametrize("begun", [False, True])
def test_what_another_computer_works_in_is_left_alone(
    begun: bool, tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = name_for(tmp_path / "bundle")
    made = ledger.create_holding("Register", unit="row", neighbours="add_remove", epsilon=1)
    terms = {"epsilon": "1", "delta": "0", "unit": "row", "neighbours": "add_remove"}
    entry = ledger.reserve(
        made.id,
        plan_fingerprint="ab",
        title="",
        recipient="",
        guarantee_json=terms,
        compose=lambda guarantees: (Fraction(1), Fraction(0)),
        folder=str(folder),
        **terms,
    )
    with make_working_folder(folder):
        assert sweep(ledger) == 0 and folder.is_dir()  # this process is alive
        monkeypatch.setattr(entries, "is_running", lambda process: False)
        (folder / "computer").write_text("another")
        assert sweep(ledger) == 0 and folder.is_dir()
        (folder / "computer").unlink()  # killed before it could say where
        if begun:
            (folder / "computer").touch()
        assert sweep(ledger) == 1 and not folder.exists()
    assert ledger.entry(entry).folder == "" and sweep(ledger) == 0


def test_nothing_but_a_working_folder_is_swept(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever an entry names: only a folder with our prefix, and no link to one, is ever taken away."""
    monkeypatch.setattr(Ledger, "swept", lambda *_: None)
    for name in ("letters", f"{PREFIX}link"):
        (tmp_path / "letters").mkdir(exist_ok=True)
        (tmp_path / "letters" / "one.txt").write_text("keep me")
        place = tmp_path / name
        if not place.exists():
            place.symlink_to(tmp_path / "letters", target_is_directory=True)
        left = SimpleNamespace(id="r", folder=str(place), state="spent")
        monkeypatch.setattr(Ledger, "leftovers", lambda *_, left=left: [left])
        assert sweep(ledger) == 0
        assert (tmp_path / "letters" / "one.txt").read_text() == "keep me"
