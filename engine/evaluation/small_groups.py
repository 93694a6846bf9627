"""How many released numbers are no better than a guess: read off the released tables alone."""

from __future__ import annotations

from engine.evaluation.numbers import ReleasedNumber, released_numbers
from engine.evaluation.protocol import PublicMeasure, PublicMeasured, Released
from engine.methods.protocol import Family
from engine.utility.released_numbers import no_better_than_a_guess
from engine.views import COUNTED, Cell, NumberView, TableView, Text, View

ID = "utility.small_groups"
WORDS = f"measures.{ID}"


class SmallGroups(PublicMeasure):
    """Numbers whose 95 % limit is larger than the number itself.

    Notes
    -----
    Post-processing of what was released (Dwork and Roth 2014, proposition 2.1): it costs nothing.
    """

    id = ID
    families = frozenset({Family.STATISTICS})

    def evaluate(self, context: Released) -> PublicMeasured:
        counted = [
            (number, *counts) for number in released_numbers(context.release) if (counts := _counts(number))
        ]
        figures = {number.id: {"cells": cells, "guesses": guesses} for number, cells, guesses in counted}
        if not counted:
            return PublicMeasured()
        # Worst first: a mean far from zero passes however wide its margin is, the count beside it does not.
        counted.sort(key=lambda entry: -entry[2] / max(entry[1], 1))
        cells = "cells_above" if context.subject.cost.clears else "cells"
        views: list[View] = [
            NumberView(Text(f"{WORDS}.numbers.{name}.label"), value, Text(f"{WORDS}.numbers.{name}"))
            for name, value in zip(("guesses", cells), reversed(counted[0][1:]), strict=True)
        ]
        if len(counted) > 1:
            views.append(_table(counted))
        return PublicMeasured(tuple(views), figures)


def _counts(number: ReleasedNumber) -> tuple[int, int] | None:
    limits = number.limits
    if limits is None:
        return None
    guesses = no_better_than_a_guess(number.values, limits, is_counted=number.name in COUNTED)
    return int(guesses.size), int(guesses.sum())


def _table(counted: list[tuple[ReleasedNumber, int, int]]) -> TableView:
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (number.label, f"{number.artefact.name}.csv", cells, guesses) for number, cells, guesses in counted
    )
    headings = (
        Text(f"{WORDS}.views.numbers.number"),
        Text(f"{WORDS}.views.numbers.file"),
        Text(f"{WORDS}.numbers.cells.label"),
        Text(f"{WORDS}.numbers.guesses.label"),
    )
    return TableView(
        Text(f"{WORDS}.views.numbers.title"), headings, rows, Text(f"{WORDS}.views.numbers.note")
    )
