"""How alike single columns and correlations of two tables are."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from math import exp

import numpy as np
import numpy.typing as npt

from engine.utility.distances import Codes

SMOOTHING = 0.5
"""Rows added to every class, so that one which the other table lacks does not make the divergence endless."""


def divergence(original: Codes, other: Codes) -> float:
    """Return the Kullback–Leibler divergence of one column, in nats.

    Parameters
    ----------
    original, other
        Classes from 0; the divergence is Σ p ln(p / q) with p from the original.

    Notes
    -----
    `SMOOTHING` rows are added to every class of either table. Two samples of one population are above 0.

    Examples
    --------
    >>> round(divergence(np.array([0, 0, 1]), np.array([0, 1, 1])), 4)  # 5/8 ln 5/3 + 3/8 ln 3/5
    0.1277
    """
    size = int(max(original.max(initial=0), other.max(initial=0))) + 1
    p, q = (
        (np.bincount(codes, minlength=size) + SMOOTHING) / (len(codes) + SMOOTHING * size)
        for codes in (original, other)
    )
    return float(max(0.0, np.sum(p * np.log(p / q))))


def similarity(original: Mapping[str, Codes], other: Mapping[str, Codes]) -> dict[str, float]:
    """Return exp(−divergence) of every column: 1 for equal shares, near 0 for nothing in common.

    Notes
    -----
    Source: A. Dandekar, thesis (2019), section 4.3, which does not print its normaliser: exp(−KL) is ours.

    Examples
    --------
    >>> same = {"sex": np.array([0, 1, 1])}
    >>> similarity(same, same)
    {'sex': 1.0}
    """
    return {name: exp(-divergence(codes, other[name])) for name, codes in original.items()}


def correlations(amounts: Mapping[str, npt.NDArray[np.float64]]) -> dict[tuple[str, str], float]:
    """Return Pearson's correlation of every pair of amounts, from the rows that have both.

    Parameters
    ----------
    amounts
        By column, NaN where one is missing.

    Returns
    -------
    dict
        Without the pairs of which one does not vary.

    Examples
    --------
    >>> correlations({"a": np.array([1.0, 2, 3, np.nan]), "b": np.array([2.0, 4, 6, 0])})
    {('a', 'b'): 1.0}
    """
    found = {}
    for first, second in combinations(amounts, 2):
        x, y = amounts[first], amounts[second]
        both = ~(np.isnan(x) | np.isnan(y))
        if both.sum() < 3:
            continue
        x, y = _centre(x[both]), _centre(y[both])
        spread = float(np.sqrt((x @ x) * (y @ y)))
        if spread > 0:
            found[first, second] = float(np.clip((x @ y) / spread, -1, 1))
    return found


def _centre(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return values less their mean, as parts of the largest: squares of the largest numbers are infinite."""
    largest = float(np.abs(values).max())
    parts = values / largest if largest > 0 else values
    return np.asarray(parts - parts.mean())


def apart(one: Mapping[tuple[str, str], float], other: Mapping[tuple[str, str], float]) -> list[float]:
    """Return how far correlations are apart; one that the other table lacks is taken as 0 there.

    Examples
    --------
    >>> apart({("a", "b"): 0.5}, {})
    [0.5]
    """
    return [abs(value - other.get(pair, 0.0)) for pair, value in one.items()]
