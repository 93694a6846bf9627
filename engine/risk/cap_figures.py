"""What a cap on the rows of one person leaves out, and how far it moves means and shares."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.table import coding
from engine.table.declared import person_codes
from engine.table.schema import Column, Kind, Schema
from engine.table.table import Table

CAPS = (1, 2, 3, 5, 10, 20)
MOST_LEVELS = 50
Floats = npt.NDArray[np.float64]


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
    shifts
        What the cap does to each column that was asked for.
    """

    people: int
    rows: int
    nameless: int
    most: int
    kept: dict[int, int]
    shifts: tuple[Shift, ...]


def cap_figures(
    table: Table,
    schema: Schema,
    *,
    columns: tuple[str, ...] = (),
    caps: tuple[int, ...] = CAPS,
    people: npt.NDArray[np.int64] | None = None,
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
        `engine.table.declared.person_codes` of the table, where they are known already.

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
    >>> found.rows, found.kept, found.most
    (4, {1: 2, 2: 3}, 3)
    """
    key = schema.person_key
    if key is None:
        raise ValueError("figures by cap are about people with several rows")
    frame = table.rows()
    persons = person_codes(frame[key.name], key.missing) if people is None else people
    known = persons >= 0
    rows_of = np.bincount(persons[known])[persons[known]] if known.any() else persons[known]
    frame = frame[known]
    chances = {cap: np.minimum(rows_of, cap) / rows_of for cap in caps}
    followed = [schema.column(name) for name in columns if name in schema and name in frame]
    shifts = [_shift(frame[column.name], column, chances) for column in followed]
    return CapFigures(
        people=round(float((1 / rows_of).sum())),
        rows=len(rows_of),
        nameless=int((~known).sum()),
        most=int(rows_of.max(initial=0)),
        kept={cap: round(float(chance.sum())) for cap, chance in chances.items()},
        shifts=tuple(shift for shift in shifts if shift is not None),
    )


def _shift(values: pd.Series, column: Column, chances: dict[int, Floats]) -> Shift | None:
    domain = column.domain
    if domain is None:
        return None
    if column.kind in (Kind.INTEGER, Kind.NUMBER) and isinstance(domain.minimum, Fraction):
        return _mean_shift(values, column, chances)
    if column.kind in (Kind.CATEGORY, Kind.ORDINAL) and 0 < len(coding.levels(column)) <= MOST_LEVELS:
        return _share_shift(values, column, chances)
    return None


def _mean_shift(values: pd.Series, column: Column, chances: dict[int, Floats]) -> Shift:
    numbers = coding.numbers(values, column)
    filled = np.isfinite(numbers)
    domain = column.domain
    assert (
        domain is not None and isinstance(domain.minimum, Fraction) and isinstance(domain.maximum, Fraction)
    )
    numbers = np.clip(numbers[filled], float(domain.minimum), float(domain.maximum))

    def mean(weights: Floats) -> float | None:
        total = weights.sum()
        return float(numbers @ weights / total) if total else None

    by_cap = {cap: mean(chance[filled]) for cap, chance in chances.items()}
    return Shift(column.name, None, mean(np.ones(len(numbers))), by_cap)


def _share_shift(values: pd.Series, column: Column, chances: dict[int, Floats]) -> Shift:
    places = coding.codes(values, column)
    levels = coding.levels(column)
    inside = places < len(levels)

    def shares(weights: Floats) -> Floats | None:
        counts = np.bincount(places[inside], weights=weights[inside], minlength=len(levels))
        return counts / counts.sum() if counts.sum() else None

    before = shares(np.ones(len(places)))
    after = {cap: shares(chance) for cap, chance in chances.items()}
    if before is None:
        return Shift(column.name, None, None, dict.fromkeys(chances))
    moved = max(after.values(), key=lambda one: 0.0 if one is None else float(np.abs(one - before).max()))
    level = int(np.argmax(np.abs(moved - before))) if moved is not None else 0
    by_cap = {cap: None if one is None else float(one[level]) for cap, one in after.items()}
    return Shift(column.name, str(levels[level]), float(before[level]), by_cap)
