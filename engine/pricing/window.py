"""Which levels a budget and an accuracy allow, and which of the two has to give when none is left."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from engine.errors import InputRefused
from engine.pricing.cost import LARGEST_AMOUNT, Cost
from engine.pricing.reading import Curve, Stairs, _candidates, cheapest_reading, price
from engine.privacy.at_risk.inputs import LARGEST_LEVEL, Number, positive, whole
from engine.privacy.at_risk.loss import PrivacyLoss


@dataclass(frozen=True)
class Window:
    """The levels ε that keep the at-risk price within the budget, for a mechanism accurate enough.

    Parameters
    ----------
    lower, upper
        Ends of the window in (0, ε0]; None when it is empty. A lower end of 0 means that every small ε is
        within the budget.
    reason
        Why it is empty: ``"budget"`` (even the cheapest reading costs more), ``"max_error"`` (the noise of
        ε0 is too large), ``"both"``; None when it is not.
    cheapest
        The smallest price that any reading has; a budget must reach it.
    epsilon0_needed, scale_needed
        The smallest ε0, for Gaussian noise the largest scale, with the wanted accuracy; None where no
        accuracy was asked for.
    """

    lower: float | None
    upper: float | None
    reason: str | None
    cheapest: float
    epsilon0_needed: float | None = None
    scale_needed: float | None = None

    @property
    def empty(self) -> bool:
        """Whether nothing is left."""
        return self.reason is not None


@dataclass(frozen=True)
class Accuracy:
    """Whether a mechanism's expected absolute error stays within the limit, and what it would take."""

    reached: bool
    epsilon0_needed: float | None = None
    scale_needed: float | None = None


def laplace_accuracy(epsilon0: Number, *, max_error: Number | str, sensitivity: Number | str = 1) -> Accuracy:
    """Return whether Laplace noise is accurate enough: its expected absolute error is Δ/ε0.

    Parameters
    ----------
    epsilon0
        Privacy level of the mechanism. The error depends on it alone, never on ε.
    max_error
        T, the largest expected absolute error, in the units of ``sensitivity``.
    sensitivity
        Δ of the query.

    Examples
    --------
    >>> laplace_accuracy(0.5, max_error=2)
    Accuracy(reached=True, epsilon0_needed=0.5, scale_needed=None)
    """
    limit = positive(max_error, name="max-error", largest=10**30)
    change = positive(sensitivity, name="sensitivity", largest=10**30)
    # Exact fractions: error ≤ 2 at Δ = 1 is ε0 ≥ ½ itself.
    return Accuracy(positive(epsilon0, name="epsilon0") * limit >= change, float(change / limit))


def accuracy_of(
    loss: PrivacyLoss, own: Fraction, *, max_error: Number | str, sensitivity: Number | str = 1
) -> Accuracy:
    """Return whether one answer of a mechanism is accurate enough, by its expected absolute error.

    Parameters
    ----------
    loss
        Of the mechanism.
    own
        Its ε0, for Gaussian noise its scale.
    max_error, sensitivity
        As in `engine.pricing.window.laplace_accuracy`; grid steps for the discrete mechanisms.

    Raises
    ------
    InputRefused
        ``price.no_error``: the mechanism does not answer with a number.
    """
    if loss.mechanism == "laplace":
        return laplace_accuracy(own, max_error=max_error, sensitivity=sensitivity)
    limit = float(positive(max_error, name="max-error", largest=10**30))
    if loss.mechanism == "discrete_laplace":
        size = whole(sensitivity, name="sensitivity")
        # E|z| = 2q/(1 − q²) = 1/sinh(ε0/D) ≤ T.
        needed = size * math.asinh(1 / limit)
        return Accuracy(float(own) >= needed, epsilon0_needed=needed)
    if loss.mechanism in ("gaussian", "discrete_gaussian"):
        # E|z| = σ √(2/π); the discrete form lies below it.
        widest = limit * math.sqrt(math.pi / 2)
        return Accuracy(float(own) <= widest, scale_needed=widest)
    raise InputRefused("price.no_error", mechanism=loss.mechanism.replace("_", "-"))


