"""From rows to noisy sums of groups: every look at a row is one of at most three noisy questions."""

from __future__ import annotations

import numpy as np

from engine import arrays
from engine.methods.datasets.gaussian_cells.counted import Rows, grid_counts, group_sums
from engine.methods.datasets.gaussian_cells.plan import CELLS, MOST_TOGETHER, PLACES, SETS, Plan, Sets
from engine.methods.datasets.gaussian_cells.sets import sets_of
from engine.methods.datasets.gaussian_cells.shapes import Model, model_of
from engine.methods.shared.grid_centres import PER_SIDE, centres_of
from engine.methods.shared.less_noise import less_noisy
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
    Sets of columns where none were declared, from noisy products of all columns; groups in every set, from
    noisy counts of a grid; then the sums of all groups, all sets and all classes in one question.
    """
    progress.step(0.0, "synthesis.fit")
    sets = plan.known or sets_of(correlation(rows, plan, noise), most=MOST_TOGETHER)
    progress.step(0.3, "synthesis.fit")
    centres = middles(rows, plan, sets, noise)
    progress.step(0.6, "synthesis.fit")
    found = [
        group_sums(rows, columns, own, classes=plan.classes)
        for columns, own in zip(sets, centres, strict=True)
    ]
    exact = np.concatenate([one.ravel() for one in found])
    finer = plan.steps(CELLS, sets) // PER_SIDE**2
    noisy = plan.division.noisy(CELLS, exact * finer, noise) / (finer * PER_SIDE**2)
    parts = np.split(noisy, np.cumsum([one.size for one in found])[:-1])
    sums = [
        part.reshape(plan.classes, len(own), -1) for part, own in zip(parts, centres, strict=True)
    ]  # nothing after this line has seen a row
    deviation = plan.deviation(CELLS, sets)
    return model_of(sets, sums, centres, group_rows=plan.group_rows, deviation=deviation)


def correlation(rows: Rows, plan: Plan, noise: Noise) -> Floats:
    """Return noisy correlations, 0 where nothing stands out; a missing number is in the middle."""
    q, all_columns = plan.columns, tuple(range(plan.columns))
    middle = np.zeros((1, q), dtype=np.int64)
    everybody = Rows(rows.steps, np.zeros_like(rows.missing), np.zeros_like(rows.classes))
    exact = np.delete(group_sums(everybody, all_columns, middle, classes=1), np.arange(1, 1 + q))
    noisy = plan.division.noisy(SETS, exact, noise) / PER_SIDE**2
    count = max(float(noisy[0]), 1.0)
    mean, products = np.clip(noisy[1 : 1 + q] / count, -1.0, 1.0), np.zeros((q, q))
    products[np.triu_indices(q)] = noisy[1 + q :] / count
    plain = np.triu(products) + np.triu(products, 1).T - np.outer(mean, mean)
    deviation = plan.division.deviation(SETS) / PER_SIDE**2 / count
    covariance = less_noisy(plain, (0,) * q, noise=deviation)
    spread = np.sqrt(np.maximum(np.diag(covariance), 1e-6))
    return np.asarray(np.clip(covariance / np.outer(spread, spread), -1.0, 1.0))


def middles(rows: Rows, plan: Plan, sets: Sets, noise: Noise) -> list[Integers]:
    """Return the centres of the groups of every set: one group has its centre in the middle of the ranges."""
    if plan.groups == 1:
        return [np.zeros((1, len(one)), dtype=np.int64) for one in sets]
    sides = [plan.per_side(len(one), sets) for one in sets]
    grids = [grid_counts(rows, columns, per_side=side) for columns, side in zip(sets, sides, strict=True)]
    exact = np.concatenate(grids) * plan.steps(PLACES, sets)
    noisy = plan.division.noisy(PLACES, exact, noise) / plan.steps(PLACES, sets)
    parts = np.split(noisy, np.cumsum([one.size for one in grids])[:-1])
    return [
        centres_of(
            grid,
            limit=STANDS_OUT * plan.deviation(PLACES, sets),
            per_side=side,
            shape=(min(plan.groups, grid.size), len(columns)),
        )
        for grid, side, columns in zip(parts, sides, sets, strict=True)
    ]
