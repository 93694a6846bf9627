"""What forecasts and releases of statistics look like: the same views and columns for the whole family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor
from typing import Any

import numpy as np
import pandas as pd

from engine.methods.protocol import DictionaryEntry, Expected
from engine.methods.shared.cells import Cells, free_name
from engine.views import BarsView, IntervalsView, TableView, Text, View

MOST_ROWS, MOST_BARS = 500, 60


@dataclass(frozen=True)
class Filling:
    """What a declared number of people can fill at most, from public numbers alone.

    Parameters
    ----------
    per_cell
        Rows for each cell, were they spread evenly.
    above
        How many cells can hold more than the margin of a count, at most.
    guesses
        Share of cells, at least, whose count is no larger than its margin: zero would be as good a guess.
    """

    per_cell: float
    above: int
    guesses: float


def filling(*, rows: int, cells: int, limit: float) -> Filling:
    """Return how many cells declared rows can fill beyond the margin of a count.

    Parameters
    ----------
    rows
        How many rows the table has at most: declared people times the cap on rows of one person.
    cells
        How many cells are released.
    limit
        The error that 95 of 100 counts stay within.

    Examples
    --------
    >>> filling(rows=100, cells=80, limit=4)
    Filling(per_cell=1.25, above=20, guesses=0.75)
    """
    above = min(cells, rows // (floor(limit) + 1))  # each of them takes more than the limit
    return Filling(rows / cells, above, 1 - above / cells)


def filling_note(*, people: int, rows_per_person: int, cells: int, limit: float) -> Text:
    """Return the sentence about declared people and the cells that they can fill."""
    found = filling(rows=people * rows_per_person, cells=cells, limit=limit)
    values = {
        "people": people,
        "cells": cells,
        "per_cell": f"{found.per_cell:.3g}",
        "above": found.above,
        "guesses": f"{100 * found.guesses:.3g}",
        "limit": limit,
    }
    return Text("statistics.notes.filling", values)


def forecast_views(method: str, errors: Sequence[Expected]) -> tuple[View, ...]:
    """Return the expected errors as a table."""
    rows = tuple(
        (
            error.quantity,
            error.size,
            error.median,
            error.limit,
        )
        for error in errors
    )
    headings = tuple(
        Text(f"statistics.headings.{name}") for name in ("quantity", "group_size", "median", "limit")
    )
    return (
        TableView(Text(f"methods.{method}.views.forecast.title"), headings, rows, _note(method, "forecast")),
    )


def size_view(method: str, errors: Sequence[Expected], *, axis: Text) -> View:
    """Return, for groups of the declared sizes, where 95 of 100 released counts will lie."""
    sized = [error for error in errors if error.size is not None]
    sizes = [float(error.size or 0) for error in sized]
    return IntervalsView(
        Text(f"methods.{method}.views.sizes.title"),
        tuple(Text("statistics.labels.group_of", {"size": int(size)}) for size in sizes),
        tuple(sizes),
        tuple(size - error.limit for size, error in zip(sizes, sized, strict=True)),
        tuple(size + error.limit for size, error in zip(sizes, sized, strict=True)),
        axis,
        _note(method, "sizes"),
    )


def result_frame(cells: Cells, numbers: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row a cell: the columns that name it, then the numbers under free headings."""
    frame = cells.frame()
    for name, values in numbers.items():
        frame[free_name(name, cells.names)] = values
    return frame


def number_entry(method: str, name: str, cells: Cells, *, kind: str, unit: str = "") -> DictionaryEntry:
    """Return the line of the data dictionary for a released number."""
    meaning = Text(f"methods.{method}.numbers.{name}.what")
    return DictionaryEntry(free_name(name, cells.names), meaning, kind, unit)


def result_views(
    method: str,
    frame: pd.DataFrame,
    cells: Cells,
    *,
    value: str,
    within: str | None,
    bounds: tuple[float, float] | None = None,
) -> tuple[View, ...]:
    """Return the released table, and its bars with intervals where they can be read.

    Parameters
    ----------
    value, within
        Names of the number to draw and of its 95 % limit, before `free_name`. Without a limit no bars.
    bounds
        Where the value was clamped; the intervals stop there too.
    """
    shown = frame.head(MOST_ROWS)
    headings: tuple[Text | str, ...] = tuple(
        name if name in cells.names else Text(f"methods.{method}.numbers.{name.rstrip('_')}.label")
        for name in frame.columns
    )
    rows = tuple(tuple(row) for row in shown.astype(object).itertuples(index=False, name=None))
    note = (
        Text("statistics.notes.shortened", {"shown": MOST_ROWS, "rows": len(frame)})
        if len(frame) > MOST_ROWS
        else _note(method, "table")
    )
    views: list[View] = [TableView(Text(f"methods.{method}.views.table.title"), headings, rows, note)]
    if within is not None and 0 < len(frame) <= MOST_BARS:
        value, within = free_name(value, cells.names), free_name(within, cells.names)
        values, limits = (frame[name].to_numpy(dtype=np.float64) for name in (value, within))
        low, high = values - limits, values + limits
        if bounds is not None:
            low, high = np.clip(low, *bounds), np.clip(high, *bounds)
        views.append(
            BarsView(
                Text(f"methods.{method}.views.bars.title"),
                tuple(_label(cell) for cell in cells.labels()),
                tuple(values.tolist()),
                Text(f"methods.{method}.numbers.{value.rstrip('_')}.label"),
                tuple(low.tolist()),
                tuple(high.tolist()),
                _note(method, "bars"),
            )
        )
    return tuple(views)


def _label(cell: tuple[str, ...]) -> Text | str:
    return " · ".join(cell) if cell else Text("statistics.labels.everyone")


def _note(method: str, view: str) -> Text:
    return Text(f"methods.{method}.views.{view}.note")
