"""The probabilities of permute-and-flip, computed another way than they are drawn."""

from functools import lru_cache

import numpy as np

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(60)


def flip_probabilities(scores, rate):
    """Return the probability of every candidate, shape (n,).

    P(i) = q_i E[1 / (1 + others accepted)] = q_i ∫ Π over the others of (1 − q_j x) dx over 0 … 1. The
    product falls like exp(−x Σ q_j), so the range is cut at 1 / Σ q_j and its doubles, 60 points of Gauss and
    Legendre on each part; candidates of one score share one factor.
    """
    return _of_differences((np.asarray(scores, dtype=np.float64) - np.max(scores)).tobytes(), rate)


@lru_cache(maxsize=64)  # one table is held against many neighbours
def _of_differences(below: bytes, rate):
    q = np.exp(rate * np.frombuffer(below))
    distinct, place, counts = np.unique(q, return_inverse=True, return_counts=True)
    cuts = np.concatenate([[0.0], 2.0 ** np.arange(-int(np.ceil(np.log2(q.sum()))) - 1, 1)])
    widths = np.diff(cuts)
    x = (cuts[:-1, None] + widths[:, None] * (_NODES + 1) / 2).ravel()
    weights = (widths[:, None] * _WEIGHTS / 2).ravel()
    logs = np.log1p(-distinct[:, None] * x)
    others = np.exp(counts @ logs - logs)  # without one of that score
    return (distinct * (others @ weights))[place]
