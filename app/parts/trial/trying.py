"""What the settings of a method give on the table in view, counted while they are chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtWidgets import QWidget

from app import words
from app.parts.trial.trial_card import TrialCard
from app.state import flow
from app.state.study import Study
from app.work.jobs import JobRunner
from engine.errors import EngineError
from engine.methods.trying import SolutionMap
from engine.progress import Progress
from engine.release.plan import Plan

SLOT = "method.trial"


def try_plan(plan: Plan, table: Any, *, progress: Progress) -> Any:
    """Return what the settings of a plan give on a table; None while something is missing."""
    from engine.release.trial import trial  # on first use: it brings the methods along

    return trial(plan, table, progress=progress)


class MethodTrial:
    """Keeps the card and the study at one: counts again after every change, off the interface thread.

    A map of combinations holds for all of them: choosing another one in it is not counted anew.
    """

    def __init__(self, card: TrialCard, step: str, study: Study, runner: JobRunner) -> None:
        self.card, self.step, self.study, self.runner = card, step, study, runner
        self._asked_for: Plan | None = None
        self._found: Any = None
        card.taken.connect(lambda changes: self.study.decide_parameters(**changes))
        card.ticked.connect(self._tick)
        card.wanted.connect(lambda: self._ask(self._relevant()))
        card.stopped.connect(lambda: self.runner.cancel(SLOT))

    @property
    def applies(self) -> bool:
        """Whether the chosen method can be tried on rows, on this step, and there are some."""
        return flow.tried_on(self.study.method) == self.step and self.study.table is not None

    def show(self) -> None:
        """Show what the settings give as they are now."""
        if not self.applies:
            self.hide()
            return
        plan = self._relevant()
        if plan == self._asked_for:
            self.card.show()
            return
        shown = self._in_the_map(plan)
        if shown is not None:
            self.runner.cancel(SLOT)
            self._asked_for = plan
            self._show((shown,), plan, 0, drawn_anew=self._found.drawn_anew)
            return
        self.runner.cancel(SLOT)
        self._asked_for, self._found = plan, None
        known = self.study.result("trial")
        if known is not None:
            self._done(plan, known)
            return
        assert self.study.method is not None
        if self.study.method.tries_for_long:
            self.card.show_asking(words.say("app.trying.asked"))
        else:
            self._ask(plan)

    def hide(self) -> None:
        """Show nothing, and stop counting."""
        if self._asked_for is not None:
            self.runner.cancel(SLOT)
        self._asked_for = self._found = None
        self.card.hide()

    def why_not(self) -> tuple[str, str, QWidget] | None:
        """Return why nobody can go on, what to do and where; None where what is shown is what leaves."""
        found = self.card.barred() if self.applies else None
        if found is None:
            return None
        return words.say("app.trying.map.barred"), words.say("app.trying.map.barred_do"), found

    def look_at_taken(self) -> None:
        """Show what leaves again, before another screen is opened."""
        back = self.card.barred()
        if back is not None:
            back.click()

    def _relevant(self) -> Plan:
        """Return the plan with nothing but what the figures depend on."""
        plan = self.study.plan
        return Plan(
            method=plan.method,
            method_version=plan.method_version,
            files=plan.files,
            schemas=plan.schemas,
            preparation=plan.preparation,
            parameters=plan.parameters,
        )

    def _ask(self, plan: Plan) -> None:
        self._asked_for = plan
        self.card.show_busy()
        self.runner.start(
            try_plan,
            plan,
            self.study.table,
            done=lambda found: self._done(plan, found),
            failed=lambda error: self._failed(plan, error),
            cancelled=lambda: self._stopped(plan),
            progressed=self.card.show_progress,
            slot=SLOT,
            after_drawing=True,
        )

    def _done(self, plan: Plan, found: Any) -> None:
        if plan != self._asked_for:
            return
        if found is None:
            self.card.show_waiting(words.say("app.trying.waiting"))
            return
        self._found = found
        self.study.store("trial", found, self.study.plan)
        self._show(found.answers, found.plan, found.lines, drawn_anew=found.drawn_anew)

    def _show(self, answers: tuple[Any, ...], plan: Plan, lines: int, *, drawn_anew: bool = False) -> None:
        self.study.count_trial(plan)
        counted = self.study.plan_with_trials.tried
        told = [words.say("app.trying.unfinished", count=lines)] if lines else []
        told.append(words.say("app.trying.counted" if answers else "app.trying.nothing", count=counted))
        if answers and drawn_anew:
            cap = plan.schema.rows_per_person
            told.append(words.say("app.trying.drawn_one" if cap == 1 else "app.trying.drawn", count=cap))
        self.card.show_answers(answers, " ".join(told))

    def _tick(self, parameter: str, record: dict[str, Any], place: int | None, on: bool) -> None:
        """Add a record to a setting, or take the one of a place away."""
        records = list(self.study.plan.parameters.get(parameter) or ())
        if on and record not in records:
            records.append(record)
        elif not on and place is not None:
            del records[place]
        self.study.decide_parameters(**{parameter: records or None})

    def _failed(self, plan: Plan, error: Exception) -> None:
        if plan != self._asked_for:
            return
        if isinstance(error, EngineError):
            self.card.show_waiting(" ".join(words.explain(error)))
        else:
            self.card.show_waiting(words.say("app.trying.failed"))

    def _stopped(self, plan: Plan) -> None:
        if plan == self._asked_for:
            self.card.show_asking(words.say("app.trying.asked"))

    def _in_the_map(self, plan: Plan) -> SolutionMap | None:
        """Return the map that was counted, where a plan differs from its own in the combination alone."""
        if self._found is None or len(self._found.answers) != 1:
            return None
        shown = self._found.answers[0]
        if not isinstance(shown, SolutionMap):
            return None
        names = set(shown.candidates[0].changes)
        if self._without(plan, names) != self._without(self._found.plan, names):
            return None
        taken = {name: plan.parameters[name] for name in names if name in plan.parameters}
        if not taken:
            return replace(shown, taken=shown.best)
        places = (at for at, one in enumerate(shown.candidates) if dict(one.changes) == taken)
        place = next(places, None)
        return None if place is None else replace(shown, taken=place)

    def _without(self, plan: Plan, names: set[str]) -> Plan:
        kept = {name: value for name, value in plan.parameters.items() if name not in names}
        return replace(plan, parameters=kept)
