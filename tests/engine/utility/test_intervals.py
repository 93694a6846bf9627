"""Estimates and their intervals: against statsmodels-free algebra, by hand and at their limits."""

import numpy as np
import pytest

from engine.utility.intervals import Analysis, Cells, estimate_with_variances, intervals, overlap, questions


def table(rows=400, seed=1):
    chance = np.random.default_rng(seed)
    ward, sex = chance.integers(0, 3, rows), chance.integers(0, 2, rows)
    age = chance.normal(50, 10, rows)
    cost = 3 * age + 10 * (ward == 1) + chance.normal(0, 5, rows)
    return Cells({"age": age, "cost": cost}, {"ward": ward, "sex": sex})


def test_estimates_agree_with_plain_sums():
    cells = table()
    asked = questions(cells, ["cost", "sex"], ["ward"])
    found = dict(zip(asked, estimate_with_variances(cells, asked), strict=True))
    kinds = {one.analysis for one in asked}
    assert kinds == set(Analysis)
    for one, (estimate, variance) in found.items():
        values = cells.outcome(one.column, one.level)
        if one.analysis is Analysis.COEFFICIENT:
            continue
        if one.within is not None:
            values = values[cells.names[one.within[0]] == one.within[1]]
        assert estimate == pytest.approx(values.mean())
        if one.level is None:
            assert variance == pytest.approx(values.var(ddof=1) / len(values))


def test_coefficients_agree_with_least_squares():
    cells = table()
    asked = [one for one in questions(cells, ["cost"], []) if one.analysis is Analysis.COEFFICIENT]
    found = estimate_with_variances(cells, asked)
    columns = [cells.outcome(name, None if value < 0 else value) for name, value in (o.within for o in asked)]
    x = np.column_stack([np.ones(cells.rows), *columns])
    expected, residual, *_ = np.linalg.lstsq(x, cells.amounts["cost"], rcond=None)
    variances = np.diag(np.linalg.inv(x.T @ x)) * residual[0] / (cells.rows - x.shape[1])
    assert found[:, 0] == pytest.approx(expected[1:]) and found[:, 1] == pytest.approx(variances[1:])


def test_a_table_without_a_value_cannot_tell_its_coefficient():
    cells = table()
    asked = questions(cells, ["cost"], ["ward"])
    lacking = cells.taken(np.flatnonzero(cells.names["ward"] != cells.names["ward"][0]))
    kept = overlap(
        intervals(estimate_with_variances(cells, asked)), intervals(estimate_with_variances(lacking, asked))
    )
    gone = int(cells.names["ward"][0])
    groups = [place for place, one in enumerate(asked) if one.analysis is Analysis.GROUP]
    assert all(kept[place] == 0 for place in groups if asked[place].within == ("ward", gone))
    assert all(kept[place] == 1 for place in groups if asked[place].within != ("ward", gone))


def test_overlap_by_hand():
    one = np.array([[0.0, 2.0], [0.0, 4.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0], [0.0, 1.0]])
    other = np.array([[0.0, 2.0], [1.0, 3.0], [1.5, 2.0], [1.0, 1.0], [2.0, 2.0], [np.nan, np.nan]])
    assert overlap(one, other).tolist() == [1.0, 0.75, 0.0, 1.0, 0.0, 0.0]


def test_groups_are_the_smallest_that_are_large_enough():
    ward = np.repeat([0, 1, 2], [19, 20, 61])
    cells = Cells({"age": np.arange(100.0)}, {"ward": ward})
    groups = [one for one in questions(cells, ["age"], ["ward"]) if one.analysis is Analysis.GROUP]
    assert [(one.within, one.rows) for one in groups] == [(("ward", 1), 20), (("ward", 2), 61)]


def test_the_share_of_none_is_not_known_for_certain():
    cells = Cells({}, {"ward": np.repeat([0, 1], 30), "ill": np.repeat([0, 1], 30)})
    asked = questions(cells, ["ill"], ["ward"])
    assert (estimate_with_variances(cells, asked)[:, 1] > 0).all()
