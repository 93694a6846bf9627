"""Groups that take in who stays over, where this adds the least loss."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from engine.methods.datasets.conditions import Condition, cells_of
from engine.methods.datasets.losses import Floats
from engine.methods.datasets.recoding import Codes, Ladder
from engine.methods.datasets.rollup import Cells, starts
from engine.progress import SILENT, Progress

MOST_TRIED = 64  # groups that are tried for one combination before it waits for the last group
MOST_ALONE = 2_000  # combinations that look for a group of their own; more join the last group


class Joining:
    """Groups, and what they read in every column.

    Parameters
    ----------
    group
        The group of every combination of values, -1 for none; changed in place.
    codes
        Shape (combinations, columns): places in `Ladder.values`.
    ladders
        One per column.
    rows
        How often each combination occurs.
    conditions
        What every group has to fulfil beside its size.
    """

    def __init__(
        self,
        group: Codes,
        codes: Codes,
        ladders: Sequence[Ladder],
        rows: Codes,
        conditions: Sequence[Condition] = (),
    ) -> None:
        self.group, self.codes, self.ladders, self.each = group, codes, tuple(ladders), rows
        inside = group >= 0
        self.rows = np.bincount(group[inside], rows[inside])
        self.low, self.high = ends_of_groups(group, codes)
        self.spreads = [_Spread(group, one) for one in conditions]

    def place(self, over: Codes, *, progress: Progress = SILENT) -> bool:
        """Put combinations into groups, the last with whole groups; say whether it could be done.

        Notes
        -----
        Every demand of a `Condition` that holds for two groups holds for both together. So taking in whole
        groups ends, at the latest with everybody in one, which holds where the table does.
        """
        waiting = []
        for turn, one in enumerate(over.tolist()):
            progress.step(turn / len(over), "datasets.groups")
            if turn >= MOST_ALONE or not self._join(one):
                waiting.append(one)
        return not waiting or self._gather(np.array(waiting), progress)

    def _join(self, one: int) -> bool:
        own = self.codes[one][:, None]
        added, low, high = self._added(own, own, int(self.each[one]))
        best = np.argsort(added, kind="stable")
        for chosen in best[: MOST_TRIED if self.spreads else 1].tolist():
            spreads = [spread.with_one(chosen, one) for spread in self.spreads]
            if all(spread.holds(cells) for spread, cells in zip(self.spreads, spreads, strict=True)):
                self.group[one] = chosen
                self.rows[chosen] += self.each[one]
                self.low[:, chosen], self.high[:, chosen] = low[:, chosen], high[:, chosen]
                for spread, cells in zip(self.spreads, spreads, strict=True):
                    spread.known[chosen] = cells
                return True
        return False

    def _gather(self, waiting: Codes, progress: Progress) -> bool:
        """Make one group of combinations and of the groups that it takes in until it holds."""
        low, high = self.codes[waiting].min(axis=0)[:, None], self.codes[waiting].max(axis=0)[:, None]
        rows, taken = int(self.each[waiting].sum()), np.zeros(len(self.rows), dtype=bool)
        spreads = [spread.of(waiting) for spread in self.spreads]
        while not taken.all():
            progress.step(float(taken.mean()), "datasets.groups")
            added, wide_low, wide_high = self._added(low, high, rows)
            chosen = int(np.where(taken, np.inf, added).argmin())
            taken[chosen] = True
            low, high = wide_low[:, [chosen]], wide_high[:, [chosen]]
            rows += int(self.rows[chosen])
            spreads = [
                spread.together(cells, spread.known[chosen])
                for spread, cells in zip(self.spreads, spreads, strict=True)
            ]
            if all(spread.holds(cells) for spread, cells in zip(self.spreads, spreads, strict=True)):
                self.group[waiting] = chosen
                self.group[np.append(taken, False)[self.group]] = chosen
                self.group[:] = np.unique(self.group, return_inverse=True)[1].reshape(-1)
                return True
        return False

    def _added(self, low: Codes, high: Codes, rows: int) -> tuple[Floats, Codes, Codes]:
        """Return what all rows lose further where each group takes some in, and the ends it then has."""
        wide_low, wide_high = np.minimum(self.low, low), np.maximum(self.high, high)
        wide = row_loss(self.ladders, wide_low, wide_high)
        own = row_loss(self.ladders, self.low, self.high)
        return wide * (self.rows + rows) - own * self.rows, wide_low, wide_high


class _Spread:
    """The sensitive values of every group, for one condition."""

    def __init__(self, group: Codes, condition: Condition) -> None:
        self.condition = condition
        self._first = np.searchsorted(condition.combination, np.arange(len(group) + 1))
        cells = cells_of(group, condition)
        cuts = np.searchsorted(cells.group, np.arange(cells.groups + 1))
        self.known = [
            self._one(cells.further[low:high], cells.count[low:high]) for low, high in pairwise(cuts)
        ]

    def _one(self, value: Codes, count: Codes) -> Cells:
        group = np.zeros(len(value), dtype=np.int64)
        return Cells.counted(group, value, count, values=len(self.condition.overall), groups=1)

    def of(self, combinations: Codes) -> Cells:
        """Return the sensitive values of some combinations."""
        found = np.isin(self.condition.combination, combinations)
        return self._one(self.condition.value[found], self.condition.count[found])

    def with_one(self, group: int, combination: int) -> Cells:
        """Return the sensitive values of a group with one more combination."""
        own = slice(self._first[combination], self._first[combination + 1])
        cells = self.known[group]
        return self._one(
            np.append(cells.further, self.condition.value[own]),
            np.append(cells.count, self.condition.count[own]),
        )

    def together(self, one: Cells, other: Cells) -> Cells:
        """Return the sensitive values of two groups."""
        return self._one(np.append(one.further, other.further), np.append(one.count, other.count))

    def holds(self, cells: Cells) -> bool:
        """Say whether one group holds."""
        return bool(self.condition.holds(cells)[0])


def ends_of_groups(group: Codes, codes: Codes) -> tuple[Codes, Codes]:
    """Return the first and the last place of every group in every column, shape (columns, groups)."""
    order = np.argsort(group, kind="stable")
    order = order[group[order] >= 0]
    first, sorted_codes = starts(group[order]), codes[order]
    low = np.minimum.reduceat(sorted_codes, first, axis=0).T
    return low, np.maximum.reduceat(sorted_codes, first, axis=0).T


def steps_between(ladders: Sequence[Ladder], low: Codes, high: Codes) -> Codes:
    """Return the lowest step on which two places read alike, for every column: shape (columns, groups)."""
    return np.array(
        [
            (ladder.groups[:, low[place]] != ladder.groups[:, high[place]]).sum(axis=0)
            for place, ladder in enumerate(ladders)
        ],
        dtype=np.int64,
    )


def row_loss(ladders: Sequence[Ladder], low: Codes, high: Codes) -> Floats:
    """Return what a row of each group loses by certainty penalty, given the ends of the group."""
    steps = steps_between(ladders, low, high)
    total: Floats = np.zeros(low.shape[1])
    for place, ladder in enumerate(ladders):
        total += ladder.weight * ladder.losses[steps[place], low[place]]
    return total
