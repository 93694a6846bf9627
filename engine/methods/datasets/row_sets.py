"""People with several rows, each as the set of all of them: groups of those who have the same set.

A group of rows is then what its rows read among the people of one set: everybody of the set has a row in it.
So each of these groups is as large as the set has people, and every measure of groups stays what it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine import arrays
from engine.methods.datasets.recoding import Codes, Ladder, Members, group_numbers
from engine.methods.datasets.rollup import Cells, Steps
from engine.risk.combinations import dense, number_sets

Holds = arrays.Bools


@dataclass(frozen=True)
class Parted:
    """Entries in groups, by what they read and by the set of the person.

    Parameters
    ----------
    group
        The group of every entry, from 0.
    kind
        The number of the set of every group's people, from 0.
    people
        How many people have each set.
    """

    group: Codes
    kind: Codes
    people: Codes

    @property
    def sizes(self) -> Codes:
        """How many people each group has."""
        return self.people[self.kind]

    def whole(self, holds: Holds) -> Holds:
        """Return the groups of the people all of whose groups hold."""
        fails = np.bincount(self.kind, ~holds, len(self.people)) > 0
        return ~fails[self.kind]

    def of_kept(self, kept: Holds) -> Codes:
        """Return how many people each set has whose groups are kept."""
        return self.people[arrays.distinct(self.kind[kept])]


def group_entries(reads: Codes, person: Codes) -> Parted:
    """Put entries into groups, given what each reads and whose it is.

    Examples
    --------
    >>> found = group_entries(np.array([0, 1, 0, 1, 0]), np.array([0, 0, 1, 1, 2]))
    >>> [int(found.sizes[group]) for group in found.group]
    [2, 2, 2, 2, 1]
    """
    person, everybody = dense(person, int(person.max(initial=-1)) + 1)
    kind = number_sets(reads, person)
    width = int(reads.max(initial=-1)) + 1
    group, groups = dense(kind[person] * width + reads, everybody * width)
    of_group = np.zeros(groups, dtype=np.int64)
    of_group[group] = kind[person]
    return Parted(group, of_group, np.bincount(kind))


def one_entry_each(number: Codes, person: Codes) -> tuple[Codes, Codes, Members]:
    """Part the combinations of rows by person: each pair of the two is then a combination of its own.

    Parameters
    ----------
    number, person
        The combination and the person of every row.

    Returns
    -------
    combination, number, members
        The combination of each pair, the pair of every row, and whose each pair is.
    """
    people = int(person.max(initial=-1)) + 1
    pairs, own = np.unique(number * people + person, return_inverse=True)
    members = Members(np.arange(len(pairs)), pairs % max(1, people), sets=True)
    return pairs // max(1, people), own.reshape(-1), members


class RowSets:
    """The groups of any combination of steps, as in `Rollup`, where a person is the set of all their rows.

    Parameters
    ----------
    codes
        Shape (entries, columns): places in `Ladder.values`, one entry a person and combination.
    members
        Whose entries they are.
    ladders
        One per column.
    """

    def __init__(self, codes: Codes, members: Members, ladders: Sequence[Ladder]) -> None:
        self.codes, self.members, self.ladders = codes, members, tuple(ladders)
        self._last: tuple[Steps, Parted] | None = None

    def parted(self, steps: Steps) -> Parted:
        """Return the groups on a combination of steps."""
        if self._last is None or self._last[0] != steps:
            reads = group_numbers(self.codes, self.ladders, steps)
            self._last = (steps, group_entries(reads, self.members.person))
        return self._last[1]


class SetRollup:
    """The cells of groups by sets; see `Rollup`, whose questions it answers.

    Parameters
    ----------
    sets
        The groups.
    entry
        The entry of each of what is counted.
    further, values, count
        As for a `Rollup`.
    people
        Count people: ``further`` is then the person.
    """

    def __init__(
        self,
        sets: RowSets,
        entry: Codes,
        *,
        further: Codes | None = None,
        values: int = 1,
        count: Codes | None = None,
        people: bool = False,
    ) -> None:
        self._sets, self._entry, self._values, self._people = sets, entry, values, people
        self._further = np.zeros(len(entry), dtype=np.int64) if further is None else further
        self._count = np.ones(len(entry), dtype=np.int64) if count is None else count

    def cells(self, steps: Steps) -> Cells:
        """Return the cells on a combination of steps, without digits."""
        found = self._sets.parted(steps)
        cells = Cells.counted(
            found.group[self._entry], self._further, self._count, values=self._values, groups=len(found.kind)
        )
        return replace(cells, count=np.minimum(cells.count, 1)) if self._people else cells

    def sizes(self, steps: Steps) -> Codes:
        """Return the sum of the counts of every group, in the order of `cells`."""
        found = self._sets.parted(steps)
        if self._people:
            return found.sizes
        return np.bincount(found.group[self._entry], self._count, len(found.kind)).astype(np.int64)

    def digits(self, steps: Steps, groups: Holds) -> Codes:
        """Return what some groups read in every column, shape (columns, groups): places on the step."""
        found = self._sets.parted(steps)
        first = np.zeros(len(found.kind), dtype=np.int64)
        first[found.group] = np.arange(len(found.group))
        codes = self._sets.codes[first[groups]]
        read = [
            ladder.groups[step][codes[:, place]]
            for place, (ladder, step) in enumerate(zip(self._sets.ladders, steps, strict=True))
        ]
        return np.array(read, dtype=np.int64).reshape(len(read), -1)
