"""A naive Bayes model as plain values: what is written, and what predicts from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine import arrays
from engine.methods.models.written_cells import read_cells
from engine.table import coding
from engine.table.schema import Column, Kind

FORMAT = "custos.naive_bayes"
NORMAL = "normal"
Floats = arrays.Floats


def log_odds(model: Mapping[str, Any], frame: pd.DataFrame) -> Floats:
    """Return, for every row and class, the logarithm of share × likelihood, shape (n, classes)."""
    found = np.tile(np.log(model["shares"]), (len(frame), 1))
    for predictor in model["predictors"]:
        values = frame[predictor["name"]]
        if predictor["kind"] == NORMAL:
            found += _normal(predictor, values)
        else:
            found += np.log(predictor["shares"]).T[read_cells(predictor).codes(values)]
    return found


def _normal(predictor: Mapping[str, Any], values: pd.Series) -> Floats:
    """Return the logarithm of share × density where the number is known, of the share where it is missing."""
    column = Column(str(predictor["name"]), kind=Kind.NUMBER, missing=tuple(predictor["missing"]))
    numbers = np.clip(coding.numbers(values, column), predictor["minimum"], predictor["maximum"])[:, None]
    mean, deviation = np.array(predictor["means"]), np.array(predictor["deviations"])
    density = -0.5 * ((numbers - mean) / deviation) ** 2 - np.log(deviation * np.sqrt(2 * np.pi))
    known = np.array(predictor["known"])
    return np.where(np.isnan(numbers), np.log(1 - known), np.log(known) + density)


def predict(model: Mapping[str, Any], frame: pd.DataFrame) -> npt.NDArray[Any]:
    """Return the most likely class of every row, as text: every row has one, whatever it holds."""
    return np.array(model["target"]["values"], dtype=object)[log_odds(model, frame).argmax(axis=1)]


def probabilities(model: Mapping[str, Any], frame: pd.DataFrame) -> Floats:
    """Return the probability of every class, shape (n, classes)."""
    odds = log_odds(model, frame)
    raised = np.exp(odds - odds.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))
