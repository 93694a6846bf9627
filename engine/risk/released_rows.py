"""How far an original row is from each released one, cell by cell, and how often the nearest is its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine import arrays
from engine.progress import SILENT, Progress
from engine.table.hierarchies import ALL, USUAL, Hierarchy
from engine.table.schema import Column, Kind

Floats = arrays.Floats
Codes = arrays.Integers
MOST_RECORDS, MOST_ROWS = 400, 20_000
APART = 2.0  # cells that cannot be the same: farther than any that can
LEVELS = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0)
"""Up to where cells are told apart by how far they are: alike first, cells that cannot be the same last."""
SHRUNK = 5
_TIE = 1e-6
SPELT = 1e-4
"""How far cells are apart at least that mean the same and are written in two ways, as 1 and 01."""
_RANGE = re.compile(r"[\[(](.+), (.+)([\])])")


@dataclass(frozen=True)
class Found:
    """How many people somebody finds who knows the identifying columns of everybody as they were.

    Parameters
    ----------
    records
        People looked for, evenly spaced in the table, those who were left out of the release too. Each is
        looked for by one row, the first.
    right
        Share found rightly on average, one of equally near rows being taken by lot (expected match risk).
    alone_right, alone_wrong
        Share for whom one row is the nearest, and it is theirs, or it is not (true and false match rate:
        Reiter and Mitra 2009).
    exactly
        Share for whom exactly one row reads like theirs in every cell, and it is theirs.
    blind
        Share found rightly by picking any row.
    """

    records: int
    right: float
    alone_right: float
    alone_wrong: float
    exactly: float
    blind: float


def found_again(
    original: pd.DataFrame,
    released: pd.DataFrame,
    columns: Sequence[Column],
    *,
    origin: Codes,
    person: Codes,
    progress: Progress = SILENT,
) -> Found:
    """Look for people of the original table in the released rows.

    Parameters
    ----------
    original, released
        The identifying columns as texts, under the same names.
    columns
        Their declarations.
    origin
        The original row of every released one.
    person
        The number of the person of every original row.

    Notes
    -----
    Cells are apart by 0 where they are written alike and by `SPELT` at least where they are not: by their
    difference in the range of the column where both are numbers or days, by the share of the values looked
    for that fit where the released one is a range or a group that the original value fits, by `APART`
    otherwise; distances add up. Of more than `MOST_ROWS` released rows so many evenly spaced ones are taken.
    No bound: who knows other columns finds others.

    Examples
    --------
    >>> ages = pd.DataFrame({"age": ["31", "38", "57"]})
    >>> found_again(ages, ages + "", [Column("age", kind=Kind.INTEGER)], origin=np.arange(3),
    ...     person=np.arange(3)).right
    1.0
    """
    return _Search(original, released, columns, origin, person).found(progress)


def strongest_found(
    original: pd.DataFrame,
    released: pd.DataFrame,
    columns: Sequence[Column],
    *,
    origin: Codes,
    person: Codes,
    progress: Progress = SILENT,
) -> tuple[Found, str, int]:
    """Look for people in several ways; return what the strongest finds, its name, and how many there were.

    Parameters
    ----------
    original, released, columns, origin, person
        See `found_again`.

    Notes
    -----
    ``nearest`` adds up how far cells are apart, so that columns with much noise outvote those that were kept.
    ``weighed`` adds up for each cell ln(m / u): how often a row and its original are so far apart, beside how
    often any two rows are (I. Fellegi and A. Sunter, JASA 64, 1969). A column that was kept then rules out,
    one that was drawn anew says nothing. The intruder knows m as somebody does who knows how the release
    was made; `SHRUNK` more pairs that are like any two keep few rows from telling more than there is.
    """
    search = _Search(original, released, columns, origin, person)
    ways = {"nearest": search.found(progress.part(0.0, 0.5))}
    if ways["nearest"].records:
        ways["weighed"] = search.weighed().found(progress.part(0.5, 1.0))
    name = max(ways, key=lambda one: ways[one].right)
    return ways[name], name, len(ways)


class _Search:
    """Released rows among which people are looked for."""

    def __init__(
        self,
        original: pd.DataFrame,
        released: pd.DataFrame,
        columns: Sequence[Column],
        origin: Codes,
        person: Codes,
    ) -> None:
        rows = _space(len(released), MOST_ROWS) if len(original) else np.empty(0, dtype=np.int64)
        released, self.whose, self.person = released.iloc[rows], person[origin[rows]], person
        kept = np.isin(np.arange(len(original)), origin)
        looked = np.arange(len(original))
        if len(rows) < len(origin):  # of who is in the release, only those who can be found there
            looked = np.sort(np.append(np.flatnonzero(~kept), origin[rows]))
        looked = np.sort(looked[np.unique(person[looked], return_index=True)[1]])  # one row of each person
        self.looked = looked[_space(len(looked), MOST_RECORDS)] if len(rows) else looked[:0]
        self.turns = np.searchsorted(self.looked, origin[rows])  # of whom each row is, where looked for
        self.turns[~np.isin(origin[rows], self.looked)] = -1
        self.steps = [
            _Column(column, original[column.name], released[column.name], self.looked)
            for column in (columns if len(self.looked) else ())
        ]

    def weighed(self) -> _Search:
        """Return the same search with each cell counted by what it tells."""
        found = copy(self)
        found.steps = [step.weighed(self.turns) for step in self.steps]
        return found

    def found(self, progress: Progress) -> Found:
        """Look for everybody: the rows with the smallest sum are theirs, or not."""
        if not len(self.looked):
            return Found(0, 0.0, 0.0, 0.0, 0.0, 0.0)
        right = alone_right = alone_wrong = exactly = 0.0
        whose, person = self.whose, self.person
        for turn, row in enumerate(self.looked.tolist()):
            progress.step(turn / len(self.looked), "risk.linkage")
            total = np.zeros(len(whose))
            for step in self.steps:
                total += step.apart(turn)
            near = np.flatnonzero(total <= total.min() + _TIE)
            own = whose[near] == person[row]
            right += float(own.mean())
            alone_right += len(near) == 1 and bool(own[0])
            alone_wrong += len(near) == 1 and not own[0]
            alike = len(near) == 1 and all(step.is_alike(turn, near[0]) for step in self.steps)
            exactly += alike and bool(own[0])
        count = len(self.looked)
        blind = float(np.isin(whose, person[self.looked]).sum()) / count / len(whose)
        return Found(
            count, right / count, alone_right / count, alone_wrong / count, exactly / count, min(1.0, blind)
        )


class _Column:
    """Distances of one column, from each value that is looked for to each value that was released."""

    def __init__(self, column: Column, original: pd.Series, released: pd.Series, looked: Codes) -> None:
        self.codes, shown = _different(released)
        self.sought, values = _different(original.iloc[looked])
        numbers, theirs = _numbers(values, column), _numbers(shown, column)
        everybody = _numbers(original.unique().tolist(), column)
        width = float(np.nanmax(everybody) - np.nanmin(everybody)) if (~np.isnan(everybody)).any() else 0.0
        fits = _fitting(shown, values, numbers, column)
        share = np.maximum(0, fits.sum(axis=1) - 1) / max(1, len(values) - 1)
        table = np.where(fits.T, share[None, :], APART)
        if width:
            both = np.abs(numbers[:, None] - theirs[None, :]) / width
            table = np.where(np.isnan(both), table, np.minimum(both, APART))
        alike = np.array(values, dtype=object)[:, None] == np.array(shown, dtype=object)[None, :]
        self.table = np.where(alike, 0.0, np.maximum(table, SPELT)).astype(np.float32)
        self.distances = self.table

    def weighed(self, turns: Codes) -> _Column:
        """Return the column with ln(u / m) in the place of how far cells are apart.

        ``turns`` says of each released row whose it is of those looked for, below 0 for nobody's.
        """
        found = copy(self)
        levels = np.searchsorted(LEVELS, self.table, side="left")
        shown = np.bincount(self.codes, minlength=self.table.shape[1])
        asked = np.bincount(self.sought, minlength=self.table.shape[0])
        any_two = np.bincount(
            levels.ravel(), weights=np.outer(asked, shown).ravel(), minlength=len(LEVELS) + 1
        )
        any_two = (any_two + 1) / (any_two + 1).sum()
        is_theirs = turns >= 0
        pairs = levels[self.sought[turns[is_theirs]], self.codes[is_theirs]]
        theirs = np.bincount(pairs, minlength=len(LEVELS) + 1) + SHRUNK * any_two
        found.table = np.log(any_two / (theirs / theirs.sum())).astype(np.float32)[levels]
        return found

    def is_alike(self, turn: int, row: int) -> bool:
        """Say whether the cell of a released row reads as the one that is looked for."""
        return bool(self.distances[self.sought[turn], self.codes[row]] <= SPELT)

    def apart(self, turn: int) -> npt.NDArray[np.float32]:
        """Return how far the cell that is looked for is from that of every released row."""
        return self.table[self.sought[turn]][self.codes]


def _different(texts: pd.Series) -> tuple[Codes, list[str]]:
    found, values = pd.factorize(texts.to_numpy(dtype=object))
    return found.astype(np.int64), [str(one) for one in values]


def _space(count: int, most: int) -> Codes:
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.int64))


def _numbers(texts: Sequence[str], column: Column) -> Floats:
    """Return texts as numbers, days as days since 1970; not a number where they are none."""
    if column.kind is Kind.DATE:
        days = pd.to_datetime(pd.Series(texts, dtype="str"), errors="coerce", format="ISO8601")
        found = days.to_numpy(dtype="datetime64[D]")
        return np.where(np.isnat(found), np.nan, found.astype("int64").astype(np.float64))
    return pd.to_numeric(pd.Series(texts, dtype="str"), errors="coerce").to_numpy(dtype=np.float64)


def _fitting(
    shown: Sequence[str], values: Sequence[str], numbers: Floats, column: Column
) -> npt.NDArray[np.bool_]:
    """Say which original values each released text can stand for, shape (texts, values)."""
    fits = np.zeros((len(shown), len(values)), dtype=bool)
    places = {text: place for place, text in enumerate(shown)}
    hierarchy = column.hierarchy or Hierarchy(calendar=USUAL if column.kind is Kind.DATE else ())
    for step in range(hierarchy.height + 1):
        for at, text in enumerate(hierarchy.at(values, step)):
            if text in places:
                fits[places[text], at] = True
    for place, text in enumerate(shown):
        match = _RANGE.fullmatch(text)
        if text == ALL:
            fits[place] = True
        elif match is not None and not fits[place].any():
            ends = _numbers([match[1], match[2]], column)
            if not np.isnan(ends).any():
                below = numbers <= ends[1] if match[3] == "]" else numbers < ends[1]
                fits[place] = (numbers >= ends[0]) & below
    return fits
