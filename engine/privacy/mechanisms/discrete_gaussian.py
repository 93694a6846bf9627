"""Discrete Gaussian noise on integers."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from engine.privacy import accuracy
from engine.privacy.accuracy import Accuracy
from engine.privacy.draw import Draw
from engine.privacy.events import Mechanism
from engine.privacy.gaussian import MOST_STEPS, SMOOTHING, continuous_stand_in, discrete_delta, discrete_scale
from engine.privacy.mechanisms.gaussian import Gaussian
from engine.privacy.mechanisms.integers import Integers, add_noise, root_above

if TYPE_CHECKING:
    from engine.privacy.at_risk.loss import PrivacyLoss
    from engine.privacy.noise import Noise


class DiscreteGaussian(Gaussian):
    """A curve of (ε, δ), L2 sensitivity of an integer vector. Canonne, Kamath and Steinke (2020), theorem 7.

    Notes
    -----
    The sensitivity is a root rounded up. An integer shift of squared length S ≤ 3 moves at most S coordinates
    by one each, so it is S steps of one; its loss is exact. Longer shifts whose root is no whole number are
    read as continuous noise of the same ratio, which is close but no bound: for every longer shift
    `engine.privacy.gaussian.continuous_stand_in` gives one.
    """

    word = "discrete_gaussian"

    @property
    def squared_sensitivity(self) -> int:
        """The squared L2 sensitivity on the integers."""
        return math.floor(self.sensitivity**2)

    @property
    def is_exact(self) -> bool:
        return self.squared_sensitivity <= MOST_STEPS

    def loss(self) -> tuple[PrivacyLoss, int]:
        from engine.privacy.at_risk import mechanisms

        squared = self.squared_sensitivity
        if 1 <= squared <= MOST_STEPS:
            return mechanisms.discrete_gaussian(scale=self.scale), squared
        if self.sensitivity.denominator == 1:
            return mechanisms.discrete_gaussian(scale=self.scale, sensitivity=int(self.sensitivity)), 1
        return mechanisms.gaussian(scale=self.scale, sensitivity=self.sensitivity), 1

    def stand_in(self) -> tuple[Mechanism, float] | None:
        if self.is_exact:
            return self, 0.0
        scale = continuous_stand_in(scale=float(self.scale), squared_sensitivity=self.squared_sensitivity)
        if scale is None:
            return None
        return Gaussian(Fraction(scale), self.sensitivity, count=self.count), self.count * SMOOTHING

    def delta(self, epsilon: Fraction) -> float:
        return discrete_delta(
            scale=float(self.scale), epsilon=float(epsilon), squared_sensitivity=self.squared_sensitivity
        )

    def drawn(self) -> Counter[Draw]:
        return Counter({Draw("discrete_gaussian", self.scale**2): self.count})


class _Counts(ABC):
    """What a scale makes of a vector of integers: its noise, its accuracy and what the accountant counts."""

    squared_sensitivity: int
    grid: Fraction

    @property
    @abstractmethod
    def scale(self) -> Fraction:
        """The standard deviation."""

    @property
    def event(self) -> DiscreteGaussian:
        """What the accountant counts; the root of the squared sensitivity is rounded up."""
        return DiscreteGaussian(self.scale, root_above(self.squared_sensitivity), self.grid)

    def accuracy(self, *, summed: int = 1) -> Accuracy:
        """Return the accuracy, in steps, of one component or of a sum of several."""
        return accuracy.gaussian_accuracy(self.scale**2, count=summed)

    def release(self, values: Integers, noise: Noise) -> Integers:
        """Return the vector with noise; kept within 64 bits as for Laplace."""
        return add_noise(values, noise.discrete_gaussian(self.scale**2, values.size))


@dataclass(frozen=True)
class GaussianCounts(_Counts):
    """Discrete Gaussian noise on a vector of integers: (ε, δ)-differential privacy.

    Parameters
    ----------
    squared_sensitivity
        Largest squared L2 distance between the vectors of neighbouring data sets, in squared steps.
    epsilon, delta
        Exact privacy level of the whole vector.
    grid
        Value of one step in the units of the answer.

    Notes
    -----
    The scale is found once and rounded up, see `engine.privacy.gaussian.discrete_scale`.

    Source: Canonne, Kamath and Steinke (2020), theorems 7 and 14.

    Examples
    --------
    >>> float(GaussianCounts(1, Fraction(1), Fraction(1, 10**6)).scale)
    4.23077886233
    """

    squared_sensitivity: int
    epsilon: Fraction
    delta: Fraction
    grid: Fraction = Fraction(1)

    @property
    def scale(self) -> Fraction:
        """The standard deviation, rounded up."""
        return discrete_scale(
            epsilon=self.epsilon, delta=self.delta, squared_sensitivity=self.squared_sensitivity
        )


@dataclass(frozen=True)
class ConcentratedCounts(_Counts):
    """Discrete Gaussian noise on a vector of integers: ρ-concentrated differential privacy, ρ = ε²/2.

    Parameters
    ----------
    squared_sensitivity
        Largest squared L2 distance between the vectors of neighbouring data sets, in squared steps.
    level
        ε of the pure mechanism that has the same ρ: squares of levels add up, however they are chosen.
    grid
        Value of one step in the units of the answer.

    Notes
    -----
    σ = Δ₂/ε with the root rounded up, so that the ratio is exact.

    Source: Canonne, Kamath and Steinke (2020), theorem 14; levels chosen on the way: Feldman and Zrnic,
    "Individual privacy accounting via a Rényi filter" (2021), theorem 3.1 with the same bound for everybody;
    Whitehouse, Ramdas, Rogers and Wu, "Fully-adaptive composition in differential privacy" (2023).

    Examples
    --------
    >>> noise = ConcentratedCounts(4, Fraction(1, 5))
    >>> noise.scale, noise.event.concentrated()
    (Fraction(10, 1), Fraction(1, 50))
    """

    squared_sensitivity: int
    level: Fraction
    grid: Fraction = Fraction(1)

    @property
    def scale(self) -> Fraction:
        """The standard deviation."""
        return root_above(self.squared_sensitivity) / self.level
