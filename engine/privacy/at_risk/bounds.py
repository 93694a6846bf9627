"""Composition at risk as its source publishes it."""

from __future__ import annotations

import math

from engine.privacy.at_risk import published
from engine.privacy.at_risk.inputs import Number, level, share, whole


def at_risk_as_published(
    epsilon0: Number, *, releases: int, delta: Number, epsilon: Number | None = None
) -> float:
    """Return the ε that the source's code gives for n equal Laplace releases at risk. It is not valid.

    Parameters
    ----------
    epsilon0
        Privacy level of each release.
    releases
        n.
    delta
        Between 0 and 1.
    epsilon
        Level at risk of each release, at most ε0; None for the one with the cheapest published price at
        c = 1, which is what the code takes.

    Returns
    -------
    float
        (ε0 − ε) √(ln(1/(1−δ)) / 2n) + n [conf ε(e^ε − 1) + (1 − conf) ε0(e^{ε0} − 1)].

    Notes
    -----
    Shown beside the exact composition only to be comparable with the source: the first term shrinks with n
    where a sum of n losses spreads with √n. For 100 releases at ε0 = .1, δ = 10⁻⁴ it is .73 at the cheapest
    ε and 1.05 at ε = ε0, while the composed privacy loss needs 3.68.

    Source: Dandekar, Basu and Bressan, "Differential privacy at risk", PoPETs 2021, and its published code.

    Examples
    --------
    >>> round(at_risk_as_published(0.1, releases=100, delta=1e-4), 2)
    0.73
    >>> round(at_risk_as_published(0.1, releases=100, delta=1e-4, epsilon=0.1), 2)
    1.05
    """
    full, small = level(epsilon0, name="epsilon0"), float(share(delta, name="delta"))
    count = whole(releases, name="releases", largest=10**9)
    at = _cheapest(full) if epsilon is None else min(level(epsilon, name="epsilon"), full)
    sure = published.confidence(at, epsilon0=full)
    mean = sure * at * math.expm1(at) + (1 - sure) * full * math.expm1(full)
    return (full - at) * math.sqrt(-math.log1p(-small) / (2 * count)) + count * mean


def _cheapest(epsilon0: float) -> float:
    """Return the ε with the smallest published price: 1/ε − ln(1 − (1 − e^ε)/ε²) = 1/ε0."""
    from scipy.optimize import brentq

    def condition(x: float) -> float:
        return 1 / x - math.log1p(math.expm1(x) / x**2) - 1 / epsilon0

    # Positive near 0, where 1/ε outgrows the logarithm; negative at ε0.
    return float(brentq(condition, epsilon0 * 1e-3, epsilon0, xtol=1e-14))
