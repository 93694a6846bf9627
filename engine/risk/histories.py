"""How many people a few of their own places and times, or the order of their places alone, single out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine import arrays
from engine.risk.copies import Rate

Integers = arrays.Integers


@dataclass(frozen=True)
class SingledOut:
    """Of so many people, how many were singled out; ``left_out`` have fewer points than were asked for."""

    points: int
    people: int
    alone: int
    left_out: int

    @property
    def share(self) -> float:
        """Share of the people looked at."""
        return self.alone / self.people if self.people else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of Wilson, which holds at 0 and at 1 too."""
        return Rate(self.alone, self.people).interval


def single_out(
    person: Integers, point: Integers, *, points: Sequence[int], people: int, chance: np.random.Generator
) -> tuple[SingledOut, ...]:
    """Return how many people drawn by lot nobody else shares so many of their own points with.

    Parameters
    ----------
    person, point
        Of every event: a number of the person from 0 on, and of the place and time slot.
    points
        How many different points of their own somebody is known by, drawn by lot.
    people
        How many people are drawn at most, of those who have so many points.
    chance
        Draws people and points.

    Notes
    -----
    Whoever knows the points knows where and when somebody was, and no more. Y.-A. de Montjoye, C. Hidalgo,
    M. Verleysen and V. Blondel, "Unique in the crowd" (2013).
    """
    width = int(point.max(initial=0)) + 1
    own = arrays.distinct(person * width + point)
    who, what = own // width, own % width
    sizes = np.bincount(who)
    starts = np.cumsum(sizes) - sizes
    order = np.argsort(what, kind="stable")
    ends = np.cumsum(np.bincount(what, minlength=width))
    there = [*ends.tolist()]
    by_point = who[order]

    def at(one: int) -> Integers:
        return by_point[(there[one - 1] if one else 0) : there[one]]

    found = []
    for asked in points:
        able = np.flatnonzero(sizes >= asked)
        drawn = chance.permutation(able)[:people]
        alone = 0
        for one in drawn.tolist():
            known = what[starts[one] + chance.choice(sizes[one], asked, replace=False)]
            lists = sorted((at(int(place)) for place in known), key=len)
            shared = lists[0]
            for more in lists[1:]:
                shared = shared[np.isin(shared, more, assume_unique=True)]
                if len(shared) == 1:
                    break
            alone += len(shared) == 1
        found.append(SingledOut(asked, len(drawn), alone, int((sizes > 0).sum()) - len(able)))
    return tuple(found)


def alone_by_order(person: Integers, place: Integers) -> SingledOut:
    """Return how many people have an order of places that nobody else has; events in their order."""
    starts = np.flatnonzero(np.append(True, person[1:] != person[:-1])[: len(person)])
    lengths = np.diff(np.append(starts, len(person)))
    alone = 0
    for length in np.unique(lengths).tolist():
        own = starts[lengths == length]
        rows = place[own[:, None] + np.arange(length)]
        _, counts = np.unique(rows, axis=0, return_counts=True)
        alone += int((counts == 1).sum())
    return SingledOut(0, len(starts), alone, 0)


@dataclass(frozen=True)
class Wrong:
    """What cannot be, in a log of events: counts of rows."""

    no_moment: int
    outside: int
    backwards: int
    double: int
    overlapping: int


def look_for_wrong(
    person: Integers, place: Integers, start: Integers, end: Integers, *, low: int | None, high: int | None
) -> Wrong:
    """Count events without a moment, out of the bounds, that end before they start, twice, or overlapping.

    Parameters
    ----------
    person, place, start, end
        Of every row; moments as whole numbers, the smallest of all where there is none.
    low, high
        The declared bounds, both inside; None where none are declared.
    """
    nothing = np.iinfo(np.int64).min
    said, ends = start != nothing, end != nothing
    outside = said & (
        ((start < low) if low is not None else False) | ((start > high) if high is not None else False)
    )
    backwards = said & ends & (end < start)
    order = np.lexsort((end[said], place[said], start[said], person[said]))
    own, ward, begin, until = (one[said][order] for one in (person, place, start, end))
    same = (own[1:] == own[:-1]) & (begin[1:] == begin[:-1]) & (ward[1:] == ward[:-1])
    # the latest end so far of the same person, so that one long stay over several short ones is seen
    latest = _latest(own, until)
    over = (own[1:] == own[:-1]) & (latest[:-1] != nothing) & (begin[1:] < latest[:-1]) & ~same
    return Wrong(
        int((~said).sum()), int(outside.sum()), int(backwards.sum()), int(same.sum()), int(over.sum())
    )


def _latest(person: Integers, end: Integers) -> Integers:
    """Return the latest end so far of the same person, for rows ordered by person."""
    if not len(end):
        return end
    ends, rank = np.unique(end, return_inverse=True)
    group = np.cumsum(np.append(True, person[1:] != person[:-1])) - 1
    return np.asarray(ends[np.maximum.accumulate(group * len(ends) + rank) % len(ends)])
