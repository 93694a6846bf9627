"""Four linked views of one privacy level: money, what could be learnt, accuracy, privacy at risk.

The screen moves any of them and the others follow: everything here is formulas over declarations, fast enough
to be called while a slider moves. Nothing reads a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from engine.methods.protocol import Expected, Forecast
from engine.pricing.price import AllowedLevels
from engine.pricing.statement import cost_of, price_statement, privacy_statement
from engine.privacy.promise import Promise
from engine.release.check import check
from engine.release.levels import allowed_levels, reference_size, with_epsilon
from engine.release.plan import Plan


@dataclass(frozen=True)
class Choice:
    """One privacy level in all its views.

    ``price`` is empty while people or compensation are not said. ``size`` is the declared group size that the
    accuracy is stated for, see `reference_size`.
    """

    epsilon: Fraction
    promise: Promise
    statement: dict[str, Any]
    price: dict[str, Any]
    forecast: Forecast
    allowed: AllowedLevels
    size: int

    @property
    def error(self) -> Expected | None:
        """The error of the main number for a group of `size` people: what the accuracy card shows."""
        fitting = (error for error in self.forecast.errors if error.size in (None, self.size))
        return next(fitting, None)


def choice(plan: Plan, *, readings: bool = True) -> Choice:
    """Return every view of the plan's privacy level.

    Parameters
    ----------
    plan
        With a method whose parameters hold together and a budget.
    readings
        False leaves out privacy at risk and its prices, which take longer for some methods.

    Raises
    ------
    InputRefused
        The plan has no valid budget, or its method a problem.
    """
    design = check(plan)
    assert plan.budget is not None
    return Choice(
        plan.budget.epsilon,
        design.cost,
        privacy_statement(design.cost, read_at=plan.price.bound, readings=readings),
        price_statement(design.cost, plan.price, readings=readings),
        design.forecast,
        allowed_levels(plan),
        reference_size(plan),
    )


@dataclass(frozen=True)
class WaysOut:
    """What would leave a level: the money that the accuracy needs, the error that the money buys."""

    money: float | None
    error: float | None


def ways_out(plan: Plan) -> WaysOut:
    """Return what has to give when money and accuracy leave no level; None where neither would help."""
    found, cost = allowed_levels(plan), cost_of(plan.price)
    money = None if cost is None or found.lower is None else cost.at(float(found.lower))
    if found.upper is None:
        return WaysOut(money, None)
    other = choice(with_epsilon(plan, found.upper), readings=False)
    return WaysOut(money, None if other.error is None else other.error.limit)
