"""People by the size of their group, as bars; those below the limit are amber and named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from PySide6.QtCore import QLineF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QButtonGroup, QLabel, QRadioButton, QWidget

from app import words
from app.parts.cards import Card, pill, row
from app.parts.exact_field import ExactField
from app.parts.making import (
    STRETCH,
    add,
    align_left,
    empty,
    make_button,
    make_column,
    make_grid,
    make_row,
    name_widget,
)
from app.parts.plot import Painted, ShareBar, cut, make_bars
from app.parts.prose import Heading, Prose
from app.parts.second_file import SecondFile
from app.screens.risk.asks import INTRUDER, POPULATION
from app.theme import mono_font, text_font, theme
from app.words import number
from engine.views import View

# --- What other files change ----------------------------------------------------------------------------

FIELD = "population_size"


class BesideCard(Card):
    """``chosen`` tells what is asked with, by name: a path or a size; None where no longer."""

    chosen = Signal(str, object)

    def __init__(self) -> None:
        super().__init__(words.say("app.risk.beside.heading"))
        self.setObjectName("beside")
        self.body.setSpacing(12)
        self.files: dict[str, SecondFile] = {}
        self.answers: dict[str, Prose] = {}
        self._add_file(POPULATION, "analyses.disclosure.sources.population")
        self.how_many = ExactField(words.say("app.risk.beside.size"), smallest=1, whole=True, width=120)
        self.how_many.setObjectName(FIELD)
        self.how_many.decided.connect(lambda number: self.chosen.emit(POPULATION, number))
        said = Prose(words.say("app.risk.beside.size"), tone="quiet")
        said.setWordWrap(False)
        self.body.addLayout(row(said, self.how_many))
        self._add_answer(POPULATION)
        self._add_file(INTRUDER, "analyses.linkage.sources.intruder")
        self._add_answer(INTRUDER)

    def _add_file(self, name: str, text: str) -> None:
        file = SecondFile(name, words.say(f"{text}.label"), words.say(f"app.risk.beside.{name}"))
        file.chosen.connect(lambda path: self.chosen.emit(name, Path(path)))
        file.removed.connect(lambda: self.chosen.emit(name, None))
        self.files[name] = file
        self.body.addWidget(file)

    def _add_answer(self, name: str) -> None:
        self.answers[name] = Prose()
        self.answers[name].setObjectName(f"answer-{name}")
        self.answers[name].hide()
        self.body.addWidget(self.answers[name])

    def show_asked(self, name: str, given: Path | Fraction | None) -> None:
        """Show what is asked with; its answer is not known yet."""
        self.files[name].show_file(given if isinstance(given, Path) else None)
        if name == POPULATION:
            self.how_many.show_number(given if isinstance(given, Fraction) else None)
        self.show_answer(name, ())

    def show_answer(self, name: str, sentences: Sequence[str]) -> None:
        """Show what was found, in sentences."""
        self.answers[name].say("\n\n".join(sentences))
        self.answers[name].setVisible(bool(sentences))


# --- The most exposed people, for the custodian alone ---------------------------------------------------

SHOWN = 10


class ExposedCard(Card):
    """A line for each: row, what shows, and the columns that are enough."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("exposed")
        heading = Heading(words.say("app.risk.exposed.heading"), size="card", tone="quiet")
        self.open = make_button(press=self._toggle, look="link")
        head = make_row((heading, 1), pill(words.say("app.risk.exposed.stays")), self.open)
        self.sentence = Prose(tone="quiet")
        add(self.body, head, self.sentence)
        self.lines = QWidget()
        self._grid = make_grid(self.lines, across=18, margins=0)
        self._grid.setColumnStretch(1, 1)
        self.body.addWidget(self.lines)
        self._people: Sequence[Any] = ()
        self._is_open, self._all = False, False

    def show_people(self, people: Sequence[Any], *, singled_out: int, everybody: int, few: int) -> None:
        """Take other people; their rows stay closed until they are asked for."""
        if people is not self._people:
            self._people, self._is_open, self._all = people, False, False
        name = "sentence" if singled_out else "nobody"
        self.sentence.say(words.say(f"app.risk.exposed.{name}", count=singled_out, people=everybody, few=few))
        self._fill()

    def _toggle(self) -> None:
        if self._is_open and not self._all and len(self._people) > SHOWN:
            self._all = True
        else:
            self._is_open, self._all = not self._is_open, False
        self._fill()

    def _fill(self) -> None:
        empty(self._grid)
        self.open.setVisible(bool(self._people))
        more = self._is_open and not self._all and len(self._people) > SHOWN
        word = "all" if more else "hide" if self._is_open else "show"
        self.open.setText(words.say(f"app.risk.exposed.{word}", count=len(self._people)))
        self.lines.setVisible(self._is_open)
        for line, one in enumerate(self._people[: len(self._people) if self._all else SHOWN]):
            if not self._is_open:
                break
            row = words.say("app.risk.exposed.row", row=words.number(one.row + 1))
            said = [value or words.say("app.risk.exposed.missing") for value in one.values]
            for place, (written, face) in enumerate(
                (
                    (row, text_font(12)),
                    (", ".join(said), text_font(13)),
                    (", ".join(one.columns), mono_font(12)),
                )
            ):
                label = QLabel(written)
                label.setFont(face)
                label.setTextFormat(Qt.TextFormat.PlainText)
                label.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)
                self._grid.addWidget(label, line, place)


