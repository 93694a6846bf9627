"""How each kind of view is painted on a pair of axes. Called by `figures.draw` alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from engine.release.report.theme import Theme
from engine.release.report.words import cell, word
from engine.views import (
    BarsView,
    CurveView,
    GraphView,
    HeatmapView,
    IntervalsView,
    Label,
    Mark,
    MatrixView,
    ScatterView,
    View,
)

LONGEST = 34
MARKERS = ("o", "s", "^", "D", "v", "P")
DASHES: dict[str, Any] = {"plain": "-", "accent": "-", "dashed": (0, (5, 2.5)), "dotted": (0, (1.2, 2))}


@dataclass(frozen=True)
class Style:
    """What every painter needs: colours, language, size of letters in points, font families."""

    theme: Theme
    language: str
    size: float
    families: tuple[str, ...]

    def font(self, colour: str = "", *, bold: bool = False, scale: float = 1.0) -> dict[str, Any]:
        """Return the properties of a text; dollar signs are dollars, never formulas."""
        return {
            "color": colour or self.theme.text,
            "family": list(self.families),
            "size": self.size * scale,
            "weight": 700 if bold else 400,
            "parse_math": False,
        }

    def word(self, label: Label, longest: int = LONGEST) -> str:
        """Return a label, broken into at most two lines and cut with an ellipsis after that."""
        return broken(word(label, self.language), longest)


def broken(words: str, longest: int) -> str:
    """Break a label into at most two lines of about the given number of letters.

    Examples
    --------
    >>> broken("Family and general practice", 14)
    'Family and\\ngeneral practi…'
    """
    if len(words) <= longest:
        return words
    cut = words.rfind(" ", 1, longest + 1)
    first, rest = (words[:cut], words[cut + 1 :]) if cut > 0 else (words[:longest], words[longest:])
    return f"{first}\n{rest if len(rest) <= longest else rest[:longest] + '…'}"


def height(view: View, width: float, size: float) -> float:
    """Return the height in inches that a view needs at a width."""
    line = size / 72
    if isinstance(view, BarsView | IntervalsView):
        step = 2.5 if len(view.labels) <= 12 else 2.05
        return (0.9 + step * max(len(view.labels), 1)) * line + 2.6 * line
    if isinstance(view, HeatmapView):
        return min((4.5 + 2.3 * max(len(view.row_labels), 1)) * line, 8.5)
    if isinstance(view, MatrixView):
        return min((4.5 + 2.6 * max(len(view.labels), 1)) * line, width)
    if isinstance(view, GraphView):
        return min(0.62 * width, 4.6)
    return min(0.46 * width, 3.2)


def span(values: tuple[float, ...]) -> tuple[float, float]:
    """Return limits a little beyond the finite values, never of zero width.

    Examples
    --------
    >>> span((0.0, 10.0))
    (0.0, 10.4)
    """
    finite = [value for value in values if math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    room = (high - low) * 0.04 or abs(high) * 0.04 or 1.0
    return (0.0 if low == 0 else low - room), high + room


def frame(axes: Any, style: Style, *, grid: str) -> None:
    """Axes as lines: one line below, faint lines where values are read off, nothing else."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    for name, spine in axes.spines.items():
        spine.set_visible(name == "bottom")
        spine.set_color(style.theme.line)
    axes.tick_params(length=0, pad=4, labelcolor=style.theme.quiet, labelsize=style.size * 0.95)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: cell(_plain(value), style.language)))
        axis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]))
        axis.set_tick_params(labelfontfamily=list(style.families))
    axes.set_axisbelow(True)
    axes.grid(axis=grid, color=style.theme.line, linewidth=0.6)


