"""Draws views: the same drawing for screen, HTML and paper, in the colours of a theme.

A drawing carries no title (the document prints it), names its values directly where they fit, tells series
apart by line and marker as well as by colour, and can be read in grey. Nothing here depends on time
or chance.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from engine.release.report import grids, plots
from engine.release.report.theme import LIGHT, Theme, resource
from engine.views import BarsView, IntervalsView, View

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLOTTED = ("bars", "intervals", "curve", "scatter", "heatmap", "matrix", "graph")
MOST_LABELS = 40


@cache
def families() -> tuple[str, ...]:
    """Make the fonts of the report known to matplotlib and return their families, the fallback last."""
    import matplotlib
    from matplotlib.font_manager import fontManager

    matplotlib.rcParams["text.hinting"] = "none"  # letters keep their distances, on screen as on paper

    for path in sorted(resource("fonts", "report").glob("*.ttf")):
        fontManager.addfont(path)
    return ("Inter Report", "DejaVu Sans")


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
    names = (
        ("labels", "values", "low", "high")
        if isinstance(view, BarsView)
        else ("labels", "centres", "low", "high")
    )
    return tuple(
        replace(view, **{name: getattr(view, name)[start : start + size] for name in names})
        for start in range(0, len(view.labels), size)
    )


def limits(view: View) -> tuple[float, float] | None:
    """Return the common axis of all pieces that `split` gives; None where a drawing finds its own."""
    if isinstance(view, BarsView):
        return plots.span((0.0, *view.values, *view.low, *view.high))
    if isinstance(view, IntervalsView):
        return plots.span((*view.centres, *view.low, *view.high))
    return None


def draw(
    view: View,
    *,
    theme: Theme = LIGHT,
    language: str = "en",
    width: float = 6.7,
    size: float = 8.5,
    axis_limits: tuple[float, float] | None = None,
) -> Figure:
    """Draw a view.

    Parameters
    ----------
    view
        One of the kinds in `PLOTTED`.
    theme
        Colours; `LIGHT` for paper.
    language
        Language of labels.
    width
        Inches; the height follows from what there is to show.
    size
        Size of the letters in points.
    axis_limits
        Common axis of drawings that belong together, see `limits`.

    Returns
    -------
    matplotlib.figure.Figure
        Without a canvas of a screen; ``figure.savefig`` or a canvas of the caller renders it.

    Raises
    ------
    ValueError
        The kind of view is not a drawing (number, table, text).

    Examples
    --------
    >>> from engine.views import BarsView
    >>> figure = draw(BarsView("People", ("women", "men"), (2310.0, 1949.0), "people"))
    >>> float(figure.get_size_inches()[0])
    6.7
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if view.kind not in PLOTTED:
        raise ValueError(f"{view.kind} is not drawn")
    style = plots.Style(theme, language, size, families())
    painter: Any = getattr(grids if view.kind in ("heatmap", "matrix", "graph") else plots, view.kind)
    figure = Figure(
        figsize=(width, plots.height(view, width, size)), layout="constrained", facecolor=theme.surface
    )
    layout: Any = figure.get_layout_engine()
    layout.set(w_pad=0.03, h_pad=0.03)
    FigureCanvasAgg(figure)
    axes = figure.add_subplot(facecolor=theme.surface)
    if isinstance(view, BarsView | IntervalsView):
        painter(axes, view, style, axis_limits or limits(view))
    else:
        painter(axes, view, style)
    return figure


def svg(figure: Figure) -> str:
    """Return a drawing as SVG text without declarations, dates or names that change from run to run."""
    import io

    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "custos", "svg.fonttype": "path"}):
        figure.savefig(
            buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
        )
    written = buffer.getvalue()
    return written[written.index("<svg") :].strip()
