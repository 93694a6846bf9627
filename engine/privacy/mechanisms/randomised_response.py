"""Randomised response: each person answers truly with a probability, otherwise with one of the others."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from engine.privacy.draw import Draw
from engine.privacy.events import Mechanism

if TYPE_CHECKING:
    from engine.privacy.at_risk.loss import PrivacyLoss


@dataclass(frozen=True)
class RandomisedResponse(Mechanism):
    """ε = ln(p(k−1)/(1−p)). Warner (1965); Kairouz, Oh and Viswanath (2016), equation 13.

    Parameters
    ----------
    truth
        Probability p of the true answer, above 0 and below 1.
    answers
        How many answers are possible, at least 2.

    Notes
    -----
    Those who answer draw for themselves, so the noise door is asked for nothing.
    """

    word = "randomised_response"

    truth: Fraction
    answers: int

    def is_sound(self) -> bool:
        return 0 < self.truth < 1 and self.answers >= 2

    def epsilon(self) -> Fraction:
        odds = self.truth * (self.answers - 1) / (1 - self.truth)
        exact = abs(math.log(odds.numerator) - math.log(odds.denominator))
        return self.count * Fraction(math.ceil(Fraction(exact) * 10**12 + 1), 10**12)

    def loss(self) -> tuple[PrivacyLoss, int]:
        from engine.privacy.at_risk.mechanisms import loss_of

        return loss_of(self.word, scale=self.truth, sensitivity=self.answers), 1

    def exchanged(self) -> RandomisedResponse:
        return replace(self, count=2 * self.count)

    def drawn(self) -> Counter[Draw]:
        return Counter()
