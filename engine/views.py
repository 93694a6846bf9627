"""View: what a result looks like, as data. Screen, HTML and PDF draw the same views; none knows a method.

A view never holds a sentence. What people read is a `Text` (an id of ``resources/texts`` with named values)
or a `str` that the custodian wrote: the name of a column, a declared value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import reduce
from importlib import import_module
from typing import Any, ClassVar

from engine.notebook import Shown


@dataclass(frozen=True)
class Text:
    """A sentence by its id, with the values that it names."""

    id: str
    values: Mapping[str, Any] = field(default_factory=dict)


Label = Text | str
Cell = str | int | float | Text | None
COUNTED = frozenset(
    (
        *("count", "total", "weight_total", "at_risk", "events"),
        *("lengths", "moves", "a_week", "stays", "arrivals", "present", "whole"),
    )
)
"""Own names of released numbers that count, or add weights up: their exact ones cannot be below zero."""

WEAK = "views.weak"
ASIDE = "views.aside"
HIDDEN = "statistics.labels.hidden"
"""Ids of cells that say something of a number (it carries no information, or it is not printed) or a line."""


BANDS = (5, 15, 30)
"""Where a band of what is told of a share outside ends, in per cent."""


def band_of(part: int, whole: int) -> tuple[int, Text]:
    """Return in which wide band a share lies, and how that is said: exact shares stay inside.

    Examples
    --------
    >>> band_of(1, 20), band_of(7, 20)[0], band_of(6, 100)[1].values
    ((0, Text(id='views.bands.most', values={'high': 5})), 3, {'low': 5, 'high': 15})
    """
    band = sum(100 * part > end * whole for end in BANDS)
    return band, say_band(band)


def say_band(band: int) -> Text:
    """Return how a band is said that `band_of` numbered.

    Examples
    --------
    >>> say_band(3).values
    {'low': 30}
    """
    name = "most" if not band else "between" if band < len(BANDS) else "above"
    values = {"low": BANDS[band - 1]} if band else {}
    values |= {"high": BANDS[band]} if band < len(BANDS) else {}
    return Text(f"views.bands.{name}", values)


def weak(value: int | float) -> Text:
    """Return a number of a table that carries no information: its margin is as large as itself.

    It is shown in brackets. The note of the table says what they mean.
    """
    return Text(WEAK, {"value": value})


def is_weak(cell: Cell) -> bool:
    """Say whether a cell is a number that carries no information."""
    return isinstance(cell, Text) and cell.id == WEAK


def labelled(name: str, value: str | Text) -> Text:
    """Return a value with the name of its column before it, as every language parts the two."""
    return Text("views.labelled", {"name": name, "value": value})


def several(labels: Iterable[Label]) -> Label:
    """Return labels that hold together, such as those of a cell of several columns."""
    return reduce(lambda one, other: Text("views.and_then", {"first": one, "second": other}), labels)


def aside(label: Label) -> Text:
    """Return the name of a line that stands for completeness only: missing values, and undeclared ones.

    Files hold it as it is; where people read it, it is said in their language.
    """
    return Text(ASIDE, {"label": label})


def is_aside(cell: Cell) -> bool:
    """Say whether a cell names a line that stands for completeness only."""
    return isinstance(cell, Text) and cell.id == ASIDE


def amount(cell: Cell) -> int | float | None:
    """Return the number of a cell, in brackets or not; None where it is none.

    Examples
    --------
    >>> amount(weak(3)), amount(2.5), amount("three"), amount(True)
    (3, 2.5, None, None)
    """
    value = cell.values["value"] if isinstance(cell, Text) and cell.id == WEAK else cell
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


SHARE, WHOLE = "views.share", "views.whole"


def share(part: float) -> Text:
    """Return a part of a whole, as a cell: in percent, with a bar beside it where a table can draw one.

    Examples
    --------
    >>> share(0.0213), share(1.7).id
    (Text(id='views.share', values={'percent': 2}), 'views.whole')
    """
    return Text(WHOLE) if part >= 1 else Text(SHARE, {"percent": round(100 * part)})


def share_of(cell: Cell) -> float | None:
    """Return the part, from 0 to 1, that a cell shows; None where it shows none."""
    if not isinstance(cell, Text) or cell.id not in (SHARE, WHOLE):
        return None
    return 1.0 if cell.id == WHOLE else float(cell.values["percent"]) / 100


def percent(part: float, end: float | None = None) -> Text:
    """Return a part of a whole as a cell, or the range of one: in percent with one digit after the point.

    Examples
    --------
    >>> percent(0.0213), percent(0.1, 0.2).id
    (Text(id='views.percent', values={'percent': 2.13}), 'views.percents')
    """
    low = round(100 * part, 6)
    if end is None:
        return Text("views.percent", {"percent": low})
    return Text("views.percents", {"low": low, "high": round(100 * end, 6)})


class Pictured(Shown):
    """A view that can be drawn by matplotlib; `engine.report.figures` does it, loaded on first use."""

    def figure(self, **options: Any) -> Any:
        """Return the view as a figure of matplotlib, to look at closely, change or save.

        Parameters
        ----------
        options
            Those of `engine.report.figures.figure`: ``dark``, ``language``, ``width``, ``height``.
        """
        return import_module(f"{__package__}.report.figures").figure(self, **options)

    def save(self, path: Any, **options: Any) -> Any:
        """Write the view as PDF, PNG or SVG, or its numbers as CSV, by the ending of the name.

        Parameters
        ----------
        path
            Ends in ``.pdf``, ``.png``, ``.svg`` or ``.csv``.
        options
            Those of `engine.report.figures.save`: ``language``, ``stays``, ``limits``, ``size``.
        """
        return import_module(f"{__package__}.report.figures").save(self, path, **options)


@dataclass(frozen=True)
class NumberView(Pictured):
    """One key number. ``three`` is the id below which its texts ``what``, ``how`` and ``change`` stand."""

    kind: ClassVar[str] = "number"
    title: Label
    value: float | int | str
    three: Text
    unit: str = ""


@dataclass(frozen=True)
class TableView(Pictured):
    """Rows under headings. A cell that is None is shown as a dash."""

    kind: ClassVar[str] = "table"
    title: Label
    headings: tuple[Label, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: Text | None = None


@dataclass(frozen=True)
class BarsView(Pictured):
    """One bar a label, with an interval each where ``low`` and ``high`` are given."""

    kind: ClassVar[str] = "bars"
    title: Label
    labels: tuple[Label, ...]
    values: tuple[float, ...]
    axis: Label
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    note: Text | None = None


@dataclass(frozen=True)
class IntervalsView(Pictured):
    """A point and an interval a label, one under the other."""

    kind: ClassVar[str] = "intervals"
    title: Label
    labels: tuple[Label, ...]
    centres: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    axis: Label
    note: Text | None = None


@dataclass(frozen=True)
class Series:
    """One line or cloud of points. ``style`` is plain, accent, dashed or dotted: never colour alone."""

    label: Label
    x: tuple[float, ...]
    y: tuple[float, ...]
    style: str = "plain"


@dataclass(frozen=True)
class Mark:
    """A named point on a plot."""

    x: float
    y: float
    label: Label


@dataclass(frozen=True)
class CurveView(Pictured):
    """Lines over a common axis; ``shade`` is the permissible part of that axis, ``band`` an area of doubt."""

    kind: ClassVar[str] = "curve"
    title: Label
    x_axis: Label
    y_axis: Label
    series: tuple[Series, ...]
    marks: tuple[Mark, ...] = ()
    shade: tuple[float, float] | None = None
    shade_label: Label | None = None
    band: tuple[Series, Series] | None = None
    note: Text | None = None


@dataclass(frozen=True)
class ScatterView(Pictured):
    """Points on two axes."""

    kind: ClassVar[str] = "scatter"
    title: Label
    x_axis: Label
    y_axis: Label
    series: tuple[Series, ...]
    note: Text | None = None


@dataclass(frozen=True)
class HeatmapView(Pictured):
    """Shades in a grid; ``values`` row by row, None where there is nothing to say.

    ``margin``: how far a value may be off at most, in 95 of 100 releases; None where it is not known.
    ``margins``: the same of every value, row by row, where they differ.
    """

    kind: ClassVar[str] = "heatmap"
    title: Label
    row_labels: tuple[Label, ...]
    column_labels: tuple[Label, ...]
    values: tuple[tuple[float | None, ...], ...]
    note: Text | None = None
    margin: float | None = None
    margins: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True)
class MatrixView(Pictured):
    """Numbers between the same things (a confusion, a correlation)."""

    kind: ClassVar[str] = "matrix"
    title: Label
    labels: tuple[Label, ...]
    values: tuple[tuple[float, ...], ...]
    note: Text | None = None


@dataclass(frozen=True)
class GraphView(Pictured):
    """Nodes and weighted edges ``(from, to, weight)`` by position in ``nodes``."""

    kind: ClassVar[str] = "graph"
    title: Label
    nodes: tuple[Label, ...]
    edges: tuple[tuple[int, int, float], ...]
    note: Text | None = None


@dataclass(frozen=True)
class TextView(Pictured):
    """Paragraphs."""

    kind: ClassVar[str] = "text"
    title: Label
    paragraphs: tuple[Text, ...]


View = (
    NumberView
    | TableView
    | BarsView
    | IntervalsView
    | CurveView
    | ScatterView
    | HeatmapView
    | MatrixView
    | GraphView
    | TextView
)
KINDS: tuple[type[Any], ...] = (
    NumberView,
    TableView,
    BarsView,
    IntervalsView,
    CurveView,
    ScatterView,
    HeatmapView,
    MatrixView,
    GraphView,
    TextView,
)


def to_json(value: Any) -> Any:
    """Return a view, or any part of one, as plain JSON values.

    Examples
    --------
    >>> to_json(Mark(1.0, 2.0, "here"))
    {'x': 1.0, 'y': 2.0, 'label': 'here'}
    """
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    if isinstance(value, tuple | list):
        return [to_json(item) for item in value]
    if isinstance(value, Mapping):
        return {name: to_json(item) for name, item in value.items()}
    if hasattr(value, "__dataclass_fields__"):
        kind = {"kind": value.kind} if hasattr(value, "kind") else {}
        return kind | {part.name: to_json(getattr(value, part.name)) for part in fields(value)}
    return value


def from_json(value: Any) -> Any:
    """Return what `to_json` wrote: views and texts as themselves, lists as tuples.

    Raises
    ------
    ValueError, TypeError
        A kind of view or a field that does not exist.

    Examples
    --------
    >>> from_json(to_json(Mark(1.0, 2.0, Text("here"))))
    Mark(x=1.0, y=2.0, label=Text(id='here', values={}))
    """
    if isinstance(value, list):
        return tuple(from_json(item) for item in value)
    if not isinstance(value, Mapping):
        return value
    names = set(value)
    inner = {name: from_json(item) for name, item in value.items()}
    if names == {"id", "values"}:
        return Text(**inner)
    if names == {"label", "x", "y", "style"}:
        return Series(**inner)
    if names == {"x", "y", "label"}:
        return Mark(**inner)
    if "kind" not in names:
        return inner
    kind = next((one for one in KINDS if one.kind == value["kind"]), None)
    if kind is None:
        raise ValueError("no such kind of view")
    return kind(**{name: item for name, item in inner.items() if name != "kind"})


def as_table(view: View) -> TableView:
    """Return the numbers behind a view as a table: for screen readers, and for people who want digits.

    Text views have none and give a table without rows.
    """
    if isinstance(view, TableView):
        return view
    if isinstance(view, NumberView):
        return TableView(view.title, (Text("views.value"),), ((view.value,),))
    if isinstance(view, BarsView | IntervalsView):
        centres = view.values if isinstance(view, BarsView) else view.centres
        return _label(view.title, view.axis, view.labels, centres, view.low, view.high)
    if isinstance(view, CurveView | ScatterView):
        rows = tuple(
            (series.label, x, y) for series in view.series for x, y in zip(series.x, series.y, strict=True)
        )
        return TableView(view.title, (Text("views.series"), view.x_axis, view.y_axis), rows)
    if isinstance(view, HeatmapView):
        body = tuple((label, *row) for label, row in zip(view.row_labels, view.values, strict=True))
        return TableView(view.title, ("", *view.column_labels), body)
    if isinstance(view, MatrixView):
        square = tuple((label, *row) for label, row in zip(view.labels, view.values, strict=True))
        return TableView(view.title, ("", *view.labels), square)
    if isinstance(view, GraphView):
        edges = tuple((view.nodes[start], view.nodes[end], weight) for start, end, weight in view.edges)
        return TableView(view.title, (Text("views.from"), Text("views.to"), Text("views.weight")), edges)
    return TableView(view.title, (), ())


def _label(
    title: Label,
    axis: Label,
    labels: tuple[Label, ...],
    centres: tuple[float, ...],
    low: tuple[float, ...],
    high: tuple[float, ...],
) -> TableView:
    if not low:
        return TableView(title, ("", axis), tuple(zip(labels, centres, strict=True)))
    rows = tuple(zip(labels, centres, low, high, strict=True))
    return TableView(title, ("", axis, Text("views.low"), Text("views.high")), rows)
