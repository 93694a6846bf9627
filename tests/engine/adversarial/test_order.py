"""Whenever the program dies or is stopped: noise that exists has been entered as spent."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path

import pytest

from engine.errors import Cancelled, InputRefused
from engine.ledger import Ledger, store
from engine.privacy.noise import Noise
from engine.progress import Progress
from engine.release.run import run_through
from engine.release.verify import verify
from tests.engine.adversarial.requests import ROWS, plan_for, table
from tests.noise_source import seeded_bytes

PLAN = plan_for("counts", cap=1)
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a process in the middle")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "people.csv").write_bytes(table(ROWS))
    for part in ("pdf", "html"):  # made after the noise, and slow
        monkeypatch.setattr(f"engine.report.{part}.render", lambda *_, **__: b"")
    return tmp_path


def run(folder: Path, name: str, progress: Progress) -> None:
    """Run the plan; a file called ``drawn-NAME`` says that noise exists."""
    draw = seeded_bytes(1)

    def bytes_of(count: int) -> bytes:
        (folder / f"drawn-{name}").touch()
        return draw(count)

    ledger = Ledger(folder / f"{name}.sqlite")
    run_through(
        PLAN,
        folder / name,
        ledger,
        folder,
        "en",
        progress,
        lambda spend: Noise(bytes_of, on_first_draw=spend),
    )


def steps(folder: Path) -> int:
    seen: list[str] = []
    run(folder, "whole", Progress(lambda share, stage: seen.append(stage)))
    assert (folder / "drawn-whole").exists()
    return len(seen)


def dying(step: int, how) -> Progress:
    seen: list[str] = []

    def report(share: float, stage: str) -> None:
        seen.append(stage)
        if len(seen) > step:
            how()

    return Progress(report)


def check(folder: Path, name: str) -> str:
    """Return the state of the only entry, after a person has resolved it; compare it with what was drawn."""
    ledger = Ledger(folder / f"{name}.sqlite")
    entries = ledger.entries()
    drawn = (folder / f"drawn-{name}").exists()
    if not entries:
        assert not drawn
        return "none"
    (entry,) = entries
    status = ledger.status(entry.holding)
    assert status.epsilon_spent == (0 if entry.state == "freed" else 1), "what is open counts as spent"
    if entry.state in ("reserved", "spent"):
        assert entry.abandoned
        ledger.resolve(entry.id, "the machine was switched off")
    state = ledger.entry(entry.id).state
    assert ledger.status(entry.holding).epsilon_spent == Fraction(state != "freed")
    assert not (drawn and state == "freed"), "noise exists and the ledger gives the budget back"
    if (folder / name).exists() and state != "complete":
        assert "bundle.entry_unknown" in {one.code for one in verify(folder / name, ledger=ledger).problems}
    return state


def killed(folder: Path, name: str, progress: Progress) -> None:
    """Run in a process of its own that may end at once, with nothing tidied up."""
    child = os.fork()
    if not child:
        try:
            run(folder, name, progress)
        finally:
            os._exit(0)
    os.waitpid(child, 0)


@needs_fork
def test_killed_at_every_step(folder: Path) -> None:
    found = set()
    for step in range(steps(folder)):
        killed(folder, f"k{step}", dying(step, lambda: os._exit(9)))
        found.add(check(folder, f"k{step}"))
    assert found >= {"none", "freed", "failed"}


@needs_fork
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("call", ["reserve", "spend", "complete"])
def test_killed_around_every_entry(
    folder: Path, monkeypatch: pytest.MonkeyPatch, call: str, when: str
) -> None:
    entered = getattr(Ledger, call)

    def dies(self, *given, **named):
        if when == "after":
            entered(self, *given, **named)
        os._exit(9)

    monkeypatch.setattr(Ledger, call, dies)
    killed(folder, "entry", Progress())
    monkeypatch.setattr(Ledger, call, entered)
    expected = {("reserve", "before"): "none", ("reserve", "after"): "freed", ("spend", "before"): "freed"}
    last = "complete" if (call, when) == ("complete", "after") else "failed"
    assert check(folder, "entry") == expected.get((call, when), last)


@pytest.mark.parametrize("error", [KeyboardInterrupt, Cancelled, MemoryError, OSError, SystemExit])
def test_stopped_at_every_step(folder: Path, error: type[BaseException]) -> None:
    def stop() -> None:
        raise error

    for step in range(0, steps(folder), 2):
        with pytest.raises((error, InputRefused)):
            run(folder, f"s{step}", dying(step, stop))
        state = check(folder, f"s{step}")
        drawn = (folder / f"drawn-s{step}").exists()
        assert state in (("failed",) if drawn else ("none", "freed"))
        left = {path.name for path in folder.iterdir() if path.name.startswith(".custos")}
        assert not left and not (folder / f"s{step}").exists()


def test_no_noise_without_an_entry_on_the_disk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commits: list[str] = []
    entered = store.transaction
    monkeypatch.setattr(
        store,
        "transaction",
        lambda *a, **k: (commits.append("write" if k["write"] else ""), entered(*a, **k))[1],
    )

    def refuse(self, entry):
        raise InputRefused("ledger.disk_full", file="", folder="")

    monkeypatch.setattr(Ledger, "spend", refuse)
    with pytest.raises(InputRefused, match="disk_full"):
        run(folder, "full", Progress())
    assert not (folder / "drawn-full").exists() and commits
    assert check(folder, "full") == "freed"


@needs_fork
def test_two_at_once_cannot_both_pass(folder: Path) -> None:
    plans = 6  # of which the budget of 4 pays four
    children = []
    Ledger(folder / "shared.sqlite")
    for number in range(plans):
        child = os.fork()
        if not child:
            try:
                ledger = Ledger(folder / "shared.sqlite", timeout=60)
                door = lambda spend: Noise(on_first_draw=spend)  # noqa: E731
                run_through(PLAN, folder / f"b{number}", ledger, folder, "en", Progress(), door)
            finally:
                os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    ledger = Ledger(folder / "shared.sqlite")
    assert sum((folder / f"b{number}").exists() for number in range(plans)) <= 4
    assert ledger.status(ledger.holdings()[0].id).epsilon_spent <= 4
    assert len(ledger.holdings()) == 1
