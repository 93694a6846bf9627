"""What a coarser or absent column would change: against preparing the table that way; and who is exposed."""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest

from engine.risk.encoding import encode
from engine.risk.group_sizes import group_sizes
from engine.risk.trying import LEFT_OUT, Tried, hierarchy_to_try, risk_today, tried_matching, tried_with
from engine.table.hierarchies import Hierarchy
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table

WARDS = {"surgery": ("operating",), "orthopaedics": ("operating",), "paediatrics": ("other",)}
COLUMNS = (
    Column("age", Role.IDENTIFYING, Kind.INTEGER),
    Column("ward", Role.IDENTIFYING, Kind.CATEGORY, hierarchy=Hierarchy(tree=WARDS)),
    Column("sex", Role.IDENTIFYING, Kind.CATEGORY),
)


def rows(seed=0, count=300):
    made = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": made.integers(0, 99, count),
            "ward": made.choice(list(WARDS), count),
            "sex": made.choice(["f", "m"], count),
        }
    )


def counted(frame, names=("age", "ward", "sex"), schema=None):
    sizes = group_sizes(Table(frame), schema or Schema(COLUMNS), columns=names, thresholds=(5,))
    return Tried(sizes.alone, sizes.under[5])


def test_every_try_agrees_with_a_table_prepared_that_way():
    frame = rows()
    found = risk_today(Table(frame), Schema(COLUMNS), limit=5)
    assert found.now == counted(frame)
    bands = frame.assign(age=frame["age"] // 10)
    operating = frame.assign(ward=frame["ward"].map(lambda ward: WARDS[ward][0]))
    causes = {cause.column: cause for cause in found.causes}
    assert causes["age"].left_out == counted(frame, ("ward", "sex"))
    ages = {step.step: step for step in causes["age"].steps}
    assert (ages[2].tried, ages[2].values) == (counted(bands), 10)
    assert causes["ward"].steps[0].tried == counted(operating)
    assert causes["sex"].steps == ()
    both = frame.assign(age=frame["age"] // 10, ward=frame["ward"].map(lambda ward: WARDS[ward][0]))
    assert tried_with(found.table, {"age": 2, "ward": 1}, limit=5) == counted(both)
    out = counted(bands, ("age", "ward"))
    assert tried_with(found.table, {"age": 2, "sex": LEFT_OUT}, limit=5) == out
    assert tried_with(found.table, {}, limit=5) == found.now


CROSSED = {"a": ("left", "up"), "b": ("left", "down"), "c": ("right", "up")}  # no step is a part of the other


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_what_was_counted_before_changes_no_count(seed, several):
    """In any order, beside group-bys of pandas: who is known to be alone is not looked at, and stays so."""
    made, count = np.random.default_rng(seed), 120
    frame = pd.DataFrame(
        {
            "age": made.integers(0, 80, count),
            "sort": made.choice([*CROSSED, "d", None], count),
            "code": made.choice([f"{number:03}" for number in range(40)], count),
            "sex": made.choice(["f", "m"], count),
            "person": np.arange(count) % 70 if several else np.arange(count),
        }
    )
    crossed, prefix = Hierarchy(tree=CROSSED), Hierarchy(prefix=(2, 1))
    marked = (
        Column("age", Role.IDENTIFYING, Kind.INTEGER),
        Column("sort", Role.IDENTIFYING, Kind.CATEGORY, hierarchy=crossed),
        Column("code", Role.IDENTIFYING, Kind.CATEGORY, hierarchy=prefix),
        Column("sex", Role.IDENTIFYING, Kind.CATEGORY),
        Column("person", Role.PERSON_KEY),
    )
    today = risk_today(Table(frame), Schema(marked), limit=4)
    steps = [range(LEFT_OUT, height) for height in (4, 3, 3, 1)]
    ways = [dict(zip(today.columns, way, strict=True)) for way in product(*steps)]
    made.shuffle(ways)
    for way in ways:
        kept = [today.table.columns[name] for name, step in way.items() if step != LEFT_OUT]
        read = [
            one.coarser(hierarchy_to_try(one.column), way[one.column.name]) if way[one.column.name] else one
            for one in kept
        ]
        lines = pd.DataFrame({one.column.name: np.array(one.texts)[one.codes] for one in read})
        sets = lines.agg(tuple, axis=1).groupby(frame["person"]).agg(frozenset) if read else None
        sizes = [frame["person"].nunique()] if sets is None else sets.value_counts().tolist()
        tried = today.trials.count(way, limit=4)
        by_size = Counter()
        for size in sizes:
            by_size[size] += size
        assert tried.sizes == dict(sorted(by_size.items())), way
        assert (tried.alone, tried.under) == (by_size[1], sum(by_size[size] for size in (1, 2, 3)))


def test_everything_left_out_is_one_group():
    table = encode(Table(rows()), Schema(COLUMNS))
    assert tried_with(table, dict.fromkeys(("age", "ward", "sex"), LEFT_OUT), limit=5) == Tried(0, 0)


def test_the_most_exposed_are_singled_out_by_the_fewest_values():
    frame = rows(count=200)
    frame.loc[17, "age"] = 7777  # nobody else's age
    found = risk_today(Table(frame), Schema(COLUMNS), limit=5)
    seventeen = next(one for one in found.exposed if one.row == 17)
    assert (seventeen.columns, seventeen.values, seventeen.sets) == (("age",), ("7777",), 1)
    sizes = [len(one.columns) for one in found.exposed]
    assert sizes == sorted(sizes)
    for one in found.exposed:
        same = (frame[list(one.columns)] == frame.loc[one.row, list(one.columns)]).all(axis=1)
        assert same.sum() == 1
    assert "7777" not in repr(found.exposed)


def test_a_person_with_several_rows_is_listed_once():
    frame = pd.concat([rows(count=40)] * 2, ignore_index=True).assign(p=list(range(40)) * 2)
    schema = Schema((*COLUMNS, Column("p", Role.PERSON_KEY)))
    found = risk_today(Table(frame), schema, limit=5)
    people = [one.row % 40 for one in found.exposed]
    assert len(people) == len(set(people)) == found.singled_out
    assert found.now == counted(frame, schema=schema)
    assert found.average == group_sizes(Table(frame), schema).groups / 40


def test_missing_values_that_match_everything_hide_people():
    frame = pd.DataFrame({"age": [1, 1, None, 2], "sex": ["x", "x", "x", "y"]})
    table = encode(Table(frame), Schema((COLUMNS[0], COLUMNS[2])))
    # Rows 0, 1 and 2 agree with one another, row 3 with nobody
    assert tried_matching(table, limit=3) == Tried(1, 1)
    assert tried_with(table, {}, limit=3) == Tried(2, 4)


def test_which_hierarchy_is_tried():
    assert hierarchy_to_try(COLUMNS[1]).tree == WARDS
    assert hierarchy_to_try(COLUMNS[0]).bands == (Fraction(5), Fraction(10), Fraction(20))
    assert hierarchy_to_try(Column("day", kind=Kind.DATE)).calendar
    assert hierarchy_to_try(Column("name")).height == 1
