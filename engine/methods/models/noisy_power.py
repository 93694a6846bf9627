"""Principal components of very many coordinates: noisy power steps, which never form all products.

Each turn asks for Σ x ⊗ (x − mean)·V, where V has as many columns as components are wanted and a few more,
and is known already: it follows from earlier noisy answers. What a row adds is a vector of whole numbers
whose length is bounded whatever the row holds; no other row changes a bit of it. After M. Hardt, E. Price,
The noisy power method (2014), with clipped places: that a row's part is bounded by clipping, not by what the
rows have in common, is what makes it hold for every table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, isqrt, sqrt

import numpy as np

from engine import arrays
from engine.methods.models.components import Components
from engine.methods.models.points import PER_SIDE, Points
from engine.methods.shared.division import Division, Query, cover_exchange
from engine.once import once
from engine.privacy.noise import Noise
from engine.progress import SILENT, Progress

Floats = arrays.Floats
Integers = arrays.Integers

MEANS, TURNS, SQUARES = "means", "turns", "squares"
MEANS_SHARE = SQUARES_SHARE = 0.1
"""Of the budget for the sums of coordinates, and for those of squared places along what was found."""
ROUNDS = 3
MORE = 4
"""Columns of V beside those of the components: a subspace that is found with room loses less."""
FINE = 14
"""Bits of an entry of V behind the point."""


@dataclass(frozen=True)
class PowerPlan:
    """Turns, noise and reach: from public numbers alone.

    Parameters
    ----------
    widths
        For every column 0 where it is a number, else how many cells it has.
    components
        How many directions are wanted.
    epsilon, delta
        Of the whole fit; Gaussian noise alone is worth its price here.
    rows_per_person
        The cap.
    replace_one
        Whether neighbouring tables exchange a person.

    Notes
    -----
    A row's coordinates have a squared length of at most the number of columns, whatever the number of cells.
    Its place along V, seen from the noisy mean, is clipped to a sixth of that length: that moves directions
    little, and the noise shrinks with it. Variances it would shrink too: they are asked for afterwards, along
    the directions that were found, with places clipped to the whole of that length.
    """

    widths: tuple[int, ...]
    components: int
    epsilon: Fraction
    delta: Fraction
    rows_per_person: int
    replace_one: bool

    @property
    def size(self) -> int:
        """How many coordinates there are, the 1 not among them."""
        return sum(max(width, 1) for width in self.widths)

    @property
    def columns(self) -> int:
        """How many directions are followed."""
        return min(self.components + MORE, self.size)

    @property
    def reach(self) -> int:
        """At what length a row's place along V is clipped in a turn, in steps of 1/1024."""
        return isqrt(len(self.widths) * PER_SIDE**2) // 6

    @property
    def reach_of_squares(self) -> int:
        """The same where variances are asked for."""
        return 6 * self.reach

    @property
    def root(self) -> int:
        """What the sum of a row's squares is divided by, so that it is no longer than its numbers."""
        return max(ceil(sqrt(self.widths.count(0))), 1)

    @once
    def division(self) -> Division:
        """How the budget is divided."""
        rows, active, numbers = self.rows_per_person, len(self.widths), self.widths.count(0)
        most = PER_SIDE * numbers // self.root  # of the squares
        means = Query(
            MEANS,
            rows * (PER_SIDE * (1 + active) + most),
            rows**2 * (PER_SIDE**2 * (1 + active) + most**2),
            MEANS_SHARE,
        )
        squared = rows**2 * active * PER_SIDE**2 * self.reach**2
        ones = rows * active * PER_SIDE * ceil(sqrt(self.columns) * self.reach)
        turns = Query(TURNS, ones, squared, 1 - MEANS_SHARE - SQUARES_SHARE, ROUNDS)
        longest = rows * self.reach_of_squares**2  # squares that are together no more than this
        squares = Query(SQUARES, longest, longest**2, SQUARES_SHARE)
        queries = (
            *(cover_exchange(one, replace_one=self.replace_one) for one in (means, turns)),
            self._far(squares),
        )
        return Division(queries, self.epsilon, self.delta, self.replace_one).borne_out()

    def _far(self, squares: Query) -> Query:
        """Return the query of squares: none is below 0, so that an exchange moves two of them at most."""
        if not self.replace_one:
            return squares
        return replace(squares, ones=2 * squares.ones, squared=2 * squares.squared)

    @property
    def turn_noise(self) -> float:
        """Standard deviation of the noise of an entry of a turn's answer."""
        return self.division.deviation(TURNS) / PER_SIDE**2

    @property
    def largest_noise(self) -> float:
        """About the largest singular value of the noise of a turn."""
        return self.turn_noise * (sqrt(self.size) + sqrt(self.columns))


