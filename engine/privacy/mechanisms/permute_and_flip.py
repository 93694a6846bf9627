"""Permute-and-flip: choices among declared candidates by integer scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import exp, expm1, log1p
from typing import TYPE_CHECKING

from engine.privacy.draw import Draw
from engine.privacy.events import Mechanism
from engine.privacy.mechanisms.integers import Integers

if TYPE_CHECKING:
    from engine.privacy.at_risk.loss import PrivacyLoss
    from engine.privacy.noise import Noise


@dataclass(frozen=True)
class PermuteAndFlip(Mechanism):
    """Choices that together lose ``level`` at most. McKenna and Sheldon (2020), theorem 2, for one of them.

    Parameters
    ----------
    level
        ε of one run, above 0: of one choice rate · (how far apart two scores move); of several what follows
        from the people that each of them reads.
    rates
        The rates of all choices on one group, see `written_rates`.
    groups
        On how many groups of disjoint people these choices are made.
    """

    word = "permute_and_flip"

    level: Fraction
    rates: str
    groups: int = 1

    def is_sound(self) -> bool:
        try:
            return self.level > 0 and self.groups >= 0 and all(rate > 0 for rate in _rates(self.rates))
        except (ValueError, ZeroDivisionError):
            return False

    def epsilon(self) -> Fraction:
        return self.count * self.level

    @property
    def knows_loss(self) -> bool:
        return False

    def loss(self) -> tuple[PrivacyLoss, int]:
        from engine.privacy.at_risk.mechanisms import permute_and_flip

        return permute_and_flip(epsilon0=self.level), 1

    def single(self) -> PermuteAndFlip:
        return PermuteAndFlip(self.level, "")

    def exchanged(self) -> PermuteAndFlip:
        return replace(self, level=2 * self.level)

    def drawn(self) -> Counter[Draw]:
        each = Counter(Draw(self.word, rate) for rate in _rates(self.rates))
        return Counter({draw: times * self.groups * self.count for draw, times in each.items()})


def written_rates(rates: Iterable[Fraction]) -> str:
    """Return the rates of choices as text, in one order whatever theirs was.

    Examples
    --------
    >>> written_rates([Fraction(1, 2), Fraction(1, 3), Fraction(1, 2)])
    '1/3 1/2 1/2'
    """
    return " ".join(str(rate) for rate in sorted(rates))


def _rates(written: str) -> list[Fraction]:
    return [Fraction(rate) for rate in written.split()]


@dataclass(frozen=True)
class FlipChoice:
    """A choice among declared candidates by integer scores.

    Parameters
    ----------
    sensitivity
        Half of how far apart two scores can move between neighbouring data sets; so at most the largest
        change of any one score.
    epsilon
        Exact privacy level, above 0.

    Notes
    -----
    A candidate t below the best score is accepted with probability exp(−ε · t / 2Δ); one of the accepted is
    drawn. Never worse than the exponential mechanism at the same rate, and up to twice as good.

    Source: McKenna and Sheldon (2020), algorithm 1 and theorems 2 and 4.

    Examples
    --------
    >>> FlipChoice(2, Fraction(1)).rate
    Fraction(1, 4)
    """

    sensitivity: Fraction | int
    epsilon: Fraction

    @property
    def rate(self) -> Fraction:
        """ε/2Δ, exactly."""
        return self.epsilon / (2 * self.sensitivity)

    @property
    def event(self) -> PermuteAndFlip:
        """What the accountant counts."""
        return PermuteAndFlip(self.epsilon, written_rates([self.rate]))

    def score_limit(self, candidates: int, *, share: float) -> float:
        """Return t with P(score of the choice ≥ best score − t) ≥ share, for any scores.

        Notes
        -----
        The worst case has one best candidate and all others just below best − t, accepted with probability q
        each: with A ~ Binomial(n − 1, q) of them accepted P(best) = E[1/(1 + A)] = (1 − (1 − q)^n) / nq.
        """
        if candidates == 1:
            return 0.0
        low, high = -800.0, 0.0  # ln q
        for _ in range(100):
            middle = (low + high) / 2
            q = exp(middle)
            best = -expm1(candidates * log1p(-q)) / (candidates * q) if q < 1 else 1 / candidates
            low, high = (middle, high) if best >= share else (low, middle)
        return -low / float(self.rate)

    def choose(self, scores: Integers, noise: Noise) -> int:
        """Return the place of the chosen candidate."""
        return noise.permute_and_flip(scores, rate=self.rate)
