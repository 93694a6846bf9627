"""Candidates as points of two figures, or as bands of one; a click or the arrow keys choose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen

from app import words
from app.parts.plot import LEFTWARDS, PointPicture, cut, make_bars
from app.parts.point_panel import PointRead, PointReading
from app.theme import text_font, theme
from app.work.comparing import Figure, beyond, letter, unbeaten
from engine.views import ScatterView, Series, View

LEFT, TOP, RIGHT, BOTTOM = PointPicture.MARGINS
ROW, POINT = 30, 6.0
TICKS, TOGETHER = 4, 14
CLEAR = (-40, -22, 40, 14)  # pixels around words in which no point lies
HIGH = 250  # pixels of two figures: what is chosen, and why, stand below in view


class CandidatePlot(PointPicture):
    """``chosen`` tells the place of a candidate."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("candidates")
        self.across: Figure | None = None
        self.upwards: Figure | None = None
        self.names: tuple[str, ...] = ()
        self.kinds: tuple[str, ...] = ()
        self._kind_of: tuple[int, ...] = ()

    def show_figures(
        self,
        across: Figure | None,
        upwards: Figure | None,
        names: Sequence[str],
        kinds: Sequence[str] = (),
    ) -> None:
        """Show points of two figures, or bands of the first alone; each kind has a shape of its own."""
        self.names = tuple(names)
        self.kinds = tuple(dict.fromkeys(kinds))
        self._kind_of = tuple(map(self.kinds.index, kinds))
        self.across, self.upwards = across, upwards
        self.setVisible(across is not None)
        bands = across is not None and upwards is None
        self.setFixedHeight(TOP + BOTTOM + ROW * len(names) if bands else HIGH)
        shown = [one for one in (across, upwards) if one is not None]
        self.setAccessibleName(" / ".join(one.label for one in shown))
        self.setAccessibleDescription(
            "; ".join(
                words.pair(f"{letter(place)}, {name}", ", ".join(one.written(place) for one in shown))
                for place, name in enumerate(names)
            )
        )
        self.update()

    def picture(self) -> View | None:
        across, upwards = self.across, self.upwards
        if across is None:
            return None
        places = [place for place, value in enumerate(across.values) if value is not None]
        named = [words.pair(letter(place), self.names[place]) for place in places]
        values = [across.values[place] or 0.0 for place in places]
        if upwards is None:
            return make_bars(across.label, named, [values])
        series = [
            Series(name, (value,), (up,), "accent" if place == self.place else "plain")
            for name, place, value in zip(named, places, values, strict=True)
            if (up := upwards.values[place]) is not None
        ]
        return ScatterView(self.accessibleName(), across.label, upwards.label, tuple(series))

    def reading(self) -> PointReading | None:
        shown, taken = [one for one in (self.across, self.upwards) if one is not None], self.place
        if not shown:
            return None
        order = [at for at in range(len(self.names)) if all(one.values[at] is not None for one in shown)]

        def lines(place: int) -> list[tuple[str, str]]:
            said = [(words.say("app.compare.settings"), words.pair(letter(place), self.names[place]))]
            return said + [(one.label, one.written(place)) for one in shown]

        def read(row: int) -> PointRead:
            place = order[row]
            mine = zip(lines(place), lines(taken), strict=True)
            barred = words.say("app.compare.outside", names=letter(place)) if beyond(shown, place) else ""
            return PointRead(tuple((*line, line != own) for line, own in mine), place == taken, barred)

        return PointReading(read, lambda row: self.chosen.emit(order[row]))

    def choose(self, place: int) -> None:
        """Show another candidate as the chosen one."""
        self.place = place
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(430, self.minimumHeight())

    # --- where things lie --------------------------------------------------------------------------

    def points(self) -> dict[int, QPointF]:
        """Return where each candidate lies; one without the figures lies nowhere."""
        field, found = self.field(), {}
        if self.across is None:
            return {}
        for place, value in enumerate(self.across.values):
            if value is None:
                continue
            left = field.left() + field.width() * _share(self.across, value)
            if self.upwards is None:
                found[place] = QPointF(left, field.top() + ROW * (place + 0.5))
                continue
            up = self.upwards.values[place]
            if up is not None:
                found[place] = QPointF(left, field.bottom() - field.height() * _share(self.upwards, up))
        return found

    # --- painting ----------------------------------------------------------------------------------

    def paint(self, painter: QPainter) -> None:
        if self.across is None:
            return
        self._paint_allowed(painter)
        self._paint_axes(painter)
        points = self.points()
        if self.upwards is not None:
            front = [points[place] for place in unbeaten(self.across, self.upwards) if place in points]
            painter.setPen(QPen(theme.tokens().colour("accent"), 1.2))
            painter.drawPolyline(front)
        for place in sorted(points, key=lambda one: one == self.place):  # the chosen one lies on top
            self._paint_point(painter, place, points[place])
        self._paint_letters(painter, points)

    def _paint_allowed(self, painter: QPainter) -> None:
        """Shade where candidates keep to what was decided, with a dashed line at each limit."""
        tokens, field = theme.tokens(), self.field()
        area, edges = QRectF(field), list[tuple[QPointF, QPointF]]()
        for figure, is_across in ((self.across, True), (self.upwards, False)):
            if figure is None or figure.limit is None:
                continue
            at = min(max(_share(figure, figure.limit), 0.0), 1.0)
            if is_across:
                x = field.left() + field.width() * at
                (area.setLeft if figure.limit_is_least else area.setRight)(x)
                edges.append((QPointF(x, field.top()), QPointF(x, field.bottom())))
            else:
                y = field.bottom() - field.height() * at
                (area.setBottom if figure.limit_is_least else area.setTop)(y)
                edges.append((QPointF(field.left(), y), QPointF(field.right(), y)))
        if not edges:
            return
        painter.fillRect(area, tokens.colour("accent_soft"))
        painter.setPen(QPen(tokens.colour("quiet"), 1.2, Qt.PenStyle.DashLine))
        for start, end in edges:
            painter.drawLine(start, end)
        said = words.say("app.compare.allowed", limits=self._limits())
        painter.setPen(tokens.colour("accent"))
        place = self._free_corner(area, painter.fontMetrics().horizontalAdvance(said) + 2)
        painter.drawText(place, Qt.AlignmentFlag.AlignRight, said)

    def _free_corner(self, area: QRectF, width: float) -> QRectF:
        """Return a place for words in the shaded part where no point lies, if there is one."""
        if self.upwards is None:  # nothing else is written above bands
            left = min(max(area.center().x() - width / 2, 0.0), self.width() - width)
            return QRectF(left, area.top() - 18, width, 16)
        wide_enough = area if area.width() > width + 12 else self.field()
        field, points = wide_enough.adjusted(6, 2, -6, -2), self.points().values()
        steps = range(int(max(field.height() - 16, 0) // 8) + 1)
        tops = sorted((field.top() + 8 * step for step in steps), key=lambda top: abs(top - field.top()))
        lefts = (field.right() - width, field.left(), field.center().x() - width / 2)
        places = [QRectF(left, top, width, 16) for top in tops for left in lefts]
        # Beside each point its letter stands, to the right or the left, a little lower.
        free = (one for one in places if not any(one.adjusted(*CLEAR).contains(at) for at in points))
        return next(free, places[0])

    def _limits(self) -> str:
        shown = [one for one in (self.across, self.upwards) if one is not None]
        return ", ".join(one.write(one.limit) for one in shown if one.limit is not None)

    def _is_allowed(self, place: int) -> bool:
        return not beyond([one for one in (self.across, self.upwards) if one is not None], place)

    def _paint_axes(self, painter: QPainter) -> None:
        tokens, field = theme.tokens(), self.field()
        assert self.across is not None
        for left, text in _ticks(self.across, field.left(), field.width()):
            painter.setPen(tokens.colour("quiet"))
            painter.drawText(
                QRectF(left - 40, field.bottom() + 4, 80, 16), Qt.AlignmentFlag.AlignHCenter, text
            )
            if self.upwards is None:
                painter.setPen(tokens.colour("line"))
                painter.drawLine(QPointF(left, field.top()), QPointF(left, field.bottom()))
        aside = self._paint_kinds(painter)
        painter.setPen(tokens.colour("quiet"))
        below = QRectF(0, field.bottom() + 22, self.width() - RIGHT, 18)
        painter.drawText(below, Qt.AlignmentFlag.AlignRight, cut(painter, self.across.label, below.width()))
        if self.upwards is not None:
            above = QRectF(8, 6, aside - 16, 18)
            painter.drawText(
                above, Qt.AlignmentFlag.AlignLeft, cut(painter, self.upwards.label, above.width())
            )
            for up, text in _ticks(self.upwards, 0, field.height()):
                self.draw_level(painter, field.bottom() - up, text)
        painter.setPen(tokens.colour("quiet"))
        painter.drawLine(field.bottomLeft(), field.bottomRight())

    def _paint_point(self, painter: QPainter, place: int, point: QPointF) -> None:
        tokens = theme.tokens()
        if self.upwards is None:
            self._paint_band(painter, place, point)
        is_allowed = self._is_allowed(place)  # an open point in grey is not
        painter.setPen(QPen(tokens.colour("accent" if is_allowed else "quiet"), 2))
        painter.setBrush(QBrush(tokens.colour("accent" if is_allowed else "surface")))
        self._paint_shape(painter, self._kind_of[place] if place < len(self._kind_of) else 0, point)
        if place == self.place:  # a ring, so that it can be told in grey too
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(point, POINT + 4, POINT + 4)

    def _paint_shape(self, painter: QPainter, kind: int, point: QPointF) -> None:
        """Draw a circle, a square or a diamond: the kind is told in grey too."""
        if kind == 0:
            painter.drawEllipse(point, POINT, POINT)
        elif kind == 1:
            painter.drawRect(QRectF(point.x() - 5, point.y() - 5, 10, 10))
        else:
            corners = [QPointF(0, -7.5), QPointF(7.5, 0), QPointF(0, 7.5), QPointF(-7.5, 0)]
            painter.drawPolygon([point + corner for corner in corners])

    def _paint_kinds(self, painter: QPainter) -> float:
        """Say at the right above the picture which shape is which kind; return where that begins."""
        tokens, right = theme.tokens(), self.width() - 8.0
        for kind in reversed(range(len(self.kinds)) if len(self.kinds) > 1 else ()):
            said = cut(painter, self.kinds[kind], self.width() / 5)
            right -= painter.fontMetrics().horizontalAdvance(said) + 2
            painter.setPen(tokens.colour("quiet"))
            painter.drawText(QRectF(right, 6, self.width(), 18), Qt.AlignmentFlag.AlignLeft, said)
            painter.setPen(QPen(tokens.colour("accent"), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            self._paint_shape(painter, kind, QPointF(right - 12, 14))
            right -= 30
        return right

    def _paint_letters(self, painter: QPainter, points: Mapping[int, QPointF]) -> None:
        """Write the letters; those of points that lie on one another stand together."""
        painter.setPen(theme.tokens().colour("text"))
        field, written = self.field(), set[int]()
        for place, point in sorted(points.items()):
            if place in written:
                continue
            near = [one for one, other in points.items() if (other - point).manhattanLength() < TOGETHER]
            written |= set(near)
            painter.setFont(text_font(11, 700 if self.place in near else 500))
            names = ", ".join(letter(one) for one in sorted(near))
            if self.upwards is None:
                painter.drawText(QRectF(0, point.y() - 9, LEFT - 14, 18), LEFTWARDS, names)
                continue
            width = painter.fontMetrics().horizontalAdvance(names) + 2
            right = point.x() + 13 + width < field.right() + RIGHT
            left = point.x() + 13 if right else point.x() - 13 - width
            painter.drawText(QRectF(left, point.y() + 4, width, 16), Qt.AlignmentFlag.AlignLeft, names)

    def _paint_band(self, painter: QPainter, place: int, point: QPointF) -> None:
        """A pale bar from what half of the releases stay within, or from the edge, to the point."""
        assert self.across is not None
        field, colour = self.field(), QColor(theme.tokens().colour("accent"))
        colour.setAlphaF(0.22)
        low = self.across.low[place] if place < len(self.across.low) else None
        begin = field.left()
        if low is not None:
            begin = field.left() + field.width() * _share(self.across, low)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawRoundedRect(QRectF(begin, point.y() - 5, max(point.x() - begin, 1), 10), 4, 4)

    # --- choosing ----------------------------------------------------------------------------------

    def at(self, where: QPointF) -> int | None:
        points = self.points()
        if self.upwards is None:
            near = {place: abs(point.y() - where.y()) for place, point in points.items()}
        else:
            near = {place: (point - where).manhattanLength() for place, point in points.items()}
        place = min(near, key=lambda one: near[one], default=None)
        return place if place is not None and near[place] <= self.NEAR else None

    def in_order(self, key: Qt.Key) -> list[int]:
        return sorted(self.points())


def _share(figure: Figure, value: float) -> float:
    """Return where a value lies on its axis: 0 at its beginning, 1 at its end."""
    low, high = _ends(figure)
    return (value - low) / (high - low)


def _ends(figure: Figure) -> tuple[float, float]:
    """Return the ends of an axis: from 0, unless all values lie far from it, with a little room above.

    A limit is in view unless the candidates lie far below it.
    """
    values = [value for value in (*figure.values, *figure.low) if value is not None]
    if figure.limit is not None and figure.limit <= 2 * max(values):
        values.append(figure.limit)
    low, high = min(values), max(values)
    low = 0.0 if 0 <= low <= 0.7 * high else low - 0.15 * (high - low)
    return low, high + 0.08 * (high - low) if high > low else low + 1.0


def _ticks(figure: Figure, start: float, length: float) -> list[tuple[float, str]]:
    low, high = _ends(figure)
    return [
        (start + length * (value - low) / (high - low), figure.write(value))
        for value in round_ticks(low, high)
    ]


def round_ticks(low: float, high: float) -> list[float]:
    """Return round numbers in a range, about as many as `TICKS`: steps of 1, 2 or 5 times a power of ten.

    Examples
    --------
    >>> round_ticks(0.0, 8.64), round_ticks(5.9, 8.9)
    ([0.0, 2.0, 4.0, 6.0, 8.0], [6.0, 7.0, 8.0])
    """
    rough = (high - low) / TICKS
    power = 10.0 ** floor(log10(rough))
    step = next(one * power for one in (1, 2, 5, 10) if one * power >= rough * 0.85)
    step = max(step, 1.0) if low >= 10 else step  # larger numbers are written whole
    first = ceil(low / step - 1e-9)
    return [round(place * step, 12) for place in range(first, floor(high / step + 1e-9) + 1)]
