"""One bar a label, with its interval."""

from __future__ import annotations

from app.widgets.views.figure import FigureView


class BarsWidget(FigureView):
    """Drawn by the report's painter of bars."""


WIDGET = BarsWidget
