"""What one person's own lots tell: no outcome is likelier by more than a factor, whatever the true answer."""

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
class LocalResponse(Mechanism):
    """ε = ln(odds) of a channel by which a person answers; see `engine.privacy.channels`.

    Parameters
    ----------
    odds
        The largest ratio of the probabilities of one outcome under two true answers, above 1.

    Notes
    -----
    Randomised response with two answers has at least the loss of every ε-differentially private mechanism:
    Kairouz, Oh and Viswanath (2015), theorem 3.4. Those who answer draw for themselves.
    """

    word = "local_response"

    odds: Fraction

    def is_sound(self) -> bool:
        return self.odds > 1

    def epsilon(self) -> Fraction:
        exact = math.log(self.odds.numerator) - math.log(self.odds.denominator)
        return self.count * Fraction(math.ceil(Fraction(exact) * 10**12 + 1), 10**12)

    @property
    def knows_loss(self) -> bool:
        return False

    def loss(self) -> tuple[PrivacyLoss, int]:
        from engine.privacy.at_risk.mechanisms import randomised_response_at

        return randomised_response_at(epsilon0=self.single().epsilon()), 1

    def exchanged(self) -> LocalResponse:
        return replace(self, count=2 * self.count)

    def drawn(self) -> Counter[Draw]:
        return Counter()
