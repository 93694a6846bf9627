"""The columns page: what a selection costs, what it shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.window import Window
from tests.app.walking import open_table, settle, write_people


@pytest.fixture
def page(window: Window, qtbot: Any, tmp_path: Path) -> Any:
    """Return the page with a table of invented people, two rows of some of them."""
    open_table(qtbot, window, write_people(tmp_path / "people.csv"))
    window.go("columns")
    settle(qtbot, window)
    page = window.page("columns")
    page.every.click()
    return page


def test_a_selection_fills_the_side_once_and_makes_no_widget_anew(page: Any, window: Window) -> None:
    page.select("age")
    body, editor, asked = window.panel.widget(), page._editor, []
    explain = page.explain
    page.explain = lambda topic: asked.append(topic) or explain(topic)
    page.select("ward")
    assert len(asked) == 1 and page._editor is editor
    assert window.panel.widget() is body and window.panel.shown().title == "ward"
    assert page._editor.names == ("ward",)


def test_what_stands_on_the_right_comes_back_after_another_page(
    page: Any, window: Window, qtbot: Any
) -> None:
    page.select("ward")
    window.go("load")
    qtbot.waitUntil(lambda: not page._editor.isVisible(), timeout=2000)
    window.go("columns")
    page.select("ward")
    qtbot.waitUntil(page._editor.isVisible, timeout=2000)
    assert window.panel.shown().title == "ward"


def test_a_half_written_field_is_not_taken_along_to_another_column(page: Any, window: Window) -> None:
    page.select("ward")
    page._editor.missing.setFocus()
    page._editor.missing.setText("9")
    page._editor.missing.setModified(True)
    page.select("age")
    assert page._editor.missing.text() == ""
    assert window.study.plan.schema.column("age").missing == ()
