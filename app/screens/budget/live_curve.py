"""A curve that follows a slider: paints a `CurveView` in milliseconds, in the colours of the theme.

Lines differ by dashes as well as by colour; the permissible part is shaded, marks are rings (the first
one, the chosen, is larger) and small diamonds. The same view is drawn on paper by the report.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPainterPath, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import words
from app.theme import Tokens, text_font, theme
from engine import texts
from engine.views import CurveView, Mark, Series

LEFT, RIGHT, TOP, BOTTOM = 52.0, 14.0, 26.0, 34.0
DASHES = {"dashed": (4.0, 3.0), "dotted": (1.2, 2.6)}
PRECEDENT = "choice.marks.precedent"


def pen(style: str, tokens: Tokens) -> QPen:
    """Return the pen of a series' style; also for legends."""
    colour = tokens.colour("quiet" if style in ("plain", "dotted") else "accent")
    made = QPen(colour, 2.2 if style == "accent" else 1.6)
    made.setCapStyle(Qt.PenCapStyle.FlatCap)
    if style in DASHES:
        made.setDashPattern(list(DASHES[style]))
    return made


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Return round values between two ends.

    >>> ticks(0.0, 1.0), ticks(0.0, 730.0)
    ([0.0, 0.25, 0.5, 0.75, 1.0], [0.0, 200.0, 400.0, 600.0])
    """
    if not high > low:
        return [low]
    rough = (high - low) / max(most - 1, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(index * step, 12) for index in range(first, math.floor(high / step + 1e-9) + 1)]


class LiveCurve(QWidget):
    """Paints one curve view."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.view: CurveView | None = None
        self._end = self._top = 1.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(260, 190)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(520, 216)

    def show_view(self, view: CurveView | None) -> None:
        """Show another curve."""
        self.view = view
        if view is not None:
            self._end = max((series.x[-1] for series in view.series), default=1.0)
            values = [value for series in view.series for value in series.y]
            values += [value for series in view.band or () for value in series.y[: len(series.y)]]
            self._top = max(values, default=1.0) * 1.06 or 1.0
            self.setAccessibleName(words.label(view.title))
            marked = "; ".join(f"{words.label(mark.label)}: {texts.number(mark.y)}" for mark in view.marks)
            self.setAccessibleDescription(f"{words.label(view.y_axis)}, {words.label(view.x_axis)}. {marked}")
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.view is None:
            return
        painter, tokens = QPainter(self), theme.tokens()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(LEFT, TOP, -RIGHT, -BOTTOM)
        if self.hasFocus():
            painter.setPen(QPen(tokens.colour("accent"), 1.5))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 8, 8)
        self._shade(painter, area, tokens)
        self._axes(painter, area, tokens)
        if self.view.band is not None:
            self._band(painter, area, tokens, *self.view.band)
        for series in self.view.series:
            painter.setPen(pen(series.style, tokens))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPath(self._path(area, series))
        self._marks(painter, area, tokens)

    def _at(self, area: QRectF, x: float, y: float) -> QPointF:
        return QPointF(
            area.left() + area.width() * x / self._end,
            area.bottom() - area.height() * min(max(y / self._top, 0.0), 1.0),
        )

    def _path(self, area: QRectF, series: Series) -> QPainterPath:
        path = QPainterPath()
        for place, (x, y) in enumerate(zip(series.x, series.y, strict=True)):
            point = self._at(area, x, y)
            if place:
                path.lineTo(point)
            else:
                path.moveTo(point)
        return path

    def _shade(self, painter: QPainter, area: QRectF, tokens: Tokens) -> None:
        assert self.view is not None
        if self.view.shade is None:
            return
        low, high = (self._at(area, x, 0).x() for x in self.view.shade)
        painter.fillRect(QRectF(low, area.top(), high - low, area.height()), tokens.colour("accent_soft"))

    def _axes(self, painter: QPainter, area: QRectF, tokens: Tokens) -> None:
        assert self.view is not None
        painter.setFont(text_font(11))
        metrics = QFontMetricsF(painter.font())
        for value in ticks(0.0, self._top, 4)[1:]:
            y = self._at(area, 0, value).y()
            painter.setPen(QPen(tokens.colour("line"), 1))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            painter.setPen(tokens.colour("quiet"))
            place = QRectF(0, y - 9, area.left() - 8, 18)
            right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(place, right, texts.number(value))
        painter.setPen(QPen(tokens.colour("quiet"), 1))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        painter.setPen(tokens.colour("quiet"))
        name = words.label(self.view.x_axis)
        room = area.right() - metrics.horizontalAdvance(name) - 12
        for value in ticks(0.0, self._end)[1:]:
            x = self._at(area, value, 0).x()
            written = texts.number(value)
            half = metrics.horizontalAdvance(written) / 2
            if x + half < room:
                painter.drawText(QPointF(x - half, area.bottom() + 18), written)
        painter.drawText(QPointF(area.right() - metrics.horizontalAdvance(name), area.bottom() + 18), name)
        painter.drawText(QPointF(4, 14), words.label(self.view.y_axis))

    def _band(self, painter: QPainter, area: QRectF, tokens: Tokens, low: Series, high: Series) -> None:
        edge = [self._at(area, x, y) for x, y in zip(low.x, low.y, strict=True)]
        back = [self._at(area, x, y) for x, y in zip(high.x, high.y, strict=True)]
        colour = tokens.colour("line")
        colour.setAlpha(150)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawPolygon(QPolygonF([*edge, *reversed(back)]))

    def _marks(self, painter: QPainter, area: QRectF, tokens: Tokens) -> None:
        assert self.view is not None
        painter.setFont(text_font(11, 500))
        taken: list[QRectF] = []
        for place, mark in enumerate(self.view.marks):
            point = self._at(area, mark.x, mark.y)
            taken.append(QRectF(point.x() - 7, point.y() - 7, 14, 14))
            if place == 0:
                continue
            painter.setPen(QPen(tokens.colour("quiet" if _is_precedent(mark) else "accent"), 1.6))
            painter.setBrush(tokens.colour("surface"))
            if _is_precedent(mark):
                painter.drawPolygon(_diamond(point, 4.2))
            else:
                painter.drawEllipse(point, 4.2, 4.2)
        for mark in self.view.marks[1:]:
            self._name(painter, area, tokens, mark, taken)
        if self.view.marks:
            point = self._at(area, self.view.marks[0].x, self.view.marks[0].y)
            painter.setPen(QPen(tokens.colour("accent"), 2.4))
            painter.setBrush(tokens.colour("surface"))
            painter.drawEllipse(point, 6, 6)
            self._name(painter, area, tokens, self.view.marks[0], taken)
        if self.view.shade is not None and self.view.shade_label is not None:
            self._window_name(painter, area, tokens, taken)

    def _name(self, painter: QPainter, area: QRectF, tokens: Tokens, mark: Mark, taken: list[QRectF]) -> None:
        """Write a mark's name where there is room beside it, or not at all: it stands in the table too."""
        words_ = words.label(mark.label)
        metrics = QFontMetricsF(painter.font())
        size = metrics.size(Qt.TextFlag.TextSingleLine, words_)
        point = self._at(area, mark.x, mark.y)
        for dx, dy in (
            (11, -0.3),
            (11, 0.5),
            (-11 - size.width(), 0.5),
            (-11 - size.width(), 1.3),
            (11, 1.5),
        ):
            box = QRectF(point.x() + dx, point.y() - size.height() * dy, size.width(), size.height())
            inside = area.adjusted(-2, -10, 2, -1).contains(box)
            clear = not any(box.intersects(other) for other in taken)
            if inside and clear and not self._crosses(area, box):
                taken.append(box)
                painter.setPen(tokens.colour("quiet" if _is_precedent(mark) else "text"))
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words_)
                return

    def _window_name(self, painter: QPainter, area: QRectF, tokens: Tokens, taken: list[QRectF]) -> None:
        assert self.view is not None and self.view.shade is not None and self.view.shade_label is not None
        painter.setFont(text_font(11, 600))
        painter.setPen(tokens.colour("accent"))
        low, high = (self._at(area, x, 0).x() for x in self.view.shade)
        written = words.label(self.view.shade_label)
        size = QFontMetricsF(painter.font()).size(Qt.TextFlag.TextSingleLine, written)
        left = max(min((low + high - size.width()) / 2, area.right() - size.width()), area.left() + 4)
        for top in (area.top() + 4, area.bottom() - size.height() - 4, area.top() + 22):
            box = QRectF(left, top, size.width(), size.height())
            if not self._crosses(area, box) and not any(box.intersects(other) for other in taken):
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, written)
                return

    def _crosses(self, area: QRectF, box: QRectF) -> bool:
        assert self.view is not None
        return any(_touches(self._points(area, series), box) for series in self.view.series)

    def _points(self, area: QRectF, series: Series) -> Sequence[QPointF]:
        return [self._at(area, x, y) for x, y in zip(series.x, series.y, strict=True)]


def _is_precedent(mark: Mark) -> bool:
    return str(getattr(mark.label, "id", "")).startswith(PRECEDENT)


def _diamond(point: QPointF, size: float) -> QPolygonF:
    steps = ((0, -size), (size, 0), (0, size), (-size, 0))
    return QPolygonF([QPointF(point.x() + dx, point.y() + dy) for dx, dy in steps])


def _touches(points: Sequence[QPointF], box: QRectF) -> bool:
    """Whether a line of short pieces passes through a box."""
    for first, second in pairwise(points):
        piece = QRectF(first, second).normalized().adjusted(-1, -1, 1, 1)
        if piece.intersects(box):
            return True
    return False
