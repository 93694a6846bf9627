"""Original beside synthetic for any column or pair, as a picture and as a table: for the custodian alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import QComboBox, QWidget

from app import words
from app.parts.cards import Card
from app.parts.making import (
    add,
    align_left,
    hidden,
    make_button,
    make_choice,
    make_column,
    make_row,
    name_widget,
    turn,
)
from app.parts.plot import LEFTWARDS, Painted, cut, make_bars
from app.parts.prose import Heading, Prose
from app.parts.table import DataTable
from app.theme import text_font, theme
from engine.views import HeatmapView, View

# --- The original and a synthetic table drawn together --------------------------------------------------

LEGEND, LINE, PLOT = 26, 30, 200  # pixels: the line above, a name with its two bars, bars that stand
BELOW, LEAST_LABEL = 40, 46
CELL, WRITTEN = 24, 40  # a line of a grid; the width from which a cell has its number in it
UNDER_EACH_OTHER = 620  # pixels of width below which the two grids do not stand side by side
SIDES = ("original", "synthetic")


def percent(share: float) -> str:
    r"""Write a share of rows; what is there is never written as none.

    >>> percent(0.1234), percent(0.0002), percent(0.0)
    ('12.3\xa0%', '<0.1\xa0%', '0\xa0%')
    """
    if 0 < share < 0.0005:
        return words.signed("<0.1\u00a0%")
    return words.signed(f"{100 * share:.1f}\u00a0%") if share else "0\u00a0%"


class SpreadPicture(Painted):
    """Shares of rows. The original is drawn hollow, the synthetic table filled: not told by colour alone."""

    OPENS = True

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.grow_across()
        self.setMouseTracking(True)
        self.labels: tuple[tuple[str, ...], ...] = ()
        self.shares: tuple[Any, Any] | None = None
        self.is_amount = False
        self._hits: list[tuple[QRectF, str]] = []

    def sizeHint(self) -> QSize:
        return QSize(400, self._tall())

    def show_shares(
        self, labels: tuple[tuple[str, ...], ...], shares: tuple[Any, Any], *, is_amount: bool
    ) -> None:
        """Show other shares.

        Parameters
        ----------
        labels
            Of the classes: one tuple for a column, two for a pair (down and across).
        shares
            Of the original and of the synthetic table, in the shape of the labels.
        is_amount
            Whether a column's classes are intervals in their order.
        """
        self.labels, self.shares, self.is_amount = labels, shares, is_amount
        self.setFixedHeight(self._tall())
        self.update()

    def picture(self) -> View | None:
        if self.shares is None or not self.labels:
            return None
        title, sides = self.accessibleName(), [words.say(f"app.release.spread.{name}") for name in SIDES]
        in_hundred = [100 * side for side in self.shares]
        if len(self.labels) == 1:
            return make_bars(title, self.labels[0], in_hundred, sides, "%")
        down, across = self.labels
        columns = tuple(f"{label} · {side}" for label in across for side in sides)
        rows = [
            tuple(float(side[line, place]) for place in range(len(across)) for side in in_hundred)
            for line in range(len(down))
        ]
        return HeatmapView(title, down, columns, tuple(rows))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.setFixedHeight(self._tall())

    def _tall(self) -> int:
        if not self.labels:
            return 40
        if len(self.labels) == 2:
            one = self._grid_tall()
            return LEGEND + (one if self.width() >= UNDER_EACH_OTHER else 2 * one)
        return LEGEND + (PLOT + BELOW if self.is_amount else LINE * len(self.labels[0]) + 4)

    def _grid_tall(self) -> int:
        return LEGEND + self._across_labels() + CELL * len(self.labels[0]) + 10

    def _across_labels(self) -> int:
        """How much room the names of a pair's columns take above a grid, written upwards."""
        return min(96, max(LEAST_LABEL, *(7 * len(label) + 8 for label in self.labels[1])))

    # --- drawing -----------------------------------------------------------------------------------

    def paint(self, painter: QPainter) -> None:
        self._hits = []
        if self.shares is not None and len(self.labels) == 2:
            self._draw_grids(painter)
        elif self.shares is not None:
            self._draw_legend(painter)
            (self._draw_standing if self.is_amount else self._draw_lying)(painter)

    def _brush(self, painter: QPainter, side: int) -> None:
        tokens = theme.tokens()
        painter.setPen(QPen(tokens.colour("quiet"), 1.2) if side == 0 else Qt.PenStyle.NoPen)
        painter.setBrush(Qt.BrushStyle.NoBrush if side == 0 else tokens.colour("accent"))

    def _draw_legend(self, painter: QPainter) -> None:
        left = 2.0
        for side, name in enumerate(SIDES):
            self._brush(painter, side)
            painter.drawRoundedRect(QRectF(left + 1, 5, 11, 11), 2, 2)
            said = words.say(f"app.release.spread.{name}")
            painter.setPen(theme.tokens().colour("text"))
            wide = painter.fontMetrics().horizontalAdvance(said)
            painter.drawText(QRectF(left + 19, 1, wide + 4, 18), Qt.AlignmentFlag.AlignVCenter, said)
            left += wide + 44

    def _draw_lying(self, painter: QPainter) -> None:
        """Draw a name a line: its two bars and their numbers behind them."""
        assert self.shares is not None
        metrics, tokens = painter.fontMetrics(), theme.tokens()
        wide = max((metrics.horizontalAdvance(label) for label in self.labels[0]), default=0)
        start = min(float(wide) + 12, 0.34 * self.width())
        room = self.width() - start - 56
        top = self._highest()
        for place, label in enumerate(self.labels[0]):
            above = LEGEND + LINE * place
            painter.setPen(tokens.colour("text"))
            name = cut(painter, label, int(start) - 8)
            painter.drawText(QRectF(0, above, start - 8, LINE - 4), LEFTWARDS, name)
            for side, shares in enumerate(self.shares):
                long, at = room * float(shares[place]) / top, above + 1 + 13 * side
                self._brush(painter, side)
                painter.drawRoundedRect(QRectF(start, at, max(long, 1.5), 10), 2, 2)
                painter.setPen(tokens.colour("quiet"))
                number = QRectF(start + max(long, 1.5) + 6, at - 3, 56, 16)
                painter.drawText(number, Qt.AlignmentFlag.AlignVCenter, percent(float(shares[place])))
            self._hits.append((QRectF(0, above, self.width(), LINE), self._said(label, (place,))))

    def _draw_standing(self, painter: QPainter) -> None:
        """Draw an interval a slot: its two bars, and where it begins below them."""
        assert self.shares is not None
        tokens, count = theme.tokens(), len(self.labels[0])
        top = self._highest()
        slot, floor = self.width() / max(count, 1), float(LEGEND + PLOT)
        every = max(1, -(-max(self._widest(painter), 1) // max(int(slot), 1)))
        for place, label in enumerate(self.labels[0]):
            left, bar = place * slot, max(slot / 2 - 3, 1.5)
            for side, shares in enumerate(self.shares):
                tall = (PLOT - 18) * float(shares[place]) / top
                self._brush(painter, side)
                painter.drawRect(QRectF(left + 2 + side * (bar + 1), floor - max(tall, 1), bar, max(tall, 1)))
            if place % every == 0:
                painter.setPen(tokens.colour("quiet"))
                shown = QRectF(left, floor + 4, slot * every, 16)
                name = cut(painter, label, int(shown.width()) - 2)
                painter.drawText(shown, Qt.AlignmentFlag.AlignLeft, name)
            hit = QRectF(left, LEGEND, slot, PLOT + BELOW)
            self._hits.append((hit, self._said(label, (place,))))
        painter.setPen(tokens.colour("line"))
        painter.drawLine(QLineF(0, floor, self.width(), floor))
        self._write_highest(painter, floor + 22, "highest")

    def _highest(self) -> float:
        """Return the largest share of both tables: what bars and shades are measured by."""
        assert self.shares is not None
        return max(float(side.max(initial=0.0)) for side in self.shares) or 1.0

    def _write_highest(self, painter: QPainter, at: float, name: str) -> None:
        painter.setPen(theme.tokens().colour("quiet"))
        said = words.say(f"app.release.spread.{name}", share=percent(self._highest()))
        painter.drawText(QRectF(0, at, self.width(), 16), Qt.AlignmentFlag.AlignLeft, said)

    def _widest(self, painter: QPainter) -> int:
        metrics = painter.fontMetrics()
        return max(metrics.horizontalAdvance(label) for label in self.labels[0]) + 8

    def _draw_grids(self, painter: QPainter) -> None:
        assert self.shares is not None
        beside = self.width() >= UNDER_EACH_OTHER
        wide = (self.width() - 24) / 2 if beside else float(self.width())
        for side, name in enumerate(SIDES):
            corner = QPointF(side * (wide + 24), 0) if beside else QPointF(0, side * self._grid_tall())
            painter.setPen(theme.tokens().colour("text"))
            painter.setFont(text_font(11, 600))
            said = QRectF(corner.x(), corner.y(), wide, 18)
            painter.drawText(said, Qt.AlignmentFlag.AlignVCenter, words.say(f"app.release.spread.{name}"))
            painter.setFont(text_font(11))
            self._draw_grid(painter, self.shares[side], corner + QPointF(0, LEGEND), wide)
        self._write_highest(painter, self.height() - 18.0, "strongest")

    def _draw_grid(self, painter: QPainter, shares: Any, corner: QPointF, wide: float) -> None:
        """Draw one grid, the darker the more rows; the shade has the same meaning in both."""
        assert self.shares is not None
        tokens, metrics = theme.tokens(), painter.fontMetrics()
        down, across = self.labels
        longest = max(metrics.horizontalAdvance(label) for label in down) + 10
        start, above = min(float(longest), 0.32 * wide), float(self._across_labels())
        cell = (wide - start) / max(len(across), 1)
        top = self._highest()
        painter.setPen(tokens.colour("quiet"))
        for place, label in enumerate(across):
            painter.save()
            painter.translate(corner.x() + start + (place + 0.5) * cell, corner.y() + above - 5)
            painter.rotate(-90)
            name = cut(painter, label, int(above) - 8)
            painter.drawText(QRectF(0, -8, above, 16), Qt.AlignmentFlag.AlignVCenter, name)
            painter.restore()
        for line, label in enumerate(down):
            at = corner.y() + above + CELL * line
            painter.setPen(tokens.colour("quiet"))
            name = cut(painter, label, int(start) - 8)
            painter.drawText(QRectF(corner.x(), at, start - 6, CELL), LEFTWARDS, name)
            for place, other in enumerate(across):
                where = QRectF(corner.x() + start + place * cell, at, cell, CELL)
                self._draw_cell(
                    painter, where.adjusted(0.5, 0.5, -0.5, -0.5), float(shares[line, place]), top
                )
                self._hits.append((where, self._said(f"{label}, {other}", (line, place))))

    def _draw_cell(self, painter: QPainter, where: QRectF, share: float, top: float) -> None:
        tokens = theme.tokens()
        strength = (share / top) ** 0.5  # half as dark for a quarter of the rows: small shares are seen too
        fill = tokens.colour("accent")
        fill.setAlphaF(strength)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(tokens.colour("background"))
        painter.drawRect(where)
        painter.setBrush(fill)
        painter.drawRect(where)
        if where.width() >= WRITTEN and share > 0:
            painter.setPen(tokens.colour("on_accent" if strength > 0.8 else "text"))
            painter.drawText(where, Qt.AlignmentFlag.AlignCenter, percent(share))

    # --- saying ------------------------------------------------------------------------------------

    def _said(self, label: str, place: tuple[int, ...]) -> str:
        assert self.shares is not None
        original, synthetic = (percent(float(side[place])) for side in self.shares)
        return words.say("app.release.spread.said", label=label, original=original, synthetic=synthetic)

    def tip_at(self, place: QPointF) -> str | None:
        return next((said for where, said in self._hits if where.contains(place)), None)


SIDE_BY_SIDE, HIGHEST, ROW = 420, 420, 34
NAMES = ("column", "second")


class SpreadBeside(Card):
    """Opens on the column that is kept worst; a second column makes it a pair."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(words.say("app.release.spread.heading"), parent=parent)
        self.setObjectName("spread-beside")
        self._found: Any = None
        self.note = name_widget(Prose(tone="quiet", pixels=12), "spread-note")
        self.body.addWidget(self.note)
        self._choices = make_row(spacing=14)
        self.fields = {name: self._field(name) for name in NAMES}
        self.told = name_widget(Prose(), "spread-told")
        self.picture = name_widget(SpreadPicture(), "spread-picture")
        self.as_table = make_button(
            words.say("app.release.spread.as_table"), "spread-as-table", look="link", checkable=True
        )
        self.as_table.toggled.connect(self._open_table)
        self.table = hidden(name_widget(DataTable(words.say("app.release.spread.heading")), "spread-table"))
        self.table.setProperty("look", "plain")
        add(self.body, self._choices, self.told, self.picture, align_left(self.as_table), self.table)
        self.hide()

    def _field(self, name: str) -> QComboBox:
        column = make_column(spacing=4)
        said = words.say(f"app.release.spread.{name}")
        field = make_choice(f"spread-{name}", said)
        field.setMinimumContentsLength(12)
        field.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        field.currentIndexChanged.connect(lambda place: self._show())
        add(column, Heading(said, size="small", tone="quiet"), field)
        self._choices.addLayout(column, 1)
        return field

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        turn(self._choices, self.width() >= SIDE_BY_SIDE)

    def show_spread(self, found: Any) -> None:
        """Show other tables; hide where there is nothing to compare."""
        self._found = None
        self.setVisible(found is not None)
        if found is None:
            return
        names = list(found.columns)
        for field, offered in zip(
            self.fields.values(), (names, [words.say("app.release.spread.none"), *names]), strict=True
        ):
            field.clear()
            field.addItems(offered)
        said = "note" if found.copies == 1 else "note_of_several"
        original, synthetic = found.rows
        self.note.say(
            words.say(
                f"app.release.spread.{said}", original=original, synthetic=synthetic, copies=found.copies
            )
        )
        worst = max(names, key=found.apart)
        self.fields["column"].setCurrentIndex(names.index(worst))
        self._found = found
        self._show()

    @property
    def chosen(self) -> tuple[str, ...]:
        """The column or the pair that is shown."""
        first, second = self.fields.values()
        names = [first.currentText()]
        if second.currentIndex() > 0 and second.currentText() != names[0]:
            names.append(second.currentText())
        return tuple(names)

    def _show(self) -> None:
        if self._found is None:
            return
        names = self.chosen
        classes = [self._found.columns[name] for name in names]
        labels = tuple(tuple(words.label(label) for label in one.labels) for one in classes)
        shares = self._found.shares(*names)
        apart, chance = (percent(one(*names)) for one in (self._found.apart, self._found.by_chance))
        told = words.say("app.release.spread.told", apart=apart, chance=chance)
        self.told.say(told)
        self.picture.show_shares(labels, shares, is_amount=classes[0].is_amount)
        named = words.say("app.release.spread.named", columns=" × ".join(names))
        self.picture.setAccessibleName(named)
        self.table.setAccessibleName(named)
        rows = _rows(labels, shares, in_order=len(names) == 1)
        self.picture.setAccessibleDescription(f"{told} {_spoken(rows, len(names))}")
        headings = [*names, *(words.say(f"app.release.spread.{name}") for name in SIDES)]
        headings.append(words.say("app.release.spread.difference"))
        numeric = frozenset(range(len(names), len(headings)))
        self.table.show_rows(headings, rows, numeric=numeric)
        self.table.setFixedHeight(min(HIGHEST, 36 + ROW * len(rows) + 14))

    def _open_table(self, on: bool) -> None:
        self.table.setVisible(on)
        self.as_table.setText(words.say(f"app.release.spread.{'no_table' if on else 'as_table'}"))


def _rows(labels: tuple[tuple[str, ...], ...], shares: Any, *, in_order: bool) -> list[list[str]]:
    """Return a line a class, or a pair of classes, that some row has; the pairs that differ most first."""
    original, synthetic = shares
    places = [tuple(map(int, place)) for place in np.argwhere((original > 0) | (synthetic > 0))]
    if not in_order:
        places.sort(key=lambda place: -abs(float(synthetic[place] - original[place])))
    return [
        [
            *(own[at] for own, at in zip(labels, place, strict=True)),
            percent(float(original[place])),
            percent(float(synthetic[place])),
            words.signed(f"{100 * float(synthetic[place] - original[place]):+.2f}".replace("-", "−")),
        ]
        for place in places
    ]


MOST_SPOKEN = 20


def _spoken(rows: list[list[str]], names: int) -> str:
    return "; ".join(
        words.say(
            "app.release.spread.said", label=", ".join(row[:names]), original=row[names], synthetic=row[-2]
        )
        for row in rows[:MOST_SPOKEN]
    )
