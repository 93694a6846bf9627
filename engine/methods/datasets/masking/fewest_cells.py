"""The fewest cells that have to be left out of a small table until every row reads like k − 1 others."""

from __future__ import annotations

import numpy as np

from engine import arrays

Places = arrays.Integers
MOST_VARIABLES = 4000
MOST_SECONDS = 10.0


def fewest(codes: Places, rows: Places, k: int) -> Places | None:
    """Say how many rows of each combination leave which cells out.

    Parameters
    ----------
    codes
        Shape (combinations, columns): the values, each combination once.
    rows
        How many rows have each.
    k
        How many rows have to read alike.

    Returns
    -------
    ndarray of int, shape (combinations, 2 ** columns), or None
        Rows by what they leave out: bit j of the place says that column j is left out. None where the table
        is too large, where the search did not end in time, or where there are fewer than k rows.

    Notes
    -----
    A row that leaves out the columns of a pattern reads as one of the nodes (pattern, its other values). With
    x the rows of a combination at a node and y = 1 for a node that is used:

        minimise Σ x · (columns left out)   so that   Σ x = rows of the combination,   k y <= Σ x <= n y

    Examples
    --------
    >>> fewest(np.array([[0, 0], [0, 1], [1, 1]]), np.array([1, 1, 1]), 2) is None  # one would stand alone
    False
    """
    patterns = 1 << codes.shape[1]
    if len(codes) * patterns > MOST_VARIABLES or rows.sum() < k:
        return None
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    bits = (np.arange(patterns)[:, None] >> np.arange(codes.shape[1])) & 1
    # Node of every combination and pattern: what is left out reads −1
    read = np.where(bits[None, :, :] == 1, -1, codes[:, None, :]).reshape(-1, codes.shape[1])
    node = np.unique(read, axis=0, return_inverse=True)[1].reshape(-1)
    nodes, cells, total = int(node.max()) + 1, len(node), int(rows.sum())
    at = np.arange(cells)
    own = coo_array((np.ones(cells), (at // patterns, at)), shape=(len(codes), cells + nodes))
    y = cells + np.arange(nodes)
    places = (np.concatenate([node, np.arange(nodes)]), np.concatenate([at, y]))
    ones = np.ones(cells)
    least = coo_array((np.concatenate([ones, np.full(nodes, -k)]), places), shape=(nodes, cells + nodes))
    most = coo_array((np.concatenate([ones, np.full(nodes, -total)]), places), shape=(nodes, cells + nodes))
    found = milp(
        np.concatenate([np.tile(bits.sum(axis=1), len(codes)), np.zeros(nodes)]),
        constraints=[
            LinearConstraint(own, rows, rows),
            LinearConstraint(least, lb=0),
            LinearConstraint(most, ub=0),
        ],
        integrality=np.ones(cells + nodes),
        bounds=Bounds(0, np.concatenate([np.repeat(rows, patterns), np.ones(nodes)])),
        options={"time_limit": MOST_SECONDS},
    )
    if found.status != 0:
        return None
    return np.asarray(found.x[:cells].round().astype(np.int64).reshape(len(codes), patterns))
