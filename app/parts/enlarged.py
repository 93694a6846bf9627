"""A picture opened large: zoom, move, read out, save as PDF, PNG or SVG, copy the picture or its data.

Painted by matplotlib (`engine.report.figures`), which is loaded when the first picture is opened, on the
thread of drawings: the window never waits for it. What comes from rows says that it stays, on screen and in
the file.
"""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QGuiApplication,
    QImage,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QResizeEvent,
    QShortcut,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QButtonGroup,
    QDialog,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from app import words
from app.parts.layouts import ColumnLayout, RowLayout
from app.parts.making import STRETCH, add, make_column, name_widget
from app.parts.plot import ENTER
from app.parts.point_panel import PointPanel, PointReading
from app.parts.prose import Heading, Prose
from app.parts.roles import Role
from app.parts.views.table import TableBody
from app.theme import theme
from app.work.jobs import SHORT, JobRunner
from engine.views import View, as_table

if TYPE_CHECKING:
    from engine.report.figures import Limits, Pixels

STEP = 0.7  # what is left of each axis after a step closer
NEAR = 24  # points: as far from a value the pointer may be that is read out
LEAST_DRAG = 6
MOST_READ = 5000  # values that are looked through for the nearest
OVERVIEW = QSize(168, 98)  # points of the whole picture beside a part of it
FORMATS = ("pdf", "png", "svg", "csv")
_numbers = count(1)


def paint(view: View, width: int, height: int, **options: Any) -> Pixels:
    """Paint a view; runs as a job."""
    from engine.report import figures

    return figures.paint(view, width, height, **options)


def read_out(view: View, language: str) -> tuple[tuple[float, float, str, int], ...]:
    """Return where values lie on the axes, how each is said, and its line in the numbers; runs as a job."""
    from engine.report.figures import places
    from engine.report.words import cell, word

    table = as_table(view)
    heads = [word(one, language) for one in table.headings]
    said = [
        ", ".join(f"{head} {cell(one, language)}".strip() for head, one in zip(heads, row, strict=True))
        for row in table.rows[:MOST_READ]
    ]
    return tuple((x, y, said[row], row) for x, y, row in places(view) if row < len(said))


def write(view: View, path: str, **options: Any) -> str:
    """Write a picture or its numbers and return the name of the file; empty where that failed. A job."""
    from engine.report import figures

    try:
        return figures.save(view, path, **options).name
    except OSError:
        return ""


def data(view: View, language: str, stays: bool) -> str:
    """Return the numbers as a spreadsheet takes them from the clipboard; runs as a job."""
    from engine.report import figures

    return figures.as_csv(view, language=language, stays=stays, separator="\t")


