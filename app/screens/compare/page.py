"""Compare: settings side by side before one of them is released, with how many were looked at."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox

from app import words
from app.parts.cards import Card
from app.parts.making import (
    STRETCH,
    add,
    align_left,
    empty,
    make_button,
    make_choice,
    make_field,
    make_grid,
    make_row,
    name_widget,
    turn,
)
from app.parts.panel import Explanation, Part
from app.parts.prose import Heading, Prose, tell_whole
from app.parts.table import DataTable
from app.screens.base import Page
from app.screens.compare.candidate_plot import CandidatePlot
from app.words.money import size
from app.work.comparing import (
    Figure,
    Settings,
    beyond,
    figures,
    letter,
    settings,
    took,
    why_taken,
    without_taken,
)
from app.work.deciding import Compared, compare_next
from engine.views import Text

SHORT = 10  # letters that stay on one line of a heading
NARROW = 760  # pixels under which the picture stands below the table
ROW, HEAD = 34, 54


class ComparePage(Page):
    """On the path once settings were kept to be compared."""

    id = "compare"

    def build(self) -> None:
        self.found: tuple[Any, ...] = ()
        self.settings = Settings((), ())
        self.figures: tuple[Figure, ...] = ()
        self.place = 0
        self._picked = False
        self._made_for: Any = None
        self._last: Compared | None = None
        self._read: tuple[Any, tuple[Any, ...]] | None = None
        self._sides = make_row(spacing=16)
        self._build_picture()
        self._build_table()
        self.body.addLayout(self._sides)
        self._build_chosen()
        self.tried = name_widget(Prose(tone="quiet"), "tried")
        self.drop = make_button(words.say("app.compare.drop"), "drop-candidates", self._drop, look="link")
        add(self.body, self.tried, align_left(self.drop), STRETCH)

    def _build_picture(self) -> None:
        self.picture = Card()
        self.plot = CandidatePlot()
        self.plot.chosen.connect(self.choose)
        self.topic(self.plot, "")
        self.axes = {name: self._axis(name) for name in ("upwards", "across")}
        add(self.picture.body, *self.axes.values(), self.plot, STRETCH)
        self._sides.addWidget(self.picture, 9)

    def _axis(self, name: str) -> QComboBox:
        combo = make_choice(f"axis-{name}", words.say(f"app.compare.axis.{name}"), lambda place: self._draw())
        combo.setToolTip(words.say(f"app.compare.axis.{name}"))
        combo.setMinimumContentsLength(20)
        combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        return combo

    def _build_table(self) -> None:
        card = Card()
        self.table = name_widget(DataTable(words.say("app.compare.title")), "compared")
        self.table.setProperty("look", "plain")
        self.table.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideNone)
        self.table.horizontalHeader().setFixedHeight(HEAD)
        self.topic(self.table, "")
        add(card.body, self.table, STRETCH)
        self._sides.addWidget(card, 11)
        self.side = card

    def _build_chosen(self) -> None:
        self.card = name_widget(Card(), "chosen")
        self.chosen_title = Heading(size="card")
        self.chosen_title.setWordWrap(True)
        self.chosen_words = Prose(tone="care")
        self.lines = make_grid(across=28, down=6)
        for place in (0, 2):
            self.lines.setColumnStretch(place, 1)
        add(self.card.body, self.chosen_title, self.chosen_words, self.lines)
        self.why = make_field(
            "why-candidate", words.say("app.compare.why"), placeholder=words.say("app.compare.why")
        )
        tell_whole(self.why)
        self.topic(self.why, "why")
        self.card.body.addWidget(self.why)
        self.body.addWidget(self.card)
        self.card.hide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        turn(self._sides, self.width() >= NARROW, upwards=True)

    # --- showing -----------------------------------------------------------------------------------

    def opened(self) -> None:
        plan = self.study.plan
        if self._made_for != plan:
            self._made_for, self._last, self.found = plan, None, ()
            self.place, self._picked = 0, False
            self.card.hide()
            self.picture.hide()
            self.why.setText(next((str(one["said"]) for one in plan.decisions if "said" in one), ""))
            self._draw()
        if len(self.found) < self._wanted and not self.runner.busy(self.id):
            self._make_next(plan)

    @property
    def _wanted(self) -> int:
        return len(self._plans)

    @property
    def _plans(self) -> tuple[Any, ...]:
        """The settings side by side, each once."""
        plan = self.study.plan
        if self._read is None or self._read[0] is not plan:
            self._read = (plan, plan.candidate_plans())
        return self._read[1]

    def _make_next(self, plan: Any) -> None:
        """Make one more candidate; those that are there can be looked at meanwhile."""
        said = {"name": letter(len(self.found)), "count": self._wanted}
        self.work(
            compare_next,
            self.study.plan_as_read,
            self._last,
            done=lambda made: self._show(made, plan),
            doing=words.say("app.compare.comparing", **said),
        )

    def _show(self, made: Compared, plan: Any) -> None:
        if plan != self.study.plan or made.place != len(self.found):
            return
        self._last, self.found = made, (*self.found, made.found)
        self.settings, self.figures = settings(self.found), figures(self.found)
        self._offer_axes()
        self._draw()
        self._say_how_many()
        if not self._picked:
            self.place = next((one for one in range(len(self.found)) if self._may_leave(one)), 0)
        self._show_chosen()
        if len(self.found) < self._wanted and self.frame.step == self.id:
            self._make_next(plan)

    def _say_how_many(self) -> None:
        outside = [letter(place) for place in range(len(self.found)) if self._beyond(place)]
        told = words.say("app.compare.tried", count=self._wanted)
        if outside:
            told = words.say("app.compare.outside", names=", ".join(outside)) + " " + told
        self.tried.say(told)

    def _beyond(self, place: int) -> str:
        """Say in which figures a candidate is beyond what was decided; nothing where it is in none."""
        told = [
            words.say(
                "app.compare.least" if one.limit_is_least else "app.compare.most",
                figure=one.label,
                value=one.written(place),
                limit=one.write(one.limit or 0.0),
            )
            for one in beyond(self.figures, place)
        ]
        return " ".join([*told, words.say("app.compare.not_chosen")]) if told else ""

    def _may_leave(self, place: int) -> bool:
        return self.found[place].problem is None and not self._beyond(place)

    def _offer_axes(self) -> None:
        """Offer every figure for both axes: what protects across, what is kept upwards."""
        self.picture.setVisible(bool(self.figures))
        for place, combo in enumerate((self.axes["across"], self.axes["upwards"])):
            labels = [one.label for one in self.figures]
            picked = combo.currentText()
            combo.clear()
            combo.addItems(labels)
            combo.setCurrentIndex(labels.index(picked) if picked in labels else min(place, len(labels) - 1))
            combo.setVisible(len(self.figures) > 2)

    @property
    def _shown(self) -> list[Figure]:
        """The two figures that were picked."""
        picked = [self.axes[name].currentIndex() for name in ("across", "upwards")]
        return [self.figures[place] for place in dict.fromkeys(picked) if 0 <= place < len(self.figures)]

    def _draw(self) -> None:
        """Draw the two figures that were picked, and write them into the table."""
        shown = self._shown
        made = range(len(self.found))
        names = [self.settings.written(place) for place in made]
        self.plot.show_figures(
            shown[0] if shown else None, shown[1] if len(shown) > 1 else None, names, self.settings.kinds()
        )
        times = [took(one.seconds) for one in self.found]
        timed = any(times)  # a forecast is not made, and takes none
        rows = [
            [
                letter(place),
                self.settings.short(place),
                *(one.written(place) for one in shown),
                *([times[place]] if timed else []),
            ]
            for place in made
        ]
        waiting = words.say("app.compare.not_yet")
        rows += [
            [letter(place), waiting, *[""] * (len(shown) + timed)]
            for place in range(len(self.found), self._wanted)
        ]
        marked = {
            (place, 2 + column) for place in made for column, one in enumerate(shown) if not one.allows(place)
        }
        alone = self.settings.labels[0] if len(self.settings.labels) == 1 else ""
        headings = ["", alone or words.say("app.compare.settings"), *(one.label for one in shown)]
        headings += [words.say("app.compare.took")] if timed else []
        tips = {2 + place: one.label for place, one in enumerate(shown)}  # a long label is cut
        numeric = frozenset(range(2, len(headings)))
        headings = [on_two_lines(one) for one in headings]
        self.table.show_rows(headings, rows, numeric=numeric, marked=marked, tips=tips)
        self.table.fit_columns(narrowest=32, widest=180)
        self.table.fill_with(1)
        self.table.setFixedHeight(HEAD + ROW * len(rows) + 6)
        self.table.selectionModel().currentRowChanged.connect(lambda now, before: self.choose(now.row()))
        if self.found:
            self._select_row()

    def _select_row(self) -> None:
        """Select the chosen line by itself: nobody picked it."""
        model = self.table.selectionModel()
        model.blockSignals(True)
        self.table.selectRow(self.place)
        model.blockSignals(False)
        self.table.viewport().update()

    # --- choosing ----------------------------------------------------------------------------------

    def choose(self, place: int) -> None:
        """Show a candidate as the chosen one: in the picture, the table, the card and on the right."""
        if not 0 <= place < len(self.found):
            return
        self.place, self._picked = place, True
        self._show_chosen()

    def _show_chosen(self) -> None:
        place = self.place
        self.plot.choose(place)
        if self.table.currentIndex().row() != place:
            self._select_row()
        self.card.show()
        self.chosen_title.setText(f"{letter(place)} · {self.settings.written(place)}")
        problem = self.found[place].problem
        told = self._beyond(place) if problem is None else " ".join(words.explain(problem))
        self.chosen_words.setVisible(bool(told))
        self.chosen_words.say(told)
        empty(self.lines)
        for line, (label, number) in enumerate(self._lines(place)):
            self.lines.addWidget(Prose(label, tone="quiet"), line // 2, 2 * (line % 2))
            said = Prose(f"**{number}**")
            said.setWordWrap(False)
            self.lines.addWidget(said, line // 2, 2 * (line % 2) + 1, Qt.AlignmentFlag.AlignRight)
        self.refresh_explanation()
        self.frame.update_frame()

    def _lines(self, place: int) -> list[tuple[str, str]]:
        """Return what is known of a candidate: the errors to expect, the worst first, then its figures."""
        forecast = self.found[place].forecast
        errors = sorted(
            forecast.errors if forecast is not None else (),
            key=lambda error: error.limit / (error.size or 1),
            reverse=True,
        )
        lines = [
            (
                words.say(
                    "app.compare.group" if error.size is not None else "app.compare.error",
                    quantity=words.label(error.quantity),
                    size=words.number(error.size or 0),
                ),
                size(error.limit),
            )
            for error in errors
        ]
        return lines + [(figure.label, figure.written(place)) for figure in self.figures]

    def explain(self, topic: str) -> Explanation:
        found = super().explain(topic)
        if not self.found or topic:
            return found
        tried = Part(
            words.say("app.compare.tried_heading"), words.say("app.compare.tried", count=self._wanted)
        )
        title = words.say("app.compare.candidate", name=letter(self.place))
        return Explanation(title, (Part(body=self.settings.written(self.place)), *found.parts, tried))

    def next_words(self) -> str:
        if not self.found:
            return ""
        if not self._may_leave(self.place):
            return words.say("app.compare.barred", name=letter(self.place))
        return words.say("app.compare.go_on", name=letter(self.place))

    def waits(self) -> Text | None:
        barred = bool(self.found) and not self._may_leave(self.place)
        return Text("app.compare.not_chosen") if barred else None

    def go_next(self) -> None:
        """Take the chosen one; the others stay beside it, so that the evidence says how many there were."""
        if self.found and self.found[self.place].problem is not None:
            self.refuse(self.found[self.place].problem)
            return
        if self.found and self._beyond(self.place):
            self.notify(self._beyond(self.place))
            return
        self._take()
        self.runner.cancel(self.id)  # those that are still to be made would keep the next step waiting
        self.frame.go_next()

    def _take(self) -> None:
        """Write the chosen one into the plan, with why it was taken and the others beside it."""
        taken = {}
        if self.place > 0:
            chosen = self.found[self.place].plan
            others = tuple(
                {"method": one.method, "parameters": dict(one.parameters)}
                for at, one in enumerate(self._plans)
                if at != self.place
            )
            taken = {
                "method": chosen.method,
                "method_version": chosen.method_version,
                "parameters": dict(chosen.parameters),
                "candidates": others,
            }
        decisions = without_taken(self.study.plan.decisions)
        if self.found:
            plan = self.found[self.place].plan
            said = self.why.text().strip()
            why = why_taken(plan, self.place, shown=self._shown, count=self._wanted, said=said)
            decisions = (*decisions, why)
        stays = self._made_for == self.study.plan and not taken
        self.study.decide(decisions=decisions, **taken)
        if stays:  # nothing has to be made anew for a reason
            self._made_for = self.study.plan

    def _drop(self) -> None:
        self.study.decide(candidates=(), decisions=without_taken(self.study.plan.decisions))
        self.frame.go("method")


def on_two_lines(heading: str) -> str:
    """Break a heading where its two lines are nearest to each other in length.

    Examples
    --------
    >>> on_two_lines("Smallest group of rows"), on_two_lines("Trees")
    ('Smallest\\ngroup of rows', 'Trees')
    """
    spaces = [place for place, letter_at in enumerate(heading) if letter_at == " "]
    if len(heading) <= SHORT or not spaces:
        return heading
    middle = min(spaces, key=lambda place: max(place, len(heading) - place))
    return f"{heading[:middle]}\n{heading[middle + 1 :]}"


PAGE = ComparePage
