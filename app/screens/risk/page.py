"""Risk today: who stands out in the table as it is, against which limit, and because of which column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QPushButton, QWidget

from app import words
from app.parts.cards import Card, row
from app.parts.making import (
    STRETCH,
    add,
    empty,
    hidden,
    make_button,
    make_column,
    make_grid,
    make_label,
    name_widget,
)
from app.parts.panel import Explanation, Part, three
from app.parts.prose import Prose, name_label
from app.screens.base import Page
from app.screens.risk.asks import (
    CLASSES,
    classes,
    count_again,
    count_matching,
    describe_population,
    find_ways,
    group_sizes,
    measure,
)
from app.screens.risk.cards import BesideCard, ExposedCard, GroupHistogram, WaysCard, WorstCard, way_words
from app.theme import mono_font, text_font
from app.words.columns import outside_words
from app.work import marking
from engine import texts
from engine.methods.protocol import MAIN
from engine.release.plan import Plan
from engine.risk.thresholds import group_size
from engine.table.schema import Role

# --- What each column causes, with buttons that try it coarser or left out ------------------------------

OUT = -1
ARROWS = {
    Qt.Key.Key_Down: (1, 0), Qt.Key.Key_Up: (-1, 0), Qt.Key.Key_Right: (0, 1), Qt.Key.Key_Left: (0, -1),
}  # fmt: skip


NAMED = 160  # pixels of the names: a button stands near what it is about, however wide the window is


class TryTable(QWidget):
    """``tried`` tells the changes that are tried together: column → step, −1 for left out."""

    tried = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._grid = make_grid(self, across=10, down=4, margins=0)
        self._grid.setColumnMinimumWidth(0, NAMED)
        self._grid.setColumnStretch(3, 1)  # what room is left over lies behind the buttons
        self._causes: Sequence[Any] = ()
        self._changes: dict[str, int] = {}
        self.coarser: dict[str, QPushButton] = {}
        self.left_out: dict[str, QPushButton] = {}
        self._places: dict[tuple[int, int], QPushButton] = {}

    @property
    def changes(self) -> Mapping[str, int]:
        """What is being tried."""
        return dict(self._changes)

    def show_causes(self, causes: Sequence[Any]) -> None:
        """Show other columns; nothing is tried then."""
        if causes is self._causes:
            return
        self._causes = causes
        self._changes = {}
        self.coarser, self.left_out, self._places = {}, {}, {}
        empty(self._grid)
        for place, name in enumerate(("column", "coarser", "left_out")):
            heading = make_label(words.say(f"app.risk.try.{name}"), pixels=12, tone="quiet")
            self._grid.addWidget(heading, 0, place)
        for line, cause in enumerate(causes, 1):
            self._add(line, cause)

    def undo(self) -> None:
        """Try nothing any more."""
        self._changes = {}
        self._tell()

    def _add(self, line: int, cause: Any) -> None:
        name = name_label(cause.column)
        name.setFont(mono_font(12))
        name.setToolTip(cause.column)
        self._grid.addWidget(name, line, 0)
        if cause.steps:
            button = self._button(f"coarser-{cause.column}")
            button.clicked.connect(lambda checked=False: self._next_step(cause))
            self._put(button, line, 1)
            self.coarser[cause.column] = button
        button = self._button(f"left-out-{cause.column}")
        button.clicked.connect(lambda checked=False: self._leave_out(cause))
        self._put(button, line, 2)
        self.left_out[cause.column] = button
        self._show(cause)

    def _put(self, button: QPushButton, line: int, column: int) -> None:
        self._grid.addWidget(button, line, column)
        self._places[(line, column)] = button
        button.installEventFilter(self)

    def _button(self, name: str) -> QPushButton:
        button = make_button("", name, look="try", checkable=True)
        button.setFont(text_font(12))
        return button

    def _next_step(self, cause: Any) -> None:
        now = max(self._changes.get(cause.column, 0), 0)
        self._change(cause.column, now + 1 if now < len(cause.steps) else 0)

    def _leave_out(self, cause: Any) -> None:
        self._change(cause.column, 0 if self._changes.get(cause.column) == OUT else OUT)

    def _change(self, column: str, step: int) -> None:
        self._changes.pop(column, None)
        if step:
            self._changes[column] = step
        self._tell()

    def _tell(self) -> None:
        for cause in self._causes:
            self._show(cause)
        self.tried.emit(self.changes)

    def _show(self, cause: Any) -> None:
        step = self._changes.get(cause.column, 0)
        if cause.column in self.coarser:
            shown = cause.steps[max(step, 1) - 1]
            said = words.say("app.risk.try.values", values=shown.values, alone=shown.tried.alone)
            self._say(self.coarser[cause.column], said, checked=step > 0)
            spoken = words.say("app.risk.try.coarser_name", column=cause.column, step=shown.step, said=said)
            self.coarser[cause.column].setAccessibleName(spoken)
        said = words.number(cause.left_out.alone)
        self._say(self.left_out[cause.column], said, checked=step == OUT)
        spoken = words.say("app.risk.try.left_out_name", column=cause.column, said=said)
        self.left_out[cause.column].setAccessibleName(spoken)

    def _say(self, button: QPushButton, said: str, *, checked: bool) -> None:
        button.setText(said)
        button.setChecked(checked)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let the arrows move between the buttons of a line and of a column."""
        if (
            not isinstance(event, QKeyEvent)
            or event.type() != QEvent.Type.KeyPress
            or event.key() not in ARROWS
        ):
            return super().eventFilter(watched, event)
        down, right = ARROWS[Qt.Key(event.key())]
        place = next(key for key, button in self._places.items() if button is watched)
        other = self._places.get((place[0] + down, place[1] + right))
        if other is not None:
            other.setFocus(Qt.FocusReason.OtherFocusReason)
        return True


