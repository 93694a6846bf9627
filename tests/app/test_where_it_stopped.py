"""A draft opens on the step where it stopped: what has to be read and counted again is, by itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QPushButton

from app import words
from app.frame.window import Window
from app.state import draft
from app.state.settings import Settings
from tests.app.hands import Hands
from tests.app.walking import settle, walk_to, write_people


@contextmanager
def opened_again(window: Window, qtbot: Any, folder: Path) -> Iterator[Window]:
    """Close the window and give the one of another day, on the same computer."""
    window.close()
    settings = Settings(folder / "other.json")
    settings.set(began=True)
    later = Window(settings=settings, data=window.data)
    qtbot.addWidget(later)
    later.resize(1366, 768)
    later.show()
    settle(qtbot, later)
    yield later
    later.close()


@pytest.mark.parametrize("step", ["columns", "risk", "purpose", "method"])
def test_it_opens_where_it_stopped(window: Window, qtbot: Any, tmp_path: Path, step: str) -> None:
    walk_to(qtbot, window, write_people(tmp_path / "people.csv"), step)
    assert window.step == step
    with opened_again(window, qtbot, tmp_path) as later:
        assert words.say(f"app.steps.{step}") in later.page("start").left.plain()
        Hands(qtbot, later).click("open_draft")
        qtbot.waitUntil(lambda: later.step == step, timeout=20_000)
        settle(qtbot, later)
        assert later.step == step and later.notice.words() == ""
        assert later.study.table is not None


def test_the_button_is_the_filled_one_and_has_the_focus(window: Window, qtbot: Any, tmp_path: Path) -> None:
    name = "a-very-long-name-of-an-export-of-the-hospital-2026-11.csv"
    walk_to(qtbot, window, write_people(tmp_path / name), "columns")
    assert not window.page("start").draft.isVisible()
    with opened_again(window, qtbot, tmp_path) as later:
        page = later.page("start")
        seen = [one for one in page.findChildren(QPushButton) if one.isVisibleTo(page)]
        filled = [one for one in seen if one.property("look") == "primary"]
        assert filled == [page.draft] and later.focusWidget() is page.draft
        assert page.draft.accessibleName().startswith(f"Go on with {name}")
        assert len(page.draft.text()) < len(name)
        cards = {card.width() for card in (page.draft.parentWidget(), page.table.parentWidget())}
        assert len(cards) == 1, "one card pushes the others aside"


def test_whoever_opens_another_step_meanwhile_stays_there(window: Window, qtbot: Any, tmp_path: Path) -> None:
    walk_to(qtbot, window, write_people(tmp_path / "people.csv"), "purpose")
    with opened_again(window, qtbot, tmp_path) as later:
        later.page("start").draft.click()
        later.go("start")
        settle(qtbot, later)
        qtbot.wait(50)
        assert later.step == "start"


@pytest.mark.guarantee
def test_an_older_draft_that_names_no_step_opens_at_the_first_that_is_not_complete(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    walk_to(qtbot, window, write_people(tmp_path / "people.csv"), "purpose")
    draft.save(window.study.plan, window.study.open_questions, folder=window.data)
    window._save_timer.stop()
    assert draft.step_of(folder=window.data) == "" and draft.load(folder=window.data) is not None
    with opened_again(window, qtbot, tmp_path) as later:
        later.page("start").draft.click()
        settle(qtbot, later)
        assert later.step == "load"