class Sheet(QWidget):
    """The painted picture: dragging zooms or moves, the wheel zooms, arrows step from value to value."""

    wanted = Signal(object)  # other limits, None for all of it
    read = Signal(str)
    looked = Signal(int)  # at the line of a value among the numbers
    taken = Signal()
    SPOKEN_AS: ClassVar = Role.Graphic

    def __init__(self) -> None:
        super().__init__()
        self.pixels: Pixels | None = None
        self.image = QImage()
        self.values: tuple[tuple[float, float, str], ...] = ()
        self.rows: tuple[int, ...] = ()
        self.whole: Pixels | None = None
        self._small = QPixmap()
        self.kept = False  # a click keeps a point while the pointer goes elsewhere
        self.moves = False
        self.at = -1
        self._from: QPoint | None = None
        self._to = QPoint()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumSize(320, 220)

    def show_pixels(self, pixels: Pixels) -> None:
        """Show what was painted."""
        self.pixels = pixels
        form = QImage.Format.Format_RGBA8888
        self.image = QImage(pixels.rgba, pixels.width, pixels.height, 4 * pixels.width, form).copy()
        self.update()

    def show_whole(self, pixels: Pixels | None) -> None:
        """Keep the whole picture, small: it says where a part of it lies."""
        self.whole = pixels
        if pixels is None:
            return
        form = QImage.Format.Format_RGBA8888
        image = QImage(pixels.rgba, pixels.width, pixels.height, 4 * pixels.width, form)
        left, top, right, bottom = map(round, pixels.box)
        part = image.copy(left, top, right - left, bottom - top)
        small = part.scaled(
            OVERVIEW * round(self._ratio() + 0.49),
            Qt.AspectRatioMode.IgnoreAspectRatio,
            Qt.TransformationMode.SmoothTransformation,
        )
        self._small = QPixmap.fromImage(small)
        self.update()

    def is_part(self) -> bool:
        """Say whether less is shown than all."""
        return None not in (self.pixels, self.whole) and self.pixels.limits != self.whole.limits  # type: ignore[union-attr]

    def ring(self) -> QPointF | None:
        """Return where the value lies that is read; None where it is outside of what is shown."""
        if self.pixels is None or not 0 <= self.at < len(self.values):
            return None
        left, top, right, bottom = (one / self._ratio() for one in self.pixels.box)
        place = self.place_of(*self.values[self.at][:2])
        field = QRectF(QPointF(left, top), QPointF(right, bottom)).adjusted(-1, -1, 1, 1)
        return place if field.contains(place) else None

    def values_in_view(self) -> int:
        """Return how many values lie within the axes as they are shown."""
        assert self.pixels is not None
        (left, right), (low, high) = (sorted(ends) for ends in self.pixels.limits)
        return sum(left <= x <= right and low <= y <= high for x, y, _ in self.values)

    def overview(self) -> tuple[QRectF, QRectF] | None:
        """Return where the whole picture is shown small, and the part in it; None while all is shown.

        It lies in the corner of the axes that hides the fewest values.
        """
        if not self.is_part():
            return None
        assert self.pixels is not None and self.whole is not None
        ratio = self._ratio()
        left, top, right, bottom = (one / ratio for one in self.pixels.box)
        wide, high = OVERVIEW.width(), OVERVIEW.height()
        if right - left < 2 * wide or bottom - top < 2 * high:
            wide, high = round((right - left) / 3), round((bottom - top) / 3)
        sides = (right - wide - 8, left + 8)
        corners = [QRectF(x, y, wide, high) for y in (top + 8, bottom - high - 8) for x in sides]
        seen = [self.place_of(x, y) for x, y, _ in self.values]
        frame = min(corners, key=lambda one: sum(map(one.contains, seen)))
        (x0, x1), (y0, y1) = self.whole.limits
        (a, b), (c, d) = self.pixels.limits
        across = [frame.left() + wide * (one - x0) / (x1 - x0) for one in (a, b)]
        down = [frame.bottom() - high * (one - y0) / (y1 - y0) for one in (c, d)]
        part = QRectF(QPointF(across[0], down[1]), QPointF(across[1], down[0])).normalized()
        return frame, part.intersected(frame)

    def _paint_overview(self, painter: QPainter) -> None:
        found = self.overview()
        if found is None:
            return
        tokens, (frame, part) = theme.tokens(), found
        painter.fillRect(frame, tokens.colour("surface"))
        painter.drawPixmap(frame, self._small, QRectF(self._small.rect()))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(tokens.colour("edge"), 1))
        painter.drawRect(frame)
        painter.setPen(QPen(tokens.colour("accent"), 1.5))
        painter.drawRect(part)

    def _ratio(self) -> float:
        """Return how many dots a point of this widget has in what was painted."""
        return 1.0 if self.pixels is None else self.pixels.width / max(self.width(), 1)

    def value_at(self, place: QPointF) -> tuple[float, float]:
        """Return what a place of this widget stands for."""
        assert self.pixels is not None
        return self.pixels.value_at(place.x() * self._ratio(), place.y() * self._ratio())

    def place_of(self, x: float, y: float) -> QPointF:
        """Return where two values lie in this widget."""
        assert self.pixels is not None
        across, down = self.pixels.place_of(x, y)
        return QPointF(across / self._ratio(), down / self._ratio())

    def zoom(self, factor: float, middle: QPointF | None = None) -> None:
        """Show a part of both axes, around a place; more than 1 shows more."""
        if self.pixels is None:
            return
        (left, right), (low, high) = self.pixels.limits
        x, y = ((left + right) / 2, (low + high) / 2) if middle is None else self.value_at(middle)
        across = (x + (left - x) * factor, x + (right - x) * factor)
        self.wanted.emit((across, (y + (low - y) * factor, y + (high - y) * factor)))

    def sizeHint(self) -> QSize:
        return QSize(900, 560)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        if not self.image.isNull():
            painter.drawImage(QRectF(self.rect()), self.image)
        tokens = theme.tokens()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_overview(painter)
        painter.setPen(QPen(tokens.colour("accent"), 1.5))
        ring = self.ring()
        if ring is not None:
            painter.drawEllipse(ring, 8, 8)
        if self._from is not None and not self.moves:
            painter.drawRect(QRect(self._from, self._to).normalized())
        if self.hasFocus():
            painter.drawRoundedRect(self.rect().adjusted(1, 1, -1, -1), 8, 8)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.pixels is not None:
            self._from = self._to = event.position().toPoint()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self.pixels is None:
            return
        if self._from is not None:
            self._to = event.position().toPoint()
            self.update()
        else:
            self._point_at(event.position())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        begin, self._from = self._from, None
        self.update()
        if (
            begin is None
            or self.pixels is None
            or (event.position().toPoint() - begin).manhattanLength() < LEAST_DRAG
        ):
            if begin is not None and self.pixels is not None:
                self.kept = False
                self._point_at(event.position())
                self.kept = self.at >= 0
            return
        (x0, y0), (x1, y1) = self.value_at(QPointF(begin)), self.value_at(event.position())
        (left, right), (low, high) = self.pixels.limits
        if self.moves:
            across, up = x0 - x1, y0 - y1
            self.wanted.emit(((left + across, right + across), (low + up, high + up)))
        elif x0 != x1 and y0 != y1:
            ends = sorted((x0, x1), reverse=left > right), sorted((y0, y1), reverse=low > high)
            self.wanted.emit((tuple(ends[0]), tuple(ends[1])))

    def wheelEvent(self, event: QWheelEvent) -> None:
        turned = event.angleDelta().y()
        if turned:
            self.zoom(STEP if turned > 0 else 1 / STEP, event.position())
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right) and self.values:
            step = 1 if key == Qt.Key.Key_Right else -1
            self._read(min(max(self.at + step, 0), len(self.values) - 1))
            self.kept = True
        elif key in ENTER and self.at >= 0:
            self.taken.emit()
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom(STEP)
        elif key == Qt.Key.Key_Minus:
            self.zoom(1 / STEP)
        elif key == Qt.Key.Key_0:
            self.wanted.emit(None)
        else:
            super().keyPressEvent(event)

    def _point_at(self, place: QPointF) -> None:
        """Read out the value that is nearest to the pointer, or nothing where none is near."""
        if self.kept:
            return
        far = [(self.place_of(x, y) - place).manhattanLength() for x, y, _ in self.values]
        nearest = min(range(len(far)), key=far.__getitem__, default=-1)
        self._read(nearest if nearest >= 0 and far[nearest] <= NEAR else -1)

    def _read(self, at: int) -> None:
        if at != self.at:
            self.at = at
            self.read.emit(self.values[at][2] if at >= 0 else "")
            self.looked.emit(self.rows[at] if 0 <= at < len(self.rows) else -1)
            self.update()


