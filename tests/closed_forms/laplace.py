"""Closed forms that the engine is tested with: the loss of the continuous Laplace mechanism.

Worst neighbours put the whole sensitivity into one output, whatever the number of outputs; the loss then is
±ε0 or, between the two answers, linear in the output. All functions take ε0 = sensitivity / scale.
"""

from __future__ import annotations

import math

from engine.privacy.at_risk.inputs import Number, level, share
from engine.privacy.at_risk.inverse import Inverse


def confidence(epsilon: Number, *, epsilon0: Number) -> float:
    """Return P(loss ≤ ε) for worst neighbours."""
    at, full = level(epsilon, name="epsilon"), level(epsilon0, name="epsilon0")
    return 1.0 if at >= full else 0.5 * math.exp((at - full) / 2)


def confidence_two_sided(epsilon: Number, *, epsilon0: Number) -> float:
    """Return P(|loss| ≤ ε) for worst neighbours."""
    at, full = level(epsilon, name="epsilon"), level(epsilon0, name="epsilon0")
    # ½ (e^{−(ε0−ε)/2} − e^{−(ε0+ε)/2}), written so that neither factor overflows.
    return 1.0 if at >= full else -0.5 * math.exp((at - full) / 2) * math.expm1(-at)


def certified_delta(epsilon: Number, *, epsilon0: Number) -> float:
    """Return the smallest δ for which the mechanism is (ε, δ)-differentially private."""
    at, full = level(epsilon, name="epsilon"), level(epsilon0, name="epsilon0")
    return 0.0 if at >= full else -math.expm1((at - full) / 2)


def epsilon(confidence: Number, *, epsilon0: Number, two_sided: bool = False) -> Inverse:
    """Return the smallest ε whose exact confidence is at least the one asked for."""
    wanted, full = float(share(confidence, name="confidence")), level(epsilon0, name="epsilon0")
    if two_sided:
        if wanted >= -0.5 * math.expm1(-full):
            return Inverse(full, True)
        return Inverse(2 * _asinh_of_scaled(wanted, full / 2), False)
    if wanted >= 0.5:
        return Inverse(full, True)
    return Inverse(max(0.0, full + 2 * math.log(2 * wanted)), False)


def epsilon0(epsilon: Number, *, confidence: Number, two_sided: bool = False) -> Inverse:
    """Return the largest ε0 whose exact confidence at ε is at least the one asked for."""
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
    """Return the smallest ε for which the mechanism is (ε, δ)-differentially private."""
    wanted, full = float(share(delta, name="delta")), level(epsilon0, name="epsilon0")
    return max(0.0, full + 2 * math.log1p(-wanted))


def certified_epsilon0(epsilon: Number, *, delta: Number) -> float:
    """Return the largest ε0 whose mechanism is (ε, δ)-differentially private."""
    at, wanted = level(epsilon, name="epsilon"), float(share(delta, name="delta"))
    return at - 2 * math.log1p(-wanted)


def floor(epsilon: Number, *, epsilon0: Number) -> float:
    """Return the least P(loss ≤ ε) that any ε0-differentially private mechanism can have."""
    at, full = level(epsilon, name="epsilon"), level(epsilon0, name="epsilon0")
    if at >= full:
        return 1.0
    return -math.expm1(-at) * math.exp(-full) / -math.expm1(-full - at)


def _asinh_of_scaled(value: float, exponent: float) -> float:
    """Return asinh(value · e^exponent) without overflow."""
    if exponent > 300:
        return exponent + math.log(2 * value)
    return math.asinh(value * math.exp(exponent))
