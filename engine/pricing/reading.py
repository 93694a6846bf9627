"""The price of one release read at a level ε below its own ε0.

Nothing here changes the noise of a release: ε only chooses where one bound on the same release is read.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from engine import arrays
from engine.pricing.cost import Cost
from engine.privacy.at_risk import published as _published
from engine.privacy.at_risk.composition import Composition
from engine.privacy.at_risk.inputs import Number, level
from engine.privacy.at_risk.loss import PrivacyLoss

Array = arrays.Floats
_LEVELS = 33  # of each finer grid: a sixteenth of the one before
_NARROW = 1e-9  # of the level: the valley is flat to rounding well before


@dataclass(frozen=True, eq=False)
class Stairs:
    """A confidence that rises at a few levels only.

    Parameters
    ----------
    step
        Exact; every level is a whole number of steps.
    counts
        0, and the numbers of steps below ε0 from which on the confidence is another.
    shares
        The confidence from each of them on.
    """

    step: Fraction
    counts: Array
    shares: Array

    @property
    def levels(self) -> Array:
        """The levels in floating point, for the cost curve."""
        return np.asarray(self.counts * float(self.step))

    def level(self, index: int) -> float:
        """Return one level, rounded once."""
        return float(self.step * int(self.counts[index]))


@dataclass(frozen=True)
class Curve:
    """A confidence as a function of ε, by name.

    Parameters
    ----------
    name
        ``"published"``, ``"exact"`` or ``"exact_two_sided"``.
    epsilon0
        The mechanism's own level, from which on the confidence is 1; infinite for Gaussian noise.
    at
        Confidence at every ε of an array.
    stairs
        Where the confidence rises, or None where it is continuous (or rises at too many levels).
    """

    name: str
    epsilon0: float
    at: Callable[[Array], Array]
    stairs: Stairs | None = None


@dataclass(frozen=True)
class Reading:
    """The cheapest place to read the bound.

    Parameters
    ----------
    epsilon
        Where the at-risk price is smallest; 0 when it falls all the way.
    confidence
        The confidence there.
    budget
        E_par at ``epsilon``, for all people together.
    saving
        How much less than E_dp(ε0) that is. It is a difference between two readings of one release.
    """

    epsilon: float
    confidence: float
    budget: float
    saving: float


def published_curve(epsilon0: Number, *, dimensions: int = 1) -> Curve:
    """Return the published confidence (theorem 3) as a curve.

    Examples
    --------
    >>> published_curve(1).at(np.array([0.6])).round(6).tolist()
    [0.713769]
    """
    full = level(epsilon0, name="epsilon0")
    return Curve("published", full, lambda x: _published.confidences(x, epsilon0=full, dimensions=dimensions))


def exact_curve(loss: PrivacyLoss | Composition, *, two_sided: bool = False) -> Curve:
    """Return the exact confidence of a privacy loss, of one mechanism or of several together, as a curve.

    Examples
    --------
    >>> from engine.privacy.at_risk.mechanisms import laplace
    >>> exact_curve(laplace(epsilon0=1)).at(np.array([0.6])).round(6).tolist()
    [0.409365]
    """
    name = "exact_two_sided" if two_sided else "exact"
    found = _stairs(loss, two_sided)
    return Curve(name, loss.largest, lambda x: loss.confidences(x, two_sided=two_sided), found)


def _stairs(loss: PrivacyLoss | Composition, two_sided: bool) -> Stairs | None:
    if isinstance(loss, Composition):
        rises = loss.rises()
        if rises is None or loss.step is None:
            return None
        shares = loss.confidences(rises * loss.interval, two_sided=two_sided)
        none = loss.confidences(np.array([loss.interval / 2]), two_sided=two_sided)
        return Stairs(loss.step, np.append(0.0, rises), np.append(none, shares))
    lattice = loss.lattice
    rises = None if lattice is None else lattice.rises(two_sided)
    if lattice is None or rises is None:
        return None
    counts = np.append(0.0, rises)
    return Stairs(lattice.step, counts, lattice.at(counts, two_sided=two_sided))


def price(cost: Cost, curve: Curve, epsilons: Array) -> Array:
    """Return E_par(ε; ε0) = conf(ε) E_dp(ε) + (1 − conf(ε)) E_dp(ε0) at every ε in (0, ε0].

    Parameters
    ----------
    cost
        The cost curve.
    curve
        Which confidence is used.
    epsilons
        Array of levels.

    Notes
    -----
    Convex only for small ε0: beyond about 1.2 it is merely unimodal for the published confidence.

    Source: Dandekar 2019, section 8.4.2.

    Examples
    --------
    >>> from fractions import Fraction
    >>> cost = Cost(people=100, compensation=Fraction(5500))
    >>> paid = price(cost, published_curve(0.5), np.array([0.274115]))
    >>> paid.round(2).tolist()
    [37805.86]
    """
    shares = curve.at(epsilons)
    return np.asarray(shares * cost.curve(epsilons) + (1 - shares) * cost.at(curve.epsilon0))


def cheapest_reading(cost: Cost, curve: Curve) -> Reading:
    """Return where E_par is smallest.

    Parameters
    ----------
    cost, curve
        As in `price`.

    Returns
    -------
    Reading
        Found on a grid, then between its neighbours; on a lattice, by looking at every step.

    Examples
    --------
    >>> from fractions import Fraction
    >>> found = cheapest_reading(Cost(people=100, compensation=Fraction(5500)), published_curve(0.5))
    >>> round(found.epsilon, 6), round(found.budget, 2), round(found.saving, 2)
    (0.274115, 37805.86, 36628.55)
    """
    full = cost.at(curve.epsilon0)
    if curve.stairs is not None:
        return _cheapest_stair(cost, curve, curve.stairs)
    grid = _candidates(cost, curve)
    paid = price(cost, curve, grid)
    best = int(np.argmin(paid))
    at, least = float(grid[best]), float(paid[best])
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)]
    # 1 from ε0 on: the open end is never the minimum unless nothing is saved.
    found, paid_there = _least_between(
        lambda levels: price(cost, curve, levels), low, min(high, np.nextafter(curve.epsilon0, 0))
    )
    if paid_there < least:
        at, least = found, paid_there
    just_above_zero = float(price(cost, curve, np.array([1e-12]))[0])
    if just_above_zero < least or (just_above_zero == least and at > 0):
        at, least = 0.0, just_above_zero
    if least >= full:
        return Reading(curve.epsilon0, 1.0, full, 0.0)
    share = float(curve.at(np.array([max(at, 1e-12)]))[0])
    return Reading(at, share, least, full - least)


def _least_between(prices: Callable[[Array], Array], low: float, high: float) -> tuple[float, float]:
    """Return where a price with one valley is smallest and what it is there.

    By ever finer grids about the best level, each of which is one call of vectorised functions. (What
    scipy.optimize offers takes longer to import than the whole reading of a price.)
    """
    while True:
        levels = np.linspace(low, high, _LEVELS)
        paid = prices(levels)
        best = int(np.argmin(paid))
        at = float(levels[best])
        if high - low <= _NARROW * at or at <= 0:
            return at, float(paid[best])
        low, high = float(levels[max(best - 1, 0)]), float(levels[min(best + 1, _LEVELS - 1)])


def expected_price(cost: Cost, loss: PrivacyLoss | Composition) -> float:
    """Return the plain expectation of the price over the realised loss, E[E_dp(|loss|)].

    Parameters
    ----------
    cost
        The cost curve.
    loss
        Of the mechanism; for the exponential mechanism that of its dominating distribution.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from engine.privacy.at_risk.mechanisms import laplace
    >>> round(expected_price(Cost(people=100, compensation=Fraction(5500)), laplace(epsilon0=0.5)), 2)
    63894.0
    """
    return loss.expectation(lambda x: cost.curve(np.abs(x)))


def _cheapest_stair(cost: Cost, curve: Curve, stairs: Stairs) -> Reading:
    """Between two levels the price rises with ε, so each piece is cheapest where it begins."""
    full = cost.at(curve.epsilon0)
    paid = stairs.shares * cost.curve(stairs.levels) + (1 - stairs.shares) * full
    best = int(np.argmin(paid))
    if paid[best] >= full:
        return Reading(curve.epsilon0, 1.0, full, 0.0)
    at, least = stairs.level(best), float(paid[best])
    return Reading(at, float(stairs.shares[best]), least, full - least)


def _candidates(cost: Cost, curve: Curve) -> Array:
    # Where the price flattens out depends on c, where the confidence does on ε0; the grid covers both.
    end = curve.epsilon0 if math.isfinite(curve.epsilon0) else 1e4
    start = min(1e-4 * end, float(cost.c) / 700)
    start = max(start, 1e-11)
    grid = np.concatenate((np.geomspace(start, end, 600), np.linspace(end / 600, end, 600)))
    return np.unique(grid[grid < end])
