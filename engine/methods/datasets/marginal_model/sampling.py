"""Rows from a model: one column after the other, as even as the number of rows allows."""

from __future__ import annotations

import numpy as np

from engine import arrays
from engine.methods.datasets.marginal_model.fitting import Model
from engine.methods.datasets.marginal_model.junction_tree import Attributes, Floats
from engine.privacy.noise import Noise

Codes = arrays.Integers


def rows_of(model: Model, n: int, noise: Noise) -> Codes:
    """Return n rows of cells, shape (columns, n).

    Notes
    -----
    From the first clique outwards, see `even_column`.
    """
    drawn = np.zeros((len(model.sizes), n), dtype=np.int64)
    done: set[int] = set()
    for place, clique in enumerate(model.tree.cliques):
        for one in clique:
            if one in done:
                continue
            known = tuple(other for other in clique if other in done)
            combination = np.zeros(n, dtype=np.int64)
            for other in known:
                combination = combination * model.sizes[other] + drawn[other]
            drawn[one] = even_column(conditional(model, place, known, one), combination, noise)
            done.add(one)
    return drawn


def uniform(noise: Noise, n: int) -> Floats:
    """Return n numbers between 0 and 1 from the noise door."""
    return np.asarray((noise.random_keys(n) >> np.uint64(11)).astype(np.float64) * 2.0**-53)


def conditional(model: Model, place: int, known: Attributes, one: int) -> Floats:
    """Return the shares of a column for every combination of known ones, shape (combinations, cells)."""
    clique = model.tree.cliques[place]
    away = tuple(axis for axis, other in enumerate(clique) if other not in known and other != one)
    table = model.shares[place].sum(axis=away) if away else model.shares[place]
    left = [other for other in clique if other in known or other == one]
    table = np.moveaxis(table, left.index(one), -1).reshape(-1, model.sizes[one])
    sums = table.sum(axis=1, keepdims=True)
    own = table.sum(axis=0) / table.sum()
    return np.where(sums > 0, table / np.where(sums > 0, sums, 1), own)


def even_column(shares: Floats, group: Codes, noise: Noise) -> Codes:
    """Return a cell for every row, as even as the number of rows allows.

    Parameters
    ----------
    shares
        Of the cells for every combination of the columns drawn already, shape (combinations, cells).
    group
        The combination of every row, shape (n,).

    Notes
    -----
    Rows of one combination are ranked by lot; the row of rank k of g takes the quantile (k + u) / g of the
    shares, with one u for the combination. Every count is then within one of what is expected of it.
    """
    n = len(group)
    order = np.lexsort((noise.random_keys(n), group))
    counts = np.bincount(group, minlength=len(shares))
    start = np.cumsum(counts) - counts
    ranked = group[order]
    rank = np.arange(n) - start[ranked]
    quantile = (rank + uniform(noise, len(shares))[ranked]) / counts[ranked]
    edges = np.minimum(np.cumsum(shares, axis=1), 1.0)
    edges[:, -1] = 1.0
    flat = (edges + np.arange(len(shares))[:, None]).ravel()
    found = np.searchsorted(flat, ranked + np.minimum(quantile, 1 - 2.0**-40), side="right")
    values = np.empty(n, dtype=np.int64)
    values[order] = np.clip(found - ranked * shares.shape[1], 0, shares.shape[1] - 1)
    return values
