"""The shortest way to groups of k: against counting every way there is, by other code."""

from collections import Counter
from itertools import product

import numpy as np
import pandas as pd
import pytest

from engine.risk import shortest
from engine.risk.encoding import encode
from engine.risk.shortest import shortest_ways
from engine.risk.trying import LEFT_OUT, hierarchy_to_try, tried_with
from engine.table.hierarchies import Hierarchy
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table

WARDS = {"surgery": ("operating",), "bones": ("operating",), "children": ("other",), "old": ("other",)}
MARKED = (
    Column("age", Role.IDENTIFYING, Kind.INTEGER),
    Column("ward", Role.IDENTIFYING, Kind.CATEGORY, hierarchy=Hierarchy(tree=WARDS)),
    Column("sex", Role.IDENTIFYING, Kind.CATEGORY),
    Column("day", Role.IDENTIFYING, Kind.DATE),
)


def rows(seed: int, count: int) -> pd.DataFrame:
    made = np.random.default_rng(seed)
    days = pd.date_range("2024-01-01", periods=500).strftime("%Y-%m-%d")
    return pd.DataFrame(
        {
            "age": made.integers(0, 60, count),
            "ward": made.choice(list(WARDS), count),
            "sex": made.choice(["f", "m"], count),
            "day": made.choice(days, count),
        }
    )


def stand_out(table, changes, limit, people=None):
    """Count who stands out by a dictionary of rows, without the code that puts rows into groups."""
    kept = []
    for name in table.identifying:
        step = changes.get(name, 0)
        if step == LEFT_OUT:
            continue
        column = table.columns[name]
        column = column.coarser(hierarchy_to_try(column.column), step) if step else column
        kept.append([column.values[code] if code < len(column.values) else None for code in column.codes])
    lines = list(zip(*kept, strict=True)) if kept else [()] * table.n_rows
    if people is not None:
        of = {}
        for person, line in zip(people, lines, strict=True):
            of.setdefault(person, set()).add(line)
        lines = [frozenset(one) for one in of.values()]
    sizes = Counter(lines)
    return sum(n for n in sizes.values() if n < limit), sum(n for n in sizes.values() if n == 1)


def every_way(table):
    """Return every way there is: each column as it is, at each of its steps, or left out."""
    names = table.identifying
    heights = [hierarchy_to_try(table.columns[name].column).height for name in names]
    options = [(0, *range(1, height), LEFT_OUT) for height in heights]
    return [
        {name: step for name, step in zip(names, steps, strict=True) if step} for steps in product(*options)
    ]


@pytest.mark.parametrize("limit", [2, 5])
@pytest.mark.parametrize(("seed", "count", "several"), [(0, 12, False), (1, 40, False), (2, 60, True)])
def test_no_way_of_all_is_better_than_those_that_are_found(seed, count, several, limit):
    frame, marked = rows(seed, count), MARKED
    if several:
        frame["id"] = np.arange(count) % (2 * count // 3)
        marked = (*MARKED, Column("id", Role.PERSON_KEY, Kind.INTEGER))
    people = frame["id"].tolist() if several else None
    table = encode(Table(frame), Schema(marked))
    found = shortest_ways(table, limit=limit)
    assert found.is_complete
    by_hand = [(one, stand_out(table, one, limit, people)) for one in every_way(table)]
    out = [one for one in found.ways if one.lost]
    for way in found.ways:
        assert (way.tried.under, way.tried.alone) == stand_out(table, way.changes, limit, people)
    for way in out:
        touching = [told for one, told in by_hand if 0 < len(one) <= len(way.changes)]
        assert (way.tried.under, way.tried.alone) == min(touching), "no way of as many columns is better"
    reached = [len(one) for one, told in by_hand if one and not told[0]]
    if reached:
        shortest_found = min(len(one.changes) for one in found.ways if not one.tried.under)
        assert shortest_found == min(reached)
    keeping = [told for one, told in by_hand if one and LEFT_OUT not in one.values()]
    (coarser,) = [one for one in found.ways if not one.lost]
    assert (coarser.tried.under, coarser.tried.alone) == min(keeping)
    finer = [
        one
        for one, told in by_hand
        if set(one) == set(coarser.changes) and LEFT_OUT not in one.values() and told == min(keeping)
    ]
    assert sum(coarser.changes.values()) == min(sum(one.values()) for one in finer), "it keeps most steps"


def test_ways_come_with_the_fewest_people_in_small_groups_first():
    found = shortest_ways(encode(Table(rows(3, 80)), Schema(MARKED)), limit=5)
    keys = [(one.tried.under, one.tried.alone) for one in found.ways]
    assert keys == sorted(keys) and len(keys) > 1
    assert all(sum(one.tried.sizes.values()) == 80 for one in found.ways), "for the picture of group sizes"


def test_what_would_take_long_is_not_counted_and_said(monkeypatch):
    monkeypatch.setattr(shortest, "MOST_SETS", 5)
    table = encode(Table(rows(4, 80)), Schema(MARKED))
    found = shortest_ways(table, limit=40)
    assert not found.is_complete and found.ways
    for way in found.ways:
        assert way.tried == tried_with(table, way.changes, limit=40)


def test_a_table_of_equal_people_and_one_column_have_an_answer():
    frame = pd.DataFrame(
        {"age": [40, 40, 40, 41], "ward": ["old"] * 4, "sex": ["f"] * 4, "day": ["2024-01-02"] * 4}
    )
    found = shortest_ways(encode(Table(frame), Schema(MARKED)), limit=4)
    assert dict(found.ways[0].changes) == {"age": 1} and found.ways[0].tried.under == 0
    alone = shortest_ways(encode(Table(frame[["sex"]]), Schema((MARKED[2],))), limit=9)
    assert [one.tried.under for one in alone.ways] == [4], "four people are never groups of nine"
