"""What the noisy sums of a method tell about one row, from the sums themselves and the noise as drawn.

A model that was trained many times tells too little about its noise: halved noise would pass. Here every
noisy sum is heard beside what it is of: the method runs on invented rows, the same answers are given to it on
the neighbour, and each pair of exact sums says how far the row moved that sum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np

from engine import arrays
from engine.privacy.mechanisms.integers import Integers, listening, noisy

Floats = arrays.Floats
Run = Callable[[], object]


@dataclass(frozen=True)
class Heard:
    """The sums of runs on a table, and how far the row that its neighbour lacks moved each.

    Parameters
    ----------
    moved
        By sum.
    draws
        By sum: the noise of all sums of as many numbers, which share their scale.
    alike
        Whether the neighbour was asked for the same sums: that depends on answers alone.
    """

    moved: tuple[Floats, ...]
    draws: tuple[Floats, ...]
    alike: bool

    def gaussian(self) -> tuple[float, float]:
        """Return μ of everything together and its standard error.

        Notes
        -----
        μ² = Σ |moved|² / σ² for any number of sums, each of which may depend on earlier answers (Dong, Roth
        and Su 2022, corollary 3.3).
        """
        ratios, counts = self._pooled(lambda one: float(one @ one), lambda own: float(np.mean(own**2)))
        square = float(ratios.sum())
        off = sqrt(float((ratios**2 * 2 / counts).sum()))  # a mean of n squares is off by √(2/n)
        return sqrt(square), off / (2 * sqrt(square)) if square else 0.0

    def laplace(self) -> tuple[float, float]:
        """Return ε of everything together and its standard error: Σ |moved| / b."""
        ratios, counts = self._pooled(lambda one: float(np.abs(one).sum()), _laplace_scale)
        return float(ratios.sum()), sqrt(float((ratios**2 / counts).sum()))

    def _pooled(
        self, size_of: Callable[[Floats], float], scale_of: Callable[[Floats], float]
    ) -> tuple[Floats, Floats]:
        """Return by scale of noise how far the row moved in it, and how many draws told the scale."""
        by_scale: dict[int, tuple[float, Floats]] = {}
        for one, own in zip(self.moved, self.draws, strict=True):
            before = by_scale.get(one.size, (0.0, own))[0]
            by_scale[one.size] = (before + size_of(one), own)
        found = [(total / scale_of(own), own.size) for total, own in by_scale.values() if total]
        return np.array([one for one, _ in found]), np.array([count for _, count in found], dtype=float)


def _laplace_scale(draws: Floats) -> float:
    """Return b of the discrete Laplace distribution: its mean length is 1 / sinh(1/b)."""
    return 1 / float(np.arcsinh(1 / max(float(np.mean(np.abs(draws))), 1e-9)))


def heard(run: Run, neighbour: Run, *, runs: int, told: Callable[[float], None]) -> Heard:
    """Run a method on a table and on its neighbour, and listen.

    Parameters
    ----------
    run, neighbour
        The method on either, with noise of its own.
    runs
        How often the noise is drawn; how far the row moves sums is taken from the first.
    told
        How much is done, from 0 to 1.
    """
    first = _recorded(run)
    other = _replayed(neighbour, [answer for _, answer, _ in first])
    shapes = [(exact.shape, exact.dtype) for exact, _, _ in first]
    alike = shapes == [(exact.shape, exact.dtype) for exact in other]
    pairs = list(zip(first, other, strict=False)) if alike else []
    moved = tuple((exact - own).astype(float).ravel() for (exact, _, _), own in pairs)
    pools: dict[int, list[Integers]] = {}
    for place in range(runs):
        told(place / runs)
        for exact, _, draws in first if place == 0 else _recorded(run):
            pools.setdefault(exact.size, []).append(draws)
    pooled = {size: np.concatenate(own).astype(float) for size, own in pools.items()}
    return Heard(moved, tuple(pooled[one.size] for one in moved), alike)


def _recorded(run: Run) -> list[tuple[Integers, Integers, Integers]]:
    """Return the exact sums, the noisy ones and the noise of a run, in order."""
    seen: list[tuple[Integers, Integers, Integers]] = []

    def record(values: Integers, draws: Integers) -> Integers:
        seen.append((values.copy(), noisy(values, draws), draws.ravel()))
        return seen[-1][1]

    with listening(record):
        run()
    return seen


def _replayed(run: Run, answers: list[Integers]) -> list[Integers]:
    """Return the exact sums of a run that is given the answers of another."""
    seen: list[Integers] = []

    def replay(values: Integers, draws: Integers) -> Integers:
        seen.append(values.copy())
        known = len(seen) <= len(answers) and answers[len(seen) - 1].shape == values.shape
        return answers[len(seen) - 1] if known else noisy(values, draws)

    with listening(replay):
        run()
    return seen
