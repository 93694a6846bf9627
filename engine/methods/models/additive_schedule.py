"""How a budget is divided among the sums of an additive model: from public numbers alone."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from engine.methods.models.invented import SHARE, SPREAD
from engine.methods.models.limits import (
    FULL,
    LEAST_MULTIPLE,
    LEVEL_SHARE,
    REACH,
    SPREAD_SHARE,
    WIDEST,
    limit_of,
    parts_of,
    spread_query,
)
from engine.methods.models.residuals import RESIDUAL_STEPS as RESIDUAL_STEPS
from engine.methods.models.residuals import WHOLE
from engine.methods.shared.cell_search import SEARCH_SHARE, search_query
from engine.methods.shared.division import Division, borne_out, level_of, rounded_up
from engine.methods.shared.margins import MARGINS
from engine.once import once
from engine.privacy.events import Event, Sequential
from engine.privacy.mechanisms import DiscreteGaussian, DiscreteLaplace, Integers, root_above
from engine.privacy.noise import Noise

COUNTS, COUNTS_PURE = 0.04, 0.19
"""Shares of the budget that the numbers of rows by cell get."""
TOGETHER_SHARE = 0.01
"""Of the budget for which columns go together: bands alone hang on it."""


@dataclass(frozen=True)
class Schedule:
    """Noise, rounds and reach.

    Parameters
    ----------
    sizes
        Cells of every predictor.
    epsilon, delta
        Of the whole release; δ = 0 for noise of the Laplace kind.
    rows_per_person
        The cap.
    replace_one
        Whether neighbouring tables exchange a person.
    about_rows
        Roughly how many rows there are; public.
    is_classes
        Whether one of two classes is predicted, else a number between −1 and 1.
    margin
        How far below the level of continuous noise that of whole numbers stays; see `borne_out`.
    searched
        How many predictors are counted by their fine grids first; see `cell_search`.
    mean_alone
        Whether the mean of a number is all that is fitted; see `is_hopeless`.
    pairs
        How many of the last predictors are pairs of others.

    Notes
    -----
    A row is in one cell of each predictor with a residual of at most ``reach``. Gaussian noise: the squared
    distances over squared scales add up to μ² (Dong, Roth and Su 2022, corollary 3.3), which is (ε, δ) as
    Balle and Wang (2018), theorem 8, say. Laplace noise: everything adds up.
    """

    sizes: tuple[int, ...]
    epsilon: Fraction
    delta: Fraction
    rows_per_person: int
    replace_one: bool
    about_rows: int
    is_classes: bool
    margin: float = MARGINS[0]
    searched: int = 0
    mean_alone: bool = False
    pairs: int = 0

    def borne_out(self) -> Schedule:
        """Return the schedule with the smallest margin that the accountant accepts."""
        return borne_out(self)

    @property
    def is_gaussian(self) -> bool:
        """Whether the noise is Gaussian, so that a δ is spent."""
        return self.delta > 0

    @once
    def level(self) -> float:
        """μ of Gaussian noise, a hair below what was given; ε of Laplace noise."""
        return level_of(self)

    @property
    def signal(self) -> float:
        """The level for one row that comes or goes."""
        return self.level / (self.rows_per_person * (2 if self.replace_one else 1))

    @once
    def rounds(self) -> int:
        """How often every predictor has its turn; were there one, where the mean alone is fitted."""
        if not self.is_gaussian:
            return 4
        if self.is_classes:
            wanted = sqrt(self.about_rows * self.signal / float(WIDEST)) / 4
            return int(min(max(wanted, 3), 40))
        return int(min(max(sqrt(self.about_rows * self.signal) / 10, 5), 30))

    @property
    def bought(self) -> int | None:
        """The round before which the limit of residuals is bought; None where it stays."""
        return None if self.is_classes or self.mean_alone else 1

    @property
    def multiple(self) -> float:
        """The limit is so many typical residuals: the less noise, the more, as a narrow one bends the fit."""
        length = sqrt(len(self.sizes)) if self.is_gaussian else len(self.sizes) / sqrt(2)
        told_apart = self.about_rows * self.signal / (length * sqrt(sum(self.sizes)))
        return LEAST_MULTIPLE + told_apart / 1000

    def parts(self, squared: float, rows: float) -> int:
        """Return the limit of residuals from their noisy sum of squares; see `limits.parts_of`."""
        deviation = self.deviation(self.spread_scale)
        return parts_of(squared, deviation=deviation, rows=rows, multiple=self.multiple)

    @property
    def averaged(self) -> int:
        """The curves of so many last rounds are averaged."""
        return max(1, self.rounds // 2)

    @property
    def bend(self) -> float:
        """Largest second derivative of a row's loss."""
        return 0.25 if self.is_classes else 1.0

    @once
    def base(self) -> float:
        """Standard deviation of the noise of one cell if there were one round."""
        return self.deviation(self.sum_scale) / RESIDUAL_STEPS / sqrt(self.rounds)

    @property
    def shrinkage(self) -> float:
        """Weight of the penalty."""
        return (1.5 if self.epsilon <= 1 else 0.8) * self.base

    @property
    def ridge(self) -> float:
        """Weight of the penalty in the size of a step."""
        return self.shrinkage + 2 * self.bend * self.base + 1

    @once
    def count_scale(self) -> Fraction:
        """Scale of the noise of the numbers of rows."""
        if self.is_gaussian:
            return rounded_up(sqrt(self._count_squared / COUNTS) / self.level)
        return rounded_up(self._moved * len(self.sizes) / (COUNTS_PURE * self.level))

    @once
    def spread_scale(self) -> Fraction:
        """Scale of the noise of the sum of squared residuals of a number, in its steps."""
        query = spread_query(self.rows_per_person)
        if self.is_gaussian:
            return rounded_up(sqrt(query.squared / query.share) / self.level)
        return rounded_up(query.ones / (query.share * self.level))

    @property
    def compared(self) -> int:
        """How many two predictors are asked whether they go together."""
        alone = 0 if self.mean_alone else len(self.sizes) - self.pairs
        return alone * (alone - 1) // 2

    @once
    def together_scale(self) -> Fraction:
        """Scale of the noise of how many rows have equal halves of two predictors less unequal ones."""
        moved = self._moved * (root_above(self.compared) if self.is_gaussian else self.compared)
        if self.is_gaussian:
            return rounded_up(moved / sqrt(TOGETHER_SHARE) / self.level)
        return rounded_up(moved / (TOGETHER_SHARE * self.level))

    @property
    def is_hopeless(self) -> bool:
        """Whether curves of a number would be worse than its mean, whatever the rows are.

        Notes
        -----
        The noise alone is then foreseen to move a prediction by more than half of the declared range, which
        is the most that numbers within it spread.
        """
        rows = (self.about_rows // size for size in self.sizes)
        return not self.is_classes and sum(self.foreseen(one) ** 2 for one in rows) > 1

    @once
    def level_scale(self) -> Fraction:
        """Scale of the noise of the sum of what the fit of a number leaves, in steps of residuals.

        Of a mean alone it is that of how far rows are from either bound: together the declared range.
        """
        share = 1 - self._count_share if self.mean_alone else LEVEL_SHARE
        if self.is_gaussian:
            return rounded_up(self._levelled / sqrt(share) / self.level)
        return rounded_up(self._levelled / (share * self.level))

    @property
    def _levelled(self) -> int:
        return self._moved * (2 * RESIDUAL_STEPS if self.mean_alone else REACH)

    @property
    def _count_share(self) -> float:
        return COUNTS if self.is_gaussian else COUNTS_PURE

    @once
    def search(self) -> Division:
        """What the fine counts get of the budget."""
        query = search_query(self.searched, rows=self.rows_per_person, replace_one=self.replace_one)
        return Division((query,), self.epsilon, self.delta, self.replace_one, self.margin)

    @property
    def _sum_share(self) -> float:
        """Share of the budget that the sums of residuals get."""
        beside = (0 if self.is_classes else SPREAD_SHARE + LEVEL_SHARE) + (
            SEARCH_SHARE if self.searched else 0
        )
        beside += TOGETHER_SHARE if self.compared else 0
        return 1 - self._count_share - beside

    @once
    def sum_scale(self) -> Fraction:
        """Scale of the noise of the sums of residuals, in their steps."""
        sums = self.rounds * len(self.sizes)
        moved = self._moved * REACH
        if self.is_gaussian:
            return rounded_up(moved * sqrt(sums / self._sum_share) / self.level)
        return rounded_up(moved * sums / (self._sum_share * self.level))

    @property
    def needed_rows(self) -> float:
        """Rows of a cell below which its effect is more noise than chance among people."""
        noise = self.base * sqrt(1 / (1 - COUNTS))
        return noise**2 / self.bend

    def foreseen(self, rows: int) -> float:
        """Return how far the noise moves the effect of a cell with so many rows, of invented people.

        Notes
        -----
        The noise of one sum, spread over the curvature of its rows; of a number at `expected_parts`.
        """
        return sqrt(self.needed_rows / self.bend * self._narrow(self.expected_parts)) / max(rows, 1)

    def rows_at(self, parts: int) -> float:
        """Return the rows of a cell below which its effect is more noise than chance among people.

        Notes
        -----
        Of a number the chance is that of typical errors, as many times smaller than the limit as `multiple`
        says; `needed_rows` reckons with errors over the whole range and with the widest limit.
        """
        if self.bought is None:
            return self.needed_rows
        typical = float(limit_of(parts)) / self.multiple
        return self.needed_rows * self._narrow(parts) / typical**2

    @property
    def expected_parts(self) -> int:
        """The limit that errors of invented people lead to; see `engine.methods.models.invented`."""
        if self.bought is None:
            return WHOLE
        squares = SPREAD**2 * (1 - SHARE) / float(WIDEST) ** 2
        return self.parts(self.about_rows * squares * FULL, self.about_rows)

    def _narrow(self, parts: int) -> float:
        """Return which part of the noise is left, as its square, after a limit is bought."""
        widely = 1.0 if self.bought is None else self.bought / self.rounds
        return widely + (1 - widely) * (WHOLE / parts) ** 2

    @property
    def events(self) -> Event:
        """What the ledger reserves."""
        sums, reach = self.rounds * len(self.sizes), self._moved * REACH
        kind = DiscreteGaussian if self.is_gaussian else DiscreteLaplace
        once = root_above(self._count_squared) if self.is_gaussian else self._moved * len(self.sizes)
        events: list[Event] = [kind(self.count_scale, Fraction(once))]
        if not self.mean_alone:
            events.append(kind(self.sum_scale, Fraction(reach), count=sums))
            if not self.is_classes:
                events.append(kind(self.spread_scale, Fraction(spread_query(self.rows_per_person).ones)))
        if not self.is_classes:
            events.append(kind(self.level_scale, Fraction(self._levelled)))
        if self.compared:
            length = root_above(self.compared) if self.is_gaussian else self.compared
            events.append(kind(self.together_scale, Fraction(self._moved * length)))
        if self.searched:
            events += self.search.events.parts
        return Sequential(tuple(events))

    def drawn(self, scale: Fraction, size: int, noise: Noise) -> Integers:
        """Draw noise of a scale."""
        if self.is_gaussian:
            return noise.discrete_gaussian(scale**2, size)
        return noise.discrete_laplace(scale, size)

    def deviation(self, scale: Fraction) -> float:
        """Return the standard deviation of noise of a scale."""
        return float(scale) if self.is_gaussian else sqrt(2) * float(scale)

    @property
    def _moved(self) -> int:
        """Rows by which neighbouring tables differ; exchanged ones may share a cell, with opposite signs."""
        return self.rows_per_person * (2 if self.replace_one else 1)

    @property
    def _count_squared(self) -> int:
        return len(self.sizes) * self.rows_per_person**2 * (2 if self.replace_one else 1)
