"""Who is singled out by places and times, and what cannot be in a log: each counted again by hand."""

from itertools import combinations

import numpy as np
import pytest

from engine.risk.histories import alone_by_order, look_for_wrong, single_out

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
