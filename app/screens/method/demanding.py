"""Measures on demand: offered where they apply, and asked of the release alone where they are ticked."""

from __future__ import annotations

from app import words
from app.screens.method.demand_card import DemandCard, Offered
from app.state.study import Study
from app.work.jobs import JobRunner
from engine.release.plan import Plan

SLOT = "method.demand"


def on_demand(plan: Plan) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the measures on demand that apply to a plan, and those that it names; reads no row."""
    from engine.errors import EngineError
    from engine.evaluation.catalogue import measures

    kept = [one for one in measures() if one.on_demand]
    named = tuple(one.id for one in kept if one.id in plan.measures)
    try:
        subject = plan.design
        if subject.problems:
            return (), named
    except EngineError:  # the form says what is wrong
        return (), named
    return tuple(one.id for one in kept if one.applies(subject)), named


class MeasuresOnDemand:
    """Keeps the card and the study at one; without the card where nothing is on demand."""

    def __init__(self, card: DemandCard, study: Study, runner: JobRunner) -> None:
        self.card, self.study, self.runner = card, study, runner
        card.ticked.connect(self._tick)
        self._asked_for: Plan | None = None

    def show(self) -> None:
        """Find out about the plan as it is now."""
        plan = self.study.plan
        if plan != self._asked_for:
            self._asked_for = plan
            self.runner.start(
                on_demand,
                plan,
                done=lambda found: self._show(plan, *found),
                failed=lambda error: None,
                slot=SLOT,
                after_drawing=True,
            )

    def hide(self) -> None:
        """Offer nothing."""
        self._asked_for = None
        self.card.hide()

    def _show(self, plan: Plan, applying: tuple[str, ...], named: tuple[str, ...]) -> None:
        if plan != self._asked_for:
            return
        self.card.show_measures(
            Offered(
                name,
                words.say(f"measures.{name}.title"),
                words.say(f"measures.{name}.summary"),
                applies=name in applying,
                is_ticked=name in named,
            )
            for name in dict.fromkeys((*applying, *named))
        )

    def _tick(self, name: str, on: bool) -> None:
        others = tuple(one for one in self.study.plan.measures if one != name)
        self.study.decide(measures=(*others, name) if on else others)
