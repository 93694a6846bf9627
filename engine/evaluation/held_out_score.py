"""How well a released model predicts for people who were kept from it. Stays inside."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine import arrays
from engine.evaluation.protocol import InternalMeasure, InternalMeasured, Need, Private
from engine.evaluation.without_noise import exact_models, has_exact_answer
from engine.methods.protocol import Family, Method, ModelArtefact
from engine.table import coding
from engine.table.schema import Column, Kind
from engine.views import Cell, NumberView, TableView, Text, View

ID = "utility.held_out_score"
WORDS = f"measures.{ID}"
NUMBERS = (Kind.INTEGER, Kind.NUMBER)

Floats = arrays.Floats


class HeldOutScore(InternalMeasure):
    """Error of each released model on held-out people, beside a guess and beside the fit without noise.

    Notes
    -----
    For a number the error is the root mean square error, the guess the mean of the rows that the model was
    fitted on; for classes it is the share of wrong predictions, and the most frequent class. The share kept
    of the guess's error, 1 − (error / guess)², is R² on held-out people.

    Held-out people are people of the same table: how well the model does elsewhere is not measured. Choosing
    among releases by this score would be a choice by the rows that no guarantee covers.
    """

    id = ID
    families = frozenset({Family.MODEL})
    needs = frozenset({Need.USED, Need.HELD_OUT, Need.RELEASE})

    def further_applies(self, subject: Method) -> bool:
        return subject.held_out

    def evaluate(self, context: Private) -> InternalMeasured:
        models = [one for one in context.release.artefacts if isinstance(one, ModelArtefact)]
        if context.held_out is None or not models:
            return InternalMeasured()
        plain: dict[str, ModelArtefact] = {}
        if has_exact_answer(context.subject.cost):
            plain = exact_models(
                context.subject, context.used, work_folder=context.work_folder, progress=context.progress
            )
        scores = [_score(one, plain.get(one.name), context) for one in models]
        views = [view for score in scores for view in _views(score)]
        return InternalMeasured(tuple(views), {one.name: one.figures for one in scores})


@dataclass(frozen=True)
class Score:
    """Errors on held-out rows; None where nothing can be compared."""

    name: str
    is_number: bool
    rows: int
    error: float | None = None
    guess: float | None = None
    without_noise: float | None = None

    @property
    def explained(self) -> float | None:
        """Share of the guess's squared error (of its errors, for classes) that the model takes away."""
        if self.error is None or not self.guess:
            return None
        return 1 - (self.error / self.guess) ** (2 if self.is_number else 1)

    @property
    def figures(self) -> dict[str, float | int | None]:
        """As JSON values."""
        return {
            "rows": self.rows,
            "error": self.error,
            "guess": self.guess,
            "without_noise": self.without_noise,
            "explained": self.explained,
        }


def _score(model: ModelArtefact, plain: ModelArtefact | None, context: Private) -> Score:
    assert context.held_out is not None
    column, rows = context.schema.column(model.target), context.held_out.rows()
    is_number = column.kind in NUMBERS
    truth = _truth(rows[model.target], column)
    known = ~pd.isna(truth)
    if not known.any():
        return Score(model.name, is_number, 0)
    fitted = _truth(context.used.rows()[model.target], column)
    error = _root_mean_square if is_number else _share_wrong

    def of(predicted: npt.NDArray[np.generic]) -> float:
        return error(np.asarray(predicted)[known], truth[known])

    return Score(
        model.name,
        is_number,
        int(known.sum()),
        of(model.predict(rows)),
        of(np.full(len(rows), _guess(fitted[~pd.isna(fitted)], is_number))),
        None if plain is None else of(plain.predict(rows)),
    )


def _truth(values: pd.Series, column: Column) -> npt.NDArray[np.generic]:
    """Return the target as numbers, or as the texts of classes; NaN or None where it is missing."""
    if column.kind in NUMBERS:
        return coding.numbers(values, column)
    found, uniques = pd.factorize(values)
    texts = [text or None for text in coding.filled_texts(uniques, column)]
    return np.array([*texts, None], dtype=object)[found]


def _guess(fitted: npt.NDArray[np.generic], is_number: bool) -> object:
    if fitted.size == 0:
        return 0.0 if is_number else ""
    if is_number:
        return float(np.mean(fitted.astype(np.float64)))
    return pd.Series(fitted).value_counts().index[0]


def _root_mean_square(predicted: npt.NDArray[np.generic], truth: npt.NDArray[np.generic]) -> float:
    return float(np.sqrt(np.mean((predicted.astype(np.float64) - truth.astype(np.float64)) ** 2)))


def _share_wrong(predicted: npt.NDArray[np.generic], truth: npt.NDArray[np.generic]) -> float:
    return float(np.mean(predicted.astype(object) != truth.astype(object)))


def _views(score: Score) -> list[View]:
    kind = "number" if score.is_number else "classes"
    errors = {
        "error": score.error,
        "guess": score.guess,
        "without_noise": score.without_noise,
    }
    views: list[View] = [_number("rows", score.rows)]
    if score.error is None:
        return views
    if score.explained is not None:
        views.append(_number("explained", round(100 * score.explained, 1), "%"))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (Text(f"{WORDS}.numbers.{name}.label"), float(f"{value:.4g}"))
        for name, value in errors.items()
        if value is not None
    )
    headings = (Text(f"{WORDS}.views.errors.what"), Text(f"{WORDS}.views.errors.{kind}"))
    title = Text(f"{WORDS}.views.errors.title", {"model": f"{score.name}.json"})
    return [*views, TableView(title, headings, rows, Text(f"{WORDS}.views.errors.note"))]


def _number(name: str, value: float, unit: str = "") -> NumberView:
    return NumberView(Text(f"{WORDS}.numbers.{name}.label"), value, Text(f"{WORDS}.numbers.{name}"), unit)
