"""What a budget must be before a method can use it: checked the same way for every method."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from engine.methods.parameters import Problem
from engine.methods.protocol import Budget, Request
from engine.privacy.promise import Neighbours

PARAMETER = "budget"
SMALLEST, LARGEST = Fraction(1, 10**6), Fraction(10**12)
SMALLEST_DELTA = Fraction(1, 10**15)


def budget_problems(request: Request, *, uses_delta: bool) -> list[Problem]:
    """Say what is wrong with the budget of a request; empty when it can be spent.

    Parameters
    ----------
    request
        Its ``budget`` may hold anything that a file or a command line can bring, NaN included.
    uses_delta
        Whether the method, as it is set now, spends delta.

    Notes
    -----
    Delta of 1 in the number of people or more is for the screens to warn of: how many people there are is
    not known here. Half is refused because no guarantee is left.
    """
    budget = request.budget
    if budget is None:
        return [_problem("missing")]
    epsilon, delta = _exact(budget.epsilon), _exact(budget.delta)
    if epsilon is None or delta is None:
        return [_problem("not_a_number")]
    if epsilon <= 0:
        return [_problem("not_positive")]
    if not SMALLEST <= epsilon <= LARGEST:
        return [_problem("out_of_range", minimum=SMALLEST, maximum=LARGEST)]
    if uses_delta:
        usable = SMALLEST_DELTA <= delta < Fraction(1, 2)
        return [] if usable else [_problem("delta_needed", minimum=float(SMALLEST_DELTA))]
    return [] if delta == 0 else [_problem("delta_unused")]


def required(request: Request) -> Budget:
    """Return the budget of a request that has been checked."""
    assert request.budget is not None, "problems() reports a missing budget"
    return request.budget


def is_replace_one(request: Request) -> bool:
    """Say whether neighbouring data sets exchange a person instead of adding or removing one."""
    return request.budget is not None and request.budget.neighbours is Neighbours.REPLACE_ONE


def _problem(name: str, **values: Any) -> Problem:
    return Problem(f"budget.{name}", values, PARAMETER)


def _exact(value: Any) -> Fraction | None:
    """A budget is an exact fraction or a whole number; a float, and so NaN, is neither."""
    if isinstance(value, bool) or not isinstance(value, int | Fraction):
        return None
    return Fraction(value)
