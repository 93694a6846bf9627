"""How long making a table coarser takes, against one group-by of pandas over the same columns as strings.

CPU time in one run; complete rows of Adult, nine columns, k = 5. Placing values on ladders is not counted.
"""

import time
from itertools import product

import numpy as np
import pandas as pd
import pytest

from engine.methods.datasets.ascending import make_ascending_groups
from engine.methods.datasets.conditions import close, distinct, entropy
from engine.methods.datasets.full_domain import Lattice, search
from engine.methods.datasets.losses import Loss
from engine.methods.datasets.microaggregation import Space, mdav
from engine.methods.datasets.partition import mondrian
from engine.methods.datasets.recoding import Ladder, Members
from tests.engine.methods.datasets.adult import NINE, complete_rows, condition, placed
from tests.ratios import slack

pytestmark = pytest.mark.benchmark
LIMITS = [
    *((loss, 0, 15) for loss in Loss if loss is not Loss.TARGET),
    (Loss.CERTAINTY, 0.05, 35),
    (Loss.DISCERNIBILITY, 0.05, 75),
    (Loss.GROUP_SIZE, 0.05, 150),
]


def seconds(work, times=3):
    found = []
    for _ in range(times):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


@pytest.fixture(scope="module")
def bare():
    rows = complete_rows()
    return seconds(lambda: rows.groupby(list(NINE), sort=False).size(), times=9)


@pytest.mark.parametrize(("loss", "share", "limit"), LIMITS)
def test_the_exact_search(bare, loss, share, limit):
    codes, members, ladders, _ = placed()
    allowed = int(share * members.people)
    took = seconds(lambda: search(Lattice(codes, members, ladders, k=5, most_left_out=allowed, loss=loss)))
    print(f"{loss}, at most {share:.0%} left out: {took / bare:.1f} × a group-by (limit {limit})")
    assert took <= limit * bare * slack()


def test_the_whole_map_of_combinations(bare):
    """Every one of the 12,960 combinations: whom it leaves out, and what it loses."""
    codes, members, ladders, _ = placed()
    every = list(product(*map(range, Lattice(codes, members, ladders, k=5).shape)))

    def whole_map():
        lattice = Lattice(codes, members, ladders, k=5, most_left_out=1_508)
        assert sum(lattice.look(steps).holds for steps in every) == 5_184

    took = seconds(whole_map)
    print(f"{len(every)} combinations: {took / bare:.0f} × a group-by (limit 250)")
    assert took <= 250 * bare * slack()


def test_groups_by_ascending_loss(bare):
    codes, members, ladders, _ = placed()
    took = seconds(lambda: make_ascending_groups(codes, members, ladders, k=5))
    print(f"ascending: {took / bare:.1f} × a group-by (limit 60)")
    assert took <= 60 * bare * slack()


EIGHT = tuple(column for column in NINE if column != "occupation")
DEMANDS = {
    "distinct": lambda column: distinct(3),
    "entropy": lambda column: entropy(3),
    "close": lambda column: close(column, 0.2),
}


@pytest.mark.parametrize("share", [0, 0.05])
@pytest.mark.parametrize("name", DEMANDS)
def test_the_exact_search_with_a_condition(bare, name, share):
    codes, members, ladders, _ = placed(EIGHT)
    asked = [condition("occupation", DEMANDS[name], columns=EIGHT)]
    allowed = int(share * members.people)
    took = seconds(
        lambda: search(Lattice(codes, members, ladders, k=5, most_left_out=allowed, conditions=asked))
    )
    print(f"{name}, at most {share:.0%} left out: {took / bare:.1f} × a group-by (limit 35)")
    assert took <= 35 * bare * slack()


@pytest.mark.parametrize("k", [5, 50])
def test_cutting_a_million_people_from_the_top(k):
    """Against one sort of the same table by all six columns; distinct combinations are not counted."""
    chance = np.random.default_rng(0)
    sizes, people = (90, 2, 16, 7, 1000, 120), 1_000_000
    drawn = [np.abs(chance.normal(size=people)) / 3.5 * size for size in sizes]
    columns = [np.minimum(own.astype(np.int64), size - 1) for own, size in zip(drawn, sizes, strict=True)]
    frame = pd.DataFrame({str(place): column for place, column in enumerate(columns)})
    sort = seconds(lambda: frame.sort_values(list(frame.columns)))
    codes, number = np.unique(np.ravel_multi_index(columns, sizes), return_inverse=True)
    distinct = np.column_stack(np.unravel_index(codes, sizes))
    ladders = [Ladder.in_order([str(value) for value in range(size)]) for size in sizes]
    members = Members(number, np.arange(people))
    took = seconds(lambda: mondrian(distinct, members, ladders, k=k, ordered=[True] * 6), times=2)
    print(f"k = {k}: {took / sort:.1f} × one sort (limit 8)")
    assert took <= 8 * sort * slack()


@pytest.mark.parametrize(("k", "limit"), [(5, 4.0), (3, 6.0)])
def test_groups_of_similar_people(k, limit):
    """45,000 × 5, in seconds of CPU time."""
    chance = np.random.default_rng(1)
    points = chance.normal(size=(5, 5)) @ chance.normal(size=(5, 45_000))
    took = seconds(lambda: mdav(Space(points), k=k), times=1)
    print(f"k = {k}: {took:.1f} s (limit {limit})")
    assert took <= limit * slack()
