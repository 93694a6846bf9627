"""The coefficients of a squared loss as a polynomial: which there are, and how far one row moves them.

The loss of a row (x, 1, y) is (y − x'ω − α)². Summed over rows its coefficients are Σ z_i² and 2 Σ z_i z_j of
the coordinates z. Each is released once, whatever the number of cells of the matrix that it fills.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine import arrays
from engine.once import once

Floats = arrays.Floats
Integers = arrays.Integers


@dataclass(frozen=True)
class Monomials:
    """The coefficients that are released for a design.

    Parameters
    ----------
    widths
        See `engine.methods.models.design.Design`.
    target
        Whether the last coordinate is the target; without one, the matrix is X'X alone.

    Notes
    -----
    Left out, because they say nothing or are known: y² (no solution depends on it), products of two cells of
    one block (always 0), and squares of a cell (the square of 0 or 1 is itself, so it is its product with the
    intercept).
    """

    widths: tuple[int, ...]
    target: bool = True

    @once
    def blocks(self) -> Integers:
        """For every coordinate, the target last, the number of its block; a number is a block of its own."""
        sizes = [1, *(max(width, 1) for width in self.widths), *self._last]
        return np.repeat(np.arange(len(sizes)), sizes)

    @once
    def is_cell(self) -> npt.NDArray[np.bool_]:
        """For every coordinate, whether it is a cell of a block."""
        sizes = [1, *(max(width, 1) for width in self.widths), *self._last]
        return np.repeat([False, *(width > 0 for width in self.widths), *(False for _ in self._last)], sizes)

    @property
    def _last(self) -> list[int]:
        return [1] if self.target else []

    @once
    def places(self) -> tuple[Integers, Integers]:
        """The two coordinates of every released product: row ≤ column of the matrix."""
        kept = np.triu(self.blocks[:, None] != self.blocks)
        single = ~self.is_cell
        if self.target:
            single[-1] = False  # y² is not released
        kept |= np.diag(single)
        rows, columns = np.nonzero(kept)
        return rows.astype(np.int64), columns.astype(np.int64)

    @property
    def weights(self) -> Integers:
        """1 for squares, 2 for products: x_i x_j and x_j x_i are one monomial."""
        rows, columns = self.places
        return np.where(rows == columns, 1, 2).astype(np.int64)

    @property
    def count(self) -> int:
        """How many numbers are released."""
        return int(self.places[0].size)

    def sums(self, chunks: Iterable[Floats]) -> Integers:
        """Return the coefficients of rows in whole steps: exact, whatever the order of the rows."""
        size = self.blocks.size
        total = np.zeros((size, size), dtype=np.int64)
        for rows in chunks:
            total += (rows.T @ rows).astype(np.int64)
        return np.asarray(total[self.places] * self.weights)

    def matrix(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """Return X'X and X'y from (noisy) coefficients; see `whole`."""
        found = self.whole(coefficients)
        return found[:-1, :-1], found[:-1, -1]

    def whole(self, coefficients: Floats) -> Floats:
        """Return the matrix of all coordinates, half of each product in both of its cells."""
        size = self.blocks.size
        found = np.zeros((size, size))
        found[self.places] = coefficients / self.weights
        found = np.triu(found) + np.triu(found, 1).T
        cells = np.flatnonzero(self.is_cell)
        found[cells, cells] = found[0, cells]
        return found


def largest_change(*, numbers: int, blocks: int, replace_one: bool, target: bool = True) -> int:
    """Return how far one row moves all coefficients together, in L1, where a coordinate is at most 1.

    Parameters
    ----------
    numbers
        Predictors that are numbers.
    blocks
        Predictors that are blocks of cells; how many cells they have makes no difference.
    replace_one
        Whether one row becomes another; else one comes or goes.
    target
        Whether there is a target, one number more.

    Notes
    -----
    One row more: (Σ|z_i|)² ≤ a² for a coordinates that are not 0, less y² and one square for each block.

    One row for another: let t blocks change their cell, c = 1 + blocks − t coordinates be 1 in both rows, M
    numbers (the target among them) have Σ|u_i − u_i'| = S. Then
    S(2M − S) + 2cS + 4tM + 4tc + 2t(t − 1), less 2t where S is odd, is an upper bound that is reached: with
    every |u_i − u_i'| 0 or 2 but for one of 1 where S is odd. Without blocks it is (numbers + 2)².

    The published constant 2(d² + 4d + 3) for d numbers is nearly twice that.

    Source: J. Zhang et al., Functional mechanism (2012), and S. Srivastava (2016), chapter 4, for the
    mechanism; the constants were derived here and are confirmed by enumeration.

    Examples
    --------
    >>> largest_change(numbers=1, blocks=0, replace_one=False)
    8
    >>> largest_change(numbers=1, blocks=0, replace_one=True)
    9
    """
    active = numbers + blocks + 1 + target
    one_more = active**2 - target - blocks
    if not replace_one:
        return one_more
    moving = numbers + target
    found = [one_more]
    for changed in range(blocks + 1):
        common = 1 + blocks - changed
        cells = 4 * changed * (moving + common) + 2 * changed * (changed - 1)
        found += [
            cells + apart * (2 * moving - apart) + 2 * common * apart - 2 * changed * (apart % 2)
            for apart in range(2 * moving + 1)
        ]
    return max(found)


def largest_squared_change(*, numbers: int, blocks: int, replace_one: bool, target: bool = True) -> int:
    """Return the square of how far one row moves all coefficients together, in L2; see `largest_change`.

    Notes
    -----
    The square is convex in every number of either row (the quartic part is outweighed by the products with
    the intercept), so that rows at the ends of the ranges are the worst: k of the M numbers change sign, t
    of the blocks change their cell.

    Examples
    --------
    >>> largest_squared_change(numbers=1, blocks=0, replace_one=False)
    14
    """
    active = numbers + blocks + 1 + target
    one_more = 1 + numbers + 2 * active * (active - 1)
    if not replace_one:
        return one_more
    moving = numbers + target
    found = [one_more]
    for changed in range(blocks + 1):
        common = 1 + blocks - changed
        cells = changed * (2 * common + changed - 1 + 2 * moving)
        found += [4 * (cells + 4 * k * (common + moving - k)) for k in range(moving + 1)]
    return max(found)
