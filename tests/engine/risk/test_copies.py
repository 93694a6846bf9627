"""What invented rows tell of members, beside others: by hand and against plain loops."""

import numpy as np
import pandas as pd
import pytest

from engine.risk.copies import Rate, coordinates, copied_rows, membership, nearest, rate_told

ROWS = 300


def random_table(seed, rows=ROWS):
    chance = np.random.default_rng(seed)
    return {
        "a": chance.integers(0, 4, rows),
        "b": chance.integers(0, 12, rows),
        "c": chance.integers(0, 5, rows),
    }


@pytest.mark.parametrize("seed", range(4))
def test_copies_of_unique_rows_agree_with_a_plain_count(seed):
    released, original = random_table(seed), random_table(seed + 100)
    counts = pd.Series(list(zip(*original.values(), strict=True))).value_counts()
    expected = sum(counts.get(row, 0) == 1 for row in zip(*released.values(), strict=True))
    assert copied_rows(released, original) == Rate(expected, ROWS)


@pytest.mark.parametrize("seed", range(4))
def test_guesses_agree_with_a_plain_loop(seed):
    released, people = random_table(seed), random_table(seed + 100)
    frame = pd.DataFrame(released)
    most = frame["c"].value_counts()
    possible = []
    for a, b, c in zip(*people.values(), strict=True):
        agreeing = frame[(frame["a"] == a) & (frame["b"] == b)]["c"].value_counts()
        counts = agreeing if len(agreeing) else most
        possible.append(set(counts[counts == counts.max()].index) if c in counts else set())
    found = rate_told(released, people, known=["a", "b"], asked="c")
    sure = sum(c in best and len(best) == 1 for c, best in zip(people["c"], possible, strict=True))
    maybe = sum(c in best for c, best in zip(people["c"], possible, strict=True))
    assert sure <= found.successes <= maybe and found.attacks == ROWS  # equal counts: either is a guess


def test_a_table_of_the_original_tells_members_and_independent_rows_tell_nobody():
    """500 of each kind: the standard error of the area is below .02; the limit is three of them."""
    chance = np.random.default_rng(1)
    members, others, drawn = chance.normal(size=(3, 500, 4))
    assert membership(nearest(members, members), nearest(members, others)) == 1.0
    assert abs(membership(nearest(drawn, members), nearest(drawn, others)) - 0.5) < 0.06


def test_points_of_names_and_amounts_are_equally_far():
    table = {"sex": np.array([0, 1]), "age": np.array([0, 9])}
    points = coordinates(table, {"sex": 2, "age": 10}, {"sex": False, "age": True})
    difference = points[0] - points[1]
    assert np.sum(difference[:2] ** 2) == pytest.approx(1) and difference[2] ** 2 == pytest.approx(1)


def test_an_interval_begins_at_zero_where_nothing_and_ends_at_one_where_everything_succeeded():
    assert all(Rate(0, n).interval[0] == 0 and Rate(n, n).interval[1] == 1 for n in range(1, 3000))


def test_no_attack_tells_nothing():
    assert Rate(0, 0).share == 0 and Rate(0, 0).interval == (0.0, 1.0)


def test_many_names_are_compared_without_an_indicator_for_each():
    sizes, is_amount = {"a": 40, "b": 20_000, "c": 5}, {"a": True, "b": False, "c": False}
    chance = np.random.default_rng(1)
    one, other = ({n: chance.integers(0, size, ROWS) for n, size in sizes.items()} for _ in range(2))
    other["b"][:50] = one["b"][:50]
    few = {"a": 40, "b": 400, "c": 5}
    made = coordinates(one, sizes, is_amount)
    assert made.data.nbytes < 10 * ROWS * len(sizes)
    apart = np.stack([(one["a"] - other["a"][:, None]) / 39, one["b"] != other["b"][:, None]]) ** 2
    expected = np.sqrt((apart.sum(axis=0) + (one["c"] != other["c"][:, None])).min(axis=1))
    assert nearest(made, coordinates(other, sizes, is_amount)) == pytest.approx(expected, abs=1e-7)
    assert isinstance(coordinates({n: c % few[n] for n, c in one.items()}, few, is_amount), np.ndarray)
