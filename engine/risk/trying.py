"""What making a column coarser, or leaving it out, would change: counted again from codes, within a blink."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from engine import arrays
from engine.progress import SILENT, Progress
from engine.risk.combinations import (
    Codes,
    Numbers,
    count_repeats,
    dense,
    find_near,
    number_combinations,
    number_sets,
)
from engine.risk.encoding import EncodedColumn, EncodedTable, encode
from engine.risk.groups import matching_sizes
from engine.risk.uniques import Bits, MinimalUniques, largest_size, minimal_uniques
from engine.table.hierarchies import USUAL, Hierarchy
from engine.table.schema import Column, Kind, Schema
from engine.table.table import Table

LEFT_OUT = -1
"""Instead of a step of the hierarchy: the column is not released at all."""

MOST_EXPOSED = 200
FEW = 8  # one of so many rows is known before to be alone: fewer are not left out
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
    trials
        The table as codes, and who is known to be alone.
    columns
        The identifying columns.
    limit
        The group size below which people count as too few.
    now
        Who stands out as the table is.
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

    trials: Trials
    columns: tuple[str, ...]
    limit: int
    now: Tried
    average: float
    causes: tuple[Cause, ...]
    exposed: tuple[Exposed, ...]
    singled_out: int
    few: int

    @property
    def table(self) -> EncodedTable:
        """The table as codes."""
        return self.trials.table


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
    names = encoded.identifying
    progress.step(0.05, "risk.group_sizes")
    size = min(largest_size(len(names), table.n_rows), len(names))
    uniques = minimal_uniques(encoded, largest=size, progress=progress.part(0.1, 0.6))
    trials = Trials(encoded, uniques)
    now = trials.count({}, limit=limit)
    causes = causes_of(trials, limit=limit, progress=progress.part(0.6, 1.0))
    exposed = exposed_people(encoded, uniques)
    rows = np.flatnonzero(uniques.smallest)
    singled = len(rows if encoded.people is None else arrays.distinct(encoded.people[rows]))
    groups = sum(people // size for size, people in now.sizes.items())
    average = groups / encoded.n_people if encoded.n_people else 0.0
    return RiskToday(trials, names, limit, now, average, causes, exposed, singled, size)


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


class Trials:
    """Counts who stands out with columns changed, and remembers who was alone with which changes.

    Whoever is alone by some columns is so by more columns, and by the values of a column if by groups of
    them: such people are counted, and not looked at again.

    Parameters
    ----------
    table
        From `engine.risk.encoding.encode`.
    uniques
        Of its identifying columns, where they are known.
    """

    def __init__(self, table: EncodedTable, uniques: MinimalUniques | None = None) -> None:
        self.table = table
        self._names = table.identifying
        self._owners: Codes | None = None if table.people is None else table.people.astype(np.int32)
        self._coarser: dict[tuple[str, int], tuple[Codes, int]] = {}
        self._alone: dict[tuple[int, ...], Bits] = {}
        for chosen, rows in (uniques.singled_out if uniques is not None else {}).items():
            steps = (0 if place in chosen else LEFT_OUT for place in range(len(self._names)))
            self._alone[tuple(steps)] = rows

    def values(self, name: str, step: int) -> int:
        """Return how many values a column has on a step of its hierarchy."""
        return self._read(name, step)[1]

    def count(self, changes: Mapping[str, int], *, limit: int) -> Tried:
        """Return who stands out with several columns changed together.

        Parameters
        ----------
        changes
            Column → step of its hierarchy, or `LEFT_OUT`.
        limit
            Group size k.
        """
        steps = tuple(changes.get(name, 0) for name in self._names)
        flags = self._flags(steps)
        if np.count_nonzero(flags) * FEW < len(flags):
            flags[:] = False  # to look at them again is faster than to go round them
        rows = np.flatnonzero(~flags)
        owners = self._owners if self._owners is None or not flags.any() else self._owners.take(rows)
        keys, most = self._keys(steps, rows)
        near = find_near(keys, most, owners)
        flags[rows.compress(~near)] = True
        if owners is None:
            keys = keys.compress(near)
            sizes = count_repeats(keys, int(keys.max(initial=0)).bit_length())
        else:
            # Whoever has one combination that nobody else has is alone; the others share all of theirs.
            near = ~self._of_whole_people(flags).take(rows)
            people, _ = dense(owners.compress(near), self.table.n_people)
            described = number_sets(dense(keys.compress(near), most)[0], people)
            sizes = np.bincount(described)
            flags[rows.compress(near).compress((sizes == 1).take(described).take(people))] = True
        self._alone[steps] = np.packbits(flags)
        groups = np.bincount(sizes[sizes > 1], minlength=2)
        groups[1] = self.table.n_people - int(sizes[sizes > 1].sum())
        by_size = {int(size): int(size * groups[size]) for size in np.flatnonzero(groups)}
        under = sum(people for size, people in by_size.items() if size < limit)
        return Tried(int(groups[1]), under, by_size)

    def _flags(self, steps: tuple[int, ...]) -> npt.NDArray[np.bool_]:
        """Return the rows of those of whom it is known before counting that they are alone."""
        bits = np.zeros((self.table.n_rows + 7) // 8, dtype=np.uint8)
        for before, rows in self._alone.items():
            if all(then in (LEFT_OUT, now) or not now for then, now in zip(before, steps, strict=True)):
                bits |= rows
        return self._of_whole_people(np.unpackbits(bits, count=self.table.n_rows).view(np.bool_))

    def _of_whole_people(self, flags: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Set what is set for one row of a person for all of them."""
        if self._owners is not None:
            people = np.zeros(self.table.n_people, dtype=bool)
            people[self._owners.compress(flags)] = True
            flags |= people.take(self._owners)
        return flags

    def _keys(self, steps: tuple[int, ...], rows: Numbers) -> tuple[Numbers, int]:
        """Return numbers for what some rows say with changes."""
        codes: list[Codes] = []
        widths = []
        for name, step in zip(self._names, steps, strict=True):
            if step == LEFT_OUT:
                continue
            column = self.table.columns[name]
            own = column.codes if len(rows) == len(column.codes) else column.codes.take(rows)
            places, width = self._read(name, step) if step else (None, column.size)
            codes.append(own if places is None else places.take(own))
            widths.append(width)
        return number_combinations(codes, widths, len(rows))

    def _read(self, name: str, step: int) -> tuple[Codes, int]:
        """Return for each value of a column its place among those of a step, and how many these are."""
        if (name, step) not in self._coarser:
            column = self.table.columns[name]
            found, values = column.on_step(hierarchy_to_try(column.column), step)
            self._coarser[name, step] = found, len(values)
        return self._coarser[name, step]


def causes_of(trials: Trials, *, limit: int, progress: Progress = SILENT) -> tuple[Cause, ...]:
    """Return what each identifying column causes by itself, the one that helps most first."""
    table, found = trials.table, []
    for place, name in enumerate(table.identifying):
        progress.step(place / len(table.identifying), "risk.group_sizes")
        left_out = trials.count({name: LEFT_OUT}, limit=limit)
        steps = range(1, hierarchy_to_try(table.columns[name].column).height)
        tried = [
            TriedStep(at, trials.values(name, at), trials.count({name: at}, limit=limit)) for at in steps
        ]
        found.append(Cause(name, tuple(tried), left_out))
    return tuple(sorted(found, key=lambda cause: (cause.left_out.alone, cause.left_out.under)))


def tried_with(table: EncodedTable, changes: Mapping[str, int], *, limit: int) -> Tried:
    """Return who stands out with several columns changed together, see `Trials.count`.

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
    return Trials(table).count(changes, limit=limit)


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
