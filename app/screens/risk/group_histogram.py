"""People by the size of their group, as bars; those below the limit are amber and named."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QLineF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QWidget

from app.parts.plot import Painted
from app.theme import text_font, theme
from engine import texts

TOP, BOTTOM, GAP = 40, 22, 6


class GroupHistogram(Painted):
    """Bars with their numbers above and the sizes below, and a line at the limit."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.grow_across()
        self.bars: tuple[tuple[str, int], ...] = ()
        self.below, self.words = 0, ""

    def sizeHint(self) -> QSize:
        return QSize(380, 190)

    def show_bars(self, bars: Sequence[tuple[str, int]], *, below: int, words: str) -> None:
        """Show other bars.

        Parameters
        ----------
        bars
            Size or sizes, and people.
        below
            How many bars lie below the limit.
        words
            What is said about these.
        """
        self.bars, self.below, self.words = tuple(bars), below, words
        spoken = "; ".join(f"{label}: {texts.number(count)}" for label, count in self.bars)
        self.setAccessibleDescription(f"{words}. {spoken}" if words else spoken)
        self.update()

    def paint(self, painter: QPainter) -> None:
        tokens = theme.tokens()
        slot = self.width() / max(len(self.bars), 1)
        top = max((count for _, count in self.bars), default=0) or 1
        room = self.height() - TOP - BOTTOM
        floor = float(self.height() - BOTTOM)
        for place, (label, count) in enumerate(self.bars):
            tall = max(2.0, room * count / top) if count else 0.0
            left, width = place * slot + GAP / 2, slot - GAP
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(tokens.colour("care" if place < self.below else "accent"))
            painter.drawRoundedRect(QRectF(left, floor - tall, width, tall), 2, 2)
            painter.setPen(tokens.colour("text"))
            above = QRectF(left - GAP, floor - tall - 17, width + 2 * GAP, 16)
            painter.drawText(above, Qt.AlignmentFlag.AlignCenter, texts.number(count))
            painter.setPen(tokens.colour("quiet"))
            painter.drawText(
                QRectF(left - GAP, floor + 4, width + 2 * GAP, 16), Qt.AlignmentFlag.AlignCenter, label
            )
        painter.setPen(tokens.colour("line"))
        painter.drawLine(QLineF(0, floor, self.width(), floor))
        if 0 < self.below < len(self.bars):
            limit = self.below * slot
            painter.setPen(QPen(tokens.colour("text"), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QLineF(limit, 18, limit, floor))
        if self.words:
            painter.setPen(tokens.colour("care" if self.below else "quiet"))
            painter.setFont(text_font(11, 600))
            painter.drawText(QRectF(0, 0, self.width(), 16), Qt.AlignmentFlag.AlignLeft, self.words)
