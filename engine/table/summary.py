"""A column as a few bars, for the custodian's eyes while marking it. Internal: made from private rows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd

from engine.languages import Written
from engine.table.coding import codes, filled_texts, levels, numbers, texts_of
from engine.table.schema import Column, Kind
from engine.table.table import DATE, Table
from engine.views import BarsView, Label, Text

MOST_BARS = 8
_NUMBERS = (Kind.INTEGER, Kind.NUMBER)


def column_bars(table: Table, column: Column, *, most: int = MOST_BARS) -> BarsView:
    """Show how the filled cells of a column are spread.

    Parameters
    ----------
    table
        The table; its rows are read.
    column
        The column as it is marked: kind and missing codes matter.
    most
        Number of bars at most, at least 2.

    Returns
    -------
    BarsView
        Rows per value, most frequent first and the rest together; declared ordinal values all in their
        order; for numbers and dates, rows per interval of equal width. Without bars when no cell is filled.

    Notes
    -----
    The figures are exact counts of private rows and never part of a release.

    Examples
    --------
    >>> table = Table(pd.DataFrame({"sex": ["f", "m", "f"]}))
    >>> view = column_bars(table, Column("sex", kind=Kind.CATEGORY))
    >>> view.labels, view.values
    (('f', 'm'), (2.0, 1.0))
    """
    values = table.rows()[column.name]
    if column.kind in _NUMBERS:
        read = numbers(values, column)
        return _intervals(column.name, read[np.isfinite(read)], most, whole=column.kind is Kind.INTEGER)
    if table.storage[column.name] == DATE:
        years = values.dropna().dt.year.to_numpy(dtype=np.float64)
        return _intervals(column.name, years, most, whole=True, grouped=False)
    listed = column.domain is not None and bool(column.domain.values or column.domain.code_list)
    if column.kind is Kind.ORDINAL and column.is_declared and listed and len(levels(column)) <= 2 * most:
        return _order(column, values)
    return _frequent(column, values, most)


def rows_of_people(table: Table, column: Column, *, most: int = MOST_BARS) -> BarsView:
    """Show how many people have one row, two rows, and so on, by the person key.

    Parameters
    ----------
    table
        The table; its rows are read.
    column
        The person key.
    most
        Number of bars; the last one takes everybody with as many rows or more.

    Returns
    -------
    BarsView
        People by their number of rows, from 1 up.

    Examples
    --------
    >>> table = Table(pd.DataFrame({"patient": [7, 7, 9]}))
    >>> view = rows_of_people(table, Column("patient"))
    >>> view.labels, view.values
    (('1', '2'), (1.0, 1.0))
    """
    counts = _count(table.rows()[column.name], column).to_numpy()
    people = np.bincount(np.minimum(counts, most))[1:] if len(counts) else np.zeros(0, dtype=np.int64)
    labels: list[Label] = [str(rows) for rows in range(1, len(people) + 1)]
    if len(counts) and int(counts.max()) > most:
        labels[-1] = Text("summary.or_more", {"rows": most})
    return _bars(column.name, labels, people.tolist(), "summary.people")


def _count(values: pd.Series, column: Column) -> pd.Series:
    counts = values.value_counts()
    return counts[[bool(text) for text in filled_texts(counts.index, column)]]


def _order(column: Column, values: pd.Series) -> BarsView:
    """Show declared steps in their order, with what was not declared at the end."""
    declared = levels(column)
    counts = np.bincount(codes(values, column), minlength=len(declared) + 2)
    labels: list[Label] = list(declared)
    rows = counts[: len(declared)].tolist()
    if counts[len(declared)]:
        labels.append(Text("summary.not_declared"))
        rows.append(int(counts[len(declared)]))
    return _bars(column.name, labels, rows, "summary.rows")


def _frequent(column: Column, values: pd.Series, most: int) -> BarsView:
    counts = _count(values, column)
    first = counts.iloc[: most if len(counts) <= most else most - 1]
    labels: list[Label] = list(texts_of(first.index))
    rows = [int(count) for count in first]
    if len(counts) > len(first):
        labels.append(Text("summary.others", {"count": len(counts) - len(first)}))
        rows.append(int(counts.iloc[len(first) :].sum()))
    return _bars(column.name, labels, rows, "summary.rows")


def _intervals(
    name: str,
    read: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    most: int,
    *,
    whole: bool,
    grouped: bool = True,
) -> BarsView:
    if not len(read):
        return _bars(name, [], [], "summary.rows")
    low, high = float(read.min()), float(read.max())
    if low == high:
        return _bars(name, [_write(low, grouped)], [len(read)], "summary.rows")
    bars = min(most, int(high - low) + 1) if whole else most
    # Whole numbers get intervals of a whole width, so that each bar stands for equally many of them.
    width = float(np.ceil((high - low + 1) / bars)) if whole else (high - low) / bars
    edges = low + width * np.arange(bars + 1)
    counts, _ = np.histogram(read, bins=edges)
    labels: list[Label] = []
    for start, end in pairwise(edges):
        last = end - 1 if whole else end
        one = _write(start, grouped)
        labels.append(one if start == last else Written(f"{one} – {_write(last, grouped)}"))
    kept = int(np.max(np.flatnonzero(counts))) + 1
    return _bars(name, labels[:kept], counts[:kept].tolist(), "summary.rows")


def _write(value: float, grouped: bool) -> Written:
    rounded = float(f"{value:.4g}") if abs(value) < 1000 or value % 1 else value
    return Written(f"{rounded:,.10g}" if grouped else f"{rounded:.10g}")


def _bars(name: str, labels: list[Label], values: list[int], axis: str) -> BarsView:
    return BarsView(name, tuple(labels), tuple(float(value) for value in values), Text(axis))
