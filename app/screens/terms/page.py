"""Terms: what a release promises where no budget is chosen: its thresholds, or the level that follows."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QWidget

from app import words
from app.parts.cards import Card, NumberCard
from app.parts.form.parameter_form import ParameterForm
from app.parts.making import add, empty, make_grid, name_widget
from app.parts.panel import Explanation, Part, three, three_parts
from app.parts.prose import Prose
from app.parts.trial.trial_card import TrialCard
from app.parts.trial.trying import MethodTrial
from app.screens.base import Page
from app.state import flow
from app.words.columns import naming_words
from app.words.money import level, money, percent
from app.work.deciding import promise_of
from engine.errors import EngineError
from engine.methods.protocol import Method, Spends
from engine.privacy.promise import Neighbours
from engine.views import Text

ACROSS = 3  # cards side by side
ONE_BELOW = 560  # pixels of the page below which they stand under each other


class TermsPage(Page):
    """In the place of the budget."""

    id = "terms"
    counts_rows = True

    def build(self) -> None:
        self.cards: dict[str, NumberCard] = {}
        self._made_for: Any = None
        self._promise: Any = None
        self.thresholds = Card()  # without a heading, and in one line: rows and map shall be in view
        self.thresholds.body.setSpacing(14)
        self.form = ParameterForm(in_line=True)
        self.form.changed.connect(lambda name, value: self.study.decide_parameters(**{name: value}))
        self.thresholds.body.addWidget(self.form)
        self.problem = name_widget(Prose(tone="wrong"), "problem-terms")
        self.naming = name_widget(Prose(tone="wrong"), "names-people")
        tried = TrialCard()
        self.topic(tried, "trial")
        tried.looked.connect(self.frame.update_frame)
        self.trial = MethodTrial(tried, self.id, self.study, self.runner)
        add(self.body, self.thresholds, self.problem, self.naming, tried)
        self._grid = make_grid(across=14, down=14)
        self.body.addLayout(self._grid)
        self.sentence = Card(words.say("app.terms.sentence"))
        self.sentence_words = name_widget(Prose(), "sentence")
        self.sentence.body.addWidget(self.sentence_words)
        self.body.addWidget(self.sentence)
        self.limits: dict[str, Prose] = {}
        for name in ("can", "cannot"):
            card = Card(words.say(f"app.terms.{name}"))
            self.limits[name] = Prose()
            card.body.addWidget(self.limits[name])
            self.body.addWidget(card)
        self.body.addStretch(1)

    # --- showing -----------------------------------------------------------------------------------

    def enter(self) -> None:
        method = self.study.method
        if method is None:
            return
        pays = flow.spends(method)
        follows = method.spends is Spends.FOLLOWS and pays
        self.title.setText(words.say(f"app.terms.{'title_follows' if follows else 'title'}"))
        self.subtitle.say(words.say(f"app.terms.{'subtitle_follows' if follows else 'subtitle'}"))
        self.setAccessibleName(self.title.text())
        self._show_form(method)
        problems = self.study.problems()
        elsewhere = [one for one in problems if one.parameter not in self.form.lines]
        self.problem.setVisible(bool(elsewhere))
        self.problem.say("\n\n".join(" ".join(words.explain(one)) for one in elsewhere))
        naming = naming_words(self.study.plan, method, self.study.result("suggestions") or ())
        self.naming.setVisible(bool(naming))
        self.naming.say(naming)
        self._promise = None
        if not problems:
            self._work_out()
        for part in (self.sentence, *self.cards.values()):
            part.setVisible(self._promise is not None)
        kind = self._promise.kind if self._promise is not None else method.promises[0]
        for name, said in self.limits.items():
            said.say(words.say(f"promises.{kind}.{name}"))
        self.trial.show()

    def _show_form(self, method: type[Method]) -> None:
        asked = flow.thresholds(method)
        self.thresholds.setVisible(bool(asked))
        plan = self.study.plan
        problems = [one for one in self.study.problems() if one.parameter in {field.name for field in asked}]
        self.form.show_form(f"methods.{method.id}", asked, plan.parameters, plan.schemas, problems)
        for name, line in self.form.lines.items():
            for widget in (line.part, *line.field.findChildren(QWidget)):
                self.topic(widget, f"term.{name}")

    def _work_out(self) -> None:
        try:
            promise, statement, price = promise_of(self.study.plan)
        except EngineError as error:
            self.problem.show()
            self.problem.say(" ".join(words.explain(error)))
            return
        self._promise = promise
        sentence = statement["sentence"]
        self.sentence_words.say(words.label(Text(sentence["id"], sentence["values"])))
        priced = ("money",) if price and price.get("budget") is not None else ()
        self._make_cards(("spends", "learnt", *priced) if promise.loss is not None else (), promise.terms)
        if promise.loss is not None:
            self._show_loss(promise.loss, statement["posterior"], price)
        for name, value in promise.terms.items():
            base = f"promises.{promise.kind}.terms.{name}"
            self.cards[f"term.{name}"].show_number(words.term(value), words.say(f"{base}.what"))

    def _make_cards(self, loss: tuple[str, ...], terms: Any) -> None:
        wanted = (*loss, *(f"term.{name}" for name in terms))
        if wanted == self._made_for:
            return
        self._made_for = wanted
        empty(self._grid)
        self.cards.clear()
        across = 2 if len(wanted) in (2, 4) else ACROSS  # no card alone in the last line
        for place, name in enumerate(wanted):
            term = name.removeprefix("term.")
            is_term = name != term
            base = (
                f"promises.{self._promise.kind}.terms.{term}.label"
                if is_term
                else f"app.terms.{name}.heading"
            )
            card = name_widget(NumberCard(words.say(base)), f"number-{name}")
            self.topic(card, name)
            self.cards[name] = card
            self._grid.addWidget(card, place // across, place % across)
        for column in range(ACROSS):
            self._grid.setColumnStretch(column, 1 if column < across else 0)

    def _show_loss(self, loss: Any, posterior: Any, price: Any) -> None:
        pays = flow.spends(self.study.method)
        self.cards["spends"].heading.setText(words.say(f"app.terms.{'spends' if pays else 'level'}.heading"))
        written = words.signed(f"{float(loss.delta):.2g}")
        delta = words.say("app.terms.spends.delta", delta=written) if loss.delta else ""
        holding = self.study.plan.holding
        self.cards["spends"].show_number(
            f"ε\u00a0{level(loss.epsilon)}",
            words.say(f"app.terms.{'spends' if pays else 'level'}.sentence", holding=holding) + delta,
        )
        shown = posterior["presence" if loss.neighbours is Neighbours.ADD_REMOVE else "value"]
        self.cards["learnt"].show_number(
            f"50\u00a0% → {percent(shown)}",
            words.say("app.terms.learnt.sentence", value=percent(posterior["value"])),
        )
        if "money" in self.cards:
            amount = money(price["budget"], self.study.plan.price.currency)
            self.cards["money"].show_number(amount, words.say("app.terms.money.sentence"))

    def go_next(self) -> None:
        """Go on, unless a combination is shown that cannot leave: another one would."""
        found = self.trial.why_not()
        if found is None:
            self.frame.go_next()
        else:
            self.hold_back(found)

    def waits(self) -> Text | None:
        return Text("app.trying.map.barred") if self.trial.why_not() is not None else None

    def leave(self) -> None:
        self.trial.look_at_taken()

    def first_focus(self) -> QWidget | None:
        return next((line.field.findChild(QWidget) for line in self.form.lines.values()), None)

    def field_at(self, place: str) -> QWidget | None:
        kind, _, name = place.partition(":")
        return self.form.part(name) if kind == "parameter" else super().field_at(place)

    def explain(self, topic: str) -> Explanation:
        method = self.study.method
        kind = self._promise.kind if self._promise is not None else method.promises[0] if method else ""
        name = topic.removeprefix("term.")
        if topic.startswith("term.") and words.has(f"promises.{kind}.terms.{name}.label"):
            title = words.say(f"promises.{kind}.terms.{name}.label")
            what = Part(words.say("app.window.three_what"), words.say(f"promises.{kind}.terms.{name}.what"))
            parts = three_parts("app.terms.three.term")
            help_text = Part(body=self.form.help(name)) if name in self.form.lines else None
            return Explanation(title, (what, *parts[1:], *([help_text] if help_text else [])))
        if topic == "trial":
            return three("app.trying.help", words.say("app.trying.heading"))
        if topic in self.cards:
            return three(f"app.terms.three.{topic}", words.say(f"app.terms.{topic}.heading"))
        found = super().explain("")
        if not kind:
            return found
        adding = Part(words.say("app.terms.adding"), words.say(f"promises.{kind}.accounting"))
        return Explanation(words.say(f"promises.{kind}.name"), (*found.parts, adding))


PAGE = TermsPage
