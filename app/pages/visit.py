"""Visit: the later steps of a service or an exchange: ask, see what it takes, answer, again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QButtonGroup, QRadioButton, QVBoxLayout, QWidget

from app import words
from app.money import level
from app.pages.base import Page
from app.releasing import Outcome, Watch, release
from app.visiting import Further, Opened, next_folder, opened_from, problems_of, read_further, visit
from app.widgets.cards import Card
from app.widgets.panel import Explanation, Part
from app.widgets.parameter_fields import empty
from app.widgets.parameter_form import ParameterForm
from app.widgets.prose import Heading, Prose
from app.widgets.source_card import SourceCard
from app.widgets.view_stack import ViewStack
from engine.methods.protocol import MAIN, Method, Source, Step


class VisitPage(Page):
    """After the release that opened the service."""

    id = "visit"

    def build(self) -> None:
        self.opened_as: Opened | None = None
        self.first = Path()
        self.step = ""
        self.given: dict[str, dict[str, Any]] = {}
        self.further: dict[str, Further] = {}
        self.answers: list[tuple[str, Outcome, str]] = []
        self._made_for: Any = None
        self._plan: Any = None
        self._promise: Any = None
        self._choices = QVBoxLayout()
        self._choices.setSpacing(2)
        self.group = QButtonGroup(self)
        self.group.buttonClicked.connect(lambda button: self._choose(button.property("step")))
        self.body.addLayout(self._choices)
        self._sources = QVBoxLayout()
        self._sources.setSpacing(14)
        self.body.addLayout(self._sources)
        self.card = Card()
        self.card.body.setSpacing(14)
        self.form = ParameterForm()
        self.form.changed.connect(self._filled)
        self.card.body.addWidget(self.form)
        self.wrong = Prose(tone="wrong")
        self.wrong.setObjectName("problem-visit")
        self.card.body.addWidget(self.wrong)
        self.takes = Prose()
        self.takes.setObjectName("takes")
        self.card.body.addWidget(self.takes)
        self.body.addWidget(self.card)
        self.heading = Heading(words.say("app.visit.answers"), size="side")
        self.body.addWidget(self.heading)
        self.list = Prose(tone="quiet")
        self.list.setObjectName("visits")
        self.body.addWidget(self.list)
        self.views = ViewStack(self.runner, lambda widget, place: self.topic(widget, ""))
        self.body.addWidget(self.views)
        self.body.addStretch(1)

    # --- showing -----------------------------------------------------------------------------------

    def enter(self) -> None:
        method, outcome = self.study.method, self.study.result("bundle")
        if method is None or outcome is None or outcome.bundle is None:
            return
        if self._made_for is not outcome:
            self._made_for = outcome
            self.first = outcome.bundle.folder
            self.opened_as = opened_from(self.first, self.study.plan_as_read)
            self.answers, self.further = [], {}
            self._offer(method)
        self._show()

    def _offer(self, method: Method) -> None:
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
        self.given = {step.name: {} for step in method.steps}
        self.group.buttons()[0].setChecked(True)
        self._choose(method.steps[0].name)

    def _declared(self) -> Step | None:
        return None if self.study.method is None else self.study.method.step_named(self.step)

    def _choose(self, step: str) -> None:
        self.step = step
        found = self._declared()
        empty(self._sources)
        for source in found.sources if found is not None else ():
            if source.name != MAIN:
                self._sources.addWidget(self._source_card(source))
        self._show()
        self.frame.update_frame()

    def _source_card(self, source: Source) -> SourceCard:
        card = SourceCard(source)
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

        self.work(read_further, source, path, done=read, doing=words.say("app.tables.reading"))

    def _show(self) -> None:
        step, method = self._declared(), self.study.method
        if step is None or method is None or self.opened_as is None:
            return
        title = words.say(f"methods.{method.id}.steps.{step.name}.title")
        name = f"{self.study.plan.purpose.title}: {title}"
        self._plan = visit(self.opened_as, step.name, self.given[step.name], self.further, name=name)
        needed = [one.name for one in step.sources if one.required and one.name not in self._plan.schemas]
        problems, promise = ((), None) if needed else problems_of(self._plan)
        base = f"methods.{method.id}.steps.{step.name}"
        self.form.show_form(base, step.parameters, self.given[step.name], self._plan.schemas, problems)
        general = [one for one in problems if one.parameter not in self.form.lines]
        said = [" ".join(words.explain(one)) for one in general]
        said += [words.say("app.flow.no_further_table", source=one) for one in needed]
        self.wrong.setVisible(bool(said))
        self.wrong.say("\n\n".join(said))
        self._promise = promise
        self.takes.setVisible(promise is not None)
        self.takes.say(self._taken(promise))
        self.heading.setVisible(bool(self.answers))
        self.list.setVisible(bool(self.answers))
        self.list.say("\n\n".join(f"**{said}** · {folder}" for said, _, folder in reversed(self.answers)))

    def _taken(self, promise: Any) -> str:
        if promise is None:
            return ""
        if not self._epsilon(promise):
            return words.say("app.visit.takes_nothing")
        return words.say("app.visit.takes", epsilon=self._epsilon(promise))

    def _epsilon(self, promise: Any) -> str:
        """The level that the step takes from what was reserved; nothing where no rows of people are read."""
        step = self._declared()
        reads = step is not None and any(one.shape.is_private for one in step.sources)
        loss = None if promise is None else promise.loss
        return level(loss.epsilon) if reads and loss is not None and loss.epsilon > 0 else ""

    # --- asking ------------------------------------------------------------------------------------

    def _filled(self, name: str, value: Any) -> None:
        given = self.given[self.step]
        if value is None:
            given.pop(name, None)
        else:
            given[name] = value
        self._show()
        self.frame.update_frame()

    def next_words(self) -> str:
        if self.opened_as is None or self._promise is None or self.runner.busy("release"):
            return ""
        epsilon = self._epsilon(self._promise)
        return words.say("app.visit.answer", epsilon=epsilon) if epsilon else words.say("app.visit.do")

    def go_next(self) -> None:
        if not self.next_words() or self.opened_as is None:
            self.frame.go_next()
            return
        self.work(
            release,
            self._plan,
            next_folder(self.first, self.step),
            watch=Watch(),
            ledger_path=self.study.ledger_path,
            language=words.language(),
            done=self._answered,
            doing=words.say("app.visit.working"),
            slot="release",
        )

    def _answered(self, outcome: Outcome) -> None:
        self.study.forget("ledger")
        if outcome.error is not None:
            self.refuse(outcome.error)
        if outcome.bundle is None or self.opened_as is None:
            return
        folder = outcome.bundle.folder
        title = words.say(f"methods.{self.study.plan.method}.steps.{self.step}.title")
        self.answers.append((title, outcome, str(folder)))
        if (folder / "internal" / "state").is_file():
            self.opened_as = Opened(self.opened_as.plan, self.opened_as.entry, folder)
        self.views.show_views(outcome.bundle.views)
        self._show()
        self.frame.update_frame()

    def explain(self, topic: str) -> Explanation:
        found = super().explain(topic)
        name = topic.removeprefix("parameter.")
        if name in self.form.lines:
            return Explanation(self.form.labels()[name], (Part(body=self.form.help(name)),))
        return found

    def first_focus(self) -> QWidget | None:
        return next((line.field.findChild(QWidget) for line in self.form.lines.values()), None)


PAGE = VisitPage
