"""A drawing on screen: the report's own drawing of a view, in the colours of the window, made off its thread.

A screen reader gets the drawing in words; "Show as table" gives everybody the numbers behind it. A click or
Enter opens it large, see `app.parts.enlarged`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget
from shiboken6 import isValid

from app import words
from app.parts.views.table import TableBody
from app.theme import theme
from app.work.jobs import SHORT, JobRunner
from engine.views import View, as_table

LETTERS = 13.0  # dots
NARROWEST = 280
PLAIN = Qt.KeyboardModifier.KeypadModifier  # Enter beside the digits
FAMILIES = ("Inter",)  # QtSvg takes a list for the name of one family
_numbers = count(1)


@dataclass(frozen=True)
class Picture:
    """Drawn pieces, one under the other: width, height and SVG of each; and what they show, in words."""

    pieces: tuple[tuple[float, float, str], ...]
    spoken: str


def render(view: View, *, dark: bool, language: str, width: float) -> Picture:
    """Draw a view so many dots wide; runs as a job, because many numbers take longer than a frame."""
    from engine.report import drawing
    from engine.report import theme as themes
    from engine.report.words import description

    limits, pieces = drawing.limits(view), []
    for part in drawing.split(view):
        drawn = drawing.draw(
            part,
            theme=themes.DARK if dark else themes.LIGHT,
            language=language,
            width=width / drawing.POINTS,
            size=LETTERS,
            axis_limits=limits,
            families=FAMILIES,
        )
        pieces.append((drawn.width, drawn.height, drawn.svg()))
    return Picture(tuple(pieces), description(view, language))


class Canvas(QWidget):
    """Shows pictures under each other."""

    opened = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[tuple[QSvgRenderer, float, float]] = []
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setToolTip(words.say("app.enlarged.open"))
        self.setMinimumHeight(120)

    def show_picture(self, picture: Picture) -> None:
        """Show a drawn picture."""
        self.pieces = [
            (QSvgRenderer(QByteArray(svg.encode())), across, down) for across, down, svg in picture.pieces
        ]
        self.setMinimumHeight(int(sum(down for _, _, down in self.pieces)))
        self.setAccessibleDescription(picture.spoken)
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.opened.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers() & ~PLAIN:
            self.opened.emit()
        else:
            super().keyPressEvent(event)

    def sizeHint(self) -> QSize:
        return QSize(520, self.minimumHeight())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, top = QPainter(self), 0.0
        for drawn, across, down in self.pieces:
            drawn.render(painter, QRectF(0, top, across, down))
            top += down
        if self.hasFocus():
            painter.setPen(QPen(theme.tokens().colour("accent"), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(self.rect().adjusted(1, 1, -1, -1), 8, 8)


class FigureView(QWidget):
    """A drawing with its words and its table."""

    def __init__(self, view: View, runner: JobRunner, *, stays: bool = True) -> None:
        super().__init__()
        self.view, self.runner, self.stays = view, runner, stays
        self.slot = f"figure-{next(_numbers)}"
        self._drawn_for: Any = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        self.canvas = Canvas()
        self.canvas.setAccessibleName(words.label(view.title))
        self.canvas.opened.connect(self.enlarge)
        column.addWidget(self.canvas)
        self.body = TableBody(as_table(view))
        self.body.hide()
        column.addWidget(self.body)
        self.switch = QPushButton(words.say("app.views.as_table"))
        self.switch.setObjectName("as-table")
        self.switch.setAccessibleName(words.say("app.views.as_table_name", title=words.label(view.title)))
        self.switch.setProperty("look", "link")
        self.switch.setCheckable(True)
        self.switch.toggled.connect(self._switch)
        column.addWidget(self.switch, 0, Qt.AlignmentFlag.AlignLeft)
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(80)
        self._later.timeout.connect(self._draw)
        theme.changed.connect(self._draw)

    def enlarge(self) -> Any:
        """Open the picture large and return what shows it."""
        from app.parts.enlarged import Enlarged

        large = Enlarged(self.view, self.runner, self.window(), stays=self.stays)
        large.open()
        return large

    def _switch(self, table: bool) -> None:
        self.body.setVisible(table)
        self.canvas.setVisible(not table)
        self.switch.setText(words.say("app.views.as_drawing" if table else "app.views.as_table"))

    def _draw(self) -> None:
        width = max(self.canvas.width(), NARROWEST)
        wanted = (width, theme.tokens().is_dark, words.language())
        if wanted == self._drawn_for or not self.isVisible():
            return
        self._drawn_for = wanted
        self.runner.start(
            render,
            self.view,
            dark=wanted[1],
            language=wanted[2],
            width=width,
            done=self._drawn,
            slot=self.slot,
            lane=SHORT,
        )

    def _drawn(self, picture: Picture) -> None:
        if isValid(self):
            self.canvas.show_picture(picture)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._later.start()

    def showEvent(self, event: Any) -> None:
        super().showEvent(event)
        self._later.start()
