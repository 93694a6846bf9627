"""Normal numbers brought to the ends of declared ranges, with moments that were learnt: no row is seen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine import arrays

Floats = arrays.Floats

HALVINGS = 36
TERMS = 40
"""Of the series of a covariance: enough for what noisy sums can tell."""
WIDEST = 1e3
"""Standard deviation of a normal number that is nearly always brought to one end or the other."""
CLOSEST = 0.999
"""No two columns are nearer to a line."""


def brought(mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """Return the normal numbers that have given moments once they are brought between −1 and 1.

    Parameters
    ----------
    mean, variance
        Of the numbers that leave, shape (n,): variances above 0 and at most 1 − μ².

    Returns
    -------
    places, spreads
        Mean and standard deviation before they are brought to the ends.

    Notes
    -----
    A number beyond an end becomes that end, as in the model of J. Tobin (1958). To draw it again instead
    would move the mean of whatever lies near an end: by .8 of a standard deviation for a count of which most
    are 0, however large the budget. The mean rises with the place, and along the curve of equal means the
    variance rises with the spread, from 0 to 1 − μ²: two halvings, one inside the other.

    Examples
    --------
    >>> place, spread = brought(np.array([0.0, -0.9]), np.array([0.04, 0.03]))
    >>> [value.round(3).tolist() for value in moments(place, spread)]
    [[-0.0, -0.9], [0.04, 0.03]]
    """
    low, high = np.full(len(mean), np.log(1e-4)), np.full(len(mean), np.log(WIDEST))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        spread = np.exp(middle)
        more = moments(_place(mean, spread), spread)[1] < variance
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    spread = np.exp((low + high) / 2)
    return _place(mean, spread), spread


def moments(place: Floats, spread: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance of normal numbers brought between −1 and 1."""
    from scipy.special import ndtr

    left, right = (-1 - place) / spread, (1 - place) / spread
    below, above, between = ndtr(left), ndtr(-right), ndtr(right) - ndtr(left)
    dense, denser = _density(left), _density(right)
    mean = above - below + place * between + spread * (dense - denser)
    square = above + below + (place**2 + spread**2) * between + 2 * place * spread * (dense - denser)
    square += spread**2 * (left * dense - right * denser)
    return mean, np.maximum(square - mean**2, 0.0)


def related(place: Floats, spread: Floats, covariance: Floats) -> Floats:
    """Return the correlation of normal numbers whose covariance is given once they are brought to the ends.

    Parameters
    ----------
    place, spread
        Of one group, shape (q,).
    covariance
        Of the numbers that leave, shape (q, q).

    Notes
    -----
    With g = clip(μ + σ Z) and a_k = E[g h_k(Z)], h_k the normalised Hermite polynomials, the covariance of
    two columns at correlation r is Σ a_k b_k r^k (G. Mehler, 1866), which rises with r. Correlations of pairs
    that no columns can have together are made possible: see `possible`.
    """
    series = _series(place, spread)
    terms = series[:, None, :] * series[None, :, :]
    low, high = np.full(covariance.shape, -CLOSEST), np.full(covariance.shape, CLOSEST)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        found = np.zeros_like(middle)
        for power in range(TERMS - 1, -1, -1):
            found = (found + terms[:, :, power]) * middle
        more = found < covariance
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    found = np.where(covariance == 0, 0.0, (low + high) / 2)
    return possible((found + found.T) / 2)


def possible(correlation: Floats) -> Floats:
    """Return correlations that columns can have together: without negative eigenvalues, the diagonal 1 again.

    Examples
    --------
    >>> possible(np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]])).round(2).tolist()
    [[1.0, 0.5, -0.5], [0.5, 1.0, 0.5], [-0.5, 0.5, 1.0]]
    """
    found = correlation.copy()
    np.fill_diagonal(found, 1.0)
    values, vectors = np.linalg.eigh(found)
    if values.min() < 1 - CLOSEST**2:
        found = (vectors * np.maximum(values, 1 - CLOSEST**2)) @ vectors.T
        root = np.sqrt(np.diag(found))
        found = found / np.outer(root, root)
    return np.asarray((found + found.T) / 2)


def _place(mean: Floats, spread: Floats) -> Floats:
    """Return where normal numbers of a spread lie if those brought to the ends have a mean."""
    reach = 1 + 10 * spread
    low, high = -reach, reach
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        more = moments(middle, spread)[0] < mean
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    return np.asarray((low + high) / 2)


def _series(place: Floats, spread: Floats) -> Floats:
    """Return a_1, …, a_K of every column: by parts, E[g h_k] = E[g' h_(k − 1)] / √k."""
    from scipy.special import ndtr

    left, right = (-1 - place) / spread, (1 - place) / spread
    found = [spread * (ndtr(right) - ndtr(left))]
    ends: Sequence[Floats] = (left, right)
    before, now = [np.zeros_like(left)] * 2, [np.ones_like(left)] * 2  # h_(k − 3) and h_(k − 2)
    for order in range(2, TERMS + 1):
        values = [one * _density(end) for one, end in zip(now, ends, strict=True)]
        found.append(spread * (values[0] - values[1]) / np.sqrt(order * (order - 1)))
        at = order - 2
        after = [
            (end * one - np.sqrt(at) * old) / np.sqrt(at + 1)
            for end, one, old in zip(ends, now, before, strict=True)
        ]
        before, now = now, after
    return np.stack(found, axis=1)


def _density(value: Floats) -> Floats:
    return np.asarray(np.exp(-np.minimum(value**2, 1400.0) / 2) / np.sqrt(2 * np.pi))
