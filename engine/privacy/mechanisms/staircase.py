"""Staircase noise on one whole number: of all noise for pure ε, that with the least expected error."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import exp, expm1, floor
from typing import TYPE_CHECKING

from engine.privacy import accuracy
from engine.privacy.accuracy import HALF, MOST, Accuracy
from engine.privacy.draw import Draw
from engine.privacy.events import Mechanism
from engine.privacy.mechanisms.integers import Integers, add_noise

if TYPE_CHECKING:
    from engine.privacy.at_risk.loss import PrivacyLoss
    from engine.privacy.noise import Noise


@dataclass(frozen=True)
class Staircase(Mechanism):
    """ε a stair, on one number. Geng and Viswanath (2016).

    Parameters
    ----------
    sensitivity
        Width Δ of a stair in whole steps: the largest change of the number between neighbouring data sets.
    plateau
        How many magnitudes are on the highest stair, 1 to Δ.
    level
        ε, the logarithm of how much lower the next stair is, above 0.
    stairs
        How many stairs neighbouring data sets lie apart at most.
    grid
        The value of one step in the units of the answer.

    Notes
    -----
    It covers one number. Several numbers, each with noise of its own, are several events: a person who moves
    each of them by a little can go down a stair at every one.
    """

    word = "staircase"

    sensitivity: int
    plateau: int
    level: Fraction
    stairs: int = 1
    grid: Fraction = Fraction(1)

    @property
    def scale(self) -> Fraction:
        """Δ/ε: over so many steps the noise falls as Laplace noise of this scale does."""
        return self.sensitivity / self.level

    def is_sound(self) -> bool:
        return 1 <= self.plateau <= self.sensitivity and self.level > 0 and self.stairs >= 1

    def epsilon(self) -> Fraction:
        return self.count * self.stairs * self.level

    @property
    def knows_loss(self) -> bool:
        return self.stairs == 1

    def loss(self) -> tuple[PrivacyLoss, int]:
        from engine.privacy.at_risk import mechanisms

        if self.stairs == 1:
            return (
                mechanisms.staircase(epsilon0=self.level, sensitivity=self.sensitivity, plateau=self.plateau),
                1,
            )
        # Which change of several stairs is the worst is not known: randomised response covers them all.
        return mechanisms.randomised_response_at(epsilon0=self.stairs * self.level), 1

    def single(self) -> Staircase:
        return replace(self, count=1, grid=Fraction(1))

    def exchanged(self) -> Staircase:
        return replace(self, stairs=2 * self.stairs)

    def drawn(self) -> Counter[Draw]:
        return Counter({Draw("staircase", self.level, (self.sensitivity, self.plateau)): self.count})


@dataclass(frozen=True)
class StaircaseNumber:
    """Staircase noise on one whole number: ε-differential privacy.

    Parameters
    ----------
    sensitivity
        Largest change Δ of the number between neighbouring data sets, in whole steps, at least 1.
    epsilon
        Exact privacy level, above 0.
    grid
        Value of one step in the units of the answer.
    squares
        Whether the plateau makes the expected square of the noise least, else its expected magnitude.

    Notes
    -----
    For Δ = 1 this is discrete Laplace noise. The gain over it grows with ε: of continuous noise the expected
    magnitude is Δ e^(ε/2)/(e^ε − 1) instead of Δ/ε. At ε = 0.1, 1 and 4 these are 9.996, 0.960 and 0.138 Δ
    instead of 10, 1 and 0.25 Δ.

    Source: Q. Geng, P. Viswanath, "The optimal noise-adding mechanism in differential privacy", IEEE
    Transactions on Information Theory 62(2), 2016.

    Examples
    --------
    >>> number = StaircaseNumber(100, Fraction(4))
    >>> number.plateau, round(number.expected_magnitude, 2), number.accuracy()
    (12, 13.78, Accuracy(median=7, limit=77))
    """

    sensitivity: int
    epsilon: Fraction
    grid: Fraction = Fraction(1)
    squares: bool = False

    @property
    def plateau(self) -> int:
        """The best r: beside the best of continuous noise."""
        return _best_plateau(self.sensitivity, self.epsilon, self.squares)

    @property
    def event(self) -> Staircase:
        """What the accountant counts."""
        return Staircase(self.sensitivity, self.plateau, self.epsilon, grid=self.grid)

    @property
    def expected_magnitude(self) -> float:
        """E|noise|, in steps."""
        return _expected_magnitude(self.sensitivity, self.plateau, self.epsilon)

    @property
    def expected_square(self) -> float:
        """The variance of the noise, in squared steps."""
        return _expected_square(self.sensitivity, self.plateau, self.epsilon)

    def accuracy(self) -> Accuracy:
        """Return the accuracy in steps."""
        shape = self.sensitivity, self.plateau, self.epsilon
        return Accuracy(*(accuracy.staircase_error(*shape, share=share) for share in (HALF, MOST)))

    def release(self, values: Integers, noise: Noise) -> Integers:
        """Return the number with noise; what does not fit 64 bits is the nearest number that does."""
        if values.size != 1:
            raise ValueError("staircase noise is for one number")
        return add_noise(
            values, noise.staircase(self.sensitivity, self.plateau, epsilon=self.epsilon, size=1)
        )


@lru_cache(maxsize=256)
def _best_plateau(sensitivity: int, epsilon: Fraction, squares: bool) -> int:
    """Return the best r: continuous noise is at its best with γΔ, whole numbers right beside it."""
    cost = _expected_square if squares else _expected_magnitude
    near = floor(_best_share(float(epsilon), squares) * sensitivity)
    tried = {min(max(near + more, 1), sensitivity) for more in range(-1, 3)}
    return min(sorted(tried), key=lambda plateau: cost(sensitivity, plateau, epsilon))


def _best_share(epsilon: float, squares: bool) -> float:
    """Return γ, the best share of a stair that is on the highest one, for continuous noise.

    Of magnitudes 1/(1 + e^(ε/2)), of squares −b/(1 − b) + (b − 2b² + 2b⁴ − b⁵)^(1/3) / (2^(1/3) (1 − b)²).
    """
    if not squares:
        return 1 / (1 + exp(min(epsilon, 1400.0) / 2))
    b, lack = exp(-epsilon), -expm1(-epsilon)
    if epsilon < 1e-3:
        return 0.5  # its limit: the two terms below cancel each other
    power = (b - 2 * b**2 + 2 * b**4 - b**5) / 2
    return -b / lack + power ** (1 / 3) / lack**2


def _expected_magnitude(sensitivity: int, plateau: int, epsilon: Fraction) -> float:
    """Return E|X|: stairs that are Δ wide weigh b/(1 − b) together, and b²/(1 − b)² times their number."""
    odds = 1 / expm1(float(epsilon)) if epsilon < 700 else 0.0
    middle = plateau + (sensitivity - 1) / 2
    total = plateau * (plateau - 1) / 2 + sensitivity * odds * (middle + sensitivity * odds)
    return 2 * total / (2 * (plateau + sensitivity * odds) - 1)


def _expected_square(sensitivity: int, plateau: int, epsilon: Fraction) -> float:
    """Return E X², by the sums of squares of each stair."""
    odds = 1 / expm1(float(epsilon)) if epsilon < 700 else 0.0
    step, start = float(sensitivity), float(plateau)
    # with b = e^−ε: Σ b^(g+1), Σ g b^(g+1), Σ g² b^(g+1)
    sums = odds, odds**2, odds**2 * (1 + 2 * odds)
    square = start**2 + start * (step - 1) + (step - 1) * (2 * step - 1) / 6
    slope = (2 * start + step - 1) * step
    total = (start - 1) * start * (2 * start - 1) / 6
    total += step * (sums[0] * square + sums[1] * slope + sums[2] * step**2)
    return 2 * total / (2 * (start + step * odds) - 1)
