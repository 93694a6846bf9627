"""Axes: where they begin and end, which values stand on them, and where a value lies."""

from __future__ import annotations

import math
from collections.abc import Iterable

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


def span(values: Iterable[float]) -> tuple[float, float]:
    """Return limits a little beyond the finite values, never of zero width.

    Examples
    --------
    >>> span((0.0, 10.0))
    (0.0, 10.4)
    """
    finite = [value for value in values if math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    room = (high - low) * 0.04 or abs(high) * 0.04 or 1.0
    return (0.0 if low == 0 else low - room), high + room


def ticks(low: float, high: float, *, most: int = 6, whole: bool = False) -> tuple[float, ...]:
    """Return round values between two limits, at most about as many as asked for; whole ones, if wished.

    Examples
    --------
    >>> ticks(0.0, 10.4)
    (0.0, 2.0, 4.0, 6.0, 8.0, 10.0)
    >>> ticks(1, 4), ticks(1, 4, whole=True)
    ((1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0), (1.0, 2.0, 3.0, 4.0))
    """
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(step * power for step in STEPS if step * power >= raw * 0.999999)
    if whole:
        step = float(math.ceil(step - 1e-9))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return tuple(float(f"{number * step:.12g}") for number in range(first, last + 1))


class Scale:
    """From values to places: linear, infinite values at the ends."""

    def __init__(self, limits: tuple[float, float], places: tuple[float, float]) -> None:
        self.low, self.high = limits
        self.start, self.end = places

    def __call__(self, value: float) -> float:
        if not math.isfinite(value):
            return self.end if value > 0 else self.start
        share = min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)
        return self.start + share * (self.end - self.start)
