"""What a group has to fulfil beside its size, over the sensitive values of its people.

The measures are those by which a table is judged: `engine.risk.sensitive`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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
    recursive_ratios,
)

Holds = npt.NDArray[np.bool_]
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Demand:
    """One thing that the sensitive values of a group have to fulfil.

    Parameters
    ----------
    test
        Says of every group whether it holds.
    monotone
        Whether merging two groups, one of which holds, gives one that holds. If not, merging two groups that
        both hold still does, for all that are made here.
    """

    test: Callable[[SensitiveCounts], Holds]
    monotone: bool = False


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
    def monotone(self) -> bool:
        """Whether merging two groups, one of which holds, gives one that holds."""
        return all(demand.monotone for demand in self.demands)

    def holds(self, cells: Cells) -> Holds:
        """Say of every group whether it holds, the cells' further digit being the rank of the value."""
        group, value, count = cells.group, cells.further, cells.count
        counts = SensitiveCounts(group, value, count, starts(group), cells.sizes(), self.overall, self.column)
        found = np.ones(cells.groups, dtype=bool)
        for demand in self.demands:
            found &= demand.test(counts)
        return found


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
    return Demand(lambda counts: distinct_values(counts) >= least, monotone=True)


def entropy(least: float) -> Demand:
    """Demand an entropy of at least log(l) (Machanavajjhala et al. 2007, definition 4.1)."""
    return Demand(lambda counts: entropies(counts) >= np.log(least) - _ROUNDING)


def recursive(c: float, least: int) -> Demand:
    """Demand r₁ < c (r_l + … + r_m), r in falling order (Machanavajjhala et al. 2007, definition 4.2)."""
    return Demand(lambda counts: recursive_ratios(counts, least) < c - _ROUNDING)


def close(column: EncodedColumn, most: float, *, equal: bool = False) -> Demand:
    """Demand a distance of at most t to everybody (Li et al. 2007, definition 2).

    The distance follows the column, see `engine.risk.sensitive.closeness`, or takes all values for equally
    far apart.
    """
    measure = equal_distances if equal else distances_of(column)[1]
    return Demand(lambda counts: measure(counts) <= most + _ROUNDING)


def alike(most: float) -> Demand:
    """Demand that no value is more than 1 + β times as frequent as with everybody (Cao and Karras 2012)."""
    return Demand(lambda counts: largest_gains(counts) <= most + _ROUNDING)
