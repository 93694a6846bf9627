"""Columns as variables that can be fitted and drawn: levels, or amounts of which some are missing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine import arrays
from engine.errors import InputRefused
from engine.methods.shared.column_cells import is_listed
from engine.methods.shared.rows import written_cells
from engine.once import once
from engine.table import coding
from engine.table.schema import Column, Kind

Codes = arrays.Integers
Floats = arrays.Floats

AMOUNTS = (Kind.INTEGER, Kind.NUMBER, Kind.DATE)
POOLED = "rare value"
ATOM = 0.002
"""Share of the rows from which on a number is drawn as it is: values people round to, zeros, limits."""
MOST_DECIMALS = 6
LARGEST_WHOLE = 1e15
"""Below it every whole number is a float of its own, and is written without an exponent."""


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

    @property
    def uniform(self) -> str | None:
        """``all_rare``, ``all_missing`` or ``one_value`` where all rows say the same."""
        if self.size > 1:
            return None
        return "all_rare" if self.rare >= 0 else "all_missing" if self.texts == ("",) else "one_value"


@dataclass(frozen=True)
class Amounts:
    """A column whose values are numbers, or days since 1 January 1970.

    Parameters
    ----------
    values
        Shape (n,), NaN where it is missing.
    step, start
        Drawn values are whole steps away from the start.
    low, high
        Drawn values are kept within them.
    is_date
        Whether they are days.
    people
        A number for each row's person; None where every row is a person of its own.
    least_people
        A value that fewer people have is no atom: it moves, so that it is not shown by itself.
    """

    values: Floats
    step: Fraction
    start: Fraction = Fraction(0)
    low: float = -math.inf
    high: float = math.inf
    is_date: bool = False
    people: Codes | None = None
    least_people: int = 1

    @once
    def size(self) -> int:
        """How many different values there are."""
        return len(np.unique(self.values[~np.isnan(self.values)]))

    @property
    def uniform(self) -> str | None:
        """``all_missing`` or ``one_value`` where all rows say the same."""
        if not self.size:
            return "all_missing"
        return "one_value" if self.size == 1 and not np.isnan(self.values).any() else None

    @once
    def decimals(self) -> int | None:
        """Decimal places that all steps need; None where no few are enough."""
        for places in range(MOST_DECIMALS + 1):
            if all((grid * 10**places).denominator == 1 for grid in (self.step, self.start)):
                return places
        return None

    @once
    def is_atom(self) -> npt.NDArray[np.bool_]:
        """For each row whether many others have the very same value."""
        place, size = self._places
        counts = np.bincount(place, minlength=size)
        return np.asarray(counts[place] > ATOM * len(self.values)) & ~self.is_rare

    @once
    def is_rare(self) -> npt.NDArray[np.bool_]:
        """For each row whether fewer people than the least number have its value."""
        place, size = self._places
        return np.asarray(_holders(place, size, self.people)[place] < self.least_people)

    @once
    def _places(self) -> tuple[Codes, int]:
        """The place of each row's value among the different ones, and how many these are."""
        found, place = np.unique(self.values, return_inverse=True)
        return place.astype(np.int64), len(found)

    def placed(self, values: Floats) -> Floats:
        """Return amounts on the nearest step within the bounds; one too large for steps stays as it is."""
        step, start = float(self.step), float(self.start)
        with np.errstate(over="ignore", invalid="ignore"):
            found = np.round((values - start) / step) * step + start
        return np.clip(np.where(np.isfinite(found), found, values), self.low, self.high)


Variable = Levels | Amounts


