"""Rows of a name, a bar and a number, worst first; spoken row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QLineF, QRectF, QSize, Qt
from PySide6.QtGui import QFocusEvent, QFontMetrics, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app.parts.plot import LEFTWARDS, Painted, cut
from app.theme import mono_font, text_font, theme

LINE = 36
VALUE, GAP = 64, 24  # pixels of the number at the end of a bar, and between it and the note
NARROWEST_BAR = 60


@dataclass(frozen=True)
class Bar:
    """One row: ``share`` of the longest bar in [0, 1], and what is written at its end."""

    name: str
    share: float
    value: str
    note: str = ""


class BarList(Painted):
    """A list of bars with lines between."""

    def __init__(self, name: str, parent: QWidget | None = None, *, mono: bool = True) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.bars: tuple[Bar, ...] = ()
        self._mono = mono

    def show_bars(self, bars: Sequence[Bar]) -> None:
        """Show other bars."""
        self.bars = tuple(bars)
        self.setFixedHeight(max(1, LINE * len(self.bars)))
        spoken = "; ".join(f"{bar.name}: {bar.value} {bar.note}".strip() for bar in self.bars)
        self.setAccessibleDescription(spoken)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(400, LINE * max(1, len(self.bars)))

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()

    def widths(self, width: float) -> tuple[float, float]:
        """Return how wide names and bars are: the bar gives way where a name or a note would be cut."""
        names = QFontMetrics(mono_font() if self._mono else text_font())
        name = max((names.horizontalAdvance(bar.name) for bar in self.bars), default=0) + 4.0
        note = max((QFontMetrics(text_font()).horizontalAdvance(bar.note) for bar in self.bars), default=0)
        name = max(width * 0.26, min(name, width * 0.4))
        room = width - name - width * 0.02 - VALUE - GAP - note - 4
        return name, max(NARROWEST_BAR, min(width * 0.30, room))

    def paint(self, painter: QPainter) -> None:
        tokens = theme.tokens()
        width, value_width = self.width(), VALUE
        name_width, bar_width = self.widths(width)
        bar_left = name_width + width * 0.02
        note_left = bar_left + bar_width + value_width + GAP
        for place, bar in enumerate(self.bars):
            top = place * LINE
            middle = top + LINE / 2
            painter.setFont(mono_font() if self._mono else text_font())
            painter.setPen(tokens.colour("text"))
            self._text(painter, QRectF(0, top, name_width, LINE), bar.name)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(tokens.colour("line"))
            painter.drawRoundedRect(QRectF(bar_left, middle - 4, bar_width, 8), 4, 4)
            painter.setBrush(tokens.colour("accent"))
            if bar.share > 0:
                painter.drawRoundedRect(
                    QRectF(bar_left, middle - 4, max(8.0, bar_width * bar.share), 8), 4, 4
                )
            painter.setFont(text_font())
            painter.setPen(tokens.colour("text"))
            right = QRectF(bar_left + bar_width, top, value_width, LINE)
            painter.drawText(right, LEFTWARDS, bar.value)
            painter.setPen(tokens.colour("quiet"))
            self._text(painter, QRectF(note_left, top, width - note_left, LINE), bar.note)
            if place < len(self.bars) - 1:
                painter.setPen(QPen(tokens.colour("line"), 1))
                painter.drawLine(QLineF(0, top + LINE - 0.5, width, top + LINE - 0.5))

    def _text(self, painter: QPainter, place: QRectF, written: str) -> None:
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(place, left, cut(painter, written, place.width()))
