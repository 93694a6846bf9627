"""How a table with hidden cells is shown: outside with one sign for all of them, inside with the reasons."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from engine.methods.earlier import Earlier
from engine.methods.protocol import Inside, Request
from engine.methods.shared.suppression.additive import Integers
from engine.methods.shared.suppression.audited import Audited
from engine.methods.trying import CountCell, CountTable, CountTables
from engine.privacy.promise import Unit
from engine.views import HIDDEN, Cell, IntervalsView, Label, TableView, Text, View, labelled, several

MOST_ROWS, MOST_INTERVALS = 500, 60
HIDDEN_CELL = Text(HIDDEN)


def outside(method: str, frame: pd.DataFrame, totals: Mapping[str, str], number: Text) -> tuple[View, ...]:
    """Return the table as it leaves: crossed where it has two columns, otherwise one line a cell.

    ``number`` heads what is printed: a true number is explained otherwise than a rounded or changed one.
    """
    words = f"methods.{method}.views.table"
    value = str(frame.columns[-1])
    names = list(totals)
    numbers: list[Cell] = [
        HIDDEN_CELL if is_hidden else _end(float(number))
        for is_hidden, number in zip(frame[value].isna(), frame[value].fillna(0), strict=True)
    ]
    if len(names) == 2:
        return (_cross(words, frame, names, numbers),)
    rows = tuple(
        (*map(str, labels), number)
        for labels, number in zip(frame[names].itertuples(index=False, name=None), numbers, strict=True)
    )
    note = _hidden_note(words, numbers)
    if len(rows) > MOST_ROWS:
        note = Text("statistics.notes.shortened", {"shown": MOST_ROWS, "rows": len(rows)})
    headings: tuple[Label, ...] = (*names, number)
    return (TableView(Text(f"{words}.title"), headings, rows[:MOST_ROWS], note),)


def _cross(words: str, frame: pd.DataFrame, names: list[str], numbers: list[Cell]) -> TableView:
    """Return one line for each value of the first column, and one column for each of the second."""
    down, across = (list(dict.fromkeys(frame[name])) for name in names)
    at = dict(zip(frame[names].itertuples(index=False, name=None), numbers, strict=True))
    rows = tuple((left, *(at.get((left, top)) for top in across)) for left in down[:MOST_ROWS])
    return TableView(
        Text(f"{words}.title"), (" × ".join(names), *map(str, across)), rows, _hidden_note(words, numbers)
    )


def _hidden_note(words: str, numbers: list[Cell]) -> Text | None:
    """Say what the sign of hidden cells means; nothing where none is hidden."""
    return Text(f"{words}.note") if HIDDEN_CELL in numbers else None


def inside(
    method: str,
    done: Audited,
    totals: Mapping[str, str],
    people: Integers,
    *,
    earlier: Earlier,
) -> Inside:
    """Return what the custodian sees: the figures of the search and every hidden cell with its interval."""
    words = f"methods.{method}.views"
    figures = _figures(done, people) | _earlier(earlier)
    views: list[View] = [_figures_view(words, figures)]
    if done.hidden.any():
        views += [_hidden_cells(words, done, totals), _intervals(words, done, totals)]
    return Inside(tuple(views), figures)


def tables(done: Audited, totals: Mapping[str, str], threshold: float) -> CountTables:
    """Return the tables cell by cell for the custodian: one for each value of a third and fourth column."""
    names = list(totals)
    down, across, layers = names[0], names[1] if len(names) > 1 else "", names[2:]
    cells = [_cell(done, line) for line in range(len(done.lines))]
    labels = {name: [str(one) for one in done.frame[name]] for name in names}
    at: dict[tuple[str, ...], dict[tuple[str, str], CountCell]] = {}
    for line, cell in enumerate(cells):
        layer = tuple(labels[name][line] for name in layers)
        place = labels[down][line], labels[across][line] if across else ""
        at.setdefault(layer, {})[place] = cell
    found = []
    for layer, own in at.items():
        rows = tuple(dict.fromkeys(place[0] for place in own))
        columns = tuple(dict.fromkeys(place[1] for place in own))
        found.append(
            CountTable(
                several(map(labelled, layers, layer)) if layer else "",
                down,
                across,
                rows,
                columns,
                tuple(tuple(own.get((row, column)) for column in columns) for row in rows),
            )
        )
    return CountTables(tuple(found), float(threshold), float(done.found.gap), done.whole)


def _cell(done: Audited, line: int) -> CountCell:
    value = float(done.values[line])
    if not done.hidden[line]:
        return CountCell(value)
    low, high = float(done.intervals.low[line]), float(done.intervals.high[line])
    state = "small" if done.primary[line] else "protects"
    return CountCell(value, state, low, high if np.isfinite(high) else None)


def describe_rounded(method: str, change: Integers, beyond: int | None, earlier: Earlier) -> Inside:
    """Return what the custodian sees of a rounded table: how far its numbers are from the true ones.

    ``beyond`` is None where no base was rounded to.
    """
    figures = {
        "cells": len(change),
        "changed": int((change != 0).sum()),
        "mean_change": round(float(np.abs(change).mean()), 3),
        "largest_change": int(np.abs(change).max()),
        **({} if beyond is None else {"beyond": beyond}),
        **_earlier(earlier),
    }
    return Inside((_figures_view(f"methods.{method}.views", figures),), figures)


def cap_notes(method: str, request: Request) -> list[Text]:
    """Say that rows beyond the cap were left out; nothing where every row is a person."""
    cap = request.rows_per_person
    return [Text(f"methods.{method}.notes.capped", {"cap": cap})] if request.unit is Unit.PERSON else []


def _figures_view(words: str, figures: Mapping[str, int | float]) -> TableView:
    headings = (Text(f"{words}.inside.figure"), Text(f"{words}.inside.value"))
    lines = tuple((Text(f"{words}.inside.{name}"), value) for name, value in figures.items())
    return TableView(Text(f"{words}.inside.title"), headings, lines, Text(f"{words}.inside.note"))


def _earlier(earlier: Earlier) -> dict[str, int]:
    return {"earlier_compared": len(earlier.releases), "earlier_not_found": earlier.not_found}


def _figures(done: Audited, people: Integers) -> dict[str, int | float]:
    secondary = done.hidden & ~done.primary
    inner = secondary & ~_is_total(done)
    return {
        "cells": len(done.lines),
        "printed": int((~done.hidden).sum()),
        "primary": int(done.primary.sum()),
        "secondary": int(secondary.sum()),
        "secondary_people": int(people[inner].sum()),
        "cost": round(done.found.cost, 3),
        "bound": round(done.found.bound, 3),
        "gap": round(done.found.gap, 4),
        "contributors_tried": done.contributors[0],
        "contributors": done.contributors[1],
    }


def _is_total(done: Audited) -> np.ndarray:
    """Say which lines are totals of some column: those with the word that stands for all, the last one."""
    found = np.zeros(len(done.frame), dtype=bool)
    for name in done.frame.columns[:-1]:
        found |= np.asarray(done.frame[name] == done.frame[name].iloc[-1])
    return found


def _named(done: Audited, totals: Mapping[str, str]) -> list[str]:
    """Name the hidden lines by their values."""
    hidden = done.frame.loc[done.hidden, list(totals)]
    return [" · ".join(labels) for labels in hidden.itertuples(index=False, name=None)]


def _hidden_cells(words: str, done: Audited, totals: Mapping[str, str]) -> TableView:
    """Return one line a hidden cell: why it is hidden, its value, and what can be worked out of it."""
    headings = tuple(Text(f"{words}.hidden.{name}") for name in ("cell", "why", "value", "low", "high"))
    at = np.flatnonzero(done.hidden)
    rows = tuple(
        (
            name,
            Text(f"{words}.hidden.{'small' if done.primary[line] else 'protects'}"),
            _end(done.values[line]),
            _end(done.intervals.low[line]),
            _end(done.intervals.high[line]),
        )
        for name, line in zip(_named(done, totals), at, strict=True)
    )
    form = "whole" if done.whole else "sums" if done.value.rstrip("_") == "sum" else "fractions"
    note = Text(f"{words}.hidden.note_{form}")
    return TableView(Text(f"{words}.hidden.title"), headings, rows[:MOST_ROWS], note)


def _intervals(words: str, done: Audited, totals: Mapping[str, str]) -> IntervalsView:
    """Return the picture of the small cells: the value, and what can be worked out of it."""
    small = done.primary[np.flatnonzero(done.hidden)]
    names = [name for name, is_small in zip(_named(done, totals), small, strict=True) if is_small]
    at = np.flatnonzero(done.hidden & done.primary)[:MOST_INTERVALS]
    ends = done.intervals.high[at]
    widest = float(ends[np.isfinite(ends)].max(initial=1.0))
    return IntervalsView(
        Text(f"{words}.intervals.title"),
        tuple(names[:MOST_INTERVALS]),
        tuple(done.values[at].astype(float).tolist()),
        tuple(done.intervals.low[at].tolist()),
        tuple(np.where(np.isfinite(ends), ends, 2 * widest).tolist()),
        Text(f"{words}.intervals.axis"),
        Text(f"{words}.intervals.note"),
    )


def _end(value: float) -> Cell:
    if not np.isfinite(value):
        return Text("statistics.labels.no_end")
    return int(value) if float(value).is_integer() else round(float(value), 6)
