"""Explore: every analysis is asked through one screen, answers, says what stays, and is saved as a report."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QAbstractButton, QLineEdit

from app import words
from app.frame.window import Window
from app.parts.cards import NumberCard
from app.parts.views.table import TableBody
from app.parts.views.text import TextWidget
from app.work.exploring import read_beside
from engine.analyses.catalogue import analyses, example
from engine.report.embedded import embedded_evidence
from engine.table.schema import Column, Kind, Role, Schema
from tests.app.fitting import faults
from tests.app.walking import decide_columns, open_table, settle, write_people

ALL = [one.id for one in analyses()]


@pytest.fixture
def page(window: Window, qtbot: Any) -> Any:
    """Open the screen."""
    window.side.links["explore"].click()
    settle(qtbot, window)
    assert window.step == "explore"
    return window.page("explore")


def ask(qtbot: Any, window: Window, name: str) -> None:
    """Choose an analysis, fill in its example and press the button."""
    page = window.page("explore")
    page.findChild(QAbstractButton, f"analysis-{name}").click()
    page.fill.click()
    assert window.footer.next.text() == words.say("app.explore.compute")
    window.footer.next.click()
    settle(qtbot, window, timeout=120_000)
    qtbot.waitUntil(lambda: not page.views._waiting, timeout=10_000)


def test_every_analysis_that_is_found_is_offered(page: Any) -> None:
    offered = [button.property("analysis") for button in page.group.buttons()]
    assert sorted(offered) == sorted(ALL) and len(offered) > 5
    assert offered[0] == "disclosure", "what a custodian asks first"
    assert page.group.checkedButton() is page.group.buttons()[0]


def test_what_is_asked_is_marked_in_view_also_where_it_was_folded(page: Any, qtbot: Any) -> None:
    last = page.group.buttons()[-1]
    page.further.line.click()
    last.click()
    for unfolded in (False, True, False):
        page.further.line.setChecked(unfolded)
        qtbot.wait(10)
        assert last.isVisible() and last.isChecked() and page.group.checkedButton() is last
    page.group.buttons()[0].click()
    qtbot.wait(10)
    assert not last.isVisible() and page.group.buttons()[0].isChecked()


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_an_example_is_asked_answered_and_saved(
    page: Any, window: Window, qtbot: Any, tmp_path: Path, name: str
) -> None:
    ask(qtbot, window, name)
    assert page.answer is not None, window.notice.words()
    assert page.views.views == page.answer.views and len(page.answer.views) > 0
    assert page.stays.isVisible() == page.answer.stays
    fields = [one for one in page.findChildren(QLineEdit) if one.isVisible() and one.objectName()]
    qtbot.wait(100)  # the layout is made anew
    cut = [(one.objectName(), one.height(), one.parentWidget().height()) for one in fields]
    assert not [one for one in cut if one[1] > one[2] and not one[0].startswith("qt_")]
    shown = example(page.choices[name].analysis)
    invented = shown.values.get("population") == "simulated"
    assert page.answer.stays == (shown.table is not None and not invented)
    page.save_as(str(tmp_path / "answer.pdf"))
    settle(qtbot, window)
    written = (tmp_path / "answer.pdf").read_bytes()
    assert json.loads(embedded_evidence(written))["analysis"]["id"] == name


def test_nothing_is_released_spent_or_decided(page: Any, window: Window, qtbot: Any) -> None:
    plan = window.study.plan
    ask(qtbot, window, "at_risk")
    assert window.study.plan is plan and not window.study.ledger_path.exists()


@pytest.mark.parametrize("name", ["disclosure", "meta_analysis"])
def test_figures_have_four_digits_and_the_report_keeps_all(
    page: Any, window: Window, qtbot: Any, name: str
) -> None:
    ask(qtbot, window, name)
    written = []
    for table in [one for one in page.views.findChildren(TableBody) if one.isVisible()]:
        model = table.model()
        places = [(row, column) for row in range(model.rowCount()) for column in range(model.columnCount())]
        written += [str(model.index(*place).data()) for place in places]
    written += [card.number.text() for card in page.views.findChildren(NumberCard) if card.isVisible()]
    told = [one.plain() for one in page.views.findChildren(TextWidget) if one.isVisible()]
    assert told or name != "disclosure"
    written += told
    numbers = [one for said in written for one in re.findall(r"\d[\d,]*\.\d+", said)]
    assert numbers
    long = [one for one in numbers if len(one.lstrip("-0.").replace(".", "").lstrip("0")) > 4]
    assert not long, long
    assert page.views.views == page.answer.views, "what is saved is what was computed"


def test_another_value_takes_the_answer_away(page: Any, window: Window, qtbot: Any) -> None:
    ask(qtbot, window, "at_risk")
    before = page.answer.figures
    field = page.findChild(QLineEdit, "epsilon")
    field.setText("0.3")
    field.textEdited.emit("0.3")
    assert page.answer is None and not page.answered.isVisible()
    window.footer.next.click()
    settle(qtbot, window)
    assert page.answer.figures != before


def test_what_is_wrong_is_said_where_it_stands(page: Any, window: Window, qtbot: Any) -> None:
    page.findChild(QAbstractButton, "analysis-at_risk").click()
    window.footer.next.click()
    settle(qtbot, window)
    assert page.answer is None and window.notice.words()


def test_the_open_table_can_be_asked_about_and_the_answer_stays(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    open_table(qtbot, window, write_people(tmp_path / "people.csv"))
    window.go("explore")
    settle(qtbot, window)
    page = window.page("explore")
    page.findChild(QAbstractButton, "analysis-direct").click()
    place = page.about.findData("own")
    assert place >= 0
    page.about.setCurrentIndex(place)
    page.about.activated.emit(place)
    asked = {"query": "count", "scale": "2", "epsilon": "0.5", "draws": "500", "records": "20"}
    for name, value in asked.items():
        page._filled(name, value)
    window.footer.next.click()
    settle(qtbot, window, timeout=60_000)
    assert page.answer is not None, window.notice.words()
    assert page.answer.stays and page.stays.isVisible()
    outside = tmp_path / "bundle" / "release"
    outside.mkdir(parents=True)
    (outside / "SHA256SUMS").write_text("")
    page.save_as(str(outside / "answer.pdf"))
    settle(qtbot, window)
    assert not (outside / "answer.pdf").exists() and "for outside" in window.notice.words()


def test_a_second_file_is_what_an_intruder_holds(
    page: Any, window: Window, qtbot: Any, tmp_path: Path
) -> None:
    open_table(qtbot, window, write_people(tmp_path / "people.csv"))
    decide_columns(qtbot, window, rows_per_person=2)
    known = tmp_path / "known.csv"
    known.write_text("age;gender;patient_nbr\n[0-10);Male;500000\n[0-10);Female;500063\n[90-95);Male;1\n")
    window.go("explore")
    page.findChild(QAbstractButton, "analysis-linkage").click()
    page._filled("columns", ["age", "gender"])
    page.about.setCurrentIndex(page.about.findData("own"))
    page.seconds["intruder"].chosen.emit(str(known))
    assert page.seconds["intruder"].file.plain() == "known.csv"
    window.footer.next.click()
    settle(qtbot, window)
    # Of 40 people five are in this age band, and of the first 20 each has two rows
    assert page.answer.figures["exact"]["records"] == 3, window.notice.words()
    assert page.answer.figures["exact"]["found"] == 2 and page.answer.stays
    page.seconds["intruder"].remove.click()
    assert page.answer is None and not page.seconds["intruder"].file.isVisible()
    window.footer.next.click()
    settle(qtbot, window)
    assert page.answer.figures["exact"]["records"] == 60


def test_a_second_file_without_the_columns_is_refused_in_words(
    page: Any, window: Window, qtbot: Any, tmp_path: Path
) -> None:
    open_table(qtbot, window, write_people(tmp_path / "people.csv"))
    (tmp_path / "other.csv").write_text("shoe\n41\n")
    window.go("explore")
    page.findChild(QAbstractButton, "analysis-linkage").click()
    page._filled("columns", ["age"])
    page.about.setCurrentIndex(page.about.findData("own"))
    page.take_second("intruder", str(tmp_path / "other.csv"))
    window.footer.next.click()
    settle(qtbot, window)
    assert page.answer is None and "other.csv" in window.notice.words()


def test_a_second_file_is_prepared_as_the_table_was(tmp_path: Path) -> None:
    (tmp_path / "known.csv").write_text("age,ward\n41,b\n77,a\n")
    steps = [
        {"step": "bands", "column": "age", "edges": [0, 50, 100], "to": "band"},
        {"step": "keep_rows_where", "column": "ward", "is": "in", "values": ["a"]},
        {"step": "bands", "column": "stay", "edges": [0, 50], "to": "stays"},
    ]
    schema = Schema((Column("age", Role.IDENTIFYING, Kind.INTEGER), Column("ward"), Column("stay")))
    table = read_beside(tmp_path / "known.csv", schema, steps)
    assert table.rows()["band"].tolist() == ["[50-100)"] and "stays" not in table.names


def test_what_can_be_asked_is_offered_as_questions(window: Window, qtbot: Any) -> None:
    window.go("explore")
    settle(qtbot, window)
    page = window.page("explore")
    buttons = page.group.buttons()
    assert len(buttons) == len(page.choices) > 10
    assert all(button.text().endswith("?") for button in buttons), [one.text() for one in buttons]
    assert len({button.text() for button in buttons}) == len(buttons)
    for button in buttons:
        button.click()
        settle(qtbot, window)
        name = button.property("analysis")
        assert page.name.text() == button.accessibleName() == button.text().replace("\n", " ")
        assert page.summary.plain().startswith(words.say(f"analyses.{name}.title"))


def test_one_long_question_does_not_take_the_room_of_two_columns(window: Window, qtbot: Any) -> None:
    window.use_language("de")
    try:
        window.go("explore")
        settle(qtbot, window)
        page = window.page("explore")
        page.further.line.click()
        settle(qtbot, window)
        left = {one.x() for one in page.group.buttons()}
        assert len(left) == 2 and any("\n" in one.text() for one in page.group.buttons())
        assert not [one for one in faults(window) if "QRadioButton" in one]
        assert page.horizontalScrollBar().maximum() == 0
    finally:
        window.use_language("en")


def test_questions_of_the_craft_are_folded(page: Any, window: Window) -> None:
    shown = [one.property("analysis") for one in page.group.buttons() if one.isVisible()]
    assert 5 < len(shown) <= 12 and len(shown) < len(ALL)
    page.further.line.click()
    assert all(button.isVisible() for button in page.group.buttons())
    assert str(len(ALL) - len(shown)) in page.further.line.text()
