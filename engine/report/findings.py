"""What a view shows, in one sentence made of its numbers: a heading, and words for who sees no drawing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from engine.languages import Written
from engine.report.words import FIRM_SPACE, axis_value, is_place, margin_columns, with_interval, word
from engine.views import (
    COUNTED,
    HIDDEN,
    BarsView,
    CurveView,
    GraphView,
    HeatmapView,
    IntervalsView,
    Label,
    MatrixView,
    ScatterView,
    TableView,
    Text,
    View,
    amount,
    as_table,
    is_weak,
)

BAND = "views.bands."
UNDRAWN = ("statistics.notes.no_bar",)
DECLARED_ALONE = ("statistics.notes.aside_no_bar", "report.front.without_asides")
FOREMOST = ("report.front.foremost", "report.front.foremost_either_way")
"""Notes of bars without intervals: what has none could be larger, or smaller, than what is drawn."""


@dataclass(frozen=True)
class _Point:
    """A value with its label; without an interval both ends are the value itself."""

    label: Label
    value: float
    low: float
    high: float

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves zero out."""
        return self.low > 0 or self.high < 0

    def no_less_than_nobody(self) -> _Point:
        """Return a count with an interval that is possible: noise below zero is no sign of anybody."""
        return replace(self, low=max(self.low, 0.0), high=max(self.high, 0.0))

    @property
    def size(self) -> float:
        """How large the value is at least, to either side."""
        return max(self.low, -self.high, 0.0)

    @property
    def reach(self) -> float:
        """How large the value is at most, to either side."""
        return max(self.high, -self.low)

    def written(self, *, bare: bool = False) -> str:
        """Return the value as people read it, with its margin."""
        low, high = (None, None) if bare else (self.low, self.high)
        return _with_margin(self.value, low, high)


def find_sentence(view: View) -> Text | None:
    """Return what a view shows in one sentence; None where its numbers say nothing in short.

    The largest value is named as such only where no other interval reaches it; how many values can be told
    from zero is counted by their intervals; of a table what is missing is told, hidden or left out.

    Examples
    --------
    >>> people = BarsView("People", ("women", "men"), (60.0, 3.0), "people", (54.0, -3.0), (66.0, 9.0))
    >>> find_sentence(people).id
    'report.findings.two'
    """
    finder = _FINDERS.get(view.kind)
    return None if finder is None else finder(view)


def describe_view(view: View, language: str) -> str:
    """Return what a drawing shows for those who cannot see it: its kind, its finding, where numbers are."""
    found = find_sentence(view)
    count = _count_numbers(view)
    said = (
        Text(f"report.kinds.{view.kind}", {"title": view.title}),
        *([found] if found is not None else []),
        Text("report.kinds.numbers", {"count": count}),
    )
    return " ".join(word(one, language) for one in said)


def _count_numbers(view: View) -> int:
    """Return how many numbers a drawing shows: of a grid its cells, otherwise one a line of its table."""
    if isinstance(view, HeatmapView | MatrixView):
        cells = [value for row in view.values for value in row]
        return sum(value is not None and math.isfinite(value) for value in cells)
    return len(as_table(view).rows)


def _say(name: str, **values: Any) -> Text:
    return Text(f"report.findings.{name}", values)


def _points(view: BarsView | IntervalsView) -> list[_Point]:
    values = view.values if isinstance(view, BarsView) else view.centres
    low, high = view.low or values, view.high or values
    return [
        _Point(*point)
        for point in zip(view.labels, values, low, high, strict=True)
        if math.isfinite(point[1]) and not math.isnan(point[2]) and not math.isnan(point[3])
    ]


def _of_points(view: BarsView | IntervalsView) -> Text | None:
    points = _points(view)
    if not points:
        return None
    if not view.low:
        return _of_bare(points, view.note)
    possible = [point.no_less_than_nobody() for point in points] if is_of_counts(view.axis) else points
    clear, drawn = sum(point.is_clear for point in possible), "_drawn" if _says(view.note, UNDRAWN) else ""
    if not clear:
        return _say(f"clear_none{drawn}", all=len(points))
    if len(points) == 1 and not drawn:
        return _say("alike", label=points[0].label, value=points[0].written())
    told = _say(f"clear{drawn}", clear=clear, all=len(points))
    # What could be nothing is not the largest, however far its noise carried it
    named = [one for one, own in zip(points, possible, strict=True) if own.is_clear]
    return told if len(points) == 1 else _say("two", first=_largest(points, named, drawn), second=told)


