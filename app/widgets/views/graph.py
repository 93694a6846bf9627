"""Nodes and weighted edges."""

from __future__ import annotations

from app.widgets.views.figure import FigureView


class GraphWidget(FigureView):
    """Drawn by the report's painter of graph."""


WIDGET = GraphWidget
