"""Method: what leaves the building, by which way, and the form that the way's declaration asks for."""

from __future__ import annotations

from typing import Any

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QButtonGroup,
    QGridLayout,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from app import words
from app.flow import BUDGET
from app.pages.base import Page
from app.widgets.cards import Card
from app.widgets.panel import Explanation, Part
from app.widgets.parameter_fields import empty
from app.widgets.parameter_form import ParameterForm
from app.widgets.prose import Heading, Prose
from engine.methods.protocol import Family

SIDE_BY_SIDE = 680  # width of the page from which cards stand beside each other
FAMILIES = tuple(Family)


def catalogue() -> tuple[Any, ...]:
    """Return every method; brings numpy and pandas along, so it runs as a job first."""
    from engine.methods.catalogue import methods

    return methods()


class MethodPage(Page):
    """The sixth screen."""

    id = "method"

    def build(self) -> None:
        self.methods: tuple[Any, ...] = ()
        self.family = ""
        self._known = ""
        self._build_families()
        self.ways = Card(words.say("app.method.way_heading"))
        self.ways.body.setSpacing(4)
        self.buttons = QButtonGroup(self)
        self.buttons.buttonClicked.connect(lambda button: self._choose(button.property("method")))
        self._way_rows = QGridLayout()
        self._way_rows.setSpacing(0)
        self._way_rows.setColumnStretch(0, 1)
        self._way_rows.setColumnStretch(1, 1)
        self.ways.body.addLayout(self._way_rows)
        self.body.addWidget(self.ways)
        self._build_chosen()
        self._build_form()
        self.body.addStretch(1)

    def _build_families(self) -> None:
        row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        row.setSpacing(12)
        self._family_row = row
        self.families: dict[Family, QPushButton] = {}
        for family in FAMILIES:
            button = QPushButton(words.say(f"app.method.family.{family}"))
            button.setObjectName(f"family-{family}")
            button.setProperty("look", "chip")
            button.setCheckable(True)
            button.clicked.connect(lambda checked=False, family=family: self._show_family(family))
            self.topic(button, f"family.{family}")
            self.families[family] = button
            row.addWidget(button)
        row.addStretch(1)
        self.body.addLayout(row)

    def _build_chosen(self) -> None:
        """What the chosen way promises, and what the recipient can and cannot do."""
        self.chosen = QWidget()
        self._chosen_row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self.chosen)
        self._chosen_row.setContentsMargins(0, 0, 0, 0)
        self._chosen_row.setSpacing(14)
        self.says: dict[str, Prose] = {}
        for name in ("guarantee", "recipient_can", "recipient_cannot"):
            card = Card(words.say(f"app.method.{name}"))
            self.says[name] = Prose()
            card.body.addWidget(self.says[name])
            card.body.addStretch(1)
            self._chosen_row.addWidget(card, 1)
        self.body.addWidget(self.chosen)

    def _build_form(self) -> None:
        self.card = Card()
        self.card.body.setSpacing(18)
        self.form = ParameterForm()
        self.form.changed.connect(self._decide)
        self.card.body.addWidget(self.form)
        self.general = Prose(tone="wrong")
        self.general.setObjectName("problem-general")
        self.card.body.addWidget(self.general)
        part = QWidget()
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(Heading(words.say("app.method.sizes"), size="card"))
        self.sizes = QLineEdit()
        self.sizes.setObjectName("declared_sizes")
        self.sizes.setAccessibleName(words.say("app.method.sizes"))
        self.sizes.setMaximumWidth(260)
        self.sizes.textEdited.connect(self._decide_sizes)
        self.topic(self.sizes, "sizes")
        column.addWidget(self.sizes)
        self.sizes_wrong = Prose(words.say("app.method.sizes_wrong"), tone="wrong", pixels=12)
        self.sizes_wrong.hide()
        column.addWidget(self.sizes_wrong)
        self.card.body.addWidget(part)
        self.body.addWidget(self.card)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        wide = self.viewport().width() >= SIDE_BY_SIDE
        across, down = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        for row in (self._family_row, self._chosen_row):
            row.setDirection(across if wide else down)

    def opened(self) -> None:
        if not self.methods:
            self.work(catalogue, done=self._found, doing=words.say("app.method.finding"), stoppable=False)

    def _found(self, methods: tuple[Any, ...]) -> None:
        self.methods = methods
        present = {method.family for method in methods}
        for family, button in self.families.items():
            button.setVisible(family in present)
        if not self.family:
            self.family = next(family for family in FAMILIES if family in present)
        self.enter()

    def first_focus(self) -> QWidget | None:
        return self.families[FAMILIES[0]]

    def enter(self) -> None:
        method = self._method()
        if method is not None and method.id != self._known:
            self.family = method.family
        self._known = "" if method is None else method.id
        for family, button in self.families.items():
            button.setChecked(family == self.family)
        self._show_ways()
        self.ways.setVisible(bool(self.methods) and bool(self.family))
        self.chosen.setVisible(method is not None)
        self.card.setVisible(method is not None)
        if method is not None:
            self._show_method(method)

    def _method(self) -> Any:
        wanted = self.study.plan.method
        return next((method for method in self.methods if method.id == wanted), None)

    def _show_family(self, family: Family) -> None:
        self.family = family
        self.enter()

    def _show_ways(self) -> None:
        offered = [method for method in self.methods if method.family == self.family]
        shown = [button.property("method") for button in self.buttons.buttons()]
        if shown != [method.id for method in offered]:
            for button in self.buttons.buttons():
                self.buttons.removeButton(button)
            empty(self._way_rows)
            for place, method in enumerate(offered):
                self._way_rows.addWidget(self._way(method), place // 2, place % 2)
        for button in self.buttons.buttons():
            self.buttons.setExclusive(False)
            button.setChecked(button.property("method") == self.study.plan.method)
            self.buttons.setExclusive(True)

    def _way(self, method: Any) -> QRadioButton:
        button = QRadioButton(words.say(f"methods.{method.id}.title"))
        button.setObjectName(f"method-{method.id}")
        button.setProperty("method", method.id)
        self.buttons.addButton(button)
        self.topic(button, f"method.{method.id}")
        return button

    def _show_method(self, method: Any) -> None:
        base = f"methods.{method.id}"
        self.says["guarantee"].say(
            " ".join(words.say(f"promises.{kind}.sentence") for kind in method.promises[:1])
        )
        for name in ("recipient_can", "recipient_cannot"):
            self.says[name].say(words.say(f"{base}.{name}"))
        problems = [problem for problem in self.study.problems() if problem.parameter != BUDGET]
        plan = self.study.plan
        before = set(self.form.lines)
        self.form.show_form(base, method.parameters, plan.parameters, plan.schema, problems)
        if set(self.form.lines) != before or not self._topics_of_form():
            for name, line in self.form.lines.items():
                for widget in (line.part, *line.field.findChildren(QWidget)):
                    self.topic(widget, f"parameter.{name}")
        general = [problem for problem in problems if problem.parameter not in self.form.lines]
        self.general.setVisible(bool(general))
        self.general.say("\n\n".join(" ".join(words.explain(problem)) for problem in general))
        if not self.sizes.hasFocus():
            self.sizes.setText(", ".join(f"{size}" for size in plan.declared_sizes))
            self.sizes_wrong.hide()

    def _topics_of_form(self) -> bool:
        return any(line.part in self._topics for line in self.form.lines.values())

    def _choose(self, method_id: str) -> None:
        method = next(method for method in self.methods if method.id == method_id)
        kept = {parameter.name: parameter.kind for parameter in method.parameters}
        former = self._method()
        same = {
            parameter.name
            for parameter in (former.parameters if former is not None else ())
            if kept.get(parameter.name) == parameter.kind
        }
        values = {name: value for name, value in self.study.plan.parameters.items() if name in same}
        self.study.decide(method=method.id, method_version=method.version, parameters=values)
        self.refresh_explanation(f"method.{method_id}")

    def _decide(self, name: str, value: Any) -> None:
        self.study.decide_parameters(**{name: value})

    def _decide_sizes(self, text: str) -> None:
        parts = [part for part in text.replace(";", ",").split(",") if part.strip()]
        right = bool(parts) and all(part.strip().isdigit() and int(part) > 0 for part in parts)
        self.sizes_wrong.setVisible(not right)
        if right:
            self.study.decide(declared_sizes=tuple(int(part) for part in parts))

    def explain(self, topic: str) -> Explanation:
        kind, _, name = topic.partition(".")
        if kind == "parameter" and name in self.form.lines:
            return Explanation(self.form.labels()[name], (Part(body=self.form.help(name)),))
        if kind == "method":
            method = next((method for method in self.methods if method.id == name), None)
            if method is not None:
                return self._explain_method(method)
        return super().explain(topic)

    def _explain_method(self, method: Any) -> Explanation:
        source = method.published
        where = ", ".join(part for part in (source.document, source.place, source.identifier) if part)
        return Explanation(
            words.say(f"methods.{method.id}.title"),
            (
                Part(body=words.say(f"methods.{method.id}.summary")),
                Part(words.say("app.method.source"), where),
            ),
        )


PAGE = MethodPage
