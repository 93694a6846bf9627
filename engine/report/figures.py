"""Views as figures of matplotlib: to look at closely, to change in a notebook, to save as PDF, PNG or SVG.

Loaded when somebody asks for one and never at start. Reports and the pages of the window have drawings of
their own (`engine.report.drawing`): those are made in a moment and are the same bytes for ever.

>>> from engine.views import BarsView
>>> view = BarsView("People", ("women", "men"), (2310.0, 1949.0), "people")
>>> view.figure().axes[0].get_xlabel()
'people'
>>> print(as_csv(view), end="")
,people
women,2310.0
men,1949.0
"""

from __future__ import annotations

import csv
import io
import logging
import math
import os
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, singledispatch
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text as Words

from engine import texts
from engine.formulas import escape_formula
from engine.report.drawing.names import move_apart, place_names
from engine.report.fonts import FAMILIES
from engine.report.theme import DARK, LIGHT, Theme, resource
from engine.report.words import axis_value, cell, note, shorten_table, with_intervals, word, write_with_unit
from engine.views import (
    BarsView,
    CurveView,
    GraphView,
    HeatmapView,
    IntervalsView,
    Label,
    MatrixView,
    NumberView,
    ScatterView,
    TableView,
    Text,
    TextView,
    View,
    amount,
    as_table,
)

STAYS = "report.cover.audience_internal"
FORMATS = ("pdf", "png", "svg", "csv")
SIZE = 9.0  # of letters, in points
DASHES = {"plain": "-", "accent": "-", "dashed": "--", "dotted": ":"}
PLAIN_DASHES = ("-", (0, (9, 2.5)), (0, (9, 2, 1.2, 2)), "--")
MARKERS = ("o", "s", "^", "D")
MOST_NUMBERS = 400  # written into cells of a grid
LONGEST_NAME, MOST_LINES = 40, 4
MARK, LINE = "name of a point", "name of a line"
Limits = tuple[tuple[float, float], tuple[float, float]]
"""Both ends of the axis across, and of the one upwards."""
_DOTS = 150  # an inch of a PNG
_POINTS = 100  # of a screen, an inch


Place = tuple[float, float]


@dataclass(frozen=True)
class Painter:
    """What every kind is painted with: colours, language, and the axes it is painted on."""

    axes: Any
    theme: Theme
    language: str

    def word(self, label: Label, longest: int = LONGEST_NAME) -> str:
        """Return a label in one line, cut where it would push the picture aside."""
        return textwrap.shorten(word(label, self.language), longest, placeholder="…")

    def lines(self, label: Label) -> str:
        """Return a label that stands beside the picture, whole: on further lines where one is too short."""
        said = word(label, self.language)
        return textwrap.fill(said, LONGEST_NAME, max_lines=MOST_LINES, placeholder="…") or said

    def beside(self, what: Place, where: Place, said: str, coordinates: Any, **looks: Any) -> None:
        """Write words about a value, unless that is outside of what is shown."""
        self.axes.annotate(
            said, what, where, xycoords=coordinates, textcoords=coordinates, annotation_clip=True, **looks
        )

    def name(self, x: Label, y: Label = "") -> None:
        """Name both axes."""
        self.axes.set_xlabel(word(x, self.language))
        self.axes.set_ylabel(word(y, self.language))


def figure(
    view: View,
    *,
    dark: bool = False,
    language: str = "en",
    width: float = 8.0,
    height: float | None = None,
    stays: bool = False,
) -> Figure:
    """Return a view as a figure.

    Parameters
    ----------
    view
        Of any kind.
    dark
        In the colours for a dark surface.
    language
        Of labels.
    width, height
        Inches; without a height what there is to show decides.
    stays
        It was computed from rows of a table and must not leave: the figure says so.

    Returns
    -------
    matplotlib.figure.Figure
        With one pair of axes. `save` writes it, in the same bytes from the same view.
    """
    theme = DARK if dark else LIGHT
    with _style(theme):
        made = Figure(figsize=(width, height or _height(view)), layout="constrained")
        axes = made.add_subplot()
        axes.set_title(_wrap(word(view.title, language), width), loc="left", fontweight="bold")
        _paint(view, Painter(axes, theme, language))
        axes.xaxis.set_major_formatter(_number(axes.xaxis, language))
        axes.yaxis.set_major_formatter(_number(axes.yaxis, language))
        notes = [word(one, language) for one in note(view)]
        if stays:
            notes.append(_text(STAYS, language))
        if notes:
            made.supxlabel(
                "\n".join(_wrap(one, width) for one in notes),
                x=0.01,
                ha="left",
                fontsize=SIZE * 0.9,
                color=theme.care if stays else theme.quiet,
                fontweight="bold" if stays else "normal",
            )
        _set_names(made)
    return made


