"""How exact the shares of invented rows are: the noise of all tables that tell of a column, together."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt

from engine.methods.datasets.marginal_model.fitting import Measured

Z = 1.959964


def combined_deviation(measured: Sequence[Measured], column: int, cells: int) -> float:
    """Return the standard deviation of the count of one cell of a column, by all tables that tell of it.

    Parameters
    ----------
    measured
        Tables with noise.
    column, cells
        Its place, and how many cells it has.

    Notes
    -----
    A table of the column and another one with K cells, each with σ, tells a sum over these K cells: its
    variance is K σ². The model weighs tables by their exactness, which gives 1 / Σ 1/(K σ²): the combined
    estimate of independent ones. Coarse tables, which do not tell cells apart, are left out: rather too much.

    Examples
    --------
    >>> import numpy as np
    >>> whole = (np.arange(2),)
    >>> alone = Measured((0,), whole, np.zeros(2), 6.0)
    >>> pair = Measured((0, 1), (*whole, np.arange(4)), np.zeros((2, 4)), 4.0)
    >>> combined_deviation([alone], 0, 2), combined_deviation([alone, pair], 0, 2)
    (6.0, 4.8)
    """
    weights = []
    for one in measured:
        if column in one.attributes:
            place = one.attributes.index(column)
            if one.counts.shape[place] == cells:
                others = prod(one.counts.shape) // cells
                weights.append(1 / (others * one.deviation**2))
    return 1 / sqrt(sum(weights))


def interval(share: float, *, deviation: float, rows: float, drawn: int) -> tuple[float, float]:
    """Return what 95 of 100 intervals of a share hold: that of the people whom the table is a sample of.

    Parameters
    ----------
    share
        Among the invented rows.
    deviation
        `combined_deviation`.
    rows
        How many rows the counts say that there are.
    drawn
        How many rows were invented.

    Notes
    -----
    Variance: σ²/n² by the noise, p (1 − p)/n as the table is a sample, and for n′ rows drawn 1/(4 n′²), as
    their shares are whole numbers, with p (1 − p)(1/n′ − 1/n) where they are fewer than n. Rows are drawn
    more evenly than by lot, so that this is rather too much.
    """
    own = share * (1 - share)
    fewer = max(0.0, 1 / drawn - 1 / rows)
    variance = (deviation / rows) ** 2 + own * (1 / rows + fewer) + 0.25 / drawn**2
    half = Z * sqrt(variance)
    return max(0.0, share - half), min(1.0, share + half)
