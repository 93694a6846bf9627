"""A row of figures on one surface, as many side by side as there is room for."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app.parts.cards import Card, NumberCard
from app.parts.making import make_grid

NARROWEST = 172


class Figures(Card):
    """Number cards without frames of their own. Hidden ones take no place."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.cards: list[NumberCard] = []
        self._grid = make_grid(across=20, down=14)
        self.body.addLayout(self._grid)
        self._across = 0

    def add(self, card: NumberCard) -> NumberCard:
        """Take a card up."""
        card.setProperty("card", "bare")
        card.body.setContentsMargins(0, 0, 0, 0)
        self.cards.append(card)
        self._grid.addWidget(card, 0, len(self.cards) - 1)
        card.show()  # Qt would do so a moment later, and `arrange` would pass over it until then
        return card

    def remove(self, card: NumberCard) -> None:
        """Give a card up."""
        self.cards.remove(card)
        self._grid.removeWidget(card)
        card.hide()
        card.deleteLater()

    def arrange(self) -> None:
        """Put the visible cards side by side anew."""
        shown = [card for card in self.cards if not card.isHidden()]
        self.setVisible(bool(shown))
        across = max(1, min(len(shown), 5, (self.width() - 12) // NARROWEST))
        if len(shown) > across:  # rows of the same length look better than a rest of one
            across = -(-len(shown) // -(-len(shown) // across))
        for card in shown:
            self._grid.removeWidget(card)
        for place, card in enumerate(shown):
            self._grid.addWidget(card, place // across, place % across)
        for column in range(8):
            self._grid.setColumnStretch(column, 1 if column < across else 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        across = (event.size().width() - 12) // NARROWEST
        if across != self._across:
            self._across = across
            self.arrange()
