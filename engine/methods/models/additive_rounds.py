"""An additive model from few sums: what several sites can add up in two or three rounds.

Where cells are searched, the fine cells are counted first. Then, for all predictors at once: rows by cell,
the target by cell, and rows by groups of cells of each two predictors. A first model follows from these
numbers alone. The last round asks what it leaves, by cell, and corrects it once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import log, sqrt

import numpy as np

from engine import arrays
from engine.methods.models.additive_steps import WIDEST_CURVE, Curve, Fitted, penalty_of
from engine.methods.models.additive_sums import COUNTS, LEFT, PENALTY, SUMS, TABLES, SumsPlan
from engine.methods.models.limits import LEVEL, REACH, SPREAD, level_shift, limit_of, share_inside
from engine.methods.models.residuals import (
    RESIDUAL_BITS,
    RESIDUAL_STEPS,
    SCORE_BITS,
    WHOLE,
    on_grid,
    residuals,
    weighted_residuals,
)
from engine.methods.models.residuals import (
    WIDEST as WIDEST_SCORE,
)
from engine.methods.shared.blocks import blocks
from engine.privacy.noise import Noise
from engine.progress import SILENT, Progress

Codes = arrays.Whole
Floats = arrays.Floats
Integers = arrays.Integers

RAREST = 0.01
"""A class has at least this share of rows where a first score is worked out, as noise has no ends."""
MOST_EXPLAINED = 0.9
ROUGH = 0.1
"""What the first model says of a cell counts as wrong by this part of what it says: it is a straight line,
and which columns go together is known by groups of cells alone."""
FLATTEST = 0.01
"""The slope of a mean residual counts as this at least: steps stay short."""
_NODES = 21


@dataclass(frozen=True)
class _Heard:
    """The noisy numbers of the first round.

    Parameters
    ----------
    rows
        By cell of all predictors, one after the other, none below 0.
    sums
        The target by cell; of a class less one half.
    together
        By two predictors, rows by groups of cells of both; empty where that was not asked.
    squares
        The sum of the squares of a number.
    spans, groups
        By predictor, where its cells are, and the group of each.
    """

    rows: Floats
    sums: Floats
    together: dict[tuple[int, int], Floats]
    squares: float
    spans: tuple[slice, ...]
    groups: tuple[Integers, ...]

    @property
    def about(self) -> float:
        """Rows in all."""
        return max(1.0, float(np.mean([self.rows[span].sum() for span in self.spans])))

    def centred(self, effects: Floats) -> Floats:
        """Return effects of all cells less the average of their predictor."""
        found = effects.copy()
        for span in self.spans:
            found[span] -= self.shares(span) @ effects[span]
        return found

    def shares(self, span: slice) -> Floats:
        """Return the share of rows in each cell of a predictor."""
        kept = self.rows[span] + 1e-9
        return np.asarray(kept / kept.sum())

    def within_groups(self, predictor: int) -> Floats:
        """Return by cell and group of a predictor the cell's share of the rows of its group, else 0."""
        group = self.groups[predictor]
        inside = np.eye(group.max() + 1)[group] * (self.rows[self.spans[predictor]] + 1e-9)[:, None]
        return np.asarray(inside / inside.sum(axis=0))


@dataclass(frozen=True)
class _Start:
    """The first model.

    Parameters
    ----------
    intercept, effects
        In log-odds, or in halves of the declared range; of all cells.
    per_sum
        What a sum of the first round says of a score.
    mean
        Of the target, as the sums have it.
    left
        The variance of what it leaves of a number.
    inverse
        What made effects of sums.
    """

    intercept: float
    effects: Floats
    per_sum: float
    mean: float
    left: float
    inverse: Floats


@dataclass(frozen=True)
class _Model:
    """What all rounds take of how cells go together.

    Parameters
    ----------
    curvature
        How many rows any two cells share, with what holds effects back.
    held
        What of it holds effects back alone.
    believed
        By two predictors, how far the table of their groups was believed.
    penalty
        What jumps cost.
    """

    curvature: Floats
    held: Floats
    believed: dict[tuple[int, int], float]
    penalty: Floats


