"""A drawing on screen: the report's own drawing of a view, in the colours of the window, made off its thread.

A screen reader gets the drawing in words; "Show as table" gives everybody the numbers behind it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QImage, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget
from shiboken6 import isValid

from app import words
from app.jobs import JobRunner
from app.theme import theme
from app.widgets.views.table import TableBody
from engine.views import View, as_table

DOTS = 100  # of the screen per inch of the drawing
LETTERS = 9.36  # points: 13 dots
NARROWEST = 280
_numbers = count(1)


@dataclass(frozen=True)
class Picture:
    """Rendered pieces, one under the other: width, height and bytes (RGBA) of each."""

    pieces: tuple[tuple[int, int, bytes], ...]
    spoken: str


def render(view: View, *, dark: bool, language: str, width: float, scale: float) -> Picture:
    """Draw a view into pixels; runs as a job, because a drawing takes longer than a frame."""
    from engine.release.report import figures
    from engine.release.report import theme as themes
    from engine.release.report.words import description

    colours = themes.DARK if dark else themes.LIGHT
    limits = figures.limits(view)
    pieces = []
    for part in figures.split(view):
        figure = figures.draw(
            part, theme=colours, language=language, width=width, size=LETTERS, axis_limits=limits
        )
        figure.set_dpi(DOTS * scale)
        canvas = figure.canvas
        canvas.draw()
        across, down = canvas.get_width_height(physical=True)
        pieces.append((across, down, bytes(canvas.buffer_rgba())))
    return Picture(tuple(pieces), description(view, language))


class Canvas(QWidget):
    """Shows pictures under each other."""

    def __init__(self) -> None:
        super().__init__()
        self.images: list[QImage] = []
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setMinimumHeight(120)

    def show_picture(self, picture: Picture, scale: float) -> None:
        """Show a rendered picture."""
        self.images = []
        for across, down, content in picture.pieces:
            image = QImage(content, across, down, 4 * across, QImage.Format.Format_RGBA8888).copy()
            image.setDevicePixelRatio(scale)
            self.images.append(image)
        self.setMinimumHeight(int(sum(image.deviceIndependentSize().height() for image in self.images)))
        self.setAccessibleDescription(picture.spoken)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(520, self.minimumHeight())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, top = QPainter(self), 0.0
        for image in self.images:
            painter.drawImage(0, int(top), image)
            top += image.deviceIndependentSize().height()
        if self.hasFocus():
            painter.setPen(QPen(theme.tokens().colour("accent"), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(self.rect().adjusted(1, 1, -1, -1), 8, 8)


class FigureView(QWidget):
    """A drawing with its words and its table."""

    def __init__(self, view: View, runner: JobRunner) -> None:
        super().__init__()
        self.view, self.runner = view, runner
        self.slot = f"figure-{next(_numbers)}"
        self._drawn_for: Any = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        self.canvas = Canvas()
        self.canvas.setAccessibleName(words.label(view.title))
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

    def _switch(self, table: bool) -> None:
        self.body.setVisible(table)
        self.canvas.setVisible(not table)
        self.switch.setText(words.say("app.views.as_drawing" if table else "app.views.as_table"))

    def _draw(self) -> None:
        width, scale = max(self.canvas.width(), NARROWEST), self.devicePixelRatioF()
        wanted = (width, scale, theme.tokens().is_dark, words.language())
        if wanted == self._drawn_for or not self.isVisible():
            return
        self._drawn_for = wanted
        self.runner.start(
            render,
            self.view,
            dark=wanted[2],
            language=wanted[3],
            width=width / DOTS,
            scale=scale,
            done=lambda picture: self._drawn(picture, scale),
            slot=self.slot,
        )

    def _drawn(self, picture: Picture, scale: float) -> None:
        if isValid(self):
            self.canvas.show_picture(picture, scale)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._later.start()

    def showEvent(self, event: Any) -> None:
        super().showEvent(event)
        self._later.start()
