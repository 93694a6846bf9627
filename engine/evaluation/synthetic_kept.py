"""What invented rows keep of the original: worst first, beside a second set of real people. Stays inside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from engine.evaluation.invented import Sides, bootstrap_rows, independent
from engine.evaluation.protocol import InternalMeasure, InternalMeasured, Need, Private
from engine.methods.protocol import Method, Rows
from engine.utility.distances import Distances, Scale, amounts, classes_of, distances
from engine.utility.intervals import Cells
from engine.utility.similarity import apart, correlations, similarity
from engine.views import Cell, NumberView, TableView, Text

ID = "utility.synthetic_kept"
WORDS = f"measures.{ID}"
MOST_LINES = 15
LINES = ("made", "unused", "again", "independent")


class SyntheticKept(InternalMeasure):
    """Distances of the invented rows to the people used and to people who were not.

    Notes
    -----
    Total variation of single columns and of pairs, amounts in twentieths; the smallest Kullback–Leibler
    similarity of a column; the largest difference of a correlation. A table that is much nearer to the people
    it was made from than a second set of real people is, was copied from them: smaller is not better without
    end.
    """

    id = ID
    needs = frozenset({Need.USED, Need.HELD_OUT, Need.RELEASE})
    less_is_better = ("two_way", "one_way", "correlation", "two_way_unused")
    more_is_better = ("similarity",)

    def further_applies(self, subject: Method) -> bool:
        return subject.rows is Rows.SYNTHETIC

    def evaluate(self, context: Private) -> InternalMeasured:
        sides = Sides.of(context)
        if sides is None:
            return InternalMeasured()
        released, used, unused = sides.copies[0], sides.used, sides.unused
        scales = [Scale.of(used[column.name], column) for column in sides.columns]
        own = _line(sides, used, scales)
        lines = {"made": _line(sides, released, scales)}
        if unused is not None:
            lines["unused"] = _line(sides, unused, scales)
        lines["again"] = _Line(*map(bootstrap_rows, (own.classes, own.amounts)))
        lines["independent"] = _Line(*map(independent, (own.classes, own.amounts)))
        found = {name: distances(line.classes.names, own.classes.names) for name, line in lines.items()}
        kept = {name: _keep(line, own, found[name]) for name, line in lines.items()}
        figures = dict(kept["made"])
        if unused is not None:
            fresh = lines["unused"].classes.names
            if "two_way" in figures:
                figures["two_way_unused"] = _round(distances(lines["made"].classes.names, fresh).mean_two_way)
                figures["two_way_real"] = kept["unused"]["two_way"]
        numbers = [
            NumberView(Text(f"{WORDS}.numbers.{name}.label"), value, Text(f"{WORDS}.numbers.{name}"))
            for name, value in figures.items()
        ]
        views = (_beside(kept), _worst(found["made"], found.get("unused")), _means(released, used, scales))
        return InternalMeasured((*numbers, *views), figures | {"beside": kept})


@dataclass(frozen=True)
class _Line:
    """A table as classes (all columns), and as amounts."""

    classes: Cells
    amounts: Cells


def _line(sides: Sides, table: pd.DataFrame, scales: list[Scale]) -> _Line:
    return _Line(Cells({}, classes_of(table, scales)), sides.cells(table, ()))


def _keep(line: _Line, own: _Line, found: Distances) -> dict[str, float]:
    """Return the figures of a table against the rows used."""
    alike = similarity(own.classes.names, line.classes.names)
    apart_by = apart(correlations(own.amounts.amounts), correlations(line.amounts.amounts))
    figures = {
        "one_way": _round(found.mean_one_way),
        **({"two_way": _round(found.mean_two_way)} if found.two_way else {}),  # none of a single column
        "similarity": round(min(alike.values(), default=1.0), 4),
    }
    if apart_by:
        figures["correlation"] = _round(max(apart_by))
    return figures


def _beside(kept: Mapping[str, Mapping[str, float]]) -> TableView:
    """Return the figures beside those of what could be released instead."""
    names = list(kept["made"])
    rows: list[tuple[Cell, ...]] = [
        (Text(f"{WORDS}.numbers.{name}.label"), *(kept.get(line, {}).get(name) for line in LINES))
        for name in names
    ]
    headings = tuple(Text(f"{WORDS}.views.beside.{name}") for name in ("figure", *LINES))
    return TableView(
        Text(f"{WORDS}.views.beside.title"), headings, tuple(rows), Text(f"{WORDS}.views.beside.note")
    )


def _worst(found: Distances, beside: Distances | None) -> TableView:
    pairs = sorted(found.two_way, key=lambda pair: -found.two_way[pair])[:MOST_LINES]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (*pair, _round(found.two_way[pair]), None if beside is None else _round(beside.two_way[pair]))
        for pair in pairs
    )
    headings = tuple(Text(f"{WORDS}.views.pairs.{name}") for name in ("first", "second", "made", "real"))
    return TableView(Text(f"{WORDS}.views.pairs.title"), headings, rows, Text(f"{WORDS}.views.pairs.note"))


def _means(released: pd.DataFrame, used: pd.DataFrame, scales: list[Scale]) -> TableView:
    rows: list[tuple[Cell, ...]] = []
    for scale in scales:
        if scale.cuts is None:
            continue
        name = scale.column.name
        made, own = (amounts(table[name], scale.column) for table in (released, used))
        values = [np.nanmean(part) if (~np.isnan(part)).any() else np.nan for part in (own, made)]
        spread = [np.nanstd(part) if (~np.isnan(part)).any() else np.nan for part in (own, made)]
        rows.append((name, *(None if np.isnan(v) else float(f"{v:.4g}") for v in (*values, *spread))))
    headings = tuple(
        Text(f"{WORDS}.views.means.{name}") for name in ("column", "mean", "made", "spread", "spread_made")
    )
    return TableView(Text(f"{WORDS}.views.means.title"), headings, tuple(rows))


def _round(value: float) -> float:
    return float(f"{value:.3g}")
