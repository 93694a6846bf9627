"""What the budget screen asks the engine for. Orders engine calls; computes nothing itself."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from app.words.money import SIGNS
from engine.errors import EngineError
from engine.progress import SILENT, Progress
from engine.release.plan import Plan
from engine.views import Text

QUICK = 0.025  # seconds: what may run while a slider moves


@dataclass(frozen=True)
class Worked:
    """Every view of one level, the curve, and how long that took."""

    plan: Plan
    choice: Any
    curve: Any
    seconds: float
    verdict: Any = None


def work_out(plan: Plan, *, uncertain: bool = False, readings: bool = True) -> Worked:
    """Return every view of the plan's level; without readings, quickly."""
    from engine.pricing.views import cost_curve
    from engine.release.choice import choice
    from engine.release.verdict import verdict

    began = time.perf_counter()
    found = choice(plan, readings=readings)
    drawn = cost_curve(
        plan.price,
        epsilon=found.epsilon,
        loss=found.promise.loss if readings else None,
        at_risk=found.price,
        allowed=found.allowed,
        uncertain=uncertain,
    )
    if drawn is not None and isinstance(drawn.y_axis, Text):  # the sign before every amount
        sign = SIGNS.get(plan.price.currency, plan.price.currency)
        drawn = replace(drawn, y_axis=Text(drawn.y_axis.id, {**drawn.y_axis.values, "currency": sign}))
    about = verdict(plan, found.forecast)
    return Worked(plan, found, drawn, time.perf_counter() - began, about)


@dataclass(frozen=True)
class Prepared:
    """What is needed before a level is chosen: precedents, and the error at ε = 1 to scale a slider."""

    anchors: tuple[Any, ...]
    error_at_one: float | None
    worked: Worked | None
    seconds: float


def prepare(plan: Plan, *, anchors_file: Path | None = None) -> Prepared:
    """Bring the heavy modules in, away from the interface, and find what the sliders need."""
    from engine.pricing.anchors import read_anchors
    from engine.release.levels import with_epsilon

    anchors = read_anchors(anchors_file).anchors
    if any(problem.parameter == "budget" for problem in _problems(plan)):
        return Prepared(anchors, None, None, QUICK)
    at_one = with_epsilon(plan, Fraction(1))
    if at_one.price.people is None or at_one.price.compensation is None:
        at_one = replace(at_one, price=replace(at_one.price, people=1, compensation=Fraction(1)))
    try:
        # The first time pays for the imports, the second says how long it takes.
        work_out(at_one)
        tried = work_out(at_one)
    except EngineError:  # ε = 1 is too little for this way; nobody has asked for it, and more may do
        worked = None if plan.budget is None else work_out(plan)
        return Prepared(anchors, None, worked, QUICK if worked is None else worked.seconds)
    worked = None if plan.budget is None else work_out(plan)
    return Prepared(anchors, tried.choice.error and tried.choice.error.limit, worked, tried.seconds)


def promise_of(plan: Plan, *, readings: bool = False) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Return the promise that follows from a plan, its statement, and its price where people are priced.

    From declarations only; the plan has no problems. With readings, privacy at risk is stated too, which may
    take a moment.
    """
    from engine.pricing.statement import price_statement, privacy_statement

    found = plan.design.cost
    statement = privacy_statement(found, read_at=plan.price.bound, readings=readings)
    return found, statement, price_statement(found, plan.price, readings=False)


def compare_next(plan: Plan, before: Compared | None, *, progress: Progress = SILENT) -> Compared:
    """Compare the first candidate of a plan, or the one after another; see `engine.release.compare`.

    Nothing is spent, and nothing that is made is kept. All have the same people held out.
    """
    from engine.privacy.noise import Noise
    from engine.release.compare import compare_one
    from engine.release.make import Split

    place = 0 if before is None else before.place + 1
    split = Split.drawn(Noise()) if before is None else before.split
    found = compare_one(plan.candidate_plans()[place], split=split, progress=progress)
    return Compared(place, split, found)


@dataclass(frozen=True)
class Compared:
    """A candidate with its place, and by what chance people were held out: what the next one needs."""

    place: int
    split: Any
    found: Any


def kind_of_promise(plan: Plan) -> str:
    """Return the kind of promise that a plan makes; the usual one of its method until it is complete."""
    from engine.methods.catalogue import method
    from engine.release.levels import with_epsilon

    declared = method(plan.method)
    if len(declared.promises) == 1 or _problems(plan):
        return declared.promises[0]
    level = plan.budget.epsilon if plan.budget is not None else Fraction(1)
    try:
        return declared(with_epsilon(plan, level).request).cost.kind
    except EngineError:
        return declared.promises[0]


def _problems(plan: Plan) -> list[Any]:
    from engine.methods.catalogue import method
    from engine.release.levels import with_epsilon

    level = plan.budget.epsilon if plan.budget is not None else Fraction(1)
    return method(plan.method)(with_epsilon(plan, level).request).problems


@dataclass(frozen=True)
class Standing:
    """Where the register stands: what the ledger would say, and the price of all releases together."""

    plan: Plan
    preview: Any
    together: float | None


def standing(plan: Plan, ledger_path: Path | None) -> Standing:
    """Ask the ledger, without reserving anything; one that does not exist yet is not made."""
    from engine.pricing.statement import cost_of
    from engine.release.preview import preview

    found = preview(plan, existing(ledger_path))
    total = plan.budget.epsilon if plan.budget is not None else None
    if found.ledger is not None:
        total = found.ledger.epsilon_total
    cost = cost_of(plan.price)
    return Standing(plan, found, None if total is None or cost is None else cost.at(float(total)))


def existing(path: Path | None) -> Any:
    """Return the ledger if there is one, for looking only."""
    from engine.ledger import Ledger, default_path, is_there

    place = path if path is not None else default_path()
    return Ledger(place, read_only=True) if is_there(place) else None
