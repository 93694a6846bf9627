"""Who is singled out by places and times, and what cannot be in a log: each counted again by hand."""

from itertools import combinations

import numpy as np
import pytest

from engine.risk.histories import Wrong, alone_by_order, look_for_wrong, single_out

NOTHING = np.iinfo(np.int64).min


def test_people_are_singled_out_as_by_trying_all_of_their_points() -> None:
    """Everybody has as many points: the shares of many draws are near that of all sets of points."""
    chance = np.random.default_rng(3)
    own = [set(chance.choice(9, 4, replace=False).tolist()) for _ in range(40)]
    person = np.array([who for who, points in enumerate(own) for _ in points])
    point = np.array([one for points in own for one in points])
    found = single_out(person, point, points=(1, 2, 3, 4, 5), people=40, chance=chance)
    for one in found[:4]:
        tries = [
            sum(set(known) <= other for other in own) == 1
            for mine in own
            for known in combinations(mine, one.points)
        ]
        exact = float(np.mean(tries))
        draws = [
            single_out(person, point, points=(one.points,), people=40, chance=chance)[0].share
            for _ in range(20)
        ]
        assert np.mean(draws) == pytest.approx(exact, abs=4.5 * 0.5 / np.sqrt(40 * 20))
    last = found[4]
    assert (last.people, last.left_out, last.interval) == (0, 40, (0.0, 1.0))


def test_orders_of_places_that_nobody_else_has() -> None:
    person = np.array([0, 0, 1, 1, 2, 2, 3, 4, 4, 4])
    place = np.array([5, 6, 5, 6, 6, 5, 5, 5, 6, 5])
    found = alone_by_order(person, place)
    assert (found.people, found.alone) == (5, 3)
    assert alone_by_order(person[:0], place[:0]).people == 0


def test_what_cannot_be_is_counted() -> None:
    rows = [
        (0, 1, 0, 100),
        (0, 1, 0, 100),  # the same again
        (0, 2, 20, 30),  # while the first lasts
        (0, 2, 40, 50),  # while the first lasts, though the one before is over
        (0, 3, 100, 90),  # left before arriving
        (1, 1, NOTHING, NOTHING),
        (1, 1, 900, NOTHING),  # out of the bounds
        (2, 1, 5, 8),
    ]
    person, place, start, end = (np.array(one, dtype=np.int64) for one in zip(*rows, strict=True))
    for order in (slice(None), slice(None, None, -1)):
        found = look_for_wrong(person[order], place[order], start[order], end[order], low=0, high=500)
        assert vars(found) == {"no_moment": 1, "outside": 1, "backwards": 1, "double": 1, "overlapping": 2}
    nothing = look_for_wrong(person[:0], place[:0], start[:0], end[:0], low=None, high=None)
    assert set(vars(nothing).values()) == {0}


def test_what_cannot_be_is_counted_as_by_going_through_all_rows() -> None:
    """Without a moment, outside, ending before it starts, twice, overlapping: 60 logs at random."""
    chance, nothing = np.random.default_rng(6), np.iinfo(np.int64).min
    for _ in range(60):
        n = int(chance.integers(1, 30))
        person, place = chance.integers(0, 4, n), chance.integers(0, 3, n)
        start = np.where(chance.random(n) < 0.1, nothing, chance.integers(-5, 30, n))
        end = np.where(chance.random(n) < 0.2, nothing, start + chance.integers(-2, 9, n))
        end = np.where(start == nothing, nothing, end)
        rows = sorted(zip(person.tolist(), start.tolist(), place.tolist(), end.tolist(), strict=True))
        said = [row for row in rows if row[1] != nothing]
        over, latest, before = 0, dict[int, int](), None
        for who, begun, where, until in said:
            over += begun < latest.get(who, nothing) and before != (who, begun, where)
            latest[who], before = max(latest.get(who, nothing), until), (who, begun, where)
        found = look_for_wrong(person, place, start, end, low=0, high=25)
        assert found == Wrong(
            no_moment=n - len(said),
            outside=sum(not 0 <= row[1] <= 25 for row in said),
            backwards=sum(row[3] != nothing and row[3] < row[1] for row in said),
            double=len(said) - len({row[:3] for row in said}),
            overlapping=over,
        )
