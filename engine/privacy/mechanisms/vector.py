"""Vector noise, for pure ε by Euclidean length: every direction alike, a length with an exponential tail."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt, sqrt
from typing import TYPE_CHECKING

from engine.privacy.draw import Draw
from engine.privacy.events import Mechanism
from engine.privacy.mechanisms.integers import Integers, add_noise

if TYPE_CHECKING:
    from engine.privacy.at_risk.loss import PrivacyLoss
    from engine.privacy.noise import Noise


@dataclass(frozen=True)
class Vector(Mechanism):
    """ε = Δ/s, L2 sensitivity. Chaudhuri, Monteleoni and Sarwate (2011), section 2.2; on whole numbers.

    Parameters
    ----------
    squared_scale
        s² in P(z) ∝ e^(−‖z‖/s), above 0.
    squared_sensitivity
        Δ², the largest squared L2 distance between the vectors of neighbouring data sets, in squared steps.
    dimension
        How many numbers the vector has.
    grid
        The value of one step in the units of the answer.

    Notes
    -----
    By the triangle inequality ‖z‖ and ‖z + a‖ differ by ‖a‖ ≤ Δ at most, and both laws have one and the same
    normalising sum, as vectors are whole. Nothing more is claimed than ε: δ(ε) is that of randomised
    response.
    """

    word = "vector"

    squared_scale: Fraction
    squared_sensitivity: Fraction
    dimension: int
    grid: Fraction = Fraction(1)

    @property
    def scale(self) -> Fraction:
        """The scale s, rounded up where it is no fraction."""
        return square_root_above(self.squared_scale)

    @property
    def sensitivity(self) -> Fraction:
        """The L2 sensitivity Δ, rounded up where it is no fraction."""
        return square_root_above(self.squared_sensitivity)

    def is_sound(self) -> bool:
        return self.squared_scale > 0 and self.squared_sensitivity >= 0 and self.dimension >= 1

    def epsilon(self) -> Fraction:
        return self.count * square_root_above(self.squared_sensitivity / self.squared_scale)

    @property
    def knows_loss(self) -> bool:
        return False

    def loss(self) -> tuple[PrivacyLoss, int]:
        from engine.privacy.at_risk.mechanisms import randomised_response_at

        return randomised_response_at(epsilon0=self.single().epsilon()), 1

    def single(self) -> Vector:
        return replace(self, count=1, grid=Fraction(1))

    def exchanged(self) -> Vector:
        return replace(self, squared_sensitivity=4 * self.squared_sensitivity)

    def drawn(self) -> Counter[Draw]:
        return Counter({Draw("vector", self.squared_scale, (self.dimension,)): self.count})


def square_root_above(square: Fraction) -> Fraction:
    """Return a square root, exact for squares of fractions, otherwise rounded up in the twelfth digit.

    Examples
    --------
    >>> square_root_above(Fraction(9, 4)), float(square_root_above(Fraction(1, 2)))
    (Fraction(3, 2), 0.7071067811865476)
    """
    above, below = isqrt(square.numerator), isqrt(square.denominator)
    if above**2 == square.numerator and below**2 == square.denominator:
        return Fraction(above, below)
    grid = 10**12
    while square * grid**2 < 10**24:  # at least twelve digits that count
        grid *= 10**6
    return Fraction(isqrt(square.numerator * grid**2 // square.denominator) + 1, grid)


@dataclass(frozen=True)
class VectorNoise:
    """Vector noise on a vector of integers: ε-differential privacy.

    Parameters
    ----------
    squared_sensitivity
        Largest squared L2 distance between the vectors of neighbouring data sets, in squared steps, above 0.
    epsilon
        Exact privacy level of the whole vector, above 0.
    dimension
        How many numbers the vector has.
    grid
        Value of one step in the units of the answer.

    Notes
    -----
    Better than Laplace noise on every number where a person moves many of them by a little: the variance of
    a number is (d + 1) Δ₂²/ε² instead of 2 Δ₁²/ε², which is about half where Δ₁ = √d Δ₂.

    Source: K. Chaudhuri, C. Monteleoni, A. Sarwate, "Differentially private empirical risk minimization",
    Journal of Machine Learning Research 12, 2011, algorithm 1, with a sum over whole vectors in place of the
    integral.

    Examples
    --------
    >>> noise = VectorNoise(9, Fraction(1, 2), 10)
    >>> noise.squared_scale, noise.event.epsilon(), round(noise.deviation, 2)
    (Fraction(36, 1), Fraction(1, 2), 19.9)
    """

    squared_sensitivity: Fraction | int
    epsilon: Fraction
    dimension: int
    grid: Fraction = Fraction(1)

    @property
    def squared_scale(self) -> Fraction:
        """s² = Δ²/ε², exactly."""
        return self.squared_sensitivity / self.epsilon**2

    @property
    def event(self) -> Vector:
        """What the accountant counts."""
        return Vector(self.squared_scale, Fraction(self.squared_sensitivity), self.dimension, self.grid)

    @property
    def deviation(self) -> float:
        """Standard deviation of each number, in steps: that of continuous noise, s √(d + 1)."""
        return vector_deviation(self.squared_scale, self.dimension)

    def release(self, values: Integers, noise: Noise) -> Integers:
        """Return the vector with noise; what does not fit 64 bits is the nearest number that does."""
        if values.size != self.dimension:
            raise ValueError("a vector of another dimension")
        return add_noise(values, noise.vector(self.squared_scale, self.dimension, size=1))


def vector_deviation(squared_scale: Fraction, dimension: int) -> float:
    """Return the standard deviation of each number of continuous vector noise.

    Notes
    -----
    The length is Gamma(d, s), whose square has the mean d (d + 1) s², a d-th of it for every number.

    Examples
    --------
    >>> round(vector_deviation(Fraction(4), 8), 6)
    6.0
    """
    return sqrt(squared_scale * (dimension + 1))