def _plain(value: float) -> float | int:
    rounded = float(f"{value:.10g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def name_rows(axes: Any, labels: tuple[Label, ...], style: Style) -> None:
    """Name the rows at the left, the first on top."""
    axes.set_yticks(range(len(labels)))
    axes.set_yticklabels([style.word(label) for label in labels], **style.font())
    axes.set_ylim(max(len(labels), 1) - 0.5, -0.5)


def name_axes(axes: Any, style: Style, x: Label, y: Label | None = None) -> None:
    axes.set_xlabel(style.word(x, 80), loc="right", labelpad=3, **style.font(style.theme.quiet))
    if y is not None:
        axes.set_title(style.word(y, 80), loc="left", pad=8, **style.font(style.theme.quiet))


def _with_margin(value: float, low: float | None, high: float | None, style: Style) -> str:
    """Return a value with what it can be off by, or with its interval where that is not symmetric."""
    words = cell(shown(value), style.language)
    if low is None or high is None or not math.isfinite(high - low):
        return words
    if math.isclose(high - value, value - low, rel_tol=1e-6, abs_tol=1e-9):
        return f"{words} ± {cell(shown(high - value), style.language)}"
    return f"{words} ({cell(shown(low), style.language)} … {cell(shown(high), style.language)})"


def _right(axes: Any, view: BarsView | IntervalsView, values: tuple[float, ...], style: Style) -> None:
    """Print every value with its margin at the right edge, in a column of its own."""
    none = (None,) * len(values)
    for row, (value, low, high) in enumerate(zip(values, view.low or none, view.high or none, strict=True)):
        axes.annotate(
            _with_margin(value, low, high, style),
            (1, row),
            xycoords=("axes fraction", "data"),
            xytext=(style.size * 0.6, 0),
            textcoords="offset points",
            va="center",
            ha="left",
            **style.font(bold=True),
        )


def shown(value: float) -> float | int | None:
    return (
        _plain(float(f"{value:.4g}") if abs(value) < 1000 else round(value)) if math.isfinite(value) else None
    )


def _finite(value: float) -> float:
    return value if math.isfinite(value) else 0.0


def bars(axes: Any, view: BarsView, style: Style, limits: tuple[float, float]) -> None:
    """One bar a label, a whisker where there is an interval, the value at the right."""
    theme = style.theme
    frame(axes, style, grid="x")
    rows = range(len(view.values))
    axes.barh(rows, [_finite(value) for value in view.values], height=0.46, color=theme.accent, linewidth=0)
    for row, low, high in zip(rows, view.low, view.high, strict=False):
        axes.plot(
            [_finite(low), _finite(high)],
            [row, row],
            color=theme.surface,
            linewidth=3.2,
            solid_capstyle="butt",
        )
        axes.plot(
            [_finite(low), _finite(high)], [row, row], color=theme.text, linewidth=1.1, solid_capstyle="butt"
        )
        for end in (low, high):
            axes.plot([_finite(end)] * 2, [row - 0.15, row + 0.15], color=theme.text, linewidth=1.1)
    if limits[0] < 0:
        axes.axvline(0, color=theme.quiet, linewidth=0.8)
    axes.set_xlim(*limits)
    name_rows(axes, view.labels, style)
    _right(axes, view, view.values, style)
    name_axes(axes, style, view.axis)


def intervals(axes: Any, view: IntervalsView, style: Style, limits: tuple[float, float]) -> None:
    """A point with its interval a label, the value at the right."""
    theme = style.theme
    frame(axes, style, grid="x")
    for row, (centre, low, high) in enumerate(zip(view.centres, view.low, view.high, strict=True)):
        axes.plot(
            [_finite(low), _finite(high)], [row, row], color=theme.accent, linewidth=2, solid_capstyle="round"
        )
        axes.plot(
            [_finite(centre)],
            [row],
            marker="o",
            markersize=5.5,
            color=theme.accent,
            markeredgecolor=theme.surface,
        )
    axes.set_xlim(*limits)
    name_rows(axes, view.labels, style)
    _right(axes, view, view.centres, style)
    name_axes(axes, style, view.axis)


def _look(style_name: str, order: int, theme: Theme) -> dict[str, Any]:
    """Return colour, dashes and width of a line; plain lines after the first differ by dashes too."""
    colour = theme.quiet if style_name == "plain" else theme.accent
    extra = (DASHES["plain"], (0, (8, 2)), (0, (8, 2, 1.2, 2)), (0, (3, 1.5)))
    dashes = extra[order % len(extra)] if style_name == "plain" else DASHES.get(style_name, "-")
    return {"color": colour, "linestyle": dashes, "linewidth": 2.0 if style_name == "accent" else 1.4}


def curve(axes: Any, view: CurveView, style: Style) -> None:
    """Lines named at their right ends; the permissible part shaded, chosen points marked."""
    theme = style.theme
    frame(axes, style, grid="y")
    if view.shade is not None:
        axes.axvspan(*view.shade, color=theme.accent_soft, linewidth=0, zorder=0.5)
    if view.band is not None:
        low, high = view.band
        axes.fill_between(low.x, low.y, high.y, color=theme.line, linewidth=0, zorder=0.6)
    plain = 0
    for series in view.series:
        axes.plot(
            series.x,
            series.y,
            label=style.word(series.label, 26),
            solid_capstyle="round",
            **_look(series.style, plain, theme),
        )
        plain += series.style == "plain"
    axes.margins(x=0.01, y=0.06)
    if view.shade is not None and view.shade_label is not None:
        axes.annotate(
            style.word(view.shade_label, 60),
            (sum(view.shade) / 2, 1),
            xycoords=("data", "axes fraction"),
            xytext=(0, -style.size * 0.5),
            textcoords="offset points",
            ha="center",
            va="top",
            **style.font(theme.accent, bold=True, scale=0.95),
        )
    for mark in view.marks:
        axes.plot(
            [mark.x],
            [mark.y],
            marker="o",
            markersize=7,
            color=theme.surface,
            markeredgecolor=theme.accent,
            markeredgewidth=2,
            zorder=5,
        )
        left = mark.x > sum(axes.get_xlim()) / 2
        above = left == _rises(view, mark)
        axes.annotate(
            style.word(mark.label, 40),
            (mark.x, mark.y),
            xytext=(-9 if left else 9, style.size * (0.5 if above else -0.5)),
            textcoords="offset points",
            ha="right" if left else "left",
            va="bottom" if above else "top",
            zorder=6,
            **style.font(bold=True),
        )
    ends = [series.x[-1] for series in view.series if series.x]
    low, high = axes.get_xlim()
    if len(ends) == 1 or (ends and min(ends) > high - 0.05 * (high - low)):
        _line_names(axes, view, style)
    elif ends:
        _legend(axes, style, loc="center left", anchor=(1, 0.5), columns=1)
    name_axes(axes, style, view.x_axis, view.y_axis)


def _rises(view: CurveView, mark: Mark) -> bool:
    """Say whether the line nearest to a mark rises there: its name keeps clear of that line."""
    near: list[tuple[float, bool]] = []
    for series in view.series:
        for before, after in zip(range(len(series.x) - 1), range(1, len(series.x)), strict=True):
            if series.x[before] <= mark.x <= series.x[after]:
                near.append((abs(series.y[before] - mark.y), series.y[after] >= series.y[before]))
    return min(near)[1] if near else True


def _legend(axes: Any, style: Style, *, loc: str, anchor: tuple[float, float], columns: int) -> None:
    from matplotlib.font_manager import FontProperties

    legend = axes.legend(
        loc=loc,
        bbox_to_anchor=anchor,
        ncols=columns,
        frameon=False,
        borderaxespad=0.4,
        handletextpad=0.6,
        handlelength=2.4,
        labelspacing=0.7,
        prop=FontProperties(family=list(style.families), size=style.size),
        labelcolor=style.theme.text,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)


def _line_names(axes: Any, view: CurveView, style: Style) -> None:
    """Write each line's name beside its last point, moved apart where they would touch."""
    ends = [(series.y[-1], series) for series in view.series if series.x and math.isfinite(series.y[-1])]
    low, high = axes.get_ylim()
    inches = axes.figure.get_size_inches()[1] * 0.78
    step = (high - low) * 1.35 * style.size / 72 / inches
    placed = low - step
    heights = []
    for value, series in sorted(ends, key=lambda end: end[0]):
        placed = max(value, placed + step)
        heights.append((placed, series))
    over = max((placed - high), 0.0)
    for placed, series in heights:
        colour = style.theme.quiet if series.style == "plain" else style.theme.accent
        axes.annotate(
            style.word(series.label, 26),
            (1, placed - over),
            xycoords=("axes fraction", "data"),
            xytext=(style.size * 0.6, 0),
            textcoords="offset points",
            va="center",
            **style.font(colour, bold=series.style == "accent", scale=0.95),
        )


def scatter(axes: Any, view: ScatterView, style: Style) -> None:
    """Points on two axes; clouds differ by marker and by fill."""
    theme = style.theme
    frame(axes, style, grid="both")
    for order, series in enumerate(view.series):
        colour = theme.accent if series.style in ("accent", "dashed", "dotted") else theme.quiet
        axes.plot(
            series.x,
            series.y,
            linestyle="none",
            marker=MARKERS[order % len(MARKERS)],
            markersize=4.5,
            markerfacecolor=colour if order % 2 == 0 else theme.surface,
            markeredgecolor=colour,
            markeredgewidth=1.1,
            label=style.word(series.label, 40),
        )
    axes.margins(0.05)
    name_axes(axes, style, view.x_axis, view.y_axis)
    if len(view.series) > 1:
        _legend(axes, style, loc="lower right", anchor=(1, 1), columns=min(len(view.series), 4))
