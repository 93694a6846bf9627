"""What a plan would do: problems, cost, forecast, what the ledger will say. Reads no row, spends nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from engine import texts
from engine.errors import EngineError, InputRefused
from engine.ledger import Ledger
from engine.ledger import Preview as LedgerPreview
from engine.methods.kinds import Shape, Spends
from engine.methods.protocol import Cheaper, Expected, Forecast, Method, Service, unit_parts
from engine.privacy.promise import Promise, Unit
from engine.protected import agreeing
from engine.release import charge, seconded
from engine.release.check import check, check_and_foresee, refuse_without_contract
from engine.release.each_row import refuse_undeclared
from engine.release.foreseen import worked_out
from engine.release.make import HELD_OUT
from engine.release.plan import Plan
from engine.release.reading import contradictions, pin_beside
from engine.release.served import Served, served
from engine.release.verdict import verdict
from engine.utility.sampled import say_sample
from engine.views import Text, to_json


@dataclass(frozen=True)
class PlanPreview:
    """What is known of a release before it is made.

    ``problems`` is empty when the plan can run. ``ledger`` is None while the holding does not exist.
    ``people`` are those that were declared; ``needs_second`` says that one person alone may not release it.
    """

    problems: tuple[EngineError, ...]
    design: Method | None = None
    forecast: Forecast | None = None
    ledger: LedgerPreview | None = None
    people: int | None = None
    needs_second: bool = False
    sample: Fraction | None = None

    @property
    def promise(self) -> Promise | None:
        """What would be promised; None where the plan cannot be checked."""
        return None if self.design is None else self.design.cost

    @property
    def rows(self) -> tuple[Text, ...]:
        """Whose rows would be used, how many of each, and who would be kept apart."""
        return () if self.design is None else whose_rows(self.design, self.people, self.sample)

    @property
    def refusal(self) -> EngineError | None:
        """The first reason why the release could not be made now, or None."""
        return next(iter(self.problems), None)


def preview(plan: Plan, ledger: Ledger | None, *, base: Path = Path(), waits_as: str = "") -> PlanPreview:
    """Say what a plan would cost, how accurate it would be and what the ledger would say.

    Parameters
    ----------
    plan
        In any state.
    ledger
        None where none exists yet: then nothing has been spent.
    base
        Folder that the plan's paths are relative to.
    waits_as
        Fingerprint under which the release may wait for a second person: then it is in the budget already.

    Returns
    -------
    PlanPreview
        Nothing is reserved, spent or read.
    """
    try:
        design = check(plan, base=base or Path())
        with worked_out("forecast"):
            forecast = design.forecast
    except EngineError as error:
        return PlanPreview((error,))
    problems: list[EngineError] = []
    said: LedgerPreview | None = None
    needs_second = False
    try:
        if not plan.holding.strip():
            raise InputRefused("charge.no_holding")
        refuse_without_contract(plan, design)
        if ledger is None or charge.known_holding(plan, ledger) is None:
            charge.refuse_too_much(plan, design)
        said = None if ledger is None else charge.preview(plan, ledger, design)
        with worked_out("price"):
            needs_second = seconded.needs_second(plan, ledger, design)
        if said is not None and seconded.is_waiting(ledger, said.before.holding, waits_as):
            said, needs_second = replace(said, refusal=None), True
    except EngineError as error:
        problems.append(error)
    if said is not None and said.refusal is not None:
        problems.append(said.refusal)
    return PlanPreview(tuple(problems), design, forecast, said, plan.people, needs_second, plan.sample)


def preview_json(
    plan: Plan, ledger: Ledger | None, *, base: Path | None = None, language: str = "en"
) -> dict[str, Any]:
    """Return a preview as JSON values, with its sentences; with ``base`` also look at the plan's files."""
    with texts.speaking(plan.schema.words):
        return _preview_json(plan, ledger, base, language)


