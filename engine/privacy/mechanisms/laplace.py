"""Continuous Laplace noise, as sources describe it: the program draws the discrete one."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from engine.privacy.draw import Draw
from engine.privacy.events import Additive

if TYPE_CHECKING:
    from engine.privacy.at_risk.loss import PrivacyLoss


class Laplace(Additive):
    """ε = Δ/b, L1 sensitivity. Dwork, McSherry, Nissim and Smith (2006), proposition 1."""

    word = "laplace"

    def epsilon(self) -> Fraction:
        return self.count * self.sensitivity / self.scale

    def loss(self) -> tuple[PrivacyLoss, int]:
        from engine.privacy.at_risk.mechanisms import loss_of

        return loss_of(self.word, scale=self.scale, sensitivity=self.sensitivity), 1

    def drawn(self) -> Counter[Draw]:
        return Counter({Draw("laplace", self.scale): self.count})
