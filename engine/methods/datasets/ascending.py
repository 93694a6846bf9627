"""Local recoding by ascending loss: every group grows as little coarser as it needs, nobody is left out.

All combinations of steps are taken in the order of what they lose. On each, the groups of at least k people
among those who are still free are fixed and leave. Who stays over joins the group where this adds the least
loss. Each group is written with the lowest values that its rows have in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from engine import arrays
from engine.methods.datasets.conditions import Condition, cells_of
from engine.methods.datasets.joining import Joining, ends_of_groups, row_loss, steps_between
from engine.methods.datasets.losses import certainty
from engine.methods.datasets.recoding import Codes, Ladder, Members, combinations, group_numbers, shifts
from engine.methods.datasets.rollup import Cells, starts
from engine.methods.datasets.row_sets import Holds, Parted, group_entries
from engine.progress import SILENT, Progress
from engine.risk.combinations import number_sets

_BLOCK = 3  # columns whose digits are added up once for many combinations of steps


@dataclass(frozen=True)
class Groups:
    """The groups that were made.

    Parameters
    ----------
    group
        For every combination of values its group, from 0.
    steps
        Shape (columns, groups): the step on which each group is written in every column.
    loss
        Mean certainty penalty of the cells, by the weights of the columns.
    """

    group: Codes
    steps: Codes
    loss: float


def make_ascending_groups(
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
        None where even all rows together do not hold: too few people, or a condition that they do not fulfil.

    Notes
    -----
    The same value may stand in the result on several steps: who works with it needs the hierarchies. Which
    groups were made depends on the rows, so that knowing the rule can tell something about them.

    Examples
    --------
    >>> from engine.table.hierarchies import Hierarchy
    >>> age = Ladder.of(["41", "43", "57", "58"], Hierarchy(bands=(10,)))
    >>> people = Members(np.array([0, 0, 1, 2, 3]), np.arange(5))
    >>> found = make_ascending_groups(np.arange(4)[:, None], people, [age], k=2)
    >>> found.group.tolist(), found.steps.tolist()
    ([0, 0, 1, 1], [[1, 1]])
    """
    if members.sets:
        sets = ascending_sets(codes, members, ladders, k=k, conditions=conditions, progress=progress)
        return None if sets is None else _write(sets, codes, ladders, np.ones(len(codes), dtype=np.int64))
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
    joining = Joining(group, codes, ladders, rows, conditions)
    if not joining.place(free.places, progress=progress):
        return None
    return _write(group, codes, ladders, rows)


def _write(group: Codes, codes: Codes, ladders: Sequence[Ladder], rows: Codes) -> Groups:
    """Return groups with the steps on which each is written: the lowest that its rows have in common."""
    low, high = ends_of_groups(group, codes)
    of_group = np.bincount(group, rows)
    lost = float((row_loss(ladders, low, high) * of_group).sum())
    cells = max(1, int(rows.sum())) * sum(ladder.weight for ladder in ladders)
    return Groups(group, steps_between(ladders, low, high), lost / cells)


class _Free:
    """The combinations of values that belong to no group yet."""

    def __init__(self, codes: Codes, members: Members, ladders: Sequence[Ladder]) -> None:
        self.codes, self.members, self.ladders = codes, members, ladders
        self.places = np.arange(len(codes))
        self.people = np.bincount(members.combination, minlength=len(codes)).astype(np.int64)
        self._shifts = shifts(ladders)
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
            found = each[k - 1 :][each[k - 1 :] == each[: max(0, len(each) - k + 1)]]
            if not len(found):
                return None
            if not conditions:
                return _places(key, found[starts(found)])
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
        return cells_of(of_all, condition)


def _places(key: Codes, rising: Codes) -> Codes:
    """Return where each number stands among some rising ones, -1 for none."""
    place = np.minimum(np.searchsorted(rising, key), len(rising) - 1)
    return np.where(rising[place] == key, place, -1)


