"""The grid: every record on its own, never falling, whatever it holds; sums that cannot wrap."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import texts
from engine.errors import InputRefused
from engine.privacy.fixed_point import grid_bounds, grouped_sum, to_grid
from tests.examples import many

ANY_FLOAT = st.one_of(
    st.floats(),
    st.floats(-20, 20),
    st.integers(-(10**6), 10**6).map(lambda k: k / 10),
    st.sampled_from([math.nan, math.inf, -math.inf, -0.0, 5e-324, -5e-324, 1e308, 2.0**53 + 2]),
)
GRIDS = st.sampled_from(
    [
        {"minimum": 0, "maximum": 14, "step": 1},
        {"minimum": -1, "maximum": 1, "step": Fraction(1, 10)},
        {"minimum": Fraction(-7, 3), "maximum": Fraction(22, 7), "step": Fraction(1, 3)},
        {"minimum": 100, "maximum": 10**6, "step": 25},
        {"minimum": 0, "maximum": 1, "step": Fraction(1, 2**51)},
        {"minimum": -(10**40), "maximum": 10**40, "step": 10**30},
    ]
)


def test_by_hand():
    values = [0.1, 0.3, 0.7, -0.0, 5.0, -5.0, math.nan, math.inf, -math.inf]
    grid, missing = to_grid(values, minimum=-1, maximum=1, step=Fraction(1, 10))
    assert grid.tolist() == [1, 3, 7, 0, 10, -10, 0, 0, 0]
    assert missing.tolist() == [False] * 6 + [True] * 3


@pytest.mark.parametrize("tenths", range(-100, 101))
def test_decimals_land_on_the_step_they_are_written_as(tenths):
    written = float(f"{tenths / 10:.1f}")
    assert to_grid([written], minimum=-10, maximum=10, step=Fraction(1, 10))[0][0] == tenths


def test_bounds_that_are_not_on_the_grid_are_moved_inwards():
    bounds = {"minimum": Fraction(1, 4), "maximum": Fraction(29, 4), "step": 1}
    assert grid_bounds(**bounds) == (1, 7)
    assert to_grid([0, 100], **bounds)[0].tolist() == [1, 7]


@pytest.mark.parametrize(("value", "steps"), [(None, 0), (3, 3), (-9, 1), (999, 8), (Fraction(29, 10), 3)])
def test_the_missing_get_the_declared_value(value, steps):
    grid, missing = to_grid([math.nan, 2.0], minimum=1, maximum=8, step=1, missing_value=value)
    assert grid.tolist() == [steps, 2] and missing.tolist() == [True, False]


@settings(max_examples=many(300), deadline=None, derandomize=True)
@given(GRIDS, st.lists(ANY_FLOAT, max_size=30))
def test_never_leaves_the_bounds_and_never_refuses_a_record(grid, values):
    steps, missing = to_grid(np.array(values, dtype=np.float64), **grid)
    low, high = grid_bounds(**grid)
    assert steps.dtype == np.int64
    assert all(low <= k <= high for k in steps[~missing].tolist())
    assert missing.tolist() == [not math.isfinite(value) for value in values]


@settings(max_examples=many(300), deadline=None, derandomize=True)
@given(GRIDS, st.lists(ANY_FLOAT.filter(math.isfinite), min_size=2, max_size=30))
def test_never_falls_where_the_value_rises(grid, values):
    steps, _ = to_grid(np.array(sorted(values)), **grid)
    assert (np.diff(steps) >= 0).all()


@settings(max_examples=many(300), deadline=None, derandomize=True)
@given(GRIDS, st.lists(ANY_FLOAT, min_size=1, max_size=40), st.data())
def test_a_record_does_not_depend_on_its_company(grid, values, data):
    place = data.draw(st.integers(0, len(values) - 1))
    together, _ = to_grid(np.array(values), **grid)
    assert to_grid(np.array([values[place]]), **grid)[0][0] == together[place]


@settings(max_examples=many(200), deadline=None, derandomize=True)
@given(GRIDS, st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=20))
def test_integers_count_the_same_beside_a_missing_cell(grid, values):
    """A reader makes the whole column float when one cell is missing: the others must not move."""
    as_integers, _ = to_grid(np.array(values, dtype=np.int64), **grid)
    with_missing, missing = to_grid(pd.Series([*values, None], dtype="float64"), **grid)
    assert as_integers.tolist() == with_missing[:-1].tolist() and missing[-1]
    as_objects, _ = to_grid([*values, None], **grid)
    assert as_integers.tolist() == as_objects[:-1].tolist()


@settings(max_examples=many(200), deadline=None, derandomize=True)
@given(GRIDS, st.floats(-(10**7), 10**7))
def test_is_the_nearest_step(grid, value):
    low, high = grid_bounds(**grid)
    steps = int(to_grid([value], **grid)[0][0])
    best = min(max(round(Fraction(value) / grid["step"]), low), high)
    distance, least = (abs(Fraction(value) - k * grid["step"]) for k in (steps, best))
    assert distance <= least * (1 + Fraction(1, 2**40)) + abs(Fraction(value)) / 2**50


def test_two_to_the_53_plus_1_counts_as_its_double_in_every_storage():
    value = 2**53 + 1
    for column in (np.array([value]), np.array([value], dtype=object), [Decimal(value)], [Fraction(value)]):
        assert to_grid(column, minimum=0, maximum=2**54 - 4, step=4)[0][0] == 2**51


def test_odd_objects_are_missing_and_huge_whole_numbers_are_clamped():
    values = [
        None,
        pd.NA,
        "12",
        b"12",
        pd.NaT,
        10**400,
        -(10**400),
        True,
        Decimal("2.5"),
        Decimal("NaN"),
        [1],
    ]
    grid, missing = to_grid(np.array(values, dtype=object), minimum=-9, maximum=9, step=Fraction(1, 2))
    assert missing.tolist() == [True] * 5 + [False] * 4 + [True] * 2
    assert grid.tolist() == [0] * 5 + [18, -18, 2, 5] + [0] * 2


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "int8", "uint64", "float32", "bool", "Float32"])
def test_columns_of_pandas(dtype):
    column = pd.Series([0, 1, 1], dtype=dtype)
    assert to_grid(column, minimum=0, maximum=1, step=1)[0].tolist() == [0, 1, 1]
    if dtype[0].isupper():
        column[1] = pd.NA
        assert to_grid(column, minimum=0, maximum=1, step=1)[1].tolist() == [False, True, False]


@pytest.mark.parametrize("values", [[], np.array([]), pd.Series(dtype="float64"), pd.Series(dtype="object")])
def test_an_empty_column(values):
    grid, missing = to_grid(values, minimum=0, maximum=1, step=1)
    assert grid.shape == missing.shape == (0,)
    assert grouped_sum(grid, np.array([], dtype=int), 3).tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("minimum", "maximum", "step", "code"),
    [
        (1, 1, 1, "bounds"),
        (2, 1, 1, "bounds"),
        (0.0, 1, 1, "bounds"),
        (0, math.inf, 1, "bounds"),
        (0, 1, math.nan, "bounds"),
        (0, 1, 0, "step"),
        (0, 1, -1, "step"),
        (Fraction(1, 4), Fraction(3, 4), 1, "step"),
        (0, 1, Fraction(1, 2**52), "step"),
        (0, 1, Fraction(1, 10**400), "step"),
        (0, 10**400, 10**390, "step"),
    ],
)
def test_refuses_on_the_declaration_only(minimum, maximum, step, code):
    with pytest.raises(InputRefused) as caught:
        to_grid([0.5], minimum=minimum, maximum=maximum, step=step)
    assert caught.value.code == f"noise.{code}"
    assert all(texts.explain(caught.value))


def test_refuses_a_rounded_stand_in():
    with pytest.raises(InputRefused):
        to_grid([0.5], minimum=0, maximum=1, step=1, missing_value=0.1)


def test_sums_by_group_by_hand():
    sums = grouped_sum(np.array([1, -2, 4, 8, 100]), np.array([2, 0, 2, 0, -1]), 4)
    assert sums.tolist() == [6, 0, 5, 0] and sums.dtype == np.int64


def test_sums_that_could_wrap_are_python_integers():
    grid = np.array([2**61, 2**61, 2**61, -(2**61), 2**61])
    sums = grouped_sum(grid, np.zeros(5, dtype=int), 1)
    assert sums.dtype == object and sums[0] == 3 * 2**61


@settings(max_examples=many(100), deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.integers(-(2**62), 2**62), st.integers(-1, 4)), max_size=40), st.randoms())
def test_sums_are_exact_in_any_order(records, order):
    expected = [sum(value for value, group in records if group == wanted) for wanted in range(5)]
    order.shuffle(records)
    grid = np.array([value for value, _ in records], dtype=np.int64)
    codes = np.array([group for _, group in records], dtype=np.int64)
    assert grouped_sum(grid, codes, 5).tolist() == expected


def test_a_group_that_was_not_declared_is_a_mistake_of_the_developer():
    with pytest.raises(ValueError, match="declared"):
        grouped_sum(np.array([1]), np.array([3]), 3)
    with pytest.raises(ValueError, match="each record"):
        grouped_sum(np.array([1]), np.array([0, 1]), 3)
