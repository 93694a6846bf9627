"""How far one person can move the means of all groups together, from declarations alone."""

from __future__ import annotations

from fractions import Fraction
from math import ceil


def means_sensitivity(
    *, half_range: int, groups: int, rows: int, replace_one: bool, weighted: bool = False
) -> int:
    """Return the largest L1 distance between the rounded group means of neighbouring data sets.

    Parameters
    ----------
    half_range
        N, half the declared range in steps of the mean's own grid. An empty group has the middle as its mean.
    groups
        How many groups were declared.
    rows
        Cap on the rows of one person.
    replace_one
        Whether one person is exchanged for another (all of whose rows may be elsewhere).
    weighted
        Whether rows have weights. A heavy row can outweigh a group of light ones completely.

    Returns
    -------
    int
        An upper bound; attained for rows ≤ groups, and for one group.

    Notes
    -----
    j rows added to a group of n others move its mean by at most 2N·j/(n+j), n ≥ 1, and by N if it was empty:
    at most f(j) = 2N·j/(j+1) with f(1) = N. f is concave with f(0) = 0, so spreading the rows over the groups
    is the worst case. Exchanging rows within one group moves its mean by at most 2N, which is as much as one
    row taken from one group and one given to another. Rounding to whole steps rounds a distance up at most.
    With weights, every group that is touched may move by 2N.

    Examples
    --------
    >>> means_sensitivity(half_range=3, groups=6, rows=1, replace_one=False)
    3
    >>> means_sensitivity(half_range=3, groups=6, rows=1, replace_one=True)
    6
    """
    n, m, g = half_range, rows, groups
    if weighted:
        return 2 * n * min(2 * m if replace_one else m, g)
    if replace_one:
        return 2 * n * min(m, g)
    if m <= g:
        return n * m
    each, more = divmod(m, g)
    real = Fraction(2 * n * each * (g - more), each + 1) + Fraction(2 * n * (each + 1) * more, each + 2)
    return ceil(real) + g - 1


def sum_sensitivity(low: int, high: int, *, rows: int, replace_one: bool, groups: int) -> int:
    """Return the largest L1 distance between the group sums of neighbouring data sets, in steps.

    Parameters
    ----------
    low, high
        Declared bounds of a value in steps. A row without a value adds 0.
    rows, replace_one, groups
        As in `means_sensitivity`.

    Notes
    -----
    A row adds at most m = max(|low|, |high|) to one group. An exchanged row may leave one group and enter
    another: 2m. In a single group it moves the sum from one end of low … high and 0 to the other.

    Examples
    --------
    >>> [sum_sensitivity(0, 10, rows=1, replace_one=True, groups=groups) for groups in (1, 2)]
    [10, 20]
    >>> sum_sensitivity(-3, 5, rows=2, replace_one=False, groups=1)
    10
    """
    most = max(abs(low), abs(high))
    if not replace_one:
        return rows * most
    return rows * (max(high, 0) - min(low, 0) if groups == 1 else 2 * most)


def squared_sum_sensitivity(low: int, high: int, *, rows: int, replace_one: bool, groups: int) -> int:
    """Return the largest squared L2 distance between the group sums of neighbouring data sets.

    Notes
    -----
    What the rows of a person add up to lies between 0 and vectors with all rows in one group, at the same
    end of the range; a distance is convex, so it is largest there. Parameters as in `sum_sensitivity`.

    Examples
    --------
    >>> squared_sum_sensitivity(0, 10, rows=1, replace_one=True, groups=2)
    200
    >>> [squared_sum_sensitivity(-3, 5, rows=2, replace_one=one, groups=2) for one in (False, True)]
    [100, 256]
    """
    most = (rows * max(abs(low), abs(high))) ** 2
    if not replace_one:
        return most
    across = (rows * (max(high, 0) - min(low, 0))) ** 2
    return across if groups == 1 else max(across, 2 * most)


def largest_step(minimum: Fraction, maximum: Fraction, *, digits: int) -> Fraction:
    """Return the power of ten that divides a range into about 10^digits steps.

    Examples
    --------
    >>> largest_step(Fraction(0), Fraction(14), digits=5)
    Fraction(1, 10000)
    """
    step = Fraction(1)
    while step * 10 ** (digits + 1) <= maximum - minimum:
        step *= 10
    while step * 10**digits > maximum - minimum:
        step /= 10
    return step
