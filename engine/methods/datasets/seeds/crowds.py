"""How large the crowd is that could have led to a row: whole numbers, which one more person moves by one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from engine import arrays

Codes = arrays.Integers
Floats = arrays.Floats

GRID = 2**20


@dataclass(frozen=True)
class Crowd:
    """Who could have led to rows, and how likely.

    Parameters
    ----------
    counts
        How many seeds stand on every level, shape (rows, levels).
    logs
        ln p: how likely a seed of a level leads to the row; rising along the levels, −inf for never. A
        function of the row and the model alone.
    own
        The level of the seed that the row was made from, shape (rows,); its count holds that seed.
    """

    counts: Codes
    logs: Floats
    own: Codes


def in_same_bin(crowd: Crowd, *, ratio: float) -> Codes:
    """Return how many seeds have a likelihood in the same bin as the seed, itself included.

    Notes
    -----
    Bin i holds r^−(i+1) < p <= r^−i. Bindschaedler (2018), equation 4.3, with the brackets of appendix A.3.
    """
    with np.errstate(invalid="ignore"):
        bins = np.floor(-crowd.logs / math.log(ratio))
    own = np.take_along_axis(bins, crowd.own[:, None], axis=1)
    alike = (bins == own) & np.isfinite(crowd.logs)
    return np.asarray((crowd.counts * alike).sum(axis=1))


def weigh_crowd(crowd: Crowd) -> Codes:
    """Return how many others there are, each weighing as much as it is as likely, rounded down.

    Notes
    -----
    With ms(d) = Σ p_s / p_d over the others s with p_s <= p_d, the largest ms among the seed and all seeds at
    least as likely: Bindschaedler (2018), equation 4.4 and definition 4.2. Every weight is rounded down to a
    grid, so that sums are whole numbers and one more seed adds at most one (lemma 4.1 needs of a weight only
    that it lies between 0 and 1 and never rises with p_d). A likelihood too small for a number counts as
    never.
    """
    relative = np.exp(crowd.logs - crowd.logs[:, -1:])
    best = np.full(len(crowd.own), -1, dtype=np.int64)
    for place in reversed(range(relative.shape[1])):
        here = relative[:, place]
        usable = (crowd.counts[:, place] > 0) & (here > 0) & (crowd.own <= place)
        weights = np.floor(GRID * (relative[:, : place + 1] / np.where(here > 0, here, 1)[:, None]))
        sums = (crowd.counts[:, : place + 1] * weights.astype(np.int64)).sum(axis=1) - GRID
        best = np.where(usable, np.maximum(best, sums), best)
    own = np.take_along_axis(relative, crowd.own[:, None], axis=1)[:, 0]
    return np.where((own > 0) & (best > 0), best // GRID, 0)
