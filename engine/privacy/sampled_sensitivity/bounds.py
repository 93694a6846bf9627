"""What a number of sampled pairs allows to say: the Dvoretzky-Kiefer-Wolfowitz bound, and the planner."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from engine.errors import InputRefused

AREA = "sampled_sensitivity"


class Sides(IntEnum):
    """Whether the empirical distribution may err in one direction or in both."""

    ONE = 1
    TWO = 2


@dataclass(frozen=True)
class PairsPlan:
    """Numbers that belong together: n pairs, tolerance ρ, probability α (see `plan_pairs`)."""

    pairs: int
    tolerance: float
    probability: float
    sides: Sides


@dataclass(frozen=True)
class ImplicitConfidence:
    """What n sampled pairs say about P(S ≤ Δ_S), printed and corrected (see `implicit_confidence`).

    Parameters
    ----------
    printed
        γ₂·α, theorem 4 of the thesis, α two-sided. Fails: see Notes of `implicit_confidence`.
    corrected
        γ₂ − ρ, which holds with probability `probability` (one-sided) over the pairs.
    corrected_two_sided_probability
        The probability with which both sides of F_n ± ρ hold, the α of the thesis.
    unconditional
        (γ₂ − ρ)·α, α one-sided: bound on P(S ≤ Δ_S) over the pairs *and* a fresh pair.
    exact
        Lower Clopper-Pearson limit of F(Δ_S) at the same one-sided probability, for this one quantile
        chosen before the pairs were seen; never below `corrected`.
    """

    printed: float
    corrected: float
    probability: float
    corrected_two_sided_probability: float
    unconditional: float
    exact: float


def dkw_probability(pairs: int, tolerance: float, *, sides: Sides = Sides.TWO) -> float:
    """Return the probability that the empirical distribution errs by at most a tolerance everywhere.

    Parameters
    ----------
    pairs
        Number n ≥ 1 of independent pairs.
    tolerance
        ρ in (0, 1], in units of probability.
    sides
        `Sides.TWO`: sup |F_n − F| ≤ ρ. `Sides.ONE`: sup (F_n − F) ≤ ρ, all that a lower bound needs.

    Returns
    -------
    float
        α = 1 − 2e^{−2ρ²n}, or 1 − e^{−2ρ²n} for one side; 0 where the formula is negative.

    Raises
    ------
    InputRefused
        ``sampled_sensitivity.too_few_pairs`` or ``sampled_sensitivity.tolerance_out_of_range``.

    Notes
    -----
    The constant 2 is Massart's (1990); his one-sided form asks for a bound of at most ½, and is
    vacuous otherwise, so that a one-sided value below ½ is returned as 0.

    Source: thesis, chapter 8, theorem 4.

    Examples
    --------
    >>> round(dkw_probability(15_000, 0.01), 4)
    0.9004
    >>> round(dkw_probability(15_000, 0.01, sides=Sides.ONE), 4)
    0.9502
    """
    _check_pairs(pairs)
    _check_tolerance(tolerance)
    miss = math.exp(-2.0 * tolerance * tolerance * pairs)  # DKW, Massart's constant
    if sides is Sides.ONE:
        return 1.0 - miss if miss <= 0.5 else 0.0
    return max(0.0, 1.0 - 2.0 * miss)


def plan_pairs(
    *,
    pairs: int | None = None,
    tolerance: float | None = None,
    probability: float | None = None,
    sides: Sides = Sides.TWO,
) -> PairsPlan:
    """Return the third of: number of pairs n, tolerance ρ, probability α.

    Parameters
    ----------
    pairs, tolerance, probability
        Exactly two of them: n ≥ 1, ρ in (0, 1], α in (0, 1) (one-sided: in [½, 1)).
    sides
        Two sides as in the thesis, or the one side that a lower bound needs.

    Returns
    -------
    PairsPlan
        With n rounded up to a whole number, and the α that this n reaches.

    Raises
    ------
    InputRefused
        ``sampled_sensitivity.two_of_three`` unless exactly two are given, and one error per number
        that is out of its range.

    Notes
    -----
    n = ln(2/(1−α))/(2ρ²), one-sided ln(1/(1−α))/(2ρ²).

    Examples
    --------
    >>> plan_pairs(tolerance=0.01, probability=0.9).pairs
    14979
    >>> round(plan_pairs(pairs=15_000, probability=0.9).tolerance, 6)
    0.009993
    """
    if sum(value is None for value in (pairs, tolerance, probability)) != 1:
        raise InputRefused(f"{AREA}.two_of_three")
    if pairs is not None:
        _check_pairs(pairs)
    if tolerance is not None:
        _check_tolerance(tolerance)
    if probability is None:
        assert pairs is not None and tolerance is not None
        return PairsPlan(pairs, tolerance, dkw_probability(pairs, tolerance, sides=sides), sides)
    least = 0.5 if sides is Sides.ONE else 0.0
    if not (least < probability < 1.0 or (sides is Sides.ONE and probability == least)):
        raise InputRefused(f"{AREA}.probability_out_of_range", found=probability, least=least)
    logarithm = math.log(int(sides) / (1.0 - probability))
    if pairs is None:
        assert tolerance is not None
        needed = max(1, math.ceil(logarithm / (2.0 * tolerance**2)))  # number of samples for α and ρ
        return PairsPlan(needed, tolerance, dkw_probability(needed, tolerance, sides=sides), sides)
    found = math.sqrt(logarithm / (2.0 * pairs))
    if found > 1.0:
        raise InputRefused(f"{AREA}.too_few_pairs", found=pairs, expected=math.ceil(logarithm / 2.0))
    return PairsPlan(pairs, found, probability, sides)


def implicit_confidence(pairs: int, *, quantile: float, tolerance: float) -> ImplicitConfidence:
    """Return how sure one may be that a fresh pair moves the answer by at most the sampled quantile.

    Parameters
    ----------
    pairs
        Number n ≥ 1 of pairs that were drawn.
    quantile
        γ₂ in (0, 1]: Δ_S = F_n^{-1}(γ₂).
    tolerance
        ρ in (0, 1], chosen before the pairs were drawn.

    Returns
    -------
    ImplicitConfidence
        The printed bound and the corrected ones, under their own names.

    Raises
    ------
    InputRefused
        For a number out of its range.

    Notes
    -----
    F is the distribution function of S = ‖f(x) − f(y)‖₁ over neighbours drawn from the population. DKW
    gives F ≥ F_n − ρ, so F(Δ_S) ≥ γ₂ − ρ with probability α. The printed γ₂·α multiplies a probability
    over fresh pairs with one over the sampled pairs and has lost ρ: a large ρ drives α to 1 and the
    bound to γ₂, whatever n is, while F(Δ_S) lies below γ₂ about every other time.

    None of these says anything about pairs that the population cannot produce.

    Examples
    --------
    >>> found = implicit_confidence(15_000, quantile=0.9, tolerance=0.01)
    >>> round(found.printed, 5), round(found.corrected, 2), round(found.probability, 4)
    (0.81038, 0.89, 0.9502)
    """
    _check_quantile(quantile)
    one, two = (dkw_probability(pairs, tolerance, sides=sides) for sides in (Sides.ONE, Sides.TWO))
    corrected = max(0.0, quantile - tolerance)
    return ImplicitConfidence(
        printed=quantile * two,  # theorem 4 as printed
        corrected=corrected,  # F(Δ_S) ≥ F_n(Δ_S) − ρ ≥ γ₂ − ρ
        probability=one,
        corrected_two_sided_probability=two,
        unconditional=corrected * one,
        exact=_order_statistic_limit(pairs, quantile, one),
    )


def order_of_quantile(pairs: int, quantile: float) -> int:
    """Return which of n sorted values is F_n^{-1}(γ₂): the smallest j with j/n ≥ γ₂, counted from 1."""
    order = min(max(1, math.ceil(pairs * quantile)), pairs)
    # .9 × 10 may come out as 9.000000000000002: step back when the earlier one already reaches γ₂.
    return order - 1 if order > 1 and (order - 1) / pairs >= quantile else order


def empirical_quantile(values: npt.NDArray[np.float64], quantile: float) -> float:
    """Return F_n^{-1}(γ₂) of sorted values, without interpolation."""
    _check_quantile(quantile)
    return float(values[order_of_quantile(len(values), quantile) - 1])


def _order_statistic_limit(pairs: int, quantile: float, probability: float) -> float:
    if probability <= 0.0:
        return 0.0
    from scipy.special import betaincinv

    order = order_of_quantile(pairs, quantile)
    # F(S_(j)) is stochastically at least Beta(j, n + 1 − j), with equality for a continuous F.
    return float(betaincinv(order, pairs + 1 - order, 1.0 - probability))


def _check_pairs(pairs: int) -> None:
    if pairs < 1:
        raise InputRefused(f"{AREA}.too_few_pairs", found=pairs, expected=1)


def _check_tolerance(tolerance: float) -> None:
    if not 0.0 < tolerance <= 1.0:
        raise InputRefused(f"{AREA}.tolerance_out_of_range", found=tolerance)


def _check_quantile(quantile: float) -> None:
    if not 0.0 < quantile <= 1.0:
        raise InputRefused(f"{AREA}.quantile_out_of_range", found=quantile)
