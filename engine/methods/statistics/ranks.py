"""Integer scores that say how well each declared candidate is a quantile, and how far they can move."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]


def rank_scores(counts: Integers, *, wanted: Fraction) -> Integers:
    """Return the score of every candidate from how many values lie on each.

    Parameters
    ----------
    counts
        Values on each step of the declared grid, shape (candidates,).
    wanted
        The quantile a/d in (0, 1), lowest terms.

    Returns
    -------
    array of int64, shape (candidates,)
        −max(0, a·n − d·(values ≤ v), d·(values < v) − a·n), n the number of values. 0 means that v is the
        quantile; −d·t that t values too many stand on its wrong side.

    Notes
    -----
    The rank utility of Smith (2011), section 4, with the values on v counted on whichever side suits it, so
    that the exact quantile scores 0 however many values coincide.

    Examples
    --------
    >>> rank_scores(np.array([1, 1, 1]), wanted=Fraction(1, 2)).tolist()
    [-1, 0, -1]
    """
    up_to = np.cumsum(counts)
    below, wanted_below = up_to - counts, wanted.numerator * counts.sum()
    short, beyond = wanted_below - wanted.denominator * up_to, wanted.denominator * below - wanted_below
    return -np.maximum(0, np.maximum(short, beyond))


def rank_sensitivity(wanted: Fraction, *, groups: int, rows: int, replace_one: bool) -> int:
    """Return the largest change of a score, added up over the groups, between neighbouring data sets.

    Parameters
    ----------
    wanted
        The quantile a/d.
    groups
        How many groups were declared: each gets a choice of its own.
    rows
        Cap on the rows of one person.
    replace_one
        Whether one person is exchanged for another.

    Notes
    -----
    A row added moves a·n − d·(values ≤ v) by a or a−d, and the other term too: a score moves by at most
    s = max(a, d−a), in the row's own group only.
    A row exchanged within its group moves a score by d at most; to another group by s in each, 2s ≥ d.
    One choice a group with rate ε/2Δ loses ε · (change in the group)/Δ, and the changes add up to at most Δ.

    Examples
    --------
    >>> rank_sensitivity(Fraction(1, 4), groups=3, rows=2, replace_one=False)
    6
    >>> rank_sensitivity(Fraction(1, 4), groups=1, rows=1, replace_one=True)
    4
    """
    most = max(wanted.numerator, wanted.denominator - wanted.numerator)
    if not replace_one:
        return rows * most
    return rows * (wanted.denominator if groups == 1 else 2 * most)


def spread_evenly(size: int, candidates: int) -> Integers:
    """Return the counts of simulated values that lie evenly over the grid, shape (candidates,)."""
    places = ((2 * np.arange(size) + 1) * candidates) // (2 * size)
    return np.bincount(places, minlength=candidates)
