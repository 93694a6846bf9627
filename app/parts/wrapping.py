"""Widgets side by side that go on in the next line where there is no more room."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget, QWidgetItem
from shiboken6 import createdByPython, getCppPointer, invalidate, wrapInstance


class Wrapping(QLayout):
    """A row that wraps."""

    def __init__(self, parent: QWidget | None = None, *, spacing: int = 8, whole: bool = False) -> None:
        super().__init__(parent)
        self._whole = whole  # wants to stand in one line, as a part of a longer one
        self._items: list[QLayoutItem] = []
        self.setSpacing(spacing)
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def see_anew(self) -> None:
        """Hold the items once more: what the bindings made of them goes with an item that is taken out.

        Put into another layout, the bindings would keep that, and take what lies there later for the item.
        """
        self._items = [_see_anew(item) for item in self._items]

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._place(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._place(rect, move=True)

    def sizeHint(self) -> QSize:
        if not self._whole:
            return self.minimumSize()
        hints = [one.sizeHint() for one in self._items if not one.isEmpty()]
        wide = sum(one.width() for one in hints) + self.spacing() * max(len(hints) - 1, 0)
        return QSize(wide, max((one.height() for one in hints), default=0))

    def minimumSize(self) -> QSize:
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size

    def _place(self, rect: QRect, *, move: bool) -> int:
        left, top = rect.left(), rect.top()
        line: list[QLayoutItem] = []
        for item in [one for one in self._items if not one.isEmpty()]:
            width = _size(item, rect.width()).width()
            if line and left + width > rect.right() + 1:
                left, top = rect.left(), top + _place_line(line, rect, top, self.spacing(), move=move)
                top += self.spacing()
                line = []
            line.append(item)
            left += width + self.spacing()
        return top + _place_line(line, rect, top, self.spacing(), move=move) - rect.top()


def _see_anew(item: QLayoutItem) -> QLayoutItem:
    if createdByPython(item):
        return item  # its own end tells Python
    place = getCppPointer(item)[0]
    invalidate(item)
    return cast(QLayoutItem, wrapInstance(place, QWidgetItem))


def _size(item: QLayoutItem, room: int) -> QSize:
    """Return how large a part stands: what is wider than a line wraps within it."""
    size = item.sizeHint()
    if size.width() > room > 0 and item.hasHeightForWidth():
        return QSize(room, item.heightForWidth(room))
    return size


def _place_line(items: list[QLayoutItem], rect: QRect, top: int, spacing: int, *, move: bool) -> int:
    """Place one line, all of it on one middle, and return its height."""
    left, sizes = rect.left(), [_size(item, rect.width()) for item in items]
    height = max((size.height() for size in sizes), default=0)
    for item, size in zip(items, sizes, strict=True):
        if move:
            item.setGeometry(QRect(QPoint(left, top + (height - size.height()) // 2), size))
        left += size.width() + spacing
    return height
