"""Where the names of marked points stand: each nearer to its own point than to any other, or led to it.

Plain geometry, downwards from the top, in whatever unit the caller has: the drawings of a report and the
pictures of matplotlib take their places from here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice

Box = tuple[float, float, float, float]  # left, top, right, bottom
Place = tuple[float, float]
Segment = tuple[Place, Place]

FAR = (0.0, 0.7, 1.6, 2.8, 4.2)  # heights of a name between it and its point
ALONE = 1.0  # a name farther away than so many heights of a line has a line to its point
NEARER = 0.6  # of the way to the next other point: a name is at most as far from its own
MOST_TRIED = 300
GRID = 8
MOST_CHOICES = 24  # of one name


@dataclass(frozen=True)
class Named:
    """Where a name stands.

    Parameters
    ----------
    box
        That the name fills.
    leader
        From the edge of the box to its point; None where it stands beside it.
    """

    box: Box
    leader: Segment | None = None


def distance(box: Box, point: Place) -> float:
    """Return how far a point is from a box, 0 inside.

    Examples
    --------
    >>> distance((0, 0, 10, 5), (13, 9))
    5.0
    """
    across = max(box[0] - point[0], 0.0, point[0] - box[2])
    down = max(box[1] - point[1], 0.0, point[1] - box[3])
    return math.hypot(across, down)


def meet(one: Box, other: Box) -> bool:
    """Say whether two boxes cover a part of one another.

    Examples
    --------
    >>> meet((0, 0, 2, 2), (1, 1, 3, 3)), meet((0, 0, 2, 2), (2, 0, 3, 3))
    (True, False)
    """
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def lead(box: Box, point: Place) -> Segment:
    """Return the shortest way from a box to a point."""
    return (min(max(point[0], box[0]), box[2]), min(max(point[1], box[1]), box[3])), point


def place_names(
    points: Sequence[Place],
    sizes: Sequence[Place],
    within: Box,
    taken: Sequence[Box] = (),
    *,
    radius: float,
    line: float,
    upwards: Sequence[bool] = (),
) -> tuple[Named | None, ...]:
    """Return where the name of each point stands; None for one that has no place of its own.

    Parameters
    ----------
    points
        Where the marks lie.
    sizes
        Width and height of each name.
    within
        No name stands out of it.
    taken
        What no name may cover.
    radius
        Of a mark, with the room that it keeps free.
    line
        Height of a line of letters.
    upwards
        Whether the name of a point is rather above it.

    Examples
    --------
    >>> near = place_names([(20, 50), (80, 50)], [(30, 10)] * 2, (0, 0, 200, 100), radius=4, line=10)
    >>> [round(one.box[0]) for one in near], [one.leader for one in near]
    ([24, 84], [None, None])
    """
    rather = list(upwards) or [True] * len(points)

    @cache
    def choose(at: int, strict: bool) -> list[Named]:
        near = _candidates(points[at], sizes[at], within, radius, line, rather[at], strict)
        stand = (one for one in near if _stands(one, at, points, taken, radius, strict))
        return list(islice(stand, MOST_CHOICES))

    for count in range(len(points), 0, -1):  # the last ones give way first
        for strict in (True, False):
            choices = [choose(at, strict) for at in range(count)]
            found = _search(choices) if all(choices) else None
            if found is not None:
                return (*found, *[None] * (len(points) - count))
    return tuple(None for _ in points)


def _search(choices: Sequence[Sequence[Named]]) -> list[Named] | None:
    """Return a place for each name, found by going back where one has none left; None where that is long."""
    found: list[Named] = []
    tried = 0

    def go_on() -> bool:
        nonlocal tried
        if len(found) == len(choices):
            return True
        for one in choices[len(found)]:
            tried += 1
            if tried > MOST_TRIED:
                return False
            if all(_apart(one, other) for other in found):
                found.append(one)
                if go_on():
                    return True
                found.pop()
        return False

    return found if go_on() else None


def _candidates(
    point: Place, size: Place, within: Box, radius: float, line: float, above: bool, strict: bool
) -> Iterator[Named]:
    """Yield places from the nearest on; not strictly near, any place in the field that a line leads from."""
    (x, y), (wide, high) = point, size
    rather_left = x > (within[0] + within[2]) / 2
    for far in FAR:
        gap = radius + far * line
        tops = (y - gap - high, y + gap) if above else (y + gap, y - gap - high)
        slanted = gap * 0.7
        sides = (x - slanted - wide, x + slanted) if rather_left else (x + slanted, x - slanted - wide)
        corners = (y - slanted - high, y + slanted) if above else (y + slanted, y - slanted - high)
        centred = min(max(x - wide / 2, within[0]), within[2] - wide)
        level = (x - gap - wide, x + gap) if rather_left else (x + gap, x - gap - wide)
        places = [
            (level[0], y - high / 2),
            *((left, top) for top in corners for left in sides),
            (level[1], y - high / 2),
            *((centred, top) for top in tops),
        ]
        for left, top in places:
            box = (left, top, left + wide, top + high)
            if _inside(box, within):
                yield Named(box, lead(box, point) if distance(box, point) > radius + ALONE * line else None)
    if strict:
        return
    across, down = max(within[2] - within[0] - wide, 0), max(within[3] - within[1] - high, 0)
    boxes = [
        (left, top, left + wide, top + high)
        for row in range(GRID + 1)
        for column in range(GRID + 1)
        for left, top in [(within[0] + across * column / GRID, within[1] + down * row / GRID)]
    ]
    for box in sorted(boxes, key=lambda one: distance(one, point)):
        if distance(box, point) > radius:
            yield Named(box, lead(box, point))


def _inside(box: Box, within: Box) -> bool:
    ends = (box[0] - within[0], box[1] - within[1], within[2] - box[2], within[3] - box[3])
    return min(ends) >= -1e-9


def _stands(
    one: Named, at: int, points: Sequence[Place], taken: Sequence[Box], radius: float, strict: bool
) -> bool:
    """Say whether a name covers nothing, touches no other mark, and is not taken for the name of another."""
    if any(meet(one.box, other) for other in taken):
        return False
    own = distance(one.box, points[at])
    for place, other in enumerate(points):
        far = distance(one.box, other)
        if place == at or far == own == 0.0:
            continue
        is_same = math.dist(other, points[at]) < 1e-9
        if far < radius or (not is_same and one.leader and _from(one.leader, other) < radius):
            return False
        if own > NEARER * far and (strict or one.leader is None):
            return False
    return True


def _apart(one: Named, other: Named) -> bool:
    """Say whether two names, and the lines to their points, keep clear of one another."""
    if meet(one.box, other.box):
        return False
    for line, box in ((one.leader, other.box), (other.leader, one.box)):
        if line is not None and _runs_into(line, box):
            return False
    return one.leader is None or other.leader is None or not _cross(one.leader, other.leader)


def _from(line: Segment, point: Place) -> float:
    """Return how far a point is from a line."""
    (x0, y0), (x1, y1) = line
    long = (x1 - x0) ** 2 + (y1 - y0) ** 2
    share = ((point[0] - x0) * (x1 - x0) + (point[1] - y0) * (y1 - y0)) / long if long else 0.0
    share = min(max(share, 0.0), 1.0)
    return math.dist(point, (x0 + share * (x1 - x0), y0 + share * (y1 - y0)))


def _runs_into(line: Segment, box: Box) -> bool:
    left, top, right, bottom = box
    corners = ((left, top), (right, top), (right, bottom), (left, bottom))
    edges = zip(corners, (*corners[1:], corners[0]), strict=True)
    return distance(box, line[0]) == 0 or any(_cross(line, edge) for edge in edges)


def _cross(one: Segment, other: Segment) -> bool:
    def side(a: Place, b: Place, c: Place) -> float:
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    (a, b), (c, d) = one, other
    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0


def place_in_rows(
    points: Sequence[Place], sizes: Sequence[Place], within: Box, tops: Sequence[float]
) -> tuple[Named, ...]:
    """Return places in rows of their own above the field, with lines that run past the names below.

    ``tops`` are the upper edges of the rows, one a name, from the top; names stand from left to right in the
    order of their points from the lowest row up.
    """
    order = sorted(range(len(points)), key=lambda at: (points[at][0], points[at][1]))
    found: dict[int, Named] = {}
    for row, at in enumerate(reversed(order)):  # the rightmost in the first row: the next ones end before it
        (x, _), (wide, high) = points[at], sizes[at]
        ends = [one.leader[0][0] for one in found.values() if one.leader is not None]
        right = min([within[2], *(end - high / 2 for end in ends)])
        left = max(within[0], min(x - wide / 2, right - wide))
        box = (left, tops[row], left + wide, tops[row] + high)
        start = (min(max(x, box[0]), min(box[2], right)), box[3])
        found[at] = Named(box, (start, points[at]))
    return tuple(found[at] for at in range(len(points)))


def move_apart(places: Sequence[float], halves: Sequence[float], gap: float, height: float) -> list[float]:
    """Return places from top to bottom, moved apart by what each fills, upwards first; none above the top."""
    moved, below = list(places), height
    for number in reversed(range(len(places))):
        moved[number] = min(moved[number], below - halves[number])
        below = moved[number] - halves[number] - gap
    above = 0.0
    for number, half in enumerate(halves):
        moved[number] = max(moved[number], above + half)
        above = moved[number] + half + gap
    return moved
