"""The first screen of a release that was made, through what a person sees, presses and copies."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QLabel, QWidget

from app.frame.window import Window
from app.parts.lines import Line, weakest
from app.parts.prose import Prose
from app.parts.table import DataTable
from app.screens.release.first_screen import Bands, LeftCard
from app.screens.release.summary import alone, measured, readable
from app.words.money import size
from app.work.releasing import Watch, release, reopen
from engine.release.plan import Budget
from engine.release.verdict import Came
from engine.views import TableView, Text, aside, weak
from tests.app.walking import example_plan, missing_texts, settle

MOST_WORDS = 250
ONE_OF_EACH = ("statistics.counts", "models.additive", "datasets.marginals", "datasets.k_anonymity")
MARGIN = Text("methods.statistics.counts.numbers.within_95.label")


def made(window: Window, qtbot: Any, method: str, folder: Path) -> Any:
    """Open a release of a method's example, as large as a common screen, and return its page."""
    plan = example_plan(method, folder)
    plan = replace(plan, holding=plan.holding or "Register", holding_budget=Budget(Fraction(5)))
    outcome = release(plan, folder / "out", watch=Watch(), ledger_path=window.study.ledger_path)
    assert outcome.error is None, outcome.error
    window.resize(1366, 768)
    window.study.open_plan(plan)
    window.study.store("bundle", outcome, window.study.plan)
    window.go("release")
    settle(qtbot, window, timeout=60_000)
    return window.page("release")


def _in_view(page: Any, part: QWidget) -> bool:
    """Say whether a part of a page begins where one sees it."""
    top = part.mapTo(page.viewport(), QPoint(0, 0)).y()
    return part.isVisible() and 0 <= top < page.viewport().height() - 40


def words_on(page: Any) -> list[str]:
    """Return every word that can be seen on a page, those of tables and drawings too."""
    found: list[str] = []
    for one in page.widget().findChildren(QLabel):
        found += (one.plain() if isinstance(one, Prose) else one.text()).split() if one.isVisible() else []
    for button in page.widget().findChildren(QAbstractButton):
        found += button.text().split() if button.isVisible() else []
    for table in page.widget().findChildren(DataTable):
        if table.isVisible():
            model = table.model()
            rows = range(model.rowCount())
            found += " ".join(model.headings).split()
            found += " ".join(
                model.written(row, at) for row in rows for at in range(model.columnCount())
            ).split()
    for bands in page.widget().findChildren(Bands):
        lines = bands.lines if bands.isVisible() else ()
        found += [word for one in lines for word in f"{one.name} {one.written} {one.margin}".split()]
    return [one for one in found if re.search(r"\w", one)]


@pytest.mark.parametrize("method", ONE_OF_EACH)
def test_four_figures_and_three_parts_and_little_to_read(
    window: Window, qtbot: Any, tmp_path: Path, method: str
) -> None:
    page = made(window, qtbot, method, tmp_path)
    count = len(words_on(page))
    print(f"{method}: {count} words")
    assert 40 < count <= MOST_WORDS, " ".join(words_on(page))
    shown = [card for card in page.figures.cards if card.isVisible()]
    assert 3 <= len(shown) <= 4
    assert all(part.isVisible() for part in (page.left, page.good, page.never))
    assert not page.further.isVisible() and not window.footer.undo.isVisible()
    assert not window.footer.redo.isVisible() and page.never.withdraw.isVisible()
    assert missing_texts(page, list(page.numbers.values())) == []
    assert _in_view(page, page.open_further), "on a common screen nobody has to scroll for what can be done"
    qtbot.mouseClick(page.open_further, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not page.views._waiting and not page.inside._waiting)
    qtbot.waitUntil(lambda: _in_view(page, page.further))
    assert page.further.isVisible() and page.inside.isVisible()
    assert len(words_on(page)) > count + 100, "nothing is lost: it stands behind the link"
    qtbot.keyClick(page.left, Qt.Key.Key_T)
    assert not page.further.isVisible()


def test_a_table_of_many_columns_is_as_little_to_read(window: Window, qtbot: Any, tmp_path: Path) -> None:
    page = made(window, qtbot, "datasets.k_anonymity", tmp_path)
    outcome = window.study.result("bundle")
    name, lines, rows = outcome.facts["first"][0]
    wide = [(list(line) * 20)[:20] for line in (lines * 9)[:9]]
    outcome.facts["first"] = ((name, wide, rows),)
    page._show(outcome)
    window.resize(1920, 1080)
    settle(qtbot, window)
    table = page.left.findChildren(DataTable)[-1]
    assert table.model().columnCount() == 6 and table.model().rowCount() == 5
    assert 100 < len(words_on(page)) <= MOST_WORDS, " ".join(words_on(page))
    assert "first 5 of" in " ".join(one.plain() for one in page.left.findChildren(Prose))
    assert "6 of 20 columns" in " ".join(one.plain() for one in page.left.findChildren(Prose))
    page.open_further.click()
    settle(qtbot, window)
    behind = [one.model() for one in page.further.findChildren(DataTable) if one.model() is not None]
    assert [one.rowCount() for one in behind if one.columnCount() == 20] == [8], "all of them stand there"


