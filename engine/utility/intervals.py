"""Estimates that analysts make, with their intervals, and how much of an interval two tables share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from engine import arrays
from engine.privacy.accuracy import NORMAL_WITHIN
from engine.utility.distances import Codes

Floats = arrays.Floats

LEAST_PEOPLE = 20
"""Rows that a share or a group needs in the original to be looked at."""
MOST_LEVELS = 8
MOST_GROUPS = 60
MOST_PREDICTORS = 40


class Analysis(StrEnum):
    """What is estimated."""

    MEAN = "mean"
    SHARE = "share"
    COEFFICIENT = "coefficient"
    GROUP = "group"


@dataclass(frozen=True)
class Question:
    """One estimate, without its answer.

    Parameters
    ----------
    analysis
        What is estimated.
    column
        Of which column: the mean of an amount, the share of ``level``, or a coefficient of its regression.
    level
        Place of the value whose share is meant; None for an amount.
    within
        For a group: its column and the place of its value. For a coefficient: the predictor, with the place
        of its value or −1 for an amount.
    rows
        Original rows that it is estimated from.
    """

    analysis: Analysis
    column: str
    level: int | None
    within: tuple[str, int] | None = None
    rows: int = 0


@dataclass(frozen=True)
class Cells:
    """The columns of a table as numbers: amounts with NaN where one is missing, and the places of names."""

    amounts: Mapping[str, Floats]
    names: Mapping[str, Codes]

    @property
    def rows(self) -> int:
        """How many rows there are; none where there is no column."""
        return len(next(iter({**self.amounts, **self.names}.values()), ()))

    def taken(self, places: npt.NDArray[np.generic]) -> Cells:
        """Return some of the rows."""
        return Cells(
            {name: values[places] for name, values in self.amounts.items()},
            {name: codes[places] for name, codes in self.names.items()},
        )

    def outcome(self, column: str, level: int | None) -> Floats:
        """Return an amount, or 1 where a name is the one that is meant and else 0."""
        if level is None:
            return self.amounts[column]
        return (self.names[column] == level).astype(np.float64)


def questions(original: Cells, outcomes: Sequence[str], groups: Sequence[str]) -> tuple[Question, ...]:
    """Return what is estimated: chosen from the original alone, so that all tables are asked the same.

    Parameters
    ----------
    original
        The rows that a table was made from.
    outcomes
        Columns that are also estimated within groups, and regressed on all others.
    groups
        Columns whose values make the groups: the smallest ones of `LEAST_PEOPLE` rows or more come first.
    """
    found = [Question(Analysis.MEAN, name, None, rows=original.rows) for name in original.amounts]
    found += [
        Question(Analysis.SHARE, name, level, rows=original.rows)
        for name in original.names
        for level in _frequent(original.names[name])
    ]
    found += [one for name in outcomes for one in _coefficients(original, name)]
    return (*found, *_groups(original, outcomes, groups))


def estimate_with_variances(cells: Cells, asked: Sequence[Question]) -> Floats:
    """Return the estimates of a table and their variances, NaN where it cannot answer.

    Returns
    -------
    array, shape (questions, 2)
        Estimate and variance, infinite where no number can hold it: s²/n for a mean, p(1 − p)/n for a share,
        with one more row of either kind in p (a share of none is not known for certain), σ² (X'X)⁻¹ for a
        coefficient of least squares.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return _answer(cells, asked)


def _answer(cells: Cells, asked: Sequence[Question]) -> Floats:
    found = np.full((len(asked), 2), np.nan)
    regressed: dict[tuple[str, int | None], dict[tuple[str, int], tuple[float, float]]] = {}
    for place, one in enumerate(asked):
        if one.analysis is Analysis.COEFFICIENT:
            key = (one.column, one.level)
            if key not in regressed:
                regressed[key] = _regress(cells, one, asked)
            found[place] = regressed[key].get(one.within or ("", 0), (np.nan, np.nan))
            continue
        values = cells.outcome(one.column, one.level)
        if one.within is not None:
            values = values[cells.names[one.within[0]] == one.within[1]]
        values = values[~np.isnan(values)]
        if len(values) > 1:
            found[place] = values.mean(), _spread(values, is_share=one.level is not None) / len(values)
    return found


def _spread(values: Floats, *, is_share: bool) -> float:
    if not is_share:
        return float(values.var(ddof=1))
    share = (values.sum() + 1) / (len(values) + 2)
    return float(share * (1 - share))


def intervals(answers: Floats) -> Floats:
    """Return 95 % intervals of estimates and variances, shape (questions, 2)."""
    half = NORMAL_WITHIN * np.sqrt(answers[:, 1])
    with np.errstate(over="ignore", invalid="ignore"):
        return np.column_stack([answers[:, 0] - half, answers[:, 0] + half])


def overlap(original: Floats, other: Floats) -> Floats:
    """Return how much of two intervals is shared, from 0 to 1.

    Parameters
    ----------
    original, other
        Bounds, shape (questions, 2); NaN where there is no interval.

    Notes
    -----
    ½ [(U − L)/(U_o − L_o) + (U − L)/(U_s − L_s)] with U and L the bounds of what is shared; 0 where nothing
    is or the other table cannot answer, 1 for two equal intervals without width.

    Source: A. Karr and others, The American Statistician 60 (2006).

    Examples
    --------
    >>> overlap(np.array([[0.0, 2.0], [0, 1]]), np.array([[1.0, 3.0], [2, 3]])).tolist()
    [0.5, 0.0]
    """
    low = np.maximum(original[:, 0], other[:, 0])
    high = np.minimum(original[:, 1], other[:, 1])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        shared = np.maximum(high - low, 0.0)
        widths = [bounds[:, 1] - bounds[:, 0] for bounds in (original, other)]
        found = (shared / widths[0] + shared / widths[1]) / 2
    point = (widths[0] == 0) | (widths[1] == 0)
    found[point] = (np.isclose(original, other).all(axis=1) & (widths[0] == widths[1]))[point]
    return np.where(np.isnan(other).any(axis=1), 0.0, found)


def _frequent(codes: Codes) -> list[int]:
    """Return the most frequent values that enough rows have, but not one that all rows have."""
    counts = np.bincount(codes)
    most = np.argsort(-counts, kind="stable")[:MOST_LEVELS]
    return [int(place) for place in most if LEAST_PEOPLE <= counts[place] < len(codes)]


def _level(original: Cells, column: str) -> tuple[int | None, bool]:
    """Return the value whose share stands for a column of names, and whether the column varies at all."""
    if column in original.amounts:
        values = original.amounts[column]
        known = values[~np.isnan(values)]
        return None, bool(len(known) and known.min() < known.max())
    levels = _frequent(original.names[column])
    return (levels[0], True) if levels else (None, False)


def _groups(original: Cells, outcomes: Sequence[str], groups: Sequence[str]) -> list[Question]:
    found = []
    for group in groups:
        counts = np.bincount(original.names[group])
        for value in np.flatnonzero((counts >= LEAST_PEOPLE) & (counts < original.rows)):
            for outcome in outcomes:
                level, varies = _level(original, outcome)
                if varies and outcome != group:
                    within, rows = (group, int(value)), int(counts[value])
                    found.append(Question(Analysis.GROUP, outcome, level, within, rows))
    return sorted(found, key=lambda one: one.rows)[:MOST_GROUPS]


def _coefficients(original: Cells, outcome: str) -> list[Question]:
    """Return the coefficients of a regression of an outcome on the other columns.

    Of every column of names the most frequent value is the one that others are compared with.
    """
    level, varies = _level(original, outcome)
    if not varies:
        return []
    predictors = [(name, -1) for name in original.amounts if name != outcome and _level(original, name)[1]]
    for name, codes in original.names.items():
        if name != outcome:
            predictors += [(name, value) for value in _frequent(codes)[1:]]
    rows = original.rows
    asked = predictors[:MOST_PREDICTORS]
    return [Question(Analysis.COEFFICIENT, outcome, level, one, rows) for one in asked]


def _regress(
    cells: Cells, one: Question, asked: Sequence[Question]
) -> dict[tuple[str, int], tuple[float, float]]:
    """Return the coefficients of one regression with their variances, without those that cannot be told."""
    predictors = [
        other.within
        for other in asked
        if other.analysis is Analysis.COEFFICIENT
        and (other.column, other.level) == (one.column, one.level)
        and other.within is not None
    ]
    columns = [cells.outcome(name, None if value < 0 else value) for name, value in predictors]
    outcome = cells.outcome(one.column, one.level)
    known = ~np.isnan(np.column_stack([outcome, *columns])).any(axis=1)
    y = outcome[known] - outcome[known].mean() if known.any() else outcome[known]
    x = np.column_stack([values[known] for values in columns]) if columns else np.empty((len(y), 0))
    x = x - x.mean(axis=0) if len(x) else x  # the intercept takes the means away
    scale = np.sqrt((x**2).sum(axis=0))
    scale[scale == 0] = 1.0
    products, with_outcome = (x / scale).T @ (x / scale), (x / scale).T @ y
    kept = _independent(products)
    free = len(y) - len(kept) - 1
    if free <= 0 or not kept:
        return {}
    inverse = np.linalg.inv(products[np.ix_(kept, kept)])
    fitted = inverse @ with_outcome[kept]
    noise = float(np.sum((y - (x / scale)[:, kept] @ fitted) ** 2) / free)
    variances = noise * np.diag(inverse) / scale[kept] ** 2
    return {
        predictors[place]: (float(fitted[at] / scale[place]), float(variances[at]))
        for at, place in enumerate(kept)
    }


def _independent(products: Floats) -> list[int]:
    """Return the columns that are no combination of those before them, from their products of length 1.

    By Cholesky: what is left of a column after those before it is its place on the diagonal.
    """
    kept: list[int] = []
    lower = np.zeros((0, 0))
    for place in range(len(products)):
        row = np.linalg.solve(lower, products[kept, place]) if kept else np.zeros(0)
        left = products[place, place] - row @ row
        if left > 1e-9:
            size = len(kept)
            grown = np.zeros((size + 1, size + 1))
            grown[:size, :size], grown[size, :size], grown[size, size] = lower, row, np.sqrt(left)
            lower = grown
            kept.append(place)
    return kept