def variable(values: pd.Series, column: Column, *, people: Codes | None, least_people: int) -> Variable:
    """Return a column as a variable.

    Parameters
    ----------
    values
        Shape (n,).
    column
        Its declaration: its kind decides what it becomes; declared values are names, numbers too.
    people
        A number for each row's person; None where every row is a person of its own.
    least_people
        Levels that fewer people have are pooled, so that no draw shows them; such amounts move.

    Examples
    --------
    >>> sex = Column("sex", kind=Kind.CATEGORY)
    >>> found = variable(pd.Series(["f", "m", "f", "x"]), sex, people=np.arange(4), least_people=2)
    >>> found.codes.tolist(), found.texts, found.rare
    ([0, 1, 0, 1], ('f', 'rare value'), 1)
    """
    if column.kind not in AMOUNTS or (column.is_declared and is_listed(column)):
        return _levels(written_cells(values, column), column, people, least_people)
    low, high = _bounds(column)
    if column.kind is Kind.DATE:
        days = coding.dates(values, column)
        read = np.where(np.isnat(days), np.nan, days.astype("int64").astype(np.float64))
        step, start = Fraction(1), Fraction(0)
    else:
        read = coding.numbers(values, column)
        step, start = _steps(read, column)
        if np.isfinite(high):  # the last step below it
            high = float(start + (Fraction(high) - start) // step * step)
    is_date = column.kind is Kind.DATE
    return Amounts(read, step, start, low, max(low, high), is_date, people, least_people)


def _holders(place: Codes, size: int, people: Codes | None) -> Codes:
    """Return how many people have each of several values, of which each row has the one at its place."""
    if people is None:
        return np.bincount(place, minlength=size)
    width = int(people.max(initial=0)) + 1
    return np.bincount(arrays.distinct(place * width + people) // width, minlength=size)


def values_of(variable: Variable) -> Floats:
    """Return one number for each row: the place of its level, or its amount."""
    return variable.codes.astype(np.float64) if isinstance(variable, Levels) else variable.values


def write_drawn(variable: Variable, drawn: Floats, chance: np.random.Generator) -> pd.Series:
    """Return drawn values as cells: levels by their place, amounts as numbers or days.

    Examples
    --------
    >>> amounts = Amounts(np.array([1.0]), Fraction(1, 2))
    >>> write_drawn(amounts, np.array([2.0, np.nan, 2.5]), np.random.default_rng(0)).tolist()
    ['2', '', '2.5']
    """
    if isinstance(variable, Amounts):
        places, uniques = pd.factorize(drawn)
        texts = [*_texts(uniques, variable), ""]
    else:
        places, texts = drawn.astype(np.int64), [*variable.texts, *variable.filling]
        rare = np.flatnonzero(places == variable.rare)
        places[rare] = variable.size + chance.integers(max(len(variable.filling), 1), size=len(rare))
    return pd.Series(pd.array(texts, dtype="str").take(places))


def _texts(values: Floats, amounts: Amounts) -> list[str]:
    if not amounts.is_date and amounts.decimals == 0 and (np.abs(values) < LARGEST_WHOLE).all():
        return [str(value) for value in np.round(values).astype(np.int64).tolist()]
    return [_text(value, amounts) for value in values.tolist()]


def _text(value: float, amounts: Amounts) -> str:
    if amounts.is_date:
        return str(np.datetime64(round(value), "D"))
    if amounts.decimals is None:
        return coding.text_of(value)
    return coding.text_of(float(f"{value:.{amounts.decimals}f}"))


def _levels(texts: list[str], column: Column, people: Codes | None, least_people: int) -> Levels:
    codes, uniques = pd.factorize(np.array(texts, dtype=object))
    is_rare = _holders(codes.astype(np.int64), len(uniques), people) < least_people
    if not is_rare.any():
        return Levels(codes.astype(np.int64), tuple(uniques))
    kept = [text for text, rare in zip(uniques, is_rare, strict=True) if not rare]
    place = np.cumsum(~is_rare) - 1
    place[is_rare] = len(kept)
    filling = tuple(text for text in _list(column) if text not in set(kept)) or (POOLED,)
    return Levels(place[codes].astype(np.int64), (*kept, POOLED), len(kept), filling)


def _list(column: Column) -> tuple[str, ...]:
    """Return the values that were declared; whoever reads one of them learns nothing about a row."""
    if not column.is_declared or column.domain is None:
        return ()
    return coding.levels(column)


def _bounds(column: Column) -> tuple[float, float]:
    """Return the declared bounds, days since 1970 for dates; infinite where none is declared."""
    if column.domain is None or not column.is_declared:
        return -np.inf, np.inf
    found = []
    for bound, none in ((column.domain.minimum, -np.inf), (column.domain.maximum, np.inf)):
        if bound is None:
            found.append(none)
        elif column.kind is Kind.DATE:
            found.append(float(np.datetime64(str(bound), "D").astype(np.int64)))
        else:
            found.append(float(bound))
    return found[0], found[1]


def _steps(read: Floats, column: Column) -> tuple[Fraction, Fraction]:
    """Return step and start: as declared, 1 for whole numbers, else the last decimal place that occurs."""
    domain = column.domain
    if domain is not None and domain.step is not None:
        return domain.step, domain.minimum if isinstance(domain.minimum, Fraction) else Fraction(0)
    if column.kind is Kind.INTEGER:
        return Fraction(1), Fraction(0)
    return Fraction(1, 10 ** _decimals(read[~np.isnan(read)])), Fraction(0)


def _decimals(values: Floats) -> int:
    """Return how many decimal places numbers have as they are written, `MOST_DECIMALS` at most.

    Examples
    --------
    >>> _decimals(np.array([0.1, 12.25, 3e20])), _decimals(np.array([4.0])), _decimals(np.array([1 / 3]))
    (2, 0, 6)
    """
    parts = values[np.abs(values) < LARGEST_WHOLE]
    for places in range(MOST_DECIMALS):
        parts = parts[np.round(parts, places) != parts]  # the quotient of whole numbers is what was read
        if not len(parts):
            return places
    return MOST_DECIMALS


def check_variety(variables: Mapping[str, Variable], least: int) -> None:
    """Refuse columns of which every invented row would say the same."""
    uniform = {name: one.uniform for name, one in variables.items()}
    for code in ("all_rare", "all_missing", "one_value"):
        names = [name for name, own in uniform.items() if own == code]
        if names:
            raise InputRefused(f"datasets.imputation.{code}", columns=", ".join(names), least=least)
