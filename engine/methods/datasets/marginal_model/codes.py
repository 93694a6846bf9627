"""Columns of very many codes: the model knows their groups, and a table of all codes draws within a group.

A group is one of the finest step of the declared hierarchy that has few enough of them. Every code is counted
once more, with noise of its own; what is made of these counts afterwards has seen no row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pandas as pd

from engine import arrays
from engine.methods.datasets.marginal_model.fitting import Measured, Model
from engine.methods.shared.column_cells import ColumnCells, Named
from engine.table import coding
from engine.table.hierarchies import Hierarchy

Codes = arrays.Integers
Floats = arrays.Floats

MOST_GROUPS = 200
"""Cells beyond which a column is modelled by its groups, and groups that the model may know."""
SEEN = 3
"""Standard deviations of noise above which a count of a code is taken for more than noise.

Of 10,000 codes in 150 groups, 45,000 rows and σ = 30, by how unevenly rows are spread within a group (powers
0, ½, 1, 3/2 of the rank), the share of rows in a wrong code: .17, .21, .29, .29 with 3; .34, .32, .36, .31
with 2; .14, .19, .30, .31 with 4; .33, .32, .35, .36 if only what is below zero is mended; .13, .23, .46, .62
if all codes of a group are alike.
"""


MISSED = SEEN + 1.645
"""Deviations of noise that 95 of 100 counts lie within, whatever the count is.

