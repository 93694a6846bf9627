"""A few bars without axes, for the side of a screen; the numbers are spoken and shown on hover."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QToolTip, QWidget

from app import words
from app.theme import text_font, theme
from engine import texts
from engine.views import BarsView


class MiniBars(QWidget):
    """Bars of one view; the first and the last label below."""

    def __init__(self, view: BarsView, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.view = view
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setFixedHeight(78)
        spoken = "; ".join(self._spoken(place) for place in range(len(view.values)))
        self.setAccessibleName(words.say("app.columns.bars_name", column=words.label(view.title)))
        self.setAccessibleDescription(spoken)
        theme.changed.connect(self.update)

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

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, tokens = QPainter(self), theme.tokens()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        slots = self._slots()
        fill = tokens.colour("accent")
        fill.setAlphaF(0.75)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        for slot in slots:
            painter.drawRoundedRect(slot, 2, 2)
        painter.setFont(text_font(11))
        painter.setPen(tokens.colour("quiet"))
        if slots:
            self._label(painter, words.label(self.view.labels[0]), Qt.AlignmentFlag.AlignLeft)
        if len(slots) > 1:
            self._label(painter, words.label(self.view.labels[-1]), Qt.AlignmentFlag.AlignRight)
        if self.hasFocus():
            painter.setPen(tokens.colour("accent"))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.end()

    def _label(self, painter: QPainter, written: str, side: Qt.AlignmentFlag) -> None:
        used = min(self.width(), int(self._slots()[-1].right()))
        whole = QRectF(0, 60, max(used, 60), 18)
        cut = painter.fontMetrics().elidedText(
            written, Qt.TextElideMode.ElideRight, int(whole.width() / 2) - 4
        )
        painter.drawText(whole, side | Qt.AlignmentFlag.AlignVCenter, cut)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            for place, slot in enumerate(self._slots()):
                if slot.left() - 2 <= event.pos().x() <= slot.right() + 2:
                    QToolTip.showText(event.globalPos(), words.tip(self._spoken(place)), self)
            return True
        return super().event(event)
