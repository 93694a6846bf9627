"""Views as data: JSON, and the table behind every picture."""

from __future__ import annotations

import json

import pytest

from engine.views import (
    KINDS,
    BarsView,
    CurveView,
    GraphView,
    HeatmapView,
    IntervalsView,
    Mark,
    MatrixView,
    NumberView,
    ScatterView,
    Series,
    TableView,
    Text,
    TextView,
    View,
    as_table,
    to_json,
)

LINE = Series("line", (0.0, 1.0), (2.0, 3.0), "dashed")
EXAMPLES: tuple[View, ...] = (
    NumberView("n", 4, Text("views.value")),
    TableView("t", ("a", "b"), ((1, None), ("x", 2.5))),
    BarsView("b", ("x", "y"), (1.0, 2.0), "count", (0.5, 1.5), (1.5, 2.5)),
    IntervalsView("i", ("x",), (1.0,), (0.0,), (2.0,), "mean"),
    CurveView("c", "x", "y", (LINE,), (Mark(1.0, 3.0, "here"),), (0.2, 0.8)),
    ScatterView("s", "x", "y", (LINE,)),
    HeatmapView("h", ("r",), ("c1", "c2"), ((1.0, None),)),
    MatrixView("m", ("p", "q"), ((1.0, 2.0), (3.0, 4.0))),
    GraphView("g", ("p", "q"), ((0, 1, 2.0),)),
    TextView("x", (Text("views.value"),)),
)


def test_there_is_an_example_of_every_kind() -> None:
    assert [type(view) for view in EXAMPLES] == list(KINDS)


@pytest.mark.parametrize("view", EXAMPLES, ids=lambda view: view.kind)
def test_a_view_is_plain_json(view: View) -> None:
    tree = json.loads(json.dumps(to_json(view), allow_nan=False))
    assert tree["kind"] == view.kind


@pytest.mark.parametrize("view", EXAMPLES, ids=lambda view: view.kind)
def test_the_table_behind_a_view_is_rectangular(view: View) -> None:
    table = as_table(view)
    assert all(len(row) == len(table.headings) for row in table.rows)
    assert bool(table.rows) == (view.kind != "text")


def test_the_table_of_bars_has_their_limits() -> None:
    assert as_table(EXAMPLES[2]).rows == (("x", 1.0, 0.5, 1.5), ("y", 2.0, 1.5, 2.5))
