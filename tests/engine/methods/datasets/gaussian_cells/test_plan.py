"""The budget for groups of rows: what one row moves, by trying every row of a grid; public numbers alone."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from engine.methods.datasets.gaussian_cells.counted import Rows, grid_counts, group_sums
from engine.methods.datasets.gaussian_cells.plan import (
    CELLS,
    PLACES,
    SPREAD,
    TELLS,
    Plan,
    numbers_of,
    relation_off,
)
from engine.methods.shared.grid_centres import PER_SIDE

SMALL = Fraction(1, 10**6)
PLAN = Plan(4, 1, None, Fraction(1), Fraction(0), 1, False, 100_000, 50)


def some_rows(lines, missing=None):
    steps = np.array(lines, dtype=np.int64)
    missing = np.zeros(steps.shape, bool) if missing is None else np.array(missing, bool)
    return Rows(np.where(missing, 0, steps), missing, np.zeros(len(steps), np.int64))


def query(plan, name):
    return next(one for one in plan.division.queries if one.name == name)


def all_rows(columns):
    """Every row of a grid of three points in each column, or missing there."""
    line = [-PER_SIDE, PER_SIDE // 2, PER_SIDE, None]
    for values in product(line, repeat=columns):
        yield some_rows([[value or 0 for value in values]], [[value is None for value in values]])


def moved(plan, sets, row, other=None):
    """Return by how much the sums of all sets differ with one row, and another one away."""
    vectors = []
    for columns in sets:
        centres = np.array([[-PER_SIDE] * len(columns), [PER_SIDE] * len(columns)])
        sums = group_sums(row, columns, centres, classes=plan.classes)
        if other is not None:
            sums = sums - group_sums(other, columns, centres, classes=plan.classes)
        vectors.append(sums.ravel())
    return np.concatenate(vectors)


@pytest.mark.parametrize("sets", [((0,),), ((0, 1),), ((0, 1), (2,)), ((0,), (1,), (2,))])
def test_no_row_moves_sums_further_than_is_claimed_and_some_as_far(sets):
    plan = replace(PLAN, columns=sum(map(len, sets)), declared=sets)
    claim = query(plan, CELLS)
    vectors = [moved(plan, sets, row) for row in all_rows(plan.columns)]
    assert max(np.abs(one).sum() for one in vectors) == claim.ones
    assert max((one.astype(object) ** 2).sum() for one in vectors) == claim.squared


@pytest.mark.parametrize("sets", [((0,),), ((0, 1),), ((0,), (1,))])
def test_no_exchange_moves_sums_further_than_is_claimed_and_some_as_far(sets):
    plan = replace(PLAN, columns=sum(map(len, sets)), declared=sets, replace_one=True)
    claim, rows = query(plan, CELLS), list(all_rows(plan.columns))
    vectors = [moved(plan, sets, one, other) for one in rows for other in rows]
    assert max(np.abs(one).sum() for one in vectors) == claim.ones
    assert max((one.astype(object) ** 2).sum() for one in vectors) == claim.squared


def test_the_rows_of_a_person_move_sums_as_often_as_there_may_be_of_them():
    one, three = (query(replace(PLAN, rows_per_person=cap), CELLS) for cap in (1, 3))
    assert three.ones == 3 * one.ones and three.squared == 9 * one.squared
    row = some_rows([[PER_SIDE] * 4] * 3)
    plan = replace(PLAN, declared=((0, 1), (2, 3)), rows_per_person=3)
    assert np.abs(moved(plan, plan.declared, row)).sum() == query(plan, CELLS).ones


def test_sums_are_those_of_the_definition():
    chance = np.random.default_rng(3)
    steps, missing = chance.integers(-PER_SIDE, PER_SIDE + 1, (200, 2)), chance.random((200, 2)) < 0.1
    rows = some_rows(steps, missing)
    rows = Rows(rows.steps, rows.missing, chance.integers(0, 2, 200))
    centres = np.array([[-500, 0], [500, 0]])
    found = group_sums(rows, (0, 1), centres, classes=2) / PER_SIDE**2
    values = rows.steps / PER_SIDE
    for label, at in product(range(2), range(2)):
        near = np.abs(rows.steps - centres[at]).astype(float) ** 2
        away = np.abs(rows.steps - centres[1 - at]).astype(float) ** 2
        first = near.sum(axis=1) <= away.sum(axis=1) if at == 0 else near.sum(axis=1) < away.sum(axis=1)
        own = first & (rows.classes == label)
        x, y = values[own].T
        by_hand = [own.sum(), *rows.missing[own].sum(axis=0), x.sum(), y.sum(), x @ x, x @ y, y @ y]
        assert found[label * 2 + at] == pytest.approx(by_hand, abs=1e-9)


@pytest.mark.parametrize("delta", [Fraction(0), SMALL])
@pytest.mark.parametrize("columns", [1, 2, 7, 12, 40])
def test_columns_are_together_as_long_as_noise_leaves_their_relations(columns, delta):
    """Of columns of the usual spread, noise moves a correlation by that of one product and two sums."""
    plans = [replace(PLAN, columns=columns, delta=delta, about_rows=10**power) for power in range(1, 9)]
    related = [plan.is_related for plan in plans]
    assert related == sorted(related) and related[-1] == (columns > 1)
    for plan in plans:
        if plan.is_related and plan.groups == 1:
            off = plan.deviation(CELLS) / plan.about_rows
            assert relation_off(off) <= TELLS
            assert relation_off(off) == pytest.approx(off * (1 + SPREAD**2) ** 0.5 / SPREAD**2)


@pytest.mark.parametrize("columns", [1, 4, 7, 30])
def test_without_delta_one_group_gets_whichever_noise_is_less(columns):
    plan = replace(PLAN, columns=columns, declared=(tuple(range(columns)),), about_rows=500)
    (asked,) = plan.division.queries
    assert asked.together == numbers_of(columns)
    laplace = 2**0.5 * asked.ones / PER_SIDE**2
    assert plan.deviation(CELLS) <= laplace * (1 + 1e-6)
    assert (plan.deviation(CELLS) < 0.9 * laplace) == (columns > 1)


def test_groups_are_only_where_their_noise_is_small_beside_usual_spreads():
    for rows in (10**3, 10**4, 10**5, 10**6):
        plan = replace(PLAN, about_rows=rows)
        if plan.groups > 1:
            assert plan.deviation(CELLS) * plan.groups / rows < 1 / 300
    assert replace(PLAN, columns=7, about_rows=10**8).groups == 1  # of a grid in seven columns little is left


def test_a_row_is_in_one_cell_of_the_grid_of_every_set():
    rows = some_rows([[PER_SIDE, -PER_SIDE], [0, 0]])
    assert grid_counts(rows, (0, 1), per_side=3).tolist() == [0, 0, 0, 0, 1, 0, 1, 0, 0]


@pytest.mark.parametrize("delta", [Fraction(0), SMALL])
@pytest.mark.parametrize("declared", [None, ((0, 1, 2, 3),)])
@pytest.mark.parametrize("rows", [20, 10**6])
def test_everything_together_costs_what_was_given(delta, declared, rows):
    plan = replace(PLAN, delta=delta, declared=declared, about_rows=rows)
    asked = [one.name for one in plan.division.queries]
    assert asked == [PLACES] * (rows > 20) + [CELLS]
    assert sum(one.share for one in plan.division.queries) == pytest.approx(1)
    if not delta:
        assert 1 - 1e-4 < plan.event.epsilon() <= 1  # scales are rounded up to whole 1024ths


def test_groups_follow_from_public_numbers():
    groups = [replace(PLAN, about_rows=rows).groups for rows in (100, 10_000, 30_000, 10**6)]
    assert groups == sorted(groups) and groups[0] == 1 and groups[-1] == 10
    assert replace(PLAN, about_rows=10**6, group_rows=2 * 10**5).groups == 5
    assert replace(PLAN, about_rows=10**6, group_rows=10**5, classes=4).groups == 5  # two declared classes
