"""Columns as ladders of steps, and who has which combination of their values.

Everything works on distinct combinations of values with their numbers of people, so that a table of a million
rows costs what its combinations cost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine import arrays
from engine.once import once
from engine.table.hierarchies import Hierarchy

Codes = arrays.Integers
_WIDEST = 1 << 62


FEW, SHORT = 3, 14  # values that are told all, and the letters that they may have together


def _tell(read: Sequence[str]) -> str:
    """Return how a column reads: its values where they are few and short, else the one in the middle.

    It is told by its place, so that the steps of a column show what becomes of one and the same value. A
    missing one, which reads as nothing, is passed over.

    >>> _tell(["", "", "2026-H1", "2026-H2"])
    '2026-H1 · 2026-H2'
    """
    read = [one for one in read if one]
    values = list(dict.fromkeys(read))
    if len(values) <= FEW and sum(map(len, values)) <= SHORT:
        return " · ".join(values)
    return read[len(read) // 2] if read else ""


@dataclass(frozen=True)
class Ladder:
    """One column: its different values, and what each becomes on every step.

    Parameters
    ----------
    values
        The different values as text, those of one group next to each other on every step.
    groups
        Shape (steps, values): the number of the group of each value on each step, rising.
    losses
        Shape (steps, values): share of the other values that one can no longer be told from, from 0 to 1
        (normalised certainty penalty: Xu et al. 2006, equation 2). The others are those of the hierarchy
        where it lists them, otherwise those that occur.
    weight
        How much the detail of this column counts beside that of the others.
    at
        Where each number or day lies from 0 to 1, a missing one further off; None where its rank is all that
        is known.
    reads
        How the column reads on each step, for the custodian's eyes: its values where they are few, else one.
    texts
        Every value as it reads on each step; empty where the steps have no words.
    """

    values: tuple[str, ...]
    groups: Codes
    losses: npt.NDArray[np.float64]
    weight: float = 1.0
    at: npt.NDArray[np.float64] | None = None
    reads: tuple[str, ...] = ()
    texts: tuple[tuple[str, ...], ...] = ()

    @staticmethod
    def of(values: Sequence[str], hierarchy: Hierarchy, *, weight: float = 1.0) -> Ladder:
        """Place values on the steps of a hierarchy."""
        steps = range(hierarchy.height + 1)
        paths = sorted(zip(*(hierarchy.at(values, step) for step in reversed(steps)), strict=True))
        reads = [[path[-1 - step] for path in paths] for step in steps]
        groups = np.array([pd.factorize(np.array(read, dtype=object))[0] for read in reads], dtype=np.int64)
        listed = sorted({*values, *(hierarchy.tree or ())})
        counts = [Counter(hierarchy.at(listed, step)) for step in steps]
        alike = [[count[text] for text in read] for count, read in zip(counts, reads, strict=True)]
        losses = (np.array(alike, dtype=np.float64) - 1) / max(1, len(listed) - 1)
        told, texts = tuple(_tell(read) for read in reads), tuple(tuple(read) for read in reads)
        losses = losses.reshape(len(reads), -1)
        return Ladder(texts[0], groups, losses, weight, reads=told, texts=texts)

    @staticmethod
    def in_order(
        values: Sequence[str], *, weight: float = 1.0, numbers: npt.NDArray[np.float64] | None = None
    ) -> Ladder:
        """Place values in their own order, with nothing between the value itself and all of them.

        Parameters
        ----------
        values
            In their order, a missing one last.
        weight
            As in `Ladder`.
        numbers
            What each is in declared units, NaN where it is missing: a range with it says nothing. None where
            only the order is known.
        """
        every = np.arange(len(values))
        return Ladder(
            tuple(values),
            np.array([every, np.zeros_like(every)]),
            np.array([np.zeros(len(values)), np.ones(len(values))]),
            weight,
            None if numbers is None else _between_ends(numbers),
            (_tell(values), ""),
        )

    def wide(self, low: Codes, high: Codes) -> npt.NDArray[np.float64]:
        """Return how wide ranges are between places of an order, all values together being 1.

        Examples
        --------
        >>> age = Ladder.in_order(["1", "2", "11", ""], numbers=np.array([1.0, 2.0, 11.0, np.nan]))
        >>> age.wide(np.array([0, 1, 0, 3]), np.array([1, 2, 3, 3])).tolist()
        [0.1, 0.9, 1.0, 0.0]
        """
        if self.at is None:
            return np.asarray((high - low) / max(1, len(self.values) - 1))
        return np.asarray(np.minimum(self.at[high] - self.at[low], 1.0))

    @property
    def bits(self) -> int:
        """How many bits the place of a value takes."""
        return int(self.groups.shape[1] - 1).bit_length()

    def from_step(self, least: int) -> Ladder:
        """Return it with the steps below one as coarse as that one: nothing is finer.

        Examples
        --------
        >>> from fractions import Fraction
        >>> Ladder.of(["31", "32", "47"], Hierarchy(bands=(Fraction(10),))).from_step(1).groups.tolist()
        [[0, 0, 1], [0, 0, 1], [0, 0, 0]]
        """
        steps = np.maximum(np.arange(len(self.groups)), least)
        reads = tuple(self.reads[step] for step in steps) if self.reads else ()
        texts = tuple(self.texts[step] for step in steps) if self.texts else ()
        return replace(self, groups=self.groups[steps], losses=self.losses[steps], reads=reads, texts=texts)

    def place(self, values: Sequence[str]) -> Codes:
        """Return where values stand in `values`."""
        places = {value: place for place, value in enumerate(self.values)}
        return np.array([places[value] for value in values], dtype=np.int64)

    def step_up(self, low: int, high: int) -> Codes:
        """Return, for every group of a step, the number of its group on a coarser one."""
        up = np.zeros(int(self.groups[low].max(initial=0)) + 1, dtype=np.int64)
        up[self.groups[low]] = self.groups[high]
        return up


def _between_ends(numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return numbers between 0 for the least and 1 for the largest; missing ones are further off than all."""
    if np.isnan(numbers).all():
        return np.full(len(numbers), 2.0)
    low, high = float(np.nanmin(numbers)), float(np.nanmax(numbers))
    scaled = (numbers - low) / ((high - low) or 1.0)
    return np.where(np.isnan(scaled), 2.0, scaled)


