"""Numbers between the same things."""

from __future__ import annotations

from app.widgets.views.figure import FigureView


class MatrixWidget(FigureView):
    """Drawn by the report's painter of matrix."""


WIDGET = MatrixWidget
