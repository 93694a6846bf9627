"""Losses that take multiples of one exact step only: confidences by whole numbers of steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from engine import arrays
from engine.privacy.at_risk.inputs import Number, positive
from engine.privacy.at_risk.inverse import Inverse

Array = arrays.Floats

AS_WRITTEN = Fraction(4, 10**15)
"""A level this close below a step, relatively, means the step: one third has no shorter decimal."""

MOST_RISES = 20_000
"""A confidence that rises at more levels is searched as a smooth curve."""


@dataclass(frozen=True, eq=False)
class Lattice:
    """The confidences of a loss that takes multiples of ``step`` only.

    Parameters
    ----------
    step
        Exact. The privacy level ε0 is ``last`` steps, None where it is infinite.
    one_sided, two_sided
        Confidence within so many steps (an array of whole numbers from 0 to ``last`` − 1), for worst
        neighbours; never falling.
    rises
        The numbers of steps at which a confidence (two-sided: True) may rise, None where they are too many.
    """

    step: Fraction
    last: int | None
    one_sided: Callable[[Array], Array]
    two_sided: Callable[[Array], Array]
    rises: Callable[[bool], Array | None]

    def within(self, epsilon: Number | str) -> int:
        """Return how many whole steps lie within ε.

        Notes
        -----
        ε is a fraction, or a decimal that was typed or printed. The nearest decimal of a step can lie below
        it; it is read as that step.
        """
        return math.floor(positive(epsilon, name="epsilon") / self.step * (1 + AS_WRITTEN))

    def confidence(self, epsilon: Number | str, *, two_sided: bool = False) -> float:
        """Return the confidence at ε; 1 from ε0 on."""
        return float(self.at(np.array([float(self.within(epsilon))]), two_sided=two_sided)[0])

    def confidences(self, epsilons: Array, *, two_sided: bool = False) -> Array:
        """Return the confidence at every ε of an array, each read as by `within`."""
        steps = np.floor(epsilons * (float(1 / self.step) * (1 + float(AS_WRITTEN))))
        return self.at(steps, two_sided=two_sided)

    def at(self, steps: Array, *, two_sided: bool) -> Array:
        """Return the confidence within so many steps, 1 from ``last`` on."""
        found = (self.two_sided if two_sided else self.one_sided)(steps)
        return found if self.last is None else np.where(steps >= self.last, 1.0, found)

    def epsilon(self, confidence: float, *, two_sided: bool) -> Inverse:
        """Return the smallest step whose confidence is at least the one asked for; 0 where that is enough."""

        def enough(steps: int) -> bool:
            return bool(self.at(np.array([float(steps)]), two_sided=two_sided)[0] >= confidence)

        if enough(0):
            return Inverse(0.0, False)
        low, high = 0, 1
        while not enough(high):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        if self.last is not None and high >= self.last:
            return Inverse(float(self.step * self.last), True)
        return Inverse(float(self.step * high), False)
