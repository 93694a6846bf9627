"""Several releases about the same people under one amount of money."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from engine.errors import InputRefused
from engine.pricing.cost import LARGEST_AMOUNT, Cost
from engine.privacy.at_risk.composition import Composition, compose
from engine.privacy.at_risk.inputs import Number, positive, share, whole
from engine.privacy.at_risk.loss import PrivacyLoss
from engine.privacy.at_risk.mechanisms import discrete_laplace


@dataclass(frozen=True)
class Together:
    """What several releases cost together.

    Parameters
    ----------
    epsilon
        Σ ε0, infinite with Gaussian noise.
    price
        E_dp(Σ ε0): what the plain sum of the levels costs.
    delta, epsilon_certified
        The composed guarantee at the stated δ.
    price_certified
        (1 − δ) E_dp(ε_certified) + δ N E: the liability itself where the guarantee may fail.
    expected
        E[E_dp(|loss|)] over the composed worst-case loss.
    left
        Budget minus the smaller of the two prices, None without a budget; negative when it is exceeded.
    """

    epsilon: float
    price: float
    delta: float
    epsilon_certified: float
    price_certified: float
    expected: float
    left: float | None


def together(
    cost: Cost,
    losses: Sequence[tuple[PrivacyLoss, int]],
    *,
    delta: Number = 1e-6,
    budget: Number | None = None,
) -> Together:
    """Return the price of several releases about the same people.

    Parameters
    ----------
    cost
        The cost curve.
    losses
        Privacy loss of each mechanism and the number of its releases.
    delta
        At which the composed guarantee is read.
    budget
        What may be spent on compensation by all of them together.

    Returns
    -------
    Together

    Notes
    -----
    A breach is paid once, at the joint privacy level; prices of single releases must not be added up, because
    the curve is steeper than linear where it is low.

    Examples
    --------
    >>> from engine.privacy.at_risk.mechanisms import discrete_laplace
    >>> cost = Cost(people=100, compensation=Fraction(5500))
    >>> found = together(cost, [(discrete_laplace(epsilon0=0.1), 5)], budget=80_000)
    >>> round(found.price, 2), round(found.left, 2)
    (74434.41, 5572.59)
    """
    small = float(share(delta, name="delta"))
    joint: Composition = compose(losses)
    certified = joint.epsilon_for_delta(small)
    plain = cost.at(joint.largest)
    careful = (1 - small) * cost.at(certified) + small * cost.liability
    left = None
    if budget is not None:
        left = float(positive(budget, name="budget", largest=LARGEST_AMOUNT)) - min(plain, careful)
    mean = joint.expectation(lambda x: cost.curve(np.abs(x)))
    return Together(joint.largest, plain, small, certified, careful, mean, left)


@dataclass(frozen=True)
class Shares:
    """How one budget is divided among equal releases.

    Parameters
    ----------
    total
        The ε that the budget affords; infinite when it covers the whole liability.
    each_by_sum
        total / n: valid whatever the mechanisms are.
    each_composed
        The largest ε0 at which n discrete Laplace releases of sensitivity 1 compose to (total, δ); never
        below ``each_by_sum``.
    delta
        Of the composed guarantee.
    """

    total: float
    each_by_sum: float
    each_composed: float
    delta: float


def divide(cost: Cost, *, budget: Number, releases: int, delta: Number = 1e-6) -> Shares:
    """Return the privacy level that every one of n equal releases may have under one budget.

    Parameters
    ----------
    cost
        The cost curve.
    budget
        For all releases together.
    releases
        n, at least 1.
    delta
        The failure probability that the composed guarantee may have.

    Raises
    ------
    InputRefused
        ``price.budget_below_minimum``: even perfect privacy costs as much.

    Examples
    --------
    >>> found = divide(Cost(people=100, compensation=Fraction(5500)), budget=150_000, releases=100)
    >>> round(found.total, 4), round(found.each_by_sum, 6), round(found.each_composed, 6)
    (0.7697, 0.007697, 0.018787)
    """
    count, small = whole(releases, name="releases", largest=10_000), float(share(delta, name="delta"))
    total = cost.epsilon_for(budget)
    if total == 0:
        raise InputRefused("price.budget_below_minimum", least=cost.least)
    if math.isinf(total) or count == 1:
        return Shares(total, total / count, total / count, small)
    low, high = total / count, total
    # The composed level grows with ε0; twenty halvings leave less than a millionth of it open.
    for _ in range(20):
        middle = (low + high) / 2
        joint = compose([(discrete_laplace(epsilon0=Fraction(repr(middle))), count)])
        low, high = (middle, high) if joint.epsilon_for_delta(small) <= total else (low, middle)
    return Shares(total, total / count, low, small)
