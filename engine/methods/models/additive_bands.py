"""How far the noise moves the curves of an additive model, columns that go together reckoned with.

Noise in one curve comes back through others: the next sums ask for what it has moved. How much depends on
which columns go together, and that is bought: one noisy sum for each two of them says whether the same rows
are in their upper halves. All else is worked out from what is published anyway, so that it costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import sqrt

import numpy as np

from engine import arrays
from engine.methods.models.additive_schedule import RESIDUAL_STEPS, Schedule
from engine.methods.models.limits import WIDEST, share_inside
from engine.methods.models.residuals import WHOLE
from engine.methods.shared.blocks import blocks

Codes = arrays.Whole
Floats = arrays.Floats

RATE = 0.5
FLATTEST = 0.02
"""The slope of a mean residual beside its intercept counts as this at least: steps stay short."""
LEVELLING = 3
"""In so many rounds every curve moves the intercept, later the first alone."""
MOST_BESIDE = 16
"""Curves whose noise is followed together; of more columns, of each those that go with it most."""
MOST_GROUPS = 24
"""Cells of a curve that are followed one by one; of more, groups of neighbours."""
HIDDEN = 0.9
"""How much two columns are taken to go together where the noise hides it, as limits are to hold there too."""
_STRATA, _ANGLES, _FURTHEST = 64, 129, 0.995
_NODES = 21
_STEEPEST = 700.0  # exp of more is no number; of cells that noise left without rows scores know no end


@dataclass(frozen=True)
class Followed:
    """A curve as it was fitted: what the noise of its sums and counts did to it follows from this.

    Parameters
    ----------
    rows
        Noisy number of rows in each cell, none below 0.
    effects
        What it adds by cell, in the end.
    penalty, inverse
        What jumps cost, and what a step makes of sums; shape (cells, cells).
    changes
        By round, by what it was moved.
    shifts
        By round, by how much the intercept moved with it.
    places
        Its cells in an order: that of their values, else of their effects.
    together
        Which cells each of these was before neighbours were put together; shape (before, cells).
    shape
        Of the table of a pair; None for a curve.
    """

    rows: Floats
    effects: Floats
    penalty: Floats
    inverse: Floats
    changes: Sequence[Floats]
    shifts: Sequence[float]
    places: arrays.Integers
    together: Floats
    shape: tuple[int, int] | None = None

    @property
    def counted(self) -> Floats:
        """How many cells each of these was before neighbours were put together."""
        return np.asarray(self.together.sum(axis=0))

    @property
    def below(self) -> Floats:
        """Share of the rows up to every cell, in order."""
        kept = self.rows[self.places] + 1e-9
        return np.asarray(np.cumsum(kept) / kept.sum())

    @property
    def half(self) -> int:
        """How many cells are in the lower half, which is as near to one as cells allow."""
        return int(np.argmin(np.abs(self.below[:-1] - 0.5))) + 1 if len(self.rows) > 1 else 1

    @property
    def upper(self) -> arrays.Bools:
        """By cell, whether it is in the upper half."""
        found = np.zeros(len(self.rows), dtype=bool)
        found[self.places[self.half :]] = True
        return found

    def grouped(self, schedule: Schedule) -> Followed:
        """Return the curve with neighbouring cells in groups of about as many rows, at most `MOST_GROUPS`."""
        size = len(self.rows)
        if size <= MOST_GROUPS or self.shape is not None:
            return self
        middles = self.below - (self.rows[self.places] + 1e-9) / (self.rows.sum() + 1e-9 * size) / 2
        groups = np.unique((middles * MOST_GROUPS).astype(int), return_inverse=True)[1]
        together = np.zeros((size, int(groups.max()) + 1))
        together[self.places, groups] = 1.0
        rows, penalty = self.rows @ together, together.T @ self.penalty @ together
        share = together * (self.rows[:, None] + 1e-9) / (rows + 1e-9 * together.sum(axis=0))
        return Followed(
            rows,
            self.effects @ share,
            penalty,
            np.asarray(np.linalg.inv(schedule.bend * np.diag(rows) + schedule.ridge * penalty), dtype=float),
            [change @ share for change in self.changes],
            self.shifts,
            np.arange(len(rows)),
            together,
        )


def slope_left(scores: Floats) -> Floats:
    """Return how much the mean clipped residual of a class falls where a score rises.

    Notes
    -----
    Of rows of whom p = 1/(1 + e^-score) says what is true: residuals that are clipped do not move, which
    leaves the share 1 − q of p(1 − p) of a rare class; see `additive.unclip_shares`.

    Examples
    --------
    >>> slope_left(np.array([-1.386294361, 1.386294361])).round(4)  # p is .2 and .8
    array([0.1143, 0.1143])
    """
    rare = 1 / (1 + np.exp(np.minimum(np.abs(scores), _STEEPEST)))
    clipping = float(WIDEST)
    left = np.where(rare < 1 - clipping, clipping / (clipping + rare), 1.0)
    return np.asarray(rare * (1 - rare) * left)


def level_slope(intercept: float, schedule: Schedule) -> float:
    """Return how much the mean residual falls where the intercept rises.

    Notes
    -----
    A steeper slope than the true one moves the intercept less, so that rare classes would never reach their
    share.
    """
    if not schedule.is_classes:
        return schedule.bend
    return max(float(slope_left(np.array(intercept))), FLATTEST)


def level_step(turn: int, place: int) -> float:
    """Return which part of a mean residual moves the intercept."""
    if turn >= LEVELLING and place:
        return 0.0
    return 1.0 if turn == 0 and place == 0 else 0.5


# --- which columns go together --------------------------------------------------------------------------


def count_together(codes: Sequence[Codes], curves: Sequence[Followed]) -> arrays.Integers:
    """Return for each two columns the rows in equal halves less those in unequal ones, exactly.

    Notes
    -----
    A row adds 1 or −1 to each of them, whatever it holds.
    """
    signs = [np.where(curve.upper, 1.0, -1.0) for curve in curves]
    total = np.zeros((len(curves), len(curves)))
    for rows in blocks(len(codes[0])):
        part = np.array([own.take(code[rows]) for own, code in zip(signs, codes, strict=True)])
        total += part @ part.T  # whole numbers below 2^53 in doubles: exact, in any order
    return total[np.triu_indices(len(curves), 1)].astype(np.int64)


def correlations(noisy: Floats, deviation: float, rows: float, curves: Sequence[Followed]) -> Floats:
    """Return how columns go together, as correlations of normal ones behind them; shape (curves, curves).

    Parameters
    ----------
    noisy
        See `count_together`.
    deviation
        Of the noise of each.
    rows
        About how many there are.

    Notes
    -----
    Upper halves of two normal columns with correlation sin t, cut at h and k, share Φ(−h)Φ(−k) and the
    integral from 0 to t of exp(−(h² + k² − 2hk sin u) / 2cos²u) / 2π (R. Plackett, A reduction formula for
    normal multivariate integrals, 1954). Where two standard deviations of the noise either way are
    all that going together could make, `HIDDEN` is taken: were it none, limits would be too narrow wherever
    columns do go together. Negative eigenvalues, which noise makes, are left out.
    """
    from scipy.special import ndtri  # on first use: the list of methods is made without it

    size = len(curves)
    lower = np.clip([curve.below[curve.half - 1] for curve in curves], 1e-4, 1 - 1e-4)
    cuts, found = ndtri(lower), np.eye(size)
    angles = np.linspace(-1, 1, _ANGLES) * np.arcsin(_FURTHEST)
    for (one, other), sum_ in zip(combinations(range(size), 2), noisy / max(rows, 1.0), strict=True):
        first, second = cuts[one], cuts[other]
        distance = first**2 + second**2 - 2 * first * second * np.sin(angles)
        bent = np.exp(-distance / (2 * np.cos(angles) ** 2))
        steps = (bent[1:] + bent[:-1]) / 2 * np.diff(angles) / (2 * np.pi)
        shared = np.concatenate([[0.0], np.cumsum(steps)])
        shared += (1 - lower[one]) * (1 - lower[other]) - shared[_ANGLES // 2]
        signs = 4 * shared - 2 * (1 - lower[one]) - 2 * (1 - lower[other]) + 1
        is_hidden = signs[-1] - signs[0] <= 4 * deviation / max(rows, 1.0)
        told = HIDDEN if is_hidden else np.sin(np.interp(sum_, signs, angles))
        found[one, other] = found[other, one] = told
    values, vectors = np.linalg.eigh(found)
    if values[0] < 0:
        found = (vectors * np.maximum(values, 0.0)) @ vectors.T
        length = np.sqrt(np.diag(found))
        found = found / length[:, None] / length
    return np.asarray(found)


def _table(one: Followed, other: Followed, correlation: float, rows: float) -> Floats:
    """Return how many rows two curves have in each two of their cells, as their correlation says."""
    from scipy.special import ndtr, ndtri

    edges = np.linspace(0, 1, _STRATA + 1)
    places = ndtri((edges[1:] + edges[:-1]) / 2)
    ends = ndtri(np.clip(other.below[:-1], 1e-12, 1 - 1e-12))
    kept = float(np.clip(correlation, -_FURTHEST, _FURTHEST))
    under = ndtr((ends - kept * places[:, None]) / sqrt(1 - kept**2))
    none = np.zeros((_STRATA, 1))
    given = np.diff(np.concatenate([none, under, none + 1], axis=1), axis=1)
    last, first = one.below[:, None], np.concatenate([[0.0], one.below[:-1]])[:, None]
    within = np.maximum(np.minimum(edges[1:], last) - np.maximum(edges[:-1], first), 0.0)
    found = np.empty((len(one.rows), len(other.rows)))
    found[np.ix_(one.places, other.places)] = rows * within @ given
    return found


# --- what the noise does --------------------------------------------------------------------------------


def spreads(
    curves: Sequence[Followed], going: Floats, schedule: Schedule, *, intercept: float, parts: int
) -> list[Floats]:
    """Return the standard deviation that the noise gives every effect, by curve.

    Parameters
    ----------
    curves
        Of the predictors, then of pairs: what passes between these and others is left out.
    going
        Of the predictors; see `correlations`.
    schedule
        The noise of every sum.
    intercept, parts
        Of the fit; see `additive_steps.Fitted`.

    Notes
    -----
    Near where the fit came to rest a step is linear in the noise of its sums, in that of the numbers of rows
    that it is divided by, and in what earlier noise has moved. Step by step from the last to the first it is
    followed what each draw does to the averaged curves. Beside other columns the rows of a cell are those of
    normal columns with the noisy correlations; how much a residual moves is that of rows of whom the model is
    true.
    """
    coarse = [curve.grouped(schedule) for curve in curves]
    found: dict[int, Floats] = {}
    whole = np.eye(len(curves))
    whole[: len(going), : len(going)] = going
    pairs = [([place], [place]) for place in range(len(going), len(curves))]
    for asked, beside in (*_beside(going), *pairs):
        variances = _variances(coarse, whole, schedule, asked, beside, intercept=intercept, parts=parts)
        found |= dict(zip(asked, variances, strict=True))
    return [_each(curve, coarse[place], found[place]) for place, curve in enumerate(curves)]


def _beside(going: Floats) -> list[tuple[list[int], list[int]]]:
    """Return which curves are asked for together, and which are followed with them, in the order of steps."""
    size = len(going)
    if size <= MOST_BESIDE:
        return [(list(range(size)), list(range(size)))]
    nearest = np.argsort(-np.abs(going), axis=1, kind="stable")[:, :MOST_BESIDE]
    return [([place], sorted({place, *own.tolist()})) for place, own in enumerate(nearest)]


def _variances(
    curves: Sequence[Followed],
    going: Floats,
    schedule: Schedule,
    asked: Sequence[int],
    beside: Sequence[int],
    *,
    intercept: float,
    parts: int,
) -> list[Floats]:
    """Return the variance of every effect of some curves, see `spreads`."""
    own = [curves[place] for place in beside]
    about = max(float(np.mean([curve.rows.sum() for curve in own])), 1.0)
    tables = _tables(own, going[np.ix_(beside, beside)], about)
    slopes = _slopes(own, tables, schedule, intercept=intercept, parts=parts)
    starts = np.concatenate([[0], np.cumsum([len(curve.rows) for curve in own])])
    spans = [slice(*ends) for ends in pairwise(starts.tolist())]
    roots = np.sqrt(np.concatenate(slopes))
    pulled = roots[:, None] * tables * roots  # by how much a sum falls where an effect rises
    at = {place: spans[beside.index(place)] for place in asked}
    wanted = _centring([(curves[place], at[place]) for place in asked], int(starts[-1]))
    level = level_slope(intercept, schedule) * about
    deviation = schedule.deviation(schedule.sum_scale) / RESIDUAL_STEPS
    now, moved = np.zeros_like(wanted), np.zeros(len(wanted))
    total, by_counts = np.zeros(len(wanted)), np.zeros_like(wanted)
    for place, span in at.items():
        by_counts[_outputs(asked, curves, place), span] -= _weighed(curves[place])
    for turn in reversed(range(schedule.rounds)):
        if turn >= schedule.rounds - schedule.averaged:
            now = now + wanted / schedule.averaged
        narrow = WHOLE / parts if schedule.bought is not None and turn >= schedule.bought else 1.0
        for place, curve, span in reversed(list(zip(beside, own, spans, strict=True))):
            stepped = now[:, span] @ curve.inverse
            by_counts[:, span] -= schedule.bend * stepped * (curve.changes[turn] + RATE * curve.shifts[turn])
            raised = level_step(turn, place) / level
            lost = moved - RATE * schedule.bend * (stepped @ curve.rows)
            sums = RATE * stepped + raised * lost[:, None]
            total += (deviation * narrow) ** 2 * (sums**2 @ curve.counted)
            now[:, span] -= RATE * schedule.shrinkage * stepped @ curve.penalty
            now -= sums @ pulled[span]
            moved = moved - sums @ pulled[span, span].diagonal()
    counted = np.concatenate([curve.counted for curve in own])
    total += schedule.deviation(schedule.count_scale) ** 2 * (by_counts**2 @ counted)
    return [total[_outputs(asked, curves, place)] for place in asked]


def _outputs(asked: Sequence[int], curves: Sequence[Followed], place: int) -> slice:
    start = sum(len(curves[one].rows) for one in asked[: asked.index(place)])
    return slice(start, start + len(curves[place].rows))


def _weighed(curve: Followed) -> Floats:
    """Return what one more row in a cell takes from every effect, as averages are to stay 0.

    Notes
    -----
    Of a curve there is one average. Of a table of points one along each row and each column, with the numbers
    of rows of all columns, or rows, as weights.
    """
    total = max(float(curve.rows.sum()), 1.0)
    if curve.shape is None:
        return curve.effects / total
    table = curve.effects.reshape(curve.shape)
    both = table[:, None, None, :] + table.T[None, :, :, None]
    return np.asarray(both.reshape(len(curve.rows), -1) / total)


def _centring(asked: Sequence[tuple[Followed, slice]], size: int) -> Floats:
    """Return what makes effects beside the average of their curve of all effects; shape (asked for, size)."""
    found = np.zeros((sum(len(curve.rows) for curve, _ in asked), size))
    start = 0
    for curve, span in asked:
        cells = len(curve.rows)
        average = 0.0 if curve.shape else curve.rows / max(float(curve.rows.sum()), 1e-9)
        found[start : start + cells, span] = np.eye(cells) - average
        start += cells
    return found


def _tables(curves: Sequence[Followed], going: Floats, rows: float) -> Floats:
    """Return how many rows any two curves have in each two of their cells; shape (all cells, all cells)."""
    size = len(curves)
    found = [[np.diag(one.rows) if one is other else np.zeros(0) for other in curves] for one in curves]
    for one, other in combinations(range(size), 2):
        found[one][other] = _table(curves[one], curves[other], going[one, other], rows)
        found[other][one] = found[one][other].T
    return np.block(found)


def _slopes(
    curves: Sequence[Followed], tables: Floats, schedule: Schedule, *, intercept: float, parts: int
) -> list[Floats]:
    """Return by cell of every curve how much its mean residual falls where its effect rises.

    Notes
    -----
    Of classes on average over the scores of its rows, taken as normal. Rows beyond a limit of residuals do
    not move: of those of a number so many as of a normal distribution.
    """
    if not schedule.is_classes:
        left = share_inside(schedule.multiple) if parts > WHOLE else 1.0
        return [np.full(len(curve.rows), schedule.bend * left) for curve in curves]
    effects = np.concatenate([curve.effects for curve in curves])
    rows = np.concatenate([curve.rows for curve in curves])
    variance = float(effects @ tables @ effects) / max(float(curves[0].rows.sum()), 1.0)
    means = intercept + tables @ effects / np.maximum(rows, 1.0)
    places, chances = np.polynomial.hermite_e.hermegauss(_NODES)
    found, start = [], 0
    for curve in curves:
        own = means[start : start + len(curve.rows)]
        start += len(curve.rows)
        share = (curve.rows + 1e-9) / (curve.rows + 1e-9).sum()
        within = sqrt(max(variance - float(share @ (own - share @ own) ** 2), 0.0))
        found.append(slope_left(own[:, None] + within * places) @ (chances / chances.sum()))
    return found


def _each(curve: Followed, coarse: Followed, variances: Floats) -> Floats:
    """Return the standard deviation of every effect from the variances of groups of cells.

    Notes
    -----
    A single cell has as many times the noise of its group as a single step gives it.
    """
    if coarse is curve:
        return np.sqrt(variances)
    alone = np.sum(curve.inverse**2, axis=1)
    together = coarse.inverse**2 @ coarse.counted
    return np.asarray(coarse.together @ np.sqrt(variances / together) * np.sqrt(alone))
