"""Money stays in view after it was decided, and is nowhere where nothing is spent."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt

from app import words
from app.frame.window import Window
from app.state.flow import path
from app.words.money import money
from app.work.releasing import Outcome
from engine import texts
from tests.app.walking import example_plan, settle


def test_it_stands_after_the_budget_until_it_is_spent(released: Outcome, window: Window, qtbot: Any) -> None:
    for step in path(window.study.state):
        window.go(step)
        settle(qtbot, window)
        assert not window.money.isVisible(), step  # what was made says what it took
    window.study.forget("bundle")
    window.go("release")
    settle(qtbot, window)
    assert window.money.isVisible(), "nothing is spent yet"
    said = window.money.line.plain()
    for part in (
        "You can afford €\u00a0400,000",
        "€\u00a0288,196",
        "ε\u00a00.50",
        "at most 62.3\u00a0% sure",
    ):
        assert part in said, said
    assert "at risk: 62.3\u00a0% chance of a loss above ε 0.25" in said, said  # 1 − .3775, exact


def test_it_leads_back_to_the_budget(at: Any, window: Window, qtbot: Any) -> None:
    at("preview")
    qtbot.mouseClick(window.money.change, Qt.MouseButton.LeftButton)
    assert window.step == "budget" and not window.money.isVisible()


def test_it_says_when_no_compensation_was_stated(at: Any, window: Window, qtbot: Any) -> None:
    at("preview")
    price = replace(window.study.plan.price, budget=None, compensation=None)
    window.study.decide(price=price)
    settle(qtbot, window)
    assert window.money.line.plain().startswith("No compensation stated")


def test_it_follows_another_level(at: Any, window: Window, qtbot: Any) -> None:
    page = at("budget")
    page._epsilon_chosen(Fraction(1))
    settle(qtbot, window)
    window.go("preview")
    settle(qtbot, window)
    assert "ε\u00a01.00" in window.money.line.plain()


@pytest.mark.parametrize("method", ["datasets.k_anonymity", "datasets.pseudonyms"])
def test_nothing_of_the_kind_where_nothing_is_spent(
    window: Window, qtbot: Any, tmp_path: Path, method: str
) -> None:
    window.study.open_plan(example_plan(method, tmp_path))
    for step in path(window.study.state)[:-2]:
        window.go(step)
        settle(qtbot, window)
        assert window.step == step, (step, window.notice.words())
        assert not window.money.isVisible(), step


@pytest.mark.parametrize(
    ("language", "written"),
    [("en", "€\u00a098,868"), ("de", "98.868\u00a0€"), ("fr", "98\u202f868\u00a0€")],
)
def test_the_currency_stands_where_the_language_has_it(
    language: str, written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "_language", language)
    assert money(98_868, "EUR") == written
    said = texts.text("report.words.money", language=language, currency="EUR", amount=98_868)
    assert said.replace("\u00a0", " ") == written.replace("€", "EUR").replace("\u00a0", " ")