# --- The worst case in one sentence ---------------------------------------------------------------------


class WorstCard(Card):
    """Who stands alone, in one sentence; below it how many are among few, and the chance to be picked."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("alone")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.sentence = name_widget(Prose(pixels=16), "worst-sentence")
        self.under = name_widget(Prose(tone="quiet"), "under")
        self.average = name_widget(Prose(tone="quiet"), "average")
        for one in (self.under, self.average):
            one.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        add(self.body, self.sentence, self.under, self.average)

    def show_worst(self, sentence: str, under: str, average: str, *, is_bad: bool) -> None:
        """Show other sentences."""
        self.sentence.set_tone("care" if is_bad else "")
        for label, said in ((self.sentence, sentence), (self.under, under), (self.average, average)):
            label.say(said)
        self.setAccessibleName(self.sentence.plain())


# --- The shortest ways to groups that are large enough --------------------------------------------------

SHOWN_WAYS = 4


class WaysCard(Card):
    """A list of ways to choose from: ``chosen`` tells the changes of one, ``taken`` those to be kept."""

    chosen = Signal(object)
    taken = Signal(object)

    def __init__(self) -> None:
        super().__init__(" ")
        self.setObjectName("ways-card")
        self.heading.setProperty("tone", "")
        self.note = name_widget(Prose(tone="quiet", pixels=12), "ways-note")
        self._lines = make_grid(across=12, down=8)
        self._lines.setColumnStretch(1, 1)
        self.group = QButtonGroup(self)
        self.group.idClicked.connect(self._choose)
        self.take = make_button(words.say("app.risk.ways.take"), "take-way", self._take)
        add(self.body, self.note, self._lines, STRETCH, align_left(self.take))
        self.ways: tuple[Any, ...] = ()
        self.hide()

    def show_ways(self, found: Any, today: Any, *, limit: int, everybody: int) -> None:
        """Show what was found; nothing is chosen for the person but the first line."""
        empty(self._lines)
        for button in self.group.buttons():
            self.group.removeButton(button)
        self.ways = () if found is None else found.ways[:SHOWN_WAYS]
        self.setVisible(bool(self.ways))
        if not self.ways:
            return
        self.heading.setText(words.say("app.risk.ways.heading", k=limit))
        name = "note" if found.is_complete else "note_partly"
        self.note.say(words.say(f"app.risk.ways.{name}", counted=found.counted))
        for place, way in enumerate(self.ways):
            said = words.say("app.risk.ways.left", alone=way.tried.alone, under=way.tried.under, k=limit)
            button = name_widget(
                QRadioButton(), f"way-{place}", words.pair(way_words(way.changes, today), said)
            )
            told = Prose(f"**{way_words(way.changes, today)}**")
            told.setBuddy(button)
            told.setMinimumWidth(120)
            bar = ShareBar(6, least=2.0)
            bar.show_share(way.tried.under / everybody if everybody else 0.0, colours=("line", "accent"))
            line = make_column(told, make_row((Prose(said, tone="quiet", pixels=12), 1), (bar, 1)), spacing=2)
            self.group.addButton(button, place)
            self._lines.addWidget(button, place, 0, Qt.AlignmentFlag.AlignTop)
            self._lines.addLayout(line, place, 1)
        self.group.button(0).setChecked(True)

    @property
    def way(self) -> Any:
        """What is chosen."""
        at = self.group.checkedId()
        return self.ways[at] if 0 <= at < len(self.ways) else None

    def _choose(self, place: int) -> None:
        self.chosen.emit(self.ways[place].changes)

    def _take(self) -> None:
        if self.way is not None:
            self.taken.emit(self.way.changes)


def way_words(changes: Mapping[str, int], today: Any) -> str:
    """Return what is done with columns: those left out together, each coarser one with its values."""
    known = {} if today is None else {cause.column: cause.steps for cause in today.causes}
    out = [name for name, step in changes.items() if step < 0]
    said = [words.say("app.risk.ways.out", columns=", ".join(out))] if out else []
    coarser = [
        words.say("app.risk.ways.step", column=name, values=known[name][step - 1].values)
        for name, step in changes.items()
        if step > 0
    ]
    said += [words.say("app.risk.ways.coarser", columns=", ".join(coarser))] if coarser else []
    return "; ".join(said)


TOP, BOTTOM, GAP, LEGEND = 40, 22, 6, 20


class GroupHistogram(Painted):
    """Bars with their numbers above and the sizes below, and a line at the limit."""

    OPENS = True

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.grow_across()
        self.bars: tuple[tuple[str, int], ...] = ()
        self.then: tuple[int, ...] = ()
        self.below, self.words, self.names = 0, "", ("", "")
        self._written = QRectF()  # the number drawn last

    def sizeHint(self) -> QSize:
        return QSize(380, 210)

    def show_bars(
        self,
        bars: Sequence[tuple[str, int]],
        *,
        below: int,
        said: str,
        then: Sequence[int] = (),
        names: tuple[str, str] = ("", ""),
    ) -> None:
        """Show other bars.

        Parameters
        ----------
        bars
            Size or sizes, and people.
        below
            How many bars lie below the limit.
        said
            What is said about these.
        then
            People of the same sizes after a change, as bars beside.
        names
            Of the bars as it is, and after the change.
        """
        self.bars, self.below, self.words = tuple(bars), below, said
        self.then, self.names = tuple(then), names
        later = [f" → {number(count)}" for count in self.then] or [""] * len(self.bars)
        lines = zip(self.bars, later, strict=True)
        spoken = "; ".join(words.pair(label, f"{number(count)}{more}") for (label, count), more in lines)
        self.setAccessibleDescription(f"{said}. {spoken}" if said else spoken)
        self.update()

    def picture(self) -> View | None:
        sides = [[count for _, count in self.bars], *([self.then] if self.then else [])]
        labels, names = [label for label, _ in self.bars], self.names if self.then else ()
        axis = words.say("app.risk.sizes.axis")
        return make_bars(self.accessibleName(), labels, sides, names, axis) if self.bars else None

    def paint(self, painter: QPainter) -> None:
        tokens = theme.tokens()
        slot = self.width() / max(len(self.bars), 1)
        top = max((*self.then, *(count for _, count in self.bars)), default=0) or 1
        legend = LEGEND if self.then else 0
        above = TOP + (16 if self.then else 0)  # a number pulled over the one beside it stays below the words
        room = self.height() - above - BOTTOM - legend
        floor = float(self.height() - BOTTOM - legend)
        if 0 < self.below < len(self.bars):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(tokens.colour("care_soft"))
            painter.drawRect(QRectF(0, 18, self.below * slot, floor - 18))
        series, self._written = 2 if self.then else 1, QRectF()
        for place, (label, count) in enumerate(self.bars):
            both = (count, self.then[place]) if self.then else (count,)
            width = (slot - GAP) / series - (series - 1)
            for at, people in enumerate(both):
                now = "care" if place < self.below or self.then else "accent"
                left = place * slot + GAP / 2 + at * (width + 2)
                bar = QRectF(left, floor, width, room * people / top)
                self._bar(painter, bar, people, "accent" if at else now, pulled=series > 1 and not at)
            painter.setPen(tokens.colour("quiet"))
            below = QRectF(place * slot, floor + 4, slot, 16)
            painter.drawText(below, Qt.AlignmentFlag.AlignCenter, label)
        painter.setPen(tokens.colour("edge"))
        painter.drawLine(QLineF(0, floor, self.width(), floor))
        if self.words:
            painter.setPen(tokens.colour("care" if self.below else "quiet"))
            painter.setFont(text_font(11, 600))
            painter.drawText(QRectF(0, 0, self.width(), 16), Qt.AlignmentFlag.AlignLeft, self.words)
        if self.then:
            self._legend(painter, floor + BOTTOM)

    def _bar(self, painter: QPainter, place: QRectF, people: int, colour: str, *, pulled: bool) -> None:
        """Draw a bar up from the floor, with its number above, ``pulled`` away from the bar at the right."""
        tall = max(2.0, place.height()) if people else 0.0
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.tokens().colour(colour))
        painter.drawRoundedRect(QRectF(place.left(), place.top() - tall, place.width(), tall), 2, 2)
        painter.setPen(theme.tokens().colour("text"))
        said = words.number(people)
        above = QRectF(0, place.top() - tall - 17, painter.fontMetrics().horizontalAdvance(said) + 2, 16)
        above.moveLeft(place.center().x() - above.width() / 2)
        if pulled and above.right() > place.right():
            above.moveRight(place.right())
        above.moveRight(min(above.right(), float(self.width())))
        above.moveLeft(max(above.left(), 0.0))
        if above.intersects(self._written):  # not over the number of the bar beside it
            above.moveBottom(self._written.top())
        painter.drawText(above, Qt.AlignmentFlag.AlignCenter, said)
        self._written = above

    def _legend(self, painter: QPainter, top: float) -> None:
        left = 0.0
        painter.setFont(text_font(11))
        for name, colour in zip(self.names, ("care", "accent"), strict=True):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.tokens().colour(colour))
            painter.drawRect(QRectF(left, top + 4, 9, 9))
            painter.setPen(theme.tokens().colour("quiet"))
            said = cut(painter, name, self.width() - left - 16)
            painter.drawText(
                QRectF(left + 14, top, self.width() - left - 14, 17), Qt.AlignmentFlag.AlignLeft, said
            )
            left += 34 + painter.fontMetrics().horizontalAdvance(said)
