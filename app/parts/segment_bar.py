"""A budget as a bar of segments: what each visit took, what the next one would take, what is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from app.parts.plot import Painted
from app.theme import theme

USED, NEXT, LEFT = "used", "next", "left"
HEIGHT, LABELS, GAP = 10, 20, 2


@dataclass(frozen=True)
class Segment:
    """One part: its share of the whole, from 0 to 1, what is written below, and what it is."""

    share: float
    label: str
    kind: str = USED


class SegmentBar(Painted):
    """The parts beside one another; told apart by fill and by the words below."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("segments")
        self.segments: tuple[Segment, ...] = ()
        self.grow_across()

    def sizeHint(self) -> QSize:
        return QSize(300, HEIGHT + LABELS + 4)

    def show_segments(self, segments: Sequence[Segment], spoken: str) -> None:
        """Show other parts; ``spoken`` says all of them."""
        self.segments = tuple(segments)
        self.setAccessibleName(spoken)
        self.update()

    def paint(self, painter: QPainter) -> None:
        tokens = theme.tokens()
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
