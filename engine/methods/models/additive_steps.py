"""The steps of an additive model: exact sums of clipped residuals, noise, small moves of one curve at a time.

A row's part in a sum is a whole number that follows from the row and from published curves alone: curves are
rounded to a grid, scores are sums of whole numbers, the logistic function is a table. So another row changes
no bit of it. Of a row are kept a small number for each predictor, its target and its score.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from statistics import NormalDist

import numpy as np

from engine import arrays
from engine.methods.models.additive_bands import (
    RATE,
    Followed,
    correlations,
    count_together,
    level_slope,
    level_step,
    spreads,
)
from engine.methods.models.additive_grids import Grid, jumps
from engine.methods.models.additive_schedule import Schedule
from engine.methods.models.additive_sums import SumsPlan
from engine.methods.models.limits import REACH, level_shift, squares
from engine.methods.models.residuals import RESIDUAL_BITS, RESIDUAL_STEPS, SCORE_BITS, WHOLE, on_grid
from engine.methods.models.residuals import residuals as left_over
from engine.methods.shared.blocks import blocks
from engine.privacy.mechanisms.integers import add_noise
from engine.privacy.noise import Noise
from engine.progress import SILENT, Progress

Codes = arrays.Whole
Floats = arrays.Floats

WIDEST_CURVE = 2.0**11
"""Curves are kept within ± this where rows are scored: far beyond where a residual still changes, and so that
200 of them, 20 tables of pairs and the intercept in steps of 2^-12 stay below 2^31."""


@dataclass(frozen=True)
class Curve:
    """What one predictor adds, or two together beyond what each adds.

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
    """An additive model; ``parts`` say at what residuals were clipped in the end, see `limits.limit_of`."""

    intercept: float
    curves: tuple[Curve, ...]
    parts: int = WHOLE
    pairs: tuple[Curve, ...] = ()


@dataclass
class _State:
    """Curves and intercept as they are now, and the rows with their integer scores.

    The scores wait for a move until rows are read for the next sums: then both is one reading.
    """

    codes: Sequence[Codes]
    target: Codes
    scores: Codes
    curves: list[Floats]
    intercept: float = 0.0
    moved: tuple[Codes, Codes] | None = None

    @classmethod
    def of(cls, codes: Sequence[Codes], target: Codes, schedule: Schedule) -> _State:
        curves = [np.zeros(size) for size in schedule.sizes]
        narrow = target.astype(np.int32, copy=False)
        return cls(codes, narrow, np.zeros(len(target), dtype=np.int32), curves)

    def move(self, place: int, change: Floats, shift: float) -> None:
        """Change a curve and the intercept; scores follow with the next sums."""
        before = _steps(self.curves[place]) + _steps(self.intercept)
        self.curves[place] = self.curves[place] + change
        self.intercept += shift
        after = _steps(self.curves[place]) + _steps(self.intercept)
        self.moved = (self.codes[place], (after - before).astype(np.int32))

    def sums(self, place: int, schedule: Schedule, parts: int) -> arrays.Integers:
        """Return the exact sums of residuals by cell of a predictor."""
        found = np.zeros(schedule.sizes[place], dtype=np.int64)
        for rows, left in self._left(schedule, parts):
            # Whole numbers below 2^53 in doubles: exact, in any order.
            sums = np.bincount(self.codes[place][rows], weights=left, minlength=found.size)
            found += sums.astype(np.int64)
        return found

    def squares(self, schedule: Schedule) -> arrays.Integers:
        """Return the exact sum of squares of residuals at the widest limit."""
        none = squares(np.zeros(0, dtype=np.int64))
        return np.asarray(sum((squares(left) for _, left in self._left(schedule, WHOLE)), none))

    def left_by(self, fitted: Fitted) -> arrays.Integers:
        """Return the exact sum of what a model of a number leaves, at the widest limit; shape (1,)."""
        total, most = 0, 1 << SCORE_BITS
        curves = [_steps(curve.effects).astype(np.int32) for curve in (*fitted.curves, *fitted.pairs)]
        for rows in blocks(len(self.target)):
            scores = np.full(len(self.target[rows]), _steps(fitted.intercept), dtype=np.int32)
            for own, curve in zip(self.codes, curves, strict=True):
                scores += curve.take(own[rows])
            kept = np.clip(scores, -most, most)  # as it predicts: within the declared bounds
            total += int(left_over(self.target[rows], kept, is_classes=False, reach=REACH).sum())
        return np.array([total], dtype=np.int64)

    def _left(self, schedule: Schedule, parts: int) -> Iterator[tuple[slice, Codes]]:
        """Yield blocks of rows with their residuals."""
        for rows in blocks(len(self.target)):
            if self.moved is not None:
                own, change = self.moved
                self.scores[rows] += change.take(own[rows])
            yield rows, residuals(self.target[rows], self.scores[rows], schedule, parts)
        self.moved = None


