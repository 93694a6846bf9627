"""Layouts whose items Python does not know: it would take what lies in their place later for them.

The bindings look at every item of a layout that is put into another one, and keep what they made of it as
long as the layout stands. The toolkit deletes items without telling them: a widget that goes takes its item
with it. What comes to lie in the same place in memory then counts as that item, and the window ended when
that was deleted. So layouts are made as these classes, never as those of the toolkit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QBoxLayout, QGridLayout, QHBoxLayout, QLayout, QVBoxLayout
from shiboken6 import createdByPython, invalidate

from app.parts.wrapping import Wrapping


class _Line(QBoxLayout if TYPE_CHECKING else object):  # type: ignore[misc]
    """What a column, a row and a line that turns have in common."""

    def addLayout(self, layout: QLayout, stretch: int | None = 0) -> None:
        super().addLayout(layout, stretch or 0)
        forget_items(layout)

    def insertLayout(self, index: int, layout: QLayout, stretch: int | None = 0) -> None:
        super().insertLayout(index, layout, stretch or 0)
        forget_items(layout)


class ColumnLayout(_Line, QVBoxLayout):
    """Parts below one another."""


class RowLayout(_Line, QHBoxLayout):
    """Parts side by side."""


class LineLayout(_Line, QBoxLayout):
    """Parts in a direction that may change."""


class GridLayout(QGridLayout):
    """Parts in lines and columns."""

    def addLayout(self, layout: QLayout, *where: Any) -> None:
        super().addLayout(layout, *where)
        forget_items(layout)


def forget_items(layout: QLayout) -> None:
    """Have Python let go of what it made of the items of a layout, and of the layouts in it."""
    if isinstance(layout, Wrapping):
        layout.see_anew()
        return
    for place in range(layout.count()):
        item = layout.itemAt(place)
        if isinstance(item, QLayout):
            forget_items(item)
        elif item is not None and not createdByPython(item):
            invalidate(item)
