"""Lines and clouds of points on two axes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.report.drawing.canvas import MARKERS, Canvas, Style
from engine.report.drawing.names import Box, move_apart, place_in_rows, place_names
from engine.report.drawing.scale import Scale, span, ticks
from engine.report.words import axis_value
from engine.views import CurveView, Label, Mark, ScatterView, Series

HEIGHT = 0.42  # of the width
TALLEST = 230.0
GAP = 6.0
ROW = 2.8  # sizes of letters that a name of two lines in a row of its own takes
MORE_DASHES = ("plain", "long", "mixed", "dashed")


def draw_curve(view: CurveView, style: Style, width: float, *, rows: int = 0) -> Canvas:
    """Lines named at their right ends; the permissible part shaded, chosen points marked.

    ``rows`` above the field are for names of points that have no place beside them.
    """
    theme = style.theme
    bands = view.band or ()
    xs = [x for series in view.series for x in series.x if math.isfinite(x)]
    ys = [y for series in (*view.series, *bands) for y in series.y if math.isfinite(y)]
    room = max((style.width(line) for one in view.series for line in _name(one, style)), default=0.0)
    wide = (min(xs), max(xs)) if xs and min(xs) < max(xs) else span(xs)
    counted = all(x == int(x) for x in xs)
    canvas, across, down = _frame(
        style, width, view.x_axis, view.y_axis, wide, span(ys), room + 2 * GAP, whole=counted, rows=rows
    )
    if view.shade is not None:
        start, end = (across(value) for value in view.shade)
        canvas.box(start, down.end, end - start, down.start - down.end, theme.accent_soft)
    if view.band is not None:
        _band(canvas, view.band, across, down)
    plain, taken = 0, list[Box]()
    for series in view.series:
        _line(canvas, series, across, down, plain)
        plain += series.style == "plain"
    if view.shade is not None and view.shade_label is not None:
        middle = (across(view.shade[0]) + across(view.shade[1])) / 2
        said = style.lines(view.shade_label, across.end - across.start)[0]
        half = style.width(said, True) / 2
        middle = min(max(middle, across.start + half), across.end - half)
        top = down.end + style.size * 0.8
        canvas.text(middle, top, said, theme.accent, anchor="middle", bold=True)
        taken.append((middle - half, top - 0.7 * style.size, middle + half, top + 0.7 * style.size))
    taken += _line_names(canvas, view.series, across, down)
    needed = _mark(canvas, view, across, down, taken, rows)
    return canvas if needed <= rows else draw_curve(view, style, width, rows=needed)


def _frame(
    style: Style,
    width: float,
    x_axis: Label,
    y_axis: Label,
    wide: tuple[float, float],
    high: tuple[float, float],
    right: float,
    *,
    whole: bool = False,
    rows: int = 0,
) -> tuple[Canvas, Scale, Scale]:
    """Draw both axes with their names; return where values lie. Between whole numbers nothing was drawn."""
    theme, size = style.theme, style.size
    above = rows * ROW * size
    canvas = Canvas(width, round(min(HEIGHT * width, TALLEST) + above, 2), style)
    shown = {value: axis_value(value, style.language) for value in ticks(*high, most=5)}
    left = max((style.width(words) for words in shown.values()), default=0.0) + GAP
    across = Scale(wide, (left, max(width - right, left + 40)))
    down = Scale(high, (canvas.height - 3.3 * size, 2.4 * size + above))
    for value, words in shown.items():
        canvas.line((across.start, down(value)), (across.end, down(value)), theme.line)
        canvas.text(left - GAP, down(value), words, theme.quiet, anchor="end")
    for value in ticks(*wide, whole=whole):
        canvas.text(
            across(value),
            down.start + 1.1 * size,
            axis_value(value, style.language),
            theme.quiet,
            anchor="middle",
        )
    canvas.line((across.start, down.start), (across.end, down.start), theme.line, 0.8)
    canvas.text(0, 0.8 * size, style.lines(y_axis, width)[0], theme.quiet)
    name = style.lines(x_axis, across.end - across.start)[0]
    canvas.text(across.end, canvas.height - 0.7 * size, name, theme.quiet, anchor="end")
    return canvas, across, down


def _band(canvas: Canvas, band: tuple[Series, Series], across: Scale, down: Scale) -> None:
    low, high = band
    there = [(across(x), down(y)) for x, y in zip(low.x, low.y, strict=True)]
    back = [(across(x), down(y)) for x, y in zip(high.x, high.y, strict=True)]
    if there:
        canvas.area((*there, *reversed(back)), canvas.style.theme.line)


def _line(canvas: Canvas, series: Series, across: Scale, down: Scale, plain: int) -> None:
    """Draw a line; plain lines after the first differ by dashes too."""
    theme = canvas.style.theme
    colour = theme.quiet if series.style == "plain" else theme.accent
    dash = {"accent": "plain", "plain": MORE_DASHES[plain % len(MORE_DASHES)]}.get(series.style, series.style)
    points = [
        (across(x), down(y))
        for x, y in zip(series.x, series.y, strict=True)
        if math.isfinite(x) and math.isfinite(y)
    ]
    if points:
        canvas.path(points, colour, 2.0 if series.style == "accent" else 1.4, dash)


def _name(series: Series, style: Style) -> tuple[str, ...]:
    return style.lines(series.label, 14 * style.size, bold=True)


def _line_names(canvas: Canvas, series: Sequence[Series], across: Scale, down: Scale) -> list[Box]:
    """Write each line's name beside its last point, moved apart where they would touch; return where."""
    style, theme = canvas.style, canvas.style.theme
    ends = []
    for one in series:
        finite = [(x, y) for x, y in zip(one.x, one.y, strict=True) if math.isfinite(x) and math.isfinite(y)]
        if finite:
            ends.append((down(finite[-1][1]), across(finite[-1][0]), one))
    ends.sort(key=lambda end: end[0])
    named = [_name(one, style) for _, _, one in ends]
    halves = [len(lines) * 0.625 * style.size for lines in named]
    middles = move_apart([place for place, _, _ in ends], halves, 0.1 * style.size, canvas.height)
    found: list[Box] = []
    for (place, x, one), lines, middle, half in zip(ends, named, middles, halves, strict=True):
        colour = theme.quiet if one.style == "plain" else theme.accent
        if x < across.end - 2:
            canvas.line((x, place), (across.end + GAP / 2, middle), theme.line)
        canvas.text(across.end + GAP, middle, lines, colour, bold=one.style == "accent")
        found.append((across.end + GAP, middle - half, canvas.width, middle + half))
    return found


