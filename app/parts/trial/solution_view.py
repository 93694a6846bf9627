"""The map of combinations: the figures of one, the steps of each column, the picture, what a step costs."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QButtonGroup,
    QGridLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app import words
from app.parts.cards import row
from app.parts.form.parameter_fields import empty
from app.parts.prose import Heading, Prose, name_label
from app.parts.table import DataTable
from app.parts.trial.solution import (
    barred,
    best_first,
    changed_by,
    lost,
    moved,
    neighbours,
    step_words,
    steps_words,
    why,
)
from app.parts.trial.solution_plot import SolutionPlot
from app.parts.wrapping import Wrapping
from app.theme import mono_font
from engine.methods.trying import SolutionMap, Tried

FIGURES = ("left_out", "alone", "lost")
BESIDE = 640  # width from which what a step costs stands beside the picture
MOST_LISTED = 200


class SolutionView(QWidget):
    """``taken`` tells the parameters of a combination that somebody chose."""

    taken = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.shown: SolutionMap | None = None
        self.place = 0
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(14)
        self.numbers: dict[str, tuple[Heading, Prose]] = {}
        box.addLayout(self._build_figures())
        self._steps = QGridLayout()
        self._steps.setHorizontalSpacing(14)
        self._steps.setVerticalSpacing(6)
        self._steps.setColumnStretch(1, 1)
        box.addLayout(self._steps)
        box.addWidget(self._build_barred())
        self.groups: list[QButtonGroup] = []
        self._sides = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._sides.setSpacing(18)
        box.addLayout(self._sides)
        self._build_picture()
        self._build_words()

    def _build_figures(self) -> QGridLayout:
        line = QGridLayout()
        line.setHorizontalSpacing(18)
        line.setVerticalSpacing(2)
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
        self.barred = QWidget()
        line = QVBoxLayout(self.barred)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(6)
        self.barred_words = Prose(tone="wrong")
        self.barred_words.setObjectName("map-barred")
        self.back = QPushButton(words.say("app.trying.map.back"))
        self.back.setObjectName("map-back")
        self.back.clicked.connect(lambda checked=False: self.look_at_taken())
        line.addWidget(self.barred_words)
        line.addWidget(self.back, 0, Qt.AlignmentFlag.AlignLeft)
        self.barred.hide()
        return self.barred

    def _build_picture(self) -> None:
        part = QWidget()
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        self.heading = Heading(size="small", tone="quiet")
        self.as_table = QPushButton(words.say("app.trying.map.as_table"))
        self.as_table.setObjectName("map-as-table")
        self.as_table.setProperty("look", "link")
        self.as_table.setCheckable(True)
        self.as_table.toggled.connect(lambda on: self._show_table())
        line = row(self.heading, self.as_table, stretch=False)
        line.setStretch(0, 1)
        column.addLayout(line)
        self.plot = SolutionPlot()
        self.plot.chosen.connect(self.choose)
        column.addWidget(self.plot)
        self.table = DataTable(words.say("app.trying.map.table"))
        self.table.setObjectName("map-table")
        self.table.setProperty("look", "plain")
        self.table.setFixedHeight(280)
        self.table.hide()
        self._order: list[int] = []
        column.addWidget(self.table)
        column.addStretch(1)
        self._sides.addWidget(part, 5)

    def _build_words(self) -> None:
        part = QWidget()
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        self.what, self.why = Prose(), Prose()
        self.what.setObjectName("map-what")
        self.why.setObjectName("map-why")
        self.finer, self.coarser = QVBoxLayout(), QVBoxLayout()
        self.best = QPushButton(words.say("app.trying.map.take_best"))
        self.best.setObjectName("map-take-best")
        self.best.setProperty("look", "link")
        self.best.clicked.connect(lambda checked=False: self._take_best())
        column.addWidget(self.what)
        column.addWidget(self.why)
        column.addWidget(self.best, 0, Qt.AlignmentFlag.AlignLeft)
        for side in (self.finer, self.coarser):
            side.setSpacing(2)
            column.addLayout(side)
        column.addStretch(1)
        self._sides.addWidget(part, 4)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        across, down = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._sides.setDirection(across if self.width() >= BESIDE else down)

    # --- showing -----------------------------------------------------------------------------------

    def show_answer(self, shown: Tried) -> None:
        """Show a map, with the combination that the settings take."""
        assert isinstance(shown, SolutionMap)
        fresh = self.shown is None or self.shown.ladders != shown.ladders
        self.shown, self.place = shown, shown.taken
        if fresh:
            self._make_steps()
        self._show_place()
        if self.as_table.isChecked():
            self._show_table()

    def _make_steps(self) -> None:
        """Make the steps of every column, beside one another."""
        assert self.shown is not None
        empty(self._steps)
        self.groups = []
        for ladder, own in enumerate(self.shown.ladders):
            name = name_label(own.column)
            name.setFont(mono_font())
            self._steps.addWidget(name, ladder, 0)
            part = QWidget()
            group, line = QButtonGroup(self), Wrapping(part, spacing=4)
            for step in range(len(own.sizes)):
                said = step_words(self.shown, ladder, step)
                button = QPushButton(said)
                button.setObjectName(f"step-{own.column}-{step}")
                button.setProperty("look", "chip")
                button.setAccessibleName(f"{own.column}: {said}")
                button.setCheckable(True)
                group.addButton(button, step)
                line.addWidget(button)
            group.idClicked.connect(lambda step, ladder=ladder: self._step(ladder, step))
            self._steps.addWidget(part, ladder, 1)
            self.groups.append(group)

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
            "alone": (f"{shown.alone:,} → {one.alone:,}", shown.people),
            "lost": (lost(shown, one.lost), lost(shown, shown.candidates[shown.best].lost)),
        }
        for name, (number, beside) in told.items():
            figure, note = self.numbers[name]
            figure.setText(number)
            note.say(words.say(f"app.trying.map.{name}_note", value=beside))
        holding = sum(candidate.holds for candidate in shown.candidates)
        self.heading.setText(
            words.say("app.trying.map.heading", count=len(shown.candidates), holding=holding)
        )
        self.plot.show_map(shown, place)
        self.what.say(f"**{steps_words(shown, one)}**")
        self.why.say(why(shown, place))
        self.why.set_tone("" if one.holds else "care")
        self.best.setVisible(place != shown.best)
        self.barred.setVisible(not one.holds)
        self.barred_words.say("" if one.holds else barred(shown, place))
        finer, coarser = neighbours(shown, place)
        self._list(self.finer, "finer", changed_by(shown, finer))
        self._list(self.coarser, "coarser", changed_by(shown, coarser))

    def _list(self, side: QVBoxLayout, name: str, lines: list[tuple[str, str, bool]]) -> None:
        empty(side)
        if lines:
            side.addWidget(Prose(f"**{words.say(f'app.trying.map.{name}')}**", pixels=12))
        for step, cost, holds in lines:
            side.addWidget(Prose(f"{step}: {cost}", tone="" if holds else "care", pixels=12))

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
            rows.append([*steps, f"{one.left_out:,}", f"{one.alone:,}", lost(shown, one.lost)])
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
        place = moved(self.shown, self.place, ladder, step)
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

    def _take_best(self) -> None:
        """Let the search decide again."""
        assert self.shown is not None
        self.place = self.shown.best
        self._show_place()
        self._take(dict.fromkeys(self.shown.candidates[0].changes))
