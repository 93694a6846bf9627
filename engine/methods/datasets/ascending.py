"""Local recoding by ascending loss: every group grows as little coarser as it needs, nobody is left out.

All combinations of steps are taken in the order of what they lose. On each, the groups of at least k people
among those who are still free are fixed and leave. Who stays over joins the group where this adds the least
loss. Each group is written with the lowest values that its rows have in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from engine.methods.datasets.conditions import Condition
from engine.methods.datasets.losses import Floats, certainty
from engine.methods.datasets.recoding import Codes, Ladder, Members, combinations, group_numbers
from engine.methods.datasets.rollup import Cells
from engine.progress import SILENT, Progress

_BLOCK = 3  # columns whose digits are added up once for many combinations of steps


@dataclass(frozen=True)
class Groups:
    """The groups that were made.

    Parameters
    ----------
    group
        For every combination of values its group, from 0; -1 for one that had to be left out.
    steps
        Shape (columns, groups): the step on which each group is written in every column.
    loss
        Mean certainty penalty of the cells, what is left out counting as 1.
    """

    group: Codes
    steps: Codes
    loss: float


def ascending(
    codes: Codes,
    members: Members,
    ladders: Sequence[Ladder],
    *,
    k: int,
    conditions: Sequence[Condition] = (),
    progress: Progress = SILENT,
) -> Groups | None:
    """Make groups of at least k people with little loss.

    Parameters
    ----------
    codes
        Shape (combinations of values, columns): places in `Ladder.values`, each combination once.
    members
        Who has which of them.
    ladders
        One per column.
    k
        Least size of a group, in people.
    conditions
        What every group has to fulfil beside its size.

    Returns
    -------
    Groups or None
        None where even all rows together do not hold.

    Notes
    -----
    The same value may stand in the result on several steps: who works with it needs the hierarchies. Which
    groups were made depends on the rows, so that knowing the rule can tell something about them.

    Examples
    --------
    >>> from engine.table.hierarchies import Hierarchy
    >>> age = Ladder.of(["41", "43", "57", "58"], Hierarchy(bands=(10,)))
    >>> people = Members(np.array([0, 0, 1, 2, 3]), np.arange(5))
    >>> found = ascending(np.arange(4)[:, None], people, [age], k=2)
    >>> found.group.tolist(), found.steps.tolist()
    ([0, 0, 1, 1], [[1, 1]])
    """
    free = _Free(codes, members, ladders)
    rows = np.bincount(members.combination, minlength=len(codes)).astype(np.int64)
    losses = certainty(ladders, codes, rows)
    order = np.argsort(losses.bounds().reshape(-1), kind="stable")
    steps = list(product(*(range(len(ladder.groups)) for ladder in ladders)))
    group = np.full(len(codes), -1, dtype=np.int64)
    made, possible = 0, combinations(ladders)
    for turn, place in enumerate(order.tolist()):
        if not len(free.places):
            break
        progress.step(turn / possible, "datasets.groups")
        found = free.large(steps[place], k, conditions)
        if found is not None:
            group[free.places[found >= 0]] = found[found >= 0] + made
            made = int(group.max()) + 1
            free.keep(found < 0)
    if not made:
        return None
    _join(group, free.places, _Written(codes, ladders, rows), codes, members, conditions)
    written = _Written(codes, ladders, rows).steps(group)
    kept = group >= 0
    lost = sum(
        ladder.losses[written[place][group], codes[:, place]] * kept for place, ladder in enumerate(ladders)
    )
    cells = max(1, int(rows.sum())) * len(ladders)
    return Groups(group, written, float((np.dot(lost, rows) + len(ladders) * rows[~kept].sum()) / cells))


class _Free:
    """The combinations of values that belong to no group yet."""

    def __init__(self, codes: Codes, members: Members, ladders: Sequence[Ladder]) -> None:
        self.codes, self.members, self.ladders = codes, members, ladders
        self.places = np.arange(len(codes))
        self.people = np.bincount(members.combination, minlength=len(codes)).astype(np.int64)
        widths = [int(ladder.groups.shape[1] - 1).bit_length() for ladder in ladders]
        self._shifts = np.concatenate([[0], np.cumsum(widths)]).tolist()
        self._narrow = self._shifts[-1] <= 62
        self._owner = np.repeat(self.places, self.people)
        self._parts: dict[tuple[int, tuple[int, ...]], Codes] = {}

    def keep(self, stay: npt.NDArray[np.bool_]) -> None:
        """Forget the others."""
        self.places = self.places[stay]
        self._parts = {name: part[stay] for name, part in self._parts.items()}
        self._owner = np.repeat(np.arange(len(self.places)), self.people[self.places])

    def large(self, steps: tuple[int, ...], k: int, conditions: Sequence[Condition]) -> Codes | None:
        """Number the groups that hold from 0, shape (free,), -1 elsewhere; None where there are none."""
        key = self._key(steps)
        if self._narrow and self.members.each_once:
            each = np.sort(key[self._owner])  # one entry a person: k equal ones in a row are a group
            if len(each) < k or not (each[k - 1 :] == each[: len(each) - k + 1]).any():
                return None
        number = np.unique(key, return_inverse=True)[1].reshape(-1)
        holds = self._sizes(number) >= k
        for condition in conditions:
            if holds.any():
                holds &= condition.holds(self._cells(number, condition))
        if not holds.any():
            return None
        numbers = np.where(holds, np.cumsum(holds) - 1, -1)
        return np.asarray(numbers[number], dtype=np.int64)

    def _key(self, steps: tuple[int, ...]) -> Codes:
        if not self._narrow:
            return group_numbers(self.codes[self.places], self.ladders, steps)
        parts = [self._part(first, steps[first : first + _BLOCK]) for first in range(0, len(steps), _BLOCK)]
        return np.asarray(sum(parts[1:], parts[0]), dtype=np.int64)

    def _part(self, first: int, steps: tuple[int, ...]) -> Codes:
        if (first, steps) not in self._parts:
            found = np.zeros(len(self.places), dtype=np.int64)
            for place, step in enumerate(steps, start=first):
                found += (
                    self.ladders[place].groups[step][self.codes[self.places, place]] << self._shifts[place]
                )
            self._parts[first, steps] = found
        return self._parts[first, steps]

    def _sizes(self, number: Codes) -> Codes:
        if self.members.each_once:
            return np.bincount(number, self.people[self.places]).astype(np.int64)
        of_all = np.full(len(self.codes), -1, dtype=np.int64)
        of_all[self.places] = number
        return _people(of_all, self.members)

    def _cells(self, number: Codes, condition: Condition) -> Cells:
        of_all = np.full(len(self.codes), -1, dtype=np.int64)
        of_all[self.places] = number
        return _cells(of_all, condition)


class _Written:
    """Says on which step the rows of a group read alike."""

    def __init__(self, codes: Codes, ladders: Sequence[Ladder], rows: Codes) -> None:
        self.codes, self.ladders, self.rows = codes, ladders, rows

    def ends(self, group: Codes) -> tuple[Codes, Codes]:
        """Return the first and the last place of every group in every column, shape (columns, groups)."""
        order = np.argsort(group, kind="stable")
        order = order[group[order] >= 0]
        starts, codes = _starts(group[order]), self.codes[order]
        low = np.minimum.reduceat(codes, starts, axis=0).T
        return low, np.maximum.reduceat(codes, starts, axis=0).T

    def between(self, low: Codes, high: Codes) -> Codes:
        """Return the lowest step on which two places read alike, for every column."""
        return np.array(
            [
                (ladder.groups[:, low[place]] != ladder.groups[:, high[place]]).sum(axis=0)
                for place, ladder in enumerate(self.ladders)
            ],
            dtype=np.int64,
        )

    def steps(self, group: Codes) -> Codes:
        """Return the step of every group in every column, shape (columns, groups)."""
        return self.between(*self.ends(group))

    def cell_loss(self, low: Codes, high: Codes) -> Floats:
        """Return what a row of each group loses, given the ends of the group."""
        steps = self.between(low, high)
        total: Floats = sum(
            (ladder.losses[steps[place], low[place]] for place, ladder in enumerate(self.ladders)),
            np.zeros(low.shape[1]),
        )
        return total


def _join(
    group: Codes,
    over: Codes,
    written: _Written,
    codes: Codes,
    members: Members,
    conditions: Sequence[Condition],
) -> None:
    """Put who stays over into the group where this adds the least loss, and where conditions still hold."""
    for place in over.tolist():
        low, high = written.ends(group)
        rows = np.bincount(group[group >= 0], written.rows[group >= 0])
        own = codes[place][:, None]
        wide = written.cell_loss(np.minimum(low, own), np.maximum(high, own))
        added = wide * (rows + written.rows[place]) - written.cell_loss(low, high) * rows
        for chosen in np.argsort(added, kind="stable").tolist():
            group[place] = chosen
            if all(one.holds(_cells(group, one))[chosen] for one in conditions):
                break
            group[place] = -1


def _people(group: Codes, members: Members) -> Codes:
    """Return how many people every group has, given the group of each combination, -1 for none."""
    of_entry = group[members.combination]
    inside = of_entry >= 0
    pairs = np.unique(of_entry[inside] * members.people + members.person[inside])
    return np.bincount(pairs // max(1, members.people), minlength=int(group.max()) + 1).astype(np.int64)


def _cells(group: Codes, condition: Condition) -> Cells:
    """Return the sensitive values of every group."""
    of_entry = group[condition.combination]
    inside = of_entry >= 0
    groups = int(group.max()) + 1
    key = of_entry[inside] * condition.values + condition.value[inside]
    found, place = np.unique(key, return_inverse=True)
    count = np.bincount(place.reshape(-1), condition.count[inside]).astype(np.int64)
    return Cells(
        found // condition.values, found % condition.values, count, np.zeros((0, groups), dtype=np.int64)
    )


def _starts(rising: Codes) -> npt.NDArray[np.intp]:
    return np.concatenate(([0], np.flatnonzero(rising[1:] != rising[:-1]) + 1))
