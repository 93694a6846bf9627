"""Every combination of steps as a point: what it loses across, whom it leaves out upwards."""

from __future__ import annotations

from math import sqrt

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from app import words
from app.parts.plot import PointPicture
from app.parts.trial.solution import lost, neighbours, steps_words
from app.theme import theme
from engine.methods.trying import SolutionMap

POINT, HEIGHT = 4.0, 280
TICKS = 4


class SolutionPlot(PointPicture):
    """``chosen`` tells the place of a combination that was clicked, or reached by an arrow key."""

    MARGINS = (52, 26, 18, 40)
    NEAR = 16.0

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("solution-plot")
        self.setFixedHeight(HEIGHT)
        self.shown: SolutionMap | None = None

    def show_map(self, shown: SolutionMap, place: int) -> None:
        """Show a map with a ring around one of its combinations."""
        self.shown, self.place = shown, place
        holding = sum(one.holds for one in shown.candidates)
        self.setAccessibleName(
            words.say("app.trying.map.heading", count=len(shown.candidates), holding=holding)
        )
        self.setAccessibleDescription(self._told(place))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(420, HEIGHT)

    def _told(self, place: int) -> str:
        assert self.shown is not None
        one = self.shown.candidates[place]
        cost = words.say("app.trying.map.would", left_out=one.left_out, lost=lost(self.shown, one.lost))
        return f"{steps_words(self.shown, one)}: {cost}"

    # --- where things lie --------------------------------------------------------------------------

    def _across(self) -> tuple[float, float]:
        assert self.shown is not None
        if self.shown.is_share:
            return 0.0, 1.0
        values = [one.lost for one in self.shown.candidates]
        return min(values), max(values) if max(values) > min(values) else min(values) + 1.0

    def _most(self) -> float:
        """Return the largest number of people left out that is drawn."""
        assert self.shown is not None
        most = max(one.left_out for one in self.shown.candidates)
        return float(max(most, self.shown.most_left_out, 1))

    def _up(self, people: float) -> float:
        field = self.field()
        return field.bottom() - field.height() * sqrt(people / self._most())  # the few are what matters

    def points(self) -> list[QPointF]:
        """Return where each combination lies."""
        if self.shown is None:
            return []
        field, (low, high), most = self.field(), self._across(), self._most()
        left, bottom = field.left(), field.bottom()
        across, height = field.width() / (high - low), field.height()
        return [
            QPointF(left + across * (one.lost - low), bottom - height * sqrt(one.left_out / most))
            for one in self.shown.candidates
        ]

    # --- painting ----------------------------------------------------------------------------------

    def paint(self, painter: QPainter) -> None:
        if self.shown is None:
            return
        points = self.points()
        self._paint_allowed(painter)
        self._paint_axes(painter)
        self._paint_ways(painter, points)
        self._paint_points(painter, points)

    def _paint_allowed(self, painter: QPainter) -> None:
        assert self.shown is not None
        tokens, field, most = theme.tokens(), self.field(), self.shown.most_left_out
        level = self._up(most)
        area = QRectF(field.left(), level, field.width(), field.bottom() - level)
        painter.fillRect(area, tokens.colour("accent_soft"))
        painter.setPen(QPen(tokens.colour("quiet"), 1.2, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(field.left(), level), QPointF(field.right(), level))
        painter.setPen(tokens.colour("text"))
        side = Qt.AlignmentFlag.AlignRight
        said = words.say("app.trying.map.most", count=most)
        painter.drawText(QRectF(field.left(), level - 17, field.width(), 16), side, said)

    def _paint_axes(self, painter: QPainter) -> None:
        assert self.shown is not None
        tokens, field, (low, high) = theme.tokens(), self.field(), self._across()
        painter.setPen(tokens.colour("quiet"))
        painter.drawLine(field.bottomLeft(), field.bottomRight())
        for people in self._levels():
            self.draw_level(painter, self._up(people), f"{people:,}")
        for tick in range(TICKS + 1):
            value = low + (high - low) * tick / TICKS
            place = QRectF(field.left() + field.width() * tick / TICKS - 40, field.bottom() + 4, 80, 16)
            text = f"{100 * value:.0f}\u00a0%" if self.shown.is_share else lost(self.shown, value)
            align = Qt.AlignmentFlag.AlignHCenter
            if tick == TICKS:  # the last one would be cut
                place.moveRight(self.width() - 2.0)
                align = Qt.AlignmentFlag.AlignRight
            painter.drawText(place, align, text)
        below = QRectF(0, field.bottom() + 21, self.width() - 2.0, 16)
        painter.drawText(below, Qt.AlignmentFlag.AlignRight, words.say("app.trying.map.across"))
        painter.drawText(QRectF(8, 4, self.width() - 16, 16), 0, words.say("app.trying.map.upwards"))

    def _levels(self) -> list[int]:
        """Return round numbers of people that lie apart from one another on the axis."""
        assert self.shown is not None
        most, limit, found = self._most(), self._up(self.shown.most_left_out), [0]
        for power in range(9):
            for factor in (1, 3):
                people = factor * 10**power
                is_apart = self._up(found[-1]) - self._up(people) > 22
                if people <= most and is_apart and abs(self._up(people) - limit) > 18:
                    found.append(people)
        return found

    def _paint_ways(self, painter: QPainter, points: list[QPointF]) -> None:
        """Join the ringed combination to those one step away: dashed finer, solid coarser."""
        assert self.shown is not None
        styles = (Qt.PenStyle.DotLine, Qt.PenStyle.SolidLine)
        for style, side in zip(styles, neighbours(self.shown, self.place), strict=True):
            painter.setPen(QPen(theme.tokens().colour("accent"), 1.2, style))
            for one in side:
                painter.drawLine(points[self.place], points[one.place])

    def _paint_points(self, painter: QPainter, points: list[QPointF]) -> None:
        assert self.shown is not None
        tokens, round_cap = theme.tokens(), Qt.PenCapStyle.RoundCap
        parts: tuple[QPolygonF, QPolygonF] = (QPolygonF(), QPolygonF())
        for one, point in zip(self.shown.candidates, points, strict=True):
            parts[one.holds].append(point)
        solid = Qt.PenStyle.SolidLine
        # All at once: there may be ten thousand. What does not hold is open and grey.
        for part, colour, width in ((0, "quiet", 2 * POINT), (0, "surface", POINT), (1, "accent", 2 * POINT)):
            painter.setPen(QPen(tokens.colour(colour), width, solid, round_cap))
            painter.drawPoints(parts[part])
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(tokens.colour("text"), 1.2))
        painter.drawEllipse(points[self.shown.best], POINT + 3, POINT + 3)
        painter.setPen(QPen(tokens.colour("accent"), 2))
        painter.drawEllipse(points[self.place], POINT + 6, POINT + 6)

    # --- choosing ----------------------------------------------------------------------------------

    def at(self, where: QPointF) -> int | None:
        """Return the combination that lies nearest to a place, if one is near; the better of equals."""
        if self.shown is None:
            return None
        near = [
            (round((point - where).manhattanLength()), not one.holds, one.lost, place)
            for place, (point, one) in enumerate(zip(self.points(), self.shown.candidates, strict=True))
        ]
        distance, _, _, place = min(near)
        return place if distance <= self.NEAR else None

    def step_of(self, key: Qt.Key) -> int:
        up = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}  # more people are left out further up
        return up.get(key, super().step_of(key))

    def in_order(self, key: Qt.Key) -> list[int]:
        """Return the combinations by their loss (left and right) or by whom they leave out (up and down)."""
        if self.shown is None:
            return []
        across, found = key in (Qt.Key.Key_Right, Qt.Key.Key_Left), self.shown.candidates

        def order(place: int) -> tuple[float, float, int]:
            one = found[place]
            return (one.lost, one.left_out, place) if across else (one.left_out, one.lost, place)

        return sorted(
            (place for place, one in enumerate(found) if one.holds or place == self.place), key=order
        )

    def tip_at(self, place: QPointF) -> str | None:
        at = self.at(place)
        return "" if at is None else self._told(at)
