"""A budget that lasts: how many releases share a register, what this one takes, what this computer allows."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt

from app.frame.window import Window
from app.screens.budget.sharing import SharingCard, shared
from app.state.holdings import Holdings
from app.state.settings import Settings
from engine import policy
from engine.methods.protocol import Budget
from tests.app.walking import settle, write


def test_it_is_asked_once_a_register_and_its_share_is_taken_by_one_button(
    at: Any, window: Window, qtbot: Any
) -> None:
    page = at("budget")
    card = page.sharing
    assert card.isVisible() and "How many releases shall share" in card.said.plain()
    assert not card.take.isVisible()
    write(qtbot, card.many, "8")
    settle(qtbot, window)
    # ε 0.50 is planned, ε 2.00 left: a quarter of it for each of eight
    assert "8 releases" in card.said.plain() and "more than its share of ε 0.25" in card.said.plain()
    assert card.said.property("tone") == "care" and card.take.text().endswith("ε 0.25")
    qtbot.mouseClick(card.take, Qt.MouseButton.LeftButton)
    settle(qtbot, window)
    assert window.study.plan.budget.epsilon == Fraction(1, 4)
    assert "for each that is to come" in card.said.plain() and not card.take.isVisible()
    kept = Settings(Path(window.settings.path).parent).shared()
    assert kept == {window.study.plan.holding.casefold(): 8}, "known the next time"
    window.study.decide(holding="Another register")
    page.enter()
    assert "How many releases shall share Another register" in card.said.plain(), "each is asked for itself"


def test_a_release_without_a_level_takes_its_share_as_soon_as_that_is_said(
    at: Any, window: Window, qtbot: Any
) -> None:
    page = at("budget")
    window.study.decide(budget=None)
    page.enter()
    write(qtbot, page.sharing.many, "8")
    settle(qtbot, window)
    assert window.study.plan.budget is not None and window.study.plan.budget.epsilon == Fraction(1, 4)
    assert not page.sharing.take.isVisible() and "ε 0.25" in page.sharing.said.plain()
    window.footer.undo.click()
    settle(qtbot, window)
    assert window.study.plan.budget.epsilon == Fraction(1, 2), "it is an edit like each other one"


def test_what_this_one_takes_and_what_stays_stand_in_the_block(at: Any, window: Window, qtbot: Any) -> None:
    at("preview")
    block = window.side.register.takes
    assert block.isVisible() and block.property("tone") == "quiet"
    assert "takes ε\u00a00.50 · €\u00a0288,196" in block.plain() and "ε\u00a01.50" in block.plain()
    assert block.plain() in window.side.register.accessibleName()
    price = window.study.plan.price
    window.study.decide_part("price", register=Fraction(2_000_000))
    window.page("preview").opened()
    settle(qtbot, window)
    claims = 4259 * 500 * 2.718281828459045 ** (-1 / 0.5)
    assert f"ε\u00a01.50 · €\u00a0{2_000_000 - claims:,.0f} stay" in block.plain()
    window.study.decide(price=price)


def test_a_level_above_what_this_computer_allows_is_marked(
    at: Any, window: Window, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = tmp_path / "custos.toml"
    monkeypatch.setattr(policy, "place", lambda: rules)
    page = at("budget")
    assert not page.allowed.isVisible()
    rules.write_text("largest_epsilon = 0.4\n")
    page.enter()
    assert page.allowed.isVisible() and "ε 0.40" in page.allowed.plain()
    assert page.allowed.property("tone") == "wrong", "the plan spends 0.5"
    rules.write_text("largest_epsilon = 0.6\n")
    page.enter()
    assert page.allowed.property("tone") == "care"


def test_a_register_without_a_budget_has_nothing_to_share(window: Window, qtbot: Any) -> None:
    assert shared(window.study.plan, Holdings(), {}) is None
    card = SharingCard()
    qtbot.addWidget(card)
    card.show_shared(None, None)
    assert card.isHidden()


def test_only_whole_numbers_are_read_back(tmp_path: Path) -> None:
    settings = Settings(tmp_path)
    settings.share("Register", 4)
    settings.share("REGISTER", 5)
    assert settings.shared() == {"register": 5}
    (tmp_path / "settings.json").write_text(json.dumps({"shared": {"a": 3, "b": True, "c": "9", "d": -1}}))
    again = Settings(tmp_path)
    assert again.shared() == {"a": 3}
    again.share("a", 0)
    assert again.shared() == {}


def test_the_budget_of_a_new_register_is_shared_before_it_is_made(window: Window) -> None:
    window.study.decide(holding="New", holding_budget=Budget(Fraction(1)))
    found = shared(window.study.plan, Holdings(), {"new": 3})
    assert found is not None and (found.left, found.made, found.share) == (1, 0, Fraction(333, 1000))
