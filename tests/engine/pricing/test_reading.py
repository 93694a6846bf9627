"""Where the at-risk price is smallest, and which levels a budget allows, against brute force."""

import math
import time
from fractions import Fraction

import numpy as np
import pytest

from engine.analyses.catalogue import analysis, ask
from engine.pricing.cost import Cost
from engine.pricing.reading import cheapest_reading, exact_curve, expected_price, price, published_curve
from engine.pricing.window import window
from engine.privacy.at_risk import mechanisms

COST = Cost(people=100, compensation=Fraction(5500))
CURVES = {
    "published": published_curve(1),
    "published, three outputs": published_curve(2, dimensions=3),
    "published, large": published_curve(8),
    "laplace": exact_curve(mechanisms.laplace(epsilon0=1)),
    "laplace, two-sided": exact_curve(mechanisms.laplace(epsilon0=1), two_sided=True),
    "discrete": exact_curve(mechanisms.discrete_laplace(epsilon0=1)),
    "discrete, two-sided": exact_curve(mechanisms.discrete_laplace(epsilon0=1), two_sided=True),
    "discrete, five steps": exact_curve(mechanisms.discrete_laplace(epsilon0=1, sensitivity=5)),
    "discrete, five steps, two-sided": exact_curve(
        mechanisms.discrete_laplace(epsilon0=1, sensitivity=5), two_sided=True
    ),
    "gaussian": exact_curve(mechanisms.gaussian(scale=3)),
    "discrete gaussian": exact_curve(mechanisms.discrete_gaussian(scale=3)),
    "response": exact_curve(mechanisms.randomised_response_at(epsilon0=1, answers=5)),
    "exponential": exact_curve(mechanisms.exponential(epsilon0=1)),
}


def cheapest_of(tree):
    return tree["exact"]["at_risk"]["budget"]


def priced(**given):
    """Return the price of one release by a mechanism, as the analysis gives it."""
    return ask(analysis("price"), {"people": 100, "compensation": 5500, **given}).figures


def grid_of(curve):
    end = min(curve.epsilon0, 60.0)
    grid = np.unique(np.concatenate((np.geomspace(1e-4, end, 3000), np.linspace(1e-4, end, 3000))))
    if curve.stairs is not None:
        levels = np.array([curve.stairs.level(index) for index in range(1, curve.stairs.counts.size)])
        grid = np.unique(np.concatenate((grid, levels[levels <= end])))
    return grid[grid < curve.epsilon0]


@pytest.mark.parametrize("name", CURVES)
def test_cheapest_reading_beats_a_fine_grid(name):
    curve = CURVES[name]
    found = cheapest_reading(COST, curve)
    paid = price(COST, curve, grid_of(curve))
    assert found.budget <= paid.min() * (1 + 1e-9)
    assert found.budget >= min(paid.min(), COST.at(curve.epsilon0)) * (1 - 2e-4) - 1e-6
    assert found.saving == pytest.approx(COST.at(curve.epsilon0) - found.budget, abs=1e-6)


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("share", [0.02, 0.3, 0.8])
def test_window_against_a_fine_grid(name, share):
    curve = CURVES[name]
    best, full = cheapest_reading(COST, curve).budget, COST.at(curve.epsilon0)
    if best >= full * (1 - 1e-9):
        # No reading below ε0 is cheaper: a window opens only when ε0 itself is within the budget.
        assert window(COST, curve, budget=full * 0.99).reason == "budget"
        return
    budget = best + share * (full - best)
    found = window(COST, curve, budget=budget)
    grid = grid_of(curve)
    inside = grid[price(COST, curve, grid) <= budget]
    spacing = np.diff(grid).max() * 1.01
    assert not found.empty
    assert found.lower <= inside[0] and found.upper >= inside[-1]
    assert inside[0] - found.lower <= spacing and found.upper - inside[-1] <= spacing


def test_budgets_outside():
    curve = CURVES["published"]
    assert window(COST, curve, budget=1).reason == "budget"
    everything = window(COST, curve, budget=10**6)
    assert (everything.lower, everything.upper) == (0, 1)


def test_nothing_is_saved_where_the_loss_is_always_epsilon0():
    found = cheapest_reading(COST, CURVES["discrete, two-sided"])
    assert found.saving == 0 and found.epsilon == 1 and found.confidence == 1


@pytest.mark.parametrize("mechanism", mechanisms.MECHANISMS)
def test_every_mechanism_has_a_price(mechanism):
    own = {"scale": 2} if "gaussian" in mechanism else {"epsilon0": 0.5}
    tree = priced(mechanism=mechanism, **own)
    assert (tree["published"] is None) == ("laplace" not in mechanism)
    assert 0 < tree["expected"] <= tree["exact"]["budget"] + 1e-6
    assert tree["window"] is None
    prices = [tree[name]["at_risk"]["budget"] for name in ("exact", "exact_two_sided")]
    assert prices[0] <= prices[1] + 1e-6


def test_expected_price_by_draws():
    loss = mechanisms.laplace(epsilon0=1)
    noise = np.random.default_rng(3).laplace(size=1_000_000)
    drawn = COST.curve(np.abs(np.abs(noise - 1) - np.abs(noise)))
    error = drawn.std() / 1000
    assert abs(expected_price(COST, loss) - drawn.mean()) < 5 * error


def test_expected_price_of_atoms_by_hand():
    loss = mechanisms.discrete_laplace(epsilon0=1, sensitivity=2)
    q = math.exp(-0.5)
    assert expected_price(COST, loss) == pytest.approx((1 + q**2) / (1 + q) * COST.at(1))


def test_fine_integer_grids_stay_quick():
    start = time.perf_counter()
    found = priced(mechanism="discrete_gaussian", scale=700, sensitivity=500)
    wide = priced(mechanism="discrete_laplace", epsilon0=1, sensitivity=10**9)
    print(f"\ntwo prices on fine grids: {time.perf_counter() - start:.2f} s")
    smooth = priced(mechanism="gaussian", scale=700, sensitivity=500)
    assert found["exact"]["at_risk"]["budget"] == pytest.approx(
        smooth["exact"]["at_risk"]["budget"], rel=5e-3
    )
    continuous = priced(epsilon0=1)
    assert wide["exact"]["at_risk"]["budget"] == pytest.approx(
        continuous["exact"]["at_risk"]["budget"], rel=1e-5
    )
    assert wide["expected"] == pytest.approx(continuous["expected"], rel=1e-4)