def fit(
    codes: Sequence[Codes],
    target: Codes,
    schedule: Schedule,
    *,
    ordered: Sequence[int],
    noise: Noise,
    grids: Sequence[Grid] = (),
    progress: Progress = SILENT,
) -> Fitted:
    """Fit curves to rows by noisy sums.

    Parameters
    ----------
    codes
        By predictor, the cell of every row; then by pair of predictors.
    target
        In steps of 2^-15: 0 or one for classes, −1 to 1 for numbers; kept as 32 bits.
    schedule
        The noise of every sum, how many rounds, how far residuals reach.
    ordered
        By predictor, how many of its first cells have an order; neighbours there are smoothed.
    grids
        By pair, its shape.

    Notes
    -----
    Rounds over the predictors; in each the sums of residuals by cell, with noise, move its curve. One curve
    at a time: all at once diverges where predictors go together. After Nori and others (2021), with whole
    histograms, a penalty on jumps, and bins that were declared. For a number the limit of residuals is bought
    after the first round, and in the end what is left on average: `limits`. The penalty stays what it is at
    the widest limit, as it stands beside numbers of rows. A pair is one more predictor whose cells are those
    of both, and moves only in what says nothing of either alone: `Grid.beyond`.
    """
    counts = _counts(codes, schedule, noise)
    rows: list[Floats] = [np.maximum(count, 0.0) for count in counts]
    if schedule.mean_alone:
        return _mean_alone(target, schedule, rows, len(ordered), noise)
    about = max(1.0, float(np.mean([count.sum() for count in rows])))
    shapes: tuple[int | Grid, ...] = (*ordered, *grids)
    penalties = [penalty_of(len(own), shape) for own, shape in zip(rows, shapes, strict=True)]
    inverses = [
        _inverse(own, schedule.bend * np.diag(own) + schedule.ridge * penalty, shape)
        for own, penalty, shape in zip(rows, penalties, shapes, strict=True)
    ]
    state = _State.of(codes, target, schedule)
    kept: list[tuple[float, list[Floats]]] = []
    moves: list[list[tuple[Floats, float]]] = [[] for _ in codes]
    parts = WHOLE
    for turn in range(schedule.rounds):
        progress.step(turn / schedule.rounds, "models.rounds")
        if turn == schedule.bought:
            noisy = add_noise(state.squares(schedule), schedule.drawn(schedule.spread_scale, 1, noise))
            parts = schedule.parts(noisy[0], about)
        for place in range(len(codes)):
            sums = _noisy(state.sums(place, schedule, parts), schedule, noise) * (WHOLE / parts)
            shift = _shift(sums, schedule, about, turn, place, state.intercept)
            pull = schedule.shrinkage * penalties[place] @ state.curves[place]
            change = RATE * inverses[place] @ (sums - schedule.bend * shift * rows[place] - pull)
            state.move(place, change, shift)
            moves[place].append((change, shift))
        if turn >= schedule.rounds - schedule.averaged:
            kept.append((state.intercept, [curve.copy() for curve in state.curves]))
    fitted = _average(kept, rows, parts, len(ordered))
    curves = [
        _followed(*own)
        for own in zip((*fitted.curves, *fitted.pairs), shapes, penalties, inverses, moves, strict=True)
    ]
    fitted = _with_spreads(fitted, curves, codes, schedule, about, noise)
    return fitted if schedule.is_classes else _levelled(fitted, state, schedule, about, noise)


