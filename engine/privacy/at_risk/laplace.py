"""What no other mechanism has in closed form: the largest level for a confidence, and the floor below all.

Worst neighbours put the whole sensitivity into one output, whatever the number of outputs; the loss then is
±ε0 or, between the two answers, linear in the output.
"""

from __future__ import annotations

import math

from engine.privacy.at_risk.inputs import Number, level, share
from engine.privacy.at_risk.inverse import Inverse


def epsilon0(epsilon: Number, *, confidence: Number, two_sided: bool = False) -> Inverse:
    """Return the largest ε0 whose exact confidence at ε is at least the one asked for.

    Parameters
    ----------
    epsilon
        Privacy level at risk, positive.
    confidence
        Between 0 and 1.
    two_sided
        Whether |loss| is meant.

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


def floor(epsilon: Number, *, epsilon0: Number) -> float:
    """Return the least P(loss ≤ ε) that any ε0-differentially private mechanism can have.

    Parameters
    ----------
    epsilon, epsilon0
        Privacy levels, positive.

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
