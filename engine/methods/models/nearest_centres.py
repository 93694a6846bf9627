"""Centres of groups: a noisy grid to start from, then noisy sums about published centres."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, isqrt, sqrt

import numpy as np

from engine import arrays
from engine.methods.shared.blocks import blocks
from engine.methods.shared.division import Division, Query, cover_exchange
from engine.methods.shared.grid_centres import PER_SIDE as PER_SIDE
from engine.methods.shared.grid_centres import centres_of
from engine.privacy.noise import Noise

Floats = arrays.Floats
Integers = arrays.Integers

GRID, COUNTS, SUMS = "grid", "counts", "sums"
SHARES = {GRID: 0.4, COUNTS: 0.12, SUMS: 0.48}
TURNS = 3
RADIUS = PER_SIDE // 2
"""A row counts as no further from its centre than this: a quarter of a declared range."""
MOST_CELLS = 200_000
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
    turns
        How many steps follow the grid.

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
    turns: int = TURNS

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
        ways = Query(
            SUMS, rows * isqrt(self.columns * RADIUS**2), rows**2 * RADIUS**2, SHARES[SUMS], self.turns
        )
        queries = (
            Query(GRID, times * rows, times * rows**2, SHARES[GRID]),
            Query(COUNTS, times * rows, times * rows**2, SHARES[COUNTS], self.turns),
            cover_exchange(ways, replace_one=self.replace_one),
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


def fit(rows: arrays.Whole, plan: CentresPlan, *, noise: Noise) -> Centres:
    """Find centres of rows.

    Parameters
    ----------
    rows
        In steps of 1/1024 of half a declared range, from −1024 to 1024, shape (n, columns); of any size.
    plan
        Grid, steps, noise.
    """
    grid = plan.division.noisy(GRID, _grid(rows, plan), noise).astype(np.float64)
    centres = _started(grid, plan)
    counts = np.zeros(plan.groups)
    for _ in range(plan.turns):
        exact_counts, exact_sums = _steps(rows, centres)
        counts = plan.division.noisy(COUNTS, exact_counts, noise).astype(np.float64)
        ways = plan.division.noisy(SUMS, exact_sums.ravel(), noise).astype(np.float64)
        enough = counts > 3 * plan.division.deviation(COUNTS)
        moved = centres + ways.reshape(centres.shape) / np.maximum(counts, 1.0)[:, None]
        moved = np.clip(np.rint(moved), -PER_SIDE, PER_SIDE).astype(np.int64)
        centres = np.where(enough[:, None], moved, centres)
    return Centres(centres, counts)


def _grid(rows: arrays.Whole, plan: CentresPlan) -> Integers:
    """Return how many rows are in every cell."""
    side = plan.per_side
    found = np.zeros(side**plan.columns, dtype=np.int64)
    for block in blocks(len(rows)):
        places = np.minimum((rows[block].astype(np.int64) + PER_SIDE) * side // (2 * PER_SIDE), side - 1)
        found += np.bincount(places @ side ** np.arange(plan.columns)[::-1], minlength=found.size)
    return found


def _steps(rows: arrays.Whole, centres: Integers) -> tuple[Integers, Integers]:
    """Return, of the rows nearest to each centre, how many there are and the sum of their ways from it.

    Notes
    -----
    Distances are whole numbers, and a way is cut to length by itself: what a row adds follows from the row
    and the centres alone. Cut numbers are rounded towards 0, so that no way is longer than `RADIUS`. Doubles,
    because products are fast in them: all that is added up are whole numbers below 2^53, exact in any order.
    """
    counts = np.zeros(len(centres), dtype=np.int64)
    sums = np.zeros(centres.shape, dtype=np.int64)
    places = centres.astype(np.float64)
    for block in blocks(len(rows), at_most=_CHUNK):
        chunk = rows[block].astype(np.float64)
        # |row − centre|² without |row|², which is the same for every centre
        own = ((places**2).sum(axis=1) - 2 * chunk @ places.T).argmin(axis=1)
        way = chunk - places[own]
        long = np.sqrt((way * way).sum(axis=1))
        cut = np.trunc(way * np.minimum(1.0, RADIUS / np.maximum(long, 1.0))[:, None])
        counts += np.bincount(own, minlength=len(centres))
        by_column = [np.bincount(own, weights=one, minlength=len(centres)) for one in cut.T]
        sums += np.stack(by_column, axis=1).astype(np.int64)
    return counts, sums


def _started(grid: Floats, plan: CentresPlan) -> Integers:
    """Return centres from a noisy grid."""
    limit = plan.stands_out * plan.division.deviation(GRID)
    return centres_of(grid, limit=limit, per_side=plan.per_side, shape=(plan.groups, plan.columns))