# --- What was tried on Risk today, carried into the plan of a coarser table. No Qt ----------------------

COARSER_TABLE = "datasets.k_anonymity"
LEFT_OUT = -1
LEAVES = (Role.IDENTIFYING, Role.TIME, Role.PLACE, Role.SENSITIVE)


def coarser_table(plan: Plan, changes: Mapping[str, int], *, limit: int) -> dict[str, Any]:
    """Return what to decide so that a coarser table is made with what was tried.

    Parameters
    ----------
    plan
        As it is.
    changes
        Column → step of its hierarchy, -1 for left out.
    limit
        The smallest group that counts as enough.

    Returns
    -------
    dict
        Fields of the plan: the method, its parameters, and the hierarchies that were tried, declared. What
        was filled in for this method before stays, but for the columns that were tried.
    """
    from engine.methods.catalogue import method
    from engine.risk.trying import hierarchy_to_try

    prepared, schema = plan.prepared(MAIN), plan.schema
    for name, step in changes.items():
        if step > 0:
            declared = prepared.column(name)
            schema = schema.with_column(replace(declared, hierarchy=hierarchy_to_try(declared)))
    found = method(COARSER_TABLE)
    before = plan.parameters if plan.method == found.id else {}
    leaving = before.get("columns") or [one.name for one in prepared.with_role(*LEAVES)]
    steps = {**before.get("least_steps", {}), **changes}
    parameters = {
        "k": max(limit, 2),
        **{name: value for name, value in before.items() if name != "steps"},
        "columns": [name for name in leaving if changes.get(name) != LEFT_OUT],
        "least_steps": {name: step for name, step in steps.items() if step > 0},
    }
    return {
        "schemas": plan.with_schema(schema).schemas,
        "method": found.id,
        "method_version": found.version,
        "parameters": {name: value for name, value in parameters.items() if value},
    }


PUBLISHED = 11
"""The limit that is shown until the purpose decides one; its source is said beside it."""

NARROW = 700


