"""What the screen of risk asks the engine, and people by bands of group sizes, one beginning at the limit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.progress import SILENT, Progress

EDGES = (1, 2, 3, 5, 11, 20, 50, 100)


def group_sizes(table: Any, schema: Any, *, progress: Progress = SILENT) -> Any:
    """Return how many people are alone or among few."""
    from engine.risk.group_sizes import group_sizes as count

    return count(table, schema, progress=progress)


def measure(table: Any, schema: Any, *, limit: int, progress: Progress = SILENT) -> Any:
    """Return what each column causes, and whom few values single out."""
    from engine.risk.trying import risk_today

    return risk_today(table, schema, limit=limit, progress=progress)


def count_again(today: Any, changes: Mapping[str, int], *, progress: Progress = SILENT) -> Any:
    """Return who stands out with columns changed."""
    from engine.risk.trying import tried_with

    return tried_with(today.table, changes, limit=today.limit)


def count_matching(today: Any, *, progress: Progress = SILENT) -> Any:
    """Return who stands out if a missing value agrees with every value."""
    from engine.risk.trying import tried_matching

    return tried_matching(today.table, limit=today.limit, progress=progress)


def bands(sizes: Mapping[int, int], limit: int) -> list[tuple[int, int, int]]:
    """Return smallest and largest group size and people of each band; one band begins at the limit.

    Examples
    --------
    >>> bands({1: 3, 4: 8, 13: 13}, 4)
    [(1, 1, 3), (2, 2, 0), (3, 3, 0), (4, 4, 8), (5, 10, 0), (11, 13, 13)]
    """
    largest = max(sizes, default=1)
    edges = sorted({edge for edge in (*EDGES, limit) if edge <= largest})
    ends = [edge - 1 for edge in edges[1:]] + [largest]
    return [
        (low, high, sum(people for size, people in sizes.items() if low <= size <= high))
        for low, high in zip(edges, ends, strict=True)
    ]
