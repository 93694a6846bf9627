"""What the noisy tables of a model tell of themselves: how exact they are, and whether the model agrees."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod, sqrt

import numpy as np

from engine.methods.datasets.marginal_model.agreement import (
    GAUSSIAN,
    LAPLACE,
    LITTLE,
    Agreement,
    Moments,
    agreement,
    limits,
)
from engine.methods.datasets.marginal_model.codes import MISSED, Coded
from engine.methods.datasets.marginal_model.fitting import Measured, Model
from engine.methods.datasets.marginal_model.frequent import Crowded, FrequentApart
from engine.methods.datasets.marginal_model.junction_tree import Attributes
from engine.methods.datasets.marginal_model.rounds import Learnt
from engine.methods.datasets.marginal_model.schedule import Schedule
from engine.methods.datasets.synthesis.related import CHANCE, Relations, describe_relations, draw_relations
from engine.methods.shared.column_cells import ColumnCells
from engine.privacy.accuracy import NORMAL_WITHIN
from engine.views import Cell, TableView, Text, View

MOST_NAMED = 5


def measured_views(
    learnt: Learnt, schedule: Schedule, columns: Sequence[ColumnCells], *, words: str, each: int = 1
) -> tuple[tuple[View, ...], tuple[Text, ...]]:
    """Return tables of what was measured, and sentences on whether the model agrees and on its relations.

    Parameters
    ----------
    columns
        Those that are drawn.
    words
        Below which the texts stand.
    each
        How many rows a person has at most.

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
            Text(
                f"{words}.views.{'parts' if isinstance(cells, Crowded) else 'values'}",
                {"column": cells.column.name},
            ),
            cells.fine,
            schedule.within(schedule.deviation(schedule.value)),
            None,
            None,
        )
        for cells in columns
        if isinstance(cells, FrequentApart)
    ]
    shown = relations(learnt.model, learnt.measured, is_gaussian=schedule.is_gaussian, each=each)
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
    light = (_light(found, tables, said, words), *describe_relations(shown, names))
    exact = _shares(learnt, schedule, columns, words, each)
    return (measured, exact, *draw_relations(shown, names)), light


def _light(found: Agreement, tables: Sequence[str], said: Sequence[str], words: str) -> Text:
    """Say whether the model agrees with everything, and if not, with which tables it does least."""
    worst = "no" if "no" in said else "nearly" if "nearly" in said or not found.agrees_as_a_whole else "yes"
    meant = [place for place, one in enumerate(said) if one == worst or worst not in said]
    meant.sort(key=lambda place: -found.beyond[place])
    off = list(dict.fromkeys(tables[place] for place in meant))
    told = {
        "tables": off[:MOST_NAMED],
        "more": max(0, len(off) - MOST_NAMED),
        "off": float(f"{100 * max(found.beyond[place] for place in meant):.2g}"),
    }
    more = "_more" if told["more"] and worst != "yes" else ""
    return Text(f"{words}.notes.agrees_{worst}{more}", told)


def _shares(
    learnt: Learnt, schedule: Schedule, columns: Sequence[ColumnCells], words: str, each: int
) -> TableView:
    """Say how exact a share is by the noise of all tables together."""
    total = learnt.model.total
    rows: list[tuple[Cell, ...]] = []
    for place, cells in enumerate(columns):
        deviation = combined_deviation(learnt.measured, place, cells.size) / total
        rows.append((_named(cells, words), *_points(deviation)))
        if isinstance(cells, Coded):
            name = Text(f"{words}.views.codes", {"column": cells.column.name})
            within = MISSED * schedule.deviation(schedule.code) / total
            rows.append((name, *_points(within / NORMAL_WITHIN)))
    headings = tuple(Text(f"{words}.views.shares.{name}") for name in ("column", "error", "within"))
    said = "note" if each == 1 else "note_of_several"
    note = Text(f"{words}.views.shares.{said}", {"rows": round(total), "most": each})
    return TableView(Text(f"{words}.views.shares.title"), headings, tuple(rows), note)


def _named(cells: ColumnCells, words: str) -> str | Text:
    """Return what the table of a single column is of: of its groups where values are drawn within them."""
    name = cells.column.name
    return Text(f"{words}.views.groups", {"column": name}) if isinstance(cells, Coded) else name


