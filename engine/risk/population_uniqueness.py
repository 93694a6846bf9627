"""How many people of the table are alone in the whole population, estimated from the table as a sample.

Alone in the sample is not alone in the population. Three models say how often the one means the other; none
of them is a bound, and at small sampling fractions only an interval says anything.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, least_squares, minimize
from scipy.special import gammaln, xlogy

from engine import arrays
from engine.errors import InputRefused

LEAST_FRACTION = 0.05
"""Below this share of the population no single number is given: drawn twice, it would differ by half."""

_DIRECTIONS = 48
_BELOW = 6.907755278982137  # −ln .001: half the .999 quantile of χ² with two degrees of freedom
_FARTHEST = 60.0
_LIMITS = np.array([[-14.0, -30.0], [14.0, 30.0]])  # beyond, the likelihood no longer changes

Floats = arrays.Floats


@dataclass(frozen=True)
class Classes:
    """What a sample shows: how many groups there are of every size.

    Parameters
    ----------
    sizes
        Size of a group → number of groups of that size.
    population
        People in the population.
    """

    sizes: Mapping[int, int]
    population: int

    @property
    def sample(self) -> int:
        """People in the sample."""
        return sum(size * count for size, count in self.sizes.items())

    @property
    def groups(self) -> int:
        """Groups in the sample."""
        return sum(self.sizes.values())

    @property
    def fraction(self) -> float:
        """Share of the population that is in the sample."""
        return self.sample / self.population


@dataclass(frozen=True)
class PopulationUniqueness:
    """Estimated share of people who are alone in the population. Internal: from private rows.

    Parameters
    ----------
    fraction
        Share of the population that is in the table.
    sample_uniqueness
        Share of the table's people who are alone in the table: no estimate, and an upper bound.
    rule
        The model that the decision rule takes.
    estimate
        Its estimate; None below `LEAST_FRACTION`, where it would mislead.
    low, high
        The range: the Pitman model's likelihood region, widened to the estimate of the rule.
    models
        What every model answers; None where one has no solution.
    """

    fraction: float
    sample_uniqueness: float
    rule: str
    estimate: float | None
    low: float
    high: float
    models: Mapping[str, float | None]


def population_uniqueness(sizes: Mapping[int, int], *, population: int) -> PopulationUniqueness:
    """Estimate the share of people who are alone in the population.

    Parameters
    ----------
    sizes
        Size of a group in the table → number of groups of that size, by the identifying columns.
    population
        People in the population that the table is a random sample of.

    Returns
    -------
    PopulationUniqueness
        Says nothing where the table is no random sample: people of one hospital are not.

    Raises
    ------
    InputRefused
        ``risk.population_size``: the population is smaller than the table.

    Notes
    -----
    The rule is that of F. K. Dankar, K. El Emam, A. Neisa and T. Roffey, Estimating the re-identification
    risk of clinical data sets, 2012: up to a sampling fraction of .1 the Pitman model, or Zayatz where it has
    no solution; above it the smaller of Zayatz and the slide negative binomial.

    Examples
    --------
    >>> found = population_uniqueness({1: 40, 2: 10, 10: 4}, population=1000)
    >>> found.rule, round(found.low, 3), round(found.estimate, 3), found.high, found.sample_uniqueness
    ('pitman', 0.002, 0.199, 0.4, 0.4)
    """
    seen = Classes(sizes, population)
    if seen.sample > population or not seen.sample:
        raise InputRefused("risk.population_size", rows=seen.sample, population=population)
    alone = seen.sizes.get(1, 0) / seen.sample
    if seen.fraction == 1:
        return PopulationUniqueness(1.0, alone, "whole", alone, alone, alone, {})
    fitted = _most_likely(seen)
    models = {
        "pitman": None if fitted is None else min(_pitman(fitted).unique_share(population), alone),
        "zayatz": zayatz(seen),
        "snb": slide_negative_binomial(seen),
    }
    rule = _rule(seen.fraction, models)
    value = models[rule]
    assert value is not None  # Zayatz always has one
    low, high = (value, alone) if fitted is None else _likelihood_range(seen, fitted)
    low, high = min(low, value), min(max(high, value), alone)
    estimate = value if round(seen.fraction, 3) >= LEAST_FRACTION else None
    return PopulationUniqueness(seen.fraction, alone, rule, estimate, low, high, models)


def _rule(fraction: float, models: Mapping[str, float | None]) -> str:
    if fraction <= 0.1:
        return "zayatz" if models["pitman"] is None else "pitman"
    snb, other = models["snb"], models["zayatz"]
    return "zayatz" if snb is None or (other is not None and other <= snb) else "snb"


@dataclass(frozen=True)
class Pitman:
    """The Ewens–Pitman model, 0 ≤ α < 1 and θ > −α; kept as θ + α, which may be far smaller than either."""

    spread: float
    alpha: float

    @property
    def theta(self) -> float:
        """θ."""
        return self.spread - self.alpha

    def unique_share(self, people: int) -> float:
        """Return the expected share of groups of one among so many people.

        Notes
        -----
        Γ(θ+1) Γ(θ+α+N−1) / (Γ(θ+N) Γ(θ+α)); N. Hoshino, Applying Pitman's sampling formula to microdata
        disclosure risk assessment, 2001.

        Examples
        --------
        >>> round(Pitman(5.0, 0.0).unique_share(11), 12)  # Ewens: θ / (θ + N − 1)
        0.333333333333
        """
        theta = self.theta
        logarithm = gammaln(theta + 1) + gammaln(self.spread + people - 1)
        return float(np.exp(logarithm - gammaln(theta + people) - gammaln(self.spread)))


def fit_pitman(seen: Classes) -> Pitman | None:
    """Return the most likely parameters of the Pitman model, or None where there are none.

    Notes
    -----
    None where everybody is alone or all are in one group: the likelihood then grows without end.
    """
    found = _most_likely(seen)
    return None if found is None else _pitman(found)


def _most_likely(seen: Classes) -> Floats | None:
    if seen.groups in (1, seen.sample):
        return None
    likelihood = _likelihood(seen)
    starts = [(alpha, math.log(spread)) for alpha in (-2.0, 0.0, 2.0) for spread in (1.0, float(seen.groups))]
    found = [
        minimize(
            lambda at: -likelihood(at), start, method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-8}
        )
        for start in starts
    ]
    best = min(found, key=lambda one: float(one.fun))
    return np.clip(best.x, *_LIMITS) if np.isfinite(best.fun) else None


def _pitman(at: Floats) -> Pitman:
    """Return the parameters behind the free coordinates ln(α / (1 − α)) and ln(θ + α)."""
    logit, logarithm = np.clip(at, *_LIMITS)
    return Pitman(math.exp(logarithm), 1.0 / (1.0 + math.exp(-logit)))


def _likelihood(seen: Classes) -> Callable[[Floats], float]:
    """Return ln P(sample) of the free coordinates, without the factor that no parameter enters.

    Π_{i=1}^{J−1} (θ + iα) / Π_{i=1}^{n−1} (θ + i) · Π_groups Π_{j=1}^{f−1} (j − α)
    """
    size = np.array(list(seen.sizes), dtype=np.float64)
    count = np.array(list(seen.sizes.values()), dtype=np.float64)
    groups, people = seen.groups, seen.sample

    def value(at: Floats) -> float:
        model = _pitman(at)
        theta, alpha = model.theta, model.alpha
        # ln Π (θ + iα) by Γ((θ + α)/α): θ + iα is positive from i = 1 on, θ itself need not be
        first = model.spread / alpha
        new = xlogy(groups - 1, alpha) + gammaln(first + groups - 1) - gammaln(first)
        old = gammaln(theta + people) - gammaln(theta + 1)
        found = float(new - old + count @ (gammaln(size - alpha) - gammaln(1 - alpha)))
        return found if math.isfinite(found) else -math.inf

    return value


def _likelihood_range(seen: Classes, centre: Floats) -> tuple[float, float]:
    """Return the smallest and largest share among parameters that the sample does not contradict.

    Notes
    -----
    Likelihood region of both parameters together: those whose log-likelihood is at most half the .999
    quantile of χ²₂ below the largest, searched along rays from the most likely ones. It is taken so wide
    because the model is wrong for real tables: on samples of 1 and 2 % of Adult the region of .95
    held the truth in 36 to 100 % of the draws, by columns; this one in 72 to 100 %.
    """
    likelihood = _likelihood(seen)
    level = likelihood(centre) - _BELOW
    shares = [_pitman(centre).unique_share(seen.population)]
    for angle in np.linspace(0, 2 * math.pi, _DIRECTIONS, endpoint=False):
        ray = np.array([math.cos(angle), math.sin(angle)])
        reach = _edge(lambda far, ray=ray: likelihood(centre + far * ray) - level)  # type: ignore[misc]
        shares.append(_pitman(centre + reach * ray).unique_share(seen.population))
    known = [share for share in shares if math.isfinite(share)]
    return min(known), max(known)


def _edge(above: Callable[[float], float]) -> float:
    """Return where a function that starts positive crosses zero, at most `_FARTHEST` away."""
    step = 1e-3
    while step < _FARTHEST and above(step) > 0:
        step *= 1.5
    if step >= _FARTHEST:
        return _FARTHEST
    inside, outside = step / 1.5 if step > 1e-3 else 0.0, step
    if not math.isfinite(above(outside)):
        return inside
    return float(brentq(above, inside, outside, xtol=1e-6))


def zayatz(seen: Classes) -> float:
    """Return the share of people alone in the population by Zayatz' model.

    Notes
    -----
    Groups of the population are taken to have the sizes of the groups of the sample, so that by Bayes
    P(F = 1 | f = 1) = P(1|1) E₁ / Σ P(1|i) E_i with the hypergeometric P(1|i) = i C(N−i, n−1) / C(N, n).
    Source: L. Zayatz, Estimation of the percent of unique population elements using the sample, 1991.

    Examples
    --------
    >>> zayatz(Classes({1: 10}, 100))
    1.0
    """
    alone = seen.sizes.get(1, 0)
    if not alone:
        return 0.0
    people, total = seen.sample, seen.population
    size = np.array([each for each in seen.sizes if each <= total - people + 1], dtype=np.float64)
    count = np.array([seen.sizes[int(each)] for each in size], dtype=np.float64)
    ways = np.log(size) + _log_choose(total - size, people - 1.0) - _log_choose(float(total), float(people))
    each = np.exp(ways) * count
    first = float(each[size == 1].sum())
    return float(first / each.sum() * alone / people)


def _log_choose(n: Floats | float, k: float) -> Floats:
    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))


def slide_negative_binomial(seen: Classes) -> float | None:
    """Return the share of people alone in the population by the slide negative binomial model.

    Notes
    -----
    A group of the population has 1 + X people with X negative binomial (a, b): P(X = 0) = b^a. Each person
    is in the sample with probability π, so that a group shows s people with the generating function
    G(s) = h (b / (1 − (1 − b) h))^a, h = 1 − π + π s. The number of groups K, a and b solve
    K (1 − G(0)) = J, K G′(0) = E₁ and K (1 + a (1 − b) / b) = N. None where they do not.

    Source: G. Chen and S. Keller-McNulty, Estimation of identification disclosure risk in microdata, 1998.
    """
    alone = seen.sizes.get(1, 0)
    if not alone or seen.groups == seen.sample:
        return None
    share, ratio = seen.fraction, alone / seen.groups
    per_group = seen.population / seen.groups

    def gap(at: Floats) -> Floats:
        none, one, mean, _ = _slide(at, share)
        if not 0 <= none < 1 or one <= 0:
            return np.array([1e6, 1e6])
        return np.array([math.log(one / (1 - none) / ratio), math.log(mean / (1 - none) / per_group)])

    found = [least_squares(gap, start, method="lm") for start in ([-1.0, -3.0], [0.0, -1.0], [-3.0, -6.0])]
    best = min(found, key=lambda one: float(one.cost))
    if best.cost > 1e-10:
        return None
    none, _, _, first = _slide(best.x, share)
    groups = seen.groups / (1 - none)
    value = float(groups * first / seen.population)
    return value if 0 <= value <= 1 else None


def _slide(at: Floats, share: float) -> tuple[float, float, float, float]:
    """Return G(0), G′(0), the mean size of a group of the population and P(F = 1)."""
    a = math.exp(min(max(at[0], -30.0), 30.0))
    b = 1.0 / (1.0 + math.exp(min(max(-at[1], -30.0), 30.0)))
    h = 1.0 - share
    rest = 1.0 - (1.0 - b) * h
    power = math.exp(a * (math.log(b) - math.log(rest)))
    one = share * power * (1.0 + a * (1.0 - b) * h / rest)
    return h * power, one, 1.0 + a * (1.0 - b) / b, math.exp(a * math.log(b))