@pytest.mark.parametrize("method", ["statistics.counts", "statistics.means"])
def test_the_figure_of_how_far_it_is_off_is_that_of_the_numbers_below_it(
    window: Window, qtbot: Any, tmp_path: Path, method: str
) -> None:
    """A forecast is for a group of a declared size, which none of the released ones need have."""
    page = made(window, qtbot, method, tmp_path)
    bands = next(one for one in page.widget().findChildren(Bands) if one.isVisible())
    margins = [(one.high - one.low) / 2 for one in weakest(window.study.result("bundle").bundle.views)[1]]
    assert len(bands.lines) <= len(margins)
    assert page.numbers["off"].number.text() == f"±\u00a0{size(max(margins))}"


def test_names_take_the_room_that_the_bands_can_spare(qtbot: Any) -> None:
    bands = Bands()
    qtbot.addWidget(bands)
    name = "number of medicines before the stay, none of them on the list"
    bands.show_lines([Line(name, 1.0, 0.5, 1.5, False, "1.0", "± 0.5")], "effects")
    bands.resize(720, 40)
    assert bands.name_width() >= bands.fontMetrics().horizontalAdvance(name)
    bands.resize(360, 40)
    assert 0 < bands.name_width() < 200, "there is a band too"
    bands.show_lines([Line("sex", 1.0, 0.5, 1.5, False, "1.0", "± 0.5")], "effects")
    assert bands.name_width() < 60


def test_effects_without_limits_are_open_points_too(qtbot: Any) -> None:
    """Of 36 effects 28 had no line: before, the card said that all of them can be read."""
    card = LeftCard()
    qtbot.addWidget(card)
    card.show_lines("effects", [Line("sex", 1.0, 0.5, 1.5, False, "1.0", "± 0.5")] * 8, 28)
    assert "28" in card.rest.text() and "all" not in card.rest.text().lower()
    card.show_lines("effects", [Line("sex", 1.0, 0.5, 1.5, False, "1.0", "± 0.5")] * 8)
    assert "all" in card.rest.text().lower()


def test_who_stands_alone_is_counted_in_one_way(window: Window, qtbot: Any, tmp_path: Path) -> None:
    page = made(window, qtbot, "datasets.k_anonymity", tmp_path)
    groups = alone(window.study.result("bundle").facts["internal"])
    assert groups is not None and groups[0] > groups[1]
    window.study.store("group_sizes", SimpleNamespace(alone=422, people=4_259), window.study.plan)
    page._show_figures(window.study.result("bundle"))
    said = " ".join(words_on(page))
    assert f"{groups[0]:,} {groups[1]:,}" in said and "422" not in said
    counts = {one.written for one in measured(window.study.result("bundle").facts["internal"])}
    assert {f"{one:,}" for one in groups} <= counts, "part 2 says the same two"


