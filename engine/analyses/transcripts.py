"""What the noisy sums of a method tell about one row, from the sums themselves and the noise as drawn.

A model that was trained many times tells too little about its noise: halved noise would pass. Here every
noisy sum is heard beside what it is of: the method runs on invented rows, the same answers are given to it on
the neighbour, and each pair of exact sums says how far the row moved that sum. Answers that no noise drew are
given too, because a level of privacy holds for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from engine import arrays
from engine.privacy.draw import Draw
from engine.privacy.mechanisms.integers import Integers, listening, noisy
from engine.privacy.noise import Noise

Floats = arrays.Floats
Run = Callable[[Noise], object]

FAR = 2**30
"""Far beyond what any of a few hundred rows adds up to."""
ANSWERS: tuple[Callable[[Integers, Integers], Integers], ...] = (
    noisy,
    lambda exact, draws: np.zeros_like(exact),
    lambda exact, draws: np.full_like(exact, -FAR),
)
"""What a method is told in place of its sums. A level of privacy holds whatever the answers are; drawn ones
can please the row that is looked for, so that it moves less than it may. Told that all sums are 0, a model
learns nothing; told that they are far below, it learns the contrary of that row."""


@dataclass(frozen=True)
class Heard:
    """The sums of runs on a table, and how far the row that its neighbour lacks moved each.

    Parameters
    ----------
    moved
        By transcript of answers, and by sum.
    scales
        By sum, what its noise was asked for by.
    draws
        All noise that was asked for by the same scale.
    alike
        Whether the neighbour was asked for the same sums: that depends on answers alone.
    sums
        How many sums a run asks for.
    """

    moved: tuple[tuple[Floats, ...], ...]
    scales: tuple[Hashable, ...]
    draws: Mapping[Hashable, Floats]
    alike: bool
    sums: int

    def gaussian(self) -> tuple[float, float]:
        """Return μ of everything together and its standard error, of the transcript that tells most.

        Notes
        -----
        μ² = Σ |moved|² / σ² for any number of sums, each of which may depend on earlier answers (Dong, Roth
        and Su 2022, corollary 3.3).
        """

        def level(moved: tuple[Floats, ...]) -> tuple[float, float]:
            ratios, counts = self._pooled(
                moved, lambda one, _: float(one @ one), lambda own, _: float(np.mean(own**2))
            )
            square = float(ratios.sum())
            off = sqrt(float((ratios**2 * 2 / counts).sum()))  # a mean of n squares is off by √(2/n)
            return sqrt(square), off / (2 * sqrt(square)) if square else 0.0

        return max(map(level, self.moved), default=(0.0, 0.0))

    def laplace(self) -> tuple[float, float]:
        """Return ε of everything together and its standard error; see `gaussian`.

        Notes
        -----
        Σ |moved| / b of Laplace noise on every number, ‖moved‖ / s of vector noise.
        """

        def level(moved: tuple[Floats, ...]) -> tuple[float, float]:
            ratios, counts = self._pooled(moved, _moved_far, _pure_scale)
            return float(ratios.sum()), sqrt(float((ratios**2 / counts).sum()))

        return max(map(level, self.moved), default=(0.0, 0.0))

    def _pooled(
        self,
        moved: tuple[Floats, ...],
        size_of: Callable[[Floats, Hashable], float],
        scale_of: Callable[[Floats, Hashable], float],
    ) -> tuple[Floats, Floats]:
        """Return by scale of noise how far the row moved in it, and how many draws told the scale."""
        by_scale: dict[Hashable, float] = {}
        for one, scale in zip(moved, self.scales, strict=True):
            by_scale[scale] = by_scale.get(scale, 0.0) + size_of(one, scale)
        found = [
            (total / scale_of(self.draws[scale], scale), self.draws[scale].size)
            for scale, total in by_scale.items()
            if total
        ]
        return np.array([one for one, _ in found]), np.array([count for _, count in found], dtype=float)


def _dimension(asked: Hashable) -> int | None:
    """Return how many numbers a vector of noise has; None where every number has noise of its own."""
    return asked.shape[0] if isinstance(asked, Draw) and asked.sampler == "vector" else None


def _moved_far(moved: Floats, asked: Hashable) -> float:
    return float(np.linalg.norm(moved, ord=2 if _dimension(asked) else 1))


def _pure_scale(draws: Floats, asked: Hashable) -> float:
    """Return b of the discrete Laplace distribution: its mean length is 1 / sinh(1/b).

    Of vector noise return s, its mean length over d, but for a hair where s is small.
    """
    if dimension := _dimension(asked):
        return float(np.linalg.norm(draws.reshape(-1, dimension), axis=1).mean()) / dimension
    return 1 / float(np.arcsinh(1 / max(float(np.mean(np.abs(draws))), 1e-9)))


def heard(
    run: Run, neighbour: Run, *, door: Callable[[], Noise], runs: int, told: Callable[[float], None]
) -> Heard:
    """Run a method on a table and on its neighbour, and listen.

    Parameters
    ----------
    run, neighbour
        The method on either.
    door
        Makes the noise of every run.
    runs
        How often the noise is drawn.
    told
        How much is done, from 0 to 1.
    """
    moved, alike = [], True
    for answer in ANSWERS:
        first = _recorded(run, door(), answer)
        other = _replayed(neighbour, door(), [one.answer for one in first])
        shapes = [(one.exact.shape, one.exact.dtype) for one in first]
        alike = alike and shapes == [(exact.shape, exact.dtype) for exact in other]
        pairs = list(zip(first, other, strict=False)) if alike else []
        moved.append(tuple((one.exact - own).astype(float).ravel() for one, own in pairs))
    alike = alike and len({len(one) for one in moved}) == 1
    found = Heard(tuple(moved) if alike else (), (), {}, alike, len(first))
    return longer(found, run, door=door, runs=runs, told=told)


def longer(
    found: Heard, run: Run, *, door: Callable[[], Noise], runs: int, told: Callable[[float], None]
) -> Heard:
    """Draw the noise of some runs more."""
    pools = {scale: [own] for scale, own in found.draws.items()}
    scales = found.scales
    for place in range(runs):
        told(place / runs)
        sums = _recorded(run, door(), noisy, only=found.sums)
        scales = tuple(one.scale for one in sums)
        for one in sums:
            pools.setdefault(one.scale, []).append(one.draws.astype(float))
    draws = {scale: np.concatenate(own) for scale, own in pools.items()}
    return replace(found, scales=scales, draws=draws)


@dataclass(frozen=True)
class _Sum:
    exact: Integers
    answer: Integers
    draws: Integers
    scale: Hashable


class _EnoughError(Exception):
    """The last sum of a run was heard: what it writes is not needed."""


def _recorded(
    run: Run, noise: Noise, answer: Callable[[Integers, Integers], Integers], only: int = 0
) -> list[_Sum]:
    """Return the exact sums, what was answered and the noise of a run, in order; up to ``only`` of them."""
    seen: list[_Sum] = []
    before = noise.counted

    def record(values: Integers, draws: Integers) -> Integers:
        nonlocal before
        asked, before = noise.counted - before, noise.counted
        told = answer(values, draws)
        seen.append(_Sum(values.copy(), told, draws.ravel(), next(iter(asked), None)))
        if len(seen) == only:
            raise _EnoughError
        return told

    with listening(record), suppress(_EnoughError):
        run(noise)
    return seen


def _replayed(run: Run, noise: Noise, answers: list[Integers]) -> list[Integers]:
    """Return the exact sums of a run that is given the answers of another."""
    seen: list[Integers] = []

    def replay(values: Integers, draws: Integers) -> Integers:
        seen.append(values.copy())
        known = len(seen) <= len(answers) and answers[len(seen) - 1].shape == values.shape
        return answers[len(seen) - 1] if known else noisy(values, draws)

    with listening(replay):
        run(noise)
    return seen