def is_of_counts(heading: object) -> bool:
    """Say whether an axis or a heading names numbers that count: no exact one is below zero.

    Examples
    --------
    >>> is_of_counts(Text("methods.statistics.counts.numbers.count.label"))
    True
    >>> is_of_counts(Text("words.people"))
    False
    """
    names = heading.id.split(".")[-2:] if isinstance(heading, Text) else []
    return names[1:] == ["label"] and names[0] in COUNTED


def _says(note: Text | None, names: tuple[str, ...]) -> bool:
    """Say whether a note says that some groups have no bar: any of them could be largest."""
    return note is not None and any(
        one in names
        for one in (note.id, *(part.id for part in note.values.values() if isinstance(part, Text)))
    )


def _largest(points: list[_Point], named: list[_Point], drawn: str) -> Text:
    """Name the largest of those that may be named, or say that others could be as large."""
    top = max(named, key=lambda point: abs(point.value))
    kind = "furthest" if top.value < 0 else "largest"
    if any(abs(one.value) > abs(top.value) for one in points):  # what could be nothing reads larger still
        kind = f"{kind}_of_clear"
    if drawn:
        return _say(f"{kind}_drawn", label=top.label, value=top.written())
    rivals = sum(one is not top and one.reach >= top.size for one in points)
    name = f"{kind}_of_several" if rivals else kind  # what reads larger is a rival
    return _say(name, label=top.label, value=top.written(), others=rivals)


def _of_bare(points: list[_Point], note: Text | None) -> Text:
    top, least = max(points, key=lambda point: point.value), min(points, key=lambda point: point.value)
    if len(points) == 1 or top.value == least.value:
        return _say("alike", label=_and_others(top, points), value=top.written(bare=True), all=len(points))
    ends = {"last": _and_others(least, points), "least": least.written(bare=True)}
    form = "_drawn" if _says(note, FOREMOST) else "_declared" if _says(note, DECLARED_ALONE) else ""
    return _say(f"from_to{form}", label=_and_others(top, points), value=top.written(bare=True), **ends)


def _and_others(point: _Point, points: list[_Point]) -> Label:
    """Name a value, and how many others are the same."""
    others = sum(one.value == point.value for one in points) - 1
    return _say("and_others", label=point.label, others=others) if others else point.label


def _of_curve(view: CurveView | ScatterView) -> Text | None:
    points = [
        (y, x, series.label)
        for series in view.series
        for x, y in zip(series.x, series.y, strict=True)
        if math.isfinite(x) and math.isfinite(y)
    ]
    if not points:
        return None
    if len(view.series) == 1 and isinstance(view, CurveView) and (falls := _of_fall(view, points)):
        return falls
    if len(view.series) == 1 and isinstance(view, CurveView) and (between := _of_band(view)):
        return between
    y, x, label = max(points, key=lambda point: point[0])
    where = {"axis": view.x_axis, "x": Written(axis_value(x, "en")), "y": Written(axis_value(y, "en"))}
    several = len(view.series) > 1
    return _say("highest_line" if several else "highest", label=label, **where)


def _of_fall(view: CurveView, points: list[tuple[float, float, Label]]) -> Text | None:
    """Say from where to where a curve falls that never rises: where it is highest says nothing."""
    line = sorted((x, y) for y, x, _ in points)
    if any(after[1] > before[1] for before, after in pairwise(line)) or line[0][1] == line[-1][1]:
        return None
    (x, y), (last, least) = line[0], line[-1]
    written = {name: Written(axis_value(value, "en")) for name, value in (("x", x), ("last", last))}
    written |= {"y": Written(f"{y:.2g}"), "least": Written(f"{least:.2g}")}
    return _say("falls", axis=view.x_axis, **written)


