"""Who says that every row is another person, against a column with repeats, is asked why before going on."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QLineEdit, QPushButton

from app import words
from app.frame.window import Window
from engine.release.decisions import ONE_ROW_EACH, reason_for
from engine.table.schema import Role
from tests.app.hands import Hands
from tests.app.walking import open_table, settle

PEOPLE, ROWS = 90, 120


def write_stays(path: Path, *, repeats: bool = True) -> Path:
    """Write stays of invented people; 30 of them have two, and no name says whose a stay is."""
    lines = ["zz,birth_year,gender,ward,amount"]
    drawn = random.Random(3)
    people = [(drawn.randrange(1930, 2000), drawn.choice("fm")) for _ in range(PEOPLE)]
    for row in range(ROWS):
        born, gender = people[row % PEOPLE]
        number = 1000 + 7 * (row % PEOPLE if repeats else row)
        lines.append(f"Q{number},{born},{gender},w{drawn.randrange(4)},{drawn.randrange(100)}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def hands(window: Window, qtbot: Any, tmp_path: Path) -> Hands:
    """Return hands on the page of columns, where every suggestion but the key was accepted."""
    open_table(qtbot, window, write_stays(tmp_path / "stays.csv"))
    window.go("columns")
    settle(qtbot, window)
    found = Hands(qtbot, window)
    found.click("accept")
    return found


def test_the_likely_key_is_named_with_its_counts_although_no_name_gives_it_away(
    hands: Hands, window: Window
) -> None:
    card = window.page("columns").card
    assert window.study.plan.schema.person_key.name == "zz"
    assert card.key.itemText(0) == f"zz: {PEOPLE} numbers on {ROWS} rows" and card.key.itemData(0) == "zz"


def test_every_row_is_another_person_is_asked_the_reason_of(hands: Hands, window: Window) -> None:
    page = window.page("columns")
    hands.click("unit_change")
    hands.click("unit_each")
    assert window.study.plan.schema.one_row_each
    assert f"“zz” has {PEOPLE} different values on {ROWS} rows" in page.card.denied.plain()
    assert page.card.denied.property("tone") == "wrong"
    hands.click("next")
    assert window.step == "columns" and words.say("app.flow.one_row_each") in window.notice.words()
    assert window.focusWidget().objectName() == "unit_reason"
    hands.type("unit_reason", "only first stays were exported")
    assert reason_for(window.study.plan.decisions, ONE_ROW_EACH) == "only first stays were exported"
    hands.next("risk")
    window.go("columns")
    settle(hands.qtbot, window)
    hands.part(QPushButton, "unit_change").click()
    assert hands.part(QLineEdit, "unit_reason").text() == "only first stays were exported"


def test_choosing_the_column_instead_takes_question_and_reason_away(hands: Hands, window: Window) -> None:
    hands.click("unit_change")
    hands.click("unit_each")
    hands.type("unit_reason", "a mistake")
    hands.pick("unit_column", "zz")
    assert window.study.plan.schema.person_key.name == "zz"
    assert not reason_for(window.study.plan.decisions, ONE_ROW_EACH)
    assert window.page("columns").card.denied.isHidden()


def test_where_nothing_repeats_nothing_is_asked(window: Window, qtbot: Any, tmp_path: Path) -> None:
    open_table(qtbot, window, write_stays(tmp_path / "stays.csv", repeats=False))
    window.go("columns")
    settle(qtbot, window)
    hands = Hands(qtbot, window)
    hands.click("accept") if window.page("columns").accept.isVisible() else None
    page = window.page("columns")
    for name in [one.name for one in page._columns() if page._undecided(one)]:
        page.every.click()
        hands.answer(name, Role.DROPPED)
    hands.click("unit_each")
    assert not [one for one in window.findChildren(QLineEdit, "unit_reason") if one.isVisible()]
    hands.next("risk")


def test_the_only_likely_column_stands_ready_and_is_taken_by_one_press(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    drawn = random.Random(9)
    people = [(400_000 + 9 * one, drawn.randrange(4), drawn.randrange(50)) for one in range(300)]
    rows = [drawn.choice(people) for _ in range(400)]
    path = tmp_path / "naplo.csv"
    path.write_text("beteg_az,nem,kor\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows), encoding="utf-8")
    open_table(qtbot, window, path)
    window.go("columns")
    settle(qtbot, window)
    card, schema = window.page("columns").card, window.study.plan.schema
    assert card.key.currentData() == "beteg_az" and schema.person_key is None, "shown, and not taken"
    assert not [way for way, button in card.ways.items() if button.isChecked()]
    hands = Hands(qtbot, window)
    hands.click("unit_key")
    assert window.study.plan.schema.person_key.name == "beteg_az" and hands.clicks == 1
