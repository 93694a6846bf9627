"""How many rows are in each cell of several columns, in few passes over small whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from engine import arrays

Integers = arrays.Integers
Codes = arrays.Whole
_BLOCK = 1 << 20
"""Rows that are grouped at once: what they need is little beside the table."""
_FEW_CHANGES = 8
"""So many comparisons take less time than to look every row up."""


@dataclass(frozen=True)
class Part:
    """One column of the rows, in small numbers.

    Parameters
    ----------
    codes
        Of every row a whole number without sign.
    cells
        The cell that each such number is in, from 0 on.
    size
        How many cells there are.
    """

    codes: Codes
    cells: Integers
    size: int


class Room:
    """Where rows are grouped: made once for all groups of so many rows, since new memory takes as long.

    Parameters
    ----------
    rows
        How many there are.
    """

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.beside = np.empty((2, min(rows, _BLOCK)), dtype=np.uint8)
        self._groups: dict[type[np.unsignedinteger], Codes] = {}

    def groups(self, size: int) -> Codes:
        """Return room for the cell of every row, in as few bytes as hold so many cells."""
        kind = np.min_scalar_type(size).type
        if kind not in self._groups:
            self._groups[kind] = np.empty(self.rows, dtype=kind)
        return self._groups[kind]


def count_groups(parts: Sequence[Part], room: Room) -> Integers:
    """Return how many rows are in each cell of all columns together, shape (product of the sizes,).

    Notes
    -----
    The number of a row's cell is worked out in as few bytes as hold it, modulo their range: where the cells
    of a column change at few of its numbers only, each change is one comparison and one sum. Up to 255 cells
    are counted in half the time, two rows at once.

    Examples
    --------
    >>> sex = Part(np.array([0, 1, 1, 0], dtype=np.uint8), np.array([0, 1, 1]), 2)
    >>> age = Part(np.array([70, 30, 99, 3], dtype=np.uint8), np.arange(111) // 65, 2)
    >>> count_groups([sex, age], Room(4)).tolist()
    [1, 1, 1, 1]
    """
    size, rows = prod(part.size for part in parts), room.rows
    groups = room.groups(size)
    steps = [_Steps(part.cells) for part in parts]
    for start in range(0, rows, _BLOCK):
        block = groups[start : start + _BLOCK]
        block[:] = 0
        for place, (part, step) in enumerate(zip(parts, steps, strict=True)):
            if place:
                block *= part.size
            step.add(block, part.codes[start : start + _BLOCK], room.beside[:, : len(block)])
    if groups.dtype != np.uint8:
        return np.bincount(groups, minlength=size)
    even = rows // 2 * 2
    pairs = np.bincount(groups[:even].view(np.uint16), minlength=1 << 16).reshape(256, 256)
    counts = pairs.sum(axis=0) + pairs.sum(axis=1)
    return np.asarray(counts[:size] + np.bincount(groups[even:], minlength=size))


class _Steps:
    """The cell of a number as a sum of steps: where it changes, and by how much."""

    def __init__(self, cells: Integers) -> None:
        places = (np.flatnonzero(np.diff(cells)) + 1).tolist()
        self.cells, self.first, self.turned = cells, int(cells[0]), 0
        self.is_same = np.array_equal(cells, np.arange(len(cells)))
        self.is_few = len(places) <= _FEW_CHANGES
        self.changes = [(place, int(cells[place] - cells[place - 1])) for place in places]
        if len(places) > 1 and cells[0] == cells[-1]:  # numbers in a circle have one change less
            self.turned, self.first = places[0], int(cells[places[0]])
            self.changes = [(place - self.turned, change) for place, change in self.changes[1:]]

    def add(self, groups: Codes, codes: Codes, room: Codes) -> None:
        """Add the cell of every row to its group; ``room`` is for what is worked out on the way."""
        if self.is_same or not self.is_few:
            found = codes if self.is_same else self.cells.astype(groups.dtype)[codes]
            np.add(groups, found, out=groups, casting="unsafe")
            return
        if self.turned:
            place = room[1] if codes.dtype == np.uint8 else None
            codes = np.subtract(codes, codes.dtype.type(self.turned), out=place)
        holds = room[0]
        for place, change in self.changes:
            np.greater_equal(codes, place, out=holds.view(bool))
            if abs(change) > 1:
                np.multiply(holds, abs(change), out=holds)
            (np.add if change > 0 else np.subtract)(groups, holds, out=groups)
        if self.first:
            groups += self.first
