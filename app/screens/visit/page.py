"""Visit: the later steps of a service or an exchange: ask, see what it takes, answer, again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QButtonGroup, QRadioButton, QWidget
from shiboken6 import isValid

from app import words
from app.parts.cards import Card, row
from app.parts.form.parameter_form import ParameterForm
from app.parts.form.parameter_records import RecordsField
from app.parts.lines import alone, weakest
from app.parts.making import (
    STRETCH,
    add,
    empty,
    make_button,
    make_column,
    make_field,
    make_label,
    make_row,
    name_widget,
)
from app.parts.panel import Explanation, Part
from app.parts.plot import LEFT, NEXT, MarginLine, Segment, SegmentBar
from app.parts.prose import Heading, Prose
from app.parts.signing_key import SigningSecret
from app.parts.source_card import SourceCard, source_name
from app.parts.view_stack import ViewStack
from app.screens.base import Page
from app.theme import polish
from app.words.money import level, money
from app.work.jobs import SHORT
from app.work.registers import in_money
from app.work.releasing import Outcome, Watch, release
from app.work.visiting import (
    Further,
    Opened,
    Prices,
    Remembered,
    Taken,
    Visit,
    look,
    next_folder,
    opened_from,
    prices,
    read_further,
    read_remembered,
    taken_by_service,
    visit,
)
from engine.methods.parameters import Problem
from engine.methods.protocol import MAIN, Cheaper, Method, Source, Step
from engine.release.plan import Plan
from engine.table.schema import Schema
from engine.views import Text

LARGE = 54  # pixels of the last answer
WHOLE = 100  # a margin from here on is written without decimals
LITTLE = 0.5  # a margin above this part of its number says hardly anything
LAID_OUT = (0, 200)  # milliseconds after which the tables of an answer have their heights
ABOVE = 12  # pixels above an answer that is brought into view

# --- Cheaper ways to what is asked ----------------------------------------------------------------------


class CheaperWays(QWidget):
    """``taken`` tells the parameters of the way that a person takes; hidden while there is none."""

    taken = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("cheaper")
        column = make_column(
            Heading(words.say("app.visit.cheaper.title"), size="card"), inside=self, spacing=6, margins=0
        )
        self._lines = make_column(spacing=4)
        column.addLayout(self._lines)
        self.hide()

    def show_ways(
        self, ways: Sequence[Cheaper], now: Fraction, money: Callable[[Fraction], str] = lambda _: ""
    ) -> None:
        """Show other ways, beside what is taken now; ``money`` writes what a level adds to the claims."""
        empty(self._lines)
        self._money = money
        for place, way in enumerate(ways):
            self._lines.addWidget(self._line(place, way, now))
        self.setVisible(bool(ways))

    def _line(self, place: int, way: Cheaper, now: Fraction) -> QWidget:
        values = {"epsilon": level(way.epsilon) if way.epsilon else "0", "now": level(now)}
        amounts = {"money": self._money(way.epsilon), "now_money": self._money(now)}
        name = "instead_money" if all(amounts.values()) else "instead"
        price = words.say(f"app.visit.cheaper.{name}", **values, **amounts) if way.epsilon != now else ""
        said = name_widget(Prose(f"{words.label(way.said)} {price}".rstrip()), f"cheaper-{place}")
        take = make_button(words.say("app.visit.cheaper.take"), f"take-cheaper-{place}", look="link")
        take.setAccessibleName(words.pair(take.text(), said.plain()))
        if way.given is None:  # nothing is left to be asked
            take.hide()
        take.clicked.connect(lambda checked=False: self.taken.emit(way.given))
        line = row(said, take, stretch=False)
        line.setContentsMargins(0, 0, 0, 0)
        line.setStretch(0, 1)
        part = QWidget(self)
        part.setLayout(line)
        return part


class Widths(QWidget):
    """How exactly a count is answered, each with its price. ``chosen`` tells the margin."""

    chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("widths")
        self._row = make_row(inside=self, spacing=8, margins=0)
        self.hide()

    def show_widths(
        self, within: Sequence[tuple[int, Fraction]], now: Any, money: Callable[..., str]
    ) -> None:
        """Show margins with what each takes; that which the question has ``now`` is pressed."""
        empty(self._row)
        if within:
            self._row.addWidget(make_label(words.say("app.visit.within"), tone="quiet"))
        for width, epsilon in within:
            price = words.say("app.visit.within_free")
            if epsilon:
                price = f"ε\u00a0{level(epsilon)}"
                added = money(epsilon)
                price += f" · {added}" if added else ""
            button = make_button(
                f"±\u00a0{width}   {price}",
                f"within-{width}",
                partial(self.chosen.emit, width),
                look="chip",
                checkable=True,
            )
            button.setChecked(now is not None and float(now) == width)
            self._row.addWidget(button)
        self._row.addStretch(1)
        self.setVisible(bool(within))


class AnswerCard(Card):
    """The last answer, large and first on the page: the number, its margin, and in words what was asked."""

    def __init__(self) -> None:
        super().__init__(words.say("app.visit.last.heading"), tone="accent")
        self.setObjectName("last-answer")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.number = name_widget(make_label(pixels=LARGE, weight=600), "last-number")
        self.margin = name_widget(make_label(pixels=26, weight=500, tone="quiet"), "last-margin")
        self.spent = name_widget(Prose(tone="quiet"), "last-spent")
        self.spent.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.said = name_widget(Prose(pixels=14), "last-said")
        self.line = name_widget(MarginLine(), "last-line")
        told = make_row(self.number, self.margin, STRETCH, spacing=14)
        drawn = make_column(self.spent, self.line, spacing=2)
        add(self.body, make_row(told, (drawn, 1), spacing=24), self.said)
        self.hide()

    def show_answer(self, views: Sequence[Any], headings: tuple[str, str], spent: str) -> None:
        """Show a number, of several the least exact one; hide where none has a margin."""
        found = weakest(views)
        self.setVisible(found is not None)
        if found is None:
            return
        line, more = alone(found[1][0]), len(found[0].rows) - 1
        self.heading.setText(headings[more > 0])
        is_little = line.is_silent or line.doubt > LITTLE
        self.setProperty("card", "care" if is_little else "accent")
        polish(self)
        self.number.setText(line.written)
        self.margin.setText(line.margin)
        self.spent.say(spent)
        self.line.show_number(line.value, line.low, line.high, line.written)
        digits = len(line.written.partition(words.signed("."))[2])
        ends = {
            name: words.signed(f"{end + 0.0:,.{digits}f}".replace("-", "−"))
            for name, end in (("low", line.low), ("high", line.high))
        }
        said = words.say(f"app.visit.last.{'nothing' if is_little else 'between'}", name=line.name, **ends)
        said += f" {words.say('app.visit.last.more', count=more)}" if more else ""
        self.said.say(said)
        self.setAccessibleName(
            words.pair(self.heading.text(), f"{line.written} {line.margin}. {self.said.plain()}")
        )


class VisitPage(Page):
    """After the release that opened the service, or for one that was opened some other day."""

    id = "visit"

    def build(self) -> None:
        self.opened_as: Opened | None = None
        self.first = Path()
        self.step = ""
        self.given: dict[str, dict[str, Any]] = {}
        self.further: dict[str, Further] = {}
        self.answers: list[tuple[str, Outcome, str]] = []
        self._has_new_answer = False
        self._follows_answer = False  # until something else is filled in or chosen
        self._asked_in = ""  # the parameter whose records are priced
        self._asking = ""  # what the step takes that is being made
        self._touched: set[str] = set()  # steps in which something was filled in
        self._made_for: Any = None
        self._plan: Any = None
        self._known, self._prices = Visit(), Prices()
        self._taken = Taken(None)
        self._remembered = ("", "", Remembered())
        self._shown: Any = None
        self._choices = make_row(spacing=20)
        self.group = QButtonGroup(self)
        self.group.buttonClicked.connect(lambda button: self._choose(button.property("step")))
        self.last = AnswerCard()
        self.topic(self.last, "last")
        self.body.addWidget(self.last)
        self.body.addLayout(self._choices)
        self._sources = make_column(spacing=14)
        self.body.addLayout(self._sources)
        self._build_asking()
        self._build_budget()
        self.heading = Heading(words.say("app.visit.answers"), size="side")
        self.views = ViewStack(self.runner, lambda widget, place: self.topic(widget, ""), stays=False)
        self.inside = ViewStack(self.runner, lambda widget, place: self.topic(widget, ""), stays=True)
        self.stays = Heading(words.say("app.release.part.stays"), size="side")
        self.stays.hide()
        self.list = name_widget(Prose(tone="quiet", pixels=12), "visits")
        add(self.body, self.heading, self.views, self.stays, self.inside, self.list, STRETCH)

    def _build_asking(self) -> None:
        self.card = Card()
        self.card.body.setSpacing(14)
        self.form = ParameterForm()
        self.form.changed.connect(self._filled)
        self.wrong = name_widget(Prose(tone="wrong"), "problem-visit")
        add(self.card.body, self.form, self.wrong)
        said = words.say("app.visit.passphrase")
        self.secret = make_field("passphrase", said, placeholder=said, width=360, secret=True)
        self.takes = name_widget(Prose(), "takes")
        self.cheaper = CheaperWays()
        self.cheaper.taken.connect(self._take)
        self.signing = SigningSecret()
        self.widths = Widths()
        self.widths.chosen.connect(self._answer_within)
        self.topic(self.widths, "within")
        add(self.card.body, self.widths, self.secret, self.signing, self.takes, self.cheaper)
        self.body.addWidget(self.card)

    def _build_budget(self) -> None:
        self.budget = name_widget(Card(), "reserved")
        self.used = Prose()
        self.bar = SegmentBar()
        self.topic(self.bar, "reserved")
        add(self.budget.body, self.used, self.bar)
        self.body.addWidget(self.budget)

    # --- showing -----------------------------------------------------------------------------------

    def enter(self) -> None:
        method, outcome, resumed = self.study.method, self.study.result("bundle"), self.study.resumed
        made = resumed if outcome is None or outcome.bundle is None else outcome
        if method is None or made is None:
            return
        if self._made_for is not made:
            self._made_for = made
            if isinstance(made, Opened):
                self.opened_as = made
            else:
                self.opened_as = opened_from(made.bundle.folder, self.study.plan_as_read)
            self.first = self.opened_as.folder
            self.answers, self.further, self._shown = [], {}, None
            self._touched = set()
            self.last.hide()
            self._show_inside(())
            self._taken, self._remembered = Taken(None), ("", "", Remembered())
            self._offer(method)
            self._ask_ledger()
        self._show()

    def _ask_ledger(self) -> None:
        """Have the ledger say what was taken, away from the interface."""

        def told(found: Taken) -> None:
            self._taken = found
            self._show_takes()
            self._show_budget()
            if self._has_new_answer:
                self._has_new_answer, self._follows_answer = False, True
                for soon in LAID_OUT:
                    QTimer.singleShot(soon, self._bring_answer)

        self.runner.start(
            taken_by_service,
            self.opened_as,
            self.study.ledger_path,
            done=told,
            failed=self.refuse,
            slot="taken",
        )

    def _offer(self, method: type[Method]) -> None:
        """Offer the steps that the method declares."""
        for button in self.group.buttons():
            self.group.removeButton(button)
        empty(self._choices)
        for step in method.steps:
            button = QRadioButton(words.say(f"methods.{method.id}.steps.{step.name}.title"))
            button.setObjectName(f"visit-{step.name}")
            button.setProperty("step", step.name)
            self.group.addButton(button)
            self._choices.addWidget(button)
            button.setVisible(len(method.steps) > 1)
        self._choices.addStretch(1)
        self.given = {step.name: _begin(step) for step in method.steps}
        self.secret.clear()
        self.secret.setVisible(method.keeps_key)
        self.group.buttons()[0].setChecked(True)
        self._choose(method.steps[0].name)

    def _declared(self) -> Step | None:
        return None if self.study.method is None else self.study.method.step_named(self.step)

    def _choose(self, step: str) -> None:
        self.step, self._follows_answer = step, False
        found = self._declared()
        empty(self._sources)
        for source in found.sources if found is not None else ():
            if source.name != MAIN or not self._has_file(source):
                self._sources.addWidget(self._source_card(source))
        self._show()
        self.frame.update_frame()

    def _has_file(self, source: Source) -> bool:
        return self.opened_as is not None and source.name in self.opened_as.plan.files

    def _source_card(self, source: Source) -> SourceCard:
        assert self.study.method is not None, "a visit is made to what a method opened"
        card = SourceCard(self.study.method.id, source)
        card.chosen.connect(lambda path: self.open_path(source, path, card))
        known = self.further.get(source.name)
        if known is not None:
            card.show_table(Path(known.file.path).name, known.rows, len(known.schema.columns))
        return card

    def open_path(self, source: Source, path: str, card: SourceCard) -> None:
        """Read a table that the step needs."""

        def read(found: Further) -> None:
            self.further[source.name] = found
            card.show_table(Path(found.file.path).name, found.rows, len(found.schema.columns))
            self._show()
            self.frame.update_frame()

        opened = self.opened_as
        known = None if opened is None else opened.plan.schemas.get(source.name)
        before = None if opened is None else opened.lost.get(source.name)
        doing = words.say("app.tables.reading")
        self.work(read_further, source, path, known, before, done=read, doing=doing)

    def _show(self) -> None:
        step, method = self._declared(), self.study.method
        if step is None or method is None or self.opened_as is None:
            return
        title = words.say(f"methods.{method.id}.steps.{step.name}.title")
        name = words.pair(self.opened_as.plan.purpose.title, title)
        given = self.given[step.name]
        self._plan = visit(self.opened_as, step.name, given, self.further, name=name)
        needed = [one.name for one in step.sources if one.required and one.name not in self._plan.files]
        self._known = Visit() if needed else look(self._plan)
        base = f"methods.{method.id}.steps.{step.name}"
        # Nothing is wrong with a form that nobody has begun, but what was left behind may be.
        begun = self.step in self._touched
        problems = tuple(one for one in self._known.problems if begun or not _is_empty_form(one, step))
        self.form.show_form(base, step.parameters, given, self._offered(), problems)
        general = [one for one in problems if one.parameter not in self.form.lines]
        said = [" ".join(words.explain(one)) for one in general]
        # The card above asks for a file, and what is asked of it comes after; one that was there has moved.
        moved = {one.name for one in method.sources}.intersection(needed)
        waits = bool(needed) and not moved and not begun
        if not waits:
            absent = (
                words.say(f"app.visit.{'moved' if one in moved else 'not_chosen'}", source=called)
                for one, called in ((one, source_name(method.id, one)) for one in needed)
            )
            said += absent
        # That something was closed was wanted: nothing has gone wrong, and nothing is left to choose.
        is_wanted = not needed and bool(general) and all(one.code.endswith(".closed") for one in general)
        self.form.setVisible(not waits and not is_wanted)
        for button in self.group.buttons():
            button.setVisible(len(method.steps) > 1 and not is_wanted)
        self.wrong.setVisible(bool(said))
        # A file that is still to be chosen is no fault of anybody.
        self.wrong.set_tone("quiet" if is_wanted else "wrong" if general else "care")
        self.wrong.say("\n\n".join(said))
        self._ask_prices(step)
        self._show_takes()
        asked = (self.form, self.wrong, self.widths, self.secret, self.signing, self.cheaper)
        self.card.setVisible(any(not part.isHidden() for part in asked))
        self._show_budget()
        so_far = self._from_state().so_far
        if so_far != self._shown:
            self._shown = so_far
            self.views.show_views(so_far)
        self.heading.setText(self.say("answers"))
        self.heading.setVisible(bool(self._shown or self.answers))
        self.list.setVisible(bool(self.answers))
        self.list.say("\n\n".join(f"**{said}** · {folder}" for said, _, folder in reversed(self.answers)))

    def _from_state(self) -> Remembered:
        """Return what the state says, read once for each state."""
        state, step, known = self._remembered
        if (state, step) != (self._plan.state, self._plan.step):
            known = read_remembered(self._plan)
            self._remembered = (self._plan.state, self._plan.step, known)
        return known

    def _offered(self) -> dict[str, Schema]:
        """The schemas of the visit, with the columns that it may name."""
        found = dict(self._plan.schemas)
        for name, columns in self._from_state().offered.items():
            if name in found:
                kept = tuple(column for column in found[name].columns if column.name in columns)
                found[name] = replace(found[name], columns=kept)
        return found

    def _ask_prices(self, step: Step) -> None:
        """Have each record priced, away from the interface: what it takes, and what would cost less."""
        fields = [self.form.lines[one.name].field for one in step.parameters]
        records = next((one for one in fields if isinstance(one, RecordsField)), None)
        self._prices = Prices()
        self.cheaper.show_ways((), Fraction(0))
        if records is None or not records.value():
            self.widths.hide()
            return
        plan = self._plan

        def priced(found: Prices) -> None:
            if plan is self._plan and isValid(records):
                self._prices = found
                records.show_notes(list(map(_note, found.each, found.margins)))
                self.cheaper.show_ways(found.cheaper, self._next, self._added)
                self._show_widths(records)
                self._show_takes()
                if self._follows_answer:  # what stands above the answer has another height now
                    QTimer.singleShot(LAID_OUT[0], self._bring_answer)

        self.runner.start(
            prices, plan, records.parameter, done=priced, failed=self.refuse, slot="visit.prices", lane=SHORT
        )

    def _show_widths(self, records: RecordsField) -> None:
        self._asked_in = records.parameter.name
        asked = records.value() or [{}]
        within, now = self._prices.within, asked[0].get("margin")
        margin = self._prices.margins[0] if self._prices.margins else None
        taken = self._prices.each[0] if self._prices.each else None
        if margin is not None and taken is not None:  # one margin has one price: what is asked says it too
            same = next((one for one, _ in within if _written(one) == _written(margin)), None)
            within = tuple((one, taken if one == same else price) for one, price in within)
            now = now if same is None else same
        self.widths.show_widths(within, now, self._added)

    def _answer_within(self, width: int) -> None:
        """Ask the question with this margin, whatever level that takes."""
        asked = self.given[self.step][self._asked_in]
        if len(asked) != 1:  # the prices of what is asked by now are still being found
            return
        bare = {name: value for name, value in asked[0].items() if name != "epsilon"}
        self._filled(self._asked_in, [bare | {"margin": width}])

    def _take(self, given: Any) -> None:
        """Ask in a cheaper way."""
        self.given[self.step] = dict(given)
        self._follows_answer = False
        self._show()
        self.frame.update_frame()

    def _show_budget(self) -> None:
        whole = self._taken.reserved
        self.budget.setVisible(whole is not None and whole > 0)
        if whole is None or whole <= 0:
            return
        after = max(self._taken.left - self._next, Fraction(0))
        used = whole - self._taken.left
        said = self._said("used", used, whole=level(whole), whole_money=self._money(whole))
        if self._next:
            said += " " + self._said("would_be_left", whole, beyond=whole - after)
        self.used.say(said)
        parts = [
            Segment(float(epsilon / whole), str(place))
            for place, (_, epsilon) in enumerate(self._taken.visits, 1)
        ]
        if self._next:
            parts.append(
                Segment(
                    float(min(self._next, self._taken.left) / whole), words.say("app.visit.this_one"), NEXT
                )
            )
        if after:
            parts.append(Segment(float(after / whole), words.say("app.visit.left"), LEFT))
        self.bar.show_segments(parts, said.replace("**", ""))

    def _added(self, epsilon: Fraction) -> str:
        """Write what a level adds to the modelled claims of what was taken before."""
        used = (self._taken.reserved or Fraction(0)) - self._taken.left
        return self._money(used + epsilon, beyond=used)

    def _show_takes(self) -> None:
        """Say what the step takes, in money too, and how many of its records are free."""
        self.takes.setVisible(self._known.promise is not None)
        if self._known.promise is None:
            return
        said = self.say("takes_nothing")
        if self._next:
            added = self._added(self._next)
            values = {"epsilon": level(self._next), "money": added}
            said = words.say("app.visit.takes_money" if added else "app.visit.takes", **values)
        if len(self._prices.each) > 1:
            free = self._prices.each.count(Fraction(0))
            said = words.say("app.visit.lines", count=len(self._prices.each), free=free) + " " + said
        self.takes.say(said)

    def _money(self, epsilon: Fraction, *, beyond: Fraction = Fraction(0)) -> str:
        """Write the modelled claims between two levels; nothing where they are not known, or not yet."""
        if self._taken.reserved is None:
            return ""
        ends = [in_money(self._plan, one) for one in (epsilon, beyond)]
        if ends[0] is None or ends[1] is None:
            return ""
        return money(ends[0] - ends[1], self._plan.price.currency)

    @property
    def _next(self) -> Fraction:
        """The level that the step takes from what was reserved; 0 where no rows of people are read."""
        step, promise = self._declared(), self._known.promise
        reads = step is not None and any(one.shape.is_private for one in step.sources)
        loss = None if promise is None else promise.loss
        return loss.epsilon if reads and loss is not None else Fraction(0)

    def _said(self, name: str, upto: Fraction, *, beyond: Fraction = Fraction(0), **values: str) -> str:
        """Return a sentence about a part of what was reserved, with its money where that is known."""
        epsilon, amount = upto - beyond, self._money(upto, beyond=beyond)
        said = f"app.visit.{name}_money" if amount else f"app.visit.{name}"
        return words.say(said, epsilon=level(epsilon) if epsilon else "0", money=amount, **values)

    # --- asking ------------------------------------------------------------------------------------

    def _filled(self, name: str, value: Any) -> None:
        self._touched.add(self.step)
        self._follows_answer = False
        given = self.given[self.step]
        if value is None:
            given.pop(name, None)
        else:
            given[name] = value
        self._show()
        self.frame.update_frame()

    def next_words(self) -> str:
        if self.opened_as is None or self._known.promise is None or self.runner.busy("release"):
            return ""
        if self._next:
            return words.say("app.visit.answer", epsilon=level(self._next))
        return words.say("app.visit.do")

    def waits(self) -> Text | None:
        """Nothing was answered, and nothing can be: Next only passes by."""
        can_act = bool(self.next_words()) or self.runner.busy("release")
        return None if can_act or self.answers else Text("app.visit.waits")

    def commits(self) -> str:
        return self.next_words() if self.opened_as is not None else ""

    def go_next(self) -> None:
        if not self.next_words() or self.opened_as is None:
            self.frame.go_next()
            return
        self._asking = self._spends_words()
        desk, plan, epsilon = self.opened_as, self._plan, level(self._next) if self._next else ""
        passphrase = self.secret.text() if not self.secret.isHidden() else ""
        self.secret.clear()
        self.work(
            release,
            self._plan,
            next_folder(self.first, self.step),
            watch=Watch(),
            ledger_path=self.study.ledger_path,
            language=words.language(),
            passphrase=passphrase,
            signing=self.signing.taken(),
            seen={one.file.path: one.digest for one in self.further.values()},
            done=lambda outcome: self._answered(outcome, desk, plan, epsilon),
            doing=words.say("app.visit.working"),
            slot="release",
        )

    def _spends_words(self) -> str:
        """Return what the step takes, in ε and in money; that it is free where it was answered before."""
        if not self._next:
            return self.say("last.free")
        added = self._added(self._next)
        said = words.say("app.visit.last.spent", epsilon=level(self._next))
        return f"{said} · {added}" if added else said

    def _answered(self, outcome: Outcome, desk: Opened, plan: Plan, epsilon: str) -> None:
        """Show what a step gave; of another service than the one in view by now, only that it was made."""
        self.study.forget("ledger")
        if outcome.bundle is not None and (outcome.bundle.folder / "internal" / "state").is_file():
            self.frame.settings.remember_desk(desk.entry, str(outcome.bundle.folder))
        if outcome.bundle is None:
            self._say_ended(outcome, plan, epsilon)
            return
        if outcome.error is not None:
            self.refuse(outcome.error)
            self.signing.ask_after(outcome.error)
        if self.opened_as is not desk or plan.method != self.study.plan.method:
            values = {"epsilon": epsilon, "holding": plan.holding}
            self.notify(
                words.say("app.release.made_before", title=plan.purpose.title),
                words.say("app.release.made_before_spent", **values) if epsilon else "",
            )
            return
        folder = outcome.bundle.folder
        title = words.say(f"methods.{self.study.plan.method}.steps.{self.step}.title")
        self.answers.append((title, outcome, str(folder)))
        headings, step = (self.say("last.heading"), self.say("last.weakest")), self._declared()
        asks = step is not None and bool(step.parameters or step.sources)
        self.last.show_answer(outcome.bundle.views if asks else (), headings, self._asking)
        if (folder / "internal" / "state").is_file():
            self.opened_as = Opened(desk.plan, desk.entry, folder)
        self._touched.discard(self.step)
        self._has_new_answer = True
        self._ask_ledger()
        self._show()
        if not self._from_state().so_far:
            self._shown = outcome.bundle.views
            self.views.show_views(outcome.bundle.views)
            self.heading.show()
        self._show_inside(outcome.bundle.internal_views)
        self.frame.update_frame()

    def _say_ended(self, outcome: Outcome, plan: Plan, epsilon: str) -> None:
        """Say how a step ended that gave no answer, what of it stays spent, and what was taken by now."""
        title = words.say(f"app.release.{outcome.ending}")
        side = "" if epsilon else "unbounded."
        kept = words.say(f"app.release.{side}{outcome.kept}", epsilon=epsilon, holding=plan.holding)
        what, do = ("", "") if outcome.error is None else words.explain(outcome.error)
        self.notify(f"{title} {what}".strip(), f"{kept} {do}".strip())
        if outcome.error is not None:
            self.signing.ask_after(outcome.error)
        if self.opened_as is not None:
            self._ask_ledger()
        self._show()
        self.frame.update_frame()

    def _show_inside(self, views: Sequence[Any]) -> None:
        """Show what stays of a collection (which reports were left out, and why); of a desk, nothing."""
        method = self.study.method
        is_private = method is None or any(one.shape.is_private for one in method.reads(self.step))
        self.inside.show_views(() if is_private else views)
        self.stays.setVisible(bool(self.inside.views))

    def _bring_answer(self) -> None:
        """Bring what was just answered into view."""
        if isValid(self) and self.heading.isVisible():
            self._column.activate()
            top = self.last.y() if self.last.isVisible() else self.heading.y()
            fits = self.last.isVisible() and top + self.last.height() <= self.viewport().height()
            self.verticalScrollBar().setValue(0 if fits else max(top - ABOVE, 0))

    def explain(self, topic: str) -> Explanation:
        found = super().explain(topic)
        name = topic.removeprefix("parameter.")
        if name in self.form.lines:
            return Explanation(self.form.labels()[name], (Part(body=self.form.help(name)),))
        return found

    def first_focus(self) -> QWidget | None:
        inside = (part for line in self.form.lines.values() for part in line.field.findChildren(QWidget))
        return next(
            (one for one in inside if one.focusPolicy() & Qt.FocusPolicy.TabFocus and one.isVisible()), None
        )


def _is_empty_form(problem: Problem, step: Step) -> bool:
    """Say whether a problem is about a setting of a step, and not about what it goes on from."""
    asked = {one.name for one in step.parameters}
    return problem.parameter in asked | {part.name for one in step.parameters for part in one.fields}


def _begin(step: Step) -> dict[str, Any]:
    """Return what is filled in at first: one empty line where a table of questions is asked for."""
    return {one.name: [{}] for one in step.parameters if one.fields and not one.optional}


def _note(epsilon: Fraction | None, margin: float | None) -> str:
    """Say what a record takes, and how exact its answer will be."""
    if epsilon is None:
        return ""
    said = words.say("app.visit.costs", epsilon=level(epsilon)) if epsilon else words.say("app.visit.free")
    if margin is None:
        return said
    return f"{said} {words.say('app.visit.right_within', margin=_written(margin))}"


def _written(margin: float) -> str:
    """Return a margin as it is shown."""
    return words.number(round(margin) if margin >= WHOLE else float(f"{margin:.3g}"))


PAGE = VisitPage
