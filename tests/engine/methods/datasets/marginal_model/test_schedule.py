"""The noise of invented rows spends what was given, as the accountant counts it, and not a hair more."""

from dataclasses import replace
from fractions import Fraction
from math import comb, exp, expm1

import numpy as np
import pytest

from engine.errors import InputRefused
from engine.methods.datasets.marginal_model import schedule as marginal_schedule
from engine.methods.datasets.marginal_model.schedule import Schedule
from engine.privacy.accounting import certified_delta, total
from engine.privacy.events import Neighbours
from engine.privacy.gaussian import continuous_delta
from engine.privacy.mechanisms import Exponential
from engine.privacy.promise import Loss, Promise, Unit

SIZES = (16, 9, 16, 42, 9, 16, 9, 42)
SMALL = Fraction(1, 10**9)


def schedule(sizes=SIZES, epsilon="1", delta=SMALL, moved=1, squared=1, rows=45_000):
    return Schedule(tuple(sizes), Fraction(epsilon), delta, moved, squared, rows)


def counted(plan):
    promise = Promise(
        "approximate_dp", Loss(plan.epsilon, plan.delta, Neighbours.ADD_REMOVE, plan.events), Unit.ROW, 1
    )
    return total([promise], delta=plan.delta)


CASES = {
    "the usual": {},
    "little": {"epsilon": "1/5"},
    "hardly any": {"epsilon": "1/100", "rows": 10**9},
    "single columns only": {"epsilon": "1/100"},
    "much": {"epsilon": "20"},
    "a small δ": {"delta": Fraction(1, 10**12)},
    "a large δ": {"delta": Fraction(1, 1000)},
    "one column": {"sizes": (7,)},
    "two columns": {"sizes": (7, 5)},
    "a hundred columns": {"sizes": tuple(range(2, 102)), "rows": 10**6},
    "replace one": {"moved": 2, "squared": 2},
    "five rows for each of two people": {"moved": 10, "squared": 50, "rows": 10**6},
}


@pytest.mark.parametrize("name", CASES)
def test_the_accountant_bears_out_what_is_spent_and_no_more(name):
    plan = schedule(**CASES[name]).borne_out()
    assert plan.margin is not None and plan.margin <= 0.03
    assert Fraction(99, 100) * plan.epsilon < counted(plan).epsilon <= plan.epsilon
    with pytest.raises(InputRefused, match="accounting"):
        counted(replace(plan, margin=-0.01))


def test_more_than_by_concentrated_privacy():
    plain, found = schedule(), schedule().borne_out()
    assert plain.budget == pytest.approx(0.014973, abs=1e-6)
    assert found.budget == pytest.approx(0.016557, rel=1e-3)  # all of it normal noise
    assert 0.93 < found.pair / plain.pair < 0.97 and 0.93 < max(found.single) / max(plain.single) < 0.97


@pytest.mark.parametrize("delta", [Fraction(1, 10**14), Fraction(1, 10**15)])
@pytest.mark.parametrize("case", ["the usual", "wide noise", "many columns"])
def test_a_delta_that_cannot_be_composed_costs_no_noise(delta, case):
    of = {
        "the usual": {},
        "wide noise": {"sizes": (5, 5, 5, 5), "epsilon": "1/100", "rows": 5000},
        "many columns": {"sizes": (9,) * 30, "moved": 40, "squared": 800},
    }
    plain = schedule(delta=delta, **of[case])
    found = plain.borne_out()
    assert counted(found).epsilon <= found.epsilon and counted(found).method == "concentrated"
    assert max(found.single) <= max(plain.single) and (plain.only_single or found.pair <= plain.pair)


def test_noise_of_the_laplace_kind_stays_as_it_is():
    plan = schedule(delta=Fraction(0))
    assert plan.borne_out() is plan


@pytest.mark.parametrize("delta", [SMALL, Fraction(1, 10**15), Fraction(0)])
def test_a_forecast_asks_no_accountant_and_says_the_same(delta, monkeypatch):
    plan = schedule(delta=delta)
    borne_out = plan.borne_out()
    if delta == SMALL:
        monkeypatch.setattr(marginal_schedule, "smallest_margin", None)
    assert plan.expected() == borne_out


@pytest.mark.parametrize("epsilon", ["1/5", "4"])
def test_choices_of_every_range_beside_normal_noise_stay_below_delta(epsilon):
    """Choices that tell t or t − ε₀, whatever t, enumerated beside one noise with the ρ of all tables."""
    plan = schedule(epsilon=epsilon).borne_out()
    leaves = plan.events.together(Neighbours.ADD_REMOVE)
    choices = next(leaf for leaf in leaves if isinstance(leaf, Exponential))
    assert 0.9 * float(plan.delta) < certified_delta(leaves, float(plan.epsilon)) <= float(plan.delta)
    rho = float(sum(leaf.concentrated() for leaf in leaves if leaf is not choices))
    each, count = float(choices.single().epsilon()), choices.count
    found = []
    for most in np.linspace(0, each, 41)[1:-1]:
        often = expm1(each - most) / (exp(each - most) - exp(-most))
        assert often * exp(-most) + (1 - often) * exp(each - most) == pytest.approx(1)
        found.append(
            sum(
                comb(count, high)
                * often**high
                * (1 - often) ** (count - high)
                * continuous_delta(
                    scale=1.0,
                    epsilon=float(plan.epsilon) - high * most - (count - high) * (most - each),
                    sensitivity=(2 * rho) ** 0.5,
                )
                for high in range(count + 1)
            )
        )
    assert 0.3 * float(plan.delta) < max(found) <= float(plan.delta)
