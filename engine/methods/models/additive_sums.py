"""How a budget is divided where an additive model is fitted from few sums: from public numbers alone."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from engine.methods.models.invented import SHARE
from engine.methods.models.invented import SPREAD as TYPICAL
from engine.methods.models.limits import (
    FULL,
    LEVEL,
    NARROWEST,
    REACH,
    SPREAD,
    WIDEST,
    level_query,
    share_inside,
    spread_query,
)
from engine.methods.models.residuals import RESIDUAL_STEPS, WHOLE
from engine.methods.shared.cell_search import SEARCH, search_query
from engine.methods.shared.division import Division, Query, cover_exchange
from engine.methods.shared.margins import MARGINS
from engine.once import once
from engine.privacy.events import Event

COUNTS, SUMS, TABLES, LEFT = "counts", "sums", "tables", "left"
COUNTS_SHARE, TABLES_SHARE, LEFT_SHARE = 0.15, 0.12, 0.33
"""Of the budget: for the numbers of rows by cell, for those by groups of cells of each two predictors, and
for what the first model leaves. The target by cell gets what nothing else takes."""
GROUPS = (4, 3, 2)
"""Groups of cells of a predictor in the tables of two, in the order of trial."""
TOLD_APART = 3
"""A cell of such a table would hold so many standard deviations of its noise, were rows spread evenly."""
LEAST_MULTIPLE = 2.0
PENALTY = 1.5
"""Weight of the penalty on jumps, in standard deviations of the noise of a cell."""
MOST_CELLS = 500
"""Cells of all predictors together: what is solved for at once."""


@dataclass(frozen=True)
class SumsPlan:
    """Noise of every sum of an additive model that is asked for in two rounds, or three.

    Parameters
    ----------
    sizes
        Cells of every predictor.
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
    searched
        How many predictors are counted by their fine grids first: the round before the two.

    Notes
    -----
    A row is in one cell of each predictor and of each table of two. To the first sums it adds its target: ±½
    of a class, −1 to 1 of a number; to the last what the published first model leaves of it, at most ½ of a
    class, and of a number at most the limit, in whose units it is counted.
    """

    sizes: tuple[int, ...]
    epsilon: Fraction
    delta: Fraction
    rows_per_person: int
    replace_one: bool
    about_rows: int
    is_classes: bool
    searched: int = 0
    margin: float = MARGINS[0]

    @property
    def is_gaussian(self) -> bool:
        """Whether the noise is Gaussian, so that a δ is spent."""
        return self.delta > 0

    @property
    def pairs(self) -> int:
        """How many tables of two predictors there are."""
        return len(self.sizes) * (len(self.sizes) - 1) // 2

    @once
    def groups(self) -> int:
        """Into how many groups of neighbouring cells predictors are put for tables of two; 0: too few rows.

        It hangs on what one site pays, so that all sites of a study and whoever adds up ask for the same.
        """
        if not self.pairs:
            return 0
        level = Division((), self.epsilon, self.delta, self.replace_one).level
        moved = self.rows_per_person * (2 if self.replace_one else 1)
        if self.is_gaussian:
            deviation = moved * sqrt(self.pairs / TABLES_SHARE) / level
        else:
            deviation = sqrt(2) * moved * self.pairs / (TABLES_SHARE * level)
        return next((one for one in GROUPS if self.about_rows >= TOLD_APART * deviation * one**2), 0)

    @once
    def division(self) -> Division:
        """How the budget is divided."""
        rows, times, predictors = self.rows_per_person, 2 if self.replace_one else 1, len(self.sizes)
        reach = REACH if self.is_classes else RESIDUAL_STEPS
        rest = 1 - COUNTS_SHARE - LEFT_SHARE
        queries = []
        if self.searched:
            queries.append(search_query(self.searched, rows=rows, replace_one=self.replace_one))
        queries.append(Query(COUNTS, times * rows * predictors, times * rows**2 * predictors, COUNTS_SHARE))
        if self.groups:
            queries.append(
                Query(TABLES, times * rows * self.pairs, times * rows**2 * self.pairs, TABLES_SHARE)
            )
        if not self.is_classes:
            level = cover_exchange(level_query(rows), replace_one=self.replace_one)
            queries += [spread_query(rows), level]
        rest -= sum(one.share for one in queries if one.name != COUNTS)
        sums = Query(SUMS, rows * predictors * reach, (rows * reach) ** 2 * predictors, rest)
        left = Query(LEFT, rows * predictors * REACH, (rows * REACH) ** 2 * predictors, LEFT_SHARE)
        queries += [cover_exchange(one, replace_one=self.replace_one) for one in (sums, left)]
        return Division(tuple(queries), self.epsilon, self.delta, self.replace_one).borne_out()

    @property
    def rounds(self) -> tuple[Event, ...]:
        """What each round draws, one after the other."""
        tables = (TABLES,) if self.groups else ()
        first = (COUNTS, SUMS, *tables, *(() if self.is_classes else (SPREAD,)))
        last = (LEFT,) if self.is_classes else (LEFT, LEVEL)
        searching = ((SEARCH,),) if self.searched else ()
        return tuple(self.division.asked(*names) for names in (*searching, first, last))

    # --- what is foreseen -----------------------------------------------------------------------------

    @property
    def mean_alone(self) -> bool:
        """Such a model always has curves: where they would be worse than a mean it is refused."""
        return False

    @property
    def bend(self) -> float:
        """Largest second derivative of a row's loss."""
        return 0.25 if self.is_classes else 1.0

    @property
    def multiple(self) -> float:
        """The limit is so many typical residuals: the less noise, the more, as a narrow one bends the fit."""
        told_apart = self.about_rows / max(self.first_noise * sqrt(sum(self.sizes)), 1e-9)
        return LEAST_MULTIPLE + told_apart / 1000

    @property
    def first_noise(self) -> float:
        """Standard deviation of the noise of the target in a cell."""
        return self.division.deviation(SUMS) / RESIDUAL_STEPS

    def last_noise(self, parts: int) -> float:
        """Return the standard deviation of the noise of what is left in a cell, by the limit."""
        return self.division.deviation(LEFT) / RESIDUAL_STEPS * WHOLE / parts

    def parts(self, variance: float) -> int:
        """Return the limit from the variance of what the first model leaves; see `limits.limit_of`."""
        wanted = self.multiple * sqrt(max(variance, 0.0))
        return int(WHOLE * float(WIDEST) / min(max(wanted, float(WIDEST) / NARROWEST), float(WIDEST)))

    @property
    def expected_parts(self) -> int:
        """The limit that errors of invented people lead to."""
        return WHOLE if self.is_classes else self.parts(TYPICAL**2 * (1 - SHARE))

    def noise(self, parts: int) -> float:
        """Return the standard deviation of the noise of a cell, both sums of it together."""
        last = self.last_noise(parts) / (1.0 if self.is_classes else share_inside(self.multiple))
        return 1 / sqrt(1 / self.first_noise**2 + 1 / last**2)

    @property
    def base(self) -> float:
        """Standard deviation of the noise of a cell, of invented people."""
        return self.noise(self.expected_parts)

    @property
    def shrinkage(self) -> float:
        """Weight of the penalty on jumps, of invented people: of a class half of the rows are of either."""
        return PENALTY * self.base + self.bend * self.division.deviation(COUNTS)

    @property
    def needed_rows(self) -> float:
        """Rows of a cell below which its effect is more noise than chance among people."""
        return self.base**2 / self.bend

    def foreseen(self, rows: int) -> float:
        """Return how far the noise moves the effect of a cell with so many rows, of invented people."""
        return self.base / (self.bend * max(rows, 1))

    def rows_at(self, parts: int) -> float:
        """Return the rows of a cell below which its effect is more noise than chance among people.

        Of a number the chance is that of typical errors, as many times smaller than the limit as `multiple`.
        """
        noise = self.noise(parts)
        if self.is_classes:
            return noise**2 / self.bend
        typical = float(WIDEST) * WHOLE / parts / self.multiple
        return noise**2 / typical**2

    @property
    def is_hopeless(self) -> bool:
        """Whether curves of a number would be worse than its mean, whatever the rows are; see `Schedule`."""
        rows = (self.about_rows // size for size in self.sizes)
        return not self.is_classes and sum(self.foreseen(one) ** 2 for one in rows) > 1


assert FULL == RESIDUAL_STEPS  # squares of a target between −1 and 1 are counted in these
