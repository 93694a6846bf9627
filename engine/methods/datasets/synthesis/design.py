"""What regressions and networks see of columns: indicators of levels, standardised amounts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.methods.datasets.synthesis.variables import Amounts, Codes, Floats, Levels, Variable, values_of

MOST_INDICATORS = 40
"""So many levels of a predictor are told apart at most, the most frequent ones."""


@dataclass(frozen=True)
class Indicators:
    """A predictor seen as indicators: of its levels, or of the intervals that its amounts fall into.

    Parameters
    ----------
    column
        Shape (places,): the indicator of each place, −1 for a place without one.
    cuts
        Ascending; place k holds the amounts from cut k − 1 on and below cut k, the last place those that are
        missing. None for levels.
    """

    column: Codes
    cuts: Floats | None = None

    @staticmethod
    def fitted(variable: Variable, rows: Codes, *, smallest: int, cuts: Floats | None = None) -> Indicators:
        """Fit it: only what at least ``smallest`` rows have is told apart; the most frequent is the rest."""
        counts = np.bincount(_places(values_of(variable)[rows], cuts), minlength=_size(variable, cuts))
        frequent = np.argsort(-counts, kind="stable")[1 : MOST_INDICATORS + 1]
        kept = frequent[counts[frequent] >= smallest]
        column = np.full(len(counts), -1, dtype=np.int64)
        column[kept] = np.arange(len(kept))
        return Indicators(column, cuts)

    def seen(self, values: Floats) -> Floats:
        """Return the indicators of each row, shape (rows, indicators)."""
        found = self.column[_places(values, self.cuts)]
        return np.asarray(found[:, None] == np.arange(self.column.max(initial=-1) + 1), dtype=np.float64)


@dataclass(frozen=True)
class Standardised:
    """A predictor seen as one number with mean 0 and variance 1, and an indicator where it is missing."""

    middle: float
    spread: float
    may_miss: bool

    @staticmethod
    def fitted(variable: Amounts, rows: Codes) -> Standardised:
        """Fit it on the rows in which it is known."""
        values = variable.values[rows]
        known = values[~np.isnan(values)]
        if not known.size:
            return Standardised(0.0, np.inf, False)
        return Standardised(float(known.mean()), float(known.std()) or np.inf, known.size < len(rows))

    def seen(self, values: Floats) -> Floats:
        """Return the number of each row, and whether it is missing."""
        absent = np.isnan(values)
        number = np.where(absent, 0.0, (values - self.middle) / self.spread)
        return np.column_stack([number, absent] if self.may_miss else [number])


@dataclass(frozen=True)
class Design:
    """All predictors together."""

    parts: tuple[Indicators | Standardised, ...]

    @staticmethod
    def fitted(predictors: list[Variable], rows: Codes, *, smallest: int, in_bins: bool = False) -> Design:
        """Fit it on some rows; with ``in_bins`` amounts are seen as the intervals that they fall into."""
        parts: list[Indicators | Standardised] = []
        for one in predictors:
            if isinstance(one, Amounts) and not in_bins:
                parts.append(Standardised.fitted(one, rows))
            else:
                cuts = bins(one.values[rows], smallest=smallest) if isinstance(one, Amounts) else None
                parts.append(Indicators.fitted(one, rows, smallest=smallest, cuts=cuts))
        return Design(tuple(parts))

    def matrix(self, predictors: list[Floats]) -> Floats:
        """Return what is seen, shape (rows, columns); at least one predictor is needed."""
        return np.hstack([part.seen(own) for part, own in zip(self.parts, predictors, strict=True)])


def bins(values: Floats, *, smallest: int, most: int = 25) -> Floats:
    """Return cuts between intervals of amounts that hold about as many rows each, shape (intervals − 1,).

    Parameters
    ----------
    values
        NaN where it is missing.
    smallest
        Fewest rows of an interval.
    most
        Largest number of intervals, about.

    Examples
    --------
    >>> bins(np.array([1.0, 1, 1, 2, 3, 3, 4]), smallest=2).tolist()
    [2.0]
    >>> bins(np.array([1.0, 1, 1, 2, 3, 3, 4, 4]), smallest=2).tolist()
    [2.0, 4.0]
    """
    distinct, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    wanted = max(smallest, counts.sum() / most)
    cuts, held = [], 0
    left = int(counts.sum())
    for value, count in zip(distinct.tolist(), counts.tolist(), strict=True):
        if held >= wanted and left >= smallest:
            cuts.append(value)
            held = 0
        held += count
        left -= count
    return np.array(cuts, dtype=np.float64)


def _places(values: Floats, cuts: Floats | None) -> Codes:
    if cuts is None:
        return values.astype(np.int64)
    found = np.searchsorted(cuts, values, side="right")
    return np.where(np.isnan(values), len(cuts) + 1, found).astype(np.int64)


def _size(variable: Variable, cuts: Floats | None) -> int:
    if cuts is not None:
        return len(cuts) + 2
    assert isinstance(variable, Levels)
    return variable.size
