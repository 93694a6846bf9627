"""Cards: a surface with an edge; a key number with its sentence."""

from __future__ import annotations

import re

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.parts.prose import Heading, Prose
from app.theme import text_font

SHORT, LONG = 12, 20  # letters of a word, and of a figure with its unit, that are set large
_FIGURE = re.compile(r"(?:\D{1,4})?\d[\d,.]*(?!\w)")


class Card(QFrame):
    """A surface with an edge; put things into ``self.body``."""

    def __init__(self, heading: str = "", *, tone: str = "quiet", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", "true")
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(16, 16, 16, 16)
        self.body.setSpacing(8)
        self.heading = Heading(heading, size="card", tone=tone)
        self.body.addWidget(self.heading)
        self.heading.setVisible(bool(heading))  # after it has a parent, or it would be a window of its own


class NumberCard(Card):
    """One answer: what it is about, the number, a sentence. The keyboard reaches it, for its three texts."""

    def __init__(self, heading: str, *, parent: QWidget | None = None) -> None:
        super().__init__(heading, parent=parent)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.number = Heading(size="key")
        self.number.setWordWrap(False)
        self.sentence = Prose()
        self.body.addWidget(self.number)
        self.body.addWidget(self.sentence)
        self.body.addStretch(1)

    def show_number(self, number: str, sentence: str = "", *, tone: str = "") -> None:
        """Show a number and its sentence; ``tone`` is "", accent, care or wrong."""
        self.number.setText(number)
        self.number.setProperty("tone", tone)
        self.number.style().unpolish(self.number)
        self.number.style().polish(self.number)  # which takes back any font that was set before
        # What is no figure, as the name of a column, is set as words: smaller, on as many lines as it needs.
        is_figure = len(number) <= LONG and _FIGURE.match(number)
        size = "key" if is_figure or len(number) <= SHORT else "side"
        self.number.setFont(text_font(*Heading.SIZES[size], tabular=size != "key"))
        self.number.setWordWrap(size != "key")
        self.sentence.say(sentence)
        self.setAccessibleName(f"{self.heading.text()}: {number}. {self.sentence.plain()}")


class Rule(QFrame):
    """A line of one pixel."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("rule", "true")
        self.setFixedHeight(1)


def row(*widgets: QWidget, spacing: int = 10, stretch: bool = True) -> QHBoxLayout:
    """Return widgets side by side, with the free room after them."""
    made = QHBoxLayout()
    made.setSpacing(spacing)
    for widget in widgets:
        made.addWidget(widget)
    if stretch:
        made.addStretch(1)
    return made


def pill(text: str) -> QLabel:
    """Return a short word about what stands beside it, in a frame of its own height."""
    made = QLabel(text)
    made.setProperty("pill", "true")
    made.setFont(text_font(12, 600))
    made.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
    return made
