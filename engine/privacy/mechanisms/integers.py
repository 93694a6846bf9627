"""What the integer mechanisms share: adding noise without wrapping, and roots rounded against us."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from math import isqrt

import numpy as np

from engine import arrays
from engine.errors import InputRefused

Integers = arrays.Integers

_ROOM = 2**62
_LARGEST = 2**63 - 1


def root_above(square: int) -> Fraction:
    """Return a root rounded up to twelve places, exact for square numbers.

    Examples
    --------
    >>> root_above(9), float(root_above(2))
    (Fraction(3, 1), 1.414213562374)
    """
    root = isqrt(square)
    if root * root == square:
        return Fraction(root)
    return Fraction(isqrt(square * 10**24) + 1, 10**12)


Listener = Callable[[Integers, Integers], Integers]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Let a function answer in place of `add_noise` while this lasts, in this thread: to audit invented rows.

    The listener gets the exact sums and their noise. A release refuses to run while somebody listens.
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def overhearing(tell: Callable[[Integers], None], known: list[Integers] | None = None) -> Iterator[None]:
    """Tell a function every sum after its noise while this lasts, in this thread; never an exact one.

    The first sums are answered by what is ``known`` of them, which is taken from the list, and are not told.

    Raises
    ------
    InputRefused
        ``sums.other_totals``: what is known is of other sums.
    """
    before = _listener.get()

    def hear(values: Integers, draws: Integers) -> Integers:
        if known:
            if known[0].size != values.size:
                raise InputRefused("sums.other_totals")
            return known.pop(0).reshape(values.shape)
        answer = noisy(values, draws) if before is None else before(values, draws)
        tell(answer)
        return answer

    with listening(hear):
        yield


def is_listened() -> bool:
    """Whether somebody listens."""
    return _listener.get() is not None


def add_noise(values: Integers, draws: Integers) -> Integers:
    """Add noise without wrapping and without refusing: whether a sum fits would tell about rows."""
    listener = _listener.get()
    return noisy(values, draws) if listener is None else listener(values, draws)


def noisy(values: Integers, draws: Integers) -> Integers:
    """Return the sum of both, which nobody hears; see `add_noise`."""
    draws = draws.reshape(values.shape)
    if all(part.dtype.kind == "i" and _is_within(part, _ROOM) for part in (values, draws)):
        return np.asarray(values + draws, dtype=np.int64)
    sums = np.asarray(values, dtype=object) + np.asarray(draws, dtype=object)
    return np.asarray(np.clip(sums, -_LARGEST, _LARGEST), dtype=np.int64)  # of the noisy sums: reads no row


def _is_within(part: Integers, limit: int) -> bool:
    return part.size == 0 or max(abs(int(part.min())), abs(int(part.max()))) < limit
