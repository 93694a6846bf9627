"""Money on every screen after it was decided: one quiet line above Back and Next."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from PySide6.QtWidgets import QFrame, QWidget

from app import words
from app.parts.making import add, make_button, make_row, name_widget
from app.parts.prose import Prose
from app.words.money import level, money, percent
from engine.privacy.promise import Neighbours
from engine.release.plan import Plan

BETWEEN = "\u2002·\u2002"


class MoneyLine(QFrame):
    """What was set aside, the level that it pays for, what somebody could learn; hidden until it knows."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("money-line")
        row = make_row(inside=self, spacing=16)
        self.line = name_widget(Prose(tone="quiet", pixels=12), "money-words")
        self.change = make_button(words.say("app.window.money.change"), "change-money", look="link")
        add(row, (self.line, 1), self.change)
        self._row = row
        self.set_margin(32)
        self.hide()

    def set_margin(self, pixels: int) -> None:
        """Stand under the edges of the page."""
        self._row.setContentsMargins(pixels, 4, pixels, 4)

    def show_money(self, plan: Plan, found: tuple[Any, dict[str, Any], dict[str, Any]]) -> None:
        """Show what a promise costs; nothing where the promise states no loss."""
        said = money_words(plan, *found)
        self.setVisible(bool(said))
        self.line.say(said)


def money_words(plan: Plan, promise: Any, statement: dict[str, Any], price: dict[str, Any]) -> str:
    """Return the line: money set aside and modelled, ε, what somebody becomes sure of, privacy at risk."""
    loss = promise.loss
    if loss is None:
        return ""
    parts = []
    if plan.price.budget is not None:
        parts.append(words.say("app.window.money.set", amount=money(plan.price.budget, plan.price.currency)))
    modelled = price.get("budget")
    if modelled is not None:
        parts.append(words.say("app.window.money.modelled", amount=money(modelled, plan.price.currency)))
    if not parts:
        parts.append(words.say("app.window.money.unsaid"))
    parts.append(f"**ε\u00a0{level(loss.epsilon)}**")
    shown = statement["posterior"]["presence" if loss.neighbours is Neighbours.ADD_REMOVE else "value"]
    parts.append(words.say("app.window.money.learnt", sure=percent(shown)))
    at_risk = statement.get("at_risk")
    if at_risk is not None:
        within = at_risk["exact"]["confidence"]
        read_at = level(Fraction(at_risk["epsilon"]))
        parts.append(words.say("app.window.money.at_risk", share=percent(1 - within), epsilon=read_at))
    return BETWEEN.join(parts)
