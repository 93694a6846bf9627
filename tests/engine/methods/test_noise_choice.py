"""Which noise is taken where that is left open: by declarations alone, and the lesser one."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from engine.methods.budget import A_DELTA, FITTING, GAUSSIAN, LAPLACE, NOISE, times_less
from engine.methods.catalogue import methods
from engine.methods.protocol import Budget, Method
from engine.privacy.events import Event
from engine.privacy.mechanisms import DiscreteGaussian
from engine.release.check import check
from engine.release.examples import plans
from engine.release.plan import Plan

OPEN = [
    (method, plan)
    for method in methods()
    for plan in plans(method)
    if any(one.name == NOISE.name and one.default == FITTING for one in method.parameters)
]
EACH = pytest.mark.parametrize(
    ("method", "plan"), OPEN, ids=lambda one: one.id if isinstance(one, type) else one.purpose.title
)


def design(plan: Plan, noise: str, delta: Fraction, epsilon: Fraction = Fraction(1)) -> Any:
    assert plan.budget is not None
    budget = replace(plan.budget, epsilon=epsilon, delta=delta)
    holding = {"holding_budget": budget} if plan.holding_budget else {}
    return check(replace(plan, parameters={**plan.parameters, "noise": noise}, budget=budget, **holding))


def is_gaussian(events: Event) -> bool:
    return any(isinstance(leaf, DiscreteGaussian) for leaf, _ in events.leaves())


def test_there_are_methods_that_leave_it_open() -> None:
    assert {"models.additive", "datasets.marginals", "models.linear"} <= {method.id for method, _ in OPEN}


@EACH
def test_without_delta_it_is_the_laplace_noise_of_before(method: type[Method], plan: Plan) -> None:
    left, named = (design(plan, one, Fraction(0), Fraction(8)) for one in (FITTING, LAPLACE))
    assert left.cost == named.cost and left.cost.kind == "pure_dp"


@EACH
def test_a_delta_is_spent_exactly_where_that_is_less_noise(method: type[Method], plan: Plan) -> None:
    left = design(plan, FITTING, A_DELTA, Fraction(8))
    loss = left.cost.loss
    if method.id == "datasets.gaussians":  # has vector noise without a δ, and a rule of its own
        assert is_gaussian(loss.events)
        return
    gains = times_less(Budget(Fraction(8), A_DELTA), left.sums) > 1
    assert is_gaussian(loss.events) == gains == (loss.delta == A_DELTA)
    assert left.taken["noise"] == (GAUSSIAN if gains else LAPLACE)
    same = design(plan, GAUSSIAN if gains else LAPLACE, A_DELTA if gains else Fraction(0), Fraction(8))
    assert left.cost == same.cost
    assert any(note.id.startswith("statistics.notes.noise_") for note in left.forecast.notes)


def test_few_sums_keep_laplace_noise_and_spend_no_delta() -> None:
    plan = next(plan for way, plan in OPEN if way.id == "models.naive_bayes")
    few = replace(plan, parameters={**plan.parameters, "predictors": plan.parameters["predictors"][:1]})
    found = design(few, FITTING, A_DELTA, Fraction(8))
    assert found.cost.kind == "pure_dp" and found.cost.loss.delta == 0
    assert not is_gaussian(found.cost.loss.events)
