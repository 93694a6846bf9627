"""Which privacy levels a plan leaves to choose from, and the level for an amount, a belief or an error.

Formulas over declarations, fast enough to be called while a slider moves. Nothing reads a row.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

from engine.methods.catalogue import method as find_method
from engine.methods.parameters import ParameterKind
from engine.methods.protocol import Budget, Spends
from engine.methods.solve import epsilon_for_error, foresees
from engine.pricing import posterior as beliefs
from engine.pricing.cost import LARGEST_AMOUNT
from engine.pricing.price import AllowedLevels
from engine.pricing.statement import PRIOR, cost_of
from engine.release.plan import Plan

SMALLEST, LARGEST = Fraction(1, 1000), Fraction(20)
DIGITS = 3
TYPICAL_SIZE = 20
GROUPS = "by"  # what every method calls the columns that it forms groups by


def reference_size(plan: Plan) -> int:
    """Return the declared group size nearest to 20, for which one accuracy stands for all.

    Examples
    --------
    >>> reference_size(Plan(declared_sizes=(5, 20, 100, 1000)))
    20
    """
    whole = size_of_all(plan)
    if whole is not None:
        return whole
    return min(plan.declared_sizes, key=lambda size: abs(math.log(size / TYPICAL_SIZE)), default=TYPICAL_SIZE)


def size_of_all(plan: Plan) -> int | None:
    """Return how many rows one answer about everybody rests on, by declaration.

    Returns
    -------
    int or None
        Declared people times the cap on rows of one person. None where a method forms groups or could not
        form any, and where nobody declared how many people there are.
    """
    if not plan.method or plan.parameters.get(GROUPS) or plan.people is None:
        return None
    asked = find_method(plan.method).parameters
    forms = any(one.name == GROUPS for one in asked)
    if not forms or any(one.kind is ParameterKind.EDGES for one in asked):  # intervals are groups too
        return None
    cap = plan.schema.rows_per_person if plan.schema.person_key is not None else 1
    return plan.people * cap


def with_epsilon(plan: Plan, epsilon: Fraction) -> Plan:
    """Return the plan with another privacy level, kept in the range of the screen."""
    budget = plan.budget if plan.budget is not None else Budget(epsilon)
    return replace(plan, budget=replace(budget, epsilon=min(max(epsilon, SMALLEST), LARGEST)))


def epsilon_for_money(plan: Plan, amount: Fraction) -> Fraction | None:
    """Return the largest privacy level whose price stays within an amount; None without a price.

    Examples
    --------
    >>> from engine.release.plan import Price
    >>> plan = Plan(price=Price(people=4259, compensation=Fraction(500)))
    >>> epsilon_for_money(plan, Fraction(400_000))
    Fraction(299, 500)
    """
    cost = cost_of(plan.price)
    if cost is None or amount <= 0:
        return None
    found = cost.epsilon_for(min(amount, Fraction(LARGEST_AMOUNT)))  # more is refused by whoever prices
    return LARGEST if math.isinf(found) else _rounded_down(found) or None


def epsilon_for_posterior(sure: float) -> Fraction | None:
    """Return the largest privacy level at which someone half sure becomes at most ``sure``.

    About presence under add/remove, about a value under replace-one.
    """
    if not PRIOR < sure < 1:
        return None
    return _rounded_down(beliefs.epsilon_for_posterior(PRIOR, sure)) or None


def epsilon_for_limit(plan: Plan, limit: float) -> Fraction | None:
    """Return the smallest privacy level at which 95 of 100 releases are within a limit, rounded up.

    For the main number of a group of `reference_size`; None where no level reaches it.
    """
    if not limit > 0:
        return None
    method = find_method(plan.method)
    request = with_epsilon(plan, plan.budget.epsilon if plan.budget else Fraction(1)).request
    found = epsilon_for_error(method(request), size=reference_size(plan), limit=limit)
    return None if found is None or found > LARGEST else _round(float(found), math.ceil)


def _is_foreseen(plan: Plan) -> bool:
    """Say whether a largest error is of a number that the method forecasts."""
    request = with_epsilon(plan, Fraction(1)).request
    return foresees(find_method(plan.method)(replace(request, sizes=(reference_size(plan),))))


def allowed_levels(plan: Plan) -> AllowedLevels:
    """Return the privacy levels that a money budget and a largest error leave; each may be unsaid.

    Both ends are open where the method of the plan has no level to choose: an amount or an error may have
    been said before another method was chosen.
    """
    lower = upper = None
    if find_method(plan.method).spends is not Spends.CHOSEN:
        return AllowedLevels()
    if plan.price.largest_error is not None and _is_foreseen(plan):
        lower = epsilon_for_limit(plan, float(plan.price.largest_error))
        if lower is None:
            return AllowedLevels(None, None, "error")
    if plan.price.budget is not None and cost_of(plan.price) is not None:
        upper = epsilon_for_money(plan, plan.price.budget)
        if upper is None:
            return AllowedLevels(None, None, "money")
    if lower is not None and upper is not None and lower > upper:
        return AllowedLevels(lower, upper, "both")
    return AllowedLevels(lower, upper)


def _rounded_down(value: float) -> Fraction:
    """Three significant digits, never above the value: a level that costs no more than was allowed."""
    return _round(value, math.floor)


def _round(value: float, towards: Any) -> Fraction:
    if value <= 0:
        return Fraction(0)
    unit = Fraction(10) ** (math.floor(math.log10(value)) - DIGITS + 1)
    # Half a millionth of a step against values that are whole steps but for their last bit.
    nudge = 1e-9 if towards is math.floor else -1e-9
    return Fraction(towards(value / float(unit) * (1 + nudge))) * unit
