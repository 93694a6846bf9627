"""The three parts of a release that was made: what left, how good it is, what must not be handed over."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app import words
from app.parts.cards import Card, pill
from app.parts.lines import Line
from app.parts.making import (
    STRETCH,
    add,
    align_left,
    empty,
    make_button,
    make_column,
    make_label,
    make_row,
    name_widget,
)
from app.parts.plot import LEFTWARDS, Painted, ShareBar, cut
from app.parts.prose import Heading, Prose
from app.screens.release.looking import CARE, WRONG, Point
from app.screens.release.summary import SHOWN, Measured
from app.theme import text_font, theme
from engine.views import IntervalsView, View

ROW, DOT, BAND = 32, 4.5, 8.0  # pixels
WRITTEN, MARGIN, GAP = 64, 58, 12
LEAST_BAND = 140  # pixels that names leave to the bands
MOST_POINTS = 1  # things to look at on the first screen; all of them stand with the further tables


class Bands(Painted):
    """A line for each number: its name, its band on one common scale, the number and its margin.

    What says nothing is hollow and pale, with an open point: not told by colour alone.
    """

    OPENS, STAYS = True, False

    def __init__(self) -> None:
        super().__init__()
        self.grow_across()
        self.lines: tuple[Line, ...] = ()

    def sizeHint(self) -> QSize:
        return QSize(420, ROW * max(len(self.lines), 1))

    def show_lines(self, lines: Sequence[Line], spoken: str) -> None:
        """Show other lines."""
        self.lines = tuple(lines)
        self.setAccessibleName(spoken)
        self.setAccessibleDescription("; ".join(map(_spoken, self.lines)))
        self.setFixedHeight(self.sizeHint().height())
        self.updateGeometry()
        self.update()

    def picture(self) -> View | None:
        if not self.lines:
            return None
        names, centres = tuple(one.name for one in self.lines), tuple(one.value for one in self.lines)
        low, high = tuple(one.low for one in self.lines), tuple(one.high for one in self.lines)
        return IntervalsView(self.accessibleName(), names, centres, low, high, axis="")

    def name_width(self) -> float:
        """Return the pixels of the names: what the longest needs, where it leaves room for the bands."""
        metrics = QFontMetrics(text_font(13))
        needed = max((metrics.horizontalAdvance(one.name) + 2 for one in self.lines), default=0)
        return min(float(needed), self.width() - LEAST_BAND - WRITTEN - MARGIN - 2 * GAP)

    def tip_at(self, place: QPointF) -> str | None:
        at = int(place.y() // ROW)
        one = self.lines[at] if 0 <= at < len(self.lines) else None
        return "" if one is None else _spoken(one)

    def paint(self, painter: QPainter) -> None:
        if not self.lines:
            return
        tokens, wide = theme.tokens(), float(self.width())
        named = self.name_width()
        begin, end = named + GAP, wide - WRITTEN - MARGIN - GAP
        low = min(0.0, *(one.low for one in self.lines))
        high = max(0.0, *(one.high for one in self.lines))
        scale = (end - begin - 2 * DOT) / ((high - low) or 1.0)

        def across(value: float) -> float:
            return begin + DOT + (value - low) * scale

        for place, one in enumerate(self.lines):
            top, middle = place * ROW, place * ROW + ROW / 2
            painter.setPen(tokens.colour("line"))
            painter.drawLine(QLineF(0, top + ROW - 0.5, wide, top + ROW - 0.5))
            painter.setPen(QPen(tokens.colour("edge"), 1.5))
            painter.drawLine(QLineF(across(0), middle - 10, across(0), middle + 10))
            band = QRectF(across(one.low), middle - BAND / 2, (one.high - one.low) * scale, BAND)
            care, fill = tokens.colour("care"), tokens.colour("accent")
            fill.setAlphaF(0.4)
            painter.setPen(QPen(care, 1) if one.is_silent else Qt.PenStyle.NoPen)
            painter.setBrush(tokens.colour("care_soft") if one.is_silent else fill)
            painter.drawRoundedRect(band, BAND / 2, BAND / 2)
            painter.setPen(QPen(care if one.is_silent else tokens.colour("accent"), 1.5))
            painter.setBrush(tokens.colour("surface" if one.is_silent else "accent"))
            painter.drawEllipse(QPointF(across(one.value), middle), DOT, DOT)
            painter.setFont(text_font(13))
            painter.setPen(tokens.colour("quiet" if one.is_silent else "text"))
            flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
            painter.drawText(QRectF(0, top, named, ROW), flags, cut(painter, one.name, named))
            painter.setFont(text_font(13, 400 if one.is_silent else 600, tabular=True))
            painter.drawText(QRectF(wide - WRITTEN - MARGIN, top, WRITTEN, ROW), LEFTWARDS, one.written)
            painter.setFont(text_font(12, tabular=True))
            painter.setPen(tokens.colour("quiet"))
            painter.drawText(QRectF(wide - MARGIN, top, MARGIN, ROW), LEFTWARDS, one.margin)


def _spoken(one: Line) -> str:
    """Return a line in words."""
    said = words.say("app.release.weak", value=one.written) if one.is_silent else one.written
    return words.pair(one.name, f"{said} {one.margin}")


def _head(number: int, name: str, said: str = "") -> QWidget:
    """Return the head of a part: its number, what it is, and whether it leaves or stays."""
    line = QWidget()
    row = make_row(inside=line, margins=0)
    row.addWidget(Heading(f"{number}\u2002{words.say(f'app.release.part.{name}')}", size="side"), 1)
    if said:
        row.addWidget(pill(words.say(f"app.release.pill.{said}")))
    return line


class LeftCard(Card):
    """Part 1: the numbers that left, weakest first; of rows, the first lines of their file."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("part-left")
        self.body.setSpacing(6)
        self.note = name_widget(Prose(tone="quiet", pixels=12), "left-note")
        self.bands = name_widget(Bands(), "bands")
        self.rows = make_column(spacing=8)
        self.rest = name_widget(Prose(pixels=12), "left-rest")
        add(self.body, _head(1, "leaves", "leaves"), self.note, self.bands, self.rows, self.rest, STRETCH)

    def show_lines(self, title: str, lines: Sequence[Line], effects: int | None = None) -> None:
        """Show the weakest numbers, and say how many there are besides.

        ``effects``: how many of a model cannot be told from nothing, those without a line among them, as the
        figures above say it; None where what left is no model's.
        """
        self.bands.setVisible(bool(lines))
        self.note.setVisible(bool(lines))
        self.rest.setVisible(bool(lines))
        if not lines:
            return
        self.note.say(words.say("app.release.weakest_first", title=title))
        self.bands.show_lines(lines[:SHOWN], f"{title}. {words.say('app.release.weakest')}")
        silent, more = effects or sum(one.is_silent for one in lines), len(lines) - SHOWN
        said = [words.say("app.release.open_points", count=silent)] if silent else []
        said += [words.say("app.release.more_lines", count=more)] if more > 0 else []
        self.rest.say(" ".join(said) or words.say("app.release.all_read"))


