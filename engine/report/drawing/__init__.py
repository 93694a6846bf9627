"""Draws views as SVG: one drawing for the screen, the HTML report and the PDF, in the colours of a theme.

A drawing carries no title (the document prints it), names its values directly where they fit, tells series
apart by line and marker as well as by colour, and can be read in grey. Nothing here depends on time
or chance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from engine.report.drawing import curves, grids, rows
from engine.report.drawing.canvas import Canvas, Style
from engine.report.drawing.scale import span
from engine.report.fonts import FAMILIES
from engine.report.theme import LIGHT, Theme
from engine.views import BarsView, IntervalsView, View

PAINTERS: dict[str, Callable[..., Canvas]] = {
    "bars": rows.draw_bars,
    "intervals": rows.draw_intervals,
    "curve": curves.draw_curve,
    "scatter": curves.draw_scatter,
    "heatmap": grids.draw_heatmap,
    "matrix": grids.draw_matrix,
    "graph": grids.draw_graph,
}
PLOTTED = tuple(PAINTERS)
MOST_LABELS = 40
POINTS = 72.0  # an inch


def draw(
    view: View,
    *,
    theme: Theme = LIGHT,
    language: str = "en",
    width: float = 6.7,
    size: float = 8.5,
    axis_limits: tuple[float, float] | None = None,
    families: tuple[str, ...] = FAMILIES,
) -> Canvas:
    """Draw a view.

    Parameters
    ----------
    view
        One of the kinds in `PLOTTED`.
    theme
        Colours; `LIGHT` for paper, `VARIABLES` where a style sheet knows them.
    language
        Language of labels.
    width
        Inches; the height follows from what there is to show.
    size
        Size of the letters in points.
    axis_limits
        Common axis of drawings that belong together, see `limits`.
    families
        Families of the letters, the fallback last.

    Returns
    -------
    Canvas
        ``width`` and ``height`` in points, ``svg()`` and, for those who ask how it looks, its parts.

    Raises
    ------
    ValueError
        The kind of view is not a drawing (number, table, text).

    Examples
    --------
    >>> draw(BarsView("People", ("women", "men"), (2310.0, 1949.0), "people")).width
    482.4
    """
    if view.kind not in PAINTERS:
        raise ValueError(f"{view.kind} is not drawn")
    style = Style(theme, language, size, families)
    options: dict[str, Any] = {}
    if isinstance(view, BarsView | IntervalsView):
        options["axis_limits"] = axis_limits or limits(view)
    return PAINTERS[view.kind](view, style, round(width * POINTS, 2), **options)


def split(view: View) -> tuple[View, ...]:
    """Return a view as drawings that fit on a page: long rows of labels continue in the next one.

    Examples
    --------
    >>> from engine.views import BarsView
    >>> long = BarsView("people", tuple(map(str, range(60))), tuple(map(float, range(60))), "people")
    >>> [len(part.labels) for part in split(long)]
    [30, 30]
    """
    if not isinstance(view, BarsView | IntervalsView) or len(view.labels) <= MOST_LABELS:
        return (view,)
    pieces = -(-len(view.labels) // MOST_LABELS)
    size = -(-len(view.labels) // pieces)
    centre = "values" if isinstance(view, BarsView) else "centres"
    return tuple(
        replace(
            view, **{name: getattr(view, name)[at : at + size] for name in ("labels", centre, "low", "high")}
        )
        for at in range(0, len(view.labels), size)
    )


def limits(view: View) -> tuple[float, float] | None:
    """Return the common axis of all pieces that `split` gives; None where a drawing finds its own."""
    if isinstance(view, BarsView):
        return span((0.0, *view.values, *view.low, *view.high))
    if isinstance(view, IntervalsView):
        return span((*view.centres, *view.low, *view.high))
    return None
