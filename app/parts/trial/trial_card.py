"""What the settings give on the custodian's own rows, each kind of answer drawn in its own way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QFrame, QLineEdit, QPushButton, QScrollArea, QWidget

from app import words
from app.parts.busy import Busy
from app.parts.cards import Card, pill
from app.parts.layouts import RowLayout
from app.parts.making import add, align_left, empty, make_button, make_column, make_grid, name_widget
from app.parts.plot import ShareBar
from app.parts.prose import Heading, Prose, name_label
from app.parts.trial.count_view import CountView
from app.parts.trial.solution_view import SolutionView
from app.parts.views.table import TableBody
from app.theme import text_font
from engine.methods.trying import Attacked, Choices, CountTables, SolutionMap, Standing, Tried

# --- Who stands alone after each step so far ------------------------------------------------------------


class StandingView(QWidget):
    """Shows a count; nothing is taken in it."""

    taken = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        box = make_column(inside=self, spacing=8, margins=0)
        self.figure, self.note = Heading(size="side"), Prose(tone="quiet", pixels=12)
        self.figure.setObjectName("alone-now")
        add(box, Prose(words.say("app.trying.standing.heading"), tone="quiet", pixels=12), self.figure)
        box.addWidget(self.note)
        self.lines = make_grid(across=14, down=6)
        self.lines.setColumnStretch(0, 3)
        self.lines.setColumnStretch(1, 2)
        box.addLayout(self.lines)

    def show_answer(self, shown: Tried) -> None:
        """Show who stands alone before, after each step, and now."""
        assert isinstance(shown, Standing)
        now = shown.after[-1][1] if shown.after else shown.before
        before = words.number(shown.before)
        self.figure.setText(f"{before} → {words.number(now)}" if shown.after else before)
        name = "by" if shown.columns else "by_nothing"
        columns = ", ".join(shown.columns)
        self.note.say(words.say(f"app.trying.standing.{name}", people=shown.people, columns=columns))
        empty(self.lines)
        steps = [(words.say("app.trying.standing.before"), shown.before)]
        steps += [
            (words.say("app.trying.standing.step", number=number, step=words.label(step)), count)
            for number, (step, count) in enumerate(shown.after, 1)
        ]
        most = max(1, *(count for _, count in steps))
        for line, (said, count) in enumerate(steps):
            figure = Prose(f"**{words.number(count)}**")
            figure.setWordWrap(False)
            self.lines.addWidget(Prose(said, pixels=12), line, 0)
            bar = ShareBar(height=16)
            bar.setMinimumWidth(60)
            bar.show_share(count / most)
            self.lines.addWidget(bar, line, 1)
            self.lines.addWidget(figure, line, 2, Qt.AlignmentFlag.AlignRight)


# --- Lines that were found in the table, to be ticked ---------------------------------------------------

LINE, HIGHEST = 34, 420


class ChoicesView(QWidget):
    """``ticked`` tells a setting, a record, its place among those given if any, and whether it is on."""

    taken = Signal(object)
    ticked = Signal(str, object, object, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.shown: Choices | None = None
        box = make_column(inside=self, spacing=8, margins=0)
        self.note = name_widget(Prose(tone="quiet", pixels=12), "choices-note")
        self.search = QLineEdit()
        self.search.setObjectName("choices-search")
        self.search.setPlaceholderText(words.say("app.trying.choices.search"))
        self.search.setAccessibleName(words.say("app.trying.choices.search"))
        self.search.setMaximumWidth(320)
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(lambda text: self._filter())
        add(box, self.note, self.search)
        self.lines = QWidget()
        self.area = name_widget(QScrollArea(), "choices", words.say("app.trying.choices.name"))
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setWidget(self.lines)
        self.grid = make_grid(self.lines, across=18, down=0, margins=(0, 0, 12, 0))
        self.grid.setColumnStretch(0, 1)
        box.addWidget(self.area)
        self.ticks: list[QCheckBox] = []
        self._beside: list[list[QWidget]] = []

    def show_answer(self, shown: Tried) -> None:
        """Show the lines; those that stay the same keep their boxes, and the focus with them."""
        assert isinstance(shown, Choices)
        fresh = self.shown is None or self.shown.rows != shown.rows
        self.shown = shown
        if fresh:
            self._make()
        for tick, place in zip(self.ticks, shown.taken, strict=True):
            with QSignalBlocker(tick):
                tick.setChecked(place is not None)
        on = sum(place is not None for place in shown.taken)
        self.note.say(
            words.say("app.trying.choices.note", found=shown.found, shown=len(shown.rows), ticked=on)
            if shown.rows
            else words.say("app.trying.choices.none")
        )
        self.search.setVisible(bool(shown.rows))

    def _make(self) -> None:
        assert self.shown is not None
        empty(self.grid)
        self.ticks, self._beside = [], []
        for column, heading in enumerate(self.shown.headings if self.shown.rows else ()):
            label = name_label(words.label(heading))
            label.setFont(text_font(12, 600))
            label.setProperty("tone", "quiet")
            self.grid.addWidget(label, 0, column)
        for line, row in enumerate(self.shown.rows):
            said = str(row[0])
            tick = name_widget(QCheckBox(said), f"tick-{line}")
            tick.setToolTip(words.tip(said))
            tick.clicked.connect(lambda on, line=line: self._tick(line, on))
            self.grid.addWidget(tick, line + 1, 0)
            beside: list[QWidget] = []
            for column, cell in enumerate(row[1:], 1):
                number = words.number(cell) if isinstance(cell, int | float) else str(cell)
                label = name_label(number)
                label.setFont(text_font())
                self.grid.addWidget(label, line + 1, column, Qt.AlignmentFlag.AlignRight)
                beside.append(label)
            self.ticks.append(tick)
            self._beside.append(beside)
        height = LINE * (len(self.ticks) + 1)
        self.area.setVisible(bool(self.ticks))
        self.area.setFixedHeight(min(HIGHEST, height))
        self._filter()

    def _filter(self) -> None:
        """Show the lines that hold every word that is searched for."""
        wanted = self.search.text().casefold().split()
        for tick, beside in zip(self.ticks, self._beside, strict=True):
            is_shown = all(word in tick.text().casefold() for word in wanted)
            for widget in (tick, *beside):
                widget.setVisible(is_shown)

    def _tick(self, line: int, on: bool) -> None:
        assert self.shown is not None
        shown = self.shown
        self.ticked.emit(shown.parameter, dict(shown.records[line]), shown.taken[line], on)


# --- What an attack reads off what would leave ------------------------------------------------------------


class AttackedView(QWidget):
    """Shows what an attack read; nothing is taken in it."""

    taken = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        box = make_column(inside=self, spacing=10, margins=0)
        self.said = name_widget(Prose(tone="care"), "attack-said")
        self._tables = make_column(spacing=10)
        add(box, self.said, self._tables)

    def show_answer(self, shown: Tried) -> None:
        """Show the worst of it in a sentence, and all of it in tables."""
        assert isinstance(shown, Attacked)
        self.said.say(words.label(shown.said))
        empty(self._tables)
        for view in shown.views:
            add(
                self._tables,
                Prose(f"**{words.label(view.title)}**", tone="quiet", pixels=12),
                TableBody(view),
            )


class AnswerView(Protocol):
    """A widget for one kind of answer; its signal ``taken`` tells parameters that somebody chose in it."""

    taken: Any

    def show_answer(self, shown: Tried) -> None: ...


VIEWS: dict[type, Callable[[], Any]] = {
    SolutionMap: SolutionView,
    Standing: StandingView,
    Choices: ChoicesView,
    CountTables: CountView,
    Attacked: AttackedView,
}
"""The widget of each kind of answer: a new kind is one line here."""


class TrialCard(Card):
    """``taken`` tells parameters; ``wanted`` that figures are asked for, ``stopped`` that they are not.

    ``looked`` tells that something is looked at that is not taken.
    """

    taken = Signal(object)
    ticked = Signal(str, object, object, bool)
    looked = Signal()
    wanted = Signal()
    stopped = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("trial")
        self._views: dict[type, Any] = {}
        line = RowLayout()
        line.addWidget(Heading(words.say("app.trying.heading"), size="card"), 1)
        line.addWidget(pill(words.say("app.trying.inside")))
        self.note = name_widget(Prose(tone="quiet", pixels=12), "trial-note")
        self.ask = make_button("", "trial-ask", self.wanted.emit)
        self.under_way = Busy()
        add(self.body, line, align_left(self.ask), self.under_way)
        self._parts = QWidget()
        self._column = make_column(inside=self._parts, spacing=18, margins=(0, 6, 0, 0))
        add(self.body, self._parts, self.note)  # below: what is counted shall be in view
        self.hide()

    def show_answers(self, answers: Sequence[Tried], note: str) -> None:
        """Show what was found; a widget that is there already goes on, so that it keeps the focus."""
        kinds = [type(one) for one in answers]
        if list(self._views) != kinds:
            empty(self._column)
            self._views = {}
            for kind in kinds:
                view = VIEWS[kind]()
                view.taken.connect(self.taken)
                if isinstance(view, SolutionView):
                    view.looked.connect(self.looked)
                if isinstance(view, ChoicesView):
                    view.ticked.connect(self.ticked)
                self._views[kind] = view
                self._column.addWidget(view)
        for one in answers:
            self._views[type(one)].show_answer(one)
        self._parts.setVisible(bool(answers))
        self._parts.setEnabled(True)
        self._say(note, ask="")

    def barred(self) -> QPushButton | None:
        """Return what leads on where something is shown that cannot leave; None otherwise."""
        shown = (one for one in self._views.values() if isinstance(one, SolutionView) and one.is_barred)
        found = next(shown, None) if self._parts.isVisible() else None
        return None if found is None else found.back

    def show_waiting(self, note: str) -> None:
        """Say what is still missing; nothing is shown that belongs to other settings."""
        self._parts.hide()
        self._say(note, ask="")

    def show_asking(self, note: str) -> None:
        """Offer to look, where that takes long."""
        self._parts.hide()
        self._say(note, ask=words.say("app.trying.ask"))

    def show_busy(self) -> None:
        """Say that it is being counted, how far it is, and offer to stop.

        What stands there belongs to the settings before.
        """
        self._say("", ask="")
        self.under_way.begin(words.say("app.trying.counting"), self.stopped.emit)

    def show_progress(self, share: float, stage: str) -> None:
        """Show how far the counting is."""
        self.under_way.step(share, stage)

    def _say(self, note: str, *, ask: str) -> None:
        self.under_way.end()
        self.note.say(note)
        self.note.setVisible(bool(note))
        self.ask.setText(ask)
        self.ask.setVisible(bool(ask))
        self.show()
