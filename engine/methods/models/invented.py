"""Invented rows of the declared columns: what a forecast is computed for, without any real row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.methods.models.design import Design, Floats

SPREAD = 0.3
"""Standard deviation of invented columns, half of the declared range being 1."""
SHARE = 0.3
"""Share of the invented target's variance that the predictors explain."""


@dataclass(frozen=True)
class Foreseen:
    """Root mean squares of errors of a target between −1 and 1, and the share of the fit that is kept."""

    prediction: float
    effect: float
    kept: float

    @classmethod
    def of(cls, off: Floats, covariance: Floats, moments: Floats, explained: float) -> Foreseen:
        """Return the errors of weights that are ``off`` on average and have a covariance around that.

        Effects of levels that nobody has are left out: of them nothing is said.
        """
        known = np.diag(moments)[1:] > 0
        square = float(off @ moments @ off + np.sum(moments * covariance))
        apart = np.sqrt(off[1:] ** 2 + np.maximum(np.diag(covariance)[1:], 0))
        kept = max(0.0, 1 - square / explained)
        return cls(float(np.sqrt(max(square, 0.0))), float(np.sqrt(np.mean(apart[known] ** 2))), kept)


def invent_moments(design: Design, *, spread: float = SPREAD, share: float = SHARE) -> tuple[Floats, Floats]:
    """Return the second moments of invented rows, and the weights of an invented truth.

    Predictors are independent, levels equally frequent; each explains the same, together a ``share`` of the
    variance ``spread``² of the target.
    """
    mean, within, weights = np.zeros(design.size), np.zeros((design.size,) * 2), np.zeros(design.size)
    mean[0] = 1.0
    each = spread * np.sqrt(share / len(design.predictors))
    for width, start in zip(design.widths, design.starts, strict=True):
        if not width:
            within[start, start], weights[start] = SPREAD**2, each / SPREAD
            continue
        declared = slice(start, start + max(width - 2, 1))
        part = 1 / (declared.stop - declared.start)
        mean[declared] = part
        within[declared, declared] = np.diag(np.full(round(1 / part), part)) - part**2
        weights[declared] = each * np.resize([1.0, -1.0], round(1 / part))
    return np.outer(mean, mean) + within, weights
