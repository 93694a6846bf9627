"""What a model leaves of the target of each row, in whole steps.

It follows from the row and from published numbers alone: scores are sums of whole numbers and the logistic
function is a table, so that another row changes no bit of it.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from engine import arrays

Codes = arrays.Integers
Floats = arrays.Floats

SCORE_BITS, RESIDUAL_BITS = 12, 15
RESIDUAL_STEPS = 1 << RESIDUAL_BITS
WIDEST = 8
"""Scores are kept within ± this."""


def residuals(target: Codes, scores: Codes, *, is_classes: bool, reach: int) -> Codes:
    """Return target − prediction of every row, clipped to ± ``reach``, in steps of 2^-15.

    Parameters
    ----------
    target
        In steps of 2^-15: 0 or one for classes, −1 to 1 for numbers.
    scores
        In steps of 2^-12, shape (n,).
    is_classes
        Whether the prediction is 1/(1 + e^-score), else the score.
    """
    limit = WIDEST << SCORE_BITS
    inside = np.clip(scores, -limit, limit)
    foreseen = _logistic()[inside + limit] if is_classes else inside << (RESIDUAL_BITS - SCORE_BITS)
    return np.clip(target - foreseen, -reach, reach)


@cache
def _logistic() -> Codes:
    """Return 1/(1 + e^-z) for every score of the grid, in steps of 2^-15."""
    limit = WIDEST << SCORE_BITS
    scores = np.arange(-limit, limit + 1) / 2**SCORE_BITS
    return np.rint(RESIDUAL_STEPS / (1 + np.exp(-scores))).astype(np.int64)


def on_grid(values: Floats | float, *, widest: float = 2.0**20) -> Codes:
    """Return published numbers in steps of 2^-12, kept within ± ``widest``."""
    return np.asarray(np.rint(np.clip(values, -widest, widest) * 2**SCORE_BITS), dtype=np.int64)
