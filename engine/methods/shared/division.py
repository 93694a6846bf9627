"""A budget divided among the noisy sums of one model: shares, scales, and what the ledger reserves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import ceil, sqrt
from typing import Protocol, Self, TypeVar

import numpy as np

from engine.methods.shared.margins import MARGINS, smallest_margin
from engine.once import once
from engine.privacy.accuracy import spread_of_sites
from engine.privacy.events import Event, Mechanism, Neighbours, Sequential
from engine.privacy.exact_vector import LARGEST_DIMENSION
from engine.privacy.gaussian import concentrated_budget, gaussian_level
from engine.privacy.mechanisms import DiscreteGaussian, DiscreteLaplace, Integers, Vector, root_above
from engine.privacy.mechanisms.integers import add_noise
from engine.privacy.mechanisms.vector import vector_deviation
from engine.privacy.noise import Noise


class Plan(Protocol):
    """What divides a budget: a frozen dataclass with a margin."""

    @property
    def epsilon(self) -> Fraction: ...
    @property
    def delta(self) -> Fraction: ...
    @property
    def replace_one(self) -> bool: ...
    @property
    def margin(self) -> float: ...
    @property
    def is_gaussian(self) -> bool: ...
    @property
    def events(self) -> Event: ...


SomePlan = TypeVar("SomePlan", bound=Plan)


@dataclass(frozen=True)
class Query:
    """Sums that are asked for once, or once in every round.

    Parameters
    ----------
    name
        For `Division.noisy`.
    ones, squared
        The L1 sensitivity and the squared L2 sensitivity of one asking, in whole steps, for everything that a
        neighbouring table differs by.
    share
        Of the budget (of μ² for Gaussian noise), for all askings together.
    count
        How often it is asked.
    together
        How many sums one asking has, where under pure ε they may get one vector of noise instead of noise
        for each; see `is_vector`.
    """

    name: str
    ones: int
    squared: int
    share: float
    count: int = 1
    together: int | None = None

    @property
    def is_vector(self) -> bool:
        """Whether vector noise, of variance (d + 1) Δ₂²/ε², is less than Laplace noise of 2 Δ₁²/ε²."""
        size = self.together
        if size is None or not 1 < size <= LARGEST_DIMENSION:
            return False
        return (size + 1) * self.squared < 2 * self.ones**2


@dataclass(frozen=True)
class Division:
    """A budget and the queries that share it.

    Parameters
    ----------
    queries
        Their shares add up to 1 at most.
    epsilon, delta
        Of all together; δ = 0 for noise of the Laplace kind.
    replace_one
        Whether neighbouring tables exchange a person.
    margin
        How far below the level of continuous noise that of whole numbers stays; see `borne_out`.

    Notes
    -----
    Gaussian noise: squared sensitivities over squared scales add up to μ² (Dong, Roth and Su 2022, corollary
    3.3), which is (ε, δ) as Balle and Wang (2018), theorem 8, say. Laplace noise: everything adds up. Under
    pure ε sums that are asked for together get one vector of noise where that is less, see
    `engine.privacy.mechanisms.vector`.
    """

    queries: tuple[Query, ...]
    epsilon: Fraction
    delta: Fraction
    replace_one: bool
    margin: float = MARGINS[0]

    def borne_out(self) -> Self:
        """Return the division with the smallest margin that the accountant accepts; see `borne_out`."""
        return borne_out(self)

    @property
    def is_gaussian(self) -> bool:
        """Whether the noise is Gaussian, so that a δ is spent."""
        return self.delta > 0

    @once
    def level(self) -> float:
        """μ of Gaussian noise, ε of Laplace noise: a hair below what was given."""
        return level_of(self)

    def scale(self, name: str) -> Fraction:
        """Return the scale of the noise of a query, in its steps, rounded up."""
        return self._scales[name]

    @once
    def _scales(self) -> dict[str, Fraction]:
        return {query.name: self._scale(query) for query in self.queries}

    def _scale(self, query: Query) -> Fraction:
        if self.is_gaussian:
            return rounded_up(sqrt(query.squared * query.count / query.share) / self.level)
        if query.is_vector:
            return rounded_up(sqrt(query.squared) * query.count / (query.share * self.level))
        return rounded_up(query.ones * query.count / (query.share * self.level))

    def deviation(self, name: str) -> float:
        """Return the standard deviation of the noise of a query, of all sites that add some, in its steps."""
        if vector := self._vector(name):
            return vector_deviation(self.scale(name) ** 2, vector) * spread_of_sites()
        return float(self.scale(name)) * (1.0 if self.is_gaussian else sqrt(2)) * spread_of_sites()

    def word(self, name: str) -> str:
        """Return the mechanism of a query, by the accountant's word."""
        return self._event(next(query for query in self.queries if query.name == name)).word

    def _vector(self, name: str) -> int | None:
        """Return how many sums get one vector of noise; None where each gets noise of its own."""
        query = next(query for query in self.queries if query.name == name)
        return query.together if query.is_vector and not self.is_gaussian else None

    def noisy(self, name: str, sums: Integers, noise: Noise) -> Integers:
        """Return sums with the noise of their query."""
        scale = self.scale(name)
        if self.is_gaussian:
            return add_noise(sums, noise.discrete_gaussian(scale**2, sums.size))
        if vector := self._vector(name):
            return add_noise(sums, noise.vector(scale**2, vector, size=1))
        return add_noise(sums, noise.discrete_laplace(scale, sums.size))

    @property
    def events(self) -> Sequential:
        """What the ledger reserves."""
        return Sequential(tuple(self._event(query) for query in self.queries))

    def asked(self, *names: str) -> Sequential:
        """Return what one asking of some queries draws: what a round of a study is paid by."""
        asked = {query.name: self._event(query) for query in self.queries}
        return Sequential(tuple(replace(asked[name], count=1) for name in names))

    def _event(self, query: Query) -> Mechanism:
        scale = self.scale(query.name)
        if self.is_gaussian:
            return DiscreteGaussian(scale, root_above(query.squared), count=query.count)
        if query.is_vector and query.together is not None:
            return Vector(scale**2, Fraction(query.squared), query.together, count=query.count)
        return DiscreteLaplace(scale, Fraction(query.ones), count=query.count)


