"""A few bars without axes, for the side of a screen; the numbers are spoken and shown on hover."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from app import words
from app.parts.plot import Painted, cut
from app.theme import theme
from engine import texts
from engine.views import BarsView


class MiniBars(Painted):
    """Bars of one view; the first and the last label below."""

    def __init__(self, view: BarsView, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.view = view
        self.setFixedHeight(78)
        spoken = "; ".join(self._spoken(place) for place in range(len(view.values)))
        self.setAccessibleName(words.say("app.columns.bars_name", column=words.label(view.title)))
        self.setAccessibleDescription(spoken)

    def sizeHint(self) -> QSize:
        return QSize(224, 78)

    def _spoken(self, place: int) -> str:
        count = texts.number(int(self.view.values[place]))
        return f"{words.label(self.view.labels[place])}: {count} {words.label(self.view.axis)}"

    def _slots(self) -> list[QRectF]:
        values = self.view.values
        if not values:
            return []
        width = (self.width() - 4 * (len(values) - 1)) / len(values)
        width, top = min(width, 40.0), max(values) or 1
        made = []
        for place, value in enumerate(values):
            height = max(2.0, 54 * value / top) if value else 1.0
            made.append(QRectF(place * (width + 4), 56 - height, width, height))
        return made

    def paint(self, painter: QPainter) -> None:
        tokens = theme.tokens()
        slots = self._slots()
        fill = tokens.colour("accent")
        fill.setAlphaF(0.75)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        for slot in slots:
            painter.drawRoundedRect(slot, 2, 2)
        painter.setPen(tokens.colour("quiet"))
        if slots:
            self._label(painter, words.label(self.view.labels[0]), Qt.AlignmentFlag.AlignLeft)
        if len(slots) > 1:
            self._label(painter, words.label(self.view.labels[-1]), Qt.AlignmentFlag.AlignRight)

    def _label(self, painter: QPainter, written: str, side: Qt.AlignmentFlag) -> None:
        used = min(self.width(), int(self._slots()[-1].right()))
        whole = QRectF(0, 60, max(used, 60), 18)
        written = cut(painter, written, int(whole.width() / 2) - 4)
        painter.drawText(whole, side | Qt.AlignmentFlag.AlignVCenter, written)

    def tip_at(self, place: QPointF) -> str | None:
        slots = enumerate(self._slots())
        return next(
            (self._spoken(at) for at, one in slots if one.left() - 2 <= place.x() <= one.right() + 2), None
        )