class GoodCard(Card):
    """Part 2: what was measured on real rows, and what to look at, worst first."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("part-good")
        self.note = name_widget(Prose(tone="quiet", pixels=12), "good-note")
        self.body.setSpacing(6)
        self._bars = make_column(spacing=5)
        self._points = make_column(spacing=4)
        add(self.body, _head(2, "good", "stays"), self.note, self._bars, self._points, STRETCH)

    def show_measured(self, lines: Sequence[Measured], points: Sequence[Point]) -> None:
        """Show what was measured, and at most as many things to look at as there is room for."""
        for column in (self._bars, self._points):
            empty(column)
        rows = next((one.values["rows"] for one in lines if one.values.get("rows")), 0)
        name = "measured_apart" if rows else "measured" if lines else "not_measured"
        self.note.say(words.say(f"app.release.{name}", rows=rows))
        for one in lines:
            self._bars.addWidget(_measure(one))
        for point in points[:MOST_POINTS]:
            self._points.addWidget(_point(point))
        if not points:
            self._points.addWidget(Prose(words.say("app.release.point.nothing"), pixels=12))
        elif len(points) > MOST_POINTS:
            more = words.say("app.release.more_points", count=len(points) - MOST_POINTS)
            self._points.addWidget(Prose(more, tone="quiet", pixels=12))


class PointsCard(Card):
    """All that is to be looked at, worst first, for whoever opens the further tables."""

    def __init__(self) -> None:
        super().__init__(words.say("app.release.look_at"), tone="")
        self.setObjectName("look-at")
        self._lines = make_column(spacing=8)
        self.body.addLayout(self._lines)

    def show_points(self, points: Sequence[Point]) -> None:
        """Show other points; hide where the first screen has them all."""
        self.setVisible(len(points) > MOST_POINTS)
        empty(self._lines)
        for point in points:
            self._lines.addWidget(_point(point))


def _point(point: Point) -> Prose:
    said = words.say(f"app.release.point.{point.name}", **point.values)
    return Prose(said, tone={WRONG: "wrong", CARE: "care"}.get(point.tone, "quiet"), pixels=12)


def _measure(one: Measured) -> QWidget:
    """Return a line for something that was measured, with its bar where it is a part of something."""
    found = QWidget()
    column = make_column(inside=found, spacing=3, margins=0)
    tone = "care" if one.tone == "care" else ""
    written = make_label(one.written, pixels=13, weight=600, tone=tone)
    add(column, make_row((Prose(words.say(f"app.release.measure.{one.name}")), 1), written, spacing=8))
    if one.share is not None:
        bar = ShareBar(6)
        bar.show_share(one.share, colours=("line", one.tone))
        column.addWidget(bar)
    return found


class StaysCard(Card):
    """Part 3: what must not be handed over, and what can still be done about what was."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("part-stays")
        self.body.setSpacing(4)
        self.lines = name_widget(Prose(), "stays-lines")
        self.gone = name_widget(Prose(tone="quiet", pixels=12), "gone")
        self.withdraw = make_button(words.say("app.release.withdraw"), "withdraw-made", look="link")
        add(self.body, _head(3, "never"), self.lines, self.gone, align_left(self.withdraw), STRETCH)

    def show_made(self, lines: Sequence[str], gone: str) -> None:
        """Say what stays, and that what is spent stays spent."""
        self.lines.say(" ".join(lines))
        self.gone.say(gone)
