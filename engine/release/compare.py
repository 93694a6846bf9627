"""Candidates side by side: plans that differ in the method or its parameters, before one of them is released.

Those with a bounded loss are compared by their forecast: drawing one of them on real rows would have to be
paid for. The others are made from the rows, measured alike on the same people who were held out, and thrown
away. What is found stays inside; how many were compared is in the evidence of the one that is released.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Any

from engine.errors import EngineError
from engine.evaluation import catalogue as measures
from engine.evaluation.evaluate import evaluate, figures
from engine.evaluation.protocol import Private
from engine.methods.protocol import Forecast, Method
from engine.privacy.noise import Noise
from engine.privacy.promise import Promise
from engine.progress import SILENT, Progress
from engine.release import promised, reading
from engine.release.check import check
from engine.release.make import Split, make
from engine.release.plan import Plan
from engine.release.working import COMPARED, new_folder, unrecorded
from engine.views import View


@dataclass(frozen=True)
class Compared:
    """One candidate. Internal as soon as ``measured`` says something: it was computed from private rows.

    Parameters
    ----------
    plan
        The candidate as a plan of its own.
    problem
        Why it cannot be released, or None.
    promise, forecast
        What it promises, and what is expected of it; None with a problem.
    measured
        Figures of every measure by its id, of one that was made and thrown away.
    inside
        What the method itself said about it to the custodian.
    seconds
        How long making and measuring it took; None where nothing was made. Depends on the computer.
    """

    plan: Plan
    problem: EngineError | None = None
    promise: Promise | None = None
    forecast: Forecast | None = None
    measured: Mapping[str, Any] = field(default_factory=dict)
    inside: tuple[View, ...] = ()
    seconds: float | None = None


def compare(plan: Plan, *, base: Path = Path(), progress: Progress = SILENT) -> tuple[Compared, ...]:
    """Compare a plan with its candidates.

    Parameters
    ----------
    plan
        It comes first; its ``candidates`` follow in their order.
    base
        Folder that the plans' paths are relative to.
    progress
        Told after each candidate; it also stops.

    Returns
    -------
    tuple of Compared
        Nothing is reserved, spent or written, and nothing of what was made is kept.
    """
    wanted = plan.candidate_plans()
    split = Split.drawn(Noise())
    found = []
    for place, one in enumerate(wanted):
        progress.step(place / len(wanted), "run.evaluating")
        part = progress.part(place / len(wanted), (place + 1) / len(wanted))
        found.append(compare_one(one, split=split, base=base, progress=part))
    return tuple(found)


def compare_one(plan: Plan, *, split: Split, base: Path = Path(), progress: Progress = SILENT) -> Compared:
    """Compare one of several candidates, for who shows each as soon as it is there.

    Parameters
    ----------
    plan
        The candidate as a plan of its own, see `Plan.candidate_plans`.
    split
        Who is held out: the same for all candidates, or they cannot be compared.
    base, progress
        As of `compare`.

    Returns
    -------
    Compared
        With the problem where it cannot be released.
    """
    started = monotonic()
    try:
        design = check(plan, base=base)
        compared = Compared(plan, None, design.cost, design.forecast)
        if design.cost.loss is not None or not design.request.private:
            return compared
        measured, inside = _measure(plan, design, split, base, progress)
        return replace(compared, measured=measured, inside=inside, seconds=monotonic() - started)
    except EngineError as problem:
        return Compared(plan, problem)


def _measure(
    plan: Plan, design: Method, split: Split, base: Path, progress: Progress
) -> tuple[dict[str, Any], tuple[View, ...]]:
    """Make a candidate without a bounded loss, measure it, and throw it away."""
    prepared = reading.read_all(
        plan,
        design.sources_read,
        base=base,
        progress=progress.part(0.0, 0.4),
        design=design,
        sample=reading.Sample.drawn(plan.sample),
    )
    promised.refuse_other(plan, design, prepared)
    main = design.request.private[0]
    with unrecorded(COMPARED) as folder:
        draft = make(design, prepared, Noise(), folder=folder, split=split, progress=progress.part(0.4, 0.8))
        context = Private(
            design,
            prepared[main].table,
            prepared[main].schema,
            draft.used[main],
            draft.release,
            progress.part(0.8, 1.0),
            new_folder(folder),
            draft.held_out.get(main),
            prepared[main].people,
        )
        asked = [one for one in measures.choose_measures(plan.measures, design) if not one.on_demand]
        answers = evaluate(asked, context)
    return figures(answers.public) | figures(answers.internal), draft.release.inside.views
