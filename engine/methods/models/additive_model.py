"""An additive model as plain values: what is written, and what predicts from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from engine.methods.models.additive_steps import Fitted, Floats
from engine.methods.models.linear_model import WITHIN_95, Effect, from_scores
from engine.methods.shared.column_cells import ColumnCells, Intervals, cells_of
from engine.numbers import exact
from engine.table import coding
from engine.table.schema import Column, Domain, Kind
from engine.views import Text

FORMAT = "custos.additive_model"
LEVELS, INTERVALS = "levels", "intervals"


def content(
    fitted: Fitted,
    predictors: Sequence[ColumnCells],
    target: Mapping[str, Any],
    *,
    unit: float,
    middle: float,
    further: Mapping[str, Any],
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

    Notes
    -----
    score = intercept + Σ effect of the cell of each predictor. A number is the score, kept within its bounds;
    the probability of the second class is 1/(1 + e^-score).
    """
    told = []
    for cells, curve in zip(predictors, fitted.curves, strict=True):
        column = cells.column
        one: dict[str, Any] = {"name": column.name, "missing": list(column.without_copied().missing)}
        if isinstance(cells, Intervals):
            kind = "date" if column.kind is Kind.DATE else "number"
            one |= {"kind": INTERVALS, "of": kind, "edges": [float(edge) for edge in cells.edges]}
        else:
            one |= {"kind": LEVELS, "levels": list(coding.levels(column))}
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
        **further,
    }


def scores(model: Mapping[str, Any], frame: pd.DataFrame) -> Floats:
    """Return intercept and effects added up for rows, shape (n,)."""
    found = np.full(len(frame), float(model["intercept"]))
    for predictor in model["predictors"]:
        cells = _cells(predictor)
        found += np.asarray(predictor["effects"], dtype=np.float64)[cells.codes(frame[predictor["name"]])]
    return found


def predict(model: Mapping[str, Any], frame: pd.DataFrame) -> np.ndarray:
    """Return what a model written by `content` predicts for rows, shape (n,): numbers, or classes as text.

    Notes
    -----
    Every row gets an answer, whatever it holds. Of classes it is the one whose probability is above one half.
    """
    return from_scores(model["target"], scores(model, frame))


def effects(model: Mapping[str, Any], words: str) -> Iterator[Effect]:
    """Yield what every cell of a model adds, in the order of the predictors."""
    for predictor in model["predictors"]:
        name = str(predictor["name"])
        if predictor["kind"] == LEVELS:
            labels: list[Any] = [*predictor["levels"], Text(f"{words}.other")]
        else:
            edges = [_written(edge, predictor["of"]) for edge in predictor["edges"]]
            labels = [f"{low} – {high}" for low, high in pairwise(edges)]
        labels.append(Text(f"{words}.missing"))
        for label, effect, within in zip(labels, predictor["effects"], predictor["within_95"], strict=True):
            yield Effect(name, label, effect, within)


def _written(edge: float, of: str) -> str:
    return str(np.datetime64(int(edge), "D")) if of == "date" else coding.text_of(float(f"{edge:.6g}"))


def _cells(predictor: Mapping[str, Any]) -> ColumnCells:
    missing = tuple(predictor["missing"])
    if predictor["kind"] == LEVELS:
        domain = Domain(values=tuple(predictor["levels"]))
        column = Column(str(predictor["name"]), kind=Kind.CATEGORY, domain=domain, missing=missing)
        return cells_of(column, bins=1)
    kind = Kind.DATE if predictor["of"] == "date" else Kind.NUMBER
    column = Column(str(predictor["name"]), kind=kind, missing=missing)
    return cells_of(column, bins=1, edges=tuple(exact(edge) for edge in predictor["edges"]))
