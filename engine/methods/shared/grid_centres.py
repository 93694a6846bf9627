"""Centres of groups from a noisy grid of counts: nothing here sees a row."""

from __future__ import annotations

import numpy as np

from engine import arrays

Floats = arrays.Floats
Integers = arrays.Integers

PER_SIDE = 1 << 10
"""Steps of a number on either side of the middle of its declared range."""
STARTS, SWAPS, ROUNDS = 20, 6, 50


def centres_of(grid: Floats, *, limit: float, per_side: int, shape: tuple[int, int]) -> Integers:
    """Return centres from a noisy grid: weighted k-means on the cells that stand out, best of some starts.

    What is read is noisy or declared, so all of this costs nothing.

    Parameters
    ----------
    grid
        Noisy rows of every cell.
    limit
        Above it a cell stands out.
    per_side
        Cells along each column.
    shape
        How many groups and columns there are.

    Returns
    -------
    int64, shape (groups, columns)
        In steps.
    """
    groups, columns = shape
    kept = np.flatnonzero(grid > limit)
    if len(kept) < groups:
        kept = np.sort(np.argsort(-grid, kind="stable")[: max(groups, 1)])
    weights = np.maximum(grid[kept], 1e-9)
    width = 2 * PER_SIDE / per_side
    places = np.stack(np.unravel_index(kept, (per_side,) * columns), axis=1)
    cells: Floats = np.asarray(-PER_SIDE + (places + 0.5) * width, dtype=np.float64)
    tried = [
        _settle(cells, weights, _spread_out(cells, weights, first, groups)) for first in _firsts(weights)
    ]
    best = _swap(cells, weights, min(tried, key=lambda one: one[0]))[1]
    return np.clip(np.rint(best), -PER_SIDE, PER_SIDE).astype(np.int64)


def _firsts(weights: Floats) -> Integers:
    """Return the heaviest cells: a start for each."""
    return np.argsort(-weights, kind="stable")[:STARTS].astype(np.int64)


def _spread_out(cells: Floats, weights: Floats, first: int, groups: int) -> Floats:
    """Return a first centre and others, each where weight and distance from all before are largest."""
    centres = [cells[first]]
    apart = ((cells - cells[first]) ** 2).sum(axis=1)
    for _ in range(groups - 1):
        centres.append(cells[int(np.argmax(weights * apart))])
        apart = np.minimum(apart, ((cells - centres[-1]) ** 2).sum(axis=1))
    return np.array(centres)


def _swap(cells: Floats, weights: Floats, found: tuple[float, Floats]) -> tuple[float, Floats]:
    """Return what is left after one centre at a time went where most is missing, as long as that helps."""
    for _ in range(SWAPS):
        tried = [found]
        for gone in range(len(found[1])):
            rest = np.delete(found[1], gone, axis=0)
            apart = ((cells[:, None, :] - rest) ** 2).sum(axis=2).min(axis=1)
            farthest = cells[int(np.argmax(weights * apart))]
            tried.append(_settle(cells, weights, np.vstack([rest, farthest])))
        best = min(tried, key=lambda one: one[0])
        if best is found:
            break
        found = best
    return found


def _settle(cells: Floats, weights: Floats, centres: Floats) -> tuple[float, Floats]:
    """Return the weighted inertia and the centres after ordinary k-means from a start."""
    inertia = 0.0
    for _ in range(ROUNDS):
        apart = ((cells[:, None, :] - centres) ** 2).sum(axis=2)
        own = apart.argmin(axis=1)
        inertia = float((weights * apart.min(axis=1)).sum())
        total = np.bincount(own, weights=weights, minlength=len(centres))
        sums = np.stack([np.bincount(own, weights * one, len(centres)) for one in cells.T], axis=1)
        moved = np.where(total[:, None] > 0, sums / np.maximum(total, 1e-12)[:, None], centres)
        if np.array_equal(moved, centres):
            break
        centres = moved
    return inertia, centres
