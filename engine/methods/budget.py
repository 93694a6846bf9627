"""What a budget must be before a method can use it: checked the same way for every method."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import sqrt
from typing import Any

from engine.methods import option
from engine.methods.parameters import Problem
from engine.methods.protocol import Budget, Method, Request
from engine.once import once
from engine.privacy.gaussian import gaussian_level
from engine.privacy.promise import Neighbours
from engine.views import Text

PARAMETER = "budget"
FITTING, LAPLACE, GAUSSIAN = "fitting", "laplace", "gaussian"
NOISE = option.choice(FITTING, LAPLACE, GAUSSIAN, name="noise", default=FITTING)
"""For methods with many sums: which noise is less follows from how many there are, ε and δ."""
A_DELTA = Fraction(1, 10**6)
"""What is said of a δ where none is declared is said of this one."""
LEAST_GAIN = 1.2
"""Times less noise from which it is worth saying."""
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


def times_less(budget: Budget, sums: float) -> float:
    """Return how many times less Gaussian noise is than Laplace noise; of `A_DELTA` without a δ.

    Parameters
    ----------
    budget
        With ε and δ.
    sums
        How many sums one row moves, all by the same.

    Notes
    -----
    k sums: standard deviations √2 k/ε of Laplace noise, √k/μ of Gaussian noise, which is less from
    k = ε²/2μ² sums on: 8.9 for ε = 1 and δ = 10⁻⁶. A single table has Laplace noise.

    Examples
    --------
    >>> [round(times_less(Budget(Fraction(1), A_DELTA), sums), 2) for sums in (1, 9, 36)]
    [0.33, 1.0, 2.01]
    """
    delta = budget.delta or A_DELTA
    return sqrt(2 * sums) * gaussian_level(float(budget.epsilon), float(delta)) / float(budget.epsilon)


def takes_gaussian(request: Request) -> bool:
    """Say whether Gaussian noise is asked for, or may be chosen as a δ is there to be spent."""
    noise, budget = request.values[NOISE.name], request.budget
    return bool(noise == GAUSSIAN or (noise == FITTING and budget is not None and budget.delta))


def paid(request: Request, sums: float) -> Request:
    """Return a checked request with what its noise spends: no δ where Laplace noise is less.

    Parameters
    ----------
    sums
        As in `times_less`: from declarations alone.
    """
    budget = required_budget(request)
    if request.values[NOISE.name] == FITTING and budget.delta and times_less(budget, sums) <= 1:
        return replace(request, budget=replace(budget, delta=Fraction(0)))
    return request


def noise_taken(request: Request, sums: float) -> dict[str, str]:
    """Say for `Method.taken` which noise was chosen, where that was left open and there is a budget."""
    if request.values[NOISE.name] != FITTING or request.budget is None:
        return {}
    return {NOISE.name: GAUSSIAN if required_budget(paid(request, sums)).delta else LAPLACE}


class ManySums(Method):
    """A method with many noisy sums, for which `NOISE` is chosen."""

    @property
    @abstractmethod
    def sums(self) -> float:
        """How many sums a row moves by the same, about; see `times_less`."""

    @once
    def taken(self) -> Mapping[str, Any]:
        return noise_taken(self.request, self.sums)

    @once
    def paid(self) -> Request:
        """Return the request with the δ that the noise spends."""
        return paid(self.request, self.sums)


def noise_notes(request: Request, sums: float) -> tuple[Text, ...]:
    """Say which noise was chosen and what it gains, or what a δ would gain; nothing of what was asked for."""
    if request.values[NOISE.name] != FITTING:
        return ()
    budget = required_budget(request)
    times = times_less(budget, sums)
    if budget.delta:
        chosen = "gaussian" if times > 1 else "laplace"
        return (Text(f"statistics.notes.noise_{chosen}", {"times": float(f"{max(times, 1 / times):.2g}")}),)
    if times < LEAST_GAIN:
        return ()
    return (
        Text("statistics.notes.noise_with_delta", {"times": float(f"{times:.2g}"), "delta": float(A_DELTA)}),
    )


def required_budget(request: Request) -> Budget:
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
