"""How many rows are in each cell of several columns, in few passes over small whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from engine import arrays

Integers = arrays.Integers
Codes = arrays.Whole
_BLOCK = 1 << 20
"""Rows that are grouped at once: what they need is little beside the table."""
_FEW_CHANGES = 8
"""So many comparisons take less time than to look every row up."""
_MOST_IN_A_BYTE = 255


@dataclass(frozen=True)
class Part:
    """One column of the rows, in small numbers.

    Parameters
    ----------
    codes
        Of every row a whole number without sign.
    steps
        The cell that each such number is in.
    """

    codes: Codes
    steps: Steps


class Room:
    """Where rows are grouped: made once for all groups of so many rows, since new memory takes as long.

    Parameters
    ----------
    rows
        How many there are.
    """

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self._kept: dict[tuple[str, np.dtype[Any]], Codes] = {}

    def groups(self, size: int) -> Codes:
        """Return room for the cell of every row, in as few bytes as hold so many cells."""
        return self._of("groups", np.min_scalar_type(size), self.rows)

    def beside(self, name: str, kind: np.dtype[Any], rows: int) -> Codes:
        """Return room for a number of each of some rows, at most a block of them."""
        return self._of(name, kind, min(self.rows, _BLOCK))[:rows]

    def _of(self, name: str, kind: np.dtype[Any], rows: int) -> Codes:
        if (name, kind) not in self._kept:
            self._kept[name, kind] = np.empty(rows, dtype=kind)
        return self._kept[name, kind]


class Steps:
    """How the cell of every row is worked out in few passes, under numbers that make them few.

    Parameters
    ----------
    cells
        The cell that each number of a column is in, from 0 on.
    size
        How many cells there are.
    """

    def __init__(self, cells: Integers, size: int) -> None:
        self.size, self.turned = size, 0
        self.is_same = np.array_equal(cells, np.arange(len(cells)))
        places = [0, *(np.flatnonzero(np.diff(cells)) + 1).tolist()]
        if len(places) > 2 and cells[0] == cells[-1] and not self.is_same:
            places = places[1:]  # numbers in a circle have one change less
            self.turned = places[0]
        found = cells[places].tolist()
        order = range(size) if self.is_same else dict.fromkeys((*found, *range(size)))
        self.numbers = np.argsort(list(order))
        """The number of each cell here: in the order in which they come, so that most changes are by one."""
        self.looked_up = self.numbers[cells]
        ranks = self.numbers[found].tolist()
        self.changes = [
            (place - self.turned, after - before)
            for place, before, after in zip(places[1:], ranks, ranks[1:], strict=False)
        ]
        last = len(self.changes)
        rising = [(place, 1) for place in range(1, last + 1)]
        self.is_rising = 1 < last <= _MOST_IN_A_BYTE and self.changes == rising
        self.is_few = self.is_rising or last <= _FEW_CHANGES

    def put(self, groups: Codes, codes: Codes, room: Room, *, first: bool) -> None:
        """Add the number of every row's cell to its group, or make it the group where it is the first one."""
        if self.is_same:
            found = codes
        elif not self.is_few:
            found = self.looked_up.astype(groups.dtype)[codes]
        elif first and groups.dtype == np.uint8:
            self._find(groups, codes, room)
            return
        else:
            found = room.beside("found", np.dtype(np.uint8), len(codes))
            self._find(found, codes, room)
        if first:
            groups[:] = found
        else:
            np.add(groups, found, out=groups, casting="unsafe")

    def _find(self, found: Codes, codes: Codes, room: Room) -> None:
        """Write down the number of every row's cell, in a byte each."""
        if not self.changes:
            found[:] = 0
            return
        holds = found.view(bool)
        if self.changes == [(1, 1)]:
            np.not_equal(codes, self.turned, out=holds)
            return
        if self.turned:
            turned = room.beside("turned", codes.dtype, len(codes))
            codes = np.subtract(codes, codes.dtype.type(self.turned), out=turned)
        if self.is_rising:
            kind = codes.dtype.type  # with numbers of another kind numpy takes fifteen times as long
            np.clip(codes, kind(0), kind(len(self.changes)), out=found, casting="unsafe")
            return
        np.greater_equal(codes, self.changes[0][0], out=holds)
        one = room.beside("one", found.dtype, len(codes))
        for place, change in self.changes[1:]:
            np.greater_equal(codes, place, out=one.view(bool))
            if abs(change) > 1:
                np.multiply(one, abs(change), out=one)
            (np.add if change > 0 else np.subtract)(found, one, out=found)


def count_groups(parts: Sequence[Part], room: Room) -> Integers:
    """Return how many rows are in each cell of all columns together, shape (product of the sizes,).

    Notes
    -----
    The number of a row's cell is worked out in as few bytes as hold it, modulo their range: where the cells
    of a column change at few of its numbers only, each change is one comparison and one sum. Cells are
    numbered so that these are few, and are put in their order at the end. Up to 255 cells are counted in half
    the time, two rows at once.

    Examples
    --------
    >>> sex = Part(np.array([0, 1, 1, 0], dtype=np.uint8), Steps(np.array([0, 1, 1]), 2))
    >>> age = Part(np.array([70, 30, 99, 3], dtype=np.uint8), Steps(np.arange(111) // 65, 2))
    >>> count_groups([sex, age], Room(4)).tolist()
    [1, 1, 1, 1]
    """
    shape, rows = tuple(part.steps.size for part in parts), room.rows
    size = prod(shape)
    groups = room.groups(size)
    for start in range(0, rows, _BLOCK):
        block = groups[start : start + _BLOCK]
        for place, part in enumerate(parts):
            if place:
                block *= part.steps.size
            part.steps.put(block, part.codes[start : start + _BLOCK], room, first=not place)
    if groups.dtype != np.uint8:
        counts = np.bincount(groups, minlength=size)
    else:
        even = rows // 2 * 2
        pairs = np.bincount(groups[:even].view(np.uint16), minlength=1 << 16).reshape(256, 256)
        counts = (pairs.sum(axis=0) + pairs.sum(axis=1))[:size] + np.bincount(groups[even:], minlength=size)
    return np.asarray(counts.reshape(shape)[np.ix_(*(part.steps.numbers for part in parts))].ravel())
