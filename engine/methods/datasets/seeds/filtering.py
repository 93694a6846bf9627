"""What the test of crowds does to the rows that leave: bounds for the custodian, from private rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engine import arrays
from engine.methods.datasets.seeds.crowds import Crowd, in_same_bin, weigh_crowd
from engine.privacy.mechanisms.seeded_rows import SeededRows

Codes = arrays.Integers


def distance_at_most(*, small: float, passing: float) -> float:
    """Return the largest total variation distance between tested and untested rows.

    Parameters
    ----------
    small
        β: how likely an untested row has, from the worst seed, a crowd below some size.
    passing
        δ: how likely a crowd of that size passes, above 0.

    Notes
    -----
    Bindschaedler (2018), lemma 5.2, with α = 1 / (δ (1 − β)).

    Examples
    --------
    >>> round(distance_at_most(small=0.01, passing=0.9), 3)
    0.066
    """
    if small >= 1:
        return 1.0
    alpha = 1 / (passing * (1 - small))
    found = small + (1 - passing) / (2 * passing) if alpha <= 2 else (alpha - 1) / 2
    return min(1.0, found)


def smallest_crowd(crowd: Crowd, test: SeededRows) -> Codes:
    """Return for every row the crowd of the seed that has the smallest, whichever seed it was made from."""
    possible = (crowd.counts > 0) & np.isfinite(crowd.logs)
    if test.ratio == 1:  # the likeliest seed: the others have the largest of several
        last = possible.shape[1] - 1 - np.argmax(possible[:, ::-1], axis=1)
        return weigh_crowd(replace(crowd, own=last))
    sizes = [
        np.where(
            possible[:, level],
            in_same_bin(replace(crowd, own=np.full(len(crowd.own), level)), ratio=float(test.ratio)),
            np.iinfo(np.int64).max,
        )
        for level in range(possible.shape[1])
    ]
    return np.min(sizes, axis=0)
