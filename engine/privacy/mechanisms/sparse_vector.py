"""The sparse vector technique: which of many answers are above their thresholds, at the price of a few."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from engine.privacy.draw import Draw
from engine.privacy.events import Mechanism
from engine.privacy.mechanisms.integers import Integers

if TYPE_CHECKING:
    from engine.privacy.at_risk.loss import PrivacyLoss
    from engine.privacy.noise import Noise

_NODES = 2000


@dataclass(frozen=True)
class SparseVector(Mechanism):
    """ε = Δ/b₁ + c·Δ/b₂, twice the second part unless all answers move in one direction. Lyu et al. (2017).

    Parameters
    ----------
    threshold, each
        Scales b₁, b₂ of the noise of the threshold, drawn once, and of every answer.
    most
        c: after so many answers above nothing more is said.
    questions
        How many are compared at most.
    sensitivity
        Δ: how far any one of the answers can move.
    one_way
        Whether one more unit never lowers an answer, or never raises one.
    """

    word = "sparse_vector"

    threshold: Fraction
    each: Fraction
    most: int
    questions: int
    sensitivity: Fraction
    one_way: bool

    def is_sound(self) -> bool:
        return min(self.threshold, self.each) > 0 and min(self.most, self.questions) >= 1

    def epsilon(self) -> Fraction:
        ways = 1 if self.one_way else 2
        return self.count * self.sensitivity * (1 / self.threshold + ways * self.most / self.each)

    @property
    def knows_loss(self) -> bool:
        return False

    def loss(self) -> tuple[PrivacyLoss, int]:
        from engine.privacy.at_risk.mechanisms import randomised_response_at

        # It dominates every mechanism of that level: Kairouz, Oh and Viswanath (2015), theorem 3.4.
        return randomised_response_at(epsilon0=self.single().epsilon()), 1

    def exchanged(self) -> SparseVector:
        return replace(self, sensitivity=2 * self.sensitivity)

    def drawn(self) -> Counter[Draw]:
        shape = (self.threshold.numerator, self.threshold.denominator, self.most, self.questions)
        return Counter({Draw(self.word, self.each, shape): self.count})


@dataclass(frozen=True)
class AboveThresholds:
    """Which of several integer answers reach their public thresholds: ε-differential privacy.

    Parameters
    ----------
    sensitivity
        How far any one answer moves between neighbouring data sets, at least 1.
    epsilon
        Exact privacy level of the whole list, above 0.
    most
        c: the list ends after so many that are above.
    questions
        How many there are.
    one_way
        As in `SparseVector`; false where a unit is exchanged.

    Notes
    -----
    ε is parted as 1 : (c or 2c)^⅔ between the threshold and the answers, which gives the smallest variance of
    their difference. Source: Lyu, Su and Li (2017), section 4.2.

    Examples
    --------
    >>> AboveThresholds(1, Fraction(1), 3, 20, True).event.epsilon()
    Fraction(1, 1)
    """

    sensitivity: int
    epsilon: Fraction
    most: int
    questions: int
    one_way: bool

    @property
    def event(self) -> SparseVector:
        """What the accountant counts."""
        turns = self.most if self.one_way else 2 * self.most
        first = Fraction(1 / (1 + turns ** (2 / 3))).limit_denominator(1000)
        change = Fraction(self.sensitivity)
        scales = change / (first * self.epsilon), turns * change / ((1 - first) * self.epsilon)
        return SparseVector(*scales, self.most, self.questions, change, self.one_way)

    def gap(self, *, share: float) -> int:
        """Return how far from its threshold every answer has to be for all to be told rightly, so often.

        Notes
        -----
        For the least favourable list: ``most`` answers above and the others below, all by that gap.
        """
        event = self.event
        above = min(self.most, self.questions)
        low, high = 0, 1
        while _all_right(event.threshold, event.each, above, self.questions - above, high) < share:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            enough = _all_right(event.threshold, event.each, above, self.questions - above, middle) >= share
            low, high = (low, middle) if enough else (middle, high)
        return high

    def compare(self, answers: Integers, thresholds: Integers, noise: Noise) -> npt.NDArray[np.int8]:
        """Return 1 for at least its threshold, 0 for less, −1 for an answer that was not reached."""
        event = self.event
        return noise.sparse_vector(
            answers - thresholds, threshold=event.threshold, each=event.each, most=event.most
        )


@lru_cache(maxsize=4096)
def _all_right(threshold: Fraction, each: Fraction, above: int, below: int, gap: int) -> float:
    """Return the chance that all answers are told rightly, each ``gap`` away from its threshold."""
    from engine.privacy.accuracy import laplace_below, laplace_nodes

    shared, chance = laplace_nodes(threshold, most=_NODES)
    is_below = laplace_below(each, shared + gap - 1)  # score −gap and its noise stay below the shared noise
    is_above = 1 - laplace_below(each, shared - gap - 1)
    return float(chance @ (is_below**below * is_above**above))
