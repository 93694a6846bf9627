"""Rows made from seeds, each released only where enough other people could have led to it."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from engine.privacy.draw import Draw
from engine.privacy.events import Mechanism, exchanged_delta, rounded_up
from engine.privacy.many_runs import level_together
from engine.privacy.mechanisms.stated import Stated

if TYPE_CHECKING:
    from engine.privacy.at_risk.loss import PrivacyLoss

_FLOATS = 2.0**-30
"""Relative, more than likelihoods are off by."""
_SMALLEST = 1e-300
"""In place of probabilities that no number holds."""


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
    δ₁ = exp(−ε₀ (k − t)) and ε₁ = ε₀ + ln(1 + r/t): V. Bindschaedler, "Privacy-preserving seedbased data
    synthesis" (2018), theorem 4.1, and corollary 4.1 with r = 1. Both need of the pass probability only that
    it never falls, and rises by at most e^{ε₀} for one more in the crowd.

    They bound what is released, not that nothing was. Here a row that does not pass is replaced by another
    try, which nobody sees, so the released row has a probability given that it passed. Let A(y) = Σ p_d(y)·
    P(pass) over the seeds d, and B = A + w·Q with Q the model alone and w = q · max(n, t). One more seed
    never lowers B, raises it on any set to at most e^{ε₁} B + (n + 1) δ₁, and its whole mass is at least
    q (n + 1). Divided by the whole mass: δ = δ₁/q and ε = ε₁ − ln(1 − δ₁/q), in both directions.
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

    def each(self) -> tuple[Fraction, Fraction]:
        """Return (ε, δ) of one row, rounded up. It says nothing about the table."""
        passing = math.exp(-float(self.rate * (self.threshold - self.least)))
        failure = max(passing, _SMALLEST) / float(self.alone)
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
