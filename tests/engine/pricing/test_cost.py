"""The cost curve, its inverse, its calibration and its band."""

import math
from fractions import Fraction

import numpy as np
import pytest

from engine.analyses.catalogue import analysis, ask
from engine.errors import InputRefused
from engine.pricing.cost import Cost, band
from engine.texts import explain

PLAIN = Cost(people=100, compensation=Fraction(5500))
OWED = Cost(people=100, compensation=Fraction(5500), minimum=Fraction(500), c=Fraction(3, 2))


@pytest.mark.parametrize("cost", [PLAIN, OWED])
def test_ends_and_growth(cost):
    assert cost.at(0) == float(cost.people * cost.minimum)
    assert cost.at(math.inf) == pytest.approx(cost.liability)
    grid = np.geomspace(1e-3, 1e3, 200)
    assert (np.diff(cost.curve(grid)) >= 0).all()
    assert cost.curve(grid) == pytest.approx([cost.at(e) for e in grid])
    assert cost.curve([0.0, -1.0]).tolist() == [cost.least, cost.least]


@pytest.mark.parametrize("cost", [PLAIN, OWED])
@pytest.mark.parametrize("epsilon", [0.2, 1, 7])
def test_money_to_epsilon_and_back(cost, epsilon):
    assert cost.epsilon_for(cost.at(epsilon)) == pytest.approx(epsilon, rel=1e-9)


def test_budgets_beyond_the_curve():
    assert OWED.epsilon_for(49_999) == 0 and OWED.epsilon_for(50_000) == 0
    assert math.isinf(OWED.epsilon_for(550_000))


def test_a_budget_just_above_what_is_owed_in_any_case():
    """What is left of it is the small difference of two large numbers."""
    least = Fraction(10**9 - 1, 10**9) * 70_000
    cost = Cost(people=10**9, compensation=Fraction(70_000), minimum=least)
    spare = Fraction(1, 1000)
    budget = 10**9 * (least + (cost.compensation - least) * spare)
    assert cost.epsilon_for(budget) == pytest.approx(1 / math.log(1 / spare), rel=1e-12)


def test_printed_form_keeps_its_own_inverse():
    printed = Cost(people=1, compensation=Fraction(100), minimum=Fraction(20), printed_minimum=True)
    assert printed.at(1) == pytest.approx(20 + 100 * math.exp(-1))
    assert printed.epsilon_for(printed.at(1)) == pytest.approx(1)


@pytest.mark.parametrize("cost", [PLAIN, OWED])
def test_calibration_passes_through_the_defended_point(cost):
    found = cost.calibrated(epsilon=0.8, share_of_liability=0.3)
    assert found.at(0.8) == pytest.approx(0.3 * cost.liability, rel=1e-12)
    with pytest.raises(InputRefused) as refused:
        OWED.calibrated(epsilon=1, share_of_liability=0.05)
    assert all(explain(refused.value))


def test_band_is_made_of_its_corners():
    drawn = band(
        PLAIN, [0.3, 1, 4], c=("0.5", "2"), people=(80, 150), compensation=(Fraction(1000), Fraction(9000))
    )
    corners = [
        Cost(people=n, compensation=Fraction(e), c=Fraction(c)).curve([0.3, 1, 4])
        for n in (80, 150)
        for e in (1000, 9000)
        for c in ("0.5", "2")
    ]
    assert drawn.lower == pytest.approx(np.min(corners, axis=0))
    assert drawn.upper == pytest.approx(np.max(corners, axis=0))
    assert drawn.central == pytest.approx(PLAIN.curve([0.3, 1, 4]))
    for wrong in ({"c": (2, 3)}, {"people": (200, 50)}, {"compensation": (6000, 7000)}):
        with pytest.raises(InputRefused) as refused:
            band(PLAIN, [1], **wrong)
        assert all(explain(refused.value))


@pytest.mark.parametrize(
    "values",
    [
        {"people": 0},
        {"people": 1.5},
        {"compensation": -5},
        {"compensation": float("nan")},
        {"compensation": 10**16},
        {"c": 0},
        {"minimum": 5500},
        {"minimum": -1},
    ],
)
def test_refusals_have_sentences(values):
    with pytest.raises(InputRefused) as refused:
        Cost(**({"people": 100, "compensation": 5500} | values))
    assert all(explain(refused.value))


def test_three_amounts_are_never_added():
    asked = {"people": 100, "compensation": 5500, "epsilon0": 1, "fine": 10**6, "incident": 20_000}
    tree = ask(analysis("price"), asked).figures["liabilities"]
    assert tree == {"compensation_per_person": 5500, "fine": 10**6, "incident": 20_000}
