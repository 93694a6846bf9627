"""What the noisy answers of a fit tell about one row: the level that is really spent, measured.

A model that was trained many times tells too little: halved noise would pass. So every noisy sum is looked at
beside what it is of: the fit runs on a table, the same answers are given again to a fit on the neighbour, and
each pair of exact sums says how far the row moved that sum. The noise is measured as it was drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np

from engine.privacy.mechanisms.integers import add_noise
from engine.privacy.noise import Noise
from tests.noise_source import seeded_noise

Run = Callable[[Any, Noise], object]


@dataclass(frozen=True)
class Transcript:
    """By sum: how far the row moved it, and its noise in every run; sums of one size share their noise."""

    moved: list[np.ndarray]
    draws: list[np.ndarray]
    vectors: list[bool]
    """Which sums get one vector of noise together."""

    @property
    def gaussian_level(self) -> float:
        """μ of everything together, from the noise as drawn."""
        ratios = [
            float(moved @ moved) / np.mean(draws.astype(float) ** 2)
            for moved, draws in zip(self.moved, self.draws, strict=True)
        ]
        return float(np.sqrt(np.sum(ratios)))

    @property
    def laplace_level(self) -> float:
        """ε of everything together, from the noise as drawn."""
        return float(
            np.sum(
                [
                    _pure_loss(moved, draws.astype(float), vector)
                    for moved, draws, vector in zip(self.moved, self.draws, self.vectors, strict=True)
                ]
            )
        )


def _pure_loss(moved: np.ndarray, draws: np.ndarray, vector: bool) -> float:
    """Return Σ |moved| / b, or of vector noise ‖moved‖ / s, its mean length being d s."""
    if not vector:
        return float(np.abs(moved).sum() / np.mean(np.abs(draws)))
    lengths = np.linalg.norm(draws.reshape(-1, moved.size), axis=1)
    return float(np.linalg.norm(moved) * moved.size / lengths.mean())


def transcript(run: Run, table: Any, neighbour: Any, *, module: ModuleType, runs: int) -> Transcript:
    """Record a fit and replay it on the neighbour.

    Parameters
    ----------
    run
        Fits a table with noise.
    module
        Where `added` is what gives a sum its noise.
    runs
        How often noise is drawn; what the row moves is taken from the first.

    Notes
    -----
    That the replay asks for the same sums, of the same shape and in whole numbers, is asserted here: what is
    asked for must follow from what was answered.
    """
    first = _recorded(run, table, 0, module)
    moved = []
    replayed = _replayed(run, neighbour, [noisy for _, noisy, _, _ in first], module)
    assert len(replayed) == len(first)
    for (exact, _, _, _), other in zip(first, replayed, strict=True):
        assert exact.dtype == other.dtype == np.int64 and exact.shape == other.shape
        moved.append((exact - other).astype(float))
    draws = [[draw] for _, _, draw, _ in first]
    for seed in range(1, runs):
        for place, (_, _, draw, _) in enumerate(_recorded(run, table, seed, module)):
            draws[place].append(draw)
    pooled: dict[int, list[np.ndarray]] = {}
    for one, own in zip(moved, draws, strict=True):
        pooled.setdefault(one.size, []).extend(own)
    together = {size: np.concatenate(own) for size, own in pooled.items()}
    vectors = [vector for *_, vector in first]
    return Transcript(moved, [together[one.size] for one in moved], vectors)


def _recorded(run: Run, table: Any, seed: int, module: ModuleType) -> list[tuple[Any, ...]]:
    seen: list[tuple[Any, ...]] = []

    def record(values: np.ndarray, draws: np.ndarray) -> np.ndarray:
        noisy = add_noise(values, draws)
        seen.append((values.copy(), noisy, draws.ravel(), draws.ndim == 2))
        return noisy

    with patch.object(module, "add_noise", record):
        run(table, seeded_noise(seed))
    return seen


def _replayed(run: Run, table: Any, answers: list[np.ndarray], module: ModuleType) -> list[np.ndarray]:
    seen: list[np.ndarray] = []

    def replay(values: np.ndarray, draws: np.ndarray) -> np.ndarray:
        seen.append(values.copy())
        return answers[len(seen) - 1]

    with patch.object(module, "add_noise", replay):
        run(table, seeded_noise(0))
    return seen


def exact_sums(run: Run, table: Any, *, module: ModuleType) -> list[np.ndarray]:
    """Return the exact sums that a fit asks for."""
    return [exact for exact, *_ in _recorded(run, table, 0, module)]
