"""Four linked views of one privacy level: money, what could be learnt, accuracy, privacy at risk.

The screen moves any of them and the others follow: everything here is formulas over declarations, fast enough
to be called while a slider moves. Nothing reads a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from engine.methods.protocol import Expected, Forecast
from engine.pricing.statement import price_statement, privacy_statement
from engine.privacy.promise import Promise
from engine.release.check import check
from engine.release.levels import Window, reference_size, window
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
    window: Window

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
    checked = check(plan)
    assert plan.budget is not None
    return Choice(
        plan.budget.epsilon,
        checked.promise,
        privacy_statement(checked.promise, read_at=plan.price.bound, readings=readings),
        price_statement(checked.promise, plan.price, readings=readings),
        checked.method.forecast(checked.request),
        window(plan),
        reference_size(plan),
    )
