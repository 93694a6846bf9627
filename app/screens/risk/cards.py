"""People by the size of their group, as bars; those below the limit are amber and named."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from PySide6.QtCore import QLineF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QLabel, QWidget

from app import words
from app.parts.cards import Card, NumberCard, pill, row
from app.parts.exact_field import ExactField
from app.parts.making import STRETCH, add, empty, make_button, make_grid, make_row
from app.parts.plot import Painted, ShareBar
from app.parts.prose import Heading, Prose
from app.parts.second_file import SecondFile
from app.screens.risk.asks import INTRUDER, POPULATION
from app.theme import mono_font, text_font, theme
from engine import texts

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
        head = make_row(Heading(words.say("app.risk.exposed.heading"), size="card", tone="quiet"))
        self.open = make_button(press=self._toggle, look="link")
        add(head, pill(words.say("app.risk.exposed.stays")), STRETCH, self.open)
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
            row = words.say("app.risk.exposed.row", row=texts.number(one.row + 1))
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


# --- A number with its sentence, and a bar on which the limit and its source stand at their place -------

HEIGHT, BAR = 20, 6


class MeterCard(NumberCard):
    """A number card with a meter and, below it, what is allowed and who says so."""

    def __init__(self, heading: str, *, parent: QWidget | None = None) -> None:
        super().__init__(heading, parent=parent)
        self.meter = ShareBar(BAR, HEIGHT, least=BAR)
        self.allowed = Prose(pixels=11)
        self.source = Prose(tone="quiet", pixels=11)
        self.source.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.body.addWidget(self.meter)
        below = make_row((self.allowed, 1), (self.source, 1))
        self.body.addLayout(below)

    def show_meter(
        self, share: float, limit: float = -1.0, *, beyond: bool, allowed: str = "", source: str = ""
    ) -> None:
        """Show where the number lies; without a limit neither tick nor source."""
        self.meter.show_share(share, limit, colours=("line", "care" if beyond else "accent"))
        self.allowed.say(f"**{allowed}**" if allowed else "")
        self.source.say(source)
        spoken = f"{allowed}, {source}" if allowed else ""
        self.setAccessibleDescription(spoken)


TOP, BOTTOM, GAP = 40, 22, 6


class GroupHistogram(Painted):
    """Bars with their numbers above and the sizes below, and a line at the limit."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.grow_across()
        self.bars: tuple[tuple[str, int], ...] = ()
        self.below, self.words = 0, ""

    def sizeHint(self) -> QSize:
        return QSize(380, 190)

    def show_bars(self, bars: Sequence[tuple[str, int]], *, below: int, words: str) -> None:
        """Show other bars.

        Parameters
        ----------
        bars
            Size or sizes, and people.
        below
            How many bars lie below the limit.
        words
            What is said about these.
        """
        self.bars, self.below, self.words = tuple(bars), below, words
        spoken = "; ".join(f"{label}: {texts.number(count)}" for label, count in self.bars)
        self.setAccessibleDescription(f"{words}. {spoken}" if words else spoken)
        self.update()

    def paint(self, painter: QPainter) -> None:
        tokens = theme.tokens()
        slot = self.width() / max(len(self.bars), 1)
        top = max((count for _, count in self.bars), default=0) or 1
        room = self.height() - TOP - BOTTOM
        floor = float(self.height() - BOTTOM)
        for place, (label, count) in enumerate(self.bars):
            tall = max(2.0, room * count / top) if count else 0.0
            left, width = place * slot + GAP / 2, slot - GAP
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(tokens.colour("care" if place < self.below else "accent"))
            painter.drawRoundedRect(QRectF(left, floor - tall, width, tall), 2, 2)
            painter.setPen(tokens.colour("text"))
            above = QRectF(left - GAP, floor - tall - 17, width + 2 * GAP, 16)
            painter.drawText(above, Qt.AlignmentFlag.AlignCenter, texts.number(count))
            painter.setPen(tokens.colour("quiet"))
            painter.drawText(
                QRectF(left - GAP, floor + 4, width + 2 * GAP, 16), Qt.AlignmentFlag.AlignCenter, label
            )
        painter.setPen(tokens.colour("line"))
        painter.drawLine(QLineF(0, floor, self.width(), floor))
        if 0 < self.below < len(self.bars):
            limit = self.below * slot
            painter.setPen(QPen(tokens.colour("text"), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QLineF(limit, 18, limit, floor))
        if self.words:
            painter.setPen(tokens.colour("care" if self.below else "quiet"))
            painter.setFont(text_font(11, 600))
            painter.drawText(QRectF(0, 0, self.width(), 16), Qt.AlignmentFlag.AlignLeft, self.words)
