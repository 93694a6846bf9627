"""Measures of risk against one group-by of pandas over the same columns as text, in one run."""

import json
import math
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.risk.encoding import encode
from engine.risk.groups import group_rows
from engine.risk.reidentification import marketer, prosecutor
from engine.risk.sensitive import closeness, diversity, sensitive_counts
from engine.risk.shortest import shortest_ways
from engine.risk.trying import risk_today
from engine.risk.uniques import column_sets, minimal_uniques
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table
from tests.peers.risk_tables import TIMED, adult
from tests.ratios import slack

WIDTHS = (90, 2, 5, 16, 7, 41, 10, 15, 2, 60)
PEER = json.loads((Path(__file__).resolve().parents[1] / "peers" / "pycanon_risk.json").read_text())


def people(rows, columns, seed=0):
    """Return text columns whose values are as uneven as real ones: the k-th is 1/k as frequent."""
    made = np.random.default_rng(seed)
    frame = {}
    for place, width in enumerate(WIDTHS[:columns]):
        often = 1 / np.arange(1, width + 1)
        levels = np.array([f"value {level}" for level in range(width)])
        frame[f"c{place}"] = made.choice(levels, rows, p=often / often.sum())
    return pd.DataFrame(frame).astype("str")


def detailed_people(rows):
    """Return people of whom nearly everybody is alone: a day and a measurement beside the six columns."""
    frame, made = people(rows, 6), np.random.default_rng(1)
    days = np.array([f"day {day}" for day in range(3_000)])
    return frame.assign(
        day=pd.Series(made.choice(days, rows), dtype="str"),
        weight=pd.Series(made.choice(days[:900], rows), dtype="str"),
    )


def schema_of(frame, sensitive=None):
    columns = (Column(name, Role.IDENTIFYING, Kind.CATEGORY) for name in frame if name != sensitive)
    last = () if sensitive is None else (Column(sensitive, Role.SENSITIVE, Kind.CATEGORY),)
    return Schema((*columns, *last))


def best_of(work, runs=5):
    """Return the least seconds of processor time of some runs, and the last result."""
    times, result = [], None
    for _ in range(runs):
        start = time.process_time()
        result = work()
        times.append(time.process_time() - start)
    return min(times), result


def bare_of(frame, runs=5):
    return best_of(lambda: frame.groupby(list(frame), sort=False).size(), runs)[0]


def measures(table):
    groups = group_rows(table)
    sizes = groups.people[groups.number]
    return groups.smallest, groups.alone, groups.distribution, prosecutor(sizes), marketer(sizes)


@pytest.mark.benchmark
def test_a_million_rows_of_eight_columns():
    frame = people(1_000_000, 8)
    bare = bare_of(frame, runs=3)
    encoding, table = best_of(lambda: encode(Table(frame), schema_of(frame)), runs=3)
    after, _ = best_of(lambda: measures(table), runs=3)
    print(
        f"bare {bare:.3f} s; encoding {encoding / bare:.2f}, all group measures after it {after / bare:.2f}"
    )
    assert encoding + after <= 1.5 * bare * slack()
    assert after <= bare * slack()


@pytest.mark.benchmark
def test_all_of_the_screen_of_a_million_rows():
    """What columns cause, whom few values single out, and the shortest way to k: thirty counts more."""
    frame = detailed_people(1_000_000)
    bare = bare_of(frame, runs=2)
    table, schema = Table(frame), schema_of(frame)
    risk, today = best_of(lambda: risk_today(table, schema, limit=11), runs=2)
    ways, found = best_of(lambda: shortest_ways(today.table, limit=11, trials=today.trials), runs=2)
    print(f"bare {bare:.3f} s; risk {risk / bare:.1f}, {found.counted} ways {ways / bare:.1f}")
    assert risk <= 14 * bare * slack()
    assert ways <= 2 * bare * slack()


@pytest.mark.benchmark
def test_every_set_up_to_four_of_ten_columns():
    frame = people(50_000, 10)
    bare = bare_of(frame, runs=9)
    table = encode(Table(frame), schema_of(frame))
    sets, found = best_of(lambda: column_sets(table), runs=9)
    uniques, _ = best_of(lambda: minimal_uniques(table), runs=3)
    assert len(found) == sum(math.comb(10, size) for size in (1, 2, 3, 4)) == 385
    print(f"bare {bare:.4f} s; all sets {sets / bare:.1f}, minimal uniques {uniques / bare:.1f}")
    assert sets <= 10 * bare * slack()
    assert uniques <= 20 * bare * slack()


@pytest.mark.benchmark
def test_every_set_of_ten_columns_of_real_people():
    frame = adult()
    names = [*TIMED, "relationship", "hours_per_week"]
    frame = frame[names].astype("str")
    bare = bare_of(frame, runs=9)
    table = encode(Table(frame), schema_of(frame))
    sets, _ = best_of(lambda: column_sets(table), runs=9)
    uniques, _ = best_of(lambda: minimal_uniques(table), runs=3)
    print(f"bare {bare:.4f} s; all sets {sets / bare:.1f}, minimal uniques {uniques / bare:.1f}")
    assert sets <= 10 * bare * slack()
    assert uniques <= 20 * bare * slack()


@pytest.mark.benchmark
def test_eight_measures_of_another_library():
    """Both in group-bys of their own run: the other library's were timed where its values were made."""
    frame = adult()[[*TIMED, "income"]].astype("str")
    bare = bare_of(frame[TIMED], runs=9)

    def ours():
        table = encode(Table(frame), schema_of(frame, "income"))
        groups = group_rows(table)
        counts = sensitive_counts(groups, table.columns["income"])
        return diversity(counts, groups), closeness(counts)

    seconds, _ = best_of(ours)
    theirs = sum(PEER["seconds"].values()) / PEER["bare_seconds"]
    print(f"here {seconds / bare:.2f} group-bys, there {theirs:.0f}: {theirs / (seconds / bare):.0f} times")
    assert theirs >= 200 * seconds / bare / slack()


@pytest.mark.benchmark
@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is asked from the system")
def test_memory():
    """The peak of everything beyond the table itself, in a process of its own."""
    code = (
        "import sys; sys.path.insert(0, '.'); from pathlib import Path;"
        "from tests.benchmarks.test_risk_speed import *;"
        "frame = people(1_000_000, 8); size = int(frame.memory_usage(deep=True).sum());"
        "held = lambda name: 1024 * int(Path('/proc/self/status').read_text().split(name)[1].split()[0]);"
        "measures(encode(Table(frame.head(9)), schema_of(frame)));"
        "Path('/proc/self/clear_refs').write_text('5'); before = held('VmRSS:');"
        "table = encode(Table(frame), schema_of(frame)); measures(table); minimal_uniques(table, largest=2);"
        "print(held('VmHWM:') - before, size)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    grown, size = map(int, done.stdout.split())
    print(f"{grown / size:.2f} of the table")
    assert grown <= 2 * size * slack()
