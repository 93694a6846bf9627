"""Which threshold a table needs: from how many rows, which privacy level, and nothing of the data."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from engine.privacy.many_runs import largest_level
from engine.privacy.mechanisms.seeded_rows import SeededRows

ALONE = Fraction(1, 20)
"""For twenty seeds, one stands for a row from the model alone."""
MOST_ROWS = 100_000
_DIGITS = 20  # binary, of the rate: its multiples stay exact integers
_DOWN = 1 - 1e-8


def plan_test(
    rows: int, *, epsilon: Fraction, delta: Fraction, ratio: Fraction, kind: type[SeededRows] = SeededRows
) -> SeededRows | None:
    """Return the test with the lowest threshold under which all rows together have (ε, δ).

    Parameters
    ----------
    rows
        How many rows leave, fixed beforehand; at least 1.
    epsilon, delta
        Of the whole table; δ above 0.
    ratio
        r of the crowd of bins; 1 for the weighted crowd.
    kind
        How crowds near the threshold pass.

    Returns
    -------
    SeededRows or None
        None where no threshold below 10¹² is enough.

    Notes
    -----
    Half of δ goes to the composition, half to the rows. With x the level and Λ = ln 1/δ₁ of one row, the
    threshold k(t) = t + Λ / (x − ln(1 + r/t)) is lowest near t = (r + √(Λ r)) / x; the neighbourhood is
    searched. Noise on the threshold lowers it by what `SeededRows.lower` says, over ε₀. Bindschaedler (2018),
    section 4.3, which fixes k = 2t.

    Examples
    --------
    >>> plan_test(1, epsilon=Fraction(1), delta=Fraction(1, 2**40), ratio=Fraction(1)).threshold
    43
    """
    slack = delta / 2 if rows > 1 else Fraction(0)
    failure = float((delta - slack) / rows) * _DOWN
    level = largest_level(rows, float(epsilon) * _DOWN, float(slack)) * _DOWN + math.log1p(-failure)
    goal, r = -math.log(failure * float(ALONE)), float(ratio)
    if level <= 0:
        return None
    near = (r + math.sqrt(goal * r)) / level
    if near > 1e11:
        return None
    least = np.unique(np.ceil(near * np.geomspace(0.2, 4, 2000)))
    left = level - np.log1p(r * (1 + 1e-8) / least)
    least, left = least[left > 0], left[left > 0]
    if not least.size:
        return None
    best = int(np.argmin(np.ceil(least + goal / left)))
    rate = _rounded_down(float(left[best]))
    threshold = int(least[best]) + math.ceil((goal - kind.lower(float(rate))) / float(rate))
    return kind(threshold, int(least[best]), rate, Fraction(ratio), ALONE, slack, count=rows)


def by_other_ways(test: SeededRows) -> dict[str, float]:
    """Return ε of all rows together by two ways that are never better than the one that is used.

    Notes
    -----
    ``added``: m ε₁. ``advanced``: ε₁ √(2 m ln(1/δ″)) + m ε₁ (e^{ε₁} − 1) with the same δ″ (C. Dwork, A. Roth,
    2014, theorem 3.20); infinite where δ″ is nothing. The one that is used is that of theorem 3.3 of P.
    Kairouz, S. Oh and P. Viswanath (2015), which no other undercuts for runs of one level.

    Examples
    --------
    >>> test = plan_test(1000, epsilon=Fraction(1), delta=Fraction(1, 2**40), ratio=Fraction(1))
    >>> {name: round(level, 2) for name, level in by_other_ways(test).items()}
    {'added': 4.76, 'advanced': 1.16}
    """
    each, rows = float(test.each()[0]), test.count
    slack = float(test.slack)
    advanced = math.inf
    if slack and each < 30:
        advanced = each * math.sqrt(2 * rows * math.log(1 / slack)) + rows * each * math.expm1(each)
    return {"added": rows * each, "advanced": advanced}


def most_rows(
    seeds: int, *, epsilon: Fraction, delta: Fraction, ratio: Fraction, kind: type[SeededRows] = SeededRows
) -> int:
    """Return how many rows some number of seeds is enough for; 0 where not even for one."""

    def enough(rows: int) -> bool:
        found = plan_test(rows, epsilon=epsilon, delta=delta, ratio=ratio, kind=kind)
        return found is not None and found.threshold <= seeds

    low, high = 0, 1
    while high <= MOST_ROWS and enough(high):
        low, high = high, 2 * high
    high = min(high, MOST_ROWS + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if enough(middle) else (low, middle)
    return low


def level_needed(
    rows: int, seeds: int, *, delta: Fraction, ratio: Fraction, kind: type[SeededRows] = SeededRows
) -> Fraction | None:
    """Return about the smallest ε under which some number of seeds is enough; None above 1,000."""

    def enough(epsilon: Fraction) -> bool:
        found = plan_test(rows, epsilon=epsilon, delta=delta, ratio=ratio, kind=kind)
        return found is not None and found.threshold <= seeds

    low, high = Fraction(1, 1000), Fraction(1000)
    if not enough(high):
        return None
    while high > low * Fraction(21, 20):
        middle = Fraction(math.sqrt(low * high)).limit_denominator(10_000)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return Fraction(math.ceil(high * 100), 100)


def _rounded_down(value: float) -> Fraction:
    """Return a fraction a hair below, whose multiples by large thresholds are exact integers.

    Examples
    --------
    >>> 0.3 * (1 - 2e-6) < _rounded_down(0.3) <= 0.3
    True
    """
    exponent = _DIGITS - math.frexp(value)[1]
    return Fraction(math.floor(math.ldexp(value, exponent))) / Fraction(2) ** exponent
