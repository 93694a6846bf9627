"""A wish that is typed is answered in few words; all that was there before is one press away."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QPushButton

from app import words
from app.frame.window import Window
from app.screens.method.page import NEAREST
from app.screens.method.ways import COLUMNS
from engine.methods.catalogue import methods
from engine.methods.kinds import Held
from tests.app.fitting import faults
from tests.app.test_method_glances import count, read
from tests.app.walking import settle

MOST_WORDS = 130
SURE = {
    "en": ("how many have ever slept at work", "which rooms will probably be empty", "rows for a student"),
    "de": (
        "wie viele haben jemals im Dienst geschlafen",
        "Zeilen für eine Studentin",
        "Wartezeit im Schnitt",
    ),
    "fr": ("combien ont déjà dormi au travail", "des lignes pour une étudiante", "durée moyenne du trajet"),
}
UNSURE = "zygote kangaroo spaceship on the roof"


seen = partial(read, in_view=True)


@pytest.fixture
def page(at: Any, window: Window, qtbot: Any) -> Iterator[Any]:
    """Return the page with its eight things; every language is left again."""
    yield at("method", method="", parameters={}, budget=None)
    words.choose_language("en")


def wish(page: Any, window: Window, qtbot: Any, said: str) -> None:
    page.search.setText(said)
    settle(qtbot, window)


@pytest.mark.parametrize("language", list(SURE))
@pytest.mark.guarantee
def test_few_words_are_in_view_where_a_wish_is_typed(
    language: str, page: Any, window: Window, qtbot: Any
) -> None:
    window.use_language(language)
    window.resize(1366, 768)
    page = window.page("method")
    settle(qtbot, window)
    before, whole = count(seen(window)), seen(page)
    for said in (*SURE[language], UNSURE):
        wish(page, window, qtbot, said)
        found = seen(window)
        assert said in found and words.say("app.method.things.survey.title") in found
        assert 60 < count(found) <= MOST_WORDS < before, (said, count(found), before)
        qtbot.waitUntil(lambda: faults(window) == [])
        assert page.search.width() > page.search.fontMetrics().horizontalAdvance(said), (
            "the wish is read whole"
        )
        named = [page.names] if page.names.isVisible() else list(page.things.cards.values())
        assert page.names.isVisible() == (said != UNSURE)
        for part in (*named, *page.ways.rows) if page.ways.isVisible() else named:
            assert part.visibleRegion().boundingRect().height() == part.height(), "seen without scrolling"
    wish(page, window, qtbot, "")
    assert page.things.isVisible() and sorted(seen(page).split()) == sorted(whole.split())
    assert words.say("app.method.guarantee") in seen(window.panel), "on the right, too"


def test_nearest_ways_say_what_is_held_above_the_names_of_all_things(
    page: Any, window: Window, qtbot: Any
) -> None:
    wish(page, window, qtbot, SURE["en"][0])
    rows = page.ways.rows
    assert [row.way.id for row in rows] == ["exchanges.survey", "statistics.counts"]
    assert len(rows) <= NEAREST and page.selected == rows[0].way.id
    for row in rows:
        assert row.below.plain() == words.say(f"methods.{row.way.id}.holds")
        assert not any(cell.isVisible() for cell in row.cells.values())
    top = QPoint(0, 0)
    assert rows[-1].mapTo(page, top).y() < page.more.mapTo(page, top).y() < page.names.mapTo(page, top).y()
    shown = [one.text() for one in page.names.buttons.values() if one.isVisible()]
    assert shown == [words.say(f"app.method.things.{held}.title") for held in Held]


def test_all_that_was_found_is_one_press_away_with_what_differs(
    page: Any, window: Window, qtbot: Any
) -> None:
    wish(page, window, qtbot, "anonymity")
    few = [row.way.id for row in page.ways.rows]
    assert "more about" in seen(window.panel).casefold() and len(few) == NEAREST
    page.more.click()
    settle(qtbot, window)
    rows = page.ways.rows
    assert [row.way.id for row in rows][:NEAREST] == few and len(rows) > NEAREST
    assert page.answers.isVisible() and page.ways.head.isVisible() and not page.more.isVisible()
    assert {"promise", "keeps"} <= {name for name in COLUMNS if rows[0].cells[name].isVisible()}
    assert words.say("app.method.recipient_can") in seen(window.panel)
    wish(page, window, qtbot, "")
    wish(page, window, qtbot, "anonymity")
    assert page.more.isVisible(), "the next wish is answered shortly again"


def test_what_a_way_promises_in_full_is_one_press_away(page: Any, window: Window, qtbot: Any) -> None:
    wish(page, window, qtbot, "rows for a student")
    assert words.say("app.method.recipient_can") not in seen(window.panel)
    (link,) = [
        one for one in window.panel.findChildren(QPushButton) if one.text() == words.say("app.method.about")
    ]
    link.click()
    settle(qtbot, window)
    assert words.say("app.method.recipient_can") in seen(window.panel)


@pytest.mark.parametrize("held", [Held.REAL, Held.ANSWERS])
def test_another_thing_is_taken_by_its_name(held: Held, page: Any, window: Window, qtbot: Any) -> None:
    wish(page, window, qtbot, "rows for a student")
    page.names.buttons[held].click()
    assert window.study.method is not None and window.study.method.in_hands() is held


@pytest.mark.parametrize("wished", ["", UNSURE, "one joint figure with other hospitals"])
def test_several_sites_are_reached_from_what_can_be_held(
    wished: str, page: Any, window: Window, qtbot: Any
) -> None:
    wish(page, window, qtbot, wished)
    link = page.findChild(QPushButton, "several-found" if wished else "several")
    assert link.isVisible()
    link.click()
    settle(qtbot, window)
    assert window.step == "sites"


@pytest.mark.parametrize("language", list(SURE))
def test_every_way_says_in_one_line_what_is_held(language: str) -> None:
    words.choose_language(language)
    try:
        said = {one.id: words.say(f"methods.{one.id}.holds") for one in methods()}
    finally:
        words.choose_language("en")
    assert all(2 < count(one) <= 10 for one in said.values()), said
    assert len(set(said.values())) == len(said), "two ways are told apart by it"
