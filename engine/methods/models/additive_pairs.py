"""Pairs of predictors that were declared: a table of points each, beside the curves of both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from engine import arrays
from engine.methods import option
from engine.methods.models.additive_grids import Grid
from engine.methods.models.additive_steps import Curve
from engine.methods.models.monotone import FALLING, RISING
from engine.methods.models.written_cells import LEVELS, cell_labels, joined_intervals, read_cells
from engine.methods.parameters import Problem
from engine.methods.protocol import Request
from engine.methods.shared.blocks import read, smallest_type
from engine.methods.shared.column_cells import ColumnCells
from engine.privacy.accuracy import NORMAL_WITHIN
from engine.views import HeatmapView, Label, TableView, Text, weak

Floats = arrays.Floats

PAIRS = option.records(
    option.column(name="first"),
    option.column(name="second"),
    name="pairs",
    default=[],
    optional=True,
    maximum=20,
)
MOST_GROUPS = 8
"""Neighbouring cells that have an order are put together until at most so many groups of them are left."""
MOST_TOGETHER = 200
"""Cells of the table of a pair."""


@dataclass(frozen=True)
class Side:
    """A predictor in a pair: its cells in groups, by declarations alone.

    Parameters
    ----------
    cells
        Of the predictor.
    """

    cells: ColumnCells

    @property
    def ordered(self) -> int:
        """How many of the first groups have an order."""
        return min(self.cells.ordered, MOST_GROUPS)

    @property
    def groups(self) -> tuple[int, ...]:
        """The group of every cell; what has no order stays as it is."""
        after = range(self.ordered, self.ordered + self.cells.size - self.cells.ordered)
        return (*(place * self.ordered // self.cells.ordered for place in range(self.cells.ordered)), *after)

    @property
    def size(self) -> int:
        """How many groups there are."""
        return self.ordered + self.cells.size - self.cells.ordered


@dataclass(frozen=True)
class Pair:
    """Two predictors of which a table of points is fitted."""

    first: Side
    second: Side

    @property
    def names(self) -> tuple[str, str]:
        """Both columns, as they were named."""
        return self.first.cells.column.name, self.second.cells.column.name

    @property
    def grid(self) -> Grid:
        """The shape of the table."""
        return Grid((self.first.size, self.second.size), (self.first.ordered, self.second.ordered))

    def codes(self, frame: pd.DataFrame) -> arrays.Whole:
        """Return the cell of every row as whole numbers of as few bits as the declared cells allow."""
        sides = [
            (side.cells, np.array(side.groups, dtype=np.int64) * step)
            for side, step in ((self.first, self.second.size), (self.second, 1))
        ]
        return read(
            frame,
            smallest_type(self.grid.size),
            lambda rows: sum(groups[cells.codes(rows[cells.column.name])] for cells, groups in sides),
        )


def names_of(pairs: Iterable[Sequence[str]]) -> list[str]:
    """Return pairs of columns as they are named.

    Examples
    --------
    >>> names_of([("age", "sex"), ("age", "ward")])
    ['age × sex', 'age × ward']
    """
    return [" × ".join(pair) for pair in pairs]


def pairs_of(request: Request, predictors: Sequence[ColumnCells]) -> tuple[Pair, ...]:
    """Return the pairs that were named, of predictors whose cells are known."""
    sides = {cells.column.name: Side(cells) for cells in predictors}
    return tuple(Pair(sides[first], sides[second]) for first, second in _named(request))


def _named(request: Request) -> list[tuple[str, str]]:
    return [(one["first"], one["second"]) for one in request.values[PAIRS.name]]


def pair_problems(request: Request, predictors: Sequence[ColumnCells], *, method: str) -> list[Problem]:
    """Say which pairs cannot be fitted: from declarations alone."""
    named = _named(request)
    known = {cells.column.name for cells in predictors}
    one_way = {*request.values[RISING.name], *request.values[FALLING.name]}
    found = []
    for name in dict.fromkeys(name for pair in named for name in pair):
        if name not in known:
            found.append(Problem(f"{method}.pair_unknown", {"column": name}, PAIRS.name))
        elif name in one_way:
            found.append(Problem(f"{method}.pair_one_way", {"column": name}, PAIRS.name))
    alike = [frozenset(pair) for pair in named]
    for place, pair in enumerate(named):
        if len(alike[place]) == 1:
            found.append(Problem(f"{method}.pair_of_itself", {"column": pair[0]}, PAIRS.name))
        elif alike[place] in alike[:place]:
            found.append(Problem(f"{method}.pair_twice", {"pair": names_of([pair])}, PAIRS.name))
    for one in () if found else pairs_of(request, predictors):
        if one.grid.size > MOST_TOGETHER:
            told = {"pair": names_of([one.names]), "cells": one.grid.size, "most": MOST_TOGETHER}
            found.append(Problem(f"{method}.pair_too_large", told, PAIRS.name))
    return found


# --- in the file of a model ----------------------------------------------------------------------------


def written_pairs(pairs: Sequence[Pair], fitted: Sequence[Curve], *, unit: float) -> dict[str, Any]:
    """Return what a model with pairs tells of them, as JSON values; nothing of a model without."""
    told = [_write(pair, curve, unit) for pair, curve in zip(pairs, fitted, strict=True)]
    return {"pairs": told} if told else {}


def _write(pair: Pair, curve: Curve, unit: float) -> dict[str, Any]:
    def table(values: Floats) -> list[list[float]]:
        return [[float(value) for value in row] for row in values.reshape(pair.grid.shape)]

    return {
        "predictors": list(pair.names),
        "groups": [list(pair.first.groups), list(pair.second.groups)],
        "effects": table(curve.effects * unit),
        "within_95": table(NORMAL_WITHIN * curve.spread * unit),
        "rows": [[round(value) for value in row] for row in table(curve.rows)],
    }


def pair_scores(model: Mapping[str, Any], frame: pd.DataFrame) -> Floats:
    """Return what the pairs of a model add up to for rows, shape (n,)."""
    by_name = {one["name"]: one for one in model["predictors"]}
    found = np.zeros(len(frame))
    for pair in model.get("pairs", ()):
        places = tuple(
            np.asarray(groups)[read_cells(by_name[name]).codes(frame[name])]
            for name, groups in zip(pair["predictors"], pair["groups"], strict=True)
        )
        found += np.asarray(pair["effects"], dtype=np.float64)[places]
    return found


# --- what people see -----------------------------------------------------------------------------------


def pair_views(model: Mapping[str, Any], words: str) -> Iterator[HeatmapView | TableView]:
    """Yield the table of points of every pair of a model, as shades and as numbers."""
    by_name = {one["name"]: one for one in model["predictors"]}
    for pair in model.get("pairs", ()):
        rows, columns = (
            _group_labels(by_name[name], groups, words)
            for name, groups in zip(pair["predictors"], pair["groups"], strict=True)
        )
        told = dict(zip(("first", "second"), pair["predictors"], strict=True))
        effects = [[float(f"{value:.3g}") for value in row] for row in pair["effects"]]
        yield HeatmapView(
            Text(f"{words}.pair.title", told),
            rows,
            columns,
            tuple(map(tuple, effects)),
            Text(f"{words}.pair.picture", told),
        )
        cells = (
            tuple(
                weak(value) if abs(value) <= within else value for value, within in zip(own, off, strict=True)
            )
            for own, off in zip(effects, pair["within_95"], strict=True)
        )
        headings = (Text(f"{words}.pair.heading", told), *columns)
        body = tuple((label, *own) for label, own in zip(rows, cells, strict=True))
        yield TableView(Text(f"{words}.pair.table", told), headings, body, Text(f"{words}.pair.note", told))


def _group_labels(predictor: Mapping[str, Any], groups: Sequence[int], words: str) -> tuple[Label, ...]:
    """Return what groups of cells are called: from the first cell of each to the last."""
    labels = cell_labels(predictor, words)
    found = []
    for group in range(max(groups) + 1):
        first, *_, last = [place for place, own in enumerate(groups) if own == group] * 2
        if first == last:
            found.append(labels[first])
        elif predictor["kind"] == LEVELS:
            found.append(f"{labels[first]} – {labels[last]}")
        else:
            found.append(joined_intervals(labels[first], labels[last]))
    return tuple(found)
