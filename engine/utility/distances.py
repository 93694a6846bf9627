"""How far two tables are from each other, column by column and pair by pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine import arrays
from engine.table import coding
from engine.table.schema import Column, Kind

Codes = arrays.Integers

AMOUNTS = (Kind.INTEGER, Kind.NUMBER, Kind.DATE)
BINS = 20


@dataclass(frozen=True)
class Scale:
    """How the cells of a column are put into few classes: by cuts for amounts, otherwise each by itself.

    Parameters
    ----------
    column
        Its declaration.
    cuts
        Rising; None for names.
    places
        Of every name; one that is not there gets a class of its own.
    """

    column: Column
    cuts: npt.NDArray[np.float64] | None = None
    places: Mapping[str, int] | None = None

    @staticmethod
    def of(values: pd.Series, column: Column) -> Scale:
        """Take the classes from a table: twentieths for amounts, names as they are."""
        if column.kind in AMOUNTS:
            numbers = amounts(values, column)
            known = numbers[~np.isnan(numbers)]
            shares = np.linspace(0, 1, BINS + 1)[1:-1]
            return Scale(column, np.unique(np.quantile(known, shares)) if known.size else np.empty(0))
        return Scale.of_names(values, column)

    @staticmethod
    def of_names(values: pd.Series, column: Column) -> Scale:
        """Take every different cell of a table as a class of its own, amounts too."""
        names = dict.fromkeys(coding.texts_of(values.dropna().unique()))
        return Scale(column, None, {name: place for place, name in enumerate(names)})

    def classes(self, values: pd.Series) -> Codes:
        """Return the class of every cell, from 0: missing ones and unknown names have their own.

        Examples
        --------
        >>> age = Column("age", kind=Kind.INTEGER)
        >>> Scale(age, np.array([40.0, 60.0])).classes(pd.Series([39, 40, 99, None])).tolist()
        [0, 1, 2, 3]
        """
        if self.cuts is not None:
            numbers = amounts(values, self.column)
            found = np.searchsorted(self.cuts, numbers, side="right")
            return np.where(np.isnan(numbers), len(self.cuts) + 1, found).astype(np.int64)
        assert self.places is not None
        codes, uniques = pd.factorize(values)
        size = len(self.places)
        texts = coding.filled_texts(uniques, self.column)
        placed = [self.places.get(text, size) if text else size + 1 for text in texts]
        return np.array([*placed, size + 1], dtype=np.int64)[codes]


@dataclass(frozen=True)
class Distances:
    """Total variation distances of two tables.

    Parameters
    ----------
    one_way
        By column, from 0 (the same shares) to 1 (nothing in common).
    two_way
        By pair of columns.
    """

    one_way: Mapping[str, float]
    two_way: Mapping[tuple[str, str], float]

    @property
    def mean_one_way(self) -> float:
        """Mean over the columns."""
        return float(np.mean(list(self.one_way.values()))) if self.one_way else 0.0

    @property
    def mean_two_way(self) -> float:
        """Mean over the pairs."""
        return float(np.mean(list(self.two_way.values()))) if self.two_way else 0.0


def classes_of(table: pd.DataFrame, scales: Sequence[Scale]) -> dict[str, Codes]:
    """Return the classes of every column of a table."""
    return {scale.column.name: scale.classes(table[scale.column.name]) for scale in scales}


def distances(one: Mapping[str, Codes], other: Mapping[str, Codes]) -> Distances:
    """Return how far two tables are from each other.

    Parameters
    ----------
    one, other
        Classes by column, as `classes_of` gives them; the tables may differ in length.

    Notes
    -----
    Total variation: half the sum of the differences of the shares. Two samples of the same people are not at
    0: compare with the distance of a second real sample.

    Examples
    --------
    >>> a = {"sex": np.array([0, 0, 1, 1]), "ward": np.array([0, 0, 1, 1])}
    >>> b = {"sex": np.array([0, 0, 1, 1]), "ward": np.array([1, 1, 0, 0])}
    >>> found = distances(a, b)
    >>> found.one_way["sex"], found.two_way["sex", "ward"]
    (0.0, 1.0)
    """
    names = list(one)
    alone = {name: _apart(one[name], other[name]) for name in names}
    pairs = {}
    for first, second in combinations(names, 2):
        wide = int(max(one[second].max(initial=0), other[second].max(initial=0))) + 1
        pairs[first, second] = _apart(one[first] * wide + one[second], other[first] * wide + other[second])
    return Distances(alone, pairs)


def amounts(values: pd.Series, column: Column) -> npt.NDArray[np.float64]:
    """Return numbers, or days since 1 January 1970; NaN where one is missing."""
    if column.kind is not Kind.DATE:
        return coding.numbers(values, column)
    days = coding.dates(values, column)
    return np.where(np.isnat(days), np.nan, days.astype("int64").astype(np.float64))


def _apart(one: Codes, other: Codes) -> float:
    if not one.size or not other.size:
        return 1.0
    size = int(max(one.max(), other.max())) + 1
    shares = np.bincount(one, minlength=size) / one.size - np.bincount(other, minlength=size) / other.size
    return float(np.abs(shares).sum() / 2)
