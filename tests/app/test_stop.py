"""Stop before and after the first noise: what it gives back, what it leaves, what the button says."""

from __future__ import annotations

import shutil
import threading
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QAbstractButton, QLineEdit

from app import words
from app.frame.window import Window
from engine.ledger import Ledger
from engine.release.plan import FileReference, Plan
from tests.app.test_walk import SAMPLE, click, part, write
from tests.app.walking import settle


@pytest.fixture
def at_preview(window: Window, qtbot: Any, tmp_path: Path) -> Window:
    """Stand before the release with the sample plan, everything decided."""
    table = tmp_path / "diabetes_encounters.csv"
    shutil.copy(SAMPLE / table.name, table)
    plan = Plan.read(SAMPLE / "plan.json")
    plan = replace(plan, files={"people": FileReference(str(table), plan.files["people"].options)})
    window.study.open_plan(plan)
    window.go("load")
    settle(qtbot, window)
    window.go("risk")
    settle(qtbot, window)
    window.go("preview")
    settle(qtbot, window)
    write(qtbot, part(window, QLineEdit, "target"), str(tmp_path / "out"))
    return window


class Gate:
    """Holds the engine at a place until the test has pressed Stop."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, *, before: bool) -> None:
        self.reached, self.open = threading.Event(), threading.Event()
        original = getattr(module, name)

        def gated(*args: Any, **kwargs: Any) -> Any:
            if not before:
                value = original(*args, **kwargs)
            self.reached.set()
            assert self.open.wait(30)
            return original(*args, **kwargs) if before else value

        monkeypatch.setattr(module, name, gated)


def stop_at(gate: Gate, window: Window, qtbot: Any) -> str:
    """Release, press Stop where the gate holds, and return what the button said."""
    click(qtbot, window.footer.findChild(QAbstractButton, "next"))
    qtbot.waitUntil(gate.reached.is_set, timeout=60_000)
    qtbot.wait(150)
    button = part(window, QAbstractButton, "stop-release")
    said = button.text()
    click(qtbot, button)
    gate.open.set()
    qtbot.waitUntil(lambda: not window.runner.busy(), timeout=60_000)
    qtbot.wait(50)
    return said


@pytest.mark.guarantee
def test_stop_before_the_noise_gives_everything_back(
    at_preview: Window, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.release import charge as module

    gate = Gate(monkeypatch, module, "reserve", before=False)
    assert stop_at(gate, at_preview, qtbot) == words.say("app.release.stop_free")
    page = at_preview.page("release")
    assert page.ended.isVisible()
    assert words.say("app.release.stopped") == page.ended_title.text()
    assert "given back" in page.ended_words.plain()
    ledger = Ledger(at_preview.study.ledger_path)
    assert [entry.state for entry in ledger.entries()] == ["freed"]
    assert ledger.status("Diabetes register (sample)").epsilon_spent == 0
    assert not (tmp_path / "out").exists() and not list(tmp_path.glob(".custos-*"))
    assert at_preview.study.result("bundle") is None
    at_preview.go("preview")
    settle(qtbot, at_preview)
    assert words.say("app.preview.unspent") in at_preview.page("preview").subtitle.plain()


@pytest.mark.guarantee
def test_stop_after_the_noise_leaves_the_budget_spent_and_says_so(
    at_preview: Window, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.release import run as module

    gate = Gate(monkeypatch, module, "make", before=False)
    assert stop_at(gate, at_preview, qtbot) == words.say("app.release.stop_spent")
    page = at_preview.page("release")
    assert "stays spent" in page.ended_words.plain()
    ledger = Ledger(at_preview.study.ledger_path)
    assert [entry.state for entry in ledger.entries()] == ["failed"]
    assert ledger.status("Diabetes register (sample)").epsilon_spent == Fraction(1, 2)
    assert not (tmp_path / "out").exists() and not list(tmp_path.glob(".custos-*"))
    assert at_preview.study.result("bundle") is None
    at_preview.go("preview")
    settle(qtbot, at_preview)
    preview = at_preview.page("preview")
    assert words.say("app.preview.begun.paid.failed", times=1, epsilon="0.50") in preview.subtitle.plain()
    assert words.say("app.preview.unspent") not in preview.subtitle.plain()
    assert "0.5" in preview.commits()  # it can be tried again, for another ε


@pytest.mark.guarantee
def test_a_folder_that_is_taken_costs_nothing(at_preview: Window, qtbot: Any, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letter.txt").write_text("mine")
    click(qtbot, at_preview.footer.findChild(QAbstractButton, "next"))
    settle(qtbot, at_preview)
    assert "already exists" in at_preview.notice.words()
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["letter.txt"]
    assert Ledger(at_preview.study.ledger_path).holdings() == []


@pytest.mark.guarantee
def test_a_second_press_while_it_runs_neither_stops_it_nor_spends_again(
    at_preview: Window, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing hinders going back to Preview meanwhile; the button there released once more in its place."""
    from engine.release import run as module

    gate = Gate(monkeypatch, module, "make", before=False)
    click(qtbot, at_preview.footer.findChild(QAbstractButton, "next"))
    qtbot.waitUntil(gate.reached.is_set, timeout=60_000)
    at_preview.go("preview")
    click(qtbot, at_preview.footer.findChild(QAbstractButton, "next"))
    assert at_preview.step == "release"
    assert words.say("app.release.underway") in at_preview.notice.words()
    gate.open.set()
    qtbot.waitUntil(lambda: not at_preview.runner.busy(), timeout=60_000)
    ledger = Ledger(at_preview.study.ledger_path)
    assert [entry.state for entry in ledger.entries()] == ["complete"]
    assert at_preview.study.result("bundle") is not None


