"""What a group has to fulfil beside its size, over the sensitive values of its people.

The measures are those by which a table is judged: `engine.risk.sensitive`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from engine import arrays
from engine.methods.datasets.losses import Floats
from engine.methods.datasets.recoding import Codes
from engine.methods.datasets.rollup import Cells, starts
from engine.risk.encoding import EncodedColumn
from engine.risk.sensitive import (
    SensitiveCounts,
    distances_of,
    distinct_values,
    entropies,
    equal_distances,
    largest_gains,
    recursive_parts,
)

Holds = arrays.Bools
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Demand:
    """One thing that the sensitive values of a group have to fulfil.

    Parameters
    ----------
    excess
        Says of every group by how much it fails: at most 0 where it holds.
    most
        The largest excess that any group can have.
    monotone
        Whether merging two groups, one of which holds, gives one that holds. If not, merging two groups that
        both hold still does, for all that are made here.
    """

    excess: Callable[[SensitiveCounts], Floats]
    most: float
    monotone: bool = False

    def holds(self, counts: SensitiveCounts) -> Holds:
        """Say of every group whether it holds, with room for rounding."""
        return self.excess(counts) <= _ROUNDING


@dataclass(frozen=True)
class Condition:
    """One sensitive attribute and what its values in a group have to fulfil.

    Parameters
    ----------
    combination, value, count
        One entry for every combination of values and sensitive value: places among the combinations, the
        rank of the sensitive value, and how many rows have both.
    overall
        How often each sensitive value occurs in the whole table, by rank.
    column
        The sensitive attribute.
    demands
        What has to hold, all of it.
    """

    combination: Codes
    value: Codes
    count: Codes
    overall: Codes
    column: EncodedColumn
    demands: tuple[Demand, ...]

    @staticmethod
    def of(number: Codes, column: EncodedColumn, demands: Sequence[Demand]) -> Condition:
        """Count the sensitive values of every combination, given the combination of each row."""
        rank, size = column.ranks[column.codes], max(1, column.size)
        pairs, count = np.unique(number * size + rank, return_counts=True)
        overall = np.bincount(rank, minlength=size)
        return Condition(pairs // size, pairs % size, count, overall, column, tuple(demands))

    @property
    def rows(self) -> Codes:
        """How many rows each combination has."""
        return np.bincount(self.combination, self.count).astype(np.int64)

    @property
    def monotone(self) -> bool:
        """Whether merging two groups, one of which holds, gives one that holds."""
        return all(demand.monotone for demand in self.demands)

    def holds(self, cells: Cells) -> Holds:
        """Say of every group whether it holds, the cells' further digit being the rank of the value."""
        counts, found = self._counts(cells), np.ones(cells.groups, dtype=bool)
        for demand in self.demands:
            found &= demand.holds(counts)
        return found

    def rules_out_finer(self, cells: Cells, left_out: int) -> bool:
        """Say whether no finer groups can hold of which at most so many rows are left out.

        Notes
        -----
        The positive part of an excess is a convex function of the shares of a group. So its sum over all rows
        only falls where groups are merged, and where finer groups hold, only the rows that they leave out add
        to it, each at most `Demand.most`.
        """
        counts = self._counts(cells)
        return any(
            float((np.maximum(demand.excess(counts), 0.0) * counts.total).sum())
            > left_out * demand.most * (1 + _ROUNDING) + _ROUNDING * len(self.overall)
            for demand in self.demands
            if not demand.monotone
        )

    def _counts(self, cells: Cells) -> SensitiveCounts:
        group, value, count = cells.group, cells.further, cells.count
        return SensitiveCounts(group, value, count, starts(group), cells.sizes(), self.overall, self.column)


def cells_of(group: Codes, condition: Condition) -> Cells:
    """Return the sensitive values of every group, given the group of each combination, -1 for none."""
    of_entry = group[condition.combination]
    inside = of_entry >= 0
    return Cells.counted(
        of_entry[inside],
        condition.value[inside],
        condition.count[inside],
        values=len(condition.overall),
        groups=int(group.max(initial=-1)) + 1,
    )


def distinct(least: int) -> Demand:
    """Demand at least so many different values (distinct l-diversity)."""
    return Demand(lambda counts: least - distinct_values(counts).astype(np.float64), least - 1, monotone=True)


def entropy(least: float) -> Demand:
    """Demand an entropy of at least log(l) (Machanavajjhala et al. 2007, definition 4.1)."""
    return Demand(lambda counts: np.log(least) - entropies(counts), float(np.log(least)))


def recursive(c: float, least: int) -> Demand:
    """Demand r₁ < c (r_l + … + r_m), r in falling order (Machanavajjhala et al. 2007, definition 4.2)."""

    def excess(counts: SensitiveCounts) -> Floats:
        first, tail = recursive_parts(counts, least)
        return (first - c * tail) / counts.total + 2 * _ROUNDING  # equal is not less

    return Demand(excess, 1.0)


def close(column: EncodedColumn, most: float, *, equal: bool = False) -> Demand:
    """Demand a distance of at most t to everybody (Li et al. 2007, definition 2).

    The distance follows the column, see `engine.risk.sensitive.closeness`, or takes all values for equally
    far apart.
    """
    measure = equal_distances if equal else distances_of(column)[1]
    return Demand(lambda counts: measure(counts) - most, 1.0 - most)


def alike(column: EncodedColumn, most: float) -> Demand:
    """Demand that no value is more than 1 + β times as frequent as with everybody (Cao and Karras 2012)."""
    rarest = np.bincount(column.codes, minlength=1).min()
    largest = len(column.codes) / max(1, int(rarest)) - 1
    return Demand(lambda counts: largest_gains(counts) - most, max(0.0, largest - most))
