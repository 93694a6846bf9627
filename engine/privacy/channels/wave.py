"""Numbers: a report near the true one oftener than far from it, or, for a mean alone, one bit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np

from engine.privacy.channels.channel import Array, Channel, Truth


@dataclass(frozen=True)
class Wave(Channel):
    """Level v of ``levels`` marks the outcomes v … v + 2w of levels + 2w: a discrete square wave.

    Parameters
    ----------
    levels
        How many equally spaced values there are, at least 2.
    reach
        w: how many steps on each side count as near.

    Notes
    -----
    Li et al. (2020), section 5, in whole numbers. The mean of reports is y₀ + s v, with s and y₀ of `line`.

    Examples
    --------
    >>> wave = Wave.at(5, 1, Fraction(1))
    >>> sum(wave.chance((2,), outcome) for outcome in wave.outcomes())
    Fraction(1, 1)
    """

    kind = "wave"

    levels: int
    reach: int

    @classmethod
    def at(cls, levels: int, reach: int, epsilon: Fraction) -> Self:
        """Return the channel with an ε of at most this."""
        return cls(1, 2, levels, reach).lots(epsilon)

    @property
    def marked(self) -> int:
        return 2 * self.reach + 1

    @property
    def unmarked(self) -> int:
        return self.levels - 1

    @property
    def ends(self) -> int:
        """How many outcomes there are."""
        return self.levels + 2 * self.reach

    def is_sound(self) -> bool:
        return self.levels >= 2 and self.reach >= 0

    def truths(self) -> Iterator[Truth]:
        return ((place,) for place in range(self.levels))

    def outcomes(self) -> Iterator[Truth]:
        return ((place,) for place in range(self.ends))

    def marks(self, truth: Truth, outcome: Truth) -> bool:
        return 0 <= outcome[0] - truth[0] <= 2 * self.reach

    @property
    def layout(self) -> tuple[int, int]:
        return 1, self.ends

    def line(self) -> tuple[Fraction, Fraction]:
        """Return y₀ and s: the mean of the outcomes at level v is y₀ + s v."""
        near = Fraction(self.hit, self.tickets * self.marked)
        far = Fraction(self.tickets - self.hit, self.tickets * self.unmarked)
        total = self.ends * (self.ends - 1) // 2
        inside = self.marked * self.reach  # the outcomes 0 … 2w of level 0
        return far * total + (near - far) * inside, (near - far) * self.marked

    def variances(self) -> Array:
        """Return the variance of the outcome at each level."""
        y0, slope = (float(one) for one in self.line())
        places, values = np.arange(self.ends, dtype=float), np.arange(self.levels, dtype=float)
        near = self.hit / self.tickets / self.marked
        far = (self.tickets - self.hit) / self.tickets / self.unmarked
        inside = [(places[v : v + self.marked] ** 2).sum() for v in range(self.levels)]
        squares = far * (places**2).sum() + (near - far) * np.array(inside)
        return np.asarray(squares - (y0 + slope * values) ** 2)

    def matrix(self) -> Array:
        """Return the probabilities as floats: a row each level, a column each outcome."""
        far = (self.tickets - self.hit) / self.tickets / self.unmarked
        found = np.full((self.levels, self.ends), far)
        for level in range(self.levels):
            found[level, level : level + self.marked] = self.hit / self.tickets / self.marked
        return found


@dataclass(frozen=True)
class Bit(Channel):
    """One bit, high or low: a level is rounded to an end by lot, then that end is told as yes or no is.

    Notes
    -----
    Duchi, Jordan and Wainwright (2018), section 3.2; the rounding keeps the mean. P(high | v) lies between
    the chances of the two ends, so that nothing is told beyond `odds`.
    """

    kind = "bit"

    levels: int

    @classmethod
    def at(cls, levels: int, epsilon: Fraction) -> Self:
        """Return the channel with an ε of at most this."""
        return cls(1, 2, levels).lots(epsilon)

    @property
    def marked(self) -> int:
        return 1

    @property
    def unmarked(self) -> int:
        return 1

    def is_sound(self) -> bool:
        return self.levels >= 2

    def truths(self) -> Iterator[Truth]:
        return ((place,) for place in range(self.levels))

    def outcomes(self) -> Iterator[Truth]:
        return iter(((0,), (1,)))

    def marks(self, truth: Truth, outcome: Truth) -> bool:
        return (outcome[0] == 1) == (truth[0] == self.levels - 1)

    def chance(self, truth: Truth, outcome: Truth) -> Fraction:
        y0, slope = self.line()
        high = y0 + slope * truth[0]
        return high if outcome[0] else 1 - high

    @property
    def layout(self) -> tuple[int, int]:
        return 1, 2

    def line(self) -> tuple[Fraction, Fraction]:
        """Return y₀ and s: the chance of "high" at level v is y₀ + s v."""
        low = Fraction(self.tickets - self.hit, self.tickets)
        return low, (1 - 2 * low) / (self.levels - 1)

    def variances(self) -> Array:
        """Return the variance of the outcome at each level."""
        y0, slope = (float(one) for one in self.line())
        high = y0 + slope * np.arange(self.levels)
        return np.asarray(high * (1 - high))
