"""Rows from a model: one column after the other, as even as the number of rows allows."""

from __future__ import annotations

import numpy as np

from engine import arrays
from engine.methods.datasets.marginal_model.fitting import Model
from engine.methods.datasets.marginal_model.junction_tree import Attributes, Floats
from engine.privacy.noise import Noise

Codes = arrays.Whole
CODE = "int32"
"""Cells of drawn rows: half as much memory, and products of two of them still have room."""


def rows_of(model: Model, n: int, noise: Noise) -> Codes:
    """Return n rows of cells, shape (columns, n).

    Notes
    -----
    From the first clique outwards, see `even_column`.
    """
    drawn = np.zeros((len(model.sizes), n), dtype=CODE)
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
    n, (combinations, cells) = len(group), shares.shape
    counts = np.bincount(group, minlength=combinations)
    present = np.flatnonzero(counts)
    number = counts[present][:, None].astype(np.float64)
    edges = np.minimum(np.cumsum(shares[present], axis=1), 1.0)
    start = uniform(noise, len(present))[:, None]
    # How many ranks k of 0 … g − 1 have (k + u) / g below each edge.
    below = np.clip(np.ceil(edges * number - start), 0, number).astype(np.int64)
    below[:, -1] = counts[present]
    drawn = np.repeat(
        np.tile(np.arange(cells, dtype=CODE), len(present)), np.diff(below, axis=1, prepend=0).ravel()
    )
    values = np.empty(n, dtype=CODE)
    values[_rank(group, combinations, noise)] = drawn
    return values


def _rank(group: Codes, combinations: int, noise: Noise) -> arrays.Integers:
    """Return the places of rows, those of one combination together, in an order by lot.

    Notes
    -----
    By digits of 16 bits, the lots first: such numbers are sorted in a time that grows as their number does.
    """
    n = len(group)
    lots = noise.random_keys(-(-n // 4)).view(np.uint16)[:n]
    order = np.argsort(lots, kind="stable")
    for digit in range(0, (combinations - 1).bit_length(), 16):
        order = order[np.argsort((group >> digit).astype(np.uint16)[order], kind="stable")]
    return order
