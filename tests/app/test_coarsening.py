"""Coarser steps of a column: decided on the columns screen, kept in the plan, shown beside the values."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit

from app.frame.window import Window
from app.parts.form.coarsening import Groups, forms, read_hierarchy, start_hierarchy, steps_of, summary
from app.parts.form.hierarchy_editor import GroupTree
from engine.table.hierarchies import MOST_LEVELS, Hierarchy
from engine.table.schema import Column, Domain, Kind, Origin
from tests.app.walking import settle, walk_to, write, write_people


def choose(combo: QComboBox, data: str) -> None:
    combo.setCurrentIndex(combo.findData(data))
    combo.activated.emit(combo.currentIndex())


def begin(window: Window, qtbot: Any, tmp_path: Path, column: str) -> Any:
    """Open the steps of a column as a person does."""
    page = window.page("columns")
    page._show("all")
    page.select(column)
    settle(qtbot, window)
    page._editor.findChild(QAbstractButton, "steps_change").click()
    qtbot.wait(1)
    assert page.steps.isVisible() and not page.table.isVisible()
    return page.steps.editor


def test_steps_of_a_column_are_decided_and_kept(window: Window, qtbot: Any, tmp_path: Path) -> None:
    walk_to(qtbot, window, write_people(tmp_path / "people.csv"), "columns")
    page = window.page("columns")
    editor = begin(window, qtbot, tmp_path, "stay")
    assert editor.form.currentData() == "none" and not editor.table.isVisible()
    choose(editor.form, "bands")
    write(qtbot, editor.widths, "2, 4")
    write(qtbot, editor.start, "1")
    wanted = Hierarchy(bands=(Fraction(2), Fraction(4)), start=Fraction(1))
    assert window.study.plan.schema.column("stay").hierarchy == wanted
    write(qtbot, editor.widths, "2, 3")  # 3 is no multiple of 2: nothing is decided
    assert window.study.plan.schema.column("stay").hierarchy == wanted and not editor.wrong.isHidden()
    page.steps.findChild(QAbstractButton, "coarsening_done").click()
    assert page.table.isVisible() and not page.steps.isVisible()
    assert "2, 4" in page._editor.steps_words.plain()
    editor = begin(window, qtbot, tmp_path, "ward")
    file = tmp_path / "wards.csv"
    file.write_text("ward 0,north,*\nward 1,north,*\nward 2,south,*\n")
    editor.read_file(str(file))
    tree = window.study.plan.schema.column("ward").hierarchy
    assert tree is not None and tree.at(["ward 2"], 1) == ["south"]
    choose(editor.form, "none")
    assert window.study.plan.schema.column("ward").hierarchy is None
    window.go("start")
    window.go("columns")
    assert page.table.isVisible()


def test_a_group_takes_along_what_stands_above_it() -> None:
    groups = Groups.of(["a", "b", "c", "d"]).put(["a", "b"], 0, "early").higher()
    groups = groups.put(["a"], 1, "whole").put(["c"], 0, "early")  # joins its group with what is above it
    assert groups.paths["c"] == ("early", "whole") and groups.without == ("d",)
    moved = groups.put(["c"], 0, "late")
    assert moved.paths["c"] == ("late", "whole") and moved.paths["a"] == ("early", "whole")
    both = moved.put(["d"], 0, "late").put(["d"], 1, "rest")  # c lies in the same group, so it moves too
    assert both.paths["c"] == both.paths["d"] == ("late", "rest")
    Hierarchy.from_json(both.tree(), column="any")  # whatever is put where, groups stay inside groups
    assert both.lower().height == 1 and both.lower().lower().height == 1


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("domain", [None, Domain(Fraction(0), Fraction(120)), Domain(values=("ab", "b"))])
def test_every_form_that_is_offered_starts_with_something_that_holds(kind: Kind, domain: Any) -> None:
    column = Column("it", kind=kind, domain=domain, domain_origin=Origin.DECLARED if domain else None)
    for form in forms(column):
        tree = start_hierarchy(form, column)
        hierarchy, wrong = read_hierarchy(tree, column)
        assert not wrong and (hierarchy is None) == (form == "tree")
        if hierarchy is not None:
            assert hierarchy.height <= MOST_LEVELS and summary(hierarchy)
            assert all(len(row) == hierarchy.height for row in steps_of(hierarchy, ["1", "x", ""]))


# --- groups as a tree ------------------------------------------------------------------------------


def item_of(tree: Any, node: tuple[int, str]) -> Any:
    return next(item for item in tree._items() if tree._node(item) == node)


def rename(qtbot: Any, tree: GroupTree, group: str, name: str) -> None:
    tree.setCurrentItem(item_of(tree, (0, group)))
    qtbot.keyClick(tree, Qt.Key.Key_F2)
    write(qtbot, tree.findChildren(QLineEdit)[-1], name)
    qtbot.wait(20)


def test_groups_are_renamed_merged_moved_and_dissolved_in_a_tree(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    walk_to(qtbot, window, write_people(tmp_path / "people.csv"), "columns")
    editor = begin(window, qtbot, tmp_path, "ward")
    file = tmp_path / "wards.csv"
    file.write_text("ward 0;north;*\nward 1;north;*\nward 2;south;*\n")
    editor.read_file(str(file))
    editor.as_tree.click()
    tree = editor.group_tree
    assert tree.isVisible() and not editor.table.isVisible()

    def decided() -> dict[str, list[str]]:
        hierarchy = window.study.plan.schema.column("ward").hierarchy
        return hierarchy.to_json()["tree"] if hierarchy is not None else {}

    tree.setFocus()
    tree.setCurrentItem(item_of(tree, (-1, "ward 1")))
    qtbot.keyClick(tree, Qt.Key.Key_X, Qt.KeyboardModifier.ControlModifier)
    tree.setCurrentItem(item_of(tree, (0, "south")))
    qtbot.keyClick(tree, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert decided() == {"ward 0": ["north"], "ward 1": ["south"], "ward 2": ["south"]}
    rename(qtbot, tree, "north", "hill")
    assert decided()["ward 0"] == ["hill"]
    rename(qtbot, tree, "hill", "south")  # the name of another one: both are one
    assert {path[0] for path in decided().values()} == {"south"}
    window.undoing.undo()
    settle(qtbot, window)
    assert decided()["ward 0"] == ["hill"]
    tree.setCurrentItem(item_of(tree, (0, "hill")))
    qtbot.keyClick(tree, Qt.Key.Key_Delete)
    assert "ward 0" not in decided() and "ward 0" in editor.note.plain()
    saved = tmp_path / "saved.csv"
    editor.write_file(str(saved))
    lines = saved.read_text(encoding="utf-8").splitlines()
    assert "ward 1;south;*" in lines


def test_a_tree_moves_only_what_fits(qtbot: Any) -> None:
    tree = GroupTree("it")
    qtbot.addWidget(tree)
    groups = Groups.of("abcd", {"a": ["x", "all"], "b": ["x", "all"], "c": ["y", "all"], "d": ["z", "rest"]})
    tree.show_groups(groups)
    tree.move_nodes([(-1, "a")], (1, "rest"))  # a value goes into a group of the first step only
    assert tree.groups == groups
    tree.move_nodes([(0, "x"), (0, "y")], (1, "rest"))  # whole groups go along with what is in them
    assert {path[1] for path in tree.groups.paths.values()} == {"rest"}
    Hierarchy.from_json(tree.groups.tree(), column="any")


def test_a_code_list_is_taken_and_what_it_does_not_know_is_named(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    walk_to(qtbot, window, write_people(tmp_path / "people.csv"), "columns")
    editor = begin(window, qtbot, tmp_path, "diagnosis")
    choose(editor.form, "codes:icd10")
    hierarchy = window.study.plan.schema.column("diagnosis").hierarchy
    assert hierarchy is not None and hierarchy.at(["E11"], 2) == ["E10-E14"]
    choose(editor.form, "suffix")
    write(qtbot, editor.last, "1")
    hierarchy = window.study.plan.schema.column("diagnosis").hierarchy
    assert hierarchy is not None and hierarchy.at(["E11"], 1) == ["**1"]
    editor = begin(window, qtbot, tmp_path, "stay")
    choose(editor.form, "cuts")
    write(qtbot, editor.cuts, "2, 5, 9; 5")
    hierarchy = window.study.plan.schema.column("stay").hierarchy
    assert hierarchy is not None and hierarchy.at(["3.5"], 1) == ["[2, 5)"]
