"""A drawing on screen: the report's own drawing of a view, in the colours of the window, made off its thread.

A screen reader gets the drawing in words; "Show as table" gives everybody the numbers behind it. A click or
Enter opens it large, see `app.parts.enlarged`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QResizeEvent
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget
from shiboken6 import isValid

from app import words
from app.parts.making import add, align_left, hidden, make_column
from app.parts.plot import ENTER, PLAIN, Painted
from app.parts.point_panel import PointReading
from app.parts.views.table import TableBody
from app.theme import theme
from app.work.jobs import SHORT, JobRunner
from engine.views import View, as_table

LETTERS, SMALL = 13.0, 11.0  # dots
NARROWEST = 280
FAMILIES = ("Inter",)  # QtSvg takes a list for the name of one family
_numbers = count(1)


@dataclass(frozen=True)
class Picture:
    """Drawn pieces, one under the other: width, height and SVG of each; and what they show, in words."""

    pieces: tuple[tuple[float, float, str], ...]
    spoken: str


def render(view: View, *, dark: bool, language: str, width: float, letters: float = LETTERS) -> Picture:
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
            size=letters,
            axis_limits=limits,
            families=FAMILIES,
        )
        pieces.append((drawn.width, drawn.height, drawn.svg()))
    return Picture(tuple(pieces), description(view, language))


def open_large(
    view: View, runner: JobRunner, over: QWidget, *, stays: bool, reading: PointReading | None = None
) -> Any:
    """Open a picture large, over the window that a widget lies in, and return what shows it."""
    from app.parts.enlarged import Enlarged

    large = Enlarged(view, runner, over.window(), stays=stays, reading=reading)
    large.open()
    return large


class Canvas(Painted):
    """Shows pictures under each other."""

    FRAME = (1.5, 1.0, 8.0)
    opened = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[tuple[QSvgRenderer, float, float]] = []
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
        if event.key() in ENTER and not event.modifiers() & ~PLAIN:
            self.opened.emit()
        else:
            super().keyPressEvent(event)

    def sizeHint(self) -> QSize:
        return QSize(520, self.minimumHeight())

    def paint(self, painter: QPainter) -> None:
        top = 0.0
        for drawn, across, down in self.pieces:
            drawn.render(painter, QRectF(0, top, across, down))
            top += down


class LiveDrawing(Canvas):
    """Draws one view at once, as often as it changes: what follows a slider cannot wait for a job."""

    def __init__(self, runner: JobRunner) -> None:
        super().__init__()
        self.view: View | None = None
        self.runner = runner
        self.opened.connect(self.enlarge)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumWidth(NARROWEST)
        theme.changed.connect(self._draw)

    def show_view(self, view: View | None) -> None:
        """Show another view."""
        self.view = view
        self.setAccessibleName("" if view is None else words.label(view.title))
        self._draw()

    def enlarge(self) -> Any:
        """Open the picture as it is now large and return what shows it."""
        return None if self.view is None else open_large(self.view, self.runner, self, stays=True)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._draw()

    def _draw(self) -> None:
        if self.view is not None:
            look, language = theme.tokens().is_dark, words.language()
            width = max(self.width(), NARROWEST)
            self.show_picture(render(self.view, dark=look, language=language, width=width, letters=SMALL))


class FigureView(QWidget):
    """A drawing with its words and its table."""

    def __init__(self, view: View, runner: JobRunner, *, stays: bool = True) -> None:
        super().__init__()
        self.view, self.runner, self.stays = view, runner, stays
        self.slot = f"figure-{next(_numbers)}"
        self._drawn_for: Any = None
        column = make_column(inside=self, spacing=4, margins=0)
        self.canvas = Canvas()
        self.canvas.setAccessibleName(words.label(view.title))
        self.canvas.opened.connect(self.enlarge)
        self.body = hidden(TableBody(as_table(view)))
        self.switch = QPushButton(words.say("app.views.as_table"))
        self.switch.setObjectName("as-table")
        self.switch.setAccessibleName(words.say("app.views.as_table_name", title=words.label(view.title)))
        self.switch.setProperty("look", "link")
        self.switch.setCheckable(True)
        self.switch.toggled.connect(self._switch)
        add(column, self.canvas, self.body, align_left(self.switch))
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(80)
        self._later.timeout.connect(self._draw)
        theme.changed.connect(self._draw)

    def enlarge(self) -> Any:
        """Open the picture large and return what shows it."""
        return open_large(self.view, self.runner, self, stays=self.stays)

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
