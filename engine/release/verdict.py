"""Whether a release can say something: before it is paid for, and by the same rule when it was made.

Before, from declarations alone, never from rows. Afterwards, from what left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from engine.errors import EngineError
from engine.methods.catalogue import method as find_method
from engine.methods.filling import USELESS, Filling, Judged, effects_told
from engine.methods.parameters import ParameterKind
from engine.methods.protocol import Family, Forecast, Spends
from engine.release.plan import Plan
from engine.views import TableView, View, is_aside, is_weak

if TYPE_CHECKING:
    from engine.release.mock import Mock

MOST_TRIED = 4


@dataclass(frozen=True)
class Remedy:
    """Another plan that could say more.

    Parameters
    ----------
    kind
        ``"without"`` a column, or ``"level"``: a larger privacy level.
    value
        The column, or the level.
    changes
        What to decide: fields of the plan.
    verdict
        About the other plan.
    """

    kind: str
    value: str | Fraction
    changes: dict[str, Any]
    verdict: Filling | Judged


@dataclass(frozen=True)
class Came:
    """How many numbers of a release that was made say nothing.

    Parameters
    ----------
    what
        ``"cells"``: numbers in brackets, empty cells among them. ``"effects"``: those of a model that cannot
        be told from nothing. ``"points"``: what a model adds for two values together.
    silent, of
        How many say nothing, and of how many.
    before
        What was foreseen of the release.
    """

    what: str
    silent: int
    of: int
    before: Filling | Judged | None = None

    @property
    def share(self) -> float:
        """Share of the numbers that say something."""
        return 1 - self.silent / self.of if self.of else 1.0

    @property
    def is_useless(self) -> bool:
        """Whether most of it says nothing.

        An effect that cannot be told from nothing may be none: that most effects are so makes a model useless
        only where the noise did it, as was foreseen.
        """
        noise = self.what == "cells" or (self.before is not None and self.before.is_useless)
        return noise and self.share < USELESS


def verdict(plan: Plan, forecast: Forecast | None, tried: Mock | None = None) -> Filling | Judged | None:
    """Say how many cells of a release can say something, at most; of one without cells how much it says.

    Parameters
    ----------
    plan
        With declared people.
    forecast
        Of this very plan.
    tried
        The same plan run on invented people: how many cells say nothing where people are spread unevenly.

    Returns
    -------
    Filling, Judged or None
        None where the method does not judge itself, or nobody declared how many people there are.
    """
    if forecast is None:
        return None
    if forecast.counted is not None:
        if plan.people is None:
            return None
        filled = forecast.counted.filled_by(plan.people)
        if tried is None or tried.people != plan.people or not forecast.counted.is_listed:
            return filled
        found = silent_cells(tried.views, is_model=False)
        return filled if found is None else replace(filled, silent_tried=min(found.silent, filled.cells))
    return plan.design.judged(plan.people)


def came(plan: Plan, views: Sequence[View]) -> tuple[Came, ...]:
    """Say how many numbers of a release that was made say nothing; empty where all of them say something.

    Parameters
    ----------
    plan
        That was released.
    views
        Those that left: nothing else is looked at.
    """
    method = find_method(plan.method)
    is_model = method.family is Family.MODEL
    counted = (silent_effects(views) if is_model else None, silent_cells(views, is_model=is_model))
    found = [one for one in counted if one is not None and one.silent]
    if not found:
        return ()
    before = verdict_on_release(plan)
    return tuple(replace(one, before=before) for one in found)


def verdict_on_release(plan: Plan) -> Filling | Judged | None:
    """Return the verdict on a plan that was released; None for a visit, which was no plan of its own."""
    try:
        return None if plan.step else verdict(plan, plan.design.forecast)
    except EngineError:
        return None


def silent_cells(views: Sequence[View], *, is_model: bool) -> Came | None:
    """Count the numbers in brackets, of the column that has most of them; None where there is none.

    Lines for what is missing or was not declared are left out: they are there to be empty. Of a model they
    are points for values together, of which those that nobody has always stand in brackets: the table counts
    as a whole, and says nothing of what the model is worth.
    """
    tables = [
        list(zip(*(row for row in view.rows if not any(map(is_aside, row))), strict=True))
        for view in views
        if isinstance(view, TableView)
    ]
    if is_model:
        numbers = [[one for column in table[1:] for one in column] for table in tables]
        columns = [table for table in numbers if any(map(is_weak, table))]
    else:
        columns = [list(column) for table in tables for column in table]
    counted = [(sum(map(is_weak, column)), len(column)) for column in columns if column]
    silent, of = max(counted, key=lambda one: one[0] / one[1], default=(0, 0))
    return Came("points" if is_model else "cells", silent, of) if silent else None


def silent_effects(views: Sequence[View]) -> Came | None:
    """Count the effects that a model says cannot be told from nothing; None where it lists no effects.

    Those of a value that hardly anybody may have are among them, as noise made them.
    """
    counted = effects_told(views)
    return None if counted is None else Came("effects", counted[1] - counted[0], counted[1])


def remedies(plan: Plan) -> tuple[Remedy, ...]:
    """Return plans that could say more: each without one of its columns, and one with twice the level.

    Those that do not help are left out. First comes what says enough and spends no more.
    """
    before = _judge(plan)
    found = []
    for kind, value, changes in _changes(plan):
        after = _judge(replace(plan, **changes))
        if before is not None and after is not None and after.share > before.share:
            found.append(Remedy(kind, value, changes, after))
    best = sorted(found, key=lambda one: -one.verdict.share)[:MOST_TRIED]
    return tuple(
        sorted(best, key=lambda one: (one.verdict.is_useless, one.kind == "level", -one.verdict.share))
    )


def _changes(plan: Plan) -> Iterator[tuple[str, str | Fraction, dict[str, Any]]]:
    method = find_method(plan.method)
    for parameter in method.parameters:
        chosen = plan.parameters.get(parameter.name)
        names = chosen if parameter.kind is ParameterKind.COLUMNS and isinstance(chosen, list | tuple) else ()
        for name in names if len(names) > max(int(parameter.minimum or 0), 1) else ():
            rest = [other for other in names if other != name]
            yield "without", str(name), {"parameters": {**plan.parameters, parameter.name: rest}}
    if plan.budget is not None and method.spends is Spends.CHOSEN:
        larger = replace(plan.budget, epsilon=2 * plan.budget.epsilon)
        yield "level", larger.epsilon, {"budget": larger}


def _judge(plan: Plan) -> Filling | Judged | None:
    try:
        design = plan.design
        return None if design.problems else verdict(plan, design.forecast)
    except EngineError:
        return None
