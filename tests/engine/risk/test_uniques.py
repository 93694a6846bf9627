"""Sets of columns against pandas, and the smallest that single somebody out against trying all."""

import itertools
import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from engine.errors import InputRefused
from engine.risk.encoding import encode
from engine.risk.uniques import column_sets, largest_size, minimal_uniques, set_score
from engine.table.schema import Column, Role, Schema
from engine.table.table import Table
from tests.engine.risk.tables import encoded


def random_rows(seed, rows=300, columns=5):
    made = np.random.default_rng(seed)
    widths = made.integers(2, 40, columns)
    return pd.DataFrame({f"c{i}": made.geometric(3 / width, rows) % width for i, width in enumerate(widths)})


def tried(frame, largest, people=None):
    """Minimal sets of every row by trying all sets; singled out where nobody else has the values."""
    people = np.arange(len(frame)) if people is None else people
    found = [[] for _ in range(len(frame))]
    for size in range(1, largest + 1):
        for chosen in combinations(range(frame.shape[1]), size):
            keys = frame.iloc[:, list(chosen)].apply(tuple, axis=1)
            owners = pd.Series(people).groupby(keys.to_numpy()).transform("nunique")
            for row in np.flatnonzero(owners == 1):
                if not any(set(one) < set(chosen) for one in found[row]):
                    found[row].append(chosen)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_against_trying_all_sets(seed):
    frame = random_rows(seed)
    found = minimal_uniques(encoded(frame))
    expected = tried(frame, 4)
    assert found.by_size == {
        size: sum(len(one) == size for row in expected for one in row) for size in (1, 2, 3, 4)
    }
    assert found.score.tolist() == [sum(set_score(len(one), 5, 4) for one in row) for row in expected]
    assert found.smallest.tolist() == [min((len(one) for one in row), default=0) for row in expected]
    for row in range(0, 300, 37):
        named = [tuple(frame.columns[list(one)]) for one in expected[row]]
        assert sorted(found.sets_of(row)) == sorted(named)
    total = found.score.sum()
    for place, name in enumerate(frame):
        part = sum(set_score(len(one), 5, 4) for row in expected for one in row if place in one)
        assert found.contribution[name] == pytest.approx(part / total)


@pytest.mark.parametrize("seed", range(3))
def test_somebody_with_several_rows_is_compared_with_others(seed):
    made = np.random.default_rng(seed)
    frame = random_rows(seed, rows=150, columns=3)
    people = made.integers(0, 60, 150)
    schema = Schema((*(Column(name, Role.IDENTIFYING) for name in frame), Column("p", Role.PERSON_KEY)))
    found = minimal_uniques(encode(Table(frame.assign(p=people)), schema))
    expected = tried(frame, 3, people)
    assert found.by_size == {
        size: sum(len(one) == size for row in expected for one in row) for size in (1, 2, 3)
    }


def test_wide_columns_agree_with_narrow_ones():
    """Far more combinations than rows: keys are sorted instead of counted."""
    made = np.random.default_rng(2)
    frame = pd.DataFrame({f"c{i}": made.integers(0, 900, 1000) * 10**9 for i in range(4)})
    found, expected = minimal_uniques(encoded(frame)), tried(frame, 4)
    assert found.by_size == {
        size: sum(len(one) == size for row in expected for one in row) for size in (1, 2, 3, 4)
    }


@pytest.mark.parametrize("seed", range(3))
def test_distinction_and_separation_against_pandas(seed):
    frame = random_rows(seed)
    found = column_sets(encoded(frame))
    assert len(found) == sum(math.comb(5, size) for size in (1, 2, 3, 4))
    in_order = [chosen for size in (1, 2, 3, 4) for chosen in itertools.combinations(frame, size)]
    assert [one.columns for one in found] == in_order
    for one in found:
        sizes = frame.groupby(list(one.columns)).size()
        assert (one.groups, one.alone) == (len(sizes), int((sizes == 1).sum()))
        assert one.distinction == len(sizes) / 300
        same = sum(math.comb(int(size), 2) for size in sizes)
        assert one.separation == pytest.approx(1 - same / math.comb(300, 2))


def test_a_column_that_alone_tells_everybody_apart():
    frame = random_rows(1).assign(key=range(300))
    found = minimal_uniques(encoded(frame))
    assert found.by_set[("key",)] == 300 and (found.smallest == 1).all()
    # nothing that contains it is minimal
    assert all("key" not in chosen for chosen in found.by_set if len(chosen) > 1)


def test_one_repeated_row_singles_nobody_out():
    found = minimal_uniques(encoded(pd.DataFrame({"a": [1] * 50, "b": ["x"] * 50})))
    assert found.by_size == {1: 0, 2: 0} and found.contribution == {"a": 0.0, "b": 0.0}
    assert found.sets_of(0) == ()


def test_too_many_sets():
    frame = pd.DataFrame({f"c{i}": [1, 2] for i in range(60)})
    with pytest.raises(InputRefused, match=r"risk\.too_many_sets"):
        minimal_uniques(encoded(frame))
    assert minimal_uniques(encoded(frame), largest=2).by_size[1] == 120


@pytest.mark.parametrize(
    ("columns", "rows", "size"), [(8, 10**6, 4), (10, 10**6, 4), (30, 10**6, 2), (100, 5000, 2)]
)
def test_sets_are_smaller_where_the_work_would_take_minutes(columns, rows, size):
    assert largest_size(columns, rows) == size
