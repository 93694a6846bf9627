"""A million rows of twenty columns: time and memory against pandas' own reader and Arrow's, same result."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import csv

from engine.risk.group_sizes import group_sizes
from engine.table.declared import as_declared
from engine.table.fingerprint import fingerprints
from engine.table.reading.readers import read_table
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.suggest.suggest import suggest
from engine.table.table import Table
from tests.ratios import slack

pytestmark = [pytest.mark.benchmark, pytest.mark.slow]
ROWS = 1_000_000

WAYS = {
    "ours": "from engine.table.reading.readers import read_table as read",
    "pandas": "import pandas\ndef read(path): return pandas.read_csv(path, parse_dates=['day'])",
}
MEASURE = """
import sys
from pathlib import Path
exec(sys.argv[1])

def status(name):
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) * 1024

read(sys.argv[3])  # what is loaded on first use is no memory of the table
Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
before = status("VmRSS")
table = read(sys.argv[2])
print(status("VmHWM") - before)
"""


@pytest.fixture(scope="module")
def million(tmp_path_factory):
    made = np.random.default_rng(20210101)
    columns = {}
    for place in range(6):
        columns[f"whole{place}"] = made.integers(0, 10 ** (place + 1), ROWS)
    for place in range(5):
        values = np.round(made.normal(size=ROWS) * 100, 3)
        columns[f"number{place}"] = pa.array(values, mask=made.random(ROWS) < 0.05 * (place % 2))
    for place in range(7):
        levels = np.array([f"level {level} of {place}" for level in range(3 ** (place % 4 + 1))])
        columns[f"text{place}"] = pa.array(levels[made.integers(0, len(levels), ROWS)])
    columns["day"] = pa.array((np.datetime64("2000-01-01") + made.integers(0, 8000, ROWS)).astype(str))
    columns["person"] = pa.array([f"P{number:07d}" for number in made.integers(0, ROWS // 2, ROWS)])
    path = tmp_path_factory.mktemp("speed") / "million.csv"
    csv.write_csv(pa.table(columns), path, csv.WriteOptions(quoting_style="none"))
    return path


def fastest(work, times=4):
    best, result = float("inf"), None
    for _ in range(times):
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return best, result


def spent(work):
    """Return the seconds on the clock and of the processors that some work takes, and what it gives."""
    clock, processor = time.perf_counter(), time.process_time()
    result = work()
    return np.array([time.perf_counter() - clock, time.process_time() - processor]), result


def compared(ours, theirs, times=4):
    """Return our share of the other's clock and processor time; in turns, so that both meet other work."""
    best = {ours: np.full(2, np.inf), theirs: np.full(2, np.inf)}
    for _ in range(times):
        for work in best:
            best[work] = np.minimum(best[work], spent(work)[0])
    return best[ours] / best[theirs]


def pandas_read(path):
    return pd.read_csv(path, parse_dates=["day"])


def test_looking_at_a_table_against_pandas_and_arrow(million):
    """All checks on, to the same frame: at most 1.5 times the clock and 2.5 times the processors."""
    pd.testing.assert_frame_equal(read_table(million).rows(), pandas_read(million))
    clock, processor = compared(lambda: read_table(million), lambda: pandas_read(million))
    arrow = compared(lambda: read_table(million), lambda: csv.read_csv(million).to_pandas(), times=2)
    print(f"\nlooking: {clock:.2f} of pandas' clock, {processor:.2f} of its processor time")
    print(f"{arrow[0]:.2f} of Arrow's clock, {arrow[1]:.2f} of its processor time")
    assert clock <= 1.5 * slack() and processor <= 2.5 * slack()


def test_reading_for_a_release_against_pandas(million):
    """Every cell by its declared kind, after every cell as it is written: the same limits."""
    looked = read_table(million)
    kinds = {"integer": Kind.INTEGER, "number": Kind.NUMBER, "date": Kind.DATE, "text": Kind.TEXT}
    schema = Schema(tuple(Column(name, kind=kinds[looked.storage[name]]) for name in looked.names))
    written = Schema(tuple(Column(name, kind=Kind.TEXT) for name in looked.names))

    def release():
        return as_declared(read_table(million, options=looked.options, schema=written), schema)

    pd.testing.assert_frame_equal(release().rows(), pandas_read(million), check_dtype=False)
    clock, processor = compared(release, lambda: pandas_read(million))
    print(f"\nfor a release: {clock:.2f} of pandas' clock, {processor:.2f} of its processor time")
    assert clock <= 1.5 * slack() and processor <= 2.5 * slack()


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the peak is told by Linux only")
def test_memory_against_pandas(million, tmp_path):
    small = tmp_path / "small.csv"
    small.write_text("day,b\n2020-01-01,x\n2020-01-02,y\n")

    def peak(way):
        command = [sys.executable, "-c", MEASURE, WAYS[way], str(million), str(small)]
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    ours, theirs = peak("ours"), peak("pandas")
    print(f"\npeak {ours / 1e6:.0f} MB, pandas {theirs / 1e6:.0f} MB, ratio {ours / theirs:.2f}")
    assert theirs > 100e6
    assert ours <= 1.2 * theirs * slack()


def test_group_sizes_against_a_bare_group_by(million):
    table = read_table(million)
    names = ["whole1", "text0", "text1"]
    schema = Schema(tuple(Column(name, Role.IDENTIFYING) for name in names))
    ours, found = fastest(lambda: group_sizes(table, schema), times=2)
    bare, sizes = fastest(lambda: table.rows().groupby(names, dropna=False).size(), times=2)
    print(f"\ngroup sizes: {ours:.2f} s, group-by {bare:.2f} s, ratio {ours / bare:.2f}")
    assert found.groups == len(sizes)
    # One pass over all columns, and one more without each of the three.
    assert ours <= 4 * bare * slack()


def test_other_work_on_a_million_rows(million):
    table = read_table(million)
    bare, _ = fastest(lambda: pd.util.hash_pandas_object(table.rows(), index=False), times=1)
    seconds, _ = fastest(lambda: fingerprints(table), times=1)
    print(f"\nfingerprint {seconds:.2f} s, pandas' own hash of the rows {bare:.2f} s")
    assert seconds <= 4 * bare * slack()
    seconds, _ = fastest(lambda: suggest(table), times=1)
    print(f"suggestions {seconds:.2f} s")


def test_suggestions_for_two_thousand_columns():
    made = np.random.default_rng(1)
    wide = Table(pd.DataFrame({f"column{place}": made.integers(0, 90, 1000) for place in range(2000)}))
    narrow = Table(wide.rows().iloc[:, :200])
    wide_time, _ = fastest(lambda: suggest(wide), times=2)
    narrow_time, _ = fastest(lambda: suggest(narrow), times=2)
    print(f"\n2,000 columns {wide_time:.2f} s, 200 columns {narrow_time:.2f} s")
    assert (
        wide_time <= 30 * narrow_time * slack()
    )  # ten times the columns: nothing that grows with their square
