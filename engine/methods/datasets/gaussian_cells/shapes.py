"""Normal distributions in the place of groups of rows, and rows drawn from them: nothing here sees a row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine import arrays
from engine.methods.datasets.bayes_network.learning import projected
from engine.methods.datasets.gaussian_cells.plan import Sets
from engine.methods.datasets.latent_model.projection import normal
from engine.methods.datasets.marginal_model.sampling import even_column, uniform
from engine.methods.shared.less_noise import less_noisy
from engine.privacy.noise import Noise

Codes = arrays.Whole
Floats = arrays.Floats
Integers = arrays.Integers

SMALLEST = 0.01**2
"""A variance is at least this: a hundredth of half the declared range."""
STANDS_OUT = 3
"""Fewer deviations of their noise are no group, and no missing numbers."""
TURNS = 8
"""So often a point outside the declared ranges is drawn again before it is brought to their ends."""


@dataclass(frozen=True)
class Normal:
    """A normal distribution of numbers between −1 and 1.

    Parameters
    ----------
    rows
        About how many it stands for.
    missing
        Share of every column, shape (q,).
    mean
        Shape (q,).
    covariance
        Shape (q, q).
    """

    rows: float
    missing: Floats
    mean: Floats
    covariance: Floats


@dataclass(frozen=True)
class Model:
    """What rows are drawn from.

    Parameters
    ----------
    sets
        Places of the columns of every set.
    total
        About how many rows there are.
    classes
        Share of every class.
    normals
        By set and class.
    """

    sets: Sets
    total: float
    classes: Floats
    normals: tuple[tuple[tuple[Normal, ...], ...], ...]


def model_of(
    sets: Sets, sums: list[Floats], centres: list[Integers], *, group_rows: int, deviation: float
) -> Model:
    """Return the model from noisy sums.

    Parameters
    ----------
    sets
        Places of columns.
    sums
        By set, in rows, shape (classes, groups, numbers): see `counted.group_sums`.
    centres
        By set, shape (groups, q).
    group_rows
        Groups with fewer are merged into the nearest of their class.
    deviation
        Of the noise of a number.
    """
    least = max(float(group_rows), STANDS_OUT * deviation)
    counts = np.mean([one[:, :, 0].sum(axis=1) for one in sums], axis=0)
    total = max(1.0, float(counts.sum()))
    normals = []
    for columns, own, middles in zip(sets, sums, centres, strict=True):
        everybody = own.sum(axis=(0, 1))
        of_set = []
        for table in own:
            kept = merged(table, middles, least=least)
            if kept[0, 0] < least:  # too few rows for a shape of their own
                kept = everybody[None, :]
            of_set.append(tuple(normal_of(one, len(columns), deviation=deviation) for one in kept))
        normals.append(tuple(of_set))
    return Model(sets, total, projected(counts, total) / total, tuple(normals))


def merged(table: Floats, centres: Integers, *, least: float) -> Floats:
    """Return the sums of groups; the smallest joins the nearest until none is too small.

    Examples
    --------
    >>> merged(np.array([[60.0], [10.0], [90.0]]), np.array([[0], [8], [9]]), least=50).tolist()
    [[60.0], [100.0]]
    """
    found, kept = table.copy(), list(range(len(table)))
    while len(kept) > 1:
        small = min(kept, key=lambda one: found[one, 0])
        if found[small, 0] >= least:
            break
        kept.remove(small)
        near = min(kept, key=lambda one: int(((centres[one] - centres[small]) ** 2).sum()))
        found[near] += found[small]
    return found[kept]


def normal_of(line: Floats, q: int, *, deviation: float) -> Normal:
    """Return the normal distribution of a group from its noisy sums.

    Notes
    -----
    μ = s / n and Σ = M / n − μ μ', where n counts the rows in which the numbers are not missing, as if they
    were missing independently; none is where their count does not stand out from the noise. A variance is at
    most 1 − μ² for numbers between −1 and 1; less noise by `engine.methods.shared.less_noise`; eigenvalues
    between `SMALLEST` and q.
    """
    rows = max(float(line[0]), 1.0)
    counted = line[1 : 1 + q]
    missing = np.clip(np.where(counted > STANDS_OUT * deviation, counted, 0.0) / rows, 0.0, 1.0)
    known = np.maximum(1 - missing, 1 / rows)
    mean = np.clip(line[1 + q : 1 + 2 * q] / (rows * known), -1.0, 1.0)
    products = np.zeros((q, q))
    products[np.triu_indices(q)] = line[1 + 2 * q :] / rows
    products = np.triu(products) + np.triu(products, 1).T
    both = np.outer(known, known)
    np.fill_diagonal(both, known)
    covariance = products / np.maximum(both, 1 / rows) - np.outer(mean, mean)
    np.fill_diagonal(covariance, np.clip(np.diag(covariance), SMALLEST, np.maximum(1 - mean**2, SMALLEST)))
    values, vectors = np.linalg.eigh(less_noisy(covariance, (0,) * q, noise=deviation / rows))
    covariance = (vectors * np.clip(values, SMALLEST, q)) @ vectors.T
    return Normal(max(float(line[0]), 0.0), missing, mean, covariance)


def drawn(model: Model, n: int, noise: Noise) -> tuple[Codes, Floats, Codes]:
    """Draw rows.

    Returns
    -------
    classes
        Of every row, in an order by lot, shape (n,).
    numbers
        Between −1 and 1, shape (n, columns).
    missing
        1 where a number is missing, else 0, shape (n, columns).

    Notes
    -----
    Given its class, what a row has in one set does not depend on what it has in another.
    """
    columns = sum(map(len, model.sets))
    classes = even_column(model.classes[None, :], np.zeros(n, dtype=np.int64), noise)
    numbers, missing = np.zeros((n, columns)), np.zeros((n, columns), dtype=np.int64)
    for of_columns, of_set in zip(model.sets, model.normals, strict=True):
        places = np.array(of_columns)
        width = max(map(len, of_set))
        shares = np.zeros((len(of_set), width))
        for place, normals in enumerate(of_set):
            rows = np.array([one.rows for one in normals])
            shares[place, : len(normals)] = rows / rows.sum() if rows.sum() > 0 else 1 / len(normals)
        group = classes.astype(np.int64) * width + even_column(shares, classes, noise)
        for place, normals in enumerate(of_set):
            for at, one in enumerate(normals):
                mine = np.flatnonzero(group == place * width + at)
                numbers[np.ix_(mine, places)] = inside(one, len(mine), noise)
                lots = uniform(noise, len(mine) * len(places)).reshape(len(mine), len(places))
                missing[np.ix_(mine, places)] = lots < one.missing
    return classes, numbers, missing


def inside(one: Normal, n: int, noise: Noise) -> Floats:
    """Draw n points between −1 and 1: those outside again, those outside at last are brought to the ends."""
    root = np.linalg.cholesky(one.covariance)
    found = np.full((n, len(one.mean)), 2.0)
    for _ in range(TURNS):
        out = np.flatnonzero((np.abs(found) > 1).any(axis=1))
        if not len(out):
            break
        found[out] = one.mean + normal(noise, (len(out), len(one.mean))) @ root.T
    return np.clip(found, -1.0, 1.0)
