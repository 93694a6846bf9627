"""Small pictures of what a recipient holds: this table's columns, and values that are invented.

Only what was declared is shown, never what stands in a row; where nothing was declared yet, letters and round
numbers stand in.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen, QPolygonF

from app import words
from app.parts.plot import LEFTWARDS, Painted, cut
from app.theme import text_font, theme
from engine.methods.fitting import NUMBERS, usable_columns
from engine.methods.kinds import Held
from engine.table.schema import Column, Kind, Role, Schema

HIGH, AIR = 84, 9
ROWS, ACROSS = 4, 3
LETTERS = ("A", "B", "C")  # for what was not declared yet
YEARS = (1935, 1960)
LEVEL, NUMBER, DAY = "level", "number", "day"
READABLE = 9  # letters that have room in a column of three
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
MIDDLE = Qt.AlignmentFlag.AlignCenter
COUNTS = ((112, 97), (158, 141), (203, 126), (41, 12))
MEANS = (0.62, 0.5, 0.74)
PSEUDONYMS = ("K7F3", "M2QX", "R9DA", "T4BN")


@dataclass(frozen=True)
class Shown:
    """A column in a picture: its name, invented values, and the same made coarser."""

    name: str
    values: tuple[str, ...]
    coarse: tuple[str, ...]
    kind: str = LEVEL

    @property
    def letters(self) -> int:
        """How long its name and its first values are."""
        return max(len(one) for one in (self.name, *self.values[:3]))

    def at(self, row: int) -> str:
        """Return the invented value of a row."""
        return self.values[row % len(self.values)]


def shown_columns(schema: Schema) -> tuple[Shown, ...]:
    """Return the columns that pictures show, those that tell most of a person first."""
    order = (Role.IDENTIFYING, Role.TIME, Role.PLACE, Role.OTHER, Role.SENSITIVE)
    found = sorted(
        usable_columns(schema), key=lambda one: order.index(one.role) if one.role in order else len(order)
    )
    declared = {one.name for one in schema.columns if one.is_declared}
    return tuple(_show(column, declared=column.name in declared) for column in found)


def _show(column: Column, *, declared: bool) -> Shown:
    domain = column.domain
    if column.kind in (Kind.DATE, Kind.MOMENT):
        ends = [int(str(end)[:4]) for end in (domain.minimum, domain.maximum) if end] if domain else []
        first, last = (ends[0], ends[-1]) if declared and ends else YEARS
        seen = [first + (last - first) * step // 4 for step in (1, 3, 0, 2)]
        years = tuple(map(str, seen))
        decades = tuple(f"{year // 10}*" for year in seen)  # read in every language, and short
        return Shown(column.name, years, decades, kind=DAY)
    if column.kind in NUMBERS and domain is not None and domain.maximum is not None:
        low, high = float(Fraction(domain.minimum or 0)), float(Fraction(domain.maximum))
        wide = _round_step((high - low) / 6)
        numbers = [low + (high - low) * share for share in (0.42, 0.71, 0.18, 0.55)]
        bands = [math.floor(one / wide) * wide for one in numbers]
        whole = column.kind is Kind.INTEGER
        return Shown(
            column.name,
            tuple(words.signed(f"{one:.0f}" if whole else f"{one:.3g}") for one in numbers),
            tuple(f"{one:g}–{one + wide - 1:g}" if whole and wide > 1 else f"{one:g}+" for one in bands),
            kind=NUMBER,
        )
    listed = domain.values if declared and domain is not None and domain.values else LETTERS
    values = tuple(column.labels.get(value, value) for value in listed)
    either = words.say("app.method.things.coarser.any")
    coarse = (_together(values[0], values[1]), either) if len(values) > 2 else values
    return Shown(column.name, values, coarse)


def _together(one: str, other: str) -> str:
    """Return two neighbouring values in one: the ends of two bands, else one or the other.

    Examples
    --------
    >>> _together("[0-10)", "[10-20)")
    '0–20'
    """
    ends, further = re.findall(r"\d+", one), re.findall(r"\d+", other)
    if len(ends) == len(further) == 2:
        return f"{ends[0]}–{further[1]}"
    both = words.say("app.method.things.coarser.either", one=one, other=other)
    return both if len(both) <= READABLE + 3 else words.say("app.method.things.coarser.any")


def _round_step(width: float) -> float:
    """Return a width of bands that people write: 1, 2, 5, 10, 20 …"""
    if width <= 0:
        return 1.0
    ten = 10.0 ** math.floor(math.log10(width))
    return next(ten * step for step in (1, 2, 5, 10) if ten * step >= width)


class ThingPicture(Painted):
    """What one thing looks like; ``show_columns`` gives it others, ``show_dimmed`` steps back."""

    def __init__(self, held: Held) -> None:
        super().__init__(focus=False)
        self.held = held
        self.columns: tuple[Shown, ...] = ()
        self._dimmed = False
        self.setFixedHeight(HIGH)
        self.grow_across()

    def show_columns(self, columns: tuple[Shown, ...]) -> None:
        """Show other columns."""
        if columns != self.columns:
            self.columns = columns
            names = ", ".join(one.name for one in self._levels()[:2] + self._numbers()[:1])
            self.setAccessibleName(words.say("app.method.things.pictured", columns=names))
            self.update()

    def show_dimmed(self, on: bool) -> None:
        """Step back where it does not fit."""
        if on != self._dimmed:
            self._dimmed = on
            self.update()

    def _levels(self) -> list[Shown]:
        """Return columns with few values, those that can be read in little room first."""
        found = [one for one in self.columns if one.kind == LEVEL] or [Shown("A", LETTERS, LETTERS)]
        return sorted(found, key=lambda one: one.letters > READABLE)  # stable

    def _numbers(self) -> list[Shown]:
        return [one for one in self.columns if one.kind == NUMBER]

    def paint(self, painter: QPainter) -> None:
        tokens = theme.tokens()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(tokens.colour("background"))
        painter.drawRoundedRect(QRectF(self.rect()), 8, 8)
        painter.setOpacity(0.4 if self._dimmed else 1.0)
        drawn: dict[Held, Callable[[QPainter, QRectF], None]] = {
            Held.COUNTS: self._counts,
            Held.AVERAGES: self._averages,
            Held.COARSER: self._coarser,
            Held.INVENTED: self._invented,
            Held.REAL: self._real,
            Held.MODEL: self._model,
            Held.ANSWERS: self._answers,
            Held.SURVEY: self._survey,
        }
        drawn[self.held](painter, QRectF(self.rect()).adjusted(AIR, AIR - 3, -AIR, -AIR + 3))

    # --- kinds of picture --------------------------------------------------------------------------

    def _counts(self, painter: QPainter, room: QRectF) -> None:
        levels = self._levels()
        down = next((one for one in levels if len(one.values) > 2), levels[0])
        across = next((one for one in levels if one is not down and len(one.values) <= 3), None)
        heads = across.values[:2] if across else (words.say("app.method.things.counts.picture"),)
        lines = [
            (down.values[row], *(str(COUNTS[row][at]) for at in range(len(heads))))
            for row in range(min(ROWS, len(down.values)))
        ]
        _table(painter, room, (down.name, *heads), lines, numbers=True)

    def _averages(self, painter: QPainter, room: QRectF) -> None:
        tokens, levels = theme.tokens(), self._levels()
        by = next((one for one in levels if len(one.values) > 2), levels[0])
        numbers = self._numbers()
        name = numbers[0].name if numbers else words.say("app.method.things.counts.picture")
        _say(
            painter,
            QRectF(room.left(), room.top(), room.width(), 16),
            words.say("app.method.things.averages.picture", number=name),
            tone="quiet",
            weight=600,
        )
        unit = float(numbers[0].values[1]) if numbers else 26.0
        before = max(58.0, room.width() * 0.26)
        place, long = room.left() + before, room.width() - before - 34
        values = by.values[:3]
        for row, value in enumerate(values):
            top = room.top() + 17 + row * 20
            line = QRectF(room.left(), top, room.width(), 20)
            _say(painter, QRectF(line.left(), top, before - 6, 20), value)
            end = place + long * MEANS[row]
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(tokens.colour("accent"))
            painter.drawRoundedRect(QRectF(place, top + 5, end - place, 10), 2, 2)
            painter.setPen(QPen(tokens.colour("text"), 1.2))
            about = 7 + 5 * row
            painter.drawLine(QPointF(end - about, top + 10), QPointF(end + about, top + 10))
            for at in (end - about, end + about):
                painter.drawLine(QPointF(at, top + 7), QPointF(at, top + 13))
            mean = words.signed(f"{unit * MEANS[row]:.1f}" if unit < 1000 else f"{unit * MEANS[row]:,.0f}")
            _say(painter, line, mean, weight=600, align=LEFTWARDS)

    def _coarser(self, painter: QPainter, room: QRectF) -> None:
        shown = self._rows()
        lines = [tuple(one.coarse[(row // 2) % len(one.coarse)] for one in shown) for row in range(ROWS)]
        _table(painter, room, [one.name for one in shown], lines)

    def _invented(self, painter: QPainter, room: QRectF) -> None:
        shown, tokens = self._rows(), theme.tokens()
        wide = room.width() / len(shown)
        _heads(
            painter,
            room,
            [one.name for one in shown],
            [room.left() + wide * at for at in range(len(shown))],
            wide,
        )
        for row in range(3):
            line = QRectF(room.left() - 3, room.top() + 17 + row * 20, room.width() + 6, 17)
            pen = QPen(tokens.colour("quiet"), 1)
            pen.setDashPattern([3, 3])
            painter.setPen(pen)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(line, 5, 5)
            for at, one in enumerate(shown):
                cell = QRectF(room.left() + wide * at + 2, line.top(), wide - 6, line.height())
                _say(painter, cell, one.at(row + at))

    def _real(self, painter: QPainter, room: QRectF) -> None:
        shown = self._rows()[: ACROSS - 1]
        heads = (words.say("app.method.things.real.picture"), *(one.name for one in shown))
        lines = [(PSEUDONYMS[row], *(one.at(row) for one in shown)) for row in range(ROWS)]
        _table(painter, room, heads, lines, strong=0)

    def _model(self, painter: QPainter, room: QRectF) -> None:
        tokens, numbers, levels = theme.tokens(), self._numbers(), self._levels()
        number = numbers[-1] if numbers else levels[0]
        target = next((one for one in (*reversed(levels), *numbers) if one is not number), number)
        said = words.say("app.method.things.model.picture", target=target.name, number=number.name)
        _say(painter, QRectF(room.left(), room.top(), room.width(), 16), said, tone="quiet", weight=600)
        box = QRectF(room.left() + 8, room.top() + 22, room.width() - 16, room.height() - 26)
        shares = [step / 24 for step in range(25)]
        middle = [
            QPointF(box.left() + box.width() * x, box.bottom() - box.height() * (0.1 + 0.75 * x**1.8))
            for x in shares
        ]
        about = [4 + 7 * abs(x - 0.4) for x in shares]
        band = [point - QPointF(0, wide) for point, wide in zip(middle, about, strict=True)]
        band += [point + QPointF(0, wide) for point, wide in reversed(list(zip(middle, about, strict=True)))]
        painter.setPen(Qt.PenStyle.NoPen)
        soft = tokens.colour("accent")
        soft.setAlphaF(0.25)
        painter.setBrush(soft)
        painter.drawPolygon(QPolygonF(band))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(tokens.colour("accent"), 2))
        painter.drawPolyline(QPolygonF(middle))
        painter.setPen(QPen(tokens.colour("quiet"), 1))
        painter.drawPolyline(QPolygonF([box.topLeft(), box.bottomLeft(), box.bottomRight()]))

    def _answers(self, painter: QPainter, room: QRectF) -> None:
        tokens, levels = theme.tokens(), self._levels()
        asked = [
            words.say("app.method.things.answers.asked", name=one.name, value=one.at(row))
            for row, one in zip(range(3), levels * 3, strict=False)
        ]
        found = ("61 ± 30", "188 ± 30", words.say("app.method.things.answers.open"))
        for row, (question, answer) in enumerate(zip(asked, found, strict=True)):
            line = QRectF(room.left(), room.top() + row * 25, room.width(), 22)
            painter.setPen(QPen(tokens.colour("line"), 1))
            painter.setBrush(tokens.colour("surface"))
            painter.drawRoundedRect(line, 6, 6)
            inside = line.adjusted(8, 0, -8, 0)
            _say(painter, inside, answer, tone="accent", weight=600, align=LEFTWARDS)
            _say(painter, inside.adjusted(0, 0, -58, 0), question)

    def _survey(self, painter: QPainter, room: QRectF) -> None:
        tokens = theme.tokens()
        phone = QRectF(room.left() + 2, room.top() - 2, 66, room.height() + 4)
        die = QRectF((phone.right() + room.right()) / 2 - 6, room.top() + 10, 34, 34)
        painter.setBrush(tokens.colour("surface"))
        painter.setPen(QPen(tokens.colour("edge"), 1.2))
        painter.drawRoundedRect(phone, 8, 8)
        painter.setFont(text_font(10, 600))
        painter.setPen(tokens.colour("text"))
        asked = words.say("app.method.things.survey.picture")
        painter.drawText(phone.adjusted(4, 4, -4, -42), int(MIDDLE | Qt.TextFlag.TextWordWrap), asked)
        for row, name in enumerate(("yes", "no")):
            button = QRectF(phone.left() + 9, phone.bottom() - 41 + row * 19, phone.width() - 18, 16)
            painter.setPen(QPen(tokens.colour("accent" if row == 0 else "edge"), 1))
            painter.setBrush(tokens.colour("accent") if row == 0 else Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(button, 5, 5)
            said, tone = words.say(f"app.method.things.survey.{name}"), "on_accent" if row == 0 else "text"
            _say(painter, button, said, tone=tone, weight=600, align=MIDDLE, pixels=10)
        painter.setPen(QPen(tokens.colour("quiet"), 1.4))
        middle, start, end = die.center().y(), phone.right() + 8, die.left() - 8
        painter.drawLine(QPointF(start, middle), QPointF(end, middle))
        painter.drawPolyline(
            QPolygonF([QPointF(end - 5, middle - 4), QPointF(end, middle), QPointF(end - 5, middle + 4)])
        )
        painter.setPen(QPen(tokens.colour("edge"), 1.4))
        painter.setBrush(tokens.colour("surface"))
        painter.drawRoundedRect(die, 7, 7)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(tokens.colour("text"))
        for across, down in ((-1, -1), (1, -1), (0, 0), (-1, 1), (1, 1)):
            painter.drawEllipse(die.center() + QPointF(9 * across, 9 * down), 2.6, 2.6)
        below = QRectF(phone.right() + 4, die.bottom() + 6, room.right() - phone.right() - 4, 18)
        _say(painter, below, words.say("app.method.things.survey.die"), tone="quiet", align=MIDDLE, pixels=10)

    def _rows(self) -> list[Shown]:
        """Return the columns of a picture of rows: first those that can be read in little room."""
        short = sorted(self.columns[:8], key=lambda one: one.letters > READABLE)  # stable
        return short[:ACROSS] or self._levels()


# --- parts of a picture ---------------------------------------------------------------------------------


def _say(
    painter: QPainter,
    room: QRectF,
    text: str,
    *,
    tone: str = "text",
    weight: int = 400,
    align: Qt.AlignmentFlag = LEFT,
    pixels: int = 11,
) -> None:
    painter.setFont(QFont(text_font(pixels, weight)))
    painter.setPen(QColor(theme.tokens().colour(tone)))
    painter.drawText(room, align, cut(painter, text, room.width()))


def _heads(
    painter: QPainter, room: QRectF, heads: Sequence[str], places: Sequence[float], wide: float
) -> None:
    for place, head in zip(places, heads, strict=True):
        _say(painter, QRectF(place, room.top(), wide - 6, 16), head, tone="quiet", weight=600)


def _table(
    painter: QPainter,
    room: QRectF,
    heads: Sequence[str],
    lines: Sequence[Sequence[str]],
    *,
    numbers: bool = False,
    strong: int = -1,
) -> None:
    """Draw a small table; ``numbers`` sets all columns but the first as figures, ``strong`` one as a name."""
    count = len(heads)
    first = room.width() * 0.4 if numbers else room.width() / count
    rest = (room.width() - first) / max(count - 1, 1)
    places = [(0.0, first), *((first + rest * at, rest) for at in range(count - 1))]
    high = (room.height() - 18) / ROWS
    for at, (left, wide) in enumerate(places):
        right = numbers and at > 0
        align = LEFTWARDS if right else LEFT
        room_of = (room.left() + left, wide if right else wide - 6)
        _say(
            painter,
            QRectF(room_of[0], room.top(), room_of[1], 16),
            heads[at],
            tone="quiet",
            weight=600,
            align=align,
        )
        for row, line in enumerate(lines):
            top = room.top() + 18 + row * high
            weight = 600 if right or at == strong else 400
            tone = "accent" if at == strong else "text"
            _say(
                painter,
                QRectF(room_of[0], top, room_of[1], high),
                line[at],
                weight=weight,
                align=align,
                tone=tone,
            )
    painter.setPen(QPen(theme.tokens().colour("line"), 1))
    for row in range(len(lines)):
        y = room.top() + 17.5 + row * high
        painter.drawLine(QPointF(room.left(), y), QPointF(room.right(), y))
