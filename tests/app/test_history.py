"""Undo and redo: every edit, on whatever screen, and nothing that was paid for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QPushButton

from app import words
from app.frame.window import Window
from app.state import draft
from app.state.history import MOST
from app.state.study import Study
from app.work.releasing import Outcome
from engine.ledger import Ledger
from engine.methods.protocol import Budget
from engine.release.plan import FileReference, Plan
from engine.table.schema import Role
from tests.app.test_study import EDITS, START
from tests.app.walking import open_table, settle, walk_to, write, write_people

CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


def edits(study: Study, *changes: dict[str, Any]) -> None:
    """Make edits, each of its own."""
    for change in changes:
        study.decide(**change)
        study.history.end_edit()


EXACT = {"budget": Budget(Fraction(1)), "holding_budget": Budget(Fraction(3)), "sample": Fraction(1, 2)}


def test_every_field_of_a_plan_is_undone_and_made_again() -> None:
    for name in EDITS:
        study = Study(START)
        value = EXACT.get(name)
        changed = value if value is not None else _other(name)
        edits(study, {name: changed})
        after = study.plan
        assert study.undo() is not None and study.plan == START, name
        assert study.redo() is not None and study.plan == after, name
        assert words.label(study.history.undone_next or ""), name
    assert {part.name for part in fields(Plan)} == set(EDITS)


def _other(name: str) -> Any:
    first = getattr(START, name)
    made = {
        str: "other",
        int: 7,
        dict: {},
        tuple: ({"step": "keep"},),
    }.get(type(first))
    if name == "declared_sizes":
        return (3, 4)
    if name in ("purpose", "price"):
        return replace(first, **({"title": "Stays"} if name == "purpose" else {"people": 5}))
    if name == "parameters":
        return {"columns": ["age"]}
    return made


def test_an_edit_after_undoing_takes_the_place_of_what_was_undone() -> None:
    study = Study(START)
    edits(study, {"holding": "A"}, {"holding": "B"})
    study.undo()
    edits(study, {"holding": "C"})
    assert study.redo() is None
    study.undo()
    assert study.plan.holding == "A"


def test_what_follows_by_itself_is_undone_with_its_edit() -> None:
    study = Study(START)
    edits(study, {"holding": "A"})
    with study.by_itself():
        study.decide_part("price", people=40)
    study.undo()
    assert study.plan == START
    study.redo()
    assert (study.plan.holding, study.plan.price.people) == ("A", 40)


def test_what_follows_by_itself_after_undoing_keeps_what_can_be_made_again() -> None:
    study = Study(START)
    edits(study, {"holding": "A"}, {"holding": "B"})
    study.undo()
    with study.by_itself():
        study.decide_part("price", people=40)
    study.redo()
    assert study.plan.holding == "B"


def test_the_moves_of_a_slider_are_one_edit() -> None:
    study = Study(START)
    edits(study, *({"budget": Budget(Fraction(step, 10))} for step in range(1, 9)))
    study.undo()
    assert study.plan.budget is None


def test_no_more_moments_are_kept_than_are_allowed() -> None:
    study = Study(START)
    edits(study, *({"holding": f"{number}"} for number in range(MOST + 20)))
    undone = 0
    while study.undo() is not None:
        undone += 1
    assert undone == MOST - 1


def test_a_result_that_an_edit_dropped_comes_back_with_undoing() -> None:
    study = Study(START)
    study.store("bundle", "made", study.plan)
    study.store("raw", "rows", study.plan)
    edits(study, {"holding": "A"})
    assert study.result("bundle") is None
    study.undo()
    assert study.result("bundle") == "made" and "bundle" in study.state.results


def press(qtbot: Any, window: Window, *, again: bool = False) -> None:
    """Press Ctrl+Z, or Ctrl+Shift+Z."""
    where = QApplication.focusWidget() or window
    qtbot.keyClick(where, Qt.Key.Key_Z, CONTROL | SHIFT if again else CONTROL)
    settle(qtbot, window)


def test_undo_leads_to_the_screen_of_the_edit_and_says_what(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    walk_to(qtbot, window, write_people(tmp_path / "people.csv"), "columns")
    page = window.page("columns")
    page.select("age")
    before = window.study.plan
    page._set_role(Role.SENSITIVE)
    settle(qtbot, window)
    changed = window.study.plan
    assert changed != before
    window.go("risk")
    settle(qtbot, window)
    press(qtbot, window)
    assert window.step == "columns" and window.study.plan == before
    assert "age" in window.notice.words()
    press(qtbot, window, again=True)
    assert window.study.plan == changed


def test_a_field_undoes_its_letters_first_and_the_study_after_that(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    walk_to(qtbot, window, write_people(tmp_path / "people.csv"), "purpose")
    field = window.page("purpose").fields["title"]
    write(qtbot, field, "Counts")
    settle(qtbot, window)
    assert window.study.plan.purpose.title == "Counts"
    qtbot.keyClicks(field, " more")
    press(qtbot, window)
    assert window.study.plan.purpose.title == "Counts" and not field.text().endswith("more")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    press(qtbot, window)
    assert window.study.plan.purpose.title == "Stays by age" and field.text() == "Stays by age"


def test_the_buttons_say_what_they_would_undo(window: Window, qtbot: Any, tmp_path: Path) -> None:
    open_table(qtbot, window, write_people(tmp_path / "people.csv"))
    assert not window.footer.undo.isEnabled() and not window.footer.redo.isEnabled()
    window.study.decide_part("purpose", title="Stays")
    qtbot.waitUntil(window.footer.undo.isEnabled, timeout=2000)
    assert words.say("app.purpose.field.title.label") in window.footer.undo.toolTip()
    qtbot.mouseClick(window.footer.undo, Qt.MouseButton.LeftButton)
    settle(qtbot, window)
    assert window.study.plan.purpose.title == "" and window.footer.redo.isEnabled()
    qtbot.mouseClick(window.footer.redo, Qt.MouseButton.LeftButton)
    settle(qtbot, window)
    assert window.study.plan.purpose.title == "Stays"


def test_another_table_can_be_undone(window: Window, qtbot: Any, tmp_path: Path) -> None:
    walk_to(qtbot, window, write_people(tmp_path / "people.csv"), "purpose")
    before = window.study.plan
    open_table(qtbot, window, write_people(tmp_path / "others.csv", people=30))
    assert window.study.plan.purpose.title == ""
    press(qtbot, window)
    assert window.study.plan == before and window.study.table.n_rows == 60


def test_a_release_stays_paid_and_comes_back(
    released: Outcome, window: Window, qtbot: Any, tmp_path: Path
) -> None:
    window.go("report")
    settle(qtbot, window)
    spent = Ledger(tmp_path / "ledger.sqlite", read_only=True).journal()
    window.study.decide_part("purpose", title="Another title")
    settle(qtbot, window)
    press(qtbot, window)
    assert window.study.result("bundle") is released
    assert window.side.steps.buttons["report"].isEnabled()
    assert Ledger(tmp_path / "ledger.sqlite", read_only=True).journal() == spent


def test_a_finished_release_is_opened_again_after_other_work(
    released: Outcome, window: Window, qtbot: Any, tmp_path: Path
) -> None:
    made_by = window.study.plan
    open_table(qtbot, window, write_people(tmp_path / "others.csv"))
    other = window.study.plan
    window.go("releases")
    settle(qtbot, window)
    page = window.page("releases")
    page.table.selectRow(0)
    assert page.report.isVisible()
    qtbot.mouseClick(page.report, Qt.MouseButton.LeftButton)
    settle(qtbot, window)
    assert window.step == "report" and window.study.plan == made_by
    assert window.study.result("bundle") is released
    window.undoing.undo()
    settle(qtbot, window)
    assert window.study.plan == other


def test_another_table_leaves_the_draft_of_the_first(
    window: Window, make_window: Callable[[], Window], qtbot: Any, tmp_path: Path
) -> None:
    open_table(qtbot, window, write_people(tmp_path / "first.csv"))
    window.study.decide_part("purpose", title="The first")
    window.save_draft()
    open_table(qtbot, window, write_people(tmp_path / "second.csv", people=30))
    window.close()
    again = make_window()
    start = again.page("start")
    assert "second.csv" in start.draft.text()
    links = [one for one in start.findChildren(QPushButton) if one.objectName() == "draft-2"]
    assert len(links) == 1 and "first.csv" in links[0].text()
    qtbot.mouseClick(links[0], Qt.MouseButton.LeftButton)
    settle(qtbot, again)
    assert again.study.plan.purpose.title == "The first" and again.study.table.n_rows == 60
    again.save_draft()
    assert [one.table for one in draft.drafts(folder=tmp_path / "data")] == ["first.csv", "second.csv"]


def test_no_more_drafts_are_kept_than_are_offered(tmp_path: Path) -> None:
    for number in range(draft.MOST + 3):
        draft.save(Plan(files={"people": FileReference(f"{number}.csv")}), frozenset(), folder=tmp_path)
    found = draft.drafts(folder=tmp_path)
    newest = range(draft.MOST + 2, 2, -1)
    assert [one.table for one in found] == [f"{number}.csv" for number in newest]
    draft.save(Plan(files={"people": FileReference("5.csv")}), frozenset(), folder=tmp_path)
    assert draft.drafts(folder=tmp_path)[0].table == "5.csv"
    assert len({one.table for one in draft.drafts(folder=tmp_path)}) == draft.MOST
