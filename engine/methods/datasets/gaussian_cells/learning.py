"""From rows to noisy sums of groups: every look at a row is one of at most two noisy questions."""

from __future__ import annotations

import numpy as np

from engine import arrays
from engine.methods.datasets.gaussian_cells.counted import Rows, grid_counts, group_sums
from engine.methods.datasets.gaussian_cells.plan import CELLS, PLACES, Plan
from engine.methods.datasets.gaussian_cells.shapes import Model, model_of
from engine.methods.shared.grid_centres import PER_SIDE, centres_of
from engine.privacy.noise import Noise
from engine.progress import SILENT, Progress

Floats = arrays.Floats
Integers = arrays.Integers

STANDS_OUT = 2.5
"""Deviations of its noise from which on a cell of a grid counts."""


def learn(rows: Rows, plan: Plan, *, noise: Noise, progress: Progress = SILENT) -> Model:
    """Return the model of rows.

    Parameters
    ----------
    rows
        As read.
    plan
        How the budget is divided.

    Notes
    -----
    Groups in every set, from noisy counts of a grid, where there is room for more than one; then the sums of
    all groups, all sets and all classes in one question.
    """
    progress.step(0.0, "synthesis.fit")
    sets, centres = plan.sets, middles(rows, plan, noise)
    progress.step(0.6, "synthesis.fit")
    found = [
        group_sums(rows, columns, own, classes=plan.classes)
        for columns, own in zip(sets, centres, strict=True)
    ]
    exact = np.concatenate([one.ravel() for one in found])
    noisy = plan.division.noisy(CELLS, exact, noise) / PER_SIDE**2
    parts = np.split(noisy, np.cumsum([one.size for one in found])[:-1])
    sums = [
        part.reshape(plan.classes, len(own), -1) for part, own in zip(parts, centres, strict=True)
    ]  # nothing after this line has seen a row
    deviation = plan.deviation(CELLS)
    each = plan.rows_per_person
    return model_of(sets, sums, centres, group_rows=plan.group_rows, deviation=deviation, each=each)


def middles(rows: Rows, plan: Plan, noise: Noise) -> list[Integers]:
    """Return the centres of the groups of every set: one group has its centre in the middle of the ranges."""
    sets = plan.sets
    if plan.groups == 1:
        return [np.zeros((1, len(one)), dtype=np.int64) for one in sets]
    sides = [plan.per_side(len(one)) for one in sets]
    grids = [grid_counts(rows, columns, per_side=side) for columns, side in zip(sets, sides, strict=True)]
    noisy = plan.division.noisy(PLACES, np.concatenate(grids), noise).astype(np.float64)
    parts = np.split(noisy, np.cumsum([one.size for one in grids])[:-1])
    return [
        centres_of(
            grid,
            limit=STANDS_OUT * plan.deviation(PLACES),
            per_side=side,
            shape=(min(plan.groups, grid.size), len(columns)),
        )
        for grid, side, columns in zip(parts, sides, sets, strict=True)
    ]
