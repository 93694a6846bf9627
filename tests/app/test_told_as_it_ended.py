"""What a screen says of money is what the ledger says, however a release ended and whatever became of it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QAbstractButton

from app import words
from app.frame.window import Window
from app.work import releasing
from engine.errors import InputRefused
from engine.ledger import Ledger
from engine.methods.protocol import Budget
from engine.release import run
from engine.release.verify import verify
from tests.app.test_stop import Gate, at_preview, stop_at
from tests.app.test_visit_page import opened
from tests.app.test_walk import click
from tests.app.walking import settle

pytestmark = pytest.mark.guarantee

__all__ = ["at_preview"]
SPENT = {"epsilon": "0.50", "holding": "Diabetes register (sample)"}


def refused(*_: object, **__: object) -> None:
    """Do as a ledger does that another program holds, or whose disk is full."""
    raise InputRefused("ledger.locked", file="ledger.sqlite", folder="here")


def see_again(window: Window, qtbot: Any) -> str:
    """Look at Preview again, and return what it says first."""
    window.go("preview")
    settle(qtbot, window)
    return str(window.page("preview").subtitle.plain())


@pytest.mark.guarantee
@pytest.mark.parametrize("asked", [True, False])
def test_a_release_whose_entry_cannot_be_closed_is_said_to_be_there_and_paid(
    at_preview: Window, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: bool
) -> None:
    """It was told as not made, with no file left behind and nothing spent; a second press paid again."""
    with monkeypatch.context() as held:
        held.setattr(Ledger, "complete", refused)
        if not asked:  # nor can it be asked any more
            held.setattr(releasing.Ledger, "entry", refused)
        click(qtbot, at_preview.footer.findChild(QAbstractButton, "next"))
        settle(qtbot, at_preview, timeout=60_000)
    page = at_preview.page("release")
    assert verify(tmp_path / "out").passed
    assert page.ended_title.text() == words.say("app.release.not_entered")
    assert page.ended_words.plain() == words.say("app.release.is_there", **SPENT)
    assert "Do not make it again" in at_preview.notice.words()
    said = see_again(at_preview, qtbot)
    assert words.say("app.preview.begun.paid.underway", times=1, epsilon="0.50") in said
    assert words.say("app.preview.unspent") not in said


@pytest.mark.guarantee
def test_what_cannot_be_given_back_is_not_said_to_be_given_back(
    at_preview: Window, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as held:
        held.setattr(run, "make", refused)
        held.setattr(Ledger, "free", refused)
        click(qtbot, at_preview.footer.findChild(QAbstractButton, "next"))
        settle(qtbot, at_preview, timeout=60_000)
    page = at_preview.page("release")
    assert [one.state for one in Ledger(at_preview.study.ledger_path).entries()] == ["reserved"]
    assert page.ended_words.plain() == words.say("app.release.stays_reserved", **SPENT)


@pytest.mark.guarantee
def test_a_step_of_a_service_that_is_stopped_after_its_noise_is_said_to_be_paid(
    window: Window, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing was said, and the desk showed as much left as before."""
    page = opened(window, qtbot, "services.private_queries", tmp_path, holding_budget=Budget(Fraction(2)))
    page._filled("questions", [{"where": "gender is Female", "epsilon": "1/10"}])
    holding = page._plan.holding
    with monkeypatch.context() as held:
        gate = Gate(held, run, "make", before=False)
        window.footer.next.click()
        qtbot.waitUntil(gate.reached.is_set, timeout=60_000)
        window.runner.stop("release")
        gate.open.set()
        settle(qtbot, window, timeout=60_000)
    assert Ledger(window.study.ledger_path).entries()[-1].state == "failed"
    kept = words.say("app.release.stays_spent", epsilon="0.10", holding=holding)
    assert words.say("app.release.stopped") in window.notice.words() and kept in window.notice.words()
    assert page._taken.visits and page._taken.visits[-1][1] == Fraction(1, 10)


def test_a_ledger_that_is_gone_is_not_told_as_a_register_of_which_nothing_is_spent(
    at_preview: Window, qtbot: Any
) -> None:
    window, place = at_preview, at_preview.study.ledger_path
    click(qtbot, window.footer.findChild(QAbstractButton, "next"))
    settle(qtbot, window, timeout=60_000)
    assert Ledger(place).entries()
    place.unlink()
    window.study.forget("bundle")
    window.study.forget("ledger")
    see_again(window, qtbot)
    assert not window.page("preview").commits()
    assert "is gone from" in window.notice.words()
    assert not window.side.register.isVisible() or "ε" not in window.side.register.text()


@pytest.mark.guarantee
def test_what_was_agreed_to_is_not_released_where_less_is_left_by_then(
    at_preview: Window, qtbot: Any, tmp_path: Path
) -> None:
    """Somebody agreed to spend a third of what is left, and spent the half: another window had released."""
    window, plan = at_preview, at_preview.study.plan_as_read
    watch = releasing.Watch()
    first = releasing.release(plan, tmp_path / "first", watch=watch, ledger_path=window.study.ledger_path)
    assert first.error is None
    before = [one.state for one in Ledger(window.study.ledger_path).entries()]
    click(qtbot, window.footer.findChild(QAbstractButton, "next"))
    settle(qtbot, window, timeout=60_000)
    assert "and not ε 2 as it stood" in window.notice.words() and "ε 1.5 is left now" in window.notice.words()
    assert [one.state for one in Ledger(window.study.ledger_path).entries()] == before
    see_again(window, qtbot)
    click(qtbot, window.footer.findChild(QAbstractButton, "next"))
    if window.footer.asks:
        click(qtbot, window.footer.commit)
    settle(qtbot, window, timeout=60_000)
    assert [one.state for one in Ledger(window.study.ledger_path).entries()] == ["complete", "complete"]


def test_stop_after_the_noise_still_says_that_no_file_was_left(
    at_preview: Window, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_at(Gate(monkeypatch, run, "make", before=False), at_preview, qtbot)
    assert at_preview.page("release").ended_words.plain() == words.say("app.release.stays_spent", **SPENT)
