"""The steps of an additive model: exact sums of clipped residuals, noise, small moves of one curve at a time.

A row's part in a sum is a whole number that follows from the row and from published curves alone: curves are
rounded to a grid, scores are sums of whole numbers, the logistic function is a table. So another row changes
no bit of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine import arrays
from engine.methods.models.additive_schedule import Schedule
from engine.methods.models.residuals import RESIDUAL_BITS, on_grid
from engine.methods.models.residuals import residuals as left_over
from engine.privacy.mechanisms.integers import added
from engine.privacy.noise import Noise
from engine.progress import SILENT, Progress

Codes = arrays.Integers
Floats = arrays.Floats

RATE = 0.5


@dataclass(frozen=True)
class Curve:
    """What one predictor adds.

    Parameters
    ----------
    effects
        By cell, shape (cells,).
    spread
        Standard deviation that the noise gives each of them.
    rows
        Noisy number of rows in each cell, none below 0.
    """

    effects: Floats
    spread: Floats
    rows: Floats


@dataclass(frozen=True)
class Fitted:
    """An additive model."""

    intercept: float
    curves: tuple[Curve, ...]


@dataclass
class _State:
    """Curves and intercept as they are now, and the integer scores of all rows."""

    curves: list[Floats]
    intercept: float
    scores: Codes

    def move(self, place: int, codes: Codes, change: Floats, shift: float) -> None:
        before = on_grid(self.curves[place]) + on_grid(self.intercept)
        self.curves[place] = self.curves[place] + change
        self.intercept += shift
        after = on_grid(self.curves[place]) + on_grid(self.intercept)
        self.scores += (after - before)[codes]


def fit(
    codes: Sequence[Codes],
    target: Codes,
    schedule: Schedule,
    *,
    ordered: Sequence[int],
    noise: Noise,
    progress: Progress = SILENT,
) -> Fitted:
    """Fit curves to rows by noisy sums.

    Parameters
    ----------
    codes
        By predictor, the cell of every row.
    target
        In steps of 2^-15: 0 or one for classes, −1 to 1 for numbers.
    schedule
        The noise of every sum, how many rounds, how far residuals reach.
    ordered
        By predictor, how many of its first cells have an order; neighbours there are smoothed.

    Notes
    -----
    Rounds over the predictors; in each the sums of residuals by cell, with noise, move its curve. One curve
    at a time: all at once diverges where predictors go together. After Nori and others (2021), with whole
    histograms, a penalty on jumps, and bins that were declared.
    """
    counts = _counts(codes, schedule, noise)
    rows: list[Floats] = [np.maximum(count, 0.0) for count in counts]
    about = max(1.0, float(np.mean([count.sum() for count in rows])))
    penalties = [_penalty(len(own), order) for own, order in zip(rows, ordered, strict=True)]
    inverses: list[Floats] = [
        np.asarray(np.linalg.inv(np.diag(schedule.bend * own) + schedule.ridge * penalty), dtype=np.float64)
        for own, penalty in zip(rows, penalties, strict=True)
    ]
    state = _State([np.zeros(len(own)) for own in rows], 0.0, np.zeros(len(target), dtype=np.int64))
    kept: list[tuple[float, list[Floats]]] = []
    for turn in range(schedule.rounds):
        progress.step(turn / schedule.rounds, "models.rounds")
        for place, own in enumerate(codes):
            sums = _sums(own, target, state.scores, schedule, len(rows[place]), noise)
            shift = _shift(sums, schedule, about, turn, place)
            pull = schedule.shrinkage * penalties[place] @ state.curves[place]
            change = RATE * inverses[place] @ (sums - schedule.bend * shift * rows[place] - pull)
            state.move(place, own, change, shift)
        if turn >= schedule.rounds - schedule.averaged:
            kept.append((state.intercept, [curve.copy() for curve in state.curves]))
    return _averaged(kept, rows, inverses, penalties, schedule)


def residuals(target: Codes, scores: Codes, schedule: Schedule) -> Codes:
    """Return what is left of every row, clipped, in steps of 2^-15."""
    return left_over(target, scores, is_classes=schedule.is_classes, reach=schedule.reach)


def _counts(codes: Sequence[Codes], schedule: Schedule, noise: Noise) -> list[Floats]:
    """Return how many rows each cell of each predictor holds, with noise: one query."""
    exact = np.concatenate(
        [np.bincount(own, minlength=size) for own, size in zip(codes, schedule.sizes, strict=True)]
    ).astype(np.int64)
    noisy = added(exact, schedule.drawn(schedule.count_scale, exact.size, noise)).astype(np.float64)
    return np.split(noisy, np.cumsum(schedule.sizes)[:-1])


def _sums(codes: Codes, target: Codes, scores: Codes, schedule: Schedule, cells: int, noise: Noise) -> Floats:
    """Return the sums of residuals by cell, with noise."""
    left = residuals(target, scores, schedule)
    # Whole numbers below 2^53 in doubles: exact, in any order.
    exact = np.bincount(codes, weights=left.astype(np.float64), minlength=cells).astype(np.int64)
    noisy = added(exact, schedule.drawn(schedule.sum_scale, cells, noise))
    return noisy.astype(np.float64) / 2**RESIDUAL_BITS


def _shift(sums: Floats, schedule: Schedule, about: float, turn: int, place: int) -> float:
    """Return how far the intercept moves: in the first rounds, and with the first predictor."""
    if turn >= 3 and place:
        return 0.0
    step = float(sums.sum()) / (schedule.bend * about)
    return float(np.clip(step if turn == 0 and place == 0 else step / 2, -0.5, 0.5))


def _penalty(cells: int, ordered: int) -> Floats:
    """Return what jumps cost: between neighbours where there is an order, and any effect at all."""
    found = np.eye(cells)
    if ordered > 1:
        found[:ordered, :ordered] /= 2
        jumps = np.diff(np.eye(ordered), axis=0)
        found[:ordered, :ordered] += 4 * jumps.T @ jumps
    return found


def _averaged(
    kept: list[tuple[float, list[Floats]]],
    rows: list[Floats],
    inverses: list[Floats],
    penalties: list[Floats],
    schedule: Schedule,
) -> Fitted:
    intercept = float(np.mean([one for one, _ in kept]))
    curves = []
    for place, own in enumerate(rows):
        effects = np.mean([all_curves[place] for _, all_curves in kept], axis=0)
        middle = float(own @ effects / own.sum()) if own.sum() > 0 else float(effects.mean())
        intercept += middle
        spread = _spread(own, inverses[place], penalties[place], schedule)
        curves.append(Curve(effects - middle, spread, own))
    return Fitted(intercept, tuple(curves))


def _spread(rows: Floats, inverse: Floats, penalty: Floats, schedule: Schedule) -> Floats:
    """Return the standard deviation that the noise of the sums gives a curve.

    Notes
    -----
    The step is linear in the noise: a curve keeps (1 − rate · P (h N + shrinkage · S)) of what it had. What
    each draw leaves in the mean of the last rounds is added up. Other predictors are left out of it.
    """
    cells = len(rows)
    keeps = np.eye(cells) - RATE * inverse @ (np.diag(schedule.bend * rows) + schedule.shrinkage * penalty)
    power, total = np.eye(cells), np.zeros((cells, cells))
    reach = [np.zeros((cells, cells))]
    for _ in range(schedule.rounds):
        reach.append(reach[-1] + power)
        power = keeps @ power
    for turn in range(schedule.rounds):
        first = max(turn, schedule.rounds - schedule.averaged)
        left = (reach[schedule.rounds - turn] - reach[first - turn]) / schedule.averaged
        step = left @ inverse * RATE
        total += step @ step.T
    return np.sqrt(np.maximum(np.diag(total), 0)) * schedule.deviation(schedule.sum_scale) / 2**RESIDUAL_BITS
