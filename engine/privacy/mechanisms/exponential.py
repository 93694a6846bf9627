"""The exponential mechanism: a choice among declared candidates by integer scores."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from engine.privacy.draw import Draw
from engine.privacy.events import Mechanism

if TYPE_CHECKING:
    from engine.privacy.at_risk.loss import PrivacyLoss


@dataclass(frozen=True)
class Exponential(Mechanism):
    """ε = 2Δ/s. McSherry and Talwar (2007), theorem 6.

    Parameters
    ----------
    scale
        s in P(i) ∝ exp(score_i / s), above 0.
    sensitivity
        Largest change of one score; for several choices the largest sum of these changes.
    monotone
        Adding a person never lowers a score, which halves the loss.
    choices
        How many choices one run makes, all of them covered by the sensitivity.
    """

    word = "exponential"

    scale: Fraction
    sensitivity: Fraction
    monotone: bool = False
    choices: int = 1

    def is_sound(self) -> bool:
        return self.scale > 0 and self.sensitivity >= 0 and self.choices >= 0

    def epsilon(self) -> Fraction:
        return self.count * (1 if self.monotone else 2) * self.sensitivity / self.scale

    def concentrated(self) -> Fraction:
        """Return ρ = ε²/8 a run: its losses lie in an interval as long as ε.

        Notes
        -----
        Cesar and Rogers, "Bounding, concentrating, and truncating" (2021), lemma 3.2.
        """
        return self.count * self.single().epsilon() ** 2 / 8

    @property
    def knows_loss(self) -> bool:
        return False

    def loss(self) -> tuple[PrivacyLoss, int]:
        from engine.privacy.at_risk.mechanisms import loss_of

        return loss_of(self.word, scale=self.scale, sensitivity=self.sensitivity, monotone=self.monotone), 1

    def single(self) -> Exponential:
        return Exponential(self.scale, self.sensitivity, self.monotone)

    def exchanged(self) -> Exponential:
        factor = 1 if self.monotone else 2
        return Exponential(self.scale, factor * self.sensitivity, choices=self.choices, count=self.count)

    def drawn(self) -> Counter[Draw]:
        return Counter({Draw("exponential_choice", 1 / self.scale): self.count * self.choices})
