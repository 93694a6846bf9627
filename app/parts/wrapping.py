"""Widgets side by side that go on in the next line where there is no more room."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class Wrapping(QLayout):
    """A row that wraps."""

    def __init__(self, parent: QWidget | None = None, *, spacing: int = 8) -> None:
        super().__init__(parent)
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
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size

    def _place(self, rect: QRect, *, move: bool) -> int:
        left, top = rect.left(), rect.top()
        line: list[QLayoutItem] = []
        for item in [one for one in self._items if not one.isEmpty()]:
            width = item.sizeHint().width()
            if line and left + width > rect.right() + 1:
                left, top = rect.left(), top + _place_line(line, rect.left(), top, self.spacing(), move=move)
                top += self.spacing()
                line = []
            line.append(item)
            left += width + self.spacing()
        return top + _place_line(line, rect.left(), top, self.spacing(), move=move) - rect.top()


def _place_line(items: list[QLayoutItem], left: int, top: int, spacing: int, *, move: bool) -> int:
    """Place one line, all of it on one middle, and return its height."""
    height = max((item.sizeHint().height() for item in items), default=0)
    for item in items:
        size = item.sizeHint()
        if move:
            item.setGeometry(QRect(QPoint(left, top + (height - size.height()) // 2), size))
        left += size.width() + spacing
    return height
