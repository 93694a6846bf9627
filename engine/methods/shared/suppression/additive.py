"""All cells of a cross-table with all its totals, and the equations between them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from engine import arrays
from engine.once import once

if TYPE_CHECKING:
    from scipy import sparse

Integers = arrays.Integers
Mask = arrays.Bools


@dataclass(frozen=True)
class Additive:
    """A cross-table in which every axis ends with its total.

    Parameters
    ----------
    levels
        How many levels each axis has, without its total.

    Examples
    --------
    >>> Additive((2,)).with_totals(np.array([3, 4])).tolist()
    [3, 4, 7]
    >>> Additive((2,)).equations.toarray().tolist()
    [[1, 1, -1]]
    """

    levels: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Cells along each axis, the total included."""
        return tuple(count + 1 for count in self.levels)

    @property
    def size(self) -> int:
        """How many cells there are, totals included."""
        return prod(self.shape)

    def with_totals(self, inner: Integers) -> Integers:
        """Return the cells with all totals, shape (size,), from those without, the last axis fastest."""
        block = np.asarray(inner).reshape(self.levels)
        for axis in range(block.ndim):
            block = np.concatenate([block, block.sum(axis=axis, keepdims=True)], axis=axis)
        return block.ravel()

    @once
    def lines(self) -> list[Integers]:
        """The cells of every equation, its total last."""
        places = np.arange(self.size).reshape(self.shape)
        return [
            line
            for axis in range(places.ndim)
            for line in np.moveaxis(places, axis, -1).reshape(-1, self.shape[axis])
        ]

    @once
    def equations(self) -> sparse.csr_array:
        """M of M · cells = 0: one row a line, 1 for each level and −1 for the total."""
        from scipy import sparse  # on first use: the list of methods is made without it

        rows = np.repeat(np.arange(len(self.lines)), [len(line) for line in self.lines])
        signs = np.concatenate([np.append(np.ones(len(line) - 1, dtype=int), -1) for line in self.lines])
        columns = np.concatenate(self.lines)
        return sparse.csr_array((signs, (rows, columns)), shape=(len(self.lines), self.size))

    @once
    def summed(self) -> Mask:
        """Which axes a cell is a total of, shape (size, axes)."""
        places = np.array(list(product(*(range(count) for count in self.shape))), dtype=np.int64)
        return np.asarray(places == np.array(self.levels)).reshape(self.size, len(self.levels))

    def tables(self, asked: tuple[tuple[int, ...], ...], *, totals: bool) -> Mask:
        """Say which cells are printed: those of the tables over these axes, with their totals if wanted."""
        printed = np.zeros(self.size, dtype=bool)
        for table in asked:
            within = np.zeros(len(self.levels), dtype=bool)
            within[list(table)] = True
            outside = self.summed[:, ~within].all(axis=1)
            printed |= outside if totals else outside & ~self.summed[:, within].any(axis=1)
        return printed
