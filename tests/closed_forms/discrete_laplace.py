"""Closed forms that the engine is tested with: the loss of the discrete Laplace mechanism.

Noise P(z) ∝ q^{|z|} on the integers with q = e^{−ε0/D}, D the integer sensitivity. Between answers that lie s
apart the loss takes only the values (s − 2j)·ε0/D, j = 0 … s, so every statement is about atoms. The worst
neighbours lie D apart in one output for the one-sided confidence and δ; for the two-sided confidence D or
D − 1 apart, whichever lattice avoids [−ε, ε] better. (Checked against every integer split over several
outputs by enumeration in the tests.)
"""

from __future__ import annotations

import math
from fractions import Fraction

from engine.privacy.at_risk.inputs import LARGEST_LEVEL, Number, positive, share, whole
from engine.privacy.at_risk.inverse import Inverse

LARGEST_TWO_SIDED = 20_000
"""The two-sided inverse in ε0 looks at every atom; above this sensitivity it is refused."""


def confidence(epsilon: Number, *, epsilon0: Number, sensitivity: int = 1) -> float:
    """Return P(loss ≤ ε) for worst neighbours."""
    at, full, size = _checked(epsilon, epsilon0, sensitivity)
    if at >= full:
        return 1.0
    return _one_sided(_reached(at, full, size), full, size)


def confidence_two_sided(epsilon: Number, *, epsilon0: Number, sensitivity: int = 1) -> float:
    """Return P(|loss| ≤ ε) for worst neighbours."""
    at, full, size = _checked(epsilon, epsilon0, sensitivity)
    if at >= full:
        return 1.0
    return _two_sided(_reached(at, full, size), full, size)


def certified_delta(epsilon: Number, *, epsilon0: Number, sensitivity: int = 1) -> float:
    """Return the smallest δ for which the mechanism is (ε, δ)-differentially private."""
    at, full, size = _checked(epsilon, epsilon0, sensitivity)
    return _delta(at, full, size)


def epsilon(
    confidence: Number, *, epsilon0: Number, sensitivity: int = 1, two_sided: bool = False
) -> Inverse:
    """Return the smallest ε whose exact confidence is at least the one asked for."""
    wanted = float(share(confidence, name="confidence"))
    full, size = positive(epsilon0, name="epsilon0"), whole(sensitivity, name="sensitivity")
    reached_by = _two_sided if two_sided else _one_sided
    low, high = -1, size
    # Both confidences increase with m; m = D is ε0 itself.
    while high - low > 1:
        middle = (low + high) // 2
        if reached_by(middle, full, size) >= wanted:
            high = middle
        else:
            low = middle
    if high == size:
        return Inverse(float(full), True)
    return Inverse(float(full * high / size), False)


def epsilon0(
    epsilon: Number, *, confidence: Number, sensitivity: int = 1, two_sided: bool = False
) -> Inverse:
    """Return the largest ε0 whose exact confidence at ε is at least the one asked for."""
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
    """Return the smallest ε for which the mechanism is (ε, δ)-differentially private."""
    wanted = float(share(delta, name="delta"))
    full, size = positive(epsilon0, name="epsilon0"), whole(sensitivity, name="sensitivity")
    if _delta(Fraction(0), full, size) <= wanted:
        return 0.0
    from scipy.optimize import brentq

    return float(brentq(lambda x: _delta(Fraction(x), full, size) - wanted, 0.0, float(full), xtol=1e-14))


def certified_epsilon0(epsilon: Number, *, delta: Number, sensitivity: int = 1) -> float:
    """Return the largest ε0 whose mechanism is (ε, δ)-differentially private."""
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
    """Return the largest ε0 with ⌊εD/ε0⌋ = reached and enough confidence, or None."""
    if two_sided and reached == 0:
        return None
    at, formula = float(epsilon), _two_sided if two_sided else _one_sided
    left = at * sensitivity / (reached + 1)
    right = at * sensitivity / reached if reached else float(LARGEST_LEVEL)
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
