"""A number with its sentence, and a bar on which the limit and its source stand at their place."""

from __future__ import annotations

from PySide6.QtCore import QLineF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.parts.cards import NumberCard
from app.parts.making import make_row
from app.parts.prose import Prose
from app.theme import theme

HEIGHT, BAR = 20, 6


class Meter(QWidget):
    """A share from 0 to 1 as a bar, and the limit as a tick; without a limit there is none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.share, self.limit, self.beyond = 0.0, -1.0, False
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(160, HEIGHT)

    def show_share(self, share: float, limit: float, *, beyond: bool) -> None:
        """Show another share; ``beyond`` colours it as wanting care."""
        self.share, self.limit, self.beyond = share, limit, beyond
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, tokens = QPainter(self), theme.tokens()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        top, width = (HEIGHT - BAR) / 2, float(self.width())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(tokens.colour("line"))
        painter.drawRoundedRect(QRectF(0, top, width, BAR), BAR / 2, BAR / 2)
        if self.share > 0:
            painter.setBrush(tokens.colour("care" if self.beyond else "accent"))
            long = max(float(BAR), width * min(self.share, 1.0))
            painter.drawRoundedRect(QRectF(0, top, long, BAR), BAR / 2, BAR / 2)
        if 0 <= self.limit <= 1:
            painter.setPen(QPen(tokens.colour("text"), 2))
            place = min(max(1.0, width * self.limit), width - 1)
            painter.drawLine(QLineF(place, 0, place, HEIGHT))
        painter.end()


class MeterCard(NumberCard):
    """A number card with a meter and, below it, what is allowed and who says so."""

    def __init__(self, heading: str, *, parent: QWidget | None = None) -> None:
        super().__init__(heading, parent=parent)
        self.meter = Meter()
        self.allowed = Prose(pixels=11)
        self.source = Prose(tone="quiet", pixels=11)
        self.source.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.body.addWidget(self.meter)
        below = make_row((self.allowed, 1), (self.source, 1))
        self.body.addLayout(below)

    def show_meter(
        self, share: float, limit: float = -1.0, *, beyond: bool, allowed: str = "", source: str = ""
    ) -> None:
        """Show where the number lies; without a limit neither tick nor source."""
        self.meter.show_share(share, limit, beyond=beyond)
        self.allowed.say(f"**{allowed}**" if allowed else "")
        self.source.say(source)
        spoken = f"{allowed}, {source}" if allowed else ""
        self.setAccessibleDescription(spoken)
