"""Rows made from seeds, each released only where enough other people could have led to it."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from engine import arrays
from engine.privacy.draw import Draw
from engine.privacy.events import Mechanism, exchanged_delta, rounded_up
from engine.privacy.many_runs import level_together
from engine.privacy.mechanisms.stated import Stated

if TYPE_CHECKING:
    from engine.privacy.at_risk.loss import PrivacyLoss
    from engine.privacy.noise import Noise

Codes = arrays.Integers
Passed = arrays.Bools

_FLOATS = 2.0**-30
"""Relative, more than likelihoods are off by."""
_SMALLEST = 1e-300
"""In place of probabilities that no number holds."""
_NEARLY = 4
"""So many times 1/ε₀ above the threshold, fewer than one crowd in a hundred fails."""


@dataclass(frozen=True)
class SeededRows(Mechanism):
    """Released rows, one a run, under a threshold that is not sharp.

    Parameters
    ----------
    threshold
        k: a row whose crowd is at least so large always passes.
    least
        t: a row whose crowd is smaller never passes; 1 <= t < k.
    rate
        ε₀: between them a crowd of x passes with probability exp(−ε₀ (k − x)).
    ratio
        r: how far apart likelihoods within a crowd may lie; 1 where each weighs as much as it is likely.
    alone
        q: for every n seeds, q · n more stand for a row from the model alone, which always passes.
    slack
        δ of the composition over all rows, besides that of each row.

    Notes
    -----
    δ₁, the probability that a crowd of t passes, here exp(−ε₀ (k − t)), and ε₁ = ε₀ + ln(1 + r/t): V.
    Bindschaedler, "Privacy-preserving seedbased data synthesis" (2018), theorem 4.1, and corollary 4.1 with
    r = 1. Both need of the pass probability only that it never falls, and from t on rises by at most e^{ε₀}
    for one more in the crowd.

    They bound what is released, not that nothing was. Here a row that does not pass is replaced by another
    try, which nobody sees, so the released row has a probability given that it passed. Let A(y) = Σ p_d(y)·
    P(pass) over the seeds d, and B = A + w·Q with Q the model alone and w = q · max(n, t). One more seed
    never lowers B, raises it on any set to at most e^{ε₁} B + (n + 1) δ₁, and its whole mass is at least
    q (n + 1). Divided by the whole mass: δ = δ₁/q and ε = ε₁ − ln(1 − δ₁/q), in both directions.
    Without rows from the model alone this is false: see `tests/published/seedbased.md`.
    Rows together: Kairouz, Oh and Viswanath (2015), theorem 3.3.
    """

    word = "seeded_rows"

    threshold: int
    least: int
    rate: Fraction
    ratio: Fraction
    alone: Fraction
    slack: Fraction

    def is_sound(self) -> bool:
        return (
            1 <= self.least < self.threshold
            and self.rate > 0
            and self.ratio >= 1
            and 0 < self.alone <= 1
            and 0 <= self.slack < 1
        )

    def epsilon(self) -> Fraction | None:
        return None

    @staticmethod
    def lower(rate: float) -> float:
        """Return how much less than −ε₀ (k − x) the logarithm of the chance of a crowd of x < k is."""
        return 0.0

    @property
    def nearly_sure(self) -> int:
        """A crowd that passes always, or hardly ever does not."""
        return self.threshold

    def chance(self, size: int) -> float:
        """Return how likely a crowd of some size passes."""
        if size < self.least:
            return 0.0
        return math.exp(-float(self.rate) * max(self.threshold - size, 0))

    def passed(self, sizes: Codes, noise: Noise) -> Passed:
        """Draw which crowds pass: surely from the threshold on, never below the least crowd."""
        short = np.maximum(self.threshold - sizes, 0)
        return np.asarray(self._lots(short, noise) & (sizes >= self.least))

    def _lots(self, steps: Codes, noise: Noise) -> Passed:
        """Draw lots that succeed with exp(−ε₀ · steps)."""
        return noise.bernoulli_exp_minus_each(steps * self.rate.numerator, self.rate.denominator)

    def each(self) -> tuple[Fraction, Fraction]:
        """Return (ε, δ) of one row, rounded up. It says nothing about the table."""
        failure = max(self.chance(self.least), _SMALLEST) / float(self.alone)
        if failure >= 1:
            return Fraction(0), Fraction(1)
        level = float(self.rate) + math.log1p(float(self.ratio) * (1 + _FLOATS) / self.least)
        return rounded_up(level - math.log1p(-failure)), rounded_up(failure)

    def stated(self) -> tuple[Fraction, Fraction]:
        level, failure = self.each()
        if self.count > 1 and self.slack:
            together = rounded_up(level_together(float(level) * (1 + 1e-12), self.count, float(self.slack)))
            if together < self.count * level:
                return together, min(Fraction(1), self.count * failure + self.slack)
        return self.count * level, min(Fraction(1), self.count * failure)

    def delta(self, epsilon: Fraction) -> float:
        level, failure = self.each()
        return float(failure) * (1 + 2**-52) if epsilon >= level else 1.0

    def loss(self) -> tuple[PrivacyLoss, int] | None:
        return None

    def concentrated(self) -> Fraction | None:
        return None

    def reach(self) -> float:
        return float(self.each()[0])

    def exchanged(self) -> Stated:
        level, failure = self.stated()
        return Stated("seeded_rows", 2 * level, exchanged_delta(level, failure))

    def drawn(self) -> Counter[Draw]:
        return Counter()  # lots and coins alone


class NoisyThreshold(SeededRows):
    """Rows whose crowd is compared with a threshold with fresh noise.

    Notes
    -----
    A crowd passes where it is at least k + Z, Z symmetric. There is no crowd below which nothing passes: t is
    of the calculation alone. At the same ε and δ a crowd from t on passes no likelier than by `SeededRows`,
    which has what a crowd below t is let through here.
    """

    one_more: ClassVar[int]
    """Added to how far a crowd is above the threshold, in the logarithm of its chance to fail."""

    @property
    def nearly_sure(self) -> int:
        return self.threshold + math.ceil(_NEARLY / self.rate)

    def chance(self, size: int) -> float:
        above, rate = size - self.threshold, float(self.rate)
        if above <= 0:
            return math.exp(rate * above - self.lower(rate))
        return -math.expm1(-rate * (above + self.one_more) - self.lower(rate))

    def passed(self, sizes: Codes, noise: Noise) -> Passed:
        above = sizes - self.threshold
        steps = np.where(above <= 0, -above, above + self.one_more)
        rare = self._lots(steps, noise) & self._on_one_side(len(sizes), noise)
        return np.asarray(np.where(above <= 0, rare, ~rare))

    @abstractmethod
    def _on_one_side(self, n: int, noise: Noise) -> Passed:
        """Draw whether noise is at most nothing, as often as it is."""


class LaplaceThreshold(NoisyThreshold):
    """Z of Laplace's distribution, scale 1/ε₀: Bindschaedler (2018), privacy test 4.2.

    Notes
    -----
    P(pass) = ½ e^{ε₀ (x − k)} for x <= k, and 1 − ½ e^{ε₀ (k − x)} above: crowds are whole numbers, so that
    lots with these chances are exactly the test.
    """

    word = "seeded_rows_laplace"
    one_more = 0

    @staticmethod
    def lower(rate: float) -> float:
        return math.log(2)

    def _on_one_side(self, n: int, noise: Noise) -> Passed:
        return noise.bernoulli(Fraction(1, 2), n)


class GeometricThreshold(NoisyThreshold):
    """Z of the two-sided geometric distribution, α = e^{−ε₀}: Bindschaedler (2018), privacy test 3.2.

    Notes
    -----
    P(pass) = α^{k − x} / (1 + α) for x <= k, and 1 − α^{1 + x − k} / (1 + α) above.
    """

    word = "seeded_rows_geometric"
    one_more = 1

    @staticmethod
    def lower(rate: float) -> float:
        return math.log1p(math.exp(-rate))

    def _on_one_side(self, n: int, noise: Noise) -> Passed:
        """1/(1 + α): a coin; where it fails, failure with α, or once more."""
        found, left = np.zeros(n, dtype=bool), np.arange(n)
        while left.size:
            coin = noise.bernoulli(Fraction(1, 2), left.size)
            found[left[coin]] = True
            left = left[~coin]
            left = left[~noise.bernoulli_exp_minus(self.rate, left.size)]
        return found
