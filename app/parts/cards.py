"""Cards: a surface with an edge; a key number with its sentence."""

from __future__ import annotations

import re
from typing import ClassVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QWidget

from app import words
from app.parts.making import STRETCH, add, align_left, hidden, make_button, make_column, make_label, make_row
from app.parts.prose import Heading, Prose
from app.parts.roles import Role
from app.theme import polish

SHORT, LONG = 12, 20  # letters of a word, and of a figure with its unit, that are set large
_FIGURE = re.compile(r"(?:\D{1,4})?\d[\d,.]*(?!\w)")


class Card(QFrame):
    """A surface with an edge; put things into ``self.body``."""

    SPOKEN_AS: ClassVar = Role.Grouping

    def __init__(self, heading: str = "", *, tone: str = "quiet", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", "true")
        self.body = make_column(inside=self, spacing=8, margins=16)
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
        add(self.body, self.number, self.sentence, STRETCH)

    def show_number(self, number: str, sentence: str = "", *, tone: str = "") -> None:
        """Show a number and its sentence; ``tone`` is "", accent, care or wrong."""
        self.number.setText(number)
        self.number.setProperty("tone", tone)
        polish(self.number)
        # What is no figure, as the name of a column, is set as words: smaller, on as many lines as it needs.
        is_figure = len(number) <= LONG and _FIGURE.match(number)
        size = "key" if is_figure or len(number) <= SHORT else "side"
        self.number.set_size(size)
        self.number.setWordWrap(size != "key")
        self.sentence.say(sentence)
        self.setAccessibleName(words.pair(self.heading.text(), f"{number}. {self.sentence.plain()}"))


class BehindLink(Card):
    """A link, and below it ``body``, which the link shows and hides. ``bare`` draws no frame."""

    def __init__(self, heading: str, parent: QWidget | None = None, *, bare: bool = False) -> None:
        super().__init__(parent=parent)
        if bare:
            self.setProperty("card", "bare")
            self.body.setContentsMargins(0, 0, 0, 0)
        self._heading = heading
        self.link = make_button(look="link", checkable=True)
        self.link.toggled.connect(lambda shown: self._show(shown))
        self.body.addWidget(self.link, 0, Qt.AlignmentFlag.AlignLeft)
        self._inner = QWidget()
        inner = make_column(inside=self._inner, margins=0)
        self.body.addWidget(self._inner)
        self.body = inner
        self._show(False)

    def close_up(self) -> None:
        """Hide what is inside."""
        self.link.setChecked(False)

    def _show(self, shown: bool) -> None:
        self._inner.setVisible(shown)
        self.link.setText(words.say(f"app.window.{'fold' if shown else 'unfold'}", what=self._heading))


class Fold(QWidget):
    """A link, ``line``, and below it ``form``, hidden until somebody opens it."""

    def __init__(self, heading: str, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.line = make_button(heading, name, look="link", checkable=True)
        self.form = hidden(QWidget())
        make_column(align_left(self.line), self.form, inside=self, spacing=6, margins=0)
        self.line.toggled.connect(self.form.setVisible)


class Rule(QFrame):
    """A line of one pixel."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("rule", "true")
        self.setFixedHeight(1)


def row(*widgets: QWidget, spacing: int = 10, stretch: bool = True) -> QHBoxLayout:
    """Return widgets side by side, with the free room after them."""
    made = make_row(spacing=spacing)
    for widget in widgets:
        made.addWidget(widget)
    if stretch:
        made.addStretch(1)
    return made


def pill(text: str) -> QLabel:
    """Return a short word about what stands beside it, in a frame of its own height."""
    made = make_label(text, pixels=12, weight=600)
    made.setProperty("pill", "true")
    made.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
    return made