def _mark(canvas: Canvas, view: CurveView, across: Scale, down: Scale, taken: list[Box], rows: int) -> int:
    """Mark points and name each on a plate; return how many names still need rows above the field."""
    style, theme = canvas.style, canvas.style.theme
    points = [(across(mark.x), down(mark.y)) for mark in view.marks]
    said = [style.lines(mark.label, 20 * style.size, bold=True) for mark in view.marks]
    sizes = [
        (max(style.width(line, True) for line in lines) + 4, (1.25 * len(lines) + 0.15) * style.size)
        for lines in said
    ]
    field = (across.start, down.end - style.size, canvas.width, down.start)
    placed = list(
        place_names(
            points,
            sizes,
            field,
            taken,
            radius=GAP,
            line=1.4 * style.size,
            upwards=[
                (x > (across.start + across.end) / 2) == _rises(view, mark)
                for (x, _), mark in zip(points, view.marks, strict=True)
            ],
        )
    )
    without = [place for place, one in enumerate(placed) if one is None]
    tops = [(1.35 + number * ROW) * style.size for number in range(len(without))]
    if without and len(without) <= rows:
        led = place_in_rows(
            [points[one] for one in without], [sizes[one] for one in without], (0.0, *field[1:]), tops
        )
        for place, one in zip(without, led, strict=True):
            placed[place] = one
    for named in placed:
        if named is not None and named.leader is not None:
            canvas.line(*named.leader, theme.quiet)
    for point in points:
        canvas.mark(point, "circle", theme.surface, theme.accent, 3.6)
    for lines, named in zip(said, placed, strict=True):
        if named is not None:
            left, top, right, bottom = named.box
            canvas.box(left, top, right - left, bottom - top, theme.surface, 0.85)
            canvas.text(left + 2, (top + bottom) / 2, lines, theme.text, bold=True)
    return len(without)


def _rises(view: CurveView, mark: Mark) -> bool:
    """Say whether the line nearest to a mark rises there: its name keeps clear of that line."""
    near: list[tuple[float, bool]] = []
    for series in view.series:
        for before, after in zip(range(len(series.x) - 1), range(1, len(series.x)), strict=True):
            if series.x[before] <= mark.x <= series.x[after]:
                near.append((abs(series.y[before] - mark.y), series.y[after] >= series.y[before]))
    return min(near)[1] if near else True


def draw_scatter(view: ScatterView, style: Style, width: float) -> Canvas:
    """Points on two axes; clouds differ by marker and by fill, and are named above."""
    theme = style.theme
    xs = [x for series in view.series for x in series.x]
    ys = [y for series in view.series for y in series.y]
    canvas, across, down = _frame(style, width, view.x_axis, view.y_axis, span(xs), span(ys), GAP)
    right = across.end
    for order, series in enumerate(view.series):
        colour = theme.accent if series.style in ("accent", "dashed", "dotted") else theme.quiet
        fill = colour if order % 2 == 0 else theme.surface
        kind = MARKERS[order % len(MARKERS)]
        for x, y in zip(series.x, series.y, strict=True):
            if math.isfinite(x) and math.isfinite(y):
                canvas.mark((across(x), down(y)), kind, fill, colour, 2.4)
        said = style.lines(series.label, 14 * style.size)[0]
        right -= style.width(said)
        canvas.text(right, 0.8 * style.size, said, theme.text)
        canvas.mark((right - GAP, 0.8 * style.size), kind, fill, colour, 2.4)
        right -= 3 * GAP
    return canvas
