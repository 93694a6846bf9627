"""A linear model as plain values: what is written, what predicts from it, and what people see of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.methods.models.design import Design, Floats
from engine.methods.models.quadratic import Solution
from engine.methods.models.targets import CLASSES, Target
from engine.methods.shared.bounds import checked_bounds
from engine.privacy.accuracy import NORMAL_WITHIN
from engine.table import coding
from engine.table.schema import Column, Domain, Kind
from engine.views import Cell, IntervalsView, Label, TableView, Text, weak

FORMAT = "custos.linear_model"
NUMBER, LEVELS = "number", "levels"
AT_MOST = "outside_at_most"
"""The sentence of how many effects lie outside limits that hold in 95 of 100 releases at least."""
FEWEST_OUTSIDE = 10
"""Effects from which it is said how many lie outside their limits by chance."""


def content(design: Design, solution: Solution, further: Mapping[str, Any]) -> dict[str, Any]:
    """Return a model as JSON values: everything that predicts, in the units of the columns.

    Parameters
    ----------
    design, solution
        What the coordinates are, and their weights.
    further
        What else is told: the noise, the privacy level, the number of rows.

    Notes
    -----
    score = intercept + Σ coefficient · (value − middle) + Σ effect of the level. A number is the score, kept
    within the bounds of the target; the probability of the second class is 1/(1 + e^-score). Values are kept
    within their bounds first; a missing number counts as the middle.
    """
    target = Target(design.target)
    weights, spread = solution.weights, NORMAL_WITHIN * np.sqrt(np.maximum(np.diag(solution.covariance), 0.0))
    predictors: list[dict[str, Any]] = []
    for column, width, start in zip(design.predictors, design.widths, design.starts, strict=True):
        kept: dict[str, Any] = {"name": column.name, "missing": list(column.without_copied().missing)}
        if width:
            cells = slice(start, start + width)
            predictors.append(
                kept
                | {"kind": LEVELS, "levels": list(coding.levels(column))}
                | {"effects": (weights[cells] * target.unit).tolist()}
                | {"within_95": (spread[cells] * target.unit).tolist()}
            )
        else:
            bounds = checked_bounds(column)
            unit = target.unit / bounds.half
            predictors.append(
                kept
                | {"kind": NUMBER, "minimum": bounds.low, "maximum": bounds.high, "middle": bounds.middle}
                | {"coefficient": float(weights[start] * unit), "within_95": float(spread[start] * unit)}
            )
    return {
        "format": FORMAT,
        "version": 1,
        "target": target.described,
        "intercept": float(target.middle + weights[0] * target.unit),
        "intercept_within_95": float(spread[0] * target.unit),
        "predictors": predictors,
        **further,
    }


def scores(model: Mapping[str, Any], frame: pd.DataFrame) -> Floats:
    """Return intercept and effects added up for rows, shape (n,)."""
    found = np.full(len(frame), float(model["intercept"]))
    for predictor in model["predictors"]:
        found += _effect(predictor, frame[predictor["name"]])
    return found


def predict(model: Mapping[str, Any], frame: pd.DataFrame) -> npt.NDArray[Any]:
    """Return what a model written by `content` predicts for rows, shape (n,): numbers, or classes as text.

    Parameters
    ----------
    model
        As read from its file.
    frame
        Rows with the columns of the predictors; others have no part.

    Notes
    -----
    Every row gets an answer, whatever it holds: a number within the declared bounds of the target, or the
    class whose probability is above one half.
    """
    return from_scores(model["target"], scores(model, frame))


def from_scores(target: Mapping[str, Any], found: Floats) -> npt.NDArray[Any]:
    """Return what scores say of a target: numbers within its bounds, or one of its two classes."""
    if target.get("kind") == CLASSES:
        return np.array(target["values"], dtype=object)[(found > 0).astype(np.int64)]
    return np.clip(found, target["minimum"], target["maximum"])


def _effect(predictor: Mapping[str, Any], values: pd.Series) -> Floats:
    name, missing = str(predictor["name"]), tuple(predictor["missing"])
    if predictor["kind"] == LEVELS:
        column = Column(name, kind=Kind.CATEGORY, domain=Domain(values=tuple(predictor["levels"])))
        codes = coding.codes(values, _with_missing(column, missing))
        return np.asarray(predictor["effects"], dtype=np.float64)[codes]
    numbers = coding.numbers(values, _with_missing(Column(name, kind=Kind.NUMBER), missing))
    inside = np.clip(numbers, predictor["minimum"], predictor["maximum"]) - predictor["middle"]
    return np.asarray(np.where(np.isnan(inside), 0.0, inside) * predictor["coefficient"])


def _with_missing(column: Column, missing: tuple[str, ...]) -> Column:
    return Column(column.name, kind=column.kind, domain=column.domain, missing=missing)


@dataclass(frozen=True)
class Effect:
    """What one coordinate adds to a prediction, in units of the target, and how far the noise moves that.

    For a number: from the middle to the upper end of its declared range. For a level: beside the average.
    ``is_empty``: hardly anybody has the value, so that noise and neighbours alone made the effect.
    ``is_aside``: not declared or missing, where nothing released tells how many have such a value.
    """

    column: str
    value: Label
    effect: float
    within: float
    is_empty: bool = False
    is_aside: bool = False

    @property
    def is_nothing(self) -> bool:
        """Whether it cannot be told from nothing: the noise alone makes as much in 5 of 100 releases."""
        return abs(self.effect) <= self.within


def effects(model: Mapping[str, Any], words: str) -> Iterator[Effect]:
    """Yield what every coordinate of a model adds, in the order of the predictors."""
    for predictor in model["predictors"]:
        name = str(predictor["name"])
        if predictor["kind"] == NUMBER:
            reach = predictor["maximum"] - predictor["middle"]
            at = Text(f"{words}.to_maximum", {"maximum": coding.text_of(predictor["maximum"])})
            yield Effect(name, at, predictor["coefficient"] * reach, predictor["within_95"] * reach)
            continue
        labels = (*predictor["levels"], Text(f"{words}.other"), Text(f"{words}.missing"))
        each = zip(labels, predictor["effects"], predictor["within_95"], strict=True)
        for place, (label, effect, within) in enumerate(each):
            yield Effect(name, label, effect, within, is_aside=place >= len(predictor["levels"]))


def effects_table(
    found: list[Effect], words: str, *, unit: str = "", note: str = "note", outside: str = "outside"
) -> TableView:
    """Return the effects with their bands; those that cannot be told from nothing say so.

    An effect of a value that hardly anybody has gets no limits: they are those of the noise in a fit to rows.
    ``outside`` names the sentence of how many effects lie outside: limits of some ways hold in 95 of 100
    releases, those of others in 95 at least.
    """
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            one.column,
            one.value,
            weak(_digits(one.effect)) if one.is_empty else _digits(one.effect),
            None if one.is_empty else _digits(one.effect - one.within),
            None if one.is_empty else _digits(one.effect + one.within),
            _mark(one, words),
        )
        for one in found
    )
    headings = [
        Text(f"{words}.headings.{name}") for name in ("column", "value", "effect", "low", "high", "mark")
    ]
    if unit:
        headings[2] = Text("models.effects.in_unit", {"heading": headings[2], "unit": unit})
    said, limited = Text(f"{words}.effects.{note}"), sum(not one.is_empty for one in found)
    if limited >= FEWEST_OUTSIDE:
        told = {"count": limited, "outside": max(1, round(limited / 20))}
        counted = Text(f"models.effects.{outside}", told)
        said = Text("models.effects.both", {"first": said, "second": counted})
    return TableView(Text(f"{words}.effects.title"), tuple(headings), rows, said)


def _mark(one: Effect, words: str) -> Text | None:
    if one.is_empty:
        return Text("models.effects.empty")
    if one.is_nothing:
        return Text(f"{words}.nothing")
    return Text("models.effects.aside") if one.is_aside else None


def effects_picture(found: list[Effect], words: str, axis: Label) -> IntervalsView:
    """Return the effects as points with bands, the largest first, at most thirty.

    Those that noise alone may have made, as perhaps nobody has the value, stand in the table alone.
    """
    known = (one for one in found if not (one.is_empty or one.is_aside))
    shown = sorted(known, key=lambda one: -abs(one.effect))[:30]
    labels = tuple(
        Text(f"{one.value.id}_of", {"column": one.column, **one.value.values})
        if isinstance(one.value, Text) and one.value.id.startswith(f"{words}.")
        else Text(f"{words}.at", {"column": one.column, "value": one.value})
        for one in shown
    )
    return IntervalsView(
        Text(f"{words}.picture.title"),
        labels,
        tuple(_digits(one.effect) for one in shown),
        tuple(_digits(one.effect - one.within) for one in shown),
        tuple(_digits(one.effect + one.within) for one in shown),
        axis,
        Text(f"{words}.picture.note"),
    )


def _digits(value: float) -> float:
    """Return four digits, and of a thousand on one decimal: an effect and its limits give one margin."""
    return round(value, 1) if abs(value) >= 1000 else float(f"{value:.4g}")
