"""Candidates beside one another: one selection in picture, table and card, and how many were tried."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFontMetrics

from app import words
from app.frame.window import Window
from app.parts.table import MARKED, LinesDelegate
from app.screens.compare.candidate_plot import CandidatePlot, round_ticks
from app.state import flow
from app.theme import text_font, theme
from app.words.money import size
from app.work.comparing import Figure, Settings, letter, took, unbeaten
from app.work.releasing import Watch, release
from engine.ledger import Ledger
from engine.methods.catalogue import method
from tests.app.walking import example_plan, sample_plan, settle, write


def at_compare(window: Window, qtbot: Any, plan: Any) -> Any:
    """Open a plan with candidates where they are compared."""
    window.study.open_plan(plan)
    for step in flow.path(window.study.state):
        window.go(step)
        settle(qtbot, window, timeout=60_000)
        if step == "compare":
            break
    assert window.step == "compare", (window.step, window.notice.words())
    return window.page("compare")


def coarser(folder: Path, *settings: tuple[int, float]) -> Any:
    """Return the example of k-anonymity with further settings to compare."""
    plan = example_plan("datasets.k_anonymity", folder)
    further = tuple(
        {"parameters": {**plan.parameters, "k": k, "most_left_out": share}} for k, share in settings
    )
    return replace(plan, candidates=further)


def click(qtbot: Any, plot: CandidatePlot, place: int) -> None:
    point = plot.points()[place]
    qtbot.mouseClick(plot, Qt.MouseButton.LeftButton, pos=QPoint(round(point.x()), round(point.y())))


def test_made_candidates_are_points_and_a_click_opens_one(window: Window, qtbot: Any, tmp_path: Path) -> None:
    page = at_compare(window, qtbot, coarser(tmp_path, (3, 0.02), (50, 0.1)))
    assert page.plot.across is not None and page.plot.upwards is not None and len(page.plot.points()) == 3
    click(qtbot, page.plot, 2)
    assert page.table.currentIndex().row() == 2 and window.footer.next.text() == "Go on with C"
    assert page.chosen_title.text().startswith("C · ") and "50" in page.chosen_title.text()
    assert "3" in page.tried.plain()
    reason = page.why.mapTo(page.viewport(), page.why.rect().bottomLeft()).y()
    assert page.verticalScrollBar().value() == 0 and reason < page.viewport().height(), "asked in view"
    qtbot.keyClick(page.plot, Qt.Key.Key_Up)
    assert page.place == 1 and page.table.currentIndex().row() == 1
    page.table.selectRow(2)
    assert page.plot.place == 2
    before = page.plot.points()
    axis = page.axes["upwards"]
    axis.setCurrentIndex(2)
    axis.activated.emit(2)
    assert page.plot.points() != before and page.table.currentIndex().row() == 2
    window.footer.next.click()
    settle(qtbot, window)
    assert window.study.plan.parameters["k"] == 50 and len(window.study.plan.candidates) == 2


def test_settings_are_compared_once_however_they_are_written(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    """Those of the plan again, and again with what is set by itself left out or written out."""
    plan = coarser(tmp_path, (3, 0.02))
    way = method(plan.method)
    (other,) = plan.candidates
    bare = {name: value for name, value in plan.parameters.items() if name != "most_left_out"}
    default = next(one.default for one in way.parameters if one.name == "most_left_out")
    written = [{"parameters": bare}, {"parameters": {**bare, "most_left_out": default}}]
    same = {"parameters": dict(plan.parameters)}
    repeated = replace(plan, candidates=(same, other, other, *written))
    assert len(repeated.candidate_plans()) <= 3
    page = at_compare(window, qtbot, replace(plan, candidates=(same, other, other)))
    assert page.table.model().rowCount() == 2 and "Compared: 2." in page.tried.plain()
    assert len({page.settings.written(place) for place in range(2)}) == 2


def test_headings_of_the_table_are_whole_and_ticks_are_round(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page = at_compare(window, qtbot, coarser(tmp_path, (3, 0.02), (50, 0.1)))
    header, model = page.table.horizontalHeader(), page.table.model()
    for column in range(1, model.columnCount()):
        lines = str(model.headerData(column, Qt.Orientation.Horizontal)).split("\n")
        widest = max(QFontMetrics(text_font(12, 600)).horizontalAdvance(line) for line in lines)
        assert widest <= header.sectionSize(column), lines
    for low, high in ((0.0, 8.9), (5.9, 8.9), (0.0, 0.37), (11.0, 54.0), (100.0, 100.6)):
        ticks = round_ticks(low, high)
        assert all(low - 1e-9 <= one <= high + 1e-9 for one in ticks) and 1 <= len(ticks) <= 6
        assert all(float(f"{one:.2g}") == pytest.approx(one) or one >= 10 for one in ticks)
        assert len({size(one) for one in ticks}) == len(ticks)


def test_each_is_shown_once_it_is_made_with_the_time_it_took(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    shown: list[tuple[list[str], bool]] = []
    page = window.page("compare")
    show = page._show

    def watched(made: Any, plan: Any) -> None:
        show(made, plan)
        model = page.table.model()
        cells = [model.index(line, 1).data() for line in range(model.rowCount())]
        shown.append((cells, page.card.isVisible()))

    page._show = watched
    at_compare(window, qtbot, coarser(tmp_path, (3, 0.02), (50, 0.1)))
    waiting = words.say("app.compare.not_yet")
    assert [cells.count(waiting) for cells, _ in shown] == [2, 1, 0]
    assert all(is_open for _, is_open in shown) and [len(cells) for cells, _ in shown] == [3, 3, 3]
    model = page.table.model()
    last = model.columnCount() - 1
    assert model.headerData(last, Qt.Orientation.Horizontal) == "Took"
    assert all(one.seconds > 0 for one in page.found)
    assert [model.index(line, last).data() for line in range(3)] == [took(one.seconds) for one in page.found]


def test_who_goes_on_does_not_wait_for_the_others(window: Window, qtbot: Any, tmp_path: Path) -> None:
    page = window.page("compare")
    show = page._show

    def first_only(made: Any, plan: Any) -> None:
        show(made, plan)
        if made.place == 0:
            window.footer.next.click()

    page._show = first_only
    window.study.open_plan(coarser(tmp_path, (3, 0.02), (50, 0.1)))
    for step in flow.path(window.study.state):
        window.go(step)
        settle(qtbot, window, timeout=60_000)
        if step == "compare":
            break
    assert window.step == "preview" and len(page.found) == 1 and len(window.study.plan.candidates) == 2
    page._show = show
    window.go("compare")
    settle(qtbot, window, timeout=60_000)
    assert len(page.found) == 3  # what was not made yet is made when the page is opened again


def test_kinds_of_candidates_are_told_by_shape(window: Window, qtbot: Any) -> None:
    assert Settings(("k",), (("3",), ("11",))).kinds() == ("", "")
    plot = CandidatePlot()
    plot.setParent(window)
    plot.resize(430, 330)
    both = Figure("found", (1.0, 2.0)), Figure("kept", (1.0, 2.0))
    plot.show_figures(*both, ["a", "b"], ["partial", "full"])
    at = {place: plot.points()[place] for place in (0, 1)}
    plot.choose(-1)  # no ring
    circle, square = (QColor(colour(plot, at[one].x() + 5, at[one].y() + 5)).lightness() for one in (0, 1))
    assert square + 60 < circle  # the corner of a square is filled


@pytest.mark.parametrize("seed", range(12))
def test_what_is_allowed_is_said_where_no_candidate_lies(window: Window, qtbot: Any, seed: int) -> None:
    chosen = np.random.default_rng(seed)
    count = int(chosen.integers(2, 8))
    across, upwards = (tuple(map(float, chosen.integers(1, 60, count))) for _ in range(2))
    limit = float(chosen.integers(1, 60))
    plot = CandidatePlot()
    plot.setParent(window)
    names = [letter(place) for place in range(count)]
    for both in (True, False):
        first = Figure("found", across, low=tuple(one / 3 for one in across), limit=limit)
        plot.show_figures(first, Figure("kept", upwards) if both else None, names)
        plot.resize(430, plot.height())
        words_at: list[Any] = []
        for part in (plot.field(), QRectF(plot.field().topLeft(), QSizeF(90, plot.field().height()))):
            words_at.append(plot._free_corner(part, 150.0))
        for place in words_at:
            assert place.left() >= 0 and place.right() <= plot.width() and place.top() >= 0
            for point in plot.points().values():
                mark = QRectF(point.x() - 10, point.y() - 10, 20, 20)
                named = QRectF(point.x() + 13, point.y() + 4, 12, 16)
                band = QRectF(plot.field().left(), point.y() - 5, point.x() - plot.field().left(), 10)
                taken = (mark, named) if both else (mark, band)
                assert not any(place.intersects(one) for one in taken), (seed, both)


def test_how_many_were_tried_is_in_the_evidence(window: Window, qtbot: Any, tmp_path: Path) -> None:
    page = at_compare(window, qtbot, coarser(tmp_path, (20, 0.02)))
    assert not Ledger(window.study.ledger_path).entries()  # what was tried left nothing behind
    page.choose(1)
    write(qtbot, page.why, "Twenty are what the board asked for.")
    window.footer.next.click()
    settle(qtbot, window)
    plan = window.study.plan_as_read
    made = release(plan, tmp_path / "out", watch=Watch(), ledger_path=window.study.ledger_path)
    assert made.error is None, made.error
    assert made.facts["public"]["decided"]["candidates"] == 2
    assert made.facts["public"]["decided"]["parameters"]["k"] == 20
    kept = made.facts["internal"]["plan"]["decisions"]
    figures = [f"{one.label}: {one.written(1)}" for one in page.figures[:2]]
    assert [one["decision"] for one in kept] == ["candidate_taken"]
    assert kept[0]["reason"].startswith("Twenty are what the board asked for. Candidate B of 2 was taken.")
    assert all(figure in kept[0]["reason"] for figure in figures) and len(figures) == 2
    reports = {
        part: "".join(one.read_text("utf-8") for one in (made.bundle.folder / part).glob("*.html"))
        for part in ("release", "internal")
    }
    assert "Twenty are what" in reports["internal"] and "Twenty are what" not in reports["release"]


def test_a_reason_is_kept_for_who_comes_back_and_goes_with_the_candidates(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page = at_compare(window, qtbot, coarser(tmp_path, (20, 0.02)))
    found = page.found
    window.footer.next.click()
    settle(qtbot, window)
    (why,) = window.study.plan.decisions
    assert why["reason"].startswith("Candidate A of 2 was taken.") and why["said"] == ""
    window.go("compare")
    settle(qtbot, window)
    assert page.found == found  # a reason alone makes nothing anew
    write(qtbot, page.why, "The board asked for it.")
    window.footer.next.click()
    settle(qtbot, window)
    assert [one["said"] for one in window.study.plan.decisions] == ["The board asked for it."]
    window.go("compare")
    settle(qtbot, window)
    assert page.why.text() == "The board asked for it."
    page.drop.click()
    settle(qtbot, window)
    assert window.study.plan.decisions == () and window.study.plan.candidates == ()


def test_forecasts_of_one_level_are_bands(window: Window, qtbot: Any, tmp_path: Path) -> None:
    plan = sample_plan(tmp_path)
    further = {
        "method": "statistics.margins",
        "parameters": {"columns": ["age", "gender", "readmitted"], "tables": "pairs"},
    }
    page = at_compare(window, qtbot, replace(plan, candidates=(further,)))
    assert page.plot.upwards is None and page.plot.across.label == words.say("app.compare.any_error")
    assert all(low < high for low, high in zip(page.plot.across.low, page.plot.across.values, strict=True))
    click(qtbot, page.plot, 1)
    assert page.place == 1 and "Several tables" in page.chosen_title.text()
    # A heading on two lines takes the width of the longer one: the names beside it have the rest.
    names = [page.table.model().written(row, 1) for row in range(2)]
    widest = max(QFontMetrics(text_font()).horizontalAdvance(name) for name in names)
    assert widest + 2 * LinesDelegate.padding <= page.table.columnWidth(1), names


def test_a_candidate_that_cannot_leave_says_why_and_is_not_taken(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    page = at_compare(window, qtbot, coarser(tmp_path, (5000, 0.02)))
    assert 1 not in page.plot.points() or page.found[1].problem is not None
    page.table.selectRow(1)
    assert page.chosen_words.isVisible() and page.chosen_words.plain()
    assert window.footer.next.text() == "B cannot be chosen" and window.footer.next.property("waiting")
    window.page("compare").go_next()
    assert window.step == "compare" and window.study.plan.parameters["k"] == 11


def colour(plot: CandidatePlot, x: float, y: float) -> str:
    return plot.grab().toImage().pixelColor(round(x), round(y)).name()


def test_what_was_decided_is_shaded_and_nothing_beyond_it_is_taken(
    window: Window, qtbot: Any, tmp_path: Path
) -> None:
    plan = coarser(tmp_path, (3, 0.02), (50, 0.1))
    assert plan.purpose.threshold.startswith("11")
    page = at_compare(window, qtbot, plan)
    across, field = page.plot.across, page.plot.field()
    assert across.limit == 11 and [across.allows(place) for place in range(3)] == [True, False, True]
    soft, edge = theme.tokens().colour("accent_soft").name(), page.plot.points()[0].x()  # A has the limit
    middle = field.center().y() + 3
    assert colour(page.plot, edge + 20, middle) == soft != colour(page.plot, edge - 15, middle)
    outside, allowed = page.plot.points()[1], page.plot.points()[2]
    accent = theme.tokens().colour("accent").name()
    assert (
        colour(page.plot, allowed.x(), allowed.y()) == accent != colour(page.plot, outside.x(), outside.y())
    )
    assert "B" in page.tried.plain() and "Outside your limits" in page.tried.plain()
    model = page.table.model()
    assert model.index(1, 2).data(MARKED) and not model.index(2, 2).data(MARKED)
    page.choose(1)
    assert "is 3; you decided on at least 11." in page.chosen_words.plain()
    assert window.footer.next.text() == "B cannot be chosen" and window.footer.next.property("waiting")
    page.go_next()
    assert window.step == "compare" and "at least 11" in window.notice.words()
    assert window.study.plan.parameters["k"] == 11


def test_money_and_error_are_limits_too(window: Window, qtbot: Any, tmp_path: Path) -> None:
    plan = sample_plan(tmp_path)
    further = {"parameters": {**plan.parameters, "columns": ["age", "gender", "readmitted"]}}
    other = {"method": "statistics.margins", "parameters": {"columns": ["age", "gender"], "tables": "single"}}
    price = replace(plan.price, largest_error=Fraction(7))
    page = at_compare(window, qtbot, replace(plan, price=price, candidates=(further, other)))
    shown = page.plot.across
    assert shown.limit == 7 and not shown.limit_is_least
    places = range(len(shown.values))
    assert [shown.allows(place) for place in places] == [value <= 7 for value in shown.values]
    assert not all(map(shown.allows, places)) and any(map(shown.allows, places))


@pytest.mark.parametrize(
    ("points", "kept"),
    [
        (((1, 9), (2, 4), (2, 5), (3, 3)), (0, 1, 3)),
        (((1, 1), (1, 1)), (0, 1)),
        (((2, 2), (1, 1)), (1,)),
        (((None, 1), (1, None)), ()),
    ],
)
def test_what_nothing_beats(points: Any, kept: tuple[int, ...]) -> None:
    across, upwards = zip(*points, strict=True)
    assert unbeaten(Figure("a", across, True), Figure("b", upwards, True)) == kept
    assert unbeaten(Figure("a", across, None), Figure("b", upwards, True)) == ()
    turned = tuple(None if one is None else -one for one in upwards)
    assert unbeaten(Figure("a", across, True), Figure("b", turned, False)) == kept


def test_letters_go_on_after_z() -> None:
    assert [letter(place) for place in (0, 25, 26, 27, 52)] == ["A", "Z", "AA", "AB", "BA"]
