"""What forecasts and releases of statistics look like: the same views and columns for the whole family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine import arrays
from engine.methods.filling import Counted
from engine.methods.protocol import DictionaryEntry, Expected
from engine.methods.shared.cells import Cells, free_name
from engine.utility.released_numbers import no_better_than_a_guess
from engine.views import (
    COUNTED,
    BarsView,
    IntervalsView,
    Label,
    TableView,
    Text,
    View,
    aside,
    is_weak,
    labelled,
    several,
    weak,
)

Floats = arrays.Floats

MOST_ROWS, MOST_BARS = 500, 60
LIMIT = "within_95"
BESIDE = ("count", "weight_total", "at_risk", "events")
"""Counts that stand beside another number of the same table."""


def filling_notes(counted: Counted, people: int | None) -> tuple[Text, ...]:
    """Say how many cells the declared people can fill, where somebody declared them."""
    if people is None:
        return ()
    found = counted.filled_by(people)
    values = {
        "people": people,
        "cells": found.cells,
        "per_cell": float(f"{found.per_cell:.3g}"),
        "above": found.above,
        "guesses": float(f"{100 * (1 - found.share):.3g}"),
        "limit": found.limit,
    }
    return (Text("statistics.notes.filling", values),)


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
    is_signed: bool = False,
    unit: str = "",
) -> tuple[View, ...]:
    """Return the released table, and its bars with intervals where they can be read.

    Parameters
    ----------
    value, within
        Names of the number to draw and of its 95 % limit, before `free_name`. Without a limit no bars.
    bounds
        Where the value was clamped; the intervals stop there too.
    is_signed
        Whether the exact number can be below zero.
    unit
        Of the value, for the axis.
    """
    shown = frame.head(MOST_ROWS)
    headings: tuple[Text | str, ...] = tuple(
        name if name in cells.names else Text(f"methods.{method}.numbers.{name.rstrip('_')}.label")
        for name in frame.columns
    )
    note = (
        Text("statistics.notes.shortened", {"shown": MOST_ROWS, "rows": len(frame)})
        if len(frame) > MOST_ROWS
        else _note(method, "table")
    )
    marked = marked_weak(shown, value=value, taken=cells.names, bounds=bounds, is_signed=is_signed)
    said = cells.said
    for name, labels in cells.asides.items():
        named = [aside(one) if one in labels else said[name].get(one, one) for one in marked[name]]
        marked[name] = pd.Series(named, marked.index, dtype=object)
    rows = tuple(tuple(row) for row in marked.itertuples(index=False, name=None))
    note = with_weak(note, rows)
    views: list[View] = [TableView(Text(f"methods.{method}.views.table.title"), headings, rows, note)]
    if within is not None and 0 < len(frame) <= MOST_BARS:
        bars = _bars(method, frame, cells, value=value, within=within, bounds=bounds, unit=unit)
        views += [bars] if bars.labels else []
    return tuple(views)


def _bars(
    method: str,
    frame: pd.DataFrame,
    cells: Cells,
    *,
    value: str,
    within: str,
    bounds: tuple[float, float] | None,
    unit: str,
) -> BarsView:
    """Return the numbers as bars with their intervals; one that carries no information has none."""
    value, within = free_name(value, cells.names), free_name(within, cells.names)
    values, limits = (frame[name].to_numpy(dtype=np.float64) for name in (value, within))
    says = ~_covers(values, limits, bounds) if bounds is not None else np.ones(len(values), dtype=bool)
    low, high = values - limits, values + limits
    if bounds is not None:
        low, high = np.clip(low, *bounds), np.clip(high, *bounds)
    note = _note(method, "bars")
    if not says.all():
        note = Text("statistics.notes.both", {"first": note, "second": Text("statistics.notes.no_bar")})
    axis = Text(f"methods.{method}.numbers.{value.rstrip('_')}.label")
    return BarsView(
        Text(f"methods.{method}.views.bars.title"),
        tuple(label_of(cell, cells) for cell, is_drawn in zip(cells.labels(), says, strict=True) if is_drawn),
        tuple(values[says].tolist()),
        Text("models.effects.in_unit", {"heading": axis, "unit": unit}) if unit else axis,
        tuple(low[says].tolist()),
        tuple(high[says].tolist()),
        note,
    )


def _covers(values: Floats, limits: Floats, bounds: tuple[float, float]) -> npt.NDArray[np.bool_]:
    """Say whose margin covers everything that was possible."""
    slack = 1e-9 * (bounds[1] - bounds[0])
    found = (values - limits <= bounds[0] + slack) & (values + limits >= bounds[1] - slack)
    return np.asarray(found, dtype=np.bool_)


def totals_view(method: str, frame: pd.DataFrame, cells: Cells) -> TableView:
    """Return the released totals: of the whole table first, then of every value of every column."""
    marked = marked_weak(frame, value="total", taken=())
    asides = {(name, label) for name, labels in cells.asides.items() for label in labels}
    rows = []
    for column, value, total, limit in marked.itertuples(index=False, name=None):
        label = labelled(column, value)
        shown = aside(label) if (column, value) in asides else label
        rows.append((shown if column else Text("statistics.labels.everyone"), total, limit))
    headings = (
        Text("statistics.headings.group"),
        *(Text(f"methods.{method}.numbers.{name}.label") for name in ("total", LIMIT)),
    )
    first = (rows[-1], *rows[:-1])
    note = with_weak(Text("statistics.notes.totals"), first)
    return TableView(Text("statistics.headings.totals"), headings, first, note)


def marked_weak(
    frame: pd.DataFrame,
    *,
    value: str,
    taken: Sequence[str],
    bounds: tuple[float, float] | None = None,
    is_signed: bool = False,
) -> pd.DataFrame:
    """Return a released table for people: numbers that carry no information as `engine.views.weak`.

    Parameters
    ----------
    value
        Name of the released number, before `free_name`; its margin is ``within_95``.
    taken
        Headings of the columns that name a cell.
    bounds
        Where the number must lie by what was declared. It carries no information where its margin covers all
        of that; without bounds, and for counts, where the margin is as large as the number.
    is_signed
        Whether the exact number can be below zero, as the sum of a column that can; a count cannot.
    """
    shown: dict[Any, Any] = dict(frame.astype(object).items())
    pairs = {value: (LIMIT, bounds)} | {name: (f"{name}_{LIMIT}", None) for name in BESIDE if name != value}
    for number, (limit, ends) in pairs.items():
        name, within = free_name(number, taken), free_name(limit, taken)
        if name not in frame or within not in frame:
            continue
        values, limits = (frame[one].to_numpy(dtype=np.float64) for one in (name, within))
        if ends is None:
            is_counted = number in COUNTED or not is_signed
            says_nothing = no_better_than_a_guess(values, limits, is_counted=is_counted)
        else:
            says_nothing = _covers(values, limits, ends)
        shown[name] = [
            weak(one) if nothing else one for one, nothing in zip(shown[name], says_nothing, strict=True)
        ]
    return pd.DataFrame(shown, columns=frame.columns, dtype=object)


def with_weak(note: Text, rows: tuple[tuple[Any, ...], ...]) -> Text:
    """Return the note of a table, with what brackets mean where there are any."""
    has_brackets = any(is_weak(cell) for row in rows for cell in row)
    said = {"first": Text("statistics.notes.weak"), "second": note}
    return Text("statistics.notes.both", said) if has_brackets else note


def label_of(cell: tuple[str, ...], cells: Cells) -> Label:
    """Name a cell by its values; with their columns where there are several."""
    if not cell:
        return Text("statistics.labels.everyone")
    values = [cells.said[name].get(value, value) for name, value in zip(cells.names, cell, strict=True)]
    if len(values) == 1:
        return values[0]
    return several(map(labelled, cells.names, values))


def _note(method: str, view: str) -> Text:
    return Text(f"methods.{method}.views.{view}.note")
