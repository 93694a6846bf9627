"""What a further million rows adds to a whole run, beside pandas reading and grouping the same file.

A whole run: reading with all checks, the ledger, a cap of one row a person, counts, measures, bundle and
reports, for a table with a person key and six columns. Each figure is of a process of its own; what three
million rows take beyond one million is compared, so that what every process does once counts on neither side.
Processor time, the least of several rounds in turns: other work only ever adds to it.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.benchmarks.growth import measured, written
from tests.ratios import slack

pytestmark = [pytest.mark.benchmark, pytest.mark.slow]
SMALL, LARGE = 1_000_000, 3_000_000
MOST_TIMES, MOST_MEGABYTES = 6, 200
ROUNDS = 4
MORE = 4  # columns that nobody uses
TIMES_ON_DISK, MEGABYTES_ON_DISK = 8, 30


def test_parquet_is_not_slower_than_csv(tmp_path):
    """With columns of numbers beside those that the plan uses; a whole run, more than a small one takes."""
    files = [f"people.{ending}" for ending in ("csv", "parquet")]
    paths = {
        name: [written(rows, tmp_path / f"{rows}{name}", MORE) for rows in (1000, SMALL)] for name in files
    }
    least = np.full((2, 2, 2), np.inf)
    for _ in range(ROUNDS):
        least = np.minimum(least, [[measured("a whole run", path) for path in paths[name]] for name in files])
        (csv, parquet), (csv_most, parquet_most) = (least[:, 1] - least[:, 0]).T
        ratio, memory = parquet / csv, parquet_most / csv_most
        print(f"\nParquet against CSV: {ratio:.2f} of its time, {memory:.2f} of its memory")
        if ratio <= 1 and memory <= 1:
            break
    assert 0 < ratio <= slack()
    assert 0 < memory <= slack()


@pytest.mark.parametrize(
    ("task", "most_times", "most_megabytes"),
    [("a whole run", MOST_TIMES, MOST_MEGABYTES), ("on the disk", TIMES_ON_DISK, MEGABYTES_ON_DISK)],
)
def test_a_further_million_rows_against_pandas(task, most_times, most_megabytes, tmp_path):
    """On the disk memory does not grow with the rows, but for the ledger's digests of people."""
    paths = [written(rows, tmp_path / f"people{rows}.csv") for rows in (SMALL, LARGE)]
    least = {name: np.full((2, 2), np.inf) for name in (task, "pandas")}
    ratio = megabytes = np.inf
    for _ in range(ROUNDS):
        for name, found in least.items():
            found[:] = np.minimum(found, [measured(name, path) for path in paths])
        added = {name: (found[1] - found[0]) * 1e6 / (LARGE - SMALL) for name, found in least.items()}
        ratio, megabytes = added[task][0] / added["pandas"][0], added[task][1]
        print(
            f"\na further million rows: {added[task][0]:.2f} s, {megabytes:.0f} MB;"
            f" pandas {added['pandas'][0]:.2f} s, {added['pandas'][1]:.0f} MB; {ratio:.1f} times"
        )
        if ratio <= most_times * slack():
            break
    assert 0 < ratio <= most_times * slack()
    assert megabytes <= most_megabytes * slack()
