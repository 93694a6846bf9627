"""Declared cells in the file of a model, and back: what a predictor's values are sorted into."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from engine.methods.shared.column_cells import ColumnCells, Intervals, cells_of
from engine.numbers import exact
from engine.table import coding
from engine.table.schema import Column, Domain, Kind
from engine.views import Label, Text

LEVELS, INTERVALS = "levels", "intervals"


def written_cells(cells: ColumnCells) -> dict[str, Any]:
    """Return the name and the cells of a predictor as JSON values."""
    column = cells.column
    one: dict[str, Any] = {"name": column.name, "missing": list(column.without_copied().missing)}
    if isinstance(cells, Intervals):
        kind = "date" if column.kind is Kind.DATE else "number"
        return one | {"kind": INTERVALS, "of": kind, "edges": [float(edge) for edge in cells.edges]}
    return one | {"kind": LEVELS, "levels": list(coding.levels(column))}


def read_cells(predictor: Mapping[str, Any]) -> ColumnCells:
    """Return the cells that `written_cells` wrote."""
    missing = tuple(predictor["missing"])
    if predictor["kind"] == LEVELS:
        domain = Domain(values=tuple(predictor["levels"]))
        column = Column(str(predictor["name"]), kind=Kind.CATEGORY, domain=domain, missing=missing)
        return cells_of(column, bins=1)
    kind = Kind.DATE if predictor["of"] == "date" else Kind.NUMBER
    column = Column(str(predictor["name"]), kind=kind, missing=missing)
    return cells_of(column, bins=1, edges=tuple(exact(edge) for edge in predictor["edges"]))


def cell_labels(predictor: Mapping[str, Any], words: str) -> list[Label]:
    """Return what the cells of a written predictor are called, the one for missing values last."""
    labels: list[Label]
    if predictor["kind"] == LEVELS:
        labels = [*predictor["levels"], Text(f"{words}.other")]
    else:
        edges = [_write(edge, predictor["of"]) for edge in predictor["edges"]]
        pairs = list(pairwise(edges))
        labels = [
            interval_label(*ends, last=place == len(pairs)) for place, ends in enumerate(pairs, start=1)
        ]
    return [*labels, Text(f"{words}.missing")]


def interval_label(low: str, high: str, *, last: bool) -> Label:
    """Return what an interval is called: it holds its lower edge, and the last one its upper edge too."""
    if low == high:
        return low
    return Text("statistics.labels.up_to" if last else "statistics.labels.below", {"low": low, "high": high})


def joined_intervals(first: Label, last: Label) -> Label:
    """Return what two intervals and all between them are called together."""
    low = first.values["low"] if isinstance(first, Text) else first
    if isinstance(last, Text):
        return Text(last.id, {**last.values, "low": low})
    return Text("statistics.labels.up_to", {"low": low, "high": last})


def declared_cells(predictor: Mapping[str, Any]) -> int:
    """Return how many of the cells of a written predictor were declared; the others come after them."""
    return len(predictor["levels"]) if predictor["kind"] == LEVELS else len(predictor["edges"]) - 1


def _write(edge: float, of: str) -> str:
    return str(np.datetime64(int(edge), "D")) if of == "date" else coding.text_of(float(f"{edge:.6g}"))