def _preview_json(plan: Plan, ledger: Ledger | None, base: Path | None, language: str) -> dict[str, Any]:
    place = base or Path()
    waits_as = pin_beside(plan, base=place).fingerprint
    found, foreseen = preview(plan, ledger, base=place, waits_as=waits_as), None
    held: tuple[Served, ...] = ()
    if base is not None:
        found = replace(found, problems=(*found.problems, *contradictions(plan, base)))
    if found.design is not None:
        try:
            foreseen = check_and_foresee(plan, found.design)
            if base is not None:  # the plan is going to be run from its file
                refuse_undeclared(plan, found.design)
                held = tuple(served(plan, found.design, base=base).values())
        except EngineError as error:
            found = replace(found, problems=(error, *found.problems))
    problems = [
        {"code": problem.code}
        | dict(zip(("what", "do"), texts.explain(problem, language=language), strict=True))
        for problem in found.problems
    ]
    answer: dict[str, Any] = {"fingerprint": plan.fingerprint, "problems": problems, "sentences": []}
    if found.design is None or found.forecast is None or foreseen is None:
        return answer
    design = found.design
    answer["promise"] = foreseen.promise.to_json()
    answer["statement"] = foreseen.statement
    answer["forecast"] = [to_json(error) for error in found.forecast.errors]
    answer["sentences"] = [error_sentence(error, language=language) for error in found.forecast.errors]
    care = getattr(verdict(plan, found.forecast), "care", None)
    answer["sentences"] += [] if care is None else [texts.text(care.id, language=language, **care.values)]
    answer["rows"] = [texts.text(one.id, language=language, **one.values) for one in found.rows]
    answer["served"] = [
        one.to_json() | {"what": texts.text(one.said.id, language=language, **one.said.values)}
        for one in held
    ]
    answer["cheaper"] = [
        {
            "what": cheaper_sentence(way, language=language),
            "epsilon": str(way.epsilon),
            "parameters": way.given,
        }
        for way in (design.cheaper if isinstance(design, Service) else ())
    ]
    answer["needs_second"] = found.needs_second
    if found.ledger is not None:
        left = found.ledger.before
        answer["ledger"] = {
            "holding": left.holding.name,
            "epsilon_left": None if left.epsilon_left is None else str(left.epsilon_left),
            "epsilon_after": None if left.epsilon_left is None else str(found.ledger.epsilon_after),
        }
    return answer


def cheaper_sentence(way: Cheaper, *, language: str = "en") -> str:
    """Say another way to what a step asks, and what the step then takes."""
    said = texts.text(way.said.id, language=language, **way.said.values)
    return f"{said} {texts.text('preview.cheaper', language=language, epsilon=str(way.epsilon))}"


def error_sentence(error: Expected, *, language: str = "en") -> str:
    """Say how far a kind of number will be off, for a group of a declared size."""
    quantity = texts.text(error.quantity.id, language=language, **error.quantity.values)
    unit, counted = unit_parts(error.unit)
    sentence = texts.text(
        f"preview.errors.{error.of}",
        language=language,
        quantity=quantity,
        size=error.size or 0,
        median=error.median,
        median_unit=agreeing(unit, f"{error.median:.3g}", texts.spoken()),
        limit=error.limit,
        limit_unit=agreeing(unit, f"{error.limit:.3g}", texts.spoken()),
    )
    return (
        f"{sentence} {texts.text('preview.unit', language=language, unit=counted)}" if counted else sentence
    )


# --- whose rows a release will be made from, from declarations alone --------------------------------------


def whose_rows(design: Method, people: int | None, sample: Fraction | None = None) -> tuple[Text, ...]:
    """Say of whom how many rows will be used, who will be kept apart, and how many rows that is at most.

    Parameters
    ----------
    design
        What is to be made.
    people
        How many there are, as declared; None where nobody said it.
    sample
        Share of them who are in the release; None for all.

    Returns
    -------
    tuple of texts
        Empty where no row of people is read.
    """
    request = design.request
    if not request.private:
        return ()
    said, cap = list[Text](), request.rows_per_person
    if sample is not None:
        said += [*say_sample(sample), *([Text("sampled.charged")] if design.cost.loss is not None else [])]
    if any(source.shape is Shape.EVENTS for source in design.reads()):
        kept = "whole" if design.spends is Spends.NOTHING else "weighed"
        return (*said, Text(f"preview.rows.cap_{kept}"))
    if request.unit is Unit.PERSON:
        said.append(Text(f"preview.rows.cap{'_one' if cap == 1 else ''}", {"cap": cap}))
    if design.held_out:
        said.append(Text("preview.rows.held_out"))
    if people is not None and request.unit is Unit.PERSON and said:
        share = (1 - HELD_OUT if design.held_out else 1) * (sample or 1)
        values = {"people": people, "rows": round(people * cap * share)}
        said.append(Text(f"preview.rows.{'at_most' if share == 1 else 'about'}", values))
    return tuple(said)