def _people(group: Codes, members: Members) -> Codes:
    """Return how many people every group has, given the group of each combination, -1 for none."""
    of_entry = group[members.combination]
    inside = of_entry >= 0
    pairs = arrays.distinct(of_entry[inside] * members.people + members.person[inside])
    return np.bincount(pairs // max(1, members.people), minlength=int(group.max()) + 1).astype(np.int64)


# --- a person as the set of all their rows ---------------------------------------------------------------
# On each combination of steps, taken in the order of what they lose, the people who share their set of
# recoded rows with enough others are fixed and leave. Who stays over joins the people of the first
# combination on which the sets agree; these are then written on it. Each group of rows is written with
# what its rows have in common.


def ascending_sets(
    codes: Codes,
    members: Members,
    ladders: Sequence[Ladder],
    *,
    k: int,
    conditions: Sequence[Condition] = (),
    progress: Progress = SILENT,
) -> Codes | None:
    """Put entries into groups: what they read among people of one set of rows, at least k of them.

    Parameters
    ----------
    codes, members, ladders, k, conditions
        As for `make_ascending_groups`, each combination belonging to one person.

    Returns
    -------
    array, shape (entries,), or None
        The group of every entry; None where even all people together do not hold.

    Examples
    --------
    >>> from engine.table.hierarchies import Hierarchy
    >>> age = Ladder.of(["41", "43", "57"], Hierarchy(bands=(10,)))
    >>> people = Members(np.arange(4), np.array([0, 1, 2, 2]), sets=True)
    >>> ascending_sets(np.array([[0], [1], [0], [2]]), people, [age], k=2) is None
    False
    """
    found = _Kinds(codes, members, ladders, k, conditions)
    order = list(_by_loss(codes, ladders))
    for turn, steps in enumerate(order):
        if found.free_people < k:
            break
        progress.step(0.5 * turn / len(order), "datasets.groups")
        found.fix(steps)
    if not found.steps:
        return None
    for turn, steps in enumerate(order):
        if not found.free.any():
            break
        progress.step(0.5 + 0.5 * turn / len(order), "datasets.groups")
        found.take_in(steps)
    return found.groups() if not found.free.any() or found.gather(order[-1]) else None


def _by_loss(codes: Codes, ladders: Sequence[Ladder]) -> Iterator[tuple[int, ...]]:
    bounds = certainty(ladders, codes, np.ones(len(codes), dtype=np.int64)).bounds().reshape(-1)
    steps = list(product(*(range(len(ladder.groups)) for ladder in ladders)))
    return (steps[place] for place in np.argsort(bounds, kind="stable").tolist())


class _Kinds:
    """Kinds of people, each with the steps on which their rows read as the same set."""

    def __init__(
        self,
        codes: Codes,
        members: Members,
        ladders: Sequence[Ladder],
        k: int,
        conditions: Sequence[Condition],
    ) -> None:
        self.codes, self.person, self.ladders = codes, members.person, tuple(ladders)
        self.k, self.conditions = k, tuple(conditions)
        self.kind = np.full(len(codes), -1, dtype=np.int64)  # of every entry
        self.steps: list[tuple[int, ...]] = []  # of every kind
        self.one: list[int] = []  # a person of every kind

    @property
    def free(self) -> Holds:
        """Entries of people who are of no kind yet."""
        return self.kind < 0

    @property
    def free_people(self) -> int:
        """How many people are of no kind yet."""
        return len(arrays.distinct(self.person[self.free]))

    def fix(self, steps: tuple[int, ...]) -> None:
        """Make kinds of the free people who share their set on some steps with enough others."""
        entries = np.flatnonzero(self.free)
        own = self._parted(entries, steps)
        holds = own.sizes >= self.k
        if holds.any():
            holds = own.whole(holds & self._fulfil(entries, own))
        if not holds.any():
            return
        kinds = arrays.distinct(own.kind[holds])
        number = np.full(len(own.people), -1, dtype=np.int64)
        number[kinds] = len(self.steps) + np.arange(len(kinds))
        of_entry = number[own.kind[own.group]]
        self.kind[entries] = of_entry
        first = np.zeros(len(kinds), dtype=np.int64)
        first[of_entry[of_entry >= 0] - len(self.steps)] = self.person[entries[of_entry >= 0]]
        self.steps += [steps] * len(kinds)
        self.one += first.tolist()

    def take_in(self, steps: tuple[int, ...]) -> None:
        """Let free people join a kind whose set agrees with theirs on some steps, where it then holds."""
        nowhere_coarser = np.flatnonzero((np.array(self.steps) <= np.array(steps)).all(axis=1))
        if not len(nowhere_coarser):
            return
        alone = arrays.distinct(self.person[self.free])
        shown = np.concatenate([alone, np.array(self.one)[nowhere_coarser]])
        place = np.full(int(self.person.max()) + 1, -1, dtype=np.int64)
        place[shown] = np.arange(len(shown))
        entries = np.flatnonzero(place[self.person] >= 0)
        reads = group_numbers(self.codes[entries], self.ladders, steps)
        same = number_sets(reads, place[self.person[entries]])
        for who, found in zip(alone.tolist(), same.tolist(), strict=False):
            for kind in nowhere_coarser[same[len(alone) :] == found].tolist():
                if self._join(self.person == who, kind, steps):
                    break

    def gather(self, last: tuple[int, ...]) -> bool:
        """Put who is still free together with whole kinds on the last steps until they hold."""
        joined = self.free
        for kind in np.argsort(np.bincount(self.kind[~self.free])).tolist():
            joined |= self.kind == kind
            if self._join(joined, kind, last):
                return True
        return False

    def groups(self) -> Codes:
        """Return the group of every entry: what it reads among the people of its kind."""
        step_of = np.array(self.steps)[self.kind]
        reads = [
            ladder.groups[step_of[:, place], self.codes[:, place]]
            for place, ladder in enumerate(self.ladders)
        ]
        found = np.unique(np.array([self.kind, *reads]), axis=1, return_inverse=True)[1]
        return np.asarray(found.reshape(-1), dtype=np.int64)

    def _join(self, entries: Holds, kind: int, steps: tuple[int, ...]) -> bool:
        together = np.flatnonzero(entries | (self.kind == kind))
        if not self._fulfil(together, self._parted(together, steps)).all():
            return False
        self.kind[together], self.steps[kind] = kind, steps
        return True

    def _parted(self, entries: Codes, steps: tuple[int, ...]) -> Parted:
        return group_entries(group_numbers(self.codes[entries], self.ladders, steps), self.person[entries])

    def _fulfil(self, entries: Codes, own: Parted) -> Holds:
        found = np.ones(len(own.kind), dtype=bool)
        of_all = np.full(len(self.codes), -1, dtype=np.int64)
        of_all[entries] = own.group
        for condition in self.conditions:
            found &= condition.holds(cells_of(of_all, condition))
        return found
