"""Notices name the field, lead to it, and go away when it is mended; what is required says so before."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton

from app import words
from app.frame.window import Window
from app.state.flow import ROWS_PER_PERSON, Missing
from engine.release.plan import Purpose
from engine.table.schema import Role
from tests.app.walking import open_table, settle, walk_to, write, write_people


def press_next(qtbot: Any, window: Window) -> None:
    """Press the button for the next step."""
    qtbot.mouseClick(window.footer.next, Qt.MouseButton.LeftButton)
    settle(qtbot, window)


def to_purpose(qtbot: Any, window: Window, path: Path) -> Any:
    """Open the purpose with nothing said."""
    walk_to(qtbot, window, path, "risk")
    window.go("purpose")
    settle(qtbot, window)
    return window.page("purpose")


def test_next_names_all_that_is_missing_and_stands_in_the_first(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page = to_purpose(qtbot, window, write_people(tmp_path / "people.csv"))
    page.fields["approver"].setFocus()
    press_next(qtbot, window)
    assert window.step == "purpose"
    for name in ("purpose_title", "purpose_recipient", "no_holding"):
        assert words.say(f"app.flow.{name}") in window.notice.words()
    assert QApplication.focusWidget() is page.fields["title"]


def test_a_link_leads_to_its_field_and_goes_when_the_field_is_filled(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page = to_purpose(qtbot, window, write_people(tmp_path / "people.csv"))
    press_next(qtbot, window)
    link = window.notice.findChild(QPushButton, "missing-purpose_recipient")
    qtbot.mouseClick(link, Qt.MouseButton.LeftButton)
    assert QApplication.focusWidget() is page.fields["recipient"]
    write(qtbot, page.fields["recipient"], "University")
    settle(qtbot, window)
    assert words.say("app.flow.purpose_recipient") not in window.notice.words()
    assert words.say("app.flow.purpose_title") in window.notice.words()
    write(qtbot, page.fields["title"], "Stays")
    write(qtbot, page.name, "Register")
    settle(qtbot, window)
    assert window.notice.isHidden()


def test_required_fields_are_marked_before_anything_is_pressed(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page = to_purpose(qtbot, window, write_people(tmp_path / "people.csv"))
    shown = {label.text() for label in page.findChildren(QLabel) if label.isVisible()}
    for name in ("title", "recipient", "holding_name"):
        label = words.say(f"app.purpose.field.{name}.label")
        assert words.say("app.window.required", label=label) in shown, name
    assert words.say("app.purpose.field.approver.label") in shown


def test_a_column_that_is_undecided_is_named_and_selected(window: Window, qtbot: Any, tmp_path: Path) -> None:
    open_table(qtbot, window, write_people(tmp_path / "people.csv"))
    window.go("columns")
    settle(qtbot, window)
    page = window.page("columns")
    page.accept.click()
    settle(qtbot, window)
    page.select("age")
    schema = window.study.plan.schema
    ward = replace(schema.column("ward"), role=Role.NOT_RECOGNISED)
    window.study.decide(schemas={"people": schema.with_column(ward)})
    window.study.replace_questions(frozenset({"column:ward"}))
    settle(qtbot, window)
    press_next(qtbot, window)
    assert "ward" in window.notice.words() and page.table.selected() == ["ward"]
    window.study.replace_questions(frozenset({ROWS_PER_PERSON}))
    settle(qtbot, window)
    assert window.notice.isHidden(), "answered"


def test_a_parameter_that_is_missing_is_named_and_gets_the_focus(at: Any, window: Window, qtbot: Any) -> None:
    page = at("method", parameters={})
    press_next(qtbot, window)
    label = words.say("methods.statistics.counts.parameters.columns.label")
    assert window.step == "method" and label in window.notice.words()
    assert page.form.lines["columns"].field.isAncestorOf(QApplication.focusWidget())
    window.study.decide_parameters(columns=["gender"])
    settle(qtbot, window)
    assert window.notice.isHidden()


def test_a_step_too_far_leads_to_the_field_that_stops_it(at: Any, window: Window, qtbot: Any) -> None:
    at("budget")
    window.study.decide(purpose=replace(window.study.plan.purpose, recipient=""))
    settle(qtbot, window)
    window.go("preview")
    settle(qtbot, window)
    assert window.step == "purpose"
    assert QApplication.focusWidget() is window.page("purpose").fields["recipient"]
    assert words.say("app.flow.purpose_recipient") in window.notice.words()


def test_what_was_noticed_goes_with_the_next_edit(window: Window, qtbot: Any, tmp_path: Path) -> None:
    to_purpose(qtbot, window, write_people(tmp_path / "people.csv"))
    window.notify("A reason", "Something to do", tone="care")
    qtbot.wait(5)
    assert not window.notice.isHidden()
    window.study.decide(purpose=Purpose(title="Stays"))
    assert window.notice.isHidden()


def test_a_notice_of_the_same_edit_stays(window: Window, qtbot: Any) -> None:
    window.notify("A reason")
    window.study.decide(purpose=Purpose(title="Stays"))
    qtbot.wait(5)
    assert not window.notice.isHidden()


def test_what_is_missing_without_a_place_has_no_link(window: Window) -> None:
    window.notice.show_missing((Missing("app.flow.not_read"),))
    assert not window.notice.findChildren(QPushButton, "missing-")
    assert window.notice.words() == words.say("app.flow.not_read")
