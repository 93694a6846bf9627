"""Rows a block at a time, kept as small whole numbers: what a method holds of a large table beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from engine import arrays

if TYPE_CHECKING:
    import pandas as pd

ROWS = 2**16
"""Rows of a block: what is worked out between two sums stays near the processor."""


def blocks(n: int, *, at_most: int = ROWS) -> Iterator[slice]:
    """Yield the places of rows, a block at a time.

    Parameters
    ----------
    n
        How many rows there are.
    at_most
        Rows of a block, where much is worked out for each.

    Examples
    --------
    >>> [(one.start, one.stop) for one in blocks(100_000)]
    [(0, 65536), (65536, 100000)]
    """
    size = min(ROWS, at_most)
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def smallest_type(cells: int) -> type[np.unsignedinteger[Any]]:
    """Return the smallest kind of whole numbers that has one for each of so many cells.

    Examples
    --------
    >>> smallest_type(256).__name__, smallest_type(257).__name__
    ('uint8', 'uint16')
    """
    return next(kind for kind in (np.uint8, np.uint16, np.uint32) if cells <= np.iinfo(kind).max + 1)


def read(frame: pd.DataFrame, kind: type[np.integer[Any]], of: Callable[[pd.DataFrame], Any]) -> arrays.Whole:
    """Return a whole number for every row, shape (n,), worked out a block at a time.

    Parameters
    ----------
    frame
        A table.
    kind
        Of whole numbers, in which every answer has room.
    of
        From rows to their numbers; each follows from its row alone.
    """
    found = np.empty(len(frame), dtype=kind)
    for rows in blocks(len(frame)):
        found[rows] = of(frame.iloc[rows])
    return found
