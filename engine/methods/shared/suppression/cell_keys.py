"""Counts changed by a key of the people in the cell: the same cell has the same change in every table."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from engine.errors import InputRefused
from engine.methods.shared.suppression.additive import Additive, Integers
from engine.methods.shared.suppression.task import Floats

BITS = 32
EXACT = 1e-10


def person_keys(people: Sequence[str], *, secret: bytes) -> Integers:
    """Return a number below 2^32 for each person: the same wherever the secret is the same."""
    found = [hashlib.blake2b(one.encode(), key=secret[:64], digest_size=BITS // 8).digest() for one in people]
    return np.frombuffer(b"".join(found), dtype="<u4").astype(np.int64)


def cell_keys(additive: Additive, codes: Integers, keys: Integers) -> Integers:
    """Return the key of every cell and total: the keys of its rows, added up modulo 2^32.

    Parameters
    ----------
    additive
        The table with its totals.
    codes
        The cell of every row in the table without totals, below 0 for none; shape (rows,).
    keys
        Of the person of every row, shape (rows,).
    """
    inner = np.zeros(int(np.prod(additive.levels)), dtype=np.int64)
    np.add.at(inner, codes[codes >= 0], keys[codes >= 0])  # 2^31 rows at most: exact in 63 bits
    return np.asarray(additive.with_totals(inner) % 2**BITS)


def probabilities(count: int, *, largest: int, variance: float, none_to: int) -> tuple[Integers, Floats]:
    """Return the changes that a count can get, rising, and with which probabilities.

    Parameters
    ----------
    count
        The true count; 0 stays 0.
    largest
        No change is larger.
    variance
        Of the change; where a small count allows none that is so small or large, the nearest that it does.
    none_to
        No printed count is 1 … ``none_to``; below ``largest``.

    Notes
    -----
    The probabilities have the mean 0 and the variance, and among all such the largest entropy, so that they
    are exp(a·v + b·v²) up to a factor; a and b make the convex log Σ exp(a·v + b·v²) − b·variance least.
    J. K. Marley, V. L. Leaver, "A method for confidentialising user-defined tables" (2011); T. Enderle, S.
    Giessing, R. Tent, "Designing confidentiality on the fly methodology" (2018), section 3.
    """
    if count == 0:
        return np.zeros(1, dtype=np.int64), np.ones(1)
    changes = np.arange(-largest, largest + 1)
    result = count + changes
    changes = changes[(result == 0) | (result > none_to)]
    low, high = (_extreme(changes, most) for most in (False, True))
    square = changes.astype(float) ** 2
    if variance <= low @ square + EXACT:
        return changes, low
    if variance >= high @ square - EXACT:
        return changes, high
    return changes, _most_entropy(changes.astype(float), variance)


def _extreme(changes: Integers, most: bool) -> Floats:
    """Return the probabilities with the mean 0 and the least or the most variance."""
    from scipy.optimize import linprog

    sign = -1.0 if most else 1.0
    sums = np.vstack([np.ones(len(changes)), changes])
    found = linprog(sign * changes.astype(float) ** 2, A_eq=sums, b_eq=[1.0, 0.0], bounds=(0, 1))
    if found.status != 0:
        raise InputRefused("suppression.unsolved")
    return np.asarray(found.x, dtype=np.float64)


def _most_entropy(changes: Floats, variance: float) -> Floats:
    """Return the probabilities of the largest entropy by Newton's method with halved steps."""
    points, wanted = np.vstack([changes, changes**2]), np.array([0.0, variance])
    weights = np.zeros(2)

    def state(at: Floats) -> tuple[float, Floats]:
        exponent = at @ points
        top = exponent.max()
        raw = np.exp(exponent - top)
        return float(np.log(raw.sum()) + top - at @ wanted), raw / raw.sum()

    value, shares = state(weights)
    for _ in range(200):
        slope = points @ shares - wanted
        if np.abs(slope).max() < EXACT:
            break
        curvature = (points * shares) @ points.T - np.outer(points @ shares, points @ shares)
        step = np.linalg.solve(curvature + 1e-14 * np.eye(2), slope)
        length = 1.0
        while length > 1e-12:
            other, moved = state(weights - length * step)
            if other <= value:
                weights, value, shares = weights - length * step, other, moved
                break
            length /= 2
        else:
            break
    return np.asarray(shares, dtype=np.float64)


def change_counts(
    counts: Integers, keys: Integers, *, largest: int, variance: float, none_to: int
) -> Integers:
    """Return the counts with their changes, shape (n,): never below 0, and none of 1 … ``none_to``."""
    found = counts.copy()
    for kind in np.unique(np.minimum(counts, largest + none_to + 1)).tolist():
        own = np.flatnonzero(np.minimum(counts, largest + none_to + 1) == kind)
        changes, shares = probabilities(kind, largest=largest, variance=variance, none_to=none_to)
        place = np.searchsorted(np.cumsum(shares)[:-1], keys[own] / 2**BITS, side="right")
        found[own] += changes[place]
    return found
