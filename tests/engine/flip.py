"""The probabilities of permute-and-flip, computed another way than they are drawn."""

import numpy as np

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(60)


def flip_probabilities(scores, rate):
    """Return the probability of every candidate, shape (n,), for up to 119 candidates.

    P(i) = q_i E[1 / (1 + others accepted)] = q_i ∫ Π over the others of (1 − q_j + q_j u) du over 0 … 1,
    a polynomial of degree n − 1: 60 points of Gauss and Legendre integrate it exactly.
    """
    scores = np.asarray(scores, dtype=np.float64)
    assert scores.size < 120
    q = np.exp(rate * (scores - scores.max()))
    u, weights = (_NODES + 1) / 2, _WEIGHTS / 2
    factors = 1 - q[:, None] + q[:, None] * u
    others = np.array([np.prod(np.delete(factors, i, axis=0), axis=0) for i in range(q.size)])
    return q * (others @ weights)
