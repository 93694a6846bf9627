"""Frequent single values: found in numbers with noise alone, paid for, and cells of their own."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from engine.methods.datasets.marginal_model.fitting import Measured
from engine.methods.datasets.marginal_model.frequent import (
    MOST_FREQUENT,
    FrequentApart,
    as_apart,
    frequent,
    most_sizes,
    with_frequent,
)
from engine.methods.datasets.marginal_model.rounds import value_table
from engine.methods.datasets.marginal_model.schedule import FREQUENT, MOST_FOR_FREQUENT, Schedule
from engine.methods.shared.column_cells import Named, cells_of
from engine.table.schema import Column, Domain, Kind
from tests.noise_source import seeded_noise

NAMES = Named(Column("y", kind=Kind.CATEGORY, domain=Domain(values=("a", "b"))))


def number(low, high, step=None, kind=Kind.INTEGER):
    domain = Domain(
        minimum=Fraction(low), maximum=Fraction(high), step=None if step is None else Fraction(step)
    )
    return Column("x", kind=kind, domain=domain)


def apart(column, *found, bins=4):
    cells = as_apart(cells_of(column, bins=bins))
    assert isinstance(cells, FrequentApart)
    return FrequentApart(cells.column, cells.edges, found)


# --- what is searched, from declarations ----------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (number(0, 63), None),  # few values
        (number(0, 64), 65),
        (number(0, 199_999), 200_000),
        (number(0, 200_000), None),  # more than are counted one by one
        (number(0, 10, "1/10", Kind.NUMBER), 101),
        (number(0, 1000, None, Kind.NUMBER), None),  # nobody knows which values there are
        (Column("x", kind=Kind.DATE, domain=Domain(minimum="2020-01-01", maximum="2020-12-31")), None),
        (Column("x", kind=Kind.CATEGORY, domain=Domain(values=tuple(map(str, range(99))))), None),
    ],
)
def test_numbers_with_many_declared_values_are_searched(column, values):
    cells = as_apart(cells_of(column, bins=16))
    assert isinstance(cells, FrequentApart) == (values is not None)
    if values is not None:
        assert cells.fine == values + 1 and len(cells.intervals) == values
        assert cells.size == cells_of(column, bins=16).size  # until something is found
        assert most_sizes([NAMES, cells]) == (4, cells.size + MOST_FREQUENT)


# --- cells ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "steps"),
    [
        (number(0, 99), (0, 1, 50, 99)),
        (number(-30, 69), (-30, -29, -1, 0, 69)),
        (number(1, 100, "1/2", Kind.NUMBER), (0, 5, 198)),
        (number("1/10", 9, "1/10", Kind.NUMBER), (0, 3, 89)),
        (number(0, 99), tuple(range(8))),
    ],
)
def test_every_declared_value_has_one_cell_and_comes_back_in_it(column, steps):
    cells = apart(column, *steps)
    plain = cells_of(column, bins=4)
    first, last = plain.spans[0][0], plain.spans[-1][1]
    values = [float(plain.start + step * plain.step) for step in range(first, last + 1)]
    codes = cells.codes(pd.Series(values))
    assert cells.size == plain.size + len(steps) <= cells.most_size
    assert cells.codes(pd.Series([np.nan])).tolist() == [cells.size - 1]
    own = [codes[step - first] for step in steps]
    assert len(set(own)) == len(own) and all((codes == code).sum() == 1 for code in own)
    others = np.setdiff1d(np.arange(first, last + 1), steps) - first
    intervals = plain.codes(pd.Series(values))
    assert (np.diff(codes[others]) >= 0).all()  # the rest as without frequent values
    assert np.array_equal(np.unique(codes[others], return_inverse=True)[1], intervals[others])
    for place in np.linspace(0, 1 - 2**-53, 41):
        written = cells.written(np.arange(cells.size), np.full(cells.size, place))
        assert written[-1] == ""
        assert cells.codes(pd.to_numeric(pd.Series(written))).tolist() == list(range(cells.size))


def test_every_value_of_an_interval_but_the_frequent_ones_is_equally_likely():
    cells = apart(number(0, 99), 10, 3)
    uniform = (np.arange(2300) + 0.5) / 2300
    written = pd.Series(cells.written(np.zeros(2300, dtype=int), uniform)).value_counts()
    assert set(written.index) == {str(value) for value in range(25) if value not in (3, 10)}
    assert set(written) == {100}
    assert set(cells.written(np.array([1, 2]), np.array([0.3, 0.9]))) == {"3", "10"}


def test_whatever_the_rows_hold_they_have_a_value_and_a_cell():
    cells = apart(number(0, 99), 0, 40)
    values = pd.Series([np.nan, np.inf, -np.inf, 1e300, -1e300, 5e-324, 39.6, 1e6, -3])
    assert cells.fine_codes(values).tolist() == [100, 100, 100, 99, 0, 0, 40, 99, 0]  # infinite is missing
    assert cells.codes(values).tolist() == [6, 6, 6, 5, 1, 1, 3, 5, 1]
    tiny = apart(number(0, Fraction(1, 10**318), Fraction(1, 10**320), Kind.NUMBER))
    assert tiny.fine_codes(pd.Series([1e308, -1e308, 0.0])).tolist()[:2] == [100, 0]


# --- what is found --------------------------------------------------------------------------------


def test_what_stands_out_is_found_the_clearest_first_and_no_more_than_so_many():
    intervals = np.repeat(np.arange(4), 25)
    counts = np.full(100, 10.0)
    counts[[3, 4, 30, 99]] = 500, 900, 120, 111
    assert frequent(counts, intervals, least=100) == (4, 3, 30, 99)
    assert frequent(counts, intervals, least=101.5) == (4, 3, 30)
    assert frequent(counts, intervals, least=100, most=1) == (4,)
    assert frequent(np.full(100, 900.0), intervals, least=1) == ()  # many, but none stands out
    assert frequent(np.linspace(900, 300, 100), intervals, least=1) == ()  # a slope does not
    assert frequent(np.array([5000.0, 1.0]), np.arange(2), least=1) == ()  # alone in an interval already
    assert frequent(np.full(100, -50.0), intervals, least=1) == ()


def test_columns_are_found_one_by_one():
    cells = as_apart(cells_of(number(0, 99), bins=4))
    other = as_apart(cells_of(number(10, 109), bins=4))
    counts = np.zeros((2, 101))
    counts[0, 7], counts[1, 20], counts[:, 100] = 300, 300, 10_000  # what is missing has a cell already
    tables = {place: Measured((0,), (np.arange(101),), counts[place], 5.0) for place in (0, 1)}
    found = with_frequent((cells, NAMES, other), {0: tables[0], 2: tables[1]}, {0: 20, 2: 20}, rows=10_600)
    assert (found[0].found, found[2].found) == ((7,), (30,)) and isinstance(found[1], Named)
    assert found[2].codes(pd.Series([30, 31, 29])).tolist() == [1, 0, 0]


@pytest.mark.parametrize("delta", [0, Fraction(1, 10**6)])
def test_noise_alone_lifts_one_value_in_every_second_release(delta):
    """Of 1,000 values that nobody has, 400 times: mean ½, with an error of .035 (4 deviations)."""
    plan = Schedule((24, 4), Fraction(1), Fraction(delta), 1, 1, 10**6, frequent=1)
    noise, above = seeded_noise(3), 0
    for _ in range(400):
        counts = value_table(np.zeros(0, dtype=int), 1001, plan, noise).counts.ravel()[:1000]
        above += int((counts > plan.standing_out(1000)).sum())
    assert above / 400 == pytest.approx(0.5, abs=0.14)


# --- what it costs --------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [1, 3, 9])
@pytest.mark.parametrize("delta", [0, Fraction(1, 10**6)])
def test_tables_of_values_are_paid_for_with_everything_else(delta, columns):
    sizes = tuple(range(20, 30))
    plain = Schedule(sizes, Fraction(1), Fraction(delta), 1, 1, 100_000)
    searched = Schedule(sizes, Fraction(1), Fraction(delta), 1, 1, 100_000, frequent=columns)
    part = min(FREQUENT * columns, MOST_FOR_FREQUENT)
    assert searched.budget * float(1 + part) == pytest.approx(plain.budget)
    scale = float(searched.value)
    spent = columns * (1 / (2 * scale**2) if delta else 1 / scale)
    assert spent == pytest.approx(searched.budget * float(part), rel=1e-5)
    own = [leaf for leaf, _ in searched.events.leaves() if getattr(leaf, "scale", None) == searched.value]
    assert len(own) == 1 and own[0].count == columns


def test_cells_that_are_found_change_no_noise():
    plan = Schedule((24, 24, 9, 12), Fraction(1), Fraction(1, 10**9), 1, 1, 45_000, frequent=2).borne_out()
    found = plan.found((17, 20, 9, 12))
    assert found.events == plan.events and found.single == plan.single
    assert (found.pair, found.rate, found.value) == (plan.pair, plan.rate, plan.value)
    assert (found.rounds, found.most_cells, found.resolutions) == (
        plan.rounds,
        plan.most_cells,
        plan.resolutions,
    )
