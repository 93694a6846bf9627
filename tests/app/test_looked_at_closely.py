"""Whatever is painted with axes opens large, by the hand and by a key, with the numbers that it shows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QWidget

from app.frame.window import Window
from app.parts.enlarged import Enlarged
from app.parts.lines import Line
from app.parts.plot import MarginLine, Painted, PointPicture, SegmentBar, ShareBar
from app.parts.trial.count_view import IntervalLine
from app.parts.trial.solution_view import SolutionPlot
from app.parts.views.figure import Canvas
from app.screens.columns.column_editor import MiniBars
from app.screens.compare.candidate_plot import CandidatePlot
from app.screens.method.pictures import ThingPicture
from app.screens.release.first_screen import Bands
from app.screens.release.spread_beside import SpreadPicture
from app.screens.releases.page import Bar, BarList
from app.screens.risk.cards import GroupHistogram
from app.work.comparing import Figure
from app.work.jobs import JobRunner
from engine.methods.trying import Candidate, MapLadder, SolutionMap
from engine.views import BarsView, as_table

WITHOUT_AXES = {
    PointPicture: "the base of two",
    MarginLine: "its number and margin stand beside it",
    ShareBar: "its number stands beside it",
    SegmentBar: "its amounts stand below it",
    IntervalLine: "its bounds stand beside it",
    ThingPicture: "invented values: an example, and a button",
    Canvas: "opens what the engine drew, see test_enlarged",
}


def histogram() -> Painted:
    made = GroupHistogram("People by group size")
    made.show_bars([("1", 7), ("2–4", 3)], below=1, said="", then=(0, 5), names=("today", "without age"))
    return made


def bands() -> Painted:
    made = Bands()
    made.show_lines([Line("age: 40", 7.0, 3.0, 11.0, False, "7", "± 4")], "effects")
    return made


def spread() -> Painted:
    made = SpreadPicture()
    made.show_shares((("f", "m"),), (np.array([0.07, 0.93]), np.array([0.03, 0.97])), is_amount=False)
    return made


def pair() -> Painted:
    made, first = SpreadPicture(), np.array([[0.07, 0.93]])
    made.show_shares((("f",), ("a", "b")), (first, first / 2), is_amount=False)
    return made


def of_columns() -> Painted:
    return MiniBars(BarsView("age", ("40", "50"), (7.0, 3.0), "rows"))


def registers() -> Painted:
    made = BarList("Left")
    made.show_bars([Bar("Register", 0.07, "ε 1")])
    return made


def solutions() -> Painted:
    ladder = MapLadder("age", (2, 1), ("", "10"), 1.0, (("40",), ("[40-50)",), ("*",)))
    points = tuple(
        Candidate((step,), {"steps": {"age": step}}, lost, left, 0, left < 5)
        for step, lost, left in ((0, 0.0, 7), (1, 0.5, 3))
    )
    made = SolutionPlot()
    made.show_map(SolutionMap((ladder,), points, 1, 1, 4, 10, 7, True, 2, True, "weights"), 1)
    return made


def candidates() -> Painted:
    made = CandidatePlot()
    made.show_figures(Figure("lost", (7.0, 3.0)), Figure("off", (1.0, 2.0)), ("k 5", "k 11"))
    return made


MADE = (histogram, bands, spread, pair, of_columns, registers, solutions, candidates)


@pytest.fixture
def host(qtbot: Any, runner: JobRunner) -> Iterator[QWidget]:
    made = QWidget()
    made.runner = runner
    made.open_large = partial(Window.open_large, made)
    made.resize(900, 600)
    qtbot.addWidget(made)
    made.show()
    yield made
    for one in made.findChildren(Enlarged):
        one.close()


def kinds_below(kind: type) -> set[type]:
    return {kind} | {one for below in kind.__subclasses__() for one in kinds_below(below)}


def test_every_kind_of_picture_opens_or_says_why_not(qapp: QApplication) -> None:
    known = {type(make()) for make in MADE} | WITHOUT_AXES.keys() | kinds_below(Canvas)
    painted = {one for one in kinds_below(Painted) - {Painted} if one.__module__.startswith("app.")}
    assert painted == known, {one.__name__ for one in painted ^ known}


@pytest.mark.parametrize("make", MADE)
@pytest.mark.parametrize("hand", ["mouse", "key"])
def test_what_is_painted_is_looked_at_closely(make: Any, hand: str, host: QWidget, qtbot: Any) -> None:
    picture = make()
    picture.setParent(host)
    picture.resize(500, 260)
    picture.show()
    if hand == "key":
        qtbot.keyClick(picture, Qt.Key.Key_Return)
    elif isinstance(picture, PointPicture):
        qtbot.mouseClick(picture, Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
        assert not host.findChildren(Enlarged), "a click chooses"
        qtbot.mouseDClick(picture, Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    else:
        qtbot.mouseClick(picture, Qt.MouseButton.LeftButton, pos=QPoint(20, 20))
    (large,) = host.findChildren(Enlarged)
    assert large.stays is not isinstance(picture, Bands), "only what left may be given on"
    numbers = {cell for row in as_table(large.view).rows for cell in row if isinstance(cell, float)}
    assert {3.0, 7.0} <= {round(one, 6) for one in numbers} or make in (registers, pair), numbers
    assert 7.0 in {round(one, 6) for one in numbers}
    qtbot.waitUntil(lambda: large.sheet.pixels is not None and not host.runner.busy(), timeout=30_000)
    assert large.sheet.values, "it can be read off"
