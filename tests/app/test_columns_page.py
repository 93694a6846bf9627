"""The columns page: what a selection costs and shows, who is protected, what is declared and from where."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QAbstractButton

from app import words
from app.frame.window import Window
from app.parts.form.declare_card import DeclareCard
from app.parts.form.domain_editor import DomainEditor
from app.parts.table import LinesDelegate
from app.screens.columns.column_editor import MiniBars, domain_words
from app.screens.columns.column_table import FIELDS, PICTURE
from app.screens.columns.unit_card import HEAD, LINE, CapTable
from app.state.flow import ROWS_PER_PERSON, UNIT
from app.theme import text_font, theme
from app.words.columns import values_words
from app.work.widening import round_outward
from engine import texts
from engine.table.schema import Column, Domain, Kind, Origin, Role
from engine.views import BarsView
from tests.app.hands import Hands
from tests.app.walking import open_table, settle, write, write_people


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


def test_bars_of_one_column_are_gone_at_once_where_there_are_none(
    page: Any, window: Window, qtbot: Any
) -> None:
    page.select("patient_nbr")
    qtbot.waitUntil(lambda: any(one.isVisible() for one in page._editor.findChildren(MiniBars)), timeout=5000)
    bars = page._editor.findChildren(MiniBars)
    page._editor.show_bars(None)
    assert not any(one.isVisible() for one in bars)


@pytest.mark.parametrize("longest", ["5", "23,611,769 – 26,983,511"])
def test_labels_below_bars_are_whole(qtbot: Any, longest: str) -> None:
    bars = MiniBars(BarsView("n", ("12,522 – 3,383,842", "b", longest), (7.0, 1.0, 3.0), "rows"))
    qtbot.addWidget(bars)
    bars.resize(224, bars.height())
    bars.show()
    metrics = QFontMetrics(text_font(11))
    wide = [metrics.horizontalAdvance(one) for one in bars.ends()]
    assert bars.lines == 1 + (sum(wide) + 12 > 128), "beside each other where both have room"
    assert max(wide) <= bars.width() and bars.height() >= 60 + 16 * bars.lines


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


def test_a_list_that_is_not_declared_yet_waits_until_its_column_is_in_view_again(
    page: Any, window: Window, qtbot: Any
) -> None:
    page.accept.click()
    page.select("ward")
    page._editor.change.click()
    page._editor._domain.values.setPlainText("ward 0\nward 1")
    page.select("gender")
    assert page._editor._domain is None
    page.select("ward")
    editor = page._editor._domain
    assert editor.isVisible() and editor.values.toPlainText() == "ward 0\nward 1"
    page._editor.kind_chosen.emit(Kind.TEXT)
    page.select("gender")
    page.select("ward")
    assert page._editor._domain is None, "what it was begun for is another column now"


# --- who is protected --------------------------------------------------------------------------------


def click_line(qtbot: Any, table: CapTable, place: int) -> None:
    qtbot.mouseClick(table, Qt.MouseButton.LeftButton, pos=QPoint(10, HEAD + LINE * place + LINE // 2))


def test_the_cap_is_chosen_from_a_table_of_what_it_does(page: Any, window: Window, qtbot: Any) -> None:
    settle(qtbot, window)
    caps = page.card.caps
    # 20 of 40 people have two rows; 95 of 100 draws of discrete Laplace noise of scale cap / 0.5 stay within.
    assert [(line.cap, line.left_out, line.losing, line.error) for line in caps.lines] == [
        (1, 20, 20, 6),
        (2, 0, 0, 12),
    ]
    assert caps.cap is None and ROWS_PER_PERSON in window.study.open_questions
    click_line(qtbot, caps, 1)
    assert window.study.plan.schema.rows_per_person == 2 and caps.cap == 2
    assert ROWS_PER_PERSON not in window.study.open_questions
    caps.setFocus()
    qtbot.keyClick(caps, Qt.Key.Key_Up)
    assert window.study.plan.schema.rows_per_person == 2, "moving decides nothing"
    qtbot.keyClick(caps, Qt.Key.Key_Space)
    assert window.study.plan.schema.rows_per_person == 1
    assert [one["decision"] for one in window.study.plan.decisions] == ["cap_by_counts"]
    assert "20 rows left out, 20 lose some" in caps.accessibleDescription()


def test_the_answer_folds_to_a_sentence_in_the_words_of_the_custodian(
    page: Any, window: Window, qtbot: Any
) -> None:
    settle(qtbot, window)
    assert not page.card.open.isVisible(), "the proposal stands in one line, with its counts"
    assert page.card.sentence.plain() == (
        "Protected is each person: 40 on 60 rows, by “patient_nbr”. Of each may count:"
    )
    assert ROWS_PER_PERSON in window.study.open_questions, "a proposal decides nothing"
    page.card.change.click()
    page.card.word.setCurrentText("patient")
    page.card.word.lineEdit().editingFinished.emit()
    assert window.study.plan.schema.protected == "patient"
    assert page.card.ways["each"].text() == "Every row is another patient"
    page.unit.choose_cap(1)
    assert page.card.open.isVisible(), "the figures stay while they are compared"
    page.select("ward")
    assert not page.card.open.isVisible()
    assert page.card.sentence.plain() == (
        "Protected is each patient: 40 on 60 rows, by “patient_nbr” · one row of each counts."
    )
    page.card.change.click()
    assert page.card.open.isVisible()


@pytest.fixture
def keyless(window: Window, qtbot: Any, tmp_path: Path) -> Any:
    """Return the page with a table in which no column is a key."""
    path = tmp_path / "answers.csv"
    lines = [f"{20 + place % 50},{'Male' if place % 2 else 'Female'}" for place in range(60)]
    path.write_text("age,gender\n" + "\n".join(lines) + "\n", encoding="utf-8")
    open_table(qtbot, window, path)
    window.go("columns")
    settle(qtbot, window)
    page = window.page("columns")
    page.accept.click()
    settle(qtbot, window)
    return page


def test_that_every_row_is_another_person_is_asked_and_never_assumed(
    keyless: Any, window: Window, qtbot: Any
) -> None:
    window.footer.next.click()
    assert window.step == "columns" and words.say("app.flow.unit") in window.notice.words()
    assert not window.study.plan.schema.one_row_each
    assert not any(button.isChecked() for button in keyless.card.ways.values())
    keyless.card.ways["each"].click()
    assert window.study.plan.schema.one_row_each and UNIT not in window.study.open_questions
    window.footer.next.click()
    settle(qtbot, window)
    assert window.step == "risk"


def test_where_no_column_tells_whose_a_row_is_the_row_is_protected(keyless: Any, window: Window) -> None:
    keyless.card.ways["nobody"].click()
    schema = window.study.plan.schema
    assert not schema.one_row_each and schema.person_key is None and UNIT not in window.study.open_questions
    assert "Only single rows are protected." in keyless.card.means.plain()


def test_the_key_is_chosen_on_the_card_and_taken_away_again(page: Any, window: Window) -> None:
    page.card.ways["each"].click()
    schema = window.study.plan.schema
    assert schema.person_key is None and schema.one_row_each
    assert schema.column("patient_nbr").role is Role.DIRECT_IDENTIFIER
    page.card.key.activated.emit(page.card.key.findData("patient_nbr"))
    page.card.key_chosen.emit("patient_nbr")
    schema = window.study.plan.schema
    assert schema.person_key.name == "patient_nbr" and not schema.one_row_each
    assert ROWS_PER_PERSON in window.study.open_questions


def test_a_table_is_asked_again_when_its_key_is_marked_otherwise(page: Any, window: Window) -> None:
    page.select("patient_nbr")
    page._set_role(Role.OTHER)
    assert UNIT in window.study.open_questions and ROWS_PER_PERSON not in window.study.open_questions


# --- what columns mean -------------------------------------------------------------------------------


def test_meaning_and_unit_are_declared_beside_the_column(page: Any, window: Window, qtbot: Any) -> None:
    page.select("stay")
    editor = page._editor
    write(qtbot, editor.meaning, "Nights in the ward")
    assert editor.unit.isVisible() or not editor.isVisible()
    write(qtbot, editor.unit, "nights")
    column = window.study.plan.schema.column("stay")
    assert (column.meaning, column.unit) == ("Nights in the ward", "nights")
    page.select("ward")
    assert editor.meaning.text() == "" and editor.unit.isHidden(), "a category has no unit"


def test_labels_are_declared_beside_a_category_and_kept_unless_they_are_changed(
    page: Any, window: Window, qtbot: Any
) -> None:
    page.select("ward")
    editor = page._editor
    write(qtbot, editor.labels, "ward 0 = North; ward 1 = South")
    assert window.study.plan.schema.column("ward").labels == {"ward 0": "North", "ward 1": "South"}
    kept = replace(window.study.plan.schema.column("ward"), labels={"ward 0": "North; east: all"})
    page._decide(window.study.plan.schema.with_column(kept))
    editor.labels.editingFinished.emit()  # looked at, and left
    assert window.study.plan.schema.column("ward").labels == kept.labels
    write(qtbot, editor.labels, "nothing at all")
    assert window.study.plan.schema.column("ward").labels == kept.labels
    assert "no labels" in window.notice.words()
    editor.labels.clear()
    write(qtbot, editor.labels, "")
    assert not window.study.plan.schema.column("ward").labels
    page.select("stay")
    assert editor.labels.isHidden(), "a number has no labels"


def test_values_that_read_as_missing_elsewhere_are_warned_of(page: Any, window: Window) -> None:
    page.select("ward")
    assert page._editor.mistaken.isHidden()
    column = window.study.plan.schema.column("ward")
    odd = replace(column, domain=Domain(values=("None", "n/a", "North")), domain_origin=Origin.DECLARED)
    page._decide(window.study.plan.schema.with_column(odd))
    assert not page._editor.mistaken.isHidden()
    assert page._editor.mistaken.accessibleName().startswith("“None”, “n/a” read as missing in R")
    page._decide(window.study.plan.schema.with_column(replace(odd, missing=("None", "n/a"))))
    assert page._editor.mistaken.isHidden(), "they are declared missing"
    page._decide(window.study.plan.schema.with_column(replace(odd, role=Role.DROPPED)))
    assert page._editor.mistaken.isHidden(), "it does not leave"


def test_a_code_book_is_read_and_said(page: Any, window: Window, qtbot: Any, tmp_path: Path) -> None:
    book = tmp_path / "book.csv"
    book.write_text(
        "variable,description,codes\nward,Ward of the stay,ward 0=North; ward 1=South; ward 2=West\n"
        "nobody,Not here,\n",
        encoding="utf-8",
    )
    before = window.study.plan.schema.column("ward").role
    page.values.read_book(str(book))
    settle(qtbot, window)
    column = window.study.plan.schema.column("ward")
    assert column.meaning == "Ward of the stay" and column.role is before
    assert column.domain.values == ("ward 0", "ward 1", "ward 2") and column.is_declared
    assert "Columns that book.csv speaks of: 1." in window.notice.words()


def test_a_code_book_of_another_table_changes_nothing(
    page: Any, window: Window, qtbot: Any, tmp_path: Path
) -> None:
    book = tmp_path / "other.csv"
    book.write_text("variable,description\nnobody,Not here\n", encoding="utf-8")
    before = window.study.plan
    page.values.read_book(str(book))
    settle(qtbot, window)
    assert window.study.plan is before and "other.csv speaks of no column" in window.notice.words()


def test_values_copied_from_the_rows_are_marked(page: Any, window: Window) -> None:
    copied = Column("stay", Role.OTHER, Kind.NUMBER, Domain(Fraction(1), Fraction(14)), Origin.COPIED)
    assert values_words(copied, None) == "1 to 14, copied from the rows"
    assert "No private release may use them" in domain_words(copied)
    assert "Copied" not in domain_words(replace(copied, domain_origin=Origin.DECLARED))


def test_each_line_has_a_small_picture_of_its_values(page: Any, window: Window, qtbot: Any) -> None:
    settle(qtbot, window)
    bars = {line.name: line.bars for line in page.table.columns.lines}
    assert bars["gender"] == (1.0, 1.0) and len(bars["age"]) > 2
    assert max(bars["ward"]) == 1.0
    table, values = page.table, FIELDS.index("values")
    drawn = set()
    for size in ((911, 512), (1366, 768), (1920, 1080)):
        window.resize(*size)
        qtbot.wait(60)
        for row, line in enumerate(table.columns.lines):
            index = table.columns.index(row, values)
            place, said = table.visualRect(index), str(index.data())
            if line.bars and table.itemDelegate().has_room(said, place):
                drawn.add(size)
                room = place.width() - PICTURE - 3 * LinesDelegate.padding
                lines = table.itemDelegate().lines_at(place.height())
                assert QFontMetrics(text_font(12)).horizontalAdvance(said) <= lines * room, (size, said)
    assert (911, 512) in drawn and (1920, 1080) in drawn


def test_declaring_begins_in_its_own_field(page: Any, window: Window, qtbot: Any) -> None:
    page.select("stay")
    page._editor.kind_chosen.emit(Kind.NUMBER)
    qtbot.waitUntil(page._editor.isVisible, timeout=2000)
    page._editor.change.setFocus()
    page._editor.change.click()
    assert window.focusWidget().objectName() == "domain_minimum"


def test_one_column_that_waits_is_said_in_the_singular(page: Any, window: Window, qtbot: Any) -> None:
    page.accept.click()
    page.unit.choose_cap(1)
    assert "all decided" in page.subtitle.plain()
    window.study.ask("column:age")
    assert "one needs your decision" in page.subtitle.plain()


# --- keyboard ----------------------------------------------------------------------------------------


def test_a_group_opens_to_single_columns_and_closes_again(window: Window, qtbot: Any, tmp_path: Path) -> None:
    path = tmp_path / "drugs.csv"
    names = ["zulin", "kotrin", "mafol"]
    rows = [",".join("No" if (row + at) % 3 else "Ix" for at in range(3)) for row in range(40)]
    path.write_text("\n".join((",".join(names), *rows)) + "\n", encoding="utf-8")
    open_table(qtbot, window, path)
    window.go("columns")
    settle(qtbot, window)
    page = window.page("columns")
    [line] = page.table.columns.lines
    assert (line.name, line.alike) == ("zulin", ("kotrin", "mafol"))
    page.table.setFocus()
    qtbot.keyClick(page.table, Qt.Key.Key_Right)
    assert [line.name for line in page.table.columns.lines] == names
    assert page.table.selected() == ["zulin"]
    qtbot.keyClick(page.table, Qt.Key.Key_S)
    assert [window.study.plan.schema.column(name).role for name in names] == [
        Role.SENSITIVE,
        Role.NOT_RECOGNISED,
        Role.NOT_RECOGNISED,
    ]
    assert [line.name for line in page.table.columns.lines] == names, "nothing jumps under the cursor"
    page.select("mafol")
    qtbot.keyClick(page.table, Qt.Key.Key_Left)
    assert [(line.name, line.alike) for line in page.table.columns.lines] == [
        ("zulin", ()),
        ("kotrin", ("mafol",)),
    ]


def test_find_is_reached_by_keyboard(page: Any, qtbot: Any) -> None:
    page.table.setFocus()
    qtbot.keyClick(page.table, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert page.search.hasFocus()


def test_what_is_chosen_is_counted_in_words_that_agree(page: Any) -> None:
    said = {}
    for names in (("age",), ("age", "ward"), ()):
        page.select(*names) if names else page.table.clearSelection()
        said[len(names)] = page.answers_for.text() if page.answers_for.isVisible() else ""
    assert said == {0: "", 1: "", 2: "2 columns are"}, "one has its own pills"


def test_one_letter_or_one_pill_answers_and_next_accepts_the_rest(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    path = tmp_path / "short.csv"
    rows = [f"{20 + row % 50},{'mf'[row % 2]},{row % 7}" for row in range(80)]
    path.write_text("age,sex,zq1\n" + "\n".join(rows) + "\n", encoding="utf-8")
    open_table(qtbot, window, path)
    window.go("columns")
    settle(qtbot, window)
    page, hands, schema = window.page("columns"), Hands(qtbot, window), lambda: window.study.plan.schema
    page.every.click()
    assert schema().column("zq1").role is Role.NOT_RECOGNISED
    proposed = page._proposed()
    assert window.footer.next.text() == words.say("app.columns.accept_next", count=len(proposed))
    assert window.footer.next.property("waiting") is True
    hands.click(window.footer.next)
    assert window.step == "columns" and page.table.selected() == ["zq1"], "led to the one without an answer"
    assert page._proposed() == proposed, "nothing is accepted while one has no answer"
    page.select("age")
    hands.click("first-open")
    assert page.table.selected() == ["zq1"]
    hands.answer("zq1", Role.SENSITIVE)
    assert schema().column("zq1").role is Role.SENSITIVE and not page.first_open.isVisible()
    hands.click("unit_each")
    assert window.footer.next.property("waiting") is False
    hands.next("risk")
    assert not window.study.open_questions and hands.clicks == 5


def test_letters_answer_one_column_after_the_other(window: Window, qtbot: Any, tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    rows = [f"{row % 7},{20 + row % 50},{row % 5},{'ab'[row % 2]}" for row in range(80)]
    path.write_text("zq1,age,wx,zr\n" + "\n".join(rows) + "\n", encoding="utf-8")
    open_table(qtbot, window, path)
    window.go("columns")
    settle(qtbot, window)
    page, schema = window.page("columns"), lambda: window.study.plan.schema
    page.every.click()
    page.select("zq1")
    for key in (Qt.Key.Key_S, Qt.Key.Key_I, Qt.Key.Key_O):
        qtbot.keyClick(page.table, key)
    roles = [schema().column(name).role for name in ("zq1", "wx", "zr")]
    assert roles == [Role.SENSITIVE, Role.IDENTIFYING, Role.OTHER]
    assert page.table.selected() == ["zr"], "the last stays, and is not answered again by mistake"
    page.select("age")
    qtbot.keyClick(page.table, Qt.Key.Key_S)
    assert page.table.selected() == ["age"], "what had a proposal is changed where one is"


@pytest.mark.guarantee
def test_one_answer_is_for_a_whole_group(window: Window, qtbot: Any, tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    rows = [f"{row % 7},{20 + row % 50},{row % 5},{'ab'[row % 2]}" for row in range(80)]
    path.write_text("zq1,age,wx,zr\n" + "\n".join(rows) + "\n", encoding="utf-8")
    open_table(qtbot, window, path)
    window.go("columns")
    settle(qtbot, window)
    page, schema = window.page("columns"), lambda: window.study.plan.schema
    table = page.table
    for turn, wanted in ((1, ["zq1", "wx", "zr"]), (2, ["zq1", "wx", "zr", "age"])):
        qtbot.keyClick(table, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
        assert table.selected() == wanted, f"Ctrl+A, time {turn}"
    band = table.visualRect(table.columns.index(0, 0)).topLeft() + QPoint(40, 8)
    page.select("age")
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=band)
    assert table.selected() == ["zq1", "wx", "zr"]
    assert schema().column("zq1").role is Role.NOT_RECOGNISED, "to select is no answer"
    qtbot.keyClick(table, Qt.Key.Key_S)
    roles = [schema().column(name).role for name in ("zq1", "wx", "zr", "age")]
    assert roles == [Role.SENSITIVE] * 3 + [Role.IDENTIFYING]
    name = table.columns.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert "select all 3" in name


def test_a_accepts_all_and_a_pill_answers_all_that_are_selected(
    page: Any, qtbot: Any, window: Window
) -> None:
    page.every.click()
    page.select("age", "ward")
    Hands(qtbot, window).answer("ward", Role.SENSITIVE)
    schema = window.study.plan.schema
    assert {schema.column(name).role for name in ("age", "ward")} == {Role.SENSITIVE}
    assert page._proposed()
    qtbot.keyClick(page.table, Qt.Key.Key_A)
    assert not page._proposed()


def wide(folder: Path, columns: int = 18) -> Path:
    """Write a table of many columns, each with a name that is recognised."""
    names = ("patient_nbr", "age", "sex", "ward", "diagnosis", "admission_date", "zip", "town", "income")
    heads = [names[at] if at < len(names) else f"blood_pressure_{at}" for at in range(columns)]
    lines = [
        ",".join((str(500 + row // 2), *(str((row * (at + 3)) % 7 + 1) for at in range(columns - 1))))
        for row in range(120)
    ]
    path = folder / "wide.csv"
    path.write_text("\n".join((",".join(heads), *lines)) + "\n", encoding="utf-8")
    return path


def test_ten_columns_are_in_view_while_the_unit_is_asked(window: Window, qtbot: Any, tmp_path: Path) -> None:
    open_table(qtbot, window, wide(tmp_path))
    window.go("columns")
    settle(qtbot, window)
    page = window.page("columns")
    page.every.click()
    settle(qtbot, window)
    assert page.card.folded.isVisible() and page.card.height() <= 52
    assert page.verticalScrollBar().value() == 0
    table, high = page.table, page.viewport().height()
    seen = 0
    for row in range(len(table.columns.lines)):
        bottom = table.rowViewportPosition(row) + table.rowHeight(row)
        below = table.viewport().mapTo(page.viewport(), QPoint(0, bottom)).y()
        seen += bottom <= table.viewport().height() and below <= high
    assert seen >= 10, seen


def test_one_press_says_how_many_rows_of_each_count(page: Any, window: Window, qtbot: Any) -> None:
    settle(qtbot, window)
    hands = Hands(qtbot, window)
    page.table.setFocus()
    hands.key(Qt.Key.Key_U, page.table)
    assert page.card.open.isVisible() and page.card.caps.isVisible(), "the price of each stands there"
    page.select("ward")
    assert page.card.folded.isVisible()
    assert "20 rows left out" in hands.part(QAbstractButton, "cap_1").toolTip()
    hands.click("cap_2")
    assert window.study.plan.schema.rows_per_person == 2
    assert ROWS_PER_PERSON not in window.study.open_questions and page.card.short.isHidden()
    assert "at most 2 rows of each count" in page.card.sentence.plain()


def test_the_keyboard_stays_beside_a_button_that_goes_away_when_it_is_pressed(
    page: Any, window: Window, qtbot: Any
) -> None:
    Hands(qtbot, window).click("cap_1")
    assert page.card.short.isHidden()
    assert page.card.isAncestorOf(window.focusWidget()), "not the first link of the frame"


def whys_that_are_cut(page: Any) -> list[str]:
    """Return the reasons of red lines that do not fit where they stand."""
    metrics, found = QFontMetrics(text_font(12)), []
    for at, line in enumerate(page.table.columns.lines):
        place = page.table.visualRect(page.table.columns.index(at, 4))
        room = QRect(0, 0, place.width() - 2 * page.table.itemDelegate().padding, 0)
        wanted = metrics.boundingRect(room, int(Qt.TextFlag.TextWordWrap), line.why).height()
        own = place.height() - (page.table.itemDelegate().above if line.band else 0)
        if line.guarded and wanted > own:
            found.append(line.why)
    return found


@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_why_a_red_column_names_people_is_read_whole(
    page: Any, window: Window, qtbot: Any, language: str
) -> None:
    """Every reason there is for a red line, where the lines leave room for it at 1366 pixels."""
    words.choose_language(language)
    try:
        values = {"word": "number", "different": 184_999, "filled": 200_000, "people": 184_259}
        values |= {"others": 3, "length": 4_000, "meaning": "", "known": "", "said": ""}
        names = "unique_number unique_text given_names titles addresses initials surnames coordinates"
        names += " unique_long_number person_key_repeats repeats counted person_key_unique direct_name"
        whys = [words.say(f"suggestions.role.{one}", **values) for one in names.split()]
    finally:
        words.choose_language("en")
    first, others = page.table.columns.lines[0], page.table.columns.lines[1:]
    for why in whys:
        page.table.columns.show_lines([replace(first, why=why, guarded=True), *others])
        page.table.fit()
        qtbot.wait(1)
        assert whys_that_are_cut(page) == []
    role = page.table.columns.index(0, 1)
    centre = page.table.visualRect(role).center().y()
    centre += page.table.itemDelegate().above / 2 if first.band else 0
    assert all(abs(where.center().y() - centre) < 4 for _, where in page.table.pills_of(role))


def test_what_names_people_stands_in_red(window: Window, qtbot: Any, tmp_path: Path) -> None:
    path = tmp_path / "cases.csv"
    lines = [f"{9000 + 13 * row},{20 + row % 50},{'mf'[row % 2]}" for row in range(80)]
    path.write_text("case_number,age,sex\n" + "\n".join(lines) + "\n", encoding="utf-8")
    open_table(qtbot, window, path)
    window.go("columns")
    settle(qtbot, window)
    page = window.page("columns")
    page.every.click()

    def guarded() -> set[str]:
        return {line.name for line in page.table.columns.lines if line.guarded}

    assert guarded() == {"case_number"}
    assert whys_that_are_cut(page) == []
    Hands(qtbot, window).answer("case_number", Role.OTHER)
    assert whys_that_are_cut(page) == []
    assert window.study.plan.schema.column("case_number").role is Role.OTHER
    assert guarded() == {"case_number"}, "another role does not make it harmless"
    drawn = page.table.viewport().grab().toImage()
    row = next(at for at, line in enumerate(page.table.columns.lines) if line.guarded)
    place = page.table.visualRect(page.table.columns.index(row, 4))
    ratio = drawn.devicePixelRatio()
    ink = theme.tokens().colour("wrong").rgb()
    found = {
        drawn.pixel(int(x * ratio), int(y * ratio))
        for x in range(place.left(), place.right())
        for y in range(place.top(), place.bottom())
    }
    assert ink in found


def test_a_low_window_gives_its_lines_to_the_table(window: Window, qtbot: Any, tmp_path: Path) -> None:
    open_table(qtbot, window, write_people(tmp_path / "people.csv"))
    window.go("columns")
    settle(qtbot, window)
    page = window.page("columns")
    page.every.click()
    warned = page.outside.plain()

    def in_view() -> int:
        qtbot.wait(30)
        table = page.table
        bottom = page.viewport().mapTo(window, page.viewport().rect().bottomLeft()).y()
        top = table.viewport().mapTo(window, QPoint(0, 0)).y()
        room = min(bottom - top, table.viewport().height())
        bottoms = [
            table.visualRect(table.columns.index(row, 0)).bottom() for row in range(len(table.columns.lines))
        ]
        return sum(bottom < room for bottom in bottoms)

    window.resize(911, 512)
    assert in_view() == 6
    assert page.silent.isVisible() == bool(warned)
    assert page.silent.accessibleDescription() == warned, "what nobody was asked is still said"
    if warned:
        page.silent.click()
        assert len(page.table.columns.lines) < 6
        page.silent.click()
        assert in_view() == 6, "pressed again, it shows all of them"
    window.resize(1366, 768)
    assert in_view() == 6 and page.accept.isVisible() and page.outside.isVisible() == bool(warned)


# --- bounds that stand in the rows -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "rounded"),
    [
        (Fraction(3, 2), Fraction(29, 2), (0, 20)),
        (Fraction(45), Fraction(109), (40, 110)),
        (Fraction(1), Fraction(5), (1, 5)),
        (Fraction(-3), Fraction(27), (-10, 30)),
        ("2024-02-29", "2024-11-03", ("2024-02-01", "2024-11-30")),
        ("1931-04-02", "2007-12-05", ("1931-01-01", "2007-12-31")),
        ("2024-12-05", "2024-12-09", ("2024-12-01", "2024-12-31")),
    ],
)
def test_bounds_are_rounded_outward(low: Any, high: Any, rounded: tuple[Any, Any]) -> None:
    wide = round_outward(Domain(low, high))
    assert (wide.minimum, wide.maximum) == rounded and round_outward(wide) == wide


def test_a_start_from_the_table_tells_no_extreme_unless_it_is_wished(qtbot: Any) -> None:
    seen, kept = Domain(Fraction(3), Fraction(97)), []
    editor = DomainEditor(Column("stay", kind=Kind.INTEGER), seen, {})
    card = DeclareCard()
    card.open_cell(Column("stay", kind=Kind.INTEGER), seen, "", {})
    for one in (editor, card):
        qtbot.addWidget(one)
        one.show()
        fields = editor if one is editor else card.cells["stay"].fields
        assert not one.exact.isVisible()
        one.take.click()
        wide = fields.domain()
        assert (wide.minimum, wide.maximum) == (0, 100) and one.exact.isVisible()
        one.known.setChecked(True)
        one.exact.click()
        assert fields.domain() == seen and not one.exact.isVisible()
        assert not one.known.isChecked(), "it was said of other bounds"
        one.declared.connect(lambda *said: kept.append(said))
        one.known.setChecked(True)
        (editor.button if one is editor else card.button).click()
    assert kept == [(seen, True), ([("stay", seen, True)],)], "from the rows all the same"


@pytest.mark.parametrize("language", texts.languages())
def test_declaring_side_by_side_fits_into_its_half_of_a_screen(qtbot: Any, language: str) -> None:
    words.choose_language(language)
    try:
        card = DeclareCard()
    finally:
        words.choose_language(texts.FALLBACK)
    qtbot.addWidget(card)
    card.exact.show()
    card.show()
    qtbot.waitExposed(card)
    assert card.minimumSizeHint().width() <= 438, "at 1366 × 768, beside the columns"
