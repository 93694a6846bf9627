"""Check this computer, on the first screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt

from app import words
from app.frame.window import Window
from app.parts.prose import Prose
from engine import policy
from engine.computer import checks
from tests.app.walking import settle


def test_a_check_shows_what_it_found_and_what_is_wrong_first(
    window: Window, qtbot: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(checks, "sample", lambda: checks.Checked("sample", checks.WRONG, {"figures": "rows"}))
    window.page("start").first.fold.line.click()
    card = window.page("start").computer
    assert card.card.isHidden()
    qtbot.mouseClick(card.check, Qt.MouseButton.LeftButton)
    settle(qtbot, window)
    said = [one.plain() for one in card.card.findChildren(Prose)]
    assert card.answer.text() == words.say("computer.failed") and len(said) == 9
    assert said[0].startswith(words.say("computer.names.sample")) and "rows" in said[0]
    assert not card.card.isHidden()
    window.page("start")._save_check(str(tmp_path / "check.pdf"))
    settle(qtbot, window)
    assert (tmp_path / "check.pdf").read_bytes().startswith(b"%PDF")


def test_rules_of_the_computer_are_shown_as_they_are_or_as_broken(
    window: Window, tmp_path: Path, monkeypatch: Any
) -> None:
    page = window.page("start")
    assert page.computer.rules.isHidden()
    rules = tmp_path / "custos.toml"
    monkeypatch.setattr(policy, "place", lambda: rules)
    rules.write_text("largest_epsilon = 0.5\nlocked_keys = true\n")
    page.enter()
    said = page.computer.rules.plain()
    assert not page.computer.rules.isHidden() and words.say("policy.names.locked_keys") in said
    assert words.say("policy.names.largest_epsilon", value="1/2") in said
    rules.write_text("two_persons = true\n")
    page.enter()
    assert "two_persons" in page.computer.rules.plain()


@pytest.mark.parametrize("size", [(911, 512), (1366, 768)])
def test_rules_that_stop_every_release_are_read_before_anything_is_begun(
    size: tuple[int, int], window: Window, qtbot: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    page, rules = window.page("start"), tmp_path / "custos.toml"
    shown = page.computer.rules
    monkeypatch.setattr(policy, "place", lambda: rules)
    window.resize(*size)
    places = {}
    for name, text in (("broken", "two_persons = true\n"), ("set", "largest_epsilon = 0.5\n")):
        rules.write_text(text)
        page.enter()
        settle(qtbot, window)
        places[name] = shown.mapTo(window, shown.rect().bottomLeft()).y()
        first = page.table.mapTo(window, page.table.rect().topLeft()).y()
        assert (places[name] < first) == (name == "broken") == (shown.property("tone") == "wrong")
    assert places["broken"] < window.footer.mapTo(window, window.footer.rect().topLeft()).y()


def test_where_registers_live_is_said_and_a_copied_folder_is_warned_of(
    window: Window, tmp_path: Path
) -> None:
    page = window.page("start")
    for folder, tone in ((tmp_path / "registers", ""), (tmp_path / "OneDrive - Clinic" / "k", "care")):
        window.study.ledger_path = folder / "ledger.sqlite"
        page.enter()
        place = page.first.place
        assert str(folder) in place.plain() and place.property("tone") == tone
