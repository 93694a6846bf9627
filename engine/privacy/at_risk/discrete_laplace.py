"""The realised privacy loss of the discrete Laplace mechanism, the one that the engine runs.

Noise P(z) ∝ q^{|z|} on the integers with q = e^{−ε0/D}, D the integer sensitivity. Between answers that lie s
apart the loss takes only the values (s − 2j)·ε0/D, j = 0 … s, so every statement is about atoms. The worst
neighbours lie D apart in one output for the one-sided confidence and δ; for the two-sided confidence D or
D − 1 apart, whichever lattice avoids [−ε, ε] better. (Checked against every integer split over several
outputs by enumeration in the tests.)
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from engine.privacy.at_risk.inputs import LARGEST_LEVEL, Number, positive, share, whole
from engine.privacy.at_risk.inverse import Inverse
from engine.privacy.at_risk.lattice import MOST_RISES, Array, Lattice

LARGEST_TWO_SIDED = 20_000
"""The two-sided inverse in ε0 looks at every atom; above this sensitivity it is refused."""


def lattice(epsilon0: Fraction, sensitivity: int) -> Lattice:
    """Return the confidences by whole numbers of steps ε0/D.

    Within m steps P(loss ≤ ε) = q^j/(1+q), q = e^{−ε0/D}, j = ⌈(D − m)/2⌉, and P(|loss| ≤ ε) is that times
    1 − q^m.
    """
    step = float(epsilon0 / sensitivity)

    def one_sided(steps: Array) -> Array:
        return np.asarray(np.exp(-step * ((sensitivity - steps + 1) // 2)) / (1 + math.exp(-step)))

    def two_sided(steps: Array) -> Array:
        return np.asarray(one_sided(steps) * -np.expm1(-step * steps))

    def rises(two: bool) -> Array | None:
        # Closer neighbours have losses on the same lattice, between those of the farthest.
        return np.arange(1.0, sensitivity) if sensitivity <= MOST_RISES else None

    return Lattice(epsilon0 / sensitivity, sensitivity, one_sided, two_sided, rises)


def epsilon0(
    epsilon: Number, *, confidence: Number, sensitivity: int = 1, two_sided: bool = False
) -> Inverse:
    """Return the largest ε0 whose exact confidence at ε is at least the one asked for.

    Parameters
    ----------
    epsilon
        Privacy level at risk, positive.
    confidence
        Between 0 and 1.
    sensitivity
        D, a whole number of grid steps.
    two_sided
        Whether |loss| is meant.

    Returns
    -------
    Inverse
        ε0 ≥ ε; ε0 = ε and at the atom when no larger ε0 has that confidence.

    Raises
    ------
    InputRefused
        Also ``at_risk.too_large`` for a two-sided question about a sensitivity above 20,000.

    Examples
    --------
    >>> epsilon0(0.6, confidence=0.9)
    Inverse(value=0.6, at_the_atom=True)
    >>> round(epsilon0(0.6, confidence=0.268941).value, 4)
    1.0
    """
    at, wanted = positive(epsilon, name="epsilon"), float(share(confidence, name="confidence"))
    size = whole(sensitivity, name="sensitivity", **({"largest": LARGEST_TWO_SIDED} if two_sided else {}))
    pieces = range(size)
    if not two_sided:
        pieces = range(_first_piece(at, wanted, size), size)
    for reached in pieces:
        found = _largest_on_piece(at, wanted, size, reached, two_sided)
        if found is not None and found > float(at):
            return Inverse(found, False)
    return Inverse(float(at), True)


def _one_sided(reached: int, epsilon0: Fraction | float, sensitivity: int) -> float:
    step = float(epsilon0) / sensitivity
    first = (sensitivity - reached + 1) // 2
    return math.exp(-step * first) / (1 + math.exp(-step))


def _two_sided(reached: int, epsilon0: Fraction | float, sensitivity: int) -> float:
    step = float(epsilon0) / sensitivity
    return _one_sided(reached, epsilon0, sensitivity) * -math.expm1(-step * reached)


def _first_piece(epsilon: Fraction, wanted: float, sensitivity: int) -> int:
    """Return the piece before the first m whose own right end (ε0 = εD/m) has the one-sided confidence."""
    low, high = 0, sensitivity
    while high - low > 1:
        middle = (low + high) // 2
        if _one_sided(middle, epsilon * sensitivity / middle, sensitivity) >= wanted:
            high = middle
        else:
            low = middle
    return low


def _largest_on_piece(
    epsilon: Fraction, wanted: float, sensitivity: int, reached: int, two_sided: bool
) -> float | None:
    """Return the largest ε0 with ⌊εD/ε0⌋ = reached and enough confidence, or None.

    On such a piece the confidence is q^j (1 − q^m)/(1+q) (one-sided without the bracket) with fixed j and m:
    it rises in q to one maximum and falls, so in ε0 it does the same.
    """
    if two_sided and reached == 0:
        return None
    formula = _two_sided if two_sided else _one_sided
    left = float(epsilon * sensitivity / (reached + 1))
    right = float(epsilon * sensitivity / reached) if reached else float(LARGEST_LEVEL)
    if formula(reached, right, sensitivity) >= wanted:
        return right
    from scipy.optimize import brentq, minimize_scalar

    start = left
    if two_sided and formula(reached, left, sensitivity) < wanted:
        best = minimize_scalar(
            lambda x: -formula(reached, x, sensitivity), bounds=(left, right), method="bounded"
        )
        start = float(best.x)
    if formula(reached, start, sensitivity) < wanted:
        return None
    return float(brentq(lambda x: formula(reached, x, sensitivity) - wanted, start, right, xtol=1e-14))
