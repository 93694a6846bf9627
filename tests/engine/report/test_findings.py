"""Headings and alternative texts made from numbers: largest, how many are clear of zero, who is missing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engine.report.drawing import PLOTTED
from engine.report.findings import DECLARED_ALONE, FOREMOST, describe_view, find_sentence
from engine.report.words import word
from engine.utility.released_numbers import no_better_than_a_guess
from engine.views import (
    COUNTED,
    HIDDEN,
    BarsView,
    CurveView,
    GraphView,
    HeatmapView,
    IntervalsView,
    MatrixView,
    NumberView,
    ScatterView,
    Series,
    TableView,
    Text,
    weak,
)


def said(view) -> str:
    found = find_sentence(view)
    assert found is not None
    return word(found, "en").replace("\u00a0", " ")


def bars(values, margin):
    labels = tuple("abcdef"[: len(values)])
    low, high = (tuple(one + sign * margin for one in values) for sign in (-1, 1))
    return BarsView("t", labels, tuple(values), "n", low, high)


def test_the_largest_is_named_where_nothing_else_can_be_as_large():
    assert said(bars([60.0, 3.0, 20.0], 6.0)) == "Largest: a, 60 ± 6. 2 of 3 numbers are clear of zero."


def test_a_lead_within_the_margins_is_no_lead():
    shown = said(bars([60.0, 55.0, 20.0], 6.0))
    assert shown == "a reads largest, 60 ± 6; 1 other could be as large. 3 of 3 numbers are clear of zero."


def test_negative_effects_count_by_their_size():
    view = IntervalsView("t", ("a", "b"), (-3.0, 1.0), (-4.0, 0.5), (-2.0, 1.5), "x")
    assert said(view).startswith("a lies furthest from zero, −3 ±") and "2 of 2 numbers are clear" in said(
        view
    )


def test_numbers_that_could_all_be_zero_have_no_largest():
    assert said(bars([5.0, 2.0], 6.0)) == "None of 2 numbers can be told from zero."


def test_bars_without_margins_tell_both_ends():
    assert said(BarsView("t", ("a", "b"), (9.0, 4.0), "n")) == "Largest: a, 9; smallest: b, 4."


def test_values_that_share_the_first_or_last_place_are_not_told_as_one_alone():
    view = BarsView("t", ("a", "b", "c"), (6.0, 2.0, 6.0), "n")
    assert said(view) == "Largest: a and 1 other, 6; smallest: b, 2."


def test_a_curve_that_only_falls_is_told_by_both_its_ends():
    def curve(*y: float) -> CurveView:
        return CurveView("t", "days", "share", (Series("left", (1.0, 2.0, 3.0), y),))

    assert said(curve(1.0, 0.5, 0.041594)) == "Falls from 1 where days is 1 to 0.042 where it is 3."
    assert said(curve(0.5, 1.0, 0.1)).startswith("Highest where days is 2")
    assert said(curve(1.0, 1.0, 1.0)).startswith("Highest")


@pytest.mark.parametrize("odd", [float("nan"), float("inf")])
def test_a_number_that_is_none_is_no_finding(odd):
    assert find_sentence(BarsView("t", ("a",), (odd,), "n")) is None
    assert said(BarsView("t", ("a", "b"), (odd, 2.0), "n")) == "b: 2."


def test_tables_tell_who_is_missing():
    hidden = Text(HIDDEN)
    assert (
        said(TableView("t", ("g", "n"), (("a", hidden), ("b", 5), ("c", 7))))
        == "1 of 3 numbers is not printed."
    )
    band = {name: Text(f"views.bands.{name}", values) for name, values in
            (("most", {"high": 5}), ("above", {"low": 30}))}  # fmt: skip
    rows = (("sex", "men", band["most"]), ("race", "other", band["above"]))
    assert said(TableView("t", ("c", "v", "out"), rows)) == "Left out most: race, other, more than 30 %."


def test_tables_with_margins_count_what_is_clear_of_zero():
    headings = ("g", "n", Text("statistics.headings.within_95"))
    rows = (("a", 50, 6), ("b", weak(3), 6), ("c", -9, 6))
    assert said(TableView("t", headings, rows)) == "2 of 3 numbers are clear of zero."
    assert find_sentence(TableView("t", ("g", "n"), (("a", 1),))) is None


def test_other_kinds_name_what_is_highest():
    line = Series("s", (0.0, 1.0), (0.25, 0.75))
    assert said(CurveView("t", "days", "y", (line,))) == "Highest where days is 1: 0.75."
    both = said(ScatterView("t", "days", "y", (line, Series("r", (4.0,), (0.9,)))))
    assert both == "Highest: r, 0.9 where days is 4."
    assert said(HeatmapView("t", ("a",), ("b", "c"), ((None, 2.0),))) == "Highest: a, c: 2."
    assert said(MatrixView("t", ("a", "b"), ((1.0, 2.0), (3.0, 4.0)))) == "Highest: b, b: 4."
    assert said(GraphView("t", ("a", "b"), ((0, 1, -2.0),))) == "1 line; the strongest leads from a to b."
    assert find_sentence(CurveView("t", "x", "y", ())) is None
    assert find_sentence(NumberView("t", 4, Text("report.numbers.count"))) is None


def test_every_drawing_of_a_release_is_told_with_its_finding(sample):
    drawn = [view for view in sample.every_kind if view.kind in PLOTTED]
    assert {view.kind for view in drawn} == set(PLOTTED)
    for view in drawn:
        found = find_sentence(view)
        assert found is not None and word(found, "en") in describe_view(view, "en"), view.kind


def test_a_count_below_zero_is_clear_of_nothing():
    """Page one says of the same numbers how many could be zero: both count alike."""
    axis = Text("methods.statistics.counts.numbers.count.label")
    view = BarsView("t", ("a", "b", "c"), (60.0, -8.0, 2.0), axis, (54.0, -14.0, -4.0), (66.0, -2.0, 8.0))
    assert said(view) == "Largest: a, 60 ± 6. 1 of 3 numbers is clear of zero."
    assert "2 of 3 numbers are clear" in said(replace(view, axis="change"))


@pytest.mark.parametrize("first", [60.0, 2.0])
def test_what_is_not_drawn_could_be_the_largest(first):
    """A group without information has no bar: nothing is said of all groups then."""
    left_out = Text("statistics.notes.both", {"first": Text("x"), "second": Text("statistics.notes.no_bar")})
    shown = said(replace(bars([first, 1.0], 6.0), note=left_out))
    assert "drawn" in shown and "groups without information are not drawn" in shown
    assert "other" not in shown and "Largest" not in shown


def banded(values, margin):
    x = tuple(float(at) for at in range(len(values)))
    ends = (Series("b", x, tuple(one + sign * margin for one in values)) for sign in (-1, 1))
    return CurveView("t", "days", "density", (Series("s", x, tuple(values)),), band=tuple(ends))


def test_a_peak_with_a_band_has_its_margin_and_all_places_that_could_be_it():
    assert said(banded([1.0, 8.0, 2.0], 0.5)) == "Highest where days is 1: 8.00 ± 0.50."
    assert said(banded([1.0, 8.0, 7.5, 2.0], 0.5)) == "Highest where days is between 1 and 2: 8.00 ± 0.50."


def test_a_shade_is_no_highest_one_where_its_margin_reaches_others():
    grid = HeatmapView("t", ("a", "b"), ("m", "n"), ((186.0, 104.0), (20.0, 0.0)), margin=30.0)
    assert said(grid) == "Highest: a, m: 186 ± 30."
    assert said(replace(grid, margin=150.0)) == "a, m reads highest, 186 ± 150; 3 others could be as high."
    apart = replace(grid, margin=None, margins=((30.0, 60.0), (5.0, 5.0)))  # each place has its own
    assert said(apart) == "a, m reads highest, 186 ± 30; 1 other could be as high."


PLACES = tuple(Text("views.number", {"value": value}) for value in (2.62, 41.2))


def test_places_along_two_scales_are_said_which_is_which():
    """A density of two columns was headed by “2.62, 41.2 reads highest”."""
    grid = HeatmapView("t", PLACES, PLACES, ((0.1, 0.4), (0.2, 0.1)))
    assert said(grid) == "Highest where the row is 2.62 and the column 41.2: 0.4."
    near = replace(grid, margin=0.2)
    assert said(near).startswith("It reads highest where the row is 2.62 and the column 41.2, 0.4")
    assert "2 other places could be as high" in said(near) or "3 other places" in said(near)


def test_what_is_below_zero_is_not_called_largest():
    effects = IntervalsView("t", ("a", "b"), (-3.0, 1.0), (-3.5, 0.5), (-2.5, 1.5), "Effect")
    assert said(effects).startswith("a lies furthest from zero, −3.00 ±")


def test_what_could_be_nothing_is_not_named_as_largest():
    """An effect of a value that nobody has led the figure with −269 ± 297."""
    effects = IntervalsView("t", ("nobody", "gas"), (-269.0, 90.0), (-566.0, 80.0), (28.0, 100.0), "Effect")
    first = "Of those clear of zero gas reads largest, 90 ± 10; 1 other could be as large"
    assert said(effects).startswith(first), "what could be nothing reads larger, and is drawn so"


def test_one_number_is_told_with_its_margin():
    """The mean of everybody was headed by “1 of 1 number is clear of zero”."""
    told = BarsView("t", ("everyone",), (2.84,), "mean", (2.83,), (2.85,))
    assert said(told) == "everyone: 2.840 ± 0.010."
    unclear = replace(told, low=(-1.0,), high=(6.68,))
    assert said(unclear).startswith("None of 1 number")


@pytest.mark.parametrize("note", (*DECLARED_ALONE, *FOREMOST))
def test_of_bars_that_are_drawn_in_part_the_largest_is_that_of_those_drawn(note):
    """A quantile of people without a group was larger than the one that was named the largest."""
    view = BarsView("t", ("a", "b"), (95.0, 85.0), "n", note=Text(note, {"shown": 2, "all": 3}))
    of = "those drawn" if note in FOREMOST else "the groups with declared values"
    assert said(view) == f"Largest of {of}: a, 95; smallest: b, 85."
    both = Text("statistics.notes.both", {"first": "Shares.", "second": view.note})
    assert said(replace(view, note=both)) == said(view)


def test_a_grid_shows_as_many_numbers_as_it_has_cells():
    grid = HeatmapView("t", ("a", "b"), ("m", "n", "o"), ((1.0, 2.0, 3.0), (4.0, None, 6.0)))
    assert "It shows 5 numbers" in describe_view(grid, "en")
    assert "It shows 4 numbers" in describe_view(MatrixView("t", ("a", "b"), ((1.0, 0.5), (0.5, 1.0))), "en")


FLOWS = "methods.statistics.flows.numbers"


def test_what_stands_in_brackets_is_clear_of_nothing():
    """A count below zero by more than its margin is in brackets: the finding beside it counts it so, too."""
    headings = ("from", Text(f"{FLOWS}.a_week.label"), Text(f"{FLOWS}.a_week_within_95.label"))
    rows = (("a", 18.71, 0.54), ("b", weak(-0.79), 0.54), ("c", weak(0.02), 0.54))
    assert said(TableView("t", headings, rows)) == "1 of 3 numbers is clear of zero."


@pytest.mark.parametrize("number", ["a_week", "moves", "stays", "arrivals", "present", "lengths", "whole"])
def test_every_number_of_a_log_of_moves_counts(number):
    axis = Text(f"{FLOWS}.{number}.label")
    view = IntervalsView("t", ("a", "b"), (18.71, -0.79), (18.17, -1.33), (19.25, -0.25), axis)
    assert said(view) == "Largest: a, 18.71 ± 0.54. 1 of 2 numbers is clear of zero."
    assert no_better_than_a_guess(np.array([-0.79]), np.array([0.54]), is_counted=number in COUNTED).all()
