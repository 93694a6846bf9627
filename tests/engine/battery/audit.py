"""A lower bound on the real ε of a release, from its outputs on two neighbours.

It refutes and never certifies: an event too rare to be drawn is not seen.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

CELLS = 64


def epsilon_at_least(first: NDArray, second: NDArray, *, confidence: float = 0.999) -> float:
    """Return a bound that the real ε exceeds with the given confidence; 0 where nothing was found.

    Parameters
    ----------
    first, second
        One number for each release on the one and on the other neighbour, independent draws.
    confidence
        That the bound holds.

    Notes
    -----
    ε >= ln(P(M(D) ∈ E) / P(M(D') ∈ E)) for every event E. E is chosen on one half of the draws (cells of the
    pooled values, taken in the order of their likelihood ratio, as a classifier would) and measured on
    the other half with exact Clopper–Pearson limits, (1 − confidence)/4 each: both directions are tried.

    Source: B. Bichsel et al., "DP-Sniper", IEEE S&P 2021, algorithms 1 and 2 in one dimension.
    """
    edges = np.unique(
        np.quantile(
            np.concatenate([first, second]), np.linspace(0, 1, CELLS + 1)[1:-1], method="inverted_cdf"
        )
    )
    counts = [
        [np.bincount(np.searchsorted(edges, half), minlength=edges.size + 1) for half in (x[0::2], x[1::2])]
        for x in (first, second)
    ]
    error = (1 - confidence) / 4
    return max(
        0.0,
        _one_direction(counts[0], counts[1], error),
        _one_direction(counts[1], counts[0], error),
    )


def _one_direction(likely: list[NDArray], unlikely: list[NDArray], error: float) -> float:
    order = np.argsort(-(likely[0] + 0.5) / (unlikely[0] + 0.5))
    chosen, best = 1, -math.inf
    for size in range(1, order.size):
        found = _log_ratio(likely[0], unlikely[0], order[:size], error)
        if found > best:
            chosen, best = size, found
    return _log_ratio(likely[1], unlikely[1], order[:chosen], error)


def _log_ratio(likely: NDArray, unlikely: NDArray, event: NDArray, error: float) -> float:
    from scipy.stats import beta

    inside, outside = int(likely[event].sum()), int(unlikely[event].sum())
    if inside == 0:
        return -math.inf
    lower = beta.ppf(error, inside, likely.sum() - inside + 1)
    rest = unlikely.sum() - outside
    upper = 1.0 if rest == 0 else beta.isf(error, outside + 1, rest)
    return math.log(lower / upper)
