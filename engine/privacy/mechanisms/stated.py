"""A bound that a theorem proves without noise of ours."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from engine.privacy.draw import Draw
from engine.privacy.events import Mechanism, exchanged_delta

if TYPE_CHECKING:
    from engine.privacy.at_risk.loss import PrivacyLoss


@dataclass(frozen=True)
class Stated(Mechanism):
    """(ε, δ) by a theorem, for each of ``count`` runs.

    Parameters
    ----------
    theorem
        Id of a text below ``promises.theorems``: which theorem, of which source.
    level
        ε of one run, at least 0.
    failure
        δ of one run, at least 0 and below 1.

    Notes
    -----
    With δ = 0 the loss of randomised response at ε covers that of every ε-differentially private mechanism
    (Kairouz, Oh and Viswanath 2015, theorem 3.4). With δ > 0 levels and failures are added up.
    """

    word = "stated"

    theorem: str
    level: Fraction
    failure: Fraction = Fraction(0)

    def is_sound(self) -> bool:
        return self.level >= 0 and 0 <= self.failure < 1

    def epsilon(self) -> Fraction | None:
        return None if self.failure else self.count * self.level

    def stated(self) -> tuple[Fraction, Fraction]:
        return self.count * self.level, self.count * self.failure

    def delta(self, epsilon: Fraction) -> float:
        # float() of a fraction is within half an ulp: rounded up where it is below
        return float(self.failure) * (1 + 2**-52) if epsilon >= self.level else 1.0

    @property
    def knows_loss(self) -> bool:
        return False

    def loss(self) -> tuple[PrivacyLoss, int] | None:
        from engine.privacy.at_risk.mechanisms import randomised_response_at

        return None if self.failure or not self.level else (randomised_response_at(epsilon0=self.level), 1)

    def concentrated(self) -> Fraction | None:
        return None if self.failure else self.count * self.level**2 / 2

    def reach(self) -> float:
        return float(self.level)

    def exchanged(self) -> Stated:
        return replace(self, level=2 * self.level, failure=exchanged_delta(self.level, self.failure))

    def drawn(self) -> Counter[Draw]:
        return Counter()
