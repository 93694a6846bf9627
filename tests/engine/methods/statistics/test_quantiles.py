"""Quantiles: scores by hand, exact answers at large budgets, stated ranks."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from engine.methods.catalogue import method
from engine.methods.shared.promise import counted_unit
from engine.methods.shared.rank_choices import rank_scores
from engine.methods.solve import epsilon_for_error
from engine.views import BarsView
from tests.engine.methods.statistics.builders import LARGE, first, released, request, table
from tests.engine.methods.statistics.ranks_by_hand import spread_evenly

HALF = Fraction(1, 2)


def test_scores_by_hand():
    # values 0, 0, 0, 1, 3 on the grid 0..3; the median is 0
    assert rank_scores(np.array([3, 1, 0, 1]), wanted=HALF).tolist() == [1, -1, -3, -3]
    assert rank_scores(np.zeros(4, dtype=int), wanted=HALF).tolist() == [0, 0, 0, 0]
    assert rank_scores(np.array([0, 90, 10]), wanted=Fraction(1, 20)).tolist() == [-100, 100, -1700]


def test_exact_quantiles_at_a_large_budget():
    stays = np.arange(0, 14.5, 0.5)
    asked = request({"value": "stay", "quantiles": ["1/4", "1/2", "3/4"]}, epsilon=LARGE)
    frame = first(released("statistics.quantiles", asked, table(stay=stays)))
    assert frame["value"].tolist() == [3.5, 7.0, 10.5]
    assert frame["quantile"].tolist() == ["1/4", "1/2", "3/4"]


def test_bars_without_the_group_of_missing_values_say_so():
    """What is largest of those drawn need not be largest of all that the table has."""
    asked = request({"value": "stay", "quantiles": ["1/2"], "by": ["sex"]}, epsilon=LARGE)
    rows = table(sex=["f", "m", None], stay=[2.0, 3.0, 5.0])
    (bars,) = [
        one for one in released("statistics.quantiles", asked, rows).views if isinstance(one, BarsView)
    ]
    assert bars.labels == ("f", "m") and "statistics.notes.aside_no_bar" in str(bars.note)


def test_groups_and_missing_values():
    asked = request({"value": "stay", "quantiles": ["1/2"], "by": ["sex"]}, epsilon=LARGE)
    rows = table(sex=["f", "f", "f", "m", "m", None], stay=[1.0, 2.0, 50.0, 3.0, None, 4.5])
    frame = first(released("statistics.quantiles", asked, rows))
    found = dict(zip(frame["sex"], frame["value"], strict=True))
    assert (found["f"], found["m"], found["(missing)"]) == (2.0, 3.0, 4.5)


def test_quantiles_come_in_order():
    asked = request({"value": "stay"}, epsilon=Fraction(1, 100))
    for seed in range(30):
        values = first(released("statistics.quantiles", asked, table(stay=[1.0, 2.0]), seed=seed))["value"]
        assert values.is_monotonic_increasing


@pytest.mark.parametrize("stays", [[7.0] * 60, [0.0] * 30 + [14.0] * 30, list(np.linspace(0, 14, 60))])
def test_the_stated_rank_holds(stays):
    """In at least 95 of 100 releases a quantile is within the rank stated for any values; error 1e-6."""
    from scipy.stats import binom

    asked, data = request({"value": "stay"}), np.round(np.array(stays) * 2) / 2
    runs, held = 150, np.zeros(3)
    for seed in range(runs):
        frame = first(released("statistics.quantiles", asked, table(stay=data), seed=seed))
        share, limit = frame["quantile"].map(Fraction).astype(float), frame["within_95_rank_any"]
        up_to, below = (
            (compare(data[:, None], frame["value"].to_numpy())).sum(0) for compare in (np.less_equal, np.less)
        )
        held += (up_to >= share * len(data) - limit) & (below <= share * len(data) + limit)
    assert (held >= binom.ppf(1e-6, runs, 0.95)).all()


def test_the_forecast_is_in_people_and_can_be_read_backwards():
    asked = request({"value": "stay", "quantiles": ["1/2"]}, epsilon=Fraction(1, 2))
    errors = method("statistics.quantiles")(asked).forecast.errors
    assert {error.unit for error in errors} == {counted_unit(asked)}
    assert [error.size for error in errors] == [5, 20, 100, 1000, None]
    found = epsilon_for_error(method("statistics.quantiles")(asked), size=20, limit=3)
    again = replace(asked, budget=replace(asked.budget, epsilon=found))
    assert next(e.limit for e in method("statistics.quantiles")(again).forecast.errors if e.size == 20) <= 3


def test_spread_evenly():
    assert spread_evenly(4, 8).tolist() == [0, 1, 0, 1, 0, 1, 0, 1]
    assert spread_evenly(10, 3).sum() == 10
