"""Rows from seeds: learning is replayed, and the chance of every row to leave is worked out by definition.

A release draws which seed leads to a row and whether it passes: that it is the same with the same answers
says nothing here. So a run is stopped where the rows would be made. What was learnt until then has to be a
function of paid-for answers; a person is either learnt from or a seed; and between the seeds with and without
a person no set of rows may be likelier than the claim of one row allows. Crowds and chances are counted
here, from likelihoods that are tried against draws.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.stats import binom

from engine.methods.datasets.seeds import method as seed_method
from engine.methods.datasets.seeds.making import Made
from engine.methods.datasets.seeds.models import SeedModel
from engine.privacy.mechanisms import SeededRows
from engine.privacy.noise import Noise
from tests.engine.battery.distributions import CheckFailed
from tests.engine.battery.replay import Recorder
from tests.engine.methods.audit import replay
from tests.engine.methods.audit.replay import Hearing, Leaves, Tape, Told, draft_of, heard_by, leaves_of, lots
from tests.engine.methods.audit.tables import Bench, Rows, neighbours
from tests.noise_source import seeded_noise

ALIKE = 40
"""So many people stand for each seed where chances are worked out: crowds reach the threshold then."""
DRAWS = 4_000
OFF = 6.0
"""Standard deviations that a frequency may be off: 1 in 500 million."""


@dataclass
class Seen:
    """What a run had when rows were to be made."""

    model: SeedModel
    seeds: np.ndarray
    test: SeededRows


class _Making:
    """Takes the place of making rows: keeps what they would be made from, and gives the same each time."""

    def __init__(self, given: Made | None) -> None:
        self.given, self.seen = given, []
        self._honest = seed_method.make_rows

    def __call__(self, model: SeedModel, seeds: np.ndarray, test: SeededRows, noise: Noise, **_: Any) -> Made:
        self.seen.append(Seen(model, seeds, test))
        if self.given is None:
            self.given = self._honest(model, seeds, test, seeded_noise(5))
        return self.given


def audit(bench: Bench, many: bool) -> None:
    """Replay the learning on all neighbours, then enumerate what leaves.

    Raises
    ------
    CheckFailed
        The first thing that is not as promised.
    """
    recorder = _coins(Recorder(3))
    making = _Making(None)
    first, leaves, hearing = _run(bench, bench.rows, recorder, Hearing(lambda: recorder.calls), making)
    tape = Tape(recorder.calls, hearing.sums)
    replay.check_noise(tape)
    if any(call.name not in replay.SUMS for call in tape.calls[: _learning(tape)]) and not tape.sums:
        raise CheckFailed("something is drawn before rows are made that nobody pays for")
    mark = _fingerprint(first)
    for beside in neighbours(bench, many=many):
        if beside.moves_places:
            continue  # the coins, which go by the place of a row, would fall otherwise for others
        told, other, again = _replayed(bench, beside.rows, tape, making.given)
        if again != leaves:
            raise CheckFailed(f"{beside.name}: with the same answers and rows other bytes leave")
        if _fingerprint(replace(other, seeds=first.seeds)) != mark:
            raise CheckFailed(f"{beside.name}: the model or the test is no function of what was answered")
        if beside.apart is None:
            continue
        moved = _apart(first.seeds, other.seeds)
        if moved > beside.apart or (beside.apart == 1 and moved and told != Told()):
            raise CheckFailed(f"{beside.name}: a person is learnt from and a seed, or more than one seed")
        if not replay.within(told, bench.design.cost, apart=beside.apart):
            raise CheckFailed(f"{beside.name}: learning tells {told}")
    check_claim(bench, first)
    check_drawn_as_said(first)
    check_rows(first)
    check_tried(first)


def _learning(tape: Tape) -> int:
    return max((one.call for one in tape.sums), default=-1) + 1


def _coins(noise: Noise) -> Noise:
    """Let the coin that parts the people go by the place of a row."""
    noise.bernoulli = lots(3).bernoulli  # type: ignore[method-assign]
    return noise


def _run(
    bench: Bench, rows: Rows, noise: Noise, hearing: Hearing, making: _Making
) -> tuple[Seen, Leaves, Hearing]:
    with patch.object(seed_method, "make_rows", making), heard_by(noise, hearing):
        release = draft_of(bench, rows, lots(3)).release
    hearing.finish()
    if len(making.seen) != 1:
        raise CheckFailed("rows are not made once from seeds")
    return making.seen[0], leaves_of(release), hearing


def _replayed(bench: Bench, rows: Rows, tape: Tape, given: Made | None) -> tuple[Told, Seen, Leaves]:
    player = _coins(replay._Watching(tape.calls))
    hearing = Hearing(partial(replay._answered, player), tape)
    seen, leaves, _ = _run(bench, rows, player, hearing, _Making(given))
    player.finish()
    return replay.told_by(tape, hearing, player), seen, leaves


def _apart(seeds: np.ndarray, others: np.ndarray) -> int:
    """Return how many seeds came or went."""
    first, second = (Counter(map(tuple, one.tolist())) for one in (seeds, others))
    return max((first - second).total(), (second - first).total())


def _fingerprint(seen: Seen) -> tuple[Any, ...]:
    """Return what tells two models or tests apart: rows that they draw, and likelihoods."""
    some = seen.seeds[:8]
    alone = seen.model.alone(200, seeded_noise(8))
    if not len(some):
        return (seen.test, alone.tobytes())
    made = seen.model.made(np.repeat(some, 5, axis=0), seeded_noise(8))
    crowd = seen.model.crowds(some)(made, np.repeat(some, 5, axis=0))
    return (seen.test, alone.tobytes(), made.tobytes(), crowd.logs.tobytes())


# --- chances ------------------------------------------------------------------------------------------


def check_claim(bench: Bench, seen: Seen) -> None:
    """Fail where the rows together can lose more than is claimed of the table."""
    loss = bench.design.cost.loss
    assert loss is not None
    level, failure = map(float, seen.test.each())
    delta = worst_delta(level, seen.test.count, float(loss.epsilon)) + seen.test.count * failure
    if delta > float(loss.delta) * (1 + 1e-6):
        raise CheckFailed(f"{seen.test.count} rows lose more than ε = {loss.epsilon} with {delta}")


def worst_delta(level: float, count: int, epsilon: float) -> float:
    """Return δ(ε) of so many randomised responses, which nothing pure exceeds: Kairouz et al. (2015)."""
    true = np.arange(count + 1)
    over = (2 * true - count) * level - epsilon
    share = np.exp(binom.logpmf(true, count, 1 / (1 + math.exp(-level))))
    return float((share * -np.expm1(-over))[over > 1e-9].sum())


@dataclass
class Chances:
    """Different seeds, the rows there can be, p of each row from each seed, and of the model alone."""

    seeds: np.ndarray
    rows: np.ndarray
    p: np.ndarray
    alone: np.ndarray


def chances(seen: Seen) -> Chances:
    """Return the likelihoods of the model, of the rows that it draws."""
    seeds = np.unique(seen.seeds, axis=0)
    drawn = seen.model.made(np.repeat(seeds, 400, axis=0), seeded_noise(6))
    alone = seen.model.alone(DRAWS, seeded_noise(7))
    rows, place = np.unique(np.concatenate([drawn, alone]), axis=0, return_inverse=True)
    own = np.bincount(np.ravel(place)[len(drawn) :], minlength=len(rows)) / DRAWS
    p = np.zeros((len(seeds), len(rows)))
    for at, seed in enumerate(seeds):
        one = np.repeat(seed[None], len(rows), axis=0)
        crowd = seen.model.crowds(seed[None])(rows, one)
        level = np.argmax(crowd.counts, axis=1)[:, None]  # where the only seed stands
        stands = crowd.counts.any(axis=1)  # nowhere, where no row like it can come from this seed
        p[at] = np.where(stands, np.exp(np.take_along_axis(crowd.logs, level, axis=1)[:, 0]), 0.0)
    return Chances(seeds, rows, p, own)


def check_drawn_as_said(seen: Seen) -> None:
    """Fail where rows are drawn otherwise than the likelihoods say that crowds are counted by."""
    found = chances(seen)
    shares = found.p / found.p.sum(axis=1, keepdims=True)
    lookup = {tuple(row): place for place, row in enumerate(found.rows.tolist())}
    for seed, expected in zip(found.seeds[:6], shares, strict=False):
        drawn = seen.model.made(np.repeat(seed[None], DRAWS, axis=0), seeded_noise(12)).tolist()
        counts = np.zeros(len(found.rows))
        for row in drawn:
            if tuple(row) in lookup:
                counts[lookup[tuple(row)]] += 1
        wide = OFF * np.sqrt(DRAWS * expected * (1 - expected)) + OFF + 0.02 * DRAWS * expected
        if (np.abs(counts - DRAWS * expected) > wide).any():
            raise CheckFailed("rows are drawn otherwise than their likelihoods say")


def check_rows(seen: Seen) -> None:
    """Fail where one seed more or less moves some set of rows by more than the claim of one row."""
    epsilon, delta = map(float, seen.test.each())
    found = chances(seen)
    many = np.full(len(found.seeds), ALIKE)
    before = of_each_row(found, many, seen.test)
    for place in range(len(found.seeds)):
        after = of_each_row(found, many - (np.arange(len(many)) == place), seen.test)
        for one, other in ((before, after), (after, before)):
            if np.maximum(one - math.exp(epsilon) * other, 0).sum() > delta + 1e-12:
                raise CheckFailed("one seed moves a set of rows by more than is claimed")


def of_each_row(found: Chances, people: np.ndarray, test: SeededRows) -> np.ndarray:
    """Return how likely every row is the one that leaves, shape (rows,)."""
    sizes, place = np.unique(sizes_of_crowds(found.p, people, test), return_inverse=True)
    passes = np.array([test.chance(int(size)) for size in sizes])[place].reshape(found.p.shape)
    mass = (people[:, None] * found.p * passes).sum(axis=0)
    mass += float(test.alone) * max(int(people.sum()), test.least) * found.alone
    return np.asarray(mass / mass.sum())


def sizes_of_crowds(p: np.ndarray, people: np.ndarray, test: SeededRows) -> np.ndarray:
    """Return `size_of_crowd` of every row from every seed, shape (seeds, rows); 0 where it cannot be."""
    can = (p > 0) & (people > 0)[:, None]
    found = np.zeros(p.shape)
    if test.ratio > 1:
        bins = np.floor(-np.log(np.where(can, p, 1)) / math.log(test.ratio))
        for seed, how_many in enumerate(people):
            found += how_many * (can & can[seed] & (bins == bins[seed]))
        return found.astype(int)
    weights = np.where(can, people[:, None] * p, 0.0)
    for seed in range(len(people)):
        below = np.where(p <= p[seed], weights, 0.0).sum(axis=0)
        reached = np.divide(below, p[seed], out=np.ones(p.shape[1]), where=can[seed]) - 1
        found = np.where(can & can[seed] & (p[seed] >= p), np.maximum(found, reached), found)
    return np.floor(found + 1e-6).astype(int)


def size_of_crowd(p: np.ndarray, people: np.ndarray, own: int, test: SeededRows) -> int:
    """Return how many seeds could have led to a row: of the same bin, or weighing as much as they are likely.

    Bindschaedler (2018), equation 4.3 and definition 4.2.
    """
    can = (p > 0) & (people > 0)
    if test.ratio > 1:
        bins = np.floor(-np.log(np.where(can, p, 1)) / math.log(test.ratio))
        return int(people[can & (bins == bins[own])].sum())
    best = 0.0
    for seed in np.flatnonzero(can & (p >= p[own])):
        below = can & (p <= p[seed])
        best = max(best, float((people[below] * p[below]).sum() / p[seed]) - 1)
    return math.floor(best + 1e-6)


def check_tried(seen: Seen) -> None:
    """Fail where a row leaves that came from a seed although no crowd is large enough.

    The lots fall as strictly as they can; then only rows of crowds above the threshold pass, and of the few
    seeds here there are none: whatever leaves was drawn from the model alone.
    """
    alone: list[tuple[int, ...]] = []

    class Kept(type(seen.model)):  # type: ignore[misc]
        """The model, which notes what it makes from nobody."""

        def alone(self, n: int, noise: Noise) -> np.ndarray:
            rows = super().alone(n, noise)
            alone.extend(map(tuple, rows.tolist()))
            return rows

    if len(seen.seeds) >= seen.test.threshold:
        return
    noise = seeded_noise(13)
    noise.bernoulli_exp_minus_each = lambda numerators, denominator: np.asarray(numerators) == 0  # type: ignore[method-assign]
    model = Kept(**{name: getattr(seen.model, name) for name in seen.model.__dataclass_fields__})
    rows = seed_method.make_rows(model, seen.seeds, seen.test, noise).rows
    if Counter(map(tuple, rows.tolist())) - Counter(alone):
        raise CheckFailed("rows leave that were not tested")
