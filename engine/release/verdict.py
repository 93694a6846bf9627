"""Whether a release can say something, before it is paid for: from declarations alone, never from rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from engine.errors import EngineError
from engine.methods.catalogue import method as find_method
from engine.methods.filling import filling
from engine.methods.parameters import ParameterKind
from engine.methods.protocol import Forecast, Spends
from engine.release.plan import Plan

MOST_TRIED = 4
USELESS = 0.5
"""A release is called useless when more than this share of its cells cannot say anything."""


@dataclass(frozen=True)
class Verdict:
    """How many cells of a release can say something at all.

    Parameters
    ----------
    people
        As declared.
    cells
        How many cells (or groups) are released.
    limit
        The error that 95 of 100 counts stay within.
    above
        How many cells can hold more than this, at most.
    per_cell
        Rows for each cell, were they spread evenly.
    """

    people: int
    cells: int
    limit: float
    above: int
    per_cell: float

    @property
    def below(self) -> int:
        """How many cells say nothing, at least, whatever the rows hold."""
        return self.cells - self.above

    @property
    def share(self) -> float:
        """Share of the cells that can say something, at most."""
        return self.above / self.cells

    @property
    def is_useless(self) -> bool:
        """Whether most cells cannot say anything."""
        return self.below > USELESS * self.cells


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
    verdict: Verdict


def verdict(plan: Plan, forecast: Forecast | None) -> Verdict | None:
    """Say how many cells of a release can say something, at most.

    Parameters
    ----------
    plan
        With declared people: those of the method's own parameter, otherwise those of the price.
    forecast
        Of this very plan.

    Returns
    -------
    Verdict or None
        None where nothing is counted in cells, or nobody declared how many people there are.

    Notes
    -----
    N people with at most k rows each fill at most N·k / (m + 1) cells with more than m rows, rounded down,
    whatever the rows hold: so many cells, at most, hold more than the margin m of their count. A cell with
    less is a cell of which zero would be as good a guess. No row is read.
    """
    people = plan.parameters.get("people") or plan.price.people
    if forecast is None or forecast.counted is None or not isinstance(people, int):
        return None
    counted = forecast.counted
    found = filling(rows=people * counted.rows_per_person, cells=counted.cells, limit=counted.limit)
    return Verdict(people, counted.cells, counted.limit, found.above, found.per_cell)


def remedies(plan: Plan) -> tuple[Remedy, ...]:
    """Return plans that could say more: each without one of its columns, and one with twice the level.

    Those that do not help are left out; the best come first.
    """
    before = _judged(plan)
    found = []
    for kind, value, changes in _changes(plan):
        after = _judged(replace(plan, **changes))
        if (
            before is not None
            and after is not None
            and after.above / after.cells > before.above / before.cells
        ):
            found.append(Remedy(kind, value, changes, after))
    return tuple(sorted(found, key=lambda one: -one.verdict.above / one.verdict.cells)[:MOST_TRIED])


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


def _judged(plan: Plan) -> Verdict | None:
    try:
        method = find_method(plan.method)
        request = plan.request
        return None if method.problems(request) else verdict(plan, method.forecast(request))
    except EngineError:
        return None
