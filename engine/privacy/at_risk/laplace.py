"""The realised privacy loss of the continuous Laplace mechanism: exact and certified.

Worst neighbours put the whole sensitivity into one output, whatever the number of outputs; the loss then is
±ε0 or, between the two answers, linear in the output. All functions take ε0 = sensitivity / scale.
"""

from __future__ import annotations

import math

from engine.privacy.at_risk.inputs import Number, level, share
from engine.privacy.at_risk.inverse import Inverse


def confidence(epsilon: Number, *, epsilon0: Number) -> float:
    """Return P(loss ≤ ε) for worst neighbours.

    Parameters
    ----------
    epsilon, epsilon0
        Privacy levels, positive.

    Returns
    -------
    float
        ½ e^{−(ε0−ε)/2} for ε < ε0; 1 from ε = ε0 on, where half of the probability sits.

    Raises
    ------
    InputRefused
        A level is not a positive number.

    Notes
    -----
    The probability runs over the noise alone. It says nothing about δ: see `certified_delta`.

    Examples
    --------
    >>> round(confidence(0.6, epsilon0=1), 6), confidence(1, epsilon0=1)
    (0.409365, 1.0)
    """
    at, full = level(epsilon, name="epsilon"), level(epsilon0, name="epsilon0")
    return 1.0 if at >= full else 0.5 * math.exp((at - full) / 2)


def confidence_two_sided(epsilon: Number, *, epsilon0: Number) -> float:
    """Return P(|loss| ≤ ε) for worst neighbours.

    Parameters
    ----------
    epsilon, epsilon0
        As in `confidence`.

    Returns
    -------
    float
        e^{−ε0/2} sinh(ε/2) for ε < ε0; 1 from ε = ε0 on.

    Examples
    --------
    >>> round(confidence_two_sided(0.6, epsilon0=1), 6)
    0.184701
    """
    at, full = level(epsilon, name="epsilon"), level(epsilon0, name="epsilon0")
    # ½ (e^{−(ε0−ε)/2} − e^{−(ε0+ε)/2}), written so that neither factor overflows.
    return 1.0 if at >= full else -0.5 * math.exp((at - full) / 2) * math.expm1(-at)


def certified_delta(epsilon: Number, *, epsilon0: Number) -> float:
    """Return the smallest δ for which the mechanism is (ε, δ)-differentially private.

    Parameters
    ----------
    epsilon, epsilon0
        As in `confidence`.

    Returns
    -------
    float
        1 − e^{−(ε0−ε)/2} for ε < ε0, else 0.

    Examples
    --------
    >>> round(certified_delta(0.6, epsilon0=1), 6)
    0.181269
    """
    at, full = level(epsilon, name="epsilon"), level(epsilon0, name="epsilon0")
    return 0.0 if at >= full else -math.expm1((at - full) / 2)


def epsilon(confidence: Number, *, epsilon0: Number, two_sided: bool = False) -> Inverse:
    """Return the smallest ε whose exact confidence is at least the one asked for.

    Parameters
    ----------
    confidence
        Between 0 and 1.
    epsilon0
        Privacy level of the mechanism.
    two_sided
        Whether |loss| is meant.

    Returns
    -------
    Inverse
        One-sided max(0, ε0 + 2 ln(2·confidence)) below confidence ½; two-sided 2 asinh(confidence·e^{ε0/2})
        below ½(1 − e^{−ε0}); otherwise ε0, at the atom.

    Examples
    --------
    >>> round(epsilon(0.409365, epsilon0=1).value, 5)
    0.6
    >>> epsilon(0.95, epsilon0=1)
    Inverse(value=1.0, at_the_atom=True)
    """
    wanted, full = float(share(confidence, name="confidence")), level(epsilon0, name="epsilon0")
    if two_sided:
        if wanted >= -0.5 * math.expm1(-full):
            return Inverse(full, True)
        return Inverse(2 * _asinh_of_scaled(wanted, full / 2), False)
    if wanted >= 0.5:
        return Inverse(full, True)
    return Inverse(max(0.0, full + 2 * math.log(2 * wanted)), False)


def epsilon0(epsilon: Number, *, confidence: Number, two_sided: bool = False) -> Inverse:
    """Return the largest ε0 whose exact confidence at ε is at least the one asked for.

    Parameters
    ----------
    epsilon
        Privacy level at risk, positive.
    confidence, two_sided
        As in `epsilon`.

    Returns
    -------
    Inverse
        ε0 ≥ ε; ε0 = ε and at the atom when no larger ε0 has that confidence.

    Examples
    --------
    >>> round(epsilon0(0.6, confidence=0.409365).value, 5)
    1.0
    >>> epsilon0(0.4, confidence=0.6)
    Inverse(value=0.4, at_the_atom=True)
    """
    at, wanted = level(epsilon, name="epsilon"), float(share(confidence, name="confidence"))
    if two_sided:
        if wanted >= -0.5 * math.expm1(-at):
            return Inverse(at, True)
        # e^{−ε0/2} sinh(ε/2) = confidence.
        return Inverse(at + 2 * math.log(-math.expm1(-at) / (2 * wanted)), False)
    if wanted >= 0.5:
        return Inverse(at, True)
    return Inverse(at - 2 * math.log(2 * wanted), False)


def certified_epsilon(delta: Number, *, epsilon0: Number) -> float:
    """Return the smallest ε for which the mechanism is (ε, δ)-differentially private.

    Examples
    --------
    >>> round(certified_epsilon(0.181269, epsilon0=1), 5)
    0.6
    """
    wanted, full = float(share(delta, name="delta")), level(epsilon0, name="epsilon0")
    return max(0.0, full + 2 * math.log1p(-wanted))


def certified_epsilon0(epsilon: Number, *, delta: Number) -> float:
    """Return the largest ε0 whose mechanism is (ε, δ)-differentially private.

    Examples
    --------
    >>> round(certified_epsilon0(0.6, delta=0.181269), 5)
    1.0
    """
    at, wanted = level(epsilon, name="epsilon"), float(share(delta, name="delta"))
    return at - 2 * math.log1p(-wanted)


def floor(epsilon: Number, *, epsilon0: Number) -> float:
    """Return the least P(loss ≤ ε) that any ε0-differentially private mechanism can have.

    Parameters
    ----------
    epsilon, epsilon0
        As in `confidence`.

    Returns
    -------
    float
        (1 − e^{−ε})/(e^{ε0} − e^{−ε}) for ε < ε0, else 1.

    Notes
    -----
    From E[e^{−loss}] = 1 and |loss| ≤ ε0, in the limit of a loss just above ε against −ε0.

    Examples
    --------
    >>> round(floor(0.6, epsilon0=1), 6)
    0.207972
    """
    at, full = level(epsilon, name="epsilon"), level(epsilon0, name="epsilon0")
    if at >= full:
        return 1.0
    return -math.expm1(-at) * math.exp(-full) / -math.expm1(-full - at)


def _asinh_of_scaled(value: float, exponent: float) -> float:
    """Return asinh(value · e^exponent) without overflow."""
    if exponent > 300:
        return exponent + math.log(2 * value)
    return math.asinh(value * math.exp(exponent))
