"""Local recoding by ascending loss where a person is the set of all their rows; nobody is left out.

On each combination of steps, taken in the order of what they lose, the people who share their set of recoded
rows with enough others are fixed and leave. Who stays over joins the people of the first combination on which
the sets agree; these are then written on it. Each group of rows is written with what its rows have in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from engine.methods.datasets.conditions import Condition, cells_of
from engine.methods.datasets.losses import certainty
from engine.methods.datasets.recoding import Codes, Ladder, Members, group_numbers
from engine.methods.datasets.row_sets import Holds, Parted, parted
from engine.progress import SILENT, Progress
from engine.risk.combinations import described


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
        As for `ascending`, each combination belonging to one person.

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
        return len(np.unique(self.person[self.free]))

    def fix(self, steps: tuple[int, ...]) -> None:
        """Make kinds of the free people who share their set on some steps with enough others."""
        entries = np.flatnonzero(self.free)
        own = self._parted(entries, steps)
        holds = own.sizes >= self.k
        if holds.any():
            holds = own.whole(holds & self._fulfil(entries, own))
        if not holds.any():
            return
        kinds = np.unique(own.kind[holds])
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
        alone = np.unique(self.person[self.free])
        shown = np.concatenate([alone, np.array(self.one)[nowhere_coarser]])
        place = np.full(int(self.person.max()) + 1, -1, dtype=np.int64)
        place[shown] = np.arange(len(shown))
        entries = np.flatnonzero(place[self.person] >= 0)
        reads = group_numbers(self.codes[entries], self.ladders, steps)
        same = described(reads, place[self.person[entries]])
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
        return parted(group_numbers(self.codes[entries], self.ladders, steps), self.person[entries])

    def _fulfil(self, entries: Codes, own: Parted) -> Holds:
        found = np.ones(len(own.kind), dtype=bool)
        of_all = np.full(len(self.codes), -1, dtype=np.int64)
        of_all[entries] = own.group
        for condition in self.conditions:
            found &= condition.holds(cells_of(of_all, condition))
        return found