class RiskPage(Page):
    """The fourth screen."""

    id = "risk"
    counts_rows = True

    def build(self) -> None:
        self.found = QWidget()
        self.outside = name_widget(Prose(tone="care", pixels=12), "outside")
        self.look = make_button(
            words.say("app.risk.outside"), "outside-look", self._look_at_silent, look="link"
        )
        said = row(self.outside, self.look, stretch=False)
        said.setStretch(0, 1)
        column = make_column(said, inside=self.found, spacing=16, margins=0)
        self.alone = WorstCard()
        self.topic(self.alone, "alone")
        self.topic(self.alone.under, "under")
        self.topic(self.alone.average, "average")
        column.addWidget(self.alone)
        self._cards = make_grid(across=14, down=14)
        column.addLayout(self._cards)
        self.histogram_card, self.histogram = self._histogram()
        self.because_card = Card(words.say("app.risk.because.heading"))
        self.because = name_widget(TryTable(), "because")
        self.because.tried.connect(self._try)
        self.topic(self.because_card, "because")
        self.because_card.body.addWidget(Prose(words.say("app.risk.try.note"), tone="quiet", pixels=12))
        add(self.because_card.body, self.because, STRETCH)
        self.ways = WaysCard()
        self.ways.chosen.connect(lambda changes: self._show_bars())
        self.ways.taken.connect(self._take_way)
        self.topic(self.ways, "ways")
        self.topic(self.ways.take, "ways")
        self._side_by_side: bool | None = None
        self._arrange(True)
        column.addWidget(self.because_card)
        self.exposed = ExposedCard()
        column.addWidget(self.exposed)
        self.beside = BesideCard()
        self.beside.chosen.connect(self._ask_beside)
        self.topic(self.beside, "beside")
        for widget in self.beside.findChildren(QWidget):
            self.topic(widget, "beside")
        self.nobody = Prose(words.say("app.risk.no_columns"), tone="care")
        add(column, self.beside, self.nobody, Prose(words.say("app.risk.internal"), tone="quiet"), STRETCH)
        self.body.addWidget(self.found, 1)
        self._tried: Any = None
        self._ways: Any = None  # of what was counted, and the ways
        self._shown_ways: Any = None
        self._matching: Any = None
        self._asked: dict[str, tuple[Any, Any]] = {}  # by file: what was asked with, and about which plan

    def _histogram(self) -> tuple[Card, GroupHistogram]:
        card = Card(words.say("app.risk.sizes.heading"))
        histogram = name_widget(GroupHistogram(words.say("app.risk.sizes.heading")), "sizes")
        self.topic(histogram, "sizes")
        add(card.body, histogram, Prose(words.say("app.risk.sizes.axis"), tone="quiet", pixels=11))
        self.as_table = make_button(
            words.say("app.risk.sizes.as_table"), "sizes_as_table", look="link", checkable=True
        )
        self.listed = hidden(Prose(pixels=12))
        self.as_table.toggled.connect(self.listed.setVisible)
        add(card.body, self.as_table, self.listed, STRETCH)
        return card, histogram

    def _arrange(self, side_by_side: bool) -> None:
        if side_by_side == self._side_by_side:
            return
        self._side_by_side = side_by_side
        self._cards.removeWidget(self.histogram_card)
        self._cards.removeWidget(self.ways)
        self._cards.addWidget(self.histogram_card, 0, 0)
        self._cards.addWidget(self.ways, *((0, 1) if side_by_side else (1, 0)))
        self._cards.setColumnStretch(1, 1 if side_by_side else 0)
        self._cards.setColumnStretch(0, 1)

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self._arrange(self.viewport().width() >= NARROW)

    @property
    def limit(self) -> int:
        """The group size below which people count as too few."""
        return group_size(self.study.plan.purpose.threshold) or PUBLISHED

    @property
    def source(self) -> str:
        """Who says so."""
        chosen = group_size(self.study.plan.purpose.threshold) is not None
        return words.say("app.risk.source.purpose" if chosen else "app.risk.source.published")

    def enter(self) -> None:
        sizes = self.study.result("group_sizes")
        self.found.setVisible(sizes is not None)
        if sizes is None:
            self.subtitle.say(words.say("app.risk.subtitle"))
            return
        self.subtitle.say(
            words.say("app.risk.subtitle_columns", people=sizes.people, columns=", ".join(sizes.columns))
            if sizes.columns
            else words.say("app.risk.subtitle")
        )
        known = {one.column: one for one in self.study.result("suggestions") or ()}
        silent = marking.never_asked(self.study.plan.schema.columns, known)
        for part in (self.outside, self.look):
            part.setVisible(bool(silent))
        self.outside.say(outside_words(silent))
        self._show_worst(sizes)
        self._show_bars()
        self.nobody.setVisible(not sizes.columns)
        today = self.study.result("risk_today")
        self.because_card.setVisible(bool(sizes.columns))
        self.exposed.setVisible(today is not None)
        self.beside.setVisible(today is not None)
        for name in self._stale():
            self.beside.show_answer(name, ())
        for name in self.beside.files.keys() - self._asked.keys():
            self.beside.show_asked(name, None)
        if today is not None:
            self.because.show_causes(today.causes)
            self.exposed.show_people(
                today.exposed, singled_out=today.singled_out, everybody=sizes.people, few=today.few
            )

    def _show_worst(self, sizes: Any) -> None:
        people, limit = sizes.people, self.limit
        smallest = min(sizes.sizes, default=0)
        name = "stand" if sizes.alone else "nobody"
        told = {"count": sizes.alone, "people": people, "columns": len(sizes.columns), "smallest": smallest}
        under = words.say("app.risk.under.sentence", count=_under(sizes, limit), k=limit, source=self.source)
        average = sizes.groups / people if people else 0.0
        self.alone.show_worst(
            words.say(f"app.risk.alone.{name}", **told),
            under,
            picked_words(average),
            is_bad=bool(sizes.alone),
        )

    def _show_bars(self) -> None:
        """Show everybody by the size of their group, today and with what is tried or chosen."""
        sizes, today = self.study.result("group_sizes"), self.study.result("risk_today")
        if sizes is None:
            return
        found = self._ways[1] if self._ways is not None and self._ways[0] is today else None
        if found is not self._shown_ways:
            self._shown_ways = found
            self.ways.show_ways(found, today, limit=self.limit, everybody=sizes.people)
        changes, then = ({}, None) if self.ways.way is None else (self.ways.way.changes, self.ways.way.tried)
        if today is None:
            changes, then = {}, None  # it is counted again
        elif self._tried is not None:
            changes, then = self._tried
        below = sum(high is not None and high < self.limit for _, high in CLASSES)
        self.histogram.show_bars(
            list(zip(map(class_words, CLASSES), classes(sizes.sizes), strict=True)),
            below=below,
            said=words.say("app.risk.sizes.under", k=self.limit, count=_under(sizes, self.limit)),
            then=() if then is None else classes(then.sizes),
            names=(words.say("app.risk.sizes.today"), way_words(changes, today)),
        )
        rows = zip(self.histogram.bars, self.histogram.then or (None,) * len(CLASSES), strict=True)
        self.listed.say("\n\n".join(_row(size, count, later) for (size, count), later in rows))

    def _find_ways(self) -> None:
        """Look for the shortest way once it is known who stands out; where nobody does, none is needed."""
        today = self.study.result("risk_today")
        if today is None or not today.now.under or (self._ways is not None and self._ways[0] is today):
            return
        self.runner.start(
            find_ways,
            today,
            done=lambda found: self._found_ways(today, found),
            failed=self.refuse,
            slot="risk_ways",
        )

    def _found_ways(self, today: Any, found: Any) -> None:
        self._ways = (today, found)
        self._show_bars()

    def _take_way(self, changes: Mapping[str, int]) -> None:
        """Carry the chosen way into the plan of a coarser table, and go on."""
        self._decide(changes)
        self.frame.go_next()

    def first_focus(self) -> QWidget | None:
        return self.alone

    def opened(self) -> None:
        if self.study.table is None:
            return
        for name, given in self._stale().items():
            self._ask_beside(name, given)
        if self.study.result("group_sizes") is None:
            self._compute()
        elif self.study.result("risk_today") is None:
            self._measure()
        else:
            self._find_ways()

    def _look_at_silent(self) -> None:
        """Show the columns that nobody was asked about."""
        self.frame.go_to("columns", "silent")

    def _compute(self) -> None:
        plan = self.study.plan
        self.work(
            group_sizes,
            self.study.table,
            plan.schema,
            doing=words.say("app.risk.counting"),
            done=lambda sizes: self._done(sizes, plan),
        )

    def _done(self, sizes: Any, plan: Any) -> None:
        if self.study.store("group_sizes", sizes, plan):
            self.refresh_explanation()
            self._measure()
        else:
            self._compute()

    def _measure(self) -> None:
        """Find out what each column causes, and whom few values single out."""
        plan, sizes = self.study.plan, self.study.result("group_sizes")
        if sizes is None or not sizes.columns or not sizes.people:
            return
        self.work(
            measure,
            self.study.table,
            plan.schema,
            limit=self.limit,
            doing=words.say("app.risk.measuring"),
            done=lambda today: self._measured(today, plan),
        )

    def _measured(self, today: Any, plan: Any) -> None:
        self._tried = None
        if self.study.store("risk_today", today, plan):
            self._find_ways()

    def _ask_beside(self, name: str, given: Any) -> None:
        """Compare with another file, or with the size of a population."""
        self.beside.show_asked(name, given)
        self.clear_notice()
        if given is None or self.study.table is None:
            self._asked.pop(name, None)
            return
        plan = self.study.plan
        self._asked[name] = (given, plan)
        self.work(
            describe_population,
            name,
            given,
            table=self.study.table,
            schema=plan.prepared(MAIN),
            steps=plan.preparation,
            doing=words.say("app.risk.beside.counting"),
            done=lambda found: self._show_beside(name, (given, plan), found),
            slot=f"risk_{name}",
        )

    def _stale(self) -> dict[str, Any]:
        """Return what was asked before something was declared anew; about another file it is forgotten."""
        now = self.study.plan
        self._asked = {
            name: asked
            for name, asked in self._asked.items()
            if asked[1].files.get(MAIN) == now.files.get(MAIN)
        }
        return {
            name: given
            for name, (given, plan) in self._asked.items()
            if (plan.schemas, plan.preparation) != (now.schemas, now.preparation)
        }

    def _show_beside(self, name: str, asked: Any, found: Any) -> None:
        if self._asked.get(name) == asked:
            self.beside.show_answer(name, [words.label(one) for one in found])

    def _try(self, changes: Mapping[str, int]) -> None:
        today = self.study.result("risk_today")
        if today is None:
            return
        if not changes:
            self.runner.stop("risk_try")
            self._show_tried(None)
            return
        self.runner.start(
            count_again,
            today,
            changes,
            done=lambda tried: self._show_tried((dict(changes), tried)),
            failed=self.refuse,
            slot="risk_try",
        )

    def _show_tried(self, tried: Any) -> None:
        self._tried = tried
        self._show_bars()
        self.refresh_explanation("because")

    def explain(self, topic: str) -> Explanation:
        sizes = self.study.result("group_sizes")
        if sizes is None:
            return super().explain("")
        names = ", ".join(sizes.columns) or "—"
        values = {"people": sizes.people, "columns": names, "groups": sizes.groups, "k": self.limit}
        if topic == "alone":
            title = words.say("app.risk.alone.heading")
            found = three("app.risk.alone", title, count=sizes.alone, **values)
            return Explanation(title, (*found.parts, *self._missing()))
        if topic == "ways":
            return three("app.risk.ways", words.say("app.risk.ways.heading", k=self.limit), **values)
        if topic == "beside":
            return three("app.risk.beside", words.say("app.risk.beside.heading"), **values)
        if topic in ("average", "under", "sizes"):
            title = words.say(f"app.risk.{topic}.heading", k=self.limit)
            return three(f"app.risk.{topic}", title, count=_under(sizes, self.limit), **values)
        today = self.study.result("risk_today")
        if topic == "because" and today is not None and today.causes:
            order = sizes.columns.index
            worst = min(today.causes, key=lambda one: (one.left_out.alone, order(one.column)))
            more = sizes.alone - worst.left_out.alone
            title = words.say("app.risk.because.heading")
            found = three("app.risk.because", title, column=worst.column, count=more, **values)
            return Explanation(title, (*self._trying(), *found.parts))
        return super().explain("")

    def _missing(self) -> tuple[Part, ...]:
        """Offer the other way to take missing values, where there are any, and say what it gives."""
        today = self.study.result("risk_today")
        if today is None or all(today.table.columns[name].missing is None for name in today.columns):
            return ()
        heading = words.say("app.risk.missing.heading")
        if self._matching is None or self._matching[0] is not today:
            said, link = words.say("app.risk.missing.own"), words.say("app.risk.missing.link")
            return (Part(heading, said, link=link, follow=self._let_match),)
        tried = self._matching[1]
        values = {
            "before": today.now.alone,
            "after": tried.alone,
            "under": today.now.under,
            "then": tried.under,
        }
        return (Part(heading, words.say("app.risk.missing.matches", k=today.limit, **values)),)

    def _let_match(self) -> None:
        today = self.study.result("risk_today")
        if today is not None:
            self.work(
                count_matching,
                today,
                doing=words.say("app.risk.counting"),
                done=lambda tried: self._matched(today, tried),
            )

    def _matched(self, today: Any, tried: Any) -> None:
        self._matching = (today, tried)
        self.refresh_explanation("alone")

    def _trying(self) -> tuple[Part, ...]:
        """Say what is being tried and what it would change."""
        today = self.study.result("risk_today")
        if self._tried is None or today is None:
            return ()
        changes, tried = self._tried
        parts = [
            words.say("app.risk.try.out" if step < 0 else "app.risk.try.step", column=name, step=step)
            for name, step in changes.items()
        ]
        said = words.say(
            "app.risk.try.result",
            before=today.now.alone,
            after=tried.alone,
            changes="; ".join(parts),
            k=today.limit,
            under=today.now.under,
            then=tried.under,
        )
        heading = words.say("app.risk.try.heading")
        keep = words.say("app.risk.try.keep_what", k=today.limit)
        return (
            Part(heading, said, "accent", words.say("app.risk.try.undo"), self.because.undo),
            Part(body=keep, link=words.say("app.risk.try.keep"), follow=self._keep),
        )

    def _keep(self) -> None:
        """Carry what is being tried into the plan of a coarser table."""
        self._decide(self.because.changes)
        self.because.undo()
        self.opened()

    def _decide(self, changes: Mapping[str, int]) -> None:
        said = way_words(changes, self.study.result("risk_today"))
        self.study.decide(**coarser_table(self.study.plan, changes, limit=self.limit))
        said = words.say("app.risk.try.kept", changes=said, k=self.limit)
        self.notify(said, tone="accent")


def class_words(one: tuple[int, int | None]) -> str:
    """Return how a class of group sizes is written."""
    low, high = one
    return f"{low}+" if high is None else f"{low}" if low == high else f"{low}–{high}"


def _row(size: str, count: int, later: int | None) -> str:
    name = "row" if later is None else "row_then"
    return words.say(
        f"app.risk.sizes.{name}", size=size, count=count, **({} if later is None else {"then": later})
    )


def _under(sizes: Any, limit: int) -> int:
    """Return people in groups of fewer than the limit."""
    return sum(count for size, count in sizes.sizes.items() if size < limit)


def picked_words(average: float) -> str:
    """Return how often who is known to be in the table is picked right; "" where nobody was counted."""
    if not average:
        return ""
    one_in = texts.inverse(average, language=words.language())
    if one_in == "1":  # more than every other time: “1 time in 1” would say always
        return words.say("app.risk.average.often", share=round(100 * average))
    return words.say("app.risk.average.sentence", people=one_in)


PAGE = RiskPage
