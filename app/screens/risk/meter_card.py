"""A number with its sentence, and a bar on which the limit and its source stand at their place."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.parts.cards import NumberCard
from app.parts.making import make_row
from app.parts.plot import ShareBar
from app.parts.prose import Prose

HEIGHT, BAR = 20, 6


class MeterCard(NumberCard):
    """A number card with a meter and, below it, what is allowed and who says so."""

    def __init__(self, heading: str, *, parent: QWidget | None = None) -> None:
        super().__init__(heading, parent=parent)
        self.meter = ShareBar(BAR, HEIGHT, least=BAR)
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
        self.meter.show_share(share, limit, colours=("line", "care" if beyond else "accent"))
        self.allowed.say(f"**{allowed}**" if allowed else "")
        self.source.say(source)
        spoken = f"{allowed}, {source}" if allowed else ""
        self.setAccessibleDescription(spoken)