def _set_names(made: Figure) -> None:
    """Put names of points and of lines where each is seen to be its own, for what the axes show now."""
    axes = made.axes[0]
    names: list[Any] = [one for one in axes.texts if one.get_gid() in (MARK, LINE)]
    if not names:
        return
    made.draw_without_rendering()  # what the axes take of the figure is known only then
    window, dots = axes.get_window_extent(), made.dpi / 72
    whole, top = made.bbox, made.bbox.y1
    shown: list[Any] = []
    for one in names:
        x, y = axes.transData.transform(one.xy)
        is_in = window.x0 - 1 <= x <= window.x1 + 1 and window.y0 - 1 <= y <= window.y1 + 1
        one.set_visible(is_in)
        shown += [(one, (float(x), float(top - y)))] if is_in else []
    lines = sorted((one for one in shown if one[0].get_gid() == LINE), key=lambda one: one[1][1])
    high = [_extent(one)[1] for one, _ in lines]
    middles = move_apart([y for _, (_, y) in lines], [one / 2 for one in high], 2 * dots, float(whole.height))
    taken = [_extent_box(one, top) for one in axes.texts if one.get_gid() is None and one.get_text()]
    for (one, (x, y)), middle, tall in zip(lines, middles, high, strict=True):
        one.set_position((6, (y - middle) / dots))
        taken.append((x + 5 * dots, middle - tall / 2, x + 6 * dots + _extent(one)[0], middle + tall / 2))
    marks = [one for one in shown if one[0].get_gid() == MARK]
    placed = place_names(
        [place for _, place in marks],
        [_extent(one) for one, _ in marks],
        (float(window.x0), float(top - window.y1), float(whole.x1), float(top - window.y0)),
        taken,
        radius=7 * dots,
        line=1.4 * SIZE * dots,
    )
    for (one, (x, y)), found in zip(marks, placed, strict=True):
        if found is not None:
            one.set_position(((found.box[0] - x) / dots, (y - found.box[3]) / dots))
        one.arrow_patch.set_visible(found is not None and found.leader is not None)


def _extent(said: Any) -> tuple[float, float]:
    """Return width and height of what a name says, with its plate."""
    found = Words.get_window_extent(said)
    return float(found.width) + 4, float(found.height) + 4


def _extent_box(said: Any, top: float) -> tuple[float, float, float, float]:
    """Return the box of words, downwards from the top of the figure as names are placed."""
    found = Words.get_window_extent(said)
    return float(found.x0), float(top - found.y1), float(found.x1), float(top - found.y0)


def save(
    view: View,
    path: str | Path,
    *,
    language: str = "en",
    stays: bool = False,
    limits: Limits | None = None,
    size: tuple[float, float] | None = None,
) -> Path:
    """Write a view as PDF, PNG or SVG, or the numbers behind it as CSV, by the ending of the name.

    Parameters
    ----------
    view
        Of any kind.
    path
        Ends in one of `FORMATS`.
    language, stays
        See `figure`. What stays is readable by its owner alone; a file of numbers says so in its first line.
    limits
        The part of both axes that is shown; all of it where nothing is said.
    size
        Width and height in inches.

    Raises
    ------
    ValueError
        Another ending.
    """
    place = Path(path)
    ending = place.suffix.lower().removeprefix(".")
    if ending not in FORMATS:
        raise ValueError(f"a picture is saved as {', '.join(FORMATS)}")
    if stays:
        _make_own(place)
    if ending == "csv":
        place.write_text(as_csv(view, language=language, stays=stays), encoding="utf-8")
        return place
    width, height = size or (8.0, None)
    made = figure(view, language=language, stays=stays, width=width, height=height)
    if limits is not None:
        made.axes[0].set_xlim(*limits[0])
        made.axes[0].set_ylim(*limits[1])
        with _style(LIGHT):
            _set_names(made)
    whose = _text(STAYS, language) if stays else ""
    title, further = word(view.title, language), dict[str, Any]()
    if ending == "pdf":
        further = {"Keywords": whose, "CreationDate": None}
    elif ending == "svg":
        further = {"Keywords": [whose], "Date": None}
    elif stays:
        further = {"Comment": whose}
    with _style(LIGHT):  # paper is white
        made.savefig(place, format=ending, dpi=_DOTS, metadata={"Title": title} | further)
    return place


