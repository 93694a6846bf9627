"""How far the numbers of this very release are from what the same rows give without noise. Stays inside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.evaluation.numbers import Floats, ReleasedNumber, released_numbers
from engine.evaluation.protocol import InternalMeasure, InternalMeasured, Need, Private
from engine.evaluation.without_noise import exact_tables, has_exact_answer, is_choice
from engine.methods.protocol import Family, Method
from engine.numbers import brief
from engine.utility.released_numbers import Distance, distance, worst_first
from engine.views import Cell, Label, NumberView, TableView, Text, View

if TYPE_CHECKING:
    import pandas

ID = "utility.released_error"
WORDS = f"measures.{ID}"
MOST_WORST = 20


class ReleasedError(InternalMeasure):
    """The error of one draw, measured; the accuracy that the release states is about all draws.

    Notes
    -----
    Among several exact answers (any value between two people in the middle is a median) the error is measured
    from the nearest. A mean or proportion of a group with nobody in it has no exact answer and is left out,
    where the method releases the count beside it and so the exact count is known here.

    The exact numbers are private, and so is the error: who knows the released number and its error knows the
    exact one. Choosing among several draws by their errors would be a choice made by the rows that no
    guarantee covers. Nothing here can be fed back: every further draw is paid for and entered in the ledger.
    """

    id = ID
    families = frozenset({Family.STATISTICS})
    needs = frozenset({Need.USED, Need.RELEASE})
    answered = True

    def further_applies(self, subject: Method) -> bool:
        # who counts people by all of their rows is not answered by those below the cap
        return has_exact_answer(subject.cost) and not subject.counts_people

    def evaluate(self, context: Private) -> InternalMeasured:
        halves = (context.progress.part(0.0, 0.5), context.progress.part(0.5, 1.0))
        first = exact_tables(
            context.subject, context.used, work_folder=context.work_folder, progress=halves[0]
        )
        last = first
        if is_choice(context.subject.cost):
            last = exact_tables(
                context.subject,
                context.used,
                last=True,
                work_folder=context.work_folder,
                progress=halves[1],
            )
        compared = [
            _compare(number, first[number.artefact.name], last[number.artefact.name])
            for number in released_numbers(context.release)
        ]
        if not compared:
            return InternalMeasured()
        views: list[View] = [*_numbers(compared[0].found)]
        if len(compared) > 1:
            views.append(_summary(compared))
        views.append(_worst(compared[0]))
        return InternalMeasured(tuple(views), {one.number.id: _figures(one) for one in compared})


@dataclass(frozen=True)
class _Compared:
    """One number beside its exact answers, NaN in a cell that has none."""

    number: ReleasedNumber
    exact: Floats
    found: Distance


def _compare(number: ReleasedNumber, first: pandas.DataFrame, last: pandas.DataFrame) -> _Compared:
    """Compare a number, cell by cell, with the exact answer that is nearest to it."""
    low, high = (table[number.column].to_numpy(dtype=np.float64) for table in (first, last))
    exact = np.clip(number.values, np.minimum(low, high), np.maximum(low, high))
    if number.count is not None:  # a group with nobody in it has no mean
        exact[first[number.count].to_numpy(dtype=np.float64) == 0] = np.nan
    known = ~np.isnan(exact)
    limits = None if number.limits is None else number.limits[known]
    return _Compared(number, exact, distance(number.values[known], exact[known], limits=limits))


def _figures(one: _Compared) -> dict[str, float | int | None]:
    found = one.found
    return {
        "cells": found.cells,
        "without_exact": int(np.isnan(one.exact).sum()),
        "median": found.median,
        "largest": found.largest,
        "within": found.within,
        "share_within": found.share_within,
    }


def _numbers(found: Distance) -> list[NumberView]:
    """Return the key numbers; one that does not exist (no cell, no stated limit) is not shown."""
    share = found.share_within
    shown = {
        "median": (brief(found.median), ""),
        "largest": (brief(found.largest), ""),
        "within": (None if share is None else round(100 * share, 1), "%"),
        "cells": (found.cells, ""),
    }
    return [
        NumberView(Text(f"{WORDS}.numbers.{name}.label"), value, Text(f"{WORDS}.numbers.{name}"), unit)
        for name, (value, unit) in shown.items()
        if value is not None
    ]


def _summary(compared: list[_Compared]) -> TableView:
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            one.number.label,
            f"{one.number.artefact.name}.csv",
            one.found.cells,
            brief(one.found.median),
            brief(one.found.largest),
            None if one.found.share_within is None else round(100 * one.found.share_within, 1),
        )
        for one in compared
    )
    headings = (
        Text(f"{WORDS}.views.summary.number"),
        Text(f"{WORDS}.views.summary.file"),
        *(Text(f"{WORDS}.numbers.{name}.label") for name in ("cells", "median", "largest", "within")),
    )
    return TableView(
        Text(f"{WORDS}.views.summary.title"), headings, rows, Text(f"{WORDS}.views.summary.note")
    )


def _worst(one: _Compared) -> TableView:
    """Return the cells with the largest errors, worst first."""
    number, values, limits = one.number, one.number.values, one.number.limits
    known = np.flatnonzero(~np.isnan(one.exact))
    places = known[worst_first(values[known], one.exact[known], most=MOST_WORST)]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            *number.cell(place),
            brief(values[place]),
            brief(one.exact[place]),
            brief(values[place] - one.exact[place]),
            None if limits is None else brief(limits[place]),
        )
        for place in places
    )
    headings: tuple[Label, ...] = (
        *number.keys,
        number.label,
        *(Text(f"{WORDS}.numbers.{name}.label") for name in ("exact", "error", "limit")),
    )
    return TableView(Text(f"{WORDS}.views.worst.title"), headings, rows, Text(f"{WORDS}.views.worst.note"))
