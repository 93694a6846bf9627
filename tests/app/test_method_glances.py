"""Method in two glances: eight things, one way behind one press, and then one table of what differs."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QLineEdit, QWidget

from app import words
from app.frame.window import Window
from app.parts.prose import Prose
from app.screens.method.pictures import shown_columns
from app.screens.method.things import ThingCard
from app.screens.method.ways import COLUMNS
from app.work.choosing import Offer, offer, things
from engine import texts
from engine.methods.catalogue import method, methods
from engine.methods.fitting import NO_ROWS
from engine.methods.kinds import Held
from engine.methods.protocol import MAIN, Family
from engine.pricing.price import Price
from engine.release.plan import FileReference
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema
from tests.app.hands import Hands
from tests.app.walking import sample_plan, settle

MOST_WORDS = 200
WISHES = {  # what somebody wants: the thing, the way, whether it is the one behind one press
    "the university wants rows": (Held.COARSER, "datasets.k_anonymity", True),
    "how many per ward": (Held.COUNTS, "statistics.counts", True),
    "a test table for the new software": (Held.INVENTED, "datasets.marginals", True),
    "averages per clinic": (Held.AVERAGES, "statistics.means", True),
    "a model that predicts readmission": (Held.MODEL, "models.logistic", False),
    "pseudonyms to join later": (Held.REAL, "datasets.pseudonyms", True),
    "answers to a researcher's questions": (Held.ANSWERS, "services.private_queries", True),
    "a published table with small cells hidden": (Held.COUNTS, "statistics.protected_table", False),
}
DATES = Schema((Column("born", Role.IDENTIFYING, Kind.DATE), Column("left", Role.TIME, Kind.DATE)))


@pytest.fixture
def page(at: Callable[..., Any], window: Window, qtbot: Any) -> Any:
    """Return the page with its eight things, on the sample."""
    made = at("method", method="", parameters={}, budget=None)
    settle(qtbot, window)
    return made


def read(root: QWidget, *, in_view: bool = False) -> str:
    """Return every word that is seen, or would be after scrolling; with ``in_view`` only what is seen now."""
    found = []
    for part in root.findChildren(QWidget):
        if not part.isVisible() or (in_view and part.visibleRegion().isEmpty()):
            continue
        if isinstance(part, Prose):
            found.append(part.plain())
        elif isinstance(part, QLabel | QAbstractButton):
            found.append(part.text())
        elif isinstance(part, QLineEdit):
            found.append(part.text() or part.placeholderText())
    return " ".join(found)


def count(text: str) -> int:
    """Count words: what has a letter or a digit in it."""
    return sum(bool(re.search(r"\w", word)) for word in text.split())


# --- the first glance -------------------------------------------------------------------------------


def test_the_first_screen_is_read_in_a_glance(page: Any) -> None:
    said = read(page.widget())
    assert words.say("app.method.title") in said and words.say("app.method.things.counts.title") in said
    assert count("How many 31 · ε 0.50") == 5, "the count can tell"
    assert count(said) <= MOST_WORDS, count(said)


@pytest.mark.parametrize("language", ["de", "fr"])
def test_it_is_read_in_a_glance_in_every_language_and_on_every_screen(
    page: Any, window: Window, qtbot: Any, language: str, request: pytest.FixtureRequest
) -> None:
    request.addfinalizer(partial(words.choose_language, texts.FALLBACK))
    window.use_language(language)
    for size in ((911, 512), (1366, 768), (1920, 1080)):
        window.resize(*size)
        settle(qtbot, window)
        said = count(read(window.page("method").widget()))
        print(language, size, said)
        assert 60 < said <= MOST_WORDS, (size, said)


@pytest.mark.parametrize("language", ["en", "de", "fr"])
@pytest.mark.parametrize("given", ["", "none"])
@pytest.mark.guarantee
def test_all_eight_things_are_in_view_in_every_language(
    given: str, language: str, window: Window, at: Any, qtbot: Any
) -> None:
    window.use_language(language)
    try:
        page = at("method")
        page.another.click()
        settle(qtbot, window)
        if given:
            page.answers.answer("rows", given)
            settle(qtbot, window)
        qtbot.wait(20)
        cards, view = [one for one in page.things.cards.values() if one.isVisible()], page.viewport()
        lowest = max(card.mapTo(view, card.rect().bottomLeft()).y() for card in cards)
        assert len(cards) == 8 and lowest < view.height(), (lowest, view.height())
        chips = {chip.y() for chip in page.answers.chips.values()}
        assert len(chips) == 1, "one line of questions"
    finally:
        words.choose_language("en")


def test_each_thing_has_its_card_with_promise_cost_and_one_press(page: Any) -> None:
    cards = [one for one in page.findChildren(ThingCard) if one.isVisible()]
    assert [card.held for card in cards] == list(Held)
    for card in cards:
        assert card.title.text() and card.what.plain() and card.cost.plain()
        assert 0 < count(card.promise.plain()) <= 5, card.promise.plain()
        assert card.use.isVisible() and card.picture.isVisible() and card.picture.accessibleName()


@pytest.mark.parametrize("one", methods(), ids=lambda one: one.id)
def test_every_promise_is_five_words_and_every_way_says_what_it_keeps(one: Any) -> None:
    for kind in one.promises:
        assert 0 < count(words.say(f"promises.{kind}.short")) <= 5, kind
    assert 0 < count(words.say(f"methods.{one.id}.keeps")) <= 6
    assert words.say(f"app.method.things.{one.in_hands()}.use")


@pytest.mark.parametrize("held", Held)
def test_one_press_takes_the_usual_way(page: Any, window: Window, qtbot: Any, held: Held) -> None:
    usual = next(one for one in methods() if one.in_hands() is held and one.usual)
    hands = Hands(qtbot, window)
    hands.click(f"use-{held}")
    assert window.study.plan.method == usual.id and page.links.isVisible()
    assert hands.clicks == 1


@pytest.mark.parametrize("wish", WISHES)
def test_a_wish_is_met_by_clicks(page: Any, window: Window, qtbot: Any, wish: str) -> None:
    held, meant, at_once = WISHES[wish]
    hands = Hands(qtbot, window)
    if at_once:
        hands.click(f"use-{held}")
    else:
        hands.click(f"others-{held}")
        page.ensureWidgetVisible(hands.part(QAbstractButton, f"method-{meant}"))
        hands.click(f"method-{meant}")
        hands.click("next")
    assert window.study.plan.method == meant and hands.clicks <= 3


@pytest.mark.parametrize("wish", WISHES)
def test_a_wish_is_met_by_what_somebody_types(page: Any, window: Window, qtbot: Any, wish: str) -> None:
    """In the words in which it was said: the first line is what was meant, and Enter takes it."""
    hands = Hands(qtbot, window)
    hands.type("search", wish)
    assert window.study.plan.method == WISHES[wish][1]


def test_keys_choose_take_open_and_go_back(page: Any, window: Window, qtbot: Any) -> None:
    assert page.things.current is Held.COUNTS and page.things.cards[Held.COUNTS].use.hasFocus()
    press = lambda key: qtbot.keyClick(QApplication.focusWidget(), key)  # noqa: E731
    press(Qt.Key.Key_4)
    assert page.things.current is Held.INVENTED
    assert window.footer.next.text() == words.say("app.method.things.invented.use")
    title = words.say("app.method.things.invented.title")
    qtbot.waitUntil(lambda: window.panel.shown().title == title)
    press(Qt.Key.Key_Left)
    assert page.things.current is Held.COARSER
    press(Qt.Key.Key_Down)
    assert page.things.current is Held.ANSWERS
    press(Qt.Key.Key_Up)
    press(Qt.Key.Key_O)
    assert page.lists_ways and page.ways.rows[0].button.hasFocus()
    press(Qt.Key.Key_Escape)
    assert not page.lists_ways and page.things.cards[Held.COARSER].use.hasFocus()
    press(Qt.Key.Key_Return)
    settle(qtbot, window)
    assert window.study.plan.method == "datasets.k_anonymity"


def test_no_key_of_the_page_is_taken_from_who_types(page: Any, qtbot: Any) -> None:
    page.search.setFocus()
    qtbot.keyClicks(page.search, "1O5")
    assert page.search.text() == "1O5" and page.things.current is Held.COUNTS


def test_without_a_word_again_the_eight_things_are_back(page: Any, window: Window, qtbot: Any) -> None:
    page.search.setFocus()
    qtbot.keyClicks(page.search, "me")
    assert page.lists_ways and page.ways.isVisible()
    for _ in range(2):
        qtbot.keyClick(page.search, Qt.Key.Key_Backspace)
    assert page.things.isVisible() and not page.lists_ways and page.search.hasFocus()
    assert page.title.text() == words.say("app.method.title")
    page.all.click()
    page.search.setText("mean")
    page.search.setText("")
    assert page.lists_ways and len(page.ways.rows) == len(methods()), "all were asked for"


def order_of_tab(first: QWidget, inside: QWidget) -> list[QWidget]:
    """Return what Tab reaches from a widget on, inside another one."""
    found, now = [first], first.nextInFocusChain()
    while now is not first:
        reached = now.isVisible() and now.isEnabled() and now.focusPolicy() & Qt.FocusPolicy.TabFocus
        if reached and inside.isAncestorOf(now) and now not in found:
            found.append(now)
        now = now.nextInFocusChain()
    return found


@pytest.mark.parametrize("second", [False, True], ids=["things", "ways"])
def test_tab_goes_as_one_reads(page: Any, window: Window, qtbot: Any, second: bool) -> None:
    if second:
        page.things.cards[Held.COUNTS].others.click()
        settle(qtbot, window)
    first = page.to_things if second else page.answers.chips["who"]
    reached = order_of_tab(first, page.widget())
    places = []
    for one in reached:
        at = one.mapTo(page.widget(), QPoint(0, one.height() // 2))
        card = next((part for part in page.things.cards.values() if part.isAncestorOf(one)), None)
        # A card is read as a whole, beside the next one.
        top = at.y() if card is None else card.mapTo(page.widget(), QPoint(0, 0)).y()
        places.append((top // 40, at.x()))
    assert places == sorted(places), [one.objectName() for one in reached]
    assert len(reached) >= (6 if second else 21)


def test_a_thing_that_does_not_fit_says_why_and_the_next_best_stands_in(
    at: Callable[..., Any], window: Window, qtbot: Any, tmp_path: Path
) -> None:
    schema = sample_plan(tmp_path).schema
    dates = [
        replace(one, kind=Kind.DATE, domain=None, domain_origin=None, missing=(), missing_origin=None)
        for one in schema.columns
    ]
    schemas = {"people": replace(schema, columns=tuple(dates))}
    page = at("method", method="", parameters={}, budget=None, schemas=schemas)
    card = page.things.cards[Held.AVERAGES]
    assert card.use.isHidden() and "number" in card.cost.plain(), card.cost.plain()
    assert "integer" in page.explain("thing.averages").parts[0].body.casefold()
    assert not page.things.cards[Held.COARSER].use.isHidden()


def test_the_next_best_is_taken_where_the_usual_way_does_not_fit() -> None:
    found = [Offer(one) for one in methods()]
    for held in Held:
        usual = next(one for one in found if one.method.in_hands() is held and one.method.usual)
        for answers in ({}, {"who": "anybody"}, {"rows": "none"}, {"how": "perturbed"}, {"exact": "5"}):
            for schema in (Schema(()), DATES):
                thing = next(one for one in things(found, answers, schema) if one.held is held)
                if thing.default is not usual:
                    assert thing.passed is usual and (thing.against or thing.lacking), (held, answers)
                if thing.default is not None:
                    assert thing.default is usual or thing.default.method.family is not Family.EXCHANGE
                    assert thing.missing[thing.default.method.id] is None
                assert {one.method.id for one in thing.ways} == {
                    one.method.id for one in found if one.method.in_hands() is held
                }


@pytest.mark.guarantee
def test_ways_that_need_rows_do_not_fit_a_table_on_a_server(
    at: Callable[..., Any], window: Window, qtbot: Any, tmp_path: Path
) -> None:
    """It says so before a way is chosen: a server only counts which cells occur together."""
    page = at("method", method="", parameters={}, budget=None)
    here = {one.held: one for one in page.found}
    window.study.decide(files={MAIN: FileReference("people.server")})
    page._show_choice()
    there = {one.held: one for one in page.found}
    rows = here[Held.COARSER].default
    assert rows is not None and there[Held.COARSER].default is None
    assert there[Held.COUNTS].default is not None and there[Held.AVERAGES].default is not None
    assert there[Held.COARSER].missing[rows.method.id] is NO_ROWS
    card = page.things.cards[Held.COARSER]
    assert card.use.isHidden() and "a server only counts" in card.cost.plain()
    told = {name for one in there.values() for name, lack in one.missing.items() if lack is not NO_ROWS}
    adding_up = ("counts", "density", "histogram", "life_table", "margins", "means", "quantiles")
    assert told == {f"statistics.{name}" for name in adding_up}


def test_the_level_and_its_money_stand_on_the_cards(
    at: Callable[..., Any], window: Window, qtbot: Any
) -> None:
    price = Price(people=954, compensation=Fraction(500), budget=Fraction(64_600))
    page = at("method", method="", parameters={}, budget=None, price=price)
    settle(qtbot, window)
    assert page.things.cards[Held.COUNTS].cost.plain() == "ε 0.50 · €\u00a064,555"
    assert page.things.cards[Held.COARSER].cost.plain() == words.say("app.method.things.nothing")
    window.study.decide(price=Price())
    settle(qtbot, window)
    assert (
        page.things.cards[Held.COUNTS]
        .cost.plain()
        .startswith(words.say("app.method.things.left", left="2.00"))
    )


def test_no_picture_shows_a_value_that_was_seen_in_the_rows() -> None:
    seen = Column("ward", Role.PLACE, Kind.CATEGORY, Domain(values=("Zzyzx",)), Origin.COPIED)
    seen = replace(
        seen, labels={"Zzyzx": "Zzyzx", "A": "Zzyzx"}, missing=("Zzyzx",), missing_origin=Origin.COPIED
    )
    low = Column("days", Role.OTHER, Kind.INTEGER, Domain(Fraction(613), Fraction(617)), Origin.COPIED)
    key = Column("number", Role.PERSON_KEY, Kind.INTEGER)
    name = Column("surname", Role.DIRECT_IDENTIFIER, Kind.CATEGORY)
    found = shown_columns(Schema((seen, low, key, name)))
    assert [one.name for one in found] == ["ward", "days"]
    told = " ".join(part for one in found for part in (*one.values, *one.coarse))
    assert "Zzyzx" not in told and not re.search(r"61[3-7]", told)
    declared = replace(seen, domain_origin=Origin.DECLARED, labels={}, missing=())
    assert shown_columns(Schema((declared,)))[0].values == ("Zzyzx",), "what was declared is"


# --- the second glance ------------------------------------------------------------------------------


def test_only_what_differs_is_shown_and_the_rest_is_said_once(page: Any, window: Window, qtbot: Any) -> None:
    for held in Held:
        page._open_ways(held)
        settle(qtbot, window, timeout=60_000)
        shown = [row.way for row in page.ways.rows]
        for name in COLUMNS:
            column = page.ways._heads[name]
            if len(shown) > 1 and column.isVisible() and name not in ("off", "seconds"):
                assert len({way.says(name) for way in shown}) > 1, (held, name)
        if len(shown) > 1 and len({way.promise for way in shown}) == 1:
            assert shown[0].promise[1:] in page.subtitle.plain()
        page._close_ways()


def test_ways_are_tried_on_invented_people_beside_the_window(
    page: Any, window: Window, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import engine.release.sketch as sketching

    threads, kept = [], sketching.sketch

    def watched(*args: Any, **more: Any) -> Any:
        threads.append(threading.current_thread())
        return kept(*args, **more)

    monkeypatch.setattr(sketching, "sketch", watched)
    page.things.cards[Held.COUNTS].others.click()
    assert {row.way.off for row in page.ways.rows} == {"…"}, "lines stand there at once"
    settle(qtbot, window, timeout=60_000)
    assert threads and threading.main_thread() not in threads
    found = {row.way.id: row.way for row in page.ways.rows}
    assert found["statistics.counts"].off.isdigit() and found["statistics.counts"].share
    assert not any("…" in (way.off, way.seconds) for way in found.values())


def test_best_first_by_what_was_asked_with_the_reason(page: Any, window: Window, qtbot: Any) -> None:
    page.things.cards[Held.INVENTED].others.click()
    settle(qtbot, window, timeout=60_000)
    first = page.ways.rows[0]
    assert first.way.id == "datasets.marginals" == page.selected
    assert first.best.text() == words.say("app.method.ways.best_usual")
    assert words.say("app.method.ways.why_usual") in page.why_words.plain()
    Hands(qtbot, window).click("by-off")
    figures = [
        int(row.way.off)
        for row in page.ways.rows
        if row.way.off.isdigit() and row.way.promise == page.ways.rows[0].way.promise
    ]
    assert len(figures) > 1 and figures == sorted(figures)
    assert page.selected == page.ways.rows[0].way.id
    last = [row.way.id for row in page.ways.rows if not row.way.promise.startswith("Limits")]
    fits = [row.way.id for row in page.ways.rows if not row.way.against]
    assert fits[-1] in last, "no promise is traded for exactness"
    assert all(row.way.against for row in page.ways.rows[len(fits) :]), "what does not fit stands last"


def test_with_sixty_ways_it_reads_the_same(page: Any, window: Window, qtbot: Any) -> None:
    before, others = count(read(page.widget())), page.things.cards[Held.INVENTED].others
    ways = int(others.text().split()[0])

    def another(number: int) -> Offer:
        class Further(method("datasets.network")):  # type: ignore[misc]
            usual: ClassVar[bool] = False

        return replace(offer(method("datasets.network")), method=Further, error=float(number))

    more = 60 - len(page.offers)
    page.offers = (*page.offers, *(another(number) for number in range(more)))
    page.enter()
    assert len(page.offers) == 60 and count(read(page.widget())) == before
    assert others.text() == words.say("app.method.things.others", count=ways + more)
    Hands(qtbot, window).click("use-invented")
    assert window.study.plan.method == "datasets.marginals"
