"""Fewer cells for a column, decided by its noisy table alone."""

from __future__ import annotations

import numpy as np

from engine import arrays

Codes = arrays.Integers
Floats = arrays.Floats


def groups(counts: Floats, most: int, *, ordered: int) -> Codes:
    """Return for every cell of a column its group, at most ``most`` of them.

    Parameters
    ----------
    counts
        Noisy counts of the cells; negative ones are read as 0.
    most
        At least 2.
    ordered
        So many of the first cells have an order: neighbours are put together, a heavy cell stays alone. The
        others, and all cells of a column without an order (0), are put together by how rare they are.

    Examples
    --------
    >>> groups(np.array([50.0, 1, 2, 40, 3]), 3, ordered=0).tolist()
    [0, 2, 2, 1, 2]
    >>> groups(np.array([5.0, 5, 90, 5, 5]), 3, ordered=5).tolist()
    [0, 0, 1, 2, 2]
    """
    weights = np.maximum(counts, 0) + 1e-9
    size = len(weights)
    if size <= most:
        return np.arange(size)
    if not ordered:
        kept = np.sort(np.argsort(-weights, kind="stable")[: most - 1])
        found = np.full(size, most - 1)
        found[kept] = np.arange(most - 1)
        return found
    line = _along(weights[:ordered], most - (1 if ordered < size else 0))
    return np.concatenate([line, np.full(size - ordered, line[-1] + 1)])


def join_rare(counts: Floats, least: float, *, ordered: int) -> Codes:
    """Return for every cell of a column its group: cells of fewer rows than ``least`` are put together.

    Parameters
    ----------
    counts
        Noisy counts of the cells.
    least
        Rows from which on a cell stays alone.
    ordered
        So many of the first cells have an order: there a rare cell joins its neighbours until they are as
        many. The others join all rare ones.

    Examples
    --------
    >>> join_rare(np.array([50.0, 1, 2, 40, 3]), 10.0, ordered=0).tolist()
    [0, 2, 2, 1, 2]
    >>> join_rare(np.array([50.0, 40, 6, 5, 2, 1, 30, 4]), 10.0, ordered=6).tolist()
    [0, 1, 2, 2, 2, 2, 3, 4]
    """
    found, group, filled = np.zeros(len(counts), dtype=np.int64), 0, 0.0
    for place in range(ordered):
        if place and filled >= least:
            group, filled = group + 1, 0.0
        found[place] = group
        filled += max(float(counts[place]), 0.0)
    if 0 < filled < least and group:  # the last ones are too few for a group of their own
        found[:ordered] = np.minimum(found[:ordered], group - 1)
    common = np.flatnonzero(counts[ordered:] >= least) + ordered
    after = int(found[:ordered].max(initial=-1)) + 1
    found[ordered:] = after + len(common)
    found[common] = after + np.arange(len(common))
    return found


def _along(weights: Floats, most: int) -> Codes:
    """Cut a line of cells into groups of about equal weight."""
    found = np.zeros(len(weights), dtype=np.int64)
    group, filled, left = 0, 0.0, float(weights.sum())
    for place, weight in enumerate(weights):
        share = left / (most - group)
        begins = filled > 0 and (filled + weight / 2 > share) and group < most - 1
        if begins:
            left -= filled
            group, filled = group + 1, 0.0
        found[place] = group
        filled += weight
    return found
