"""Bars and intervals: one label a row, the value with its margin at the right."""

from __future__ import annotations

import math

from engine.report.drawing.canvas import Canvas, Style
from engine.report.drawing.scale import Scale, ticks
from engine.report.findings import is_of_counts
from engine.report.words import axis_value, with_intervals
from engine.views import BarsView, IntervalsView, Text

MOST_OF_WIDTH = 0.36
MOST_APART = (16, 25)
"""Rows that stand as far apart as they like; more stand closer, and many closer still."""
GAP = 6.0


def draw_bars(view: BarsView, style: Style, width: float, *, axis_limits: tuple[float, float]) -> Canvas:
    """One bar a label, a whisker where there is an interval, the value at the right."""
    canvas, across, middles = _rows(view, view.values, style, width, axis_limits)
    theme, half = style.theme, style.size * 0.55
    zero = across(0.0)
    for middle, value in zip(middles, view.values, strict=True):
        end = across(value) if math.isfinite(value) else zero
        canvas.box(min(zero, end), middle - half, abs(end - zero), 2 * half, theme.accent)
    for middle, low, high in zip(middles, view.low, view.high, strict=False):
        if math.isfinite(high - low):
            start, end = across(low), across(high)
            canvas.line((start, middle), (end, middle), theme.surface, 3.2)
            canvas.line((start, middle), (end, middle), theme.text, 1.1)
            for at in (start, end):
                canvas.line((at, middle - half / 2), (at, middle + half / 2), theme.text, 1.1)
    return canvas


def draw_intervals(
    view: IntervalsView, style: Style, width: float, *, axis_limits: tuple[float, float]
) -> Canvas:
    """A point with its interval a label, the value at the right; hollow where it could be zero.

    That is where the interval covers zero, and where a count lies below it.

    Where all margins are the same the zone within which a number could as well be zero is shaded.
    """
    canvas, across, middles = _rows(view, view.centres, style, width, axis_limits)
    theme, counted = style.theme, is_of_counts(view.axis)
    rows = list(zip(middles, view.centres, view.low, view.high, strict=True))
    zone = _zone(view)
    if zone and middles:
        start, end = across(-zone), across(zone)
        foot = middles[-1] + middles[0]
        canvas.parts.insert(0, canvas.rectangle(start, 0, end - start, foot, theme.care_soft))
        said = style.lines(Text("report.findings.zone"), width)[0]
        canvas.text(across.start, foot + 2.6 * style.size, said, theme.care)
    for middle, centre, low, high in rows:
        if math.isfinite(high - low):
            canvas.line((across(low), middle), (across(high), middle), theme.accent, 2)
        if math.isfinite(centre):
            hollow = low <= 0 and (counted or high >= 0)
            fill, edge = (theme.surface, theme.accent) if hollow else (theme.accent, theme.surface)
            canvas.mark((across(centre), middle), "circle", fill, edge)
    return canvas


def _zone(view: IntervalsView) -> float:
    """Return the margin that all intervals have, where some cover zero; 0 where they differ."""
    margins = [high - centre for centre, high in zip(view.centres, view.high, strict=True)]
    covers = any(low <= 0 <= high for low, high in zip(view.low, view.high, strict=True))
    same = bool(margins) and all(math.isclose(one, margins[0], rel_tol=1e-6) for one in margins)
    return margins[0] if same and covers and len(margins) > 2 else 0.0


def _rows(
    view: BarsView | IntervalsView,
    values: tuple[float, ...],
    style: Style,
    width: float,
    axis_limits: tuple[float, float],
) -> tuple[Canvas, Scale, list[float]]:
    """Draw names, values and axis; return where a value lies and the middle of every row."""
    theme = style.theme
    said = with_intervals(values, view.low, view.high, style.language)
    names = [style.lines(label, MOST_OF_WIDTH * width) for label in view.labels]
    left = max((style.width(line) for name in names for line in name), default=0.0) + GAP
    right = width - max((style.width(line, True) for line in said), default=0.0) - GAP
    two = any(len(name) > 1 for name in names)
    many = sum(len(values) > most for most in MOST_APART)
    step = style.size * (2.7 if two else (2.1, 1.5, 1.25)[many])
    middles = [step * (number + 0.5) for number in range(len(values))]
    foot = step * max(len(values), 1)
    canvas = Canvas(width, round(foot + 3.3 * style.size, 2), style)
    across = Scale(axis_limits, (left, right))
    _axis(canvas, across, foot)
    if axis_limits[0] < 0 < axis_limits[1]:
        canvas.line((across(0.0), 0), (across(0.0), foot), theme.quiet, 0.8)
    for middle, name, line in zip(middles, names, said, strict=False):
        canvas.text(left - GAP, middle, name, theme.text, anchor="end")
        canvas.text(right + GAP, middle, line, theme.text, bold=True)
    axis_name = style.lines(view.axis, right - left)[0]
    canvas.text(right, foot + 2.6 * style.size, axis_name, theme.quiet, anchor="end")
    return canvas, across, middles


def _axis(canvas: Canvas, across: Scale, foot: float) -> None:
    theme, style = canvas.style.theme, canvas.style
    wide = max(style.width(axis_value(value, style.language)) for value in (across.low, across.high)) + 12
    most = max(2, min(6, int((across.end - across.start) / wide)))
    for value in ticks(across.low, across.high, most=most):
        canvas.line((across(value), 0), (across(value), foot), theme.line)
        shown = axis_value(value, style.language)
        canvas.text(across(value), foot + 1.1 * style.size, shown, theme.quiet, anchor="middle")
    canvas.line((across.start, foot), (across.end, foot), theme.line, 0.8)
