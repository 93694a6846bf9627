"""Centres of groups: a noisy grid to start from, then noisy sums about published centres."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, isqrt, sqrt

import numpy as np

from engine import arrays
from engine.methods.models.division import Division, Query, exchanged
from engine.privacy.noise import Noise

Floats = arrays.Floats
Integers = arrays.Integers

GRID, COUNTS, SUMS = "grid", "counts", "sums"
SHARES = {GRID: 0.4, COUNTS: 0.12, SUMS: 0.48}
TURNS = 3
PER_SIDE = 1 << 10
RADIUS = PER_SIDE // 2
"""A row counts as no further from its centre than this: a quarter of a declared range."""
MOST_CELLS = 200_000
STARTS, SWAPS, ROUNDS = 20, 6, 50
FINE = 10
"""From so many cells along each column on, rare rows are spread over cells that hardly stand out."""
_CHUNK = 2**14


@dataclass(frozen=True)
class CentresPlan:
    """Grid, steps and noise: from public numbers alone.

    Parameters
    ----------
    columns, groups
        How many of each.
    epsilon, delta
        Of everything together; δ = 0 for noise of the Laplace kind.
    rows_per_person
        The cap.
    replace_one
        Whether neighbouring tables exchange a person.
    about_rows
        Roughly how many rows there are; public.

    Notes
    -----
    A row is in one cell of the grid; in every step it is in one group, to whose sum it adds its way from the
    centre, kept within a length of `RADIUS`. Published forms add positions instead of ways, which moves a sum
    by up to √columns, and give count and sum a whole budget each.
    """

    columns: int
    groups: int
    epsilon: Fraction
    delta: Fraction
    rows_per_person: int
    replace_one: bool
    about_rows: int

    @cached_property
    def per_side(self) -> int:
        """Cells of the grid along each column."""
        level = Division((), self.epsilon, self.delta, self.replace_one).level
        told = sqrt(SHARES[GRID]) * level if self.delta else SHARES[GRID] * level / sqrt(2)
        rows = self.about_rows / (self.rows_per_person * (2 if self.replace_one else 1))
        wanted = round((rows * told / 5) ** (2 / (2 + self.columns)))
        return int(min(wanted, MOST_CELLS ** (1 / self.columns), PER_SIDE))

    @property
    def needed_rows(self) -> int:
        """Rows from which on the grid has two cells along each column."""
        level = Division((), self.epsilon, self.delta, self.replace_one).level
        told = sqrt(SHARES[GRID]) * level if self.delta else SHARES[GRID] * level / sqrt(2)
        least = 5 / told * 1.5 ** ((2 + self.columns) / 2)
        return ceil(least * self.rows_per_person * (2 if self.replace_one else 1))

    @cached_property
    def division(self) -> Division:
        """How the budget is divided."""
        rows, times = self.rows_per_person, 2 if self.replace_one else 1
        ways = Query(SUMS, rows * isqrt(self.columns * RADIUS**2), rows**2 * RADIUS**2, SHARES[SUMS], TURNS)
        queries = (
            Query(GRID, times * rows, times * rows**2, SHARES[GRID]),
            Query(COUNTS, times * rows, times * rows**2, SHARES[COUNTS], TURNS),
            exchanged(ways, replace_one=self.replace_one),
        )
        return Division(queries, self.epsilon, self.delta, self.replace_one).borne_out()

    @property
    def stands_out(self) -> float:
        """Standard deviations of its noise from which on a cell of the grid counts.

        A higher limit leaves out rare rows far from all others, which weigh most, and a lower one takes noise
        for groups. On fine grids with Gaussian noise the first is worse, otherwise the second.
        """
        return 1.5 if self.delta and self.per_side >= FINE else 2.5

    @property
    def sum_noise(self) -> float:
        """Standard deviation of the noise of a sum, half of a declared range being 1."""
        return self.division.deviation(SUMS) / PER_SIDE

    @property
    def told(self) -> dict[str, str]:
        """What a released model says of the noise."""
        return {
            "distribution": "discrete_gaussian" if self.delta else "discrete_laplace",
            "deviation_of_cells": f"{self.division.deviation(GRID):.6g}",
            "deviation_of_counts": f"{self.division.deviation(COUNTS):.6g}",
            "deviation_of_sums": f"{self.sum_noise:.6g}",
        }


@dataclass(frozen=True)
class Centres:
    """Centres in steps of 1/1024 of half a range, shape (groups, columns), and noisy rows of each."""

    centres: Integers
    rows: Floats


def fit(rows: Integers, plan: CentresPlan, *, noise: Noise) -> Centres:
    """Find centres of rows.

    Parameters
    ----------
    rows
        In steps of 1/1024 of half a declared range, from −1024 to 1024, shape (n, columns).
    plan
        Grid, steps, noise.
    """
    grid = plan.division.noisy(GRID, _grid(rows, plan), noise).astype(np.float64)
    centres = _started(grid, plan)
    counts = np.zeros(plan.groups)
    for _ in range(TURNS):
        exact_counts, exact_sums = _steps(rows, centres)
        counts = plan.division.noisy(COUNTS, exact_counts, noise).astype(np.float64)
        ways = plan.division.noisy(SUMS, exact_sums.ravel(), noise).astype(np.float64)
        enough = counts > 3 * plan.division.deviation(COUNTS)
        moved = centres + ways.reshape(centres.shape) / np.maximum(counts, 1.0)[:, None]
        moved = np.clip(np.rint(moved), -PER_SIDE, PER_SIDE).astype(np.int64)
        centres = np.where(enough[:, None], moved, centres)
    return Centres(centres, counts)


def _grid(rows: Integers, plan: CentresPlan) -> Integers:
    """Return how many rows are in every cell."""
    side = plan.per_side
    places = np.minimum((rows + PER_SIDE) * side // (2 * PER_SIDE), side - 1)
    cells = places @ side ** np.arange(plan.columns)[::-1]
    return np.bincount(cells.astype(np.int64), minlength=side**plan.columns).astype(np.int64)


def _steps(rows: Integers, centres: Integers) -> tuple[Integers, Integers]:
    """Return, of the rows nearest to each centre, how many there are and the sum of their ways from it.

    Notes
    -----
    Distances are whole numbers, and a way is cut to length by itself: what a row adds follows from the row
    and the centres alone. Cut numbers are rounded towards 0, so that no way is longer than `RADIUS`.
    """
    counts = np.zeros(len(centres), dtype=np.int64)
    sums = np.zeros(centres.shape, dtype=np.int64)
    for start in range(0, len(rows), _CHUNK):
        chunk = rows[start : start + _CHUNK]
        ways = chunk[:, None, :] - centres
        own = (ways * ways).sum(axis=2).argmin(axis=1)
        way = ways[np.arange(len(chunk)), own]
        long = np.sqrt((way * way).sum(axis=1).astype(np.float64))
        cut = np.trunc(way * np.minimum(1.0, RADIUS / np.maximum(long, 1.0))[:, None]).astype(np.int64)
        counts += np.bincount(own, minlength=len(centres))
        np.add.at(sums, own, cut)
    return counts, sums


def _started(grid: Floats, plan: CentresPlan) -> Integers:
    """Return centres from a noisy grid: weighted k-means on the cells that stand out, best of some starts.

    What is read is noisy or declared, so all of this costs nothing.
    """
    kept = np.flatnonzero(grid > plan.stands_out * plan.division.deviation(GRID))
    if len(kept) < plan.groups:
        kept = np.sort(np.argsort(-grid, kind="stable")[: max(plan.groups, 1)])
    weights = np.maximum(grid[kept], 1e-9)
    width = 2 * PER_SIDE / plan.per_side
    places = np.stack(np.unravel_index(kept, (plan.per_side,) * plan.columns), axis=1)
    cells: Floats = np.asarray(-PER_SIDE + (places + 0.5) * width, dtype=np.float64)
    tried = [
        _settled(cells, weights, _spread_out(cells, weights, first, plan.groups))
        for first in _firsts(weights)
    ]
    best = _swapped(cells, weights, min(tried, key=lambda one: one[0]))[1]
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


def _swapped(cells: Floats, weights: Floats, found: tuple[float, Floats]) -> tuple[float, Floats]:
    """Return what is left after one centre at a time went where most is missing, as long as that helps."""
    for _ in range(SWAPS):
        tried = [found]
        for gone in range(len(found[1])):
            rest = np.delete(found[1], gone, axis=0)
            apart = ((cells[:, None, :] - rest) ** 2).sum(axis=2).min(axis=1)
            farthest = cells[int(np.argmax(weights * apart))]
            tried.append(_settled(cells, weights, np.vstack([rest, farthest])))
        best = min(tried, key=lambda one: one[0])
        if best is found:
            break
        found = best
    return found


def _settled(cells: Floats, weights: Floats, centres: Floats) -> tuple[float, Floats]:
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
