"""Whether a release can say something, before it is paid for: from declarations alone, never from rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from engine.errors import EngineError
from engine.methods.catalogue import method as find_method
from engine.methods.filling import Filling, Judged
from engine.methods.parameters import ParameterKind
from engine.methods.protocol import Forecast, Spends
from engine.release.plan import Plan

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


def verdict(plan: Plan, forecast: Forecast | None) -> Filling | Judged | None:
    """Say how many cells of a release can say something, at most; of one without cells how much it says.

    Parameters
    ----------
    plan
        With declared people.
    forecast
        Of this very plan.

    Returns
    -------
    Filling, Judged or None
        None where the method does not judge itself, or nobody declared how many people there are.
    """
    if forecast is None:
        return None
    if forecast.counted is not None:
        return None if plan.people is None else forecast.counted.filled_by(plan.people)
    return plan.design.judged(plan.people)


def remedies(plan: Plan) -> tuple[Remedy, ...]:
    """Return plans that could say more: each without one of its columns, and one with twice the level.

    Those that do not help are left out; the best come first.
    """
    before = _judged(plan)
    found = []
    for kind, value, changes in _changes(plan):
        after = _judged(replace(plan, **changes))
        if before is not None and after is not None and after.share > before.share:
            found.append(Remedy(kind, value, changes, after))
    return tuple(sorted(found, key=lambda one: -one.verdict.share)[:MOST_TRIED])


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


def _judged(plan: Plan) -> Filling | Judged | None:
    try:
        method = find_method(plan.method)
        request = plan.request
        return None if method(request).problems else verdict(plan, method(request).forecast)
    except EngineError:
        return None
