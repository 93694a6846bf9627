"""A budget as a bar of segments: what each visit took, what the next one would take, what is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.theme import text_font, theme

USED, NEXT, LEFT = "used", "next", "left"
HEIGHT, LABELS, GAP = 10, 20, 2


@dataclass(frozen=True)
class Segment:
    """One part: its share of the whole, from 0 to 1, what is written below, and what it is."""

    share: float
    label: str
    kind: str = USED


class SegmentBar(QWidget):
    """The parts beside one another; told apart by fill and by the words below."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("segments")
        self.segments: tuple[Segment, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(300, HEIGHT + LABELS + 4)

    def show_segments(self, segments: Sequence[Segment], spoken: str) -> None:
        """Show other parts; ``spoken`` says all of them."""
        self.segments = tuple(segments)
        self.setAccessibleName(spoken)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, tokens = QPainter(self), theme.tokens()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(text_font(11))
        left, room = 0.0, self.width() - GAP * max(len(self.segments) - 1, 0)
        for segment in self.segments:
            width = room * segment.share
            place = QRectF(left, 1, max(width, 1.0), HEIGHT)
            if segment.kind == NEXT:  # pale with an edge: not spent yet
                painter.setPen(tokens.colour("accent"))
                painter.setBrush(tokens.colour("accent_soft"))
            else:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(tokens.colour("accent" if segment.kind == USED else "line"))
            painter.drawRoundedRect(place, 4, 4)
            painter.setPen(tokens.colour("accent" if segment.kind == NEXT else "quiet"))
            below = QRectF(left, HEIGHT + 3, width, LABELS)
            if painter.fontMetrics().horizontalAdvance(segment.label) <= width:
                painter.drawText(below, Qt.AlignmentFlag.AlignCenter, segment.label)
            left += width + GAP
        if self.hasFocus():
            painter.setPen(tokens.colour("accent"))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.end()
