"""What the released rows still say, beside the original ones, and whom the change cost most. Stays inside."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine import arrays
from engine.evaluation.protocol import InternalMeasure, InternalMeasured, Need, Private
from engine.methods.protocol import Family, Method, Rows
from engine.methods.shared.rows import trace_rows, written_cells
from engine.numbers import brief, of_hundred
from engine.table import coding
from engine.table.schema import Column, Kind, Schema
from engine.views import Cell, NumberView, TableView, Text

ID = "utility.rows_kept"
WORDS = f"measures.{ID}"
MOST_LINES, MOST_COLUMNS = 15, 20
FEW_VALUES, FEWEST_ROWS = 12, 5
Floats = arrays.Floats


class RowsKept(InternalMeasure):
    """Single columns and pairs of columns in both tables, and the subgroups that suffered most.

    Notes
    -----
    Numbers are compared by mean and spread, other columns by the share of their most frequent value, pairs of
    numbers by correlation, other pairs by Cramér's V; where released cells read as ranges or groups, these
    are what is counted. A subgroup is all rows with one value of a column that has few.
    """

    id = ID
    families = frozenset({Family.DATASET})
    needs = frozenset({Need.USED, Need.RELEASE})

    def further_applies(self, subject: Method) -> bool:
        return subject.rows in (Rows.COARSER, Rows.REAL)

    def evaluate(self, context: Private) -> InternalMeasured:
        found = trace_rows(context.release.artefacts)
        if found is None:
            return InternalMeasured()
        table, origin = found
        schema, frame, rows = context.subject.request.schema, table.frame, context.used.rows()
        columns = _shared_columns(frame, rows, schema)
        if not columns or not len(rows):
            return InternalMeasured()
        cells = {one.name: written_cells(rows[one.name], one) for one in columns}
        before = pd.DataFrame(cells, dtype="str")
        after = frame[list(before)].astype("str")
        gone = _gone_columns(context.subject.request.values, frame, rows)
        differs = (after.to_numpy() != before.iloc[origin].to_numpy()).sum(axis=1)
        changed = (differs + gone) / (len(columns) + gone)
        kept = np.bincount(origin, minlength=len(before)) > 0
        figures = {
            "left_out": round(float((~kept).mean()), 6),
            "changed": round(float(changed.mean()), 6) if len(changed) else 0.0,
        }
        views = (
            *(
                NumberView(
                    Text(f"{WORDS}.numbers.{name}.label"),
                    of_hundred(value),
                    Text(f"{WORDS}.numbers.{name}"),
                    "%",
                )
                for name, value in figures.items()
            ),
            _singles(before, after, columns),
            _pairs(before, after, columns),
            _subgroups(before, kept, origin, changed),
        )
        return InternalMeasured(tuple(view for view in views if view is not None), figures)


def _shared_columns(frame: pd.DataFrame, rows: pd.DataFrame, schema: Schema) -> list[Column]:
    names = [name for name in map(str, frame) if name in schema and name in rows]
    return [schema.column(name) for name in names]


def _gone_columns(values: Mapping[str, Any], frame: pd.DataFrame, rows: pd.DataFrame) -> int:
    """Count the columns that were to leave and left as something else: features of them, for instance."""
    wanted = values.get("columns") or ()
    return sum(isinstance(name, str) and name in rows and name not in frame for name in wanted)


def _amounts(texts: pd.Series, column: Column) -> Floats | None:
    """Return cells as numbers, missing ones as not a number; None where some are something else."""
    if column.kind not in (Kind.NUMBER, Kind.INTEGER):
        return None
    found = pd.to_numeric(texts, errors="coerce").to_numpy(dtype=np.float64)
    return found if (np.isnan(found) == (texts == "").to_numpy()).all() else None


def _singles(before: pd.DataFrame, after: pd.DataFrame, columns: list[Column]) -> TableView:
    lines: list[tuple[Cell, ...]] = []
    for column in columns:
        name = column.name
        own, made = (_amounts(table[name], column) for table in (before, after))
        if own is not None and made is not None:
            lines.append((name, Text(f"{WORDS}.views.mean"), brief(_mean(own)), brief(_mean(made))))
            lines.append((name, Text(f"{WORDS}.views.spread"), brief(_std(own)), brief(_std(made))))
        elif own is None:
            value = before[name].value_counts().index[0]
            shares = (brief(float((table[name] == value).mean())) for table in (before, after))
            lines.append((name, Text(f"{WORDS}.views.share", {"value": str(value)}), *shares))
    return _table("singles", ("column", "figure", "original", "released"), lines)


def _pairs(before: pd.DataFrame, after: pd.DataFrame, columns: list[Column]) -> TableView | None:
    found: list[tuple[float, tuple[Cell, ...]]] = []
    for one, other in combinations(columns[:MOST_COLUMNS], 2):
        strengths = []
        for table in (before, after):
            left, right = _amounts(table[one.name], one), _amounts(table[other.name], other)
            numbers = left is not None and right is not None
            strengths.append(
                (numbers, _correlation(left, right))
                if left is not None and right is not None
                else (numbers, _cramer(table[one.name], table[other.name]))
            )
        (own_kind, own), (made_kind, made) = strengths
        if own_kind == made_kind and own is not None and made is not None:
            which = Text(f"{WORDS}.views.{'correlation' if own_kind else 'cramer'}")
            line = (f"{one.name} × {other.name}", which, brief(own), brief(made))
            found.append((abs(own - made), line))
    found.sort(key=lambda pair: -pair[0])
    lines = [line for _, line in found[:MOST_LINES]]
    return _table("pairs", ("columns", "figure", "original", "released"), lines) if lines else None


def _subgroups(
    before: pd.DataFrame, kept: npt.NDArray[np.bool_], origin: npt.NDArray[np.int64], changed: Floats
) -> TableView | None:
    """Say for which values of a column most rows were left out or most cells changed."""
    cost = np.bincount(origin, changed, len(before))
    found: list[tuple[tuple[float, float], tuple[Cell, ...]]] = []
    for name in before:
        number, values = pd.factorize(before[name])
        if len(values) > FEW_VALUES:
            continue
        rows = np.bincount(number)
        stay = np.bincount(number, kept)
        cells = np.bincount(number, cost) / np.maximum(1, stay)
        for place, value in enumerate(values):
            if rows[place] < FEWEST_ROWS:
                continue
            gone = float(1 - stay[place] / rows[place])
            line = (
                str(name),
                value or f"({coding.MISSING})",
                int(rows[place]),
                of_hundred(gone),
                of_hundred(float(cells[place])),
            )
            found.append(((-gone, -float(cells[place])), line))
    found.sort(key=lambda pair: pair[0])
    lines = [line for _, line in found[:MOST_LINES]]
    return _table("subgroups", ("column", "value", "rows", "left_out", "changed"), lines) if lines else None


def _correlation(left: Floats, right: Floats) -> float | None:
    both = ~np.isnan(left) & ~np.isnan(right)
    if both.sum() < 2 or not left[both].std() or not right[both].std():
        return None
    return float(np.corrcoef(left[both], right[both])[0, 1])


def _cramer(left: pd.Series, right: pd.Series) -> float | None:
    """Return Cramér's V: √(χ² / (n · (the smaller number of values − 1))), 0 to 1."""
    one, values = pd.factorize(left)
    other, others = pd.factorize(right)
    least = min(len(values), len(others))
    if least < 2 or len(values) * len(others) > 10_000:
        return None
    counts = np.bincount(one * len(others) + other, minlength=len(values) * len(others))
    table = counts.reshape(len(values), len(others)).astype(np.float64)
    expected = table.sum(axis=1)[:, None] * table.sum(axis=0)[None, :] / table.sum()
    return float(np.sqrt((((table - expected) ** 2) / expected).sum() / table.sum() / (least - 1)))


def _mean(values: Floats) -> float:
    return float(np.nanmean(values)) if (~np.isnan(values)).any() else float("nan")


def _std(values: Floats) -> float:
    return float(np.nanstd(values)) if (~np.isnan(values)).any() else float("nan")


def _table(name: str, columns: tuple[str, ...], lines: list[tuple[Cell, ...]]) -> TableView:
    headings = tuple(Text(f"{WORDS}.views.{column}") for column in columns)
    return TableView(
        Text(f"{WORDS}.views.{name}.title"), headings, tuple(lines), Text(f"{WORDS}.views.{name}.note")
    )