def residuals(target: Codes, scores: Codes, schedule: Schedule, parts: int = WHOLE) -> Codes:
    """Return what is left of every row, clipped, in steps of 4/``parts`` · 2^-15."""
    return left_over(target, scores, is_classes=schedule.is_classes, reach=REACH, parts=parts)


def _steps(values: Floats | float) -> arrays.Integers:
    return on_grid(values, widest=WIDEST_CURVE)


def _counts(codes: Sequence[Codes], schedule: Schedule, noise: Noise) -> list[Floats]:
    """Return how many rows each cell of each predictor holds, with noise: one query."""
    exact = np.concatenate([_count(own, size) for own, size in zip(codes, schedule.sizes, strict=True)])
    noisy = add_noise(exact, schedule.drawn(schedule.count_scale, exact.size, noise)).astype(np.float64)
    return np.split(noisy, np.cumsum(schedule.sizes)[:-1])


def _count(codes: Codes, cells: int) -> arrays.Integers:
    found = np.zeros(cells, dtype=np.int64)
    for rows in blocks(len(codes)):
        found += np.bincount(codes[rows], minlength=cells)
    return found


def _noisy(exact: arrays.Integers, schedule: Schedule, noise: Noise) -> Floats:
    """Return sums of residuals with noise."""
    noisy = add_noise(exact, schedule.drawn(schedule.sum_scale, exact.size, noise))
    return noisy.astype(np.float64) / 2**RESIDUAL_BITS


def _shift(sums: Floats, schedule: Schedule, about: float, turn: int, place: int, intercept: float) -> float:
    """Return how far the intercept moves: in the first rounds, and with the first predictor."""
    part = level_step(turn, place)
    if not part:
        return 0.0
    return float(np.clip(part * float(sums.sum()) / (level_slope(intercept, schedule) * about), -0.5, 0.5))


def penalty_of(cells: int, ordered: int | Grid) -> Floats:
    """Return what jumps cost: between neighbours where there is an order, and any effect at all."""
    if isinstance(ordered, Grid):
        return ordered.penalty
    found = np.eye(cells)
    if ordered > 1:
        found[:ordered, :ordered] /= 2
    return found + jumps(cells, ordered)


def _inverse(rows: Floats, curvature: Floats, shape: int | Grid) -> Floats:
    """Return what a step makes of sums: for a pair without what either predictor adds alone."""
    if isinstance(shape, Grid):
        return shape.inverse(rows, curvature)
    return np.asarray(np.linalg.inv(curvature), dtype=np.float64)


def _average(kept: list[tuple[float, list[Floats]]], rows: list[Floats], parts: int, single: int) -> Fitted:
    """Return the mean of the last rounds; what comes after ``single`` curves are pairs."""
    intercept = float(np.mean([one for one, _ in kept]))
    curves = []
    for place, own in enumerate(rows):
        effects = np.mean([all_curves[place] for _, all_curves in kept], axis=0)
        if place < single:
            middle = float(own @ effects / own.sum()) if own.sum() > 0 else float(effects.mean())
            intercept, effects = intercept + middle, effects - middle
        curves.append(Curve(effects, np.zeros(len(own)), own))
    return Fitted(intercept, tuple(curves[:single]), parts, tuple(curves[single:]))


def _followed(
    curve: Curve,
    shape: int | Grid,
    penalty: Floats,
    inverse: Floats,
    moves: Sequence[tuple[Floats, float]],
) -> Followed:
    """Return a curve as its noise is followed: cells by their values, what has no order by its effects."""
    changes, shifts = zip(*moves, strict=True)
    places, whole = np.arange(len(curve.rows)), np.eye(len(curve.rows))
    if isinstance(shape, Grid):
        return Followed(
            curve.rows, curve.effects, penalty, inverse, changes, shifts, places, whole, shape.shape
        )
    rest = shape if shape > 1 else 0
    places[rest:] = rest + np.argsort(curve.effects[rest:], kind="stable")
    return Followed(curve.rows, curve.effects, penalty, inverse, changes, shifts, places, whole)


