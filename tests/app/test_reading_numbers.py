"""Numbers that people type: said in words before they count, and asked where they may be two."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.frame.window import Window
from app.parts.exact_field import ExactField
from app.parts.reading_numbers import Hint
from tests.app.walking import decide_columns, open_table, settle, write, write_people


def hint(window: Window) -> Hint:
    """Return what stands beneath a field."""
    return next(one for one in window.findChildren(Hint) if one.isVisible())


@pytest.fixture
def purpose(window: Window, qtbot: Any, tmp_path: Any) -> Any:
    """The purpose of a new register."""
    open_table(qtbot, window, write_people(tmp_path / "people.csv"))
    decide_columns(qtbot, window)
    for step in ("risk", "purpose"):
        window.go(step)
        settle(qtbot, window)
    return window.page("purpose")


@pytest.mark.parametrize("text", ["250.000", "250,000", "250 000", "250'000", "€ 250.000", "250\u202f000"])
def test_money_is_never_a_thousandth_of_what_was_meant(
    purpose: Any, window: Window, qtbot: Any, text: str
) -> None:
    field = purpose.money.money
    field.setFocus()
    QApplication.clipboard().setText(text)  # the test's keyboard knows no € and no narrow blank
    qtbot.keyClick(field, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert hint(window).said.text() == "= 250 thousand"
    assert field.accessibleDescription() == "= 250 thousand"
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert window.study.plan.price.register == 250_000


def test_a_level_that_may_be_two_numbers_is_asked(purpose: Any, window: Window, qtbot: Any) -> None:
    write(qtbot, purpose.name, "Register")
    write(qtbot, purpose.epsilon, "1.125")
    assert window.study.plan.holding_budget is None
    shown = hint(window)
    assert [one.text() for one in shown.choices] == ["1 thousand 125", "1 and 125 thousandths"]
    qtbot.mouseClick(shown.choices[1], Qt.MouseButton.LeftButton)
    assert window.study.plan.holding_budget is not None
    assert window.study.plan.holding_budget.epsilon == Fraction(9, 8)
    assert not shown.isVisible()


def test_the_question_is_answered_by_keys(qtbot: Any, window: Window) -> None:
    found: list[Any] = []
    field = ExactField("Amount", parent=window)
    field.decided.connect(found.append)
    field.show()
    field.setFocus()
    qtbot.keyClicks(field, "1.000")
    qtbot.keyClick(field, Qt.Key.Key_Tab)
    assert found == [] and field.text() == "1.000" and field.property("wrong")
    field.show_number(None)
    assert field.text() == "1.000", "kept until it is decided"
    qtbot.keyClick(hint(window).choices[0], Qt.Key.Key_Space)
    assert found == [1000] and field.text() == "1,000"


def test_money_without_what_each_is_owed_stops_next(purpose: Any, window: Window, qtbot: Any) -> None:
    for name, text in (("title", "Stays"), ("recipient", "University")):
        write(qtbot, purpose.fields[name], text)
    write(qtbot, purpose.name, "Register")
    write(qtbot, purpose.money.money, "250 000")
    window.footer.next.click()
    settle(qtbot, window)
    assert window.step == "purpose" and "owed" in window.notice.words()
    write(qtbot, purpose.money.compensation, "500")
    window.footer.next.click()
    settle(qtbot, window)
    assert window.step == "method"


def test_next_waits_for_the_answer(purpose: Any, window: Window, qtbot: Any) -> None:
    for name, text in (("title", "Stays"), ("recipient", "University")):
        write(qtbot, purpose.fields[name], text)
    write(qtbot, purpose.name, "Register")
    write(qtbot, purpose.epsilon, "1.125")
    window.footer.next.click()
    settle(qtbot, window)
    assert window.step == "purpose" and "1.125" in window.notice.words()


@pytest.mark.parametrize("name", ["money", "compensation", "people"])
def test_the_right_side_explains_the_amount_that_has_the_focus(
    purpose: Any, window: Window, qtbot: Any, name: str
) -> None:
    field = getattr(purpose.money, name)
    field.setFocus()
    assert field.hasFocus()
    assert purpose.explain(purpose._topics[field]).title == field.accessibleName()
    assert purpose.explain(purpose._topics[field]).parts[0].body
