"""Traces made from seeds: a real trace is read as kinds of places, and one of the same kinds is made of it.

What places have in common is learnt from other people than the seeds. A trace is made as published, by the
likeliest path under random factors, which has no known probability; or drawn forwards along the same places,
whose probability is a product that is known from every seed. All of it is for analyses that stay inside.

V. Bindschaedler, "Privacy-preserving seedbased data synthesis" (2018), section 6.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine import arrays

Bools = arrays.Bools
Floats = arrays.Floats
Integers = arrays.Integers

DROPPED, REMOVED, MERGED, FACTOR = 0.25, 1.0, 0.75, 4.0
"""p_c, p_l, p_m and p_v as published: how likely a place is left out of its class, the real place at its
time, how likely one is added a step of time away, and up to what chances of moves are multiplied."""
ANYWHERE = 0.5
"""Moves that everybody is thought to have made from every place, in all: so every move is possible."""
MOST_PAIRS = 2_000
TOGETHER = 25
"""So many traces are made at a time, of tested ones from one toss of the coins."""
_LEAST_MERGED = 1e-3


@dataclass(frozen=True)
class World:
    """What everybody knows of places: where people begin and go, and which places are of one class.

    Parameters
    ----------
    start, moves
        Shares of first places, shape (places,), and of the next place by place, shape (places, places).
    classes
        The class of every place.
    """

    start: Floats
    moves: Floats
    classes: Integers


def learn_world(
    traces: Integers, periods: Integers, *, places: int, classes: int, chance: np.random.Generator
) -> World:
    """Return what traces say of places: algorithms 6.1 to 6.3.

    Parameters
    ----------
    traces, periods
        The place and the part of the day of every visit, shape (people, times).
    places, classes
        How many there are; at most so many classes are made.

    Notes
    -----
    Two people who spend the same parts of the day at different places say that these are alike: the places
    of pairs of people, drawn by lot, are matched so that they have most time in common (equation 6.10, one
    matching for all parts), and the time matched is the weight between two places. How such a graph is
    clustered was not published: here by average linkage of the cosine of its rows, which draws nothing.
    """
    from scipy.cluster.hierarchy import cut_tree, linkage
    from scipy.optimize import linear_sum_assignment

    people, times = traces.shape
    start = np.bincount(traces[:, 0], minlength=places) + ANYWHERE / places
    made = np.bincount(traces[:, :-1].ravel() * places + traces[:, 1:].ravel(), minlength=places**2)
    moves = made.reshape(places, places) + ANYWHERE / places
    parts = int(periods.max(initial=0)) + 1
    cells = (np.arange(people)[:, None] * parts + periods) * places + traces
    spent = np.bincount(cells.ravel(), minlength=people * parts * places).reshape(people, parts, places)
    alike = np.eye(places)
    for _ in range(min(MOST_PAIRS, people * (people - 1))):
        one, other = chance.choice(people, 2, replace=False)
        common = np.minimum(spent[one][:, :, None], spent[other][:, None, :]).sum(axis=0)
        here, there = linear_sum_assignment(-common)
        alike[here, there] += common[here, there] * common[here, there].sum() / times**2
    alike += alike.T
    visited = np.flatnonzero(np.bincount(traces.ravel(), minlength=places))
    found = np.zeros(places, dtype=np.int64)  # where nobody was is of the first class
    if len(visited) > 1:
        rows = alike[visited] / np.linalg.norm(alike[visited], axis=1, keepdims=True)
        apart = np.maximum(1 - (rows @ rows.T)[np.triu_indices(len(visited), 1)], 0.0)
        tree = linkage(apart, "average")
        found[visited] = cut_tree(tree, min(classes, len(visited)))[:, 0]
    return World(start / start.sum(), moves / moves.sum(axis=1, keepdims=True), found)


@dataclass(frozen=True)
class Coins:
    """What is left to chance before a seed is looked at; the first axis has one entry, or one a seed.

    Parameters
    ----------
    kept
        Whether a place stays in its class, shape (1 or n, places).
    removed
        Whether the real place is taken out of its time, shape (1 or n, times).
    merged
        By gap of time from 1 on: whether a place there is added here, shape (1 or n, times, places): first
        from earlier times, then from later ones.
    """

    kept: Bools
    removed: Bools
    merged: tuple[tuple[Bools, Bools], ...]

    @staticmethod
    def toss(n: int, times: int, places: int, chance: np.random.Generator) -> Coins:
        """Toss them for n seeds, or once for all with n = 1."""
        gaps = [gap for gap in range(1, times) if MERGED**gap >= _LEAST_MERGED]
        merged = tuple(
            (
                chance.random((n, times - gap, places)) < MERGED**gap,
                chance.random((n, times - gap, places)) < MERGED**gap,
            )
            for gap in gaps
        )
        return Coins(chance.random((n, places)) >= DROPPED, chance.random((n, times)) < REMOVED, merged)


def possible_places(world: World, seeds: Integers, coins: Coins) -> Bools:
    """Return where a trace made from each seed may be at each time, shape (n, times, places).

    All places where the coins left none: it is never told that a seed could not be used.
    """
    alike = (world.classes[seeds][:, :, None] == world.classes) & coins.kept[:, None, :]
    own = np.take_along_axis(alike, seeds[:, :, None], axis=2)
    np.put_along_axis(alike, seeds[:, :, None], own & ~coins.removed[:, :, None], axis=2)
    found = alike.copy()
    for gap, (earlier, later) in enumerate(coins.merged, 1):
        found[:, gap:] |= alike[:, :-gap] & earlier
        found[:, :-gap] |= alike[:, gap:] & later
    return np.asarray(found | ~found.any(axis=2, keepdims=True))


def likeliest(world: World, where: Bools, chance: np.random.Generator) -> Integers:
    """Return the likeliest path within places, every move's chance times a random factor: as published.

    Nobody knows how probable the result is, so that nothing can be tested and nothing bounds what it tells.
    """
    n, times, places = where.shape
    with np.errstate(divide="ignore"):
        allowed, logs = np.log(where.astype(np.float64)), np.log(world.moves)
    best = np.log(world.start) + np.log(chance.uniform(1, FACTOR, (n, places))) + allowed[:, 0]
    came = np.zeros((n, times, places), dtype=np.int64)
    for time in range(1, times):
        ways = best[:, :, None] + logs + np.log(chance.uniform(1, FACTOR, (n, places, places)))
        came[:, time] = ways.argmax(axis=1)
        best = ways.max(axis=1) + allowed[:, time]
    made = np.zeros((n, times), dtype=np.int64)
    made[:, -1] = best.argmax(axis=1)
    for time in range(times - 1, 0, -1):
        made[:, time - 1] = np.take_along_axis(came[:, time], made[:, time, None], axis=1)[:, 0]
    return made


def as_published(world: World, seeds: Integers, chance: np.random.Generator) -> Integers:
    """Return a trace from every seed by the likeliest path, each with its own coins: algorithm 6.4."""
    made = []
    for start in range(0, len(seeds), TOGETHER):
        some = seeds[start : start + TOGETHER]
        coins = Coins.toss(len(some), some.shape[1], len(world.start), chance)
        made.append(likeliest(world, possible_places(world, some, coins), chance))
    return np.concatenate(made)


def chances_ahead(world: World, where: Bools) -> Floats:
    """Return, for every time and place, how likely the rest can be made from there; 0 where it may not be.

    With β_T = 1 and β_t = A (M_{t+1} β_{t+1}) this is M_t β_t, up to a factor of each time and seed.
    """
    found = where.astype(np.float64)
    for time in range(where.shape[1] - 2, -1, -1):
        after = found[:, time + 1] @ world.moves.T
        found[:, time] *= after / after.max(axis=1, keepdims=True)
    return found


def draw_trace(world: World, where: Bools, chance: np.random.Generator) -> Integers:
    """Draw a trace within places: the chain of all moves, given that it stays within them at all times."""
    left = chances_ahead(world, where)
    made = np.zeros(where.shape[:2], dtype=np.int64)
    for time in range(where.shape[1]):
        before = world.start if time == 0 else world.moves[made[:, time - 1]]
        ends = np.cumsum(before * left[:, time], axis=1)
        lots = chance.random(len(ends)) * ends[:, -1]
        made[:, time] = np.minimum((ends <= lots[:, None]).sum(axis=1), ends.shape[1] - 1)
    return made


def logs_of(world: World, where: Bools, traces: Integers) -> Floats:
    """Return ln of the probability that `draw_trace` makes each trace from each seed, shape (traces, seeds).

    p(y) = Π_t q_t(y_t) / Σ_r q_t(r), with q_1 = π M_1 β_1 and q_{t+1} = A[y_t, ·] M_{t+1} β_{t+1}.
    """
    left = chances_ahead(world, where)
    found = np.zeros((len(traces), len(where)))
    for time in range(where.shape[1]):
        before = np.tile(world.start, (len(traces), 1)) if time == 0 else world.moves[traces[:, time - 1]]
        here = traces[:, time]
        own = before[np.arange(len(traces)), here][:, None] * left[:, time, here].T
        with np.errstate(divide="ignore"):
            found += np.log(own) - np.log(before @ left[:, time].T)
    return found


@dataclass(frozen=True)
class Kept:
    """How near traces come to real ones.

    Parameters
    ----------
    visits
        Kullback–Leibler divergence of their places from the real ones; 0 at best.
    moves
        Total variation distance of their moves; 0 at best, 1 at worst.
    """

    visits: float
    moves: float


def kept(real: Integers, made: Integers, places: int) -> Kept:
    """Compare traces with real ones; every place counts as half a visit more, so that none is missing."""
    shares = []
    for traces in (real, made):
        visits = np.bincount(traces.ravel(), minlength=places) + 0.5
        moves = np.bincount(traces[:, :-1].ravel() * places + traces[:, 1:].ravel(), minlength=places**2)
        shares.append((visits / visits.sum(), moves / moves.sum()))
    (one, first), (other, second) = shares
    return Kept(float((one * np.log(one / other)).sum()), float(np.abs(first - second).sum() / 2))
