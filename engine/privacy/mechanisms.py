"""The mechanisms of the program: one object from which price, forecast and noise are all read.

A method makes one of these from declarations. The same object gives the event that the ledger reserves, the
accuracy that the forecast prints and the noise that the release gets, so that the three cannot differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, log
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from engine.privacy import accuracy
from engine.privacy.accuracy import Accuracy
from engine.privacy.gaussian import discrete_scale
from engine.privacy.guarantee import Mechanism
from engine.privacy.guarantee import Noise as Kind

if TYPE_CHECKING:
    from engine.privacy.noise import Noise

Integers = npt.NDArray[np.int64]

_ROOM = 2**62
_LARGEST = 2**63 - 1


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
    def event(self) -> Mechanism:
        """What the accountant counts."""
        return Mechanism(Kind.DISCRETE_LAPLACE, self.scale, Fraction(self.sensitivity), grid=self.grid)

    def accuracy(self, *, summed: int = 1) -> Accuracy:
        """Return the accuracy, in steps, of one component or of a sum of several."""
        return accuracy.laplace_accuracy(self.scale, count=summed)

    def release(self, values: Integers, noise: Noise) -> Integers:
        """Return the vector with noise; what does not fit 64 bits is the nearest number that does."""
        return _added(values, noise.discrete_laplace(self.scale, values.size))


@dataclass(frozen=True)
class GaussianCounts:
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

    @property
    def event(self) -> Mechanism:
        """What the accountant counts; the root of the squared sensitivity is rounded up."""
        return Mechanism(
            Kind.DISCRETE_GAUSSIAN, self.scale, root_above(self.squared_sensitivity), grid=self.grid
        )

    def accuracy(self, *, summed: int = 1) -> Accuracy:
        """Return the accuracy, in steps, of one component or of a sum of several."""
        return accuracy.gaussian_accuracy(self.scale**2, count=summed)

    def release(self, values: Integers, noise: Noise) -> Integers:
        """Return the vector with noise; kept within 64 bits as for Laplace."""
        return _added(values, noise.discrete_gaussian(self.scale**2, values.size))


@dataclass(frozen=True)
class ExponentialChoice:
    """A choice among declared candidates by integer scores: ε-differential privacy.

    Parameters
    ----------
    sensitivity
        Largest change of any one score between neighbouring data sets; where several choices are made on
        groups of the same people, the largest sum of these changes over the groups.
    epsilon
        Exact privacy level, above 0.

    Notes
    -----
    P(i) ∝ exp(ε · score_i / 2Δ).

    Source: McSherry and Talwar (2007), theorem 6; Dwork and Roth (2014), theorem 3.10.

    Examples
    --------
    >>> ExponentialChoice(2, Fraction(1)).rate
    Fraction(1, 4)
    """

    sensitivity: int
    epsilon: Fraction

    @property
    def rate(self) -> Fraction:
        """ε/2Δ, exactly."""
        return self.epsilon / (2 * self.sensitivity)

    @property
    def event(self) -> Mechanism:
        """What the accountant counts."""
        return Mechanism(Kind.EXPONENTIAL, 1 / self.rate, Fraction(self.sensitivity))

    def score_limit(self, candidates: int, *, share: float) -> float:
        """Return t with P(score of the choice ≥ best score − t) ≥ share, for any scores.

        Notes
        -----
        P(score ≤ best − t) ≤ candidates · e^(−rate · t). Source: Dwork and Roth (2014), theorem 3.11.
        """
        return log(candidates / (1 - share)) / float(self.rate)

    def choose(self, scores: Integers, noise: Noise) -> int:
        """Return the place of the chosen candidate."""
        return noise.exponential_choice(scores, rate=self.rate)


CountNoise = LaplaceCounts | GaussianCounts


def root_above(square: int) -> Fraction:
    """Return a root rounded up to twelve places, exact for square numbers.

    Examples
    --------
    >>> root_above(9), float(root_above(2))
    (Fraction(3, 1), 1.414213562374)
    """
    root = isqrt(square)
    if root * root == square:
        return Fraction(root)
    return Fraction(isqrt(square * 10**24) + 1, 10**12)


def _added(values: Integers, draws: Integers) -> Integers:
    """Add noise without wrapping and without refusing: whether a sum fits would tell about rows."""
    draws = draws.reshape(values.shape)
    if all(part.dtype.kind == "i" and _is_within(part, _ROOM) for part in (values, draws)):
        return np.asarray(values + draws, dtype=np.int64)
    sums = np.asarray(values, dtype=object) + np.asarray(draws, dtype=object)
    return np.asarray(np.clip(sums, -_LARGEST, _LARGEST), dtype=np.int64)  # of the noisy sums: reads no row


def _is_within(part: Integers, limit: int) -> bool:
    return part.size == 0 or max(abs(int(part.min())), abs(int(part.max()))) < limit
