"""Discrete Laplace noise on integers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from engine.privacy import accuracy
from engine.privacy.accuracy import Accuracy
from engine.privacy.draw import Draw
from engine.privacy.events import Additive
from engine.privacy.mechanisms.integers import Integers, add_noise

if TYPE_CHECKING:
    from engine.privacy.at_risk.loss import PrivacyLoss
    from engine.privacy.noise import Noise


class DiscreteLaplace(Additive):
    """ε = Δ/b, L1 sensitivity. Ghosh, Roughgarden and Sundararajan (2012)."""

    word = "discrete_laplace"

    def epsilon(self) -> Fraction:
        return self.count * self.sensitivity / self.scale

    def loss(self) -> tuple[PrivacyLoss, int]:
        from engine.privacy.at_risk.mechanisms import loss_of

        # One coordinate that moves all the way is the worst: a shift that goes by parts is no easier to
        # notice. Dong, Roth and Su (2022), on group privacy.
        return loss_of(self.word, scale=self.scale, sensitivity=self.sensitivity), 1

    def drawn(self) -> Counter[Draw]:
        return Counter({Draw("discrete_laplace", self.scale): self.count})


@dataclass(frozen=True)
class LaplaceCounts:
    """Discrete Laplace noise on a vector of integers: ε-differential privacy.

    Parameters
    ----------
    sensitivity
        Largest L1 distance between the vectors of neighbouring data sets, in whole steps, at least 1.
    epsilon
        Exact privacy level of the whole vector, above 0.
    grid
        Value of one step in the units of the answer.

    Notes
    -----
    Every component gets its own draw of scale b = Δ/ε; the privacy loss of the vector is at most ε.

    Source: Ghosh, Roughgarden and Sundararajan (2012); Canonne, Kamath and Steinke (2020), definition 1.

    Examples
    --------
    >>> LaplaceCounts(2, Fraction(1, 2)).scale
    Fraction(4, 1)
    """

    sensitivity: int
    epsilon: Fraction
    grid: Fraction = Fraction(1)

    @property
    def scale(self) -> Fraction:
        """The scale b = Δ/ε, exactly."""
        return self.sensitivity / self.epsilon

    @property
    def event(self) -> DiscreteLaplace:
        """What the accountant counts."""
        return DiscreteLaplace(self.scale, Fraction(self.sensitivity), self.grid)

    def accuracy(self, *, summed: int = 1) -> Accuracy:
        """Return the accuracy, in steps, of one component or of a sum of several."""
        return accuracy.laplace_accuracy(self.scale, count=summed)

    def release(self, values: Integers, noise: Noise) -> Integers:
        """Return the vector with noise; what does not fit 64 bits is the nearest number that does."""
        return add_noise(values, noise.discrete_laplace(self.scale, values.size))
