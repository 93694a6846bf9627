"""Privacy at risk of the Laplace mechanism as its source publishes it (theorem 3)."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from engine.privacy.at_risk.inputs import LARGEST_LEVEL, Number, level, share, whole

OVERSTATES_ABOVE = math.log(3)
"""Read as 1 − δ, theorem 3 is a valid approximate guarantee for every ε < ε0 exactly up to this ε0."""

LARGEST_DIMENSIONS = 10**9


SHORT_SERIES = 4.0
"""Up to this ε forty terms of the series suffice (20 up to 1) and are summed by Horner's rule."""


def difference_distribution(epsilon: float, dimensions: int) -> float:
    """Return F_k(ε): the probability that two independent Gamma(k, 1) differ by at most ε.

    Parameters
    ----------
    epsilon
        Privacy level, positive.
    dimensions
        k, the number of outputs of the mechanism.

    Returns
    -------
    float
        A probability, accurate to about 1e-13 relative to itself for any k.

    Notes
    -----
    The source's form is a difference of two hypergeometric series that cancel for large k. Here every
    term is positive: two Poisson processes of rate 1 race to k events; when one arrives the other still
    lacks M events, and the rest of its way is Gamma(M). So F_k(ε) = P(Poisson(ε) ≥ M), with
    P(M = m) = 2 C(2k−1−m, k−1) 2^{−(2k−m)}.

    Source: Dandekar, "Privacy risk of releasing data and models", NUS 2019, theorem 3.

    Examples
    --------
    >>> round(difference_distribution(0.6, 50) / difference_distribution(1.0, 50), 10)
    0.6006595104
    """
    if dimensions == 1:
        return -math.expm1(-epsilon)
    if epsilon <= SHORT_SERIES:
        # Measured: three times as fast as the arrays below, and most privacy levels are this small.
        total = 0.0
        for coefficient in _short_series(dimensions, 20 if epsilon <= 1 else 40):
            total = (total + coefficient) * epsilon
        return total * math.exp(-epsilon)
    counts, log_factorials, lacking = _tables(dimensions, _bucket(epsilon))
    terms = np.exp(counts * math.log(epsilon) - log_factorials - epsilon)
    return min(1.0, float(terms @ lacking))


def difference_distributions(epsilons: npt.ArrayLike, dimensions: int) -> npt.NDArray[np.float64]:
    """Return F_k at every ε of an array (for curves); see `difference_distribution`."""
    values = np.asarray(epsilons, dtype=np.float64)
    if dimensions == 1:
        return np.asarray(-np.expm1(-values))
    if not values.size:
        return values.copy()
    counts, log_factorials, lacking = _tables(dimensions, _bucket(float(values.max())))
    flat = values.reshape(-1, 1)
    terms = np.exp(counts * np.log(flat) - log_factorials - flat)
    return np.asarray(np.minimum(1.0, terms @ lacking).reshape(values.shape))


def _bucket(epsilon: float) -> int:
    """Return how many Poisson terms are needed, rounded up so that few tables are kept."""
    return 1 << math.ceil(math.log2(epsilon + 10 * math.sqrt(epsilon) + 16))


