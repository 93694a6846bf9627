"""The urn: what readers of shares alone learn of one person, whose report lies among those of others."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from math import comb

import numpy as np

from engine import arrays
from engine.privacy.channels.channel import Channel
from engine.privacy.channels.geometry import Geometry
from engine.privacy.channels.sets import Option, Sets, Signs
from engine.privacy.channels.wave import Wave

SLACK = 1e-6
REACH = 8.0  # standard deviations of how many are mixed in; beyond it lies less than 10⁻¹⁴
MOST = 250  # numbers of people that are gone through
STEPS = 20  # of halving; what is returned is never too small
FEW = 1000  # people of whose answers of yes or no every split is gone through
SPLITS = 100  # of more people: so many, each without the hundredth of them that may lie on either side
MANY = 1_000_000  # more people hide better than these
BEYOND = 1e-15  # of a count on each side, which is left out
ROUNDING = 1e-12  # of a sum of probabilities from a transform, which is off by 10⁻¹³

Array = arrays.Anything


def differing(channel: Channel) -> tuple[int, ...]:
    """Return how many outcomes one true answer marks and another does not, for every kind of pair."""
    if isinstance(channel, Sets):
        u, c, d = channel.universe, channel.ticks, channel.size
        return tuple(sorted({comb(u - c, d) - comb(u - c - one, d) for one in range(1, min(c, u - c) + 1)}))
    if isinstance(channel, Geometry):
        both = (channel.prime ** (channel.dimension - 2) - 1) // (channel.prime - 1)
        within = (channel.prime ** (channel.dimension - 1) - 1) // (channel.prime - 1)
        return (within - both,)  # of what lies in one plane and not in the other, or the other way round
    if isinstance(channel, Option):
        return tuple(range(1, channel.options + 1))
    if isinstance(channel, Signs):
        return tuple(sorted({_agreeing(channel, apart) for apart in range(1, channel.options + 1)} - {0}))
    if isinstance(channel, Wave):
        return tuple(range(1, min(2 * channel.reach + 1, channel.levels - 1) + 1))
    return (1,)


def _agreeing(channel: Signs, apart: int) -> int:
    """Return how many outcomes agree enough with one person, and not with one who is so far apart."""
    same = [comb(channel.options - apart, agreeing) for agreeing in range(channel.options - apart + 1)]
    found = 0
    for own in range(apart + 1):
        low, high = max(0, channel.least - own), max(0, channel.least - (apart - own))
        found += comb(apart, own) * sum(same[low:high])
    return found


@cache
def urn_epsilon(channel: Channel, people: int, slack: float = SLACK) -> float:
    """Return ε of the counts of so many reports on one question, at most that of one report.

    Notes
    -----
    Of two true answers each marks s outcomes that the other does not. The report of the person falls into
    these 2s with probability s(h + o), h and o the chances of a marked outcome and of any other, and else
    says the same of both answers. That of everybody else falls there, evenly, with probability 2so at least,
    whatever the answer. Who also learns which those are knows more than the counts (Balle et al. 2019;
    Feldman et al. 2023). What is left are two numbers, the sums of which over binomial tails are exact.
    Of yes and no there is one count. Up to `FEW` people every way in which the others may have answered is
    gone through: exact, up to a fifth below. Up to `MANY` so are ranges of them, each by the people who
    answered alike throughout it, and without the others, who only hide the one better: at most a hundredth
    above.
    """
    least = _bounded(channel, people, slack)
    if isinstance(channel, Sets) and channel.universe == 2:
        least = min(least, _of_one_count(channel, min(people, FEW), slack))
        if people > FEW:
            least = min(least, _of_many(channel, min(people, MANY), slack))
    return least


@cache
def _of_one_count(channel: Sets, people: int, slack: float) -> float:
    """Return ε of how many of so many people report yes, whatever the others answered."""
    p = channel.hit / channel.tickets
    yes = np.arange(people)[:, None]
    # Each of the others multiplies the transform of the distribution of the count by its own
    turn = np.exp(-2j * np.pi * np.fft.rfftfreq(people + 1))
    others = (1 - p + p * turn) ** yes * (p + (1 - p) * turn) ** (people - 1 - yes)
    true, false = (np.fft.irfft(others * (1 - own + own * turn), n=people + 1, axis=1) for own in (p, 1 - p))
    return _least_of_rows(true, false, math.log(channel.odds), slack)


@cache
def _of_many(channel: Sets, people: int, slack: float) -> float:
    """Return what `_of_one_count` does, of more people, and at most a hundredth above it.

    Whoever learns less sees the count without some of the others: so each split of them is at most as telling
    as one with fewer on both sides.
    """
    from scipy.signal import fftconvolve

    p, others = channel.hit / channel.tickets, people - 1
    step = others // SPLITS
    counts = [
        fftconvolve(_reporting(yes, p), _reporting(max(0, others - yes - step + 1), 1 - p))
        for yes in range(0, others + 1, step)
    ]
    wide = max(map(len, counts)) + 1
    rows = np.array([np.pad(one, (0, wide - len(one))) for one in counts])
    after = np.roll(rows, 1, axis=1)  # the last is empty
    true, false = ((1 - own) * rows + own * after for own in (p, 1 - p))
    return _least_of_rows(true, false, math.log(channel.odds), slack)


def _reporting(people: int, chance: float) -> Array:
    """Return probabilities of how many of them report yes, from the first that is not next to impossible."""
    from scipy.stats import binom

    if not people:
        return np.ones(1)
    low, high = binom.ppf(BEYOND, people, chance), binom.isf(BEYOND, people, chance)
    return np.asarray(binom.pmf(np.arange(low, high + 1), people, chance))


def _least_of_rows(true: Array, false: Array, most: float, slack: float) -> float:
    """Return the least ε that every row of two distributions keeps, but for a slack.

    The other way round is the same with yes and no exchanged, which is among the rows.
    """
    low, high = 0.0, most
    for _ in range(STEPS):
        middle = (low + high) / 2
        told = np.maximum(true - math.exp(middle) * false, 0).sum(axis=1).max()
        low, high = (low, middle) if told <= slack - ROUNDING else (middle, high)
    return high


def _bounded(channel: Channel, people: int, slack: float) -> float:
    """Return ε of the counts of every outcome, never too small."""
    least = 0.0
    hit = Fraction(channel.hit, channel.tickets)
    marked, other = hit / channel.marked, (1 - hit) / channel.unmarked
    odds, most = float(channel.odds), math.log(channel.odds)
    for size in reversed(differing(channel)):
        part, mixed = float(size * (marked + other)), min(1.0, float(2 * size * other))
        chances, counts = _mixed_in(people - 1, mixed)
        low, high = least, most
        if part * _excess(low, odds, chances, counts) <= slack:
            continue
        for _ in range(STEPS):
            middle = (low + high) / 2
            if part * _excess(middle, odds, chances, counts) <= slack:
                high = middle
            else:
                low = middle
        least = high
    return least


def _mixed_in(others: int, mixed: float) -> tuple[Array, Array]:
    """Return probabilities, and numbers of people that are mixed in: none larger than they are."""
    from scipy.stats import binom

    middle, spread = others * mixed, math.sqrt(others * mixed * (1 - mixed)) + 1
    low, high = max(0, int(middle - REACH * spread)), min(others, int(middle + REACH * spread))
    counts = np.unique(np.append(np.linspace(low, high, min(MOST, high - low + 1)).astype(np.int64), 0))
    # More people hide better, so that each number stands for those up to the next
    above = binom.sf(counts - 1, others, mixed)
    return above - np.append(above[1:], 0.0), counts


def _excess(epsilon: float, odds: float, chances: Array, counts: Array) -> float:
    """Return by how much the likelier side exceeds e^ε times the other, over all that readers can see."""
    from scipy.stats import binom

    factor, true, false = math.exp(epsilon), odds / (odds + 1), 1 / (odds + 1)
    border = np.floor((counts + 1) * (factor * odds - 1) / ((odds - 1) * (1 + factor)))
    with_it, without = binom.sf(border - 1, counts, 0.5), binom.sf(border, counts, 0.5)
    told = true * with_it + false * without - factor * (false * with_it + true * without)
    return float((chances * np.maximum(told, 0)).sum())
