"""What the noisy tables of a model tell of themselves: how exact they are, and whether the model agrees."""

from __future__ import annotations

from collections.abc import Sequence

from engine.methods.datasets.marginal_model.agreement import LITTLE, Agreement, agreement
from engine.methods.datasets.marginal_model.codes import MISSED, Coded
from engine.methods.datasets.marginal_model.exactness import Z, combined_deviation
from engine.methods.datasets.marginal_model.frequent import FrequentApart
from engine.methods.datasets.marginal_model.relations import relations
from engine.methods.datasets.marginal_model.rounds import Learnt
from engine.methods.datasets.marginal_model.schedule import Schedule
from engine.methods.datasets.synthesis.related import carried
from engine.methods.shared.column_cells import ColumnCells
from engine.views import Cell, TableView, Text

MOST_NAMED = 5


def measured_views(
    learnt: Learnt, schedule: Schedule, columns: Sequence[ColumnCells], *, words: str
) -> tuple[tuple[TableView, ...], tuple[Text, ...]]:
    """Return tables of what was measured, and sentences on whether the model agrees and on its relations.

    Parameters
    ----------
    columns
        Those that are drawn.
    words
        Below which the texts stand.

    Notes
    -----
    Of released numbers alone.
    """
    found = agreement(learnt.model, learnt.measured, is_gaussian=schedule.is_gaussian)
    names = [cells.column.name for cells in columns]
    tables = [" × ".join(names[place] for place in one.attributes) for one in learnt.measured]
    said = [
        "yes" if agrees else "nearly" if beyond <= LITTLE else "no"
        for agrees, beyond in zip(found.agrees, found.beyond, strict=True)
    ]
    rows = tuple(
        (
            _named(columns[one.attributes[0]], words) if len(one.attributes) == 1 else table,
            one.counts.size,
            schedule.within(one.deviation),
            float(f"{per_cell:.2g}"),
            Text(f"{words}.views.measured.{answer}"),
        )
        for table, one, per_cell, answer in zip(tables, learnt.measured, found.per_cell, said, strict=True)
    )
    within = schedule.within(schedule.deviation(schedule.code))
    every = [
        (Text(f"{words}.views.codes", {"column": cells.column.name}), cells.fine, within, None, None)
        for cells in columns
        if isinstance(cells, Coded)
    ]
    every += [
        (
            Text(f"{words}.views.values", {"column": cells.column.name}),
            cells.fine,
            schedule.within(schedule.deviation(schedule.value)),
            None,
            None,
        )
        for cells in columns
        if isinstance(cells, FrequentApart)
    ]
    shown = relations(learnt.model, learnt.measured, is_gaussian=schedule.is_gaussian)
    answers = dict.fromkeys(shown.told, "told") | dict.fromkeys(shown.drowned, "drowned")
    lines: list[tuple[Cell, ...]] = [
        (
            *row,
            Text(f"{words}.views.measured.{answers[one.attributes]}") if one.attributes in answers else None,
        )
        for row, one in zip(rows, learnt.measured, strict=True)
    ]
    lines += [(*row, None) for row in every]
    headings = tuple(
        Text(f"{words}.views.measured.{name}")
        for name in ("table", "cells", "within", "distance", "agrees", "relation")
    )
    note = Text(f"{words}.views.measured.note")
    measured = TableView(Text(f"{words}.views.measured.title"), headings, tuple(lines), note)
    light = (_light(found, tables, said, words), *carried(shown, names))
    return (measured, _shares(learnt, schedule, columns, words)), light


def _light(found: Agreement, tables: Sequence[str], said: Sequence[str], words: str) -> Text:
    """Say whether the model agrees with everything, and if not, with which tables it does least."""
    worst = "no" if "no" in said else "nearly" if "nearly" in said or not found.agrees_as_a_whole else "yes"
    meant = [place for place, one in enumerate(said) if one == worst or worst not in said]
    meant.sort(key=lambda place: -found.beyond[place])
    off = list(dict.fromkeys(tables[place] for place in meant))
    told = {
        "tables": "; ".join(off[:MOST_NAMED]),
        "more": max(0, len(off) - MOST_NAMED),
        "off": float(f"{100 * max(found.beyond[place] for place in meant):.2g}"),
    }
    more = "_more" if told["more"] and worst != "yes" else ""
    return Text(f"{words}.notes.agrees_{worst}{more}", told)


def _shares(learnt: Learnt, schedule: Schedule, columns: Sequence[ColumnCells], words: str) -> TableView:
    """Say how exact a share is by the noise of all tables together."""
    total = learnt.model.total
    rows: list[tuple[Cell, ...]] = []
    for place, cells in enumerate(columns):
        deviation = combined_deviation(learnt.measured, place, cells.size) / total
        rows.append((_named(cells, words), *_points(deviation)))
        if isinstance(cells, Coded):
            name = Text(f"{words}.views.codes", {"column": cells.column.name})
            within = MISSED * schedule.deviation(schedule.code) / total
            rows.append((name, *_points(within / Z)))
    headings = tuple(Text(f"{words}.views.shares.{name}") for name in ("column", "error", "within"))
    note = Text(f"{words}.views.shares.note", {"rows": round(total)})
    return TableView(Text(f"{words}.views.shares.title"), headings, tuple(rows), note)


def _named(cells: ColumnCells, words: str) -> str | Text:
    """Return what the table of a single column is of: of its groups where values are drawn within them."""
    name = cells.column.name
    return Text(f"{words}.views.groups", {"column": name}) if isinstance(cells, Coded) else name


def _points(deviation: float) -> tuple[float, float]:
    """Return a deviation of a share and what 95 of 100 lie within, in points."""
    return float(f"{100 * deviation:.2g}"), float(f"{100 * Z * deviation:.2g}")
