"""Groups against pandas, and sizes where a missing value matches everything against comparing all pairs."""

import numpy as np
import pandas as pd
import pytest

from engine.errors import InputRefused
from engine.risk import combinations
from engine.risk.combinations import dense, number_combinations, order_of
from engine.risk.encoding import encode
from engine.risk.group_sizes import group_sizes
from engine.risk.groups import group_rows, matching_sizes
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table
from tests.engine.risk.tables import encoded


def random_rows(seed, rows=400, columns=4):
    made = np.random.default_rng(seed)
    frame = pd.DataFrame({f"c{i}": made.integers(0, made.integers(2, 9), rows) for i in range(columns)})
    return frame.astype(object).where(made.random(frame.shape) > 0.1, None)


@pytest.mark.parametrize("seed", range(6))
def test_against_pandas(seed):
    frame = random_rows(seed)
    found = group_rows(encoded(frame))
    expected = frame.groupby(list(frame), dropna=False)
    assert sorted(found.people) == sorted(expected.size())
    # the same rows together, not only as many
    assert pd.Series(found.number).groupby(expected.ngroup()).nunique().eq(1).all()


@pytest.mark.parametrize("seed", range(6))
def test_a_missing_value_that_matches_everything(seed):
    frame = random_rows(seed, rows=120)
    rows = frame.to_numpy()
    missing = frame.isna().to_numpy()
    agree = (rows[:, None] == rows[None]) | missing[:, None] | missing[None]
    assert matching_sizes(encoded(frame)).tolist() == agree.all(axis=2).sum(axis=1).tolist()


def test_matching_is_never_less_than_the_group():
    table = encoded(random_rows(9))
    groups = group_rows(table)
    assert (matching_sizes(table) >= groups.people[groups.number]).all()


@pytest.mark.parametrize("seed", range(4))
def test_people_with_several_rows_are_counted_once(seed):
    made = np.random.default_rng(seed)
    frame = random_rows(seed, rows=200, columns=2).assign(person=made.integers(0, 90, 200))
    schema = Schema(
        (Column("c0", Role.IDENTIFYING), Column("c1", Role.IDENTIFYING), Column("person", Role.PERSON_KEY))
    )
    found = group_rows(encode(Table(frame), schema))
    older = group_sizes(Table(frame), schema)
    assert (found.count, found.alone, found.distribution) == (older.groups, older.alone, older.sizes)
    assert found.rows.sum() == 200 and found.people.sum() == frame["person"].nunique()
    with pytest.raises(InputRefused, match=r"risk\.matches_needs_one_row"):
        matching_sizes(encode(Table(frame), schema))


def test_weights_add_up_by_group():
    frame = pd.DataFrame({"age": [1, 1, 2], "w": [2.5, 4, 10]})
    table = encode(Table(frame), Schema((Column("age", Role.IDENTIFYING), Column("w", Role.WEIGHT))))
    assert group_rows(table).sums(table.weights).tolist() == [6.5, 10.0]
    for bad in (0, -1, None, "much"):
        with pytest.raises(InputRefused, match=r"risk\.weights"):
            encode(Table(frame.assign(w=[1, 2, bad])), Schema((Column("w", Role.WEIGHT),)))


@pytest.mark.parametrize("count", [0, 1, 1000])
def test_few_numbers_are_ordered_as_many_are(monkeypatch, count):
    numbers = np.random.default_rng(count).integers(0, 40, count)
    sorted_ones = order_of(numbers)
    monkeypatch.setattr(combinations, "FEW", -1)
    counted = order_of(numbers)
    assert sorted_ones.tolist() == counted.tolist() == sorted(range(count), key=numbers.tolist().__getitem__)
    assert sorted_ones.dtype == counted.dtype


def test_more_combinations_than_a_number_holds():
    made = np.random.default_rng(1)
    frame = pd.DataFrame({f"c{i}": made.permutation(200) % 150 for i in range(12)})
    table = encoded(frame)
    assert group_rows(table).count == len(frame.drop_duplicates())


def test_odd_tables():
    assert group_rows(encoded({"a": []})).smallest == 0
    assert group_rows(encoded({"a": [None, None]})).people.tolist() == [2]
    with pytest.raises(InputRefused, match=r"risk\.nothing_identifying"):
        group_rows(encoded({"a": [1]}, identifying=()))
    assert number_combinations([], [], 3)[0].tolist() == [0, 0, 0]
    assert dense(np.array([5, 5, 9]), 1 << 40)[0].tolist() == [0, 0, 1]


def test_declared_missing_codes_and_blanks_are_missing():
    column = Column("sex", Role.IDENTIFYING, Kind.CATEGORY, missing=("?", "9"))
    table = encode(Table(pd.DataFrame({"sex": ["f", "?", " ", "9", "m", None]})), Schema((column,)))
    found = table.columns["sex"]
    assert [found.values[code] for code in found.codes] == ["f", None, None, None, "m", None]
    number = Column("age", Role.IDENTIFYING, Kind.INTEGER, missing=("-9",))
    found = encode(Table(pd.DataFrame({"age": [41, -9, 7]})), Schema((number,))).columns["age"]
    assert [found.values[code] for code in found.codes] == [41, None, 7]


def test_a_column_that_is_not_there():
    with pytest.raises(InputRefused, match=r"table\.no_such_column"):
        encode(Table(pd.DataFrame({"a": [1]})), Schema((Column("b", Role.IDENTIFYING),)))