def test_names_of_many_columns_stand_on_the_right_and_their_number_as_a_figure(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page = made(window, qtbot, "datasets.k_anonymity", tmp_path)
    outcome = window.study.result("bundle")
    terms = outcome.facts["public"]["promise"]["terms"]
    assert page.numbers["term.columns"].number.text() == terms["columns"], "few are named"
    many = ", ".join(f"column_{place}" for place in range(10))
    monkey = {**outcome.facts["public"]["promise"], "terms": {**terms, "columns": many}}
    outcome.facts["public"]["promise"] = monkey
    page._show_figures(outcome)
    assert page.numbers["term.columns"].number.text() == "10"
    assert many in page.explain("term.columns").parts[0].body


def test_undo_is_back_where_it_means_something(window: Window, qtbot: Any, tmp_path: Path) -> None:
    made(window, qtbot, "statistics.counts", tmp_path)
    assert not window.footer.undo.isVisible()
    window.go("preview")
    settle(qtbot, window)
    assert window.footer.undo.isVisible()


def test_forecast_stands_beside_outcome_and_the_weakest_come_first(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page = made(window, qtbot, "statistics.counts", tmp_path)
    assert re.fullmatch(r"\d+ of \d+", page.numbers["readable"].number.text())
    assert "forecast" in page.numbers["off"].sentence.plain()
    lines = page.left.bands.lines
    assert [one.doubt for one in lines] == sorted((one.doubt for one in lines), reverse=True)
    assert len({len(one.written.partition(".")[2]) for one in lines}) == 1, "numbers in one form"


def test_keys_lead_through_the_parts_and_copy_the_figures(window: Window, qtbot: Any, tmp_path: Path) -> None:
    page = made(window, qtbot, "statistics.counts", tmp_path)
    window.activateWindow()
    page.figures.cards[0].setFocus()
    for key, part in ((Qt.Key.Key_2, page.good), (Qt.Key.Key_3, page.never), (Qt.Key.Key_1, page.left)):
        qtbot.keyClick(page.figures.cards[0], key)
        assert part.hasFocus()
    qtbot.keyClick(page.left, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    lines = QGuiApplication.clipboard().text().splitlines()
    assert len(lines) == 4 and lines[2].startswith("Spent: ε")


def test_withdraw_leads_to_this_release_among_all(window: Window, qtbot: Any, tmp_path: Path) -> None:
    page = made(window, qtbot, "statistics.counts", tmp_path)
    entry = window.study.result("bundle").bundle.entry
    qtbot.mouseClick(page.never.withdraw, Qt.MouseButton.LeftButton)
    settle(qtbot, window)
    listed = window.page("releases")
    assert window.step == "releases" and listed._entry()["id"] == entry and listed.withdraw.isVisible()
    listed.reason.setText("Sent to the wrong people.")
    qtbot.mouseClick(listed.withdraw, Qt.MouseButton.LeftButton)
    settle(qtbot, window)
    assert listed.entries[0][1]["state"] == "withdrawn"


def test_a_release_of_another_day_says_the_same(window: Window, qtbot: Any, tmp_path: Path) -> None:
    page = made(window, qtbot, "models.additive", tmp_path)
    now = page.numbers["readable"].accessibleName()
    plan, outcome = reopen(tmp_path / "out")
    window.study.finished.clear()
    window.study.reopen(plan, outcome)
    window.go("release")
    settle(qtbot, window)
    assert window.page("release").numbers["readable"].accessibleName() == now


# --- what is said, without a window -----------------------------------------------------------------


def table(*rows: Any, title: Any = "Counts") -> TableView:
    return TableView(title, ("ward", "count", MARGIN), rows)


def test_silent_numbers_are_weakest_and_lines_for_completeness_are_left_out() -> None:
    view = table(("a", 100, 6), ("b", weak(2), 6), ("c", 9, 6), (aside("missing"), weak(0), 6))
    found = weakest([view])
    assert found is not None and [one.name for one in found[1]] == ["b", "c", "a"]
    assert [one.doubt for one in found[1]] == [math.inf, 6 / 9, 0.06]
    assert (found[1][0].is_silent, found[1][0].written, found[1][0].margin) == (True, "2", "± 6")
    assert weakest([TableView("steps", ("column", "step"), (("age", 1),))]) is None
    assert Line("x", 0.0, -1.0, 1.0, False).doubt == math.inf


def test_an_effect_whose_band_covers_nothing_is_open() -> None:
    base = "methods.models.additive.views.headings"
    headings = ("column", "value", Text(f"{base}.effect"), Text(f"{base}.low"), Text(f"{base}.high"))
    rows = (("age", "old", 0.5, 0.2, 0.8), ("age", "young", -0.1, -0.4, 0.2))
    view = TableView(Text("methods.models.additive.views.effects.title"), headings, rows)
    other = table(*((f"w{at}", 50 + at, 6) for at in range(9)))
    found = weakest([other, view])
    assert found is not None and found[0] is view, "effects before all else"
    assert [(one.name, one.is_silent, one.written) for one in found[1]] == [
        ("age: young", True, "−0.10"),
        ("age: old", False, "+0.50"),
    ]


def test_what_can_be_read_is_counted_by_the_rule_that_judged_the_plan() -> None:
    view = table(("a", 100, 6), ("b", weak(2), 6))
    assert readable([view], [Came("cells", 3, 8)], None) == readable([], [Came("cells", 3, 8)], None)
    told = readable([view], [], None)
    assert told is not None and (told.can, told.of, told.is_poor) == (1, 2, True)
    assert readable([], [], None) is None


def test_what_was_measured_says_when_a_model_only_guesses() -> None:
    score = {"rows": 99, "guess": 3.0, "error": 3.2, "without_noise": 2.9}
    lines = measured({"measures": {"utility.held_out_score": {"m": score}}})
    assert [(one.name, one.written, one.tone) for one in lines] == [
        ("guess", "3.00", "edge"),
        ("error", "3.20", "care"),
        ("without_noise", "2.90", "edge"),
    ]
    assert measured({}) == ()
