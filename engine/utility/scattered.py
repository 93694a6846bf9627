"""Fixed ways of mixing rows up, so that candidates are judged beside the same comparison every time.

Nothing here protects anybody: the mixing is public, and what is made with it stays inside.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from engine import arrays

Places = arrays.Integers


def order(count: int, stream: int = 0) -> Places:
    """Return the numbers below ``count`` in an order without pattern, always the same for a stream.

    Examples
    --------
    >>> sorted(order(5).tolist()), bool((order(50) == order(50, 1)).all())
    ([0, 1, 2, 3, 4], False)
    """
    return np.argsort(_mix(count, stream), kind="stable").astype(np.int64)


def bootstrap_places(count: int, stream: int = 0) -> Places:
    """Return places as a bootstrap draws them: ``count`` of them below ``count``, with repetition.

    Examples
    --------
    >>> drawn = bootstrap_places(10_000)
    >>> bool(abs(len(np.unique(drawn)) / 10_000 - (1 - np.exp(-1))) < 0.02)
    True
    """
    return (_mix(count, stream) % np.uint64(max(count, 1))).astype(np.int64)


def _mix(count: int, stream: int) -> npt.NDArray[np.uint64]:
    """Mix the numbers below ``count``: SplitMix64 (Steele, Lea, Flood 2014)."""
    with np.errstate(over="ignore"):
        z = (np.arange(1, count + 1, dtype=np.uint64) + np.uint64(stream << 32)) * np.uint64(
            0x9E3779B97F4A7C15
        )
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))