@dataclass(frozen=True)
class Members:
    """Who has which combination: one entry for every person and combination, each pair once.

    Parameters
    ----------
    combination
        Places among the distinct combinations, shape (entries,).
    person
        Numbers of people from 0, shape (entries,).
    sets
        A group is of people whose rows all read alike as a set, see `engine.methods.datasets.row_sets`: every
        combination belongs to one person then.
    """

    combination: Codes
    person: Codes
    sets: bool = False

    @once
    def people(self) -> int:
        """How many people there are."""
        return int(self.person.max(initial=-1)) + 1

    @once
    def each_once(self) -> bool:
        """Whether nobody has two combinations, so that entries can be counted instead of people."""
        return len(self.person) == self.people

    def sizes(self, numbers: Codes) -> Codes:
        """Return the number of people of every group, given the number of the group of each combination."""
        groups, person = numbers[self.combination], self.person
        if not self.each_once:
            pairs = arrays.distinct(groups * self.people + person)
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


def shifts(ladders: Sequence[Ladder], first: int = 0) -> list[int]:
    """Return where the digit of each column begins in one number for all, and last where they all end.

    ``first`` bits below them stay free.
    """
    return np.cumsum([first, *(ladder.bits for ladder in ladders)]).tolist()


def combine_places(codes: Codes, ladders: Sequence[Ladder]) -> tuple[Codes, Codes]:
    """Return the distinct combinations of the rows' places, in their order, and the number of each row's own.

    Examples
    --------
    >>> from engine.table.hierarchies import Hierarchy
    >>> sex = Ladder.of(["f", "m"], Hierarchy())
    >>> found, number = combine_places(np.array([[1, 0], [0, 1], [1, 0]]), [sex, sex])
    >>> found.tolist(), number.tolist()
    ([[0, 1], [1, 0]], [1, 0, 1])
    """
    *places, end = shifts(ladders[::-1])
    if end > _WIDEST.bit_length():
        found, number = np.unique(codes, axis=0, return_inverse=True)
        return found, number.reshape(-1)
    key = np.zeros(len(codes), dtype=np.int64)
    for place, shift in zip(range(codes.shape[1]), reversed(places), strict=True):
        key |= codes[:, place] << shift
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    return codes[first], number.reshape(-1)


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
