"""The register in view: its name, what is left and what was spent, as soon as something changes it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt

from app import words
from app.frame.side import LOW_STEP, STEP, RegisterBlock
from app.frame.window import Window
from app.state import flow
from app.work.registers import Standing, standing
from app.work.releasing import Watch, release
from engine import texts
from engine.ledger import Ledger
from tests.app.fitting import faults
from tests.app.walking import fill_purpose, sample_plan, settle, walk_to, write_people


def test_a_new_register_is_shown_once_it_is_named(window: Window, qtbot: Any, tmp_path: Path) -> None:
    block = window.side.register
    walk_to(qtbot, window, write_people(tmp_path / "people.csv"), "risk")
    assert block.isHidden()
    fill_purpose(qtbot, window)
    assert block.isVisible() and block.name.text() == "Diabetes register"
    assert block.left.plain() == "ε 2.00 left, nothing spent"
    window.go("start")
    qtbot.mouseClick(block, Qt.MouseButton.LeftButton)
    settle(qtbot, window)
    assert window.step == "releases"


def test_what_a_release_spends_is_taken_off_at_once(window: Window, qtbot: Any, tmp_path: Path) -> None:
    small = {"columns": ["gender"], "extra_cells": "left_out"}
    window.study.open_plan(replace(sample_plan(tmp_path), parameters=small))
    settle(qtbot, window)
    block = window.side.register
    assert block.left.plain() == "ε 2.00 left, nothing spent" and block.bar.share == 0
    made = release(window.study.plan, tmp_path / "out", watch=Watch(), ledger_path=window.study.ledger_path)
    assert made.error is None
    window.study.forget("ledger")
    settle(qtbot, window)
    assert block.left.plain() == "ε 1.50 of 2.00 left" and block.bar.share == 0.25
    assert "ε 1.50 of 2.00 left" in block.accessibleName()
    window.resize(700, 600)  # the steps are circles now
    assert not block.isVisibleTo(window)
    window.resize(1366, 768)
    assert block.isVisibleTo(window)
    window.study.decide(holding="")
    assert block.isHidden()


def test_a_register_with_what_nothing_bounds_says_so(qtbot: Any) -> None:
    block = RegisterBlock()
    qtbot.addWidget(block)
    block.show_register(Standing("Register " + "of a long name " * 9, Fraction(2), Fraction(1), False, 3))
    assert not block.care.isHidden() and "…" in block.name.text()
    assert "no longer bounds" in block.accessibleName()
    block.show_register(Standing("Lists", None, releases=2))
    assert block.bar.isHidden() and "entries:\u00a02" in block.left.plain()


def test_a_ledger_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    place = tmp_path / "ledger.sqlite"
    assert standing("Diabetes", place) is None and not place.exists()
    Ledger(place).create_holding("Diabetes", unit="person", neighbours="add_remove", epsilon="2")
    found = standing(" diabetes ", place)
    assert found is not None and (found.name, found.left) == ("Diabetes", 2)
    assert standing("Others", place) is None


@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_ten_steps_stand_beside_a_register_of_three_lines(
    window: Window, qtbot: Any, language: str, request: pytest.FixtureRequest
) -> None:
    """They stand closer together before they scroll: a bar would take the room of their names."""
    request.addfinalizer(partial(words.choose_language, texts.FALLBACK))
    window.use_language(language)
    window.resize(1366, 768)
    side = window.side
    side.register.show_register(Standing("Register of all stays", Fraction(2), Fraction(3, 2), True, 4))
    side.register.show_takes("half", "ε 0.50 · € 288,196; ε 1.00 · € 12,000")
    side.update_steps("preview", flow.STEPS[1:11], set(), set(flow.STEPS[1:11]))
    qtbot.wait(50)
    shown = [one for one in side.steps.buttons.values() if one.isVisible()]
    assert len(shown) == 10 and {one.height() for one in shown} <= set(range(LOW_STEP, STEP + 1))
    assert side.list.verticalScrollBar().maximum() == 0
    assert not [one for one in faults(window) if "step-" in one]