@pytest.mark.guarantee
def test_after_a_stop_nothing_is_spent_again_before_the_amount_was_said(
    at_preview: Window, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the ledger said is dropped then: the button read as of a release that is free, and spent ε ½."""
    from engine.release import run as module

    with monkeypatch.context() as held:
        stop_at(Gate(held, module, "make", before=False), at_preview, qtbot)
    page, ledger = at_preview.page("release"), Ledger(at_preview.study.ledger_path)
    assert page.next_words() == words.say("app.release.to_preview") and page.commits() == ""
    click(qtbot, at_preview.footer.findChild(QAbstractButton, "next"))
    settle(qtbot, at_preview)
    assert at_preview.step == "preview" and [entry.state for entry in ledger.entries()] == ["failed"]
    assert "0.5" in at_preview.page("preview").commits()
    at_preview.study.forget("ledger")  # as whatever changes a register does
    at_preview.go("release")
    assert at_preview.page("release").commits() == ""


@pytest.mark.guarantee
@pytest.mark.parametrize("ends", ["made", "stopped"])
def test_a_release_whose_plan_was_changed_meanwhile_is_told_all_the_same(
    ends: str, at_preview: Window, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.release import run as module

    with monkeypatch.context() as held:
        gate = Gate(held, module, "make", before=False)
        click(qtbot, at_preview.footer.findChild(QAbstractButton, "next"))
        qtbot.waitUntil(gate.reached.is_set, timeout=60_000)
        title = at_preview.study.plan.purpose.title
        at_preview.go("purpose")
        at_preview.study.decide_part("purpose", title="Another one")
        if ends == "stopped":
            at_preview.runner.stop("release")
        gate.open.set()
        qtbot.waitUntil(lambda: not at_preview.runner.busy(), timeout=60_000)
    values = {"epsilon": "0.50", "holding": at_preview.study.plan.holding}
    said = at_preview.notice.words()
    if ends == "made":
        assert words.say("app.release.made_before", title=title) in said
        assert words.say("app.release.made_before_spent", **values) in said
        assert words.say("app.release.failed") != at_preview.page("release").ended_title.text()
    else:
        assert words.say("app.release.stays_spent", **values) in said
    state = "complete" if ends == "made" else "failed"
    assert [entry.state for entry in Ledger(at_preview.study.ledger_path).entries()] == [state]
