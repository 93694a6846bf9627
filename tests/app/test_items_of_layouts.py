"""Python sees no item of a layout that the toolkit deletes: it then stood for whatever lay there next."""

from __future__ import annotations

import ast
import gc
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLabel, QLayout, QLayoutItem, QVBoxLayout, QWidget
from shiboken6 import createdByPython, delete, getAllValidWrappers

from app.frame.tabbing import read_stops, step_focus
from app.frame.window import Window
from app.parts.layouts import ColumnLayout, GridLayout, LineLayout, RowLayout
from app.parts.making import laid
from app.parts.wrapping import Wrapping
from tests.app.walking import open_table, settle, write_people

pytestmark = pytest.mark.guarantee

APP = Path(__file__).parents[2] / "app"


def seen_items() -> int:
    """Return how many items of layouts Python knows; layouts tell it when they go."""
    return sum(isinstance(one, QLayoutItem) and not isinstance(one, QLayout) for one in getAllValidWrappers())


def loose_items() -> int:
    """Return how many items Python knows that the toolkit made, beyond those that a `Wrapping` holds."""
    gc.collect()  # those of a window that was before
    known = [one for one in getAllValidWrappers() if isinstance(one, QLayoutItem)]
    held = {id(item) for one in known if isinstance(one, Wrapping) for item in one._items}
    items = (one for one in known if not isinstance(one, QLayout) and not createdByPython(one))
    return sum(id(one) not in held for one in items)


def test_no_screen_makes_items_of_layouts_known(window: Window, qtbot: Any, tmp_path: Path) -> None:
    """Layouts put into others made a thousand known: a random walk ended the window after some minutes."""
    before = loose_items()
    open_table(qtbot, window, write_people(tmp_path / "people.csv"))
    for step in ("start", "load", "columns", "purpose", "method", "budget", "explore", "releases"):
        window.go(step)
        settle(qtbot, window)
    window.show_help()
    settle(qtbot, window)
    assert loose_items() == before


@pytest.mark.parametrize("inner", [RowLayout, ColumnLayout, Wrapping])
def test_an_item_of_a_layout_in_another_goes_with_its_widget(window: Window, inner: type[QLayout]) -> None:
    for outer in (
        ColumnLayout,
        RowLayout,
        GridLayout,
        lambda of: LineLayout(QBoxLayout.Direction.TopToBottom, of),
    ):
        held = QWidget(window)
        around, middle, within = outer(held), RowLayout(), inner()
        labels = [QLabel(name) for name in "abc"]
        for one in labels:
            within.addWidget(one)
        if isinstance(within, QBoxLayout):
            within.addStretch()
        middle.addLayout(within)
        around.addLayout(middle, *((0, 0) if isinstance(around, GridLayout) else ()))
        before = loose_items(), seen_items(), within.count()
        delete(labels[1])
        gone = inner is Wrapping  # only this one holds items at all
        assert (loose_items(), seen_items(), within.count()) == (before[0], before[1] - gone, before[2] - 1)
        assert [one.text() for _, one in sorted(_places(within, labels[::2]))] == ["a", "c"]
        delete(held)  # nothing in it stays known but what a `Wrapping` held, which lives on for as long
        assert loose_items() == before[0] + (2 if inner is Wrapping else 0)
        del around, middle, within


def _places(layout: QLayout, widgets: list[QLabel]) -> list[tuple[int, QLabel]]:
    return [(layout.indexOf(one), one) for one in widgets if layout.indexOf(one) >= 0]


def test_no_source_makes_a_layout_of_the_toolkit() -> None:
    """Those that stand in `app.parts.layouts` let go of the items of a layout that is put into them."""
    made = {"QVBoxLayout", "QHBoxLayout", "QGridLayout", "QBoxLayout", "QFormLayout", "QStackedLayout"}
    found = []
    for path in APP.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = node.func if isinstance(node, ast.Call) else None
            bases = node.bases if isinstance(node, ast.ClassDef) and path.name != "layouts.py" else []
            names = {one.id for one in (called, *bases) if isinstance(one, ast.Name)}
            found += [f"{path.name}:{name}" for name in sorted(names & made)]
    assert not found


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
            is_asked = isinstance(node, ast.Attribute) and node.attr == "itemAt" and path.name != "layouts.py"
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
