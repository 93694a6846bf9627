"""Projective geometry response: for long lists a report is one short number that stands for many answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Self

import numpy as np

from engine.privacy.channels.channel import Array, Channel, Shares, Truth

BLOCK = 2**22  # products at once


@dataclass(frozen=True)
class Geometry(Channel):
    """Answers and outcomes are points of a projective space; marked are those on the answer's hyperplane.

    Parameters
    ----------
    answers
        How many there are: the first points.
    prime, dimension
        r and t: the points are lines through the origin of the t-dimensional space over the r residues.
    near
        1 where the points on the hyperplane are marked, 0 where those off it are.

    Notes
    -----
    Feldman, Nelson, Nguyen and Talwar (2022), section 3: K = (rᵗ − 1)/(r − 1) points, (rᵗ⁻¹ − 1)/(r − 1) of
    them on a hyperplane, (rᵗ⁻² − 1)/(r − 1) on two.
    """

    kind = "geometry"

    answers: int
    prime: int
    dimension: int
    near: int

    @classmethod
    def at(cls, answers: int, prime: int, dimension: int, near: int, epsilon: Fraction) -> Self:
        """Return the channel with an ε of at most this."""
        return cls(1, 2, answers, prime, dimension, near).lots(epsilon)

    @property
    def points(self) -> int:
        """How many outcomes there are."""
        return points(self.prime, self.dimension)

    @property
    def marked(self) -> int:
        on = points(self.prime, self.dimension - 1)
        return on if self.near else self.points - on

    @property
    def unmarked(self) -> int:
        return self.points - self.marked

    def shares(self) -> Shares:
        """Return how reports tell the share of one answer."""
        both = points(self.prime, self.dimension - 2)
        if not self.near:
            both += self.points - 2 * points(self.prime, self.dimension - 1)
        hit, miss = Fraction(self.hit, self.tickets), Fraction(self.tickets - self.hit, self.tickets)
        return Shares(hit, hit * both / self.marked + miss * (self.marked - both) / self.unmarked)

    def is_sound(self) -> bool:
        is_prime = self.prime > 1 and all(self.prime % one for one in range(2, isqrt(self.prime) + 1))
        return (
            is_prime and 2 <= self.dimension <= 40 and self.near in (0, 1) and 1 < self.answers <= self.points
        )

    def truths(self) -> Iterator[Truth]:
        return ((place,) for place in range(self.answers))

    def outcomes(self) -> Iterator[Truth]:
        return ((place,) for place in range(self.points))

    def marks(self, truth: Truth, outcome: Truth) -> bool:
        one, other = (self.vector(place) for place in (truth[0], outcome[0]))
        return (sum(a * b for a, b in zip(one, other, strict=True)) % self.prime == 0) == bool(self.near)

    def vector(self, place: int) -> tuple[int, ...]:
        """Return a point: zeros, a one, then the digits of its place among those that begin so."""
        free, size = 0, 1
        while place >= size:
            place, free, size = place - size, free + 1, size * self.prime
        digits = []
        for _ in range(free):
            place, digit = divmod(place, self.prime)
            digits.append(digit)
        return (*[0] * (self.dimension - free - 1), 1, *reversed(digits))

    @property
    def layout(self) -> tuple[int, int]:
        return 1, self.points

    def named(self, reported: Array) -> Array:
        """Count how many reports each answer marks: a product over the points that came."""
        counts = np.bincount(reported.ravel(), minlength=self.points)
        came = np.flatnonzero(counts)
        outcomes = np.array([self.vector(int(place)) for place in came], dtype=np.int64)
        answers = np.array([self.vector(place) for place in range(self.answers)], dtype=np.int64)
        outcomes = outcomes.reshape(len(came), self.dimension)
        found = np.empty(self.answers, dtype=np.int64)
        step = max(1, BLOCK // max(1, len(came)))
        for start in range(0, self.answers, step):
            on = (answers[start : start + step] @ outcomes.T) % self.prime == 0
            found[start : start + step] = (on == bool(self.near)) @ counts[came]
        return found


def points(prime: int, dimension: int) -> int:
    """Return (rᵗ − 1)/(r − 1), how many points a projective space has."""
    return sum(prime**power for power in range(dimension))