def _with_margin(value: float, low: float | None, high: float | None) -> Written:
    """Return a value with its margin, both on one line."""
    return Written(with_interval(value, low, high, "en").replace("± ", f"±{FIRM_SPACE}"))


def _of_band(view: CurveView) -> Text | None:
    """Say where a curve is highest, and its margin there: all places that its band does not tell apart."""
    if view.band is None or not len(view.series[0].x) == len(view.band[0].y) == len(view.band[1].y):
        return None
    lines = (view.series[0].x, view.series[0].y, view.band[0].y, view.band[1].y)
    known = [point for point in zip(*lines, strict=True) if all(map(math.isfinite, point))]
    if not known:
        return None
    x, y, low, high = max(known, key=lambda point: point[1])
    rivals = [point[0] for point in known if point[3] >= low] or [x]
    value = _with_margin(y, low, high)
    ends = [Written(axis_value(end, "en")) for end in (min(rivals), max(rivals))]
    if ends[0] == ends[1]:
        return _say("highest", axis=view.x_axis, x=ends[0], y=value)
    return _say("highest_between", axis=view.x_axis, first=ends[0], last=ends[1], y=value)


def _of_grid(view: HeatmapView | MatrixView) -> Text | None:
    rows = view.row_labels if isinstance(view, HeatmapView) else view.labels
    columns = view.column_labels if isinstance(view, HeatmapView) else view.labels
    off = view.margins if isinstance(view, HeatmapView) else ()
    one = view.margin if isinstance(view, HeatmapView) else None
    cells = [
        (value, row, column, off[down][across] if off else one)
        for down, (row, line) in enumerate(zip(rows, view.values, strict=True))
        for across, (column, value) in enumerate(zip(columns, line, strict=True))
        if value is not None and math.isfinite(value)
    ]
    if not cells:
        return None
    value, row, column, margin = max(cells, key=lambda cell: cell[0])
    name = "highest_place" if all(map(is_place, (row, column))) else "highest_cell"
    if margin is None:
        return _say(name, row=row, column=column, value=Written(axis_value(value, "en")))
    told = {"row": row, "column": column, "value": _with_margin(value, value - margin, value + margin)}
    rivals = sum(other + (near or 0.0) >= value - margin for other, _, _, near in cells) - 1
    return _say(f"{name}_of_several", **told, others=rivals) if rivals else _say(name, **told)


def _of_graph(view: GraphView) -> Text | None:
    if not view.edges:
        return None
    start, end, _ = max(view.edges, key=lambda edge: abs(edge[2]))
    return _say("edge", start=view.nodes[start], end=view.nodes[end], count=len(view.edges))


def _of_table(view: TableView) -> Text | None:
    """Say who or what is missing of a table, or how many of its numbers can be told from zero."""
    cells = [cell for row in view.rows for cell in row]
    hidden = sum(isinstance(cell, Text) and cell.id == HIDDEN for cell in cells)
    if hidden:
        numbers = hidden + sum(amount(cell) is not None for cell in cells)
        return _say("hidden", hidden=hidden, all=numbers)
    bands = [(cell, row) for row in view.rows for cell in row if isinstance(cell, Text) and BAND in cell.id]
    if bands:
        band, row = max(bands, key=lambda one: float(one[0].values.get("low", 0)))
        labels = [cell for cell in row if cell is not band and isinstance(cell, str | Text)]
        return _say("left_out", labels=labels, band=band)
    pairs = [(row[at - 1], row[at]) for at in margin_columns(view)[:1] for row in view.rows]
    known = [(is_weak(value), amount(value), amount(margin)) for value, margin in pairs]
    told = [
        not silent and abs(value) > margin
        for silent, value, margin in known
        if value is not None and margin is not None
    ]
    if not told:
        return None
    clear = sum(told)
    name = "clear" if clear else "clear_none"
    return _say(name, clear=clear, all=len(told))


_FINDERS: Mapping[str, Callable[[Any], Text | None]] = {
    "bars": _of_points,
    "intervals": _of_points,
    "curve": _of_curve,
    "scatter": _of_curve,
    "heatmap": _of_grid,
    "matrix": _of_grid,
    "graph": _of_graph,
    "table": _of_table,
}
