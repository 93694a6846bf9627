"""Budget: money, what could be learnt, accuracy and privacy at risk: four views of one privacy level."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QWidget

from app import words
from app.parts.cards import Card, NumberCard
from app.parts.exact_field import ExactField, ScaleSlider, three_digits
from app.parts.making import STRETCH, add, hidden, make_button, make_grid, make_row, name_widget
from app.parts.panel import Explanation, three
from app.parts.prose import Prose
from app.parts.table import DataTable
from app.parts.verdict_card import VerdictCard
from app.parts.views.figure import LiveDrawing
from app.screens.base import Page, Pieces
from app.screens.budget.at_risk_card import AtRiskCard
from app.screens.budget.further import BudgetFurther
from app.screens.budget.owed import Owed
from app.screens.budget.said import Said
from app.screens.budget.sharing import SharingCard, shared
from app.state.flow import BUDGET
from app.state.holdings import epsilon_of_money
from app.words.money import level
from app.work.deciding import QUICK, Prepared, Standing, Worked, prepare, standing, work_out
from app.work.jobs import SHORT, JobRunner
from engine.errors import EngineError
from engine.policy import policy
from engine.views import CurveView, as_table

# --- The cost curve with its legend and the sentence about the window -----------------------------------


class CostCurveCard(Card):
    """Curve, legend, window."""

    def __init__(self, runner: JobRunner, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("money-view")
        self.curve = name_widget(LiveDrawing(runner), "cost-curve")
        self.table = hidden(DataTable(words.say("app.budget.table_name")))
        self.table.setMinimumHeight(190)
        self.band = hidden(Prose(words.say("app.budget.band"), tone="quiet", pixels=12))
        self.window_sentence = name_widget(Prose(), "window-sentence")
        self.as_table = make_button(
            words.say("app.budget.as_table"), "cost-as-table", look="link", checkable=True
        )
        self.as_table.toggled.connect(self._show_table)
        said = make_row((self.window_sentence, 1), self.as_table, spacing=20)
        add(self.body, self.curve, self.table, self.band, said)
        self._view: CurveView | None = None

    def show_view(self, view: CurveView | None, sentence: str, tone: str = "") -> None:
        """Show a curve and what the window says."""
        self._view = view
        self.curve.show_view(view)
        self.band.setVisible(view is not None and view.band is not None)
        self.window_sentence.set_tone(tone)
        self.window_sentence.say(sentence)
        if self.table.isVisible():
            self._fill()

    def _show_table(self, wanted: bool) -> None:
        self.table.setVisible(wanted)
        self.curve.setVisible(not wanted)
        self.as_table.setText(words.say("app.budget.as_curve" if wanted else "app.budget.as_table"))
        if wanted:
            self._fill()

    def _fill(self) -> None:
        if self._view is None:
            return
        marks = [(mark.label, mark.x, mark.y) for mark in self._view.marks]
        drawn = [
            (series.label, x, y)
            for series in self._view.series
            for x, y in zip(series.x, series.y, strict=True)
        ]
        rows = [
            (words.label(label), words.number(x, digits=4), words.number(y, digits=4))
            for label, x, y in (*marks, *drawn)
        ]
        headings = [words.label(one) for one in as_table(self._view).headings]
        self.table.show_rows(headings, rows, numeric={1, 2})


# --- One of the four views of the privacy level ---------------------------------------------------------


class LinkedCard(NumberCard):
    """A number card that can be moved. ``chosen`` tells the exact value that the person decided."""

    chosen = Signal(object)

    def __init__(
        self,
        heading: str,
        label: str,
        *,
        name: str,
        smallest: Fraction | int,
        largest: Fraction | int | None = None,
        scale: tuple[float, float] = (0.01, 10.0),
        width: int = 78,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(heading, parent=parent)
        self.setObjectName(f"card-{name}")
        self.slider = name_widget(ScaleSlider(label, *scale), f"slider-{name}")
        self.field = ExactField(label, smallest=smallest, largest=largest, money=name == "money", width=width)
        self.field.setObjectName(f"exact-{name}")
        self.slider.moved.connect(lambda value: self.chosen.emit(three_digits(value)))
        self.field.decided.connect(self.chosen.emit)
        self.body.addWidget(self.slider)
        self.row = make_row(spacing=6)
        name_of_field = Prose(label, tone="quiet", pixels=12)
        name_of_field.setWordWrap(False)
        add(self.row, name_of_field, STRETCH, self.field)
        self.body.addLayout(self.row)

    def add_field(self, field: QWidget, after: str) -> None:
        """Put another field at the end of the row, with a word after it."""
        word = Prose(after, tone="quiet", pixels=12)
        word.setWordWrap(False)
        add(self.row, 4, field, word)

    def show_choice(self, value: Fraction | None, result: float | None = None) -> None:
        """Show the exact value in the field and roughly on the slider, without telling.

        Where nothing was stated the handle stands at what follows from the level.
        """
        self.field.show_number(value)
        self.slider.show_value(result if value is None else float(value))


LINKED = ("money", "learnt", "accuracy")
FOUR, TWO = 740, 400  # widths from which four, or two, cards stand side by side


class BudgetPage(Page):
    """The seventh screen."""

    id = "budget"

    def build(self) -> Pieces:
        self.prepared: Prepared | None = None
        self.worked: Worked | None = None
        self.standing: Standing | None = None
        self._made_for: Any = None
        self._uncertain = False
        self._slow = False
        self.owed = Owed()
        self.owed.decided.connect(self._priced_anew)
        self.topic(self.owed.anchor, "anchor")
        for field in (self.owed.people, self.owed.compensation):
            self.topic(field, "owed")
        self.question = Prose(words.say("app.budget.question"))
        self.problem = name_widget(Prose(tone="wrong"), "problem-budget")
        add(self.body, self.owed, self.question, self.problem)
        yield
        self._build_sharing()
        self._build_cards()
        self.caution = hidden(name_widget(Prose(tone="care"), "second-decides"))
        self.body.addWidget(self.caution)
        yield
        self.verdict = VerdictCard()
        self.verdict.jump.connect(lambda step: self.frame.go(step))
        self.topic(self.verdict, "verdict")
        self.money_view = CostCurveCard(self.runner)
        self.topic(self.money_view.curve, "curve")
        add(self.body, self.verdict, self.money_view)
        yield
        self.further = BudgetFurther()
        self._link_further()
        add(self.body, self.further, STRETCH)
        self._panel_timer = self._timer(120, lambda: self.refresh_explanation(""))
        self._standing_timer = self._timer(300, self._ask_ledger)

    def _timer(self, milliseconds: int, act: Any) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(milliseconds)
        timer.timeout.connect(act)
        return timer

    def _build_sharing(self) -> None:
        self.sharing = SharingCard()
        self.sharing.decided.connect(self._share)
        self.sharing.taken.connect(self._epsilon_chosen)
        for widget in (self.sharing.many, self.sharing.take):
            self.topic(widget, "sharing")
        self.allowed = hidden(name_widget(Prose(tone="care", pixels=12), "allowed"))
        add(self.body, self.sharing, self.allowed)

    def _share(self, many: int) -> None:
        plan = self.study.plan
        self.frame.settings.share(plan.holding.strip(), many)
        found = shared(plan, self.study.registers, self.frame.settings.shared())
        if plan.budget is None and found is not None and found.share:
            self._epsilon_chosen(found.share)  # whoever divides a budget has said what each may take
        self._show_sharing()

    def _show_sharing(self) -> None:
        """Show how the register is shared, and what this computer allows at most."""
        plan = self.study.plan
        found = shared(plan, self.study.registers, self.frame.settings.shared())
        self.sharing.show_shared(found, plan.budget.epsilon if plan.budget is not None else None)
        try:
            most = policy().largest_epsilon
        except EngineError:
            most = None  # a policy that cannot be read stops every release, and says so there
        self.allowed.setVisible(most is not None)
        if most is not None:
            self.allowed.say(words.say("app.budget.allowed", epsilon=level(most, down=True)))
            is_beyond = plan.budget is not None and plan.budget.epsilon > most
            self.allowed.set_tone("wrong" if is_beyond else "care")

    def _build_cards(self) -> None:
        self.money = LinkedCard(
            words.say("app.budget.money.heading"),
            words.say("app.budget.money.label"),
            name="money",
            smallest=1,
        )
        self.learnt = LinkedCard(
            words.say("app.budget.learnt.heading"),
            words.say("app.budget.learnt.label"),
            name="learnt",
            smallest=Fraction(1, 1000),
            largest=20,
            width=62,
        )
        self.accuracy = LinkedCard(
            words.say("app.budget.accuracy.heading"),
            words.say("app.budget.accuracy.label"),
            name="accuracy",
            smallest=Fraction(1, 10**6),
        )
        self.at_risk = AtRiskCard()
        self.sure = name_widget(
            ExactField(
                words.say("app.budget.learnt.sure"),
                smallest=Fraction(5001, 100),
                largest=Fraction(9999, 100),
                width=58,
            ),
            "exact-sure",
        )
        self.learnt.add_field(self.sure, "%")
        self.money.chosen.connect(self._money_chosen)
        self.learnt.chosen.connect(self._epsilon_chosen)
        self.accuracy.chosen.connect(self._error_chosen)
        self.sure.decided.connect(self._sure_chosen)
        self.cards: tuple[Card, ...] = (self.money, self.learnt, self.accuracy, self.at_risk)
        self._grid = make_grid(across=14, down=14)
        self._columns = 0
        self._lay(4)
        self.body.addLayout(self._grid)
        for name in LINKED:
            card = getattr(self, name)
            for widget in (card, card.slider, card.field):
                self.topic(widget, name)
        self.topic(self.sure, "learnt")
        fields = (self.owed.people, self.owed.compensation, self.sure)
        for field in (*fields, *(getattr(self, name).field for name in LINKED)):
            field.refused.connect(self._no_number)
        self.topic(self.at_risk, "at_risk")

    def _lay(self, columns: int) -> None:
        if columns == self._columns:
            return
        for column in range(self._columns):
            self._grid.setColumnStretch(column, 0)
        self._columns = columns
        for place, card in enumerate(self.cards):
            self._grid.addWidget(card, place // columns, place % columns)
        for column in range(columns):
            self._grid.setColumnStretch(column, 1)
            self._grid.setColumnMinimumWidth(column, 0)

    def _link_further(self) -> None:
        self.further.priced.connect(self._priced)
        self.further.delta_decided.connect(lambda value: self._budget(delta=value))
        self.further.relation_decided.connect(lambda value: self._budget(neighbours=value))
        self.further.calibrated.connect(self._calibrate)
        self.further.uncertain.connect(self._show_band)
        for name, field in self.further.fields.items():
            self.topic(field, f"field.{name}")
        for widget in (self.further.at, self.further.share, self.further.use):
            self.topic(widget, "field.curvature")
        self.topic(self.further.relation, "field.relation")
        self.topic(self.further.second, "second")

    # --- showing -----------------------------------------------------------------------------------

    def opened(self) -> None:
        self.prepared = None
        self.work(
            prepare,
            self.study.plan,
            done=self._ready,
            doing=words.say("app.budget.preparing"),
            lane=SHORT,
            stoppable=False,
        )

    def _ready(self, prepared: Prepared) -> None:
        self.prepared = prepared
        self.owed.offer(prepared.anchors)
        self._slow = prepared.seconds > QUICK
        if prepared.worked is not None:
            self._take(prepared.worked)
        if prepared.error_at_one:
            self.accuracy.slider.set_scale(prepared.error_at_one / 20, prepared.error_at_one * 100)
        sizes = self.study.result("group_sizes")
        whole = self.study.part is None  # how many people a sample has says nothing of the table
        if self.study.plan.price.people is None and sizes is not None and sizes.people and whole:
            with self.study.by_itself():
                self.study.decide_part("price", people=sizes.people)
        self.enter()
        self.refresh_explanation("")

    def first_focus(self) -> QWidget | None:
        return self.owed.people if self.owed.change.isHidden() else self.learnt.slider

    def enter(self) -> None:
        plan = self.study.plan
        self.owed.show_price(plan.price)
        self.further.show_plan(plan)
        problems = [problem for problem in self.study.problems() if problem.parameter == BUDGET]
        asked = plan.budget is not None
        wrong = problems if asked else []
        self.problem.setVisible(bool(wrong))
        if wrong:
            self.problem.say("\n\n".join(" ".join(words.explain(problem)) for problem in wrong))
            if any(problem.code.startswith("budget.delta") for problem in wrong):
                self.further.unfold()
        self.question.setVisible(not asked)
        if self.prepared is not None:
            self._scale_money()
            if asked and not wrong:
                self._work_out()
            else:
                self.worked = self._made_for = None
        self._show()

    def _scale_money(self) -> None:
        price = self.study.plan.price
        if price.people is not None and price.compensation is not None:
            liability = float(price.people * price.compensation)
            self.money.slider.set_scale(liability / 10_000, liability)
        self.money.slider.setEnabled(price.compensation is not None and price.people is not None)

    def _work_out(self) -> None:
        key = (self.study.plan, self._uncertain)
        if key == self._made_for and self.worked is not None:
            return
        self._made_for = key
        try:
            worked = work_out(self.study.plan, uncertain=self._uncertain, readings=not self._slow)
        except EngineError as error:
            self.worked = None
            self.problem.show()
            self.problem.say(" ".join(words.explain(error)))
            return
        if not self._slow:
            self._slow = worked.seconds > 2 * QUICK
        self._take(worked)
        if "at_risk" not in worked.choice.statement:
            self.runner.start(
                work_out,
                self.study.plan,
                uncertain=self._uncertain,
                done=self._take,
                failed=self.refuse,
                slot="budget.readings",
                lane=SHORT,
            )
        self._panel_timer.start()
        self._standing_timer.start()

    def _take(self, worked: Worked) -> None:
        if worked.plan == self.study.plan:
            self.worked = worked
            self._made_for = (worked.plan, self._uncertain)
            self._show()
            self._standing_timer.start()

    def _said(self) -> Said:
        return Said(self.study.plan, self.worked, self.standing, self.prepared)

    def _show(self) -> None:
        said, price = self._said(), self.study.plan.price
        self._show_sharing()
        self.money.show_number(*said.money())
        self.learnt.show_number(*said.learnt())
        self.accuracy.show_number(*said.accuracy())
        self.at_risk.show_at_risk(said.at_risk())
        choice = self.worked.choice if self.worked is not None else None
        modelled = choice.price.get("budget") if choice is not None and choice.price else None
        self.money.show_choice(price.budget, modelled)
        self.learnt.show_choice(self.study.plan.budget.epsilon if self.study.plan.budget else None)
        error = choice.error.limit if choice is not None and choice.error is not None else None
        self.accuracy.show_choice(price.largest_error, error)
        self.sure.show_number(said.sure())
        second = said.second()
        self.further.second.show_model(*second)
        self.caution.setVisible(second[2] == "care")
        self.caution.say(second[1])
        judged = said.verdict()
        useless = judged if judged is not None and judged.is_useless else None
        self.verdict.show_verdict(useless, jumps=("columns", "method"))
        view = self.worked.curve if self.worked is not None else None
        self.money_view.setVisible(view is not None)
        if view is not None:
            self.money_view.show_view(view, *said.window())

    def _no_number(self, name: str) -> None:
        self.notify(words.say("app.budget.no_number", field=name), words.say("app.budget.no_number_do"))

    # --- deciding ----------------------------------------------------------------------------------

    def _priced_anew(self, changes: dict[str, Any]) -> None:
        """Take fields of the price; the budget of a new register follows where it was said in money."""
        plan = self.study.plan
        price = replace(plan.price, **changes)
        epsilon, budget = epsilon_of_money(replace(plan, price=price)), plan.holding_budget
        if epsilon is None or budget is None:
            self.study.decide(price=price)
        else:
            self.study.decide(price=price, holding_budget=replace(budget, epsilon=epsilon))

    def _budget(self, **changes: Any) -> None:
        if self.study.plan.budget is not None:
            self.study.decide(budget=replace(self.study.plan.budget, **changes))

    def _set(self, epsilon: Fraction | None, **price: Any) -> None:
        """Decide a level and what led to it, at once."""
        from engine.release.charge import with_neighbours
        from engine.release.levels import with_epsilon

        plan = self.study.plan
        changes: dict[str, Any] = {"price": replace(plan.price, **price)} if price else {}
        if epsilon is not None:
            wanted = with_epsilon(plan, epsilon)
            if plan.budget is None:
                wanted = with_neighbours(wanted, self._register_relation())
            changes["budget"] = wanted.budget
        self.study.decide(**changes)

    def _register_relation(self) -> Any:
        from engine.privacy.promise import Neighbours

        plan = self.study.plan
        if self.standing is not None and self.standing.preview.ledger is not None:
            return Neighbours(self.standing.preview.ledger.before.holding.neighbours)
        return plan.holding_budget.neighbours if plan.holding_budget is not None else Neighbours.ADD_REMOVE

    def _money_chosen(self, amount: Fraction | None) -> None:
        from engine.release.levels import epsilon_for_money

        if amount is None:
            self._set(None, budget=None)
            return
        self._set(epsilon_for_money(self.study.plan, amount), budget=amount)

    def _epsilon_chosen(self, epsilon: Fraction | None) -> None:
        if epsilon is None:
            self.study.decide(budget=None)
        else:
            self._set(epsilon)

    def _sure_chosen(self, percent: Fraction | None) -> None:
        from engine.release.levels import epsilon_for_posterior

        if percent is not None:
            self._set(epsilon_for_posterior(float(percent) / 100))

    def _error_chosen(self, limit: Fraction | None) -> None:
        from engine.release.levels import epsilon_for_limit

        if limit is None:
            self._set(None, largest_error=None)
            return
        found = epsilon_for_limit(self.study.plan, float(limit))
        if found is None:
            self.notify(words.say("app.budget.no_level"), words.say("app.budget.no_level_do"))
        self._set(found, largest_error=limit)

    def _calibrate(self, at: Fraction, share: Fraction) -> None:
        from engine.pricing.statement import cost_of

        try:
            cost = cost_of(self.study.plan.price)
            found = cost and cost.calibrated(epsilon=at, share_of_liability=share)
        except EngineError as error:
            self.refuse(error)
            return
        if found is not None:
            self.clear_notice()
            self._priced_anew({"calibrated_epsilon": at, "calibrated_share": share})

    def _priced(self, name: str, value: Fraction | None) -> None:
        # A constant that is written stands in place of the point that was defended before.
        other = {"calibrated_epsilon": None, "calibrated_share": None} if name == "curvature" else {}
        self._priced_anew({name: value, **other})

    def _show_band(self, wanted: bool) -> None:
        self._uncertain = wanted
        self.enter()

    def _ask_ledger(self) -> None:
        self.runner.start(
            standing,
            self.study.plan,
            self.study.ledger_path,
            done=self._stands,
            failed=self.refuse,
            slot="budget.standing",
            lane=SHORT,
        )

    def _stands(self, found: Standing) -> None:
        if found.plan == self.study.plan:
            self.standing = found
            self.study.store("ledger", found.preview, found.plan)
            self._panel_timer.start()

    def leave(self) -> None:
        # Another method may be slower, or need what is not loaded yet: prepared anew when opened again.
        self.prepared = None
        for timer in (self._panel_timer, self._standing_timer):
            timer.stop()
        for slot in ("budget.readings", "budget.standing"):
            self.runner.cancel(slot)

    # --- the right-hand side -----------------------------------------------------------------------

    def explain(self, topic: str) -> Explanation:
        if topic == "verdict":
            return three("app.preview.help.verdict", words.say("app.preview.verdict.heading"))
        said = self._said()
        if not topic:
            return said.page(lambda: self.further.unfold("calibrate")) or super().explain("")
        return said.topic(topic) or super().explain(topic)

    def resizeEvent(self, event: Any) -> None:
        width = self.viewport().width() - 64
        wide = max(card.minimumSizeHint().width() for card in self.cards)
        four = max(FOUR, 4 * wide + 3 * self._grid.spacing())
        self._lay(4 if width >= four else 2 if width >= TWO else 1)
        super().resizeEvent(event)


PAGE = BudgetPage