class Enlarged(QDialog):
    """A picture large, over the window that shows it small."""

    def __init__(
        self,
        view: View,
        runner: JobRunner,
        parent: QWidget,
        *,
        stays: bool = True,
        reading: PointReading | None = None,
    ) -> None:
        super().__init__(parent)
        self.view, self.runner, self.stays, self.reading = view, runner, stays, reading
        self._row = -1
        self._whole_for: bool | None = None
        self.limits: Limits | None = None
        self.slot = f"enlarged-{next(_numbers)}"
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        title = words.label(view.title)
        self.setWindowTitle(title)
        self.resize(parent.size() * 0.97)
        self.sheet = Sheet()
        self.sheet.setAccessibleName(words.say("app.enlarged.picture", title=title))
        self.said = Prose(words.say("app.enlarged.nothing"), tone="quiet")
        self.buttons: dict[str, QPushButton] = {}
        page = ColumnLayout(self)
        page.setContentsMargins(24, 18, 24, 18)
        page.setSpacing(12)
        page.addLayout(self._head(title))
        body = RowLayout()
        body.setSpacing(16)
        left = ColumnLayout()
        left.addLayout(self._tools())
        left.addWidget(self.sheet, 1)
        left.addWidget(self.said)
        body.addLayout(left, 3)
        body.addLayout(self._beside(), 1)
        page.addLayout(body, 1)
        self.sheet.wanted.connect(self.show_part)
        self.sheet.read.connect(self._say_value)
        self.sheet.looked.connect(self._show_point)
        self.sheet.taken.connect(self.take_point)
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(60)
        self._later.timeout.connect(self.draw)
        theme.changed.connect(self._later.start)
        copy = QShortcut(QKeySequence.StandardKey.Copy, self.sheet)
        copy.setContext(Qt.ShortcutContext.WidgetShortcut)
        copy.activated.connect(self.copy_picture)
        self.sheet.setFocus()
        self.runner.start(
            read_out, view, words.language(), done=self._take_values, slot=f"{self.slot}-values", lane=SHORT
        )

    def _button(self, name: str, press: Any, *, look: str = "") -> QPushButton:
        button = QPushButton(words.say(f"app.enlarged.{name}"))
        button.setObjectName(name)
        button.setAutoDefault(False)
        spoken = f"app.enlarged.{name}_name"
        if words.has(spoken):
            button.setAccessibleName(words.say(spoken))
            button.setToolTip(words.say(spoken))
        if look:
            button.setProperty("look", look)
        button.clicked.connect(press)
        self.buttons[name] = button
        return button

    def _head(self, title: str) -> QHBoxLayout:
        line = RowLayout()
        line.addWidget(Heading(title, size="side"), 1)
        line.addWidget(self._button("copy_picture", self.copy_picture))
        line.addWidget(self._button("copy_data", self.copy_data))
        for name in FORMATS:
            look = "primary" if name == "pdf" else ""
            line.addWidget(self._button(name, lambda _=False, name=name: self.ask_save(name), look=look))
        line.addWidget(self._button("close", self.close))
        return line

    def _tools(self) -> QHBoxLayout:
        line = RowLayout()
        line.addWidget(self._button("whole", lambda: self.show_part(None)))
        line.addWidget(self._button("larger", lambda: self.sheet.zoom(STEP)))
        line.addWidget(self._button("smaller", lambda: self.sheet.zoom(1 / STEP)))
        self.drags = QButtonGroup(self)
        for name in ("zoom", "move"):
            button = self._button(name, self._choose_drag, look="try")
            button.setCheckable(True)
            button.setChecked(name == "zoom")
            self.drags.addButton(button)
            line.addWidget(button)
        self.part = name_widget(Prose(tone="quiet", pixels=12), "part-in-view")
        self.part.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        line.addWidget(self.part, 1)
        return line

    def _beside(self) -> QVBoxLayout:
        column = ColumnLayout()
        self.table = TableBody(as_table(self.view))
        about = [
            Heading(words.say("app.enlarged.as_table"), size="side"),
            Prose(words.say("app.enlarged.as_table_why"), tone="quiet", pixels=12),
            self.table,
        ]
        if self.stays:
            column.addWidget(Prose(words.say("app.enlarged.stays"), tone="care", pixels=12))
        if self.reading is None:
            add(column, *about, STRETCH)
            return column
        # A point with many columns is longer than a small window: it scrolls, what takes it stays in view.
        self.point, inside = PointPanel(), QWidget()
        self.point.wanted.connect(self.take_point)
        add(make_column(inside=inside, spacing=8, margins=(0, 0, 8, 0)), self.point, *about, STRETCH)
        area = name_widget(QScrollArea(), "beside")
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(inside)
        column.addWidget(area, 1)
        column.addWidget(self.point.take)
        return column

    def _show_point(self, row: int) -> None:
        """Show a point line by line; the last one stays while the pointer is at none."""
        if self.reading is not None and row >= 0:
            self._row = row
            self.point.show_point(self.reading.at(row))

    def take_point(self) -> None:
        """Take the point that is shown beside, where it can be, and close."""
        if self.reading is not None and self._row >= 0 and self.point.take.isEnabled():
            row = self._row
            self.close()
            self.reading.take(row)

    def _choose_drag(self) -> None:
        self.sheet.moves = self.buttons["move"].isChecked()

    def show_part(self, limits: Limits | None) -> None:
        """Show a part of both axes, or all of it."""
        self.limits = limits
        self.draw()

    def draw(self) -> None:
        """Have the picture painted as it is wanted now."""
        self.runner.start(
            paint,
            self.view,
            self.sheet.width(),
            self.sheet.height(),
            ratio=self.devicePixelRatioF(),
            dark=theme.tokens().is_dark,
            language=words.language(),
            stays=self.stays,
            limits=self.limits,
            done=self._drawn,
            slot=self.slot,
            lane=SHORT,
        )

    def _drawn(self, pixels: Pixels) -> None:
        if not isValid(self):
            return
        self.sheet.show_pixels(pixels)
        look = theme.tokens().is_dark
        if self.limits is None:
            self._take_whole(look, pixels)
        elif self._whole_for != look:  # the look changed since all of it was shown
            self.runner.start(
                paint,
                self.view,
                self.sheet.width(),
                self.sheet.height(),
                dark=look,
                language=words.language(),
                done=lambda whole: self._take_whole(look, whole),
                slot=f"{self.slot}-whole",
                lane=SHORT,
            )
        self._say_part()

    def _take_whole(self, look: bool, pixels: Pixels) -> None:
        if isValid(self):
            self._whole_for = look
            self.sheet.show_whole(pixels)

    def _say_part(self) -> None:
        """Say how much is in view while a part is shown."""
        count = len(self.sheet.values)
        tells = self.sheet.is_part() and 0 < count < MOST_READ
        said = words.say("app.enlarged.part", seen=self.sheet.values_in_view(), count=count) if tells else ""
        self.part.say(said)

    def _take_values(self, values: tuple[tuple[float, float, str, int], ...]) -> None:
        if isValid(self):
            self.sheet.values = tuple(one[:3] for one in values)
            self.sheet.rows = tuple(one[3] for one in values)

    def _say_value(self, said: str) -> None:
        self.said.say(
            words.say("app.enlarged.under", values=said) if said else words.say("app.enlarged.nothing")
        )
        self.sheet.setAccessibleDescription(said)

    def copy_picture(self) -> None:
        """Put the picture on the clipboard, with what it says about staying."""
        if not self.sheet.image.isNull():
            QGuiApplication.clipboard().setImage(self.sheet.image)
            self.said.say(words.say("app.enlarged.copied_picture"))

    def copy_data(self) -> None:
        """Put the numbers on the clipboard."""
        self._start(data, self.view, words.language(), self.stays, done=self._copied)

    def _copied(self, written: str) -> None:
        QGuiApplication.clipboard().setText(written)
        if isValid(self):
            self.said.say(words.say("app.enlarged.copied_data", rows=len(as_table(self.view).rows)))

    def ask_save(self, ending: str) -> None:
        """Ask where a picture, or its numbers, shall be written."""
        name, kinds = self.buttons[ending].text(), words.say(f"app.enlarged.filter_{ending}")
        dialog = QFileDialog(self, name, "", kinds)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(ending)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.save)
        dialog.open()

    def save(self, path: str) -> None:
        """Write the part that is shown, or all numbers, by the ending of the name."""
        options = {"language": words.language(), "stays": self.stays}
        if not path.lower().endswith(".csv"):
            options["limits"] = self.limits

        def saved(name: str) -> None:
            if isValid(self):
                said = "saved" if name else "not_saved"
                self.said.say(words.say(f"app.enlarged.{said}", file=Path(path).name))

        self._start(write, self.view, path, done=saved, **options)

    def _start(self, work: Any, *arguments: Any, done: Any, **options: Any) -> None:
        slot = f"{self.slot}-{work.__name__}"
        self.runner.start(work, *arguments, done=done, slot=slot, lane=SHORT, **options)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._later.start()
