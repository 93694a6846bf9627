"""Text for reading: wrapped, with air between the lines, spoken as it is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget

from app import words
from app.theme import polish, text_font, theme


def tell_whole(field: QLineEdit) -> None:
    """Have a field's tooltip say all of its text, of which a long one shows a part only."""
    field.textChanged.connect(lambda text: field.setToolTip(words.tip(text)))


def name_label(name: str) -> QLabel:
    """Return a label that shows a name of a file as it is written, also where it looks like markup."""
    label = QLabel(name)
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label


class Wrapped(QLabel):
    """A label of several lines that remembers how high it is at each width.

    A page asks each of its labels about ten times while it is laid out, and Qt breaks the lines anew each
    time: half of what it takes to show a page.
    """

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        self._heights: dict[int, int] = {}
        super().__init__(text, parent)
        self.setWordWrap(True)

    def heightForWidth(self, width: int) -> int:
        found = self._heights.get(width)
        if found is None:
            found = self._between(width)
            found = self._heights[width] = super().heightForWidth(width) if found is None else found
        return found

    def _between(self, width: int) -> int | None:
        """Return the height that is the same both narrower and wider: more room never takes more lines."""
        narrower = max((one for one in self._heights if one < width), default=None)
        wider = min((one for one in self._heights if one > width), default=None)
        if narrower is None or wider is None or self._heights[narrower] != self._heights[wider]:
            return None
        return self._heights[wider]

    def setText(self, text: str) -> None:
        self._heights.clear()
        super().setText(text)

    def setWordWrap(self, on: bool) -> None:
        self._heights.clear()
        super().setWordWrap(on)

    def setContentsMargins(self, *margins: Any) -> None:
        self._heights.clear()
        super().setContentsMargins(*margins)

    def changeEvent(self, event: QEvent) -> None:
        # Another look has other colours: what was measured holds.
        is_measured_anew = event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange)
        if is_measured_anew and not theme.only_colours:
            self._heights.clear()
        super().changeEvent(event)


class Prose(Wrapped):
    """A paragraph or several (blank line between); ``**word**`` is strong.

    Parameters
    ----------
    tone
        ``""``, ``"quiet"``, ``"care"`` or ``"wrong"``: the colour, by the style sheet.
    """

    def __init__(
        self, sentence: str = "", *, tone: str = "", pixels: int = 13, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent=parent)
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setFont(text_font(pixels))
        self.setProperty("tone", tone)
        self._plain = self._said = ""
        self.say(sentence)

    def say(self, sentence: str) -> None:
        """Show another text."""
        plain = sentence.replace("**", "")
        if plain == self._plain and sentence == self._said:
            return  # it is laid out already
        self._plain, self._said = plain, sentence
        self.setText(words.paragraphs(sentence))
        self.setAccessibleName(self._plain)

    def set_tone(self, tone: str) -> None:
        """Change the colour."""
        if self.property("tone") != tone:
            self.setProperty("tone", tone)
            polish(self)

    def said(self) -> str:
        """Return the text with its marks."""
        return self._said

    def plain(self) -> str:
        """Return the text without marks."""
        return self._plain


class Heading(Wrapped):
    """One line in a heavier face: ``title`` 22, ``side`` 15, ``card`` 13."""

    SIZES: ClassVar = {
        "title": (22, 700),
        "side": (15, 600),
        "card": (13, 600),
        "small": (12, 600),
        "key": (25, 700),
    }

    def __init__(
        self,
        sentence: str = "",
        *,
        size: str = "title",
        tone: str = "",
        mono: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        self._face = text_font(*self.SIZES[size])
        super().__init__(sentence, parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.set_size(size)
        self.setProperty("tone", tone)

    def set_size(self, size: str) -> None:
        """Take another of the sizes."""
        self.setFont(text_font(*self.SIZES[size], tabular=size not in ("title", "key")))

    def setFont(self, font: QFont | str | Sequence[str]) -> None:
        self._face = QFont(font)
        super().setFont(font)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        # Styled anew, a label gets back the face that it was styled in first.
        if event.type() == QEvent.Type.FontChange and _looks(self.font()) != _looks(self._face):
            super().setFont(self._face)


def _looks(font: QFont) -> tuple[str, int, int]:
    return font.family(), font.pixelSize(), font.weight()
