"""How a budget is divided: from public numbers alone, before a row is read."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, sqrt

from engine.privacy.events import Event, Sequential
from engine.privacy.gaussian import concentrated_budget
from engine.privacy.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, root_above

FEWEST_FOR_PAIRS = 30
"""Rows for each standard deviation of a pair's noise below which only single columns are measured."""
FEW_FOR_PAIRS = 100
"""Rows for each standard deviation of a pair's noise below which measuring pairs gains little."""
SELECTION = Fraction(1, 10)
"""Share of what is left after single columns that choosing pairs costs."""
PRECISION = 2**20


@dataclass(frozen=True)
class Schedule:
    """Which noise everything gets.

    Parameters
    ----------
    sizes
        Cells of every column.
    epsilon, delta
        Of the whole release; δ = 0 for noise of the Laplace kind.
    moved
        Largest number of rows by which neighbouring tables differ, in one cell or in several.
    squared
        Largest squared distance between tables of counts of neighbouring tables.
    about_rows
        Roughly how many rows there are; public.

    Notes
    -----
    Gaussian noise: ρ = S/2σ² a table and ε²/8 a choice (bounded range: Cesar and Rogers 2021), added up and
    turned into δ (Canonne, Kamath and Steinke 2020, proposition 12). Laplace noise: everything adds up.
    The budget of single columns is divided by cells^(2/3) for ρ, which makes the sum of their errors least.
    """

    sizes: tuple[int, ...]
    epsilon: Fraction
    delta: Fraction
    moved: int
    squared: int
    about_rows: int

    @property
    def is_gaussian(self) -> bool:
        """Whether the noise is Gaussian, so that a δ is spent."""
        return self.delta > 0

    @cached_property
    def budget(self) -> float:
        """ρ for Gaussian noise, ε for Laplace noise; a hair below what was given."""
        if not self.is_gaussian:
            return float(self.epsilon) * (1 - 1e-9)
        return concentrated_budget(float(self.epsilon), float(self.delta)) * (1 - 1e-9)

    @cached_property
    def rows_per_deviation(self) -> float:
        """How many rows stand against a standard deviation of the noise of one pair."""
        columns = len(self.sizes)
        share = 0.9 * 0.8 * self.budget / (2 * columns)
        return self.about_rows / self._deviation(share)

    @property
    def only_single(self) -> bool:
        """Whether pairs would be nothing but noise, so that all goes to single columns."""
        return len(self.sizes) < 2 or self.rows_per_deviation < FEWEST_FOR_PAIRS

    @property
    def is_thin(self) -> bool:
        """Whether pairs are hardly worth their noise."""
        return self.rows_per_deviation < FEW_FOR_PAIRS

    @cached_property
    def single_share(self) -> float:
        """Share of the budget for single columns."""
        if self.only_single:
            return 1.0
        return min(max(0.15 * sqrt(1200 / self.rows_per_deviation), 0.1), 0.8)

    @property
    def resolutions(self) -> tuple[int, ...]:
        """Numbers of groups at which columns are offered besides all their cells."""
        if self.rows_per_deviation > 600:
            return ()
        return (8,) if self.rows_per_deviation > 60 else (8, 4, 2)

    @property
    def batch(self) -> int:
        """Pairs measured in one round."""
        return max(1, (len(self.sizes) - 1) // 2)

    @property
    def rounds(self) -> int:
        """How many rounds there are."""
        return 0 if self.only_single else ceil(3 * (len(self.sizes) - 1) / self.batch)

    @property
    def pairs(self) -> int:
        """How many pairs are measured."""
        return self.rounds * self.batch

    @property
    def most_cells(self) -> int:
        """Cells that a clique of the model may have."""
        return 200_000 if self.rows_per_deviation > 2000 else 50_000

    @cached_property
    def single(self) -> tuple[Fraction, ...]:
        """Scale of the noise of every single column."""
        power = 2 / 3 if self.is_gaussian else 1 / 2
        weights = [size**power for size in self.sizes]
        each = self.single_share * self.budget / sum(weights)
        return tuple(self._scale(each * weight) for weight in weights)

    @cached_property
    def pair(self) -> Fraction:
        """Scale of the noise of every pair."""
        left = (1 - self.single_share) * self.budget * float(1 - SELECTION)
        return self._scale(left / self.pairs)

    @cached_property
    def rate(self) -> Fraction:
        """Of every choice: P ∝ exp(rate · score)."""
        left = (1 - self.single_share) * self.budget * float(SELECTION) / self.pairs
        epsilon = sqrt(8 * left) if self.is_gaussian else left
        return Fraction(floor(epsilon / (2 * self.moved) * PRECISION**2), PRECISION**2)

    def deviation(self, scale: Fraction) -> float:
        """Return the standard deviation of noise of a scale."""
        return float(scale) if self.is_gaussian else sqrt(2) * float(scale)

    @property
    def events(self) -> Event:
        """What the ledger reserves."""
        counts: dict[Fraction, int] = {}
        for scale in self.single:
            counts[scale] = counts.get(scale, 0) + 1
        if self.pairs:
            counts[self.pair] = counts.get(self.pair, 0) + self.pairs
        parts: list[Event] = [self._noise(scale, count) for scale, count in counts.items()]
        if self.pairs:
            parts.append(Exponential(1 / self.rate, Fraction(self.moved), count=self.pairs))
        return parts[0] if len(parts) == 1 else Sequential(tuple(parts))

    def _noise(self, scale: Fraction, count: int) -> Event:
        if self.is_gaussian:
            return DiscreteGaussian(scale, root_above(self.squared), count=count)
        return DiscreteLaplace(scale, Fraction(self.moved), count=count)

    def _deviation(self, budget: float) -> float:
        return self.deviation(self._scale(budget))

    def _scale(self, budget: float) -> Fraction:
        """Return the scale that costs a part of the budget, rounded up."""
        exact = sqrt(self.squared / (2 * budget)) if self.is_gaussian else self.moved / budget
        return Fraction(ceil(exact * PRECISION), PRECISION)
