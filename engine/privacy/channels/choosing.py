"""Which channel a question gets: the one with the smallest error by closed form, and why."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb, isqrt

from engine.privacy.channels.channel import Channel, Shares
from engine.privacy.channels.geometry import Geometry, points
from engine.privacy.channels.sets import Option, Sets, Signs
from engine.privacy.channels.wave import Bit, Wave

LONGEST = 128
"""Bits of a set that a report writes; above, the answers become points of a geometry."""
MOST_POINTS = 2**18
LARGEST_PRIME = 2000
BIT_BELOW = Fraction(12, 10)
"""ε below which one bit tells a mean better than a square wave does: 4.68 against 5.07 at 1."""
NARROW = 1.02
"""By how much the variance of a mean may exceed the least: 1 % of its standard error."""
MOST_LEVELS = 100
ROBUST = 5
"""Points."""


@dataclass(frozen=True)
class Chosen:
    """A channel and why: an id of ``channels.reasons``, and n times the variance that it was chosen by."""

    channel: Channel
    reason: str
    risk: float


def risk(shares: Shares, answers: int) -> float:
    """Return n times the variances of all shares together, where every answer is as common as the others."""
    return answers * shares.variance(1 / answers, population=True)


def bound(answers: int, epsilon: float) -> float:
    """Return the least such sum that any channel reaches: Ye and Barg (2018), theorem 1 and its set size."""
    return min(_set_risk(answers, size, math.exp(epsilon)) for size in sizes(answers, epsilon))


def sizes(answers: int, epsilon: float) -> tuple[int, ...]:
    """Return the sizes of a set next to k/(e^ε + 1)."""
    wanted = math.floor(answers / (math.exp(epsilon) + 1))
    return tuple(sorted({max(1, wanted), min(answers - 1, wanted + 1)}))


def _set_risk(k: int, d: int, odds: float) -> float:
    return (k - 1) ** 2 * (odds * d + k - d) ** 2 / (k * d * (k - d) * (odds - 1) ** 2)


@lru_cache(maxsize=256)
def for_choice(answers: int, epsilon: Fraction) -> Chosen:
    """Return the channel for one of some answers.

    Notes
    -----
    A set next to the size with the least error. Where one made-up report in a hundred moves it by more than
    `ROBUST` points, as some at ε near ½, the next larger set that is moved no further.

    Examples
    --------
    >>> for_choice(2, Fraction(1)).reason, for_choice(10, Fraction(1)).channel.size
    ('direct', 3)
    >>> for_choice(1000, Fraction(1)).reason
    'geometry'
    """
    odds = math.exp(epsilon)
    size = min(sizes(answers, float(epsilon)), key=lambda d: _set_risk(answers, d, odds))
    if math.log2(comb(answers, size)) <= LONGEST:
        sets = _robust_set(answers, size, epsilon)
        return Chosen(sets, "direct" if size == 1 else "set", risk(sets.shares(), answers))
    geometry = best_geometry(answers, epsilon)
    return Chosen(geometry, "geometry", risk(geometry.shares(), answers))


def _robust_set(answers: int, size: int, epsilon: Fraction) -> Sets:
    """Return a set of this size, or of the next larger one that is robust; of this size where none is."""
    sets = Sets.at(answers, 1, size, epsilon)
    odds = math.exp(epsilon)
    for larger in range(size, answers // 2 + 1):
        own = odds * larger / (odds * larger + answers - larger)
        other = (larger - own) / (answers - 1)
        if max(1 - other, own) <= ROBUST * (own - other) and math.log2(comb(answers, larger)) <= LONGEST:
            found = Sets.at(answers, 1, larger, epsilon)
            if found.shares().moved <= ROBUST:  # with lots that were rounded
                return found
    return sets


def best_geometry(answers: int, epsilon: Fraction) -> Geometry:
    """Return the geometry with the least error for so many answers."""
    odds = math.exp(epsilon)
    prime, dimension, near = min(_geometries(answers), key=lambda one: _geometry_risk(answers, one, odds))
    return Geometry.at(answers, prime, dimension, near, epsilon)


def _geometries(answers: int) -> list[tuple[int, int, int]]:
    """Return every geometry that has so many points and is not larger than it has to be."""
    found = []
    for prime in range(2, LARGEST_PRIME):
        if any(prime % one == 0 for one in range(2, isqrt(prime) + 1)):
            continue
        dimension = next(t for t in range(2, 64) if points(prime, t) >= answers)
        if points(prime, dimension) <= MOST_POINTS:
            found += [(prime, dimension, 1), (prime, dimension, 0)]
    return found


def _geometry_risk(answers: int, geometry: tuple[int, int, int], odds: float) -> float:
    prime, dimension, near = geometry
    every, on, both = (points(prime, dimension - less) for less in range(3))
    marked = on if near else every - on
    shared = both if near else every - 2 * on + both
    weight = odds * marked + every - marked
    p, q = odds * marked / weight, (odds * shared + marked - shared) / weight
    named = q + (p - q) / answers
    return answers * named * (1 - named) / (p - q) ** 2


@lru_cache(maxsize=256)
def for_ticks(answers: int, most: int, epsilon: Fraction) -> Chosen:
    """Return the channel for up to ``most`` of some answers: a set for all ticks, one option drawn, or signs.

    Notes
    -----
    By the variance of one share where people tick half of what they may, among the forms in which one made-up
    report in a hundred moves it by at most `ROBUST` points; where there are none, by that variance times how
    far it is moved.

    Examples
    --------
    >>> [for_ticks(8, 3, Fraction(epsilon)).reason for epsilon in (1, 2)]
    ['signs', 'ticks']
    """
    universe, share = answers + most, Fraction(most, 2 * answers)

    def variance(size: int) -> float:
        shares = _ticks_shares(universe, most, size, math.exp(epsilon))
        return shares.variance(share, population=True) if shares.gap > 0 else math.inf

    def weak(size: int) -> bool:
        shares = _ticks_shares(universe, most, size, math.exp(epsilon))
        return shares.gap <= 0 or shares.moved > ROBUST

    short = [d for d in range(1, universe - most + 1) if math.log2(comb(universe, d)) <= LONGEST]
    sets = Sets.at(universe, most, min(short, key=lambda size: (weak(size), variance(size))), epsilon)
    option = Option.at(answers, epsilon)
    together = sets.shares().variance(share, population=True) if sets.odds > 1 else math.inf
    drawn = answers * option.shares().variance(share, population=True)
    found = [
        (float(sets.shares().moved), Chosen(sets, "ticks", together)),
        (float(answers * option.shares().moved), Chosen(option, "option", drawn)),
    ]
    if answers <= LONGEST:
        signs = Signs.at(answers, epsilon).shares()
        chosen = Chosen(Signs.at(answers, epsilon), "signs", signs.variance(share, population=True))
        found.append((float(signs.moved), chosen))
    return min(found, key=lambda one: (one[0] > ROBUST, one[1].risk * max(one[0], ROBUST)))[1]


def _ticks_shares(universe: int, most: int, size: int, odds: float) -> Shares:
    """Return p and q of `Sets` for lots that are not drawn yet."""
    missed = comb(universe - most, size) / comb(universe, size)
    with_one, without = size / universe, missed * size / (universe - most)
    weight = odds * (1 - missed) + missed
    own, other = odds * with_one / weight, (odds * (with_one - without) + without) / weight
    return Shares(Fraction(own), Fraction(other))


@lru_cache(maxsize=256)
def for_number(levels: int, epsilon: Fraction) -> Chosen:
    """Return the narrowest square wave whose mean has nearly the smallest worst variance.

    Notes
    -----
    Near the smallest the variance hardly depends on how wide a wave is, and narrow ones tell the distribution
    better: at 100 levels and ε 1 by a tenth (`tests/published/answers_of_numbers.md`).

    Examples
    --------
    >>> round(for_number(100, Fraction(4)).risk, 2)
    0.17
    """
    odds = math.exp(epsilon)
    risks = [_wave_risk(levels, reach, odds) for reach in range(levels + 1)]
    reach = next(w for w, one in enumerate(risks) if one <= NARROW * min(risks))
    wave = Wave.at(levels, reach, epsilon)
    return Chosen(wave, "wave", mean_risk(wave))


def _wave_risk(levels: int, reach: int, odds: float) -> float:
    # As `mean_risk`, for odds that are not drawn yet: 10⁶ tickets are near enough to compare
    near = odds * (2 * reach + 1)
    return mean_risk(Wave(round(10**6 * near / (near + levels - 1)), 10**6, levels, reach))


def mean_risk(channel: Wave | Bit) -> float:
    """Return n times the worst variance of an estimated mean, of values from −1 to 1."""
    scale = (channel.levels - 1) / 2
    slope = float(channel.line()[1])
    return float(channel.variances().max()) / (slope * scale) ** 2 if slope > 0 else math.inf


def for_mean(levels: int, epsilon: Fraction) -> Chosen:
    """Return the channel for a mean alone: one bit below ε 1.2, and wherever it errs less."""
    if epsilon >= BIT_BELOW and levels <= MOST_LEVELS:
        return for_number(levels, epsilon)
    bit = Bit.at(levels, epsilon)
    return Chosen(bit, "bit", mean_risk(bit))