def noisy_components(
    parts: Callable[[], Iterable[Points]], plan: PowerPlan, *, noise: Noise, progress: Progress = SILENT
) -> Components:
    """Return the components of rows that are read once for the means, in each turn, and for the variances.

    Parameters
    ----------
    parts
        Gives the rows, some at a time, each time it is called.
    plan
        Noise and reach.
    """
    exact = np.zeros(plan.size + 2, dtype=np.int64)
    for part in parts():
        exact += _means(part, plan)
    told = plan.division.noisy(MEANS, exact, noise) / PER_SIDE
    rows = max(float(told[0]), 1.0)
    mean = _possible(told[1:-1] / rows, plan.widths)
    along = _start(mean, plan)
    for turn in range(ROUNDS):
        progress.step((1 + turn) / (2 + ROUNDS), "models.rounds")
        weights, middle = _whole(along, mean)
        sums = np.zeros((plan.size, plan.columns), dtype=np.int64)
        for part in parts():
            sums += _turn(part, weights, middle, plan.reach)
        noisy = plan.division.noisy(TURNS, sums.ravel(), noise).reshape(sums.shape) / PER_SIDE**2
        along = np.linalg.svd(_without_sums(noisy, plan.widths), full_matrices=False)[0]
    along = along[:, : plan.components]
    weights, middle = _whole(along, mean)
    exact = np.zeros(plan.components, dtype=np.int64)
    for part in parts():
        for _, block in part.parts():
            exact += (places(block, weights, middle, plan.reach_of_squares) ** 2).sum(axis=0)
    variances = np.maximum(plan.division.noisy(SQUARES, exact, noise) / PER_SIDE**2 / rows, 0.0)
    order = np.argsort(-variances, kind="stable")
    total = _of_numbers(told[-1], mean, rows, plan) + _of_cells(told[1:-1], rows, plan)
    return Components(rows, mean, along.T[order], variances[order], total, plan.largest_noise / rows)


def _whole(along: Floats, mean: Floats) -> tuple[Integers, Integers]:
    """Return V and where the mean lies along it in whole steps; see `places`."""
    return np.rint(along * 2**FINE).astype(np.int64), np.rint(mean @ along * PER_SIDE).astype(np.int64)


def places(part: Points, weights: Integers, middle: Integers, reach: int) -> Integers:
    """Return where rows lie along V from its middle, in steps of 1/1024, none further than ``reach``.

    Parameters
    ----------
    weights
        V in steps of 2^-14, shape (size, columns).
    middle
        Where the mean lies, in steps of 1/1024.

    Notes
    -----
    Whole numbers below 2^53 throughout, so that their sums are exact in any order. The factor of a row that
    is too long is one correctly rounded root and division: it does not depend on where the row stands.
    Rounding towards 0 makes nothing longer; one step is kept free for the rounding of the factor.
    """
    starts = np.cumsum([0, *(max(width, 1) for width in part.widths)])[:-1]
    is_number = np.array(part.widths) == 0
    found = part.numbers.astype(np.float64) @ weights[starts[is_number]].astype(np.float64)
    found = found.astype(np.int64)
    for own, start in zip(part.cells, starts[~is_number], strict=True):
        found += weights[start + own.astype(np.int64)] * PER_SIDE
    found = (found >> FINE) - middle
    length = np.sqrt((found**2).sum(axis=1).astype(np.float64))
    factor = np.minimum((reach - 1) / np.maximum(length, 1.0), 1.0)
    return np.where(length[:, None] <= reach - 1, found, np.trunc(found * factor[:, None]).astype(np.int64))