@lru_cache(maxsize=128)
def _tables(
    dimensions: int, terms: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return n = 1 … terms, ln n! and P(M ≤ n)."""
    from scipy.special import gammaln

    counts = np.arange(1.0, terms + 1)
    # P(M = m+1) / P(M = m) = 2 (k − m) / (2k − 1 − m); zero from m = k on.
    steps = counts[:-1]
    ratios = np.where(steps < dimensions, 2 * (dimensions - steps), 0.0)
    below = np.where(steps < dimensions, 2 * dimensions - 1 - steps, 1.0)
    shares = np.cumprod(np.concatenate(([_first_share(dimensions)], ratios / below)))
    return counts, gammaln(counts + 1), np.minimum(1.0, np.cumsum(shares))


@lru_cache(maxsize=256)
def _short_series(dimensions: int, terms: int) -> tuple[float, ...]:
    """Return P(M ≤ n) / n! for n = terms … 1."""
    _, log_factorials, lacking = _tables(dimensions, 64)
    return tuple(float(x) for x in (lacking * np.exp(-log_factorials))[:terms][::-1])


def _first_share(dimensions: int) -> float:
    """Return P(M = 1) = C(2n, n) / 4^n with n = k − 1."""
    n = dimensions - 1
    if n <= 2000:
        return math.comb(2 * n, n) / 4**n
    # Stirling series of the central binomial coefficient; the next term is below 1e-18 here.
    return (1 - 1 / (8 * n) + 1 / (128 * n**2) + 5 / (1024 * n**3) - 21 / (32768 * n**4)) / math.sqrt(
        math.pi * n
    )


def confidence(epsilon: Number, *, epsilon0: Number, dimensions: int = 1) -> float:
    """Return the published confidence that the privacy loss stays within ε.

    Parameters
    ----------
    epsilon
        Privacy level at risk, positive.
    epsilon0
        Privacy level of the mechanism: scale of the noise = sensitivity / ε0.
    dimensions
        k, the number of outputs.

    Returns
    -------
    float
        F_k(ε)/F_k(ε0) in (0, 1]; 1 from ε = ε0 on.

    Raises
    ------
    InputRefused
        A number is not positive (``at_risk.not_positive`` and its neighbours).

    Notes
    -----
    This is *not* the probability that the realised loss stays within ε: the theorem treats the distances of
    one output to two answers as independent. See `engine.privacy.at_risk.mechanisms.laplace` for that.

    Source: Dandekar 2019, chapter 8, theorem 3.

    Examples
    --------
    >>> round(confidence(0.6, epsilon0=1), 6), round(confidence(0.4, epsilon0=1, dimensions=2), 6)
    (0.713769, 0.436467)
    """
    at, full, k = (
        level(epsilon, name="epsilon"),
        level(epsilon0, name="epsilon0"),
        whole(dimensions, name="dimensions", largest=LARGEST_DIMENSIONS),
    )
    if at >= full:
        return 1.0
    # Theorem 3.
    return difference_distribution(at, k) / _at_own_level(full, k)


@lru_cache(maxsize=256)
def _at_own_level(epsilon0: float, dimensions: int) -> float:
    """Return F_k(ε0): many ε are asked about one mechanism."""
    return difference_distribution(epsilon0, dimensions)


def confidences(epsilons: npt.ArrayLike, *, epsilon0: Number, dimensions: int = 1) -> npt.NDArray[np.float64]:
    """Return the published confidence at every ε of an array (for curves).

    Parameters
    ----------
    epsilons
        Positive privacy levels, any shape.
    epsilon0, dimensions
        As in `confidence`.

    Returns
    -------
    array of float
        The same shape; 1 from ε = ε0 on.

    Examples
    --------
    >>> confidences([0.2, 0.6, 2.0], epsilon0=1).round(6).tolist()
    [0.286764, 0.713769, 1.0]
    """
    full = level(epsilon0, name="epsilon0")
    k = whole(dimensions, name="dimensions", largest=LARGEST_DIMENSIONS)
    values = np.minimum(np.asarray(epsilons, dtype=np.float64), full)
    if values.size:
        level(float(values.min()), name="epsilon")
    ratio = difference_distributions(values, k) / difference_distribution(full, k)
    return np.asarray(np.where(values >= full, 1.0, ratio))


def epsilon(confidence: Number, *, epsilon0: Number, dimensions: int = 1) -> float:
    """Return the smallest ε with the published confidence: the inverse of `confidence` in ε.

    Parameters
    ----------
    confidence
        Between 0 and 1.
    epsilon0, dimensions
        As in `confidence`.

    Returns
    -------
    float
        ε in (0, ε0).

    Examples
    --------
    >>> round(epsilon(0.6, epsilon0=0.797323), 5)
    0.4
    """
    wanted = float(share(confidence, name="confidence"))
    full = level(epsilon0, name="epsilon0")
    k = whole(dimensions, name="dimensions", largest=LARGEST_DIMENSIONS)
    if k == 1:
        # ε = −ln(1 − confidence (1 − e^{−ε0})), from theorem 3 with k = 1.
        return -math.log1p(wanted * math.expm1(-full))
    return _invert(wanted * difference_distribution(full, k), k, full)


def epsilon0(epsilon: Number, *, confidence: Number, dimensions: int = 1) -> float:
    """Return the largest ε0 whose published confidence at ε is at least the one asked for.

    Parameters
    ----------
    epsilon, confidence, dimensions
        As in `confidence`.

    Returns
    -------
    float
        ε0 ≥ ε; infinite when every ε0 has at least that confidence (F_k(ε) ≥ confidence).

    Examples
    --------
    >>> round(epsilon0(0.4, confidence=0.6), 6), epsilon0(3, confidence=0.5)
    (0.797323, inf)
    """
    at = level(epsilon, name="epsilon")
    wanted = float(share(confidence, name="confidence"))
    k = whole(dimensions, name="dimensions", largest=LARGEST_DIMENSIONS)
    target = difference_distribution(at, k) / wanted
    if target >= 1:
        return math.inf
    if k == 1:
        return -math.log1p(-target)
    upper = 2 * at
    while difference_distribution(upper, k) < target:
        upper *= 2
        if upper > LARGEST_LEVEL:
            return math.inf
    return _invert(target, k, upper)


def _invert(target: float, dimensions: int, upper: float) -> float:
    from scipy.optimize import brentq

    # In the logarithm: F_k is nearly proportional to ε, and tiny confidences keep their digits.
    lower = upper
    while difference_distribution(lower, dimensions) > target:
        lower /= 4
    if lower == upper:
        return upper
    root = brentq(
        lambda x: math.log(difference_distribution(math.exp(x), dimensions) / target),
        math.log(lower),
        math.log(upper),
        xtol=1e-14,
        rtol=8.9e-16,
    )
    return math.exp(root)
