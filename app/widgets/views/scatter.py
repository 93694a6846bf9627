"""Points on two axes."""

from __future__ import annotations

from app.widgets.views.figure import FigureView


class ScatterWidget(FigureView):
    """Drawn by the report's painter of scatter."""


WIDGET = ScatterWidget