def _turn(part: Points, weights: Integers, middle: Integers, reach: int) -> Integers:
    """Return Σ x ⊗ place of some rows, exactly, in steps of 2^-20."""
    total = np.zeros(weights.shape, dtype=np.int64)
    starts = np.cumsum([0, *(max(width, 1) for width in part.widths)])[:-1]
    is_number = np.array(part.widths) == 0
    wide = [width for width in part.widths if width]
    for _, rows in part.parts():
        where = places(rows, weights, middle, reach).astype(np.float64)
        total[starts[is_number]] += (rows.numbers.T @ where).astype(np.int64)
        for own, start, width in zip(rows.cells, starts[~is_number], wide, strict=True):
            for column in range(where.shape[1]):
                sums = np.bincount(own, weights=where[:, column], minlength=width)
                total[start : start + width, column] += sums.astype(np.int64) * PER_SIDE
    return total


def _means(part: Points, plan: PowerPlan) -> Integers:
    """Return the number of rows, sums of coordinates and of squares of numbers, in steps of 1/1024."""
    squares = (part.numbers.astype(np.int64) ** 2).sum(axis=1) // (PER_SIDE * plan.root)
    return np.append(part.sums(np.ones(len(part), dtype=np.int64)), squares.sum())


def _possible(mean: Floats, widths: tuple[int, ...]) -> Floats:
    """Return means that rows can have: of a number within ± 1, of a cell from 0 to 1."""
    is_number = np.repeat([width == 0 for width in widths], [max(width, 1) for width in widths])
    return np.asarray(np.clip(mean, np.where(is_number, -1.0, 0.0), 1.0))


def _start(mean: Floats, plan: PowerPlan) -> Floats:
    """Return directions to start from, orthonormal: signs without an order, by how much a cell can differ."""
    mixed = np.arange(1, plan.size * plan.columns + 1, dtype=np.uint64).reshape(plan.size, plan.columns)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    signs = np.where(mixed >> np.uint64(63), 1.0, -1.0)
    is_number = np.repeat([width == 0 for width in plan.widths], [max(width, 1) for width in plan.widths])
    differs = np.sqrt(np.where(is_number, 1 - mean**2, mean * (1 - mean)) + 1 / plan.size)
    return np.asarray(np.linalg.qr(_without_sums(signs * differs[:, None], plan.widths))[0])


def _without_sums(found: Floats, widths: tuple[int, ...]) -> Floats:
    """Return answers without what all cells of a column share: they add up to 1, nothing varies there."""
    found, start = found.copy(), 0
    for width in widths:
        if width:
            found[start : start + width] -= found[start : start + width].mean(axis=0)
        start += max(width, 1)
    return found


def _of_numbers(squares: float, mean: Floats, rows: float, plan: PowerPlan) -> float:
    """Return the variance of all numbers together."""
    is_number = np.repeat([width == 0 for width in plan.widths], [max(width, 1) for width in plan.widths])
    return max(squares * plan.root / rows - float(mean[is_number] @ mean[is_number]), 0.0)


def _of_cells(sums: Floats, rows: float, plan: PowerPlan) -> float:
    """Return the variance of all cells together: of a column 1 less the squared shares of its cells.

    Notes
    -----
    From sums as they were drawn, and less what their noise adds to squares: of sums that were kept above 0
    the noise of thousands of empty cells would be taken for differences between rows.
    """
    noise = plan.division.deviation(MEANS) / PER_SIDE
    found, start = 0.0, 0
    for width in plan.widths:
        if width:
            own = sums[start : start + width]
            alike = (float(own @ own) - width * noise**2) / rows**2
            found += min(max(1 - alike, 0.0), 1 - 1 / width)
        start += max(width, 1)
    return found
