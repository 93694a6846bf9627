"""Shades in a grid."""

from __future__ import annotations

from app.widgets.views.figure import FigureView


class HeatmapWidget(FigureView):
    """Drawn by the report's painter of heatmap."""


WIDGET = HeatmapWidget
