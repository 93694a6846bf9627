"""What invented rows keep of the original: worst first, beside a second set of real people. Stays inside."""

from __future__ import annotations

import numpy as np
import pandas as pd

from engine.evaluation.protocol import InternalMeasure, InternalMeasured, Need, Private, Subject
from engine.methods.protocol import Release, Rows, TableArtefact
from engine.table.schema import Schema
from engine.utility.distances import Distances, Scale, amounts, classes_of, distances
from engine.views import Cell, NumberView, TableView, Text

ID = "utility.synthetic_kept"
WORDS = f"measures.{ID}"
MOST_LINES = 15


class SyntheticKept(InternalMeasure):
    """Distances of the invented rows to the people used and to people who were not.

    Notes
    -----
    Total variation of single columns and of pairs, amounts in twentieths. A table that is much nearer to the
    people it was made from than a second set of real people is, was copied from them: smaller is not better
    without end.
    """

    id = ID
    needs = frozenset({Need.USED, Need.HELD_OUT, Need.RELEASE})

    def further_applies(self, subject: Subject) -> bool:
        return subject.method.rows is Rows.SYNTHETIC

    def evaluate(self, context: Private) -> InternalMeasured:
        released = released_table(context.release)
        if released is None:
            return InternalMeasured()
        used = context.used.rows()
        scales = scales_of(released, used, context.schema)
        made, own = classes_of(released, scales), classes_of(used, scales)
        found, beside = distances(made, own), None
        figures = {"one_way": _rounded(found.mean_one_way), "two_way": _rounded(found.mean_two_way)}
        if context.held_out is not None and len(context.held_out.rows()):
            fresh = classes_of(context.held_out.rows(), scales)
            beside = distances(fresh, own)
            figures["two_way_unused"] = _rounded(distances(made, fresh).mean_two_way)
            figures["two_way_real"] = _rounded(beside.mean_two_way)
        numbers = [
            NumberView(Text(f"{WORDS}.numbers.{name}.label"), value, Text(f"{WORDS}.numbers.{name}"))
            for name, value in figures.items()
        ]
        return InternalMeasured((*numbers, _worst(found, beside), _means(released, used, scales)), figures)


def released_table(release: Release) -> pd.DataFrame | None:
    """Return the first released table."""
    tables = [one for one in release.artefacts if isinstance(one, TableArtefact)]
    return tables[0].frame if tables else None


def scales_of(released: pd.DataFrame, used: pd.DataFrame, schema: Schema) -> list[Scale]:
    """Return classes for the columns that are in both tables."""
    return [Scale.of(used[name], schema.column(name)) for name in map(str, released) if name in used]


def _worst(found: Distances, beside: Distances | None) -> TableView:
    pairs = sorted(found.two_way, key=lambda pair: -found.two_way[pair])[:MOST_LINES]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (*pair, _rounded(found.two_way[pair]), None if beside is None else _rounded(beside.two_way[pair]))
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


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")