def _with_spreads(
    fitted: Fitted,
    curves: Sequence[Followed],
    codes: Sequence[Codes],
    schedule: Schedule,
    about: float,
    noise: Noise,
) -> Fitted:
    """Return the model with what the noise does to its curves: which columns go together is bought."""
    single = len(fitted.curves)
    going = np.eye(single)
    if schedule.compared:
        exact = count_together(codes[:single], curves[:single])
        noisy = add_noise(exact, schedule.drawn(schedule.together_scale, exact.size, noise))
        deviation = schedule.deviation(schedule.together_scale)
        going = correlations(noisy.astype(np.float64), deviation, about, curves[:single])
    found = spreads(curves, going, schedule, intercept=fitted.intercept, parts=fitted.parts)
    told = [
        replace(curve, spread=spread)
        for curve, spread in zip((*fitted.curves, *fitted.pairs), found, strict=True)
    ]
    return replace(fitted, curves=tuple(told[:single]), pairs=tuple(told[single:]))


def _mean_alone(target: Codes, schedule: Schedule, rows: list[Floats], single: int, noise: Noise) -> Fitted:
    """Return a model of a number that predicts its mean, from two sums: how far it is from either bound."""
    above = int(target.sum(dtype=np.int64)) + RESIDUAL_STEPS * len(target)
    exact = np.array([above, 2 * RESIDUAL_STEPS * len(target) - above], dtype=np.int64)
    sums = add_noise(exact, schedule.drawn(schedule.level_scale, 2, noise)).astype(np.float64)
    mean = (sums[0] - sums[1]) / max(float(sums.sum()), 1.0)
    flat = tuple(Curve(np.zeros(len(own)), np.zeros(len(own)), own) for own in rows)
    return Fitted(float(np.clip(mean, -1, 1)), flat[:single], pairs=flat[single:])


def _levelled(fitted: Fitted, state: _State, schedule: Schedule, about: float, noise: Noise) -> Fitted:
    """Return a model of a number with the mean that one noisy sum of what it leaves says."""
    left = add_noise(state.left_by(fitted), schedule.drawn(schedule.level_scale, 1, noise))
    shift = level_shift(float(left[0]), deviation=schedule.deviation(schedule.level_scale), rows=about)
    return replace(fitted, intercept=fitted.intercept + shift)


WITHOUT_NOISE = 0.75
"""Of pairs of a row of either class, how many a fit without noise would tell apart, of invented people."""


def foreseen_skill(schedule: Schedule | SumsPlan, ordered: Sequence[int], grids: Sequence[Grid]) -> float:
    """Return how many of 100 pairs of a row of either class scores will tell apart: of 1, by declarations.

    Parameters
    ----------
    ordered, grids
        As `fit` gets them.

    Notes
    -----
    Of people who are spread evenly over the cells. A step leaves of what is true, which rises along an order,
    and of the noise of a sum σ what (h N + shrinkage · S)⁻¹ leaves of them; a score is the sum over all
    predictors. With the share ρ² of its variance that is not noise, normal scores of A pairs without noise
    tell Φ(ρ Φ⁻¹(A)) apart. Smoothing and averaging are reckoned with, so that weak curves count: they rank.
    """
    sigma = sqrt(schedule.needed_rows * schedule.bend)
    kept, noise = [], 0.0
    shapes: tuple[int | Grid, ...] = (*ordered, *grids)
    for cells, shape in zip(schedule.sizes, shapes, strict=True):
        weight = schedule.bend * schedule.about_rows / cells
        penalty = penalty_of(cells, shape)
        left = np.linalg.inv(weight * np.eye(cells) + schedule.shrinkage * penalty)
        noise += sigma**2 * float((left**2).sum()) / cells
        if isinstance(shape, Grid):
            continue
        curve = np.linspace(-1, 1, cells) if shape > 1 else np.resize([-1.0, 1.0], cells)
        kept.append(float(curve @ left @ curve) * weight / float(curve @ curve))
    signal = float(np.mean(kept)) ** 2
    reached = NormalDist().inv_cdf(WITHOUT_NOISE) * sqrt(signal / (signal + noise))
    return NormalDist().cdf(reached)
