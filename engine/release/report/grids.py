"""How grids of shades and networks are painted on a pair of axes. Called by `figures.draw` alone."""

from __future__ import annotations

import math
from typing import Any

from engine.release.report.plots import LONGEST, Style, name_rows, shown
from engine.release.report.theme import Theme
from engine.release.report.words import cell, word
from engine.views import GraphView, HeatmapView, Label, MatrixView


def _grid(axes: Any, rows: tuple[Label, ...], columns: tuple[Label, ...], values: Any, style: Style) -> None:
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Rectangle

    theme = style.theme
    present = [value for row in values for value in row if value is not None and math.isfinite(value)]
    low, high = (min(present), max(present)) if present else (0.0, 1.0)
    shades = LinearSegmentedColormap.from_list("accent", [theme.accent_soft, theme.accent])
    longest = max((len(cell(shown(value), style.language)) for value in present), default=1)
    show = len(columns) * max(longest, 3) <= 90
    for y, row in enumerate(values):
        for x, value in enumerate(row):
            nothing = value is None or not math.isfinite(value)
            share = 0.0 if nothing or high == low else (value - low) / (high - low)
            axes.add_patch(
                Rectangle(
                    (x - 0.5, y - 0.5),
                    1,
                    1,
                    facecolor=theme.surface if nothing else shades(share),
                    edgecolor=theme.surface,
                    linewidth=1.2,
                )
            )
            if show:
                words = cell(None if nothing else shown(value), style.language)
                colour = theme.quiet if nothing else _readable(shades(share), theme)
                axes.text(x, y, words, ha="center", va="center", **style.font(colour, scale=0.95))
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0, pad=4)
    axes.xaxis.tick_top()
    axes.set_xticks(range(len(columns)))
    tilted = sum(max(len(word(label, style.language)), 3) for label in columns) > 75
    axes.set_xticklabels(
        [style.word(label, 18 if tilted else LONGEST) for label in columns],
        rotation=45 if tilted else 0,
        ha="left" if tilted else "center",
        **style.font(style.theme.quiet),
    )
    name_rows(axes, rows, style)
    axes.set_xlim(-0.5, max(len(columns), 1) - 0.5)


def _readable(shade: Any, theme: Theme) -> str:
    """Return the colour of words that stands out more on a shade: that of text or that of the surface."""
    from matplotlib.colors import to_rgb

    def lightness(colour: Any) -> float:
        red, green, blue = (float(part) ** 2.2 for part in to_rgb(colour))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05

    below = lightness(shade)
    ratio = {name: lightness(name) / below for name in (theme.text, theme.surface)}
    return max(ratio, key=lambda name: max(ratio[name], 1 / ratio[name]))


def heatmap(axes: Any, view: HeatmapView, style: Style) -> None:
    """Shades in a grid, each with its number where there is room."""
    _grid(axes, view.row_labels, view.column_labels, view.values, style)


def matrix(axes: Any, view: MatrixView, style: Style) -> None:
    """The same things along both sides."""
    _grid(axes, view.labels, view.labels, view.values, style)


def graph(axes: Any, view: GraphView, style: Style) -> None:
    """Nodes on a circle in their given order; the heavier an edge, the thicker its arrow."""
    theme = style.theme
    count = max(len(view.nodes), 1)
    places = [
        (math.sin(2 * math.pi * index / count), math.cos(2 * math.pi * index / count))
        for index in range(count)
    ]
    heaviest = max((abs(weight) for _, _, weight in view.edges), default=1.0) or 1.0
    for start, end, weight in view.edges:
        share = abs(weight) / heaviest
        axes.annotate(
            "",
            places[end],
            places[start],
            arrowprops={
                "arrowstyle": "-|>,head_width=0.18,head_length=0.35",
                "color": theme.accent,
                "linewidth": 0.6 + 2.2 * share,
                "linestyle": "-" if weight >= 0 else "--",
                "shrinkA": 6,
                "shrinkB": 6,
            },
        )
    for label, (x, y) in zip(view.nodes, places, strict=True):
        axes.plot(
            [x],
            [y],
            marker="o",
            markersize=7,
            color=theme.surface,
            markeredgecolor=theme.text,
            markeredgewidth=1.4,
        )
        axes.annotate(
            style.word(label, 22),
            (x, y),
            xytext=(9 * x, 11 * y),
            textcoords="offset points",
            ha="left" if x > 0.1 else "right" if x < -0.1 else "center",
            va="bottom" if y > 0.1 else "top" if y < -0.1 else "center",
            **style.font(),
        )
    axes.set_xlim(-1.25, 1.25)
    axes.set_ylim(-1.2, 1.2)
    axes.set_aspect("equal")
    axes.set_axis_off()
