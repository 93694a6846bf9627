"""How long making a table coarser takes, against one group-by of pandas over the same columns as strings.

CPU time in one run; complete rows of Adult, nine columns, k = 5. Placing values on ladders is not counted.
"""

import time

import pytest

from engine.methods.datasets.full_domain import Lattice, search
from engine.methods.datasets.losses import Loss
from tests.engine.methods.datasets.adult import NINE, complete_rows, placed

pytestmark = pytest.mark.benchmark
LIMITS = [
    *((loss, 0, 15) for loss in Loss),
    (Loss.CERTAINTY, 0.05, 35),
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
    assert took <= limit * bare
