"""Making widgets: what nearly every screen says of its buttons, lines and columns, once."""

from __future__ import annotations

from PySide6.QtWidgets import QLayout


def empty(layout: QLayout, kept: int = 0) -> None:
    """Remove what is in a layout, but for the first ``kept``; a removed widget is hidden at once.

    Out of its layout, a widget that waits to be deleted would lie over the others.
    """
    while layout.count() > kept:
        item = layout.takeAt(layout.count() - 1)
        widget = item.widget() if item is not None else None
        if widget is not None:
            widget.hide()
            widget.deleteLater()