def fit_sums(
    codes: Sequence[Codes],
    target: Codes,
    plan: SumsPlan,
    *,
    ordered: Sequence[int],
    noise: Noise,
    progress: Progress = SILENT,
) -> Fitted:
    """Fit curves to rows by two rounds of noisy sums.

    Parameters
    ----------
    codes
        By predictor, the cell of every row.
    target
        In steps of 2^-15: 0 or one for classes, −1 to 1 for numbers.
    plan
        The noise of every sum.
    ordered
        By predictor, how many of its first cells have an order; neighbours there are smoothed.

    Notes
    -----
    The curves solve the normal equations of an additive model (A. Buja, T. Hastie, R. Tibshirani, Linear
    smoothers and additive models, 1989) with a penalty on jumps. Two cells of two predictors are taken to
    share as many rows as if both were independent, times how much more often their groups go together.
    Of classes the first solution is brought to log-odds as for normal scores, see
    `engine.methods.models.quadratic.discriminant`; from there the last round is one step of scoring with
    weighted residuals, which cancel where probabilities are right.

    What a row adds is a whole number that follows from the row and from published curves alone.
    """
    progress.step(0.0, "models.rounds")
    heard = _ask_first(codes, target, plan, ordered, noise)
    curvature, believed = _curvature(heard, plan)
    held = _damping(heard, believed, plan)
    curvature += held
    penalty = _penalties(plan, ordered)
    start = _first_model(heard, curvature, penalty, plan)
    progress.step(0.5, "models.rounds")
    scores = _scores(codes, heard, start, plan)
    parts = WHOLE if plan.is_classes else plan.parts(start.left)
    told = plan.division.noisy(LEFT, _left(codes, target, scores, plan, parts), noise) / RESIDUAL_STEPS
    told *= WHOLE / parts
    level = 0.0
    if not plan.is_classes:
        left = residuals(target, scores, is_classes=False, reach=REACH)
        exact = np.array([left.sum(dtype=np.int64)], dtype=np.int64)
        found = float(plan.division.noisy(LEVEL, exact, noise)[0])
        level = level_shift(found, deviation=plan.division.deviation(LEVEL), rows=heard.about)
    model = _Model(curvature, held, believed, penalty)
    return _corrected(heard, model, start, told, plan, parts=parts, level=level)


# --- what is asked ---------------------------------------------------------------------------------------


