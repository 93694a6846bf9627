"""Columns as variables that can be fitted and drawn: levels, or amounts of which some are missing."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.methods.shared.rows import written_cells
from engine.table import coding
from engine.table.declared import people_of
from engine.table.schema import Column, Kind
from engine.table.table import Table

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

AMOUNTS = (Kind.INTEGER, Kind.NUMBER, Kind.DATE)
POOLED = "rare value"
ATOM = 0.002
"""Share of the rows from which on a number is drawn as it is: values people round to, zeros, limits."""
MOST_DECIMALS = 6


@dataclass(frozen=True)
class Levels:
    """A column whose values are names.

    Parameters
    ----------
    codes
        Shape (n,): the place of each row's level.
    texts
        The levels; ``""`` is a missing cell.
    rare
        Place of the level that stands for all that too few people have, −1 where there is none.
    filling
        What a rare value is replaced by: declared values that too few people or nobody has; where nothing
        is declared only `POOLED`.
    """

    codes: Codes
    texts: tuple[str, ...]
    rare: int = -1
    filling: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How many different values there are."""
        return len(self.texts)


@dataclass(frozen=True)
class Amounts:
    """A column whose values are numbers, or days since 1 January 1970.

    Parameters
    ----------
    values
        Shape (n,), NaN where it is missing.
    step
        Drawn values are whole multiples of it.
    is_date
        Whether they are days.
    """

    values: Floats
    step: Decimal
    is_date: bool = False

    @property
    def size(self) -> int:
        """How many different values there are."""
        return len(np.unique(self.values[~np.isnan(self.values)]))

    @property
    def is_atom(self) -> npt.NDArray[np.bool_]:
        """For each row whether many others have the very same value."""
        _, place, counts = np.unique(self.values, return_inverse=True, return_counts=True)
        return np.asarray(counts[place] > ATOM * len(self.values))


Variable = Levels | Amounts


def variable(values: pd.Series, column: Column, *, people: Codes, least_people: int) -> Variable:
    """Return a column as a variable.

    Parameters
    ----------
    values
        Shape (n,).
    column
        Its declaration: its kind decides what it becomes.
    people
        A number for each row's person.
    least_people
        Levels that fewer people have are pooled, so that no draw shows them.

    Examples
    --------
    >>> sex = Column("sex", kind=Kind.CATEGORY)
    >>> found = variable(pd.Series(["f", "m", "f", "x"]), sex, people=np.arange(4), least_people=2)
    >>> found.codes.tolist(), found.texts, found.rare
    ([0, 1, 0, 1], ('f', 'rare value'), 1)
    """
    if column.kind is Kind.DATE:
        days = coding.dates(values, column)
        read = np.where(np.isnat(days), np.nan, days.astype("int64").astype(np.float64))
        return Amounts(read, Decimal(1), is_date=True)
    if column.kind in AMOUNTS:
        read = coding.numbers(values, column)
        return Amounts(read, _step(values, read, column))
    return _levels(written_cells(values, column), column, people, least_people)


def numbered_people(table: Table, key: Column | None) -> Codes:
    """Return a number for each row's person; each row is a person of its own where there is no key."""
    if key is None or key.name not in table:
        return np.arange(table.n_rows)
    places = people_of(table, key).places.astype(np.int64)
    alone = np.flatnonzero(places < 0)  # a row without a key is nobody else's
    places[alone] = table.n_rows + alone
    return places


def written(variable: Variable, drawn: Floats, chance: np.random.Generator) -> list[str]:
    """Return drawn values as cells: levels by their place, amounts as numbers or days.

    Examples
    --------
    >>> amounts = Amounts(np.array([1.0]), Decimal("0.5"))
    >>> written(amounts, np.array([2.0, np.nan, 2.5]), np.random.default_rng(0))
    ['2', '', '2.5']
    """
    if isinstance(variable, Amounts):
        found, uniques = pd.factorize(drawn)
        texts = [_text(value, variable) for value in uniques.tolist()]
        return np.array([*texts, ""], dtype=object)[found].tolist()
    cells = np.array(variable.texts, dtype=object)[drawn.astype(np.int64)]
    if variable.rare >= 0:
        where = np.flatnonzero(drawn == variable.rare)
        cells[where] = np.array(variable.filling, dtype=object)[
            chance.integers(len(variable.filling), size=len(where))
        ]
    return [str(cell) for cell in cells]


def on_step(values: Floats, step: Decimal) -> Floats:
    """Return amounts as the nearest whole multiples of a step."""
    exact = float(step)
    return np.asarray(np.round(values / exact) * exact)


def _text(value: float, amounts: Amounts) -> str:
    if amounts.is_date:
        return str(np.datetime64(round(value), "D"))
    places = -int(amounts.step.as_tuple().exponent)
    return coding.text_of(float(f"{value:.{max(places, 0)}f}"))


def _levels(texts: list[str], column: Column, people: Codes, least_people: int) -> Levels:
    codes, uniques = pd.factorize(np.array(texts, dtype=object))
    pairs = np.unique(np.column_stack([codes, people]), axis=0)
    holders = np.bincount(pairs[:, 0], minlength=len(uniques))
    is_rare = holders < least_people
    if not is_rare.any():
        return Levels(codes.astype(np.int64), tuple(uniques))
    kept = [text for text, rare in zip(uniques, is_rare, strict=True) if not rare]
    place = np.cumsum(~is_rare) - 1
    place[is_rare] = len(kept)
    filling = tuple(text for text in _listed(column) if text not in set(kept)) or (POOLED,)
    return Levels(place[codes].astype(np.int64), (*kept, POOLED), len(kept), filling)


def _listed(column: Column) -> tuple[str, ...]:
    """Return the values that were declared; whoever reads one of them learns nothing about a row."""
    if not column.is_declared or column.domain is None:
        return ()
    return coding.levels(column)


def _step(values: pd.Series, read: Floats, column: Column) -> Decimal:
    """Return the declared step, 1 for whole numbers, else the last decimal place that occurs."""
    if column.domain is not None and column.domain.step is not None:
        step = column.domain.step
        if step.denominator in (10**places for places in range(MOST_DECIMALS + 1)):
            return Decimal(step.numerator) / Decimal(step.denominator)
    if column.kind is Kind.INTEGER:
        return Decimal(1)
    distinct = np.unique(read[~np.isnan(read)])
    return min((_last_place(value) for value in distinct.tolist()), default=Decimal(1))


def _last_place(value: float) -> Decimal:
    try:
        exponent = Decimal(repr(value)).normalize().as_tuple().exponent
    except InvalidOperation:
        return Decimal(1)
    places = min(max(-int(exponent), 0), MOST_DECIMALS)
    return Decimal(1).scaleb(-places)
