"""Risk today: how many people stand alone or among few in the table as it is, and which columns cause it."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app import words
from app.pages.base import Page
from app.widgets.bar_list import Bar, BarList
from app.widgets.cards import Card, NumberCard
from app.widgets.panel import Explanation, three
from app.widgets.prose import Prose
from engine import texts

THRESHOLDS = (3, 5, 11, 20)


class RiskPage(Page):
    """The fourth screen."""

    id = "risk"

    def build(self) -> None:
        self.found = QWidget()
        column = QVBoxLayout(self.found)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(16)
        line = QHBoxLayout()
        line.setSpacing(14)
        self.alone = NumberCard(words.say("app.risk.alone.heading"))
        self.alone.setObjectName("alone")
        self.topic(self.alone, "alone")
        line.addWidget(self.alone, 3)
        self.under: dict[int, NumberCard] = {}
        for k in THRESHOLDS:
            card = NumberCard(words.say("app.risk.under.heading", k=k))
            card.setObjectName(f"under_{k}")
            self.topic(card, f"under.{k}")
            self.under[k] = card
            line.addWidget(card, 2)
        column.addLayout(line)
        card = Card(words.say("app.risk.because.heading"))
        self.because = BarList(words.say("app.risk.because.heading"))
        self.because.setObjectName("because")
        self.topic(self.because, "because")
        card.body.addWidget(self.because)
        self.because_card = card
        column.addWidget(card)
        self.nobody = Prose(words.say("app.risk.no_columns"), tone="care")
        column.addWidget(self.nobody)
        column.addWidget(Prose(words.say("app.risk.internal"), tone="quiet"))
        column.addStretch(1)
        self.body.addWidget(self.found, 1)

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
        tone = "care" if sizes.alone else ""
        self.alone.show_number(
            texts.number(sizes.alone), words.say("app.risk.alone.sentence", people=sizes.people), tone=tone
        )
        for k, card in self.under.items():
            count = sizes.under[k]
            card.show_number(
                texts.number(count),
                words.say("app.risk.under.sentence", share=_percent(count, sizes.people)),
            )
        self.because.show_bars(bars(sizes))
        self.because_card.setVisible(len(sizes.columns) > 1)
        self.nobody.setVisible(not sizes.columns)

    def opened(self) -> None:
        if self.study.result("group_sizes") is None and self.study.table is not None:
            self._compute()

    def _compute(self) -> None:
        plan = self.study.plan
        self.work(
            _group_sizes,
            self.study.table,
            plan.schema,
            doing=words.say("app.risk.counting"),
            done=lambda sizes: self._done(sizes, plan),
        )

    def _done(self, sizes: Any, plan: Any) -> None:
        if self.study.store("group_sizes", sizes, plan):
            self.refresh_explanation()
        else:
            self._compute()

    def explain(self, topic: str) -> Explanation:
        sizes = self.study.result("group_sizes")
        if sizes is None:
            return super().explain("")
        values = {"people": sizes.people, "columns": ", ".join(sizes.columns) or "—", "groups": sizes.groups}
        if topic == "alone":
            return three("app.risk.alone", words.say("app.risk.alone.heading"), count=sizes.alone, **values)
        if topic.startswith("under."):
            k = int(topic.removeprefix("under."))
            title = words.say("app.risk.under.heading", k=k)
            return three("app.risk.under", title, k=k, count=sizes.under[k], **values)
        if topic == "because":
            worst = max(sizes.because_of.items(), key=lambda entry: entry[1], default=("", 0))
            title = words.say("app.risk.because.heading")
            return three("app.risk.because", title, column=worst[0], count=worst[1], **values)
        return super().explain(topic)


def bars(sizes: Any) -> list[Bar]:
    """Return one bar per column, the one that sets most people apart first."""
    ordered = sorted(sizes.because_of.items(), key=lambda entry: -entry[1])
    most = max((count for _, count in ordered), default=0) or 1
    return [
        Bar(
            name,
            count / most,
            texts.number(count),
            words.say("app.risk.because.note" if count else "app.risk.because.none"),
        )
        for name, count in ordered
    ]


def _percent(part: int, whole: int) -> str:
    share = 100 * part / whole if whole else 0
    if 0 < share < 1:
        return "<1"
    return str(min(round(share), 99 if part < whole else 100))


def _group_sizes(table: Any, schema: Any, *, progress: Any) -> Any:
    from engine.risk.group_sizes import group_sizes

    return group_sizes(table, schema, thresholds=THRESHOLDS, progress=progress)


PAGE = RiskPage
