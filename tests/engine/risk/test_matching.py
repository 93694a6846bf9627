"""Seeking people in invented tables: by hand, against loops, and without tolerance."""

import numpy as np
import pandas as pd
import pytest

from engine.risk.encoding import encode
from engine.risk.linkage import match_release
from engine.risk.matching import Known, match
from engine.table.schema import Column, Kind, Role, Schema
from engine.table.table import Table


def known(seed, rows=40):
    chance = np.random.default_rng(seed)
    age = chance.integers(20, 40, rows).astype(float)
    age[chance.random(rows) < 0.1] = np.nan
    return Known(
        {"sex": chance.integers(0, 2, rows)},
        {"age": age, "stay": chance.integers(0, 5, rows).astype(float)},
        {"age": 2.0, "stay": 1.0},
    )


def agrees(table, row, people, person):
    if any(table.names[n][row] != people.names[n][person] for n in people.names):
        return False
    for name, within in people.within.items():
        one, other = table.amounts[name][row], people.amounts[name][person]
        if np.isnan(one) != np.isnan(other) or abs(one - other) > within:
            return False
    return True


def by_loops(people, sought, released, origins, others, is_in):
    """Write the definition out: chances of every original row, and of nobody."""
    right = alone = 0
    expected, m = 0.0, len(released)
    for person in sought:
        population = sum(agrees(people, row, people, person) for row in range(people.rows))
        population += sum(agrees(others, row, people, person) for row in range(others.rows))
        chances = {}
        for table, origin in zip(released, origins, strict=True):
            rows = [row for row in range(table.rows) if agrees(table, row, people, person)]
            size = len(rows) if is_in else max(len(rows), population)
            for row in rows:
                chances[origin[row]] = chances.get(origin[row], 0) + 1 / (m * size)
        nobody = 1 - sum(chances.values())
        if not chances or (not is_in and max(chances.values()) <= nobody + 1e-12):
            continue
        best = [row for row, value in chances.items() if value > max(chances.values()) - 1e-12]
        alone += len(best) == 1
        right += best == [person]
        expected += (person in best) / len(best)
    return right, alone, expected / len(sought)


@pytest.mark.parametrize("is_in", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_both_cases_agree_with_plain_loops(seed, is_in):
    people, others = known(seed), known(seed + 50, 25)
    chance = np.random.default_rng(seed)
    released, origins = [], []
    for place in range(3):
        table, order = known(seed + 100 + place), chance.permutation(40)
        kept = chance.random(40) < 0.7  # most cells are as they were
        amounts = {n: np.where(kept, people.amounts[n][order], table.amounts[n]) for n in table.amounts}
        released.append(Known({"sex": people.names["sex"][order]}, amounts, people.within))
        origins.append(order)
    sought = np.arange(0, 40, 2)
    found = match(people, sought, released, origins, others=others)[not is_in]
    right, alone, expected = by_loops(people, sought, released, origins, others, is_in)
    assert (found.true_rate.successes, found.true_rate.attacks) == (right, 20)
    assert (found.false_rate.successes, found.false_rate.attacks) == (alone - right, alone)
    assert found.expected == pytest.approx(expected)
    assert 0 < expected < 1


def test_without_tolerance_it_is_the_matching_of_tables_in_the_same_order():
    chance = np.random.default_rng(5)
    frames = [
        pd.DataFrame({"a": chance.integers(0, 6, 60).astype(str), "b": chance.integers(0, 5, 60).astype(str)})
        for _ in range(3)
    ]
    schema = Schema(tuple(Column(name, Role.IDENTIFYING, Kind.CATEGORY) for name in "ab"))
    encoded = [encode(Table(one), schema, columns=("a", "b"), beside=True) for one in frames]
    expected = match_release(encoded[0], encoded[1:], ("a", "b"))
    tables = [Known({name: one[name].astype(int).to_numpy() for name in one}, {}, {}) for one in frames]
    found = match(tables[0], np.arange(60), tables[1:], [np.arange(60)] * 2)[0]
    assert found.expected == pytest.approx(expected.expected_right)
    assert found.true_rate.share == pytest.approx(expected.true_rate)
    assert found.false_rate.share == pytest.approx(expected.false_rate)


def test_the_original_has_the_greatest_expected_risk_although_ties_lower_its_true_rate():
    """Ties: the original finds fewer for certain than a table that breaks them, and more on average."""
    people = Known({"sex": np.array([0, 0, 1, 1])}, {}, {})
    itself = match(people, np.arange(4), [people], [np.arange(4)])[0]
    assert (itself.true_rate.share, itself.expected) == (0.0, 0.5)
    broken = Known({"sex": np.array([0, 1, 1, 2])}, {}, {})
    found = match(people, np.arange(4), [broken], [np.arange(4)])[0]
    assert (found.true_rate.share, found.expected) == (0.25, 0.375)


def test_nobody_is_found_where_rows_are_nobodys():
    people = known(1)
    found = match(people, np.arange(40), [people], [np.full(40, -1)])[0]
    assert found.true_rate.successes == 0 and found.expected == 0
    assert found.false_rate.share == 1.0 and found.false_rate.attacks > 0


def test_invented_rows_of_two_tables_are_different_ones():
    """Each invented row stands for itself: two tables do not add up to one likeliest row."""
    people = Known({"sex": np.array([0])}, {}, {})
    found = match(people, np.array([0]), [people, people], [np.array([-1]), np.array([-1])])[0]
    assert found.false_rate.attacks == 0
