"""Sets of columns that go together, from a noisy correlation: nothing here sees a row."""

from __future__ import annotations

import numpy as np

from engine import arrays
from engine.methods.datasets.gaussian_cells.plan import Sets

Floats = arrays.Floats

TOGETHER = 0.2
"""Columns of a set have at least this mean |r|."""


def sets_of(correlation: Floats, *, most: int) -> Sets:
    """Return sets of columns.

    Parameters
    ----------
    correlation
        Shape (columns, columns), 0 where nothing stands out from the noise.
    most
        Columns that a set has at most.

    Returns
    -------
    tuple of tuples
        Places of columns, each in one set; one for each column where nothing goes together.

    Notes
    -----
    The distance of two columns is 1 − |r|, so that opposite columns are near too. Clusters by average
    linkage, cut where the mean |r| of two of them falls below `TOGETHER`, and lower where a set would be too
    large.

    J. M. Chang, D. Zhuang, G. Samaraweera, "Privacy-preserving machine learning" (2023), section 6.4, took
    signed r, read the rows for nothing, and chose the number of sets by the index of Davies and Bouldin. To
    that index a column that is alone is as good as can be: it puts two together and leaves all others.

    Examples
    --------
    >>> together = np.array([[1, 0.9, 0, 0.1], [0.9, 1, 0, 0], [0, 0, 1, -0.8], [0.1, 0, -0.8, 1]])
    >>> sets_of(together, most=6)
    ((0, 1), (2, 3))
    """
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    columns = len(correlation)
    if columns == 1:
        return ((0,),)
    apart = np.clip(1 - np.abs(correlation), 0.0, 1.0)
    np.fill_diagonal(apart, 0.0)
    tree = linkage(squareform(apart, checks=False), "average")
    heights = [1 - TOGETHER, *(height - 1e-9 for height in tree[::-1, 2]), -1.0]
    for height in heights:
        labels = fcluster(tree, min(height, 1 - TOGETHER), "distance")
        if np.bincount(labels).max() <= most:
            break
    sets = [tuple(np.flatnonzero(labels == one).tolist()) for one in np.unique(labels)]
    return tuple(sorted(sets))