def groups_of(size: int, ordered: int, groups: int) -> Integers:
    """Return the group of every cell of a predictor: neighbours, about equally many cells in each.

    Examples
    --------
    >>> groups_of(9, 8, 4).tolist()
    [0, 0, 1, 1, 2, 2, 3, 3, 3]
    >>> groups_of(3, 0, 4).tolist()
    [0, 1, 2]
    """
    known = ordered if ordered > 1 else size
    kept = min(groups, known)
    return np.asarray(np.minimum(np.arange(size) * kept // known, kept - 1), dtype=np.int64)


def _ask_first(
    codes: Sequence[Codes], target: Codes, plan: SumsPlan, ordered: Sequence[int], noise: Noise
) -> _Heard:
    division, sizes = plan.division, plan.sizes
    spans = tuple(slice(*ends) for ends in pairwise(np.cumsum([0, *sizes]).tolist()))
    counts, sums = np.zeros(sum(sizes), dtype=np.int64), np.zeros(sum(sizes), dtype=np.int64)
    middle = RESIDUAL_STEPS // 2 if plan.is_classes else 0
    for rows in blocks(len(target)):
        moved = target[rows].astype(np.float64) - middle
        for own, span, size in zip(codes, spans, sizes, strict=True):
            counts[span] += np.bincount(own[rows], minlength=size)
            # Whole numbers below 2^53 in doubles: exact, in any order.
            sums[span] += np.bincount(own[rows], weights=moved, minlength=size).astype(np.int64)
    noisy_rows = np.maximum(division.noisy(COUNTS, counts, noise), 0).astype(np.float64)
    noisy_sums = division.noisy(SUMS, sums, noise) / RESIDUAL_STEPS
    groups = tuple(groups_of(*shape, plan.groups) for shape in zip(sizes, ordered, strict=True))
    together: dict[tuple[int, int], Floats] = {}
    if plan.groups:
        exact = _count_groups(codes, groups)
        flat = np.concatenate([table.ravel() for table in exact.values()])
        noisy = division.noisy(TABLES, flat, noise).astype(np.float64)
        cuts = np.cumsum([table.size for table in exact.values()])[:-1]
        told = np.split(noisy, cuts)
        together = {pair: one.reshape(exact[pair].shape) for pair, one in zip(exact, told, strict=True)}
    squares = 0.0
    if not plan.is_classes:
        whole = np.array([(target.astype(np.int64) ** 2 >> RESIDUAL_BITS).sum()], dtype=np.int64)
        squares = float(division.noisy(SPREAD, whole, noise)[0]) / RESIDUAL_STEPS
    return _Heard(noisy_rows, noisy_sums, together, squares, spans, groups)


def _count_groups(codes: Sequence[Codes], groups: Sequence[Integers]) -> dict[tuple[int, int], Integers]:
    """Return for each two predictors the rows by groups of cells of both, exactly."""
    starts = np.cumsum([0, *(own.max() + 1 for own in groups)]).tolist()
    products = np.zeros((starts[-1], starts[-1]))
    for rows in blocks(len(codes[0])):
        cells = np.zeros((len(codes[0][rows]), starts[-1]))
        for own, group, start in zip(codes, groups, starts[:-1], strict=True):
            cells[np.arange(len(cells)), start + group.take(own[rows])] = 1.0
        products += cells.T @ cells  # whole numbers below 2^53 in doubles: exact, in any order
    found = products.astype(np.int64)
    spans = [slice(*ends) for ends in pairwise(starts)]
    return {
        (one, other): found[spans[one], spans[other]] for one, other in combinations(range(len(codes)), 2)
    }


def _scores(codes: Sequence[Codes], heard: _Heard, start: _Start, plan: SumsPlan) -> Codes:
    """Return the scores of rows by the published first model, in steps of 2^-12."""
    found = np.full(len(codes[0]), int(on_grid(start.intercept, widest=WIDEST_CURVE)), dtype=np.int32)
    steps = on_grid(start.effects, widest=WIDEST_CURVE).astype(np.int32)
    for own, span in zip(codes, heard.spans, strict=True):
        found += steps[span].take(own)
    if plan.is_classes:
        return found
    return np.clip(found, -(1 << SCORE_BITS), 1 << SCORE_BITS)  # as it predicts: within the declared bounds


def _left(codes: Sequence[Codes], target: Codes, scores: Codes, plan: SumsPlan, parts: int) -> Integers:
    """Return the exact sums of what the first model leaves, by cell of all predictors."""
    found = np.zeros(sum(plan.sizes), dtype=np.int64)
    spans = [slice(*ends) for ends in pairwise(np.cumsum([0, *plan.sizes]).tolist())]
    for rows in blocks(len(target)):
        if plan.is_classes:
            left = weighted_residuals(target[rows], scores[rows])
        else:
            left = residuals(target[rows], scores[rows], is_classes=False, reach=REACH, parts=parts)
        for own, span, size in zip(codes, spans, plan.sizes, strict=True):
            found[span] += np.bincount(own[rows], weights=left, minlength=size).astype(np.int64)
    return found


# --- what is made of it: nothing from here on reads a row ----------------------------------------------


def _curvature(heard: _Heard, plan: SumsPlan) -> tuple[Floats, dict[tuple[int, int], float]]:
    """Return how many rows any two cells share, and by how much tables of groups were believed.

    Notes
    -----
    What a table has beyond independence is taken as it is less the part that its noise makes up. Negative
    eigenvalues, which noise makes, are left out.
    """
    found, believed = np.diag(heard.rows), {}
    deviation = plan.division.deviation(TABLES) if heard.together else 0.0
    for one, other in combinations(range(len(heard.spans)), 2):
        first, second = heard.rows[heard.spans[one]], heard.rows[heard.spans[other]]
        alone = np.outer(first, second) / heard.about
        if (one, other) in heard.together:
            groups, others = heard.groups[one], heard.groups[other]
            by_one, by_other = np.bincount(groups, weights=first), np.bincount(others, weights=second)
            expected = np.outer(by_one, by_other) / heard.about
            beyond = heard.together[one, other] - expected
            beyond = beyond - beyond.mean(axis=0) - beyond.mean(axis=1)[:, None] + beyond.mean()
            chance = deviation**2 * (len(by_one) - 1) * (len(by_other) - 1)
            kept = max(0.0, 1 - chance / max(float((beyond**2).sum()), 1e-9))
            more = np.maximum(1 + kept * beyond / np.maximum(expected, 1.0), 0.0)
            alone = alone * more[np.ix_(groups, others)]
            believed[one, other] = kept
        found[heard.spans[one], heard.spans[other]] = alone
        found[heard.spans[other], heard.spans[one]] = alone.T
    values, vectors = np.linalg.eigh(found)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T), believed


def _damping(heard: _Heard, believed: dict[tuple[int, int], float], plan: SumsPlan) -> Floats:
    """Return what is added to the curvature as tables of groups are noisy and coarse.

    Notes
    -----
    Noise, or a group of unlike cells, can hide that columns go together. Two that say the same would then
    both be given all of it, and predictions go further wrong with every round. So effects are held back: that
    of a cell as if it had a part of its rows once more, and the mean effect of a group by one standard
    deviation of the noise of its tables, as far as they are believed.
    """
    if not believed:
        return np.zeros((len(heard.rows), len(heard.rows)))
    found = ROUGH * np.diag(heard.rows)
    deviation = plan.division.deviation(TABLES)
    for place, span in enumerate(heard.spans):
        seen = sum(kept**2 for pair, kept in believed.items() if place in pair)
        inside = heard.within_groups(place)
        found[span, span] += deviation * sqrt(seen) * (inside @ inside.T)
    return found


def _penalties(plan: SumsPlan, ordered: Sequence[int]) -> Floats:
    found = np.zeros((sum(plan.sizes), sum(plan.sizes)))
    start = 0
    for size, order in zip(plan.sizes, ordered, strict=True):
        found[start : start + size, start : start + size] = penalty_of(size, order)
        start += size
    return found


def _first_model(heard: _Heard, curvature: Floats, penalty: Floats, plan: SumsPlan) -> _Start:
    """Return the model that the first round says; of a class, in log-odds."""
    about, deviation = heard.about, plan.first_noise
    mean = float(np.mean([heard.sums[span].sum() for span in heard.spans])) / about
    if plan.is_classes:
        mean = float(np.clip(mean, RAREST - 0.5, 0.5 - RAREST))
    else:
        mean = float(np.clip(mean, -1.0, 1.0))
    beyond = heard.sums - mean * heard.rows
    rough = ROUGH * float(np.sqrt(np.mean(beyond**2)))
    of_rows = mean * plan.division.deviation(COUNTS)
    variances = np.full(len(beyond), deviation**2 + of_rows**2)
    inverse = _smoothed(curvature, penalty, variances + rough**2, 1.0, plan)
    effects = heard.centred(inverse @ beyond)
    explained = max(float(effects @ beyond), 0.0) / about
    if not plan.is_classes:
        # what the noise does to predictions is left for the last round, too
        off = float(np.einsum("ij,jk,ki->", inverse * variances, inverse, curvature)) / about
        whole = (heard.squares + plan.division.deviation(SPREAD) / RESIDUAL_STEPS) / about - mean**2
        left = max(whole - explained, whole * (1 - MOST_EXPLAINED)) + off
        return _Start(mean, effects, 1.0, mean, left, inverse)
    second = mean + 0.5
    both = second * (1 - second)
    share = min(explained / both, MOST_EXPLAINED)
    per_sum = 1 / (both * (1 - share))
    middle = log(second / (1 - second)) + (second - 0.5) * share * per_sum
    return _Start(middle, effects * per_sum, per_sum, mean, 0.0, inverse)


def _smoothed(curvature: Floats, penalty: Floats, variances: Floats, slope: float, plan: SumsPlan) -> Floats:
    """Return what makes curves of sums: the inverse of the curvature with a penalty on jumps.

    Parameters
    ----------
    variances
        Of what the sums may be off by, by cell.
    slope
        How much a mean residual falls where an effect rises, on average: the noise of the numbers of rows
        stands in the curvature so many times.
    """
    weight = PENALTY * sqrt(float(variances.mean())) + slope * plan.division.deviation(COUNTS)
    try:
        return np.asarray(np.linalg.inv(curvature + weight * penalty))
    except np.linalg.LinAlgError:  # of totals that no table has: some site sent what it liked
        return np.asarray(np.linalg.pinv(curvature + weight * penalty, hermitian=True))


def _slopes(heard: _Heard, curvature: Floats, start: _Start, plan: SumsPlan, parts: int) -> Floats:
    """Return by cell how much its mean residual falls where its effect rises; see `weighted_residuals`."""
    if not plan.is_classes:
        limit = float(limit_of(parts))
        typical = max(sqrt(max(start.left, 0.0)), 1e-9)
        return np.full(len(heard.rows), share_inside(limit / typical))
    means = start.intercept + curvature @ start.effects / np.maximum(heard.rows, 1.0)
    variance = max(float(start.effects @ curvature @ start.effects) / heard.about, 0.0)
    places, chances = np.polynomial.hermite_e.hermegauss(_NODES)
    found = np.empty(len(means))
    for span in heard.spans:
        own = np.clip(means[span], -WIDEST_SCORE, WIDEST_SCORE)
        shares = heard.shares(span)
        within = sqrt(max(variance - float(shares @ (own - shares @ own) ** 2), 0.0))
        scores = np.clip(own[:, None] + within * places, -WIDEST_SCORE, WIDEST_SCORE)
        rarer = 1 / (1 + np.exp(np.abs(scores)))
        found[span] = rarer @ (chances / chances.sum()) / 2
    return np.maximum(found, FLATTEST)


def _corrected(
    heard: _Heard,
    model: _Model,
    start: _Start,
    sums: Floats,
    plan: SumsPlan,
    *,
    parts: int,
    level: float,
) -> Fitted:
    """Return the model of both rounds: each says what curves make of the sums, with its own noise.

    Notes
    -----
    The last sums say it around the first model, the first ones as a straight line; they are weighed by the
    squares of their noise and, of the first, of what a straight line leaves out.
    """
    curvature = model.curvature
    slopes = _slopes(heard, curvature, start, plan, parts)
    roots = np.sqrt(slopes)
    pulled, held = roots[:, None] * curvature * roots, roots[:, None] * model.held * roots
    weights = slopes * heard.rows
    shift = float(np.mean([sums[span].sum() for span in heard.spans])) / max(
        float(weights.sum()) / len(heard.spans), 1.0
    )
    moved = pulled @ start.effects
    of_last = sums - shift * weights + moved
    of_first = slopes * start.per_sum * (heard.sums - start.mean * heard.rows)
    first_noise, last_noise = slopes * start.per_sum * plan.first_noise, plan.last_noise(parts)
    rough = ROUGH * float(np.sqrt(np.mean(moved**2)))
    bent = rough if plan.is_classes else 0.0
    trusts, trusts_last = 1 / (first_noise**2 + bent**2), 1 / last_noise**2
    part = trusts / (trusts + trusts_last)
    undone = part + ROUGH * (1 - part)  # the last round takes back what the first erred by, nearly
    spread = np.sqrt((undone * first_noise) ** 2 + ((1 - part) * last_noise) ** 2)
    told = part * of_first + (1 - part) * of_last
    inverse = _smoothed(pulled, model.penalty, spread**2 + rough**2, float(slopes.mean()), plan)
    effects = heard.centred(inverse @ told)
    intercept = start.intercept + (shift if plan.is_classes else level)
    outputs = np.array([heard.centred(column) for column in inverse.T]).T
    # what the first model erred by is taken back but for what holds effects back
    kept = outputs * (1 - part) @ held @ start.inverse
    of_sums = outputs * (undone * slopes) + kept
    variances = (of_sums**2).sum(axis=1) * (start.per_sum * plan.first_noise) ** 2
    variances += (outputs**2) @ ((1 - part) * last_noise) ** 2
    weighed = outputs * (part * slopes) + kept
    variances += _from_rows(heard, curvature, start, weighed, effects, plan)
    variances += _from_tables(heard, model.believed, weighed, effects, plan)
    found = np.sqrt(variances)
    curves = tuple(Curve(effects[span], found[span], heard.rows[span]) for span in heard.spans)
    return Fitted(intercept, curves, parts)


def _from_rows(
    heard: _Heard,
    curvature: Floats,
    start: _Start,
    weighed: Floats,
    effects: Floats,
    plan: SumsPlan,
) -> Floats:
    """Return the variance that the noise of the numbers of rows gives every effect.

    Notes
    -----
    They stand in what is expected of the first sums, in the curvature, which the last round corrects as far
    as it is trusted, and in the averages that effects are beside.
    """
    beside = curvature - np.diag(np.diag(curvature))
    own = effects + beside @ effects / np.maximum(heard.rows, 1.0) + start.per_sum * start.mean
    moves = np.diag(own) + beside / np.maximum(heard.rows, 1.0) * effects
    found = -weighed @ moves
    for span in heard.spans:
        found[span, span] -= effects[span] / max(float(heard.rows[span].sum()), 1.0)
    return np.asarray((found**2).sum(axis=1) * plan.division.deviation(COUNTS) ** 2)


def _from_tables(
    heard: _Heard,
    believed: dict[tuple[int, int], float],
    weighed: Floats,
    effects: Floats,
    plan: SumsPlan,
) -> Floats:
    """Return the variance that the noise of the tables of groups gives every effect."""
    found = np.zeros(len(effects))
    if not believed:  # of one predictor no table is asked for, and no group is made
        return found
    means, parts = [], []
    for place, span in enumerate(heard.spans):
        inside = heard.within_groups(place)
        means.append(inside.T @ effects[span])
        parts.append(weighed[:, span] @ inside)
    for (one, other), kept in believed.items():
        both = parts[one][:, :, None] * means[other] + parts[other][:, None, :] * means[one][:, None]
        found += kept**2 * (both**2).sum(axis=(1, 2))
    return found * plan.division.deviation(TABLES) ** 2
