"""Compare: settings side by side before one of them is released, with how many were looked at."""

from __future__ import annotations

import string
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QButtonGroup, QPushButton, QRadioButton, QVBoxLayout

from app import words
from app.choosing import title
from app.deciding import compared
from app.money import level, size
from app.pages.base import Page
from app.widgets.cards import Card
from app.widgets.parameter_fields import empty
from app.widgets.prose import Prose


class ComparePage(Page):
    """On the path once settings were kept to be compared."""

    id = "compare"

    def build(self) -> None:
        self.found: tuple[Any, ...] = ()
        self._made_for: Any = None
        self.group = QButtonGroup(self)
        self.group.idClicked.connect(self._choose)
        self._column = QVBoxLayout()
        self._column.setSpacing(12)
        self.body.addLayout(self._column)
        self.tried = Prose(tone="quiet")
        self.tried.setObjectName("tried")
        self.body.addWidget(self.tried)
        self.drop = QPushButton(words.say("app.compare.drop"))
        self.drop.setObjectName("drop-candidates")
        self.drop.setProperty("look", "link")
        self.drop.clicked.connect(lambda checked=False: self._drop())
        self.body.addWidget(self.drop, 0, Qt.AlignmentFlag.AlignLeft)
        self.body.addStretch(1)

    def opened(self) -> None:
        plan = self.study.plan
        if self._made_for == plan:
            return
        self.work(
            compared,
            self.study.plan_as_read,
            done=lambda found: self._show(found, plan),
            doing=words.say("app.compare.comparing"),
        )

    def _show(self, found: tuple[Any, ...], plan: Any) -> None:
        if plan != self.study.plan:
            return
        self.found, self._made_for = found, plan
        for button in self.group.buttons():
            self.group.removeButton(button)
        empty(self._column)
        for place, one in enumerate(found):
            self._column.addWidget(self._card(place, one))
        self.tried.say(words.say("app.compare.tried", count=len(found)))
        self.frame.update_frame()

    def _card(self, place: int, one: Any) -> Card:
        card = Card()
        card.setObjectName(f"candidate-{place}")
        name = f"{string.ascii_uppercase[place % 26]} · {self._differs(one.plan)}"
        button = QRadioButton(name)
        button.setObjectName(f"choose-{place}")
        button.setChecked(place == 0)
        button.setEnabled(one.problem is None)
        self.group.addButton(button, place)
        card.body.addWidget(button)
        if one.problem is not None:
            card.body.addWidget(Prose(" ".join(words.explain(one.problem)), tone="wrong"))
            return card
        card.body.addWidget(Prose(" · ".join(self._figures(one)), tone="quiet"))
        return card

    def _differs(self, plan: Any) -> str:
        """Say in which settings a candidate differs from the others."""
        from engine.methods.catalogue import method

        found = method(plan.method)
        several = len({one.plan.method for one in self.found}) > 1
        parts = [title(found)] if several else []
        for parameter in found.parameters:
            values = [one.plan.parameters.get(parameter.name) for one in self.found]
            if any(value != values[0] for value in values):
                label = words.say(f"methods.{found.id}.parameters.{parameter.name}.label")
                mine = plan.parameters.get(parameter.name)
                mine = ", ".join(map(str, mine)) if isinstance(mine, list | tuple) else mine
                parts.append(f"{label}: {'–' if mine is None else mine}")
        return ", ".join(parts) or words.say("app.compare.same")

    def _figures(self, one: Any) -> list[str]:
        """Return what is promised and expected, and the measured figures in which the candidates differ."""
        promise, said = one.promise, []
        if promise.loss is not None:
            said.append(f"ε\u00a0{level(promise.loss.epsilon)}")
        for name, value in promise.terms.items():
            said.append(f"{words.say(f'promises.{promise.kind}.terms.{name}.label')}: {value}")
        for error in one.forecast.errors[:1]:
            said.append(
                words.say("app.compare.error", quantity=words.label(error.quantity), limit=size(error.limit))
            )
        for measure, figures in one.measured.items():
            for name, value in figures.items():
                label = f"measures.{measure}.numbers.{name}.label"
                others = [other.measured.get(measure, {}).get(name) for other in self.found]
                if words.has(label) and isinstance(value, int | float) and len(set(map(str, others))) > 1:
                    said.append(f"{words.say(label)}: {value:,.4g}")
        return said

    def _choose(self, place: int) -> None:
        self.frame.update_frame()

    def next_words(self) -> str:
        place = self.group.checkedId()
        return words.say("app.compare.go_on", name=string.ascii_uppercase[place % 26]) if place >= 0 else ""

    def go_next(self) -> None:
        """Take the chosen one; the others stay beside it, so that the evidence says how many there were."""
        place = self.group.checkedId()
        if place > 0:
            chosen = self.found[place].plan
            others = tuple(
                {"method": one.plan.method, "parameters": dict(one.plan.parameters)}
                for at, one in enumerate(self.found)
                if at != place
            )
            self.study.decide(
                method=chosen.method,
                method_version=chosen.method_version,
                parameters=dict(chosen.parameters),
                candidates=others,
            )
        self.frame.go_next()

    def _drop(self) -> None:
        self.study.decide(candidates=())
        self.frame.go("method")


PAGE = ComparePage
