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
WHOLE = 4
"""Parts of a step of 2^-15: with so many, residuals are counted in whole ones."""
WIDEST = 8
"""Scores are kept within ± this."""


def residuals(
    target: arrays.Whole, scores: arrays.Whole, *, is_classes: bool, reach: int, parts: int = WHOLE
) -> arrays.Whole:
    """Return target − prediction of every row, clipped to ± ``reach``, in steps of 4/``parts`` · 2^-15.

    Parameters
    ----------
    target
        In steps of 2^-15: 0 or one for classes, −1 to 1 for numbers.
    scores
        In steps of 2^-12, shape (n,).
    is_classes
        Whether the prediction is 1/(1 + e^-score), else the score.
    parts
        4 for steps of 2^-15; up to 128 for finer steps, which the same reach clips at less.

    Notes
    -----
    Scores of 32 bits are below 2^31 − 2^15. The answer has as many bits as the wider of both.
    """
    limit = WIDEST << SCORE_BITS
    if is_classes:
        foreseen = _logistic().take(scores + limit, mode="clip")
    else:
        foreseen = np.clip(scores, -limit, limit) << (RESIDUAL_BITS - SCORE_BITS)
    left = target - foreseen
    if parts != WHOLE:
        left = left * parts >> 2
    return np.clip(left, -reach, reach)


@cache
def _logistic() -> arrays.Whole:
    """Return 1/(1 + e^-z) for every score of the grid, in steps of 2^-15."""
    limit = WIDEST << SCORE_BITS
    scores = np.arange(-limit, limit + 1) / 2**SCORE_BITS
    return np.rint(RESIDUAL_STEPS / (1 + np.exp(-scores))).astype(np.int32)


def on_grid(values: Floats | float, *, widest: float = 2.0**20) -> Codes:
    """Return published numbers in steps of 2^-12, kept within ± ``widest``."""
    return np.asarray(np.rint(np.clip(values, -widest, widest) * 2**SCORE_BITS), dtype=np.int64)
