"""Which exact sums over known sets of people give away what one of them adds: decided by the sets alone."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from engine import arrays

Integers = arrays.Integers
_PRIMES = (2**31 - 1, 2**31 - 19)
"""Sums are told apart modulo both: products fit 64 bits, and what one alone takes for secret is refused."""


class Verdict(StrEnum):
    """What is done with a sum."""

    ANSWERED = "answered"
    FOLLOWS = "follows"
    REFUSED = "refused"
    TOO_MANY = "too_many"


class SumAudit:
    """Sums that were answered, as the span of their sets.

    Parameters
    ----------
    sizes
        How many people every class has. People of one class are in the same sets, whatever is asked: they
        are equal in all columns that conditions may use.
    most
        So many sums that do not follow from each other are answered, no more.

    Notes
    -----
    What one person adds follows from sums if and only if the vector with a 1 for them alone is in the span
    of the vectors of the sets; it then is a row of the reduced echelon form, which has no other numbers in
    its pivots. People who share a class are never told apart. No value is read, so that a refusal says
    nothing that the sets do not say: it is simulatable (Kenthapadi, Mishra and Nissim 2005).

    Sources: F. Y. Chin and G. Özsoyoğlu, "Auditing and inference control in statistical databases", IEEE
    Transactions on Software Engineering 8 (1982), for sums; K. Kenthapadi, N. Mishra, K. Nissim, "Simulatable
    auditing", PODS 2005.

    Examples
    --------
    >>> audit = SumAudit(np.array([1, 1, 1]), most=3)
    >>> [str(audit.ask(np.array(one, dtype=bool))) for one in ([1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0])]
    ['answered', 'answered', 'refused', 'follows']
    """

    def __init__(self, sizes: Integers, *, most: int) -> None:
        self._alone = np.asarray(sizes) == 1
        self._most = most
        self._spans = [_Span(len(sizes), prime) for prime in _PRIMES]

    @property
    def rank(self) -> int:
        """How many sums were answered that do not follow from others."""
        return len(self._spans[0].pivots)

    def ask(self, inside: arrays.Bools) -> Verdict:
        """Decide about the sum over a set of classes, and remember it if it is answered."""
        vector = np.asarray(inside, dtype=np.int64)
        new = [span.reduced(vector) for span in self._spans]
        if all(left is None for left in new):
            return Verdict.FOLLOWS
        if self.rank >= self._most:
            return Verdict.TOO_MANY
        grown = [
            span if left is None else span.with_row(left) for span, left in zip(self._spans, new, strict=True)
        ]
        if any(span.tells_one(self._alone) for span in grown):
            return Verdict.REFUSED
        self._spans = grown
        return Verdict.ANSWERED


class _Span:
    """Rows of a reduced echelon form modulo a prime."""

    def __init__(
        self, width: int, prime: int, rows: Integers | None = None, pivots: Sequence[int] = ()
    ) -> None:
        self.prime, self.pivots = prime, list(pivots)
        self.rows = np.zeros((0, width), dtype=np.int64) if rows is None else rows

    def reduced(self, vector: Integers) -> Integers | None:
        """Return what is left of a vector beside the rows, with a leading 1; None where nothing is."""
        left = vector % self.prime
        factors = left[self.pivots]
        for place in np.flatnonzero(factors):
            left = (left - factors[place] * self.rows[place]) % self.prime
        first = np.flatnonzero(left)
        if not first.size:
            return None
        return np.asarray(left * pow(int(left[first[0]]), -1, self.prime) % self.prime)

    def with_row(self, row: Integers) -> _Span:
        """Return the rows with one more."""
        pivot = int(np.flatnonzero(row)[0])
        factors = self.rows[:, pivot]
        kept = (self.rows - factors[:, None] * row) % self.prime if factors.any() else self.rows
        return _Span(len(row), self.prime, np.vstack([kept, row]), [*self.pivots, pivot])

    def tells_one(self, alone: arrays.Bools) -> bool:
        """Say whether a row stands for one person alone."""
        single = np.count_nonzero(self.rows, axis=1) == 1
        return bool(alone[np.asarray(self.pivots)[single]].any()) if single.any() else False
