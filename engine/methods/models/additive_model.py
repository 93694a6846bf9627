"""An additive model as plain values: what is written, and what predicts from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import log
from typing import Any

import numpy as np
import pandas as pd

from engine.methods.models.additive_pairs import Pair, pair_scores, written_pairs
from engine.methods.models.additive_steps import Fitted, Floats
from engine.methods.models.linear_model import WITHIN_95, Effect, from_scores
from engine.methods.models.written_cells import cell_labels, read_cells, written_cells
from engine.methods.shared.column_cells import ColumnCells

FORMAT = "custos.additive_model"


def content(
    fitted: Fitted,
    predictors: Sequence[ColumnCells],
    target: Mapping[str, Any],
    *,
    unit: float,
    middle: float,
    further: Mapping[str, Any],
    pairs: Sequence[Pair] = (),
) -> dict[str, Any]:
    """Return a model as JSON values: everything that predicts.

    Parameters
    ----------
    fitted
        Intercept and curves.
    predictors
        What the cells of the curves are.
    target
        Name, kind, and its two values or its bounds.
    unit, middle
        What one stands for, and what 0 stands for, in the units of the target; 1 and 0 for classes.
    further
        What else is told: the noise, the privacy level.
    pairs
        Those of predictors that have a table of points.

    Notes
    -----
    score = intercept + Σ effect of the cell of each predictor + Σ effect of the groups of each pair. A number
    is the score, kept within its bounds; what the probability of the second class is `probabilities` says.
    """
    told = []
    for cells, curve in zip(predictors, fitted.curves, strict=True):
        one = written_cells(cells)
        one["effects"] = [float(value) for value in curve.effects * unit]
        one["within_95"] = [float(value) for value in WITHIN_95 * curve.spread * unit]
        one["rows"] = [round(float(value)) for value in curve.rows]
        told.append(one)
    intercept = middle + fitted.intercept * unit
    return {
        "format": FORMAT,
        "version": 1,
        "target": dict(target),
        "intercept": float(intercept),
        "predictors": told,
        **written_pairs(pairs, fitted.pairs, unit=unit),
        **further,
    }


def scores(model: Mapping[str, Any], frame: pd.DataFrame) -> Floats:
    """Return intercept and effects added up for rows, shape (n,)."""
    found = float(model["intercept"]) + pair_scores(model, frame)
    for predictor in model["predictors"]:
        cells = read_cells(predictor)
        found += np.asarray(predictor["effects"], dtype=np.float64)[cells.codes(frame[predictor["name"]])]
    return found


def predict(model: Mapping[str, Any], frame: pd.DataFrame) -> np.ndarray:
    """Return what a model written by `content` predicts for rows, shape (n,): numbers, or classes as text.

    Notes
    -----
    Every row gets an answer, whatever it holds. Of classes it is the one whose probability is above one half.
    """
    return from_scores(model["target"], scores(model, frame))


def probabilities(model: Mapping[str, Any], frame: pd.DataFrame) -> Floats:
    """Return the probability of the second class of a model of classes for rows, shape (n,).

    Examples
    --------
    >>> model = {"intercept": -2.0, "predictors": [], "clipping": "1/2"}
    >>> float(probabilities(model, pd.DataFrame(index=range(1)))[0].round(4))
    0.1925
    """
    return unclipped(1 / (1 + np.exp(-scores(model, frame))), float(Fraction(model["clipping"])))


def unclipped(fitted: Floats, clipping: float) -> Floats:
    """Return the shares of the second class that lead a fit with clipped residuals to 1/(1 + e^-score).

    Parameters
    ----------
    fitted
        1/(1 + e^-score), shape (n,).
    clipping
        Residuals were clipped to ± this, from ½ to 1.

    Notes
    -----
    Where a share q of rows is of the second class, the fit comes to rest at the p at which clipped residuals
    cancel: q min(1 − p, c) = (1 − q) min(p, c). For p below 1 − c that is q = p / (c + p), above c the same
    of the other class, and between them q = p. (By hand; for c = ½: q = 2p / (1 + 2p).)
    """
    rare = np.minimum(fitted, 1 - fitted)
    true = np.where(rare < 1 - clipping, rare / (clipping + rare), rare)
    return np.asarray(np.where(fitted > 0.5, 1 - true, true), dtype=np.float64)


def effects(model: Mapping[str, Any], words: str) -> Iterator[Effect]:
    """Yield what every cell of a model adds, in the order of the predictors."""
    margin = rows_margin(model)
    for predictor in model["predictors"]:
        name = str(predictor["name"])
        parts = (predictor["effects"], predictor["within_95"], predictor["rows"])
        for label, effect, within, rows in zip(cell_labels(predictor, words), *parts, strict=True):
            yield Effect(name, label, effect, within, is_empty=rows <= margin)


def rows_margin(model: Mapping[str, Any]) -> float:
    """Return what 95 of 100 noisy numbers of rows stay within of the exact ones.

    Examples
    --------
    >>> round(rows_margin({"noise": {"distribution": "discrete_laplace", "scale_of_counts": "10"}}), 1)
    30.0
    """
    noise = model["noise"]
    deviations = WITHIN_95 if noise["distribution"] == "discrete_gaussian" else log(20)
    return deviations * float(Fraction(noise["scale_of_counts"]))
