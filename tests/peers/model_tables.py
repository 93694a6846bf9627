"""Tables, declarations and splits on which private models are measured beside those of other libraries.

Needs numpy and pandas alone: the program and the peers run it in environments of their own. The table of
heights is not part of this project (its licence is not established): where ``CUSTOS_HEIGHTS`` names a copy of
it (544 rows; height, weight, age, male; ``;`` between), it is measured too.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

DATA = Path(__file__).parents[1] / "data"
SEEDS = (0, 1, 2)
MANY_SEEDS, SMALL = tuple(range(20)), 10_000
"""Of tables with fewer rows there are more splits: there a median of three is chance."""
EPSILON, DELTA = 1.0, 1e-6
WINE = {
    "fixed acidity": (3, 15),
    "volatile acidity": (0, "1.2"),
    "citric acid": (0, "1.8"),
    "residual sugar": (0, 70),
    "chlorides": (0, "0.4"),
    "free sulfur dioxide": (0, 300),
    "total sulfur dioxide": (0, 450),
    "density": ("0.98", "1.04"),
    "ph": ("2.7", "3.9"),
    "sulphates": (0, "1.2"),
    "alcohol": (8, 15),
}
ADULT = {
    "age": (17, 90),
    "fnlwgt": (0, 1_500_000),
    "education_num": (1, 16),
    "capital_gain": (0, 100_000),
    "capital_loss": (0, 5000),
    "hours_per_week": (1, 99),
}
EDGES = {
    "capital_gain": (0, 1, 3000, 5000, 7000, 10_000, 15_000, 30_000, 100_000),
    "capital_loss": (0, 1, 1500, 1800, 2000, 2500, 5000),
}
HEIGHTS = {"weight": (0, 80), "age": (0, 90), "male": (0, 1)}
GROUPED = ("age", "education_num", "hours_per_week")
GROUPS = 8


@dataclass(frozen=True)
class Case:
    """A table with its target, and the declared bounds of its numbers; other columns are categories."""

    name: str
    frame: pd.DataFrame
    target: str
    bounds: dict[str, tuple[Any, Any]]
    ends: tuple[float, float] | None
    """Declared bounds of a target that is a number; None for two classes."""

    @property
    def predictors(self) -> list[str]:
        return [name for name in self.frame.columns if name != self.target]

    @property
    def truth(self) -> np.ndarray:
        """The target as numbers: 1 for the second class."""
        if self.ends is not None:
            return self.frame[self.target].to_numpy(float)
        return self.frame[self.target].str.startswith(">").to_numpy(float)

    def low_high(self, name: str) -> tuple[float, float]:
        low, high = self.bounds[name]
        return float(low), float(high)

    @property
    def seeds(self) -> tuple[int, ...]:
        """One for every split."""
        return MANY_SEEDS if len(self.frame) < SMALL else SEEDS

    def inside(self, seed: int) -> np.ndarray:
        """Whether each row is fitted on: four of five."""
        return np.random.default_rng(seed).random(len(self.frame)) < 0.8

    def scaled(self) -> np.ndarray:
        """Every number between −1 and 1, every category as one column a value: floats."""
        parts = []
        for name in self.predictors:
            if name in self.bounds:
                low, high = self.low_high(name)
                parts.append(
                    np.clip((2 * self.frame[[name]].to_numpy(float) - low - high) / (high - low), -1, 1)
                )
            else:
                parts.append(pd.get_dummies(self.frame[name]).to_numpy(float))
        return np.hstack(parts)


def adult() -> Case:
    frame = pd.read_csv(DATA / "adult.csv.gz", skipinitialspace=True)
    frame.columns = [name.replace("-", "_") for name in frame.columns]
    return Case("adult income", frame, "income", dict(ADULT), None)


def wine() -> Case:
    frame = pd.read_csv(DATA / "wine_white.csv.gz", sep=None, engine="python", compression="gzip")
    frame.columns = [name.replace("_", " ").lower() for name in frame.columns]
    return Case("wine quality", frame, "quality", dict(WINE), (0.0, 10.0))


def cases() -> Iterator[Case]:
    """Yield the tables that there are."""
    yield adult()
    yield wine()
    heights = os.environ.get("CUSTOS_HEIGHTS")
    if heights:
        frame = pd.read_csv(heights, sep=";")
        yield Case("heights", frame, "height", dict(HEIGHTS), (40.0, 190.0))


def fit_quality(case: Case, seed: int, found: np.ndarray) -> dict[str, float]:
    """Return how good predictions of the rows left out are: numbers, or scores of the second class."""
    away = ~case.inside(seed)
    truth = case.truth[away]
    if case.ends is not None:
        inside = np.clip(found, *case.ends)
        return {"R2": float(1 - np.mean((inside - truth) ** 2) / np.var(truth))}
    ranks = pd.Series(found).rank().to_numpy()
    many, few = truth.sum(), (1 - truth).sum()
    area = (ranks[truth > 0].sum() - many * (many + 1) / 2) / (many * few)
    return {"accuracy": float(np.mean((found > 0) == (truth > 0))), "area": float(area)}


def measured(runs: Callable[[int], dict[str, float]], seeds: tuple[int, ...] = SEEDS) -> dict[str, float]:
    """Return medians over the splits, and the CPU seconds of one."""
    found: list[dict[str, float]] = []
    for seed in seeds:
        start = time.process_time()
        one = runs(seed)
        found.append(one | {"cpu_seconds": time.process_time() - start})
    return {name: round(float(np.median([one[name] for one in found])), 4) for name in found[0]}


def inertia(rows: np.ndarray, centres: np.ndarray) -> float:
    """Return the mean squared distance to the nearest centre."""
    return float(((rows[:, None, :] - centres) ** 2).sum(axis=2).min(axis=1).mean())


def kept_variance(rows: np.ndarray, directions: np.ndarray) -> float:
    """Return the variance along orthonormal directions beside the best as many, shape (components, size)."""
    covariance = np.cov(rows, rowvar=False)
    orthonormal = np.linalg.qr(directions.T)[0]
    best = np.linalg.eigvalsh(covariance)[-len(directions) :].sum()
    return float(np.trace(orthonormal.T @ covariance @ orthonormal) / best)
