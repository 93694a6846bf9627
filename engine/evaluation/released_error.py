"""How far the numbers of this very release are from what the same rows give without noise. Stays inside."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engine.evaluation.numbers import Floats, ReleasedNumber, released_numbers
from engine.evaluation.protocol import InternalMeasure, InternalMeasured, Need, Private, Subject
from engine.evaluation.without_noise import exact_tables, has_exact_answer, is_choice
from engine.methods.protocol import Family
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
    from the nearest.

    The exact numbers are private, and so is the error: who knows the released number and its error knows the
    exact one. Choosing among several draws by their errors would be a choice made by the rows that no
    guarantee covers. Nothing here can be fed back: every further draw is paid for and entered in the ledger.
    """

    id = ID
    families = frozenset({Family.STATISTICS})
    needs = frozenset({Need.USED, Need.RELEASE})

    def further_applies(self, subject: Subject) -> bool:
        return has_exact_answer(subject.guarantee.events)

    def evaluate(self, context: Private) -> InternalMeasured:
        halves = (context.progress.part(0.0, 0.5), context.progress.part(0.5, 1.0))
        first = exact_tables(context.subject, context.used, progress=halves[0])
        last = first
        if is_choice(context.subject.guarantee.events):
            last = exact_tables(context.subject, context.used, last=True, progress=halves[1])
        compared = []
        for number in released_numbers(context.release):
            truth = _nearest(number, first[number.artefact.name], last[number.artefact.name])
            compared.append((number, truth, distance(number.values, truth, limits=number.limits)))
        if not compared:
            return InternalMeasured()
        main, truth, found = compared[0]
        views: list[View] = [*_numbers(found)]
        if len(compared) > 1:
            views.append(_summary([(number, found) for number, _, found in compared]))
        views.append(_worst(main, truth))
        return InternalMeasured(tuple(views), {number.id: _figures(found) for number, _, found in compared})


def _nearest(number: ReleasedNumber, first: pandas.DataFrame, last: pandas.DataFrame) -> Floats:
    """Return, cell by cell, the exact answer that is nearest to the released one."""
    low, high = (table[number.column].to_numpy(dtype=np.float64) for table in (first, last))
    return np.clip(number.values, np.minimum(low, high), np.maximum(low, high))


def _figures(found: Distance) -> dict[str, float | int | None]:
    return {
        "cells": found.cells,
        "median": found.median,
        "largest": found.largest,
        "within": found.within,
        "share_within": found.share_within,
    }


def _numbers(found: Distance) -> list[NumberView]:
    """Return the key numbers; one that does not exist (no cell, no stated limit) is not shown."""
    share = found.share_within
    shown = {
        "median": (found.median, ""),
        "largest": (found.largest, ""),
        "within": (None if share is None else round(100 * share, 1), "%"),
        "cells": (found.cells, ""),
    }
    return [
        NumberView(Text(f"{WORDS}.numbers.{name}.label"), value, Text(f"{WORDS}.numbers.{name}"), unit)
        for name, (value, unit) in shown.items()
        if value is not None
    ]


def _summary(compared: list[tuple[ReleasedNumber, Distance]]) -> TableView:
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            number.label,
            f"{number.artefact.name}.csv",
            found.cells,
            found.median,
            found.largest,
            None if found.share_within is None else round(100 * found.share_within, 1),
        )
        for number, found in compared
    )
    headings = (
        Text(f"{WORDS}.views.summary.number"),
        Text(f"{WORDS}.views.summary.file"),
        *(Text(f"{WORDS}.numbers.{name}.label") for name in ("cells", "median", "largest", "within")),
    )
    return TableView(
        Text(f"{WORDS}.views.summary.title"), headings, rows, Text(f"{WORDS}.views.summary.note")
    )


def _worst(number: ReleasedNumber, truth: Floats) -> TableView:
    """Return the cells with the largest errors, worst first."""
    values, limits = number.values, number.limits
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            *number.cell(place),
            float(values[place]),
            float(truth[place]),
            float(values[place] - truth[place]),
            None if limits is None else float(limits[place]),
        )
        for place in worst_first(values, truth, most=MOST_WORST)
    )
    headings: tuple[Label, ...] = (
        *number.keys,
        number.label,
        *(Text(f"{WORDS}.numbers.{name}.label") for name in ("exact", "error", "limit")),
    )
    return TableView(Text(f"{WORDS}.views.worst.title"), headings, rows, Text(f"{WORDS}.views.worst.note"))