def _make_own(place: Path) -> None:
    """Make a file readable by its owner alone before anything is in it."""
    os.close(os.open(place, os.O_WRONLY | os.O_CREAT, 0o600))
    place.chmod(0o600)


@dataclass(frozen=True)
class Pixels:
    """A painted figure: rows of red, green, blue and opacity from top to bottom, and where its axes lie.

    Parameters
    ----------
    width, height, rgba
        Dots, four bytes each.
    box
        Left, top, right and bottom of the axes, in dots.
    limits
        What the ends of both axes stand for: at the left and right, at the bottom and top.

    Notes
    -----
    All numbers are Python's own: a signal of Qt that carries one of numpy's can end the program.
    """

    width: int
    height: int
    rgba: bytes
    box: tuple[float, float, float, float]
    limits: Limits

    def value_at(self, x: float, y: float) -> tuple[float, float]:
        """Return what a place stands for."""
        left, top, right, bottom = self.box
        (first, last), (low, high) = self.limits
        across, up = (x - left) / (right - left), (bottom - y) / (bottom - top)
        return first + across * (last - first), low + up * (high - low)

    def place_of(self, x: float, y: float) -> tuple[float, float]:
        """Return where two values lie."""
        left, top, right, bottom = self.box
        (first, last), (low, high) = self.limits
        across, up = (x - first) / (last - first), (y - low) / (high - low)
        return left + across * (right - left), bottom - up * (bottom - top)


