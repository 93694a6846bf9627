"""Lines and clouds of points on two axes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.report.drawing.canvas import MARKERS, Canvas, Style
from engine.report.drawing.scale import Scale, span, ticks
from engine.report.words import axis_value
from engine.views import CurveView, Label, Mark, ScatterView, Series

HEIGHT = 0.42  # of the width
TALLEST = 230.0
GAP = 6.0
MORE_DASHES = ("plain", "long", "mixed", "dashed")


def draw_curve(view: CurveView, style: Style, width: float) -> Canvas:
    """Lines named at their right ends; the permissible part shaded, chosen points marked."""
    theme = style.theme
    bands = view.band or ()
    xs = [x for series in view.series for x in series.x if math.isfinite(x)]
    ys = [y for series in (*view.series, *bands) for y in series.y if math.isfinite(y)]
    room = max((style.width(line) for one in view.series for line in _name(one, style)), default=0.0)
    wide = (min(xs), max(xs)) if xs and min(xs) < max(xs) else span(xs)
    counted = all(x == int(x) for x in xs)
    canvas, across, down = _frame(
        style, width, view.x_axis, view.y_axis, wide, span(ys), room + 2 * GAP, whole=counted
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
    for mark in view.marks:
        _mark(canvas, mark, view, across, down, taken)
    return canvas


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
) -> tuple[Canvas, Scale, Scale]:
    """Draw both axes with their names; return where values lie. Between whole numbers nothing was drawn."""
    theme, size = style.theme, style.size
    canvas = Canvas(width, round(min(HEIGHT * width, TALLEST), 2), style)
    shown = {value: axis_value(value, style.language) for value in ticks(*high, most=5)}
    left = max((style.width(words) for words in shown.values()), default=0.0) + GAP
    across = Scale(wide, (left, max(width - right, left + 40)))
    down = Scale(high, (canvas.height - 3.3 * size, 2.4 * size))
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
    middles = _apart([place for place, _, _ in ends], halves, 0.1 * style.size, canvas.height)
    found: list[Box] = []
    for (place, x, one), lines, middle, half in zip(ends, named, middles, halves, strict=True):
        colour = theme.quiet if one.style == "plain" else theme.accent
        if x < across.end - 2:
            canvas.line((x, place), (across.end + GAP / 2, middle), theme.line)
        canvas.text(across.end + GAP, middle, lines, colour, bold=one.style == "accent")
        found.append((across.end + GAP, middle - half, canvas.width, middle + half))
    return found


def _apart(places: list[float], halves: list[float], gap: float, height: float) -> list[float]:
    """Return places from top to bottom, moved apart by what each fills, upwards first; none above the top."""
    moved, below = list(places), height
    for number in reversed(range(len(places))):
        moved[number] = min(moved[number], below - halves[number])
        below = moved[number] - halves[number] - gap
    above = 0.0
    for number, half in enumerate(halves):
        moved[number] = max(moved[number], above + half)
        above = moved[number] + half + gap
    return moved


Box = tuple[float, float, float, float]  # left, top, right, bottom


def _mark(canvas: Canvas, mark: Mark, view: CurveView, across: Scale, down: Scale, taken: list[Box]) -> None:
    """Mark a point and name it on a plate, clear of lines and of other names."""
    style, theme = canvas.style, canvas.style.theme
    x, y = across(mark.x), down(mark.y)
    said = style.lines(mark.label, 20 * style.size, bold=True)[0]
    wide, half = style.width(said, True), 0.7 * style.size
    left = x > (across.start + across.end) / 2
    above = left == _rises(view, mark)
    # The best place first, then the others around the point, then the same farther away.
    sides = [(left, above), (left, not above), (not left, above), (not left, not above)]
    found: list[Box] = []
    for far in (1.5, 3.0, 4.5):
        for to_left, upwards in sides:
            middle = y + (-far if upwards else far) * style.size
            middle = min(max(middle, down.end), down.start - half)
            start = x - wide - GAP if to_left else x + GAP
            found.append((start - 2, middle - half, start + wide + 2, middle + half))
            centred = min(max(x - wide / 2, 2.0), across.end - wide)  # above or below, within the drawing
            found.append((centred - 2, middle - half, centred + wide + 2, middle + half))
    free = [one for one in found if one[0] >= 0 and one[2] <= canvas.width and not _covers(one, taken)]
    place = (free or found)[0]
    taken.append(place)
    canvas.box(place[0], place[1], place[2] - place[0], place[3] - place[1], theme.surface, 0.85)
    canvas.mark((x, y), "circle", theme.surface, theme.accent, 3.6)
    canvas.text(place[0] + 2, (place[1] + place[3]) / 2, said, theme.text, bold=True)


def _covers(box: Box, taken: list[Box]) -> bool:
    return any(box[0] < one[2] and one[0] < box[2] and box[1] < one[3] and one[1] < box[3] for one in taken)


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
