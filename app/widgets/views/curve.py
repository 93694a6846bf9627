"""Lines over a common axis."""

from __future__ import annotations

from app.widgets.views.figure import FigureView


class CurveWidget(FigureView):
    """Drawn by the report's painter of curve."""


WIDGET = CurveWidget
