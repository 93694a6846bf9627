"""What exact arithmetic costs: fits of the program beside twins in floating point, on the same splits.

    python tests/published/exactness.py         # prints the tables of exactness.md

A twin has the schedule, the scales, the steps and the limits of the program's fit. Its residuals are doubles,
its logistic function is that of numpy, nothing is rounded to a grid, and its noise is of numpy's normal
generator: fast, and no protection, as floating-point noise tells about what it hides.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")  # before numpy is loaded

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from engine.methods.catalogue import method  # noqa: E402
from engine.methods.models import additive_steps, descent  # noqa: E402
from engine.methods.models.additive_schedule import Schedule  # noqa: E402
from engine.methods.models.design import Design  # noqa: E402
from engine.methods.models.limits import FULL, LEVEL, SPREAD, WIDEST, level_shift  # noqa: E402
from engine.methods.models.points import PER_SIDE, WIDEST_WEIGHT, Points  # noqa: E402
from engine.methods.models.residuals import RESIDUAL_STEPS, WHOLE  # noqa: E402
from engine.methods.protocol import MAIN, Budget, Request  # noqa: E402
from engine.methods.shared.view import view_of  # noqa: E402
from engine.privacy.noise import Noise  # noqa: E402
from engine.table.table import Table  # noqa: E402
from tests.noise_source import seeded_noise  # noqa: E402
from tests.peers.model_tables import DELTA, EDGES, EPSILON, Case, adult, fit_quality, wine  # noqa: E402
from tests.peers.private_models_here import schema_of  # noqa: E402

SEEDS = range(5)
DRAWS = 5
"""Fits of each split, with noise of their own."""
REPEATS = 5
Draw = Callable[[Fraction, int], np.ndarray]
Fit = Callable[[int | None], np.ndarray]
"""Fits and returns scores of the rows left out; with a seed the noise is the same every time."""


def normal(seed: int | None) -> Draw:
    """Return numpy's noise, in whole steps' units but not whole."""
    chance = np.random.default_rng(seed)
    return lambda scale, size: chance.normal(scale=float(scale), size=size)


def whole(seed: int | None) -> Draw:
    """Return the noise of the program for twins: exact draws."""
    noise = Noise() if seed is None else seeded_noise(seed)
    return lambda scale, size: noise.discrete_gaussian(scale**2, size).astype(np.float64)


# --- twins -----------------------------------------------------------------------------------------------


def additive_twin(
    codes: list[np.ndarray], target: np.ndarray, schedule: Schedule, ordered: list[int], draw: Draw
) -> additive_steps.Fitted:
    """Fit curves to one of two classes as `additive_steps.fit` does, in floating point.

    Parameters
    ----------
    target
        0 or 1.
    draw
        Returns noise of a scale, in the steps of the program.
    """
    sizes = schedule.sizes
    exact = [np.bincount(own, minlength=size) for own, size in zip(codes, sizes, strict=True)]
    noisy = np.concatenate(exact) + draw(schedule.count_scale, sum(sizes))
    rows = [np.maximum(own, 0.0) for own in np.split(noisy, np.cumsum(sizes)[:-1])]
    about = max(1.0, float(np.mean([own.sum() for own in rows])))
    penalties = [additive_steps._penalty(size, order) for size, order in zip(sizes, ordered, strict=True)]
    inverses = [
        np.linalg.inv(np.diag(schedule.bend * own) + schedule.ridge * penalty)
        for own, penalty in zip(rows, penalties, strict=True)
    ]
    curves, intercept, kept = [np.zeros(size) for size in sizes], 0.0, []
    scores, reach = np.zeros(len(target)), float(WIDEST)
    for turn in range(schedule.rounds):
        for place, own in enumerate(codes):
            left = np.clip(target - 1 / (1 + np.exp(-scores)), -reach, reach)
            sums = np.bincount(own, weights=left, minlength=sizes[place])
            sums += draw(schedule.sum_scale, sizes[place]) / RESIDUAL_STEPS
            shift = additive_steps._shift(sums, schedule, about, turn, place, intercept)
            pull = schedule.shrinkage * penalties[place] @ curves[place]
            change = (
                additive_steps.RATE * inverses[place] @ (sums - schedule.bend * shift * rows[place] - pull)
            )
            curves[place] += change
            intercept += shift
            scores += (change + shift).take(own)
        if turn >= schedule.rounds - schedule.averaged:
            kept.append((intercept, [curve.copy() for curve in curves]))
    return additive_steps._average(kept, rows, inverses, penalties, schedule, WHOLE)


@dataclass(frozen=True)
class FloatPoints:
    """Coordinates of rows: doubles for numbers, the cell of each row for levels."""

    numbers: np.ndarray
    cells: tuple[np.ndarray, ...]
    widths: tuple[int, ...]

    @property
    def starts(self) -> np.ndarray:
        return np.cumsum([1, *(max(width, 1) for width in self.widths)])[:-1]

    @property
    def is_number(self) -> np.ndarray:
        return np.array(self.widths) == 0

    def gram(self) -> np.ndarray:
        parts = Points(self.numbers * PER_SIDE, self.cells, self.widths).dense()
        return np.asarray(sum(part.T @ part for part in parts)) / PER_SIDE**2

    def scores(self, weights: np.ndarray) -> np.ndarray:
        found = self.numbers @ weights[self.starts[self.is_number]] + weights[0]
        for own, start in zip(self.cells, self.starts[~self.is_number], strict=True):
            found += weights[start:].take(own)
        return found

    def sums(self, left: np.ndarray) -> np.ndarray:
        found = np.zeros(1 + sum(max(width, 1) for width in self.widths))
        found[0] = left.sum()
        found[self.starts[self.is_number]] = self.numbers.T @ left
        wide = [width for width in self.widths if width]
        for own, start, width in zip(self.cells, self.starts[~self.is_number], wide, strict=True):
            found[start : start + width] = np.bincount(own, weights=left, minlength=width)
        return found


def steps_twin(
    points: FloatPoints, target: np.ndarray, plan: descent.DescentPlan, draw: Draw
) -> descent.Descended:
    """Fit weights to a number between −1 and 1 as `descent.fit` does, in floating point."""
    scale = plan.division.scale
    noisy = draw(scale(descent.PRODUCTS), plan.monomials.count) / PER_SIDE**2
    gram = points.gram() + plan.monomials.whole(noisy)
    slopes = descent.Slopes.of(gram, plan)
    weights, last, kept = (np.zeros(plan.size) for _ in range(3))
    parts, limit = WHOLE, float(WIDEST)
    for turn in range(plan.turns):
        ahead = np.clip(weights + descent.MOMENTUM * last, -WIDEST_WEIGHT, WIDEST_WEIGHT)
        if turn == plan.bought:
            left = np.clip(target - points.scores(ahead), -limit, limit)
            squared = (left @ left) / limit**2 * FULL + draw(scale(SPREAD), 1)[0]
            parts = plan.parts(float(squared), gram[0, 0])
            limit = float(WIDEST) * WHOLE / parts
        left = np.clip(target - points.scores(ahead), -limit, limit)
        added = draw(scale(descent.SUMS), plan.size) / (PER_SIDE * RESIDUAL_STEPS) * WHOLE / parts
        found = ahead + slopes.step(points.sums(left) + added)
        weights, last = found, found - weights
        if turn >= plan.turns - plan.averaged:
            kept += found / plan.averaged
    kept = np.clip(kept, -WIDEST_WEIGHT, WIDEST_WEIGHT)
    wide = float(WIDEST)
    left = np.clip(target - np.clip(points.scores(kept), -1, 1), -wide, wide)
    answer = float(left.sum() * RESIDUAL_STEPS + draw(scale(LEVEL), 1)[0])
    rows = max(gram[0, 0], plan.about_rows / 2)
    kept[0] += level_shift(answer, deviation=plan.division.deviation(LEVEL), rows=rows)
    spread = descent.covariance(slopes, gram, kept, plan, parts=parts)
    return descent.Descended(descent.Solution(kept, spread, 0, 0.0), gram[0], parts)


# --- cases -----------------------------------------------------------------------------------------------


def asked(name: str, case: Case, rows: int, epsilon: float) -> Request:
    """Return the request for a model with Gaussian noise."""
    way = method(f"models.{name}")
    given: dict[str, Any] = {"target": case.target, "predictors": case.predictors, "noise": "gaussian"}
    edges = {column: list(own) for column, own in EDGES.items() if column in case.bounds}
    if name == "additive":
        given |= {"edges": edges} if edges else {}
    budget = Budget(Fraction(str(epsilon)), Fraction(str(DELTA)))
    request = way.make_request({MAIN: schema_of(case)}, given | {"about_rows": rows}, budget=budget)
    assert not way(request).problems, way(request).problems
    return request


def additive(case: Case, seed: int, epsilon: float = EPSILON) -> dict[str, Fit]:
    """Return the fits of a split: of the program, of its twin, and of the twin with exact draws."""
    inside = case.inside(seed)
    way, request = method("models.additive"), asked("additive", case, int(inside.sum()), epsilon)
    schedule, predictors = way(request).schedule, way(request).cells
    codes = view_of(Table(case.frame)).codes(predictors)
    ordered = [cells.ordered for cells in predictors]
    within, away = ([own[rows] for own in codes] for rows in (inside, ~inside))
    target = case.truth[inside]
    steps = (target * RESIDUAL_STEPS).astype(np.int32)

    def scores(fitted: additive_steps.Fitted) -> np.ndarray:
        pairs = zip(fitted.curves, away, strict=True)
        return fitted.intercept + sum(curve.effects.take(own) for curve, own in pairs)

    def exactly(noise_seed: int | None) -> np.ndarray:
        noise = Noise() if noise_seed is None else seeded_noise(noise_seed)
        return scores(additive_steps.fit(within, steps, schedule, ordered=ordered, noise=noise))

    def floating(kind: Callable[[int | None], Draw], noise_seed: int | None) -> np.ndarray:
        return scores(additive_twin(within, target, schedule, ordered, kind(noise_seed)))

    return {
        "exact": exactly,
        "twin": partial(floating, normal),
        "twin, exact draws": partial(floating, whole),
    }


def linear(case: Case, seed: int, epsilon: float = EPSILON) -> dict[str, Fit]:
    """Return the same of a linear model by steps."""
    inside = case.inside(seed)
    request = asked("linear", case, int(inside.sum()), epsilon)
    plan = method("models.linear")(request).plan
    columns = tuple(map(schema_of(case).column, case.predictors))
    assert plan.widths == Design(schema_of(case).column(case.target), columns).widths
    points = Points.of(Table(case.frame), columns)
    numbers = [_scaled(case.frame[one], *case.low_high(one)) for one in case.predictors if one in case.bounds]
    floats = FloatPoints(np.column_stack(numbers), points.cells, points.widths)
    low, high = case.ends
    target = _scaled(pd.Series(case.truth), low, high)
    steps = np.rint(target[inside] * RESIDUAL_STEPS).astype(np.int32)
    within, away = (
        FloatPoints(floats.numbers[rows], tuple(own[rows] for own in floats.cells), floats.widths)
        for rows in (inside, ~inside)
    )
    whole_points = points.where(inside)

    def scores(found: descent.Descended) -> np.ndarray:
        return away.scores(found.solution.weights) * (high - low) / 2 + (high + low) / 2

    def exactly(noise_seed: int | None) -> np.ndarray:
        noise = Noise() if noise_seed is None else seeded_noise(noise_seed)
        return scores(descent.fit(whole_points, steps, plan, noise=noise))

    def floating(kind: Callable[[int | None], Draw], noise_seed: int | None) -> np.ndarray:
        return scores(steps_twin(within, target[inside], plan, kind(noise_seed)))

    return {
        "exact": exactly,
        "twin": partial(floating, normal),
        "twin, exact draws": partial(floating, whole),
    }


def _scaled(values: pd.Series, low: float, high: float) -> np.ndarray:
    return np.asarray(np.clip((2 * values.to_numpy(float) - low - high) / (high - low), -1, 1))


def adult_age() -> Case:
    """Return Adult with the age as the number to be predicted."""
    case = adult()
    bounds = dict(case.bounds)
    ends = bounds.pop("age")
    return Case("adult age", case.frame, "age", bounds, ends)


CASES = {
    "additive, Adult income": (additive, adult),
    "linear steps, white wine": (linear, wine),
    "linear steps, Adult age": (linear, adult_age),
}


# --- measurements ----------------------------------------------------------------------------------------


def qualities(case: Case, fits: dict[str, Fit], split: int, draws: int) -> dict[str, dict[str, float]]:
    """Return the mean quality of each fit over draws of noise."""
    found = {}
    for name, fit in fits.items():
        runs = [fit_quality(case, split, fit(100 * split + draw)) for draw in range(draws)]
        found[name] = {one: float(np.mean([run[one] for run in runs])) for one in runs[0]}
    return found


def seconds(fits: dict[str, Fit], repeats: int = REPEATS) -> dict[str, float]:
    """Return the median CPU seconds of each fit; they take turns."""
    found: dict[str, list[float]] = {name: [] for name in fits}
    for _ in range(repeats + 1):
        for name, fit in fits.items():
            start = time.process_time()
            fit(None)
            found[name].append(time.process_time() - start)
    return {name: float(np.median(own[1:])) for name, own in found.items()}


def main() -> None:
    """Print both tables."""
    spent, good = [], []
    for name, (fits_of, load) in CASES.items():
        case = load()
        fits = [fits_of(case, seed) for seed in SEEDS]
        own = seconds(fits[0])
        ratios = [own["exact"] / own[other] for other in ("twin", "twin, exact draws")]
        cells = [*(f"{1000 * one:.0f}" for one in own.values()), *(f"{one:.2f}" for one in ratios)]
        spent.append(f"| {name} | {' | '.join(cells)} |")
        found = [qualities(case, own, seed, DRAWS) for seed, own in zip(SEEDS, fits, strict=True)]
        for measure in found[0]["exact"]:
            means = {way: np.mean([one[way][measure] for one in found]) for way in fits[0]}
            lost = [means[other] - means["exact"] for other in ("twin", "twin, exact draws")]
            cells = [*(f"{one:.4f}" for one in means.values()), *(f"{one:+.5f}" for one in lost)]
            good.append(f"| {name}: {measure} | {' | '.join(cells)} |")
    ways = "exact | twin | twin, exact draws | {0} twin | {0} twin, exact draws"
    print(f"| CPU milliseconds of one fit | {ways.format('over')} |\n{'|---' * 6}|", *spent, sep="\n")
    print(f"\n| quality | {ways.format('lost to')} |\n{'|---' * 6}|", *good, sep="\n")


if __name__ == "__main__":
    main()