def _points(deviation: float) -> tuple[float, float]:
    """Return a deviation of a share and what 95 of 100 lie within, in points."""
    return float(f"{100 * deviation:.2g}"), float(f"{100 * NORMAL_WITHIN * deviation:.2g}")


# --- how exact the shares of invented rows are -----------------------------------------------------------
# The noise of all tables that tell of a column, together.


def combined_deviation(measured: Sequence[Measured], column: int, cells: int) -> float:
    """Return the standard deviation of the count of one cell of a column, by all tables that tell of it.

    Parameters
    ----------
    measured
        Tables with noise.
    column, cells
        Its place, and how many cells it has.

    Notes
    -----
    A table of the column and another one with K cells, each with σ, tells a sum over these K cells: its
    variance is K σ². The model weighs tables by their exactness, which gives 1 / Σ 1/(K σ²): the combined
    estimate of independent ones. Coarse tables, which do not tell cells apart, are left out: rather too much.

    Examples
    --------
    >>> import numpy as np
    >>> whole = (np.arange(2),)
    >>> alone = Measured((0,), whole, np.zeros(2), 6.0)
    >>> pair = Measured((0, 1), (*whole, np.arange(4)), np.zeros((2, 4)), 4.0)
    >>> combined_deviation([alone], 0, 2), combined_deviation([alone, pair], 0, 2)
    (6.0, 4.8)
    """
    weights = []
    for one in measured:
        if column in one.attributes:
            place = one.attributes.index(column)
            if one.counts.shape[place] == cells:
                others = prod(one.counts.shape) // cells
                weights.append(1 / (others * one.deviation**2))
    return 1 / sqrt(sum(weights))


def interval(share: float, *, deviation: float, rows: float, drawn: int) -> tuple[float, float]:
    """Return what 95 of 100 intervals of a share hold: that of the people whom the table is a sample of.

    Parameters
    ----------
    share
        Among the invented rows.
    deviation
        `combined_deviation`.
    rows
        How many rows the counts say that there are.
    drawn
        How many rows were invented.

    Notes
    -----
    Variance: σ²/n² by the noise, p (1 − p)/n as the table is a sample, and for n′ rows drawn 1/(4 n′²), as
    their shares are whole numbers, with p (1 − p)(1/n′ − 1/n) where they are fewer than n. Rows are drawn
    more evenly than by lot, so that this is rather too much.
    """
    own = share * (1 - share)
    fewer = max(0.0, 1 / drawn - 1 / rows)
    variance = (deviation / rows) ** 2 + own * (1 / rows + fewer) + 0.25 / drawn**2
    half = NORMAL_WITHIN * sqrt(variance)
    return max(0.0, share - half), min(1.0, share + half)


# --- which relations the noisy tables carry --------------------------------------------------------------


def relations(model: Model, measured: Sequence[Measured], *, is_gaussian: bool, each: int = 1) -> Relations:
    """Say of every set of columns that was measured together whether more than noise and chance is in it.

    Notes
    -----
    Were the columns independent, the noisy table would differ from the product m of their shares by its noise
    and by chance among people alone, of variance σ² + m as for counts of a Poisson distribution, or σ² + k m
    at most where a person has up to k = ``each`` rows, which may all be alike. And Σ (noisy count − m)² /
    (σ² + k m) would pass the limit of K cells of noise in at most `CHANCE` of all cases. That
    the product follows the rows makes it smaller still: what is not told may be there. A set that was
    measured several times is told where one of its tables tells it, each at its share.
    """
    moments = GAUSSIAN if is_gaussian else LAPLACE
    found: dict[Attributes, list[Measured]] = {}
    for one in measured:
        if len(one.attributes) > 1:
            found.setdefault(one.attributes, []).append(one)
    return Relations.of(
        [
            (name, max(_above_noise(model, one, moments, len(tables), each) for one in tables))
            for name, tables in found.items()
        ]
    )


def _above_noise(model: Model, one: Measured, moments: Moments, times: int, each: int) -> float:
    """Return how many times what noise and chance make a table is off from independent columns."""
    shares = [model.table((place,)) / model.total for place in one.attributes]
    alone = model.total * reduce(np.multiply.outer, shares)
    expected = one.coarse(alone)
    off = (expected - one.counts) / np.sqrt(one.deviation**2 + each * expected)
    limit = limits(np.array([float(one.counts.size)]), moments, CHANCE / times)[0]
    return sqrt(float(np.vdot(off, off)) / limit)
