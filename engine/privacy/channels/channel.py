"""What every channel has: its lot, its odds, what it tells of shares, and its exact matrix."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from engine import arrays
from engine.privacy.mechanisms.local_response import LocalResponse

RANGE = 2**32
"""A browser draws whole numbers below this: so many tickets at most."""

Truth = tuple[int, ...]
"""What a person chose: one place, or several of them."""
Array = arrays.Anything
KINDS: dict[str, type[Channel]] = {}
"""Every channel by its kind."""


class Shares(NamedTuple):
    """How reports tell shares: those who have an answer name it with probability ``own``, others ``other``.

    Notes
    -----
    With c of n reports naming it, (c/n − q)/(p − q) is right on average.
    """

    own: Fraction
    other: Fraction

    @property
    def gap(self) -> Fraction:
        """p − q."""
        return self.own - self.other

    @property
    def moved(self) -> Fraction:
        """How far a share moves, at most, for each part of the reports that is made up."""
        return max(1 - self.other, self.own) / self.gap

    def variance(self, share: Fraction | float, *, population: bool) -> float:
        """Return n times the variance of an estimated share, given the true one.

        Of the share among those who answered only lots are uncertain; of the population's those who answered
        are, too.
        """
        p, q = float(self.own), float(self.other)
        if population:
            named = q + (p - q) * float(share)
            return named * (1 - named) / (p - q) ** 2
        return float(share * p * (1 - p) + (1 - share) * q * (1 - q)) / (p - q) ** 2


@dataclass(frozen=True)
class Channel(ABC):
    """How an answer is changed: ``hit`` of ``tickets`` lead to an outcome that the true answer marks."""

    kind: ClassVar[str]

    hit: int
    tickets: int

    def __init_subclass__(cls) -> None:
        KINDS[cls.kind] = cls

    @property
    @abstractmethod
    def marked(self) -> int:
        """How many outcomes a true answer marks."""

    @property
    @abstractmethod
    def unmarked(self) -> int:
        """How many outcomes it does not mark."""

    @property
    def odds(self) -> Fraction:
        """How many times as likely one outcome is with one true answer as with another, at most."""
        return Fraction(self.hit * self.unmarked, (self.tickets - self.hit) * self.marked)

    @property
    def event(self) -> LocalResponse:
        """What protects the answer, for the accountant."""
        return LocalResponse(self.odds)

    @property
    def fits(self) -> bool:
        """Whether the numbers make a channel that protects and tells something."""
        whole = all(isinstance(getattr(self, part.name), int) for part in fields(self))
        return whole and 0 < self.hit < self.tickets <= RANGE and self.is_sound() and self.odds > 1

    @abstractmethod
    def is_sound(self) -> bool:
        """Say whether there are such outcomes."""

    @abstractmethod
    def truths(self) -> Iterator[Truth]:
        """Give everything that a person may choose."""

    @abstractmethod
    def outcomes(self) -> Iterator[Truth]:
        """Give every outcome, as the numbers that a report writes."""

    @abstractmethod
    def marks(self, truth: Truth, outcome: Truth) -> bool:
        """Say whether a true answer marks an outcome."""

    def chance(self, truth: Truth, outcome: Truth) -> Fraction:
        """Return the exact probability of an outcome, given the true answer."""
        if self.marks(truth, outcome):
            return Fraction(self.hit, self.tickets * self.marked)
        return Fraction(self.tickets - self.hit, self.tickets * self.unmarked)

    @property
    @abstractmethod
    def layout(self) -> tuple[int, int]:
        """How many numbers a report writes, and below what each of them is."""

    @property
    def ordered(self) -> bool:
        """Whether a report writes its numbers from the smallest to the largest, each once."""
        return False

    def possible(self, reported: Array) -> Array:
        """Say for each row of reported numbers, each below its bound, whether it is an outcome."""
        found = np.ones(len(reported), dtype=bool)
        if self.ordered:
            for place in range(reported.shape[1] - 1):  # column by column, which are few
                found &= reported[:, place] < reported[:, place + 1]
        return found

    def lots(self, epsilon: Fraction) -> Self:
        """Return the channel with the most telling lots whose odds are at most e^ε."""
        odds = math.exp(epsilon) * Fraction(self.marked, self.unmarked)
        hit = min(RANGE - 1, math.floor(RANGE * odds / (1 + odds)) + 1)
        made = replace(self, hit=hit, tickets=RANGE)
        while made.hit > 1 and made.odds > 1 and made.event.epsilon() > epsilon:
            made = replace(made, hit=made.hit - 1)
        return made


def level(channel: Channel) -> Fraction:
    """Return the ε of a channel, rounded up."""
    return channel.event.epsilon()


def channel_to_json(channel: Channel) -> dict[str, Any]:
    """Return a channel as JSON values: its kind and whole numbers, all that a page has to know."""
    return {"kind": channel.kind} | {part.name: getattr(channel, part.name) for part in fields(channel)}


def channel_from_json(tree: Mapping[str, Any]) -> Channel:
    """Read what `channel_to_json` wrote.

    Raises
    ------
    ValueError
        It is no channel, or one whose numbers protect nobody.
    """
    kind = KINDS.get(tree.get("kind", ""))
    if kind is None or set(tree) != {"kind", *(part.name for part in fields(kind))}:
        raise ValueError("no such channel")
    if any(type(value) is not int for name, value in tree.items() if name != "kind"):
        raise ValueError("no channel of whole numbers")  # truth is a whole number to Python
    made = kind(**{name: value for name, value in tree.items() if name != "kind"})
    if not made.fits:
        raise ValueError("no channel that protects")
    return made
