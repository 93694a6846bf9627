"""Set response: a report names several answers, the true one oftener; naming one is the plain case."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import comb, exp, log2
from typing import Self

import numpy as np

from engine.privacy.channels.channel import Array, Channel, Shares, Truth

MOST_DRAWS = 1000
"""How often a respondent's browser draws signs, on average, until some are on the side that the lot named."""


@dataclass(frozen=True)
class Sets(Channel):
    """A report is a set of ``size`` of ``universe`` answers; those that hold a true one are marked.

    Parameters
    ----------
    universe
        How many answers there are. Where up to c may be ticked, c fillers stand behind them.
    ticks
        How many places of the universe a person marks: 1, or exactly c with fillers for what was not ticked.
    size
        How many answers a report names. 1 is randomised response.

    Notes
    -----
    Subset selection: Ye and Barg (2018), section III; with one name Kairouz, Oh and Viswanath (2016),
    equation 13. Several ticks: Wang et al. (2018), PrivSet, padded to exactly c, so that q is the same
    whatever else was ticked.

    Examples
    --------
    >>> yes = Sets.at(2, 1, 1, Fraction(1))
    >>> round(float(yes.shares().own), 9), yes.odds < Fraction(272, 100)
    (0.731058578, True)
    """

    kind = "sets"

    universe: int
    ticks: int
    size: int

    @classmethod
    def at(cls, universe: int, ticks: int, size: int, epsilon: Fraction) -> Self:
        """Return the channel with an ε of at most this."""
        return cls(1, 2, universe, ticks, size).lots(epsilon)

    @property
    def marked(self) -> int:
        return comb(self.universe, self.size) - self.unmarked

    @property
    def unmarked(self) -> int:
        return comb(self.universe - self.ticks, self.size)

    @property
    def bits(self) -> float:
        """How long a report is."""
        return log2(comb(self.universe, self.size))

    def shares(self) -> Shares:
        """Return how reports tell the share of one answer, whatever else was ticked."""
        with_one, without = (
            comb(self.universe - 1, self.size - 1),
            comb(self.universe - self.ticks - 1, self.size - 1),
        )
        hit = Fraction(self.hit, self.tickets * self.marked)
        miss = Fraction(self.tickets - self.hit, self.tickets * self.unmarked)
        return Shares(hit * with_one, hit * (with_one - without) + miss * without)

    def is_sound(self) -> bool:
        return self.ticks >= 1 and 1 <= self.size <= self.universe - self.ticks

    def truths(self) -> Iterator[Truth]:
        return combinations(range(self.universe), self.ticks)

    def outcomes(self) -> Iterator[Truth]:
        return combinations(range(self.universe), self.size)

    def marks(self, truth: Truth, outcome: Truth) -> bool:
        return not set(truth).isdisjoint(outcome)

    @property
    def layout(self) -> tuple[int, int]:
        return self.size, self.universe

    @property
    def ordered(self) -> bool:
        return True  # the order in which they were drawn would tell

    def named(self, reported: Array) -> Array:
        """Count how many reports name each answer."""
        return np.bincount(reported.ravel(), minlength=self.universe)


@dataclass(frozen=True)
class Option(Channel):
    """One of many options is drawn by lot, and whether it was ticked is told by randomised response.

    Outcome 2v + 1 says that option v was ticked, 2v that it was not.
    """

    kind = "option"

    options: int

    @classmethod
    def at(cls, options: int, epsilon: Fraction) -> Self:
        """Return the channel with an ε of at most this."""
        return cls(1, 2, options).lots(epsilon)

    @property
    def marked(self) -> int:
        return self.options

    @property
    def unmarked(self) -> int:
        return self.options

    def shares(self) -> Shares:
        """Return how the reports on one option tell its share."""
        return Shares(Fraction(self.hit, self.tickets), 1 - Fraction(self.hit, self.tickets))

    def is_sound(self) -> bool:
        return self.options >= 1

    def truths(self) -> Iterator[Truth]:
        places = range(self.options)
        return (truth for size in range(self.options + 1) for truth in combinations(places, size))

    def outcomes(self) -> Iterator[Truth]:
        return ((place,) for place in range(2 * self.options))

    def marks(self, truth: Truth, outcome: Truth) -> bool:
        return (outcome[0] // 2 in truth) == (outcome[0] % 2 == 1)

    @property
    def layout(self) -> tuple[int, int]:
        return 1, 2 * self.options

    def named(self, reported: Array) -> Array:
        """Count how many reports say that each option was ticked."""
        return np.bincount(reported.ravel(), minlength=2 * self.options)[1::2]

    def asked(self, reported: Array) -> Array:
        """Count how many reports are on each option."""
        return np.bincount(reported.ravel() // 2, minlength=self.options)


@dataclass(frozen=True)
class Signs(Channel):
    """Yes or no to every option at once: outcomes that agree with a person in ``least`` options are marked.

    Notes
    -----
    Duchi, Jordan and Wainwright (2018), section 4.2.3, for answers of yes and no, with whole lots. They ask
    for half to agree; at a larger ε more tells more. No report is on one option alone, so none can push one
    further than any other: made-up reports move a share by as little as any channel with this ε allows.

    Examples
    --------
    >>> signs = Signs.at(8, Fraction(1))
    >>> round(float(signs.shares().moved), 1), signs.odds < Fraction(272, 100)
    (4.0, True)
    """

    kind = "signs"

    options: int
    least: int

    @classmethod
    def at(cls, options: int, epsilon: Fraction) -> Self:
        """Return the channel with an ε of at most this, and as many to agree as reports tell the most by."""
        odds, half = exp(epsilon), options // 2
        marked = {
            least: sum(comb(options, one) for one in range(least, options + 1))
            for least in range(options - half, options + 1)
        }

        def gap(least: int) -> float:
            # The parts of outcomes that agree in one option and in the others, but for those that do not
            return comb(options - 1, least - 1) / (odds * marked[least] + 2**options - marked[least])

        few = [least for least in marked if MOST_DRAWS * marked[least] >= 2**options] or [options - half]
        return cls(1, 2, options, max(few, key=gap)).lots(epsilon)

    @property
    def marked(self) -> int:
        return sum(comb(self.options, agreeing) for agreeing in range(self.least, self.options + 1))

    @property
    def unmarked(self) -> int:
        return 2**self.options - self.marked

    def shares(self) -> Shares:
        """Return how reports tell the share of one option, whatever else was ticked."""
        less = self.options - 1
        within = sum(comb(less, agreeing - 1) for agreeing in range(self.least, self.options + 1))
        hit = Fraction(self.hit, self.tickets * self.marked)
        miss = Fraction(self.tickets - self.hit, self.tickets * self.unmarked)
        own = hit * within + miss * (2**less - within)
        return Shares(own, 1 - own)

    def is_sound(self) -> bool:
        return 1 <= self.least <= self.options

    def truths(self) -> Iterator[Truth]:
        places = range(self.options)
        return (truth for size in range(self.options + 1) for truth in combinations(places, size))

    def outcomes(self) -> Iterator[Truth]:
        return product((0, 1), repeat=self.options)

    def marks(self, truth: Truth, outcome: Truth) -> bool:
        return sum((place in truth) == bool(said) for place, said in enumerate(outcome)) >= self.least

    @property
    def layout(self) -> tuple[int, int]:
        return self.options, 2

    def named(self, reported: Array) -> Array:
        """Count how many reports say that each option was ticked."""
        return np.asarray(reported.sum(axis=0, dtype=np.int64))
