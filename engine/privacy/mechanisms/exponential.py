"""The exponential mechanism: a choice among declared candidates by integer scores."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import TYPE_CHECKING

from engine.privacy.draw import Draw
from engine.privacy.events import Mechanism
from engine.privacy.mechanisms.integers import Integers

if TYPE_CHECKING:
    from engine.privacy.at_risk.loss import PrivacyLoss
    from engine.privacy.noise import Noise


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


@dataclass(frozen=True)
class ExponentialChoice:
    """A choice among declared candidates by integer scores: ε-differential privacy.

    Parameters
    ----------
    sensitivity
        Largest change of any one score between neighbouring data sets; where several choices are made on
        groups of the same people, the largest sum of these changes over the groups.
    epsilon
        Exact privacy level, above 0.
    choices
        How many such choices are made, on as many groups.

    Notes
    -----
    P(i) ∝ exp(ε · score_i / 2Δ).

    Source: McSherry and Talwar (2007), theorem 6; Dwork and Roth (2014), theorem 3.10.

    Examples
    --------
    >>> ExponentialChoice(2, Fraction(1)).rate
    Fraction(1, 4)
    """

    sensitivity: int
    epsilon: Fraction
    choices: int = 1

    @property
    def rate(self) -> Fraction:
        """ε/2Δ, exactly."""
        return self.epsilon / (2 * self.sensitivity)

    @property
    def event(self) -> Exponential:
        """What the accountant counts."""
        return Exponential(1 / self.rate, Fraction(self.sensitivity), choices=self.choices)

    def score_limit(self, candidates: int, *, share: float) -> float:
        """Return t with P(score of the choice ≥ best score − t) ≥ share, for any scores.

        Notes
        -----
        P(score ≤ best − t) ≤ candidates · e^(−rate · t). Source: Dwork and Roth (2014), theorem 3.11.
        """
        return log(candidates / (1 - share)) / float(self.rate)

    def choose(self, scores: Integers, noise: Noise) -> int:
        """Return the place of the chosen candidate."""
        return noise.exponential_choice(scores, rate=self.rate)
