"""No key that turns pages releases anything; the button does, and a key of its own that asks first."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.frame.window import Window
from tests.app.walking import settle

ALT, CONTROL = Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
TURNING = {
    "alt-right": (Qt.Key.Key_Right, ALT),
    "control-return": (Qt.Key.Key_Return, CONTROL),
    "control-enter": (Qt.Key.Key_Enter, CONTROL),
    "return": (Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier),
    "enter": (Qt.Key.Key_Enter, Qt.KeyboardModifier.NoModifier),
    "page-down": (Qt.Key.Key_PageDown, Qt.KeyboardModifier.NoModifier),
}
SMALL = {"columns": ["gender"], "extra_cells": "left_out"}


def press_own_key(window: Window, qtbot: Any) -> None:
    """Press the key that commits."""
    qtbot.keyClick(window, Qt.Key.Key_Return, CONTROL | SHIFT)
    qtbot.wait(20)


def nothing_was_released(window: Window) -> bool:
    """Say whether the screen and the study are where they were."""
    asked = window.study.release_asked or window.study.result("bundle") is not None
    return window.step == "preview" and not asked and not window.runner.busy("release")


@pytest.mark.parametrize("name", TURNING)
def test_no_key_that_turns_pages_releases(at: Any, window: Window, qtbot: Any, name: str) -> None:
    page = at("preview", parameters=SMALL)
    key, modifier = TURNING[name]
    for field in (window, page.folder, page.verdict):
        if field is not window:
            field.setFocus()
        for _ in range(3):
            qtbot.keyClick(field, key, modifier)
            qtbot.wait(20)
        assert nothing_was_released(window), (name, field.objectName())
    if modifier != Qt.KeyboardModifier.NoModifier and key != Qt.Key.Key_Enter:
        assert "cannot be undone" in window.notice.words()
        assert window.footer.next.text() in window.notice.words()


def test_no_key_in_any_field_of_the_preview_releases(at: Any, window: Window, qtbot: Any) -> None:
    page = at("preview", parameters=SMALL)
    for field in page.findChildren(QWidget):
        if not (field.isVisible() and field.focusPolicy() & Qt.FocusPolicy.TabFocus):
            continue
        if field.objectName() in ("choose-target", "audit"):  # buttons with a meaning of their own
            continue
        field.setFocus()
        qtbot.keyClick(field, Qt.Key.Key_Return)
        qtbot.keyClick(field, Qt.Key.Key_Right, ALT)
        assert nothing_was_released(window), field.objectName()


def test_its_own_key_asks_with_the_amount_and_releases_when_pressed_again(
    at: Any, window: Window, qtbot: Any
) -> None:
    at("preview", parameters=SMALL)
    press_own_key(window, qtbot)
    assert nothing_was_released(window) and window.footer.asks
    said = f"{window.footer.asked.text()} {window.footer.asked_more.plain()}"
    assert "ε 0.50" in said and "cannot be undone" in said
    assert "No compensation stated" in said or "modelled claims" in said
    window.footer.not_yet.click()  # whoever takes the question back is asked again
    press_own_key(window, qtbot)
    assert nothing_was_released(window)
    press_own_key(window, qtbot)
    assert window.step == "release"
    qtbot.waitUntil(lambda: window.study.result("bundle") is not None, timeout=60_000)


def test_its_own_key_does_nothing_where_nothing_is_committed(at: Any, window: Window, qtbot: Any) -> None:
    at("budget", parameters=SMALL)
    press_own_key(window, qtbot)
    press_own_key(window, qtbot)
    assert window.step == "budget" and not window.notice.words()


def test_a_double_click_on_next_turns_one_page(at: Any, window: Window, qtbot: Any) -> None:
    at("risk", parameters=SMALL)
    qtbot.mouseClick(window.footer.next, Qt.MouseButton.LeftButton)
    qtbot.mouseDClick(window.footer.next, Qt.MouseButton.LeftButton)  # its second press alone
    settle(qtbot, window)
    assert window.step == "purpose"


@pytest.mark.parametrize("step", ["release", "report"])
def test_undo_says_nothing_of_what_was_released(released: Any, window: Window, qtbot: Any, step: str) -> None:
    window.go(step)
    settle(qtbot, window)
    before = window.study.plan
    assert window.step == step
    assert not window.footer.undo.isEnabled() and window.footer.undo.accessibleName() == "Undo"
    qtbot.keyClick(window, Qt.Key.Key_Z, CONTROL)
    settle(qtbot, window)
    assert window.step == step and window.study.plan is before
    assert window.study.result("bundle") is not None
    assert "cannot be undone" in window.notice.words()
    window.go("budget")
    settle(qtbot, window)
    assert window.footer.undo.isEnabled() == (window.study.history.undone_next is not None)
