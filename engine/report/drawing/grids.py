"""Shades in a grid, and networks."""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.report.drawing.canvas import Canvas, Style
from engine.report.words import axis_value, cell, is_place, word
from engine.views import GraphView, HeatmapView, Label, MatrixView

GAP = 6.0
FULLEST = 0.48  # of the accent colour: words stand out on it in light and in dark
MOST_OF_WIDTH = 0.3
MOST_TALL = 12  # rows that are as high as two lines
LINE = 1.35


def draw_heatmap(view: HeatmapView, style: Style, width: float) -> Canvas:
    """Shades in a grid, each with its number where there is room."""
    return _grid(view.row_labels, view.column_labels, view.values, style, width)


def draw_matrix(view: MatrixView, style: Style, width: float) -> Canvas:
    """The same things along both sides."""
    return _grid(view.labels, view.labels, view.values, style, width)


def _grid(
    rows: tuple[Label, ...],
    columns: tuple[Label, ...],
    values: Sequence[Sequence[float | None]],
    style: Style,
    width: float,
) -> Canvas:
    theme, size = style.theme, style.size
    names = [style.lines(label, MOST_OF_WIDTH * width) for label in rows]
    left = max((style.width(line) for name in names for line in name), default=0.0) + GAP
    across = (width - left) / max(len(columns), 1)
    down = size * (2.9 if any(len(name) > 1 for name in names) else 2.4 if len(rows) <= MOST_TALL else LINE)
    heads = [style.lines(label, across - 4) for label in columns]
    turned = any(line.endswith("…") for head in heads for line in head)
    if columns and all(map(is_place, columns)):  # a place along a scale: some of them name the others
        widest = max(style.width(word(label, style.language)) for label in columns)
        step = max(math.ceil((widest + GAP) / across), 1)
        heads = [(word(label, style.language),) if n % step == 0 else () for n, label in enumerate(columns)]
        turned = False
    if turned:
        heads = [style.lines(label, 11 * size)[:1] for label in columns]
    top = size * (7.5 if turned else 1.6 + 1.25 * max((len(head) for head in heads), default=1))
    canvas = Canvas(width, round(top + down * max(len(rows), 1) + 2, 2), style)
    for number, head in enumerate(heads):
        x = left + (number + 0.5) * across
        if not head:
            continue
        if turned:
            canvas.text(x - size, top - 1.1 * size, head, theme.quiet, turned=True)
        else:
            canvas.text(x, top / 2, head, theme.quiet, anchor="middle")
    for number, name in enumerate(names):
        canvas.text(left - GAP, top + (number + 0.5) * down, name, theme.text, anchor="end")
    present = [v for row in values for v in row if v is not None and math.isfinite(v)]
    low, high = (min(present), max(present)) if present else (0.0, 1.0)
    wide = max((style.width(axis_value(value, style.language)) for value in present), default=0.0)
    for y, row in enumerate(values):
        for x, value in enumerate(row):
            place = (left + x * across, top + y * down)
            _shade(canvas, place, (across - 1, down - 1), value, (low, high), show=wide + 2 <= across)
    return canvas


def _shade(
    canvas: Canvas,
    place: tuple[float, float],
    extent: tuple[float, float],
    value: float | None,
    ends: tuple[float, float],
    *,
    show: bool,
) -> None:
    theme, style = canvas.style.theme, canvas.style
    nothing = value is None or not math.isfinite(value)
    share = 0.0 if value is None or nothing or ends[0] == ends[1] else (value - ends[0]) / (ends[1] - ends[0])
    if not nothing:
        canvas.box(*place, *extent, theme.accent_soft)
        canvas.box(*place, *extent, theme.accent, FULLEST * share)
    if show:
        colour = theme.quiet if nothing else theme.text
        words = cell(None, style.language) if value is None or nothing else axis_value(value, style.language)
        middle = (place[0] + extent[0] / 2, place[1] + extent[1] / 2)
        canvas.text(*middle, words, colour, anchor="middle")


def draw_graph(view: GraphView, style: Style, width: float) -> Canvas:
    """Nodes on a circle in their given order; the heavier an edge, the thicker its arrow."""
    theme, size = style.theme, style.size
    canvas = Canvas(width, round(min(0.55 * width, 300.0), 2), style)
    radius = canvas.height / 2 - 3 * size
    middle = (width / 2, canvas.height / 2)
    count = max(len(view.nodes), 1)
    turns = [2 * math.pi * number / count for number in range(len(view.nodes))]
    places = [(middle[0] + radius * math.sin(t), middle[1] - radius * math.cos(t)) for t in turns]
    heaviest = max((abs(weight) for _, _, weight in view.edges), default=1.0) or 1.0
    for start, end, weight in view.edges:
        _arrow(canvas, places[start], places[end], abs(weight) / heaviest, dashed=weight < 0)
    for label, (x, y) in zip(view.nodes, places, strict=True):
        canvas.mark((x, y), "circle", theme.surface, theme.text, 3.6)
        side = (x - middle[0]) / max(radius, 1)
        anchor = "start" if side > 0.1 else "end" if side < -0.1 else "middle"
        raised = (y - middle[1]) / max(radius, 1) * 1.5 * size
        canvas.text(x + 8 * side, y + raised, style.lines(label, 16 * size)[0], theme.text, anchor=anchor)
    return canvas


def _arrow(
    canvas: Canvas, start: tuple[float, float], end: tuple[float, float], share: float, *, dashed: bool
) -> None:
    away, along = end[0] - start[0], end[1] - start[1]
    length = math.hypot(away, along)
    if length < 16:
        return
    dx, dy = away / length, along / length
    first = (start[0] + 6 * dx, start[1] + 6 * dy)
    tip = (end[0] - 6 * dx, end[1] - 6 * dy)
    neck = (tip[0] - 7 * dx, tip[1] - 7 * dy)
    colour = canvas.style.theme.accent
    canvas.path((first, neck), colour, 0.6 + 2.2 * share, "dashed" if dashed else "plain")
    wide = 2.5 + 1.5 * share
    canvas.area(
        (tip, (neck[0] - wide * dy, neck[1] + wide * dx), (neck[0] + wide * dy, neck[1] - wide * dx)), colour
    )
