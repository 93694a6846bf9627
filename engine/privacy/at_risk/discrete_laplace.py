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


def confidence(epsilon: Number, *, epsilon0: Number, sensitivity: int = 1) -> float:
    """Return P(loss ≤ ε) for worst neighbours.

    Parameters
    ----------
    epsilon, epsilon0
        Privacy levels, positive; floats are read as the decimals that they print as.
    sensitivity
        D, a whole number of grid steps.

    Returns
    -------
    float
        q^j/(1+q) with q = e^{−ε0/D}, j = ⌈(D − ⌊εD/ε0⌋)/2⌉ for ε < ε0; 1 from ε0 on.

    Raises
    ------
    InputRefused
        A level or the sensitivity cannot be used.

    Examples
    --------
    >>> round(confidence(0.6, epsilon0=1), 6), round(confidence(0.6, epsilon0=1, sensitivity=100), 4)
    (0.268941, 0.4114)
    """
    _, full, size = _checked(epsilon, epsilon0, sensitivity)
    return lattice(full, size).confidence(epsilon)


def confidence_two_sided(epsilon: Number, *, epsilon0: Number, sensitivity: int = 1) -> float:
    """Return P(|loss| ≤ ε) for worst neighbours.

    Parameters
    ----------
    epsilon, epsilon0, sensitivity
        As in `confidence`.

    Returns
    -------
    float
        q^j (1 − q^m)/(1+q) with m = ⌊εD/ε0⌋ for ε < ε0; 0 whenever D = 1; 1 from ε0 on.

    Examples
    --------
    >>> confidence_two_sided(0.6, epsilon0=1), confidence_two_sided(1, epsilon0=1)
    (0.0, 1.0)
    """
    _, full, size = _checked(epsilon, epsilon0, sensitivity)
    return lattice(full, size).confidence(epsilon, two_sided=True)


def certified_delta(epsilon: Number, *, epsilon0: Number, sensitivity: int = 1) -> float:
    """Return the smallest δ for which the mechanism is (ε, δ)-differentially private.

    Parameters
    ----------
    epsilon, epsilon0, sensitivity
        As in `confidence`.

    Returns
    -------
    float
        Σ_j p_j (1 − e^{ε−l_j}) over the atoms l_j above ε; (1 − e^{ε−ε0})/(1 + e^{−ε0}) for D = 1.

    Examples
    --------
    >>> round(certified_delta(0.6, epsilon0=1), 6)
    0.241015
    """
    at, full, size = _checked(epsilon, epsilon0, sensitivity)
    return _delta(at, full, size)


def epsilon(
    confidence: Number, *, epsilon0: Number, sensitivity: int = 1, two_sided: bool = False
) -> Inverse:
    """Return the smallest ε whose exact confidence is at least the one asked for.

    Parameters
    ----------
    confidence
        Between 0 and 1.
    epsilon0, sensitivity
        As in `confidence`.
    two_sided
        Whether |loss| is meant.

    Returns
    -------
    Inverse
        A multiple of ε0/D (the loss has no other values); ε0 and at the atom when nothing below reaches it.

    Examples
    --------
    >>> epsilon(0.2, epsilon0=1), epsilon(0.9, epsilon0=1)
    (Inverse(value=0.0, at_the_atom=False), Inverse(value=1.0, at_the_atom=True))
    """
    wanted = float(share(confidence, name="confidence"))
    full, size = positive(epsilon0, name="epsilon0"), whole(sensitivity, name="sensitivity")
    return lattice(full, size).epsilon(wanted, two_sided=two_sided)


def epsilon0(
    epsilon: Number, *, confidence: Number, sensitivity: int = 1, two_sided: bool = False
) -> Inverse:
    """Return the largest ε0 whose exact confidence at ε is at least the one asked for.

    Parameters
    ----------
    epsilon
        Privacy level at risk, positive.
    confidence, sensitivity, two_sided
        As in `epsilon`.

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


def certified_epsilon(delta: Number, *, epsilon0: Number, sensitivity: int = 1) -> float:
    """Return the smallest ε for which the mechanism is (ε, δ)-differentially private.

    Examples
    --------
    >>> round(certified_epsilon(0.241014, epsilon0=1), 5)
    0.6
    """
    wanted = float(share(delta, name="delta"))
    full, size = positive(epsilon0, name="epsilon0"), whole(sensitivity, name="sensitivity")
    if _delta(Fraction(0), full, size) <= wanted:
        return 0.0
    from scipy.optimize import brentq

    return float(brentq(lambda x: _delta(Fraction(x), full, size) - wanted, 0.0, float(full), xtol=1e-14))


def certified_epsilon0(epsilon: Number, *, delta: Number, sensitivity: int = 1) -> float:
    """Return the largest ε0 whose mechanism is (ε, δ)-differentially private.

    Examples
    --------
    >>> round(certified_epsilon0(0.6, delta=0.241014), 5)
    1.0
    """
    at, wanted = positive(epsilon, name="epsilon"), float(share(delta, name="delta"))
    size = whole(sensitivity, name="sensitivity")
    from scipy.optimize import brentq

    upper = 2 * at
    while _delta(at, upper, size) < wanted:
        upper *= 2
        if upper > LARGEST_LEVEL:
            return math.inf
    return float(
        brentq(lambda x: _delta(at, Fraction(x), size) - wanted, float(at), float(upper), xtol=1e-14)
    )


def _checked(epsilon: Number, epsilon0: Number, sensitivity: int) -> tuple[Fraction, Fraction, int]:
    return (
        positive(epsilon, name="epsilon"),
        positive(epsilon0, name="epsilon0"),
        whole(sensitivity, name="sensitivity"),
    )


def _reached(epsilon: Fraction, epsilon0: Fraction, sensitivity: int) -> int:
    """Return m, the largest whole number of steps ε0/D within ε."""
    return math.floor(epsilon * sensitivity / epsilon0)


def _one_sided(reached: int, epsilon0: Fraction | float, sensitivity: int) -> float:
    step = float(epsilon0) / sensitivity
    first = (sensitivity - reached + 1) // 2
    return math.exp(-step * first) / (1 + math.exp(-step))


def _two_sided(reached: int, epsilon0: Fraction | float, sensitivity: int) -> float:
    step = float(epsilon0) / sensitivity
    return _one_sided(reached, epsilon0, sensitivity) * -math.expm1(-step * reached)


def _delta(epsilon: Fraction, epsilon0: Fraction, sensitivity: int) -> float:
    if epsilon >= epsilon0:
        return 0.0
    step = float(epsilon0) / sensitivity
    first = (sensitivity - _reached(epsilon, epsilon0, sensitivity) + 1) // 2
    # P(loss > ε) − e^ε Q(loss > ε): both tails are geometric sums over the atoms j < first.
    tail = math.exp(-step * first)
    other = math.exp(float(epsilon) - step * (sensitivity - first + 1))
    return max(0.0, 1 - (tail + other) / (1 + math.exp(-step)))


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
