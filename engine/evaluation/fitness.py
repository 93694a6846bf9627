"""Whether a table fits a release, before any work: from the forecast and declared sizes, never from rows.

What is seen of the rows on the screens of risk flows into nothing here: the number of people, the cap and the
columns' values are what was declared, so that the answer may be read before a differentially private release
and changes nothing about its guarantee.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from engine.errors import EngineError
from engine.methods.filling import USELESS, Filling
from engine.methods.protocol import Forecast, Method
from engine.table.coding import cells
from engine.table.schema import Column, Kind, Role, Schema

FEWEST_PER_COLUMN = 10
"""Fewer people than this for each column leave next to nothing for any relation between columns."""
MOST_COLUMNS = 200


class Weight(StrEnum):
    """What follows from a remark."""

    UNFIT = "unfit"  # most of what comes out would be noise
    CARE = "care"  # it comes out worse than it could


@dataclass(frozen=True)
class Remark:
    """One thing about the table that spoils a release.

    Parameters
    ----------
    code
        Its sentence is ``evaluation.fitness.CODE``.
    weight
        How bad it is.
    values
        What the sentence names: declared numbers and names of columns.
    remedies
        What would help, best first; each has a sentence ``evaluation.fitness.remedies.NAME``.
    """

    code: str
    weight: Weight
    values: Mapping[str, Any]
    remedies: tuple[str, ...]


@dataclass(frozen=True)
class Fitness:
    """Everything that spoils a release of a table, the worst first.

    Parameters
    ----------
    remarks
        Empty where nothing is known to be wrong.
    useful_cells
        Share of the released cells that can say something, at most; None where nothing is counted in cells or
        nobody declared how many people there are.
    """

    remarks: tuple[Remark, ...] = field(default=())
    useful_cells: float | None = None


def fitness(design: Method, *, people: int | None, columns: Iterable[str] | None = None) -> Fitness:
    """Say what will come out of a method at its privacy level, and what would come out better.

    Parameters
    ----------
    design
        What is to be released.
    people
        How many people the table has, as declared; None where nobody has said it.
    columns
        Names of the columns that are asked for; by default those of the request, which has none while what
        was filled in cannot be used.

    Returns
    -------
    Fitness
        Of useful cells: N people with at most r rows each fill at most N r / (m + 1) cells beyond the margin
        m that 95 of 100 counts keep, whatever the rows hold.

    Examples
    --------
    >>> from engine.methods.catalogue import method
    >>> counts = method("statistics.counts")
    >>> schema = Schema((Column("note", kind=Kind.TEXT),))
    >>> design = counts(counts.make_request({"people": schema}, {"columns": ["note"]}))
    >>> [remark.code for remark in fitness(design, people=500, columns=["note"]).remarks]
    ['wide_text']
    """
    used = _used(design) if columns is None else [design.schema.column(name) for name in columns]
    found = list(_of_columns(used, people))
    forecast = _forecast(design)
    useful = None
    if forecast.counted is not None and people is not None:
        filled = forecast.counted.filled_by(people)
        useful = filled.share
        found += _of_cells(used, filled)
    found += _of_cap(design, forecast)
    order = {Weight.UNFIT: 0, Weight.CARE: 1}
    return Fitness(tuple(sorted(found, key=lambda remark: order[remark.weight])), useful)


def _used(design: Method) -> list[Column]:
    names, request = design.uses, design.request
    return [
        column
        for source in request.private
        for column in map(request.schemas.get(source, Schema()).column, names.get(source, ()))
        if column.role is not Role.PERSON_KEY
    ]


def _forecast(design: Method) -> Forecast:
    try:
        return Forecast() if design.problems else design.forecast
    except EngineError:
        return Forecast()


def _of_columns(columns: list[Column], people: int | None) -> Iterator[Remark]:
    if len(columns) > MOST_COLUMNS:
        values = {"columns": len(columns), "most": MOST_COLUMNS}
        yield Remark("many_columns", Weight.UNFIT, values, ("fewer_columns", "several_releases", "coarser"))
    elif people is not None and len(columns) > 1 and people < FEWEST_PER_COLUMN * len(columns):
        values = {"people": people, "columns": len(columns), "per_column": FEWEST_PER_COLUMN}
        yield Remark("few_people", Weight.UNFIT, values, ("fewer_columns", "coarser", "more_people"))
    for column in columns:
        if column.kind is Kind.TEXT and column.domain is None:
            yield Remark("wide_text", Weight.UNFIT, {"column": column.name}, ("code_list", "leave_out"))


def _of_cells(columns: list[Column], filled: Filling) -> Iterator[Remark]:
    said = {"people": filled.people, "margin": filled.margin}
    for column in columns:
        size = _levels(column)
        if size is not None and size * (filled.margin + 1) > filled.rows:
            values = {"column": column.name, "levels": size, **said}
            yield Remark("many_levels", Weight.CARE, values, ("coarser", "leave_out", "higher_level"))
    if filled.is_useless:
        rows = math.ceil(USELESS * filled.cells) * (filled.margin + 1)
        enough = rows * filled.people // filled.rows + 1
        values = {"cells": filled.cells, "useful": filled.above, "enough": enough, **said}
        yield Remark("few_per_cell", Weight.UNFIT, values, ("fewer_columns", "coarser", "higher_level"))


def _levels(column: Column) -> int | None:
    try:
        return len(cells(column))
    except EngineError:
        return None


def _of_cap(design: Method, forecast: Forecast) -> Iterator[Remark]:
    """Compare the error with that of one row a person, by forecasting both."""
    request = design.request
    cap, main = request.rows_per_person, forecast.main or next(iter(forecast.errors), None)
    if cap == 1 or main is None:
        return
    schemas = {
        name: replace(schema, rows_per_person=1) if name in request.private else schema
        for name, schema in request.schemas.items()
    }
    single = _forecast(design.but(schemas=schemas))
    other = single.main or next(iter(single.errors), None)
    if other is not None and main.limit > other.limit > 0:
        values = {"cap": cap, "limit": main.limit, "single": other.limit}
        yield Remark("many_rows_each", Weight.CARE, values, ("lower_cap", "one_row"))
