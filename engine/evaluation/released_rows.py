"""What released rows hold, read off them alone: how large groups are, or the shares of frequent values."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice, pairwise
from math import ceil, floor, log10
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.evaluation.protocol import PublicMeasure, PublicMeasured, Released
from engine.methods.protocol import Family, Method, Rows, TableArtefact
from engine.numbers import brief
from engine.table.coding import OTHER
from engine.table.hierarchies import ALL
from engine.views import BarsView, NumberView, Text, labelled

ID = "utility.released_rows"
WORDS = f"measures.{ID}"
STEPS = (1, 2, 5)
MOST_VALUES, MOST_BARS = 8, 12
LONG = 10_000
FEWEST, SHARE = 30, 0.05
"""A value of real rows is named where so many of them, and such a share, have it."""


class ReleasedRows(PublicMeasure):
    """Sizes of the groups that a promise speaks of; else the shares of the values of a few columns.

    Notes
    -----
    Post-processing of what was released. Of real rows only frequent values are named and only wide classes
    of sizes are told: a report may be read by more people than the table.
    """

    id = ID
    families = frozenset({Family.DATASET})

    def further_applies(self, subject: Method) -> bool:
        return subject.rows is not Rows.NONE

    def evaluate(self, context: Released) -> PublicMeasured:
        tables = [one for one in context.release.artefacts if isinstance(one, TableArtefact)]
        if not tables or not len(tables[0].frame):
            return PublicMeasured()
        rows = pd.concat(tables[0].frames, ignore_index=True)
        promise = context.subject.stated
        named = str(promise.terms.get("columns", "")).split(", ")
        columns = [name for name in rows if name in named]
        if "k" in promise.terms and columns:
            sizes = rows.groupby(columns, dropna=False, sort=False).size().to_numpy()
            return _groups(sizes, int(str(promise.terms["k"])))
        invented = context.subject.rows is Rows.SYNTHETIC and promise.loss is not None
        others = {one.name: one.values[-1] for one in tables[0].dictionary if one.values} if invented else {}
        alone = tables[0].files[0] if len(tables) > 1 else ""
        return _shares(rows, 1 if invented else FEWEST, 0.0 if invented else SHARE, others, alone)


def classes(least: int, most: int) -> list[int]:
    """Return where classes of sizes begin, and one end more: the least size, then 1, 2, 5, 10, 20 …

    Examples
    --------
    >>> classes(11, 788)
    [11, 20, 50, 100, 200, 500, 1000]
    """
    begins, power = [least], 1
    while begins[-1] <= most:
        begins += [step * power for step in STEPS if step * power > begins[-1]]
        power *= 10
    while len(begins) > 2 and begins[-2] > most:
        begins.pop()
    return begins


def _groups(sizes: npt.NDArray[np.integer[Any]], least: int) -> PublicMeasured:
    smallest, most = int(sizes.min()), int(sizes.max())
    rows = np.repeat(np.sort(sizes), np.sort(sizes))
    figures = {"groups": len(sizes), "smallest": smallest, "median": int(rows[len(rows) // 2])}
    begins = classes(min(least, smallest), most)
    labels, counts = [], []
    for begin, end in pairwise(begins):
        name = "class" if end - 1 > begin else "class_of_one"
        labels.append(Text(f"{WORDS}.views.groups.{name}", {"low": begin, "high": end - 1}))
        counts.append(float(sizes[(sizes >= begin) & (sizes < end)].sum()))
    words = f"{WORDS}.views.groups"
    note = Text(f"{words}.note", figures | {"k": least})
    view = BarsView(Text(f"{words}.title"), tuple(labels), tuple(counts), Text(f"{words}.axis"), note=note)
    number = NumberView(Text(f"{WORDS}.numbers.smallest.label"), smallest, Text(f"{WORDS}.numbers.smallest"))
    return PublicMeasured((number, view), figures)


def _shares(
    rows: pd.DataFrame, fewest: int, share: float, others: Mapping[str, str], file: str
) -> PublicMeasured:
    """Return the shares of frequent values; ``others`` are what invented rows have for the undeclared.

    ``file`` is whose rows alone these are, where several tables leave.
    """
    bars: list[tuple[Text, float]] = []
    most: list[list[str]] = []
    for name in rows:
        found = _frequent(rows[name], max(fewest, share * len(rows)))
        if len(found) < 2 or len(bars) + len(found) > MOST_BARS:
            continue
        first, second = islice(found.values(), 2)
        if first > second:  # where several are as frequent, none of them is the most frequent
            most.append([str(name), next(iter(found))])
        other = others.get(str(name), "")
        bars += [
            (_label(str(name), value, is_other=value == other), float(round(100 * n / len(rows))))
            for value, n in found.items()
        ]
    if not bars:
        return _first_of_many(rows, file) if fewest == 1 else PublicMeasured()
    words = f"{WORDS}.views.shares"
    note = Text(
        f"{words}.{'note' if fewest == 1 else 'note_frequent'}", {"rows": FEWEST, "share": 5, "of": _of(file)}
    )
    labels, values = zip(*bars, strict=True)
    view = BarsView(Text(f"{words}.title"), labels, values, Text(f"{words}.axis"), note=note)
    return PublicMeasured((view,), {"most": most})


def _of(file: str) -> Text:
    words = f"{WORDS}.views.shares"
    return Text(f"{words}.of_file", {"file": file}) if file else Text(f"{words}.of_all")


def _first_of_many(rows: pd.DataFrame, file: str) -> PublicMeasured:
    """Return shares of the first column with many values: of numbers in intervals, else the most frequent."""
    words = f"{WORDS}.views.shares"
    for name in rows:
        cells = rows[name].dropna()
        numbers = pd.to_numeric(cells, errors="coerce")
        if not len(cells) or cells.nunique() < 2:
            continue
        known = numbers.dropna().to_numpy(dtype=np.float64)
        if 2 * len(known) > len(cells) and known.min() < known.max():  # the others are words for the missing
            edges = interval_edges(float(known.min()), float(known.max()))
            found = np.histogram(known, edges)[0]
            ends: list[str | float | None] = [brief(one) for one in edges]
            if all(one.is_integer() and abs(one) < LONG for one in edges):  # years, for instance: as they are
                ends = [f"{one:.0f}" for one in edges]
            labels = [
                Text(f"{words}.between", {"column": str(name), "low": low, "high": high})
                for low, high in pairwise(ends)
            ]
            note = Text(f"{words}.note_intervals", {"of": _of(file)})
        else:
            counts = cells.astype(str).value_counts().head(MOST_BARS)
            labels = [labelled(str(name), str(value)) for value in counts.index]
            found, note = counts.to_numpy(), Text(f"{words}.note_most", {"most": MOST_BARS, "of": _of(file)})
        shares = tuple(float(round(100 * int(n) / len(rows))) for n in found)
        view = BarsView(Text(f"{words}.title"), tuple(labels), shares, Text(f"{words}.axis"), note=note)
        return PublicMeasured((view,))
    return PublicMeasured()


def interval_edges(low: float, high: float) -> list[float]:
    """Return the ends of at most `MOST_VALUES` intervals of a round width that hold all numbers.

    Examples
    --------
    >>> interval_edges(1, 14)
    [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0]
    """
    power = 10.0 ** floor(log10((high - low) / MOST_VALUES))
    widths = [step * power for step in (*STEPS, 10, 20)]
    width = next(one for one in widths if floor(low / one) + MOST_VALUES >= high / one)
    first = floor(low / width)
    return [float(f"{place * width:.12g}") for place in range(first, ceil(high / width) + 1)]


def _label(column: str, value: str, *, is_other: bool) -> Text:
    """Name a value with its column, one that stands for all that was not declared in words.

    Beside a declared value of that name it stands in brackets, as in the file.
    """
    if is_other and value == OTHER:
        return Text(f"{WORDS}.views.shares.other", {"column": column})
    return labelled(column, value)


def _frequent(cells: pd.Series, fewest: float) -> Mapping[str, int]:
    """Return the values of a column that has few, most frequent first; none where it has many."""
    counts = cells.dropna().astype(str).value_counts()
    if len(counts) > MOST_VALUES:
        return {}
    return {str(value): int(n) for value, n in counts.items() if value not in ("", ALL) and n >= fewest}
