"""Python sees no item of a layout that the toolkit deletes: it then stood for whatever lay there next."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QHBoxLayout, QLabel, QLayout, QLayoutItem, QVBoxLayout, QWidget
from shiboken6 import getAllValidWrappers

from app.frame.tabbing import read_stops, step_focus
from app.frame.window import Window
from app.parts.making import laid
from tests.app.walking import open_table, settle, write_people

APP = Path(__file__).parents[2] / "app"


def seen_items() -> int:
    """Return how many items of layouts Python knows; layouts tell it when they go."""
    return sum(isinstance(one, QLayoutItem) and not isinstance(one, QLayout) for one in getAllValidWrappers())


def test_tab_sees_no_item_of_a_layout(window: Window, qtbot: Any, tmp_path: Path) -> None:
    """A help that was opened after the look had changed ended the program, one time in thirty."""
    open_table(qtbot, window, write_people(tmp_path / "people.csv"))
    for step in ("load", "columns"):
        window.go(step)
        settle(qtbot, window)
        before = seen_items()
        assert len(list(read_stops(window))) > 5
        assert step_focus(window, forward=True)
        assert seen_items() == before


def test_no_source_asks_a_layout_for_its_items() -> None:
    """Only the layout that is written here holds items, and lets go of each before it is deleted."""
    found = []
    for path in APP.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_asked = isinstance(node, ast.Attribute) and node.attr == "itemAt"
            if is_asked and not (isinstance(node.value, ast.Name) and node.value.id == "self"):
                found.append(f"{path.name}:{node.lineno}")
    assert not found


def test_widgets_are_found_in_the_order_in_which_they_lie(window: Window) -> None:
    outer = QWidget(window)
    column, row = QVBoxLayout(outer), QHBoxLayout()
    first, second, third, inner = (QLabel(name, outer) for name in "abcd")
    for one in (third, first):
        column.addWidget(one)
    column.addSpacing(3)
    column.insertLayout(1, row)
    row.addWidget(inner)
    column.addWidget(second)
    assert [(place, one.text()) for place, one in laid(column)] == [(0, "c"), (2, "a"), (4, "b")]
    assert [(place, one.text()) for place, one in laid(row)] == [(0, "d")]
