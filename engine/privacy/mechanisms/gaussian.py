"""Continuous Gaussian noise."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from engine.privacy.draw import Draw
from engine.privacy.events import Additive
from engine.privacy.gaussian import continuous_delta

if TYPE_CHECKING:
    from engine.privacy.at_risk.loss import PrivacyLoss


class Gaussian(Additive):
    """A curve of (ε, δ), L2 sensitivity. Balle and Wang (2018), theorem 8."""

    word = "gaussian"

    def epsilon(self) -> None:
        return None

    def loss(self) -> tuple[PrivacyLoss, int]:
        from engine.privacy.at_risk.mechanisms import loss_of

        return loss_of(self.word, scale=self.scale, sensitivity=self.sensitivity), 1

    def delta(self, epsilon: Fraction) -> float:
        return continuous_delta(
            scale=float(self.scale), epsilon=float(epsilon), sensitivity=float(self.sensitivity)
        )

    def concentrated(self) -> Fraction:
        return self.count * self.sensitivity**2 / (2 * self.scale**2)  # Bun and Steinke (2016), prop. 1.6

    def reach(self) -> float:
        ratio = float(self.sensitivity / self.scale)
        return ratio * ratio / 2 + 12 * ratio

    def drawn(self) -> Counter[Draw]:
        return Counter({Draw("gaussian", self.scale**2): self.count})
