"""The plain exact search for the coarseness of a table: every combination of steps, the best one that holds.

Works on distinct combinations of values with their numbers of people, so that a table of a million rows costs
what its combinations cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.progress import SILENT, Progress
from engine.table.hierarchies import Hierarchy

Codes = npt.NDArray[np.int64]
_WIDEST = 1 << 62


@dataclass(frozen=True)
class Ladder:
    """One column: its different values, and what each becomes on every step.

    Parameters
    ----------
    values
        The different values as text.
    groups
        Shape (steps, values): the number of the group of each value on each step.
    losses
        Shape (steps, values): share of the other values that one can no longer be told from, from 0 to 1
        (normalised certainty penalty: Xu et al. 2006, equation 2).
    """

    values: tuple[str, ...]
    groups: Codes
    losses: npt.NDArray[np.float64]

    @staticmethod
    def of(values: Sequence[str], hierarchy: Hierarchy) -> Ladder:
        """Place values on the steps of a hierarchy."""
        steps = [hierarchy.at(values, step) for step in range(hierarchy.height + 1)]
        groups = np.array([pd.factorize(np.array(step, dtype=object))[0] for step in steps], dtype=np.int64)
        sizes = np.array([np.bincount(row)[row] for row in groups], dtype=np.float64)
        return Ladder(tuple(values), groups, (sizes - 1) / max(1, len(values) - 1))


@dataclass(frozen=True)
class Found:
    """The best combination of steps.

    Parameters
    ----------
    steps
        One per column, 0 for the values as they are.
    loss
        From 0 (nothing changed) to 1; people left out count as 1.
    left_out
        People in groups that stay too small.
    tried
        How many combinations were looked at, of ``possible``.
    kept
        For every distinct combination, whether its people stay.
    """

    steps: tuple[int, ...]
    loss: float
    left_out: int
    tried: int
    possible: int
    kept: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Members:
    """Who has which combination: one entry for every person and combination, each pair once.

    Parameters
    ----------
    combination
        Places among the distinct combinations, shape (entries,).
    person
        Numbers of people from 0, shape (entries,).
    """

    combination: Codes
    person: Codes

    @property
    def people(self) -> int:
        """How many people there are."""
        return int(self.person.max(initial=-1)) + 1

    @property
    def each_once(self) -> bool:
        """Whether nobody has two combinations, so that entries can be counted instead of people."""
        return len(self.person) == self.people

    def sizes(self, numbers: Codes) -> Codes:
        """Return the number of people of every group, given the number of the group of each combination."""
        groups, person = numbers[self.combination], self.person
        if not self.each_once:
            pairs = np.unique(groups * self.people + person)
            groups = pairs // self.people
        return np.bincount(groups, minlength=int(numbers.max(initial=-1)) + 1).astype(np.int64)

    def left_out(self, kept: npt.NDArray[np.bool_]) -> int:
        """Return how many people have no combination that stays."""
        stays = np.zeros(self.people, dtype=bool)
        stays[self.person[kept[self.combination]]] = True
        return int((~stays).sum())


def combinations(ladders: Sequence[Ladder]) -> int:
    """Return how many combinations of steps there are."""
    return prod(len(ladder.groups) for ladder in ladders)


def group_numbers(codes: Codes, ladders: Sequence[Ladder], steps: Sequence[int]) -> Codes:
    """Number the groups that distinct combinations fall into.

    Parameters
    ----------
    codes
        Shape (combinations, columns): places in `Ladder.values`.
    steps
        One per column.
    """
    numbers, width = np.zeros(len(codes), dtype=np.int64), 1
    for place, (ladder, step) in enumerate(zip(ladders, steps, strict=True)):
        groups = ladder.groups[step]
        size = int(groups.max(initial=0)) + 1
        if width * size > _WIDEST:
            numbers = np.asarray(pd.factorize(numbers)[0], dtype=np.int64)
            width = int(numbers.max(initial=0)) + 1
        numbers, width = numbers * size + groups[codes[:, place]], width * size
    return np.asarray(pd.factorize(numbers)[0], dtype=np.int64)


def search(
    codes: Codes,
    members: Members,
    ladders: Sequence[Ladder],
    *,
    k: int,
    most_left_out: int = 0,
    progress: Progress = SILENT,
) -> Found | None:
    """Find the combination of steps with the least loss among those that hold.

    Parameters
    ----------
    codes
        Shape (combinations, columns).
    members
        Who has which of them.
    ladders
        One per column.
    k
        Least size of a group, in people.
    most_left_out
        How many people may be left out because their group stays smaller.

    Returns
    -------
    Found or None
        None where no combination holds: fewer than k people.

    Notes
    -----
    Combinations are taken in the order of their loss without anybody left out, which is never more than their
    loss with some left out; the search ends as soon as that order passes the best one found. So it is exact,
    whatever the hierarchies are. Ties go to the combination whose steps come first.

    Examples
    --------
    >>> age = Ladder.of(["41", "43", "57"], Hierarchy(bands=(10,)))
    >>> members = Members(np.array([0, 1, 2, 2]), np.arange(4))
    >>> search(np.array([[0], [1], [2]]), members, [age], k=2).steps
    (1,)
    """
    entries = np.bincount(members.combination, minlength=len(codes))
    weights = entries / max(1, len(members.person)) / len(ladders)
    mean = [
        [float(row[codes[:, place]] @ weights) for row in ladder.losses]
        for place, ladder in enumerate(ladders)
    ]
    possible = combinations(ladders)
    best: Found | None = None
    tried = 0
    for least, steps in _by_loss(mean):
        if best is not None and least >= best.loss:
            break
        tried += 1
        progress.step(tried / possible, "datasets.search")
        numbers = group_numbers(codes, ladders, steps)
        kept = members.sizes(numbers)[numbers] >= k
        left_out = members.left_out(kept)
        if left_out > most_left_out or not kept.any():
            continue
        lost = sum(
            ladder.losses[step][codes[:, place]]
            for place, (ladder, step) in enumerate(_pairs(ladders, steps))
        )
        loss = float(np.where(kept, lost, len(ladders)) @ weights)
        if best is None or loss < best.loss:
            best = Found(steps, loss, left_out, tried, possible, kept)
    if best is None:
        return None
    return Found(best.steps, best.loss, best.left_out, tried, possible, best.kept)


def _pairs(ladders: Sequence[Ladder], steps: Sequence[int]) -> Iterator[tuple[Ladder, int]]:
    return zip(ladders, steps, strict=True)


def _by_loss(mean: list[list[float]]) -> list[tuple[float, tuple[int, ...]]]:
    """Return all combinations of steps in the order of the loss that they have when nobody is left out."""
    return sorted(
        (sum(mean[place][step] for place, step in enumerate(steps)), steps)
        for steps in product(*(range(len(one)) for one in mean))
    )