def paint(
    view: View,
    width: int,
    height: int,
    *,
    ratio: float = 1.0,
    dark: bool = False,
    language: str = "en",
    stays: bool = False,
    limits: Limits | None = None,
) -> Pixels:
    """Paint a view for a screen.

    Parameters
    ----------
    view
        Of any kind.
    width, height, ratio
        Of the place in points of the screen, and dots a point.
    dark, language, stays
        See `figure`.
    limits
        The part of both axes that is shown; all of it where nothing is said.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    size = (max(width, 200) / _POINTS, max(height, 150) / _POINTS)
    made = figure(view, dark=dark, language=language, stays=stays, width=size[0], height=size[1])
    made.set_dpi(_POINTS * ratio)
    axes = made.axes[0]
    if limits is not None:
        axes.set(xlim=limits[0], ylim=limits[1])
    with _style(DARK if dark else LIGHT):
        canvas = FigureCanvasAgg(made)
        _set_names(made)
        canvas.draw()
    across, down = canvas.get_width_height(physical=True)
    where = axes.get_window_extent()
    box = (float(where.x0), float(down - where.y1), float(where.x1), float(down - where.y0))
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    ends = ((float(left), float(right)), (float(low), float(high)))
    return Pixels(across, down, bytes(canvas.buffer_rgba()), box, ends)


def as_csv(view: View, *, language: str = "en", stays: bool = False, separator: str = ",") -> str:
    """Return the numbers behind a view as lines of text: numbers in full, words in the language.

    Parameters
    ----------
    view
        Of any kind; a text has a line a paragraph.
    language
        Of headings and labels.
    stays
        The first line says that it stays here.
    separator
        Between cells; a tabulator for what is put into a spreadsheet.
    """
    written = io.StringIO()
    lines = csv.writer(written, delimiter=separator, lineterminator="\n")
    if stays:
        lines.writerow([_text(STAYS, language)])
    if isinstance(view, TextView):
        lines.writerows([word(one, language)] for one in view.paragraphs)
        return written.getvalue()
    table = as_table(view)
    lines.writerow([escape_formula(word(one, language)) for one in table.headings])
    lines.writerows([_plain(one, language) for one in row] for row in table.rows)
    return written.getvalue()


def _plain(value: Any, language: str) -> str:
    """Write a cell in full: a number as itself, no information as nothing; a word as no formula."""
    if value is None:
        return ""
    number = amount(value)
    return repr(number) if number is not None else escape_formula(cell(value, language))


def places(view: View) -> tuple[tuple[float, float, int], ...]:
    """Return where the lines of `as_table` lie on the axes of `figure`: x, y, and the number of the line.

    Examples
    --------
    >>> places(BarsView("People", ("women", "men"), (2310.0, 1949.0), "people"))
    ((2310.0, 0.0, 0), (1949.0, 1.0, 1))
    """
    if isinstance(view, BarsView | IntervalsView):
        centres = view.values if isinstance(view, BarsView) else view.centres
        found = [(x, float(y), y) for y, x in enumerate(centres)]
    elif isinstance(view, CurveView | ScatterView):
        pairs = [pair for one in view.series for pair in zip(one.x, one.y, strict=True)]
        found = [(float(x), float(y), number) for number, (x, y) in enumerate(pairs)]
    elif isinstance(view, HeatmapView | MatrixView):
        found = [(float(x), float(y), y) for y, row in enumerate(view.values) for x, _ in enumerate(row)]
    else:
        found = []
    return tuple(one for one in found if math.isfinite(one[0]) and math.isfinite(one[1]))


def _text(text_id: str, language: str) -> str:
    return texts.text(text_id, language=language)


def _wrap(words: str, width: float) -> str:
    return "\n".join(textwrap.wrap(words, int(width * 14))) or words


@cache
def _fonts() -> None:
    """Let matplotlib know the fonts that ship: none of the system is needed."""
    # The first time it is loaded it looks at the fonts of the system, and would say so
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    from matplotlib import font_manager

    for names in (("fonts", "report"), ("fonts",)):
        for path in sorted(resource(*names).glob("*.ttf")):
            font_manager.fontManager.addfont(path)


@contextmanager
def _style(theme: Theme) -> Iterator[None]:
    """Paint in the colours of a theme for a while; what a notebook has set stays as it was."""
    _fonts()
    quiet = dict.fromkeys(("axes.labelcolor", "xtick.color", "ytick.color", "axes.edgecolor"), theme.quiet)
    surface = dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), theme.surface)
    colours = {"text.color": theme.text, "axes.titlecolor": theme.text, "grid.color": theme.line}
    further = {
        "font.family": list(FAMILIES),
        "font.size": SIZE,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "axes.unicode_minus": True,
        "text.parse_math": False,  # a column may be called “$x$”
        "pdf.fonttype": 42,
        "svg.hashsalt": "custos",
    }
    changed: Any = {**quiet, **surface, **colours, **further}
    with mpl.rc_context(changed):
        yield


def _height(view: View) -> float:
    if isinstance(view, BarsView | IntervalsView):
        return 1.4 + 0.26 * len(view.labels)
    if isinstance(view, TableView):
        return 1.2 + 0.24 * min(len(view.rows) + 1, 60)
    if isinstance(view, HeatmapView | MatrixView):
        return 1.8 + 0.3 * len(view.values)
    if isinstance(view, NumberView):
        return 1.8
    return 5.0


def _number(axis: Any, language: str) -> Any:
    """Return what writes numbers on an axis as everywhere else; names of bars stay as they are."""
    before = axis.get_major_formatter()
    if type(before).__name__ != "ScalarFormatter":
        return before
    return lambda value, place: axis_value(value, language)


@singledispatch
def _paint(view: Any, on: Painter) -> None:
    raise TypeError(f"{type(view).__name__} is no view")


@_paint.register
def _(view: NumberView, on: Painter) -> None:
    on.axes.axis("off")
    on.axes.text(0, 0.7, write_with_unit(view.value, view.unit, on.language), fontsize=24, fontweight="bold")
    what = word(Text(f"{view.three.id}.what", view.three.values), on.language)
    on.axes.text(0, 0.4, _wrap(what, 7), va="top", color=on.theme.quiet)


@_paint.register
def _(view: TextView, on: Painter) -> None:
    on.axes.axis("off")
    lines = "\n\n".join(_wrap(word(one, on.language), 7) for one in view.paragraphs)
    on.axes.text(0, 1, lines, va="top")


@_paint.register
def _(view: TableView, on: Painter) -> None:
    on.axes.axis("off")
    table, _cut = shorten_table(view)
    rows = [[on.word(cell(one, on.language)) for one in row] for row in table.rows[:60]]
    heads = [on.word(one) for one in table.headings]
    if not heads:
        return
    made = on.axes.table(rows or [[""] * len(heads)], colLabels=heads, loc="upper left", edges="horizontal")
    made.auto_set_column_width(list(range(len(heads))))
    for (row, _), one in made.get_celld().items():
        one.set_edgecolor(on.theme.line)
        one.get_text().set_color(on.theme.quiet if row == 0 else on.theme.text)


def _rows(view: BarsView | IntervalsView, values: Sequence[float], on: Painter) -> None:
    """Name the rows, and write each value with its interval at the right."""
    axes = on.axes
    axes.set_yticks(range(len(values)), [on.word(one) for one in view.labels])
    axes.set_ylim(len(values) - 0.4, -0.6)
    axes.grid(axis="x")
    axes.tick_params(axis="y", length=0)
    on.name(view.axis)
    for y, said in enumerate(with_intervals(values, view.low, view.high, on.language)):
        on.beside((0.5, y), (1.01, y), said, axes.get_yaxis_transform(), va="center", fontweight="bold")


@_paint.register
def _(view: BarsView, on: Painter) -> None:
    on.axes.barh(
        range(len(view.values)),
        [value if math.isfinite(value) else 0.0 for value in view.values],
        color=on.theme.accent,
        height=0.6,
    )
    for y, (low, high) in enumerate(zip(view.low, view.high, strict=True)):
        if math.isfinite(high - low):
            on.axes.plot((low, high), (y, y), color=on.theme.surface, linewidth=4)
            on.axes.plot((low, high), (y, y), color=on.theme.text, linewidth=1.2, marker="|")
    _rows(view, view.values, on)


@_paint.register
def _(view: IntervalsView, on: Painter) -> None:
    for y, (low, high) in enumerate(zip(view.low, view.high, strict=True)):
        if math.isfinite(high - low):
            on.axes.plot((low, high), (y, y), color=on.theme.accent, linewidth=2)
    on.axes.plot(view.centres, range(len(view.centres)), "o", color=on.theme.accent)
    _rows(view, view.centres, on)


@_paint.register
def _(view: CurveView, on: Painter) -> None:
    axes, theme, plain = on.axes, on.theme, 0
    if view.shade is not None:
        axes.axvspan(*view.shade, color=theme.accent_soft, linewidth=0)
        if view.shade_label is not None:
            middle = sum(view.shade) / 2
            looks = {"ha": "center", "va": "top", "color": theme.accent, "fontweight": "bold"}
            said, coordinates = on.word(view.shade_label, 60), axes.get_xaxis_transform()
            on.beside((middle, 0.5), (middle, 0.99), said, coordinates, **looks)
    if view.band is not None:
        low, high = view.band
        axes.fill([*low.x, *reversed(high.x)], [*low.y, *reversed(high.y)], color=theme.line, linewidth=0)
    for one in view.series:
        is_plain = one.style == "plain"
        colour = theme.quiet if is_plain else theme.accent
        dash: Any = PLAIN_DASHES[plain % len(PLAIN_DASHES)] if is_plain else DASHES[one.style]
        plain += is_plain
        axes.plot(one.x, one.y, color=colour, linestyle=dash, linewidth=2 if one.style == "accent" else 1.4)
        finite = [(x, y) for x, y in zip(one.x, one.y, strict=True) if math.isfinite(x) and math.isfinite(y)]
        if finite:
            axes.annotate(
                on.lines(one.label),
                finite[-1],
                (6, 0),
                textcoords="offset points",
                color=colour,
                va="center",
                gid=LINE,
            )
    for mark in view.marks:
        axes.plot(mark.x, mark.y, "o", markerfacecolor=theme.surface, markeredgecolor=theme.accent)
        plate = {"boxstyle": "square,pad=0.1", "facecolor": theme.surface, "edgecolor": "none", "alpha": 0.85}
        said = axes.annotate(
            on.word(mark.label, 60),
            (mark.x, mark.y),
            (8, 10),
            textcoords="offset points",
            fontweight="bold",
            ha="left",
            va="bottom",
            bbox=plate,
            arrowprops={"arrowstyle": "-", "color": theme.quiet, "linewidth": 0.8},
            gid=MARK,
        )
        said.set_in_layout(False)
    axes.grid(axis="y")
    on.name(view.x_axis, view.y_axis)


@_paint.register
def _(view: ScatterView, on: Painter) -> None:
    handles = []
    for order, one in enumerate(view.series):
        colour = on.theme.quiet if one.style == "plain" else on.theme.accent
        fill = colour if order % 2 == 0 else on.theme.surface
        kind = MARKERS[order % len(MARKERS)]
        handles += on.axes.plot(
            one.x,
            one.y,
            linestyle="",
            marker=kind,
            markersize=4,
            markeredgecolor=colour,
            markerfacecolor=fill,
        )
    names = [on.lines(one.label) for one in view.series]
    # matplotlib leaves out names that begin with a low line
    names = [f"\u200b{name}" if name.startswith("_") else name for name in names]
    if handles:
        on.axes.legend(handles, names, frameon=False, loc="lower right", bbox_to_anchor=(1, 1), ncols=2)
    on.axes.grid()
    on.name(view.x_axis, view.y_axis)


@_paint.register
def _(view: HeatmapView, on: Painter) -> None:
    _grid(view.row_labels, view.column_labels, view.values, on)


@_paint.register
def _(view: MatrixView, on: Painter) -> None:
    _grid(view.labels, view.labels, view.values, on)


def _grid(
    rows: Sequence[Label], columns: Sequence[Label], values: Sequence[Sequence[float | None]], on: Painter
) -> None:
    axes, theme = on.axes, on.theme
    soft, full = (to_rgb(colour) for colour in (theme.accent_soft, theme.accent))
    fullest = tuple(a + 0.48 * (b - a) for a, b in zip(soft, full, strict=True))  # letters stand out on it
    shades = LinearSegmentedColormap.from_list("accent", [soft, fullest])
    numbers = [[math.nan if one is None else float(one) for one in row] for row in values]
    if numbers and numbers[0]:
        axes.imshow(numbers, cmap=shades, aspect="auto", interpolation="nearest")
    axes.set_xticks(range(len(columns)), [on.word(one, 24) for one in columns])
    axes.set_yticks(range(len(rows)), [on.word(one) for one in rows])
    axes.tick_params(length=0)
    if sum(len(on.word(one, 24)) for one in columns) > 90:
        axes.tick_params(axis="x", labelrotation=40)
    if len(rows) * len(columns) <= MOST_NUMBERS:
        for y, row in enumerate(numbers):
            for x, value in enumerate(row):
                said = axis_value(value, on.language) if math.isfinite(value) else cell(None, on.language)
                axes.text(x, y, said, ha="center", va="center", color=theme.text, clip_on=True)


@_paint.register
def _(view: GraphView, on: Painter) -> None:
    axes, count = on.axes, max(len(view.nodes), 1)
    axes.axis("off")
    axes.set(xlim=(-1.7, 1.7), ylim=(-1.3, 1.3))
    turns = [2 * math.pi * number / count for number in range(len(view.nodes))]
    where = [(math.sin(turn), math.cos(turn)) for turn in turns]
    heaviest = max((abs(weight) for _, _, weight in view.edges), default=1.0) or 1.0
    for start, end, weight in view.edges:
        looks = {
            "arrowstyle": "-|>",
            "color": on.theme.accent,
            "linewidth": 0.6 + 2.2 * abs(weight) / heaviest,
            "linestyle": "--" if weight < 0 else "-",
            "shrinkA": 6,
            "shrinkB": 6,
        }
        axes.annotate("", where[end], where[start], arrowprops=looks)
    for label, (x, y) in zip(view.nodes, where, strict=True):
        axes.plot(x, y, "o", markerfacecolor=on.theme.surface, markeredgecolor=on.theme.text)
        side = "left" if x > 0.1 else "right" if x < -0.1 else "center"
        axes.text(1.08 * x, 1.12 * y, on.word(label), ha=side, va="center", clip_on=True)
