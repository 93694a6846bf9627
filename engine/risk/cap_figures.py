"""What a cap on the rows of one person leaves out, and how far it moves means and shares."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine import arrays
from engine.table import coding
from engine.table.declared import people_of
from engine.table.schema import Column, Kind, Schema
from engine.table.table import Table

CAPS = (1, 2, 3, 5, 10, 20)
MOST_LEVELS = 50
Floats = arrays.Floats
Numbers = arrays.Integers


@dataclass(frozen=True)
class Shift:
    """A mean, or the share of the level that moves most: without a cap, and by cap.

    ``level`` is None for a mean. ``uncapped`` and the values of ``by_cap`` are None where no row has a value.
    """

    column: str
    level: str | None
    uncapped: float | None
    by_cap: dict[int, float | None]


@dataclass(frozen=True)
class CapFigures:
    """What caps leave of a table. Internal: from private rows.

    Parameters
    ----------
    people, rows
        How many people and rows have a person key.
    nameless
        Rows without a person key; no cap keeps them.
    most
        Rows of the person who has the most.
    kept
        Cap → rows that it keeps.
    losing
        Cap → people who have more rows than it keeps.
    shifts
        What the cap does to each column that was asked for.
    """

    people: int
    rows: int
    nameless: int
    most: int
    kept: dict[int, int]
    losing: dict[int, int]
    shifts: tuple[Shift, ...]


def cap_figures(
    table: Table,
    schema: Schema,
    *,
    columns: tuple[str, ...] = (),
    caps: tuple[int, ...] = CAPS,
    people: npt.NDArray[np.integer] | None = None,
) -> CapFigures:
    """Return how many rows each cap keeps, and what it does to the mean or the shares of columns.

    Parameters
    ----------
    table
        The prepared table, before any cap and before any condition.
    schema
        Must mark a person key.
    columns
        Columns whose mean (declared bounds) or whose shares (declared levels) are followed; others among
        them are passed over.
    caps
        At least 1 each.
    people
        A number for each row's person, see `engine.table.declared.people_of`, where they are known already.

    Returns
    -------
    CapFigures
        Rows kept are exact. Means and shares are those on average over the lot that chooses the rows: totals
        that are expected, divided; a single draw differs by chance.

    Raises
    ------
    ValueError
        No person key is marked.

    Notes
    -----
    Of the k rows of a person a cap c keeps min(k, c), each with the chance min(k, c)/k. A statistic of the
    kept rows therefore weighs people with many rows less than one of all rows: it answers for at most c rows
    drawn from each person, not for all rows.

    Examples
    --------
    >>> from engine.table.schema import Role
    >>> table = Table(pd.DataFrame({"person": ["a", "a", "a", "b"]}))
    >>> found = cap_figures(table, Schema((Column("person", Role.PERSON_KEY),), 1), caps=(1, 2))
    >>> found.rows, found.kept, found.losing, found.most
    (4, {1: 2, 2: 3}, {1: 1, 2: 1}, 3)
    """
    key = schema.person_key
    if key is None:
        raise ValueError("figures by cap are about people with several rows")
    persons = people_of(table, key).places if people is None else people
    known = persons >= 0
    rows_of = np.bincount(persons[known])
    people_with = np.bincount(rows_of, minlength=1)
    people_with[0] = 0
    numbers = np.flatnonzero(people_with)
    chances = {cap: np.minimum(numbers, cap) / numbers for cap in caps}
    class_of = np.append(np.searchsorted(numbers, rows_of).astype(np.int32), np.int32(0))
    by_rows = _ByRows(numbers, class_of.take(persons, mode="wrap"), known, chances)
    followed = [schema.column(name) for name in columns if name in schema and name in table]
    shifts = [_shift(table, column, by_rows) for column in followed]
    return CapFigures(
        people=int(people_with.sum()),
        rows=int(people_with @ np.arange(len(people_with))),
        nameless=int((~known).sum()),
        most=int(numbers.max(initial=0)),
        kept={cap: int(people_with[numbers] @ np.minimum(numbers, cap)) for cap in caps},
        losing={cap: int(people_with[cap + 1 :].sum()) for cap in caps},
        shifts=tuple(shift for shift in shifts if shift is not None),
    )


@dataclass(frozen=True)
class _ByRows:
    """Rows sorted into classes by how many rows their person has: all of a class are kept alike.

    ``numbers`` are the numbers of rows that occur, ``classes`` says for each row which of them its person
    has, ``known`` which rows have a person, and ``chances`` with which chance a cap keeps a row of a class.
    """

    numbers: Numbers
    classes: arrays.Whole
    known: npt.NDArray[np.bool_]
    chances: dict[int, Floats]

    def counted(self, rows: npt.NDArray[np.bool_], weights: Floats | None = None) -> Floats:
        """Return the number of some rows in each class, or the sum of their weights."""
        return np.bincount(self.classes[rows], weights, minlength=len(self.numbers)).astype(np.float64)


def _shift(table: Table, column: Column, by_rows: _ByRows) -> Shift | None:
    values, domain = table.rows()[column.name], column.domain
    if domain is None:
        return None
    if column.kind in (Kind.INTEGER, Kind.NUMBER) and isinstance(domain.minimum, Fraction):
        return _mean_shift(values, column, by_rows)
    if column.kind in (Kind.CATEGORY, Kind.ORDINAL) and 0 < len(coding.levels(column)) <= MOST_LEVELS:
        known = table.encoded(column.name) if column.name in table.encodings else None
        return _share_shift(coding.codes(values, column, known), column, by_rows)
    return None


def _mean_shift(values: pd.Series, column: Column, by_rows: _ByRows) -> Shift:
    numbers = coding.numbers(values, column)
    filled = np.isfinite(numbers) & by_rows.known
    domain = column.domain
    assert (
        domain is not None and isinstance(domain.minimum, Fraction) and isinstance(domain.maximum, Fraction)
    )
    numbers = np.clip(numbers[filled], float(domain.minimum), float(domain.maximum))
    rows, sums = by_rows.counted(filled), by_rows.counted(filled, numbers)

    def mean(weights: Floats) -> float | None:
        total = rows @ weights
        return float(sums @ weights / total) if total else None

    by_cap = {cap: mean(chance) for cap, chance in by_rows.chances.items()}
    return Shift(column.name, None, mean(np.ones(len(rows))), by_cap)


def _share_shift(places: Numbers, column: Column, by_rows: _ByRows) -> Shift:
    levels = coding.levels(column)
    inside = (places < len(levels)) & by_rows.known
    classes = len(by_rows.numbers)
    cells = np.bincount(places[inside] * classes + by_rows.classes[inside], minlength=len(levels) * classes)
    rows = cells.reshape(len(levels), classes)

    def shares(weights: Floats) -> Floats | None:
        counts = rows @ weights
        return counts / counts.sum() if counts.sum() else None

    before = shares(np.ones(classes))
    after = {cap: shares(chance) for cap, chance in by_rows.chances.items()}
    if before is None:
        return Shift(column.name, None, None, dict.fromkeys(by_rows.chances))
    moved = max(after.values(), key=lambda one: 0.0 if one is None else float(np.abs(one - before).max()))
    # Of two levels both move alike: rounding must not choose.
    level = int(np.argmax(np.abs(moved - before).round(12))) if moved is not None else 0
    by_cap = {cap: None if one is None else float(one[level]) for cap, one in after.items()}
    return Shift(column.name, str(levels[level]), float(before[level]), by_cap)
