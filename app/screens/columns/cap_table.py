"""How many rows of each person may count: a line for each cap, with what it leaves out and what it costs."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app import words
from app.screens.columns.figures import CapLine
from app.theme import text_font, theme
from engine import texts

HEAD, LINE = 38, 28
PLACES = (0.0, 0.22, 0.56, 0.76)
"""Where the four columns begin, as a share of the width."""
NAMES = ("cap", "left_out", "losing", "error")


class CapTable(QWidget):
    """Emits ``chosen`` with a cap. Keys: up and down move, Space or Enter chooses."""

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("caps")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.lines: tuple[CapLine, ...] = ()
        self.cap: int | None = None
        self._at, self._rows = 0, 0
        theme.changed.connect(self.update)

    def show_lines(self, lines: Sequence[CapLine], *, rows: int, cap: int | None) -> None:
        """Show what each cap does; ``cap`` is the one that was chosen, ``rows`` how many there are in all."""
        self.setAccessibleName(words.say("app.columns.unit.caps_name"))
        found = (tuple(lines), rows, cap)
        if found == (self.lines, self._rows, self.cap):
            return
        self.lines, self._rows, self.cap = found
        self._at = next((at for at, line in enumerate(self.lines) if line.cap == cap), 0)
        self.setFixedHeight(HEAD + LINE * len(self.lines))
        self.setAccessibleDescription(" ".join(self.spoken(line) for line in self.lines))
        self.update()

    def spoken(self, line: CapLine) -> str:
        """Return a line as a sentence."""
        return words.say(
            "app.columns.unit.spoken",
            cap=line.cap,
            left_out=line.left_out,
            losing=line.losing,
            error=line.error,
        )

    def sizeHint(self) -> QSize:
        return QSize(440, HEAD + LINE * len(self.lines))

    def minimumSizeHint(self) -> QSize:
        return QSize(340, HEAD + LINE * len(self.lines))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        at = int((event.position().y() - HEAD) // LINE)
        if 0 <= at < len(self.lines):
            self._choose(at)
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()), 0)
        if step and self.lines:
            self._at = min(max(self._at + step, 0), len(self.lines) - 1)
            self.update()
        elif event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.lines:
            self._choose(self._at)
        else:
            super().keyPressEvent(event)

    def _choose(self, at: int) -> None:
        self._at = at
        self.chosen.emit(self.lines[at].cap)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, tokens = QPainter(self), theme.tokens()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(text_font(12, 600))
        painter.setPen(tokens.colour("quiet"))
        for name, (left, width) in zip(NAMES, self._columns(), strict=True):
            said = words.say(f"app.columns.unit.head.{name}", rows=self._rows)
            place = QRectF(left + 4, 0, width - 8, HEAD - 4)
            flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom | Qt.TextFlag.TextWordWrap
            painter.drawText(place, int(flags), said)
        most = max((line.left_out for line in self.lines), default=0) or 1
        worst = max((line.error for line in self.lines), default=0) or 1
        for at, line in enumerate(self.lines):
            top = HEAD + at * LINE
            self._line(painter, line, top, focused=self.hasFocus() and at == self._at)
            (second, wide), (third, narrow), (fourth, last) = self._columns()[1:]
            self._number(painter, second, top, line.left_out)
            self._bar(painter, second + 56, top, wide - 72, line.left_out / most, "care")
            self._number(painter, third, top, line.losing, room=narrow)
            self._number(painter, fourth, top, line.error, sign="± ")
            self._bar(painter, fourth + 56, top, last - 64, line.error / worst, "accent")
        painter.end()

    def _columns(self) -> list[tuple[float, float]]:
        ends = (*PLACES[1:], 1.0)
        width = self.width()
        return [(width * begin, width * (end - begin)) for begin, end in zip(PLACES, ends, strict=True)]

    def _line(self, painter: QPainter, line: CapLine, top: float, *, focused: bool) -> None:
        tokens, chosen = theme.tokens(), line.cap == self.cap
        whole = QRectF(0, top, self.width(), LINE)
        if chosen:
            painter.fillRect(whole, tokens.colour("accent_soft"))
        painter.setPen(QPen(tokens.colour("line"), 1))
        painter.drawLine(whole.topLeft(), whole.topRight())
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if focused:
            painter.setPen(QPen(tokens.colour("accent"), 1.5))
            painter.drawRect(whole.adjusted(1, 1, -1, -1))
        middle = QPointF(14, top + LINE / 2)
        painter.setPen(QPen(tokens.colour("accent" if chosen else "quiet"), 1.3))
        painter.drawEllipse(middle, 6.5, 6.5)
        if chosen:
            painter.setBrush(tokens.colour("accent"))
            painter.drawEllipse(middle, 3.2, 3.2)
        painter.setFont(text_font(13, 600 if chosen else 400))
        painter.setPen(tokens.colour("text"))
        name = words.say("app.columns.unit.all", cap=line.cap) if line.is_all else texts.number(line.cap)
        place = QRectF(30, top, self._columns()[0][1] - 30, LINE)
        painter.drawText(place, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), name)

    def _number(
        self, painter: QPainter, left: float, top: float, value: int, *, room: float = 0.0, sign: str = ""
    ) -> None:
        painter.setPen(theme.tokens().colour("text"))
        painter.setFont(text_font())
        said = sign + texts.number(value) if value or sign else words.say("app.columns.unit.none")
        place = QRectF(left, top, max(room - 24, 50), LINE)
        painter.drawText(place, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), said)

    @staticmethod
    def _bar(painter: QPainter, left: float, top: float, width: float, share: float, colour: str) -> None:
        if width < 20:
            return
        tokens = theme.tokens()
        painter.setPen(Qt.PenStyle.NoPen)
        for name, length in (("line", width), (colour, width * share)):
            painter.setBrush(tokens.colour(name))
            painter.drawRoundedRect(QRectF(left, top + LINE / 2 - 3, length, 6), 3, 3)
