"""Whether what was chosen can say something: said on the method screen, at the highest possible level."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from app import words
from app.parts.verdict_card import VerdictCard
from app.state.study import Study
from app.words.money import level
from app.work.jobs import SHORT, JobRunner
from engine.methods.protocol import Spends
from engine.release.plan import Plan


def judge_plan(plan: Plan) -> tuple[Any, tuple[Any, ...]]:
    """Return the verdict about a plan and what would say more; from declarations alone."""
    from engine.errors import EngineError
    from engine.release.verdict import remedies, verdict

    try:
        design = plan.design
        if design.problems:
            return None, ()
        about = verdict(plan, design.forecast)
    except EngineError:
        return None, ()
    without = (one for one in remedies(plan) if one.kind == "without") if about and about.is_useless else ()
    return about, tuple(without)


class MethodVerdict:
    """Keeps the card and the study at one; the card is seen only where most would say nothing."""

    def __init__(self, card: VerdictCard, study: Study, runner: JobRunner) -> None:
        self.card, self.study, self.runner = card, study, runner
        card.chosen.connect(self._take)
        self._asked_for: Plan | None = None

    def show(self) -> None:
        """Ask about the plan as it is now; nothing is said while it has no method or no level."""
        plan, epsilon = self._possible()
        if plan is None:
            self._asked_for = None
            self.card.hide()
        elif plan != self._asked_for:
            self._asked_for = plan
            self.runner.start(
                judge_plan,
                plan,
                done=lambda found: self._judged(plan, epsilon, *found),
                failed=lambda error: None,  # the form says what is wrong
                slot="method.verdict",
                lane=SHORT,
                after_drawing=True,
            )

    def _possible(self) -> tuple[Plan | None, Fraction | None]:
        """Return the plan at its level, or at all that its register has left while none is chosen."""
        plan, method = self.study.plan, self.study.method
        if method is None or method.spends is not Spends.CHOSEN or plan.budget is not None:
            return (plan, None) if method is not None else (None, None)
        budget = plan.holding_budget
        status = self.study.registers.paying(plan)
        if status is not None and status.epsilon_left:
            from engine.methods.protocol import Budget

            budget = Budget(status.epsilon_left, status.holding.delta, status.holding.neighbours)
        return (None, None) if budget is None else (replace(plan, budget=budget), budget.epsilon)

    def _judged(self, plan: Plan, epsilon: Fraction | None, about: Any, better: tuple[Any, ...]) -> None:
        if plan != self._asked_for:
            return
        lead = "" if epsilon is None else words.say("app.method.even_with_all", epsilon=level(epsilon))
        self.card.show_verdict(about if about and about.is_useless else None, better, lead=lead)

    def _take(self, changes: dict[str, Any]) -> None:
        self.study.decide(parameters=changes["parameters"])
