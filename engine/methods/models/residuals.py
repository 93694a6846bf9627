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


def weighted_residuals(is_second: arrays.Whole, scores: arrays.Whole) -> arrays.Whole:
    """Return (target − probability) · weight of every row, within ± one half, in steps of 2^-15.

    Parameters
    ----------
    is_second
        In steps of 2^-15: 0 or one.
    scores
        In steps of 2^-12, shape (n,); the probability is 1/(1 + e^-score).

    Notes
    -----
    The weight is one half over the larger of both probabilities: 1 for a row that the model cannot tell, one
    half for one that it is sure of. It depends on the score alone, so that the sum is still 0 on average at
    the true probabilities; clipping at one half is not, it drives them apart. No row reaches further than one
    half either way. (Weighted estimating equations: R. Carroll, S. Pederson, On robustness in the logistic
    regression model, 1993.) Weighted so, target − probability is the target less ½ e^score below a score of
    0, and less 1 − ½ e^-score above, at most one half.
    """
    limit = WIDEST << SCORE_BITS
    left = is_second - _halves().take(scores + limit, mode="clip")
    return np.clip(left, -(RESIDUAL_STEPS >> 1), RESIDUAL_STEPS >> 1)


@cache
def _halves() -> arrays.Whole:
    """Return ½ e^z for every score of the grid below 0 and 1 − ½ e^-z above it, in steps of 2^-15."""
    limit = WIDEST << SCORE_BITS
    scores = np.arange(-limit, limit + 1) / 2**SCORE_BITS
    below = np.exp(-np.abs(scores)) / 2
    return np.rint(RESIDUAL_STEPS * np.where(scores < 0, below, 1 - below)).astype(np.int32)


@cache
def _logistic() -> arrays.Whole:
    """Return 1/(1 + e^-z) for every score of the grid, in steps of 2^-15."""
    limit = WIDEST << SCORE_BITS
    scores = np.arange(-limit, limit + 1) / 2**SCORE_BITS
    return np.rint(RESIDUAL_STEPS / (1 + np.exp(-scores))).astype(np.int32)


def on_grid(values: Floats | float, *, widest: float = 2.0**20) -> Codes:
    """Return published numbers in steps of 2^-12, kept within ± ``widest``."""
    return np.asarray(np.rint(np.clip(values, -widest, widest) * 2**SCORE_BITS), dtype=np.int64)
