"""What making a column coarser, or leaving it out, would change: counted again from codes, within a blink."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from engine.progress import SILENT, Progress
from engine.risk.encoding import EncodedColumn, EncodedTable, encode
from engine.risk.groups import Groups, group_rows, matching_sizes
from engine.risk.uniques import MinimalUniques, largest_size, minimal_uniques
from engine.table.hierarchies import USUAL, Hierarchy
from engine.table.schema import Column, Kind, Schema
from engine.table.table import Table

LEFT_OUT = -1
"""Instead of a step of the hierarchy: the column is not released at all."""

MOST_EXPOSED = 200
_BANDS = tuple(map(Fraction, (5, 10, 20)))


@dataclass(frozen=True)
class Tried:
    """How many people stand out after a change. Internal: from private rows.

    Parameters
    ----------
    alone
        People who are a group of their own.
    under
        People in groups of fewer than the limit.
    sizes
        Size of a group → people in groups of that size.
    """

    alone: int
    under: int
    sizes: Mapping[int, int] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class TriedStep:
    """One step of a column's hierarchy: how many values are left, and who stands out with it alone."""

    step: int
    values: int
    tried: Tried


@dataclass(frozen=True)
class Cause:
    """What changing one column by itself would do.

    Parameters
    ----------
    column
        Its name.
    steps
        The steps of its hierarchy below the one value for all; none where it has no hierarchy.
    left_out
        Without the column.
    """

    column: str
    steps: tuple[TriedStep, ...]
    left_out: Tried


@dataclass(frozen=True)
class Exposed:
    """Somebody whom few values single out. Internal, and never written anywhere.

    Parameters
    ----------
    row
        Place of the row, from 0.
    columns
        The smallest set of columns that singles it out.
    values
        What stands there, as text.
    sets
        How many such smallest sets, of any size, the row has.
    """

    row: int
    columns: tuple[str, ...]
    values: tuple[str, ...]
    sets: int

    def __repr__(self) -> str:
        return f"Exposed(row={self.row}, columns={self.columns})"


@dataclass(frozen=True, eq=False)
class RiskToday:
    """What the screen of risk shows, and the codes that further trying needs. Internal.

    Parameters
    ----------
    table
        The table as codes.
    groups
        By the identifying columns.
    limit
        The group size below which people count as too few.
    average
        Probability to be found, on average, by somebody who knows that the person is in the table.
    causes
        By column, the one that helps most by being left out first.
    exposed
        The people whom the fewest values single out.
    singled_out
        How many people are singled out by a few columns.
    few
        How many columns these are, at most.
    """

    table: EncodedTable
    groups: Groups
    limit: int
    average: float
    causes: tuple[Cause, ...]
    exposed: tuple[Exposed, ...]
    singled_out: int
    few: int

    @property
    def now(self) -> Tried:
        """Who stands out as the table is."""
        return _count(self.groups, self.limit)


def risk_today(table: Table, schema: Schema, *, limit: int, progress: Progress = SILENT) -> RiskToday:
    """Return what a table discloses by its identifying columns, and what each of them causes.

    Parameters
    ----------
    table, schema
        The prepared table and its roles.
    limit
        Group size k.

    Raises
    ------
    InputRefused
        ``risk.nothing_identifying``, or a column that is not there.
    """
    encoded = encode(table, schema)
    groups = group_rows(encoded)
    progress.step(0.3, "risk.group_sizes")
    causes = causes_of(encoded, limit=limit)
    size = min(largest_size(len(groups.columns), table.n_rows), len(groups.columns))
    uniques = minimal_uniques(encoded, largest=size, progress=progress.part(0.5, 1.0))
    exposed = exposed_people(encoded, uniques)
    rows = np.flatnonzero(uniques.smallest)
    singled = len(rows if encoded.people is None else np.unique(encoded.people[rows]))
    average = groups.count / encoded.n_people if encoded.n_people else 0.0
    return RiskToday(encoded, groups, limit, average, causes, exposed, singled, size)


