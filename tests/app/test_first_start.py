"""The first start: five things on one page, shown once, passed by with one press, changed later on Start."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit

from app import words
from app.frame.window import Window
from app.parts.exact_field import ExactField
from app.parts.reading_numbers import read_as_at
from tests.app.walking import settle, write


@pytest.fixture
def first(window: Window, qtbot: Any) -> Iterator[Any]:
    """Return Start as it is seen on a computer where Custos was never started."""
    window.settings.set(began=False)
    page = window.page("start")
    page.enter()
    page.first_focus().setFocus()
    settle(qtbot, window)
    yield page
    read_as_at("")


def test_five_things_stand_alone_and_enter_takes_them(first: Any, window: Window, qtbot: Any) -> None:
    assert first.title.text() == words.say("app.start.first.title") and not first.cards.isVisible()
    assert all(card.isVisible() for card in first.first.cards.values()) and len(first.first.cards) == 5
    assert first.widget().height() <= first.viewport().height(), "all of it is seen at once"
    for field in first.findChildren(QLineEdit):
        assert not field.isVisible(), "nothing has to be filled in"
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    assert first.cards.isVisible() and first.title.text() == words.say("app.start.title")
    assert window.settings.get("began", False) and window.settings.get("numbers", "") == "point"
    assert QApplication.focusWidget() is first.table


def test_it_is_passed_by_and_comes_back_behind_a_link(
    first: Any, window: Window, qtbot: Any, make_window: Any
) -> None:
    qtbot.mouseClick(first.first.skip, Qt.MouseButton.LeftButton)
    assert first.cards.isVisible() and not first.first.fold.form.isVisible()
    assert window.settings.get("numbers", "") == "", "nothing was decided"
    assert first.first.numbers.choice.currentData() == "ask", "what is shown is what is done"
    again = make_window().page("start")
    assert again.cards.isVisible() and not again.first.fold.form.isVisible()
    again.first.fold.line.click()
    assert all(card.isVisible() for card in again.first.cards.values())
    assert not again.first.take.isVisible() and again.first.numbers.choice.currentData() == "ask"


@pytest.mark.parametrize(
    "name, written, meant",
    [
        ("comma", "1.250", 1250),
        ("comma", "1,250", Fraction(5, 4)),
        ("point", "1,250", 1250),
        ("point", "1.250", Fraction(5, 4)),
        ("ask", "1.250", None),
    ],
)
def test_a_number_is_read_as_at_home(
    first: Any, qtbot: Any, name: str, written: str, meant: Fraction | None
) -> None:
    choice = first.first.numbers.choice
    choice.setCurrentIndex(choice.findData(name))
    choice.activated.emit(choice.currentIndex())
    field = ExactField("ε", parent=first.widget())
    field.show()
    write(qtbot, field, written)
    assert field.number() == meant
    money = ExactField("money", money=True, parent=first.widget())
    money.show()
    write(qtbot, money, "250.000")
    assert money.number() == 250_000, "money is never read as a thousandth"


def test_a_reading_that_does_not_fit_is_not_taken_for_the_one_at_home(first: Any, qtbot: Any) -> None:
    read_as_at(",")
    field = ExactField("ε", smallest=0, largest=20, parent=first.widget())
    field.show()
    write(qtbot, field, "1.250")
    assert field.number() == Fraction(5, 4)
