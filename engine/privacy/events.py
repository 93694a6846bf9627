"""Events: what happened to the data of one person, and what it costs. One class for each mechanism.

The accountant, privacy at risk, the evidence and the noise door know an event by this interface only. A new
mechanism is one module below ``engine/privacy/mechanisms`` with its class; a theorem that gives a bound
without noise of ours is a `engine.privacy.mechanisms.stated.Stated`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

from engine.errors import InputRefused
from engine.privacy.draw import Draw

if TYPE_CHECKING:
    from engine.privacy.at_risk.loss import PrivacyLoss

_UP = Fraction(1, 10**9)  # relative, added to what was computed in floating point


class Neighbours(StrEnum):
    """Which two data sets are neighbouring: one unit added or removed, or one exchanged for another."""

    ADD_REMOVE = "add_remove"
    REPLACE_ONE = "replace_one"


class Event(ABC):
    """What was done to the data. Frozen, hashable, with a JSON form.

    Notes
    -----
    `Sequential` and `Parallel` hold other events. Every other event is a *mechanism*: it has a ``count`` (how
    often it ran on the same people) and answers the questions of the accountant.
    """

    word: ClassVar[str]
    """Its name in JSON, and in the texts ``report.mechanisms.WORD``."""

    @abstractmethod
    def epsilon(self) -> Fraction | None:
        """Return the pure ε of all runs together, exactly or rounded up; None where a δ is needed."""

    @abstractmethod
    def drawn(self) -> Counter[Draw]:
        """Return what all runs ask of the noise door."""

    @abstractmethod
    def exchanged(self) -> Event:
        """Return an event whose loss covers removing one unit and adding another."""

    @abstractmethod
    def leaves(self, *, disjoint: bool = False) -> Iterator[tuple[Mechanism, bool]]:
        """Give every mechanism, and whether it reads people of its own."""

    @abstractmethod
    def together(self, neighbours: Neighbours) -> tuple[Mechanism, ...]:
        """Return mechanisms that, one after the other, lose at least what the event loses.

        Raises
        ------
        InputRefused
            ``accounting.parallel_replace_one``: a person who is exchanged touches two parts.
        """


@dataclass(frozen=True, kw_only=True)
class Mechanism(Event):
    """One mechanism, run ``count`` times on the same people, one after the other."""

    count: int = 1

    def __post_init__(self) -> None:
        if self.count < 0 or not self.is_sound():
            raise InputRefused("accounting.unknown_event")

    @abstractmethod
    def is_sound(self) -> bool:
        """Say whether the numbers of the event make sense."""

    @abstractmethod
    def loss(self) -> tuple[PrivacyLoss, int] | None:
        """Return the privacy loss of one step and how many steps one run takes; None where none is known."""

    @property
    def knows_loss(self) -> bool:
        """Whether `loss` is the distribution of this mechanism's own loss, for its worst pair.

        A stand-in that dominates it bounds δ, and says nothing of how often the loss stays within some ε.
        """
        return True

    @property
    def is_exact(self) -> bool:
        """Whether `loss` bounds every change that one unit can make. Where not, `stand_in` may."""
        return True

    def stand_in(self) -> tuple[Mechanism, float] | None:
        """Return a mechanism whose known loss bounds this one's, and what to add to ε and to δ besides."""
        return self, 0.0

    def stated(self) -> tuple[Fraction, Fraction] | None:
        """Return the (ε, δ) of all runs where they add up; None where only a whole curve is known."""
        epsilon = self.epsilon()
        return None if epsilon is None else (epsilon, Fraction(0))

    def delta(self, epsilon: Fraction) -> float:
        """Return a δ that one run certainly has at ε."""
        each = self.single().epsilon()
        return 0.0 if each is not None and epsilon >= each else 1.0

    def concentrated(self) -> Fraction | None:
        """Return the ρ of all runs: ½ε² each, by Bun and Steinke (2016), proposition 1.4."""
        each = self.single().epsilon()
        return None if each is None else self.count * each**2 / 2

    def reach(self) -> float:
        """Return about how far the loss of one run goes."""
        return float(self.single().epsilon() or 0)

    def single(self) -> Self:
        """Return one run of it; equal for all events with equal losses."""
        return replace(self, count=1)

    def leaves(self, *, disjoint: bool = False) -> Iterator[tuple[Mechanism, bool]]:
        yield self, disjoint

    def together(self, neighbours: Neighbours) -> tuple[Mechanism, ...]:
        return (self,)


@dataclass(frozen=True)
class Additive(Mechanism):
    """Noise that is added to an answer.

    Parameters
    ----------
    scale
        Scale b of Laplace noise, standard deviation σ of Gaussian noise, above 0.
    sensitivity
        Largest change of the whole answer between neighbouring data sets, in the units of the noise (for the
        discrete mechanisms the integer grid): L1 for Laplace, L2 for Gaussian noise.
    grid
        The value of one integer step of the discrete mechanisms in the units of the answer.
    """

    scale: Fraction
    sensitivity: Fraction
    grid: Fraction = Fraction(1)

    def is_sound(self) -> bool:
        return self.scale > 0 and self.sensitivity >= 0

    def single(self) -> Self:
        return replace(self, count=1, grid=Fraction(1))

    def exchanged(self) -> Self:
        return replace(self, sensitivity=2 * self.sensitivity)


