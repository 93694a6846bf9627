"""What is painted by hand: the base of all pictures, points to choose from, and the horizontal bar.

A picture that stays as it is, or that a report has too, is drawn by the engine (`app.parts.views.figure`);
painted here is what a person points at and moves, or what has no axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from PySide6.QtCore import QEvent, QLineF, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app import words
from app.parts.roles import Role
from app.theme import text_font, theme
from engine.views import BarsView, View

LEFTWARDS = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter  # of a text that ends at a line
ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
PLAIN = Qt.KeyboardModifier.KeypadModifier  # Enter beside the digits
MOST_LETTERS = 28  # of a name in a picture that is shown large
STEPS = {Qt.Key.Key_Down: 1, Qt.Key.Key_Right: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_Left: -1}


class Painted(QWidget):
    """Painted by its class in `paint`: smooth, in small letters, with a frame while it has the focus.

    One that `OPENS` is shown large, as its `picture`, by a click or Enter; with ``STAYS`` its files say so.
    """

    SPOKEN_AS: ClassVar = Role.Graphic
    FRAME: ClassVar = (1.0, 0.5, 4.0)  # how thick, how far inside, how round
    OPENS: ClassVar = False
    STAYS: ClassVar = True

    def __init__(self, parent: QWidget | None = None, *, focus: bool = True) -> None:
        super().__init__(parent)
        if focus:
            self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        if self.OPENS:
            self.setCursor(Qt.CursorShape.PointingHandCursor)
            self.setToolTip(words.say("app.enlarged.open"))
        theme.changed.connect(self.update)

    def grow_across(self) -> None:
        """Take what room there is from left to right, and no more height than needed."""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def paint(self, painter: QPainter) -> None:
        """Paint everything but the frame."""

    def picture(self) -> View | None:
        """Return what is painted as a view with axes; None where there is nothing to look at."""
        return None

    def enlarge(self) -> Any:
        """Have the window open the picture large, and return what shows it; None where there is none."""
        view, opens = self.picture(), getattr(self.window(), "open_large", None)
        if view is None or opens is None:
            return None
        return opens(view, stays=self.STAYS, reading=self.reading())

    def reading(self) -> Any:
        """Return how points are read and taken, see `app.parts.point_panel`; None where there are none."""
        return None

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        is_click = event.button() == Qt.MouseButton.LeftButton
        if self.OPENS and is_click and self.rect().contains(event.position().toPoint()):
            self.enlarge()
        else:
            super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.OPENS and event.key() in ENTER and not event.modifiers() & ~PLAIN:
            self.enlarge()
        else:
            super().keyPressEvent(event)

    def tip_at(self, place: QPointF) -> str | None:
        """Return what is said of a place under the pointer; "" hides the tip, None takes the own one."""
        return None

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(text_font(11))
        self.paint(painter)
        if self.hasFocus():
            thick, inside, round_ = self.FRAME
            painter.setPen(QPen(theme.tokens().colour("accent"), thick))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            whole = QRectF(self.rect()).adjusted(inside, inside, -inside, -inside)
            painter.drawRoundedRect(whole, round_, round_)
        painter.end()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            said = self.tip_at(QPointF(event.pos()))
            if said:
                QToolTip.showText(event.globalPos(), words.tip(said), self)
            elif said is not None:
                QToolTip.hideText()
            if said is not None:
                return True
        return super().event(event)


def make_bars(
    title: str,
    labels: Sequence[str],
    sides: Sequence[Sequence[float]],
    names: Sequence[str] = (),
    axis: str = "",
) -> BarsView:
    """Return bars as a view; those of two sides follow each other, each with the name of its side.

    Examples
    --------
    >>> make_bars("Size", ["1", "2"], [[4, 5], [0, 9]], ["now", "then"]).labels
    ('1 · now', '1 · then', '2 · now', '2 · then')
    """
    short = [name if len(name) <= MOST_LETTERS else f"{name[:MOST_LETTERS]}…" for name in names]
    told = [f" · {name}" for name in short] or [""]
    named = tuple(f"{label}{end}" for label in labels for end in told)
    values = tuple(float(side[place]) for place in range(len(labels)) for side in sides)
    return BarsView(title, named, values, axis)


def cut(painter: QPainter, text: str, width: float) -> str:
    """Return as much of a text as a width has room for."""
    return painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, int(width))


class PointPicture(Painted):
    """Points in a field between axes; ``chosen`` tells the place of the one clicked, or reached by a key.

    A click chooses, so a double click opens it large.
    """

    OPENS: ClassVar = True
    FRAME: ClassVar = (1.5, 1.0, 8.0)
    MARGINS: ClassVar = (54, 30, 24, 44)  # left, top, right, bottom
    NEAR: ClassVar = 40.0  # pixels within which a click means a point
    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setToolTip(words.say("app.enlarged.open_points"))
        self.grow_across()
        self.place = 0

    def field(self) -> QRectF:
        """Return where the points lie."""
        left, top, right, bottom = self.MARGINS
        return QRectF(left, top, max(self.width() - left - right, 50), max(self.height() - top - bottom, 30))

    def at(self, where: QPointF) -> int | None:
        """Return the place of the point that a person means by a place of the picture."""
        raise NotImplementedError

    def in_order(self, key: Qt.Key) -> list[int]:
        """Return the places in the order in which an arrow key goes through them."""
        raise NotImplementedError

    def step_of(self, key: Qt.Key) -> int:
        """Return by how many places a key moves, 0 for one that does not."""
        return STEPS.get(key, 0)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = self.at(event.position())
        if place is not None:
            self.chosen.emit(place)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.enlarge()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        step = self.step_of(key)
        places = self.in_order(key) if step else []
        if not places:
            super().keyPressEvent(event)
            return
        at = places.index(self.place) if self.place in places else 0
        self.chosen.emit(places[max(0, min(at + step, len(places) - 1))])

    def draw_level(self, painter: QPainter, level: float, text: str) -> None:
        """Draw a line across the field with its number at the left."""
        tokens, field = theme.tokens(), self.field()
        painter.setPen(tokens.colour("line"))
        painter.drawLine(QPointF(field.left(), level), QPointF(field.right(), level))
        painter.setPen(tokens.colour("quiet"))
        painter.drawText(QRectF(0, level - 8, self.MARGINS[0] - 8, 16), LEFTWARDS, text)


class MarginLine(Painted):
    """A number and its margin on a line of numbers; words beside it say both."""

    HEIGHT: ClassVar = 62
    BAND: ClassVar = 20.0  # pixels from the upper to the lower edge of the margin
    LEAST: ClassVar = 240

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, focus=False)
        self.grow_across()
        self.value, self.low, self.high, self.written = 0.0, 0.0, 0.0, ""

    def show_number(self, value: float, low: float, high: float, written: str) -> None:
        """Show another number."""
        self.value, self.low, self.high, self.written = value, low, high, written
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(2 * self.LEAST, self.HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(self.LEAST, self.HEIGHT)

    def ends(self) -> tuple[float, float, float]:
        """Return where the line begins and ends, and how far apart its marks are: 1, 2 or 5 of a power."""
        low, high = min(self.low, 0.0), max(self.high, 0.0)
        wide = (high - low) * 1.1 or 1.0
        power = 10.0 ** math.floor(math.log10(wide / 4))
        step = next(one * power for one in (1, 2, 5, 10) if wide / (one * power) <= 6)
        first, last = math.floor(low / step) * step, math.ceil(high / step) * step
        return first, last if last > first else first + step, step

    def place(self, number: float) -> float:
        """Return how far from the left a number lies."""
        first, last, _ = self.ends()
        return 16 + (self.width() - 32) * (number - first) / (last - first)

    def paint(self, painter: QPainter) -> None:
        tokens, middle = theme.tokens(), 36.0
        first, last, step = self.ends()
        painter.setPen(Qt.PenStyle.NoPen)
        band = tokens.colour("accent")
        band.setAlphaF(0.35)
        painter.setBrush(band)
        left, right = self.place(self.low), self.place(self.high)
        painter.drawRoundedRect(QRectF(left, middle - self.BAND / 2, right - left, self.BAND), 8, 8)
        painter.setPen(QPen(tokens.colour("edge"), 1))
        painter.drawLine(QPointF(self.place(first), middle), QPointF(self.place(last), middle))
        digits = max(0, -math.floor(math.log10(step)))
        centred = Qt.AlignmentFlag.AlignCenter
        for mark in range(round((last - first) / step) + 1):
            at = first + mark * step
            painter.setPen(QPen(tokens.colour("edge"), 1))
            painter.drawLine(QPointF(self.place(at), middle - 4), QPointF(self.place(at), middle + 4))
            painter.setPen(tokens.colour("quiet"))
            said = words.signed(f"{at + 0.0:,.{digits}f}".replace("-", "−"))
            painter.drawText(QRectF(self.place(at) - 40, middle + 10, 80, 15), centred, said)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(tokens.colour("accent"))
        painter.drawEllipse(QPointF(self.place(self.value), middle), 6, 6)
        painter.setPen(tokens.colour("accent"))
        painter.setFont(text_font(12, 600))
        at = min(max(self.place(self.value), 40), self.width() - 40)
        painter.drawText(QRectF(at - 40, 2, 80, 18), centred, self.written)


class ShareBar(Painted):
    """A part of a whole as a bar; words beside it say it too.

    Parameters
    ----------
    thick
        Pixels from the upper to the lower edge of the bar.
    height
        Pixels that the widget takes; a limit is a tick as high as that.
    least
        Pixels that a part larger than nothing has at least.
    """

    def __init__(self, thick: int = 6, height: int | None = None, *, least: float = 0.0) -> None:
        super().__init__(focus=False)
        self.share, self.limit = 0.0, -1.0
        self.colours = ("line", "accent")
        self.round, self._thick, self._least = 3.0, thick, least
        self.setFixedHeight(thick if height is None else height)
        self.grow_across()

    def sizeHint(self) -> QSize:
        return QSize(160, self.height())

    def show_share(
        self, share: float, limit: float = -1.0, *, colours: tuple[str, str] = ("line", "accent")
    ) -> None:
        """Show another share from 0 to 1, the place of a limit, and the colours of the rest and the part."""
        self.share, self.limit, self.colours = min(max(share, 0.0), 1.0), limit, colours
        self.update()

    def paint(self, painter: QPainter) -> None:
        tokens, width, top = theme.tokens(), float(self.width()), (self.height() - self._thick) / 2
        long = max(width * self.share, self._least if self.share > 0 else 0.0)
        painter.setPen(Qt.PenStyle.NoPen)
        for across, name in zip((width, long), self.colours, strict=True):
            colour = tokens.colour(name.removesuffix("_pale"))
            if name.endswith("_pale"):
                colour.setAlphaF(0.35)
            painter.setBrush(colour)
            painter.drawRoundedRect(QRectF(0, top, across, self._thick), self.round, self.round)
        if 0 <= self.limit <= 1:
            painter.setPen(QPen(tokens.colour("text"), 2))
            place = min(max(1.0, width * self.limit), width - 1)
            painter.drawLine(QLineF(place, 0, place, self.height()))


# --- A budget as a bar of segments ----------------------------------------------------------------------

USED, NEXT, LEFT = "used", "next", "left"
HEIGHT, LABELS, GAP = 10, 20, 2


@dataclass(frozen=True)
class Segment:
    """One part: its share of the whole, from 0 to 1, what is written below, and what it is."""

    share: float
    label: str
    kind: str = USED


class SegmentBar(Painted):
    """The parts beside one another; told apart by fill and by the words below."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("segments")
        self.segments: tuple[Segment, ...] = ()
        self.grow_across()

    def sizeHint(self) -> QSize:
        return QSize(300, HEIGHT + LABELS + 4)

    def show_segments(self, segments: Sequence[Segment], spoken: str) -> None:
        """Show other parts; ``spoken`` says all of them."""
        self.segments = tuple(segments)
        self.setAccessibleName(spoken)
        self.update()

    def paint(self, painter: QPainter) -> None:
        tokens = theme.tokens()
        left, room = 0.0, self.width() - GAP * max(len(self.segments) - 1, 0)
        for segment in self.segments:
            width = room * segment.share
            place = QRectF(left, 1, max(width, 1.0), HEIGHT)
            if segment.kind == NEXT:  # pale with an edge: not spent yet
                painter.setPen(tokens.colour("accent"))
                painter.setBrush(tokens.colour("accent_soft"))
            else:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(tokens.colour("accent" if segment.kind == USED else "line"))
            painter.drawRoundedRect(place, 4, 4)
            painter.setPen(tokens.colour("accent" if segment.kind == NEXT else "quiet"))
            below = QRectF(left, HEIGHT + 3, width, LABELS)
            if painter.fontMetrics().horizontalAdvance(segment.label) <= width:
                painter.drawText(below, Qt.AlignmentFlag.AlignCenter, segment.label)
            left += width + GAP
