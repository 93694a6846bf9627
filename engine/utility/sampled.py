"""What a sample of whole people says, and what it costs in accuracy.

The register is charged in full. Whoever is left out by a lot that nobody knows is protected better than the
promise says; how much better is not claimed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from engine.views import Text

GROUPS = (100, 10_000)
"""Of how many people in the whole table it is said how far off a number of the sample is, scaled up."""
_TWICE = Fraction(1, 40)  # 95 of 100 samples lie between


def say_sample(share: Fraction) -> Iterator[Text]:
    """Say that numbers are of a sample, and how far off they are where they are scaled up to everybody.

    Examples
    --------
    >>> [one.id for one in say_sample(Fraction(1, 10))]
    ['sampled.said', 'sampled.off']
    """
    few, many = (off(size, share) for size in GROUPS)
    yield Text("sampled.said", {"share": percent(share)})
    yield Text("sampled.off", {"size": GROUPS[0], "few": few, "large": GROUPS[1], "many": many})


def off(size: int, share: Fraction) -> int:
    """Return by how much a count of people is off in 95 of 100 samples, scaled up to everybody.

    Notes
    -----
    Each of the people has a lot of their own, so that the number in the sample is binomial.

    Examples
    --------
    >>> off(10_000, Fraction(1, 2)), off(100, Fraction(1, 10))
    (196, 60)
    """
    from scipy.stats import binom

    low, high = (int(binom.ppf(float(part), size, float(share))) for part in (_TWICE, 1 - _TWICE))
    return math.ceil(max(high / share - size, size - low / share))


def percent(share: Fraction) -> float:
    """Return a share in percent with three digits, to be written."""
    return float(f"{float(100 * share):.3g}")


def most_that_fits(rows: int, most: int) -> Fraction:
    """Return the largest share with two digits of which the rows fit.

    Examples
    --------
    >>> most_that_fits(1000, 255), most_that_fits(10**9, 12_345_678)
    (Fraction(1, 4), Fraction(3, 250))
    """
    digits = 1 - math.floor(math.log10(most / rows))
    return Fraction(most * 10**digits // rows, 10**digits)