def window(
    cost: Cost, curve: Curve, *, budget: Number | str | None = None, accuracy: Accuracy | None = None
) -> Window:
    """Return the window {ε ≤ ε0 : E_par(ε; ε0) ≤ budget}, empty when the accuracy is missed.

    Parameters
    ----------
    cost, curve
        As in `engine.pricing.reading.price`.
    budget
        What may be spent on compensation, for all people together; None for any.
    accuracy
        Of the mechanism that runs, None where any will do.

    Notes
    -----
    The source prints 1/T ≤ ε ≤ 1/ln(…), with the error tied to ε and the confidence taken as constant. The
    confidence depends on ε, so a budget bounds ε from both sides.

    Source: Dandekar 2019, section 8.4.2, corrected.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from engine.pricing.reading import published_curve
    >>> cost = Cost(people=100, compensation=Fraction(5500))
    >>> found = window(cost, published_curve(1), budget=150_000)
    >>> round(found.lower, 6), round(found.upper, 6), found.empty
    (0.180647, 0.723616, False)
    """
    best = cheapest_reading(cost, curve)
    wanted = accuracy or Accuracy(True)
    needed = (wanted.epsilon0_needed, wanted.scale_needed)
    spend = None if budget is None else float(positive(budget, name="budget", largest=LARGEST_AMOUNT))
    affordable = spend is None or best.budget <= spend
    if not (wanted.reached and affordable):
        reason = "both" if not (wanted.reached or affordable) else "max_error" if affordable else "budget"
        return Window(None, None, reason, best.budget, *needed)
    if spend is None or cost.at(curve.epsilon0) <= spend:
        return Window(0.0, curve.epsilon0, None, best.budget, *needed)
    lower, upper = _ends(cost, curve, best.epsilon, spend)
    return Window(lower, upper, None, best.budget, *needed)


def _ends(cost: Cost, curve: Curve, cheapest_at: float, budget: float) -> tuple[float, float]:
    def paid(epsilon: float) -> float:
        return float(price(cost, curve, np.array([epsilon]))[0]) - budget

    if curve.stairs is not None:
        return _ends_between_steps(cost, curve, curve.stairs, budget)
    from scipy.optimize import brentq

    grid = _candidates(cost, curve)
    inside = price(cost, curve, grid) <= budget
    tiny = min(float(grid[0]), 1e-12)
    lower = 0.0
    if paid(tiny) > 0:
        first = float(grid[inside][0]) if inside.any() else cheapest_at
        lower = float(brentq(paid, tiny, min(first, cheapest_at), xtol=1e-14))
    end = min(float(np.nextafter(curve.epsilon0, 0)), float(LARGEST_LEVEL))
    if paid(end) <= 0:
        return lower, end
    last = max(cheapest_at, float(grid[inside][-1]) if inside.any() else cheapest_at, tiny)
    return lower, float(brentq(paid, last, end, xtol=1e-14))


def _ends_between_steps(cost: Cost, curve: Curve, stairs: Stairs, budget: float) -> tuple[float, float]:
    """On each piece the confidence is constant and the price rises with ε: solve it piece by piece."""
    full = cost.at(curve.epsilon0)
    lowest, highest = math.inf, 0.0
    for index, (start, share) in enumerate(zip(stairs.levels, stairs.shares, strict=True)):
        # conf E_dp(ε) + (1 − conf) E_dp(ε0) ≤ B, solved for E_dp(ε).
        allowed = (budget - (1 - share) * full) / share if share > 0 else -math.inf
        if cost.at(float(start)) > allowed:
            continue
        last = index + 1 == stairs.counts.size
        # The piece ends before the next level, the last one before ε0, where the whole price is due.
        below = min(float(np.nextafter(curve.epsilon0, 0)), float(LARGEST_LEVEL))
        end = below if last else stairs.level(index + 1)
        reach = cost.epsilon_for(allowed) if allowed > cost.least else 0.0
        lowest, highest = min(lowest, stairs.level(index)), max(highest, min(end, reach))
    return lowest, highest
