"""The map of combinations: the figures of one, the steps of each column, the picture, what a step costs."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import sqrt

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRectF, QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
    QShowEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QFrame,
    QGridLayout,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSlider,
    QVBoxLayout,
    QWidget,
)

from app import words
from app.parts.cards import pill, row
from app.parts.layouts import ColumnLayout
from app.parts.making import (
    STRETCH,
    add,
    align_left,
    empty,
    hidden,
    make_button,
    make_column,
    make_grid,
    make_group,
    make_label,
    make_row,
    name_widget,
    turn,
)
from app.parts.plot import PointPicture
from app.parts.point_panel import PointRead, PointReading
from app.parts.prose import Heading, Prose, name_label
from app.parts.table import DataTable
from app.parts.trial.solution import (
    best_first,
    best_with,
    changed_by,
    lock_to_open,
    move_step,
    neighbours,
    step_words,
    steps_words,
    why,
    why_barred,
    write_loss,
)
from app.parts.wrapping import Wrapping
from app.theme import mono_font, theme
from engine.methods.trying import SolutionMap, Tried
from engine.numbers import shortest_json
from engine.views import ScatterView, Series, View

# --- Every combination of steps as a point --------------------------------------------------------------

POINT, HEIGHT = 4.0, 230
TICKS, TITLE = 4, 20
WIDE = 76  # pixels of a column of rows beside the picture
ROW, MISSING = 22, "—"


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

    def picture(self) -> View | None:
        if self.shown is None:
            return None
        scale, found = (100 if self.shown.is_share else 1), self.shown.candidates
        parts = {
            name: [found[place] for place in places]
            for name, places in zip(("holds", "fails_to", "in_view"), self._drawn(), strict=True)
        }
        series = [
            Series(
                words.say(f"app.trying.map.{name}"),
                tuple(scale * one.lost for one in part),
                tuple(float(one.left_out) for one in part),
                style,
            )
            for (name, part), style in zip(parts.items(), ("accent", "dotted", "plain"), strict=True)
            if part
        ]
        across = words.say("app.trying.map.across")
        x_axis = f"{across}, %" if self.shown.is_share else across
        y_axis = words.say("app.trying.map.upwards")
        return ScatterView(self.accessibleName(), x_axis, y_axis, tuple(series))

    def _drawn(self) -> tuple[list[int], list[int], list[int]]:
        """Return the combinations that hold, those that do not, and the one of both that is ringed."""
        assert self.shown is not None
        parts: tuple[list[int], list[int]] = ([], [])
        for place, one in enumerate(self.shown.candidates):
            if place != self.place:
                parts[not one.holds].append(place)
        return *parts, [self.place]

    def reading(self) -> PointReading | None:
        shown, taken = self.shown, self.place
        if shown is None:
            return None
        found = shown.candidates
        order = [place for places in self._drawn() for place in places]

        def lines(place: int) -> list[tuple[str, str]]:
            one = found[place]
            steps = [
                (own.column, step_words(shown, ladder, one.steps[ladder]))
                for ladder, own in enumerate(shown.ladders)
            ]
            told = {
                "left_out": words.say("app.trying.map.people", count=one.left_out),
                "alone": words.number(one.alone),
                "lost": write_loss(shown, one.lost),
            }
            return steps + [(words.say(f"app.trying.map.{name}"), told[name]) for name in FIGURES]

        def read(row: int) -> PointRead:
            place, now = order[row], lines(taken)
            mine = [(*line, line != own) for line, own in zip(lines(place), now, strict=True)]
            return PointRead(tuple(mine), place == taken, "" if found[place].holds else why(shown, place))

        def take(row: int) -> None:
            # What was counted meanwhile may have its combinations in another order
            steps, now = found[order[row]].steps, self.shown
            same = [] if now is None else [at for at, one in enumerate(now.candidates) if one.steps == steps]
            if same:
                self.chosen.emit(same[0])

        return PointReading(read, take)

    def _told(self, place: int) -> str:
        assert self.shown is not None
        one = self.shown.candidates[place]
        cost = words.say("app.trying.map.would", left_out=one.left_out, lost=write_loss(self.shown, one.lost))
        return words.pair(steps_words(self.shown, one), cost)

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
        over = level - 17 if level - 17 > TITLE else level + 1  # of the axis, whose name stands on top
        painter.drawText(QRectF(field.left(), over, field.width(), 16), side, said)

    def _paint_axes(self, painter: QPainter) -> None:
        assert self.shown is not None
        tokens, field, (low, high) = theme.tokens(), self.field(), self._across()
        painter.setPen(tokens.colour("quiet"))
        painter.drawLine(field.bottomLeft(), field.bottomRight())
        for people in self._levels():
            self.draw_level(painter, self._up(people), words.number(people))
        for tick in range(TICKS + 1):
            value = low + (high - low) * tick / TICKS
            place = QRectF(field.left() + field.width() * tick / TICKS - 40, field.bottom() + 4, 80, 16)
            text = f"{100 * value:.0f}\u00a0%" if self.shown.is_share else write_loss(self.shown, value)
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


FIGURES = ("left_out", "alone", "lost")
BESIDE = 640  # width from which what a step costs stands beside the picture
MOST_LISTED = 200
MOST_BESIDE = 3  # columns whose steps leave room for rows and picture below at any usual size
LEAST = 126  # pixels of the steps that are in view at least: those of three columns, and half a line
SMALL = 156  # pixels of the picture where many columns have steps
LOW = 230  # pixels in which the picture stands with its heading and links, and eight of the rows
LOWER = {4: 22, 5: 44}  # pixels less, of which rows and picture have fewer, where that shows all steps
HALF_WIDTH = 222  # pixels of all columns of rows before, or after, beside the picture


TURNS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}  # finer and coarser
WEIGHTS = (Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4))
"""How much the detail of a column can be made to count beside that of the others."""


def _made_of(shown: SolutionMap) -> list[tuple[str, tuple[str, ...], int]]:
    """Return what the lines of a map are made of."""
    return [(own.column, own.reads, len(own.sizes)) for own in shown.ladders]


class LockButton(QAbstractButton):
    """A lock, open or shut: whether the step of a column stays while the others are searched."""

    def __init__(self, column: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.column = column
        self.setObjectName(f"lock-{column}")
        self.setCheckable(True)
        self.setFixedSize(30, 30)
        self.toggled.connect(lambda on: self._say())
        self._say()

    def _say(self) -> None:
        said = words.say(f"app.trying.map.{'locked' if self.isChecked() else 'unlocked'}", column=self.column)
        self.setAccessibleName(said)
        self.setToolTip(words.tip(said))

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens, on = theme.tokens(), self.isChecked()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        edge = "accent" if on or self.hasFocus() else "edge"
        painter.setPen(QPen(tokens.colour(edge), 2 if self.hasFocus() else 1))
        painter.setBrush(tokens.colour("accent_soft" if on else "surface"))
        painter.drawRoundedRect(QRectF(1, 1, 28, 28), 7, 7)
        colour = tokens.colour("accent" if on else "quiet")
        painter.setPen(QPen(colour, 1.6))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        shackle = QRectF(11, 7, 8, 9)
        painter.drawArc(shackle, 0 if on else 40 * 16, (180 if on else 140) * 16)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawRoundedRect(QRectF(9, 13, 12, 9), 2, 2)
        painter.end()


class StepArea(QScrollArea):
    """The lines of the steps: as high as they are, or, where many columns have some, as there is room.

    What is set here shall be seen at once in rows and map below, so these stay in view and the lines scroll.
    """

    def __init__(self, steps: QGridLayout) -> None:
        super().__init__()
        self._steps = steps
        self.setObjectName("steps")
        self.setAccessibleName(words.say("app.trying.map.steps_name"))
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # its buttons have it
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        inside = QWidget()
        steps.setContentsMargins(0, 0, 0, 0)
        inside.setLayout(steps)
        self.setWidget(inside)
        self.most: int | None = None  # pixels

    def needed(self) -> int:
        """Return how high all lines are in the width that there is."""
        self._steps.activate()
        if self._steps.hasHeightForWidth():
            return self._steps.heightForWidth(self.viewport().width())
        return self._steps.sizeHint().height()

    def fit(self) -> None:
        """Take the height of all lines, or what room there is; of a line that is cut half is seen."""
        needed = self.needed()
        self.setFixedHeight(needed if self.most is None or needed <= self.most else self.most)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            QTimer.singleShot(0, self, self.fit)

    def wheelEvent(self, event: QWheelEvent) -> None:
        bar = self.verticalScrollBar()
        if bar.maximum() == 0:
            event.ignore()  # the page scrolls
        else:
            super().wheelEvent(event)


class SolutionView(QWidget):
    """``taken`` tells the parameters of a combination that was chosen, ``looked`` that one is looked at."""

    taken = Signal(object)
    looked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.shown: SolutionMap | None = None
        self.place = 0
        box = self._box = make_column(inside=self, spacing=14, margins=0)
        self.numbers: dict[str, tuple[Heading, Prose]] = {}
        box.addLayout(self._build_figures())
        self._steps = make_grid(across=14, down=6)
        self._steps.setColumnStretch(2, 1)
        self._room = StepArea(self._steps)
        box.addWidget(self._room)
        box.addWidget(self._build_barred())
        self.groups: list[QButtonGroup] = []
        self.locks: list[LockButton] = []
        self.sliders: list[QSlider] = []
        self._locked: set[str] = set()
        box.addWidget(self._build_impossible())
        self._sides = make_row(spacing=18)
        box.addLayout(self._sides)
        self._build_picture()
        self._build_words()
        self._sides.insertWidget(0, self._build_rows(), 7)
        self._fit_later = QTimer(self)
        self._fit_later.setSingleShot(True)
        self._fit_later.setInterval(0)
        self._fit_later.timeout.connect(self._fit)

    def _build_rows(self) -> QWidget:
        """Some rows as they are, and as they would read on the steps that are shown."""
        self.rows_part = hidden(QWidget())
        grid = make_grid(across=18, down=4)
        grid.setContentsMargins(0, 0, 0, 0)
        self.rows_part.setLayout(grid)
        self.before, self.after = (
            name_widget(DataTable(words.say(f"app.trying.map.{name}")), f"rows-{name}")
            for name in ("before", "after")
        )
        for column, (name, table) in enumerate((("before", self.before), ("after", self.after))):
            table.setProperty("look", "plain")
            table.verticalHeader().setDefaultSectionSize(ROW)
            table.horizontalHeader().setFixedHeight(28)
            table.setSelectionMode(DataTable.SelectionMode.NoSelection)
            head = row(make_label(words.say(f"app.trying.map.{name}"), pixels=12, tone="quiet"))
            if table is self.before:
                head.insertWidget(1, pill(words.say("app.trying.map.stay")))
            grid.addLayout(head, 0, column)
            grid.addWidget(table, 1, column)
            grid.setColumnStretch(column, 1)
        self.before.verticalScrollBar().valueChanged.connect(self.after.verticalScrollBar().setValue)
        self.after.verticalScrollBar().valueChanged.connect(self.before.verticalScrollBar().setValue)
        self.before.horizontalScrollBar().valueChanged.connect(self.after.horizontalScrollBar().setValue)
        self.after.horizontalScrollBar().valueChanged.connect(self.before.horizontalScrollBar().setValue)
        self.rows_note = Prose(tone="quiet", pixels=12)
        grid.addWidget(self.rows_note, 2, 0, 1, 2)
        return self.rows_part

    def _show_rows(self) -> None:
        shown = self.shown
        assert shown is not None
        told = all(len(own.rows) > len(own.sizes) for own in shown.ladders)
        self.rows_part.setVisible(told)
        if told:  # beside the picture stand the rows
            self._box.addWidget(self.words_part)
        else:
            self._sides.addWidget(self.words_part, 4)
        self._fit_later.start()
        if not told:
            return
        one, headings = shown.candidates[self.place], [own.column for own in shown.ladders]
        places = zip(shown.ladders, one.steps, strict=True)
        columns = [(own.rows[0], own.rows[step + 1]) for own, step in places]
        for side, table in enumerate((self.before, self.after)):
            rows = list(zip(*([cell or MISSING for cell in column[side]] for column in columns), strict=True))
            table.show_rows(headings, rows)
            table.give_room(narrowest=32, widest=max(WIDE, HALF_WIDTH // len(headings)))
            table.setFixedHeight(table.horizontalHeader().height() + ROW * len(rows) + 14)
        self.rows_note.say(
            words.say("app.trying.map.rows_note", left_out=one.left_out, count=len(columns[0][0]))
        )

    def _build_figures(self) -> QGridLayout:
        line = make_grid(across=18, down=2)
        for place, name in enumerate(FIGURES):
            line.addWidget(Prose(words.say(f"app.trying.map.{name}"), tone="quiet", pixels=12), 0, place)
            figure, note = Heading(size="side"), Prose(tone="quiet", pixels=12)
            figure.setObjectName(f"map-{name}")
            line.addWidget(figure, 1, place)
            line.addWidget(note, 2, place)
            line.setColumnStretch(place, 1)
            self.numbers[name] = (figure, note)
        return line

    def _build_barred(self) -> QWidget:
        """What stands below the steps while a combination is looked at that cannot leave."""
        self.barred_words = name_widget(Prose(tone="wrong"), "map-barred")
        self.back = make_button(words.say("app.trying.map.back"), "map-back", self.look_at_taken)
        line = make_column(self.barred_words, align_left(self.back), spacing=6, margins=0)
        self.barred = hidden(make_group(line))
        return self.barred

    def _build_impossible(self) -> QWidget:
        """What stands below the steps while nothing can leave with the locks as they are."""
        self.impossible_words = name_widget(Prose(tone="care"), "locks-impossible")
        self.open_lock = make_button("", "open-lock", self._open_lock)
        self.impossible = hidden(QFrame())
        self.impossible.setProperty("card", "care")
        add(
            make_column(inside=self.impossible, spacing=6, margins=12),
            self.impossible_words,
            align_left(self.open_lock),
        )
        return self.impossible

    def _build_picture(self) -> None:
        part = QWidget()
        column = make_column(inside=part, spacing=4, margins=0)
        self.heading = Heading(size="small", tone="quiet")
        self.as_table = make_button(
            words.say("app.trying.map.as_table"), "map-as-table", look="link", checkable=True
        )
        self.as_table.toggled.connect(lambda on: self._show_table())
        self.plot = SolutionPlot()
        closely = make_button(words.say("app.enlarged.link"), "map-closely", self.plot.enlarge, look="link")
        line = row(closely, self.as_table)
        self.plot.chosen.connect(self.choose)
        self.table = hidden(name_widget(DataTable(words.say("app.trying.map.table")), "map-table"))
        self.table.setProperty("look", "plain")
        self.table.setFixedHeight(HEIGHT)
        self._order: list[int] = []
        add(column, self.heading, line, self.plot, self.table, STRETCH)
        self._sides.addWidget(part, 4)

    def _build_words(self) -> None:
        part = self.words_part = QWidget()
        column = make_column(inside=part, spacing=8, margins=0)
        self.what, self.why = Prose(), Prose()
        self.what.setObjectName("map-what")
        self.why.setObjectName("map-why")
        self.finer, self.coarser = ColumnLayout(), ColumnLayout()
        self.best = make_button(
            words.say("app.trying.map.take_best"), "map-take-best", self._take_best, look="link"
        )
        add(column, self.what, self.why, align_left(self.best))
        for side in (self.finer, self.coarser):
            side.setSpacing(2)
            column.addLayout(side)
        column.addStretch(1)
        self._sides.addWidget(part, 4)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        turn(self._sides, self.width() >= BESIDE)
        self._fit_later.start()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit_later.start()

    def _fit(self) -> None:
        """Let the steps have the height that rows and map leave on the page, where there are many columns."""
        shown, page = self.shown, self._page()
        if shown is None or page is None or not self.isVisible():
            return
        high, most, content = page.viewport().height(), None, page.widget()
        if content is not None and self.rows_part.isVisible() and len(shown.ladders) > MOST_BESIDE:
            above = self._room.mapTo(content, QPoint(0, 0)).y()
            barred = (self.barred, self.impossible)
            between = sum(one.height() + self._box.spacing() for one in barred if one.isVisible())
            low = LOW - LOWER.get(len(shown.ladders), 0)
            left = high - above - between - self._box.spacing() - low
            # A window too low for all has rows and map in view together once it is scrolled.
            most = max(left, LEAST)
        small = SMALL - LOWER.get(len(shown.ladders), 0)
        self.plot.setFixedHeight(HEIGHT if most is None else small)  # what is taken lies near its lower edge
        self._room.most = most
        self._room.fit()

    def _page(self) -> QScrollArea | None:
        """Return the page that this scrolls in."""
        parent = self.parentWidget()
        while parent is not None and not isinstance(parent, QScrollArea):
            parent = parent.parentWidget()
        return parent

    # --- showing -----------------------------------------------------------------------------------

    def show_answer(self, shown: Tried) -> None:
        """Show a map, with the combination that the settings take."""
        assert isinstance(shown, SolutionMap)
        fresh = self.shown is None or _made_of(self.shown) != _made_of(shown)
        self.shown, self.place = shown, shown.taken
        if fresh:
            self._make_steps()
        for slider, own in zip(self.sliders, shown.ladders, strict=True):
            with QSignalBlocker(slider):
                slider.setValue(min(range(len(WEIGHTS)), key=lambda at: abs(WEIGHTS[at] - own.weight)))
        self._show_place()
        if self.as_table.isChecked():
            self._show_table()

    def _make_steps(self) -> None:
        """Make the steps of every column, beside one another."""
        assert self.shown is not None
        empty(self._steps)
        self.groups, self.locks, self.sliders = [], [], []
        self._locked &= {own.column for own in self.shown.ladders}
        self._steps.setVerticalSpacing(6 if len(self.shown.ladders) <= MOST_BESIDE else 2)
        heads = {0: "column", 2: "reads"} | ({3: "what_matters"} if self.shown.weighs else {})
        for column, head in heads.items():
            heading = make_label(words.say(f"app.trying.map.{head}"), pixels=12, tone="quiet")
            self._steps.addWidget(heading, 0, column)
        for ladder, own in enumerate(self.shown.ladders):
            name = name_label(own.column)
            name.setFont(mono_font())
            lock = LockButton(own.column)
            lock.setChecked(own.column in self._locked)
            lock.toggled.connect(lambda on, column=own.column: self._lock(column, on))
            lock.installEventFilter(self)
            self.locks.append(lock)
            self._steps.addWidget(name, ladder + 1, 0)
            self._steps.addWidget(lock, ladder + 1, 1)
            part = QWidget()
            group, line = QButtonGroup(self), Wrapping(part, spacing=4)
            for step in range(len(own.sizes)):
                said = step_words(self.shown, ladder, step)
                button = QPushButton(said)
                button.setObjectName(f"step-{own.column}-{step}")
                button.setProperty("look", "step")
                button.setAccessibleName(words.pair(own.column, said))
                button.setCheckable(True)
                button.installEventFilter(self)
                group.addButton(button, step)
                line.addWidget(button)
            group.idClicked.connect(lambda step, ladder=ladder: self._step(ladder, step))
            self._steps.addWidget(part, ladder + 1, 2)
            slider = self._make_slider(own.column)
            if not self.shown.weighs:
                slider.hide()
            self.sliders.append(slider)
            self._steps.addWidget(slider, ladder + 1, 3)
            self.groups.append(group)

    def _make_slider(self, column: str) -> QSlider:
        """Return what says how much the detail of a column counts; it is told once it is let go."""
        slider = QSlider(Qt.Orientation.Horizontal)
        slider.setObjectName(f"matters-{column}")
        slider.setAccessibleName(words.say("app.trying.map.matters", column=column))
        slider.setToolTip(words.tip(slider.accessibleName()))
        slider.setRange(0, len(WEIGHTS) - 1)
        slider.setPageStep(1)
        slider.setTracking(False)
        slider.setFixedSize(96, 26)
        slider.valueChanged.connect(lambda value: self._weigh())
        return slider

    def _weigh(self) -> None:
        """Take what matters: the search is made again with it."""
        assert self.shown is not None
        weights = {
            own.column: shortest_json(WEIGHTS[slider.value()])
            for own, slider in zip(self.shown.ladders, self.sliders, strict=True)
            if WEIGHTS[slider.value()] != 1
        }
        self._take({self.shown.weighs: weights or None})

    def _show_place(self) -> None:
        shown, place = self.shown, self.place
        assert shown is not None
        one = shown.candidates[place]
        for ladder, group in enumerate(self.groups):
            group.button(one.steps[ladder]).setChecked(True)
            least = min(candidate.steps[ladder] for candidate in shown.candidates)
            for step, button in ((group.id(button), button) for button in group.buttons()):
                button.setEnabled(step >= least)
        told = {
            "left_out": (words.say("app.trying.map.people", count=one.left_out), shown.most_left_out),
            "alone": (f"{words.number(shown.alone)} → {words.number(one.alone)}", shown.people),
            "lost": (write_loss(shown, one.lost), write_loss(shown, shown.candidates[shown.best].lost)),
        }
        for name, (number, beside) in told.items():
            figure, note = self.numbers[name]
            figure.setText(number)
            note.say(words.say(f"app.trying.map.{name}_note", value=beside))
        self.numbers["lost"][1].setVisible(shown.candidates[shown.best].holds)
        holding = sum(candidate.holds for candidate in shown.candidates)
        self.heading.setText(
            words.say("app.trying.map.heading", count=len(shown.candidates), holding=holding)
        )
        self.plot.show_map(shown, place)
        self.what.say(f"**{steps_words(shown, one)}**")
        self.why.say(why(shown, place))
        self.why.set_tone("" if one.holds else "care")
        self._show_rows()
        self._show_locks()
        self.barred.setVisible(not one.holds)
        self.barred_words.say("" if one.holds else why_barred(shown, place))
        finer, coarser = neighbours(shown, place)
        self._list(self.finer, "finer", changed_by(shown, finer))
        self._list(self.coarser, "coarser", changed_by(shown, coarser))

    def _list(self, side: QVBoxLayout, name: str, lines: list[tuple[str, str, bool]]) -> None:
        empty(side)
        if lines:
            side.addWidget(Prose(f"**{words.say(f'app.trying.map.{name}')}**", pixels=12))
        for step, cost, holds in lines:
            side.addWidget(Prose(words.pair(step, cost), tone="" if holds else "care", pixels=12))

    def _show_table(self) -> None:
        """Show the combinations as a table, the best first: what a screen reader meets."""
        shown, as_table = self.shown, self.as_table.isChecked()
        self.plot.setVisible(not as_table)
        self.table.setVisible(as_table)
        if shown is None or not as_table:
            return
        self._order = best_first(shown)[:MOST_LISTED]
        if self.place not in self._order:
            self._order.append(self.place)
        headings = [one.column for one in shown.ladders]
        headings += [words.say(f"app.trying.map.{name}") for name in FIGURES]
        rows, marked = [], set()
        for line, place in enumerate(self._order):
            one = shown.candidates[place]
            steps = [step_words(shown, ladder, step) for ladder, step in enumerate(one.steps)]
            rows.append(
                [*steps, words.number(one.left_out), words.number(one.alone), write_loss(shown, one.lost)]
            )
            if not one.holds:
                marked.add((line, len(steps)))
        numeric = frozenset(range(len(shown.ladders), len(headings)))
        self.table.show_rows(headings, rows, numeric=numeric, marked=marked)
        self.table.selectRow(self._order.index(self.place))
        self.table.selectionModel().currentRowChanged.connect(
            lambda now, before: self.choose(self._order[now.row()])
        )

    # --- choosing ----------------------------------------------------------------------------------

    def choose(self, place: int) -> None:
        """Open a combination; it is taken if it holds, and looked at only if it does not."""
        shown = self.shown
        if shown is None or place == self.place:
            return
        self.place = place
        self._show_place()
        if self.as_table.isChecked() and place in self._order:
            self.table.selectRow(self._order.index(place))
        if shown.candidates[place].holds:
            self._take(shown.candidates[place].changes)
        self.looked.emit()

    @property
    def is_barred(self) -> bool:
        """Whether what is looked at cannot leave, so that something else than what is shown would."""
        return self.shown is not None and not self.shown.candidates[self.place].holds

    def look_at_taken(self) -> None:
        """Show the combination that leaves again."""
        if self.shown is not None:
            self.choose(self.shown.taken)

    def _step(self, ladder: int, step: int) -> None:
        """Open the combination in which one column takes another step."""
        assert self.shown is not None
        place = move_step(self.shown, self.place, ladder, step)
        if place is not None:
            self.choose(place)
        else:  # not looked at yet: the settings are asked with it
            steps = list(self.shown.candidates[self.place].steps)
            steps[ladder] = step
            names = [one.column for one in self.shown.ladders]
            (parameter,) = self.shown.candidates[0].changes
            self._take({parameter: dict(zip(names, steps, strict=True))})

    def _take(self, changes: Mapping[str, object]) -> None:
        self.taken.emit(dict(changes))

    # --- locks -------------------------------------------------------------------------------------

    def _ladders_locked(self) -> list[int]:
        assert self.shown is not None
        return [place for place, own in enumerate(self.shown.ladders) if own.column in self._locked]

    def _show_locks(self) -> None:
        """Offer the best that the locks leave, or say which of them is in the way."""
        shown, locks = self.shown, self._ladders_locked()
        assert shown is not None
        best = best_with(shown, locks, self.place) if locks else shown.best
        self.best.setText(words.say(f"app.trying.map.{'take_best_locked' if locks else 'take_best'}"))
        self.best.setVisible(best is not None and best != self.place)
        self.impossible.setVisible(best is None)
        if best is not None:
            return
        opens = lock_to_open(shown, locks, self.place)
        if opens is None:
            self.impossible_words.say(words.say("app.trying.map.impossible_all"))
            self.open_lock.setText(words.say("app.trying.map.open_all"))
        else:
            column = shown.ladders[opens].column
            self.impossible_words.say(words.say("app.trying.map.impossible", column=column))
            self.open_lock.setText(words.say("app.trying.map.open", column=column))

    def _lock(self, column: str, on: bool) -> None:
        self._locked = self._locked | {column} if on else self._locked - {column}
        if self.shown is not None:
            self._show_locks()

    def _open_lock(self) -> None:
        """Open the lock that is in the way, or all where one is not enough, and take the best then."""
        assert self.shown is not None
        opens = lock_to_open(self.shown, self._ladders_locked(), self.place)
        for place, lock in enumerate(self.locks):
            if opens is None or place == opens:
                lock.setChecked(False)
        self._take_best()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Turn the column that the keyboard is at finer with Left and coarser with Right."""
        ladder = self._at_key()
        turn = (
            TURNS.get(Qt.Key(event.key()), 0) if isinstance(event, QKeyEvent) and not event.modifiers() else 0
        )
        if ladder is None or not turn or event.type() != QEvent.Type.KeyPress:
            return False
        assert self.shown is not None
        step = self.shown.candidates[self.place].steps[ladder] + turn
        if 0 <= step < len(self.shown.ladders[ladder].sizes):
            had_lock = watched is self.locks[ladder]
            self._step(ladder, step)
            button = self.groups[ladder].button(step)
            if not had_lock and button is not None:
                button.setFocus(Qt.FocusReason.TabFocusReason)
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Take L, which locks the column that the keyboard is at, and B, the best with these locks."""
        ladder = self._at_key()
        if event.key() == Qt.Key.Key_L and ladder is not None and not event.modifiers():
            self.locks[ladder].toggle()
        elif event.key() == Qt.Key.Key_B and not event.modifiers() and not self.best.isHidden():
            self._take_best()
        else:
            super().keyPressEvent(event)

    def _at_key(self) -> int | None:
        """Return the ladder in whose line the keyboard is."""
        at = self.focusWidget()
        found = (place for place, group in enumerate(self.groups) if at in group.buttons())
        return next(found, next((place for place, one in enumerate(self.locks) if one is at), None))

    def _take_best(self) -> None:
        """Let the search decide again, within the locks."""
        assert self.shown is not None
        locks = self._ladders_locked()
        if locks:
            best = best_with(self.shown, locks, self.place)
            if best is not None:
                self.choose(best)
            return
        self.place = self.shown.best
        self._show_place()
        self._take(dict.fromkeys(self.shown.candidates[0].changes))
