"""What the noise door counts, and what a mechanism declares that it asks of it."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple


class Draw(NamedTuple):
    """One call of the noise door: which sampler, with which exact parameter, and whole numbers besides."""

    sampler: str
    parameter: Fraction
    shape: tuple[int, ...] = ()