@dataclass(frozen=True)
class Several(Event):
    """Parts of one event, whatever it says about the people that they read."""

    parts: tuple[Event, ...]

    def __post_init__(self) -> None:
        if not all(isinstance(part, Event) for part in self.parts):
            raise InputRefused("accounting.unknown_event")

    def exchanged(self) -> Event:
        return Sequential(tuple(part.exchanged() for part in self.parts))

    def drawn(self) -> Counter[Draw]:
        return sum((part.drawn() for part in self.parts), Counter())

    def leaves(self, *, disjoint: bool = False) -> Iterator[tuple[Mechanism, bool]]:
        for part in self.parts:
            yield from part.leaves(disjoint=disjoint or isinstance(self, Parallel))


class Sequential(Several):
    """Parts that read the same people: losses add up. Dwork and Roth (2014), theorem 3.16."""

    word = "sequential"

    def epsilon(self) -> Fraction | None:
        return _sum(part.epsilon() for part in self.parts)

    def together(self, neighbours: Neighbours) -> tuple[Mechanism, ...]:
        return tuple(leaf for part in self.parts for leaf in part.together(neighbours))


class Parallel(Several):
    """Parts that read disjoint people: the largest loss counts, under add/remove. McSherry 2009, th. 4."""

    word = "parallel"

    def epsilon(self) -> Fraction | None:
        levels = [part.epsilon() for part in self.parts]
        return (
            None
            if None in levels
            else max((level for level in levels if level is not None), default=Fraction(0))
        )

    def exchanged(self) -> Event:
        # The two units may be in two parts, or both in the worst one.
        return Sequential(tuple(leaf.exchanged() for leaf in self.together(Neighbours.ADD_REMOVE)))

    def together(self, neighbours: Neighbours) -> tuple[Mechanism, ...]:
        if neighbours == "replace_one":
            raise InputRefused("accounting.parallel_replace_one")
        parts = [part.together(neighbours) for part in self.parts]
        if all(part == parts[0] for part in parts[1:]):
            return parts[0] if parts else ()
        covering = next((part for part in parts if _covers(part, parts)), None)
        if covering is not None:
            return covering
        # The part with the largest ε need not have the worst curve below it: the sum of all holds
        return tuple(leaf for part in parts for leaf in part)


def _covers(part: tuple[Mechanism, ...], parts: Sequence[tuple[Mechanism, ...]]) -> bool:
    """Say whether (ε, δ) of a part holds for all, and is all that anybody uses of it.

    Its mechanisms have to fail with a δ each: then their levels are added up, and no distribution is made of
    them that could be smaller than that of another part.
    """
    stated = [leaf.stated() for leaf in part]
    if not stated or any(pair is None or pair[1] == 0 for pair in stated):
        return False
    own = _pair(part)
    return own is not None and all(_is_within(other, own) for other in parts)


def _is_within(part: tuple[Mechanism, ...], own: tuple[Fraction, Fraction]) -> bool:
    """Say whether a part has (ε, δ): by what it states, or else by the ρ of its mechanisms."""
    pair = _pair(part)
    if pair is not None:
        return pair[0] <= own[0] and pair[1] <= own[1]
    from engine.privacy.gaussian import concentrated_delta  # on first use: it brings numpy along

    parts = [leaf.concentrated() for leaf in part]
    known = [rho for rho in parts if rho is not None]
    if len(known) < len(parts):
        return False
    return concentrated_delta(rho=float(sum(known)), epsilon=float(own[0])) <= float(own[1])


def _pair(part: tuple[Mechanism, ...]) -> tuple[Fraction, Fraction] | None:
    """Return Σ ε and Σ δ of mechanisms that state both."""
    stated = [leaf.stated() for leaf in part]
    known = [pair for pair in stated if pair is not None]
    if len(known) < len(stated):
        return None
    return sum((one for one, _ in known), Fraction(0)), sum((two for _, two in known), Fraction(0))


def _sum(levels: Iterator[Fraction | None]) -> Fraction | None:
    total = Fraction(0)
    for level in levels:
        if level is None:
            return None
        total += level
    return total


def rounded_up(value: float) -> Fraction:
    """Return a computed value as a fraction, rounded up."""
    return Fraction(value) * (1 + _UP)


def exchanged_delta(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return (1 + e^ε)δ, rounded up and at most 1. Vadhan (2017), lemma 2.2, for a group of two."""
    if delta == 0 or epsilon > 500:
        return Fraction(delta > 0)
    return min(Fraction(1), (1 + rounded_up(math.exp(epsilon))) * delta)
