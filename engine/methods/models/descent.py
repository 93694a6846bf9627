"""Noisy gradient descent with clipped residuals, for a linear score of a number or of one of two classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, sqrt
from typing import Any

import numpy as np

from engine import arrays
from engine.methods.budget import is_replace_one
from engine.methods.models.design import Design
from engine.methods.models.held_out import fit_budget
from engine.methods.models.limits import (
    FULL,
    LEAST_MULTIPLE,
    LEVEL,
    REACH,
    SPREAD,
    WIDEST,
    level_query,
    level_shift,
    limit_told,
    parts_of,
    spread_query,
    squares,
)
from engine.methods.models.monomials import Monomials, largest_change, largest_squared_change
from engine.methods.models.points import PER_SIDE, WIDEST_WEIGHT, Floats, Points
from engine.methods.models.quadratic import Solution, centre_effects
from engine.methods.models.residuals import RESIDUAL_STEPS, SCORE_BITS, WHOLE, residuals, weighted_residuals
from engine.methods.models.targets import Target
from engine.methods.parameters import Problem
from engine.methods.protocol import Context, Request
from engine.methods.shared.division import Division, Query, cover_exchange
from engine.methods.shared.view import view_of
from engine.once import once
from engine.privacy.noise import Noise
from engine.progress import SILENT, Progress
from engine.table.table import Table

PRODUCTS, SUMS = "products", "sums"
SHARE, SHARE_OF_CLASSES = 0.07, 0.1
"""Of the budget for the products of coordinates, which give the lengths of steps and the bands: of a number
one length, of classes one for every direction."""
MOMENTUM = 0.8
"""How much of the last step is taken again."""
LEAST_SIGNAL, LEAST_SIGNAL_PURE = 5, 20
LEAST_DONE = 0.1
"""Part of the way along a direction below which the weights do not say how long that is."""


@dataclass(frozen=True)
class DescentPlan:
    """Turns, noise and reach: from public numbers alone.

    Parameters
    ----------
    widths
        For every predictor 0 where it is a number, else how many cells it has.
    epsilon, delta
        Of the whole fit; δ = 0 for noise of the Laplace kind.
    rows_per_person
        The cap.
    replace_one
        Whether neighbouring tables exchange a person.
    about_rows
        Roughly how many rows there are; public.
    is_classes
        Whether one of two classes is predicted, else a number between −1 and 1.

    Notes
    -----
    A row has as many coordinates that are not 0 as there are predictors, and the 1; each is at most 1. So its
    part in a gradient has a squared length of at most active · reach², whatever the number of columns.
    """

    widths: tuple[int, ...]
    epsilon: Fraction
    delta: Fraction
    rows_per_person: int
    replace_one: bool
    about_rows: int
    is_classes: bool

    @property
    def active(self) -> int:
        """How many coordinates of a row can be other than 0; the square of its largest length."""
        return 1 + len(self.widths)

    @property
    def size(self) -> int:
        """How many coefficients there are."""
        return 1 + sum(max(width, 1) for width in self.widths)

    @property
    def bought(self) -> int | None:
        """The turn before which the limit of residuals is bought; None for classes, where it stays."""
        return None if self.is_classes else self.turns // 4

    @property
    def multiple(self) -> float:
        """The limit is so many typical residuals: the less noise, the more, as a narrow one bends the fit."""
        return LEAST_MULTIPLE + self.signal / 250

    @property
    def bend(self) -> float:
        """Largest second derivative of a row's loss: of classes, see `weighted_residuals`."""
        return 0.5 if self.is_classes else 1.0

    @property
    def share(self) -> float:
        """How much of the budget the products of coordinates get."""
        return SHARE_OF_CLASSES if self.is_classes else SHARE

    @once
    def signal(self) -> float:
        """Rows times level over the length of a row and the root of the coefficients; public.

        Below 5 a fit is mostly noise; from 200 on it keeps nearly all that a fit without noise explains.
        """
        level = Division((), self.epsilon, self.delta, self.replace_one).level
        rows = self.about_rows / (self.rows_per_person * (2 if self.replace_one else 1))
        length = sqrt(self.active) * (1 if self.delta else sqrt(self.active) / sqrt(2))
        return rows * level / (length * sqrt(self.size))

    @property
    def turns(self) -> int:
        """How many steps are taken.

        Gaussian noise of many steps averages out, Laplace noise does not: its steps are few.
        """
        if not self.delta:
            return int(min(max((1.4 if self.is_classes else 2) * sqrt(self.signal), 4), 40))
        most = min(50 + self.signal / 10, 100) if self.is_classes else 300
        return int(min(max(self.signal, 5), most))

    @property
    def averaged(self) -> int:
        """The weights of so many last steps are averaged."""
        return max(1, self.turns // 2)

    @once
    def monomials(self) -> Monomials:
        """The products of coordinates that are asked for."""
        return Monomials(self.widths, target=False)

    @once
    def division(self) -> Division:
        """How the budget is divided."""
        rows, square = self.rows_per_person, PER_SIDE**2
        shape = {"blocks": sum(width > 0 for width in self.widths), "numbers": self.widths.count(0)}
        change = largest_change(**shape, replace_one=self.replace_one, target=False)
        squared = largest_squared_change(**shape, replace_one=self.replace_one, target=False)
        products = Query(PRODUCTS, change * rows * square, squared * (rows * square) ** 2, self.share)
        spread = (
            ()
            if self.is_classes
            else (spread_query(rows), cover_exchange(level_query(rows), replace_one=self.replace_one))
        )
        step = rows * PER_SIDE * REACH
        left = 1 - self.share - sum(query.share for query in spread)
        sums = Query(SUMS, self.active * step, self.active * step**2, left, self.turns, self.size)
        queries = (products, cover_exchange(sums, replace_one=self.replace_one), *spread)
        return Division(queries, self.epsilon, self.delta, self.replace_one).borne_out()

    def told(self, parts: int = WHOLE, unit: float = 1.0) -> dict[str, Any]:
        """Return what a released model says of its steps and of the noise: as JSON values.

        Parameters
        ----------
        parts
            At what residuals were clipped in the end; see `limits.limit_of`.
        unit
            Half of the declared range of a number.
        """
        noise = {
            "distribution": "discrete_gaussian" if self.delta else "discrete_laplace",
            "distribution_of_sums": self.division.word(SUMS),
            "deviation_of_sums": f"{self.sum_noise * WHOLE / parts:.6g}",
            "deviation_of_products": f"{self.product_noise:.6g}",
        }
        told = {"rounds": self.turns, "clipping": str(WIDEST), "noise": noise}
        if self.bought is None:
            return told
        noise["deviation_of_spread"] = f"{self.division.deviation(SPREAD) / FULL * float(WIDEST) ** 2:.6g}"
        noise["deviation_of_level"] = f"{self.division.deviation(LEVEL) / RESIDUAL_STEPS:.6g}"
        return told | limit_told(parts, self.bought, unit)

    def parts(self, squared: float, rows: float) -> int:
        """Return the limit of residuals from their noisy sum of squares; see `limits.parts_of`."""
        deviation = self.division.deviation(SPREAD)
        return parts_of(squared, deviation=deviation, rows=rows, multiple=self.multiple)

    @property
    def product_noise(self) -> float:
        """Standard deviation of the noise of a product of coordinates between −1 and 1."""
        return self.division.deviation(PRODUCTS) / PER_SIDE**2

    @property
    def sum_noise(self) -> float:
        """Standard deviation of the noise of each coordinate of a gradient, at the widest limit."""
        return self.division.deviation(SUMS) / (PER_SIDE * RESIDUAL_STEPS)


@dataclass(frozen=True)
class Descended:
    """A linear score.

    Parameters
    ----------
    solution
        Weights of the coordinates, the intercept first, and the covariance that the noise gives them.
    counts
        Noisy number of rows of every coordinate: the first is that of all rows.
    parts
        At what residuals were clipped in the end; see `limits.limit_of`.
    """

    solution: Solution
    counts: Floats
    parts: int = WHOLE


def fit(
    points: Points, target: arrays.Whole, plan: DescentPlan, *, noise: Noise, progress: Progress = SILENT
) -> Descended:
    """Fit weights by noisy gradients.

    Parameters
    ----------
    points
        Coordinates of the rows that have a target.
    target
        In steps of 2^-15: 0 or one for classes, −1 to 1 for numbers.
    plan
        Turns, noise, reach.

    Notes
    -----
    Every turn asks for Σ x · clipped residual with noise, and moves the weights by it, over the second
    derivative that the noisy products give (`Slopes`), with momentum; the weights of the last half are
    averaged. Of every turn the whole table is read, so that no row's chance to be drawn has to be counted.
    After Abadi and others (2016), with the residual clipped instead of the gradient, which for declared
    bounds is the same bound and needs no length of a row; of classes it is weighted: `weighted_residuals`.
    For a number the limit is bought after a quarter of the turns, and in the end what is left on average:
    `limits`.
    """
    exact = plan.monomials.sums(points.dense())
    noisy = plan.division.noisy(PRODUCTS, exact, noise) / PER_SIDE**2
    gram = plan.monomials.whole(noisy)
    slopes = Slopes.of(gram, plan)
    weights, last = np.zeros(plan.size), np.zeros(plan.size)
    kept, parts = np.zeros(plan.size), WHOLE
    for turn in range(plan.turns):
        progress.step(turn / plan.turns, "models.rounds")
        ahead = np.clip(weights + MOMENTUM * last, -WIDEST_WEIGHT, WIDEST_WEIGHT)
        if turn == plan.bought:
            squared = plan.division.noisy(SPREAD, _squares(points, target, ahead), noise)[0]
            parts = plan.parts(squared, gram[0, 0])
        exact = _pull(points, target, ahead, plan, parts)
        sums = plan.division.noisy(SUMS, exact, noise)
        found = ahead + slopes.step(sums / (PER_SIDE * RESIDUAL_STEPS) * (WHOLE / parts))
        weights, last = found, found - weights
        if turn >= plan.turns - plan.averaged:
            kept += found / plan.averaged
    kept = np.clip(kept, -WIDEST_WEIGHT, WIDEST_WEIGHT)
    moved = covariance(slopes.at_least(plan), gram, kept, plan, parts=parts)
    if plan.is_classes:
        slow = slopes.slow(kept, gram, plan)
        kept_along = kept @ slopes.directions
        moved += of_lengths(slopes, slow, kept_along / np.maximum(1 - _missing(slow, plan), LEAST_DONE), plan)
    if not plan.is_classes:
        left = plan.division.noisy(LEVEL, _left(points, target, kept), noise)
        deviation, rows = plan.division.deviation(LEVEL), max(gram[0, 0], plan.about_rows / 2)
        kept[0] += level_shift(float(left[0]), deviation=deviation, rows=rows)
    return Descended(Solution(kept, moved, 0, 0.0), gram[0], parts)


def _pull(
    points: Points, target: arrays.Whole, weights: Floats, plan: DescentPlan, limit: int
) -> arrays.Integers:
    """Return Σ x · clipped residual, exactly."""
    found = np.zeros(points.size, dtype=np.int64)
    for rows, part in points.parts():
        scores = part.scores(weights)
        if plan.is_classes:
            left = weighted_residuals(target[rows], scores)
        else:
            left = residuals(target[rows], scores, is_classes=False, reach=REACH, parts=limit)
        found += part.sums(left)
    return found


def _squares(points: Points, target: arrays.Whole, weights: Floats) -> arrays.Integers:
    """Return the sum of squares of residuals of a number at the widest limit, exactly."""
    found = np.zeros(1, dtype=np.int64)
    for rows, part in points.parts():
        left = residuals(target[rows], part.scores(weights), is_classes=False, reach=REACH)
        found += squares(left)
    return found


def _left(points: Points, target: arrays.Whole, weights: Floats) -> arrays.Integers:
    """Return the sum of what is left of a number at the widest limit, as it is predicted, exactly."""
    total, most = 0, 1 << SCORE_BITS
    for rows, part in points.parts():
        kept = np.clip(part.scores(weights), -most, most)  # within the declared bounds
        total += int(residuals(target[rows], kept, is_classes=False, reach=REACH).sum())
    return np.array([total], dtype=np.int64)


def centre_scores(design: Design, table: Table, plan: DescentPlan, context: Context) -> Descended:
    """Return the score of rows of a table, every level beside the average of its column."""
    target = Target(design.target)
    steps = view_of(table).coded(design.target.name, np.int32, target.steps)
    known = steps >= -RESIDUAL_STEPS
    points = Points.of(table, design.predictors, known)
    found = fit(points, steps[known], plan, noise=context.noise, progress=context.progress.part(0.1, 0.9))
    solution = centre_effects(found.solution, design.starts, design.widths, found.counts)
    return Descended(solution, found.counts, found.parts)


def plan_of(request: Request, widths: tuple[int, ...], *, is_classes: bool) -> DescentPlan:
    """Return the plan that a request makes."""
    budget = fit_budget(request)
    return DescentPlan(
        widths,
        budget.epsilon,
        budget.delta,
        request.rows_per_person,
        is_replace_one(request),
        request.values["about_rows"],
        is_classes,
    )


def weak_problems(plan: DescentPlan, *, method: str) -> list[Problem]:
    """Refuse what would be mostly noise: from public numbers alone."""
    least = LEAST_SIGNAL if plan.delta else LEAST_SIGNAL_PURE
    if plan.signal >= least:
        return []
    return [
        Problem(f"{method}.nothing_left", {"rows": ceil(plan.about_rows * least / plan.signal)}, "budget")
    ]


@dataclass(frozen=True)
class Slopes:
    """How much a step may move the weights, by direction: from noisy and declared numbers alone.

    Parameters
    ----------
    directions
        Orthonormal, without those that change no prediction, shape (size, directions).
    curved
        Noisy sum of squares of the rows along each, none below 0.
    lengths
        What the gradient along each is multiplied by.

    Notes
    -----
    What every level of a column and the intercept share changes no prediction: it is left out.

    The noise of a symmetric matrix has eigenvalues of about ± 2 s √size. Of a number every direction has one
    length, that of the largest second derivative with half of that noise added, so that it is rarely too
    long: what is left of a number is told by the directions in which rows differ most. Classes may hang on a
    column that fills little of its declared range or is nearly always at one end of it, and one length leaves
    it far behind. There a step goes over the second derivative along each direction, with all of the noise
    added: where little is known, steps stay short, as the noise of a gradient would grow with them.
    """

    directions: Floats
    curved: Floats
    lengths: Floats

    @classmethod
    def of(cls, gram: Floats, plan: DescentPlan) -> Slopes:
        """Return the lengths from noisy sums of products."""
        told_apart = _told_apart(plan.widths)
        values, vectors = np.linalg.eigh(told_apart.T @ gram @ told_apart)
        curved = np.maximum(values, 0.0)
        noise = plan.product_noise * sqrt(plan.size)
        above = curved + noise if plan.is_classes else np.full_like(curved, curved[-1] + noise / 2)
        return cls(told_apart @ vectors, curved, 1 / (plan.bend * np.maximum(above, 1.0)))

    def at_least(self, plan: DescentPlan) -> Slopes:
        """Return the same steps over what the rows differ by along each direction for certain.

        Notes
        -----
        The noise moves no eigenvalue by more than its own largest one, s √size (H. Weyl 1912). Where rows may
        differ by nothing, no step takes back what an earlier one added by noise, so that bands that are made
        of these are rather too wide than too narrow. How far each slope turned back what noise had added says
        more, but made bands that 82 to 100 of 100 held, and replays of the noise such that 76 to 100 did.
        """
        certain = np.maximum(self.curved - plan.product_noise * sqrt(plan.size), 0.0)
        return replace(self, curved=certain)

    def step(self, gradient: Floats) -> Floats:
        """Return by what the weights move."""
        return np.asarray(self.directions @ (self.lengths * (gradient @ self.directions)))

    def slow(self, weights: Floats, gram: Floats, plan: DescentPlan) -> Floats:
        """Return what a step without momentum leaves of an error along each direction, near some weights.

        Notes
        -----
        Of classes the second derivative is half of the rarer probability, on average over scores. These are
        taken as normal, with the mean and the mean square that the noisy products give; a coordinate is a
        multiple of the score and a rest that does not go with it, so that rows far along a direction that the
        score follows count less.
        """
        bends = np.full_like(self.curved, plan.bend)
        if plan.is_classes:
            rows = max(float(gram[0, 0]), 1.0)
            parts = self.curved * (weights @ self.directions) ** 2 / rows
            square, mean = max(float(parts.sum()), 1e-9), float(gram[0] @ weights) / rows
            places, chances = np.polynomial.hermite_e.hermegauss(31)
            scores = mean + sqrt(max(square - mean**2, 0.0)) * places
            rarer = chances / chances.sum() / (2 + 2 * np.exp(np.minimum(np.abs(scores), 8)))
            share = parts / square
            bends = rarer.sum() * (1 - share) + rarer @ scores**2 / square * share
        return np.asarray(1 - np.clip(bends * self.curved * self.lengths, 0.0, 1.0))


def covariance(slopes: Slopes, gram: Floats, weights: Floats, plan: DescentPlan, *, parts: int) -> Floats:
    """Return the covariance that the noise of the gradients gives the averaged weights.

    Notes
    -----
    Around the answer a step is linear: e' = (1 − h · length)(e + momentum · (e − e before)) + length · noise
    in a direction of second derivative h, see `Slopes.slow`. What each draw leaves in the average is added
    up: a first approximation. ``parts`` say how much less noise there is once a limit was bought.
    """
    slow = slopes.slow(weights, gram, plan)
    answers, before, now = [np.zeros_like(slow)], np.zeros_like(slow), np.ones_like(slow)
    for _ in range(plan.turns):
        answers.append(answers[-1] + now)
        before, now = now, slow * (now + MOMENTUM * (now - before))
    total = np.zeros_like(slow)
    for turn in range(plan.turns):
        first = max(turn, plan.turns - plan.averaged)
        less = WHOLE / parts if plan.bought is not None and turn >= plan.bought else 1.0
        total += (less * (answers[plan.turns - turn] - answers[first - turn]) / plan.averaged) ** 2
    spread = total * (plan.sum_noise * slopes.lengths) ** 2
    return np.asarray((slopes.directions * spread) @ slopes.directions.T)


def of_lengths(slopes: Slopes, slow: Floats, along: Floats, plan: DescentPlan) -> Floats:
    """Return the covariance that the noise of the products gives averaged weights of classes, by their steps.

    Parameters
    ----------
    slow
        What a step leaves of an error along each direction.
    along
        The weights that many turns would lead to, along each direction.

    Notes
    -----
    The length of a step is one over a noisy second derivative, so that from release to release more or less
    of the way is gone. The noise s of products moves a second derivative by √2 s at most, as one standard
    deviation. Without this, 92 of 100 bands held (eight predictors, 455 rows, ε = 1 without a δ), 94 with it.
    """
    done = 1 - slow
    less = np.minimum(sqrt(2) * plan.product_noise * plan.bend * slopes.lengths, 1.0)
    longer, shorter = np.clip(slow - done * less, 0.0, 1.0), np.clip(slow + done * less, 0.0, 1.0)
    off = (_missing(shorter, plan) - _missing(longer, plan)) / 2 * along
    return np.asarray((slopes.directions * off**2) @ slopes.directions.T)


def _missing(slow: Floats, plan: DescentPlan) -> Floats:
    """Return the part of the way along each direction that the averaged weights have not gone."""
    before, now, missing = np.ones_like(slow), np.ones_like(slow), np.zeros_like(slow)
    for turn in range(plan.turns):
        before, now = now, slow * (now + MOMENTUM * (now - before))
        if turn >= plan.turns - plan.averaged:
            missing += now / plan.averaged
    return missing


def _told_apart(widths: tuple[int, ...]) -> Floats:
    """Return orthonormal directions without those that move every level against the intercept."""
    sizes = [1, *(max(width, 1) for width in widths)]
    starts = np.cumsum(sizes)[:-1]
    same = np.zeros((sum(sizes), sum(width > 0 for width in widths)))
    pairs = [(start, width) for start, width in zip(starts, widths, strict=True) if width]
    for place, (start, width) in enumerate(pairs):
        same[0, place], same[start : start + width, place] = -1.0, 1.0
    return np.asarray(np.linalg.qr(same, mode="complete")[0][:, len(pairs) :])


def foreseen(
    plan: DescentPlan, moments: Floats, weights: Floats, *, left: float = 1.0
) -> tuple[Floats, Floats]:
    """Return what would be missing of weights, and the covariance of the noise, for rows without a name.

    Parameters
    ----------
    moments
        Invented sums of products of coordinates, shape (size, size).
    weights
        The invented truth.
    left
        Of a number: the typical size of what the truth leaves, half of the declared range being 1.
    """
    slopes = Slopes.of(moments, plan)
    slow = slopes.slow(weights, moments, plan)
    missing = _missing(slow, plan)
    rows, parts = float(moments[0, 0]), WHOLE
    if plan.bought is not None:
        found = sqrt(left**2 + _still_off(slopes, slow, plan, weights, plan.bought) / rows)
        parts = plan.parts(rows * min(found / float(WIDEST), 1.0) ** 2 * FULL, rows)
    spread = covariance(slopes, moments, weights, plan, parts=parts)
    if plan.is_classes:
        spread += of_lengths(slopes, slow, weights @ slopes.directions, plan)
    return -(slopes.directions * missing) @ slopes.directions.T @ weights, spread


def _still_off(slopes: Slopes, slow: Floats, plan: DescentPlan, weights: Floats, turn: int) -> float:
    """Return the sum of squares that predictions are off by before a turn: few steps leave a wide limit.

    Notes
    -----
    As in `covariance`: what is left of the truth, and what the noise of every turn so far has moved.
    """
    before, now = np.ones_like(slow), np.ones_like(slow)
    earlier, moved, noise = np.zeros_like(slow), np.ones_like(slow), np.zeros_like(slow)
    for _ in range(turn):
        noise += (moved + MOMENTUM * (moved - earlier)) ** 2
        before, now = now, slow * (now + MOMENTUM * (now - before))
        earlier, moved = moved, slow * (moved + MOMENTUM * (moved - earlier))
    missing = (now + MOMENTUM * (now - before)) * (weights @ slopes.directions)
    return float(slopes.curved @ (missing**2 + noise * (plan.sum_noise * slopes.lengths) ** 2))