def hierarchy_to_try(column: Column) -> Hierarchy:
    """Return the declared hierarchy, the calendar for days, bands of 5, 10 and 20 for numbers, or none.

    Examples
    --------
    >>> hierarchy_to_try(Column("age", kind=Kind.INTEGER)).height, hierarchy_to_try(Column("sex")).height
    (4, 1)
    """
    if column.hierarchy is not None:
        return column.hierarchy
    if column.kind is Kind.DATE:
        return Hierarchy(calendar=USUAL)
    return Hierarchy(bands=_BANDS) if column.kind in (Kind.INTEGER, Kind.NUMBER) else Hierarchy()


def causes_of(table: EncodedTable, *, limit: int) -> tuple[Cause, ...]:
    """Return what each identifying column causes by itself, the one that helps most first."""
    found = []
    for name in table.identifying:
        hierarchy = hierarchy_to_try(table.columns[name].column)
        steps = []
        for step in range(1, hierarchy.height):
            coarser = table.columns[name].coarser(hierarchy, step)
            tried = _count(group_rows(table.with_column(coarser), table.identifying), limit)
            steps.append(TriedStep(step, coarser.size, tried))
        found.append(Cause(name, tuple(steps), tried_with(table, {name: LEFT_OUT}, limit=limit)))
    return tuple(sorted(found, key=lambda cause: (cause.left_out.alone, cause.left_out.under)))


def tried_with(table: EncodedTable, changes: Mapping[str, int], *, limit: int) -> Tried:
    """Return who stands out with several columns changed together.

    Parameters
    ----------
    table
        From `engine.risk.encoding.encode`.
    changes
        Column → step of its hierarchy, or `LEFT_OUT`.
    limit
        Group size k.

    Examples
    --------
    >>> import pandas as pd
    >>> from engine.table.schema import Role
    >>> people = Table(pd.DataFrame({"age": [31, 33, 47], "sex": ["f", "f", "m"]}))
    >>> marked = (Column("age", Role.IDENTIFYING, Kind.INTEGER), Column("sex", Role.IDENTIFYING))
    >>> table = encode(people, Schema(marked))
    >>> tried_with(table, {}, limit=3), tried_with(table, {"age": 1}, limit=3)
    (Tried(alone=3, under=3), Tried(alone=1, under=3))
    """
    names = []
    for name in table.identifying:
        step = changes.get(name, 0)
        if step == LEFT_OUT:
            continue
        names.append(name)
        if step:
            hierarchy = hierarchy_to_try(table.columns[name].column)
            table = table.with_column(table.columns[name].coarser(hierarchy, step))
    return _count(group_rows(table, names), limit)


def tried_matching(table: EncodedTable, *, limit: int, progress: Progress = SILENT) -> Tried:
    """Return who stands out if a missing value agrees with every value.

    Raises
    ------
    InputRefused
        ``risk.matches_needs_one_row``: some person has several rows.
    """
    sizes = matching_sizes(table, progress=progress)
    return Tried(int((sizes == 1).sum()), int((sizes < limit).sum()))


def exposed_people(
    table: EncodedTable, uniques: MinimalUniques, *, most: int = MOST_EXPOSED
) -> tuple[Exposed, ...]:
    """Return the people whom the fewest values single out, one row of each, the easiest first."""
    order = np.lexsort((-uniques.score, uniques.smallest))
    order = order[uniques.smallest[order] > 0]
    if table.people is not None:
        _, first = np.unique(table.people[order], return_index=True)
        order = order[np.sort(first)]
    found = []
    for row in order[:most].tolist():
        sets = uniques.sets_of(row)
        values = tuple(_text(table.columns[name], row) for name in sets[0])
        found.append(Exposed(row, sets[0], values, len(sets)))
    return tuple(found)


def _text(column: EncodedColumn, row: int) -> str:
    return column.texts[int(column.codes[row])]


def _count(groups: Groups, limit: int) -> Tried:
    return Tried(groups.alone, groups.under((limit,))[limit], groups.distribution)
