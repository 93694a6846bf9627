"""Later steps of services and exchanges: they go on from what the last one left, and pay nothing twice."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QAbstractButton, QComboBox

from app import flow
from app.releasing import Watch, release
from app.widgets.source_card import SourceCard
from app.window import Window
from engine.ledger import Ledger
from engine.methods.protocol import Budget
from tests.app.walking import SAMPLE, example_plan, settle


def opened(window: Window, qtbot: Any, method: str, folder: Path, **changes: Any) -> Any:
    """Make the example release of a method in the window and open its visit."""
    from dataclasses import replace

    window.study.open_plan(replace(example_plan(method, folder), **changes))
    window.study.target = folder / "out"
    for step in flow.path(window.study.state):
        if step == "release":
            break
        window.go(step)
        settle(qtbot, window)
    assert window.step == "preview", (window.step, window.notice.words())
    plan = window.study.plan
    made = release(
        window.study.plan_as_read, folder / "out", watch=Watch(), ledger_path=window.study.ledger_path
    )
    assert made.error is None, made.error
    window.study.store("bundle", made, plan)
    window.go("visit")
    settle(qtbot, window)
    assert window.step == "visit", (window.step, window.notice.words())
    return window.page("visit")


def go_on(window: Window, qtbot: Any) -> None:
    window.footer.next.click()
    settle(qtbot, window, timeout=60_000)


def test_a_question_says_what_it_takes_and_costs_nothing_again(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page = opened(window, qtbot, "services.private_queries", tmp_path, holding_budget=Budget(Fraction(2)))
    assert not window.footer.next.text().startswith("Answer")
    page._filled("questions", [{"where": "gender is Female", "epsilon": "1/10"}])
    assert window.footer.next.text() == "Answer, spend ε 0.10"
    go_on(window, qtbot)
    assert len(page.answers) == 1, (window.notice.words(), page.wrong.plain())
    assert (page.answers[0][1].bundle.folder / "release" / "evidence.json").is_file()
    assert "takes nothing" in page.takes.plain() and "nothing is spent" in window.footer.next.text()
    before = Ledger(window.study.ledger_path).entries()
    go_on(window, qtbot)
    assert len(page.answers) == 2
    after = Ledger(window.study.ledger_path).entries()
    assert len(after) == len(before) + 1 and after[-1].state == "complete"


def test_reports_are_collected_without_a_table_of_people(window: Window, qtbot: Any, tmp_path: Path) -> None:
    page = opened(window, qtbot, "exchanges.survey", tmp_path)
    assert "load" not in flow.path(window.study.state)
    assert "reports" in page.wrong.plain()
    card = page.findChild(SourceCard, "source-reports")
    card.chosen.emit(str(SAMPLE / "survey_reports.csv"))
    settle(qtbot, window)
    combo = page.findChild(QComboBox, "report")
    combo.setCurrentIndex(0)
    combo.activated.emit(0)
    assert not page.wrong.plain(), page.wrong.plain()
    assert window.footer.next.text() == "Go on, nothing is spent"
    go_on(window, qtbot)
    assert len(page.answers) == 1, window.notice.words()
    assert (page.answers[0][1].bundle.folder / "release" / "estimates.csv").is_file()
    assert window.findChild(QAbstractButton, "step-load").isHidden()
