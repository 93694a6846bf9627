"""The privacy loss, measured: neighbours drawn from a population, noise drawn from the mechanism.

The reference that the formulas of privacy at risk are compared with. It assumes nothing about how noise and
neighbours depend on each other. It is an analysis, never a guarantee, and it never makes a release.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from engine import arrays
from engine.errors import InputRefused
from engine.privacy.sampled_sensitivity.bounds import Sides, dkw_probability
from engine.privacy.sampled_sensitivity.draws import PairQuery, pair_answers
from engine.privacy.sampled_sensitivity.populations import Population, RecordOrigin
from engine.progress import SILENT, Progress

AREA = "direct"
STAGE = "direct.losses"

Answer = arrays.Floats


class SimulatedMechanism(Protocol):
    """Noise of a simulation: what comes out for an answer, and how much that gives away."""

    def sample(self, answers: Answer, *, generator: np.random.Generator) -> Answer:
        """Return one output per row of ``answers``, shape (draws, k)."""
        ...

    def loss(self, outputs: Answer, first: Answer, second: Answer) -> Answer:
        """Return ln p(output | first) − ln p(output | second) of every row, shape (draws,)."""
        ...


@dataclass(frozen=True)
class SimulatedLaplace:
    """Continuous Laplace noise on every coordinate, of a scale in the units of the answer."""

    scale: float

    def __post_init__(self) -> None:
        _check_scale(self.scale)

    def sample(self, answers: Answer, *, generator: np.random.Generator) -> Answer:
        """Return answers with noise, shape (draws, k)."""
        return answers + generator.laplace(scale=self.scale, size=answers.shape)

    def loss(self, outputs: Answer, first: Answer, second: Answer) -> Answer:
        """Return (‖z − f(y)‖₁ − ‖z − f(x)‖₁)/scale of every row."""
        return np.sum(np.abs(outputs - second) - np.abs(outputs - first), axis=1) / self.scale


@dataclass(frozen=True)
class SimulatedDiscreteLaplace:
    """Discrete Laplace noise: P(noise = m steps) ∝ exp(−|m|/scale), on answers that lie on the grid.

    Parameters
    ----------
    scale
        In steps of the grid.
    grid
        Size of a step in the units of the answer; answers are rounded to it first.
    """

    scale: float
    grid: float = 1.0

    def __post_init__(self) -> None:
        _check_scale(self.scale)
        _check_scale(self.grid)

    def sample(self, answers: Answer, *, generator: np.random.Generator) -> Answer:
        """Return answers on the grid with noise, shape (draws, k)."""
        stop = -math.expm1(-1.0 / self.scale)
        # The difference of two geometric variables is discrete Laplace.
        noise = generator.geometric(stop, size=answers.shape) - generator.geometric(stop, size=answers.shape)
        return (np.rint(answers / self.grid) + noise) * self.grid

    def loss(self, outputs: Answer, first: Answer, second: Answer) -> Answer:
        """Return the loss of every row; whole numbers of steps, so that ties are exact."""
        to_first, to_second, steps = (np.rint(values / self.grid) for values in (first, second, outputs))
        return np.sum(np.abs(steps - to_second) - np.abs(steps - to_first), axis=1) / self.scale


@dataclass(frozen=True)
class SimulatedGaussian:
    """Gaussian noise on every coordinate, of a standard deviation in the units of the answer."""

    sigma: float

    def __post_init__(self) -> None:
        _check_scale(self.sigma)

    def sample(self, answers: Answer, *, generator: np.random.Generator) -> Answer:
        """Return answers with noise, shape (draws, k)."""
        return answers + generator.normal(scale=self.sigma, size=answers.shape)

    def loss(self, outputs: Answer, first: Answer, second: Answer) -> Answer:
        """Return (‖z − f(y)‖² − ‖z − f(x)‖²)/(2σ²) of every row."""
        middle = outputs - 0.5 * (first + second)
        return np.sum((first - second) * middle, axis=1) / self.sigma**2


@dataclass(frozen=True)
class ShareWithin:
    """A measured share with a one-sided lower limit and a two-sided interval.

    Parameters
    ----------
    share
        Share of draws whose loss is within ε.
    at_least
        Lower Clopper-Pearson limit at ``level``, one-sided: the confidence that may be claimed.
    low, high
        Two-sided Clopper-Pearson interval at ``level``.
    level
        Coverage of either statement, over repetitions of the whole measurement.
    """

    share: float
    at_least: float
    low: float
    high: float
    level: float


@dataclass(frozen=True, eq=False)
class MeasuredLosses:
    """Realised privacy losses, sorted. Made by `direct_losses`.

    Parameters
    ----------
    losses
        Shape (draws,), ascending: ln p(z | x) − ln p(z | y), z drawn for x.
    origin
        Where the neighbours come from; None for two stated answers.
    """

    losses: npt.NDArray[np.float64]
    origin: RecordOrigin | None

    @property
    def draws(self) -> int:
        """Return how many losses were measured."""
        return len(self.losses)

    @property
    def internal(self) -> bool:
        """Return True when the figures have to stay inside: they were computed from private rows."""
        return self.origin is RecordOrigin.PRIVATE

    def within(self, epsilon: float, *, level: float = 0.95, two_sided: bool = False) -> ShareWithin:
        """Return the share of losses within ε, with Clopper-Pearson limits for this one ε.

        Parameters
        ----------
        epsilon
            ε ≥ 0. Ties are counted as within: a relative rounding of 1e-12 is allowed.
        level
            In (0, 1).
        two_sided
            Count |loss| ≤ ε instead of loss ≤ ε.

        Raises
        ------
        InputRefused
            ``direct.level`` or ``direct.epsilon``.
        """
        count = self._count(epsilon, two_sided)
        if not 0.0 < level < 1.0:
            raise InputRefused(f"{AREA}.level", found=level)
        half = (1.0 - level) / 2.0
        return ShareWithin(
            share=count / self.draws,
            at_least=_lower(count, self.draws, 1.0 - level),
            low=_lower(count, self.draws, half),
            high=1.0 - _lower(self.draws - count, self.draws, half),
            level=level,
        )

    def curve(
        self, epsilons: npt.NDArray[np.float64], *, tolerance: float, two_sided: bool = False
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], float]:
        """Return the share within each ε, a lower band for all of them at once, and its probability.

        Parameters
        ----------
        epsilons
            Any number of ε ≥ 0.
        tolerance
            ρ in (0, 1]: the band is the share minus ρ (one-sided DKW).
        two_sided
            Count |loss| ≤ ε.

        Returns
        -------
        tuple
            Shares, lower band, probability with which the true curve lies above the band everywhere.

        Notes
        -----
        |loss| has its own distribution function, so one-sided DKW holds for it with the same ρ.
        """
        shares = np.array([self._count(float(epsilon), two_sided) for epsilon in epsilons]) / self.draws
        probability = dkw_probability(self.draws, tolerance, sides=Sides.ONE)
        return shares, np.maximum(shares - tolerance, 0.0), probability

    def _count(self, epsilon: float, two_sided: bool) -> int:
        if not epsilon >= 0.0:
            raise InputRefused(f"{AREA}.epsilon", found=epsilon)
        edge = epsilon * (1.0 + 1e-12)
        within = np.searchsorted(self.losses, edge, side="right")
        return int(within - (np.searchsorted(self.losses, -edge, side="left") if two_sided else 0))


def direct_losses(
    query: Callable[[npt.NDArray[Any]], Any] | PairQuery,
    population: Population,
    mechanism: SimulatedMechanism,
    *,
    draws: int,
    records: int,
    generator: np.random.Generator,
    progress: Progress = SILENT,
) -> MeasuredLosses:
    """Return the privacy losses of a mechanism over neighbours drawn from a population.

    Parameters
    ----------
    query, population
        As for `engine.privacy.sampled_sensitivity.sampled_sensitivity`.
    mechanism
        `SimulatedLaplace`, `SimulatedDiscreteLaplace`, `SimulatedGaussian`, or anything with ``sample`` and
        ``loss``.
    draws
        Number of independent triples (x, y, z) ≥ 1.
    records
        Number p ≥ 1 of records in each data set.
    generator
        Randomness of this simulation. It never makes the noise of a release.
    progress
        Told after every piece.

    Returns
    -------
    MeasuredLosses
        Sorted losses; marked internal when the population is private.

    Raises
    ------
    InputRefused
        As `sampled_sensitivity`; ``direct.not_a_number`` when a loss is NaN.

    Notes
    -----
    Definition 6: one draws x and y from the population and z from the mechanism on x; the loss is
    ln p(z | x) − ln p(z | y), and confidence is the probability that it is at most ε. Infinite losses are
    kept, as losses beyond every ε.

    Source: thesis, chapter 8, definition 6, read without the independence that its theorem 3 assumes.

    Examples
    --------
    >>> import numpy as np
    >>> from engine.privacy.sampled_sensitivity import RecordOrigin, TablePopulation
    >>> people = TablePopulation(np.array([0.0, 1.0]), origin=RecordOrigin.PUBLIC)
    >>> found = direct_losses(
    ...     np.sum, people, SimulatedLaplace(1.0), draws=2_000, records=5,
    ...     generator=np.random.Generator(np.random.PCG64(3)))
    >>> 0.66 < found.within(0.6).share < 0.74  # ½·1 (no difference) + ½·.4094
    True
    """
    losses = []
    for first, second in pair_answers(
        query,
        population,
        pairs=draws,
        records=records,
        generator=generator,
        progress=progress,
        stage=STAGE,
    ):
        losses.append(mechanism.loss(mechanism.sample(first, generator=generator), first, second))
    return _measure(losses, population.origin)


def _measure(losses: list[Answer], origin: RecordOrigin | None) -> MeasuredLosses:
    together = np.sort(np.concatenate(losses))
    if np.isnan(together[-1]):  # NaN sorts last
        raise InputRefused(f"{AREA}.not_a_number")
    return MeasuredLosses(together, origin)


def _lower(successes: int, draws: int, miss: float) -> float:
    """Return the Clopper-Pearson lower limit that the true share falls below with probability ≤ miss."""
    if successes == 0:
        return 0.0
    from scipy.special import betaincinv

    return float(betaincinv(successes, draws - successes + 1, miss))


def _check_scale(scale: float) -> None:
    if not 0.0 < scale < math.inf:
        raise InputRefused(f"{AREA}.scale", found=scale)