def level_of(plan: Plan) -> float:
    """Return what a plan may spend, a hair below what it was given: μ for Gaussian noise, else ε."""
    if not plan.is_gaussian:
        return float(plan.epsilon) * (1 - 1e-9)
    return gaussian_level(float(plan.epsilon), float(plan.delta)) * (1 - plan.margin)


@lru_cache(maxsize=64)
def borne_out(plan: SomePlan) -> SomePlan:
    """Return a plan with the smallest margin that the accountant accepts.

    Little noise on whole numbers is a little less private than continuous noise of the same scale. Where
    no margin is enough, or δ is smaller than what composition computes: that of ρ = μ²/2, which always
    holds (Canonne, Kamath and Steinke 2020, theorem 4 and corollary 13).
    """
    if not plan.is_gaussian:
        return plan
    relation = Neighbours.REPLACE_ONE if plan.replace_one else Neighbours.ADD_REMOVE
    margin = smallest_margin(lambda one: replace(plan, margin=one).events, plan.epsilon, plan.delta, relation)  # type: ignore[type-var]
    if margin is not None:
        return replace(plan, margin=margin)  # type: ignore[type-var]
    epsilon, delta = float(plan.epsilon), float(plan.delta)
    always = (2 * concentrated_budget(epsilon, delta)) ** 0.5 * (1 - 1e-6)
    return replace(plan, margin=1 - always / gaussian_level(epsilon, delta))  # type: ignore[type-var]


def rounded_up(scale: float) -> Fraction:
    """Return a scale rounded up to whole 1024ths."""
    return Fraction(ceil(scale * 1024), 1024)


def cover_exchange(query: Query, *, replace_one: bool) -> Query:
    """Return a query whose sensitivities cover one that goes and another that comes.

    Notes
    -----
    By the triangle inequality; reached wherever two rows can push a sum to opposite sides.
    """
    if not replace_one:
        return query
    return replace(query, ones=2 * query.ones, squared=4 * query.squared)


def join_groups(parts: Sequence[Integers]) -> Integers:
    """Return several groups of sums as one vector."""
    return np.concatenate([part.ravel() for part in parts]).astype(np.int64)
