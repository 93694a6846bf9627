"""Counts of very many cells, or of cells that nobody can list: those alone that stand out of the noise."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from engine.privacy import accuracy
from engine.privacy.accuracy import Accuracy
from engine.privacy.draw import Draw
from engine.privacy.events import Mechanism, rounded_up
from engine.privacy.exact_exponential import exp_minus_bracket
from engine.privacy.mechanisms.integers import Integers

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from engine.privacy.at_risk.loss import PrivacyLoss
    from engine.privacy.noise import Noise

_BITS = 256


@dataclass(frozen=True, kw_only=True)
class ClearCounts(Mechanism):
    """ε = Δ/b, as of all cells with noise; where cells cannot be listed, δ = P(a cell of one unit leaves).

    Parameters
    ----------
    scale, sensitivity
        b of discrete Laplace noise, and Δ in L1. Where cells cannot be listed, a unit is in one cell, by one:
        Δ is 1, or 2 where it is exchanged.
    threshold
        From which count on a cell leaves.
    cells
        How many cells there can be; 0 where they cannot be listed.

    Notes
    -----
    Where all cells are listed, it is post-processing of noise on all of them. Where they are not: on a table
    where a unit is alone in a cell, that cell leaves with probability δ = α^(τ−1)/(1 + α), α = e^(−1/b), and
    on its neighbour never; every other outcome is at most 1/(1 − δ) ≤ e^(1/b) times as likely. Of a unit that
    is exchanged, one cell fails in each direction. A. Korolova, K. Kenthapadi, N. Mishra, A. Ntoulas,
    "Releasing search queries and clicks privately", WWW 2009, with the threshold of whole numbers.
    """

    word = "clear_counts"

    scale: Fraction
    sensitivity: Fraction
    threshold: int
    cells: int

    def is_sound(self) -> bool:
        if not (self.scale > 0 and self.sensitivity >= 0 and self.threshold >= 1 and self.cells >= 0):
            return False
        # 1/(1 − δ) ≤ e^(1/b): what nobody alone is in is no surer than by ε
        most = exp_minus_bracket(1 / self.scale, _BITS)[1]
        return self.cells > 0 or alone_above(self.scale, self.threshold) + Fraction(most, 1 << _BITS) <= 1

    @property
    def failure(self) -> Fraction:
        """The δ of one run, rounded up: of more than one unit exchanged, as of a group of so many."""
        if self.cells:
            return Fraction(0)
        alone = alone_above(self.scale, self.threshold)
        if self.sensitivity <= 2:
            return alone
        return min(
            Fraction(1), alone * self.sensitivity * rounded_up(math.exp(self.sensitivity / self.scale))
        )

    def epsilon(self) -> Fraction | None:
        return None if self.failure else self.count * self.sensitivity / self.scale

    def stated(self) -> tuple[Fraction, Fraction]:
        return self.count * self.sensitivity / self.scale, self.count * self.failure

    def delta(self, epsilon: Fraction) -> float:
        return float(self.failure) * (1 + 2**-52) if epsilon >= self.sensitivity / self.scale else 1.0

    def loss(self) -> tuple[PrivacyLoss, int] | None:
        from engine.privacy.at_risk.mechanisms import loss_of

        if self.failure:
            return None
        return loss_of("discrete_laplace", scale=self.scale, sensitivity=self.sensitivity), 1

    def concentrated(self) -> Fraction | None:
        return None if self.failure else super().concentrated()

    def reach(self) -> float:
        return float(self.sensitivity / self.scale)

    def exchanged(self) -> Mechanism:
        return replace(self, sensitivity=2 * self.sensitivity)

    def drawn(self) -> Counter[Draw]:
        return Counter({Draw(self.word, self.scale, (self.threshold, self.cells)): self.count})


def alone_above(scale: Fraction, threshold: int) -> Fraction:
    """Return P(1 + X ≥ τ) of discrete Laplace noise, rounded up.

    Examples
    --------
    >>> float(alone_above(Fraction(1), 15)) < 1e-6 < float(alone_above(Fraction(1), 14))
    True
    """
    if threshold < 1:
        return Fraction(1)
    high = exp_minus_bracket((threshold - 1) / scale, _BITS)[1]
    low = exp_minus_bracket(1 / scale, _BITS)[0]
    return Fraction(high, (1 << _BITS) + low)


def threshold_of(scale: Fraction, delta: Fraction) -> int:
    """Return the smallest threshold that a cell of one unit reaches with at most δ, and with at most 1 − α.

    Examples
    --------
    >>> threshold_of(Fraction(1), Fraction(1, 10**6))
    15
    """
    most = Fraction(exp_minus_bracket(1 / scale, _BITS)[1], 1 << _BITS)
    delta = min(delta, 1 - most)  # see `ClearCounts.is_sound`
    low, high = 0, 1
    while alone_above(scale, high) > delta:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if alone_above(scale, middle) > delta else (low, middle)
    return high


@dataclass(frozen=True)
class ClearLaplace:
    """Discrete Laplace noise on counts, of which those alone leave that reach a threshold.

    Parameters
    ----------
    sensitivity, epsilon, grid
        As of `LaplaceCounts`.
    threshold
        In whole steps.
    cells
        How many there can be; 0 where they cannot be listed, see `ClearCounts`.

    Examples
    --------
    >>> own = ClearLaplace(1, Fraction(1), threshold=threshold_of(Fraction(1), Fraction(1, 10**6)), cells=0)
    >>> own.event.stated()[0], float(own.event.failure) < 1e-6
    (Fraction(1, 1), True)
    """

    sensitivity: int
    epsilon: Fraction
    grid: Fraction = Fraction(1)
    threshold: int = 1
    cells: int = 0

    @property
    def scale(self) -> Fraction:
        """The scale b = Δ/ε, exactly."""
        return self.sensitivity / self.epsilon

    @property
    def event(self) -> ClearCounts:
        """What the accountant counts."""
        return ClearCounts(
            scale=self.scale,
            sensitivity=Fraction(self.sensitivity),
            threshold=self.threshold,
            cells=self.cells,
        )

    def accuracy(self, *, summed: int = 1) -> Accuracy:
        """Return the accuracy, in steps, of one count that leaves or of a sum of several."""
        return accuracy.laplace_accuracy(self.scale, count=summed)

    def release(
        self, cells: npt.NDArray[np.generic], counts: Integers, noise: Noise
    ) -> tuple[npt.NDArray[Any], Integers]:
        """Return the cells that stand out, and their counts with noise."""
        return noise.clear_counts(cells, counts, scale=self.scale, threshold=self.threshold, size=self.cells)
