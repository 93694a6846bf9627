"""A point and its interval a label."""

from __future__ import annotations

from app.widgets.views.figure import FigureView


class IntervalsWidget(FigureView):
    """Drawn by the report's painter of intervals."""


WIDGET = IntervalsWidget