A count of which nothing is seen is off by itself, as its group is divided evenly: at most by this much in 95
of 100 cases. Above it, 95 of 100 are seen.
"""


@dataclass(frozen=True, eq=False)
class Coded(Named):
    """A column of declared codes as cells of the model: its groups, then others, then what is missing.

    Parameters
    ----------
    step
        Of the column's hierarchy.
    groups
        The group of every declared code, numbered from 0 in the order of the codes.
    shares
        Of every code within its group; None: all alike.
    """

    step: int
    groups: Codes
    shares: Floats | None = None

    @property
    def size(self) -> int:
        """How many cells there are."""
        return self.count + 2

    @property
    def count(self) -> int:
        """How many groups there are."""
        return int(self.groups.max()) + 1

    @property
    def fine(self) -> int:
        """How many cells the table of all codes has."""
        return len(self.groups) + 2

    @property
    def ordered(self) -> int:
        """How many of the first cells have an order."""
        return self.count if super().ordered and (np.diff(self.groups) >= 0).all() else 0

    def codes(self, values: pd.Series) -> Codes:
        """Return the cell of every row."""
        cells = np.append(self.groups, [self.count, self.count + 1])
        return np.asarray(cells[self.fine_codes(values)])

    def fine_codes(self, values: pd.Series) -> Codes:
        """Return the cell of every row in the table of all codes."""
        return coding.codes(values, self.column)

    def written(self, codes: Codes, uniform: Floats) -> list[str]:
        """Return a code of each row's group, in numbers as even as the shares allow.

        Notes
        -----
        Rows of one group are ranked by ``uniform``; the row of rank k of g takes the quantile (k + u) / g of
        the shares, with one u for the group, so that every count is within one of what is expected of it.
        """
        found = np.where(codes > self.count, self.fine - 1, self.fine - 2)
        inside = np.flatnonzero(codes < self.count)
        if len(inside):
            found[inside] = self._drawn(codes[inside], uniform[inside])
        texts = np.array([*coding.levels(self.column), coding.written_other(self.column), ""], dtype=object)
        return [str(text) for text in texts[found]]

    def _drawn(self, groups: Codes, uniform: Floats) -> Codes:
        shares = np.ones(len(self.groups)) if self.shares is None else self.shares
        line = np.argsort(self.groups, kind="stable")  # all codes, group by group
        ends = np.cumsum(shares[line])
        high = ends[np.cumsum(np.bincount(self.groups)) - 1]
        low = np.append(0.0, high[:-1])
        counts = np.bincount(groups, minlength=self.count)
        present, first = np.unique(groups, return_index=True)
        start = np.zeros(self.count)
        start[present] = uniform[first]
        rank = np.empty(len(groups), dtype=np.int64)
        rank[np.lexsort((uniform, groups))] = np.arange(len(groups)) - np.repeat(
            np.cumsum(counts) - counts, counts
        )
        quantile = (rank + start[groups]) / counts[groups]
        place = np.minimum(low[groups] + quantile * (high - low)[groups], np.nextafter(high, 0)[groups])
        return np.asarray(line[np.searchsorted(ends, place, side="right")])


def as_coded(cells: ColumnCells, *, most: int = MOST_GROUPS) -> ColumnCells:
    """Return a column by its groups where it has more cells than that, and a step with as few groups.

    Parameters
    ----------
    cells
        By the declaration.
    most
        Groups of the step: the finest one with at most so many is taken.

    Examples
    --------
    >>> from engine.table.hierarchies import Hierarchy
    >>> from engine.table.schema import Column, Domain
    >>> column = Column("c", domain=Domain(values=("A1", "A2", "B1")), hierarchy=Hierarchy(prefix=(1,)))
    >>> as_coded(Named(column), most=2).groups.tolist(), as_coded(Named(column)).size
    ([0, 0, 1], 5)
    """
    hierarchy = cells.column.hierarchy
    if not isinstance(cells, Named) or cells.size <= most or hierarchy is None:
        return cells
    tree = None if hierarchy.tree is None else tuple(hierarchy.tree.items())
    found = _group(coding.levels(cells.column), replace(hierarchy, tree=None), tree, most)
    return cells if found is None else Coded(cells.column, *found)


@lru_cache(maxsize=16)
def _group(
    levels: tuple[str, ...],
    hierarchy: Hierarchy,
    tree: tuple[tuple[str, tuple[str, ...]], ...] | None,
    most: int,
) -> tuple[int, Codes] | None:
    """Return the step and the group of every code; remembered, as a forecast asks for it again and again."""
    if tree is not None:
        hierarchy = replace(hierarchy, tree=dict(tree))
    for step in range(1, hierarchy.height):
        groups, names = pd.factorize(np.array(hierarchy.at(levels, step), dtype=object))
        if len(names) <= most:
            return step, groups.astype(np.int64)
    return None


def with_shares(
    columns: Sequence[ColumnCells], tables: Mapping[int, Measured], model: Model
) -> tuple[ColumnCells, ...]:
    """Return the columns with the shares of codes within groups: of numbers with noise alone.

    Parameters
    ----------
    columns
        Of the model.
    tables
        The table of codes of some of them, by place.
    model
        What is known of the groups.
    """
    return tuple(
        replace(cells, shares=shares_within(cells.groups, tables[place], model.table((place,))))
        if isinstance(cells, Coded)
        else cells
        for place, cells in enumerate(columns)
    )


def shares_within(groups: Codes, table: Measured, rows: Floats) -> Floats:
    """Return the share of every code within its group.

    Parameters
    ----------
    groups
        Of every code.
    table
        Counts of codes with noise; cells behind the codes are not looked at.
    rows
        How many rows the model gives each group.

    Notes
    -----
    A count above `SEEN` deviations of its noise is kept. What the group has beyond that is divided evenly
    among its other codes, so that a group of which nothing is seen is even.
    """
    counts = table.counts.ravel()[: len(groups)]
    seen = np.where(counts > SEEN * table.deviation, counts, 0.0)
    size = int(groups.max()) + 1
    left = np.maximum(rows[:size] - np.bincount(groups, seen, minlength=size), 0)
    others = np.bincount(groups, seen == 0, minlength=size)
    kept = np.where(seen > 0, seen, (left / np.maximum(others, 1))[groups])
    sums = np.bincount(groups, kept, minlength=size)
    even = 1 / np.bincount(groups, minlength=size)
    return np.asarray(np.where(sums[groups] > 0, kept / np.where(sums > 0, sums, 1)[groups], even[groups]))
