"""How good a division of a graph is, for tests of what divides one."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix


def modularity(weights: csr_matrix, group: np.ndarray) -> float:
    """Return the share of weight inside groups beyond what nodes of these weights would have by chance."""
    edges, of_node = weights.tocoo(), np.asarray(weights.sum(axis=1)).ravel()
    inside = float(edges.data[group[edges.row] == group[edges.col]].sum())
    of_group, total = np.bincount(group, of_node), float(of_node.sum())
    return inside / total - float((of_group**2).sum()) / total**2
