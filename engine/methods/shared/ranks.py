"""How well each declared candidate is a quantile, in ranks, and how far one row can move that."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from engine import arrays

Integers = arrays.Integers


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
        −max(a·n − d·(values ≤ v), d·(values < v) − a·n), n the number of values. −d·t means that t values
        too many stand on its wrong side; d·t that v is the quantile and t values away from ceasing to be.

    Notes
    -----
    The rank utility of Smith (2011), section 4, with the values on v counted on whichever side suits it.
    Where several values coincide on the quantile it scores above 0, so that its neighbours lie further
    behind: a score moves no further for that.

    Examples
    --------
    >>> rank_scores(np.array([1, 1, 1]), wanted=Fraction(1, 2)).tolist()
    [-1, 1, -1]
    """
    up_to = np.cumsum(counts)
    below, wanted_below = up_to - counts, wanted.numerator * counts.sum()
    short, beyond = wanted_below - wanted.denominator * up_to, wanted.denominator * below - wanted_below
    return -np.maximum(short, beyond)


def cut_scores(counts: Integers, *, wanted: Fraction, parts: int) -> Integers:
    """Return the score of every place to cut the values in two: a candidate, and a share of its own values.

    Parameters
    ----------
    counts, wanted
        As in `rank_scores`.
    parts
        S: a cut at candidate v and part s sends (2s + 1)/2S of the values on v to the left.

    Returns
    -------
    array of int64, shape (candidates · parts,), the parts running fastest
        −|2S·d·(values < v) + (2s + 1)·d·(values on v) − 2S·a·n|: −2S·d for every rank off.

    Examples
    --------
    >>> cut_scores(np.array([0, 4]), wanted=Fraction(1, 4), parts=2).tolist()
    [-16, -16, 0, -32]
    """
    on = counts[:, None] * wanted.denominator
    below = (np.cumsum(counts) - counts)[:, None] * (2 * parts * wanted.denominator)
    left = below + on * (2 * np.arange(parts, dtype=np.int64) + 1)
    return -np.abs(left - 2 * parts * wanted.numerator * counts.sum()).ravel()


def cut(counts: Integers, *, place: int, part: int, parts: int) -> tuple[Integers, Integers]:
    """Return the values left and right of a cut of `cut_scores`; both have the values on it.

    Notes
    -----
    ⌊(2s + 1)·m/2S⌋ of the m values on the candidate go to the left. One value more on it makes exactly one
    side larger by one, so a row added is in one side only.

    Examples
    --------
    >>> [side.tolist() for side in cut(np.array([1, 4, 2]), place=1, part=0, parts=2)]
    [[1, 1], [3, 2]]
    """
    left, right = counts[: place + 1].copy(), counts[place:].copy()
    left[-1] = (2 * part + 1) * counts[place] // (2 * parts)
    right[0] -= left[-1]
    return left, right


def spread_when_added(wanted: Fraction) -> Fraction:
    """Return how far apart one row added can move two scores, in ranks: 2·max(p, 1 − p).

    Notes
    -----
    With i = (values on the left of v) − p·n, a row added moves i by −p for the candidates below it, by 1 − p
    for those above it, by something between for its own; so does i of the values up to v. A score −|i|, or
    −max(…) of two such i as in `rank_scores`, moves no further. Some scores rise by max(p, 1 − p) and others
    fall by as much, so no less would do.

    Examples
    --------
    >>> spread_when_added(Fraction(1, 2)), spread_when_added(Fraction(1, 4))
    (Fraction(1, 1), Fraction(3, 2))
    """
    return 2 * max(wanted, 1 - wanted)


def spread_on_a_side(wanted: Fraction, *, above: bool) -> Fraction:
    """Return `spread_when_added` for `rank_scores` where the row added is above (or below) the quantile.

    Notes
    -----
    Above: candidates up to the row move by p at most, up or down; those beyond it, on the quantile's right,
    fall by 1 − p: max(2p, 1) apart. Below: max(2(1 − p), 1), by symmetry. Where the row lies on the quantile
    itself that one rises by p or by 1 − p, whichever edge is nearer, which is the one case or the other.

    Examples
    --------
    >>> spread_on_a_side(Fraction(1, 4), above=True), spread_on_a_side(Fraction(1, 4), above=False)
    (Fraction(1, 1), Fraction(3, 2))
    """
    return max(2 * (wanted if above else 1 - wanted), Fraction(1))


SPREAD_WHEN_EXCHANGED = Fraction(2)
"""A row exchanged moves i by 1 between its two places: scores there rise or fall by that much."""
